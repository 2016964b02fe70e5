use super::*;
use trioxide::mesh::{Polygons, Segment};
use trioxide::polyhedra_mesh::{PolyhedraBuilder, PolyhedralMesh};

fn info(mesh: Mesh) -> Report {
    super::info(mesh).expect("enough memory")
}

fn value(values: Values, name: &str) -> Value {
    let mut named = values.into_iter().filter(|(key, _)| *key == name);
    named.next().expect("a value of this name").1
}

#[test]
fn counts_of_two_triangles_that_touch_and_a_clockwise_one() {
    let points = [
        (0., 0.),
        (2., 0.),
        (0., 2.),
        (-2., 0.),
        (0., -2.),
        (9., 9.),
        (9., 8.),
        (8., 8.),
    ];
    let mesh = Mesh {
        points: points.map(|(x, y)| DVec3::new(x, y, 0.0)).to_vec(),
        faces: Faces::Triangles(vec![[0, 1, 2], [0, 3, 4], [5, 6, 7]]),
        regions: Some(vec![4, 4, 5]),
        ..Mesh::default()
    };
    let report = info(mesh);
    assert_eq!((report.boundary_parts, report.pinch_vertices), (2, 1));
    assert_eq!((report.edges, report.boundary_edges), (9, 9));
    assert_eq!((report.area, report.clockwise_faces), (Some(4.5), 1));
    assert_eq!(
        report.problems,
        [
            "triangle 2 runs clockwise, with vertices 5, 6, 7: `repair --orient` turns triangles, `smooth --untangle` moves vertices"
        ]
    );
    assert_eq!(report.regions, Some(BTreeMap::from([(4, 2), (5, 1)])));
    assert!(report.quality.is_none() && value(report.values(), "quality").is_null());
}

#[test]
fn a_valid_planar_mesh_has_a_quality() {
    let report = info(Mesh::from(trioxide::generate::grid(9).unwrap()));
    assert_eq!((report.weakly_simple, report.problems.len()), (Some(0), 0));
    let quality = value(report.values(), "quality");
    assert_eq!(quality["polygons"], 8);
    assert_eq!(quality["convex_fraction"], 1.0);
    assert_eq!(report.run.stages.len(), 3);
}

#[test]
fn surfaces_have_a_line_for_each_problem() {
    let corners = [
        (0., 0., 0.),
        (1., 0., 0.),
        (0., 1., 0.),
        (0., 0., 1.),
        (0., 0., -1.),
    ];
    let report = info(Mesh {
        points: corners.map(|(x, y, z)| DVec3::new(x, y, z)).to_vec(),
        faces: Faces::Triangles(vec![[0, 1, 2], [0, 1, 3], [0, 1, 4], [0, 0, 4]]),
        ..Mesh::default()
    });
    assert!(!report.is_planar && report.quality.is_none());
    assert_eq!(
        report.problems,
        [
            "1 face with a vertex twice: first face 3",
            "1 face without area: first face 3",
            "2 edges of more than two faces: first 0 - 1",
        ]
    );
}

#[test]
fn an_area_that_is_not_finite_is_left_out() {
    for z in [0.0, 1.0] {
        let points = [(0., 0., 0.), (1., f64::NAN, 0.), (0., 1., z)];
        let report = info(Mesh {
            points: points.map(|(x, y, z)| DVec3::new(x, y, z)).to_vec(),
            faces: Faces::Triangles(vec![[0, 1, 2]]),
            ..Mesh::default()
        });
        assert!(report.area.is_none() && !report.problems.is_empty());
        assert!(value(report.values(), "area").is_null());
    }
}

#[test]
fn a_measure_that_is_no_number_has_its_vertex_named() {
    let mut builder = PolyhedraBuilder::default();
    let faces = [vec![0, 2, 1], vec![0, 1, 3], vec![1, 2, 3], vec![0, 3, 2]];
    builder.push(&faces).unwrap();
    let report = info_polyhedra(&PolyhedralMesh {
        points: vec![DVec3::ZERO, DVec3::X, DVec3::NAN, DVec3::Z],
        ..builder.finish().expect("faces fit")
    });
    assert_eq!(
        value(report.values(), "problems"),
        json!(["vertex 2 has a coordinate that is not a finite number"])
    );
}

#[test]
fn polygons_of_few_vertices_are_problems() {
    for face in [&[][..], &[1], &[0, 1], &[2, 2, 2]] {
        let mut polygons = Polygons::default();
        polygons.push(face);
        for z in [0.0, 1.0] {
            let points = [(0., 0., 0.), (1., 0., 0.), (0., 1., z)];
            let report = info(Mesh {
                points: points.map(|(x, y, z)| DVec3::new(x, y, z)).to_vec(),
                faces: Faces::Polygons(polygons.clone()),
                ..Mesh::default()
            });
            assert!(!report.problems.is_empty(), "{face:?}");
        }
    }
}

