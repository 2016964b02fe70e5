//! Indexed Polylla on a device, with both repairs, against the sequential references of both methods.

use std::sync::Arc;

use glam::{DVec2, Vec2};
use gpu::point::MeshPoint;

use super::polylla::{tied_ring, with_regions};
use super::{Case, NamedMesh, Outcome, Size, equal, random};
use crate::validate;
use trioxide::Error;
use trioxide::device::Device;
use trioxide::half_edges::{DeviceTriangulation, Point};
use trioxide::indexed::{Neighbours, Options, Repair, indexed, opposite_to_corners};
use trioxide::mesh::{PolyllaLists, Ties, Triangulation};
use trioxide::polylla::Constraints;
use trioxide_reference as reference;
use trioxide_reference::indexed::IndexedTriangulation;

pub fn cases(meshes: &[NamedMesh], size: Size) -> Vec<Case> {
    let runs = match size {
        Size::Tiny => 1,
        Size::Small => 2,
        Size::Large => 10,
    };
    let mut cases = Vec::new();
    for (name, mesh) in meshes.iter().cloned().chain(more_meshes()) {
        let constrained = Arc::new(with_regions(&mesh));
        let plain = Arc::new(Triangulation {
            points: mesh.points,
            triangles: mesh.triangles,
            ..Default::default()
        });
        for (what, mesh) in [("", plain), (" with constraints", constrained)] {
            cases.push(Case::new(
                format!("indexed polylla of {name}{what}"),
                move |on| {
                    compare::<DVec2>(on, &mesh, runs)?;
                    compare::<Vec2>(on, &mesh, 1)
                },
            ));
        }
    }
    cases.push(Case::new(
        "indexed polylla: ties go by the order of the edges in a triangle",
        |on| {
            let mesh = random(2000, 5)?;
            compare_first::<DVec2>(on, &mesh)?;
            compare_first::<Vec2>(on, &mesh)
        },
    ));
    cases.push(Case::new(
        "indexed polylla refuses a ring of tied triangles",
        |on| {
            let options = Options {
                ties: Ties::First,
                ..Options::default()
            };
            match run::<DVec2>(on, &tied_ring(), options) {
                Err(Error::Invalid { element, .. }) if element.contains("ring") => Ok(()),
                other => Err(format!("not refused: {other:?}")),
            }
        },
    ));
    cases
}

/// Meshes for rules that the suite's other meshes do not reach: tips that the Trivertex array does not lead to, and
/// ties between the longest edges of a triangle.
fn more_meshes() -> Vec<NamedMesh> {
    vec![
        ("a hub".to_owned(), hubs(1)),
        ("two hubs at one vertex".to_owned(), hubs(2)),
        ("four rows of equal edges".to_owned(), equal_lengths(40)),
    ]
}

/// Rows of triangles, all of whose edges have the squared length 1, as rounded to `f64`.
fn equal_lengths(columns: u32) -> Triangulation {
    // The neighbour of the root of 3/4 whose square rounds to 3/4; its double is exact.
    const HEIGHT: f64 = 0.866_025_403_784_438_7;
    let width = columns + 1;
    let point = |i: u32| {
        let (row, column) = (f64::from(i / width), f64::from(i % width));
        DVec2::new(column + row / 2.0, (row - 2.0) * HEIGHT)
    };
    Triangulation {
        points: (0..5 * width).map(point).collect(),
        triangles: (0..4 * width)
            .filter(|i| i % width < columns)
            .flat_map(|a| [[a, a + 1, a + width], [a + 1, a + width + 1, a + width]])
            .collect(),
        ..Default::default()
    }
}

/// Eight triangles around vertex 0, whose spokes are longer than the rim and grow away from the first: one region with
/// a tip. Several hubs overlap at vertex 0, which has one triangle only in the Trivertex array.
fn hubs(count: u32) -> Triangulation {
    let rim = [
        (1.0, 0.0),
        (7.0, 7.0),
        (0.0, 10.0),
        (-8.0, 7.0),
        (-11.0, 0.0),
        (-8.0, -6.0),
        (0.0, -9.0),
        (6.0, -6.0),
    ];
    let mut mesh = Triangulation {
        points: vec![DVec2::ZERO],
        ..Default::default()
    };
    for hub in 0..count {
        mesh.points.extend(rim.map(DVec2::from));
        let vertex = |i: u32| 1 + 8 * hub + i % 8;
        mesh.triangles
            .extend((0..8).map(|i| [vertex(i), vertex(i + 1), 0]));
    }
    mesh
}

