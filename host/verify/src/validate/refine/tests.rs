use glam::DVec2;
use proptest::prelude::*;

use super::*;
use trioxide::{Device, generate};
use trioxide_reference as reference;
use trioxide_reference::random_mesh::triangulations;

/// The mesh of the paper's section 4.5, mirrored: counter-clockwise where y points up.
fn example() -> EdgeTriangulation {
    EdgeTriangulation {
        points: [(0, -3), (15, 0), (0, -16), (25, -14), (10, -24)]
            .map(|(x, y)| DVec2::new(f64::from(x), f64::from(y)))
            .to_vec(),
        edges: vec![[1, 0], [0, 2], [2, 1], [3, 1], [3, 2], [2, 4], [4, 3]],
        triangles: vec![[0, 2, 4], [6, 5, 9], [8, 10, 12]],
        tags: vec![7, 7, 2, 0, 3, 7, 7],
    }
}

fn refined() -> (EdgeTriangulation, Refinement) {
    let mut mesh = example();
    let (made, _) = reference::refine(&mut mesh, |t| t == 0);
    (mesh, made)
}

#[test]
fn the_example_passes() {
    let (after, made) = refined();
    assert_eq!(conforming(&after).unwrap().boundary_edges, 5);
    refinement(&example(), &after, &made).unwrap();
    let areas = area(&example(), &after, 1).unwrap();
    assert_eq!((areas.before, areas.change), (392.5, 0.0));
    let smallest = angles(&example(), &after, 1).unwrap();
    assert!(smallest.after > 0.5 * smallest.before && smallest.after <= smallest.before);

    // As the paper prints it, clockwise: refinement does not ask, but it is no triangulation.
    let mut before = example();
    before.points.iter_mut().for_each(|p| p.y = -p.y);
    let mut after = before.clone();
    let (made, _) = reference::refine(&mut after, |t| t == 0);
    refinement(&before, &after, &made).unwrap();
    assert_eq!(area(&before, &after, 1).unwrap().change, 0.0);
    let error = conforming(&after).unwrap_err().to_string();
    assert!(error.starts_with("triangle 0 runs clockwise"), "{error}");
}

#[test]
fn topology_names_the_element_and_the_rule() {
    let error = |change: &dyn Fn(&mut EdgeTriangulation)| {
        let mut mesh = example();
        change(&mut mesh);
        topology(&mesh).unwrap_err().to_string()
    };
    assert_eq!(
        error(&|mesh| mesh.tags.truncate(2)),
        "mesh has tags for 2 edges of 7"
    );
    assert_eq!(
        error(&|mesh| mesh.edges[3] = [3, 5]),
        "edge 3 has vertex 5, but the mesh has 5 vertices"
    );
    assert_eq!(
        error(&|mesh| mesh.edges[3] = [3, 3]),
        "edge 3 starts and ends at vertex 3"
    );
    assert_eq!(
        error(&|mesh| mesh.triangles[1][0] = 14),
        "triangle 1 has edge 7, but the mesh has 7 edges"
    );
    assert_eq!(
        error(&|mesh| mesh.triangles[1] = [6, 9, 5]),
        "triangle 1 goes along edge 3 to vertex 1, but its next edge 4 starts at vertex 2"
    );
    assert_eq!(
        error(&|mesh| mesh.triangles.push([4, 0, 2])),
        "triangle 3 runs along edge 2 the same way as triangle 0"
    );
    assert_eq!(
        error(&|mesh| mesh.edges.push([0, 3])),
        "mesh has tags for 7 edges of 8"
    );
    assert_eq!(
        error(&|mesh| {
            mesh.edges.push([0, 3]);
            mesh.tags.clear();
        }),
        "edge 7 is in no triangle that runs along it from its start to its end"
    );
    // A boundary edge that runs the wrong way.
    assert_eq!(
        error(&|mesh| {
            mesh.edges[3] = [1, 3];
            mesh.triangles[1][0] = 7;
        }),
        "edge 3 is in no triangle that runs along it from its start to its end"
    );
    // A slit: triangle 2 runs along an edge of its own.
    assert_eq!(
        error(&|mesh| {
            mesh.edges.extend([[3, 2], [2, 3]]);
            mesh.tags = vec![0; 9];
            mesh.triangles[1][2] = 16;
            mesh.triangles.push([14, 16 + 1, 0]);
            mesh.triangles[3] = [14, 10, 12];
        }),
        "triangle 3 runs along edge 5 the same way as triangle 2"
    );
    assert_eq!(
        error(&|mesh| {
            mesh.edges.push([2, 3]);
            mesh.tags.push(0);
            mesh.triangles[1][2] = 14;
        }),
        "edge 7 has the same ends as edge 4"
    );
}

