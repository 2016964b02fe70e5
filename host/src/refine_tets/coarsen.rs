//! Back to an earlier level, bit for bit. No record is kept for it: [`gpu::refine_tets::coarsen`] has the reason.

use gpu::refine_tets::coarsen::{NewVerticesBuffers, restore_tet_faces, restore_tets};

use super::{DeviceRefined, Result, SpacePoint};
use crate::device::Device;
use crate::refine::NoSuchLevel;
use crate::tet_faces::ListId;

impl<P: SpacePoint> DeviceRefined<P> {
    /// Goes back to `level`: 0 is the input, i the mesh after i levels. Every array is as it was then.
    ///
    /// # Errors
    /// [`Error::NoSuchLevel`](super::Error::NoSuchLevel); errors of the device, after which the mesh is of no use.
    pub fn coarsen(&mut self, on: &Device, level: usize) -> Result<()> {
        let rounds = self.levels.len();
        if level > rounds {
            return Err(NoSuchLevel { level, rounds }.into());
        }
        on.stage("coarsen", || {
            while self.levels.len() > level {
                self.undo(on)?;
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Undoes the last level.
    fn undo(&mut self, on: &Device) -> crate::Result<()> {
        let Some(last) = self.levels.pop() else {
            return Ok(());
        };
        let back = *self.levels.last().unwrap_or(&self.input);
        let (tetrahedra, faces) = (back.tetrahedra as usize, back.faces as usize);
        let mesh = &mut self.mesh;
        let vertices = mesh.points.len() - last.divided_edges as usize;
        let before = self.vertex_parents.len() / 2 - last.divided_edges as usize;
        mesh.tetrahedra.set_len(4 * tetrahedra);
        mesh.faces.set_len(3 * faces);
        let new = NewVerticesBuffers {
            ends: &self.vertex_parents,
            first: vertices as u32,
            before: before as u32,
        };
        restore_tets::launch(on, back.tetrahedra, &mut mesh.tetrahedra, new)?;
        restore_tet_faces::launch(on, back.faces, &mut mesh.faces, new)?;
        mesh.points.set_len(vertices);
        mesh.list = ListId::unique();
        self.tetrahedron_parents.set_len(tetrahedra);
        self.face_parents.set_len(faces);
        self.vertex_parents.set_len(2 * before);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use glam::{DVec3, Vec3};

    use super::*;
    use crate::refine_tets::{DeviceTets, DividedEdges, Error, Marking, Options, refine};
    use crate::volume::TetMesh;

    /// 27 cubes, with a tag on each side of the whole.
    fn cubes() -> TetMesh {
        trioxide_generate::tet_grid(64, 5).unwrap()
    }

    fn check<P: SpacePoint>(options: &Options) {
        let (on, mesh) = (Device::cpu(Some(2)).unwrap(), cubes());
        assert!(!mesh.faces.is_empty());
        let of_levels = |rounds| {
            let options = Options {
                rounds,
                ..options.clone()
            };
            let resident = DeviceTets::<P>::upload(&on, &mesh).unwrap();
            refine(&on, resident, &options).unwrap()
        };
        let mut refined = of_levels(options.rounds);
        let last = refined.levels().len();
        // Level by level; then at once.
        for level in (0..=last).rev() {
            refined.coarsen(&on, level).unwrap();
            let expected = of_levels(level as u32);
            assert_eq!(
                refined.download(&on).unwrap(),
                expected.download(&on).unwrap()
            );
        }
        let mut refined = of_levels(options.rounds);
        refined.coarsen(&on, 0).unwrap();
        assert_eq!(
            refined.download(&on).unwrap(),
            of_levels(0).download(&on).unwrap()
        );
        let error = refined.coarsen(&on, 1).unwrap_err();
        assert!(matches!(
            error,
            Error::NoSuchLevel(NoSuchLevel {
                level: 1,
                rounds: 0
            })
        ));
    }

    #[test]
    fn every_level_comes_back() {
        for edges in [DividedEdges::Longest, DividedEdges::Every] {
            let options = Options {
                marking: Marking::Fraction(0.2),
                seed: 3,
                edges,
                rounds: 3,
                ..Options::default()
            };
            check::<DVec3>(&options);
            check::<Vec3>(&options);
        }
        // The last level divides nothing.
        let options = Options {
            marking: Marking::Volume(2e-3),
            rounds: u32::MAX,
            ..Options::default()
        };
        check::<DVec3>(&options);
    }
}
