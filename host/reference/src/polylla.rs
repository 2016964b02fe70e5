//! Sequential half-edge Polylla (gpolylla-2023, section 5).
//!
//! # Theory
//!
//! Every triangle points to its longest edge. Triangles joined across edges that are the longest of either form a
//! *terminal-edge region*; an edge that is the longest of both (or of one, on the boundary) is its *terminal edge*, an
//! edge that is the longest of neither is a *frontier edge*. A polygon is the boundary of a region. A vertex inside of
//! a region with a single frontier edge is a *barrier tip*: the boundary runs along that edge to the tip and back, so
//! the region is cut at the tip along one more edge.
//!
//! **The order of edges.** An edge is longer than another when its squared length (dx dx + dy dy, rounded in the
//! precision of the points, the same from both sides) is larger, or equal and its id is *smaller*; the id of an edge is
//! the smaller of its two half-edges. This order is total: no two edges are equal. It follows:
//!
//! 1. *Each region has one terminal edge, and its triangles form a tree.* Going from a triangle over its longest edge
//!    to the neighbour, longest edges grow until the neighbour points back or there is none. So a region is a tree of
//!    triangles rooted at its terminal edge: topologically a disk with one boundary cycle, which passes every corner.
//! 2. *Each vertex has a frontier edge.* Take the shortest of its spokes: in a triangle that has it, another spoke of
//!    the same vertex is longer, so it is the longest edge of no triangle, or it is a boundary edge. So every rotation
//!    about a vertex in search of a frontier edge ends.
//! 3. *A cut along an inner edge of a region gives two trees*, each again a disk. Frontier edges are only added, so no
//!    cut makes a new barrier tip.
//!
//! **Constrained edges** (interface segments, edges between different region ids) count as boundary edges: they are
//! frontier edges, and where one is the longest of its triangle it is a terminal edge, for each side by itself. They
//! may end inside of a region: the end has a second frontier edge by 2., or it is a barrier tip, repaired like any
//! other.
//!
//! **Surfaces in space** have the same theory, since nothing in it needs a plane: `gpu::polylla` says so in detail.
//! [`mark_angles`] adds the edges that stay for angles to the constrained ones.
//!
//! # How this differs from the paper
//!
//! - Ties: see above. The authors' code compares lengths with a tolerance, so its result depends on the order of
//!   evaluation.
//! - Repair: the middle edges of all barrier tips are chosen by the labels from before the repair; in the paper
//!   (Algorithm 6) an edge already added counts for the next tip. Here no order matters: a tip's fan is full of inner
//!   edges of one region, so its middle edge depends on the labels alone, and the result is the set of these edges.
//!   Each tip then has its second frontier edge, and by 3. there is no new tip. Where two tips choose the same edge it
//!   is cut once.
//! - The paper's code does not test the half-edge that a traversal starts with, so some spikes a-b-a stay. Here none
//!   does.
//! - Polygons come in a canonical order, each from its smallest half-edge on: the result does not depend on the order
//!   of the seeds.
//! - [`split_weakly_simple`] also splits the polygons that visit a vertex twice; the paper leaves them.
//!
//! # Practice
//!
//! [`polylla`] runs the phases; each label is a function of its own, so that a parallel stage can be compared alone.

use std::time::{Duration, Instant};

use gpu::point::{Coordinates, MeshPoint};

use trioxide::mesh::{HalfEdges, NONE, Polygons, PolyllaCounts, PolyllaMesh, Ties};

mod angles;
mod convex;
pub mod short_edges;
mod strict;

pub use angles::mark_angles;
pub use convex::cut_convex;
pub use short_edges::{constrained_ends, remove_short_edges};
pub use strict::{split_polygon, split_weakly_simple};

/// A point, as Polylla needs it; the tests also run it on lengths that no points have.
pub trait Point: Copy {
    /// The scalar.
    type Scalar: Copy + PartialOrd;

