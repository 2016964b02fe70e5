//! Whole meshes: to a device with their locks, and back with all that they carry.

use std::collections::HashSet;
use std::sync::Arc;

use glam::DVec3;
use gpu::ids::Vertex;
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::{Bits, NONE};

use super::{
    Carried, DeviceCarried, DeviceWeld, Error, Method, Options, Result, Welded, bytes_needed,
    check_sizes, fields, polygons, stage,
};
use crate::device::Device;
use crate::edges::Edges;
use crate::mesh::{Faces, Mesh, Polygons, Segment};
use crate::smooth::{self, DeviceCells};

/// The vertices that merge with no other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Locks {
    /// Locks the vertices at edges that one face alone has. Faces with a vertex twice do not count.
    pub boundary: bool,
    /// Locks the vertices with a flag; V, or empty.
    pub vertices: Vec<bool>,
}

impl Locks {
    /// Refuses the boundary of a mesh without faces.
    fn check(&self, mesh: &Mesh) -> Result<()> {
        if self.boundary && mesh.faces.is_empty() {
            return Err(Error::NoBoundary);
        }
        Ok(())
    }

    /// The locked vertices of a mesh, found on this machine; V, or empty.
    ///
    /// # Errors
    /// [`Error::NoBoundary`] for the boundary of a mesh without faces; [`Error::FaceIndex`]; [`Error::TooManyCorners`];
    /// [`Error::Length`].
    pub fn find(&self, mesh: &Mesh) -> Result<Vec<bool>> {
        self.check(mesh)?;
        Carried::of(mesh, &self.vertices).check(mesh.points.len(), triangles(mesh).len())?;
        let mut locked = self.vertices.clone();
        if self.boundary {
            let faces = proper_faces(mesh)?;
            locked.resize(mesh.points.len(), false);
            for &end in Edges::of_polygons(&faces).boundary.as_flattened() {
                locked[end as usize] = true;
            }
        }
        Ok(locked)
    }
}

/// The faces without the ones that have a vertex twice.
fn proper_faces(mesh: &Mesh) -> Result<Polygons> {
    let mut proper = Polygons::default();
    for i in 0..mesh.faces.len() {
        let face = mesh.faces.get(i);
        if face.iter().any(|&v| v as usize >= mesh.points.len()) {
            return Err(Error::FaceIndex { face: i });
        }
        let is_proper = match *face {
            [a, b, c] => a != b && b != c && c != a,
            _ => {
                let mut sorted = face.to_vec();
                sorted.sort_unstable();
                face.len() > 2 && sorted.windows(2).all(|pair| pair[0] != pair[1])
            }
        };
        if is_proper {
            proper.push(face);
        }
    }
    if proper.vertices.len() >= NONE as usize {
        return Err(Error::TooManyCorners);
    }
    Ok(proper)
}

/// A mesh of V vertices and F triangles on a device, to be [welded](super::weld()).
///
/// Faces of other sizes stay on the host: they get their new vertices by [`Welded::take_mesh`].
pub struct DeviceMesh {
    pub(super) points: Buffer<DVec3>,
    pub(super) faces: Buffer<[Vertex; 3]>,
    pub(super) carried: DeviceCarried,
}

/// The triangles of a mesh; none if its faces are of other sizes.
pub fn triangles(mesh: &Mesh) -> &[[u32; 3]] {
    match &mesh.faces {
        Faces::Triangles(triangles) => triangles,
        Faces::Polygons(_) => &[],
    }
}

impl<'a> Carried<'a> {
    /// The attributes of a mesh and the regions of its [`triangles`].
    pub fn of(mesh: &'a Mesh, locked: &'a [bool]) -> Self {
        let of_triangles = matches!(mesh.faces, Faces::Triangles(_));
        Self {
            attributes: &mesh.attributes,
            locked,
            regions: mesh.regions.as_deref().filter(|_| of_triangles),
        }
    }
}

impl DeviceMesh {
    /// Bytes that welding a mesh by `method` takes at once, from its upload on.
    pub fn bytes_needed(mesh: &Mesh, locks: &Locks, method: Method) -> u64 {
        let (faces, carried) = (triangles(mesh), Carried::of(mesh, &locks.vertices));
        let n = mesh.points.len();
        let mut bytes = bytes_needed(method, n, faces.len())
            + DeviceCarried::bytes_needed(&carried, n, faces.len());
        if locks.boundary {
            // Beside the mesh its faces as lists, and by vertex; gone before the rest is needed.
            let corners = match &mesh.faces {
                Faces::Triangles(triangles) => 3 * triangles.len(),
                Faces::Polygons(polygons) => polygons.vertices.len(),
            };
            let lists = (4 * corners + n) * size_of::<u32>();
            let resident = size_of_val(&mesh.points[..]) + size_of_val(faces);
            bytes = bytes.max((lists + resident) as u64);
        }
        bytes
    }

