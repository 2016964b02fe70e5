//! Polygons without short edges against the sequential reference, and against the rules that any result must keep.

use std::sync::Arc;

use glam::{DVec2, Vec2};
use gpu::point::MeshPoint;

use super::polylla::with_regions;
use super::{Case, NamedMesh, Outcome, Size, equal, random};
use crate::validate;
use trioxide::Error;
use trioxide::device::Device;
use trioxide::half_edges::{DeviceTriangulation, Point};
use trioxide::mesh::{PolygonMesh, Polygons, PolyllaLists, Segment, Ties, Triangulation};
use trioxide::polylla::{
    self, Constraints, Options, ShortEdgeCounts, ShortEdges, convex_pieces, remove_short_edges,
};
use trioxide_reference as reference;

pub fn cases(meshes: &[NamedMesh], size: Size) -> Vec<Case> {
    let mut cases = Vec::new();
    // The reference compares each short edge with all others of a round.
    let few = meshes
        .iter()
        .filter(|(_, mesh)| mesh.triangles.len() < 10_000);
    for (name, mesh) in few {
        let mesh = Arc::new(with_regions(mesh));
        cases.push(Case::new(format!("short edges of {name}"), move |on| {
            let short = |ratio, keeps_convex| ShortEdges {
                ratio,
                keeps_convex,
                pinned: &[0, 2],
            };
            compare::<DVec2>(on, &mesh, short(0.1, false))?;
            compare::<Vec2>(on, &mesh, short(0.3, false))?;
            compare::<DVec2>(on, &mesh, short(0.2, true))
        }));
    }
    let n = size.of(1000);
    cases.push(Case::new("short edges without constraints", move |on| {
        let mesh = random(n, 7)?;
        for ratio in [0.05, 0.5, 0.9] {
            let short = ShortEdges {
                ratio,
                ..ShortEdges::default()
            };
            compare::<DVec2>(on, &mesh, short)?;
        }
        Ok(())
    }));
    cases.push(Case::new(
        "short edges along the border and segments",
        along_lines,
    ));
    cases.push(Case::new(
        "short edges of wrong polygons are refused",
        refused,
    ));
    cases
}

/// Polygons of a device before and after.
struct Found {
    polygons: PolyllaLists,
    shortened: Polygons,
    places: Vec<u32>,
    counts: ShortEdgeCounts,
}

fn run<P: Point>(
    on: &Device,
    mesh: &Triangulation,
    short: ShortEdges<'_>,
) -> polylla::Result<Found> {
    let there = DeviceTriangulation::<P>::upload(on, mesh).map_err(trioxide::Error::from)?;
    let constraints = Constraints::of(on, &there, mesh)?;
    let options = Options {
        strict: !short.keeps_convex,
        ..Options::default()
    };
    let mut found = polylla::polylla(on, &there, constraints.as_ref(), options)?;
    if short.keeps_convex {
        found = convex_pieces(on, &there, found)?;
    }
    let shortened = remove_short_edges(on, &there, &found, constraints.as_ref(), short)?;
    Ok(Found {
        polygons: found.download(on)?,
        shortened: shortened.download_lists(on)?,
        places: shortened.download_places(on)?,
        counts: shortened.counts(),
    })
}

fn compare<P: Point>(on: &Device, mesh: &Triangulation, short: ShortEdges<'_>) -> Outcome {
    let points: Vec<P> = mesh.points.iter().map(|&p| P::from_f64(p)).collect();
    let ours = match run::<P>(on, mesh, short).map_err(Error::from) {
        Err(Error::Invalid { rule, .. })
            if P::INSTANCE == Vec2::INSTANCE && rule.contains("chosen precision") =>
        {
            return Ok(());
        }
        ours => ours?,
    };
    let half_edges = reference::half_edges(&mesh.triangles, mesh.points.len());
    let constrained = reference::constrained_edges(mesh, &half_edges)?;
    let is_constrained = |h: u32| constrained[h as usize];
    let (mut polygons, _) = reference::polylla(&points, &half_edges, is_constrained, Ties::Edge);
    match short.keeps_convex {
        true => reference::polylla::cut_convex(&points, &half_edges, &mut polygons),
        false => reference::polylla::split_weakly_simple(&half_edges, &mut polygons),
    }
    let before = &ours.polygons.polygons;
    equal(
        "vertices before",
        &before.vertices,
        &polygons.polygons.vertices,
    )?;
    let points: Vec<DVec2> = points.iter().map(|p| p.to_f64()).collect();
    let lists = &polygons.polygons;
    let ends = reference::polylla::constrained_ends(&half_edges, is_constrained);
    let expected = reference::polylla::remove_short_edges(&points, lists, &ends, short);
    let name = |what: &str| format!("{what}, {short:?}, {}", P::INSTANCE);
    equal(&name("counts"), &[ours.counts], &[expected.counts])?;
    let (found, lists) = (&ours.shortened, &expected.polygons);
    equal(&name("offsets"), &found.offsets, &lists.offsets)?;
    equal(&name("vertices"), &found.vertices, &lists.vertices)?;
    equal(&name("places"), &ours.places, &expected.places)?;
    let regions = mesh.regions.as_ref().map(|regions| {
        let half_edges = ours.polygons.half_edges.iter();
        half_edges.map(|&h| regions[h as usize / 3]).collect()
    });
    let mesh = PolygonMesh {
        points,
        polygons: ours.polygons.polygons,
        regions,
        segments: mesh.segments.clone(),
    };
    Ok(validate::polygons::shortened(
        &mesh,
        &ours.shortened,
        &ours.places,
        short,
    )?)
}

