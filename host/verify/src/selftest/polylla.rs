//! Polylla on a device against the sequential reference, and against the rules that any result must keep.

use std::sync::Arc;

use glam::{DVec2, Vec2};
use gpu::point::MeshPoint;

use super::{Case, NamedMesh, Outcome, Size, equal, random};
use crate::validate;
use trioxide::Error;
use trioxide::device::Device;
use trioxide::digest;
use trioxide::half_edges::{DeviceTriangulation, Point};
use trioxide::mesh::{PolyllaLists, PolyllaMesh, Segment, Ties, Triangulation};
use trioxide::polylla::{
    Constraints, Options, WholeIds, convex_pieces, digest_of_part, polylla, triangles_of_polygons,
};
use trioxide_reference as reference;

pub fn cases(meshes: &[NamedMesh], size: Size) -> Vec<Case> {
    let runs = match size {
        Size::Tiny => 1,
        Size::Small => 2,
        Size::Large => 10,
    };
    let mut cases = Vec::new();
    for (name, mesh) in meshes {
        let mesh = Arc::new(mesh.clone());
        let with_regions = Arc::new(with_regions(&mesh));
        let plain = Arc::new(Triangulation {
            points: mesh.points.clone(),
            triangles: mesh.triangles.clone(),
            ..Default::default()
        });
        for (what, mesh) in [("", plain), (" with constraints", with_regions)] {
            for strict in [false, true] {
                let mesh = mesh.clone();
                let manner = if strict { ", strict" } else { "" };
                cases.push(Case::new(
                    format!("polylla of {name}{what}{manner}"),
                    move |on| {
                        compare::<DVec2>(on, &mesh, strict, runs)?;
                        compare::<Vec2>(on, &mesh, strict, 1)?;
                        triangles(on, &mesh, strict)?;
                        digests(on, &mesh, strict)
                    },
                ));
            }
        }
    }
    for (name, mesh) in meshes {
        let mesh = Arc::new(with_regions(mesh));
        cases.push(Case::new(format!("convex pieces of {name}"), move |on| {
            convex::<DVec2>(on, &mesh)?;
            convex::<Vec2>(on, &mesh)
        }));
    }
    cases.push(Case::new("a grid gives its squares", move |on| {
        for k in [2u32, 3, 17, size.of(100) as u32] {
            let mesh = trioxide::generate::grid((k * k) as usize)?;
            let ours = run::<DVec2>(on, &mesh, Options::default())?;
            equal("polygons", &[ours.counts.polygons], &[(k - 1) * (k - 1)])?;
        }
        Ok(())
    }));
    cases.push(Case::new(
        "a ring of tied triangles is refused or has its seed",
        |on| {
            let mesh = tied_ring();
            let first = Options {
                ties: Ties::First,
                ..Options::default()
            };
            match run::<DVec2>(on, &mesh, first) {
                Err(Error::Invalid { element, .. }) if element.contains("ring") => {}
                other => return Err(format!("not refused: {other:?}")),
            }
            let ours = run::<DVec2>(on, &mesh, Options::default())?;
            equal("regions", &[ours.counts.regions], &[1])
        },
    ));
    cases.push(Case::new(
        "ties go by the order of the edges in a triangle",
        |on| {
            let mesh = random(2000, 5)?;
            compare_first::<DVec2>(on, &mesh)?;
            compare_first::<Vec2>(on, &mesh)
        },
    ));
    cases.push(Case::new(
        "polygons have the regions of their triangles",
        |on| {
            let mesh = with_regions(&random(2000, 3)?);
            let regions = mesh.regions.as_deref().unwrap_or_default();
            let there = DeviceTriangulation::<DVec2>::upload(on, &mesh)?;
            let constraints = Constraints::of(on, &there, &mesh)?;
            let result = polylla(on, &there, constraints.as_ref(), Options::default())?;
            let ours = result.regions(on, &there, &on.upload(regions)?)?;
            let half_edges: Vec<u32> = on.download_rows(result.half_edges())?;
            let region = |h: &u32| regions[*h as usize / 3];
            let expected: Vec<i32> = half_edges.iter().map(region).collect();
            equal("regions", &on.download(&ours)?, &expected)?;
            match result.regions(on, &there, &on.upload(&regions[1..])?) {
                Err(trioxide::polylla::Error::Regions { .. }) => Ok(()),
                other => Err(format!("not refused: {:?}", other.err())),
            }
        },
    ));
    cases.push(Case::new(
        "triangles of polygons are those of their own mesh",
        |on| {
            let mesh = random(500, 3)?;
            let there = DeviceTriangulation::<DVec2>::upload(on, &mesh)?;
            let again = DeviceTriangulation::<DVec2>::upload(on, &mesh)?;
            let result = polylla(on, &there, None, Options::default())?;
            match result.triangles(on, &again) {
                Err(trioxide::polylla::Error::OtherMesh { .. }) => Ok(()),
                other => Err(format!("not refused: {:?}", other.err())),
            }
        },
    ));
    cases.push(Case::new("a segment that is no edge is refused", |on| {
        let mut mesh = trioxide::generate::grid(9)?;
        mesh.segments.push(Segment {
            ends: [0, 8],
            marker: 1,
        });
        match run::<DVec2>(on, &mesh, Options::default()) {
            Err(Error::Invalid { element, .. }) if element.contains("segment 0") => Ok(()),
            other => Err(format!("not refused: {other:?}")),
        }
    }));
    cases
}

