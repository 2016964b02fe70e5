//! Whole meshes: to a device with their locks, and back with all that they carry.

use std::collections::HashSet;

use glam::DVec3;
use trioxide_kernel::NONE;
use trioxide_kernel::launch::Buffer;

use super::{Carried, DeviceCarried, Method, Welded, bad_face, bytes_needed, polygons};
use crate::backend::Device;
use crate::mesh::{Faces, Mesh, Polygons, Segment};
use crate::smooth::{self, DeviceCells};
use crate::{Error, Result, reference};

/// Which vertices merge with none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Locks {
    /// Those at an edge that one face alone has. Faces with a vertex twice do not count.
    pub boundary: bool,
    /// Those with a flag; V, or empty.
    pub vertices: Vec<bool>,
}

impl Locks {
    /// Refuses what cannot be locked.
    fn check(&self, mesh: &Mesh) -> Result<()> {
        if self.boundary && mesh.faces.is_empty() {
            return Err(Error::Argument(
                "a cloud of points has no boundary that could be locked".to_owned(),
            ));
        }
        Ok(())
    }

    /// The locked vertices of a mesh, found on this machine; V, or empty.
    ///
    /// # Errors
    /// [`Error::Argument`] for the boundary of a mesh without faces; [`Error::Invalid`] for a face with an index out of range.
    pub fn find(&self, mesh: &Mesh) -> Result<Vec<bool>> {
        self.check(mesh)?;
        let mut locked = self.vertices.clone();
        if self.boundary {
            let faces = proper_faces(mesh)?;
            locked.resize(mesh.points.len(), false);
            let border = reference::smooth::border_nodes(mesh.points.len(), faces.iter());
            for (locked, is_on_border) in locked.iter_mut().zip(border) {
                *locked |= is_on_border;
            }
        }
        Ok(locked)
    }
}

/// The faces without those that have a vertex twice.
fn proper_faces(mesh: &Mesh) -> Result<Polygons> {
    let mut proper = Polygons::default();
    for i in 0..mesh.faces.len() {
        let face = mesh.faces.get(i);
        if face.iter().any(|&v| v as usize >= mesh.points.len()) {
            return Err(bad_face(i));
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
        return Err(Error::Argument(
            "the faces have more corners than 32 bits number, which finding their boundary needs"
                .to_owned(),
        ));
    }
    Ok(proper)
}

/// What [`super::weld_carrying()`] takes, of a mesh of V vertices and F triangles (of other faces it takes none: they get their
/// new vertices on the way back).
pub struct DeviceMesh {
    /// Positions; V.
    pub points: Buffer<DVec3>,
    /// Triangles; F, or none.
    pub faces: Buffer<[u32; 3]>,
    /// What both carry, and the locks.
    pub carried: DeviceCarried,
}

/// The triangles of a mesh; none if its faces are of other sizes.
pub fn triangles(mesh: &Mesh) -> &[[u32; 3]] {
    match &mesh.faces {
        Faces::Triangles(triangles) => triangles,
        Faces::Polygons(_) => &[],
    }
}

impl<'a> Carried<'a> {
    /// What a mesh and its [`triangles`] carry.
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

    /// Copies a mesh to the device, if there is room to weld it there by `method`, and finds the vertices of its boundary there if they are locked.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; [`Error::Argument`] for the boundary of a mesh without faces; [`Error::Invalid`] for a face with
    /// an index out of range, or arrays that do not fit the mesh.
    pub fn upload(on: &Device, mesh: &Mesh, locks: &Locks, method: Method) -> Result<Self> {
        locks.check(mesh)?;
        let (faces, carried) = (triangles(mesh), Carried::of(mesh, &locks.vertices));
        let n = mesh.points.len();
        on.require(Self::bytes_needed(mesh, locks, method))?;
        let mut resident = on.stage("copy to the device", || {
            Ok(Self {
                points: on.upload(&mesh.points)?,
                faces: on.upload(faces)?,
                carried: DeviceCarried::upload(on, &carried, n, faces.len())?,
            })
        })?;
        if locks.boundary {
            let border = border(on, mesh)?;
            let locked = &mut resident.carried.locked;
            if locked.is_empty() {
                *locked = border;
            } else {
                smooth::join_bits(on, &border, locked)?;
            }
        }
        Ok(resident)
    }
}

/// Bit set of the vertices at edges that one face alone has.
fn border(on: &Device, mesh: &Mesh) -> Result<Buffer<u32>> {
    let faces = proper_faces(mesh)?;
    // SAFETY: proper faces have indices below the number of points, each once.
    let cells = unsafe { DeviceCells::of_polygons(on, &faces, mesh.points.len()) }?;
    Ok(cells.boundary(on, &cells.incidence(on)?)?.nodes.cast())
}

impl Welded {
    /// The new mesh, of the `input` that was welded; moves positions, triangles and what they carry out of the result.
    ///
    /// Segments get their new ends; unless `keep_degenerate`, those whose ends became one are dropped, and of segments with the
    /// same ends and the same marker all but the first.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a face or a segment with an index out of range.
    pub fn take_mesh(&mut self, input: &Mesh, keep_degenerate: bool) -> Result<Mesh> {
        let mut regions = self.regions.take();
        let faces = match &input.faces {
            Faces::Triangles(_) => Faces::Triangles(std::mem::take(&mut self.faces)),
            Faces::Polygons(polygons) => {
                let (left, ids) = polygons::remap(polygons, &self.map, keep_degenerate)?;
                regions = input
                    .regions
                    .as_ref()
                    .map(|regions| ids.iter().map(|&i| regions[i as usize]).collect());
                Faces::Polygons(left)
            }
        };
        Ok(Mesh {
            segments: segments(&input.segments, &self.map, keep_degenerate)?,
            points: std::mem::take(&mut self.points),
            attributes: std::mem::take(&mut self.attributes),
            faces,
            regions,
        })
    }

    /// Old vertices that are no representatives, ascending.
    pub fn removed(&self) -> impl Iterator<Item = u32> {
        let mut kept = self.representatives.iter().peekable();
        (0..self.map.len() as u32).filter(move |v| kept.next_if_eq(&v).is_none())
    }
}

fn segments(segments: &[Segment], map: &[u32], keep_degenerate: bool) -> Result<Vec<Segment>> {
    let mut seen = HashSet::new();
    let mut left = Vec::with_capacity(segments.len());
    for (i, segment) in segments.iter().enumerate() {
        let end = |v: u32| map.get(v as usize).copied();
        let [Some(a), Some(b)] = segment.ends.map(end) else {
            return Err(Error::Invalid {
                element: format!("segment {i}"),
                rule: "has a vertex index that is out of range".to_owned(),
            });
        };
        if keep_degenerate || (a != b && seen.insert((a.min(b), a.max(b), segment.marker))) {
            left.push(Segment {
                ends: [a, b],
                marker: segment.marker,
            });
        }
    }
    Ok(left)
}
