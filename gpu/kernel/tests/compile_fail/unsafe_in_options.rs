//! Conditions and `moves` are safe code.
use trioxide_kernel::{In, kernel};

unsafe fn peek(address: usize) -> bool {
    // SAFETY: none.
    unsafe { *(address as *const bool) }
}

#[kernel(requires(peek(values.len())))]
pub fn in_requires(i: u32, values: In<f32>) {
    let _ = (i, values);
}

#[kernel(moves(usize::from(peek(values.len()))))]
pub fn in_moves(i: u32, values: In<f32>) {
    let _ = (i, values);
}

fn main() {}