/// Triangles around vertex 0 with spokes of exactly equal length, each pointing at the next by its first longest edge.
pub(super) fn tied_ring() -> Triangulation {
    let rim = [
        (5, 0),
        (4, 3),
        (3, 4),
        (0, 5),
        (-3, 4),
        (-4, 3),
        (-5, 0),
        (-4, -3),
        (-3, -4),
        (0, -5),
        (3, -4),
        (4, -3),
    ];
    let mut points = vec![DVec2::ZERO];
    points.extend(
        rim.iter()
            .map(|&(x, y)| DVec2::new(f64::from(x), f64::from(y))),
    );
    Triangulation {
        points,
        triangles: (0..12).map(|i| [0, 1 + i, 1 + (i + 1) % 12]).collect(),
        ..Default::default()
    }
}

/// The mesh with its own regions and segments; where it has none, four regions and some of its edges as segments.
pub(super) fn with_regions(mesh: &Triangulation) -> Triangulation {
    let mut mesh = mesh.clone();
    if mesh.regions.is_none() && mesh.segments.is_empty() {
        let centre = mesh.points.iter().sum::<DVec2>() / mesh.points.len() as f64;
        let region = |t: &[u32; 3]| {
            let p = t.iter().map(|&v| mesh.points[v as usize]).sum::<DVec2>() / 3.0;
            i32::from(p.x > centre.x) + 2 * i32::from(p.y > centre.y)
        };
        mesh.regions = Some(mesh.triangles.iter().map(region).collect());
        // Many end inside of a region.
        let segment = |t: &[u32; 3]| Segment {
            ends: [t[1], t[0]],
            marker: 7,
        };
        mesh.segments = mesh.triangles.iter().step_by(97).map(segment).collect();
    }
    mesh
}

fn run<P: Point>(
    on: &Device,
    mesh: &Triangulation,
    options: Options,
) -> trioxide::Result<PolyllaMesh> {
    let half_edges = DeviceTriangulation::<P>::upload(on, mesh)?;
    let constraints = Constraints::of(on, &half_edges, mesh)?;
    let result = polylla(on, &half_edges, constraints.as_ref(), options)?;
    Ok(result.download_mesh(on, &half_edges)?)
}

