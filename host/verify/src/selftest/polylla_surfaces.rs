//! Polylla of surfaces in space on a device against the sequential reference, and against the rules of any result.

use std::f64::consts::TAU;
use std::sync::Arc;

use glam::{DVec3, Vec3, dvec3};
use gpu::point::MeshPoint;

use super::polylla::equal_meshes;
use super::{Case, Outcome, Size, equal};
use crate::validate::polygons::polylla_of_surface;
use trioxide::device::Device;
use trioxide::half_edges::{AnyPoint, DeviceTriangulation};
use trioxide::mesh::{PolyllaMesh, Segment, Ties, Triangulation};
use trioxide::polylla::{Angles, Constraints, Options, PolygonTriangles, polylla};
use trioxide_reference as reference;

type Surface = Triangulation<DVec3>;

/// Angles that edges stay for, from none on.
const ANGLES: [Angles; 4] = [
    Angles {
        feature: None,
        flatness: None,
    },
    Angles {
        feature: Some(25.0),
        flatness: None,
    },
    Angles {
        feature: None,
        flatness: Some(12.0),
    },
    Angles {
        feature: Some(40.0),
        flatness: Some(8.0),
    },
];

/// Surfaces with a border and without, with handles, constraints and edges of one length.
pub(super) fn meshes(size: Size) -> trioxide::Result<Vec<(&'static str, Surface)>> {
    let scan = trioxide::generate::scan(size.of(4000), 1)?.into_surface()?;
    // Few for an emulated GPU.
    let rows = match size {
        Size::Tiny => 9,
        _ => 60,
    };
    Ok(vec![
        ("a scan", tagged(&scan)),
        ("a scan", scan),
        ("a sphere", sphere(rows / 3 + 3, 20)),
        ("a torus", torus(rows, 23, true)),
        ("a sheet with a hole", tagged(&torus(rows, 19, false))),
        // Regular: many edges are equally long.
        ("a cylinder", cylinder(2, 30)),
        ("a strip", strip(40)),
        ("a ring", ring(40)),
        ("a cube", cube()),
        ("a tetrahedron", tetrahedra(1, false)),
        ("two tetrahedra that touch", tetrahedra(2, true)),
        ("three tetrahedra", tetrahedra(3, false)),
        ("a closed surface of two triangles", pillow()),
    ])
}

pub fn cases(size: Size) -> trioxide::Result<Vec<Case>> {
    // Few for an emulated GPU.
    let angles = match size {
        Size::Tiny => [ANGLES[0], ANGLES[3]].to_vec(),
        _ => ANGLES.to_vec(),
    };
    let mut cases = Vec::new();
    for (name, mesh) in meshes(size)? {
        let mesh = Arc::new(mesh);
        let with = match mesh.regions {
            Some(_) => " with constraints",
            None => "",
        };
        for strict in [false, true] {
            let (mesh, angles) = (mesh.clone(), angles.clone());
            let manner = if strict { ", strict" } else { "" };
            cases.push(Case::new(
                format!("polygons on {name}{with}{manner}"),
                move |on| {
                    let by_edges = angles.iter().map(|&angles| (strict, angles, Ties::Edge));
                    for how in by_edges.chain([(strict, ANGLES[0], Ties::First)]) {
                        compare::<DVec3>(on, &mesh, how)?;
                        compare::<Vec3>(on, &mesh, how)?;
                    }
                    Ok(())
                },
            ));
        }
    }
    cases.push(Case::new(
        "regions that are closed surfaces, and that are rings",
        |on| {
            for (mesh, expected) in [
                // Regions, tips, polygons that run along an edge twice, polygons.
                (tetrahedra(1, false), [1, 3, 0, 4]),
                (pillow(), [1, 2, 0, 2]),
                (ring(40), [1, 0, 1, 1]),
                (cube(), [6, 0, 0, 6]),
            ] {
                let there = DeviceTriangulation::<DVec3>::upload(on, &mesh)?;
                let found = polylla(on, &there, None, Options::default())?.counts();
                let counts = [
                    found.regions,
                    found.barrier_tips,
                    found.weakly_simple,
                    found.polygons,
                ];
                equal("counts", &counts, &expected)?;
            }
            Ok(())
        },
    ));
    cases.push(Case::new("edges of three triangles are refused", |on| {
        let mut mesh = tetrahedra(1, false);
        mesh.points.push(DVec3::ONE);
        mesh.triangles
            .push([mesh.triangles[0][0], mesh.triangles[0][1], 4]);
        match DeviceTriangulation::<DVec3>::upload(on, &mesh) {
            Err(error) if error.to_string().contains("belongs to 3 triangles") => Ok(()),
            other => Err(format!("not refused: {:?}", other.err())),
        }
    }));
    Ok(cases)
}

