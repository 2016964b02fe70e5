use glam::{DVec2, Vec2};
use proptest::prelude::*;

use super::*;
use crate::random_mesh::triangulations;
use trioxide::{Device, generate};
use trioxide_verify::validate;

/// The mesh of figures 4.5 and B.1. It runs clockwise where y points up.
pub(crate) fn example() -> EdgeTriangulation {
    EdgeTriangulation {
        points: [(0, 3), (15, 0), (0, 16), (25, 14), (10, 24)]
            .map(|(x, y)| DVec2::new(f64::from(x), f64::from(y)))
            .to_vec(),
        edges: vec![[1, 0], [0, 2], [2, 1], [3, 1], [3, 2], [2, 4], [4, 3]],
        triangles: [[1, 2, 3], [4, -3, -5], [5, 6, 7]]
            .map(|numbers| numbers.map(side))
            .to_vec(),
        tags: vec![],
    }
}

/// The side that the paper writes as this number: edges from 1, negative in reverse.
fn side(number: i32) -> u32 {
    2 * (number.unsigned_abs() - 1) + u32::from(number < 0)
}

/// Ends of each edge, as the paper's tables have them.
fn points_of_edges(mesh: &EdgeTriangulation) -> Vec<[(f64, f64); 2]> {
    let point = |v: u32| mesh.points[v as usize].into();
    mesh.edges.iter().map(|ends| ends.map(point)).collect()
}

/// Mark and black mark of each edge, as in the tables' last row.
fn marks_of_edges(marks: &Marks) -> Vec<(u8, u8)> {
    let both = marks.longest.iter().zip(&marks.divided);
    both.map(|(&longest, &divided)| (longest.into(), divided.into()))
        .collect()
}

const TABLE_4_2: [[(f64, f64); 2]; 7] = [
    [(15., 0.), (0., 3.)],
    [(0., 3.), (0., 16.)],
    [(0., 16.), (15., 0.)],
    [(25., 14.), (15., 0.)],
    [(25., 14.), (0., 16.)],
    [(0., 16.), (10., 24.)],
    [(10., 24.), (25., 14.)],
];

const TABLE_4_6: [[(f64, f64); 2]; 13] = [
    [(15., 0.), (0., 3.)],
    [(0., 3.), (0., 16.)],
    [(0., 3.), (7.5, 8.)],
    [(25., 14.), (15., 0.)],
    [(10., 24.), (12.5, 15.)],
    [(0., 16.), (10., 24.)],
    [(10., 24.), (25., 14.)],
    [(7.5, 8.), (15., 0.)],
    [(0., 16.), (7.5, 8.)],
    [(12.5, 15.), (7.5, 8.)],
    [(15., 0.), (12.5, 15.)],
    [(12.5, 15.), (0., 16.)],
    [(25., 14.), (12.5, 15.)],
];

const TABLE_4_7: [[i32; 3]; 7] = [
    [-3, 2, 9],
    [11, -13, 4],
    [-5, 7, 13],
    [3, 8, 1],
    [10, -9, -12],
    [-10, -11, -8],
    [5, 12, 6],
];

/// Section 4.5, step by step. Table 4.3 is printed with rows and columns exchanged, figure B.1 has the triangles right.
#[test]
fn the_worked_example() {
    let mut mesh = example();
    assert_eq!(points_of_edges(&mesh), TABLE_4_2);

    let (lengths, midpoints) = lengths_and_midpoints(&mesh);
    assert_eq!(lengths, [234., 169., 481., 296., 629., 164., 325.]);
    assert_eq!(midpoints[2], DVec2::new(7.5, 8.0));

    // Table 4.4. (Table 4.2 shows the black mark of edge 3 already.)
    let longest = longest_sides(&mesh, &lengths);
    assert_eq!(longest, [2, 2, 0]);
    let mut marks = mark_longest_edges(&mesh, &longest, |t| t == 0);
    let after_step_2 = [(0, 0), (0, 0), (1, 1), (0, 0), (1, 0), (0, 0), (0, 0)];
    assert_eq!(marks_of_edges(&marks), after_step_2);

    let next = link_dependencies(&mesh, &longest, &marks.longest);
    assert_eq!(next, [NONE, NONE, 4, NONE, NONE, NONE, NONE]);

    // Table 4.5.
    propagate_divisions(&next, &mut marks.divided);
    let after_step_4 = [(0, 0), (0, 0), (1, 1), (0, 0), (1, 1), (0, 0), (0, 0)];
    assert_eq!(marks_of_edges(&marks), after_step_4);
    assert_eq!(points_of_edges(&mesh), TABLE_4_2);

    let counts = count_divided_sides(&mesh, &marks.divided);
    assert_eq!(counts, [[1, 0], [0, 2], [1, 0]]);
    let sums = prefix_sums(&counts);
    assert_eq!(sums, [[0, 0], [1, 0], [1, 2], [2, 2]]);

    let refinement = divide(&mut mesh, &midpoints, &longest, &marks.divided, &sums);
    assert_eq!(points_of_edges(&mesh), TABLE_4_6);
    assert_eq!(mesh.triangles, TABLE_4_7.map(|numbers| numbers.map(side)));
    let expected = Refinement {
        divided: vec![2, 4],
        ends: vec![[2, 1], [3, 2]],
        parents: vec![0, 1, 1, 2],
    };
    assert_eq!(refinement, expected);

    let mut whole = example();
    assert_eq!(refine(&mut whole, |t| t == 0).0, expected);
    assert_eq!(whole, mesh);
}

