//! Welding against its definition, by brute force: every method and device has the definition's result, bit for bit.

mod definition;

use glam::{DVec2, DVec3};
use proptest::prelude::*;
use trioxide::device::Device;
use trioxide::fields::{Field, MeshFields};
use trioxide::mesh::{Faces, Mesh, Polygons, Segment, VertexAttributes};
use trioxide::weld::{
    Carried, DeviceMesh, EpsilonFound, Guards, Locks, Method, Options, Position, RATIO_TOLERANCE,
    Tuning, Welded, epsilon_for_ratio, triangles, weld,
};
use trioxide_reference as reference;

use definition::{bits, brute_locks, definition, expected_mesh};

/// The result of a run: that of the reference or a device, and the mesh made from it.
fn serial(mesh: &Mesh, locks: &Locks, options: &Options) -> trioxide::Result<(Welded, Mesh)> {
    let locked = locks.find(mesh)?;
    let carried = Carried::of(mesh, &locked);
    let mut welded = reference::weld_carrying(&mesh.points, triangles(mesh), &carried, options)?;
    let new = welded.take_mesh(mesh, options)?;
    Ok((welded, new))
}

fn parallel(
    threads: usize,
    mesh: &Mesh,
    locks: &Locks,
    options: &Options,
) -> trioxide::Result<(Welded, Mesh)> {
    let on = Device::cpu(Some(threads))?;
    let resident = DeviceMesh::upload_locked(&on, mesh, locks)?;
    let result = weld(&on, &resident, *options)?;
    let mut welded = result.download(&on)?;
    let new = welded.take_mesh(mesh, options)?;
    Ok((welded, new))
}

/// Compares only with representatives, if the method can.
fn as_if_crowded(options: &Options, patience: u32) -> Options {
    Options {
        tuning: Tuning {
            most_in_bucket: 0,
            crowded_patience: Some(patience),
            ..options.tuning
        },
        ..*options
    }
}

fn crowded_for_a_round(options: &Options) -> Options {
    let mut options = as_if_crowded(options, 2);
    options.tuning.crowded_rounds = Some(1);
    options
}

fn agrees(mesh: &Mesh, locks: &Locks, options: &Options) {
    let results = [
        ("reference", serial(mesh, locks, options)),
        ("1 thread", parallel(1, mesh, locks, options)),
        ("2 threads", parallel(2, mesh, locks, options)),
        (
            "as if crowded",
            parallel(2, mesh, locks, &as_if_crowded(options, 0)),
        ),
        (
            "as if crowded, by few vertices at a time",
            parallel(2, mesh, locks, &as_if_crowded(options, 2)),
        ),
        (
            "as if crowded for a round, and then by pairs",
            parallel(2, mesh, locks, &crowded_for_a_round(options)),
        ),
    ];
    let definition = definition(mesh, &brute_locks(mesh, locks), options);
    let expected = expected_mesh(mesh, options, &definition);
    for (name, result) in results {
        let (welded, ours) = result.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(welded.map, definition.map, "{name}");
        assert_eq!(welded.representatives, definition.representatives, "{name}");
        let removed: Vec<u32> = (0..mesh.points.len() as u32)
            .filter(|v| !definition.representatives.contains(v))
            .collect();
        assert_eq!(welded.removed().collect::<Vec<_>>(), removed, "{name}");
        assert_eq!(bits(&ours.points), bits(&expected.points), "{name}");
        assert_eq!(ours, expected, "{name}");
        let normals = |mesh: &Mesh| bits(mesh.attributes.normals.as_deref().unwrap_or_default());
        assert_eq!(normals(&ours), normals(&expected), "{name}");
    }
}

