//! Twins and border of a triangulation, built on a device.
//!
//! The host waits three times: for the sample that chooses the table's layout, beside the check of the points; for the
//! triangles and edges that break rules; and for the count of the boundary.

use gpu::half_edges::{self as kernel, rule};
use gpu::ids::{HalfEdge, Vertex};
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::{NONE, words};

use super::error::{Error, Result, too_large, too_small};
use super::{AnyPoint, MOST_HALF_EDGES};
use crate::collective::{Tiled, compact, is_scattered};
use crate::device::{BitSet, Device};

/// The border half-edges of a triangulation.
pub(super) struct Border {
    pub list: Buffer<HalfEdge>,
    pub next: Buffer<HalfEdge>,
    pub prev: Buffer<HalfEdge>,
}

/// Checks a mesh, and finds its twins and its border.
pub(super) fn twins_and_border<P: AnyPoint>(
    on: &Device,
    points: &Buffer<P>,
    origins: &Buffer<Vertex>,
) -> Result<(Buffer<HalfEdge>, Border)> {
    let (vertices, half_edges) = (points.len(), origins.len());
    let mut has_room_for_all = false;
    loop {
        let (scattered, mut found) = on.stage("check the mesh", || {
            is_scattered(on, origins.as_words(), 3, vertices, || {
                let mut found = on.filled(rule::COUNT, NONE)?;
                kernel::check_points::launch(on, vertices as u32, points, &mut found)?;
                Ok(found)
            })
        })?;
        // More edges than a planar mesh can have: triangles overlap without sharing edges.
        let all = slots_for(half_edges, scattered);
        let slots = match has_room_for_all {
            true => all,
            false => table_slots(vertices, half_edges, scattered),
        };
        let matched = on.try_stage("match twins", || {
            let twins = match_twins(on, points, origins, slots, scattered, &mut found)?;
            let is_crowded = refuse_bad(on, points, origins, &mut found, slots < all)?;
            Ok::<_, Error>((!is_crowded).then_some(twins))
        })?;
        let Some(mut twins) = matched else {
            has_room_for_all = true;
            continue;
        };
        let border = on.try_stage("link the border", || {
            link_border(on, &mut twins, &mut found)
        })?;
        return Ok((twins, border));
    }
}

/// The twins of all half-edges, by a table of `slots` slots.
fn match_twins<P: AnyPoint>(
    on: &Device,
    points: &Buffer<P>,
    origins: &Buffer<Vertex>,
    slots: usize,
    scattered: bool,
    found: &mut Buffer<u32>,
) -> crate::Result<Buffer<HalfEdge>> {
    let mut table = on.filled(slots, HalfEdge::NONE)?;
    let mut twins = on.filled(origins.len(), HalfEdge::NONE)?;
    let launch = if scattered {
        kernel::match_scattered_twins::launch
    } else {
        kernel::match_twins::launch
    };
    let scale = ((slots as u64) << 32) / points.len().max(1) as u64;
    let n = origins.len() as u32 / 3;
    // SAFETY: the kernel compares a vertex id with the number of points before it uses it; the scale puts the slots of
    // every vertex below `slots`; half-edges that wait in them bound triangles.
    unsafe { launch(on, n, origins, points, &mut table, &mut twins, found, scale) }?;
    Ok(twins)
}

/// Refuses a mesh in which an element breaks a rule. Returns whether the table had no room for all edges, where it
/// `may_grow`.
///
/// It also waits for the sake of memory: at a wait the driver joins the memory of the table, which is free by now, to
/// other free memory. Without the wait large buffers of later runs take 0.4 ms each, as their memory is put together
/// from parts.
fn refuse_bad<P: AnyPoint>(
    on: &Device,
    points: &Buffer<P>,
    origins: &Buffer<Vertex>,
    found: &mut Buffer<u32>,
    may_grow: bool,
) -> Result<bool> {
    let known = exactly(on, points, origins, found)?;
    refuse_elements::<P>(&known)?;
    if may_grow && known[rule::CROWDED as usize] != NONE {
        return Ok(true);
    }
    refuse_edges(&known)?;
    Ok(false)
}

/// Numbers and links the border.
fn link_border(
    on: &Device,
    twins: &mut Buffer<HalfEdge>,
    found: &mut Buffer<u32>,
) -> Result<Border> {
    let half_edges = twins.len();
    let mut boundary: BitSet<HalfEdge> = on.uninitialized(words(half_edges))?;
    let n = half_edges as u32 / 3;
    // SAFETY: twins are half-edges or `NONE`.
    unsafe { kernel::mark_boundary::launch(on, n, twins, found, &mut boundary) }?;
    let tiled = Tiled::new(on, &boundary)?;
    let (known, boundary) = on.read_beside(found, || tiled.count(on))?;
    refuse_edges(&known)?;
    link_listed(on, twins, boundary.list(on)?)
}

