//! Memory of a device.

use std::sync::Arc;

use cust::sys;
use trioxide_kernel::launch::{DeviceId, Memory};

use super::{Core, MemoryUse};

/// Memory of a device, freed to its pool in the order of the stream's work.
pub(super) struct Allocation {
    pub(super) address: u64,
    pub(super) bytes: usize,
    pub(super) device: DeviceId,
    pub(super) memory: Arc<MemoryUse>,
    pub(super) core: Arc<Core>,
}

impl Memory for Allocation {
    fn device(&self) -> DeviceId {
        self.device
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        self.memory.remove(self.bytes);
        // A failure here means that an earlier one has been reported.
        let _ = self.core.enter();
        // SAFETY: allocated on this stream in `allocate`; freed after the stream's work so far.
        let _ = unsafe { sys::cuMemFreeAsync(self.address, self.core.stream.as_inner()) };
    }
}
