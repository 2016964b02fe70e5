//! Operations on meshes times a power of two.

use trioxide::mesh::Mesh;
use trioxide::volume::VolumeMesh;
use trioxide::{Device, generate};

use super::*;
use crate::smooth::FilterKind;
use crate::{decimate, polyhedra, polylla, refine, refine_tets, reorder, repair, smooth, weld};

fn scaled(points: &mut [DVec3], exponent: i32) {
    for p in points {
        *p = p.to_array().map(|x| times(x, exponent)).into();
    }
}

fn at(mesh: &Mesh, exponent: i32) -> Mesh {
    let mut mesh = mesh.clone();
    scaled(&mut mesh.points, exponent);
    mesh
}

fn volume_at(mesh: &VolumeMesh, exponent: i32) -> VolumeMesh {
    let mut mesh = mesh.clone();
    scaled(&mut mesh.points, exponent);
    mesh
}

/// The points of a result, and all else that does not depend on the size, in text.
type Made = (Vec<DVec3>, String);
type Case = (&'static str, Box<dyn Fn(i32) -> Result<Made>>);

fn made(mesh: Mesh, counts: &impl std::fmt::Debug) -> Made {
    (
        mesh.points,
        format!("{:?} {:?} {counts:?}", mesh.faces, mesh.fields),
    )
}

/// The result of each operation on a mesh times 2^k is that on the mesh, times 2^k, or a refusal.
#[test]
fn operations_do_not_depend_on_the_size() {
    let on = Device::cpu(Some(2)).unwrap();
    let plane = Mesh::from(generate::random(&on, 80, 1).unwrap());
    let scan = generate::scan(120, 3).unwrap();
    let tets = VolumeMesh::from(generate::random_tets(60, 5).unwrap());
    let mut holed = scan.clone();
    if let trioxide::mesh::Faces::Triangles(triangles) = &mut holed.faces {
        triangles.swap_remove(7);
    }
    let mut cases: Vec<Case> = Vec::new();
    for precision in [Precision::F64, Precision::F32] {
        let sweeps = smooth::Options {
            precision,
            max_iterations: 3,
            ..smooth::Options::default()
        };
        let slide = smooth::Options {
            boundary: trioxide::smooth::BoundaryRule::Slide,
            ..sweeps.clone()
        };
        let guard = smooth::Options {
            guard: true,
            ..sweeps.clone()
        };
        let improve = smooth::Options {
            improve: true,
            ..sweeps.clone()
        };
        let taubin = smooth::Options {
            method: FilterKind::Taubin,
            weights: trioxide::smooth::Weights::Cotangent,
            ..sweeps.clone()
        };
        let (flat, of_surfaces) = ([&sweeps, &slide, &improve], [&sweeps, &taubin]);
        let of_surfaces = of_surfaces.map(|options| (&scan, options));
        for (mesh, options) in flat
            .map(|options| (&plane, options))
            .into_iter()
            .chain(of_surfaces)
        {
            let (mesh, options, on) = (mesh.clone(), options.clone(), on.clone());
            cases.push((
                "smooth",
                Box::new(move |k| {
                    let (mesh, report) = smooth(&on, at(&mesh, k), &options)?;
                    let moves = report.totals.moves;
                    let step =
                        [moves.max_displacement, moves.rms_displacement].map(|x| times(x, -k));
                    Ok(made(mesh, &(step, moves.sweeps, report.totals.moving)))
                }),
            ));
        }
        for options in [&sweeps, &slide, &guard, &improve] {
            let (mesh, options, on) = (tets.clone(), options.clone(), on.clone());
            cases.push((
                "smooth cells",
                Box::new(move |k| {
                    let (mesh, report) = crate::smooth_volume(&on, volume_at(&mesh, k), &options)?;
                    Ok((mesh.points, format!("{:?}", report.totals.moving)))
                }),
            ));
        }
        let joined = polylla::Options {
            precision,
            strict: true,
            ..polylla::Options::default()
        };
        let short = polylla::Options {
            min_edge: Some(0.2),
            ..joined
        };
        let nested = polylla::Options {
            levels: Some(2),
            ..joined
        };
        for (mesh, options) in [
            (&plane, joined),
            (&plane, short),
            (&plane, nested),
            (&scan, nested),
        ] {
            let (mesh, on) = (mesh.clone(), on.clone());
            cases.push((
                "polylla",
                Box::new(move |k| {
                    let (mesh, report) = polylla(&on, at(&mesh, k), &options)?;
                    Ok(made(mesh, &report.totals))
                }),
            ));
        }
        for rule in [
            trioxide::polyhedra::Rule::default(),
            trioxide::polyhedra::Rule::Cavity,
        ] {
            let options = polyhedra::Options {
                rule,
                shared: polylla::Options {
                    precision,
                    ..polylla::Options::default()
                },
                ..polyhedra::Options::default()
            };
            let (mesh, on) = (tets.clone(), on.clone());
            cases.push((
                "polyhedra",
                Box::new(move |k| {
                    let (mesh, report) = polyhedra(&on, volume_at(&mesh, k), &options)?;
                    Ok((mesh.points, format!("{:?} {:?}", mesh.sides, report.totals)))
                }),
            ));
        }
        let options = refine::Options {
            precision,
            ..refine::Options::default()
        };
        let (mesh, of_plane, there) = (scan.clone(), options.clone(), on.clone());
        cases.push((
            "refine",
            Box::new(move |k| {
                let (mesh, report) = refine(&there, at(&mesh, k), &of_plane)?;
                Ok(made(mesh, &report.totals))
            }),
        ));
        let (mesh, there) = (tets.clone(), on.clone());
        cases.push((
            "refine cells",
            Box::new(move |k| {
                let (mesh, report) = refine_tets(&there, volume_at(&mesh, k), &options)?;
                Ok((mesh.points, format!("{:?} {:?}", mesh.cells, report.totals)))
            }),
        ));
    }
    let mend = repair::Options {
        degenerate: Some(0.3),
        fill_holes: Some(100),
        all: true,
        ..repair::Options::default()
    };
    let (mesh, there) = (holed, on.clone());
    cases.push((
        "repair",
        Box::new(move |k| {
            let (mesh, report) = repair(&there, at(&mesh, k), &mend)?;
            Ok(made(mesh, &report.totals))
        }),
    ));
    let (mesh, there) = (scan.clone(), on.clone());
    cases.push((
        "weld",
        Box::new(move |k| {
            let (mesh, report) = weld(&there, at(&mesh, k), &weld::Options::new(times(0.3, k)))?;
            Ok(made(mesh, &report.totals.welded_faces))
        }),
    ));
    for (to, error) in [(Some(60), None), (None, Some(0.05))] {
        let (mesh, there) = (scan.clone(), on.clone());
        cases.push((
            "decimate",
            Box::new(move |k| {
                let options = decimate::Options {
                    to,
                    error: error.map(|error| times(error, k)),
                    ..decimate::Options::default()
                };
                let (mesh, report) = decimate(&there, at(&mesh, k), &options)?;
                Ok(made(mesh, &report.totals))
            }),
        ));
    }
    let (mesh, there) = (scan, on.clone());
    cases.push((
        "reorder",
        Box::new(move |k| {
            let (mesh, _) = reorder(&there, at(&mesh, k))?;
            Ok(made(mesh, &()))
        }),
    ));
    let mut refused = 0;
    for (name, run) in &cases {
        let (mut points, text) = run(0).unwrap();
        let unscaled = points.clone();
        for k in [40, -40, 100, -100, 300, -300, 500, -500] {
            match run(k) {
                Ok((found, found_text)) => {
                    points.clone_from(&unscaled);
                    scaled(&mut points, k);
                    assert!(found == points, "{name} times 2^{k}: other points");
                    assert_eq!(found_text, text, "{name} times 2^{k}");
                }
                Err(error) => {
                    refused += 1;
                    let is_of = |name: &&str| name.starts_with("refine") || *name == "weld";
                    let said = error.to_string();
                    assert!(
                        is_of(name) && said.contains("precision"),
                        "{name} 2^{k}: {said}"
                    );
                }
            }
        }
    }
    assert!(refused > 0);
}

#[test]
fn digits_that_would_be_lost_are_named() {
    let mut points = vec![
        DVec3::X * 1e300,
        DVec3::new(0.0, 1.5 * f64::MIN_POSITIVE, 0.0),
    ];
    let error = Scale::take(&mut points, Precision::F64).unwrap_err();
    let said = error.to_string();
    assert!(
        said.contains("vertex 1 lies at (0e0, 3.337") && said.contains("another unit"),
        "{said}"
    );
    // Small ones beside large ones are kept by a smaller scale.
    let mut points = vec![DVec3::X * 1e17, DVec3::Y * 1e-300];
    let before = points.clone();
    let scale = Scale::take(&mut points, Precision::F64).unwrap();
    assert!(scale != Scale(0) && points[0].x < 1e16);
    scale.give(&mut points).unwrap();
    assert_eq!(points, before);
    // A result that has no double, and one too large.
    let mut points = vec![DVec3::X * f64::from_bits(8)];
    let scale = Scale::take(&mut points, Precision::F64).unwrap();
    assert_eq!(points[0].x, 1.0);
    assert!(scale.give(&mut [DVec3::X * 1.03125]).is_err());
    assert!(Scale(1020).give(&mut [DVec3::X * 64.0]).is_err());
    assert_eq!(Scale(1020).option(1e-300), f64::from_bits(1));
    assert_eq!(Scale(-1020).option(1e300), f64::MAX);
}
