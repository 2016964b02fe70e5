use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use proptest::prelude::*;

use super::*;
use crate::half_edges;
use crate::random_mesh::{RING, RING_TRIANGLES, triangulations, triangulations_with_regions};
use glam::{DVec2, Vec2};
use trioxide::mesh::{Ties, Triangulation};
use trioxide_verify::validate;

fn points(points: &[(f64, f64)]) -> Vec<DVec2> {
    points.iter().map(|&(x, y)| DVec2::new(x, y)).collect()
}

fn run(coordinates: &[(f64, f64)], triangles: &[[u32; 3]]) -> PolyllaMesh {
    run_constrained(coordinates, triangles, &[])
}

fn run_constrained(
    coordinates: &[(f64, f64)],
    triangles: &[[u32; 3]],
    constrained: &[[u32; 2]],
) -> PolyllaMesh {
    let points = points(coordinates);
    let he = half_edges(triangles, points.len());
    let is_constrained = |h: u32| {
        let (a, b) = (he.origin(h), he.target(h));
        constrained.contains(&[a, b]) || constrained.contains(&[b, a])
    };
    let (mesh, _) = polylla(&points, &he, is_constrained, Ties::Edge);
    let summary = validate::polygons::polylla(&points, &he, &mesh, is_constrained).unwrap();
    assert_eq!(summary.weakly_simple as u32, mesh.counts.weakly_simple);
    mesh
}

fn lists(mesh: &PolyllaMesh) -> Vec<&[u32]> {
    mesh.polygons.iter().collect()
}

#[test]
fn no_triangle() {
    let mesh = run(&[(0.0, 0.0)], &[]);
    assert_eq!(mesh.counts, PolyllaCounts::default());
    assert_eq!(mesh.polygons.len(), 0);
}

#[test]
fn one_triangle() {
    let mesh = run(&[(0.0, 0.0), (2.0, 0.0), (0.0, 1.0)], &[[2, 0, 1]]);
    assert_eq!(lists(&mesh), [[2, 0, 1]]);
    assert_eq!(mesh.next, [1, 2, 0, 5, 3, 4]);
    let expected = PolyllaCounts {
        regions: 1,
        frontier_edges: 3,
        polygons: 1,
        ..Default::default()
    };
    assert_eq!(mesh.counts, expected);
}

//  3---2
//  | / |    half-edges 0: 0 -> 1, 1: 1 -> 2, 2: 2 -> 0; 3: 2 -> 3, 4: 3 -> 0, 5: 0 -> 2
//  0---1
const SQUARE: [(f64, f64); 4] = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)];

#[test]
fn two_triangles_join_across_their_longest_edge() {
    let mesh = run(&SQUARE, &[[0, 1, 2], [2, 3, 0]]);
    assert_eq!(lists(&mesh), [[0, 1, 2, 3]]);
    assert_eq!(mesh.half_edges, [0]);
    assert_eq!(mesh.next[..6], [1, 3, NONE, 4, 0, NONE]);
    assert_eq!(mesh.prev[..6], [4, 0, NONE, 1, 3, NONE]);
    let expected = PolyllaCounts {
        regions: 1,
        frontier_edges: 4,
        polygons: 1,
        ..Default::default()
    };
    assert_eq!(mesh.counts, expected);
}

#[test]
fn a_constrained_terminal_edge_seeds_both_sides() {
    let mesh = run_constrained(&SQUARE, &[[0, 1, 2], [2, 3, 0]], &[[2, 0]]);
    assert_eq!(lists(&mesh), [[0, 1, 2], [2, 3, 0]]);
    assert_eq!((mesh.counts.regions, mesh.counts.frontier_edges), (2, 5));
}

