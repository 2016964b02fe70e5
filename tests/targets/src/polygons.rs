//! Polylla of the plane by both methods: polygons, convex pieces, short edges, nested levels.

use trioxide::glam::{DVec2, Vec2};
use trioxide::half_edges::{DeviceTriangulation, Point};
use trioxide::indexed::{self, Neighbours, Repair};
use trioxide::levels;
use trioxide::mesh::{Faces, Mesh, PolygonMesh, PolyllaLists, Ties, Triangulation};
use trioxide::polylla::{self, Constraints};
use trioxide_reference as reference;
use trioxide_reference::indexed::IndexedTriangulation;
use trioxide_verify::validate;

use crate::bytes::Choices;
use crate::planar::{check, triangulation};
use crate::results::same_verdict;
use crate::{Pipeline, cpu, results, surfaces};

pub const PIPELINES: &[Pipeline] = &[
    ("polylla", polylla),
    ("levels", nested_levels),
    ("indexed", indexed),
];

fn polylla(data: &[u8]) {
    let mut choices = Choices::new(data);
    let mesh = triangulation(&mut choices);
    let options = polylla::Options {
        strict: choices.below(2) == 1,
        ties: ties(&mut choices),
        ..polylla::Options::default()
    };
    match choices.below(3) {
        0 => polylla_in::<Vec2>(&mesh, options, false),
        _ => polylla_in::<DVec2>(&mesh, options, true),
    }
    convex_pieces(&mesh);
    short_edges(&mesh, options.strict);
    surfaces::polylla(&mesh, options, &mut choices);
}

fn nested_levels(data: &[u8]) {
    let mut choices = Choices::new(data);
    let mesh = triangulation(&mut choices);
    let Ok(checked) = check::<DVec2>(&mesh) else {
        return;
    };
    let is_constrained = |h: u32| checked.constrained[h as usize];
    let (points, half_edges) = (&checked.points, &checked.half_edges);
    let (joined, _) = reference::polylla(points, half_edges, is_constrained, Ties::Edge);
    let region = |&h: &u32| mesh.regions.as_ref().map(|regions| regions[h as usize / 3]);
    let polygons = PolygonMesh {
        points: mesh.points.clone(),
        regions: joined.half_edges.iter().map(region).collect(),
        polygons: joined.polygons,
        segments: mesh.segments.clone(),
    };
    let goal = levels::Goal {
        levels: (choices.below(2) == 1).then(|| choices.below(6)),
        until: (choices.below(2) == 1).then(|| choices.below(20)),
    };
    let found = levels::levels(cpu(), &polygons, goal).expect("a checked mesh");
    let expected = reference::levels(&polygons, goal);
    assert_eq!(found, expected);
    validate::levels(&polygons, &found).expect("valid levels");
}

fn convex_pieces(mesh: &Triangulation) {
    let on = cpu();
    let Ok(checked) = check::<DVec2>(mesh) else {
        return;
    };
    let is_constrained = |h: u32| checked.constrained[h as usize];
    let (points, half_edges) = (&checked.points, &checked.half_edges);
    let (polygons, _) = reference::polylla(points, half_edges, is_constrained, Ties::Edge);
    let mut expected = polygons.clone();
    reference::polylla::cut_convex(points, half_edges, &mut expected);
    let run = || {
        let resident = DeviceTriangulation::<DVec2>::upload(on, mesh)?;
        let constraints = Constraints::of(on, &resident, mesh)?;
        let options = polylla::Options::default();
        let found = polylla::polylla(on, &resident, constraints.as_ref(), options)?;
        let divided = polylla::convex_pieces(on, &resident, found)?;
        Ok::<_, trioxide::Error>(divided.download_mesh(on, &resident)?)
    };
    assert_eq!(run().expect("a checked mesh"), expected);
    validate::polygons::convex_pieces(points, half_edges, &polygons, &expected)
        .expect("convex pieces");
}

