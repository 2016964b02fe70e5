//! The costs of a device before its work.

use std::time::Duration;

/// Costs of a device before its work; all 0 for a CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Costs {
    /// The driver's start.
    pub driver: Duration,
    /// The context, its queues and its staging memory.
    pub context: Duration,
    /// Kernels made ready, within the stages that launch them first.
    pub kernels: Duration,
    /// Kernels loaded as machine code, a family at a time.
    pub loaded: usize,
    /// Kernels that the driver compiled from PTX or found in its cache.
    pub compiled: usize,
}

/// Whether a CUDA driver is installed. It does not look for a device, which takes a quarter of a second.
pub fn has_cuda_driver() -> bool {
    #[cfg(feature = "cuda")]
    return cust::sys::is_installed();
    #[cfg(not(feature = "cuda"))]
    false
}
