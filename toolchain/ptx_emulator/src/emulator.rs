//! A device for Rust programs, without the driver's functions.

use std::ffi::c_void;
use std::slice;

use crate::grid::{self, Wrong};
use crate::memory::{Array, Range, Ranges};
use crate::module::Module;

/// An emulated device.
pub struct Emulator {
    memory: Ranges,
    is_checked: bool,
}

/// Kernels that are ready to launch.
pub struct Kernels(Module);

/// A launch.
pub struct Launch<'a> {
    /// Name of the kernel.
    pub entry: &'a str,
    /// Number of blocks.
    pub blocks: u32,
    /// Threads of a block.
    pub threads: u32,
    /// Bytes of shared memory of a block.
    pub shared_bytes: u32,
    /// Addresses of the parameters' values.
    pub parameters: &'a [*mut c_void],
    /// The device memory that the launch may use.
    pub arrays: &'a [Array],
}

impl Emulator {
    /// A new device. With `is_checked` each launch is checked for data races, and for reads of unwritten memory.
    pub fn new(is_checked: bool) -> Self {
        Self {
            memory: Ranges::default(),
            is_checked,
        }
    }

    /// The address of new memory, filled with a pattern; `None` if the system has none.
    pub fn allocate(&self, bytes: usize) -> Option<u64> {
        self.memory.allocate(bytes, self.is_checked)
    }

    /// Frees memory.
    ///
    /// # Safety
    /// [`Emulator::allocate`] gave the address, and nobody uses the memory any more.
    pub unsafe fn free(&self, address: u64) {
        self.memory.free(address);
    }

    /// A range of allocated memory.
    fn range(&self, address: u64, bytes: usize) -> Option<Range> {
        Some(self.memory.find(address, bytes)?.part(address, bytes))
    }

    /// Records that bytes of the device's memory were written from outside.
    pub fn mark_written(&self, address: u64, bytes: usize) {
        if let Some(range) = self.range(address, bytes) {
            range.mark(address, bytes);
        }
    }

    /// Records that bytes were copied within the device's memory: bytes that are unwritten at the source are unwritten
    /// here.
    pub fn mark_copied(&self, to: u64, from: u64, bytes: usize) {
        if let (Some(to_range), Some(from_range)) = (self.range(to, bytes), self.range(from, bytes))
        {
            to_range.mark_as(to, &from_range, from, bytes);
        }
    }

    /// Prepares the kernels of a PTX text.
    ///
    /// # Errors
    /// A sentence about a part that the emulator does not support.
    pub fn load(&self, text: &str) -> Result<Kernels, String> {
        let loaded = Module::load(text, |bytes| {
            let address = self.allocate(bytes)?;
            self.mark_written(address, bytes);
            Some(address)
        });
        loaded.map(Kernels)
    }

    /// Runs a kernel to its end.
    ///
    /// # Errors
    /// The fault of a thread: an address outside the arrays, with a message that contains it, a race of two threads, or
    /// lanes that wait for each other. Other threads may have run.
    ///
    /// # Safety
    /// Each parameter's value has as many bytes as the kernel's parameter; the arrays are memory of this process, which
    /// nothing else uses during the launch.
    pub unsafe fn launch(&self, kernels: &Kernels, launch: &Launch<'_>) -> Result<(), Wrong> {
        let program = kernels.0.kernels.get(launch.entry);
        let program = program.ok_or_else(|| Wrong {
            text: format!("{} is not in the PTX", launch.entry),
            place: None,
        })?;
        let mut values = vec![0_u128; program.parameter_bytes.div_ceil(16)];
        let place = values.as_mut_ptr().cast::<u8>();
        for (&(at, bytes), &value) in program.parameters.iter().zip(launch.parameters) {
            // SAFETY: within the values; the caller's promise on the parameter.
            unsafe { place.add(at).copy_from(value.cast::<u8>(), bytes) };
        }
        // SAFETY: the values' bytes.
        let values = unsafe { slice::from_raw_parts(place.cast_const(), program.parameter_bytes) };
        let whole = |array: &Array| match self.range(array.address, array.bytes as usize) {
            Some(range) => range,
            None => Range::unmarked(array.address, array.bytes as usize),
        };
        let mut memory: Vec<Range> = launch.arrays.iter().map(whole).collect();
        let variables = kernels.0.variables.values();
        memory.extend(variables.filter_map(|&(address, bytes)| self.range(address, bytes)));
        let shape = [launch.blocks, launch.threads, launch.shared_bytes];
        let memory = disjoint(memory);
        grid::run(
            program,
            shape,
            values,
            &memory,
            launch.arrays,
            self.is_checked,
        )
    }
}

impl Kernels {
    /// Address and bytes of a variable.
    pub fn variable(&self, name: &str) -> Option<(u64, usize)> {
        self.0.variables.get(name).copied()
    }
}

/// The same addresses as ranges that do not overlap: two arrays may be the same, or parts of the same.
fn disjoint(mut ranges: Vec<Range>) -> Vec<Range> {
    ranges.retain(|range| range.start < range.end);
    ranges.sort_unstable_by_key(|range| (range.start, range.end));
    let mut kept: Vec<Range> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match kept.last_mut() {
            // Marks lie as the bytes do, so the first range's marks are right for both.
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => kept.push(range),
        }
    }
    kept
}