/// Table 4.1 prints 2 to 4 for T1's edge slots; 2f + r = 3 slots from 2 on are 2 to 5, and T2's start at 5.
#[test]
fn slots_of_table_4_1() {
    let counts = [[0, 2], [1, 1], [1, 0], [2, 0], [0, 1], [0, 0], [1, 1]];
    let sums = prefix_sums(&counts);
    // The table's sums include the triangle itself.
    let inclusive = [[0, 2], [1, 3], [2, 3], [4, 3], [4, 4], [4, 4], [5, 5]];
    assert_eq!(sums[1..], inclusive);
    let slots = |weight: [u32; 2]| -> Vec<(u32, u32)> {
        let first = |[f, r]: [u32; 2]| weight[0] * f + weight[1] * r;
        sums.windows(2)
            .map(|pair| (first(pair[0]), first(pair[1])))
            .collect()
    };
    let triangles = [(0, 2), (2, 4), (4, 5), (5, 7), (7, 8), (8, 8), (8, 10)];
    assert_eq!(slots([1, 1]), triangles);
    let edges = [
        (0, 2),
        (2, 5),
        (5, 7),
        (7, 11),
        (11, 12),
        (12, 12),
        (12, 15),
    ];
    assert_eq!(slots([2, 1]), edges);
}

#[test]
fn edges_are_numbered_by_owners() {
    let points = [(0., 0.), (1., 0.), (1., 1.), (0., 1.)].map(DVec2::from);
    let mesh = edges(points.to_vec(), &[[1, 2, 0], [3, 0, 2]]);
    assert_eq!(mesh.edges, [[1, 2], [2, 0], [0, 1], [3, 0], [2, 3]]);
    assert_eq!(mesh.triangles, [[0, 2, 4], [6, 3, 8]]);
    assert_eq!(mesh.corners(), [[1, 2, 0], [3, 0, 2]]);
    assert_eq!(edges(points.to_vec(), &[]).edges, [[0; 2]; 0]);
}

/// Two triangles of equal sides: the shared edge has the smaller id than the others of one, not of the other.
#[test]
fn of_equally_long_edges_the_smaller_id_is_longer() {
    let lengths = [4; 5];
    let mesh = EdgeTriangulation {
        points: vec![(); 4],
        edges: vec![[0, 1], [1, 2], [2, 0], [1, 3], [3, 2]],
        triangles: [[1, 2, 3], [-2, 4, 5]]
            .map(|numbers| numbers.map(side))
            .to_vec(),
        tags: vec![],
    };
    assert_eq!(longest_sides(&mesh, &lengths), [0, 0]);
    let mesh = EdgeTriangulation {
        triangles: vec![[4, 0, 2], [8, 3, 6]],
        ..mesh
    };
    assert_eq!(longest_sides(&mesh, &lengths), [1, 1]);
}

/// Divided sides from the longest on, each none (0), forward (1) or in reverse (2).
fn template(sides: [u32; 3], longest: u8, divided: &[bool]) -> [u32; 3] {
    let mut sides = sides;
    sides.rotate_left(longest as usize);
    sides.map(|side| match divided[side as usize / 2] {
        true => 1 + side % 2,
        false => 0,
    })
}

