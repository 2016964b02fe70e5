//! Bad indices that the kernels of a checked build report, and errors that a process does not get over.

use cust::error::{CudaError, CudaResult};
use cust::memory::CopyDestination;
use cust::module::Module;
use trioxide_kernel::fault::{FAULT_SYMBOL, Fault};
use trioxide_work::error::OUT_OF_MEMORY;

use crate::device::transfers::Pinned;

/// Gives a module memory to report bad indices in; `None` for one whose PTX, `text`, checks none.
pub fn fault_of(text: &str, module: &Module) -> CudaResult<Option<Pinned>> {
    // The text is searched, since asking the driver for a missing symbol is an error to tools that watch it.
    if !text.contains(FAULT_SYMBOL) {
        return Ok(None);
    }
    let name = std::ffi::CString::new(FAULT_SYMBOL).expect("no NUL in the name");
    let mut symbol = module.get_global::<u64>(&name)?;
    let mut fault = Pinned::new(size_of::<Fault>())?;
    fault.bytes().fill(0);
    symbol.copy_from(&(fault.bytes().as_mut_ptr() as u64))?;
    Ok(Some(fault))
}

/// The fault that a kernel reported; the memory is cleared.
pub fn read_fault(memory: &mut Pinned) -> Option<Fault> {
    let at: *mut Fault = memory.bytes().as_mut_ptr().cast();
    // SAFETY: memory of a fault, page-aligned, which the device wrote before it ended.
    let fault = unsafe { at.read_volatile() };
    memory.bytes().fill(0);
    (fault.is_set != 0).then_some(fault)
}

/// The driver's reason. After some errors every later call of the process fails with the same one: those say so.
pub fn reason(error: CudaError) -> String {
    match error {
        // The driver may not know the error's name; whoever goes on with another device looks for it.
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

/// Errors that leave the context "in an inconsistent state", by the driver's documentation of `CUresult`.
fn is_sticky(error: CudaError) -> bool {
    // CUDA_ERROR_ECC_UNCORRECTABLE; from CUDA_ERROR_ILLEGAL_ADDRESS to CUDA_ERROR_CONTEXT_IS_DESTROYED but for launches
    // that are too large and peer access; from CUDA_ERROR_ASSERT on, what kernels do wrong.
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
