//! A device's memory shared with other packages of the process: their streams, and the count of bytes copied between
//! host and device.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::Device;
use crate::Result;

/// Bytes that were copied between the host's memory and a device's.
#[derive(Default)]
pub(super) struct Transferred {
    to_device: AtomicU64,
    to_host: AtomicU64,
}

impl Transferred {
    pub(super) fn add_to_device(&self, bytes: usize) {
        self.to_device.fetch_add(bytes as u64, Relaxed);
    }

    pub(super) fn add_to_host(&self, bytes: usize) {
        self.to_host.fetch_add(bytes as u64, Relaxed);
    }
}

impl Device {
    /// Bytes that buffers of this device have copied from the host and to the host since the device was opened, for
    /// whole buffers and single elements. Arguments of launches and [`Device::time_copies`] do not count.
    ///
    /// ```
    /// # fn main() -> trioxide_device::Result<()> {
    /// let on = trioxide_device::Device::cpu(None)?;
    /// let buffer = on.upload(&[1.0f64, 2.0])?;
    /// on.read(&buffer, 1)?;
    /// assert_eq!(on.transferred(), (16, 8));
    /// # Ok(())
    /// # }
    /// ```
    pub fn transferred(&self) -> (u64, u64) {
        let record = &self.0.transferred;
        (record.to_device.load(Relaxed), record.to_host.load(Relaxed))
    }

    /// The driver's handle of this device's work queue, a `CUstream`; `None` for a CPU. Other packages can make it wait
    /// for their work.
    pub fn stream(&self) -> Option<u64> {
        self.0.backend.stream()
    }

    /// Makes this device's work wait for the work so far of another package's queue, so that its results can be read
    /// here.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) when that work failed.
    ///
    /// # Safety
    /// `stream` is a live `CUstream` of this device's primary context, or 1 or 2 for the driver's default streams; on a
    /// CPU any number.
    pub unsafe fn wait_for_stream(&self, stream: u64) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.0.backend.wait_for_stream(stream) }
    }

    /// Waits for all work of the process on this device, including other packages': then memory that they used can be
    /// freed.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) when work failed.
    pub fn wait_for_all(&self) -> Result<()> {
        self.0.backend.wait_for_all()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_crosses_is_counted() -> Result<()> {
        let on = Device::cpu(Some(1))?;
        assert_eq!(on.transferred(), (0, 0));
        let buffer = on.upload(&[1u32, 2, 3])?;
        assert_eq!(on.transferred(), (12, 0));
        on.download(&buffer)?;
        on.read(&buffer, 2)?;
        on.upload_beside(&[1u8, 2], || Ok(()))?;
        on.download_beside(&buffer, || Ok(()))?;
        assert_eq!(on.transferred(), (14, 28));
        // Copies within the device and fills do not count.
        on.duplicate(&buffer)?;
        on.filled(10, 7u32)?;
        assert_eq!(on.transferred(), (14, 28));
        assert_eq!(on.stream(), None);
        // SAFETY: a CPU.
        unsafe { on.wait_for_stream(1) }?;
        on.wait_for_all()
    }
}
