//! Half-edges of triangles, and their queries.

mod build;

use crate::mesh::HalfEdges;
pub use build::{from_edge_table, half_edges, next_in_triangle, prev_in_triangle};

/// Queries (gpolylla-2023, section 4.1). A half-edge and a vertex are their ids.
impl HalfEdges {
    /// Number of half-edges, border half-edges included.
    pub fn len(&self) -> usize {
        self.twin.len()
    }

    /// Whether there is no half-edge.
    pub fn is_empty(&self) -> bool {
        self.twin.is_empty()
    }

    /// Number of half-edges in triangles: border half-edges have the ids from here on.
    pub fn inner(&self) -> u32 {
        3 * self.triangles
    }

    /// Whether `h` has no triangle to its left.
    pub fn is_border(&self, h: u32) -> bool {
        h >= self.inner()
    }

    /// The half-edge between the same vertices, the other way.
    pub fn twin(&self, h: u32) -> u32 {
        self.twin[h as usize]
    }

    /// The next half-edge around the triangle or along the border.
    pub fn next(&self, h: u32) -> u32 {
        self.next[h as usize]
    }

    /// The previous half-edge around the triangle or along the border.
    pub fn prev(&self, h: u32) -> u32 {
        self.prev[h as usize]
    }

    /// Vertex that `h` starts at.
    pub fn origin(&self, h: u32) -> u32 {
        self.origin[h as usize]
    }

    /// Vertex that `h` ends at.
    pub fn target(&self, h: u32) -> u32 {
        self.origin(self.twin(h))
    }

    /// The next half-edge clockwise with the same origin (CWvertexEdge of the paper).
    pub fn clockwise(&self, h: u32) -> u32 {
        self.next(self.twin(h))
    }

    /// The next half-edge counter-clockwise with the same origin (CCWvertexEdge of the paper).
    pub fn counter_clockwise(&self, h: u32) -> u32 {
        self.twin(self.prev(h))
    }
}
