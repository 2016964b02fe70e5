//! A launch names a value for which there is an instance.
use trioxide_kernel::launch::{Buffer, LaunchError, Launcher};
use trioxide_kernel::{Out, kernel};

#[kernel(COUNT in [2, 3])]
pub fn fill<const COUNT: u32>(i: u32, values: Out<u32>) {
    values.set(i, COUNT);
}

fn launch(on: &dyn Launcher, values: &mut Buffer<u32>) -> Result<(), LaunchError> {
    // SAFETY: each index writes its own element.
    unsafe { fill::launch::<4>(on, 1, values) }
}

fn main() {
    let _: fn(&dyn Launcher, &mut Buffer<u32>) -> Result<(), LaunchError> = launch;
}
