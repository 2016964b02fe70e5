//! Modules: loaded kernels and variables.

use std::ffi::{CStr, CString, c_void};
use std::marker::PhantomData;
use std::ptr;

use crate::error::{CudaError, CudaResult};
use crate::function::Function;
use crate::memory::{CopyDestination, DeviceCopy};
use crate::sys::{self, CUjit_option};

/// An option of the driver's compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModuleJitOption {
    /// The most registers of a thread.
    MaxRegisters(u32),
}

/// Kernels and variables, loaded into the context that was current.
#[derive(Debug)]
pub struct Module(sys::CUmodule);

// SAFETY: a handle, which the driver lets any thread use.
unsafe impl Send for Module {}
// SAFETY: as above.
unsafe impl Sync for Module {}

impl Module {
    /// Compiles PTX for the device of the current context.
    ///
    /// # Errors
    /// [`CudaError::InvalidPtx`] for PTX that does not compile or that contains a NUL;
    /// [`CudaError::UnsupportedPtxVersion`] for PTX that is newer than the driver.
    pub fn from_ptx(ptx: impl AsRef<str>, options: &[ModuleJitOption]) -> CudaResult<Self> {
        let ptx = CString::new(ptx.as_ref()).map_err(|_| CudaError::InvalidPtx)?;
        // The driver reads a 32-bit value from the pointer's own bits.
        let (mut names, mut values): (Vec<CUjit_option>, Vec<*mut c_void>) = options
            .iter()
            .map(|&ModuleJitOption::MaxRegisters(count)| {
                let value = ptr::without_provenance_mut(count as usize);
                (CUjit_option::CU_JIT_MAX_REGISTERS, value)
            })
            .unzip();
        let mut module = ptr::null_mut();
        // SAFETY: text that ends in a NUL, and as many values as options.
        unsafe {
            sys::cuModuleLoadDataEx(
                &mut module,
                ptx.as_ptr().cast(),
                names.len() as u32,
                names.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        }
        .to_result()?;
        Ok(Self(module))
    }

    /// Loads machine code from an assembler (a cubin).
    ///
    /// # Errors
    /// [`CudaError::NoBinaryForGpu`] for code for another architecture, [`CudaError::InvalidImage`] or others for code
    /// that is newer than the driver.
    pub fn from_cubin(code: &[u8]) -> CudaResult<Self> {
        // The driver reads the length in the code's own header.
        if !code.starts_with(b"\x7fELF") {
            return Err(CudaError::InvalidImage);
        }
        let mut module = ptr::null_mut();
        // SAFETY: a whole ELF file from an assembler; no options.
        unsafe {
            sys::cuModuleLoadDataEx(
                &mut module,
                code.as_ptr().cast(),
                0,
                ptr::null_mut(),
                ptr::null_mut(),
            )
        }
        .to_result()?;
        Ok(Self(module))
    }

    /// The variable with this name.
    ///
    /// # Errors
    /// [`CudaError::NotFound`] if there is none; [`CudaError::InvalidValue`] if its size differs from that of `T`.
    pub fn get_global<'a, T: DeviceCopy>(&'a self, name: &CStr) -> CudaResult<Symbol<'a, T>> {
        let (mut address, mut bytes) = (0, 0);
        // SAFETY: a name that ends in a NUL; writes two numbers.
        unsafe { sys::cuModuleGetGlobal_v2(&mut address, &mut bytes, self.0, name.as_ptr()) }
            .to_result()?;
        if bytes != size_of::<T>() {
            return Err(CudaError::InvalidValue);
        }
        Ok(Symbol {
            address,
            module: PhantomData,
        })
    }

    /// The kernel with this name.
    ///
    /// # Errors
    /// [`CudaError::NotFound`] if there is none.
    pub fn get_function(&self, name: impl AsRef<str>) -> CudaResult<Function<'_>> {
        let name = CString::new(name.as_ref()).map_err(|_| CudaError::NotFound)?;
        let mut function = ptr::null_mut();
        // SAFETY: a name that ends in a NUL; writes one handle.
        unsafe { sys::cuModuleGetFunction(&mut function, self.0, name.as_ptr()) }.to_result()?;
        Ok(Function::new(function))
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: loaded in `from_ptx`; nothing borrows it any more. A failure needs no action.
        let _ = unsafe { sys::cuModuleUnload(self.0) };
    }
}

/// A variable of a module.
#[derive(Debug)]
pub struct Symbol<'a, T> {
    address: sys::CUdeviceptr,
    module: PhantomData<&'a (Module, T)>,
}

impl<T: DeviceCopy> CopyDestination<T> for Symbol<'_, T> {
    fn copy_from(&mut self, source: &T) -> CudaResult<()> {
        // SAFETY: the variable has as many bytes as `T`.
        unsafe { sys::cuMemcpyHtoD_v2(self.address, ptr::from_ref(source).cast(), size_of::<T>()) }
            .to_result()
    }

    fn copy_to(&self, destination: &mut T) -> CudaResult<()> {
        // SAFETY: as above; its content was a `T`, or zeros, which numbers may be.
        unsafe {
            sys::cuMemcpyDtoH_v2(
                ptr::from_mut(destination).cast(),
                self.address,
                size_of::<T>(),
            )
        }
        .to_result()
    }
}
