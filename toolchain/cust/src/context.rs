//! Contexts: a process's share of a device.

use std::ptr;

use crate::device::Device;
use crate::error::CudaResult;
use crate::sys;

/// A reference to the primary context of a device, which all libraries of the process share. Dropping the last one
/// destroys the context.
#[derive(Debug)]
pub struct Context {
    context: sys::CUcontext,
    device: sys::CUdevice,
}

// SAFETY: a handle that the driver lets any thread use.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    /// Opens the primary context, and enters it on the calling thread.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn new(device: Device) -> CudaResult<Self> {
        let device = device.as_raw();
        let mut context = ptr::null_mut();
        // SAFETY: writes one handle.
        unsafe { sys::cuDevicePrimaryCtxRetain(&mut context, device) }.to_result()?;
        let context = Self { context, device };
        CurrentContext::set_current(&context)?;
        Ok(context)
    }

    /// The driver's handle.
    pub fn as_raw(&self) -> sys::CUcontext {
        self.context
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: retained in `new`. A failure means that the driver has ended already.
        let _ = unsafe { sys::cuDevicePrimaryCtxRelease_v2(self.device) };
    }
}

/// The context of the calling thread.
#[derive(Debug)]
pub struct CurrentContext;

impl CurrentContext {
    /// Enters a context.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn set_current(context: &Context) -> CudaResult<()> {
        let mut current = ptr::null_mut();
        // SAFETY: writes one handle. Reading the current context costs less than entering one, and most threads have
        // entered it.
        unsafe { sys::cuCtxGetCurrent(&mut current) }.to_result()?;
        if current == context.context {
            return Ok(());
        }
        // SAFETY: the context is alive.
        unsafe { sys::cuCtxSetCurrent(context.context) }.to_result()
    }
}