/// The triangles of each polygon, and the polygon of each triangle, against a search between the sides of each polygon.
fn triangles(on: &Device, mesh: &Triangulation, strict: bool) -> Outcome {
    let there = DeviceTriangulation::<DVec2>::upload(on, mesh)?;
    let constraints = Constraints::of(on, &there, mesh)?;
    let options = Options {
        strict,
        ..Options::default()
    };
    let result = polylla(on, &there, constraints.as_ref(), options)?;
    let (map, lists) = result.triangles(on, &there)?;
    let host = result.download(on)?;
    let mix = triangles_of_polygons(mesh, &host.polygons, &host.half_edges);
    let (mut offsets, mut items) = (vec![0], Vec::new());
    let mut polygons = vec![u32::MAX; mesh.triangles.len()];
    for (row, p) in mix.rows().zip(0..) {
        for (triangle, _) in row {
            items.push(triangle);
            polygons[triangle as usize] = p;
        }
        offsets.push(items.len() as u32);
    }
    equal("map", &on.download_rows::<_, u32>(&map)?, &polygons)?;
    equal("offsets", &on.download(lists.offsets())?, &offsets)?;
    let found: Vec<u32> = on.download_rows(lists.items())?;
    equal("triangles", &found, &items)
}

/// The digest of polygons on the device, by ids that begin with 0, that begin far behind, and that are lists.
fn digests(on: &Device, mesh: &Triangulation, strict: bool) -> Outcome {
    let there = DeviceTriangulation::<DVec2>::upload(on, mesh)?;
    let options = Options {
        strict,
        ..Options::default()
    };
    let result = polylla(on, &there, None, options)?;
    let host = result.download(on)?;
    equal(
        "digest",
        &[result.digest(on)?],
        &[digest_of(&host, |t| t, |v| v)],
    )?;
    let (half_edges, lists) = result.into_arrays();
    let lists = lists.expect("the options ask for them");
    const FAR: u64 = 1 << 33;
    let list = |elements: usize| {
        (0..elements as u64)
            .map(|i| i * i + FAR)
            .collect::<Vec<u64>>()
    };
    let (triangles, vertices) = (list(mesh.triangles.len()), list(mesh.points.len()));
    let ids = [
        (WholeIds::From(FAR), WholeIds::List(&vertices)),
        (WholeIds::List(&triangles), WholeIds::From(FAR)),
    ];
    let (by_square, far) = (|i: u64| i * i + FAR, |i: u64| i + FAR);
    let expected = [
        digest_of(&host, far, by_square),
        digest_of(&host, by_square, far),
    ];
    for ((triangles, vertices), expected) in ids.into_iter().zip(expected) {
        // SAFETY: the lists of this mesh, and an id for each of its triangles and vertices.
        let ours = unsafe { digest_of_part(on, &half_edges, &lists, triangles, vertices) }?;
        equal("digest of a part", &[ours], &[expected])?;
    }
    Ok(())
}

fn digest_of(
    lists: &PolyllaLists,
    triangle: impl Fn(u64) -> u64 + Sync,
    vertex: impl Fn(u64) -> u64 + Sync,
) -> u64 {
    digest::of_polygons(lists.half_edges.len(), |i| {
        let h = u64::from(lists.half_edges[i]);
        let vertices = lists.polygons.get(i).iter().map(|&v| vertex(v.into()));
        digest::of_polygon(3 * triangle(h / 3) + h % 3, vertices)
    })
}