fn compare<P: AnyPoint + MeshPoint<Double = DVec3>>(
    on: &Device,
    mesh: &Surface,
    (strict, angles, ties): (bool, Angles, Ties),
) -> Outcome {
    let half_edges = reference::half_edges(&mesh.triangles, mesh.points.len());
    let points: Vec<P> = mesh.points.iter().map(|&p| P::from_f64(p)).collect();
    let given = reference::constrained_edges(mesh, &half_edges)?;
    let mut constrained = given.clone();
    reference::polylla::mark_angles(&points, &half_edges, &mut constrained, angles, ties);
    let is_constrained = |h: u32| constrained[h as usize];
    let options = Options {
        strict,
        ties,
        ..Options::default()
    };
    let run = || -> trioxide::Result<PolyllaMesh> {
        let there = DeviceTriangulation::<P>::upload(on, mesh)?;
        let constraints = Constraints::of(on, &there, mesh)?;
        let constraints = Constraints::with_angles(on, &there, constraints, angles, ties)?;
        let result = polylla(on, &there, constraints.as_ref(), options)?;
        let ours = result.download_mesh(on, &there)?;
        let triangles = result.download_triangles(on, &there)?;
        let expected =
            PolygonTriangles::of_polygons(mesh, &half_edges.twin, &ours.polygons, &ours.half_edges);
        assert_eq!(triangles, expected, "the triangles of the polygons");
        Ok(ours)
    };
    if reference::polylla::loses_triangles(&points, &half_edges, is_constrained, ties) {
        return match run() {
            Err(trioxide::Error::Invalid { element, .. }) if element.contains("ring") => Ok(()),
            other => Err(format!("not refused: {:?}", other.err())),
        };
    }
    let (mut expected, _) = reference::polylla(&points, &half_edges, is_constrained, ties);
    if strict {
        reference::polylla::split_weakly_simple(&half_edges, &mut expected);
    }
    let ours = run()?;
    let by = |error: String| format!("{}, {angles:?}, {ties:?}: {error}", P::INSTANCE);
    equal_meshes(&ours, &expected).map_err(by)?;
    if P::INSTANCE == DVec3::INSTANCE {
        let is_given = |h: u32| given[h as usize];
        let summary = polylla_of_surface(&mesh.points, &half_edges, &ours, is_given, angles)
            .map_err(|error| by(error.to_string()))?;
        if strict && summary.weakly_simple > 0 {
            return Err(format!(
                "{} polygons visit a vertex twice",
                summary.weakly_simple
            ));
        }
    }
    Ok(())
}

/// The surface with regions and segments.
fn tagged(mesh: &Surface) -> Surface {
    let mut mesh = mesh.clone();
    mesh.regions = Some((0..mesh.triangles.len()).map(|t| (t / 50) as i32).collect());
    let some = mesh.triangles.iter().step_by(31);
    let segment = |&[a, b, _]: &[u32; 3]| Segment {
        ends: [b, a],
        marker: 3,
    };
    mesh.segments = some.map(segment).collect();
    mesh
}

fn surface(points: Vec<DVec3>, triangles: Vec<[u32; 3]>) -> Surface {
    Triangulation {
        points,
        triangles,
        ..Default::default()
    }
}

