//! The views of a written file's buffer.

use std::io;
use std::ops::Range;

use crate::atomic_file::{Out, Records};
use crate::rows_out::write_sized;

/// Fills the records of a range.
type Make<'a> = dyn Fn(&mut [u8], Range<usize>) + Sync + 'a;

/// Numbers of a file: as many records as there are elements.
pub(super) struct View<'a> {
    pub(super) count: usize,
    /// Bytes of a record.
    pub(super) stride: usize,
    /// The use of the numbers: vertices or indices. None for images.
    pub(super) target: Option<u32>,
    make: Box<Make<'a>>,
}

/// Target of vertices' numbers.
pub(super) const VERTICES: u32 = 34962;
/// Target of indices.
pub(super) const INDICES: u32 = 34963;

impl<'a> View<'a> {
    /// The view of records that `make` fills.
    pub(super) fn new(
        count: usize,
        stride: usize,
        target: Option<u32>,
        make: impl Fn(&mut [u8], usize) + Sync + 'a,
    ) -> View<'a> {
        View {
            count,
            stride,
            target,
            make: Box::new(move |bytes, range| {
                for (record, i) in bytes.chunks_exact_mut(stride).zip(range) {
                    make(record, i);
                }
            }),
        }
    }

    /// The view of an image's bytes.
    pub(super) fn of_bytes(bytes: &'a [u8]) -> View<'a> {
        View {
            count: bytes.len(),
            stride: 1,
            target: None,
            make: Box::new(move |out, range| out.copy_from_slice(&bytes[range])),
        }
    }

    pub(super) fn length(&self) -> usize {
        self.count * self.stride
    }

    pub(super) fn write(&self, out: &mut dyn Out) -> io::Result<()> {
        let records = Records {
            count: self.count,
            bytes: &|range| range.len() * self.stride,
            make: &*self.make,
        };
        write_sized(out, &records)?;
        out.write_all(&[0; 3][..padding(self.length())])
    }
}

/// Returns the number of bytes up to the next multiple of 4.
fn padding(length: usize) -> usize {
    length.next_multiple_of(4) - length
}
