//! The sides of the faces of polyhedra.

use glam::DVec3;
use gpu::ids::{Corner, Edge, FaceCorner, Item, Polygon, Vertex};
use gpu::levels::{self as kernel, Extent, ShellsBuffers};
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::rows::RowsBuffers;
use trioxide_kernel::{Bits, Word, words};

use super::sides::{Ends, Lists, Outlines, Sides};
use super::{bits_of, members, ordered};
use crate::Result;
use crate::collective::{Tiled, compact, order_by_keys};
use crate::device::Device;
use crate::polyhedra_mesh::PolyhedralMesh;
use crate::reorder::pick;

/// The corners of all sides.
pub(super) struct Shells {
    starts: Buffer<u32>,
    sides: Buffer<Corner>,
    origins: Buffer<Vertex>,
    beyond: Buffer<FaceCorner>,
    edges: Buffer<Edge>,
    /// All corners, by the vertices and by the edges that start there.
    by_vertex: Buffer<FaceCorner>,
    by_edge: Buffer<FaceCorner>,
}

/// Items by owner and element.
struct Listed {
    owners: Buffer<Polygon>,
    corners: Buffer<FaceCorner>,
    elements: Buffer<u32>,
}

/// A mesh of polyhedra on a device.
pub struct DevicePolyhedralMesh {
    offsets: Buffer<u32>,
    /// Twice the face of each side, and 1 more if it is seen from inside.
    codes: Buffer<u32>,
    /// First corner of each side, and the end of the last.
    starts: Buffer<u32>,
    corners: usize,
    face_offsets: Buffer<u32>,
    face_vertices: Buffer<Vertex>,
    points: Buffer<DVec3>,
    regions: Option<Buffer<i32>>,
    /// Faces with a tag.
    tagged: Buffer<u32>,
}

impl DevicePolyhedralMesh {
    /// Copies a mesh to a device.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) for more corners of faces than 32-bit ids name; errors of the
    /// device.
    pub fn upload(on: &Device, mesh: &PolyhedralMesh) -> Result<Self> {
        let mut corners = 0;
        let mut starts = vec![0];
        starts.extend(mesh.sides.iter().map(|&side| {
            corners += mesh.faces.get(side as usize / 2).len();
            corners as u32
        }));
        super::check_corners(corners)?;
        let tagged: Vec<u32> = mesh.tagged.iter().map(|tagged| tagged.face).collect();
        let regions = mesh.regions.as_deref();
        Ok(Self {
            offsets: match mesh.is_empty() {
                true => on.upload(&[0])?,
                false => on.upload(&mesh.offsets)?,
            },
            codes: on.upload(&mesh.sides)?,
            starts: on.upload(&starts)?,
            corners,
            face_offsets: on.upload(&mesh.faces.offsets)?,
            face_vertices: on.upload(&mesh.faces.vertices)?.cast(),
            points: on.upload(&mesh.points)?,
            regions: regions.map(|regions| on.upload(regions)).transpose()?,
            tagged: on.upload(&tagged)?,
        })
    }