    /// A mesh of arrays that are on a device: from another pipeline, or uploaded there.
    ///
    /// # Errors
    /// [`Error::TooLarge`]; [`Error::Length`] for an array of `carried` of another length.
    pub fn new(
        points: Buffer<DVec3>,
        faces: Buffer<[Vertex; 3]>,
        carried: DeviceCarried,
    ) -> Result<Self> {
        check_sizes(points.len(), faces.len())?;
        carried.check(points.len(), faces.len())?;
        Ok(Self {
            points,
            faces,
            carried,
        })
    }

    /// Copies points and triangles to the device.
    ///
    /// # Errors
    /// [`Error::TooLarge`]; those of the device.
    pub fn upload_arrays(on: &Device, points: &[DVec3], faces: &[[u32; 3]]) -> Result<Self> {
        check_sizes(points.len(), faces.len())?;
        let none = DeviceCarried::none(on)?;
        Self::new(on.upload(points)?, on.upload(faces)?.cast(), none)
    }

    /// Copies points to the device with all that they carry, if there is room to weld them there.
    ///
    /// # Errors
    /// [`OutOfMemory`](crate::Error::OutOfMemory); [`Error::TooLarge`]; [`Error::Length`] for arrays that do not fit
    /// the points.
    pub fn upload_points(on: &Device, points: &[DVec3], carried: &Carried) -> Result<Self> {
        let n = points.len();
        check_sizes(n, 0)?;
        on.require(bytes_needed(Method::Auto, n, 0) + DeviceCarried::bytes_needed(carried, n, 0))?;
        stage(on, "copy to the device", || {
            let carried = DeviceCarried::upload(on, carried, n, 0)?;
            Self::new(on.upload(points)?, on.uninitialized(0)?, carried)
        })
    }

    /// `n` points that carry nothing, and that `make` gives, if there is room to weld them on the device.
    ///
    /// # Errors
    /// As [`DeviceMesh::upload_points`]; those of `make`.
    pub fn of_plain_points(
        on: &Device,
        n: usize,
        make: impl FnOnce() -> crate::Result<Buffer<DVec3>>,
    ) -> Result<Self> {
        check_sizes(n, 0)?;
        on.require(bytes_needed(Method::Auto, n, 0))?;
        let carried = DeviceCarried::none(on)?;
        Self::new(make()?, on.uninitialized(0)?, carried)
    }

    /// As [`DeviceMesh::upload_points`], of points that carry nothing, from several lists one after the other.
    ///
    /// # Errors
    /// As there.
    pub fn upload_plain_points(on: &Device, lists: &[&[DVec3]]) -> Result<Self> {
        let n = lists.iter().map(|list| list.len()).sum();
        let upload = || on.stage("copy to the device", || on.upload_lists(lists));
        Self::of_plain_points(on, n, upload)
    }

    /// Copies a mesh to the device, without locks.
    ///
    /// # Errors
    /// As [`DeviceMesh::upload_locked`].
    pub fn upload(on: &Device, mesh: &Mesh) -> Result<Self> {
        Self::upload_locked(on, mesh, &Locks::default())
    }

    /// Copies a mesh to the device, if there is room to weld it there, and finds the vertices of its boundary there if
    /// they are locked.
    ///
    /// # Errors
    /// [`OutOfMemory`](crate::Error::OutOfMemory); [`Error::TooLarge`]; [`Error::NoBoundary`] for the boundary of a
    /// mesh without faces; [`Error::FaceIndex`]; [`Error::Length`] for arrays that do not fit the mesh.
    pub fn upload_locked(on: &Device, mesh: &Mesh, locks: &Locks) -> Result<Self> {
        locks.check(mesh)?;
        let (faces, carried) = (triangles(mesh), Carried::of(mesh, &locks.vertices));
        let n = mesh.points.len();
        check_sizes(n, faces.len())?;
        on.require(Self::bytes_needed(mesh, locks, Method::Auto))?;
        let mut resident = stage(on, "copy to the device", || {
            let carried = DeviceCarried::upload(on, &carried, n, faces.len())?;
            Self::new(on.upload(&mesh.points)?, on.upload(faces)?.cast(), carried)
        })?;
        if locks.boundary {
            resident.carried.lock(on, border(on, mesh)?)?;
        }
        Ok(resident)
    }

    /// Locks the vertices at edges that one triangle alone has, besides the vertices that are locked already. The
    /// device finds them.
    ///
    /// # Errors
    /// [`Error::NoBoundary`] without triangles; [`Error::FaceIndex`] for a triangle with a vertex that is not there or
    /// is there twice; those of the device.
    pub fn lock_boundary(&mut self, on: &Device) -> Result<()> {
        if self.faces.is_empty() {
            return Err(Error::NoBoundary);
        }
        let (points, faces) = (on.duplicate(&self.points)?, on.duplicate(&self.faces)?);
        let surface = smooth::DeviceMesh::of_triangles(on, points, faces.cast())?;
        let cells = surface.cells();
        let border = cells.boundary(on, &cells.incidence(on)?)?.nodes;
        self.carried.lock(on, border.cast())
    }