/// A point of this kind of cloud, from random numbers.
fn point(kind: u32, [x, y, z]: [i32; 3], i: usize) -> DVec3 {
    let p = DVec3::new(x.into(), y.into(), z.into());
    match kind {
        // A lattice: neighbours at exactly epsilon, and duplicates.
        0 => p * 0.1,
        // A chain along x, ids ascending.
        1 => DVec3::X * (i as f64 * 0.099),
        // Zeros of both signs.
        2 => DVec3::from_array([x, y, z].map(|x| if x & 1 == 0 { 0.0 } else { -0.0 })),
        // Two lumps, far from each other.
        3 => {
            p * 0.04
                + if x & 1 == 0 {
                    DVec3::ZERO
                } else {
                    DVec3::new(1e12, -3e9, 7.0)
                }
        }
        // Anywhere in a cube.
        4 => DVec3::new(
            f64::from(x) * 0.0137,
            f64::from(y) * 0.0191,
            f64::from(z) * 0.0173,
        ),
        // A chain backwards, with steps of three lengths.
        5 => DVec3::Y * (-(i as f64) * 0.09 - f64::from(x.rem_euclid(3)) * 0.01),
        // Huge, and tiny.
        6 => p * 1e200,
        _ => p * 1e-200,
    }
}

/// Directions with angles of 0, 45, 60, 90, … degrees between them, of several lengths; some are zero.
fn normal(k: u32) -> DVec3 {
    let direction = DVec3::new(
        f64::from(k % 3) - 1.0,
        f64::from(k / 3 % 3) - 1.0,
        f64::from(k / 9 % 3) - 1.0,
    );
    direction * [1.0, 0.5, 4.0][(k / 27 % 3) as usize]
}

prop_compose! {
    fn input()(
        kind in 0u32..8,
        drawn in prop::collection::vec((prop::array::uniform3(-3i32..4), 0u32..81, any::<u32>()), 0..60),
        corners in prop::collection::vec(prop::array::uniform3(0usize..64), 0..80),
        ends in prop::collection::vec((prop::array::uniform2(0usize..64), 0i32..2), 0..12),
    ) -> (u32, Mesh) {
        let n = drawn.len();
        let faces = corners.iter().map(|face| face.map(|v| (v % n.max(1)) as u32));
        let faces: Vec<_> = if n == 0 { Vec::new() } else { faces.collect() };
        let segments = ends.iter().map(|&(ends, marker)| Segment {
            ends: ends.map(|v| (v % n.max(1)) as u32),
            marker,
        });
        let mesh = Mesh {
            points: drawn.iter().enumerate().map(|(i, d)| point(kind, d.0, i)).collect(),
            regions: Some((0..faces.len() as i32).collect()).filter(|r: &Vec<i32>| !r.is_empty()),
            faces: Faces::Triangles(faces),
            segments: if n == 0 { Vec::new() } else { segments.collect() },
            attributes: VertexAttributes {
                normals: Some(drawn.iter().map(|d| normal(d.1)).collect()),
                colors: Some(drawn.iter().map(|d| (d.2 & 0x3F3F_3F3F).to_le_bytes()).collect()),
                uvs: Some(drawn.iter().map(|d| DVec2::new((d.2 % 7).into(), (d.2 % 3).into()) * 0.125).collect()),
            },
            ..Mesh::default()
        };
        let ids = 0..mesh.points.len() as u32;
        let points = [
            Field::scalars("id", ids.clone().collect::<Vec<_>>()),
            Field::scalars("half", ids.map(|i| f64::from(i) / 2.0).collect::<Vec<_>>()),
        ];
        let faces = (0..mesh.faces.len() as u32).collect::<Vec<_>>();
        let fields = MeshFields {
            points: points.into_iter().collect(),
            cells: [Field::scalars("face", faces)].into_iter().collect(),
            ..MeshFields::default()
        };
        let mesh = Mesh { fields, ..mesh };
        (kind, mesh)
    }
}

