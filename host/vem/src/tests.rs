use super::Preconditioner::{Algebraic, Nested};
use super::*;
use trioxide::{Device, generate};
use trioxide_mesh::mesh::{Faces, Mesh};

/// 3 by 3 vertices: three squares joined to an L, and the fourth square.
fn l_and_square() -> PolygonMesh {
    let mut mesh = PolygonMesh {
        points: (0..9)
            .map(|i| DVec2::new(f64::from(i % 3), f64::from(i / 3)))
            .collect(),
        ..PolygonMesh::default()
    };
    mesh.polygons.push(&[0, 1, 2, 5, 4, 7, 6, 3]);
    mesh.polygons.push(&[4, 5, 8, 7]);
    mesh
}

#[test]
fn a_mesh_without_unknowns_has_its_boundary_values() {
    let mut mesh = l_and_square();
    mesh.points.push(DVec2::new(9.0, 9.0));
    let solution = solve(&mesh, |_| 0.0, |p| p.x, Algebraic).unwrap();
    // Only vertex 4 is inside.
    assert_eq!(solution.unknowns, 1);
    assert!((solution.values[4] - 1.0).abs() < 1e-15);
    assert_eq!(solution.values[5], 2.0);
    assert!(solution.values[9].is_nan());
    let errors = errors(&mesh, &solution.values, |p| p.x, |_| DVec2::X);
    assert!(errors.max_vertex < 1e-15 && errors.l2 < 1e-15 && errors.h1 < 1e-15);
    let on_polygons = polygon_values(&mesh, &solution.values);
    assert!((on_polygons[0] - 2.5 / 3.0).abs() < 1e-15);
    assert!((on_polygons[1] - 1.5).abs() < 1e-15);
}

#[test]
fn bad_meshes_are_refused() {
    let mut mesh = l_and_square();
    mesh.polygons.vertices[9] = 4;
    assert!(solve(&mesh, |_| 0.0, |_| 0.0, Algebraic).is_err());
    let empty = solve(&PolygonMesh::default(), |_| 1.0, |_| 0.0, Algebraic).unwrap();
    assert_eq!((empty.unknowns, empty.values.len()), (0, 0));
}

#[test]
fn a_vertex_visited_twice_has_one_value() {
    // 0-1-2    a ring around the square 3-4-5-6 that touches itself at vertex 1
    //     \    (0, 0) to (6, 6), hole filled by its own polygon
    let points = [
        (0.0, 0.0),
        (3.0, 0.0),
        (6.0, 0.0),
        (6.0, 6.0),
        (0.0, 6.0),
        (4.0, 2.0),
        (3.0, 4.0),
        (2.0, 2.0),
        (3.0, 2.5),
    ];
    let mut mesh = PolygonMesh {
        points: points.map(|(x, y)| DVec2::new(x, y)).to_vec(),
        ..PolygonMesh::default()
    };
    mesh.polygons.push(&[0, 1, 7, 6, 5, 1, 2, 3, 4]);
    for side in [[1, 5], [5, 6], [6, 7], [7, 1]] {
        mesh.polygons.push(&[side[0], side[1], 8]);
    }
    let linear = |p: DVec2| 0.5 - p.x + 2.0 * p.y;
    let solution = solve(&mesh, |_| 0.0, linear, Algebraic).unwrap();
    assert_eq!(solution.unknowns, 4);
    let errors = errors(&mesh, &solution.values, linear, |_| DVec2::new(-1.0, 2.0));
    assert!(errors.max_vertex < 1e-13 && errors.h1 < 1e-12, "{errors:?}");
}

#[test]
fn triangles_make_a_polygon_mesh() {
    let mesh = Mesh {
        points: [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]
            .map(|(x, y)| DVec2::new(x, y).extend(2.0))
            .to_vec(),
        faces: Faces::Triangles(vec![[0, 1, 2], [0, 2, 3]]),
        regions: Some(vec![1, 2]),
        ..Mesh::default()
    };
    let polygons = mesh.clone().into_polygon_mesh().unwrap();
    assert_eq!(polygons.polygons.offsets, [0, 3, 6]);
    assert_eq!(polygons.polygons.get(1), [0, 2, 3]);
    assert_eq!(polygons.regions, mesh.regions);
    let mut bent = mesh;
    bent.points[3].z = 1.0;
    assert!(bent.into_polygon_mesh().is_err());
}

