//! The driver's functions with their own names, types and constants ([CUDA Driver API]).
//!
//! Each function finds its symbol in the driver at its first call. Without a driver it returns `CUDA_ERROR_NO_DEVICE`;
//! if the driver has no such function, `CUDA_ERROR_NOT_FOUND`.
//!
//! Enumerations are integers with constants, since a newer driver may return values without a name here.
//!
//! [CUDA Driver API]: https://docs.nvidia.com/cuda/cuda-driver-api/

#![allow(non_camel_case_types, non_snake_case)]

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::OnceLock;

use libloading::Library;

/// An address in a device's memory.
pub type CUdeviceptr = u64;
/// A device, by its number.
pub type CUdevice = c_int;

/// Opaque handles: pointers to types that only the driver knows.
macro_rules! handles {
    ($($(#[$doc:meta])* $handle:ident = $target:ident;)*) => { $(
        #[doc(hidden)]
        #[repr(C)]
        #[derive(Debug)]
        pub struct $target {
            _private: [u8; 0],
        }
        $(#[$doc])*
        pub type $handle = *mut $target;
    )* };
}

handles! {
    /// A context: a process's share of a device.
    CUcontext = CUctx_st;
    /// A kernel.
    CUfunction = CUfunc_st;
    /// Loaded kernels and variables.
    CUmodule = CUmod_st;
    /// A queue of work.
    CUstream = CUstream_st;
    /// A point in a queue.
    CUevent = CUevent_st;
    /// A pool that allocates in the order of a stream.
    CUmemoryPool = CUmemPoolHandle_st;
}

/// Integers of the driver, with names.
macro_rules! integers {
    ($($(#[$doc:meta])* $name:ident($repr:ty) { $($constant:ident = $value:literal,)* })*) => { $(
        $(#[$doc])*
        #[repr(transparent)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct $name(pub $repr);

        #[allow(missing_docs)]
        impl $name {
            $(pub const $constant: Self = Self($value);)*
        }
    )* };
}

integers! {
    /// The outcome of a call.
    CUresult(c_uint) {
        CUDA_SUCCESS = 0,
        CUDA_ERROR_INVALID_VALUE = 1,
        CUDA_ERROR_OUT_OF_MEMORY = 2,
        CUDA_ERROR_NO_DEVICE = 100,
        CUDA_ERROR_ILLEGAL_ADDRESS = 700,
        CUDA_ERROR_NOT_FOUND = 500,
        CUDA_ERROR_NOT_SUPPORTED = 801,
    }
    /// A property of a memory pool.
    CUmemPool_attribute(c_uint) {
        CU_MEMPOOL_ATTR_RELEASE_THRESHOLD = 4,
        CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT = 5,
        CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH = 6,
        CU_MEMPOOL_ATTR_USED_MEM_CURRENT = 7,
        CU_MEMPOOL_ATTR_USED_MEM_HIGH = 8,
    }
    /// An option of the driver's compiler.
    CUjit_option(c_uint) {
        CU_JIT_MAX_REGISTERS = 0,
    }
}

#[cfg(windows)]
const DRIVER: &str = "nvcuda.dll";
#[cfg(not(windows))]
const DRIVER: &str = "libcuda.so.1";

/// The loaded driver; it stays for the life of the process.
fn driver() -> Option<&'static Library> {
    static DRIVER_LIBRARY: OnceLock<Option<Library>> = OnceLock::new();
    DRIVER_LIBRARY
        // SAFETY: loads NVIDIA's driver, whose initialisers may run on any thread.
        .get_or_init(|| unsafe { Library::new(DRIVER) }.ok())
        .as_ref()
}

/// Whether this machine has a CUDA driver.
pub fn is_installed() -> bool {
    driver().is_some()
}

/// Declares functions of the driver; all return a [`CUresult`].
macro_rules! functions {
    ($($(#[$doc:meta])* fn $name:ident($($parameter:ident: $type:ty),* $(,)?);)*) => { $(
        $(#[$doc])*
        ///
        /// # Safety
        /// As in CUDA's documentation of this function: addresses and handles are valid.
        pub unsafe fn $name($($parameter: $type),*) -> CUresult {
            type Function = unsafe extern "system" fn($($type),*) -> CUresult;
            static FUNCTION: OnceLock<Option<Function>> = OnceLock::new();
            let Some(driver) = driver() else {
                return CUresult::CUDA_ERROR_NO_DEVICE;
            };
            let function = *FUNCTION.get_or_init(|| {
                // SAFETY: the driver's function of this name has this type.
                unsafe { driver.get::<Function>(concat!(stringify!($name), "\0").as_bytes()) }
                    .ok()
                    .map(|symbol| *symbol)
            });
            match function {
                // SAFETY: the caller's promise.
                Some(function) => unsafe { function($($parameter),*) },
                None => CUresult::CUDA_ERROR_NOT_FOUND,
            }
        }
    )* };
}

functions! {
    /// Starts the driver.
    fn cuInit(flags: c_uint);
    /// CUDA's version times 1000, plus 10 times the minor one.
    fn cuDriverGetVersion(version: *mut c_int);
    /// The name of an error; a static string.
    fn cuGetErrorName(error: CUresult, name: *mut *const c_char);
    /// The sentence of an error; a static string.
    fn cuGetErrorString(error: CUresult, text: *mut *const c_char);

    /// The device of a number.
    fn cuDeviceGet(device: *mut CUdevice, ordinal: c_int);
    /// A property of a device.
    fn cuDeviceGetAttribute(value: *mut c_int, attribute: c_uint, device: CUdevice);
    /// The number of devices.
    fn cuDeviceGetCount(count: *mut c_int);
    /// The pool that a device's allocations come from.
    fn cuDeviceGetDefaultMemPool(pool: *mut CUmemoryPool, device: CUdevice);
    /// The name of a device, with a NUL, cut off at `length` bytes.
    fn cuDeviceGetName(name: *mut c_char, length: c_int, device: CUdevice);
    /// Bytes of memory of a device.
    fn cuDeviceTotalMem_v2(bytes: *mut usize, device: CUdevice);

    /// Retains the primary context of a device.
    fn cuDevicePrimaryCtxRetain(context: *mut CUcontext, device: CUdevice);
    /// Releases the primary context of a device.
    fn cuDevicePrimaryCtxRelease_v2(device: CUdevice);
    /// The context of the calling thread; null for none.
    fn cuCtxGetCurrent(context: *mut CUcontext);
    /// Enters a context on the calling thread.
    fn cuCtxSetCurrent(context: CUcontext);
    /// Waits for all work of the calling thread's context.
    fn cuCtxSynchronize();

    /// Compiles PTX (text that ends in a NUL), or loads a binary.
    fn cuModuleLoadDataEx(
        module: *mut CUmodule,
        image: *const c_void,
        count: c_uint,
        options: *mut CUjit_option,
        values: *mut *mut c_void,
    );
    /// Unloads a module.
    fn cuModuleUnload(module: CUmodule);
    /// The kernel with a name.
    fn cuModuleGetFunction(function: *mut CUfunction, module: CUmodule, name: *const c_char);
    /// Sets a property of a kernel, by the driver's number.
    fn cuFuncSetAttribute(function: CUfunction, attribute: c_uint, value: c_int);
    /// The variable with a name: its address and bytes.
    fn cuModuleGetGlobal_v2(
        address: *mut CUdeviceptr,
        bytes: *mut usize,
        module: CUmodule,
        name: *const c_char,
    );
    /// Launches a kernel. `parameters` points at the value of each parameter; `extra` is null.
    fn cuLaunchKernel(
        function: CUfunction,
        grid_x: c_uint,
        grid_y: c_uint,
        grid_z: c_uint,
        block_x: c_uint,
        block_y: c_uint,
        block_z: c_uint,
        shared_bytes: c_uint,
        stream: CUstream,
        parameters: *mut *mut c_void,
        extra: *mut *mut c_void,
    );

    /// Makes a stream.
    fn cuStreamCreateWithPriority(stream: *mut CUstream, flags: c_uint, priority: c_int);
    /// Frees a stream, after its work.
    fn cuStreamDestroy_v2(stream: CUstream);
    /// Waits for a stream's work.
    fn cuStreamSynchronize(stream: CUstream);
    /// Makes later work of a stream wait for an event.
    fn cuStreamWaitEvent(stream: CUstream, event: CUevent, flags: c_uint);

    /// Makes an event.
    fn cuEventCreate(event: *mut CUevent, flags: c_uint);
    /// Frees an event, once it is reached.
    fn cuEventDestroy_v2(event: CUevent);
    /// Milliseconds between two events.
    fn cuEventElapsedTime(milliseconds: *mut f32, start: CUevent, end: CUevent);
    /// Records an event after a stream's work so far.
    fn cuEventRecord(event: CUevent, stream: CUstream);
    /// Waits for an event.
    fn cuEventSynchronize(event: CUevent);

    /// Allocates in a stream's order.
    fn cuMemAllocAsync(address: *mut CUdeviceptr, bytes: usize, stream: CUstream);
    /// Frees in a stream's order.
    fn cuMemFreeAsync(address: CUdeviceptr, stream: CUstream);
    /// Allocates pinned memory of the host.
    fn cuMemHostAlloc(pointer: *mut *mut c_void, bytes: usize, flags: c_uint);
    /// Frees pinned memory of the host.
    fn cuMemFreeHost(pointer: *mut c_void);
    /// Pins memory of the host.
    fn cuMemHostRegister_v2(pointer: *mut c_void, bytes: usize, flags: c_uint);
    /// Unpins memory of the host.
    fn cuMemHostUnregister(pointer: *mut c_void);
    /// Free and total bytes of the current device.
    fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize);
    /// Reads a property of a pool.
    fn cuMemPoolGetAttribute(
        pool: CUmemoryPool,
        attribute: CUmemPool_attribute,
        value: *mut c_void,
    );
    /// Sets a property of a pool.
    fn cuMemPoolSetAttribute(
        pool: CUmemoryPool,
        attribute: CUmemPool_attribute,
        value: *mut c_void,
    );
    /// Copies within devices.
    fn cuMemcpyDtoDAsync_v2(to: CUdeviceptr, from: CUdeviceptr, bytes: usize, stream: CUstream);
    /// Copies to the host.
    fn cuMemcpyDtoHAsync_v2(to: *mut c_void, from: CUdeviceptr, bytes: usize, stream: CUstream);
    /// Copies to the device.
    fn cuMemcpyHtoDAsync_v2(to: CUdeviceptr, from: *const c_void, bytes: usize, stream: CUstream);
    /// Copies to the device, and waits.
    fn cuMemcpyHtoD_v2(to: CUdeviceptr, from: *const c_void, bytes: usize);
    /// Copies to the host, and waits.
    fn cuMemcpyDtoH_v2(to: *mut c_void, from: CUdeviceptr, bytes: usize);
    /// Fills with `count` words.
    fn cuMemsetD32Async(to: CUdeviceptr, word: c_uint, count: usize, stream: CUstream);
}
