//! A mesh on the device, checked, and its edges.

use gpu::refine_tets::{self as kernel, tet_rule};
use trioxide_kernel::NONE;
use trioxide_kernel::launch::Buffer;

use super::{DeviceTets, MOST_TETRAHEDRA, SpacePoint};
use crate::backend::Device;
use crate::collective::compact;
use crate::volume::{TetMesh, orientation};
use crate::{Error, Result};

/// Edges of a mesh: E of them.
pub(super) struct Edges {
    /// Edges 01, 02, 03, 12, 13, 23 of each tetrahedron; 6T.
    pub edges: Buffer<u32>,
    /// Smallest use of each edge, ascending; E.
    pub first_uses: Buffer<u32>,
    /// A use of each edge, from which `links` leads to all others; E.
    pub last_uses: Buffer<u32>,
    /// Another use of the same edge, or `NONE`; 6T.
    pub links: Buffer<u32>,
    /// Edges 01, 02, 12 of each tagged triangle; 3B.
    pub face_edges: Buffer<u32>,
}

fn invalid(element: String, rule: &str) -> Error {
    Error::Invalid {
        element,
        rule: rule.to_owned(),
    }
}

impl<P: SpacePoint> DeviceTets<P> {
    /// Bytes that refining takes at once before it writes children, for V points and T tetrahedra.
    pub fn bytes_needed(points: usize, tetrahedra: usize) -> u64 {
        let edges = (6 * tetrahedra).min(points + 3 * tetrahedra / 2);
        let words = tetrahedra * (4 + 6 + 6 + 1) + 2 * edges + table_slots(points, tetrahedra);
        (points * size_of::<P>() + words * size_of::<u32>()) as u64
    }

    /// Copies a mesh to the device and checks it there.
    ///
    /// # Errors
    /// [`Error::Invalid`] with the offending element and the rule that it breaks; [`Error::OutOfMemory`].
    pub fn upload(on: &Device, mesh: &TetMesh) -> Result<Self> {
        let tetrahedra = mesh.tetrahedra.len();
        if tetrahedra > MOST_TETRAHEDRA {
            return Err(too_many(tetrahedra));
        }
        if let Some(regions) = &mesh.regions
            && regions.len() != tetrahedra
        {
            return Err(Error::Invalid {
                element: "mesh".to_owned(),
                rule: format!(
                    "has region ids for {} tetrahedra of {tetrahedra}",
                    regions.len()
                ),
            });
        }
        on.require(Self::bytes_needed(mesh.points.len(), tetrahedra))?;
        let mesh = on.stage("copy to the device", || {
            let points: Vec<P> = mesh.points.iter().map(|&p| P::from_f64(p)).collect();
            let faces: Vec<[u32; 3]> = mesh.faces.iter().map(|face| face.vertices).collect();
            Ok(Self {
                points: on.upload(&points)?,
                tetrahedra: on.upload(bytemuck::cast_slice(&mesh.tetrahedra))?,
                faces: on.upload(bytemuck::cast_slice(&faces))?,
            })
        })?;
        on.stage("check the mesh", || {
            let mut found = on.filled(tet_rule::COUNT, NONE)?;
            unsafe {
                kernel::check_tet_points::launch(
                    on,
                    mesh.points.len() as u32,
                    &mesh.points,
                    &mut found,
                )
            }?;
            let list = on.uninitialized(0)?;
            mesh.check_tetrahedra(on, &list, 0, tetrahedra as u32, &mut found)
        })?;
        Ok(mesh)
    }

    /// Number of tetrahedra.
    pub fn count(&self) -> u32 {
        (self.tetrahedra.len() / 4) as u32
    }

    /// Refuses `count` tetrahedra, those of `list` and those from `first` on, if one has an index out of range or is not
    /// positively oriented.
    pub(super) fn check_tetrahedra(
        &self,
        on: &Device,
        list: &Buffer<u32>,
        first: u32,
        count: u32,
        found: &mut Buffer<u32>,
    ) -> Result<()> {
        let mut undecided = on.uninitialized(count.div_ceil(32) as usize)?;
        unsafe {
            kernel::check_tetrahedra::launch(
                on,
                count,
                list,
                &self.tetrahedra,
                &self.points,
                found,
                first,
                &mut undecided,
            )
        }?;
        let found = on.download(found)?;
        let element = |rule: u32| Some(found[rule as usize]).filter(|&element| element != NONE);
        if let Some(v) = element(tet_rule::FINITE) {
            return Err(invalid(
                format!("vertex {v}"),
                "has a coordinate that is not a finite number in the chosen precision",
            ));
        }
        if let Some(t) = element(tet_rule::RANGE) {
            return Err(invalid(
                format!("tetrahedron {t}"),
                "has a vertex index that is out of range",
            ));
        }
        let inverted = match element(tet_rule::ORIENTATION) {
            Some(t) => Some(t),
            None => self.decide(on, list, first, &compact(on, &undecided)?)?,
        };
        match inverted {
            None => Ok(()),
            Some(t) => Err(invalid(
                format!("tetrahedron {t}"),
                "is inverted or flat in the chosen precision: its volume must be greater than zero",
            )),
        }
    }

