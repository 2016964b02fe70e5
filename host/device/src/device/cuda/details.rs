//! The description of a device, from the driver and the system.

use cust::device::{Device, DeviceAttribute};

use crate::device::Details;

/// The properties of a device, from the driver and the system.
pub fn details(device: &Device) -> Details {
    let attribute = |attribute| device.get_attribute(attribute).ok();
    let mhz = |kilohertz: i32| f64::from(kilohertz) / 1e3;
    let cuda = cust::CudaApiVersion::get().ok();
    let cuda = cuda.map(|version| format!("CUDA {}.{}", version.major(), version.minor()));
    let versions: Vec<String> = kernel_module_version().into_iter().chain(cuda).collect();
    Details {
        kind: "cuda",
        driver: (!versions.is_empty()).then(|| versions.join(", ")),
        core_mhz: attribute(DeviceAttribute::ClockRate).map(mhz),
        memory_mhz: attribute(DeviceAttribute::MemoryClockRate).map(mhz),
        memory_bytes: device.total_memory().ok().map(|bytes| bytes as u64),
        threads: None,
    }
}

/// Version of NVIDIA's kernel module, as in 580.95.05.
fn kernel_module_version() -> Option<String> {
    let text = std::fs::read_to_string("/proc/driver/nvidia/version").ok()?;
    let is_version = |word: &&str| {
        let parts: Vec<&str> = word.split('.').collect();
        parts.len() >= 2 && parts.iter().all(|part| part.parse::<u32>().is_ok())
    };
    let version = text.lines().next()?.split_whitespace().find(is_version);
    version.map(str::to_owned)
}
