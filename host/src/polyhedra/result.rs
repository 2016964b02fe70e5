//! The polyhedra that a run gives.

use gpu::ids::{FaceSide, Polyhedron, Tet};
use trioxide_kernel::launch::Buffer;

use crate::collective::Csr;
use crate::device::{BitSet, Device};
use crate::polyhedra_mesh::{PolyhedraCounts, PolyhedraLists};
use crate::tet_faces::{DeviceFaces, ListId};
use crate::{Error, Result};

/// Polyhedra on a device, over the tetrahedra that they were made from: P polyhedra of T tetrahedra, in ascending order
/// of their roots.
pub struct DevicePolyhedra {
    /// The tetrahedra.
    pub(super) list: ListId,
    pub(super) frontier: BitSet<FaceSide>,
    pub(super) is_root: BitSet<Tet>,
    pub(super) polyhedra: Buffer<Polyhedron>,
    pub(super) tets: Csr<Polyhedron, Tet>,
    pub(super) side_offsets: Buffer<u32>,
    pub(super) sides: Buffer<FaceSide>,
    pub(super) counts: PolyhedraCounts,
    pub(super) rounds: u32,
}

impl DevicePolyhedra {
    /// The sides of faces of polyhedra; 4T bits.
    pub fn frontier(&self) -> &BitSet<FaceSide> {
        &self.frontier
    }

    /// The roots of the polyhedra, in their order; P of T bits.
    pub fn roots(&self) -> &BitSet<Tet> {
        &self.is_root
    }

    /// The polyhedron of each tetrahedron; T.
    pub fn polyhedra(&self) -> &Buffer<Polyhedron> {
        &self.polyhedra
    }

    /// The tetrahedra of each polyhedron, ascending.
    pub fn tets(&self) -> &Csr<Polyhedron, Tet> {
        &self.tets
    }

    /// Start of each polyhedron's sides, and the end of the last; P + 1.
    pub fn side_offsets(&self) -> &Buffer<u32> {
        &self.side_offsets
    }

    /// The sides of each polyhedron's surface, ascending; 2T + 2P by largest faces, that or fewer by cavities.
    pub fn sides(&self) -> &Buffer<FaceSide> {
        &self.sides
    }

    /// Counts of the run.
    pub fn counts(&self) -> PolyhedraCounts {
        self.counts
    }

    /// Rounds in which tetrahedra changed their owners; 0 for the rule of largest faces.
    pub fn rounds(&self) -> u32 {
        self.rounds
    }

    /// The lists in host memory; `faces` are those of the run.
    ///
    /// # Errors
    /// [`Error::Argument`] for faces of other tetrahedra; errors of the device.
    pub fn download(&self, on: &Device, faces: &DeviceFaces) -> Result<PolyhedraLists> {
        if faces.list() != self.list {
            return Err(Error::Argument(
                "the faces are of other tetrahedra than the polyhedra: give those of the run"
                    .to_owned(),
            ));
        }
        on.stage("copy to the host", || {
            Ok(PolyhedraLists {
                tet_offsets: on.download(self.tets.offsets())?,
                tets: on.download_rows(self.tets.items())?,
                side_offsets: on.download(&self.side_offsets)?,
                sides: on.download_rows(&self.sides)?,
                twins: on.download_rows(faces.twins())?,
                tagged: on.download_rows(faces.tagged())?,
                counts: self.counts,
            })
        })
    }
}