#[test]
fn of_equal_lengths_the_smaller_id_is_longer() {
    // An isosceles triangle 0 1 2; beyond each of its legs, 1-2 and 2-0, a triangle with longer edges.
    let coordinates = [(-1.0, 0.0), (1.0, 0.0), (0.0, 4.0), (7.0, 4.0), (-7.0, 4.0)];
    let joins_right = [[0, 1, 2], [2, 1, 3], [0, 2, 4]]; // ids: 1-2 is 1, 2-0 is 2
    let joins_right_too = [[1, 2, 0], [2, 1, 3], [0, 2, 4]]; // 0 and 1
    let joins_left = [[2, 0, 1], [2, 1, 3], [0, 2, 4]]; // 2 and 0
    // 3 and 0: the id is the smaller one of both sides, though the tie is in the third triangle.
    let joins_left_too = [[0, 2, 4], [2, 1, 3], [0, 1, 2]];
    let cases: [(_, [&[u32]; 2]); 4] = [
        (joins_right, [&[0, 1, 3, 2], &[0, 2, 4]]),
        (joins_right_too, [&[2, 0, 1, 3], &[0, 2, 4]]),
        (joins_left, [&[0, 1, 2, 4], &[2, 1, 3]]),
        (joins_left_too, [&[2, 4, 0, 1], &[2, 1, 3]]),
    ];
    for (triangles, expected) in cases {
        assert_eq!(lists(&run(&coordinates, &triangles)), expected);
    }
}

/// A hub (vertex 0) in eight triangles. Spoke 0-1 is short, the others grow up to 0-5 from both sides and are the
/// longest edges of all triangles: one region, with a barrier tip at the hub.
const HUB: [(f64, f64); 9] = [
    (0.0, 0.0),
    (1.0, 0.0),
    (7.0, 7.0),
    (0.0, 10.0),
    (-8.0, 7.0),
    (-11.0, 0.0),
    (-8.0, -6.0),
    (0.0, -9.0),
    (6.0, -6.0),
];

fn fan(rim: u32) -> Vec<[u32; 3]> {
    (1..=rim).map(|i| [0, i, i % rim + 1]).collect()
}

#[test]
fn a_barrier_tip_is_cut_at_its_middle_edge() {
    // Clockwise from 0 -> 1 the inner edges go to 8, 7, 6, 5, 4, 3, 2: number (7 - 1) / 2 is 0 -> 5.
    let mesh = run(&HUB, &fan(8));
    assert_eq!(lists(&mesh), [[0, 1, 2, 3, 4, 5], [0, 5, 6, 7, 8, 1]]);
    let expected = PolyllaCounts {
        regions: 1,
        frontier_edges: 9,
        barrier_tips: 1,
        weakly_simple: 0,
        polygons: 2,
    };
    assert_eq!(mesh.counts, expected);
}

#[test]
fn a_constraint_may_end_inside_of_a_region() {
    // The hub has two frontier edges then, so it is no barrier tip.
    let with = run_constrained(&HUB, &fan(8), &[[0, 3]]);
    assert_eq!(lists(&with), [&[0, 1, 2, 3][..], &[0, 3, 4, 5, 6, 7, 8, 1]]);
    assert_eq!((with.counts.regions, with.counts.barrier_tips), (2, 0));
    // The terminal edge itself: each side is a region.
    let with = run_constrained(&HUB, &fan(8), &[[0, 5]]);
    assert_eq!(lists(&with), [[0, 1, 2, 3, 4, 5], [0, 5, 6, 7, 8, 1]]);
    assert_eq!((with.counts.regions, with.counts.barrier_tips), (2, 0));
    // The barrier edge: nothing changes.
    let with = run_constrained(&HUB, &fan(8), &[[1, 0]]);
    assert_eq!(with, run(&HUB, &fan(8)));
}

#[test]
fn square_with_hole() {
    //  3-------2
    //  | 7---6 |   a square of side 3 around a square hole of side 1: each side has a trapezium of two triangles, whose
    //  | 4---5 |   longest edges lie on the outer boundary or are its diagonal
    //  0-------1
    let coordinates = [
        (0.0, 0.0),
        (3.0, 0.0),
        (3.0, 3.0),
        (0.0, 3.0),
        (1.0, 1.0),
        (2.0, 1.0),
        (2.0, 2.0),
        (1.0, 2.0),
    ];
    let triangles: Vec<[u32; 3]> = (0..4)
        .flat_map(|i| {
            let j = (i + 1) % 4;
            [[i, j, 4 + j], [4 + j, 4 + i, i]]
        })
        .collect();
    let mesh = run(&coordinates, &triangles);
    // Each diagonal (length^2 5) is the longest of the inner triangle, each outer side (9) that of the outer one.
    let expected: Vec<[u32; 4]> = (0..4u32)
        .map(|i| [i, (i + 1) % 4, 4 + (i + 1) % 4, 4 + i])
        .collect();
    assert_eq!(lists(&mesh), expected);
    assert_eq!((mesh.counts.regions, mesh.counts.frontier_edges), (4, 12));
}

