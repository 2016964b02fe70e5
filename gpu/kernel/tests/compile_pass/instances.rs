//! A named set of instances, used in another module, with other options before and after it.
pub mod point {
    pub trait Point: trioxide_kernel::bytemuck::Pod + Send + Sync {}

    impl Point for f32 {}
    impl Point for f64 {}

    trioxide_kernel::instances! { pub(crate) Precisions(f32 = f32, f64 = f64) }
}

pub mod kernels {
    use crate::point::{Point, Precisions};
    use trioxide_kernel::{In, Out, kernel};

    #[kernel(requires(values.len() == n), P in Precisions, moves(values.bytes()))]
    pub fn copy<P: Point>(i: u32, values: In<P>, copies: Out<P>) {
        copies.set(i, values.at(i));
    }
}

fn main() {
    assert_eq!(kernels::copy::ENTRIES, ["copy_f32", "copy_f64"]);
}