    /// Positions; V.
    pub fn points(&self) -> &Buffer<DVec3> {
        &self.points
    }

    /// Triangles; F, or none.
    pub fn faces(&self) -> &Buffer<[Vertex; 3]> {
        &self.faces
    }

    /// Attributes of the vertices, locks, and regions of the triangles.
    pub fn carried(&self) -> &DeviceCarried {
        &self.carried
    }
}

/// Bit set of the vertices at edges that one face alone has.
fn border(on: &Device, mesh: &Mesh) -> Result<Buffer<Bits<Vertex>>> {
    let faces = proper_faces(mesh)?;
    // SAFETY: proper faces have indices below the number of points, each once.
    let cells = unsafe { DeviceCells::of_polygons(on, &faces, mesh.points.len()) }?;
    Ok(cells.boundary(on, &cells.incidence(on)?)?.nodes.cast())
}

impl DeviceWeld {
    /// The new mesh, for further work on the device.
    pub fn into_mesh(self) -> DeviceMesh {
        DeviceMesh {
            points: self.points,
            faces: self.faces.cast(),
            carried: self.carried,
        }
    }
}

impl Welded {
    /// The new mesh, from the `input` that was welded with `options`. Moves positions, triangles, attributes and
    /// regions out of the result.
    ///
    /// Segments get their new ends. Unless degenerate ones are kept, segments whose ends became one are dropped, and of
    /// segments with the same ends and the same marker all but the first. Fields of vertices are means of floats and
    /// the labels of the representatives, or, with [`Position::First`](super::Position::First), those of the
    /// representatives.
    ///
    /// # Errors
    /// [`Error::FaceIndex`], [`Error::SegmentIndex`]; [`Error::Length`] for regions of another number than the faces;
    /// the crate's error for fields of another length than the mesh's.
    pub fn take_mesh(&mut self, input: &Mesh, options: &Options) -> Result<Mesh> {
        let keep_degenerate = options.keep_degenerate;
        let (points, segment_count) = (input.points.len(), input.segments.len());
        (input.fields).check(points, input.faces.len(), segment_count)?;
        let mut face_ids = None;
        let mut regions = self.regions.take();
        let faces = match &input.faces {
            Faces::Triangles(_) => Faces::Triangles(std::mem::take(&mut self.faces)),
            Faces::Polygons(polygons) => {
                if let Some(regions) = &input.regions
                    && regions.len() != polygons.len()
                {
                    return Err(Error::Length {
                        array: "regions",
                        length: regions.len(),
                        needed: polygons.len(),
                    });
                }
                let (left, ids) = polygons::remap(polygons, &self.map, keep_degenerate)?;
                regions = input
                    .regions
                    .as_ref()
                    .map(|regions| ids.iter().map(|&i| regions[i as usize]).collect());
                face_ids = Some(ids);
                Faces::Polygons(left)
            }
        };
        let map = |v: u32| self.map.get(v as usize).copied();
        let (segments, segment_ids) = weld_segments(&input.segments, map, keep_degenerate)?;
        let clusters = (&self.map[..], &self.representatives[..]);
        let ids = face_ids.as_deref();
        Ok(Mesh {
            fields: fields::carry(input, clusters, &faces, ids, &segment_ids, options),
            segments,
            points: std::mem::take(&mut self.points),
            attributes: std::mem::take(&mut self.attributes),
            faces,
            regions,
            about: Arc::clone(&input.about),
        })
    }

    /// Old vertices that are no representatives, ascending.
    pub fn removed(&self) -> impl Iterator<Item = u32> {
        removed(self.map.len(), &self.representatives)
    }
}

/// The removed ones of this number of old vertices, ascending.
pub fn removed(vertices: usize, representatives: &[u32]) -> impl Iterator<Item = u32> {
    let mut kept = representatives.iter().peekable();
    (0..vertices as u32).filter(move |v| kept.next_if_eq(&v).is_none())
}

/// The segments that are left, with the vertices that `map` gives their ends (`None` for one that is out of range), and
/// their old ids.
///
/// Unless degenerate ones are kept, segments whose ends became one are dropped, and of segments with the same ends and
/// the same marker all but the first.
///
/// # Errors
/// [`Error::SegmentIndex`].
pub fn weld_segments(
    segments: &[Segment],
    map: impl Fn(u32) -> Option<u32>,
    keep_degenerate: bool,
) -> Result<(Vec<Segment>, Vec<u32>)> {
    let mut seen = HashSet::new();
    let mut left = Vec::with_capacity(segments.len());
    let mut ids = Vec::with_capacity(segments.len());
    for (i, segment) in segments.iter().enumerate() {
        let [Some(a), Some(b)] = segment.ends.map(&map) else {
            return Err(Error::SegmentIndex { segment: i });
        };
        if keep_degenerate || (a != b && seen.insert((a.min(b), a.max(b), segment.marker))) {
            left.push(Segment {
                ends: [a, b],
                marker: segment.marker,
            });
            ids.push(i as u32);
        }
    }
    Ok((left, ids))
}
