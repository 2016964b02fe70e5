//! Nested levels on a device against the serial reference, and against the rules that any result must keep.

mod solid;

use std::sync::Arc;

use glam::{DVec2, DVec3};

use super::{Case, NamedMesh, Outcome, Size, equal, polylla_surfaces};
use crate::validate;
use trioxide::Result;
use trioxide::device::Device;
use trioxide::half_edges::{AnyPoint, DeviceTriangulation};
use trioxide::levels::{Goal, Nested, levels};
use trioxide::mesh::{PolygonMesh, Polygons, Segment, Triangulation};
use trioxide::polylla::{Options, polylla};
use trioxide_reference as reference;

/// As many levels as there are.
const ALL: Goal = Goal {
    levels: None,
    until: Some(1),
};

/// The cases.
pub fn cases(meshes: &[NamedMesh], size: Size) -> Result<Vec<Case>> {
    let mut all: Vec<(String, PolygonMesh)> = vec![
        ("no polygons".into(), PolygonMesh::default()),
        (
            "squares".into(),
            squares(size.of(40) as u32, size.of(40) as u32),
        ),
        ("a strip".into(), squares(40, 1)),
        ("a wheel in a rim".into(), wheel(size.of(300) as u32)),
        (
            "a fan of needles in growing order".into(),
            fan(size.of(200) as u32),
        ),
        (
            "regions and segments".into(),
            constrained(size.of(20) as u32),
        ),
    ];
    for (name, mesh) in meshes
        .iter()
        .filter(|(_, mesh)| mesh.triangles.len() < 30_000)
    {
        all.push((name.clone(), triangles(mesh)));
        all.push((format!("polygons of {name}"), polygons(mesh)?));
    }
    let compared = all.into_iter().map(|(name, mesh)| {
        let mesh = Arc::new(mesh);
        Case::new(format!("levels of {name}"), move |on| compare(on, &mesh))
    });
    let surfaces = polylla_surfaces::meshes(size)?.into_iter();
    let surfaces = surfaces.map(|(name, mesh)| {
        let mesh = Arc::new(mesh);
        let with = mesh.regions.as_ref().map_or("", |_| " with constraints");
        Case::new(format!("levels on {name}{with}"), move |on| {
            compare_surface(on, &triangles(&mesh))?;
            compare_surface(on, &polygons(&mesh)?)
        })
    });
    Ok(compared
        .chain(surfaces)
        .chain(solid::cases(size)?)
        .chain([
            Case::new("levels end where they shall", ends),
            Case::new("levels of wrong meshes are refused", refused),
        ])
        .collect())
}

fn compare(on: &Device, mesh: &PolygonMesh) -> Outcome {
    let expected = reference::levels(mesh, ALL);
    let found = levels(on, mesh, ALL)?;
    same(&found, &expected)?;
    Ok(validate::levels(mesh, &found)?)
}

fn compare_surface(on: &Device, mesh: &PolygonMesh<DVec3>) -> Outcome {
    let expected = reference::levels(mesh, ALL);
    let found = levels(on, mesh, ALL)?;
    same(&found, &expected)?;
    Ok(validate::levels_of_surface(mesh, &found)?)
}

fn same(found: &Nested, expected: &Nested) -> Outcome {
    for level in 1..=found.levels().min(expected.levels()) {
        let name = format!("parents of level {level}");
        equal(&name, found.parents(level), expected.parents(level))?;
    }
    equal("levels", &[found.levels()], &[expected.levels()])?;
    equal("end", &[found.is_stuck], &[expected.is_stuck])
}

fn ends(on: &Device) -> Outcome {
    let mesh = squares(12, 12);
    let all = levels(on, &mesh, ALL)?;
    let goal = |levels, until| Goal { levels, until };
    for (goal, count) in [
        (goal(None, None), 0),
        (goal(Some(0), None), 0),
        (goal(Some(2), None), 2),
        (goal(Some(2), Some(1)), 2),
        (goal(None, Some(144)), 0),
        (goal(None, Some(all.pieces(1))), 1),
        (goal(None, Some(all.pieces(1) - 1)), 2),
    ] {
        let found = levels(on, &mesh, goal)?;
        equal(&format!("levels of {goal:?}"), &[found.levels()], &[count])?;
        same(&found, &reference::levels(&mesh, goal))?;
    }
    // One polygon has no borders.
    let one = squares(1, 1);
    let found = levels(on, &one, goal(None, Some(0)))?;
    same(&found, &reference::levels(&one, goal(None, Some(0))))
}