fn run<P: Point>(
    on: &Device,
    mesh: &Triangulation,
    options: Options,
) -> trioxide::Result<PolyllaLists> {
    let half_edges = DeviceTriangulation::<P>::upload(on, mesh)?;
    let constraints = Constraints::of(on, &half_edges, mesh)?;
    let neighbours = Neighbours::new(on, &half_edges)?;
    let result = indexed(on, &half_edges, &neighbours, constraints.as_ref(), options)?;
    Ok(result.download(on)?)
}

fn compare<P: Point>(on: &Device, mesh: &Triangulation, runs: usize) -> Outcome {
    let half_edges = reference::half_edges(&mesh.triangles, mesh.points.len());
    let points: Vec<P> = mesh.points.iter().map(|&p| P::from_f64(p)).collect();
    let constrained = reference::constrained_edges(mesh, &half_edges)?;
    let is_constrained = |h: u32| constrained[h as usize];
    let arrays = IndexedTriangulation::new(&mesh.triangles, mesh.points.len());
    let (expected, _) = reference::indexed(&points, &arrays, is_constrained, Ties::Edge);

    let (by_half_edges, _) = reference::polylla(&points, &half_edges, is_constrained, Ties::Edge);
    let by_half_edges = PolyllaLists {
        half_edges: by_half_edges.half_edges,
        polygons: by_half_edges.polygons,
        counts: by_half_edges.counts,
    };
    same(&expected, &by_half_edges)
        .map_err(|error| format!("references, {}: {error}", P::INSTANCE))?;
    if P::INSTANCE == DVec2::INSTANCE {
        let polygons = &expected.polygons;
        validate::polygons::polygons_of(&mesh.points, &half_edges, polygons, is_constrained)?;
    }

    let resident = match DeviceTriangulation::<P>::upload(on, mesh).map_err(Error::from) {
        Err(Error::Invalid { rule, .. })
            if P::INSTANCE == Vec2::INSTANCE && rule.contains("chosen precision") =>
        {
            return Ok(());
        }
        other => other?,
    };
    let neighbours = Neighbours::new(on, &resident)?;
    equal(
        "neighbours",
        &on.download_rows(neighbours.neighbours())?,
        &arrays.neighbours,
    )?;
    equal(
        "trivertex",
        &on.download_rows(neighbours.trivertex())?,
        &arrays.trivertex,
    )?;
    // The edge opposite to a corner starts at the next corner.
    let turned: Vec<[u32; 3]> = (arrays.neighbours.iter())
        .map(|&[a, b, c]| [b, c, a])
        .collect();
    equal(
        "neighbours opposite to corners",
        &on.download_rows::<_, [u32; 3]>(&opposite_to_corners(on, &resident)?)?,
        &turned,
    )?;
    for i in 0..runs {
        for repair in [Repair::Device, Repair::Host] {
            let options = Options {
                repair,
                ..Options::default()
            };
            let ours = run::<P>(on, mesh, options)?;
            same(&ours, &expected)
                .map_err(|error| format!("run {i}, {}, {repair:?}: {error}", P::INSTANCE))?;
        }
    }
    Ok(())
}

/// As [`compare`], by [`Ties::First`].
fn compare_first<P: Point>(on: &Device, mesh: &Triangulation) -> Outcome {
    let points: Vec<P> = mesh.points.iter().map(|&p| P::from_f64(p)).collect();
    let arrays = IndexedTriangulation::new(&mesh.triangles, mesh.points.len());
    let (expected, _) = reference::indexed(&points, &arrays, |_| false, Ties::First);
    let options = Options {
        ties: Ties::First,
        ..Options::default()
    };
    same(&run::<P>(on, mesh, options)?, &expected)
}

fn same(ours: &PolyllaLists, expected: &PolyllaLists) -> Outcome {
    equal("counts", &[ours.counts], &[expected.counts])?;
    equal("half-edges", &ours.half_edges, &expected.half_edges)?;
    let (ours, expected) = (&ours.polygons, &expected.polygons);
    equal("offsets", &ours.offsets, &expected.offsets)?;
    equal("vertices", &ours.vertices, &expected.vertices)
}
