//! Events: points in a stream's work.

use std::ptr;

use crate::error::CudaResult;
use crate::sys;

/// A property of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventFlags(u32);

impl EventFlags {
    /// Records its time; a thread that waits for it spins.
    pub const DEFAULT: Self = Self(0);
    /// A thread that waits for it sleeps.
    pub const BLOCKING_SYNC: Self = Self(1);
    /// Records no time, which is faster.
    pub const DISABLE_TIMING: Self = Self(2);
}

/// An event.
#[derive(Debug)]
pub struct Event(sys::CUevent);

// SAFETY: a handle, which the driver lets any thread use.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

impl Event {
    /// Makes an event, which counts as reached until it is recorded.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn new(flags: EventFlags) -> CudaResult<Self> {
        let mut event = ptr::null_mut();
        // SAFETY: writes one handle.
        unsafe { sys::cuEventCreate(&mut event, flags.0) }.to_result()?;
        Ok(Self(event))
    }

    /// Waits until it is reached.
    ///
    /// # Errors
    /// Errors of the work before it.
    pub fn synchronize(&self) -> CudaResult<()> {
        // SAFETY: the event is alive.
        unsafe { sys::cuEventSynchronize(self.0) }.to_result()
    }

    /// Milliseconds from `start` to this.
    ///
    /// # Errors
    /// [`crate::error::CudaError::NotReady`] when one is not reached yet; errors of the driver.
    pub fn elapsed_time_f32(&self, start: &Self) -> CudaResult<f32> {
        let mut milliseconds = 0.0;
        // SAFETY: both are alive; writes one number.
        unsafe { sys::cuEventElapsedTime(&mut milliseconds, start.0, self.0) }.to_result()?;
        Ok(milliseconds)
    }

    /// The driver's handle.
    pub(crate) fn as_inner(&self) -> sys::CUevent {
        self.0
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: made in `new`; the driver frees it once it is reached. A failure leaves nothing to do.
        let _ = unsafe { sys::cuEventDestroy_v2(self.0) };
    }
}
