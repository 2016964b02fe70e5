//! The sides of the polygons.

use glam::DVec3;
use gpu::ids::{Corner, Polygon, Vertex};
use gpu::levels::{self as kernel, Extent, ShellsBuffers};
use gpu::point::DoublePoint;
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::{Bits, NONE, words};

use super::join::{Joined, Level};
use super::lists::{Lists, Outlines, Places};
use super::shells::Shells;
use crate::collective::{bucket_local, longest_row, sort_rows};
use crate::device::Device;
use crate::mesh::PolygonMesh;
use crate::reorder::pick;
use crate::{Error, Result};

/// The sides of all pieces that are not inside of them, in any order for each.
pub(super) struct Sides {
    pub(super) places: Places,
    /// The piece beyond each of these sides, and its edge or face.
    pub(super) keys: Buffer<u64>,
    /// Length or area of each side of the mesh.
    pub(super) lengths: Buffer<f64>,
    /// Sides of the mesh that no piece crosses.
    pub(super) fixed: Buffer<Bits<Corner>>,
    pub(super) ends: Ends,
    /// The outlines or surfaces of level 0, until they are used.
    pub(super) found: Option<Outlines>,
}

/// The vertices of sides.
pub(super) enum Ends {
    /// Sides are edges of polygons.
    Edges {
        /// The vertex that each of the listed sides starts at.
        vertices: Buffer<Vertex>,
        /// No corners of faces.
        none: Box<Shells>,
    },
    /// Sides are faces of polyhedra.
    Faces(Box<Shells>),
}

/// A mesh of polygons on a device, of the plane or of a surface in space.
pub struct DevicePolygonMesh {
    offsets: Buffer<u32>,
    vertices: Buffer<Vertex>,
    points: Buffer<DVec3>,
    regions: Option<Buffer<i32>>,
    /// The ends of each segment.
    segments: Buffer<Vertex>,
}

impl DevicePolygonMesh {
    /// Copies a mesh to a device.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a vertex that is not there; [`Error::Argument`] for a list of regions of another length;
    /// errors of the device.
    pub fn upload<V: DoublePoint>(on: &Device, mesh: &PolygonMesh<V>) -> Result<Self> {
        super::check(mesh)?;
        let points: Vec<DVec3> = mesh.points.iter().map(|point| point.in_space()).collect();
        let ends: Vec<[u32; 2]> = mesh.segments.iter().map(|segment| segment.ends).collect();
        let regions = mesh.regions.as_deref();
        Ok(Self {
            offsets: on.upload(&mesh.polygons.offsets)?,
            vertices: on.upload(&mesh.polygons.vertices)?.cast(),
            points: on.upload(&points)?,
            regions: regions.map(|regions| on.upload(regions)).transpose()?,
            segments: on.upload(ends.as_flattened())?.cast(),
        })
    }

