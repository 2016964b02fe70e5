//! The borders of the pieces of a level.

use gpu::ids::{Item, Polygon};
use gpu::levels::{self as kernel, Extent, PiecesBuffers};
use trioxide_kernel::launch::Buffer;

use super::lists::Outlines;
use super::sides::Sides;
use crate::Result;
use crate::device::Device;

/// All borders, from both their pieces, by piece and the piece beyond.
pub(super) struct Borders {
    starts: Buffer<u32>,
    owners: Buffer<Polygon>,
    neighbours: Buffer<Polygon>,
    firsts: Buffer<Item>,
    keys: Buffer<u64>,
    outlines: Outlines,
}

/// The borders of the pieces.
pub(super) fn find(on: &Device, sides: &mut Sides) -> Result<Borders> {
    let outlines = sides.outlines(on)?;
    let places = &sides.places;
    let keys = places.sorted(on, &sides.keys)?;
    let firsts = places.choose(on, |n, bits| {
        kernel::is_first_of_border::launch(on, n, &places.owners, &keys, bits)
    })?;
    let starts = places.starts(on, &firsts)?;
    let firsts = firsts.places(on)?;
    let mut owners = on.uninitialized(firsts.len())?;
    let mut neighbours = on.uninitialized(firsts.len())?;
    kernel::write_borders::launch(
        on,
        firsts.len() as u32,
        &firsts,
        &places.owners,
        &keys,
        &mut owners,
        &mut neighbours,
    )?;
    Ok(Borders {
        starts,
        owners,
        neighbours,
        firsts,
        keys,
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
            keys: &self.keys,
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
