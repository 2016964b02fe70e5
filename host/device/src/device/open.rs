//! Opens devices.

use trioxide_kernel::launch::DeviceId;

#[cfg(feature = "cuda")]
use super::cuda;
#[cfg(feature = "emulator")]
use super::emulated;
#[cfg(any(feature = "cuda", feature = "emulator"))]
use super::ptx::PACKAGES;
use super::{CudaDevice, Device, cpu};
#[cfg(not(feature = "cuda"))]
use crate::Error;
use crate::Result;

/// The CUDA devices of this machine, and the driver's CUDA version (major, minor).
///
/// # Errors
/// [`Error::NoDevice`](crate::Error::NoDevice) when there is no driver, no device, or the driver refuses to start: the
/// message says which.
pub fn cuda_devices() -> Result<((i32, i32), Vec<CudaDevice>)> {
    #[cfg(feature = "cuda")]
    return cuda::devices();
    #[cfg(not(feature = "cuda"))]
    Err(without_cuda())
}

#[cfg(not(feature = "cuda"))]
fn without_cuda() -> Error {
    Error::NoDevice(
        "this build has no CUDA: build it with the feature `cuda`, or use the CPU".to_owned(),
    )
}

impl Device {
    /// The CPU, by `threads` threads (all cores for `None`).
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) when the threads cannot be started.
    pub fn cpu(threads: Option<usize>) -> Result<Self> {
        let id = DeviceId::unique();
        Ok(Self::new(id, Box::new(cpu::Cpu::new(id, threads)?)))
    }

    /// CUDA device `index`, with the kernels of all packages of the program ([`kernels!`](crate::kernels)).
    ///
    /// # Errors
    /// [`Error::NoDevice`](crate::Error::NoDevice) when there is no driver or no such device, the driver is too old for
    /// the kernels, or a package was built without a device compiler; [`Error::Argument`](crate::Error::Argument) when
    /// two packages have one name.
    pub fn cuda(index: u32) -> Result<Self> {
        Self::cuda_with(index, false)
    }

    /// As [`Device::cuda`], ready for large copies: their pinned memory is made while the driver starts, not by the
    /// first of them.
    ///
    /// # Errors
    /// As [`Device::cuda`].
    pub fn cuda_for_copies(index: u32) -> Result<Self> {
        Self::cuda_with(index, true)
    }

    fn cuda_with(index: u32, for_copies: bool) -> Result<Self> {
        #[cfg(feature = "cuda")]
        {
            let id = DeviceId::unique();
            Self::with_packages(Self::new(
                id,
                Box::new(cuda::Cuda::new(id, index, for_copies)?),
            ))
        }
        #[cfg(not(feature = "cuda"))]
        {
            let _ = (index, for_copies);
            Err(without_cuda())
        }
    }

    /// A GPU that is not there: an emulator runs the kernels' PTX on the CPU, so that a test without a GPU covers what
    /// a GPU would run. Bounds are the lengths of the arrays. An index out of range is an error of the launch, which
    /// names kernel, array, index and instruction; with `check` so are data races between the threads of a launch, and
    /// reads of memory that nobody has written.
    ///
    /// It is for small inputs: a kernel takes some hundred times as long as on the CPU.
    ///
    /// # Errors
    /// As [`Device::cuda`], for packages of kernels.
    #[cfg(feature = "emulator")]
    pub fn emulated(check: bool) -> Result<Self> {
        Self::emulated_with(check, trioxide_kernel::block::MOST_SHARED)
    }

    /// As [`Device::emulated`], with `shared` bytes of shared memory for a block, as some GPU has: 64 KiB of compute
    /// capability 7.5, 99 of 8.6 and 8.9, 163 of 8.0, 227 of 9.0. A kernel that needs more is an error of its launch.
    ///
    /// # Errors
    /// As [`Device::emulated`].
    #[cfg(feature = "emulator")]
    pub fn emulated_with(check: bool, shared: usize) -> Result<Self> {
        let id = DeviceId::unique();
        let emulated = emulated::Emulated::new(id, check, shared);
        Self::with_packages(Self::new(id, Box::new(emulated)))
    }

    /// The device with the kernels of all packages of the program.
    #[cfg(any(feature = "cuda", feature = "emulator"))]
    fn with_packages(device: Self) -> Result<Self> {
        for &ptx in PACKAGES {
            device.0.backend.load(ptx)?;
        }
        Ok(device)
    }

    /// CUDA device 0, or the CPU and the reason why not.
    ///
    /// # Errors
    /// As [`Device::cpu`].
    pub fn auto(threads: Option<usize>) -> Result<(Self, Option<String>)> {
        match Self::cuda(0) {
            Ok(device) => Ok((device, None)),
            Err(reason) => Ok((Self::cpu(threads)?, Some(reason.to_string()))),
        }
    }
}
