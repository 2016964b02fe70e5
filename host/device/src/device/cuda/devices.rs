//! The devices that the driver finds.

use cust::device::{Device, DeviceAttribute};
use cust::error::{CudaError, CudaResult};
use cust::sys;

use crate::device::CudaDevice;
use crate::{Error, Result};

/// Refuses a machine without a CUDA driver.
pub fn find_driver() -> Result<()> {
    match sys::is_installed() {
        true => Ok(()),
        false => Err(Error::NoDevice(
            "there is no CUDA driver (libcuda.so.1 is not found): install NVIDIA's driver, or use the device cpu"
                .to_owned(),
        )),
    }
}

/// Starts the driver.
fn start() -> Result<()> {
    find_driver()?;
    cust::init(cust::CudaFlags::empty()).map_err(|error| match error {
        CudaError::NoDevice => Error::NoDevice(
            "there is a CUDA driver but no CUDA device on this machine: use the device cpu"
                .to_owned(),
        ),
        error => Error::NoDevice(format!(
            "the CUDA driver does not start ({error}): use the device cpu"
        )),
    })
}

/// The error for a device without room for a context: its free memory, and the remedy.
pub fn no_context(found: &CudaDevice) -> Error {
    let device = Device::get_device(found.index);
    let memory = device.ok().and_then(cust::nvml::memory);
    Error::NoMemory(without_room(found, memory.map(|memory| memory.free)))
}

fn without_room(found: &CudaDevice, free: Option<u64>) -> String {
    let free = match free {
        Some(free) => format!("{free} of its {} bytes are free", found.memory),
        None => format!("other programs have most of its {} bytes", found.memory),
    };
    format!(
        "{} (cuda:{}) has no room for this process, since {free}: end other programs on it (nvidia-smi lists them), name another GPU \
         (cuda:N), or use the device cpu",
        found.name, found.index
    )
}

pub fn devices() -> Result<((i32, i32), Vec<CudaDevice>)> {
    start()?;
    let fail =
        |error: CudaError| Error::NoDevice(format!("the CUDA driver does not answer ({error})"));
    let version = cust::CudaApiVersion::get().map_err(fail)?;
    let devices = (0..Device::num_devices().map_err(fail)?)
        .map(|index| {
            let device = Device::get_device(index)?;
            let attribute = |attribute| device.get_attribute(attribute);
            Ok(CudaDevice {
                index,
                name: device.name()?,
                capability: (
                    attribute(DeviceAttribute::ComputeCapabilityMajor)?,
                    attribute(DeviceAttribute::ComputeCapabilityMinor)?,
                ),
                memory: device.total_memory()? as u64,
                multiprocessors: attribute(DeviceAttribute::MultiprocessorCount)?,
            })
        })
        .collect::<CudaResult<_>>()
        .map_err(fail)?;
    Ok(((version.major(), version.minor()), devices))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_gpu_says_what_is_free_and_what_to_do() {
        let found = CudaDevice {
            index: 1,
            name: "GPU".to_owned(),
            capability: (9, 0),
            memory: 84_900_000_000,
            multiprocessors: 132,
        };
        let text = without_room(&found, Some(285_000_000));
        assert!(
            text.starts_with(
                "GPU (cuda:1) has no room for this process, since 285000000 of its 84900000000 bytes are free: "
            ) && text.ends_with("or use the device cpu"),
            "{text}"
        );
        // Without NVML the free memory is unknown.
        let text = without_room(&found, None);
        assert!(
            text.contains("have most of its 84900000000 bytes: end"),
            "{text}"
        );
    }
}
