//! Copies the triangles inside of an outline from spade's triangulation to half-edges, and from there to a mesh.

use glam::DVec2;
use spade::handles::FixedVertexHandle;
use spade::{Point2, Triangulation as _};

use super::half_edges::{HalfEdges, NONE, orientation};
use super::{Cdt, Outline, crossing};
use trioxide_mesh::Result;
use trioxide_mesh::mesh::{Segment, Triangulation};

/// The kept faces as half-edges, and the subsegment of each edge of the triangulation.
///
/// Subsegments are the constraints among their edges, and their boundary.
pub fn kept(
    cdt: &Cdt,
    outline: &Outline,
    is_kept: &[bool],
    regions: &Option<Vec<i32>>,
) -> (HalfEdges, Vec<u32>) {
    let faces = || cdt.inner_faces().filter(|face| is_kept[face.index()]);
    let edges = || faces().flat_map(|face| face.adjacent_edges());
    let mut of_edge = vec![NONE; cdt.num_directed_edges()];
    for (h, edge) in (0..).zip(edges()) {
        of_edge[edge.fix().index()] = h;
    }
    // Vertices of the outline keep their order, and so their handles.
    let origins = edges().map(|edge| edge.from().index() as u32).collect();
    let twins = edges().map(|edge| of_edge[edge.rev().fix().index()]);
    let regions = faces().map(|face| regions.as_ref().map_or(0, |of| of[face.index()]));
    let points = outline.points.clone();
    let mut mesh = HalfEdges::new(points, origins, twins.collect(), regions.collect());
    let mut subsegments = vec![NONE; cdt.num_undirected_edges()];
    for (h, edge) in (0..).zip(edges()) {
        if edge.is_constraint_edge() || mesh.twin(h).is_none() {
            subsegments[edge.as_undirected().index()] = mesh.constrain(h);
        }
    }
    (mesh, subsegments)
}

/// A subsegment that is a piece of a segment.
pub struct Piece {
    /// `NONE` if it is no edge of a kept triangle.
    subsegment: u32,
    /// Whether it runs in the segment's direction.
    is_along: bool,
}

/// The pieces of each segment, in order from its first end.
pub fn pieces(
    cdt: &Cdt,
    outline: &Outline,
    subsegments: &[u32],
    mesh: &HalfEdges,
) -> Result<Vec<Vec<Piece>>> {
    let of_segment = |(i, segment): (usize, &Segment)| {
        let [mut at, to] = segment
            .ends
            .map(|v| FixedVertexHandle::from_index(v as usize));
        let mut pieces = Vec::new();
        while at != to {
            let mut edges = cdt.vertex(at).out_edges();
            let edge = edges.find(|edge| {
                edge.is_constraint_edge() && is_ahead(outline, segment.ends, edge.positions())
            });
            let edge = edge.ok_or_else(|| crossing(outline, i))?;
            let subsegment = subsegments[edge.as_undirected().index()];
            let ends = mesh.subsegments.get(subsegment as usize).map(|s| s.ends);
            pieces.push(Piece {
                subsegment,
                is_along: ends.is_some_and(|ends| ends[0] as usize == at.index()),
            });
            at = edge.to().fix();
        }
        Ok(pieces)
    };
    outline
        .segments
        .iter()
        .enumerate()
        .map(of_segment)
        .collect()
}

/// Whether an edge from a point of a segment lies on the segment and leads to its second end.
fn is_ahead(outline: &Outline, ends: [u32; 2], edge: [Point2<f64>; 2]) -> bool {
    let [from, to] = ends.map(|v| outline.points[v as usize]);
    let [a, b] = edge.map(|Point2 { x, y }| DVec2::new(x, y));
    let is_along = match from.x == to.x {
        true => (a.y < b.y) == (from.y < to.y),
        false => (a.x < b.x) == (from.x < to.x),
    };
    is_along && orientation(from, to, b) == 0.0
}

/// Reports the number of segments that the result lacks, wholly or in part.
pub fn left_out(pieces: &[Vec<Piece>]) -> Vec<String> {
    let is_outside = |piece: &Piece| piece.subsegment == NONE;
    let outside = pieces.iter().filter(|pieces| pieces.iter().any(is_outside));
    match outside.count() {
        0 => Vec::new(),
        1 => {
            vec!["1 segment lies outside of the triangles, and is left out there".to_owned()]
        }
        count => vec![format!(
            "{count} segments lie outside of the triangles, and are left out there"
        )],
    }
}

/// The triangulation, without the vertices that were added and removed again.
pub fn collect(
    mesh: HalfEdges,
    outline: &Outline,
    pieces: &[Vec<Piece>],
    removed: &[u32],
) -> Triangulation {
    let mut ids: Vec<u32> = (0..mesh.points.len() as u32).collect();
    if let Some(&first) = removed.first() {
        let mut gone = 0;
        for v in first..mesh.points.len() as u32 {
            gone += u32::from(removed.get(gone as usize) == Some(&v));
            ids[v as usize] = v - gone;
        }
    }
    let id = |v: u32| ids[v as usize];
    let triangles = mesh.triangles().map(|t| {
        let mut triangle = [0, 1, 2].map(|k| id(mesh.origin(3 * t + k)));
        let first = (0..3).min_by_key(|&k| triangle[k]).unwrap_or(0);
        triangle.rotate_left(first);
        triangle
    });
    let triangles = triangles.collect();
    let regions =
        (!outline.regions.is_empty()).then(|| mesh.triangles().map(|t| mesh.region(t)).collect());
    let mut segments = Vec::with_capacity(outline.segments.len());
    for (segment, pieces) in outline.segments.iter().zip(pieces) {
        for piece in pieces.iter().filter(|piece| piece.subsegment != NONE) {
            let mut chain = chain(&mesh, piece.subsegment);
            if !piece.is_along {
                chain.reverse();
            }
            segments.extend(chain.windows(2).map(|pair| Segment {
                ends: [id(pair[0]), id(pair[1])],
                marker: segment.marker,
            }));
        }
    }
    let points = (0..).zip(&mesh.points);
    let points = points.filter(|(v, _)| removed.binary_search(v).is_err());
    Triangulation {
        points: points.map(|(_, &point)| point).collect(),
        triangles,
        regions,
        segments,
    }
}

/// The vertices along a subsegment and its parts.
fn chain(mesh: &HalfEdges, subsegment: u32) -> Vec<u32> {
    let mut part = &mesh.subsegments[subsegment as usize];
    let mut chain = part.ends.to_vec();
    while let Some(next) = part.next {
        part = &mesh.subsegments[next as usize];
        chain.push(part.ends[1]);
    }
    chain
}
