//! Global memory.

unsafe extern "C" {
    /// Defined by cuda_builder's prelude through address space 1, so that LLVM emits `ld.global` and `st.global`.
    fn __global_pointer(address: u64) -> *mut u8;
}

/// The pointer to an address in global memory, with its address space. A pointer that a kernel receives inside a struct
/// has lost its address space.
#[inline(always)]
pub fn pointer<T>(address: u64) -> *mut T {
    // SAFETY: converts an address, reads nothing.
    unsafe { __global_pointer(address).cast() }
}