fn short_edges(mesh: &Triangulation, keeps_convex: bool) {
    let on = cpu();
    let Ok(checked) = check::<DVec2>(mesh) else {
        return;
    };
    let is_constrained = |h: u32| checked.constrained[h as usize];
    let (points, half_edges) = (&checked.points, &checked.half_edges);
    let (mut joined, _) = reference::polylla(points, half_edges, is_constrained, Ties::Edge);
    match keeps_convex {
        true => reference::polylla::cut_convex(points, half_edges, &mut joined),
        false => reference::polylla::split_weakly_simple(half_edges, &mut joined),
    }
    let short = polylla::ShortEdges {
        ratio: 0.5,
        keeps_convex,
        pinned: &[],
    };
    let ends = reference::polylla::constrained_ends(half_edges, is_constrained);
    let lists = &joined.polygons;
    let expected = reference::polylla::remove_short_edges(points, lists, &ends, short);
    let run = || {
        let resident = DeviceTriangulation::<DVec2>::upload(on, mesh)?;
        let constraints = Constraints::of(on, &resident, mesh)?;
        let constraints = constraints.as_ref();
        let options = polylla::Options {
            strict: !keeps_convex,
            ..polylla::Options::default()
        };
        let mut found = polylla::polylla(on, &resident, constraints, options)?;
        if keeps_convex {
            found = polylla::convex_pieces(on, &resident, found)?;
        }
        let left = polylla::remove_short_edges(on, &resident, &found, constraints, short)?;
        let places = left.download_places(on)?;
        Ok::<_, trioxide::Error>((left.download_lists(on)?, places, left.counts()))
    };
    let (polygons, places, counts) = run().expect("a checked mesh");
    assert_eq!((&polygons, counts), (&expected.polygons, expected.counts));
    assert_eq!(places, expected.places);
    let region = |&h: &u32| mesh.regions.as_ref().map(|regions| regions[h as usize / 3]);
    let before = PolygonMesh {
        points: points.clone(),
        regions: joined.half_edges.iter().map(region).collect(),
        polygons: joined.polygons,
        segments: mesh.segments.clone(),
    };
    validate::polygons::shortened(&before, &polygons, &places, short).expect("no short edges");
}

fn ties(choices: &mut Choices) -> Ties {
    if choices.below(4) == 1 {
        Ties::First
    } else {
        Ties::Edge
    }
}

fn polylla_in<P: Point>(mesh: &Triangulation, options: polylla::Options, exact: bool) {
    let on = cpu();
    let run = || {
        let resident = DeviceTriangulation::<P>::upload(on, mesh)?;
        let constraints = Constraints::of(on, &resident, mesh)?;
        let result = polylla::polylla(on, &resident, constraints.as_ref(), options);
        match result {
            // The sequential algorithm has no such rule.
            Err(polylla::Error::TiedRing) => Ok(None),
            result => Ok::<_, trioxide::Error>(Some(result?.download_mesh(on, &resident)?)),
        }
    };
    let (ours, checked) = (run(), check::<P>(mesh));
    if exact {
        same_verdict(&ours, &checked);
    }
    let (Ok(Some(ours)), Ok(checked)) = (ours, checked) else {
        return;
    };
    let is_constrained = |h: u32| checked.constrained[h as usize];
    let (mut expected, _) = reference::polylla(
        &checked.points,
        &checked.half_edges,
        is_constrained,
        options.ties,
    );
    if options.strict {
        reference::polylla::split_weakly_simple(&checked.half_edges, &mut expected);
    }
    assert_eq!(ours, expected);
    let polygons = Mesh {
        points: mesh.points.iter().map(|p| p.extend(0.0)).collect(),
        faces: Faces::Polygons(ours.polygons.clone()),
        ..Mesh::default()
    };
    results::surface(&polygons);
    if exact {
        validate::polygons::polylla(&mesh.points, &checked.half_edges, &ours, is_constrained)
            .expect("valid polygons");
    }
}

fn indexed(data: &[u8]) {
    let mut choices = Choices::new(data);
    let mesh = triangulation(&mut choices);
    let options = indexed::Options {
        ties: ties(&mut choices),
        repair: [Repair::Device, Repair::Host][choices.below(2)],
    };
    match choices.below(3) {
        0 => indexed_in::<Vec2>(&mesh, options, false),
        _ => indexed_in::<DVec2>(&mesh, options, true),
    }
}

fn indexed_in<P: Point>(mesh: &Triangulation, options: indexed::Options, exact: bool) {
    let on = cpu();
    let run = || {
        let resident = DeviceTriangulation::<P>::upload(on, mesh)?;
        let constraints = Constraints::of(on, &resident, mesh)?;
        let neighbours = Neighbours::new(on, &resident)?;
        match indexed::indexed(on, &resident, &neighbours, constraints.as_ref(), options) {
            Err(polylla::Error::TiedRing) => Ok(None),
            result => Ok::<_, trioxide::Error>(Some(result?.download(on)?)),
        }
    };
    let (ours, checked) = (run(), check::<P>(mesh));
    if exact {
        same_verdict(&ours, &checked);
    }
    let (Ok(Some(ours)), Ok(checked)) = (ours, checked) else {
        return;
    };
    let is_constrained = |h: u32| checked.constrained[h as usize];
    let arrays = IndexedTriangulation::new(&mesh.triangles, mesh.points.len());
    let (expected, _) = reference::indexed(&checked.points, &arrays, is_constrained, options.ties);
    assert_eq!(ours, expected);
    if options.ties == Ties::Edge {
        let (by_half_edges, _) = reference::polylla(
            &checked.points,
            &checked.half_edges,
            is_constrained,
            options.ties,
        );
        let lists = PolyllaLists {
            half_edges: by_half_edges.half_edges,
            polygons: by_half_edges.polygons,
            counts: by_half_edges.counts,
        };
        assert_eq!(ours, lists, "the two methods");
    }
}
