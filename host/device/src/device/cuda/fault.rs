//! Wrong indices and failed assertions that kernels report, and errors that a process cannot recover from.

use std::collections::HashMap;
use std::ffi::CString;

use cust::error::{CudaError, CudaResult};
use cust::memory::CopyDestination;
use cust::module::Module;
use trioxide_kernel::check::hash;
use trioxide_kernel::fault::{FAULT_SYMBOL, Fault};
use trioxide_kernel::launch::{Launch, LaunchError, LaunchNames};
use trioxide_work::error::OUT_OF_MEMORY;

use crate::device::transfers::Pinned;

/// The reports of all kernels on a device. Launches are not waited for: the first wait after a wrong index fails, and
/// then the report is there.
#[derive(Default)]
pub struct Faults {
    /// A [`Fault`] in host memory, once a module needs it.
    memory: Option<Pinned>,
    /// The kernels that may report, by the hash of their name.
    kernels: HashMap<u32, LaunchNames>,
    /// The last one that was launched: a report from shared memory or of an assertion does not know its kernel.
    last: u32,
}

impl Faults {
    /// Whether kernels of a module may report: whether its PTX, or the names in its machine code, contain the variable.
    ///
    /// The code is searched, because tools that watch the driver show a query for a missing symbol as an error.
    pub fn are_in(code: &[u8]) -> bool {
        memchr::memmem::find(code, FAULT_SYMBOL.as_bytes()).is_some()
    }

    /// Sets the address that a module reports to.
    pub fn give_to(&mut self, module: &Module) -> CudaResult<()> {
        let memory = match &mut self.memory {
            Some(memory) => memory,
            none => {
                let mut memory = Pinned::new(size_of::<Fault>())?;
                memory.bytes().fill(0);
                none.insert(memory)
            }
        };
        let name = CString::new(FAULT_SYMBOL).expect("no NUL in the name");
        let mut symbol = module.get_global::<u64>(&name)?;
        symbol.copy_from(&(memory.bytes().as_mut_ptr() as u64))
    }

    /// Keeps the names of a kernel that may report, and returns the hash that stands for it in reports.
    pub fn know(&mut self, launch: &Launch) -> u32 {
        let name = hash(launch.kernel.name);
        self.kernels.entry(name).or_insert_with(|| launch.named());
        name
    }

    /// Notes the launch of a kernel that [`Faults::know`] gave this name.
    pub fn note(&mut self, name: u32) {
        self.last = name;
    }

    /// Takes the report, if there is one, and clears the memory.
    pub fn take(&mut self) -> Option<LaunchError> {
        let bytes = self.memory.as_mut()?.bytes();
        let at: *mut Fault = bytes.as_mut_ptr().cast();
        // SAFETY: memory of a fault, page-aligned, which the device wrote before it ended.
        let fault = unsafe { at.read_volatile() };
        bytes.fill(0);
        if fault.is_set == 0 {
            return None;
        }
        let kernel = match fault.kernel {
            0 => self.last,
            kernel => kernel,
        };
        Some(self.kernels.get(&kernel)?.describe(&fault, None))
    }
}

/// The driver's reason. After some errors every later call of the process fails with the same error: for these the
/// reason says so.
pub fn reason(error: CudaError) -> String {
    match error {
        // The driver may not know the error's name, which callers search for to try another device.
        CudaError::OutOfMemory => format!(
            "{OUT_OF_MEMORY}: the driver finds no memory for kernels, queues or pinned buffers: end other programs on the GPU, or \
             use --device cpu"
        ),
        _ if is_sticky(error) => format!(
            "{error}: the GPU is lost to this process: start the program again, or use the CPU"
        ),
        _ => error.to_string(),
    }
}

/// Errors that leave the context "in an inconsistent state", according to the driver's documentation of `CUresult`.
fn is_sticky(error: CudaError) -> bool {
    // CUDA_ERROR_ECC_UNCORRECTABLE. From CUDA_ERROR_ILLEGAL_ADDRESS to CUDA_ERROR_CONTEXT_IS_DESTROYED, except too
    // large launches and peer access. From CUDA_ERROR_ASSERT on: errors of kernels.
    matches!(error.code(), 214 | 700 | 702 | 709 | 710 | 714..=719)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_gpu_says_what_to_do() {
        for error in [
            CudaError::IllegalAddress,
            CudaError::LaunchFailed,
            CudaError::LaunchTimeout,
        ] {
            let reason = reason(error);
            assert!(
                reason.ends_with(
                    "the GPU is lost to this process: start the program again, or use the CPU"
                ),
                "{reason}"
            );
        }
        assert!(reason(CudaError::OutOfMemory).starts_with(OUT_OF_MEMORY));
        for error in [
            CudaError::OutOfMemory,
            CudaError::InvalidValue,
            CudaError::LaunchOutOfResources,
        ] {
            assert!(!reason(error).contains("lost"));
        }
    }
}