/// Every rule of a round, each broken by one change of a correct one.
#[test]
fn a_wrong_round_is_refused() {
    type Change<'a> = &'a dyn Fn(&mut EdgeTriangulation, &mut Refinement);
    let error = |change: Change| {
        let (mut after, mut made) = refined();
        change(&mut after, &mut made);
        refinement(&example(), &after, &made)
            .unwrap_err()
            .to_string()
    };
    let contains = |change: Change, part: &str| {
        let error = error(change);
        assert!(error.contains(part), "{error}");
    };
    contains(&|_, made| _ = made.divided.pop(), "but divides 1 edges");
    contains(&|_, made| _ = made.ends.pop(), "has 1 ends of edges");
    contains(&|mesh, _| mesh.points[3].x += 1.0, "vertex 3 was moved");
    contains(
        &|_, made| made.divided[1] = 7,
        "vertex 6 divides edge 7, but there were 7 edges",
    );
    contains(
        &|_, made| made.ends[1] = [2, 3],
        "vertex 6 divides edge 4 from 3 to 2, but its ends are given as 2 and 3",
    );
    contains(
        &|mesh, _| mesh.points[6].x = 12.5f64.next_up(),
        "vertex 6 is not halfway between vertices 3 and 2",
    );
    contains(
        &|mesh, made| {
            made.divided.swap(0, 1);
            made.ends.swap(0, 1);
            mesh.points.swap(5, 6);
        },
        "in the order of the half-edges",
    );
    contains(
        &|mesh, _| mesh.tags.clear(),
        "makes 13 edges with 0 tags, where 13 are due",
    );
    contains(&|mesh, _| mesh.tags[0] = 8, "edge 0 was changed");
    contains(
        &|mesh, _| mesh.tags[8] = 0,
        "edge 2 with tag 2 left no such half from vertex 2 to 5",
    );
    contains(
        &|mesh, _| mesh.tags[9] = 1,
        "edge 9 is inside of a triangle, but has tag 1",
    );
    // The edge inside of triangle 0 the other way.
    contains(
        &|mesh, _| {
            mesh.edges[2].reverse();
            mesh.triangles[0][0] ^= 1;
            mesh.triangles[3][0] ^= 1;
        },
        "edge 2 is inside of a triangle, but has tag 0 and ends at vertex 0",
    );
    // A half the other way.
    contains(
        &|mesh, _| {
            mesh.edges[11].reverse();
            for side in mesh.triangles.iter_mut().flatten() {
                *side ^= u32::from(*side / 2 == 11);
            }
        },
        "edge 4 with tag 3 left no such half from vertex 6 to 2",
    );
    contains(
        &|_, made| made.parents.swap(0, 1),
        "makes 7 triangles of 3 with 4 parents",
    );
    contains(
        &|_, made| made.parents[3] = 3,
        "triangle 3 is a parent, but there were 3 triangles",
    );
    contains(
        &|_, made| made.parents[3] = 1,
        "triangle 1 has 2 divided sides, but is cut into 4 pieces",
    );
    contains(
        &|mesh, _| mesh.triangles.swap(0, 6),
        "triangle 0 is bounded by [[0, 2], [1, 0], [2, 5], [5, 1]], but its pieces by",
    );
}

