//! Convex pieces of polygons. The definition and its proof are in `gpu::polylla::cut_convex`.

use gpu::ids::HalfEdge;
use gpu::polylla::kernels as kernel;
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::{Bits, words};

use super::{DevicePolygons, Error, Links, Result};
use super::{find_links, labelled, list_polygons, mark_polygons};
use crate::collective::compact;
use crate::device::{BitSet, Device};
use crate::half_edges::{DeviceTriangulation, Point};

/// Divides polygons of the `mesh` that they were made from into convex pieces, with corners of at most 180 degrees: at
/// most four times the fewest, and no cut is needless. No vertex is added.
///
/// # Errors
/// [`Error::OtherMesh`]; errors of the device.
pub fn convex_pieces<P: Point>(
    on: &Device,
    mesh: &DeviceTriangulation<P>,
    polygons: DevicePolygons,
) -> Result<DevicePolygons> {
    if polygons.mesh != mesh.id() {
        return Err(Error::OtherMesh {
            arrays: "the polygons",
        });
    }
    let DevicePolygons {
        mut frontier,
        half_edges,
        prev,
        lists,
        mut counts,
        ..
    } = polygons;
    let with_prev = !prev.is_empty();
    drop(prev);
    let cuts = on.stage("find convex pieces", || {
        let cuts = find_cuts(on, mesh, &half_edges, &frontier)?;
        compact(on, &cuts)
    })?;
    kernel::mark_cuts::launch(on, cuts.len() as u32, &cuts, &mut frontier)?;
    // Convex pieces have no barrier tips.
    let (links, _) = find_links(on, mesh, &frontier, with_prev)?;
    let half_edges = on.stage("find pieces", || {
        let mut found = on.filled(frontier.len(), Bits::EMPTY)?;
        for seeds in [&half_edges, &cuts] {
            mark_polygons(on, mesh, seeds, &frontier, &links.next, &mut found)?;
        }
        compact(on, &found)
    })?;
    let lists = match lists {
        Some(_) => Some(list_polygons(on, mesh, &links.next, &half_edges)?.0),
        None => None,
    };
    counts.polygons = half_edges.len() as u32;
    let Links { next, prev } = links;
    Ok(DevicePolygons {
        mesh: mesh.id(),
        next,
        prev,
        frontier,
        half_edges,
        lists,
        counts,
    })
}

/// The half-edges of the cuts.
fn find_cuts<P: Point>(
    on: &Device,
    mesh: &DeviceTriangulation<P>,
    half_edges: &Buffer<HalfEdge>,
    frontier: &BitSet<HalfEdge>,
) -> crate::Result<BitSet<HalfEdge>> {
    let n = mesh.half_edges();
    let words = words(n as usize);
    let mut needless: BitSet<HalfEdge> = on.filled(words, Bits::EMPTY)?;
    let corners = kernel::CornersBuffers {
        origins: mesh.origins(),
        points: mesh.points(),
    };
    kernel::find_needless_edges::launch::<P>(
        on,
        half_edges.len() as u32,
        half_edges,
        labelled(mesh, frontier),
        corners,
        &mut needless,
    )?;
    let mut cuts: BitSet<HalfEdge> = on.uninitialized(words)?;
    kernel::find_cuts::launch(on, n, frontier, &needless, &mut cuts)?;
    Ok(cuts)
}