    /// Squared distance; the same bits from both ends.
    fn distance_squared(self, other: Self) -> Self::Scalar;
}

impl<P: MeshPoint> Point for P {
    type Scalar = P::Scalar;

    fn distance_squared(self, other: P) -> P::Scalar {
        Coordinates::distance_squared(self, other)
    }
}

/// Time of each phase: the columns of the paper's CPU tables, and our ordering of the polygons.
#[derive(Clone, Copy, Debug, Default)]
pub struct PhaseTimes {
    /// Label longest edges (LM, Algorithm 2).
    pub label_longest_edges: Duration,
    /// Label frontier edges (LF, Algorithm 3).
    pub label_frontier_edges: Duration,
    /// Label seed edges (LS, Algorithm 4).
    pub label_seed_edges: Duration,
    /// Traversal (Trav, Algorithm 5).
    pub traversal: Duration,
    /// Repair (Rep, Algorithm 6).
    pub repair: Duration,
    /// Polygons in canonical order as lists of vertices; not in the paper.
    pub list_polygons: Duration,
}

impl PhaseTimes {
    /// The phases in the order in which they ran, by name.
    pub fn phases(&self) -> [(&'static str, Duration); 6] {
        [
            ("label longest edges", self.label_longest_edges),
            ("label frontier edges", self.label_frontier_edges),
            ("label seed edges", self.label_seed_edges),
            ("traversal", self.traversal),
            ("repair", self.repair),
            ("list polygons", self.list_polygons),
        ]
    }
}

/// Polygonal mesh of a triangulation.
///
/// `points` are the vertices of `half_edges`. `constrained(h)` says whether the edge of half-edge `h` of a triangle
/// must stay; it must be the same for `h` and its twin. With [`Ties::First`], a region may have no terminal edge: it is
/// lost.
pub fn polylla<P: Point>(
    points: &[P],
    half_edges: &HalfEdges,
    constrained: impl Fn(u32) -> bool,
    ties: Ties,
) -> (PolyllaMesh, PhaseTimes) {
    let he = half_edges;
    let mut times = PhaseTimes::default();
    let mut start = Instant::now();
    let mut lap = |time: &mut Duration| {
        *time = start.elapsed();
        start = Instant::now();
    };

    // Label phase.
    let longest = label_longest_edges(points, he, ties);
    lap(&mut times.label_longest_edges);
    let mut frontier = label_frontier_edges(he, &longest, &constrained);
    lap(&mut times.label_frontier_edges);
    let seeds = label_seed_edges(he, &longest, &constrained);
    lap(&mut times.label_seed_edges);

    // The count is no part of the paper's phases.
    let frontier_edges = (0..he.inner())
        .filter(|&h| frontier[h as usize] && h < he.twin(h))
        .count();
    lap(&mut Duration::default());

    // Traversal phase.
    let mut output = Output::new(he);
    let mut starts = Vec::with_capacity(seeds.len());
    let mut barrier_tips = Vec::new();
    // End of each polygon with barrier tips in `barrier_tips`.
    let mut broken = Vec::new();
    for &seed in &seeds {
        // A terminal edge is no frontier edge unless it lies on the boundary: turn to the next one.
        let mut first = seed;
        while !frontier[first as usize] {
            first = he.clockwise(first);
        }
        let smallest = output.traverse(he, &frontier, first, |h, next| {
            if next == he.twin(h) {
                barrier_tips.push(next);
            }
        });
        if broken.last().copied().unwrap_or(0) == barrier_tips.len() {
            starts.push(smallest);
        } else {
            broken.push(barrier_tips.len());
        }
    }
    lap(&mut times.traversal);

    // Repair phase.
    let mut used = vec![true; if broken.is_empty() { 0 } else { he.len() }];
    let mut tips_start = 0;
    for tips_end in broken {
        let sub_seeds: Vec<u32> = barrier_tips[tips_start..tips_end]
            .iter()
            .map(|&f| middle_edge(he, &frontier, f))
            .flat_map(|h| [h, he.twin(h)])
            .collect();
        for &h in &sub_seeds {
            frontier[h as usize] = true;
            used[h as usize] = false;
        }
        for &h in &sub_seeds {
            if !used[h as usize] {
                starts.push(output.traverse(he, &frontier, h, |h, _| used[h as usize] = true));
            }
        }
        tips_start = tips_end;
    }
    lap(&mut times.repair);

    starts.sort_unstable();
    let (polygons, weakly_simple) = list_polygons(he, &output.next, &starts);
    lap(&mut times.list_polygons);

    let mesh = PolyllaMesh {
        next: output.next,
        prev: output.prev,
        counts: PolyllaCounts {
            regions: seeds.len() as u32,
            frontier_edges: frontier_edges as u32,
            barrier_tips: barrier_tips.len() as u32,
            weakly_simple: weakly_simple.len() as u32,
            polygons: starts.len() as u32,
        },
        half_edges: starts,
        polygons,
    };
    (mesh, times)
}

/// Whether [`polylla`] loses triangles: those of regions without a terminal edge, which [`Ties::First`] may leave.
///
/// Arguments as there. No region without a seed is next to another across anything but frontier edges.
pub fn loses_triangles<P: Point>(
    points: &[P],
    half_edges: &HalfEdges,
    constrained: impl Fn(u32) -> bool,
    ties: Ties,
) -> bool {
    let he = half_edges;
    let longest = label_longest_edges(points, he, ties);
    let frontier = label_frontier_edges(he, &longest, &constrained);
    let seeds = label_seed_edges(he, &longest, &constrained);
    let mut is_reached = vec![false; he.inner() as usize / 3];
    let mut next: Vec<u32> = seeds.iter().map(|h| h / 3).collect();
    while let Some(t) = next.pop() {
        if std::mem::replace(&mut is_reached[t as usize], true) {
            continue;
        }
        let inner = (3 * t..3 * t + 3).filter(|&h| !frontier[h as usize]);
        next.extend(inner.map(|h| he.twin(h) / 3));
    }
    is_reached.contains(&false)
}

/// LM: whether each half-edge is the longest of its triangle (Algorithm 2); false for border half-edges.
pub fn label_longest_edges<P: Point>(
    points: &[P],
    half_edges: &HalfEdges,
    ties: Ties,
) -> Vec<bool> {
    let he = half_edges;
    let edge = |h: u32| {
        let (a, b) = (he.origin(h) as usize, he.target(h) as usize);
        let id = match ties {
            Ties::Edge => h.min(he.twin(h)),
            Ties::First => h,
        };
        (points[a].distance_squared(points[b]), id)
    };
    let mut longest = vec![false; he.len()];
    for h in (0..he.inner()).step_by(3) {
        let mut best = (h, edge(h));
        for g in [h + 1, h + 2] {
            let (length, id) = edge(g);
            let (best_length, best_id) = best.1;
            if length > best_length || (length == best_length && id < best_id) {
                best = (g, (length, id));
            }
        }
        longest[best.0 as usize] = true;
    }
    longest
}

/// LF: whether each half-edge belongs to a frontier edge (Algorithm 3).
pub fn label_frontier_edges(
    half_edges: &HalfEdges,
    longest: &[bool],
    constrained: impl Fn(u32) -> bool,
) -> Vec<bool> {
    let he = half_edges;
    let mut frontier = vec![true; he.len()];
    for h in 0..he.inner() {
        frontier[h as usize] = he.is_border(he.twin(h))
            || constrained(h)
            || !(longest[h as usize] || longest[he.twin(h) as usize]);
    }
    frontier
}

/// LS: one half-edge of each terminal-edge region (Algorithm 4), ascending.
///
/// The smaller half-edge of a terminal edge; for a terminal edge that is a boundary or constrained edge, the half-edge
/// of the region's triangle.
pub fn label_seed_edges(
    half_edges: &HalfEdges,
    longest: &[bool],
    constrained: impl Fn(u32) -> bool,
) -> Vec<u32> {
    let he = half_edges;
    (0..he.inner())
        .filter(|&h| {
            let twin = he.twin(h);
            longest[h as usize]
                && (he.is_border(twin) || constrained(h) || (longest[twin as usize] && h < twin))
        })
        .collect()
}

/// The edge that repairs the barrier tip at which frontier half-edge `f` starts: of the n inner edges clockwise from
/// `f`, number (n - 1) / 2 from 0, as its half-edge from the tip.
pub fn middle_edge(half_edges: &HalfEdges, frontier: &[bool], f: u32) -> u32 {
    let mut inner_edges = 0;
    let mut e = half_edges.clockwise(f);
    while !frontier[e as usize] {
        inner_edges += 1;
        e = half_edges.clockwise(e);
    }
    assert!(
        e == f && inner_edges > 0,
        "half-edge {f} starts at no barrier tip"
    );
    e = half_edges.clockwise(f);
    for _ in 0..(inner_edges - 1) / 2 {
        e = half_edges.clockwise(e);
    }
    e
}

/// Links of the polygonal mesh.
struct Output {
    next: Vec<u32>,
    prev: Vec<u32>,
}

impl Output {
    /// Border half-edges keep their links; no other half-edge has one yet.
    fn new(he: &HalfEdges) -> Output {
        let border_only = |links: &[u32]| {
            let mut output = vec![NONE; links.len()];
            let inner = he.inner() as usize;
            output[inner..].copy_from_slice(&links[inner..]);
            output
        };
        Output {
            next: border_only(&he.next),
            prev: border_only(&he.prev),
        }
    }

