//! The report of Polylla.

use trioxide::levels::Nested;
use trioxide::mesh::PolyllaCounts;
use trioxide::polylla::PolygonTriangles;

use crate::report::{Count, Counts, Note, Run};

/// The machine, the counts, and the maps from triangles to polygons.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The machine, with times.
    pub run: Run,
    /// The counts.
    pub totals: Totals,
    /// Smallest half-edge of each polygon; P. Half-edge 3t + k starts at vertex k of triangle t.
    pub half_edges: Vec<u32>,
    /// The triangles of each polygon, if the options ask for them.
    pub parents: Option<PolygonTriangles>,
    /// For each vertex of the input the vertex of the polygons that is in its place, if the options collapse short
    /// edges.
    pub places: Option<Vec<u32>>,
    /// Nested levels, if the options ask for them: the piece of each level that each piece of the one before belongs
    /// to.
    pub nested: Option<Nested>,
    /// Notes for the user.
    pub notes: Vec<Note>,
}

/// The counts of Polylla; `None` where one does not apply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Vertices.
    pub vertices: u64,
    /// Triangles.
    pub triangles: u64,
    /// Polygons.
    pub polygons: u64,
    /// Terminal-edge regions.
    pub regions: u64,
    /// Frontier edges.
    pub frontier_edges: u64,
    /// Barrier tips.
    pub barrier_tips: u64,
    /// Polygons that visit a vertex twice.
    pub weakly_simple: u64,
    /// Digest of the polygons.
    pub digest: Option<u64>,
    /// Rounds of the indexed method's repair on a device.
    pub repair_rounds: Option<u32>,
    /// Short edges.
    pub short_edges: Option<u64>,
    /// Vertices that are gone, each with a short edge.
    pub removed_vertices: Option<u64>,
    /// Short edges that are left.
    pub short_edges_left: Option<u64>,
    /// Short edges that are left since the border, segments or regions hold both ends; without one of the others a
    /// polygon would not be simple, or convex.
    pub short_edges_held: Option<u64>,
    /// Nested levels.
    pub levels: Option<u64>,
    /// Pieces of the last level.
    pub pieces: Option<u64>,
}

impl From<PolyllaCounts> for Totals {
    fn from(counts: PolyllaCounts) -> Self {
        Self {
            polygons: counts.polygons.into(),
            regions: counts.regions.into(),
            frontier_edges: counts.frontier_edges.into(),
            barrier_tips: counts.barrier_tips.into(),
            weakly_simple: counts.weakly_simple.into(),
            ..Self::default()
        }
    }
}

impl Totals {
    /// By their names.
    pub fn counts(&self) -> Counts {
        let mut counts: Counts = vec![
            ("vertices", self.vertices.into()),
            ("triangles", self.triangles.into()),
            ("polygons", self.polygons.into()),
            ("regions", self.regions.into()),
            ("frontier_edges", self.frontier_edges.into()),
            ("barrier_tips", self.barrier_tips.into()),
            ("weakly_simple", self.weakly_simple.into()),
        ];
        counts.extend(self.digest.map(|digest| ("digest", Count::Digest(digest))));
        counts.extend(
            self.repair_rounds
                .map(|rounds| ("repair_rounds", rounds.into())),
        );
        let of_short_edges = [
            ("short_edges", self.short_edges),
            ("removed_vertices", self.removed_vertices),
            ("short_edges_left", self.short_edges_left),
            ("short_edges_held", self.short_edges_held),
        ];
        let given = of_short_edges.into_iter();
        counts.extend(given.filter_map(|(name, count)| Some((name, count?.into()))));
        counts.extend(self.levels.map(|levels| ("levels", levels.into())));
        counts.extend(self.pieces.map(|pieces| ("pieces", pieces.into())));
        counts
    }
}
