//! The sides of the polygons.

use glam::DVec3;
use gpu::ids::{Corner, Item, Polygon, Vertex};
use gpu::levels::{self as kernel, Extent, ShellsBuffers};
use gpu::point::DoublePoint;
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::{Bits, NONE, words};

use super::lists::{Lists, Outlines};
use super::shells::Shells;
use super::{bits_of, members, ordered};
use crate::collective::order_by_keys;
use crate::device::Device;
use crate::mesh::PolygonMesh;
use crate::reorder::pick;
use crate::{Error, Result};

/// The sides of all polygons or polyhedra, and the pieces that they belong to.
pub(super) struct Sides {
    /// The piece of each side.
    pub(super) pieces: Buffer<Polygon>,
    pub(super) twins: Buffer<Corner>,
    pub(super) lengths: Buffer<f64>,
    /// Sides that no piece crosses.
    pub(super) fixed: Buffer<Bits<Corner>>,
    pub(super) ends: Ends,
}

/// The vertices of sides.
pub(super) enum Ends {
    /// Sides are edges of polygons.
    Edges {
        /// The vertex that each side starts at.
        vertices: Buffer<Vertex>,
        /// The sides that are not inside of pieces, by the vertices that they start at.
        by_vertex: Buffer<Corner>,
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
    let bits = bits_of(points.len());
    let order = order_by_keys(on, on.duplicate(highs.as_words())?, bits)?;
    let keys = pick(on, lows.as_words(), &order)?;
    let order: Buffer<Corner> = ordered(on, &order.cast(), keys, points.len())?;

    let mut twins = on.uninitialized(count)?;
    let mut found = on.filled(1, NONE)?;
    let n = count as u32;
    kernel::pair_sides_of_polygons::launch(on, n, &order, &lows, &highs, &mut twins, &mut found)?;
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
        kernel::fix_segments::launch(on, n, ends, &order, &lows, &highs, &mut fixed)?;
    }
    drop((order, lows, highs));
    let by_vertex = order_by_keys(on, on.duplicate(vertices.as_words())?, bits)?.cast();
    let mut sides = Sides {
        pieces,
        twins,
        lengths,
        fixed,
        ends: Ends::Edges {
            vertices: on.duplicate(vertices.as_words())?.cast(),
            by_vertex,
            none: Box::new(Shells::none(on)?),
        },
    };
    let outlines = sides.outlines(on, polygons)?.vertices;
    kernel::fix_pinched::launch(
        on,
        polygons as u32,
        outlines.rows(),
        offsets,
        &sides.twins,
        &sides.pieces,
        &mut sides.fixed,
    )?;
    Ok((sides, boxes))
}

impl Sides {
    /// The outlines of all pieces. Sides inside of pieces are left out from now on.
    pub(super) fn outlines(&mut self, on: &Device, count: usize) -> Result<Outlines> {
        let (vertices, by_vertex) = match &mut self.ends {
            Ends::Edges {
                vertices,
                by_vertex,
                ..
            } => (vertices, by_vertex),
            Ends::Faces(shells) => return shells.outlines(on, &self.twins, &self.pieces, count),
        };
        let mut bits: Buffer<Bits<Item>> = on.uninitialized(words(by_vertex.len()))?;
        let n = by_vertex.len() as u32;
        kernel::is_outline::launch(on, n, by_vertex, &self.twins, &self.pieces, &mut bits)?;
        *by_vertex = members(on, &bits, by_vertex)?;
        let owners = pick(on, self.pieces.as_words(), by_vertex)?;
        let sides = ordered(on, by_vertex, owners, count)?;
        let owners = pick(on, self.pieces.as_words(), &sides)?.cast();
        let vertices = pick(on, vertices.as_words(), &sides)?.cast();
        Ok(Outlines {
            vertices: Lists::new(on, &owners, vertices, count)?,
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
            Ends::Edges { none, .. } => none.buffers(&self.twins, &self.pieces),
            Ends::Faces(shells) => shells.buffers(&self.twins, &self.pieces),
        }
    }

    /// Puts the sides into the pieces of the next level.
    pub(super) fn join(&mut self, on: &Device, parents: &Buffer<Polygon>) -> Result<()> {
        let n = self.pieces.len() as u32;
        kernel::move_sides::launch(on, n, parents, &mut self.pieces)?;
        Ok(())
    }
}
