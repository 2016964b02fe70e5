//! Lines that kernels print: [`kernel_print!`](crate::kernel_print).
//!
//! A print writes a [`Record`]. On the device it takes a place in memory of the host, by an atomic addition, and the
//! host reads the records after the launch; on the CPU the launch keeps them. Both make the same lines from them. A
//! module whose kernels print nothing has no trace of this.

#[cfg(not(target_arch = "nvptx64"))]
mod collect;
#[cfg(target_arch = "nvptx64")]
mod device;

use bytemuck::{Pod, Zeroable};

use crate::Index;
#[cfg(not(target_arch = "nvptx64"))]
pub use collect::{Collector, Print, Sink};

/// Most prints of a launch that are kept.
pub const MOST_PRINTS: usize = 8192;
/// Most values of a print.
pub const MOST_VALUES: usize = 8;
/// Name of the device's variable with the memory for records: a [`Header`].
pub const PRINTS_SYMBOL: &str = "__trioxide_prints";

/// Size of a record's text, in words.
const TEXT_WORDS: usize = 21;
/// Most bytes of a print's own text: the remaining ones are for the file.
const MOST_TEXT: usize = 112;

/// The variable [`PRINTS_SYMBOL`] at the start of a launch on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Header {
    /// Address of [`MOST_PRINTS`] records.
    pub records: u64,
    /// Number of records for which there is room.
    pub most: u32,
    /// Prints so far, including prints without room.
    pub count: u32,
}

/// A print, as a kernel writes it.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Record {
    /// 1 once it is written.
    pub is_set: u32,
    /// The index of the line.
    index: u32,
    /// Orders the records of one index: the number of the device's thread, or the first index of the range of a CPU's
    /// thread.
    order: u32,
    line: u32,
    /// Kinds of the values, four bits each, the first lowest.
    kinds: u32,
    /// Bytes of the file's path; the text follows it.
    file_bytes: u16,
    text_bytes: u16,
    values: [u64; MOST_VALUES],
    text: [u64; TEXT_WORDS],
}

/// The place and the text of a print, known when the kernel is compiled.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Text {
    line: u32,
    file_bytes: u16,
    text_bytes: u16,
    words: [u64; TEXT_WORDS],
}

impl Text {
    /// A print with `values` values.
    ///
    /// # Panics
    /// At compile time, if the number of `{}` differs from the number of values, if there are more than
    /// [`MOST_VALUES`], or if the text has more than 112 bytes.
    pub const fn new(file: &str, line: u32, text: &str, values: usize) -> Self {
        let (file, bytes) = (file.as_bytes(), text.as_bytes());
        assert!(
            bytes.len() <= MOST_TEXT,
            "the text of a print has at most 112 bytes"
        );
        assert!(values <= MOST_VALUES, "a print has at most 8 values");
        assert!(
            count_places(bytes) == values,
            "a print has as many `{{}}` as values"
        );
        // A long path keeps its end.
        let room = 8 * TEXT_WORDS - bytes.len();
        let skipped = file.len().saturating_sub(room);
        let kept = file.len() - skipped;
        let mut words = [0; TEXT_WORDS];
        let mut k = 0;
        while k < kept + bytes.len() {
            let byte = if k < kept {
                file[skipped + k]
            } else {
                bytes[k - kept]
            };
            words[k / 8] |= (byte as u64) << (8 * (k % 8));
            k += 1;
        }
        Self {
            line,
            file_bytes: kept as u16,
            text_bytes: bytes.len() as u16,
            words,
        }
    }
}

/// Number of `{}` in a text.
const fn count_places(text: &[u8]) -> usize {
    let (mut places, mut k) = (0, 0);
    while k < text.len() {
        if text[k] == b'{' {
            assert!(
                k + 1 < text.len() && text[k + 1] == b'}',
                "a print writes each value as `{{}}`, and no other braces"
            );
            places += 1;
            k += 1;
        } else {
            assert!(
                text[k] != b'}',
                "a print writes each value as `{{}}`, and no other braces"
            );
        }
        k += 1;
    }
    places
}

/// A value that a kernel prints: a number, a `bool`, an id.
#[diagnostic::on_unimplemented(
    message = "a kernel does not print a `{Self}`",
    label = "no number, bool or id",
    note = "a print writes u8 to u64, i8 to i64, f32, f64, bool and ids: print the numbers of a struct or a vector one by one"
)]
pub trait Printed: Copy {
    #[doc(hidden)]
    const KIND: Kind;
    #[doc(hidden)]
    fn to_bits(self) -> u64;
}

/// The format of a value's bits.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
    Unsigned,
    Signed,
    F32,
    F64,
    Bool,
}