/// Epsilons that make a difference in clouds of this kind.
fn epsilon(kind: u32, choice: u32) -> f64 {
    let unit = match kind {
        6 => 1e201,
        7 => 1e-199,
        _ => 1.0,
    };
    [0.0, 0.1, 0.05, 0.2, 0.35, 100.0][choice as usize] * unit
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_machine_gives_what_the_definition_says(
        (kind, mesh) in input(),
        choice in 0u32..6,
        first in any::<bool>(),
        keep_degenerate in any::<bool>(),
        normals in prop::option::of(prop::sample::select(vec![0.0, 30.0, 46.0, 61.0, 89.0, 91.0, 136.0, 180.0])),
        uvs in prop::option::of(prop::sample::select(vec![0.0, 0.125, 0.3])),
        colors in prop::option::of(prop::sample::select(vec![0u8, 20, 40, 255])),
        boundary in any::<bool>(),
        locks in prop::option::of(any::<u64>()),
    ) {
        let options = Options {
            guards: Guards { normals, uvs, colors },
            position: if first { Position::First } else { Position::Mean },
            keep_degenerate,
            ..Options::new(epsilon(kind, choice))
        };
        let vertices = locks.map_or(Vec::new(), |bits| {
            (0..mesh.points.len()).map(|v| bits >> (v % 64) & 7 == 0).collect()
        });
        let locks = Locks { boundary: boundary && !mesh.faces.is_empty(), vertices };
        agrees(&mesh, &locks, &options);
    }

    #[test]
    fn every_method_gives_what_the_definition_says(
        (kind, mesh) in input(),
        choice in 0u32..6,
        method in prop::sample::select(Method::ALL.to_vec()),
    ) {
        let mesh = Mesh { attributes: VertexAttributes::default(), ..mesh };
        let options = Options { method, ..Options::new(epsilon(kind, choice)) };
        agrees(&mesh, &Locks::default(), &options);
    }
}

#[test]
fn a_chain_of_ids_is_decided_link_by_link() {
    let points: Vec<DVec3> = (0..5000).map(|i| DVec3::X * f64::from(i)).collect();
    let mesh = Mesh {
        points,
        ..Mesh::default()
    };
    let options = Options::new(1.0);
    for (welded, new) in [
        serial(&mesh, &Locks::default(), &options).expect("valid"),
        parallel(2, &mesh, &Locks::default(), &options).expect("valid"),
    ] {
        // Every second vertex takes the next one.
        assert_eq!(new.points.len(), 2500);
        assert_eq!(welded.map[..6], [0, 0, 1, 1, 2, 2]);
        assert_eq!(new.points[1], DVec3::X * 2.5);
    }
}

#[test]
fn polygons_lose_corners_and_keep_their_regions() {
    let mut polygons = Polygons::default();
    for polygon in [&[0, 1, 4, 3][..], &[1, 2, 5, 4], &[3, 4, 6], &[2, 5, 4, 6]] {
        polygons.push(polygon);
    }
    let at = |x: f64, y: f64| DVec3::new(x, y, 0.0);
    let mesh = Mesh {
        points: vec![
            at(0.0, 0.0),
            at(1.0, 0.0),
            at(1.1, 0.0),
            at(0.0, 1.0),
            at(1.0, 1.0),
            at(1.1, 1.0),
            at(0.0, 1.05),
        ],
        faces: Faces::Polygons(polygons),
        regions: Some(vec![7, 8, 9, 10]),
        ..Mesh::default()
    };
    for (welded, new) in [
        serial(&mesh, &Locks::default(), &Options::new(0.1 + 1e-9)).expect("valid"),
        parallel(2, &mesh, &Locks::default(), &Options::new(0.1 + 1e-9)).expect("valid"),
    ] {
        assert_eq!(welded.map, [0, 1, 1, 2, 3, 3, 2]);
        let faces: Vec<&[u32]> = (0..new.faces.len()).map(|i| new.faces.get(i)).collect();
        assert_eq!(faces, [&[0, 1, 3, 2][..], &[1, 3, 2]]);
        assert_eq!(new.regions, Some(vec![7, 10]));
    }
    // The boundary of polygons: only the inner vertices are not on it.
    let locks = Locks {
        boundary: true,
        ..Locks::default()
    };
    for result in [
        serial(&mesh, &locks, &Options::new(0.2)),
        parallel(1, &mesh, &locks, &Options::new(0.2)),
    ] {
        let (welded, _) = result.expect("valid");
        let locked = brute_locks(&mesh, &locks);
        assert_eq!(
            definition(&mesh, &locked, &Options::new(0.2)).map,
            welded.map
        );
    }
}

