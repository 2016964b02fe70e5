//! The reasons why limits enclose no triangle.

use glam::DVec2;
use gpu::delaunay::constrained::NO_SEGMENT;
use gpu::ids::{HalfEdge, Vertex};

use super::Mesh;
use crate::delaunay::Error as Failure;
use crate::device::Device;
use crate::{Error, Result};

/// Open ends whose distances from segments are compared.
const MOST_ENDS: usize = 64;
/// A segment counts as beside an end if it is this many times nearer than another end.
const NEARER: f64 = 16.0;

/// A side of a segment's piece, by places.
struct Edge {
    ends: [usize; 2],
    points: [DVec2; 2],
}

/// The error of segments that enclose no triangle: none of them goes around an area, so some ends are open.
pub(super) fn nothing_enclosed(on: &Device, mesh: &Mesh) -> Result<Failure> {
    let edges = edges(on, mesh)?;
    let order: Vec<Vertex> = on.download(&mesh.ranked.order)?;
    let points: Vec<DVec2> = on.download(&mesh.ranked.sorted)?;
    let mut degrees = vec![0u32; points.len()];
    edges
        .iter()
        .flat_map(|edge| edge.ends)
        .for_each(|place| degrees[place] += 1);
    let mut open: Vec<usize> = (0..points.len())
        .filter(|&place| degrees[place] == 1)
        .collect();
    open.sort_unstable_by_key(|&place| order[place]);
    let rule = match gap(&edges, &points, &open) {
        None if edges.is_empty() => {
            "encloses no triangle: all of its segments join equal points".to_owned()
        }
        None => {
            "encloses no triangle: no segments go around an area; leave them out to triangulate the points".to_owned()
        }
        Some(gap) => {
            let name =
                |place: usize| format!("vertex {} at {}", order[place].index(), points[place]);
            let other = match gap.other {
                Other::End(place) => name(place),
                Other::Edge([a, b]) => format!("the segment from {} to {}", name(a), name(b)),
            };
            let others = match open.len() - gap.ends() {
                0 => String::new(),
                1 => "; 1 other end is open".to_owned(),
                count => format!("; {count} other ends are open"),
            };
            format!(
                "encloses no triangle: its segments leave a gap of {} between {} and {other}: close it by a segment{others}, or \
                 leave the segments out to triangulate the points",
                gap.width,
                name(gap.end),
            )
        }
    };
    Ok(Failure::Shared(Error::Invalid {
        element: "the outline".to_owned(),
        rule,
    }))
}

/// The edges of triangles on segments, each once.
fn edges(on: &Device, mesh: &Mesh) -> Result<Vec<Edge>> {
    let (corners, twins) = (on.download(&mesh.corners)?, on.download(&mesh.twins)?);
    let (lines, points) = (on.download(&mesh.lines)?, on.download(&mesh.ranked.sorted)?);
    let numbered = (0..).map(HalfEdge::new).zip(lines);
    let is_one = |(h, line): &(HalfEdge, u32)| {
        let twin: HalfEdge = twins[h.index() as usize];
        *line != NO_SEGMENT && (twin.is_none() || *h < twin)
    };
    let edges = numbered.filter(is_one).map(|(h, _)| {
        let ends = [h, h.next()].map(|h| corners[h.index() as usize].index() as usize);
        Edge {
            ends,
            points: ends.map(|place| points[place]),
        }
    });
    Ok(edges.collect())
}

enum Other {
    End(usize),
    Edge([usize; 2]),
}

/// The narrowest gap at an open end.
struct Gap {
    width: f64,
    end: usize,
    other: Other,
}

impl Gap {
    /// Number of open ends at it.
    fn ends(&self) -> usize {
        match self.other {
            Other::End(_) => 2,
            Other::Edge(_) => 1,
        }
    }
}

/// Finds the narrowest gap between open ends, or between one and the inside of an edge that is much nearer, at the
/// first open ends.
fn gap(edges: &[Edge], points: &[DVec2], open: &[usize]) -> Option<Gap> {
    let mut gap: Option<Gap> = None;
    let mut narrow = |width: f64, end, other| {
        if gap.as_ref().is_none_or(|gap| width < gap.width) {
            gap = Some(Gap { width, end, other });
        }
    };
    let first = &open[..open.len().min(MOST_ENDS)];
    for (i, &end) in first.iter().enumerate() {
        let own = edges.iter().find(|edge| edge.ends.contains(&end));
        let is_joined = |other: usize| own.is_some_and(|edge| edge.ends.contains(&other));
        for &other in open[i + 1..].iter().filter(|&&other| !is_joined(other)) {
            narrow(points[end].distance(points[other]), end, Other::End(other));
        }
    }
    for &end in first {
        for edge in edges.iter().filter(|edge| !edge.ends.contains(&end)) {
            if let Some(distance) = distance_inside(points[end], edge.points) {
                narrow(NEARER * distance, end, Other::Edge(edge.ends));
            }
        }
    }
    let gap = gap?;
    let width = match gap.other {
        Other::End(_) => gap.width,
        Other::Edge(_) => gap.width / NEARER,
    };
    Some(Gap { width, ..gap })
}

/// The distance of a point from an edge, if the nearest place is inside it.
fn distance_inside(p: DVec2, [a, b]: [DVec2; 2]) -> Option<f64> {
    let way = (b - a).try_normalize()?;
    let along = (p - a).dot(way);
    (0.0 < along && along < a.distance(b)).then(|| way.perp_dot(p - a).abs())
}
