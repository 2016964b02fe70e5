//! Makes half-edges of the triangles inside of an outline, and a mesh of half-edges.

use std::collections::HashMap;

use super::half_edges::{HalfEdges, NONE};
use super::{Inside, Outline};
use trioxide_mesh::edge_table::EdgeTable;
use trioxide_mesh::mesh::{Segment, Triangulation};

/// A subsegment that is a piece of a segment.
pub struct Piece {
    subsegment: u32,
    /// Whether it runs in the segment's direction.
    is_along: bool,
}

/// The triangles as half-edges, and the subsegment of each piece. Subsegments are the pieces and the boundary.
pub fn kept(outline: &Outline, inside: &Inside) -> (HalfEdges, Vec<Piece>) {
    let sides = 3 * inside.triangles.len();
    let mut twins = vec![NONE; sides];
    let table = EdgeTable::of_triangles(outline.points.len(), &inside.triangles);
    for (_, group) in table.edges() {
        if let [(_, h), (_, twin)] = *group {
            twins[h as usize] = twin;
            twins[twin as usize] = h;
        }
    }
    let sorted = |[a, b]: [u32; 2]| [a.min(b), a.max(b)];
    let edges = inside.pieces.iter().copied().map(sorted);
    let mut subsegments: HashMap<[u32; 2], u32> = edges.map(|edge| (edge, NONE)).collect();
    let regions = match &inside.regions {
        Some(regions) => regions.clone(),
        None => vec![0; inside.triangles.len()],
    };
    let origins = inside.triangles.as_flattened().to_vec();
    let mut mesh = HalfEdges::new(outline.points.clone(), origins, twins, regions);
    for h in 0..sides as u32 {
        let edge = sorted([mesh.origin(h), mesh.target(h)]);
        if let Some(subsegment) = subsegments.get_mut(&edge) {
            *subsegment = mesh.constrain(h);
        } else if mesh.twin(h).is_none() {
            mesh.constrain(h);
        }
    }
    let pieces = inside.pieces.iter().map(|&piece| {
        let subsegment = subsegments[&sorted(piece)];
        Piece {
            subsegment,
            is_along: mesh.subsegments[subsegment as usize].ends == piece,
        }
    });
    let pieces = pieces.collect();
    (mesh, pieces)
}

/// The triangulation, without the vertices that were added and removed again.
pub fn collect(
    mesh: HalfEdges,
    outline: &Outline,
    inside: &Inside,
    pieces: &[Piece],
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
    let mut segments = Vec::with_capacity(pieces.len());
    for (piece, &parent) in pieces.iter().zip(&inside.parents) {
        let mut chain = chain(&mesh, piece.subsegment);
        if !piece.is_along {
            chain.reverse();
        }
        segments.extend(chain.windows(2).map(|pair| Segment {
            ends: [id(pair[0]), id(pair[1])],
            marker: outline.segments[parent as usize].marker,
        }));
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
