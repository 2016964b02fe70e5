//! Copies to and from a device.

use crate::error::CudaResult;

/// Values that may be copied to a device by their bytes.
///
/// # Safety
/// Plain data, without pointers to the host's memory that the device would dereference.
pub unsafe trait DeviceCopy: Copy {}

macro_rules! device_copy {
    ($($number:ty)*) => { $(
        // SAFETY: a number.
        unsafe impl DeviceCopy for $number {}
    )* };
}

device_copy!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize f32 f64);

/// Memory of a device that holds an `O`.
pub trait CopyDestination<O: ?Sized> {
    /// Copies from the host, and waits for the copy.
    ///
    /// # Errors
    /// Errors of the driver.
    fn copy_from(&mut self, source: &O) -> CudaResult<()>;

    /// Copies to the host, and waits for the copy.
    ///
    /// # Errors
    /// Errors of the driver.
    fn copy_to(&self, destination: &mut O) -> CudaResult<()>;
}