#[test]
fn a_weakly_simple_polygon_is_counted_and_split() {
    let mut mesh = run(&RING, &RING_TRIANGLES);
    assert_eq!(lists(&mesh), [&[0, 1, 5, 6, 3, 4, 2, 3][..], &[3, 6, 0]]);
    assert_eq!(mesh.counts.weakly_simple, 1);

    // Corner 3 -> 4 is met first; its fan is triangle 4 6 3, whose edge 4-6 has corner 3 -> 0 beyond.
    let he = half_edges(&RING_TRIANGLES, RING.len());
    split_weakly_simple(&he, &mut mesh);
    let expected = [&[0, 1, 5, 6, 4, 2, 3][..], &[4, 6, 3], &[3, 6, 0]];
    assert_eq!(lists(&mesh), expected);
    let summary = validate::polygons::polylla(&points(&RING), &he, &mesh, |_| false).unwrap();
    assert_eq!((summary.polygons, summary.weakly_simple), (3, 0));
    assert_eq!((mesh.counts.polygons, mesh.counts.weakly_simple), (3, 0));
}

#[test]
fn grid_of_k_by_k_points_gives_k_minus_1_squared_polygons() {
    for k in [2u32, 3, 10, 57] {
        let coordinates: Vec<(f64, f64)> = (0..k * k)
            .map(|i| (f64::from(i % k), f64::from(i / k)))
            .collect();
        let triangles: Vec<[u32; 3]> = (0..k * k)
            .filter(|i| i % k < k - 1 && i / k < k - 1)
            .flat_map(|i| [[i, i + 1, i + k + 1], [i + k + 1, i + k, i]])
            .collect();
        let mesh = run(&coordinates, &triangles);
        assert_eq!(mesh.counts.polygons, (k - 1).pow(2));
        assert!(mesh.polygons.iter().all(|polygon| polygon.len() == 4));
    }
}

/// All edges are equally long: their ids alone decide.
#[derive(Clone, Copy)]
struct Equal;

impl Point for Equal {
    type Scalar = u8;

    fn distance_squared(self, _: Equal) -> u8 {
        0
    }
}

/// A vertex whose edges have the lengths of a table; edges that are not in it have none.
#[derive(Clone, Copy)]
struct Tabulated<'a>(u32, &'a HashMap<[u32; 2], u32>);

impl Point for Tabulated<'_> {
    type Scalar = u32;

    fn distance_squared(self, other: Self) -> u32 {
        let edge = [self.0.min(other.0), self.0.max(other.0)];
        self.1.get(&edge).copied().unwrap_or(0)
    }
}

/// Lengths that make one region of each component, whose triangles form a long-winded random tree: lengths fall along
/// the tree from the root, and no other edge is longer.
fn one_region_each(he: &HalfEdges, seed: u64) -> HashMap<[u32; 2], u32> {
    let mut lengths = HashMap::new();
    let mut met = vec![false; he.triangles as usize];
    // A half-edge into the next triangle, depth first; the first of a component comes from nowhere.
    let mut pending: Vec<(u32, u32)> = (0..he.triangles).map(|t| (3 * t, NONE)).collect();
    let mut length = u32::MAX;
    while let Some((h, from)) = pending.pop() {
        if std::mem::replace(&mut met[h as usize / 3], true) {
            continue;
        }
        if from != NONE {
            let (a, b) = (he.origin(h), he.target(h));
            length -= 1;
            lengths.insert([a.min(b), a.max(b)], length);
        }
        let triangle = h - h % 3;
        let turn = xxhash_rust::xxh3::xxh3_64_with_seed(&h.to_le_bytes(), seed) as u32;
        for k in 0..3 {
            let out = triangle + (turn % 3 + k) % 3;
            if !he.is_border(he.twin(out)) {
                pending.push((he.twin(out), out));
            }
        }
    }
    lengths
}

fn of_regions(mesh: &Triangulation, he: &HalfEdges) -> impl Fn(u32) -> bool {
    let border = he.inner();
    let twin = he.twin.clone();
    let regions = mesh.regions.clone().unwrap_or_default();
    move |h| {
        let twin = twin[h as usize];
        !regions.is_empty()
            && twin < border
            && regions[h as usize / 3] != regions[twin as usize / 3]
    }
}

