//! Refinement of tetrahedra: worked examples, levels one by one, exact volumes, any number of threads.

use glam::{DVec3, Vec3};
use proptest::prelude::*;
use trioxide::device::Device;
use trioxide::generate::{random_tets, tet_grid};
use trioxide::refine_tets::{self, DeviceTets, DividedEdges, Marking, Options, Refined, run};
use trioxide::volume::{TaggedTriangle, TetMesh};
use trioxide_reference as reference;
use trioxide_verify::validate;

fn cpu(threads: usize) -> Device {
    Device::cpu(Some(threads)).expect("threads can be started")
}

fn refine(on: &Device, mesh: &TetMesh, options: &Options) -> Refined {
    run::<DVec3>(on, mesh, options).expect("the mesh is valid")
}

fn chosen(mesh: &TetMesh, which: &[usize]) -> Options {
    let mut chosen = vec![false; mesh.tetrahedra.len()];
    for &t in which {
        chosen[t] = true;
    }
    Options {
        marking: Marking::Flags(chosen),
        ..Options::default()
    }
}

/// Edge 1-2 is the longest of the tetrahedron and of the tagged face, so it is divided in both.
#[test]
fn one_tetrahedron_by_its_longest_edge() {
    let mesh = TetMesh {
        points: vec![DVec3::ZERO, DVec3::X * 3.0, DVec3::Y * 2.0, DVec3::Z],
        tetrahedra: vec![[0, 1, 2, 3]],
        regions: Some(vec![9]),
        faces: vec![TaggedTriangle {
            vertices: [0, 2, 1],
            tag: 5,
        }],
    };
    let refined = refine(&cpu(1), &mesh, &Options::default());
    assert_eq!(refined.mesh.points[4], DVec3::new(1.5, 1.0, 0.0));
    assert_eq!(refined.vertex_parents, [[1, 2]]);
    assert_eq!(refined.mesh.tetrahedra, [[0, 1, 4, 3], [0, 4, 2, 3]]);
    assert_eq!(refined.tetrahedron_parents, [0, 0]);
    assert_eq!(refined.mesh.regions, Some(vec![9, 9]));
    let tagged = |vertices| TaggedTriangle { vertices, tag: 5 };
    assert_eq!(refined.mesh.faces, [tagged([0, 2, 4]), tagged([0, 4, 1])]);
    let level = refined.levels[0];
    assert_eq!((level.edges, level.divided_edges), (6, 1));
    assert_eq!((level.closure_rounds, level.tetrahedra), (1, 2));
}

/// All six edges are divided: eight tetrahedra, each an eighth.
#[test]
fn one_tetrahedron_by_every_edge() {
    let mesh = TetMesh {
        points: vec![DVec3::ZERO, DVec3::X * 3.0, DVec3::Y * 2.0, DVec3::Z],
        tetrahedra: vec![[0, 1, 2, 3]],
        ..Default::default()
    };
    let options = Options {
        edges: DividedEdges::Every,
        ..Options::default()
    };
    let refined = refine(&cpu(1), &mesh, &options);
    assert_eq!(refined.mesh.tetrahedra.len(), 8);
    for tetrahedron in &refined.mesh.tetrahedra {
        let sixth = trioxide::volume::orientation(&refined.mesh.points, tetrahedron);
        assert_eq!(sixth, 6.0 / 8.0);
    }
    validate::refined_tets(&mesh, &refined).unwrap();
}

