//! The triangles within the limits, and their regions.

use glam::DVec2;
use gpu::delaunay::constrained as kernel;
use gpu::delaunay::constrained::{NO_REGION, ON_SEGMENT, OUTSIDE};
use gpu::ids::{Item, Place, Triangle, Vertex};
use trioxide_kernel::Bits;
use trioxide_kernel::launch::Buffer;
use trioxide_mesh::outline::no_triangle;

use super::sides::spokes;
use super::{Limits, Mesh};
use crate::collective::compact;
use crate::delaunay::order::order_loose;
use crate::device::{BitSet, Device};
use crate::{Error, Result};

/// Triangles that are kept.
pub(in super::super) struct Selected {
    pub kept: BitSet<Triangle>,
    pub list: Buffer<Triangle>,
    regions: Option<Regions>,
}

/// The regions of parts: triangles that no segment parts.
struct Regions {
    parents: Buffer<u32>,
    of_parts: Buffer<u32>,
}

/// Selects the triangles.
pub(super) fn select(on: &Device, mesh: &Mesh, limits: &Limits<'_>) -> Result<Selected> {
    let has_sides = !limits.segments.is_empty() && !limits.convex;
    let t = mesh.triangles();
    if !has_sides && limits.holes.is_empty() && limits.regions.is_empty() {
        let mut numbers: Buffer<Vertex> = on.uninitialized(t)?;
        gpu::forms::count_up::launch(on, t as u32, &mut numbers)?;
        return Ok(Selected {
            kept: on.filled(t.div_ceil(32), Bits::new(u32::MAX))?,
            list: numbers.cast(),
            regions: None,
        });
    }
    let sides = mesh.corners.len() as u32;
    let mut parents: Buffer<Vertex> = on.uninitialized(t)?;
    gpu::forms::count_up::launch(on, t as u32, &mut parents)?;
    let mut parents = parents.cast();
    kernel::join_neighbours::launch(on, sides, &mesh.twins, &mesh.lines, &mut parents)?;
    let mut gone = on.filled(t, 0)?;
    if has_sides {
        kernel::mark_outside::launch(on, sides, &mesh.twins, &mesh.lines, &mut parents, &mut gone)?;
    }
    let of_points = match limits.holes.is_empty() && limits.regions.is_empty() {
        true => on.uninitialized(0)?,
        false => spokes(on, mesh)?,
    };
    let holes = locate(on, mesh, &of_points, limits.holes, "hole")?;
    kernel::mark_holes::launch(on, holes.len() as u32, &holes, &mut parents, &mut gone)?;
    let mut kept = on.uninitialized(t.div_ceil(32))?;
    kernel::select_triangles::launch(on, t as u32, &mut parents, &gone, &mut kept)?;
    let list = compact(on, &kept)?;
    if list.is_empty() {
        return Err(nothing_enclosed(limits));
    }
    let regions = match limits.regions.is_empty() {
        true => None,
        false => {
            let located = locate(on, mesh, &of_points, limits.regions, "region")?;
            let mut of_parts = on.filled(t, NO_REGION)?;
            let n = located.len();
            let mut bits: BitSet<Item> = on.uninitialized(n.div_ceil(32))?;
            kernel::claim_regions::launch(
                on,
                n as u32,
                &located,
                &mut parents,
                &gone,
                &mut of_parts,
                &mut bits,
            )?;
            let lost = compact(on, &bits)?;
            if !lost.is_empty() {
                let i = on.read(&lost, 0)?.index() as usize;
                let rule = "lies in a hole or outside: move it inside";
                return Err(misplaced("region", i, limits.regions[i], rule));
            }
            Some(Regions { parents, of_parts })
        }
    };
    Ok(Selected {
        kept,
        list,
        regions,
    })
}

/// The triangles that contain points.
fn locate(
    on: &Device,
    mesh: &Mesh,
    spokes: &Buffer<u32>,
    points: &[DVec2],
    element: &str,
) -> Result<Buffer<u32>> {
    let mut found = on.uninitialized(points.len())?;
    let n = points.len() as u32;
    let uploaded = on.upload(points)?;
    let frame = mesh.ranked.frame;
    kernel::locate_points::launch(
        on,
        n,
        &uploaded,
        frame,
        mesh.parameter(),
        spokes,
        &mesh.lines,
        &mut found,
    )?;
    let places = on.download(&found)?;
    let bad = places.iter().position(|&place| place >= ON_SEGMENT);
    match bad {
        None => Ok(found),
        Some(i) => {
            let rule = match places[i] {
                OUTSIDE => "lies outside of the points: move it inside",
                _ => "lies on a segment: move it inside",
            };
            Err(misplaced(element, i, points[i], rule))
        }
    }
}

fn misplaced(element: &str, i: usize, point: DVec2, rule: &str) -> Error {
    Error::Invalid {
        element: format!("{element} {i}"),
        rule: format!("at {point} {rule}"),
    }
}

fn nothing_enclosed(limits: &Limits<'_>) -> Error {
    if limits.segments.is_empty() {
        return no_triangle();
    }
    Error::Invalid {
        element: "the outline".to_owned(),
        rule: "encloses no triangle: its segments must go around an area, or leave them out to triangulate the points"
            .to_owned(),
    }
}

/// Selected triangles in their order.
pub(in super::super) struct Ordered {
    /// Corners, three each.
    pub corners: Buffer<Place>,
    /// Triangle i is that of the selected list at `first`, at `second[i]`.
    pub first: Buffer<u32>,
    /// As said of `first`.
    pub second: Buffer<u32>,
    /// The region of each, if there are regions.
    pub regions: Option<Buffer<u32>>,
}

/// The selected triangles in their order, with their regions.
pub(in super::super) fn order(
    on: &Device,
    mesh: &Mesh,
    selected: &mut Selected,
) -> Result<Ordered> {
    let list = &selected.list;
    let n = list.len();
    let mut taken = on.uninitialized(3 * n)?;
    kernel::take_triangles::launch(on, n as u32, list, &mesh.corners, &mut taken)?;
    let points = mesh.ranked.order.len();
    let mut counts = on.filled(points, 0)?;
    let (corners, [first, second]) = order_loose(on, points, &taken, &mut counts)?;
    let regions = match &mut selected.regions {
        None => None,
        Some(Regions { parents, of_parts }) => {
            let mut named = on.uninitialized(n)?;
            kernel::name_regions::launch(
                on, n as u32, &first, &second, list, parents, of_parts, &mut named,
            )?;
            Some(named)
        }
    };
    Ok(Ordered {
        corners,
        first,
        second,
        regions,
    })
}
