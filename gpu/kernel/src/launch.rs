//! Launches on the host: the code of `#[kernel]` calls this module. A machine that runs kernels implements
//! [`Launcher`].

mod buffer;
mod error;

use core::any::TypeId;
use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::ops::Range;

use bytemuck::Pod;

use crate::block::{Block, SCRATCH_BYTES, SharedMemory};
use crate::check::{OutOfBounds, hash};
use crate::fault::{BROKEN_ASSERTION, Fault};
use crate::index::BitWord;
use crate::index::Index;
use crate::place;
use crate::print::{Collector, Record, Sink};
use crate::view::{Out, RawView};
#[cfg(any(debug_assertions, feature = "checked"))]
use crate::writers::OfLaunch;
pub use buffer::{Buffer, DeviceId, Memory};
pub use error::LaunchError;

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

/// An array that a launch takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Array {
    /// The kernel's parameter, or the field of a group.
    pub name: &'static str,
    /// Number of elements.
    pub len: u64,
    /// Size in bytes.
    pub bytes: u64,
    address: u64,
    device: DeviceId,
}

impl Array {
    /// Its address in the device's memory.
    pub fn address(&self) -> u64 {
        self.address
    }
}

/// Values that a PTX entry takes.
pub struct Arguments {
    /// 16 bytes at a time, so that every value is aligned.
    values: Vec<MaybeUninit<u128>>,
    /// Start of each value in `values`.
    starts: Vec<usize>,
    arrays: Vec<Array>,
    prints: Collector,
    /// The writers of elements on a CPU.
    #[cfg(any(debug_assertions, feature = "checked"))]
    pub(crate) writers: OfLaunch,
}

impl Arguments {
    /// The arguments of a launch of `n` indices.
    #[doc(hidden)]
    pub fn new(n: u32) -> Self {
        // Room for most kernels' parameters: the host's time limits small launches.
        let mut arguments = Self {
            values: Vec::with_capacity(32),
            starts: Vec::with_capacity(24),
            arrays: Vec::with_capacity(16),
            prints: Collector::default(),
            #[cfg(any(debug_assertions, feature = "checked"))]
            writers: OfLaunch::default(),
        };
        arguments.push(n);
        arguments
    }

    /// Records an array, and returns the entry's argument for it.
    #[doc(hidden)]
    pub fn array<T: Pod>(&mut self, name: &'static str, buffer: &Buffer<T>) -> RawView<T> {
        self.arrays.push(Array {
            name,
            len: buffer.len() as u64,
            bytes: buffer.bytes() as u64,
            address: buffer.address(),
            device: buffer.device(),
        });
        RawView::new(buffer.address(), buffer.len() as u64)
    }

    /// Adds the entry's argument for its next parameter.
    #[doc(hidden)]
    pub fn push<R: Copy>(&mut self, raw: R) {
        const {
            assert!(
                align_of::<R>() <= 16,
                "a kernel's parameter is aligned to 16 bytes at most"
            )
        };
        let start = self.values.len();
        self.starts.push(start);
        self.values
            .resize_with(start + size_of::<R>().div_ceil(16).max(1), || {
                MaybeUninit::new(0)
            });
        // SAFETY: room for the value was made above, aligned to 16 bytes.
        unsafe { self.values.as_mut_ptr().add(start).cast::<R>().write(raw) };
    }

    /// The arrays, in the order of the kernel's parameters, a group's in the order of its fields; the bit sets that the
    /// function returns come last.
    pub fn arrays(&self) -> &[Array] {
        &self.arrays
    }

    /// A value that was pushed: number 0 is `n`, followed by the entry's parameters.
    ///
    /// # Safety
    /// The value was pushed as an `R`.
    #[doc(hidden)]
    pub unsafe fn value<R: Copy>(&self, k: usize) -> R {
        // SAFETY: the caller's promise; `push` aligned it.
        unsafe { self.values.as_ptr().add(self.starts[k]).cast::<R>().read() }
    }

    /// Addresses of the values, as the driver takes them.
    pub fn pointers(&mut self) -> Vec<*mut c_void> {
        let first = self.values.as_mut_ptr();
        // SAFETY: starts lie within the values.
        let pointer = |&start: &usize| unsafe { first.add(start) }.cast();
        self.starts.iter().map(pointer).collect()
    }
}

