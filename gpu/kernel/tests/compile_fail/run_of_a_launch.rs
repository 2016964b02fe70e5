//! In safe code a launcher cannot run other calls than the launch's.
#![deny(unsafe_op_in_unsafe_fn)]
use trioxide_kernel::launch::{Launch, LaunchError, Launcher};

struct Twice;

impl Launcher for Twice {
    unsafe fn launch(&self, launch: Launch) -> Result<(), LaunchError> {
        launch.run(0..2 * launch.calls());
        Ok(())
    }
}

fn main() {
    let _ = Twice;
}