fn ratio(threads: usize, mesh: &Mesh, locks: &Locks, guards: &Guards, ratio: f64) -> EpsilonFound {
    let on = Device::cpu(Some(threads)).expect("threads");
    let resident = DeviceMesh::upload_locked(&on, mesh, locks).expect("valid");
    epsilon_for_ratio(&on, &resident, *guards, ratio).expect("a ratio")
}

#[test]
fn the_epsilon_of_a_ratio_removes_it_and_is_the_same_everywhere() {
    let on = Device::cpu(None).expect("threads");
    let mesh = Mesh::from(trioxide::generate::random(&on, 4000, 3).expect("enough"));
    let locks = Locks {
        boundary: false,
        vertices: (0..mesh.points.len()).map(|v| v % 8 == 0).collect(),
    };
    for (locks, wanted) in [
        (&Locks::default(), 0.1),
        (&Locks::default(), 0.9),
        (&locks, 0.5),
    ] {
        let found = ratio(2, &mesh, locks, &Guards::default(), wanted);
        // A vertex is more than the tolerance.
        let vertex = 1.0 / mesh.points.len() as f64;
        assert!(
            (found.ratio - wanted).abs() <= RATIO_TOLERANCE.max(2.0 * vertex),
            "{found:?}"
        );
        let locked = locks.find(&mesh).expect("no boundary");
        let carried = Carried::of(&mesh, &locked);
        let serial =
            reference::weld::epsilon_for_ratio(&mesh.points, &carried, &Guards::default(), wanted);
        assert_eq!(serial.expect("a ratio"), found);
        let (welded, _) = parallel(1, &mesh, locks, &Options::new(found.epsilon)).expect("valid");
        let removed = welded.removed().count() as f64 / mesh.points.len() as f64;
        assert!((removed - found.ratio).abs() < 1e-12);
    }
    // The first vertices show that too many remain for every distance except distances that remove far too many.
    let far = |i: usize| DVec3::X * if i < 210 { 10.0 * i as f64 } else { 0.0 };
    let mesh_of_few = Mesh {
        points: (0..1000).map(far).collect(),
        ..Mesh::default()
    };
    let found = ratio(2, &mesh_of_few, &Locks::default(), &Guards::default(), 0.8);
    assert_eq!(found.ratio, 0.79);
    let (points, none) = (&mesh_of_few.points, Guards::default());
    let serial = reference::weld::epsilon_for_ratio(points, &Carried::NONE, &none, 0.8);
    assert_eq!(serial.expect("a ratio"), found);
    // At most seven eighths can be removed.
    let found = ratio(1, &mesh, &locks, &Guards::default(), 0.95);
    assert!(found.ratio < 0.8755 && found.ratio > 0.87, "{found:?}");
    assert!(found.clusterings < 100, "{found:?}");
}