#[test]
fn threads_do_not_matter() {
    let mesh = generate::random(&Device::cpu(None).unwrap(), 20_000, 3).unwrap();
    let mesh = Mesh::from(mesh).into_polygon_mesh().unwrap();
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let sine = Problem::SINE;
        pool.unwrap()
            .install(|| solve(&mesh, sine.source, sine.solution, Algebraic).unwrap())
    };
    let expected = run(1);
    assert!(expected.unknowns > 4 * sparse::BLOCK);
    for threads in [2, 7] {
        assert_eq!(run(threads).values, expected.values);
    }
}

/// Levels of polygons precondition as well as algebraic ones, for any number of threads.
#[test]
fn nested_levels_lead_to_the_same_solution() {
    let random = |n, seed| generate::random(&Device::cpu(None).unwrap(), n, seed).unwrap();
    let mut iterations = Vec::new();
    for triangles in [
        generate::grid(2500).unwrap(),
        random(3_000, 3),
        random(20_000, 3),
    ] {
        let mut mesh = Mesh::from(triangles).into_polygon_mesh().unwrap();
        // Pieces cross regions.
        mesh.regions = Some((0..mesh.polygons.len() as i32).collect());
        let run = |preconditioner, threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let sine = Problem::SINE;
            let run = || solve(&mesh, sine.source, sine.solution, preconditioner).unwrap();
            pool.unwrap().install(run)
        };
        let nested = run(Nested, 1);
        assert_eq!(run(Nested, 3).values, nested.values);
        let algebraic = run(Algebraic, 2);
        let difference = |(a, b): (&f64, &f64)| (a - b).abs();
        let pairs = nested.values.iter().zip(&algebraic.values);
        let largest = pairs.map(difference).fold(0.0, f64::max);
        assert!(largest < 1e-11, "{largest}");
        assert!(nested.levels > 1, "{} levels", nested.levels);
        iterations.push([nested.iterations, algebraic.iterations]);
    }
    let are_few = |&[nested, algebraic]: &[usize; 2]| nested < algebraic && nested < 30;
    assert!(iterations.iter().all(are_few), "{iterations:?}");
}

/// The border of two polygons has more vertices than a dense system may have. A row of squares above them makes the
/// mesh large enough for levels.
#[test]
fn a_long_border_ends_nested_levels() {
    let (n, squares) = (2000, 150);
    let mut mesh = PolygonMesh::default();
    let row = |count: u32, y: fn(u32) -> f64| {
        (0..=count).map(move |i| DVec2::new(f64::from(i) / f64::from(count), y(i)))
    };
    mesh.points.extend(row(n, |i| 1e-4 * f64::from(i % 2)));
    mesh.points.extend(row(squares, |_| 1.0));
    mesh.points.extend(row(squares, |_| 1.1));
    mesh.points.extend(row(1, |_| -1.0));
    let [border, top]: [Vec<u32>; 2] = [(0..=n).collect(), (n + 1..=n + 1 + squares).collect()];
    let back = |list: &[u32]| list.iter().rev().copied().collect::<Vec<u32>>();
    let below = top.len() as u32 * 2 + n + 1;
    mesh.polygons.push(&[border.clone(), back(&top)].concat());
    mesh.polygons
        .push(&[back(&border), vec![below, below + 1]].concat());
    for side in top.windows(2) {
        let [a, b] = [side[0], side[1]];
        mesh.polygons
            .push(&[a, b, b + squares + 1, a + squares + 1]);
    }
    let edges = rules::polygon_mesh_edges(&mesh).unwrap();
    let inside: Vec<u32> = (1..n).chain(n + 2..n + 1 + squares).collect();
    assert!(
        nested::transfers(&mesh, &edges, &inside)
            .unwrap()
            .is_empty()
    );
    let linear = |p: DVec2| 1.0 + p.x - 2.0 * p.y;
    let solution = solve(&mesh, |_| 0.0, linear, Nested).unwrap();
    assert_eq!(solution.unknowns, inside.len());
    let errors = errors(&mesh, &solution.values, linear, |_| DVec2::new(1.0, -2.0));
    assert!(errors.max_vertex < 1e-10, "{errors:?}");
}