/// Regions, frontier edges, barrier tips and polygons by the definitions, on maps of vertex pairs.
///
/// Holds where no two fans meet at a vertex with one frontier edge in all: fans of boundary vertices have two.
fn counts_by_definition(mesh: &Triangulation, he: &HalfEdges) -> [usize; 4] {
    let constrained = of_regions(mesh, he);
    let mut triangles_of: BTreeMap<[u32; 2], Vec<u32>> = BTreeMap::new();
    let mut key_of = HashMap::new();
    let mut walls = BTreeSet::new();
    for h in 0..he.inner() {
        let (a, b) = (he.origin(h), he.target(h));
        let edge = [a.min(b), a.max(b)];
        triangles_of.entry(edge).or_default().push(h / 3);
        let length = mesh.points[a as usize].distance_squared(mesh.points[b as usize]);
        // Lengths are not negative: their bits are in their order.
        key_of.insert(edge, (length.to_bits(), Reverse(h.min(he.twin(h)))));
        if he.is_border(he.twin(h)) || constrained(h) {
            walls.insert(edge);
        }
    }
    let longest: Vec<[u32; 2]> = mesh
        .triangles
        .iter()
        .map(|&[a, b, c]| {
            let edges = [[a, b], [b, c], [c, a]].map(|[a, b]| [a.min(b), a.max(b)]);
            edges.into_iter().max_by_key(|edge| key_of[edge]).unwrap()
        })
        .collect();
    let joins = |edge: &[u32; 2], triangles: &[u32]| {
        !walls.contains(edge) && triangles.iter().any(|&t| longest[t as usize] == *edge)
    };
    // Regions: merge the triangles of each edge that joins.
    let mut region: Vec<usize> = (0..mesh.triangles.len()).collect();
    for (edge, triangles) in &triangles_of {
        if joins(edge, triangles) {
            let [a, b] = [0, 1].map(|i| region[triangles[i] as usize]);
            region.iter_mut().filter(|r| **r == a).for_each(|r| *r = b);
        }
    }
    let regions = region.iter().collect::<BTreeSet<_>>().len();

    let frontier: BTreeSet<[u32; 2]> = triangles_of
        .iter()
        .filter(|(edge, triangles)| !joins(edge, triangles))
        .map(|(&edge, _)| edge)
        .collect();
    let mut at_vertex: BTreeMap<u32, Vec<[u32; 2]>> = BTreeMap::new();
    for &edge in &frontier {
        for v in edge {
            at_vertex.entry(v).or_default().push(edge);
        }
    }
    for v in triangles_of.keys().flatten() {
        assert!(at_vertex.contains_key(v), "vertex {v} has no frontier edge");
    }
    let mut cuts = BTreeSet::new();
    let mut tips = 0;
    for (&v, edges) in &at_vertex {
        if edges.len() == 1 {
            tips += 1;
            let [a, b] = edges[0];
            // Neighbours by clockwise angle from the frontier edge.
            let start = mesh.points[(a + b - v) as usize] - mesh.points[v as usize];
            let mut spokes: Vec<(f64, [u32; 2])> = triangles_of
                .keys()
                .filter(|edge| edge.contains(&v) && **edge != edges[0])
                .map(|&[a, b]| {
                    let spoke = mesh.points[(a + b - v) as usize] - mesh.points[v as usize];
                    let clockwise = -start.perp_dot(spoke).atan2(start.dot(spoke));
                    (clockwise.rem_euclid(std::f64::consts::TAU), [a, b])
                })
                .collect();
            spokes.sort_by(|a, b| a.0.total_cmp(&b.0));
            cuts.insert(spokes[(spokes.len() - 1) / 2].1);
        }
    }
    [regions, frontier.len(), tips, regions + cuts.len()]
}

/// The polygons, each from its smallest vertex on, in order.
fn polygon_set(mesh: &PolyllaMesh) -> Vec<Vec<u32>> {
    let mut set: Vec<Vec<u32>> = mesh
        .polygons
        .iter()
        .map(|polygon| {
            (0..polygon.len())
                .map(|k| [&polygon[k..], &polygon[..k]].concat())
                .min()
                .unwrap()
        })
        .collect();
    set.sort();
    set
}

