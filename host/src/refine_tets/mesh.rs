//! Meshes on the device: checked on upload, and downloaded with their parents.

use std::sync::Arc;

use gpu::ids::{Tet, Triangle, Vertex};
use gpu::refine_tets::check_tetrahedra::{check_tet_points, check_tetrahedra, tet_rule};
use gpu::refine_tets::number_edges::MEETING_USES;
use gpu::weld::gather_regions;
use trioxide_kernel::NONE;
use trioxide_kernel::launch::Buffer;

use super::{Error, Level, MOST_TETRAHEDRA, Refined, Result, SpacePoint};
use crate::collective::{compact, exclusive_scan};
use crate::device::Device;
use crate::points::upload_points;
use crate::refine::Midpoints;
use crate::rules::tet_faces;
use crate::tet_faces::{Broken, DeviceFaces, ListId};
use crate::volume::{TaggedTriangle, TetMesh, orientation};

/// A mesh of tetrahedra on a device: V points, T tetrahedra, B tagged triangles.
///
/// Vertex ids of tetrahedra are below V, and tetrahedra are positively oriented: both are checked where a mesh is made.
pub struct DeviceTets<P> {
    pub(super) list: ListId,
    pub(super) points: Buffer<P>,
    pub(super) tetrahedra: Buffer<Vertex>,
    pub(super) faces: Buffer<Vertex>,
    /// Region of each tetrahedron of the input, and tag of each of its tagged triangles.
    regions: Option<Arc<[i32]>>,
    tags: Arc<[i32]>,
}

/// A refined mesh on a device: T tetrahedra of T0, B tagged triangles, N new vertices.
pub struct DeviceRefined<P> {
    pub(super) mesh: DeviceTets<P>,
    pub(super) tetrahedron_parents: Buffer<Tet>,
    pub(super) face_parents: Buffer<Triangle>,
    pub(super) vertex_parents: Buffer<Vertex>,
    pub(super) levels: Vec<Level>,
    /// The input, as a level without divisions.
    pub(super) input: Level,
}

/// The arrays of a refined mesh on a device: V points, T tetrahedra.
pub struct RefinedArrays<P> {
    /// Coordinates: those of the input come first; V.
    pub points: Buffer<P>,
    /// Tetrahedra; T.
    pub tetrahedra: Buffer<[Vertex; 4]>,
    /// The tetrahedron of the input that each is a part of; T.
    pub parents: Buffer<Tet>,
    /// Where the new vertices lie.
    pub midpoints: Midpoints,
}

/// A part of a mesh: V vertices, T tetrahedra by local ids, which ascend with the ids of the whole mesh.
#[derive(Clone, Copy, Debug)]
pub struct SharePart<'a, P> {
    /// Coordinates; V.
    pub points: &'a [P],
    /// Vertices of the tetrahedra; 4T.
    pub tetrahedra: &'a [u32],
    /// Vertices of the tagged triangles that this process divides: faces of owned tetrahedra; 3B.
    pub faces: &'a [u32],
}

impl<P: SpacePoint> DeviceTets<P> {
    /// Bytes that refining takes at once before it writes children, for V points and T tetrahedra.
    pub fn bytes_needed(points: usize, tetrahedra: usize) -> u64 {
        let edges = (6 * tetrahedra).min(points + 3 * tetrahedra / 2);
        let words = tetrahedra * (4 + 6 + 6 + 1) + 2 * edges + table_slots(points, tetrahedra);
        (points * size_of::<P>() + words * size_of::<u32>()) as u64
    }

    /// Copies a mesh to the device and checks it there: coordinates, tetrahedra, faces.
    ///
    /// # Errors
    /// [`Error::TooManyTetrahedra`], [`Error::Regions`], [`Error::NotFinite`], [`Error::OutOfRange`],
    /// [`Error::TooLarge`], [`Error::TooSmall`], [`Error::Inverted`]; errors of the faces
    /// ([`tet_faces`]) and of the device.
    pub fn upload(on: &Device, mesh: &TetMesh) -> Result<Self> {
        Ok(Self::upload_with_faces(on, mesh)?.0)
    }