/// Two tetrahedra share the edge 2-3 and nothing else. It is the longest edge of the marked one. In the other one it is
/// the longest of both its faces, so the faces require nothing; but the opposite edge 0-1 is longer still. This tests
/// the rule for tetrahedra, which the rule for faces does not imply.
#[test]
fn a_tetrahedron_asks_for_the_edge_opposite_to_a_marked_one() {
    let mut mesh = TetMesh {
        points: vec![
            DVec3::new(-1.1, 0.0, 0.0),
            DVec3::new(1.1, 0.0, 0.0),
            DVec3::new(0.0, -1.0, 0.5),
            DVec3::new(0.0, 1.0, 0.5),
            DVec3::new(0.1, 0.1, 1.0),
            DVec3::new(-0.1, 0.2, 1.0),
        ],
        tetrahedra: vec![[0, 1, 2, 3], [2, 3, 4, 5]],
        ..Default::default()
    };
    mesh.orient();
    let options = chosen(&mesh, &[1]);
    let refined = refine(&cpu(1), &mesh, &options);
    // As of triangles, a round without marks is none.
    let unmarked = refine(&cpu(1), &mesh, &chosen(&mesh, &[]));
    assert_eq!((unmarked.levels.len(), unmarked.mesh), (0, mesh.clone()));
    assert_eq!(refined.vertex_parents, [[0, 1], [2, 3]]);
    assert_eq!(refined.levels[0].closure_rounds, 2);
    // One is divided by 0-1 first, then both halves by 2-3; the marked one by 2-3.
    assert_eq!(refined.mesh.tetrahedra.len(), 6);
    validate::refined_tets(&mesh, &refined).unwrap();
}

/// A face requires its longest edge, which is not the longest of any tetrahedron: tests the rule for faces.
#[test]
fn a_face_asks_for_its_longest_edge() {
    let mut mesh = TetMesh {
        points: vec![
            DVec3::ZERO,
            DVec3::X * 8.0,
            DVec3::new(3.0, 5.0, 0.0),
            DVec3::new(3.0, 0.5, 3.0),
            DVec3::new(3.1, 4.2, 1.5),
            DVec3::new(3.3, 4.3, 1.2),
        ],
        // Its longest edge is 0-1; that of its face 1-2-3 is 1-2, and the marked edge is 2-3.
        tetrahedra: vec![[0, 1, 2, 3], [2, 3, 4, 5]],
        ..Default::default()
    };
    mesh.orient();
    let refined = refine(&cpu(1), &mesh, &chosen(&mesh, &[1]));
    assert_eq!(refined.vertex_parents[..2], [[0, 1], [0, 2]]);
    assert!(refined.vertex_parents.contains(&[1, 2]));
    assert!(refined.vertex_parents.contains(&[2, 3]));
    assert_eq!(refined.vertex_parents.len(), 4);
    validate::refined_tets(&mesh, &refined).unwrap();
}

fn compose(outer: &[u32], inner: &[u32]) -> Vec<u32> {
    inner.iter().map(|&i| outer[i as usize]).collect()
}

/// Levels one by one, each checked, equal the levels of one run.
#[test]
fn levels_add_up() {
    for mesh in [tet_grid(216, 2).unwrap(), random_tets(300, 3).unwrap()] {
        let ball = Options {
            marking: Marking::Ball([0.3, 0.4, 0.5, 0.2]),
            ..Options::default()
        };
        let together = refine(
            &cpu(2),
            &mesh,
            &Options {
                rounds: 5,
                ..ball.clone()
            },
        );
        let mut current = mesh.clone();
        let mut parents: Vec<u32> = (0..mesh.tetrahedra.len() as u32).collect();
        let mut face_parents: Vec<u32> = (0..mesh.faces.len() as u32).collect();
        let mut vertex_parents = Vec::new();
        for level in &together.levels {
            let next = refine(&cpu(1), &current, &ball);
            validate::refined_tets(&current, &next).unwrap();
            assert_eq!(next.levels, [*level]);
            parents = compose(&parents, &next.tetrahedron_parents);
            face_parents = compose(&face_parents, &next.face_parents);
            vertex_parents.extend(next.vertex_parents);
            current = next.mesh;
        }
        assert_eq!(together.levels.len(), 5);
        assert_eq!(together.mesh, current);
        assert_eq!(together.tetrahedron_parents, parents);
        assert_eq!(together.face_parents, face_parents);
        assert_eq!(together.vertex_parents, vertex_parents);
    }
}

/// Six times the volume of the mesh, in cubes of `1 / scale`, exactly.
fn exact_volume(mesh: &TetMesh, scale: f64) -> i128 {
    let points: Vec<[i128; 3]> = mesh
        .points
        .iter()
        .map(|p| {
            (*p * scale).to_array().map(|x| {
                assert_eq!(x.fract(), 0.0);
                x as i128
            })
        })
        .collect();
    mesh.tetrahedra
        .iter()
        .map(|t| {
            let [a, b, c, d] = t.map(|v| points[v as usize]);
            let [b, c, d] = [b, c, d].map(|p| [p[0] - a[0], p[1] - a[1], p[2] - a[2]]);
            b[0] * (c[1] * d[2] - c[2] * d[1])
                + b[1] * (c[2] * d[0] - c[0] * d[2])
                + b[2] * (c[0] * d[1] - c[1] * d[0])
        })
        .sum()
}