    /// Number of polyhedra.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there is no polyhedron.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The sides of a mesh of polyhedra, and the boxes of these.
pub(super) fn find(on: &Device, mesh: &DevicePolyhedralMesh) -> Result<(Sides, Buffer<Extent>)> {
    let DevicePolyhedralMesh {
        offsets,
        codes,
        corners,
        points,
        ..
    } = mesh;
    let (polyhedra, count, corners) = (mesh.len(), codes.len(), *corners);
    let mut boxes = on.uninitialized(polyhedra)?;
    let mut pieces = on.uninitialized(count)?;
    let mut areas = on.uninitialized(count)?;
    let mut found = on.filled(2 * (mesh.face_offsets.len() - 1), Corner::NONE)?;
    let (mut sides, mut origins) = (on.uninitialized(corners)?, on.uninitialized(corners)?);
    let (mut lows, mut highs) = (on.uninitialized(corners)?, on.uninitialized(corners)?);
    kernel::write_sides_of_polyhedra::launch(
        on,
        polyhedra as u32,
        offsets,
        codes,
        RowsBuffers {
            offsets: &mesh.face_offsets,
            items: &mesh.face_vertices,
        },
        points,
        &mesh.starts,
        &mut found,
        &mut pieces,
        &mut areas,
        &mut sides,
        &mut origins,
        &mut lows,
        &mut highs,
        &mut boxes,
    )?;
    let mut twins = on.uninitialized(count)?;
    let n = count as u32;
    kernel::pair_sides_of_polyhedra::launch(on, n, codes, &found, &mut twins)?;

    let mut fixed = on.filled(words(count), Bits::EMPTY)?;
    if let Some(regions) = &mesh.regions {
        kernel::fix_region_sides::launch(on, n, &twins, &pieces, regions, &mut fixed)?;
    }
    if !mesh.tagged.is_empty() {
        let n = mesh.tagged.len() as u32;
        kernel::fix_faces::launch(on, n, &mesh.tagged, &found, &mut fixed)?;
    }
    drop(found);

    let (by_edge, edges) = number_edges(on, &lows, &highs, points.len())?;
    drop((lows, highs));
    let bits = bits_of(points.len());
    let by_vertex = order_by_keys(on, on.duplicate(origins.as_words())?, bits)?.cast();
    let mut shells = Shells {
        starts: on.duplicate(&mesh.starts)?,
        sides,
        origins,
        beyond: on.filled(corners, FaceCorner::NONE)?,
        edges,
        by_vertex,
        by_edge,
    };
    let listed = shells.list(
        on,
        &twins,
        &pieces,
        (&shells.by_edge, shells.edges.as_words()),
        polyhedra,
    )?;
    kernel::link_corners_of_faces::launch(
        on,
        listed.corners.len() as u32,
        &listed.corners,
        &listed.owners,
        &listed.elements,
        &mut shells.beyond,
    )?;
    drop(listed);
    let outlines = shells.outlines(on, &twins, &pieces, polyhedra)?;
    kernel::fix_unless_balls::launch(
        on,
        polyhedra as u32,
        offsets,
        &shells.starts,
        outlines.vertices.rows(),
        outlines.edges.rows(),
        &twins,
        &mut fixed,
    )?;
    let sides = Sides {
        pieces,
        twins,
        lengths: areas,
        fixed,
        ends: Ends::Faces(Box::new(shells)),
    };
    Ok((sides, boxes))
}

/// The corners by their edges, and the edge of each.
fn number_edges(
    on: &Device,
    lows: &Buffer<Vertex>,
    highs: &Buffer<Vertex>,
    vertices: usize,
) -> Result<(Buffer<FaceCorner>, Buffer<Edge>)> {
    let order = order_by_keys(on, on.duplicate(highs.as_words())?, bits_of(vertices))?;
    let keys = pick(on, lows.as_words(), &order)?;
    let order: Buffer<FaceCorner> = ordered(on, &order.cast(), keys, vertices)?;
    let n = order.len() as u32;
    let mut heads: Buffer<Bits<Item>> = on.uninitialized(words(order.len()))?;
    kernel::starts_edge_of_faces::launch(on, n, &order, lows, highs, &mut heads)?;
    let ranks = Tiled::new(on, &heads)?.ranks(on)?;
    let mut edges = on.uninitialized(order.len())?;
    kernel::number_edges_of_faces::launch(on, n, &order, &heads, &ranks, &mut edges)?;
    Ok((order, edges))
}

impl Shells {
    /// No sides.
    pub(super) fn none(on: &Device) -> Result<Self> {
        Ok(Self {
            starts: on.uninitialized(0)?,
            sides: on.uninitialized(0)?,
            origins: on.uninitialized(0)?,
            beyond: on.uninitialized(0)?,
            edges: on.uninitialized(0)?,
            by_vertex: on.uninitialized(0)?,
            by_edge: on.uninitialized(0)?,
        })
    }

    /// The argument for kernels.
    pub(super) fn buffers<'a>(
        &'a self,
        twins: &'a Buffer<Corner>,
        pieces: &'a Buffer<Polygon>,
    ) -> ShellsBuffers<'a> {
        ShellsBuffers {
            pieces,
            twins,
            starts: &self.starts,
            sides: &self.sides,
            origins: &self.origins,
            beyond: &self.beyond,
        }
    }

    /// The corners on the surfaces of pieces, in the order of these; within a piece as in `order`.
    fn list(
        &self,
        on: &Device,
        twins: &Buffer<Corner>,
        pieces: &Buffer<Polygon>,
        (order, elements): (&Buffer<FaceCorner>, &Buffer<u32>),
        count: usize,
    ) -> Result<Listed> {
        let mut bits: Buffer<Bits<Item>> = on.uninitialized(words(order.len()))?;
        let n = order.len() as u32;
        kernel::is_corner_of_surface::launch(on, n, order, &self.sides, twins, pieces, &mut bits)?;
        let corners = members(on, &bits, order)?;
        let owners = |corners: &Buffer<FaceCorner>| {
            let sides = pick(on, self.sides.as_words(), corners)?;
            pick(on, pieces.as_words(), &sides)
        };
        let corners = ordered(on, &corners, owners(&corners)?, count)?;
        Ok(Listed {
            owners: owners(&corners)?.cast(),
            elements: pick(on, elements, &corners)?,
            corners,
        })
    }

    /// The vertices and edges of the surfaces of all pieces.
    pub(super) fn outlines(
        &self,
        on: &Device,
        twins: &Buffer<Corner>,
        pieces: &Buffer<Polygon>,
        count: usize,
    ) -> Result<Outlines> {
        let vertices = (&self.by_vertex, self.origins.as_words());
        let edges = (&self.by_edge, self.edges.as_words());
        Ok(Outlines {
            vertices: self
                .list(on, twins, pieces, vertices, count)?
                .once(on, count)?,
            edges: self
                .list(on, twins, pieces, edges, count)?
                .once(on, count)?,
        })
    }
}

impl Listed {
    /// Each element once for each owner.
    fn once<T: Word + Send + Sync>(self, on: &Device, count: usize) -> Result<Lists<T>> {
        let (owners, elements) = (&self.owners, &self.elements);
        let mut heads: Buffer<Bits<Item>> = on.uninitialized(words(owners.len()))?;
        let n = owners.len() as u32;
        kernel::is_first_of_element::launch(on, n, owners, elements, &mut heads)?;
        let firsts = compact(on, &heads)?;
        let owners = pick(on, owners.as_words(), &firsts)?.cast();
        let elements = pick(on, elements, &firsts)?.cast();
        Lists::new(on, &owners, elements, count)
    }
}
