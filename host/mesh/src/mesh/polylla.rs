//! Results of Polylla.

use super::Polygons;

/// A polygonal mesh made from a triangulation by the Polylla algorithm, in half-edges and as lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PolyllaMesh {
    /// Next half-edge around the polygon; [`NONE`](super::NONE) for a half-edge that lies inside of a polygon; 3T + B.
    pub next: Vec<u32>,
    /// Previous half-edge around the polygon; [`NONE`](super::NONE) for a half-edge that lies inside of a polygon; 3T +
    /// B.
    pub prev: Vec<u32>,
    /// Smallest half-edge of each polygon, ascending: this is the order of the polygons.
    pub half_edges: Vec<u32>,
    /// Vertices of each polygon, from the origin of its smallest half-edge.
    pub polygons: Polygons,
    /// Counts of the run.
    pub counts: PolyllaCounts,
}

/// A polygonal mesh made from a triangulation by the indexed Polylla algorithm: as [`PolyllaMesh`], without links.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PolyllaLists {
    /// Smallest half-edge of each polygon, ascending: this is the order of the polygons. Edge k of triangle t, from its
    /// vertex k on, is half-edge 3t + k.
    pub half_edges: Vec<u32>,
    /// Vertices of each polygon, from the origin of its smallest half-edge.
    pub polygons: Polygons,
    /// Counts of the run.
    pub counts: PolyllaCounts,
}

/// The rule for two equally long edges: which one Polylla takes for the longer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Ties {
    /// The edge with the smaller id, its smaller half-edge: an order of all edges, so that each region has its terminal
    /// edge
    #[default]
    Edge,
    /// The first in the triangle, as in the papers' programs; neighbours may disagree: triangles around a vertex can
    /// point at each other in a ring, a region without terminal edge
    First,
}

/// Counts of a run of Polylla.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PolyllaCounts {
    /// Terminal-edge regions.
    pub regions: u32,
    /// Frontier edges before the repair.
    pub frontier_edges: u32,
    /// Vertices with one frontier edge, before the repair.
    pub barrier_tips: u32,
    /// Polygons that visit a vertex more than once.
    pub weakly_simple: u32,
    /// Polygons.
    pub polygons: u32,
}