/// Two rows of rectangles with a line of segments between them. The middle column has a short edge in each line, and a
/// rectangle cannot lose two.
fn along_lines(on: &Device) -> Outcome {
    let columns = [0.0, 1.0, 1.0625, 2.0];
    let mut mesh = Triangulation::default();
    for y in 0..3 {
        mesh.points
            .extend(columns.map(|x| DVec2::new(x, f64::from(y))));
    }
    for (x, y) in (0..2u32).flat_map(|y| (0..3u32).map(move |x| (x, y))) {
        let a = 4 * y + x;
        mesh.triangles.push([a, a + 1, a + 5]);
        mesh.triangles.push([a, a + 5, a + 4]);
    }
    mesh.segments = (4..7)
        .map(|a| Segment {
            ends: [a, a + 1],
            marker: 1,
        })
        .collect();
    for (pinned, removed, held) in [(&[][..], 2, 0), (&[5, 6][..], 2, 1), (&[1, 2][..], 1, 1)] {
        let short = ShortEdges {
            ratio: 0.1,
            keeps_convex: false,
            pinned,
        };
        let counts = run::<DVec2>(on, &mesh, short)?.counts;
        let expected = ShortEdgeCounts {
            short: 3,
            removed,
            left: 3 - removed,
            held,
        };
        equal("counts", &[counts], &[expected])?;
        compare::<DVec2>(on, &mesh, short)?;
    }
    Ok(())
}

fn refused(on: &Device) -> Outcome {
    let mesh = random(2000, 3)?;
    let there = DeviceTriangulation::<DVec2>::upload(on, &mesh)?;
    let other = DeviceTriangulation::<DVec2>::upload(on, &mesh)?;
    let short = ShortEdges {
        ratio: 0.1,
        ..ShortEdges::default()
    };
    let strict = Options {
        strict: true,
        ..Options::default()
    };
    let polygons = polylla::polylla(on, &there, None, strict)?;
    let remove =
        |mesh, polygons, short| remove_short_edges::<DVec2>(on, mesh, polygons, None, short).err();
    let pinned = ShortEdges {
        pinned: &[2000],
        ..short
    };
    match (
        remove(&other, &polygons, short),
        remove(&there, &polygons, pinned),
    ) {
        (
            Some(polylla::Error::OtherMesh { .. }),
            Some(polylla::Error::Pinned {
                vertex: 2000,
                vertices: 2000,
            }),
        ) => {}
        other => return Err(format!("not refused: {other:?}")),
    }
    let unlisted = Options {
        lists: false,
        ..Options::default()
    };
    let polygons = polylla::polylla(on, &there, None, unlisted)?;
    match remove(&there, &polygons, short) {
        Some(polylla::Error::NoLists) => {}
        other => return Err(format!("not refused: {other:?}")),
    }
    let (_, mesh) = super::small::meshes()
        .into_iter()
        .find(|(name, _)| name == "a weakly simple polygon")
        .ok_or("there is no such mesh")?;
    let there = DeviceTriangulation::<DVec2>::upload(on, &mesh)?;
    let polygons = polylla::polylla(on, &there, None, Options::default())?;
    match remove(&there, &polygons, short) {
        Some(polylla::Error::WeaklySimple { .. }) => Ok(()),
        other => Err(format!("not refused: {other:?}")),
    }
}
