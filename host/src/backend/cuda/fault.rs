//! Bad indices that the kernels of a checked build report.

use cust::error::CudaResult;
use cust::memory::CopyDestination;
use cust::module::Module;
use trioxide_kernel::check::{FAULT_SYMBOL, Fault};

use crate::backend::transfers::Pinned;

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
