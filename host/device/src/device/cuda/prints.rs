//! Lines that kernels print.

use std::ffi::CString;

use cust::error::CudaResult;
use cust::memory::{CopyDestination, DeviceCopy};
use cust::module::Module;
use cust::sys;
use trioxide_kernel::launch::Launch;
use trioxide_kernel::print::{Header, MOST_PRINTS, PRINTS_SYMBOL, Record};

use crate::device::transfers::Pinned;

/// Host memory for the printed records of a module's launches, one launch at a time.
pub struct Prints {
    records: Pinned,
}

/// A [`Header`] in the device's memory.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct OnDevice(Header);

// SAFETY: plain numbers; the device writes to the records, which are pinned.
unsafe impl DeviceCopy for OnDevice {}

fn symbol() -> CString {
    CString::new(PRINTS_SYMBOL).expect("no NUL in the name")
}

impl Prints {
    /// Memory for the lines of a module. `None` if its PTX, `text`, prints nothing.
    pub fn of(text: &str, module: &Module) -> CudaResult<Option<Self>> {
        // Searches the text, for the same reason as for faults.
        if !text.contains(PRINTS_SYMBOL) {
            return Ok(None);
        }
        let mut prints = Self {
            records: Pinned::new(MOST_PRINTS * size_of::<Record>())?,
        };
        prints.records.bytes().fill(0);
        // Fails for a module without the variable.
        prints.begin(module)?;
        Ok(Some(prints))
    }

    /// Prepares for a launch.
    pub fn begin(&mut self, module: &Module) -> CudaResult<()> {
        let header = Header {
            records: self.records.bytes().as_mut_ptr() as u64,
            most: MOST_PRINTS as u32,
            count: 0,
        };
        let mut symbol = module.get_global::<OnDevice>(&symbol())?;
        symbol.copy_from(&OnDevice(header))?;
        // The copy may return before it is done, and the launch's queue does not wait for it.
        // SAFETY: in the module's context, which is current.
        unsafe { sys::cuCtxSynchronize() }.to_result()
    }

    /// Collects the lines of a launch that has ended. After a failed launch, the GPU no longer knows their number.
    pub fn collect(&mut self, module: &Module, launch: &Launch) {
        let mut header = OnDevice(bytemuck::Zeroable::zeroed());
        let name = symbol();
        let found = module.get_global::<OnDevice>(&name);
        let read = found.and_then(|found| found.copy_to(&mut header));
        let bytes = self.records.bytes();
        // SAFETY: page-aligned memory of records, zeroed at first; the launch has ended.
        let (before, records, _) = unsafe { bytes.align_to_mut::<Record>() };
        debug_assert!(before.is_empty());
        let (kept, count) = match read {
            Ok(()) => (header.0.count as usize, header.0.count.into()),
            Err(_) => (MOST_PRINTS, 0),
        };
        let end = kept.min(records.len());
        launch.take_prints(&mut records[..end], count);
    }
}
