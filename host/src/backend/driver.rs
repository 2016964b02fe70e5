//! The CUDA driver, found at run time.
//!
//! cust calls the driver's functions by name and asks the linker for `-lcuda`; an empty library satisfies that flag
//! (`.cargo/config.toml`), and the functions below satisfy the names. Each finds the real one in `libcuda.so.1` at its
//! first call. So one binary runs with and without a GPU: without a driver every call answers `NO_DEVICE`.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::OnceLock;

unsafe extern "C" {
    fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

const RTLD_NOW: c_int = 2;
/// `CUDA_ERROR_NO_DEVICE`.
const NO_DEVICE: c_int = 100;

/// Address of the loaded driver; 0 without one.
fn library() -> usize {
    static LIBRARY: OnceLock<usize> = OnceLock::new();
    // SAFETY: loads the driver, whose initialisers are meant to be run so.
    *LIBRARY.get_or_init(|| unsafe { dlopen(c"libcuda.so.1".as_ptr(), RTLD_NOW) as usize })
}

/// Whether a CUDA driver is installed.
#[inline(never)]
pub fn is_installed() -> bool {
    library() != 0
}

fn find(name: &CStr) -> usize {
    match library() {
        0 => 0,
        // SAFETY: a loaded library and a name.
        library => unsafe { dlsym(library as *mut c_void, name.as_ptr()) as usize },
    }
}

/// Functions of the driver, all of whose parameters are integers or pointers (no wider than a register).
macro_rules! forward {
    ($($name:ident($($parameter:ident)*);)*) => { $(
        /// The driver's function of this name.
        // SAFETY: the name is the driver's, which is not linked.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($parameter: usize),*) -> c_int {
            static FUNCTION: OnceLock<usize> = OnceLock::new();
            let name = concat!(stringify!($name), "\0").as_bytes();
            let function = *FUNCTION.get_or_init(|| {
                find(CStr::from_bytes_with_nul(name).expect("ends in one NUL"))
            });
            if function == 0 {
                return NO_DEVICE;
            }
            // SAFETY: the driver's function of this name takes these parameters, each in a register or stack slot.
            unsafe {
                let function: unsafe extern "C" fn($(forward!(@word $parameter)),*) -> c_int =
                    std::mem::transmute(function);
                function($($parameter),*)
            }
        }
    )* };
    (@word $parameter:ident) => { usize };
}

forward! {
    cuCtxSetCurrent(a);
    cuDeviceGet(a b);
    cuDeviceGetAttribute(a b c);
    cuDeviceGetCount(a);
    cuDeviceGetDefaultMemPool(a b);
    cuDeviceGetName(a b c);
    cuDevicePrimaryCtxRelease_v2(a);
    cuDevicePrimaryCtxRetain(a b);
    cuDevicePrimaryCtxSetFlags_v2(a b);
    cuDeviceTotalMem_v2(a b);
    cuDriverGetVersion(a);
    cuEventCreate(a b);
    cuEventDestroy_v2(a);
    cuEventElapsedTime(a b c);
    cuEventRecord(a b);
    cuEventSynchronize(a);
    cuGetErrorString(a b);
    cuInit(a);
    cuLaunchKernel(a b c d e f g h i j k);
    cuMemAllocAsync(a b c);
    cuMemFreeAsync(a b);
    cuMemFreeHost(a);
    cuMemGetInfo_v2(a b);
    cuMemHostAlloc(a b c);
    cuMemPoolGetAttribute(a b c);
    cuMemPoolSetAttribute(a b c);
    cuMemcpyDtoDAsync_v2(a b c d);
    cuMemcpyDtoHAsync_v2(a b c d);
    cuMemcpyHtoDAsync_v2(a b c d);
    cuMemcpyHtoD_v2(a b c);
    cuMemsetD32Async(a b c d);
    cuModuleGetFunction(a b c);
    cuModuleGetGlobal_v2(a b c d);
    cuModuleLoadDataEx(a b c d e);
    cuModuleUnload(a);
    cuStreamCreateWithPriority(a b c);
    cuStreamDestroy_v2(a);
    cuStreamSynchronize(a);
    cuStreamWaitEvent(a b c);
}
