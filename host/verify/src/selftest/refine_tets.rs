//! Refinement of tetrahedra on a device against the serial reference, and against the rules that any result must keep.

use std::sync::Arc;

use glam::{DVec3, Vec3};
use gpu::point3::Point3;

use super::{Case, Outcome, Size, equal};
use crate::validate;
use trioxide::device::Device;
use trioxide::refine_tets::{
    DeviceTets, DividedEdges, Marking, Options, Refined, SpacePoint, refine, run,
};
use trioxide::volume::{TaggedTriangle, TetMesh};
use trioxide::{Result, generate};
use trioxide_reference as reference;

/// Meshes of tetrahedra.
pub(super) fn meshes(size: Size) -> Result<Vec<(String, TetMesh)>> {
    let mut meshes = vec![
        ("one tetrahedron".to_owned(), corner()),
        ("tetrahedra that touch".to_owned(), touching()),
        (
            "a fan of 300 tetrahedra".to_owned(),
            fan(size.of(300) as u32),
        ),
        ("equal edges".to_owned(), equal_edges(216)?),
        ("grid 500".to_owned(), generate::tet_grid(size.of(500), 1)?),
        (
            "random 800".to_owned(),
            generate::random_tets(size.of(800), 2)?,
        ),
    ];
    if size == Size::Large {
        meshes.push(("grid 100k".to_owned(), generate::tet_grid(100_000, 3)?));
        meshes.push(("random 50k".to_owned(), generate::random_tets(50_000, 4)?));
    }
    Ok(meshes)
}

pub fn cases(size: Size) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for (name, mesh) in meshes(size)? {
        let mesh = Arc::new(with_regions(mesh));
        for (how, options) in ways(&mesh) {
            let mesh = mesh.clone();
            cases.push(Case::new(
                format!("refine tetrahedra: {name}, {how}"),
                move |on| {
                    compare::<DVec3>(on, &mesh, &options)?;
                    compare::<Vec3>(on, &mesh, &options)
                },
            ));
        }
    }
    cases.push(Case::new(
        "refine tetrahedra: more edges than a mesh without loose parts has",
        |on| {
            let options = Options {
                marking: Marking::Fraction(0.5),
                seed: 5,
                ..Options::default()
            };
            compare_bits::<DVec3>(on, &crowded(200), &options).map(drop)
        },
    ));
    cases.push(Case::new(
        "refine tetrahedra: bad meshes are refused",
        refused,
    ));
    Ok(cases)
}

fn ways(mesh: &TetMesh) -> Vec<(&'static str, Options)> {
    let once = |marking| Options {
        marking,
        seed: 5,
        ..Options::default()
    };
    let low = mesh
        .points
        .iter()
        .copied()
        .fold(DVec3::INFINITY, DVec3::min);
    let high = mesh
        .points
        .iter()
        .copied()
        .fold(DVec3::NEG_INFINITY, DVec3::max);
    let (centre, radius) = ((low + high) / 2.0, low.distance(high) / 5.0);
    let half = [low.x, low.y, low.z, centre.x, centre.y, centre.z];
    let some = (0..mesh.tetrahedra.len()).map(|t| t % 11 == 0).collect();
    let each = (high - low).element_product() / mesh.tetrahedra.len() as f64;
    vec![
        ("all", once(Marking::All)),
        (
            "all six edges, twice",
            Options {
                edges: DividedEdges::Every,
                rounds: 2,
                ..Options::default()
            },
        ),
        ("none", once(Marking::Fraction(0.0))),
        ("a hundredth", once(Marking::Fraction(0.01))),
        (
            "a fraction, three times",
            Options {
                rounds: 3,
                ..once(Marking::Fraction(0.2))
            },
        ),
        ("a box", once(Marking::BoxInSpace(half))),
        (
            "a ball, three times",
            Options {
                rounds: 3,
                ..once(Marking::Ball([low.x, low.y, low.z, radius]))
            },
        ),
        (
            "volume, twice",
            Options {
                rounds: 2,
                ..once(Marking::Volume(each / 2.0))
            },
        ),
        (
            "chosen, twice, to a limit",
            Options {
                rounds: 4,
                max_tetrahedra: Some(2 * mesh.tetrahedra.len()),
                ..once(Marking::Flags(some))
            },
        ),
    ]
}