proptest! {
    #[test]
    fn counts_follow_the_definitions(mesh in triangulations_with_regions()) {
        let he = half_edges(&mesh.triangles, mesh.points.len());
        let (output, _) = polylla(&mesh.points, &he, of_regions(&mesh, &he), Ties::Edge);
        let counts = output.counts;
        let found = [counts.regions, counts.frontier_edges, counts.barrier_tips, counts.polygons];
        prop_assert_eq!(found.map(|n| n as usize), counts_by_definition(&mesh, &he));
    }

    #[test]
    fn polygons_are_valid_and_strict_ones_simple(mesh in triangulations_with_regions()) {
        let he = half_edges(&mesh.triangles, mesh.points.len());
        let constrained = of_regions(&mesh, &he);
        let (mut output, _) = polylla(&mesh.points, &he, &constrained, Ties::Edge);
        let check = |output: &PolyllaMesh| {
            let summary = validate::polygons::polylla(&mesh.points, &he, output, &constrained).unwrap();
            let lists = &output.polygons;
            let by_lists = validate::polygons::polygons_of(&mesh.points, &he, lists, &constrained);
            assert_eq!(by_lists.unwrap(), summary);
            summary
        };
        let summary = check(&output);
        prop_assert_eq!(summary.weakly_simple as u32, output.counts.weakly_simple);
        let before = output.clone();
        split_weakly_simple(&he, &mut output);
        let strict = check(&output);
        prop_assert_eq!(strict.weakly_simple, 0);
        prop_assert_eq!(summary.weakly_simple == 0, before == output);
    }

    #[test]
    fn regions_that_wind_around_everything_are_split(mesh in triangulations(), seed: u64) {
        let he = half_edges(&mesh.triangles, mesh.points.len());
        let lengths = one_region_each(&he, seed);
        let points: Vec<_> = (0..mesh.points.len() as u32).map(|v| Tabulated(v, &lengths)).collect();
        let (mut output, _) = polylla(&points, &he, |_| false, Ties::Edge);
        let components = validate::triangulation(&mesh).unwrap().components;
        prop_assert_eq!(output.counts.regions as usize, components);
        let check = |output: &PolyllaMesh| {
            validate::polygons::polylla(&mesh.points, &he, output, |_| false).unwrap().weakly_simple
        };
        prop_assert_eq!(check(&output), output.counts.weakly_simple as usize);
        split_weakly_simple(&he, &mut output);
        prop_assert_eq!(check(&output), 0);
    }

    #[test]
    fn equal_lengths_are_valid(mesh in triangulations()) {
        let he = half_edges(&mesh.triangles, mesh.points.len());
        let (mut output, _) = polylla(&vec![Equal; mesh.points.len()], &he, |_| false, Ties::Edge);
        let check = |output: &PolyllaMesh| {
            validate::polygons::polylla(&mesh.points, &he, output, |_| false).unwrap().weakly_simple
        };
        prop_assert_eq!(check(&output), output.counts.weakly_simple as usize);
        split_weakly_simple(&he, &mut output);
        prop_assert_eq!(check(&output), 0);
    }

    #[test]
    fn the_order_of_triangles_does_not_matter(
        points in prop::collection::vec((0.0..1.0, 0.0..1.0), 3..120),
        seed: u64,
    ) {
        let mesh = crate::random_mesh::delaunay(&points);
        let run = |triangles: &[[u32; 3]]| {
            let he = half_edges(triangles, mesh.points.len());
            polygon_set(&polylla(&mesh.points, &he, |_| false, Ties::Edge).0)
        };
        let mut shuffled = mesh.triangles.clone();
        shuffled.sort_by_key(|t| xxhash_rust::xxh3::xxh3_64_with_seed(bytemuck::bytes_of(t), seed));
        shuffled.iter_mut().enumerate().for_each(|(i, t)| t.rotate_left(i % 3));
        prop_assert_eq!(run(&mesh.triangles), run(&shuffled));
    }

    #[test]
    fn f32_points_give_valid_polygons(mesh in triangulations()) {
        let he = half_edges(&mesh.triangles, mesh.points.len());
        let small: Vec<Vec2> = mesh.points.iter().map(|p| p.as_vec2()).collect();
        let (output, _) = polylla(&small, &he, |_| false, Ties::Edge);
        validate::polygons::polylla(&mesh.points, &he, &output, |_| false).unwrap();
    }
}
