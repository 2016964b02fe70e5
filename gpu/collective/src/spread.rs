//! The distance between the ids of an element's vertices, by a sample.

use trioxide_kernel::{Atomic, In, kernel};

/// Elements of a sample: a power of two.
pub const SAMPLES: u32 = 1 << 12;

/// Adds 1 to `far[0]` if more than a sixteenth of all vertices lies between the ids of element number `i` of the
/// sample. There are `elements` elements of `size` vertices, three or four. Ids need not be checked.
#[kernel(requires(
    n <= SAMPLES as usize,
    corners.len() == size as usize * elements as usize,
    size == 3 || size == 4,
    elements > 0,
    far.len() == 1
))]
pub fn sample_spread(
    i: u32,
    corners: In<u32>,
    size: u32,
    elements: u32,
    vertices: u32,
    far: Atomic,
) {
    let element = ((u64::from(i) * u64::from(elements)) >> SAMPLES.ilog2()) as u32;
    let corner = |k| corners.at(element * size + k);
    let (a, b, c) = (corner(0), corner(1), corner(2));
    let d = if size == 4 { corner(3) } else { a };
    let (low, high) = (a.min(b).min(c.min(d)), a.max(b).max(c.max(d)));
    if high - low > vertices / 16 {
        far.add(0u32, 1);
    }
}
