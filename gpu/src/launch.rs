//! Launches, seen from the host: what `#[kernel]` writes against. The host crate implements [`Launcher`] for its
//! backends.

use core::ffi::c_void;
use core::marker::PhantomData;
use core::ops::Range;

use crate::block::{Block, SCRATCH_BYTES};
use crate::view::{Atomic, In, Out};

/// A typed array in the memory of a backend. Dropping it gives its memory back.
pub struct Buffer<T> {
    ptr: u64,
    len: usize,
    capacity: usize,
    _memory: Box<dyn Memory>,
    element: PhantomData<T>,
}

/// Memory that a [`Buffer`] owns: dropping it frees it.
pub trait Memory {}

impl<T: Copy> Buffer<T> {
    /// A buffer of `len` elements at `ptr`, which `memory` keeps alive.
    ///
    /// # Safety
    /// `ptr` is a backend's address of at least `len` elements, aligned for `T`, not shared with another buffer.
    pub unsafe fn from_raw(ptr: u64, len: usize, memory: Box<dyn Memory>) -> Self {
        Self {
            ptr,
            len,
            capacity: len,
            _memory: memory,
            element: PhantomData,
        }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Address in the backend's memory.
    pub fn address(&self) -> u64 {
        self.ptr
    }

    /// Size in bytes.
    pub fn bytes(&self) -> usize {
        self.len * size_of::<T>()
    }

    /// Elements that its memory has room for.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// The first `len` elements alone; those beyond the length so far hold what their memory held.
    pub fn set_len(&mut self, len: usize) {
        assert!(len <= self.capacity, "{len} of {}", self.capacity);
        self.len = len;
    }

    #[doc(hidden)]
    pub fn as_in(&self) -> In<'_, T> {
        // SAFETY: borrowed for as long as the view; followed on the CPU backend only, whose addresses are pointers.
        unsafe { In::from_raw(self.ptr as *const T, self.len) }
    }

    #[doc(hidden)]
    pub fn as_out(&mut self) -> Out<'_, T> {
        // SAFETY: as above, borrowed mutably.
        unsafe { Out::from_raw(self.ptr as *mut T, self.len) }
    }
}

impl Buffer<u32> {
    #[doc(hidden)]
    pub fn as_atomic(&mut self) -> Atomic<'_> {
        // SAFETY: as `as_out`.
        unsafe { Atomic::from_raw(self.ptr as *mut u32, self.len) }
    }
}

/// How a launch's indices become calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A call for each index.
    Each,
    /// A call for each index; 32 of them give a word of a bit set. `run` takes a range of words.
    Bits,
    /// A call for each block of `lanes` lanes.
    Blocks {
        /// Lanes of a block.
        lanes: u32,
    },
}

/// A kernel with its arguments.
pub struct Launch<'a> {
    /// Name of the PTX entry.
    pub entry: &'static str,
    /// How indices become calls.
    pub shape: Shape,
    /// Number of indices, or of blocks.
    pub n: u32,
    /// Bytes of shared memory for each block that the kernel asks for.
    pub shared: usize,
    /// What the PTX entry takes.
    pub arguments: Arguments,
    /// The CPU run of a range of indices, of words of indices, or of blocks.
    pub run: &'a (dyn Fn(Range<u32>) + Sync),
}

impl Launch<'_> {
    /// End of the range that `run` takes as a whole.
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
}

/// Values that a PTX entry takes.
pub struct Arguments {
    values: Vec<u64>,
    arrays: Vec<u64>,
}

impl Arguments {
    #[doc(hidden)]
    pub fn new(n: u32) -> Self {
        Self {
            values: vec![n.into()],
            arrays: Vec::with_capacity(16),
        }
    }

    #[doc(hidden)]
    pub fn slice<T: Copy>(&mut self, buffer: &Buffer<T>) {
        self.values.push(buffer.ptr);
        self.values.push(buffer.len as u64);
        self.arrays.push(buffer.bytes() as u64);
    }

    #[doc(hidden)]
    pub fn scalar<T: bytemuck::NoUninit>(&mut self, value: T) {
        let mut slot = [0; 8];
        slot[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&value));
        self.values.push(u64::from_le_bytes(slot));
    }

    /// Bytes of each array, in the order of the kernel's parameters and, of one that gives bits, its results.
    pub fn arrays(&self) -> &[u64] {
        &self.arrays
    }

    /// Addresses of the values, as the driver takes them.
    pub fn pointers(&mut self) -> Vec<*mut c_void> {
        self.values
            .iter_mut()
            .map(|value| (value as *mut u64).cast())
            .collect()
    }
}

/// Why a launch failed.
#[derive(Debug)]
pub struct LaunchError(pub String);

/// A machine that runs kernels.
pub trait Launcher {
    /// Runs a kernel; it may return before the kernel ends.
    fn launch(&self, launch: Launch<'_>) -> Result<(), LaunchError>;
}

/// Entry of the instance called `suffix`.
#[doc(hidden)]
pub fn instance(entries: &'static [&'static str], suffix: &str) -> &'static str {
    entries
        .iter()
        .find(|entry| entry.ends_with(suffix))
        .expect("the kernel's declaration lists the instance")
}

#[doc(hidden)]
#[inline(always)]
pub fn bits<const N: usize>(
    words: Range<u32>,
    n: u32,
    body: impl Fn(u32) -> [bool; N],
    bits: [Out<u32>; N],
) {
    for word in words {
        let packed = pack(word, n, &body);
        for k in 0..N {
            bits[k].set(word, packed[k]);
        }
    }
}

#[doc(hidden)]
#[inline(always)]
pub fn groups<const N: usize>(
    groups: Range<u32>,
    n: u32,
    body: impl Fn(u32) -> [bool; N],
    bits: Out<u32>,
) {
    for group in groups {
        let mut words = [0u32; N];
        let first = group * 32;
        for i in 0..(n - first).min(32) as usize {
            for (k, flag) in body(first + i as u32).into_iter().enumerate() {
                let bit = N * i + k;
                words[bit / 32] |= u32::from(flag) << (bit % 32);
            }
        }
        for (k, word) in words.into_iter().enumerate() {
            let index = group * N as u32 + k as u32;
            // The last group's words may reach past the end.
            if index < bits.len() {
                bits.set(index, word);
            }
        }
    }
}

#[inline(always)]
fn pack<const N: usize>(word: u32, n: u32, body: &impl Fn(u32) -> [bool; N]) -> [u32; N] {
    let mut packed = [0; N];
    let first = word * 32;
    for bit in 0..(n - first).min(32) {
        for (packed, flag) in packed.iter_mut().zip(body(first + bit)) {
            *packed |= u32::from(flag) << bit;
        }
    }
    packed
}

#[doc(hidden)]
#[inline(always)]
pub fn blocks<const LANES: usize>(blocks: Range<u32>, shared: usize, body: impl Fn(&Block<LANES>)) {
    let mut memory = vec![0u128; (SCRATCH_BYTES + shared).div_ceil(16)];
    for index in blocks {
        // SAFETY: aligned to 16 bytes, as long as declared, this thread's alone.
        body(&unsafe { Block::new(index, memory.as_mut_ptr().cast()) });
    }
}
