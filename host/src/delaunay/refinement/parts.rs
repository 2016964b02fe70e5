//! The parts of segments.

use gpu::delaunay::refinement as kernel;
use gpu::ids::{Place, Vertex};
use trioxide_kernel::launch::Buffer;

use super::begin::{Before, Mesh};
use super::end::Names;
use crate::Result;
use crate::collective::{exclusive_scan, lengths};
use crate::delaunay::constrained::pieces::Pieces;
use crate::device::Device;
use crate::reorder::pick;

/// Where the parts of each segment start, and their vertices, two each.
pub(super) fn list(
    on: &Device,
    mesh: &Mesh,
    before: &Before,
    names: &Names,
    pieces: &Pieces,
) -> Result<(Buffer<u32>, Buffer<Vertex>)> {
    let sides = mesh.wholes.len();
    let mut counts = on.filled(sides, 0)?;
    let first = before.order.len();
    let added = (mesh.sorted.len() - first) as u32;
    kernel::count_on_wholes::launch(on, added, first as u32, &mesh.kinds, &mut counts)?;
    let mut firsts = on.filled(sides, Place::NONE)?;
    let mut after = on.filled(mesh.sorted.len(), Place::NONE)?;
    kernel::link_parts::launch(
        on,
        mesh.corners.len() as u32,
        &mesh.corners,
        &mesh.lines,
        &mesh.sorted,
        &mesh.wholes,
        &mut firsts,
        &mut after,
    )?;
    let n = pieces.edges.len();
    let mut wholes = on.uninitialized(n)?;
    let mut ends = lengths(on, n)?;
    kernel::count_parts::launch(
        on,
        n as u32,
        &pieces.edges,
        &before.twins,
        &before.new,
        &counts,
        &mut wholes,
        &mut ends,
    )?;
    let total = exclusive_scan(on, &mut ends)?;
    let total = on.read(&total, 0)?;
    let mut parts = on.uninitialized(2 * total as usize)?;
    kernel::write_parts::launch(
        on,
        n as u32,
        &pieces.vertices,
        &wholes,
        &ends,
        &mesh.wholes,
        &firsts,
        &after,
        &names.vertices,
        &mut parts,
    )?;
    Ok((pick(on, &ends, &pieces.starts)?, parts))
}
