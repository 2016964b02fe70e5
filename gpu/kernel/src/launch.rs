//! Launches on the host: the code of `#[kernel]` calls this module. A machine that runs kernels implements
//! [`Launcher`].

mod arguments;
mod buffer;
mod calls;
mod declaration;
mod error;
mod lengths;

use core::ops::Range;

use crate::block::SCRATCH_BYTES;
use crate::check::{OutOfBounds, hash};
use crate::fault::{BROKEN_ASSERTION, Fault};
use crate::print::{Record, Sink};
pub use arguments::{Arguments, Array};
pub use buffer::{Buffer, DeviceId, Memory};
#[doc(hidden)]
pub use calls::{bits, blocks, groups};
#[doc(hidden)]
pub use declaration::{Called, Declaration, add, instance, place_of_value, run};
pub use error::LaunchError;
#[doc(hidden)]
pub use lengths::{Lengths, Need, TooShort};

/// How a launch's indices become calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A call for each index.
    Each,
    /// A call for each index; the flags of 32 calls are a word of a bit set. `run` takes a range of words.
    Bits,
    /// A call for each block of `lanes` lanes.
    Blocks {
        /// Lanes of a block.
        lanes: u32,
    },
}

/// A kernel, as its declaration describes it.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    /// Its function's name.
    pub name: &'static str,
    /// Name of the PTX entry of the instance.
    pub entry: &'static str,
    /// The package that declares it, whose PTX has the entry.
    pub package: &'static str,
    /// The module that declares it, `gpu::polylla::label`.
    pub module: &'static str,
}

/// The traffic of a launch: the fewest bytes that it moves from and to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moves {
    /// Bytes.
    pub bytes: u64,
    /// The formula in the kernel's declaration.
    pub formula: &'static str,
}

/// A kernel with its arguments.
pub struct Launch {
    /// The kernel.
    pub kernel: Kernel,
    /// How indices become calls.
    pub shape: Shape,
    /// Number of indices, or of blocks.
    pub n: u32,
    /// Bytes of shared memory for each block that the kernel asks for.
    pub shared: usize,
    /// Arguments of the PTX entry.
    pub arguments: Arguments,
    /// The fewest bytes that the launch moves from and to memory, by the kernel's declaration.
    pub moves: Option<Moves>,
    /// The instance on the CPU.
    #[doc(hidden)]
    pub calls: Calls,
}

/// The CPU's counterpart of a PTX entry: it makes the calls of a range with the entry's arguments; there are `n`
/// indices. The crate that declares a kernel compiles it, once for each instance.
pub type Calls = unsafe fn(&Arguments, u32, Range<u32>);

impl Launch {
    /// Makes the calls of `range` on the CPU: indices, words of 32 indices, or blocks, by the launch's shape.
    ///
    /// # Safety
    /// The promise of the launch, whose fields are as the kernel's code made them. `range` lies within
    /// 0..[`Launch::calls`], no call is made twice, and the launch's arrays are memory of this process.
    pub unsafe fn run(&self, range: Range<u32>) {
        let arguments = &self.arguments;
        arguments.prints.during(range.start, || {
            // SAFETY: the caller's promise.
            unsafe { (self.calls)(arguments, self.n, range) }
        });
    }

    /// End of the range of all calls, which `run` takes.
    pub fn calls(&self) -> u32 {
        match self.shape {
            Shape::Bits => self.n.div_ceil(32),
            Shape::Each | Shape::Blocks { .. } => self.n,
        }
    }

    /// Threads that a device runs: for each index, for each lane, or one for four indices of a bit set.
    pub fn threads(&self) -> u64 {
        match self.shape {
            Shape::Each => self.n.into(),
            Shape::Bits => u64::from(self.n.div_ceil(4)),
            Shape::Blocks { lanes } => u64::from(self.n) * u64::from(lanes),
        }
    }

    /// Bytes of shared memory of each block on a device.
    pub fn shared_bytes(&self) -> usize {
        match self.shape {
            Shape::Blocks { .. } => SCRATCH_BYTES + self.shared,
            Shape::Each | Shape::Bits => 0,
        }
    }