fn compare<P: SpacePoint>(on: &Device, mesh: &TetMesh, options: &Options) -> Outcome {
    let ours = compare_bits::<P>(on, mesh, options)?;
    go_back::<P>(on, mesh, options, ours.levels.len())?;
    if P::INSTANCE != DVec3::INSTANCE {
        return Ok(());
    }
    if ours.levels.len() == 1 {
        validate::refined_tets(mesh, &ours)?;
    } else {
        validate::tets(&ours.mesh)?;
    }
    Ok(())
}

/// Coarsening gives every array back as it was: before the last of the `levels` that `options` give, and before the
/// first.
fn go_back<P: SpacePoint>(
    on: &Device,
    mesh: &TetMesh,
    options: &Options,
    levels: usize,
) -> Outcome {
    let refined = |levels: usize| {
        let rounds = levels as u32;
        let options = Options {
            rounds,
            ..options.clone()
        };
        refine(on, DeviceTets::<P>::upload(on, mesh)?, &options)
    };
    let before = levels.saturating_sub(1);
    let (mut ours, middle) = (refined(levels)?, refined(before)?);
    ours.coarsen(on, before)?;
    same(&ours.download(on)?, &middle.download(on)?)
        .map_err(|error| format!("coarsened by a level: {error}"))?;
    ours.coarsen(on, 0)?;
    same(&ours.download(on)?, &refined(0)?.download(on)?)
        .map_err(|error| format!("coarsened to the input: {error}"))
}

/// The result, after a comparison of each of its arrays with the reference's.
fn compare_bits<P: SpacePoint>(
    on: &Device,
    mesh: &TetMesh,
    options: &Options,
) -> std::result::Result<Refined, String> {
    let expected = reference::refine_tets::<P>(mesh, options)?;
    let ours = run::<P>(on, mesh, options)?;
    same(&ours, &expected).map_err(|error| format!("{}: {error}", P::INSTANCE))?;
    Ok(ours)
}

/// Compares each array.
fn same(ours: &Refined, expected: &Refined) -> Outcome {
    let bits = |mesh: &TetMesh| -> Vec<[u64; 3]> {
        let points = mesh.points.iter();
        points.map(|p| p.to_array().map(f64::to_bits)).collect()
    };
    equal("level", &ours.levels, &expected.levels)?;
    equal("point", &bits(&ours.mesh), &bits(&expected.mesh))?;
    equal(
        "tetrahedron",
        &ours.mesh.tetrahedra,
        &expected.mesh.tetrahedra,
    )?;
    equal("tagged face", &ours.mesh.faces, &expected.mesh.faces)?;
    equal(
        "parent of tetrahedron",
        &ours.tetrahedron_parents,
        &expected.tetrahedron_parents,
    )?;
    equal("parent of face", &ours.face_parents, &expected.face_parents)?;
    equal(
        "parents of vertex",
        &ours.vertex_parents,
        &expected.vertex_parents,
    )?;
    equal("region", &[&ours.mesh.regions], &[&expected.mesh.regions])
}

/// The corner of a cube.
fn corner() -> TetMesh {
    TetMesh {
        points: vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z],
        tetrahedra: vec![[0, 1, 2, 3]],
        faces: vec![TaggedTriangle {
            vertices: [1, 2, 3],
            tag: -4,
        }],
        ..Default::default()
    }
}

/// Tetrahedra that share a vertex or an edge only, and a vertex that none has.
fn touching() -> TetMesh {
    let point = |x, y, z| DVec3::new(x, y, z);
    oriented(TetMesh {
        points: vec![
            point(0.0, 0.0, 0.0),
            point(1.0, 0.0, 0.0),
            point(0.0, 1.5, 0.0),
            point(0.0, 0.0, 2.0),
            point(9.0, 9.0, 9.0),
            point(-1.0, 0.25, 0.0),
            point(0.0, -1.0, 0.0),
            point(0.0, 0.0, -3.0),
            point(-1.0, -1.0, -1.0),
        ],
        tetrahedra: vec![[0, 1, 2, 3], [0, 5, 6, 3], [0, 6, 8, 7]],
        ..Default::default()
    })
}

