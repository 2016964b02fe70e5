//! Lists of polyhedra: their tetrahedra, and the sides of their surfaces.

use gpu::ids::{FaceSide, Polyhedron, Tet};
use gpu::polyhedra::{kernels as kernel, tally};
use trioxide_kernel::launch::Buffer;

use super::forest::{Cells, Forest, find_deep_roots};
use crate::Result;
use crate::collective::{Csr, Tiled, exclusive_scan, merge_lists, most_alone, tally_bits};
use crate::device::Device;

/// Polyhedra of a forest.
pub(super) struct Lists {
    /// Polyhedron of each tetrahedron.
    pub(super) polyhedra: Buffer<Polyhedron>,
    /// Tetrahedra of each polyhedron; in no order before [`Lists::finish`].
    pub(super) tets: Csr<Polyhedron, Tet>,
    pub(super) side_offsets: Buffer<u32>,
    pub(super) sides: Buffer<FaceSide>,
    /// The tally at its last reading.
    pub(super) counts: Vec<u32>,
}

impl Forest {
    /// Numbers the polyhedra by their roots, and lists their tetrahedra and their sides. `found` gets their number and
    /// the length of the longest.
    pub(super) fn list(&self, on: &Device, found: &mut Buffer<u32>) -> Result<Lists> {
        let mut lists = on.stage("number polyhedra", || self.number(on, found))?;
        on.stage("list faces", || lists.list_faces(on, self, false, found))?;
        Ok(lists)
    }

    fn number(&self, on: &Device, found: &mut Buffer<u32>) -> Result<Lists> {
        let n = self.links.len();
        tally_bits(on, &self.is_root, found, tally::POLYHEDRA)?;
        let ranks = Tiled::new(on, &self.is_root)?.ranks(on)?;
        // Cuts make walks shorter: only walks that were too long before them may be so still.
        let deep = match self.is_deep {
            true => Some(find_deep_roots(on, &self.links)?),
            false => None,
        };
        let mut polyhedra: Buffer<Polyhedron> = on.uninitialized(n)?;
        let mut places = on.uninitialized(n)?;
        let counts = on.download(found)?;
        let count = counts[tally::POLYHEDRA as usize] as usize;
        let mut offsets = on.filled(count + 1, 0)?;
        kernel::assign_tetrahedra::launch(
            on,
            n as u32,
            deep.as_ref().unwrap_or(&self.links),
            &ranks,
            &mut offsets,
            &mut polyhedra,
            &mut places,
        )?;
        exclusive_scan(on, &mut offsets)?;
        let mut items = on.uninitialized(n)?;
        let list = &mut items;
        kernel::list_tetrahedra::launch(on, n as u32, &polyhedra, &places, &offsets, list)?;
        let (side_offsets, sides) = match self.are_trees {
            true if count == 0 => (on.filled(1, 0)?, 0),
            true => (on.uninitialized(count + 1)?, 2 * n + 2 * count),
            false => self.count_sides(on, &polyhedra, count)?,
        };
        Ok(Lists {
            polyhedra,
            // SAFETY: the scanned counts of the tetrahedra, of which each has a polyhedron.
            tets: unsafe { Csr::from_parts(offsets, items) },
            side_offsets,
            sides: on.uninitialized(sides)?,
            counts,
        })
    }

    /// Start of the sides of each of `count` polyhedra, and the end of the last; and this end.
    fn count_sides(
        &self,
        on: &Device,
        polyhedra: &Buffer<Polyhedron>,
        count: usize,
    ) -> Result<(Buffer<u32>, usize)> {
        let n = polyhedra.len() as u32;
        let mut offsets = on.filled(count + 1, 0)?;
        kernel::count_sides::launch(on, n, polyhedra, &self.frontier, &mut offsets)?;
        let total = exclusive_scan(on, &mut offsets)?;
        Ok((offsets, on.read(&total, 0)? as usize))
    }
}

impl Lists {
    /// Orders the tetrahedra of each polyhedron, unless they are, and lists the sides.
    fn list_faces(
        &mut self,
        on: &Device,
        forest: &Forest,
        is_ordered: bool,
        found: &mut Buffer<u32>,
    ) -> Result<()> {
        let blocks = (self.tets.keys() as u32).div_ceil(kernel::PART);
        let (offsets, items) = self.tets.parts_mut();
        // SAFETY: lists of tetrahedra; a tree of n tetrahedra has 2n + 2 frontier sides, and others are counted.
        unsafe {
            kernel::list_faces::launch(
                on,
                blocks,
                offsets,
                &forest.frontier,
                is_ordered,
                !forest.are_trees,
                most_alone(on),
                items,
                &mut self.side_offsets,
                &mut self.sides,
                found,
            )
        }?;
        Ok(())
    }

    /// Waits for the tally, and lists what one lane was not to order alone.
    pub(super) fn finish(
        &mut self,
        on: &Device,
        forest: &Forest,
        found: &mut Buffer<u32>,
    ) -> Result<()> {
        self.counts = on.download(found)?;
        let longest = self.counts[tally::LONGEST as usize];
        if longest <= most_alone(on) {
            return Ok(());
        }
        on.stage("list faces", || {
            let (offsets, items) = self.tets.parts_mut();
            let list = std::mem::replace(items, on.uninitialized(0)?).cast();
            // SAFETY: the tetrahedra of each polyhedron, each once.
            let ordered =
                unsafe { merge_lists(on, self.polyhedra.as_words(), offsets, list, longest) }?;
            *items = ordered.cast();
            self.list_faces(on, forest, true, found)
        })
    }

    /// Counts the faces of `barriers` that have one polyhedron on both sides.
    pub(super) fn check_barriers(
        &self,
        on: &Device,
        cells: Cells,
        barriers: &Buffer<FaceSide>,
        found: &mut Buffer<u32>,
    ) -> Result<()> {
        let n = barriers.len() as u32;
        let polyhedra = &self.polyhedra;
        kernel::check_barrier_faces::launch(on, n, barriers, cells.twins, polyhedra, found)?;
        Ok(())
    }
}