/// The words of a refusal, and the damage.
type Wrong = (&'static str, fn(&mut PolygonMesh));

fn refused(on: &Device) -> Outcome {
    let wrong: [Wrong; 3] = [
        (
            "polygon 0 has vertex 99, but the mesh has 9 vertices",
            |mesh| {
                mesh.polygons.vertices[1] = 99;
            },
        ),
        ("polygon 0 has an edge of more than two polygons", |mesh| {
            mesh.polygons.push(&[0, 1, 4]);
            mesh.polygons.push(&[0, 1, 4]);
        }),
        ("there are 1 regions for 4 polygons", |mesh| {
            mesh.regions = Some(vec![1])
        }),
    ];
    for (expected, break_it) in wrong {
        let mut mesh = squares(2, 2);
        break_it(&mut mesh);
        match levels(on, &mesh, ALL) {
            Ok(_) => return Err(format!("not refused: {expected}")),
            Err(error) => equal("message", &[error.to_string()], &[expected.to_string()])?,
        }
    }
    Ok(())
}

fn triangles<V: Clone>(mesh: &Triangulation<V>) -> PolygonMesh<V> {
    PolygonMesh {
        points: mesh.points.clone(),
        polygons: Polygons::from(mesh.triangles.clone()),
        regions: mesh.regions.clone(),
        segments: mesh.segments.clone(),
    }
}

fn polygons<V: AnyPoint<Double = V>>(mesh: &Triangulation<V>) -> Result<PolygonMesh<V>> {
    let on = Device::cpu(None)?;
    let there = DeviceTriangulation::<V>::upload(&on, mesh)?;
    let found = polylla(&on, &there, None, Options::default())?;
    Ok(PolygonMesh {
        points: mesh.points.clone(),
        polygons: found.download_lists(&on)?,
        regions: None,
        segments: Vec::new(),
    })
}

/// Squares of a grid.
fn squares(columns: u32, rows: u32) -> PolygonMesh {
    let mut mesh = PolygonMesh::default();
    let vertex = |x: u32, y: u32| y * (columns + 1) + x;
    for y in 0..=rows {
        let row = (0..=columns).map(|x| DVec2::new(f64::from(x), f64::from(y)));
        mesh.points.extend(row);
    }
    for (x, y) in (0..rows).flat_map(|y| (0..columns).map(move |x| (x, y))) {
        mesh.polygons.push(&[
            vertex(x, y),
            vertex(x + 1, y),
            vertex(x + 1, y + 1),
            vertex(x, y + 1),
        ]);
    }
    mesh
}

/// Squares in two regions, with a path of segments.
fn constrained(columns: u32) -> PolygonMesh {
    let mut mesh = squares(columns, 6);
    let region = |i: u32| if i % columns < columns / 3 { 1 } else { -2 };
    mesh.regions = Some((0..6 * columns).map(region).collect());
    let row = 3 * (columns + 1);
    mesh.segments = (row + columns / 2..row + columns)
        .map(|v| [v + 1, v])
        .map(|ends| Segment { ends, marker: 0 })
        .collect();
    mesh
}

/// A polygon of `n` sides with a trapezium at each side, and a ring of trapezia around these.
fn wheel(n: u32) -> PolygonMesh {
    let mut mesh = PolygonMesh::default();
    for radius in [1.0, 1.5, 4.0] {
        // Corners of a regular polygon, by rotations: the points need not be exact.
        let turn = DVec2::from_angle(std::f64::consts::TAU / f64::from(n));
        let mut corner = DVec2::new(radius, 0.0);
        for _ in 0..n {
            mesh.points.push(corner);
            corner = turn.rotate(corner);
        }
    }
    let hub: Vec<u32> = (0..n).collect();
    mesh.polygons.push(&hub);
    for ring in [0, n] {
        for i in 0..n {
            let next = (i + 1) % n;
            mesh.polygons
                .push(&[ring + i, ring + n + i, ring + n + next, ring + next]);
        }
    }
    mesh
}

/// Triangles around a vertex, each of whose spokes is longer than the one before: pairs form one after the other.
fn fan(n: u32) -> PolygonMesh {
    let mut mesh = PolygonMesh {
        points: vec![DVec2::ZERO],
        ..PolygonMesh::default()
    };
    for i in 0..=n {
        let angle = std::f64::consts::PI * f64::from(i) / f64::from(n);
        mesh.points
            .push(DVec2::from_angle(angle) * (1.0 + f64::from(i) / f64::from(n)));
    }
    for i in 1..=n {
        mesh.polygons.push(&[0, i, i + 1]);
    }
    mesh
}
