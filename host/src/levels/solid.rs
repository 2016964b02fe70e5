//! The sides of polyhedra.

use glam::DVec3;
use gpu::ids::{Corner, Edge, FaceCorner, Item, Vertex};
use gpu::levels::{self as kernel, Extent};
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::rows::RowsBuffers;
use trioxide_kernel::{Bits, words};

use super::shells::Shells;
use super::sides::{Ends, Sides};
use super::{bits_of, ordered};
use crate::Result;
use crate::collective::{Tiled, order_by_keys};
use crate::device::Device;
use crate::polyhedra_mesh::PolyhedralMesh;
use crate::reorder::pick;

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
    shells.drop_inner(on, (&twins, &pieces))?;
    let edges = shells.edges.as_words();
    let listed = shells.list(on, &pieces, (&shells.by_edge, edges), polyhedra)?;
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
