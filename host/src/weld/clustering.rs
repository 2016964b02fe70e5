//! Decided vertices, and steps that several ways to decide them take.

use gpu::ids::Vertex;
use gpu::weld as kernel;
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::{Index, Word};

use super::Result;
use crate::collective::compact;
use crate::device::Device;

/// Most partial sums of the neighbours' counts.
const SUMS: usize = 1 << 14;

/// Decided vertices.
pub(super) struct Clustering {
    /// Representative of each vertex; V.
    pub representatives: Buffer<Vertex>,
    /// As [`DeviceWeld::left`](super::DeviceWeld::left).
    pub left: Vec<u32>,
    /// Whether clusters may have very many members.
    pub is_crowded: bool,
}

/// The items of `list` at the places whose bits are set.
pub(super) fn shortened<E: Index + Word>(
    on: &Device,
    list: &Buffer<E>,
    bits: &Buffer<u32>,
) -> Result<Buffer<E>> {
    let kept = compact(on, bits)?;
    let mut shorter = on.uninitialized(kept.len())?;
    let n = kept.len() as u32;
    kernel::shorten_list::launch(on, n, list.as_words(), &kept, &mut shorter)?;
    Ok(shorter.cast())
}

/// Sum of `counts`, in 64 bits.
pub(super) fn sum(on: &Device, counts: &Buffer<u32>) -> Result<u64> {
    let stride = counts.len().min(SUMS);
    let mut sums = on.uninitialized(stride)?;
    kernel::sum_counts::launch(on, stride as u32, counts, stride as u32, &mut sums)?;
    Ok(on.download(&sums)?.iter().sum())
}