    /// Sends the lines that the launch prints to `sink` when the launch is dropped, not to standard error.
    pub fn print_to(&mut self, sink: Sink) {
        self.arguments.prints.send_to(sink);
    }

    /// Takes the prints of a device: those of the `records` that are set, which are cleared, of `count` prints in all,
    /// if that is known.
    pub fn take_prints(&self, records: &mut [Record], count: u64) {
        self.arguments.prints.take(records, count);
    }

    /// Refuses a block with more shared memory than the `most` bytes that a device has for one.
    ///
    /// # Errors
    /// [`LaunchError::SharedMemory`].
    pub fn check_shared(&self, most: usize) -> Result<(), LaunchError> {
        match self.shared_bytes() {
            bytes if bytes <= most => Ok(()),
            bytes => Err(LaunchError::SharedMemory {
                kernel: self.kernel.name,
                bytes,
                most,
            }),
        }
    }

    /// Refuses arrays that are not on `device`.
    ///
    /// # Errors
    /// [`LaunchError::OtherDevice`].
    pub fn check_device(&self, device: DeviceId) -> Result<(), LaunchError> {
        let other = |array: &&Array| array.device != device;
        match self.arguments.arrays.iter().find(other) {
            None => Ok(()),
            Some(array) => Err(LaunchError::OtherDevice {
                kernel: self.kernel.name,
                array: array.name,
            }),
        }
    }

    /// The names that a report of this launch may have.
    pub fn named(&self) -> LaunchNames {
        LaunchNames {
            kernel: self.kernel.name,
            arrays: self
                .arguments
                .arrays
                .iter()
                .map(|array| array.name)
                .collect(),
        }
    }

    /// Makes calls of [`Launch::run`]; a wrong index of a kernel with a safe launch becomes an error.
    ///
    /// # Errors
    /// [`LaunchError::OutOfBounds`].
    pub fn catch(&self, run: impl FnOnce()) -> Result<(), LaunchError> {
        let Err(payload) = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)) else {
            return Ok(());
        };
        match payload.downcast::<OutOfBounds<'static>>() {
            Ok(found) => Err(LaunchError::OutOfBounds {
                kernel: self.kernel.name,
                array: found.array,
                index: found.index,
                len: found.len,
                place: None,
            }),
            Err(other) => std::panic::resume_unwind(other),
        }
    }
}

impl Drop for Launch {
    // Also after a panic: the lines before it are the most useful ones.
    fn drop(&mut self) {
        self.arguments.prints.finish(self.kernel.name);
    }
}

/// The names of a kernel and its arrays, which a device reports as hashes.
#[derive(Clone, Debug)]
pub struct LaunchNames {
    /// The kernel.
    pub kernel: &'static str,
    /// Its arrays.
    pub arrays: Vec<&'static str>,
}

impl LaunchNames {
    /// The error for a fault that a device reported during a launch of this kernel; `place` is its file and line, if it
    /// is known.
    pub fn describe(&self, fault: &Fault, place: Option<String>) -> LaunchError {
        if fault.is_set == BROKEN_ASSERTION {
            let len = (fault.len as usize).min(fault.text.len());
            return LaunchError::Assertion {
                kernel: self.kernel,
                text: String::from_utf8_lossy(&fault.text[..len]).into_owned(),
                index: fault.index,
            };
        }
        let array = |array: &&&str| hash(array) == fault.array;
        LaunchError::OutOfBounds {
            kernel: self.kernel,
            array: self.arrays.iter().find(array).copied().unwrap_or("shared"),
            index: fault.index,
            len: fault.len,
            place,
        }
    }
}

/// A machine that runs kernels.
pub trait Launcher {
    /// Runs a kernel; it may return before the kernel ends.
    ///
    /// # Errors
    /// [`LaunchError`] when an array lies elsewhere, the kernel's PTX is not loaded, or the machine fails.
    ///
    /// # Safety
    /// The conditions of the kernel's launch hold: every index that it forms is in range, and no two threads race.
    unsafe fn launch(&self, launch: Launch) -> Result<(), LaunchError>;
}
