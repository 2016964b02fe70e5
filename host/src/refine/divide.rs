//! Step 7 on a device: points, edges and triangles.

use gpu::ids::HalfEdge;
use gpu::refine::divide_edges_and_triangles::{
    PartsBuffers, TRIANGLES_OF_A_BLOCK, divide_all_triangles, divide_listed_triangles,
};
use gpu::refine::prefix_sums::{RanksBuffers, SideCountsBuffers};
use gpu::refine::template;
use trioxide_kernel::launch::Buffer;

use super::edges::{DeviceEdgeMesh, Level, MOST_EDGES};
use super::error::{Error, Result};
use super::propagate::{Before, DividedSides};
use super::upload::with_room;
use crate::device::Device;
use crate::half_edges::AnyPoint;

impl<P: AnyPoint> DeviceEdgeMesh<P> {
    /// Divides the edges and triangles of `sides`; `after` are the counts afterwards.
    pub(super) fn divide(&mut self, on: &Device, sides: &DividedSides, after: Level) -> Result<()> {
        if after.edges as usize > MOST_EDGES {
            return Err(Error::TooManyEdges {
                edges: after.edges as usize,
                most: MOST_EDGES,
            });
        }
        on.stage("make room", || self.make_room(on, after))?;
        let (flags, owned) = (&sides.flags, &sides.owned);
        on.stage("divide edges and triangles", || match &sides.before {
            Before::Few { sums, list } => {
                let counts = SideCountsBuffers { flags, owned, sums };
                self.divide_listed(on, counts, list, after)
            }
            Before::Many { ranks, owned } => {
                let ranks = RanksBuffers {
                    flags,
                    ranks,
                    owned,
                };
                self.divide_all(on, ranks, after)
            }
        })?;
        Ok(())
    }

    /// Counts before the round, and of the input.
    fn before(&self) -> template::Before {
        let (input, level) = (self.levels[0], self.level());
        template::Before {
            vertices: level.vertices,
            edges: level.edges,
            triangles: level.triangles,
            input_vertices: input.vertices,
            input_triangles: input.triangles,
        }
    }

    fn divide_listed(
        &mut self,
        on: &Device,
        counts: SideCountsBuffers<'_>,
        list: &Buffer<HalfEdge>,
        after: Level,
    ) -> crate::Result<()> {
        let before = self.before();
        on.resize(&mut self.corners, 3 * after.triangles as usize)?;
        on.resize(&mut self.sides, 3 * after.triangles as usize)?;
        let parts = PartsBuffers {
            points: &mut self.points,
            divided: &mut self.divided,
            origins: &mut self.origins,
            tags: &mut self.tags,
            parents: &mut self.parents,
        };
        // SAFETY: corners, sides and halves of a checked mesh; ranks give each new part a slot of its own, below the
        // counts afterwards; one index works on each triangle of the list.
        unsafe {
            divide_listed_triangles::launch(
                on,
                list.len() as u32,
                list,
                counts,
                &self.halves,
                &self.longest,
                &mut self.corners,
                &mut self.sides,
                parts,
                before,
            )
        }?;
        Ok(())
    }

    fn divide_all(
        &mut self,
        on: &Device,
        ranks: RanksBuffers<'_>,
        after: Level,
    ) -> crate::Result<()> {
        let before = self.before();
        let words = 3 * after.triangles as usize;
        let mut corners = on.uninitialized(with_room(words))?;
        let mut new_sides = on.uninitialized(with_room(words))?;
        corners.set_len(words);
        new_sides.set_len(words);
        let parts = PartsBuffers {
            points: &mut self.points,
            divided: &mut self.divided,
            origins: &mut self.origins,
            tags: &mut self.tags,
            parents: &mut self.parents,
        };
        // SAFETY: corners, sides and halves of a checked mesh; ranks give each new part a slot of its own, below the
        // counts afterwards; a lane works on each triangle, and a block's new triangles fit its rows.
        unsafe {
            divide_all_triangles::launch(
                on,
                before.triangles.div_ceil(TRIANGLES_OF_A_BLOCK),
                ranks,
                &self.halves,
                &self.longest,
                &self.corners,
                &self.sides,
                &mut corners,
                &mut new_sides,
                parts,
                before,
            )
        }?;
        (self.corners, self.sides) = (corners, new_sides);
        Ok(())
    }

    /// Makes the arrays that are written in place as long as `level` requires.
    fn make_room(&mut self, on: &Device, level: Level) -> crate::Result<()> {
        let input = self.levels[0];
        on.resize(&mut self.points, level.vertices as usize)?;
        if !self.tags.is_empty() {
            on.resize(&mut self.tags, level.edges as usize)?;
        }
        on.resize(
            &mut self.parents,
            (level.triangles - input.triangles) as usize,
        )?;
        on.resize(
            &mut self.divided,
            (level.vertices - input.vertices) as usize,
        )?;
        on.resize(
            &mut self.origins,
            (level.vertices - input.vertices) as usize,
        )
    }

    /// Cuts every array to `level`.
    pub(super) fn cut_to(&mut self, on: &Device, level: Level) -> crate::Result<()> {
        self.make_room(on, level)?;
        self.corners.set_len(3 * level.triangles as usize);
        self.sides.set_len(3 * level.triangles as usize);
        self.halves.set_len(2 * level.edges as usize);
        self.longest.set_len(level.triangles as usize);
        Ok(())
    }
}
