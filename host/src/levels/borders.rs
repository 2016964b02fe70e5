//! The borders of the pieces of a level.

use gpu::ids::{Corner, Item, Polygon};
use gpu::levels::{self as kernel, Extent, PiecesBuffers};
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::{Bits, words};

use super::lists::Outlines;
use super::sides::Sides;
use super::{ordered, rows};
use crate::Result;
use crate::collective::compact;
use crate::device::Device;
use crate::reorder::pick;

/// All borders, from both their pieces, by piece and the piece beyond.
pub(super) struct Borders {
    starts: Buffer<u32>,
    owners: Buffer<Polygon>,
    neighbours: Buffer<Polygon>,
    firsts: Buffer<u32>,
    edges: Buffer<Corner>,
    outlines: Outlines,
}

/// The borders of `count` pieces.
pub(super) fn find(on: &Device, sides: &mut Sides, count: usize) -> Result<Borders> {
    let outlines = sides.outlines(on, count)?;
    let (twins, pieces) = (&sides.twins, &sides.pieces);
    let mut shared: Buffer<Bits<Corner>> = on.uninitialized(words(twins.len()))?;
    kernel::is_shared::launch(on, twins.len() as u32, twins, pieces, &mut shared)?;
    let edges = compact(on, &shared)?;
    let mut list: Buffer<Corner> = on.uninitialized(2 * edges.len())?;
    kernel::write_both_sides::launch(on, edges.len() as u32, &edges, twins, &mut list)?;
    drop((shared, edges));

    // Sides come in ascending order of their edges, which both sorts keep.
    let beyond = |list: &Buffer<Corner>| {
        let others = pick(on, twins.as_words(), list)?;
        pick(on, pieces.as_words(), &others)
    };
    let list = ordered(on, &list, beyond(&list)?, count)?;
    let list = ordered(on, &list, pick(on, pieces.as_words(), &list)?, count)?;
    let lefts: Buffer<Polygon> = pick(on, pieces.as_words(), &list)?.cast();
    let rights: Buffer<Polygon> = beyond(&list)?.cast();
    let n = list.len() as u32;
    let mut edges = on.uninitialized(list.len())?;
    kernel::name_edges::launch(on, n, &list, twins, &mut edges)?;
    drop(list);

    let mut heads: Buffer<Bits<Item>> = on.uninitialized(words(lefts.len()))?;
    kernel::is_first_of_element::launch(on, n, &lefts, rights.as_words(), &mut heads)?;
    let firsts = compact(on, &heads)?;
    let owners = pick(on, lefts.as_words(), &firsts)?.cast();
    let neighbours = pick(on, rights.as_words(), &firsts)?.cast();
    drop((lefts, rights, heads));
    Ok(Borders {
        starts: rows(on, &owners, count)?,
        owners,
        neighbours,
        firsts: firsts.cast(),
        edges,
        outlines,
    })
}

impl Borders {
    /// The argument for kernels.
    pub(super) fn pieces<'a>(
        &'a self,
        sides: &'a Sides,
        boxes: &'a Buffer<Extent>,
        most_ratio: f64,
    ) -> PiecesBuffers<'a> {
        PiecesBuffers {
            starts: &self.starts,
            neighbours: &self.neighbours,
            firsts: &self.firsts,
            edges: &self.edges,
            fixed: &sides.fixed,
            lengths: &sides.lengths,
            outlines: self.outlines.vertices.rows(),
            ridges: self.outlines.edges.rows(),
            shells: sides.shells(),
            boxes,
            most_ratio,
        }
    }

    /// The measure of each border, or [`kernel::NEVER`].
    pub(super) fn weigh(
        &self,
        on: &Device,
        pieces: PiecesBuffers<'_>,
        is_solid: bool,
    ) -> Result<Buffer<f64>> {
        let weigh = match is_solid {
            false => kernel::weigh_borders::launch::<false>,
            true => kernel::weigh_borders::launch::<true>,
        };
        let mut weights: Buffer<f64> = on.uninitialized(self.owners.len())?;
        let n = self.owners.len() as u32;
        weigh(on, n, &self.owners, pieces, &mut weights)?;
        Ok(weights)
    }
}