/// Figure 4.4: a triangle whose longest side is divided, forward or in reverse, and each of the others not, forward or
/// in reverse.
#[test]
fn all_18_templates_occur() {
    let input = generate::random(&Device::cpu(None).unwrap(), 2000, 5).unwrap();
    let mut mesh = edges(input.points, &input.triangles);
    let (lengths, midpoints) = lengths_and_midpoints(&mesh);
    let longest = longest_sides(&mesh, &lengths);
    let mut marks = mark_longest_edges(&mesh, &longest, |t| t % 4 == 0);
    let next = link_dependencies(&mesh, &longest, &marks.longest);
    propagate_divisions(&next, &mut marks.divided);
    let before = mesh.clone();
    let sums = prefix_sums(&count_divided_sides(&mesh, &marks.divided));
    let refinement = divide(&mut mesh, &midpoints, &longest, &marks.divided, &sums);
    let mut templates: Vec<_> = (0..before.triangles.len())
        .map(|t| template(before.triangles[t], longest[t], &marks.divided))
        .filter(|template| *template != [0; 3])
        .collect();
    templates.sort_unstable();
    templates.dedup();
    let expected: Vec<_> = (0..18).map(|i| [1 + i / 9, i / 3 % 3, i % 3]).collect();
    assert_eq!(templates, expected);
    validate::refine::refinement(&before, &mesh, &refinement).unwrap();
}

proptest! {
    /// Divided are the longest edges of the marked triangles and, again and again, of those with a divided side; no
    /// others.
    #[test]
    fn what_is_divided_is_the_closure(
        input in triangulations(),
        marked in prop::collection::vec(prop::bool::weighted(0.1), 1..50),
        rounds in 1..4,
    ) {
        let mut mesh = edges(input.points, &input.triangles);
        for _ in 0..rounds {
            let length = |e: u32| {
                let [a, b] = mesh.edges[e as usize].map(|v| mesh.points[v as usize]);
                (a.distance_squared(b), std::cmp::Reverse(e))
            };
            let is_marked = |t: usize| marked[t % marked.len()];
            let mut divided = vec![false; mesh.edges.len()];
            let mut changed = true;
            while std::mem::take(&mut changed) {
                for (t, sides) in mesh.triangles.iter().enumerate() {
                    let sides = sides.map(|side| side / 2);
                    let longest = sides.into_iter().max_by(|&e, &f| {
                        length(e).partial_cmp(&length(f)).expect("lengths are numbers")
                    });
                    let longest = longest.expect("there are three") as usize;
                    let is_divided = sides.iter().any(|&e| divided[e as usize]);
                    if (is_marked(t) || is_divided) && !divided[longest] {
                        divided[longest] = true;
                        changed = true;
                    }
                }
            }
            let before = mesh.clone();
            let (refinement, _) = refine(&mut mesh, |t| is_marked(t as usize));
            let mut found = vec![false; divided.len()];
            for &e in &refinement.divided {
                found[e as usize] = true;
            }
            prop_assert_eq!(found, divided);
            validate::refine::refinement(&before, &mesh, &refinement).unwrap();
        }
    }
}

#[test]
fn nothing_marked_changes_nothing() {
    let input = generate::random(&Device::cpu(None).unwrap(), 100, 1).unwrap();
    let mesh = edges(input.points, &input.triangles);
    let mut same = mesh.clone();
    assert_eq!(refine(&mut same, |_| false).0, Refinement::default());
    assert_eq!(same, mesh);
}

/// On coordinates that both precisions hold, and whose squares and midpoints do, both give the same mesh.
#[test]
fn both_precisions_agree_where_arithmetic_is_exact() {
    let input = generate::grid(81).unwrap();
    let points = input.points.iter().map(|p| p.as_vec2()).collect();
    let mut single: EdgeTriangulation<Vec2> = edges(points, &input.triangles);
    let mut double = edges(input.points, &input.triangles);
    for round in 0..3 {
        let is_marked = |t: u32| (t + round).is_multiple_of(7);
        let refinement = refine(&mut double, is_marked).0;
        assert!(!refinement.divided.is_empty());
        assert_eq!(refine(&mut single, is_marked).0, refinement);
    }
    assert_eq!(single.edges, double.edges);
    assert_eq!(single.triangles, double.triangles);
    let points: Vec<DVec2> = single.points.iter().map(|p| p.as_dvec2()).collect();
    assert_eq!(points, double.points);
}

/// Both halves have the tag of the divided edge; edges inside have none.
#[test]
fn tags_are_inherited() {
    let mut mesh = example();
    mesh.tags = (1..8).collect();
    refine(&mut mesh, |t| t == 0);
    assert_eq!(mesh.tags, [1, 2, 0, 4, 0, 6, 7, 3, 3, 0, 0, 5, 5]);
}
