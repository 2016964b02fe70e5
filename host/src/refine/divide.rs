//! Step 7 on a device: points, edges and triangles.

use gpu::refine::{self as kernel, TRIANGLES_OF_A_BLOCK};
use trioxide_kernel::launch::Buffer;

use super::propagate::DividedSides;
use super::{EdgeMesh, Level, with_room};
use crate::backend::Device;
use crate::half_edges::Point;
use crate::{Error, Result};

/// Most edges: a side and a flag fit an index.
const MOST_EDGES: usize = 1 << 30;

impl<P: Point> EdgeMesh<P> {
    /// Divides the edges and triangles of `sides`; `after` are the counts then.
    pub(super) fn divide(&mut self, on: &Device, sides: &DividedSides, after: Level) -> Result<()> {
        on.stage("make room", || self.make_room(on, after))?;
        on.stage("divide edges and triangles", || match &sides.list {
            Some(list) => self.divide_listed(on, sides, list, after),
            None => self.divide_all(on, sides, after),
        })
    }

    fn divide_listed(
        &mut self,
        on: &Device,
        sides: &DividedSides,
        list: &Buffer<u32>,
        after: Level,
    ) -> Result<()> {
        let (input, level) = (self.levels[0], self.level());
        on.resize(&mut self.corners, 3 * after.triangles as usize)?;
        on.resize(&mut self.sides, 3 * after.triangles as usize)?;
        unsafe {
            kernel::divide_listed_triangles::launch(
                on,
                list.len() as u32,
                list,
                &sides.flags,
                &sides.owned,
                &sides.sums,
                &self.halves,
                &self.longest,
                &mut self.corners,
                &mut self.sides,
                &mut self.points,
                &mut self.tags,
                &mut self.divided,
                &mut self.origins,
                &mut self.parents,
                level.vertices,
                level.edges,
                level.triangles,
                input.vertices,
                input.triangles,
            )
        }?;
        Ok(())
    }

    fn divide_all(&mut self, on: &Device, sides: &DividedSides, after: Level) -> Result<()> {
        let (input, level) = (self.levels[0], self.level());
        let words = 3 * after.triangles as usize;
        let mut corners = on.uninitialized(with_room(words))?;
        let mut new_sides = on.uninitialized(with_room(words))?;
        corners.set_len(words);
        new_sides.set_len(words);
        unsafe {
            kernel::divide_all_triangles::launch(
                on,
                level.triangles.div_ceil(TRIANGLES_OF_A_BLOCK),
                &sides.flags,
                &sides.owned,
                &sides.sums,
                &self.halves,
                &self.longest,
                &self.corners,
                &self.sides,
                &mut corners,
                &mut new_sides,
                &mut self.points,
                &mut self.tags,
                &mut self.divided,
                &mut self.origins,
                &mut self.parents,
                level.vertices,
                level.edges,
                level.triangles,
                input.vertices,
                input.triangles,
            )
        }?;
        (self.corners, self.sides) = (corners, new_sides);
        Ok(())
    }

    /// Makes the arrays that are written in place as long as `level` asks.
    fn make_room(&mut self, on: &Device, level: Level) -> Result<()> {
        if level.edges as usize > MOST_EDGES {
            return Err(Error::Invalid {
                element: "the refined mesh".to_owned(),
                rule: format!(
                    "would have {} edges, but at most {MOST_EDGES} fit 32-bit ids: refine less",
                    level.edges
                ),
            });
        }
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
    pub(super) fn cut_to(&mut self, on: &Device, level: Level) -> Result<()> {
        self.make_room(on, level)?;
        self.corners.set_len(3 * level.triangles as usize);
        self.sides.set_len(3 * level.triangles as usize);
        self.halves.set_len(2 * level.edges as usize);
        self.longest.set_len(level.triangles as usize);
        Ok(())
    }
}
