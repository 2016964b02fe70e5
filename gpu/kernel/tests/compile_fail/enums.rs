//! An enum that a kernel takes has no fields, and is a u32.
use trioxide_kernel::{Out, Scalar, kernel};

#[derive(Clone, Copy, Scalar)]
pub enum WithoutRepr {
    A,
}

#[derive(Clone, Copy, Scalar)]
#[repr(u8)]
pub enum OfAByte {
    A,
}

#[derive(Clone, Copy, Scalar)]
#[repr(u32)]
pub enum WithFields {
    A,
    B(u32),
}

#[derive(Clone, Copy, Scalar)]
#[repr(u32)]
pub enum Never {}

#[derive(Clone, Copy, Scalar)]
#[repr(C)]
pub struct Plain {
    a: u32,
}

#[derive(Clone, Copy)]
#[repr(u32)]
pub enum WithoutDerive {
    A,
}

#[kernel]
pub fn fill(i: u32, kind: WithoutDerive, values: Out<u32>) {
    values.set(i, kind as u32);
}

fn main() {}
