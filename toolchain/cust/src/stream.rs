//! Streams: queues of work.

use std::ffi::c_void;
use std::ptr;

use crate::error::CudaResult;
use crate::event::Event;
use crate::function::{BlockSize, Function, GridSize};
use crate::sys;

/// A property of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamFlags(u32);

impl StreamFlags {
    /// Waits for the work of the default stream, which waits for its work too.
    pub const DEFAULT: Self = Self(0);
    /// Runs beside the default stream.
    pub const NON_BLOCKING: Self = Self(1);
}

/// How a stream waits for an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamWaitEventFlags(u32);

impl StreamWaitEventFlags {
    /// The only option.
    pub const DEFAULT: Self = Self(0);
}

/// A queue of work in the context that was current.
#[derive(Debug)]
pub struct Stream(sys::CUstream);

// SAFETY: a handle, which the driver lets any thread use.
unsafe impl Send for Stream {}
// SAFETY: as above.
unsafe impl Sync for Stream {}

impl Stream {
    /// Makes a stream. Work with a smaller priority number comes first; `None` is 0.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn new(flags: StreamFlags, priority: Option<i32>) -> CudaResult<Self> {
        let mut stream = ptr::null_mut();
        let priority = priority.unwrap_or(0);
        // SAFETY: writes one handle.
        unsafe { sys::cuStreamCreateWithPriority(&mut stream, flags.0, priority) }.to_result()?;
        Ok(Self(stream))
    }

    /// Waits for all of its work.
    ///
    /// # Errors
    /// Errors of the work.
    pub fn synchronize(&self) -> CudaResult<()> {
        // SAFETY: the stream is alive.
        unsafe { sys::cuStreamSynchronize(self.0) }.to_result()
    }

    /// Makes its later work wait for `event`. The driver keeps the event until then.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn wait_event(&self, event: Event, flags: StreamWaitEventFlags) -> CudaResult<()> {
        // SAFETY: both are alive.
        unsafe { sys::cuStreamWaitEvent(self.0, event.as_inner(), flags.0) }.to_result()
    }

    /// Launches a kernel, with `shared` bytes of dynamic shared memory a block.
    ///
    /// # Errors
    /// Errors of the driver.
    ///
    /// # Safety
    /// `arguments` points at the value of each of the kernel's parameters, in their order and of their types. The
    /// addresses among them stay valid until the stream's work so far is done.
    pub unsafe fn launch(
        &self,
        function: &Function<'_>,
        grid: impl Into<GridSize>,
        block: impl Into<BlockSize>,
        shared: u32,
        arguments: &[*mut c_void],
    ) -> CudaResult<()> {
        let (grid, block) = (grid.into(), block.into());
        // SAFETY: the caller's promise. The driver copies the values before it returns, and writes to neither array.
        unsafe {
            sys::cuLaunchKernel(
                function.to_raw(),
                grid.x,
                grid.y,
                grid.z,
                block.x,
                block.y,
                block.z,
                shared,
                self.0,
                arguments.as_ptr().cast_mut(),
                ptr::null_mut(),
            )
        }
        .to_result()
    }

    /// The driver's handle.
    pub fn as_inner(&self) -> sys::CUstream {
        self.0
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: made in `new`; the driver frees it after its work. A failure leaves nothing to do.
        let _ = unsafe { sys::cuStreamDestroy_v2(self.0) };
    }
}

impl Event {
    /// Records the event after the stream's work so far.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn record(&self, stream: &Stream) -> CudaResult<()> {
        // SAFETY: both are alive.
        unsafe { sys::cuEventRecord(self.as_inner(), stream.as_inner()) }.to_result()
    }
}