macro_rules! printed {
    ($($kind:ident: $($number:ty)*;)*) => { $( $(
        impl Printed for $number {
            const KIND: Kind = Kind::$kind;

            #[inline(always)]
            fn to_bits(self) -> u64 {
                self as u64
            }
        }
    )* )* };
}

printed! {
    Unsigned: u8 u16 u64;
    Signed: i8 i16 i32 i64;
    Bool: bool;
}

impl Printed for f32 {
    const KIND: Kind = Kind::F32;

    #[inline(always)]
    fn to_bits(self) -> u64 {
        f32::to_bits(self).into()
    }
}

impl Printed for f64 {
    const KIND: Kind = Kind::F64;

    #[inline(always)]
    fn to_bits(self) -> u64 {
        f64::to_bits(self)
    }
}

/// A `u32` or an id.
impl<I: Index> Printed for I {
    const KIND: Kind = Kind::Unsigned;

    #[inline(always)]
    fn to_bits(self) -> u64 {
        self.index().into()
    }
}

/// The index of a print's line: a `u32`, an id, or the own index of a call.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no index that a print names",
    label = "not an index",
    note = "behind the semicolon stands the index that orders the lines: a `u32`, an id, or an `Own` index"
)]
pub trait Numbered: Copy {
    #[doc(hidden)]
    fn number(self) -> u32;
}

impl<I: Index> Numbered for I {
    #[inline(always)]
    fn number(self) -> u32 {
        self.index()
    }
}

/// Kind and bits of a value.
#[doc(hidden)]
#[inline(always)]
pub fn value<T: Printed>(value: T) -> (u32, u64) {
    (T::KIND as u32, value.to_bits())
}

/// Prints: the code of [`kernel_print!`](crate::kernel_print).
#[doc(hidden)]
#[inline(always)]
pub fn print<const N: usize>(text: &'static Text, values: [(u32, u64); N], index: u32) {
    #[cfg(target_arch = "nvptx64")]
    device::write(text, values, index);
    #[cfg(not(target_arch = "nvptx64"))]
    collect::write(text, &values, index);
}

/// Prints a line from a kernel, in every build: `kernel_print!("degree {}, at {}", degree, x; vertex)`.
///
/// Each `{}` stands for a value: `u8` to `u64`, `i8` to `i64`, `f32`, `f64`, `bool` or an id; at most 8 of them. After
/// the semicolon comes the line's index: a `u32`, an id or the call's `Own` index. A line is `kernel <kernel>: index
/// <index>: <file>:<line>: <text>`, the same on the CPU, an emulated GPU and a GPU.
///
/// The lines of a launch are written to standard error after it has ended; with `trioxide_device::Device::keep_prints`
/// they are kept and not written. They are in the order of their indices; the lines that one call prints with one index
/// are in the order of its prints. If several calls, or several lanes of a block, print one index, their order is fixed
/// on each machine, but may differ between machines. A launch prints at most [`MOST_PRINTS`](crate::print::MOST_PRINTS)
/// lines; the last one gives the number of missing lines. It is not fixed which lines are missing.
///
/// A kernel of blocks prints in its lanes' closures: outside them a GPU runs the code once a lane.
///
/// ```
/// use trioxide_device::Device;
/// use trioxide_kernel::safe::{In, Out, Own};
/// use trioxide_kernel::{kernel, kernel_print};
///
/// /// Halves each value.
/// #[kernel]
/// pub fn halve(i: Own, values: In<u32>, halves: Out<u32>) {
///     let value = values.at(i);
///     if value % 2 == 1 {
///         kernel_print!("{} is odd", value; i);
///     }
///     halves.set(i, value / 2);
/// }
/// # mod trioxide_device { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/device.rs")); }
/// # fn main() -> trioxide_device::Result<()> {
/// let on = Device::cpu(None)?;
/// let (values, mut halves) = (on.upload(&[4, 7])?, on.uninitialized(2)?);
/// // Standard error gets `kernel halve: index 1: src/lib.rs:9: 7 is odd`.
/// halve::launch(&on, 2, &values, &mut halves)?;
/// # Ok(())
/// # }
/// ```
#[macro_export]
macro_rules! kernel_print {
    ($text:literal $(, $value:expr)*; $index:expr $(,)?) => {{
        const VALUES: &[&str] = &[$(::core::stringify!($value)),*];
        const TEXT: $crate::print::Text =
            $crate::print::Text::new(::core::file!(), ::core::line!(), $text, VALUES.len());
        $crate::print::print(
            &TEXT,
            [$($crate::print::value($value)),*],
            $crate::print::Numbered::number($index),
        );
    }};
    ($text:literal $($rest:tt)*) => {
        ::core::compile_error!(
            "a print ends in the index that orders the lines, behind a semicolon: kernel_print!(\"degree {}\", degree; vertex)"
        )
    };
}