/// A piece turned over: the middle piece of a triangle in four, with corners on one line.
#[test]
fn pieces_turn_as_their_triangle() {
    // One unit in the last place high: its midpoints fall on the base or its own corner.
    let points = vec![
        DVec2::new(1.0, 1.0),
        DVec2::new(3.0, 1.0),
        DVec2::new(2.0, 1f64.next_up()),
    ];
    let before = reference::edges(points, &[[0, 1, 2]]);
    let mut after = before.clone();
    let (first, _) = reference::refine(&mut after, |_| true);
    refinement(&before, &after, &first).unwrap();
    let middle = after.clone();
    let (second, _) = reference::refine(&mut after, |_| true);
    let error = refinement(&middle, &after, &second)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("does not turn as triangle"),
        "{error} {after:?}"
    );
}

#[test]
fn unchanged_triangles_keep_their_sides() {
    let before = reference::edges(
        generate::grid(9).unwrap().points,
        &generate::grid(9).unwrap().triangles,
    );
    let mut after = before.clone();
    let (made, _) = reference::refine(&mut after, |t| t == 0);
    refinement(&before, &after, &made).unwrap();
    after.triangles[7].rotate_left(1);
    assert_eq!(
        refinement(&before, &after, &made).unwrap_err().to_string(),
        "triangle 7 was changed, but none of its sides is divided"
    );
}

#[test]
fn area_and_angles_are_compared() {
    let (mut after, _) = refined();
    // Vertex 5 is inside: moving it changes no area, but angles.
    after.points[5] = DVec2::new(0.25, -15.75);
    assert_eq!(area(&example(), &after, 1).unwrap().change, 0.0);
    let error = angles(&example(), &after, 1).unwrap_err().to_string();
    assert!(error.contains("under half of the smallest"), "{error}");
    after.points[4].x += 1e-9;
    let error = area(&example(), &after, 1).unwrap_err().to_string();
    assert!(error.contains("of area 392.5 changes it by"), "{error}");
}

proptest! {
    /// Several rounds, each checked by itself and all of them together.
    #[test]
    fn rounds_keep_what_refinement_promises(
        input in triangulations(),
        marked in prop::collection::vec(prop::bool::weighted(0.3), 1..50),
        rounds in 1..6u32,
    ) {
        let original = reference::edges(input.points, &input.triangles);
        let mut mesh = original.clone();
        mesh.tags = (0..mesh.edges.len() as i32).map(|e| e % 5).collect();
        for _ in 0..rounds {
            let before = mesh.clone();
            let (made, _) = reference::refine(&mut mesh, |t| marked[t as usize % marked.len()]);
            refinement(&before, &mesh, &made).unwrap();
        }
        conforming(&mesh).unwrap();
        area(&original, &mesh, rounds).unwrap();
        angles(&original, &mesh, rounds).unwrap();
    }
}

/// Twelve rounds at one point: triangles of 2^-12 of the area and less beside whole ones.
#[test]
fn many_local_rounds() {
    for seed in 0..4 {
        let input = generate::random(&Device::cpu(None).unwrap(), 400, seed).unwrap();
        let original = reference::edges(input.points, &input.triangles);
        let mut mesh = original.clone();
        let center = DVec2::new(0.3, 0.7);
        for _ in 0..12 {
            let before = mesh.clone();
            let is_marked = |t: u32| {
                let [a, b, c] = corners(&before, t as usize);
                let diameter = a.distance(b).max(b.distance(c)).max(c.distance(a));
                a.truncate().distance(center) < diameter
            };
            let (made, _) = reference::refine(&mut mesh, is_marked);
            assert!(!made.divided.is_empty());
            refinement(&before, &mesh, &made).unwrap();
        }
        conforming(&mesh).unwrap();
        let areas = area(&original, &mesh, 12).unwrap();
        assert!(areas.bound < 1e-13, "{areas:?}");
        angles(&original, &mesh, 12).unwrap();
    }
}