    /// As [`DeviceTets::upload`], with the faces.
    ///
    /// # Errors
    /// Errors of [`DeviceTets::upload`].
    pub fn upload_with_faces(on: &Device, mesh: &TetMesh) -> Result<(Self, DeviceFaces)> {
        let tetrahedra = mesh.tetrahedra.len();
        check_sizes(mesh.points.len(), tetrahedra, mesh.faces.len())?;
        if let Some(regions) = &mesh.regions
            && regions.len() != tetrahedra
        {
            return Err(Error::Regions {
                regions: regions.len(),
                tetrahedra,
            });
        }
        on.require(Self::bytes_needed(mesh.points.len(), tetrahedra))?;
        let tags = mesh.faces.iter().map(|face| face.tag).collect();
        let resident = on.stage("copy to the device", || {
            let faces: Vec<[u32; 3]> = mesh.faces.iter().map(|face| face.vertices).collect();
            Ok(Self {
                list: ListId::unique(),
                points: upload_points(on, &mesh.points, mesh.points.len())?,
                tetrahedra: on.upload(bytemuck::cast_slice(&mesh.tetrahedra))?,
                faces: on.upload(bytemuck::cast_slice(&faces))?,
                regions: mesh.regions.as_deref().map(Arc::from),
                tags,
            })
        })?;
        match resident.check(on)? {
            Ok(faces) => Ok((resident, faces)),
            Err(error) => {
                // The host's check names the faces' vertices and their tetrahedra.
                tet_faces(mesh)?;
                Err(error)
            }
        }
    }

    /// A mesh of V points and T tetrahedra (four vertices each) that are on the device, without regions and tagged
    /// triangles. It is checked there.
    ///
    /// # Errors
    /// As [`DeviceTets::upload`].
    pub fn build(on: &Device, points: Buffer<P>, tetrahedra: Buffer<[Vertex; 4]>) -> Result<Self> {
        check_sizes(points.len(), tetrahedra.len(), 0)?;
        on.require(Self::bytes_needed(points.len(), tetrahedra.len()))?;
        let resident = Self {
            list: ListId::unique(),
            points,
            tetrahedra: tetrahedra.cast(),
            faces: on.uninitialized(0)?,
            regions: None,
            tags: Arc::default(),
        };
        resident.check(on)??;
        Ok(resident)
    }

    /// A part of a mesh, of V points, T tetrahedra (four vertices each) and B tagged triangles (three each), whose
    /// coordinates and tetrahedra are checked. Its tagged triangles are faces; of an input that is checked too, with
    /// all faces.
    pub(super) fn of_part(on: &Device, part: &SharePart<P>, is_input: bool) -> Result<Self> {
        let (points, tetrahedra) = (part.points.len(), part.tetrahedra.len() / 4);
        check_sizes(points, tetrahedra, part.faces.len() / 3)?;
        on.require(Self::bytes_needed(points, tetrahedra))?;
        let mesh = on.stage("copy to the device", || {
            Ok(Self {
                list: ListId::unique(),
                points: on.upload(part.points)?,
                tetrahedra: on.upload(bytemuck::cast_slice(part.tetrahedra))?,
                faces: on.upload(bytemuck::cast_slice(part.faces))?,
                regions: None,
                tags: Arc::default(),
            })
        })?;
        match is_input {
            true => drop(mesh.check(on)??),
            false => mesh.check_tetrahedra(on)?,
        }
        Ok(mesh)
    }

    /// The faces of a mesh that follows the rules. The inner error is of faces that do not fit.
    fn check(&self, on: &Device) -> Result<Result<DeviceFaces>> {
        self.check_tetrahedra(on)?;
        // The closure and the children rely on it: a face has a tetrahedron on each side at most.
        let faces = on.stage("match faces", || {
            let (list, vertices) = (self.list, self.points.len());
            DeviceFaces::build(on, list, vertices, &self.tetrahedra, &self.faces)
        })?;
        Ok(faces.map_err(|broken| match broken {
            Broken::Loose(face) => Error::LooseFace { face },
            Broken::Overlap(_) | Broken::Crowded(_) => Error::Crowded,
        }))
    }

    /// Refuses coordinates and tetrahedra that break a rule.
    fn check_tetrahedra(&self, on: &Device) -> Result<()> {
        let broken = on.stage("check the mesh", || {
            let mut found = on.filled(tet_rule::COUNT, NONE)?;
            let (n, points) = (self.points.len() as u32, &self.points);
            check_tet_points::launch(on, n, points, &mut found)?;
            let list = on.uninitialized(0)?;
            self.find_broken(on, &list, 0, self.count(), &mut found)
        })?;
        broken.map_or(Ok(()), Err)
    }

    /// Region of each tetrahedron, in host memory.
    pub(crate) fn regions(&self) -> Option<&[i32]> {
        self.regions.as_deref()
    }

