//! Devices and their properties.

use std::ffi::CStr;

use crate::error::CudaResult;
use crate::sys;

/// A CUDA device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device(sys::CUdevice);

/// A property of a device, by the driver's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
#[non_exhaustive]
pub enum DeviceAttribute {
    /// Most threads of a block.
    MaxThreadsPerBlock = 1,
    /// Bytes of shared memory of a block, by default.
    MaxSharedMemoryPerBlock = 8,
    /// Threads of a warp.
    WarpSize = 10,
    /// Highest clock of the cores, kHz.
    ClockRate = 13,
    /// Streaming multiprocessors.
    MultiprocessorCount = 16,
    /// The number of its PCI bus.
    PciBusId = 33,
    /// Its device number on the PCI bus.
    PciDeviceId = 34,
    /// Highest clock of the memory, kHz.
    MemoryClockRate = 36,
    /// The number of its PCI domain.
    PciDomainId = 50,
    /// Major number of the compute capability.
    ComputeCapabilityMajor = 75,
    /// Minor number of the compute capability.
    ComputeCapabilityMinor = 76,
    /// Most bytes of shared memory of a block, for a kernel that requests them.
    MaxSharedMemoryPerBlockOptin = 97,
}

impl Device {
    /// The number of devices.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn num_devices() -> CudaResult<u32> {
        let mut count = 0;
        // SAFETY: writes one number.
        unsafe { sys::cuDeviceGetCount(&mut count) }.to_result()?;
        Ok(count as u32)
    }

    /// The device with this number.
    ///
    /// # Errors
    /// [`crate::error::CudaError::InvalidDevice`] for a number that no device has.
    pub fn get_device(ordinal: u32) -> CudaResult<Self> {
        let mut device = 0;
        // SAFETY: writes one number.
        unsafe { sys::cuDeviceGet(&mut device, ordinal as i32) }.to_result()?;
        Ok(Self(device))
    }

    /// Bytes of the device's memory.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn total_memory(self) -> CudaResult<usize> {
        let mut bytes = 0;
        // SAFETY: writes one number.
        unsafe { sys::cuDeviceTotalMem_v2(&mut bytes, self.0) }.to_result()?;
        Ok(bytes)
    }

    /// The maker's name.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn name(self) -> CudaResult<String> {
        let mut name = [0u8; 256];
        // SAFETY: writes at most `name.len()` bytes, the last of them a NUL.
        unsafe { sys::cuDeviceGetName(name.as_mut_ptr().cast(), name.len() as i32, self.0) }
            .to_result()?;
        let name = CStr::from_bytes_until_nul(&name).unwrap_or_default();
        Ok(name.to_string_lossy().into_owned())
    }

    /// A property.
    ///
    /// # Errors
    /// [`crate::error::CudaError::InvalidValue`] when the driver does not know it.
    pub fn get_attribute(self, attribute: DeviceAttribute) -> CudaResult<i32> {
        let mut value = 0;
        // SAFETY: writes one number.
        unsafe { sys::cuDeviceGetAttribute(&mut value, attribute as u32, self.0) }.to_result()?;
        Ok(value)
    }

    /// The driver's number.
    pub fn as_raw(&self) -> sys::CUdevice {
        self.0
    }
}
