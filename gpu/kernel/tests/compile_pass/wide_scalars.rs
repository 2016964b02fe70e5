//! Parameters of 16 bytes and more, aligned to 16.
use trioxide_kernel::{Out, kernel};

#[kernel]
pub fn fill(i: u32, offset: glam::DVec2, scale: glam::Vec4, shift: glam::DVec3, values: Out<f64>) {
    values.set(i, offset.x + shift.y * f64::from(scale.z));
}

fn main() {}