/// An array with fewer elements than the launch has indices.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct TooShort {
    pub array: &'static str,
    pub len: u64,
    /// Elements that each index needs.
    pub per: u32,
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

/// The sentence about the lengths in a launch's error.
#[doc(hidden)]
pub fn lengths(n: u32, arguments: &Arguments) -> String {
    let mut text = format!("n is {n}");
    for array in arguments.arrays() {
        text += &format!(", {} has {} elements", array.name, array.len);
    }
    text
}

/// Place of the instance for `P` among the types that the kernel's declaration lists.
///
/// # Errors
/// [`LaunchError::NoInstance`] if it does not list `P`.
#[doc(hidden)]
pub fn instance<P: 'static>(
    kernel: &'static str,
    instances: &[TypeId],
) -> Result<usize, LaunchError> {
    let own = TypeId::of::<P>();
    let place = instances.iter().position(|instance| *instance == own);
    place.ok_or(LaunchError::NoInstance {
        kernel,
        ty: core::any::type_name::<P>(),
    })
}

/// Place of a constant's value among the values that the kernel's declaration lists.
///
/// # Panics
/// If it does not list `value`: the launch does not compile.
#[doc(hidden)]
pub const fn place_of_value(listed: &[u64], value: u64) -> usize {
    let mut place = 0;
    while place < listed.len() {
        if listed[place] == value {
            return place;
        }
        place += 1;
    }
    panic!(
        "the kernel's declaration lists no instance for this value of its constant: add it to the list"
    )
}

#[doc(hidden)]
#[inline(always)]
pub fn bits<const N: usize, I: Index, W: BitWord>(
    words: Range<u32>,
    n: u32,
    body: impl Fn(I) -> [bool; N],
    bits: [Out<W>; N],
) {
    let end = n.div_ceil(32);
    let is_last = words.contains(&(end - 1));
    for word in words {
        let packed = pack(word, n, &body);
        for k in 0..N {
            bits[k].set(word, W::from_word(packed[k]));
        }
    }
    // A device writes four words at a time: it clears the words after the last, as far as the array has them.
    if is_last {
        for set in bits {
            for word in end..end.next_multiple_of(4).min(set.len()) {
                set.set(word, W::from_word(0));
            }
        }
    }
}

#[doc(hidden)]
#[inline(always)]
pub fn groups<const N: usize, I: Index, W: BitWord>(
    groups: Range<u32>,
    n: u32,
    body: impl Fn(I) -> [bool; N],
    bits: Out<W>,
) {
    for group in groups {
        let mut words = [0u32; N];
        let first = group * 32;
        for i in 0..(n - first).min(32) as usize {
            place::enter_index(first + i as u32);
            let flags = body(I::from_index(first + i as u32));
            for (k, flag) in flags.into_iter().enumerate() {
                let bit = N * i + k;
                words[bit / 32] |= u32::from(flag) << (bit % 32);
            }
        }
        for (k, word) in words.into_iter().enumerate() {
            let index = group * N as u32 + k as u32;
            // The last group's words may extend past the end.
            if index < bits.len() {
                bits.set(index, W::from_word(word));
            }
        }
    }
}

#[inline(always)]
fn pack<const N: usize, I: Index>(word: u32, n: u32, body: &impl Fn(I) -> [bool; N]) -> [u32; N] {
    let mut packed = [0; N];
    let first = word * 32;
    for bit in 0..(n - first).min(32) {
        place::enter_index(first + bit);
        let flags = body(I::from_index(first + bit));
        for (packed, flag) in packed.iter_mut().zip(flags) {
            *packed |= u32::from(flag) << bit;
        }
    }
    packed
}

/// Makes the calls of a range of blocks.
///
/// # Safety
/// The promise of the launch, which includes that every index of shared memory that `body` forms is in range.
#[doc(hidden)]
#[inline(always)]
pub unsafe fn blocks<const LANES: usize, S: SharedMemory>(
    blocks: Range<u32>,
    kernel: &'static str,
    body: impl Fn(&Block<LANES, S>),
) {
    place::enter_kernel(kernel);
    let mut memory = vec![0u128; (SCRATCH_BYTES + size_of::<S>()).div_ceil(16)];
    for index in blocks {
        place::enter_index(index);
        // SAFETY: aligned to 16 bytes, as long as declared, and only this thread uses it.
        body(&unsafe { Block::new(index, memory.as_mut_ptr().cast()) });
    }
}