    /// A copy on the same machine.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn duplicate(&self, on: &Device) -> crate::Result<Self> {
        Ok(Self {
            list: self.list,
            points: on.duplicate(&self.points)?,
            tetrahedra: on.duplicate(&self.tetrahedra)?,
            faces: on.duplicate(&self.faces)?,
            regions: self.regions.clone(),
            tags: self.tags.clone(),
        })
    }

    /// Its tetrahedra, among all lists of the process.
    pub(crate) fn list(&self) -> ListId {
        self.list
    }

    /// Coordinates; V.
    pub fn points(&self) -> &Buffer<P> {
        &self.points
    }

    /// Vertices, four for each tetrahedron; 4T.
    pub fn tetrahedra(&self) -> &Buffer<Vertex> {
        &self.tetrahedra
    }

    /// Vertices, three for each tagged triangle; 3B.
    pub fn faces(&self) -> &Buffer<Vertex> {
        &self.faces
    }

    /// Number of tetrahedra.
    pub fn count(&self) -> u32 {
        (self.tetrahedra.len() / 4) as u32
    }

    /// The error of the first of `count` tetrahedra (the ones in `list` and the ones from `first` on) that has an index
    /// out of range or is not positively oriented, or of the element that `found` holds already.
    pub(super) fn find_broken(
        &self,
        on: &Device,
        list: &Buffer<Tet>,
        first: u32,
        count: u32,
        found: &mut Buffer<u32>,
    ) -> crate::Result<Option<Error>> {
        let mut undecided = on.uninitialized(count.div_ceil(32) as usize)?;
        check_tetrahedra::launch(
            on,
            count,
            list,
            &self.tetrahedra,
            &self.points,
            found,
            first,
            &mut undecided,
        )?;
        let found = on.download(found)?;
        let element = |rule: u32| Some(found[rule as usize]).filter(|&element| element != NONE);
        if let Some(vertex) = element(tet_rule::FINITE) {
            return Ok(Some(Error::NotFinite { vertex }));
        }
        if let Some(tetrahedron) = element(tet_rule::RANGE) {
            return Ok(Some(Error::OutOfRange { tetrahedron }));
        }
        if let Some(vertex) = element(tet_rule::LARGE) {
            return Ok(Some(Error::TooLarge {
                vertex,
                most: P::LARGEST,
                precision: P::PRECISION,
            }));
        }
        if let Some(tetrahedron) = element(tet_rule::SMALL) {
            return Ok(Some(Error::TooSmall {
                tetrahedron,
                least: P::SMALLEST,
                precision: P::PRECISION,
            }));
        }
        let inverted = match element(tet_rule::ORIENTATION) {
            Some(t) => Some(t),
            None => self.decide(on, list, first, &compact(on, &undecided)?.cast())?,
        };
        Ok(inverted.map(|tetrahedron| Error::Inverted { tetrahedron }))
    }

    /// The first of the tetrahedra, numbered as in [`DeviceTets::find_broken`], that is not positively oriented, by
    /// exact arithmetic.
    fn decide(
        &self,
        on: &Device,
        list: &Buffer<Tet>,
        first: u32,
        undecided: &Buffer<u32>,
    ) -> crate::Result<Option<u32>> {
        if undecided.is_empty() {
            return Ok(None);
        }
        let tetrahedra: Vec<[u32; 4]> = on.download_rows(&self.tetrahedra)?;
        let points = on.download(&self.points)?;
        let (list, undecided) = (on.download(list)?, on.download(undecided)?);
        let flat = undecided
            .into_iter()
            .map(|i| match list.get(i as usize) {
                Some(&t) => t.index(),
                None => first + (i - list.len() as u32),
            })
            .filter(|&t| {
                let own = tetrahedra[t as usize].map(|v| points[v as usize].to_f64());
                let is_positive = orientation(&own, &[0, 1, 2, 3]) > 0.0;
                // Not positive also where the products overflow.
                !is_positive
            });
        Ok(flat.min())
    }
}

impl<P: SpacePoint> DeviceRefined<P> {
    /// A mesh before its first level.
    pub(super) fn new(on: &Device, mesh: DeviceTets<P>) -> crate::Result<Self> {
        fn ascending<T: bytemuck::Pod>(on: &Device, n: u32) -> crate::Result<Buffer<T>> {
            let mut ids = on.filled(n as usize, 1)?;
            exclusive_scan(on, &mut ids)?;
            Ok(ids.cast())
        }
        Ok(Self {
            tetrahedron_parents: ascending(on, mesh.count())?,
            face_parents: ascending(on, mesh.faces.len() as u32 / 3)?,
            vertex_parents: on.uninitialized(0)?,
            levels: Vec::new(),
            input: Level {
                tetrahedra: mesh.count(),
                faces: mesh.faces.len() as u32 / 3,
                ..Level::default()
            },
            mesh,
        })
    }

    /// The mesh.
    pub fn mesh(&self) -> &DeviceTets<P> {
        &self.mesh
    }

    /// Tetrahedron of the input that each is a part of; T.
    pub fn tetrahedron_parents(&self) -> &Buffer<Tet> {
        &self.tetrahedron_parents
    }

    /// Tagged triangle of the input that each is a part of; B.
    pub fn face_parents(&self) -> &Buffer<Triangle> {
        &self.face_parents
    }

