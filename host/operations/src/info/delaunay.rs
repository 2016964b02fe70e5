//! Whether a triangulation of the plane is Delaunay.

use std::collections::HashSet;

use glam::DVec2;
use trioxide::collective::mark_ids;
use trioxide::delaunay::{Diagonals, find_illegal_edges, is_convex_loop};
use trioxide::device::Device;
use trioxide::edge_table::EdgeTable;
use trioxide::half_edges::DeviceTriangulation;
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
///
/// # Errors
/// Those of the device.
pub(super) fn of(
    on: &Device,
    mesh: &Triangulation,
    table: &EdgeTable,
) -> trioxide::Result<Delaunay> {
    let half_edges = DeviceTriangulation::<DVec2>::upload(on, mesh)?;
    let to_flip = |segments: &[u32]| -> trioxide::Result<usize> {
        let sides = 3 * mesh.triangles.len();
        let (segments, _) = mark_ids(on, &on.upload(segments)?, sides)?;
        let found = find_illegal_edges(on, &half_edges, Some(&segments), Diagonals::Both)?;
        Ok(found.count as usize)
    };
    let segments = sides_on_segments(mesh, table);
    let edges = to_flip(&segments)?;
    if edges > 0 {
        return Ok(Delaunay::No { edges });
    }
    let boundary = table.filter_map_edges(|_, sides| match sides {
        &[(_, h)] => {
            let triangle = mesh.triangles[h as usize / 3];
            Some([h, h + 1].map(|h| triangle[h as usize % 3]))
        }
        _ => None,
    });
    let is_free = segments.is_empty() || to_flip(&[])? == 0;
    match is_free && is_convex_loop(&mesh.points, &boundary) {
        true => Ok(Delaunay::Yes),
        false => Ok(Delaunay::Constrained),
    }
}

/// The sides of triangles that are segments.
fn sides_on_segments(mesh: &Triangulation, table: &EdgeTable) -> Vec<u32> {
    if mesh.segments.is_empty() {
        return Vec::new();
    }
    let ends = mesh.segments.iter().map(|segment| segment.ends);
    let segments: HashSet<[u32; 2]> = ends.map(|[a, b]| [a.min(b), a.max(b)]).collect();
    table.flat_map_edges(|found, ends, sides| {
        if segments.contains(&ends) {
            found.extend(sides.iter().map(|&(_, h)| h));
        }
    })
}