/// Convex pieces against the sequential algorithm and their definition.
fn convex<P: Point>(on: &Device, mesh: &Triangulation) -> Outcome {
    let half_edges = reference::half_edges(&mesh.triangles, mesh.points.len());
    let points: Vec<P> = mesh.points.iter().map(|&p| P::from_f64(p)).collect();
    let constrained = reference::constrained_edges(mesh, &half_edges)?;
    let is_constrained = |h: u32| constrained[h as usize];
    let (polygons, _) = reference::polylla(&points, &half_edges, is_constrained, Ties::Edge);
    let mut expected = polygons.clone();
    reference::polylla::cut_convex(&points, &half_edges, &mut expected);
    let run = || -> trioxide::Result<PolyllaMesh> {
        let there = DeviceTriangulation::<P>::upload(on, mesh)?;
        let constraints = Constraints::of(on, &there, mesh)?;
        let result = polylla(on, &there, constraints.as_ref(), Options::default())?;
        Ok(convex_pieces(on, &there, result)?.download_mesh(on, &there)?)
    };
    let ours = match run() {
        Err(Error::Invalid { rule, .. })
            if P::INSTANCE == Vec2::INSTANCE && rule.contains("chosen precision") =>
        {
            return Ok(());
        }
        ours => ours?,
    };
    equal("next", &ours.next, &expected.next)?;
    equal("prev", &ours.prev, &expected.prev)?;
    equal("half-edges", &ours.half_edges, &expected.half_edges)?;
    equal(
        "vertices",
        &ours.polygons.vertices,
        &expected.polygons.vertices,
    )?;
    equal("counts", &[ours.counts], &[expected.counts])?;
    let points: Vec<DVec2> = points.iter().map(|p| p.to_f64()).collect();
    validate::polygons::polylla(&points, &half_edges, &ours, is_constrained)?;
    validate::polygons::convex_pieces(&points, &half_edges, &polygons, &ours)?;
    Ok(())
}

/// As [`compare`], by [`Ties::First`].
fn compare_first<P: Point>(on: &Device, mesh: &Triangulation) -> Outcome {
    let half_edges = reference::half_edges(&mesh.triangles, mesh.points.len());
    let points: Vec<P> = mesh.points.iter().map(|&p| P::from_f64(p)).collect();
    let (expected, _) = reference::polylla(&points, &half_edges, |_| false, Ties::First);
    let options = Options {
        ties: Ties::First,
        ..Options::default()
    };
    let ours = run::<P>(on, mesh, options)?;
    equal("half-edges", &ours.half_edges, &expected.half_edges)?;
    equal(
        "vertices",
        &ours.polygons.vertices,
        &expected.polygons.vertices,
    )
}

fn compare<P: Point>(on: &Device, mesh: &Triangulation, strict: bool, runs: usize) -> Outcome {
    let half_edges = reference::half_edges(&mesh.triangles, mesh.points.len());
    let points: Vec<P> = mesh.points.iter().map(|&p| P::from_f64(p)).collect();
    let constrained = reference::constrained_edges(mesh, &half_edges)?;
    let is_constrained = |h: u32| constrained[h as usize];
    let (mut expected, _) = reference::polylla(&points, &half_edges, is_constrained, Ties::Edge);
    if strict {
        reference::polylla::split_weakly_simple(&half_edges, &mut expected);
    }
    let options = Options {
        strict,
        ..Options::default()
    };
    for i in 0..runs {
        let ours = match run::<P>(on, mesh, options) {
            Err(Error::Invalid { rule, .. })
                if P::INSTANCE == Vec2::INSTANCE && rule.contains("chosen precision") =>
            {
                return Ok(());
            }
            other => other?,
        };
        equal_meshes(&ours, &expected)
            .map_err(|error| format!("run {i}, {}: {error}", P::INSTANCE))?;
        if i == 0 && P::INSTANCE == DVec2::INSTANCE {
            let summary =
                validate::polygons::polylla(&mesh.points, &half_edges, &ours, is_constrained)?;
            if strict && summary.weakly_simple > 0 {
                return Err(format!(
                    "{} polygons visit a vertex twice",
                    summary.weakly_simple
                ));
            }
        }
    }
    Ok(())
}

/// All arrays and counts of two results.
pub(super) fn equal_meshes(ours: &PolyllaMesh, expected: &PolyllaMesh) -> Outcome {
    equal("counts", &[ours.counts], &[expected.counts])?;
    equal("next", &ours.next, &expected.next)?;
    equal("prev", &ours.prev, &expected.prev)?;
    equal("half-edges", &ours.half_edges, &expected.half_edges)?;
    equal(
        "offsets",
        &ours.polygons.offsets,
        &expected.polygons.offsets,
    )?;
    equal(
        "vertices",
        &ours.polygons.vertices,
        &expected.polygons.vertices,
    )
}