    /// Ends of the edge whose midpoint each new vertex is; 2N.
    pub fn vertex_parents(&self) -> &Buffer<Vertex> {
        &self.vertex_parents
    }

    /// Counts of each level.
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// The region of each tetrahedron, from the regions of the input's tetrahedra, on the device; T.
    ///
    /// # Errors
    /// [`Error::Regions`] when there is not one for each tetrahedron of the input; errors of the device.
    pub fn regions(&self, on: &Device, regions: &Buffer<i32>) -> Result<Buffer<i32>> {
        let input = self.input.tetrahedra as usize;
        if regions.len() != input {
            return Err(Error::Regions {
                regions: regions.len(),
                tetrahedra: input,
            });
        }
        let n = self.mesh.count();
        let mut gathered = on.uninitialized(n as usize)?;
        let parents = on.duplicate(&self.tetrahedron_parents)?.cast();
        gather_regions::launch(on, n, &parents, regions, &mut gathered)?;
        Ok(gathered)
    }

    /// The arrays of the mesh, for further work on the device.
    pub fn into_arrays(self) -> RefinedArrays<P> {
        let new: u32 = self.levels.iter().map(|level| level.divided_edges).sum();
        let mut vertices = vec![self.mesh.points.len() as u32 - new];
        for level in &self.levels {
            vertices.push(vertices[vertices.len() - 1] + level.divided_edges);
        }
        RefinedArrays {
            // SAFETY: the record of the levels; two ids lie as `Ends` has them, the first in the low half.
            midpoints: unsafe { Midpoints::new(self.vertex_parents.cast(), vertices) },
            points: self.mesh.points,
            tetrahedra: self.mesh.tetrahedra.cast(),
            parents: self.tetrahedron_parents,
        }
    }

    /// The result in host memory; regions and tags come from the input.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn download(&self, on: &Device) -> crate::Result<Refined> {
        on.stage("copy to the host", || {
            let tetrahedron_parents: Vec<u32> = on.download_rows(&self.tetrahedron_parents)?;
            let face_parents: Vec<u32> = on.download_rows(&self.face_parents)?;
            let points = on.download(&self.mesh.points)?;
            let corners: Vec<[u32; 3]> = on.download_rows(&self.mesh.faces)?;
            let faces = corners.into_iter().zip(&face_parents);
            let regions = self.mesh.regions.as_deref().map(|regions| {
                let parents = tetrahedron_parents.iter();
                parents.map(|&t| regions[t as usize]).collect()
            });
            Ok(Refined {
                mesh: TetMesh {
                    points: points.into_iter().map(P::to_f64).collect(),
                    tetrahedra: on.download_rows(&self.mesh.tetrahedra)?,
                    regions,
                    faces: faces
                        .map(|(vertices, &f)| TaggedTriangle {
                            vertices,
                            tag: self.mesh.tags[f as usize],
                        })
                        .collect(),
                },
                tetrahedron_parents,
                face_parents,
                vertex_parents: on.download_rows(&self.vertex_parents)?,
                levels: self.levels.clone(),
            })
        })
    }
}

/// Refuses sizes that ids cannot number.
fn check_sizes(points: usize, tetrahedra: usize, faces: usize) -> Result<()> {
    if tetrahedra > MOST_TETRAHEDRA {
        return Err(Error::TooManyTetrahedra {
            tetrahedra,
            most: MOST_TETRAHEDRA,
        });
    }
    for (count, elements) in [(points, "vertices"), (3 * faces, "corners of tagged faces")] {
        if count > u32::MAX as usize {
            return Err(Error::TooMany { count, elements });
        }
    }
    Ok(())
}

/// Slots of the table of edges. By Euler's formula a mesh has about V + T edges plus half the number of its boundary
/// triangles; and at most six a tetrahedron.
pub(super) fn table_slots(points: usize, tetrahedra: usize) -> usize {
    slots_for((6 * tetrahedra).min(points + 2 * tetrahedra))
}

/// Slots for a number of edges: half as many again, as far as 32 bits number them beside references to uses.
pub(super) fn slots_for(edges: usize) -> usize {
    (edges + edges / 2 + 64).min(u32::MAX as usize - MEETING_USES)
}

impl DeviceFaces {
    /// The faces of a mesh on the device.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) for a face that three tetrahedra share, as refinement never makes;
    /// errors of the device.
    pub fn of<P: SpacePoint>(on: &Device, mesh: &DeviceTets<P>) -> crate::Result<Self> {
        let (list, vertices) = (mesh.list, mesh.points().len());
        let faces = DeviceFaces::build(on, list, vertices, mesh.tetrahedra(), mesh.faces())?;
        faces.map_err(Broken::into_error)
    }
}
