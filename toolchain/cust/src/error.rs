//! Errors of the driver.

use std::ffi::{CStr, c_char};
use std::fmt;
use std::ptr;

use crate::sys::{self, CUresult};

/// The result of a call.
pub type CudaResult<T> = Result<T, CudaError>;

/// An error of the driver, by its number. Errors that programs distinguish have a constant, for patterns.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct CudaError(u32);

#[allow(non_upper_case_globals, missing_docs)]
impl CudaError {
    pub const InvalidValue: Self = Self(1);
    pub const OutOfMemory: Self = Self(2);
    pub const NotInitialized: Self = Self(3);
    pub const NoDevice: Self = Self(100);
    pub const InvalidDevice: Self = Self(101);
    pub const InvalidImage: Self = Self(200);
    pub const InvalidContext: Self = Self(201);
    pub const NoBinaryForGpu: Self = Self(209);
    pub const InvalidPtx: Self = Self(218);
    pub const UnsupportedPtxVersion: Self = Self(222);
    pub const NotFound: Self = Self(500);
    pub const NotReady: Self = Self(600);
    pub const IllegalAddress: Self = Self(700);
    pub const LaunchOutOfResources: Self = Self(701);
    pub const LaunchTimeout: Self = Self(702);
    pub const LaunchFailed: Self = Self(719);
    pub const NotSupported: Self = Self(801);
    pub const UnknownError: Self = Self(999);
}

impl CUresult {
    /// The error, unless it is a success.
    ///
    /// # Errors
    /// The error itself.
    pub fn to_result(self) -> CudaResult<()> {
        match self {
            Self::CUDA_SUCCESS => Ok(()),
            CUresult(code) => Err(CudaError::from_code(code)),
        }
    }
}

impl CudaError {
    pub(crate) fn from_code(code: u32) -> Self {
        Self(code)
    }

    /// The driver's number.
    pub fn code(self) -> u32 {
        self.0
    }

    /// The driver's name, as `CUDA_ERROR_OUT_OF_MEMORY`; `None` without a driver or for an unknown number.
    pub fn name(self) -> Option<&'static str> {
        // SAFETY: the function writes a static string.
        unsafe { string(|text| sys::cuGetErrorName(CUresult(self.0), text)) }
    }

    /// The driver's sentence, as "out of memory".
    pub fn sentence(self) -> Option<&'static str> {
        // SAFETY: the function writes a static string.
        unsafe { string(|text| sys::cuGetErrorString(CUresult(self.0), text)) }
    }
}

/// The string that `ask` writes.
///
/// # Safety
/// On success `ask` writes null, or a string that ends in a NUL and lives as long as the process.
unsafe fn string(ask: impl FnOnce(*mut *const c_char) -> CUresult) -> Option<&'static str> {
    let mut text = ptr::null();
    ask(&mut text).to_result().ok()?;
    if text.is_null() {
        return None;
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(text) }.to_str().ok()
}

impl fmt::Display for CudaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.name(), self.sentence()) {
            (Some(name), Some(sentence)) => write!(f, "{name}: {sentence}"),
            (Some(text), None) | (None, Some(text)) => f.write_str(text),
            (None, None) => write!(f, "CUDA error {}", self.0),
        }
    }
}

impl fmt::Debug for CudaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CudaError({self})")
    }
}

impl std::error::Error for CudaError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_has_its_name_or_its_number() {
        let text = CudaError::OutOfMemory.to_string();
        match sys::is_installed() {
            true => assert!(text.starts_with("CUDA_ERROR_OUT_OF_MEMORY: "), "{text}"),
            false => assert_eq!(text, "CUDA error 2"),
        }
    }
}
