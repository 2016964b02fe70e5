//! The sides of polyhedra.

use glam::DVec3;
use gpu::ids::{Corner, FaceCorner, Vertex};
use gpu::levels::{self as kernel, Extent};
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::rows::RowsBuffers;
use trioxide_kernel::{Bits, NONE, words};

use super::lists::{Outlines, Places};
use super::shells::Shells;
use super::sides::{Ends, Sides, list_keys};
use crate::Result;
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
        // A face may have several tags.
        let mut tagged: Vec<u32> = mesh.tagged.iter().map(|tagged| tagged.face).collect();
        tagged.sort_unstable();
        tagged.dedup();
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
    let mut names = on.uninitialized(corners)?;
    let faces = RowsBuffers {
        offsets: &mesh.face_offsets,
        items: &mesh.face_vertices,
    };
    let (n, starts) = (count as u32, &mesh.starts);
    kernel::write_polyhedra::launch(
        on,
        polyhedra as u32,
        offsets,
        codes,
        faces,
        points,
        &mut pieces,
        &mut boxes,
    )?;
    kernel::write_sides_of_polyhedra::launch(
        on,
        n,
        codes,
        faces,
        points,
        starts,
        &mut found,
        &mut areas,
        &mut sides,
        &mut origins,
        &mut names,
    )?;
    let mut twins = on.uninitialized(count)?;
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

    let owners = pick(on, pieces.as_words(), &sides)?.cast();
    let places = Places::new(on, pick(on, &mesh.starts, offsets)?, owners)?;
    let ordered = places.sorted(on, &names)?;
    let (beyond, corners) = link(on, &places, &names, &ordered)?;
    let vertices = places.sorted(on, origins.as_words())?;
    let outlines = Outlines {
        vertices: places.once(on, &vertices)?.cast(),
        edges: places.once(on, &ordered)?,
    };
    drop((ordered, vertices));
    let shells = Shells {
        twins,
        starts: on.duplicate(&mesh.starts)?,
        sides,
        origins,
        beyond,
        names,
        places,
        corners,
        pieces,
    };
    kernel::fix_unless_balls::launch(
        on,
        polyhedra as u32,
        offsets,
        &shells.starts,
        outlines.vertices.rows(),
        outlines.edges.rows(),
        &shells.twins,
        &shells.pieces,
        &mut fixed,
    )?;
    let sides = Sides {
        keys: list_keys(on, &shells.twins, &shells.pieces)?,
        places: Places::new(
            on,
            on.duplicate(offsets)?,
            on.duplicate(shells.pieces.as_words())?.cast(),
        )?,
        lengths: areas,
        fixed,
        ends: Ends::Faces(Box::new(shells)),
        found: Some(outlines),
    };
    Ok((sides, boxes))
}

/// The corner of the same polyhedron beyond the edge of each corner, and the list of all corners. `ordered` are
/// the names of the edges at corners, sorted for each polyhedron.
fn link(
    on: &Device,
    places: &Places,
    names: &Buffer<u64>,
    ordered: &Buffer<u64>,
) -> Result<(Buffer<FaceCorner>, Buffer<FaceCorner>)> {
    let (n, corners) = (names.len() as u32, names.len());
    let mut at_edges = on.uninitialized(corners)?;
    let (mut lows, mut highs) = (on.filled(corners, NONE)?, on.filled(corners, 0)?);
    kernel::meet_at_edges::launch(
        on,
        n,
        names,
        &places.owners,
        &places.offsets,
        ordered,
        &mut at_edges,
        &mut lows,
        &mut highs,
    )?;
    let (mut beyond, mut listed) = (on.uninitialized(corners)?, on.uninitialized(corners)?);
    kernel::link_corners_of_faces::launch(
        on,
        n,
        &at_edges,
        &lows,
        &highs,
        &mut beyond,
        &mut listed,
    )?;
    Ok((beyond, listed))
}