/// Numbers and links the border of twins that are known to be right; `boundary` has the half-edges without one.
pub(super) fn link_known_border(
    on: &Device,
    twins: &mut Buffer<HalfEdge>,
    boundary: &BitSet<HalfEdge>,
) -> Result<Border> {
    let list = compact(on, boundary)?;
    link_listed(on, twins, list)
}

fn link_listed(
    on: &Device,
    twins: &mut Buffer<HalfEdge>,
    list: Buffer<HalfEdge>,
) -> Result<Border> {
    let (n, b) = (twins.len() as u32, list.len());
    check_border(twins.len(), b)?;
    let (mut next, mut prev) = (on.uninitialized(b)?, on.uninitialized(b)?);
    kernel::number_border::launch(on, b as u32, &list, twins, n)?;
    kernel::link_border::launch(on, b as u32, &list, twins, &mut next, &mut prev, n)?;
    Ok(Border { list, next, prev })
}

/// Checks the points of a mesh, and its triangles over them, but no edges.
pub(crate) fn check_elements<P: AnyPoint>(
    on: &Device,
    points: &Buffer<P>,
    origins: &Buffer<Vertex>,
) -> Result<()> {
    let mut found = on.filled(rule::COUNT, NONE)?;
    kernel::check_points::launch(on, points.len() as u32, points, &mut found)?;
    kernel::check_triangles::launch(on, origins.len() as u32 / 3, origins, points, &mut found)?;
    refuse_elements::<P>(&exactly(on, points, origins, &mut found)?)
}

/// The elements that break rules, after exact arithmetic where rounded arithmetic was not sure.
fn exactly<P: AnyPoint>(
    on: &Device,
    points: &Buffer<P>,
    origins: &Buffer<Vertex>,
    found: &mut Buffer<u32>,
) -> crate::Result<Vec<u32>> {
    let known = on.download(found)?;
    if known[rule::UNSURE as usize] == NONE {
        return Ok(known);
    }
    let n = origins.len() as u32 / 3;
    kernel::check_triangles_exactly::launch(on, n, origins, points, found)?;
    on.download(found)
}

/// Refuses a boundary for whose half-edges no ids remain after the ids of the triangles' half-edges.
pub(super) fn check_border(half_edges: usize, border: usize) -> Result<()> {
    match half_edges + border {
        half_edges if half_edges > MOST_HALF_EDGES => Err(Error::TooManyHalfEdges { half_edges }),
        _ => Ok(()),
    }
}

/// Slots of the table in which the twins of a planar mesh meet. Such a mesh has fewer than three edges a vertex, and at
/// most one a half-edge.
pub(super) fn table_slots(vertices: usize, half_edges: usize, scattered: bool) -> usize {
    slots_for(half_edges.min(3 * vertices), scattered)
}

/// Slots for a number of edges, as far as 32 bits number them: half as many again, or twice as many where ids are not
/// local, so that fewer attempts are in vain, each of which reads memory out of order.
fn slots_for(edges: usize, scattered: bool) -> usize {
    let more = if scattered { edges } else { edges / 2 };
    (edges + more + 64).min(u32::MAX as usize)
}

/// The element that breaks `rule`, if any.
fn element(known: &[u32], rule: u32) -> Option<u32> {
    Some(known[rule as usize]).filter(|&element| element != NONE)
}

/// The error of a point or a triangle, if there is one.
fn refuse_elements<P: AnyPoint>(known: &[u32]) -> Result<()> {
    let element = |rule| element(known, rule);
    if let Some(vertex) = element(rule::FINITE) {
        return Err(Error::NotFinite { vertex });
    }
    if let Some(triangle) = element(rule::RANGE) {
        return Err(Error::OutOfRange { triangle });
    }
    if let Some(vertex) = element(rule::LARGE) {
        return Err(too_large::<P>(vertex));
    }
    if let Some(triangle) = element(rule::SMALL) {
        return Err(too_small::<P>(triangle));
    }
    match element(rule::ORIENTATION) {
        Some(triangle) => Err(Error::Orientation { triangle }),
        None => Ok(()),
    }
}

/// The error of an edge, if there is one.
fn refuse_edges(known: &[u32]) -> Result<()> {
    let edge = element(known, rule::MANIFOLD).or(element(known, rule::CROWDED));
    match edge.map(HalfEdge::new) {
        Some(h) => Err(Error::NotManifold {
            triangle: h.triangle().index(),
            edge: h.corner(),
        }),
        None => Ok(()),
    }
}