/// Coordinates have 20 bits, so midpoints are exact for eight levels and no volume is lost.
#[test]
fn the_volume_is_kept_exactly() {
    let mut mesh = random_tets(200, 5).unwrap();
    let bits = f64::from(1 << 20);
    for p in &mut mesh.points {
        *p = (*p * bits).round() / bits;
    }
    validate::tets(&mesh).unwrap();
    let options = Options {
        marking: Marking::Fraction(0.05),
        seed: 1,
        rounds: 6,
        ..Options::default()
    };
    let refined = refine(&cpu(2), &mesh, &options);
    assert!(refined.mesh.tetrahedra.len() > 4 * mesh.tetrahedra.len());
    let scale = bits * f64::from(1 << 8);
    assert_eq!(
        exact_volume(&refined.mesh, scale),
        exact_volume(&mesh, scale)
    );
    assert_eq!(exact_volume(&mesh, bits), 6 << 60);
}

#[test]
fn options_out_of_range_are_refused() {
    let mesh = tet_grid(27, 1).unwrap();
    let nan = f64::NAN;
    for marking in [
        Marking::Fraction(1.5),
        Marking::Fraction(nan),
        Marking::Ball([0.0, 0.0, 0.0, -1.0]),
        Marking::BoxInSpace([nan, nan, nan, 1.0, 1.0, 1.0]),
        Marking::BoxInSpace([1.0, 1.0, 1.0, 0.0, 0.0, 0.0]),
        Marking::Volume(nan),
        Marking::Area(0.5),
        Marking::Ids(vec![48]),
        Marking::Flags(vec![true; 47]),
    ] {
        let options = Options {
            marking,
            ..Options::default()
        };
        let error = run::<DVec3>(&cpu(1), &mesh, &options).unwrap_err();
        let error = trioxide::Error::from(error);
        assert!(matches!(error, trioxide::Error::Argument(_)), "{error}");
        assert!(reference::refine_tets::<DVec3>(&mesh, &options).is_err());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Any marks on any mesh: the result is valid, equal to the reference, and equal for any number of threads.
    #[test]
    fn any_marks(
        n in 8usize..400,
        seed in any::<u64>(),
        grid in any::<bool>(),
        fraction in 0.0f64..1.0,
        every in any::<bool>(),
        rounds in 1u32..4,
    ) {
        let mesh = if grid { tet_grid(n, seed) } else { random_tets(n, seed) }.unwrap();
        let options = Options {
            marking: Marking::Fraction(fraction.powi(3)),
            seed,
            edges: if every { DividedEdges::Every } else { DividedEdges::Longest },
            ..Options::default()
        };
        let expected = reference::refine_tets::<DVec3>(&mesh, &options).unwrap();
        validate::refined_tets(&mesh, &expected).unwrap();
        for threads in [1, 2, 16] {
            let on = cpu(threads);
            prop_assert_eq!(&refine(&on, &mesh, &options), &expected);
        }
        let expected = reference::refine_tets::<Vec3>(&mesh, &options).unwrap();
        prop_assert_eq!(&run::<Vec3>(&cpu(2), &mesh, &options).unwrap(), &expected);
        // Level by level to the input, each with the bytes of fewer rounds.
        let on = cpu(2);
        let options = Options { rounds, ..options };
        let resident = DeviceTets::<DVec3>::upload(&on, &mesh).unwrap();
        let mut refined = refine_tets::refine(&on, resident, &options).unwrap();
        for level in (0..refined.levels().len()).rev() {
            refined.coarsen(&on, level).unwrap();
            let rounds = level as u32;
            let expected = refine(&on, &mesh, &Options { rounds, ..options.clone() });
            prop_assert_eq!(refined.download(&on).unwrap(), expected);
        }
    }
}
