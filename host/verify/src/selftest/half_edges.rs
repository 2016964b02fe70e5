//! Half-edges from triangles against the reference; meshes that must be refused.

use std::sync::Arc;

use glam::{DVec2, DVec3, Vec2, Vec3};
use gpu::point::MeshPoint;

use super::{Case, NamedMesh, Outcome, equal};
use crate::validate;
use trioxide::Error;
use trioxide::device::Device;
use trioxide::half_edges::{AnyPoint, DeviceTriangulation, Point};
use trioxide::mesh::{HalfEdges, Triangulation};
use trioxide_reference as reference;

pub fn cases(meshes: &[NamedMesh]) -> Vec<Case> {
    let mut cases: Vec<Case> = meshes
        .iter()
        .map(|(name, mesh)| {
            let mesh = Arc::new(mesh.clone());
            Case::new(format!("half-edges of {name}"), move |on| {
                let expected = reference::half_edges(&mesh.triangles, mesh.points.len());
                validate::half_edges(&expected)?;
                compare::<DVec2>(on, &mesh, &expected)?;
                compare::<Vec2>(on, &mesh, &expected)
            })
        })
        .collect();
    cases.push(Case::new("half-edges of a fan of 20k triangles", |on| {
        let mesh = fan(20_000);
        let expected = reference::half_edges(&mesh.triangles, mesh.points.len());
        compare::<DVec2>(on, &mesh, &expected)
    }));
    cases.push(Case::new("half-edges of triangles that overlap", |on| {
        let mesh = overlapping(61);
        let expected = reference::half_edges(&mesh.triangles, mesh.points.len());
        compare::<DVec2>(on, &mesh, &expected)
    }));
    cases.push(Case::new("bad meshes are refused", refuse_bad_meshes));
    cases
}

fn compare<P: Point>(on: &Device, mesh: &Triangulation, expected: &HalfEdges) -> Outcome {
    let ours = match DeviceTriangulation::<P>::upload(on, mesh).map_err(Error::from) {
        // Rounded to f32, a sliver can lose its area: then it must be refused, and it is.
        Err(Error::Invalid { rule, .. })
            if P::INSTANCE == Vec2::INSTANCE && rule.contains("chosen precision") =>
        {
            return Ok(());
        }
        other => other?,
    };
    let ours = ours.download(on)?;
    equal("origin", &ours.origin, &expected.origin)?;
    equal("twin", &ours.twin, &expected.twin)?;
    equal("next", &ours.next, &expected.next)?;
    equal("prev", &ours.prev, &expected.prev)?;
    equal("half-edge of vertex", &ours.of_vertex, &expected.of_vertex)
}

/// Triangles around vertex 0, which all of them share.
fn fan(n: u32) -> Triangulation {
    let angle = |i: u32| std::f64::consts::TAU * f64::from(i) / f64::from(n);
    let mut points = vec![DVec2::ZERO];
    points.extend((0..n).map(|i| DVec2::from_angle(angle(i))));
    Triangulation {
        points,
        triangles: (0..n).map(|i| [0, 1 + i, 1 + (i + 1) % n]).collect(),
        ..Default::default()
    }
}

/// Triangles between n points on a circle; no two share an edge: far more edges than a planar mesh has.
fn overlapping(n: u32) -> Triangulation {
    let mut steps: Vec<u32> = (1..n / 2).collect();
    let mut triangles = Vec::new();
    // Three arcs that make the whole circle; each arc length, or the rest of the circle to it, is taken once.
    while let Some(a) = steps.pop() {
        let rest = |b: u32| n - a - b;
        let fits = |&b: &u32| b != rest(b) && steps.contains(&rest(b));
        let Some(b) = steps.iter().copied().find(|b| *b < n - a && fits(b)) else {
            continue;
        };
        let c = rest(b);
        steps.retain(|&step| step != b && step != c);
        triangles.extend((0..n).map(|i| [i, (i + a) % n, (i + a + b) % n]));
    }
    let angle = |i: u32| std::f64::consts::TAU * f64::from(i) / f64::from(n);
    Triangulation {
        points: (0..n).map(|i| DVec2::from_angle(angle(i))).collect(),
        triangles,
        ..Default::default()
    }
}

