//! The triangles within the limits, and their regions.

use glam::DVec2;
use gpu::delaunay::constrained as kernel;
use gpu::delaunay::constrained::{NO_REGION, ON_SEGMENT, OUTSIDE};
use gpu::ids::{Item, Place, Triangle, Vertex};
use trioxide_kernel::Bits;
use trioxide_kernel::launch::Buffer;

use super::sides::spokes;
use super::{Limits, Mesh, enclosed, inner};
use crate::collective::compact;
use crate::delaunay::Error as Failure;
use crate::delaunay::order::order_loose;
use crate::device::{BitSet, Device};
use crate::reorder::pick;
use crate::{Error, Result};

/// Triangles that are kept.
pub(in super::super) struct Selected {
    pub kept: BitSet<Triangle>,
    pub list: Buffer<Triangle>,
    regions: Option<Regions>,
    /// Regions whose parts others have, and these.
    pub shared: Vec<[u32; 2]>,
}

/// The regions of parts: triangles that no segment parts.
struct Regions {
    parents: Buffer<u32>,
    of_parts: Buffer<u32>,
}

/// Selects the triangles; `None` if there are none.
pub(super) fn select(on: &Device, mesh: &Mesh, limits: &Limits<'_>) -> Result<Option<Selected>> {
    let has_sides = !limits.segments.is_empty() && !limits.convex;
    let t = mesh.triangles();
    let has_holes = limits.inner_holes || !limits.holes.is_empty();
    if !has_sides && !has_holes && limits.regions.is_empty() {
        let mut numbers: Buffer<Vertex> = on.uninitialized(t)?;
        gpu::forms::count_up::launch(on, t as u32, &mut numbers)?;
        return Ok(Some(Selected {
            kept: on.filled(t.div_ceil(32), Bits::new(u32::MAX))?,
            list: numbers.cast(),
            regions: None,
            shared: Vec::new(),
        }));
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
    if limits.inner_holes {
        let holes = on.upload(&inner::holes(on, mesh)?)?;
        kernel::mark_holes::launch(on, holes.len() as u32, &holes, &mut parents, &mut gone)?;
    }
    let mut kept = on.uninitialized(t.div_ceil(32))?;
    kernel::select_triangles::launch(on, t as u32, &mut parents, &gone, &mut kept)?;
    let list = compact(on, &kept)?;
    if list.is_empty() {
        return Ok(None);
    }
    let mut shared = Vec::new();
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
            shared = share(on, located, &parents, &of_parts)?;
            Some(Regions { parents, of_parts })
        }
    };
    Ok(Some(Selected {
        kept,
        list,
        regions,
        shared,
    }))
}

/// Regions whose parts others have, and these: `located` has a triangle of each region.
fn share(
    on: &Device,
    located: Buffer<u32>,
    parents: &Buffer<u32>,
    of_parts: &Buffer<u32>,
) -> Result<Vec<[u32; 2]>> {
    let mut roots = on.download(&located)?;
    let mut at = located;
    loop {
        at = pick(on, parents, &at)?;
        let above = on.download(&at)?;
        if above == roots {
            break;
        }
        roots = above;
    }
    let firsts = on.download(&pick(on, of_parts, &at)?)?;
    let pairs = (0..).zip(firsts).filter(|(i, first)| i != first);
    Ok(pairs.map(|(i, first)| [i, first]).collect())
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

/// The error of limits that leave no triangle.
pub(super) fn why_none(on: &Device, mesh: &Mesh, limits: &Limits<'_>) -> Result<Failure> {
    let without = Limits {
        holes: &[],
        regions: &[],
        inner_holes: false,
        ..*limits
    };
    let holes = limits.holes.len();
    Ok(match limits.holes.first() {
        Some(&point) if select(on, mesh, &without)?.is_some() => Failure::Hollow {
            hole: 0,
            point,
            holes,
        },
        _ => enclosed::nothing_enclosed(on, mesh)?,
    })
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
