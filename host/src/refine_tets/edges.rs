//! The edges of a mesh on the device.

use gpu::ids::{Edge, EdgeUse};
use gpu::refine_tets::check_tetrahedra::tet_rule;
use gpu::refine_tets::number_edges::{
    MEETING_USES, find_face_edges, mark_first_tet_edges, meet_scattered_tet_edges, meet_tet_edges,
    name_tet_edges, number_tet_edges,
};
use trioxide_kernel::NONE;
use trioxide_kernel::launch::Buffer;

use super::SpacePoint;
use super::error::{Error, Result};
use super::mesh::{DeviceTets, slots_for, table_slots};
use crate::collective::{compact, is_scattered};
use crate::device::Device;

/// Edges of a mesh: E of them.
pub(super) struct Edges {
    /// Edges 01, 02, 03, 12, 13, 23 of each tetrahedron; 6T.
    pub edges: Buffer<Edge>,
    /// Smallest use of each edge, ascending; E.
    pub first_uses: Buffer<EdgeUse>,
    /// For few marks, a use of each edge, from which `links` leads to all others; E, or empty.
    pub last_uses: Buffer<EdgeUse>,
    /// Another use of the same edge, or `NONE`; 6T, or empty.
    pub links: Buffer<EdgeUse>,
    /// Edges 01, 02, 12 of each tagged triangle; 3B.
    pub face_edges: Buffer<Edge>,
}

/// Result of numbering with a table.
enum Numbered {
    Edges(Edges),
    /// The table has no room for all edges.
    Crowded,
    /// A tagged triangle has an edge that no tetrahedron has.
    LooseFace(u32),
}

impl<P: SpacePoint> DeviceTets<P> {
    /// The edges; if `linked`, with the uses of each.
    pub(super) fn edges(&self, on: &Device, linked: bool) -> Result<Edges> {
        let (points, tetrahedra) = (self.points.len(), self.count() as usize);
        let slots = [
            table_slots(points, tetrahedra),
            // More edges than a mesh without loose parts has.
            slots_for(6 * tetrahedra),
        ];
        for slots in slots {
            match on.stage("number edges", || self.number_edges(on, slots, linked))? {
                Numbered::Edges(edges) => return Ok(edges),
                Numbered::LooseFace(face) => return Err(Error::LooseFace { face }),
                Numbered::Crowded => {}
            }
        }
        Err(Error::Crowded)
    }

    /// The edges by a table of `slots` slots.
    fn number_edges(&self, on: &Device, slots: usize, linked: bool) -> crate::Result<Numbered> {
        let uses = 6 * self.count();
        let vertices = self.points.len();
        let scale = ((slots as u64) << 32) / vertices.max(1) as u64;
        let mut found = on.filled(tet_rule::COUNT, NONE)?;
        let tetrahedra = &self.tetrahedra;
        let (scattered, mut table) = is_scattered(on, tetrahedra.as_words(), 4, vertices, || {
            on.filled(slots, EdgeUse::NONE)
        })?;
        let mut of_uses: Buffer<u32> = on.uninitialized(uses as usize)?;
        let launch = if scattered {
            meet_scattered_tet_edges::launch
        } else {
            meet_tet_edges::launch
        };
        let blocks = (uses as usize).div_ceil(MEETING_USES) as u32;
        let n = if scattered { uses } else { blocks };
        // SAFETY: tetrahedra of a checked mesh; slots of vertices below V are in the table, by the scale.
        unsafe {
            launch(
                on,
                n,
                tetrahedra,
                &mut table,
                &mut of_uses,
                &mut found,
                scale,
            )
        }?;
        if on.read(&found, tet_rule::CROWDED as usize)? != NONE {
            return Ok(Numbered::Crowded);
        }
        let mut first_bits = on.uninitialized(uses.div_ceil(32) as usize)?;
        // SAFETY: every use has a slot, as none was crowded.
        unsafe { mark_first_tet_edges::launch(on, uses, &of_uses, &table, &mut first_bits) }?;
        let first_uses = compact(on, &first_bits)?;
        drop(first_bits);
        let count = first_uses.len();
        // From here on a taken slot holds its edge.
        let mut table = table.cast::<Edge>();
        number_tet_edges::launch(on, count as u32, &first_uses, &of_uses, &mut table)?;
        let mut last_uses = on.filled(if linked { count } else { 0 }, EdgeUse::NONE)?;
        let mut links = on.uninitialized(if linked { uses as usize } else { 0 })?;
        // SAFETY: every use has a slot or refers to one of its block that has; a taken slot holds an edge.
        unsafe {
            name_tet_edges::launch(on, blocks, &table, &mut of_uses, &mut last_uses, &mut links)
        }?;
        let sides = self.faces.len();
        let mut face_edges = on.uninitialized(sides)?;
        if sides > 0 {
            find_face_edges::launch(
                on,
                sides as u32,
                &self.faces,
                tetrahedra,
                &first_uses,
                &table,
                vertices as u32,
                &mut face_edges,
                &mut found,
                scale,
            )?;
            let side = on.read(&found, tet_rule::FACE as usize)?;
            if side != NONE {
                return Ok(Numbered::LooseFace(side / 3));
            }
        }
        Ok(Numbered::Edges(Edges {
            edges: of_uses.cast(),
            first_uses,
            last_uses,
            links,
            face_edges,
        }))
    }
}