/// A planar mesh of triangles, with these segments.
fn plane(points: &[(f64, f64)], triangles: Vec<[u32; 3]>, segments: &[[u32; 2]]) -> Mesh {
    let segment = |&ends: &[u32; 2]| Segment { ends, marker: 1 };
    Mesh {
        points: points.iter().map(|&(x, y)| DVec3::new(x, y, 0.0)).collect(),
        faces: Faces::Triangles(triangles),
        segments: segments.iter().map(segment).collect(),
        ..Mesh::default()
    }
}

#[test]
fn a_triangulation_is_delaunay_or_its_edges_to_flip_are_counted() {
    let of = |mesh: Mesh| info(mesh).delaunay;
    // Either diagonal of a square.
    let square = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)];
    for triangles in [vec![[0, 1, 2], [0, 2, 3]], vec![[0, 1, 3], [1, 2, 3]]] {
        assert_eq!(of(plane(&square, triangles, &[])), Some(Delaunay::Yes));
    }
    // A kite's longer diagonal.
    let kite = [(-2.0, 0.0), (0.0, -1.0), (2.0, 0.0), (0.0, 1.0)];
    let long = vec![[0, 1, 2], [0, 2, 3]];
    assert_eq!(
        of(plane(&kite, long.clone(), &[])),
        Some(Delaunay::No { edges: 1 })
    );
    assert_eq!(
        of(plane(&kite, long, &[[2, 0]])),
        Some(Delaunay::Constrained)
    );
    // The hull is not covered: an arrow; two loops that touch, or do not.
    let arrow = [(-1.0, 0.0), (0.0, 0.5), (1.0, 0.0), (0.0, 2.0)];
    let triangles = vec![[0, 1, 3], [1, 2, 3]];
    assert_eq!(
        of(plane(&arrow, triangles, &[])),
        Some(Delaunay::Constrained)
    );
    let two = [
        (0.0, 0.0),
        (1.0, 0.0),
        (0.0, 1.0),
        (9.0, 0.0),
        (9.0, 1.0),
        (8.0, 1.0),
    ];
    let apart = vec![[0, 1, 2], [3, 4, 5]];
    assert_eq!(of(plane(&two, apart, &[])), Some(Delaunay::Constrained));
    let touching = vec![[0, 1, 2], [1, 3, 4]];
    assert_eq!(of(plane(&two, touching, &[])), Some(Delaunay::Constrained));
    // Not of broken meshes, and not of polygons.
    assert_eq!(of(plane(&square, vec![[0, 2, 1]], &[])), None);
    assert!(value(info(Mesh::default()).values(), "edges_to_flip").is_number());
}

/// A square beside two that hang on it, and the same squares with points of their own.
#[test]
fn parts_that_do_not_meet_are_counted() {
    let points = [
        (0.0, 0.0),
        (2.0, 0.0),
        (2.0, 2.0),
        (0.0, 2.0),
        (2.0, 1.0),
        (3.0, 0.0),
        (3.0, 1.0),
        (3.0, 2.0),
    ];
    let more = [(2.0, 0.0), (2.0, 2.0)];
    let mut faces = Polygons::default();
    faces.push(&[0, 1, 2, 3]);
    let mesh = |squares: [[u32; 4]; 2], z: f64| {
        let mut faces = faces.clone();
        squares.iter().for_each(|square| faces.push(square));
        let points = points.iter().chain(&more);
        Mesh {
            points: points.map(|&(x, y)| DVec3::new(x, y, z * x)).collect(),
            faces: Faces::Polygons(faces),
            ..Mesh::default()
        }
    };
    for z in [0.0, 1.0] {
        let report = info(mesh([[1, 5, 6, 4], [4, 6, 7, 2]], z));
        assert_eq!((report.doubled_vertices, report.hanging_vertices), (0, 1));
        assert_eq!(
            report.problems,
            [
                "1 vertex lies inside edges of other elements, first vertex 4 in edge 1 - 2: join them first (`repair --conform`)"
            ]
        );
        let apart = info(mesh([[8, 5, 6, 4], [4, 6, 7, 9]], z));
        assert_eq!((apart.doubled_vertices, apart.hanging_vertices), (2, 1));
        assert_eq!(
            apart.problems[0],
            "2 vertices lie at places of others: weld them first (`weld --epsilon 0`)"
        );
    }
    // Texture coordinates of their own make a seam.
    let mut seamed = mesh([[8, 5, 6, 4], [4, 6, 7, 9]], 1.0);
    seamed.attributes.uvs = Some(vec![glam::DVec2::ZERO; 10]);
    let report = info(seamed);
    assert_eq!((report.doubled_vertices, report.problems.len()), (2, 1));
}

#[test]
fn a_volume_needs_faces_that_agree() {
    let mut mesh = Mesh {
        points: vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z],
        faces: Faces::Triangles(vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]),
        ..Mesh::default()
    };
    assert_eq!(info(mesh.clone()).volume, Some(1.0 / 6.0));
    let Faces::Triangles(triangles) = &mut mesh.faces else {
        panic!("triangles")
    };
    triangles[2].swap(0, 1);
    assert_eq!(info(mesh).volume, None);
}