    /// The first of the tetrahedra, numbered as in [`DeviceTets::check_tetrahedra`], that is not positively oriented, by
    /// exact arithmetic.
    fn decide(
        &self,
        on: &Device,
        list: &Buffer<u32>,
        first: u32,
        undecided: &Buffer<u32>,
    ) -> Result<Option<u32>> {
        if undecided.is_empty() {
            return Ok(None);
        }
        let (tetrahedra, points) = (on.download(&self.tetrahedra)?, on.download(&self.points)?);
        let (list, undecided) = (on.download(list)?, on.download(undecided)?);
        let flat = undecided
            .into_iter()
            .map(|i| match list.get(i as usize) {
                Some(&t) => t,
                None => first + (i - list.len() as u32),
            })
            .filter(|&t| {
                let corners = &tetrahedra[4 * t as usize..][..4];
                let own: Vec<_> = corners
                    .iter()
                    .map(|&v| points[v as usize].to_f64())
                    .collect();
                let is_positive = orientation(&own, &[0, 1, 2, 3]) > 0.0;
                // Also where the products overflow.
                !is_positive
            });
        Ok(flat.min())
    }

    /// The edges.
    pub(super) fn edges(&self, on: &Device) -> Result<Edges> {
        let (points, tetrahedra) = (self.points.len(), self.count() as usize);
        match self.edges_with(on, table_slots(points, tetrahedra))? {
            Some(edges) => Ok(edges),
            // More edges than a mesh without loose parts has.
            None => self
                .edges_with(on, slots_for(6 * tetrahedra))?
                .ok_or_else(|| invalid("the mesh".to_owned(), "has edges that no table can hold")),
        }
    }

    /// The edges by a table of `slots` slots; none if it has no room for them.
    fn edges_with(&self, on: &Device, slots: usize) -> Result<Option<Edges>> {
        let uses = 6 * self.count();
        let vertices = self.points.len();
        let scale = ((slots as u64) << 32) / vertices.max(1) as u64;
        let mut found = on.filled(tet_rule::COUNT, NONE)?;
        let mut table = on.filled(slots, NONE)?;
        let mut edges = on.uninitialized(uses as usize)?;
        unsafe {
            kernel::meet_tet_edges::launch(
                on,
                uses,
                &self.tetrahedra,
                &mut table,
                &mut edges,
                &mut found,
                scale,
            )
        }?;
        if on.read(&found, tet_rule::CROWDED as usize)? != NONE {
            return Ok(None);
        }
        let mut first_bits = on.uninitialized(uses.div_ceil(32) as usize)?;
        unsafe { kernel::mark_first_tet_edges::launch(on, uses, &edges, &table, &mut first_bits) }?;
        let first_uses = compact(on, &first_bits)?;
        drop(first_bits);
        let count = first_uses.len();
        unsafe {
            kernel::number_tet_edges::launch(on, count as u32, &first_uses, &edges, &mut table)
        }?;
        let mut last_uses = on.filled(count, NONE)?;
        let mut links = on.uninitialized(uses as usize)?;
        unsafe {
            kernel::link_tet_edges::launch(on, uses, &table, &mut edges, &mut last_uses, &mut links)
        }?;
        let sides = self.faces.len();
        let mut face_edges = on.uninitialized(sides)?;
        if sides > 0 {
            unsafe {
                kernel::find_face_edges::launch(
                    on,
                    sides as u32,
                    &self.faces,
                    &self.tetrahedra,
                    &first_uses,
                    &table,
                    vertices as u32,
                    &mut face_edges,
                    &mut found,
                    scale,
                )
            }?;
            let side = on.read(&found, tet_rule::FACE as usize)?;
            if side != NONE {
                return Err(invalid(
                    format!("tagged face {}", side / 3),
                    "has an edge that no tetrahedron has",
                ));
            }
        }
        Ok(Some(Edges {
            edges,
            first_uses,
            last_uses,
            links,
            face_edges,
        }))
    }
}

pub(super) fn too_many(tetrahedra: usize) -> Error {
    Error::Invalid {
        element: "the mesh".to_owned(),
        rule: format!(
            "has {tetrahedra} tetrahedra, but at most {MOST_TETRAHEDRA} fit 32-bit edge ids"
        ),
    }
}

/// Slots of the table of edges. By Euler's formula a mesh has about V + T edges and half as many as it has boundary
/// triangles; and at most six a tetrahedron.
fn table_slots(points: usize, tetrahedra: usize) -> usize {
    slots_for((6 * tetrahedra).min(points + 2 * tetrahedra))
}

/// Slots for a number of edges: half as many again.
fn slots_for(edges: usize) -> usize {
    edges + edges / 2 + 64
}