/// Tetrahedra around one edge.
fn fan(n: u32) -> TetMesh {
    // A circle without sines, which are not the same on every machine. It grows, so that lengths differ.
    let rim = (0..n).map(|i| {
        let t = 8.0 * f64::from(i) / f64::from(n);
        let radius = 1.0 + f64::from(i) / f64::from(n);
        let (x, y) = (1.0 - t * t, 2.0 * t);
        DVec3::new(x, y, 0.0) * (radius / (1.0 + t * t)) + DVec3::Z * (0.1 * f64::from(i % 3))
    });
    let mut points = vec![DVec3::NEG_Z, DVec3::Z * 1.5];
    points.extend(rim);
    oriented(TetMesh {
        points,
        tetrahedra: (2..n + 1).map(|i| [0, 1, i, i + 1]).collect(),
        ..Default::default()
    })
}

/// A grid whose nodes were not moved: lengths tie everywhere.
pub(super) fn equal_edges(n: usize) -> Result<TetMesh> {
    let mut mesh = generate::tet_grid(n, 0)?;
    let cells = (n as f64).cbrt().round() - 1.0;
    for point in &mut mesh.points {
        *point = (*point * cells).round();
    }
    Ok(mesh)
}

/// Tetrahedra i, i + 1, i + 4, i + 6; no two share an edge, since these four have every difference once.
fn crowded(n: u32) -> TetMesh {
    let point = |i: u32| {
        let i = f64::from(i);
        DVec3::new(i * 0.37 % 1.0, i * i * 0.11 % 1.0, i * i * i * 0.013 % 1.0)
    };
    oriented(TetMesh {
        points: (0..n).map(point).collect(),
        tetrahedra: (0..n)
            .map(|i| [0, 1, 4, 6].map(|step| (i + step) % n))
            .collect(),
        ..Default::default()
    })
}

pub(super) fn oriented(mut mesh: TetMesh) -> TetMesh {
    mesh.orient();
    mesh
}

/// The mesh with regions.
fn with_regions(mut mesh: TetMesh) -> TetMesh {
    mesh.regions = Some(
        (0..mesh.tetrahedra.len() as i32)
            .map(|t| t % 5 - 2)
            .collect(),
    );
    mesh
}

fn refused(on: &Device) -> Outcome {
    let all = Options::default();
    let check = |mesh: &TetMesh, element: &str, rule: &str| match run::<DVec3>(on, mesh, &all) {
        Err(error) => {
            let text = error.to_string();
            match text.starts_with(element) && text.contains(rule) {
                true => Ok(()),
                false => Err(format!("{text:?} is not {element} ... {rule}")),
            }
        }
        Ok(_) => Err(format!("{element} {rule} was not refused")),
    };
    let broken = |change: fn(&mut TetMesh)| {
        let mut mesh = corner();
        change(&mut mesh);
        mesh
    };
    check(
        &broken(|m| m.points[2].z = f64::INFINITY),
        "vertex 2",
        "not a finite number",
    )?;
    check(
        &broken(|m| m.tetrahedra[0][3] = 4),
        "tetrahedron 0",
        "out of range",
    )?;
    check(
        &broken(|m| m.tetrahedra[0].swap(1, 2)),
        "tetrahedron 0",
        "inverted or flat",
    )?;
    // Flat as exact arithmetic sees it.
    check(
        &broken(|m| m.points[3] = DVec3::new(0.5, 0.25, 0.0)),
        "tetrahedron 0",
        "inverted or flat",
    )?;
    check(
        &broken(|m| m.faces[0].vertices = [0, 1, 9]),
        "tagged face 0",
        "is no face of a tetrahedron",
    )?;
    check(
        &broken(|m| m.regions = Some(vec![])),
        "mesh",
        "region ids for 0",
    )?;
    // The smallest tetrahedron there is at this place: a midpoint falls on a vertex.
    check(
        &broken(|m| {
            for p in &mut m.points {
                *p = DVec3::ONE + *p * f64::EPSILON;
            }
        }),
        "level 1: tetrahedron",
        "too coarse",
    )?;
    // Too thin for the filter to decide, but not flat.
    let thin = broken(|m| {
        m.points[1] = DVec3::new(1.0, 1.0, 0.0);
        m.points[2] = DVec3::new(1.0, 1.0 + f64::EPSILON, 0.0);
    });
    run::<DVec3>(on, &thin, &all)?;
    Ok(())
}
