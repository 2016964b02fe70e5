//! The devices that the driver finds.

use cust::device::{Device, DeviceAttribute};
use cust::error::{CudaError, CudaResult};
use cust::sys;

use crate::backend::CudaDevice;
use crate::{Error, Result};

/// Refuses a machine without a driver.
pub fn find_driver() -> Result<()> {
    match sys::is_installed() {
        true => Ok(()),
        false => Err(Error::NoDevice(
            "there is no CUDA driver on this machine (libcuda.so.1 is not found): install NVIDIA's driver, or use --device cpu"
                .to_owned(),
        )),
    }
}

/// Starts the driver.
fn start() -> Result<()> {
    find_driver()?;
    cust::init(cust::CudaFlags::empty()).map_err(|error| match error {
        CudaError::NoDevice => Error::NoDevice(
            "there is a CUDA driver but no CUDA device on this machine: use --device cpu"
                .to_owned(),
        ),
        error => Error::NoDevice(format!(
            "the CUDA driver does not start ({error}): use --device cpu"
        )),
    })
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
