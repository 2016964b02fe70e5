//! The memory of a device that has no context, from NVIDIA's management library ([NVML]).
//!
//! The driver reports free memory only within a context, and a context does not fit a full device. NVML comes with the
//! driver on most systems; it is loaded for each query.
//!
//! [NVML]: https://docs.nvidia.com/deploy/nvml-api/

use std::ffi::{CString, c_char, c_int, c_void};

use libloading::Library;

use crate::device::{Device, DeviceAttribute};

#[cfg(windows)]
const LIBRARY: &str = "nvml.dll";
#[cfg(not(windows))]
const LIBRARY: &str = "libnvidia-ml.so.1";

const SUCCESS: c_int = 0;

/// Bytes of a device's memory, as NVML writes them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Memory {
    /// Total.
    pub total: u64,
    /// Free.
    pub free: u64,
    /// Used, by any process.
    pub used: u64,
}

/// The memory of `device`; `None` if NVML is not installed or does not know the device.
pub fn memory(device: Device) -> Option<Memory> {
    let bus = CString::new(bus_of(device)?).expect("no NUL in numbers");
    // SAFETY: loads NVIDIA's library, whose initialisers may run on any thread.
    let nvml = unsafe { Library::new(LIBRARY) }.ok()?;
    // SAFETY: the functions have these types.
    unsafe {
        let start = nvml.get::<unsafe extern "C" fn() -> c_int>(b"nvmlInit_v2\0");
        let end = nvml.get::<unsafe extern "C" fn() -> c_int>(b"nvmlShutdown\0");
        let find = nvml.get::<unsafe extern "C" fn(*const c_char, *mut *mut c_void) -> c_int>(
            b"nvmlDeviceGetHandleByPciBusId_v2\0",
        );
        let ask = nvml.get::<unsafe extern "C" fn(*mut c_void, *mut Memory) -> c_int>(
            b"nvmlDeviceGetMemoryInfo\0",
        );
        let (start, end, find, ask) = (start.ok()?, end.ok()?, find.ok()?, ask.ok()?);
        if start() != SUCCESS {
            return None;
        }
        let (mut handle, mut memory) = (std::ptr::null_mut(), Memory::default());
        let is_known =
            find(bus.as_ptr(), &mut handle) == SUCCESS && ask(handle, &mut memory) == SUCCESS;
        end();
        is_known.then_some(memory)
    }
}

/// The bus address of a device, as NVML writes it. Both libraries know the address; their device numbers differ.
fn bus_of(device: Device) -> Option<String> {
    let attribute = |attribute| device.get_attribute(attribute).ok();
    Some(format!(
        "{:08x}:{:02x}:{:02x}.0",
        attribute(DeviceAttribute::PciDomainId)?,
        attribute(DeviceAttribute::PciBusId)?,
        attribute(DeviceAttribute::PciDeviceId)?,
    ))
}
