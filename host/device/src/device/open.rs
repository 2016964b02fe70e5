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
/// [`Error::NoDevice`](crate::Error::NoDevice) when there is no driver, no device, or the driver refuses to start; the
/// message names the cause.
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
    /// The CPU, with `threads` threads (all cores for `None`).
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

    /// As [`Device::cuda`], prepared for large copies: their pinned memory is allocated while the driver starts, not at
    /// the first copy.
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

    /// An emulated GPU: an emulator runs the kernels' PTX on the CPU, so a test without a GPU covers the code of a GPU.
    /// Bounds are the lengths of the arrays. An index out of range is an error of the launch, which names kernel,
    /// array, index and instruction. With `check`, data races between the threads of a launch and reads of unwritten
    /// memory are errors too.
    ///
    /// It is for small inputs: a kernel takes some hundred times as long as on the CPU.
    ///
    /// # Errors
    /// As [`Device::cuda`], for packages of kernels.
    #[cfg(feature = "emulator")]
    pub fn emulated(check: bool) -> Result<Self> {
        Self::emulated_with(check, trioxide_kernel::block::MOST_SHARED)
    }

    /// As [`Device::emulated`], with `shared` bytes of shared memory per block, as some GPU has: 64 KiB for compute
    /// capability 7.5, 99 for 8.6 and 8.9, 163 for 8.0, 227 for 9.0. A launch of a kernel that needs more fails.
    ///
    /// # Errors
    /// As [`Device::emulated`].
    #[cfg(feature = "emulator")]
    pub fn emulated_with(check: bool, shared: usize) -> Result<Self> {
        let id = DeviceId::unique();
        let emulated = emulated::Emulated::new(id, check, shared);
        Self::with_packages(Self::new(id, Box::new(emulated)))
    }

    /// Loads the kernels of all packages of the program.
    #[cfg(any(feature = "cuda", feature = "emulator"))]
    fn with_packages(device: Self) -> Result<Self> {
        for &ptx in PACKAGES {
            device.0.backend.load(ptx)?;
        }
        Ok(device)
    }

    /// CUDA device 0, or the CPU and the reason for it.
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