    /// Links the frontier half-edges of the polygon with half-edge `first` (Algorithm 5), calls `visit` with each and
    /// its successor, and returns the smallest.
    fn traverse(
        &mut self,
        he: &HalfEdges,
        frontier: &[bool],
        first: u32,
        mut visit: impl FnMut(u32, u32),
    ) -> u32 {
        let mut smallest = first;
        let mut h = first;
        loop {
            let mut next = he.next(h);
            while !frontier[next as usize] {
                next = he.clockwise(next);
            }
            self.next[h as usize] = next;
            self.prev[next as usize] = h;
            visit(h, next);
            smallest = smallest.min(h);
            h = next;
            if h == first {
                return smallest;
            }
        }
    }
}

/// Vertices of the polygons that start at half-edges `starts`, each from its start on, and whether each polygon visits
/// a vertex more than once.
pub fn list_polygons(half_edges: &HalfEdges, next: &[u32], starts: &[u32]) -> (Polygons, Vec<u32>) {
    let mut polygons = Polygons {
        offsets: Vec::with_capacity(starts.len() + 1),
        vertices: Vec::new(),
    };
    polygons.offsets.push(0);
    let mut weakly_simple = Vec::new();
    // The last polygon that visited each vertex.
    let mut visited_by = vec![NONE; half_edges.of_vertex.len()];
    for (polygon, &start) in starts.iter().enumerate() {
        let mut simple = true;
        for h in cycle(next, start) {
            let v = half_edges.origin(h);
            simple &= visited_by[v as usize] != polygon as u32;
            visited_by[v as usize] = polygon as u32;
            polygons.vertices.push(v);
        }
        polygons.offsets.push(polygons.vertices.len() as u32);
        if !simple {
            weakly_simple.push(polygon as u32);
        }
    }
    (polygons, weakly_simple)
}

/// The half-edges of the cycle of `next` through `start`, from `start` on.
fn cycle(next: &[u32], start: u32) -> impl Iterator<Item = u32> {
    std::iter::successors(Some(start), move |&h| {
        Some(next[h as usize]).filter(|&h| h != start)
    })
}

#[cfg(test)]
mod tests;
