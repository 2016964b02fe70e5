//! Polyhedra whose surface is no 2-manifold.

use gpu::ids::{FaceSide, Polyhedron};
use gpu::polyhedra::kernels as kernel;
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::words;

use super::forest::{Cells, Forest};
use super::lists::Lists;
use crate::Result;
use crate::collective::compact;
use crate::device::{BitSet, Device};

/// Pinched polyhedra, ascending, and the tops of all.
pub(super) fn find(
    on: &Device,
    cells: Cells,
    forest: &Forest,
    lists: &Lists,
) -> Result<(Buffer<Polyhedron>, Buffer<u32>)> {
    on.stage("find pinched polyhedra", || {
        let count = lists.tets.keys();
        let mut tops = on.uninitialized(lists.tets.items().len() + 3 * count)?;
        let mut pinched: BitSet<Polyhedron> = on.uninitialized(words(count))?;
        let (n, trees) = (count as u32, forest.trees(cells));
        let tets = lists.tets.rows();
        // SAFETY: a tree of n tetrahedra has n + 3 tops.
        unsafe { kernel::list_tops::launch(on, n, trees, tets, &mut tops, &mut pinched) }?;
        Ok((compact(on, &pinched)?, tops))
    })
}

/// A joint of each pinched polyhedron.
pub(super) fn split(
    on: &Device,
    cells: Cells,
    forest: &Forest,
    lists: &Lists,
    pinched: &Buffer<Polyhedron>,
    tops: &Buffer<u32>,
) -> Result<Buffer<FaceSide>> {
    let mut cuts = on.uninitialized(pinched.len())?;
    let (n, trees) = (pinched.len() as u32, forest.trees(cells));
    let tets = lists.tets.rows();
    kernel::choose_splits::launch(on, n, pinched, trees, tets, tops, &mut cuts)?;
    Ok(cuts)
}