/// Three points on one line are no triangle of the plane, as exact arithmetic says; in space two points are none that
/// are at one place.
fn refuse_degenerate<P: AnyPoint>(on: &Device, points: [P::Double; 3]) -> Outcome
where
    P::Double: Default,
{
    let mesh = Triangulation {
        points: points.to_vec(),
        triangles: vec![[0, 1, 2]],
        ..Default::default()
    };
    match DeviceTriangulation::<P>::upload(on, &mesh) {
        Ok(_) => Err(format!("{}: {points:?} are accepted", P::INSTANCE)),
        Err(error) if error.to_string().contains("degenerate") => Ok(()),
        Err(error) => Err(format!("{}: {error}", P::INSTANCE)),
    }
}

fn refuse_bad_meshes(on: &Device) -> Outcome {
    let square = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0), (0.5, 2.0)];
    let case = |change: &dyn Fn(&mut Triangulation), element: &str, rule: &str| -> Outcome {
        let mut mesh = Triangulation {
            points: square.iter().map(|&(x, y)| DVec2::new(x, y)).collect(),
            triangles: vec![[0, 1, 2], [0, 2, 3], [3, 2, 4]],
            ..Default::default()
        };
        change(&mut mesh);
        match DeviceTriangulation::<DVec2>::upload(on, &mesh) {
            Ok(_) => Err(format!("accepted, but {element} {rule}")),
            Err(error) => {
                let message = error.to_string();
                if message.contains(element) && message.contains(rule) {
                    Ok(())
                } else {
                    Err(format!("refused as \"{message}\", but {element} {rule}"))
                }
            }
        }
    };
    case(&|mesh| mesh.points[4].y = f64::NAN, "vertex 4", "finite")?;
    case(
        &|mesh| mesh.points[2].x = f64::INFINITY,
        "vertex 2",
        "finite",
    )?;
    case(
        &|mesh| mesh.triangles[1][2] = 5,
        "triangle 1",
        "has 5 vertices",
    )?;
    case(
        &|mesh| mesh.triangles[1][2] = u32::MAX,
        "triangle 1",
        "has 5 vertices",
    )?;
    case(
        &|mesh| mesh.triangles[2] = [2, 3, 4],
        "triangle 2",
        "clockwise",
    )?;
    case(&|mesh| mesh.triangles[2] = [3, 3, 4], "triangle 2", "twice")?;
    case(
        &|mesh| mesh.points[4] = DVec2::new(2.0, 1.0),
        "triangle 2",
        "degenerate",
    )?;
    case(
        &|mesh| mesh.triangles.push([0, 1, 2]),
        "triangle 3",
        "triangle 0 again",
    )?;
    // A second triangle on the same side of an edge: counter-clockwise, but the edge runs the same way twice.
    case(
        &|mesh| mesh.triangles.push([0, 1, 4]),
        "edge 0-1",
        "same side",
    )?;
    // A third triangle at an edge that two share already.
    case(
        &|mesh| mesh.triangles.push([0, 2, 4]),
        "edge 0-2",
        "3 triangles",
    )?;
    let line = [0.0, 1.0, 3.0];
    refuse_degenerate::<DVec2>(on, line.map(DVec2::splat))?;
    refuse_degenerate::<Vec2>(on, line.map(DVec2::splat))?;
    let surface = |points: [f64; 3]| Triangulation {
        points: points.map(DVec3::splat).to_vec(),
        triangles: vec![[0, 1, 2]],
        ..Default::default()
    };
    DeviceTriangulation::<DVec3>::upload(on, &surface(line))?;
    DeviceTriangulation::<Vec3>::upload(on, &surface(line))?;
    for points in [[0.0, 0.0, 3.0], [0.0, 3.0, 0.0], [3.0, -0.0, 0.0]] {
        refuse_degenerate::<DVec3>(on, points.map(DVec3::splat))?;
        refuse_degenerate::<Vec3>(on, points.map(DVec3::splat))?;
    }
    case(&|_| {}, "nothing", "is wrong")
        .err()
        .map_or(Ok(()), |message| {
            if message.starts_with("accepted") {
                Ok(())
            } else {
                Err(message)
            }
        })
}
