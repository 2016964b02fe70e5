//! Back to an earlier level, bit for bit.

use gpu::ids::HalfEdge;
use gpu::refine::coarsen::{
    ReadTrianglesBuffers, RestoredTrianglesBuffers, SavedTrianglesBuffers, mark_divided_triangles,
    restore_triangles, save_triangles,
};
use trioxide_kernel::Bits;
use trioxide_kernel::launch::Buffer;

use super::edges::{DeviceEdgeMesh, Saved, Stale};
use super::error::{Error, NoSuchLevel, Result};
use crate::collective::compact;
use crate::device::Device;
use crate::half_edges::AnyPoint;

impl Saved {
    /// Saves the triangles with a divided side.
    pub(super) fn new<P: AnyPoint>(
        on: &Device,
        mesh: &DeviceEdgeMesh<P>,
        flags: &Buffer<Bits<HalfEdge>>,
    ) -> crate::Result<Self> {
        let all = mesh.level().triangles;
        let mut divided = on.uninitialized(all.div_ceil(32) as usize)?;
        mark_divided_triangles::launch(on, all, flags, &mut divided)?;
        let triangles = compact(on, &divided)?;
        let n = triangles.len();
        let (mut corners, mut sides) = (on.uninitialized(3 * n)?, on.uninitialized(3 * n)?);
        let mut tags = on.uninitialized(if mesh.tags.is_empty() { 0 } else { 3 * n })?;
        let rows = ReadTrianglesBuffers {
            corners: &mesh.corners,
            sides: &mesh.sides,
            tags: &mesh.tags,
        };
        let saved = SavedTrianglesBuffers {
            corners: &mut corners,
            sides: &mut sides,
            tags: &mut tags,
        };
        save_triangles::launch(on, n as u32, &triangles, rows, &mesh.halves, saved)?;
        Ok(Self {
            triangles,
            corners,
            sides,
            tags,
        })
    }
}

impl<P: AnyPoint> DeviceEdgeMesh<P> {
    /// Goes back to `level`: 0 is the input, i the mesh after i rounds. Every array is as it was then.
    ///
    /// # Errors
    /// [`Error::NoSuchLevel`], and [`Error::NoHistory`] when a round to undo ran without [`super::Options::history`].
    pub fn coarsen(&mut self, on: &Device, level: usize) -> Result<()> {
        let rounds = self.levels.len() - 1;
        if level > rounds {
            return Err(NoSuchLevel { level, rounds }.into());
        }
        if self.saved[level..].iter().any(Option::is_none) {
            return Err(Error::NoHistory { level });
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
                let rows = ReadTrianglesBuffers {
                    corners: &saved.corners,
                    sides: &saved.sides,
                    tags: &saved.tags,
                };
                let mesh = RestoredTrianglesBuffers {
                    corners: &mut self.corners,
                    sides: &mut self.sides,
                    tags: &mut self.tags,
                };
                let (n, list) = (saved.triangles.len() as u32, &saved.triangles);
                restore_triangles::launch(on, n, list, rows, mesh, &mut self.halves)?;
                self.cut_to(on, back)?;
                self.stale = Stale::All;
                self.is_linked = true;
            }
            Ok(())
        })?;
        Ok(())
    }
}