    /// Number of polygons.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there is no polygon.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The sides of a mesh, and the boxes of its polygons.
pub(super) fn find(on: &Device, mesh: &DevicePolygonMesh) -> Result<(Sides, Buffer<Extent>)> {
    let DevicePolygonMesh {
        offsets,
        vertices,
        points,
        ..
    } = mesh;
    let (count, polygons) = (vertices.len(), mesh.len());
    let mut boxes = on.uninitialized(polygons)?;
    let mut pieces = on.uninitialized(count)?;
    let (mut lows, mut highs) = (on.uninitialized(count)?, on.uninitialized(count)?);
    let mut lengths = on.uninitialized(count)?;
    kernel::write_sides::launch(
        on,
        polygons as u32,
        offsets,
        vertices,
        points,
        &mut pieces,
        &mut lows,
        &mut highs,
        &mut lengths,
        &mut boxes,
    )?;
    // SAFETY: the vertices of the mesh are below the number of points, as `upload` checked.
    let (offsets_of_lows, list) = unsafe { bucket_local(on, lows.as_words(), points.len()) }?;
    let list: Buffer<Corner> = list.cast();
    let n = count as u32;
    let mut keys = on.uninitialized(count)?;
    kernel::name_sides::launch(on, n, &list, &highs, &mut keys)?;
    let lows: Buffer<Vertex> = pick(on, lows.as_words(), &list)?.cast();
    drop((highs, list));
    let longest = longest_row(on, &offsets_of_lows)?;
    let keys = sort_rows(on, &offsets_of_lows, &lows, longest, &keys)?;
    let mut twins = on.uninitialized(count)?;
    let mut found = on.filled(1, NONE)?;
    kernel::pair_sides_of_polygons::launch(on, n, &lows, &keys, &mut twins, &mut found)?;
    drop(lows);
    let wrong = on.read(&found, 0)?;
    if wrong != NONE {
        let polygon = on.read(&pieces, wrong as usize)?;
        return Err(Error::Invalid {
            element: polygon.to_string(),
            rule: "has an edge of more than two polygons".into(),
        });
    }

    let mut fixed = on.filled(words(count), Bits::EMPTY)?;
    if let Some(regions) = &mesh.regions {
        kernel::fix_region_sides::launch(on, n, &twins, &pieces, regions, &mut fixed)?;
    }
    if !mesh.segments.is_empty() {
        let (n, ends) = (mesh.segments.len() as u32 / 2, &mesh.segments);
        kernel::fix_segments::launch(on, n, ends, &offsets_of_lows, &keys, &mut fixed)?;
    }
    drop((offsets_of_lows, keys));
    let mut sides = Sides {
        keys: list_keys(on, &twins, &pieces)?,
        places: Places::new(on, on.duplicate(offsets)?, pieces)?,
        lengths,
        fixed,
        ends: Ends::Edges {
            vertices: on.duplicate(vertices.as_words())?.cast(),
            none: Box::new(Shells::none(on)?),
        },
        found: None,
    };
    let outlines = sides.outlines(on)?;
    let (n, fixed) = (polygons as u32, &mut sides.fixed);
    kernel::fix_pinched::launch(on, n, outlines.vertices.rows(), &twins, fixed)?;
    sides.found = Some(outlines);
    Ok((sides, boxes))
}

/// The piece beyond each side of a mesh, and its edge or face.
pub(super) fn list_keys(
    on: &Device,
    twins: &Buffer<Corner>,
    pieces: &Buffer<Polygon>,
) -> Result<Buffer<u64>> {
    let mut keys = on.uninitialized(twins.len())?;
    kernel::write_side_keys::launch(on, twins.len() as u32, twins, pieces, &mut keys)?;
    Ok(keys)
}

impl Sides {
    /// The outlines or surfaces of all pieces.
    pub(super) fn outlines(&mut self, on: &Device) -> Result<Outlines> {
        if let Some(outlines) = self.found.take() {
            return Ok(outlines);
        }
        let vertices = match &self.ends {
            Ends::Edges { vertices, .. } => vertices,
            Ends::Faces(shells) => return shells.outlines(on),
        };
        let sorted = self.places.sorted(on, vertices.as_words())?.cast();
        Ok(Outlines {
            vertices: self.places.lists(on, sorted)?,
            edges: Lists::none(on)?,
        })
    }

    /// Whether sides are faces of polyhedra.
    pub(super) fn are_faces(&self) -> bool {
        matches!(self.ends, Ends::Faces(_))
    }

    /// The argument for kernels.
    pub(super) fn shells(&self) -> ShellsBuffers<'_> {
        match &self.ends {
            Ends::Edges { none, .. } => none.buffers(),
            Ends::Faces(shells) => shells.buffers(),
        }
    }

    /// Moves the sides to the pieces of the next level, without those inside of pieces.
    pub(super) fn join(&mut self, on: &Device, joined: &Joined, level: &Level) -> Result<()> {
        let (owners, parents) = (&self.places.owners, &level.parents);
        let kept = self.places.choose(on, |n, bits| {
            kernel::is_outline::launch(on, n, owners, &self.keys, parents, bits)
        })?;
        let (places, order) = self.places.join(on, joined, level, &kept)?;
        let mut keys = on.uninitialized(order.len())?;
        let n = order.len() as u32;
        kernel::move_sides::launch(on, n, &order, &self.keys, parents, &mut keys)?;
        (self.places, self.keys) = (places, keys);
        match &mut self.ends {
            Ends::Edges { vertices, .. } => {
                *vertices = pick(on, vertices.as_words(), &order)?.cast();
                Ok(())
            }
            Ends::Faces(shells) => shells.join(on, joined, level),
        }
    }
}