/// Quadrilaterals in `rows` of `columns`, cut along a diagonal; their vertices by row and column.
fn cut(rows: u32, columns: u32, vertex: impl Fn(u32, u32) -> u32) -> Vec<[u32; 3]> {
    let mut triangles = Vec::new();
    for i in 0..rows {
        for j in 0..columns {
            let [a, b] = [vertex(i, j), vertex(i, j + 1)];
            let [d, c] = [vertex(i + 1, j), vertex(i + 1, j + 1)];
            triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    triangles
}

/// A torus, uneven; cut open it is a sheet, from which some triangles are taken.
fn torus(rows: u32, columns: u32, closed: bool) -> Surface {
    let mut points = Vec::new();
    for i in 0..rows {
        for j in 0..columns {
            let uneven = f64::from((i * 7919 + j * 104_729) % 97) / 97.0;
            let u = TAU * (f64::from(i) + 0.4 * uneven) / f64::from(rows);
            let v = TAU * (f64::from(j) + 0.3 * uneven) / f64::from(columns);
            let r = 2.0 + libm::cos(v);
            points.push(dvec3(r * libm::cos(u), r * libm::sin(u), libm::sin(v)));
        }
    }
    let vertex = |i: u32, j: u32| (i % rows) * columns + j % columns;
    let mut triangles = match closed {
        true => cut(rows, columns, vertex),
        false => cut(rows - 1, columns - 1, vertex),
    };
    if !closed {
        triangles.drain(7..15);
    }
    surface(points, triangles)
}

/// A cylinder without its ends.
fn cylinder(rows: u32, columns: u32) -> Surface {
    let mut points = Vec::new();
    for i in 0..=rows {
        for j in 0..columns {
            let u = TAU * f64::from(j) / f64::from(columns);
            points.push(dvec3(libm::cos(u), libm::sin(u), 0.5 * f64::from(i)));
        }
    }
    surface(points, cut(rows, columns, |i, j| i * columns + j % columns))
}

/// A sphere of rows around an axis, uneven.
fn sphere(rows: u32, columns: u32) -> Surface {
    let mut points = vec![dvec3(0.0, 0.0, 1.0), dvec3(0.0, 0.0, -1.0)];
    for i in 1..rows {
        for j in 0..columns {
            let uneven = f64::from((i * 31 + j * 57) % 13) / 13.0;
            let theta = 0.5 * TAU * (f64::from(i) + 0.3 * uneven) / f64::from(rows);
            let u = TAU * (f64::from(j) + 0.4 * uneven) / f64::from(columns);
            let r = libm::sin(theta);
            points.push(dvec3(r * libm::cos(u), r * libm::sin(u), libm::cos(theta)));
        }
    }
    let vertex = |i: u32, j: u32| 2 + i * columns + j % columns;
    let mut triangles: Vec<[u32; 3]> = cut(rows - 2, columns, vertex)
        .into_iter()
        .map(|[a, b, c]| [a, c, b])
        .collect();
    for j in 0..columns {
        triangles.push([0, vertex(0, j), vertex(0, j + 1)]);
        triangles.push([1, vertex(rows - 2, j + 1), vertex(rows - 2, j)]);
    }
    surface(points, triangles)
}

/// A curved strip of equal triangles, each of which points to the next by ids alone.
fn strip(count: u32) -> Surface {
    let points = (0..count + 2)
        .map(|i| {
            let u = 0.1 * f64::from(i);
            dvec3(
                10.0 * libm::cos(u),
                10.0 * libm::sin(u),
                2.0 * f64::from(i % 2),
            )
        })
        .collect();
    let triangle = |i: u32| {
        if i.is_multiple_of(2) {
            [i, i + 2, i + 1]
        } else {
            [i, i + 1, i + 2]
        }
    };
    surface(points, (0..count).map(triangle).collect())
}

/// A closed strip around an axis, whose edges grow towards its first: one region, with one edge inside.
fn ring(count: u32) -> Surface {
    let point = |i: u32| {
        let (u, rest) = (TAU * f64::from(i) / f64::from(count), f64::from(count - i));
        let z = if i.is_multiple_of(2) {
            -0.03 * rest
        } else {
            3.0 + 0.1 * rest
        };
        dvec3(libm::cos(u), libm::sin(u), z)
    };
    let mut mesh = strip(count);
    mesh.points = (0..count).map(point).collect();
    for v in mesh.triangles.as_flattened_mut() {
        *v %= count;
    }
    mesh
}

fn cube() -> Surface {
    let corner = |i: u32| dvec3((i & 1).into(), (i >> 1 & 1).into(), (i >> 2).into());
    let faces = [
        [0, 2, 3, 1],
        [4, 5, 7, 6],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 4, 6, 2],
        [1, 3, 7, 5],
    ];
    let triangles = faces
        .iter()
        .flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]);
    surface((0..8).map(corner).collect(), triangles.collect())
}

/// Tetrahedra beside each other, or all at vertex 0.
fn tetrahedra(count: u32, touch: bool) -> Surface {
    let (mut points, mut triangles) = (vec![DVec3::ZERO], Vec::new());
    for i in 0..count {
        let side = if i.is_multiple_of(2) { 1.0 } else { -1.0 };
        let move_by = if touch { 0.0 } else { 3.0 * f64::from(i) };
        let origin = if touch || i == 0 {
            0
        } else {
            points.len() as u32
        };
        if origin > 0 {
            points.push(dvec3(move_by, 0.0, 0.0));
        }
        let first = points.len() as u32;
        points.extend([
            dvec3(move_by + side, 0.1, 0.0),
            dvec3(move_by, 1.2 * side, 0.2),
            dvec3(move_by + 0.1, 0.0, 0.9 * side),
        ]);
        let [a, b, c, d] = [origin, first, first + 1, first + 2];
        triangles.extend([[a, c, b], [a, b, d], [b, c, d], [a, d, c]]);
    }
    surface(points, triangles)
}

fn pillow() -> Surface {
    let points = vec![DVec3::ZERO, dvec3(1.0, 0.0, 0.5), dvec3(0.2, 0.7, 0.0)];
    surface(points, vec![[0, 1, 2], [0, 2, 1]])
}
