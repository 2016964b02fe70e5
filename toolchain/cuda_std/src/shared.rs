//! Shared memory of a block.

unsafe extern "C" {
    /// Defined by cuda_builder's prelude as a symbol in address space 3, so that LLVM emits `ld.shared` and
    /// `st.shared`.
    fn __dynamic_shared_base() -> *mut u8;
}

/// Start of the launch's dynamic shared memory; aligned to 16 bytes.
#[inline(always)]
pub fn dynamic_shared_mem<T>() -> *mut T {
    // SAFETY: returns an address, reads nothing.
    unsafe { __dynamic_shared_base().cast() }
}
