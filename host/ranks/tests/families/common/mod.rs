//! Meshes and ownerships of the property tests.

pub mod clouds;
pub mod surfaces;
pub mod tets;

use std::sync::Arc;

use proptest::prelude::*;
use trioxide::glam::DVec2;
use trioxide::mesh::{Segment, Triangulation};
use trioxide_ranks::Ownership;

/// Numbers of ranks that each mesh is worked on with.
pub const RANKS: [usize; 5] = [1, 2, 3, 4, 7];

/// Settings of a property test with `most` random meshes, in an unoptimised build with half of them.
pub fn random_cases(most: u32) -> ProptestConfig {
    ProptestConfig::with_cases(if cfg!(debug_assertions) {
        most / 2
    } else {
        most
    })
}

/// Delaunay triangulations, about half with triangles taken out: holes, islands, pinch vertices, unused vertices.
/// Points are arbitrary, or on a small grid: equal lengths, right angles, cocircular points.
pub fn triangulations() -> impl Strategy<Value = Triangulation> {
    let arbitrary = prop::collection::vec((0.0..1.0, 0.0..1.0), 4..120);
    let on_grid = prop::collection::vec((0..9u8, 0..9u8), 4..70).prop_map(|points| {
        let points = points.into_iter();
        points.map(|(x, y)| (f64::from(x), f64::from(y))).collect()
    });
    let points = prop_oneof![arbitrary, on_grid];
    let delaunay = points.prop_map(|points| delaunay(&points));
    let tied = (2..9_u32, 2..9_u32, any::<u64>());
    let tied = tied.prop_map(|(columns, rows, seed)| lattice(columns, rows, seed));
    let meshes = prop_oneof![3 => delaunay, 1 => tied];
    let removed = prop::collection::vec(prop::bool::weighted(0.2), 1..200);
    (meshes, any::<bool>(), removed).prop_map(|(mut mesh, whole, removed)| {
        let mut removed = removed.iter().cycle();
        mesh.triangles
            .retain(|_| whole || !removed.next().expect("cycles"));
        mesh
    })
}

/// Rows of points, every other one shifted by half: each triangle has two longest edges. Triangles are numbered at
/// random.
pub fn lattice(columns: u32, rows: u32, seed: u64) -> Triangulation {
    let point = |i: u32| {
        let (x, y) = (i % columns, i / columns);
        DVec2::new(f64::from(x) + 0.5 * f64::from(y % 2), f64::from(y))
    };
    let mut triangles = Vec::new();
    for y in 0..rows - 1 {
        for x in 0..columns - 1 {
            let [a, b] = [columns * y + x, columns * (y + 1) + x];
            triangles.extend(match y % 2 {
                0 => [[a, a + 1, b], [a + 1, b + 1, b]],
                _ => [[a, b + 1, b], [a, a + 1, b + 1]],
            });
        }
    }
    let mixed = |triangle: &[u32; 3]| {
        let id =
            u64::from(triangle[0]) << 32 | u64::from(triangle[1]) << 16 | u64::from(triangle[2]);
        (id ^ seed)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(29)
            .wrapping_mul(seed | 1)
    };
    triangles.sort_by_key(mixed);
    Triangulation {
        points: (0..columns * rows).map(point).collect(),
        triangles,
        ..Default::default()
    }
}

fn delaunay(points: &[(f64, f64)]) -> Triangulation {
    use spade::Triangulation as _;
    let points = points.iter().map(|&(x, y)| spade::Point2::new(x, y));
    let spade = spade::DelaunayTriangulation::<spade::Point2<f64>>::bulk_load(points.collect());
    let spade = spade.expect("finite points");
    let position = |v: spade::handles::FixedVertexHandle| spade.vertex(v).position();
    Triangulation {
        points: spade
            .fixed_vertices()
            .map(|v| DVec2::new(position(v).x, position(v).y))
            .collect(),
        triangles: spade
            .inner_faces()
            .map(|face| face.vertices().map(|v| v.fix().index() as u32))
            .collect(),
        ..Default::default()
    }
}

/// As [`triangulations`], about half with regions, and some of their edges as segments.
pub fn constrained() -> impl Strategy<Value = Triangulation> {
    let regions = prop::option::of(prop::collection::vec(0..3i32, 1..40));
    let picked = prop::collection::vec(any::<prop::sample::Index>(), 0..6);
    (triangulations(), regions, picked).prop_map(|(mut mesh, regions, picked)| {
        let n = mesh.triangles.len();
        mesh.regions = regions.map(|ids| ids.into_iter().cycle().take(n).collect());
        if n > 0 {
            let segment = |i: prop::sample::Index| {
                let h = i.index(3 * n);
                let corners = mesh.triangles[h / 3];
                Segment {
                    ends: [corners[h % 3], corners[(h + 1) % 3]],
                    marker: h as i32,
                }
            };
            mesh.segments = picked.into_iter().map(segment).collect();
        }
        mesh
    })
}

/// A way to choose owners for any number of ranks.
#[derive(Clone, Copy, Debug)]
pub enum Choice {
    /// Blocks, or the curve.
    Near,
    Curve,
    /// Each rank owns its block.
    Blocks,
    RoundRobin,
    /// Rank 0 has none: two ranks share the rest by halves, others are empty.
    Halves,
    /// All on one rank, the last.
    Last,
    /// One triangle on the last rank, the others on the first.
    Only(u64),
    Random(u64),
}

impl Choice {
    pub fn of(self, ranks: usize) -> Ownership {
        let owner = move |id: u64| match self {
            Choice::Near | Choice::Curve | Choice::Blocks | Choice::Last => ranks - 1,
            Choice::RoundRobin => id as usize % ranks,
            Choice::Halves => (1 + usize::from(id > 40)).min(ranks - 1),
            Choice::Only(triangle) if id == triangle => ranks - 1,
            Choice::Only(_) => 0,
            Choice::Random(seed) => {
                let mixed = (id ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                (mixed >> 33) as usize % ranks
            }
        };
        match self {
            Choice::Near => Ownership::Near,
            Choice::Curve => Ownership::Curve,
            Choice::Blocks => Ownership::Blocks,
            _ => Ownership::Given(Arc::new(owner)),
        }
    }
}

/// Numbers of ranks with owners, for known meshes. The property tests combine each number with each choice.
pub const PAIRS: [(usize, Choice); 7] = [
    (1, Choice::Curve),
    (2, Choice::Curve),
    (2, Choice::RoundRobin),
    (3, Choice::Blocks),
    (4, Choice::Halves),
    (7, Choice::Curve),
    (7, Choice::RoundRobin),
];

pub fn choices() -> impl Strategy<Value = Choice> {
    prop_oneof![
        2 => Just(Choice::Near),
        2 => Just(Choice::Curve),
        1 => Just(Choice::Blocks),
        1 => Just(Choice::RoundRobin),
        1 => Just(Choice::Halves),
        1 => Just(Choice::Last),
        2 => any::<u64>().prop_map(Choice::Random),
    ]
}
