//! Back to an earlier level, bit for bit.

use gpu::refine as kernel;
use trioxide_kernel::launch::Buffer;

use super::{EdgeMesh, Stale};
use crate::backend::Device;
use crate::collective::compact;
use crate::half_edges::Point;
use crate::{Error, Result};

/// What a round overwrote: its A divided triangles.
pub(super) struct Saved {
    /// Ids; A.
    triangles: Buffer<u32>,
    corners: Buffer<u32>,
    sides: Buffer<u32>,
    tags: Buffer<u32>,
}

impl Saved {
    /// Saves the triangles with a divided side.
    pub(super) fn new<P: Point>(
        on: &Device,
        mesh: &EdgeMesh<P>,
        flags: &Buffer<u32>,
    ) -> Result<Self> {
        let all = mesh.level().triangles;
        let mut divided = on.uninitialized(all.div_ceil(32) as usize)?;
        unsafe { kernel::mark_divided_triangles::launch(on, all, flags, &mut divided) }?;
        let triangles = compact(on, &divided)?;
        let n = triangles.len();
        let (mut corners, mut sides) = (on.uninitialized(3 * n)?, on.uninitialized(3 * n)?);
        let mut tags = on.uninitialized(if mesh.tags.is_empty() { 0 } else { 3 * n })?;
        unsafe {
            kernel::save_triangles::launch(
                on,
                n as u32,
                &triangles,
                &mesh.corners,
                &mesh.sides,
                &mesh.halves,
                &mesh.tags,
                &mut corners,
                &mut sides,
                &mut tags,
            )
        }?;
        Ok(Self {
            triangles,
            corners,
            sides,
            tags,
        })
    }
}

impl<P: Point> EdgeMesh<P> {
    /// Goes back to `level`: 0 is the input, i the mesh after i rounds. Every array is as it was then.
    ///
    /// # Errors
    /// [`Error::Argument`] when there was no such level, or a round to undo ran without [`super::Options::history`].
    pub fn coarsen(&mut self, on: &Device, level: usize) -> Result<()> {
        let rounds = self.levels.len() - 1;
        if level > rounds {
            return Err(Error::Argument(format!(
                "level {level} was not reached: there were {rounds} rounds"
            )));
        }
        if self.saved[level..].iter().any(Option::is_none) {
            return Err(Error::Argument(format!(
                "a round after level {level} ran without history, so there is no way back"
            )));
        }
        if level == rounds {
            return Ok(());
        }
        // The halves of the last round's edges may not be there yet.
        self.label(on)?;
        on.stage("coarsen", || {
            while self.levels.len() > level + 1 {
                let saved = self.saved.pop().flatten().expect("looked at above");
                self.levels.pop();
                let back = self.level();
                unsafe {
                    kernel::restore_triangles::launch(
                        on,
                        saved.triangles.len() as u32,
                        &saved.triangles,
                        &saved.corners,
                        &saved.sides,
                        &saved.tags,
                        &mut self.corners,
                        &mut self.sides,
                        &mut self.halves,
                        &mut self.tags,
                    )
                }?;
                self.cut_to(on, back)?;
                self.stale = Stale::All;
                self.is_linked = true;
            }
            Ok(())
        })
    }
}
