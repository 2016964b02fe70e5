//! Whether a triangulation of the plane is Delaunay.

use std::collections::HashSet;

use gpu::delaunay::circle;
use trioxide::delaunay::is_convex_loop;
use trioxide::edge_table::EdgeTable;
use trioxide::mesh::Triangulation;

/// The kind of a triangulation of the plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delaunay {
    /// No vertex of a triangle lies within the circle of another, and the triangles cover a convex area.
    Yes,
    /// As far as the boundary and segments let it be: no other edge should be flipped.
    Constrained,
    /// Edges, other than segments, whose flip would make it more so.
    No {
        /// Their number.
        edges: usize,
    },
}

impl Delaunay {
    /// `yes`, `constrained` or `no`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::Constrained => "constrained",
            Self::No { .. } => "no",
        }
    }

    /// Edges, other than segments, whose flip would make it more so.
    pub fn edges_to_flip(self) -> usize {
        match self {
            Self::No { edges } => edges,
            _ => 0,
        }
    }
}

/// Tests the inner edges of a valid triangulation with this table of edges, exactly. Where four vertices lie on one
/// circle, both diagonals are Delaunay.
pub(super) fn of(mesh: &Triangulation, table: &EdgeTable) -> Delaunay {
    let at = |v: u32| mesh.points[v as usize];
    // The vertex `k` sides after the beginning of side `h`.
    let corner = |h: u32, k: u32| mesh.triangles[h as usize / 3][((h + k) % 3) as usize];
    let segments: HashSet<[u32; 2]> = mesh
        .segments
        .iter()
        .map(|segment| segment.ends)
        .map(|[a, b]| [a.min(b), a.max(b)])
        .collect();
    // Whether each edge to flip is a segment.
    let to_flip = table.filter_map_edges(|ends, sides| {
        let &[(_, h), (_, twin)] = sides else {
            return None;
        };
        let [a, b, c] = mesh.triangles[h as usize / 3].map(at);
        let apex = at(corner(twin, 2));
        (circle(a, b, c, apex) > 0).then(|| segments.contains(&ends))
    });
    let edges = to_flip.iter().filter(|is_segment| !**is_segment).count();
    if edges > 0 {
        return Delaunay::No { edges };
    }
    let boundary = table.filter_map_edges(|_, sides| match sides {
        &[(_, h)] => Some([corner(h, 0), corner(h, 1)]),
        _ => None,
    });
    match to_flip.is_empty() && is_convex_loop(&mesh.points, &boundary) {
        true => Delaunay::Yes,
        false => Delaunay::Constrained,
    }
}