#[test]
fn what_cannot_be_is_refused() {
    let mesh = Mesh {
        points: vec![DVec3::ZERO; 3],
        ..Mesh::default()
    };
    let none = Locks::default();
    let guarded = |guards| Options {
        guards,
        ..Options::new(1.0)
    };
    let guards = Guards::default();
    for (options, locks, cause) in [
        (Options::new(-1.0), &none, "epsilon is -1"),
        (Options::new(f64::NAN), &none, "epsilon is NaN"),
        (
            guarded(Guards {
                normals: Some(10.0),
                ..guards
            }),
            &none,
            "the mesh has none",
        ),
        (
            guarded(Guards {
                normals: Some(181.0),
                ..guards
            }),
            &none,
            "0 to 180 degrees",
        ),
        (
            guarded(Guards {
                uvs: Some(-0.1),
                ..guards
            }),
            &none,
            "must be a distance",
        ),
        (
            guarded(Guards {
                uvs: Some(0.1),
                ..guards
            }),
            &none,
            "texture coordinates",
        ),
        (
            guarded(Guards {
                colors: Some(1),
                ..guards
            }),
            &none,
            "colours",
        ),
        (
            Options::new(1.0),
            &Locks {
                boundary: true,
                ..Locks::default()
            },
            "no boundary",
        ),
        (
            Options::new(1.0),
            &Locks {
                vertices: vec![true; 2],
                ..Locks::default()
            },
            "2 locks for 3",
        ),
    ] {
        for result in [
            serial(&mesh, locks, &options),
            parallel(2, &mesh, locks, &options),
        ] {
            let error = result.expect_err(cause).to_string();
            assert!(error.contains(cause), "{cause}: {error}");
        }
    }
}

/// A method that compares all pairs within epsilon takes minutes for some of these; a method that compares with
/// representatives takes a second.
#[test]
fn coincident_and_dense_points_take_linear_time() {
    let n = 150_000u32;
    let line = |i: u32| DVec3::X * f64::from(i);
    let mixed = |i: u32| u64::from(i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let anywhere = |i: u32| {
        let mixed = mixed(i) ^ mixed(i) >> 29;
        DVec3::new(
            (mixed % 1009) as f64,
            (mixed / 1009 % 1013) as f64,
            (mixed / 1_022_117 % 1019) as f64,
        )
    };
    let at_one_place = |i: u32| {
        if i.is_multiple_of(10) {
            DVec3::ONE
        } else {
            anywhere(i)
        }
    };
    let all_at_one_place = |_| DVec3::new(0.1, 0.2, 0.3);
    type Point<'a> = &'a dyn Fn(u32) -> DVec3;
    let clouds: [(&str, Point, f64); 5] = [
        ("equal points", &all_at_one_place, 0.0),
        ("equal points by a distance", &all_at_one_place, 1e-3),
        ("a tenth at one place", &at_one_place, 0.01),
        ("a line", &line, 1000.0),
        ("a full cube", &anywhere, 200.0),
    ];
    for (name, point, epsilon) in clouds {
        let mesh = Mesh {
            points: (0..n).map(point).collect(),
            ..Mesh::default()
        };
        let options = Options::new(epsilon);
        for locks in [
            Locks::default(),
            Locks {
                vertices: (0..n).map(|i| epsilon == 0.0 && i % 3 != 0).collect(),
                ..Locks::default()
            },
        ] {
            let start = std::time::Instant::now();
            let (welded, ours) = parallel(2, &mesh, &locks, &options).expect("valid");
            let elapsed = start.elapsed();
            assert!(elapsed.as_secs() < 10, "{name}: {elapsed:?}");
            let (expected, new) = serial(&mesh, &locks, &options).expect("valid");
            assert_eq!(welded.map, expected.map, "{name}");
            assert_eq!(bits(&ours.points), bits(&new.points), "{name}");
        }
        // The paper's methods find all pairs, but only of distinct points.
        if !name.contains("place") && !name.contains("equal") {
            continue;
        }
        let (expected, _) = serial(&mesh, &Locks::default(), &options).expect("valid");
        for method in [Method::Dependency, Method::OnTheFly, Method::SparseGrid] {
            let options = Options { method, ..options };
            let start = std::time::Instant::now();
            let (welded, _) = parallel(2, &mesh, &Locks::default(), &options).expect("valid");
            assert!(start.elapsed().as_secs() < 10, "{name} by {method:?}");
            assert_eq!(welded.map, expected.map, "{name} by {method:?}");
        }
    }
}
