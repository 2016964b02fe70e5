//! CUDA's driver API with the names of [cust](https://crates.io/crates/cust), as far as trioxide uses it.
//!
//! The driver is loaded at its first call, not linked: a program builds without CUDA and runs without a GPU.
//! [`sys::is_installed`] returns whether there is a driver; without one each call fails with
//! [`error::CudaError::NoDevice`].
//!
//! Contexts, modules, streams and events are handles that free themselves. As with the driver, any thread can use them
//! once it has entered the context by [`context::CurrentContext::set_current`].

pub mod context;
pub mod device;
pub mod error;
pub mod event;
pub mod function;
pub mod memory;
pub mod module;
pub mod nvml;
pub mod stream;
pub mod sys;

use error::CudaResult;

/// Flags of [`init`]. The driver has none yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CudaFlags(u32);

impl CudaFlags {
    /// No flags.
    pub const fn empty() -> Self {
        Self(0)
    }
}

/// Starts the driver. Every other call needs this first.
///
/// # Errors
/// [`error::CudaError::NoDevice`] when there is no driver or no device.
pub fn init(flags: CudaFlags) -> CudaResult<()> {
    // SAFETY: a number is passed.
    unsafe { sys::cuInit(flags.0) }.to_result()
}

/// The newest version of CUDA that the driver supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CudaApiVersion(i32);

impl CudaApiVersion {
    /// Reads the version from the driver.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn get() -> CudaResult<Self> {
        let mut version = 0;
        // SAFETY: writes one number.
        unsafe { sys::cuDriverGetVersion(&mut version) }.to_result()?;
        Ok(Self(version))
    }

    /// 12 of CUDA 12.4.
    pub const fn major(self) -> i32 {
        self.0 / 1000
    }

    /// 4 of CUDA 12.4.
    pub const fn minor(self) -> i32 {
        self.0 % 1000 / 10
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_thousands_and_tens() {
        let version = CudaApiVersion(12_040);
        assert_eq!((version.major(), version.minor()), (12, 4));
    }

    #[test]
    fn handles_go_to_other_threads() {
        fn check<T: Send + Sync>() {}
        check::<context::Context>();
        check::<event::Event>();
        check::<function::Function<'_>>();
        check::<module::Module>();
        check::<stream::Stream>();
    }

    #[test]
    fn without_a_driver_nothing_starts() {
        if !sys::is_installed() {
            assert_eq!(init(CudaFlags::empty()), Err(error::CudaError::NoDevice));
        }
    }
}
