//! Points and triangles of the plane: triangulation, order, and refinement.

use trioxide::generate;
use trioxide::glam::{DVec2, DVec3, Vec2};
use trioxide::half_edges::Point;
use trioxide::mesh::{Polygons, Segment, Triangulation};
use trioxide::refine::{self, DeviceEdgeMesh, End, Marking};
use trioxide_reference as reference;
use trioxide_reference::refine::SerialRun;
use trioxide_verify::validate;

use crate::bytes::Choices;
use crate::results::same_verdict;
use crate::{Pipeline, cpu, results};

pub const PIPELINES: &[Pipeline] = &[
    ("delaunay", delaunay),
    ("reorder", reorder),
    ("refine", refine),
];

/// A small triangulation, most often valid.
pub fn triangulation(choices: &mut Choices) -> Triangulation {
    let mut mesh = match choices.below(6) {
        0 => ring(choices),
        1 => {
            let (n, seed) = (choices.between(4, 60), choices.id().into());
            generate::random(cpu(), n, seed).expect("a size in range")
        }
        2 => soup(choices),
        _ => grid(choices),
    };
    for _ in 0..choices.below(4) {
        damage(&mut mesh, choices);
    }
    let scale = choices.scale();
    mesh.points.iter_mut().for_each(|p| *p *= scale);
    if choices.below(3) == 1 {
        mesh.regions = Some(
            mesh.triangles
                .iter()
                .map(|_| (choices.byte() % 3).into())
                .collect(),
        );
    }
    for _ in 0..choices.below(5) {
        let ends = match choices.below(mesh.triangles.len() + 1) {
            0 => [
                choices.vertex(mesh.points.len()),
                choices.vertex(mesh.points.len()),
            ],
            t => [mesh.triangles[t - 1][1], mesh.triangles[t - 1][0]],
        };
        mesh.segments.push(Segment {
            ends,
            marker: choices.below(3) as i32,
        });
    }
    mesh
}

/// Squares with one of their two diagonals each; vertices may have moved.
fn grid(choices: &mut Choices) -> Triangulation {
    let (columns, rows) = (choices.between(1, 7), choices.between(1, 7));
    let moves = choices.below(3);
    let mut mesh = Triangulation::default();
    for i in 0..(columns + 1) * (rows + 1) {
        let mut point = DVec2::new((i % (columns + 1)) as f64, (i / (columns + 1)) as f64);
        if moves == 1 {
            let steps = choices.byte();
            point += DVec2::new(f64::from(steps % 16), f64::from(steps / 16)) / 40.0;
        }
        mesh.points.push(point);
    }
    for i in 0..columns * rows {
        let a = ((i / columns) * (columns + 1) + i % columns) as u32;
        let (b, c) = (a + 1, a + columns as u32 + 1);
        let d = c + 1;
        match choices.below(8) {
            0 => {}
            1 | 2 => mesh.triangles.extend([[a, b, c], [b, d, c]]),
            _ => mesh.triangles.extend([[a, b, d], [a, d, c]]),
        }
    }
    mesh
}

/// Points on a circle around the origin, from those of its first quarter.
pub fn circle(quarter: &[(i32, i32)]) -> impl Iterator<Item = DVec2> {
    (0..4).flat_map(move |turn| {
        quarter.iter().map(move |&(x, y)| {
            let (x, y) = [(x, y), (-y, x), (-x, -y), (y, -x)][turn];
            DVec2::new(x.into(), y.into())
        })
    })
}

/// Triangles around a vertex, with spokes of equal length.
fn ring(choices: &mut Choices) -> Triangulation {
    const QUARTER: [(i32, i32); 9] = [
        (65, 0),
        (63, 16),
        (60, 25),
        (56, 33),
        (52, 39),
        (39, 52),
        (33, 56),
        (25, 60),
        (16, 63),
    ];
    let mut points = vec![DVec2::ZERO];
    for p in circle(&QUARTER) {
        if choices.below(3) != 0 {
            points.push(p);
        }
    }
    let n = points.len() as u32 - 1;
    let last = if choices.below(2) == 0 {
        n
    } else {
        n.saturating_sub(1)
    };
    Triangulation {
        triangles: (0..last).map(|i| [0, 1 + i, 1 + (i + 1) % n]).collect(),
        points,
        ..Triangulation::default()
    }
}

fn soup(choices: &mut Choices) -> Triangulation {
    let n = choices.below(12);
    Triangulation {
        points: (0..n)
            .map(|_| DVec2::new(choices.coordinate(), choices.coordinate()))
            .collect(),
        triangles: (0..choices.below(16))
            .map(|_| [0; 3].map(|_| choices.vertex(n)))
            .collect(),
        ..Triangulation::default()
    }
}

/// Makes one fault, or one feature that meshes from files have.
fn damage(mesh: &mut Triangulation, choices: &mut Choices) {
    let n = mesh.points.len();
    let kind = choices.below(8);
    if kind == 0 {
        mesh.points
            .push(DVec2::new(choices.coordinate(), choices.coordinate()));
    } else if kind == 1 && n > 0 {
        mesh.points[choices.below(n)] = DVec2::new(choices.coordinate(), choices.coordinate());
    } else if !mesh.triangles.is_empty() {
        let t = choices.below(mesh.triangles.len());
        match kind {
            2 => mesh.triangles[t].swap(1, 2),
            3 => mesh.triangles.push(mesh.triangles[t]),
            4 => mesh.triangles[t][choices.below(3)] = choices.vertex(n),
            5 => mesh.triangles[t].rotate_left(1),
            _ => _ = mesh.triangles.swap_remove(t),
        }
    }
}

/// The input of the sequential algorithm; none for a mesh that is refused.
pub struct Checked<P> {
    pub half_edges: trioxide::mesh::HalfEdges,
    pub points: Vec<P>,
    pub constrained: Vec<bool>,
}

pub fn check<P: Point>(mesh: &Triangulation) -> trioxide::Result<Checked<P>> {
    validate::triangles_and_edges(mesh)?;
    let half_edges = reference::half_edges(&mesh.triangles, mesh.points.len());
    Ok(Checked {
        constrained: reference::constrained_edges(mesh, &half_edges)?,
        points: mesh.points.iter().map(|&p| P::from_f64(p)).collect(),
        half_edges,
    })
}

fn marking(choices: &mut Choices, triangles: usize) -> Marking {
    match choices.below(7) {
        0 => Marking::All,
        1 => Marking::Fraction(f64::from(choices.byte()) / 255.0),
        2 => Marking::Box([0; 4].map(|_| choices.coordinate())),
        3 => Marking::Disk([0; 3].map(|_| choices.coordinate())),
        4 => Marking::Area(choices.coordinate().abs()),
        5 => Marking::Angle(choices.coordinate()),
        _ => Marking::Flags((0..triangles).map(|_| choices.below(2) == 1).collect()),
    }
}

fn refine(data: &[u8]) {
    let mut choices = Choices::new(data);
    let mesh = triangulation(&mut choices);
    let options = refine::Options {
        marking: marking(&mut choices, mesh.triangles.len()),
        seed: choices.id().into(),
        rounds: choices.below(5) as u32,
        max_triangles: Some(choices.between(1, 4) as u32 * 500),
        history: choices.below(2) == 1,
    };
    match choices.below(3) {
        0 => refine_in::<Vec2>(&mesh, &options, false),
        _ => refine_in::<DVec2>(&mesh, &options, true),
    }
}

fn refine_in<P: Point>(mesh: &Triangulation, options: &refine::Options, exact: bool) {
    let on = cpu();
    let regions = mesh.regions.as_deref();
    let run = || -> refine::Result<(Triangulation, End)> {
        let mut ours = DeviceEdgeMesh::<P>::upload(on, mesh)?;
        let end = refine::refine(on, &mut ours, options)?;
        let fine = ours.triangulation(on, regions)?;
        if options.history {
            ours.coarsen(on, 0)?;
            let back = ours.triangulation(on, regions)?;
            assert_eq!(back.triangles, mesh.triangles, "coarsened to the input");
        }
        Ok((fine, end))
    };
    let serial = || -> refine::Result<(Triangulation, End)> {
        let run = SerialRun::<P>::of_triangulation(mesh, options)?;
        Ok((run.triangulation(regions)?, run.end))
    };
    let (ours, expected) = (run(), serial());
    if exact {
        same_verdict(&ours, &expected);
    }
    if let (Ok(ours), Ok(expected)) = (ours, expected) {
        assert_eq!(ours, expected);
        results::surface(&ours.0.clone().into());
        if exact {
            validate::triangles_and_edges(&ours.0).expect("a valid mesh");
        }
    }
}

/// The Delaunay triangulation of points keeps its definition, on the first of equal ones; points on a line are refused.
fn delaunay(bytes: &[u8]) {
    use trioxide::delaunay::{Duplicates, triangulate};
    let choices = &mut Choices::new(bytes);
    let points = triangulation(choices).points;
    let on = cpu();
    let uploaded = on.upload(&points).expect("room");
    let firsts: Vec<usize> = points
        .iter()
        .map(|p| points.iter().position(|q| q == p).unwrap_or(0))
        .collect();
    let has_equals = firsts.iter().enumerate().any(|(v, &first)| v != first);
    let result = triangulate(on, &uploaded, Duplicates::First);
    if has_equals || result.is_err() {
        let refused = triangulate(on, &uploaded, Duplicates::Refuse);
        assert!(refused.is_err(), "equal points or a line");
    }
    let Ok(result) = result else {
        return;
    };
    let map = result
        .firsts()
        .map(|map| on.download_rows::<_, u32>(map).expect("the CPU"));
    let expected = has_equals.then(|| firsts.iter().map(|&v| v as u32).collect::<Vec<_>>());
    assert_eq!(map, expected);
    // The validator takes distinct points.
    let distinct: Vec<usize> = (0..points.len()).filter(|&v| firsts[v] == v).collect();
    let number = |v: u32| distinct.binary_search(&(v as usize)).expect("a first") as u32;
    let triangles: Vec<[u32; 3]> = on.download_rows(result.triangles()).expect("the CPU");
    let triangles: Vec<[u32; 3]> = triangles.iter().map(|t| t.map(number)).collect();
    let points: Vec<DVec2> = distinct.iter().map(|&v| points[v]).collect();
    validate::delaunay(&points, &triangles).expect("a Delaunay triangulation");
    constrained(choices, &points);
    refined(choices, &points);
}

/// Segments between distinct points are edges of a constrained Delaunay triangulation, or two of them cross.
fn constrained(choices: &mut Choices<'_>, points: &[DVec2]) {
    use gpu::delaunay::orientation;
    use trioxide::delaunay::Duplicates;
    use trioxide::delaunay::constrained::{Limits, triangulate};
    let mut end = || choices.below(points.len()) as u32;
    let mut segments: Vec<[u32; 2]> = (0..12).map(|_| [end(), end()]).collect();
    segments.retain(|[a, b]| a != b);
    let on = cpu();
    let uploaded = on.upload(&segments).expect("room");
    let limits = Limits {
        convex: true,
        ..Limits::of(&uploaded)
    };
    let points_there = on.upload(points).expect("room");
    let result = triangulate(on, &points_there, &limits, Duplicates::Refuse);
    let crosses = |[a, b]: [u32; 2], [c, d]: [u32; 2]| {
        let [a, b, c, d] = [a, b, c, d].map(|v| points[v as usize]);
        orientation(a, b, c) * orientation(a, b, d) < 0
            && orientation(c, d, a) * orientation(c, d, b) < 0
    };
    match result {
        Ok(result) => {
            let triangles: Vec<[u32; 3]> = on.download_rows(result.triangles()).expect("the CPU");
            let pieces: Vec<[u32; 2]> = on.download_rows(result.pieces()).expect("the CPU");
            validate::constrained_delaunay(points, &triangles, &pieces)
                .expect("a constrained Delaunay triangulation");
            assert!(pieces.len() >= segments.len(), "a segment has no piece");
        }
        Err(error) => assert!(
            segments
                .iter()
                .any(|&s| segments.iter().any(|&t| crosses(s, t))),
            "no segments cross: {error}"
        ),
    }
}

/// Vertices refine an outline around the points, or there are too many: a constrained Delaunay triangulation, the same
/// with another number of threads.
fn refined(choices: &mut Choices<'_>, points: &[DVec2]) {
    use trioxide::delaunay::Duplicates;
    use trioxide::delaunay::constrained::Limits;
    use trioxide::delaunay::refinement::{Refinement, refine};
    let most = points
        .iter()
        .fold(0.0, |most, p| p.abs().max_element().max(most));
    // Beyond, refinement refuses the points.
    if !(1e-30..1e30).contains(&most) {
        return;
    }
    let side = 2.0 * most;
    let corners =
        [(-1., -1.), (1., -1.), (1., 1.), (-1., 1.)].map(|(x, y)| side * DVec2::new(x, y));
    let mut all = points.to_vec();
    all.extend(corners);
    let n = points.len() as u32;
    let segments: Vec<[u32; 2]> = (0..4).map(|k| [n + k, n + (k + 1) % 4]).collect();
    let bounds = Refinement {
        smallest_angle: Some([0.0, 20.0, 30.0][choices.below(3)]),
        largest_area: Some(side * side / choices.between(1, 30) as f64),
        most_vertices: Some(3000),
        ..Refinement::default()
    };
    let run = |on: &trioxide::Device| {
        let segments = on.upload(&segments).expect("room");
        let result = refine(
            on,
            &on.upload(&all).expect("room"),
            &Limits::of(&segments),
            Duplicates::First,
            &bounds,
        );
        result.map(|result| {
            let points: Vec<DVec2> = on.download(&result.points).expect("the CPU");
            let triangles: Vec<[u32; 3]> =
                on.download_rows(result.mesh.triangles()).expect("the CPU");
            let pieces: Vec<[u32; 2]> = on.download_rows(result.mesh.pieces()).expect("the CPU");
            (points, triangles, pieces)
        })
    };
    match (
        run(cpu()),
        run(&trioxide::Device::cpu(Some(1)).expect("a thread")),
    ) {
        (Ok(found), Ok(other)) => {
            assert_eq!(found, other);
            let (points, triangles, pieces) = found;
            validate::constrained_delaunay(&points, &triangles, &pieces)
                .expect("a constrained Delaunay triangulation");
        }
        (Err(error), Err(other)) => {
            assert_eq!(error.to_string(), other.to_string());
            let is_known = ["needs more than", "too near to zero"];
            assert!(
                is_known
                    .iter()
                    .any(|known| error.to_string().contains(known)),
                "{error}"
            );
        }
        _ => panic!("only one of two devices refines"),
    }
}

/// Vertices and cells have the order of the definition; wrong ids and coordinates are refused.
fn reorder(bytes: &[u8]) {
    use trioxide_verify::selftest::reorder::{Faces as Cells, check};
    let choices = &mut Choices::new(bytes);
    let mesh = triangulation(choices);
    let corners = mesh.triangles.as_flattened();
    let faces = match choices.below(3) {
        0 => Cells::Tetrahedra(corners.as_chunks().0.to_vec()),
        1 => {
            let mut polygons = Polygons::default();
            let mut rest = corners;
            while !rest.is_empty() {
                let polygon = rest.split_at(choices.between(1, 4).min(rest.len()));
                polygons.push(polygon.0);
                rest = polygon.1;
            }
            Cells::Polygons(polygons)
        }
        _ => Cells::Triangles(mesh.triangles.clone()),
    };
    let taken = match &faces {
        Cells::Tetrahedra(tetrahedra) => tetrahedra.as_flattened(),
        _ => corners,
    };
    let are_there = taken.iter().all(|&v| (v as usize) < mesh.points.len());
    let in_space: Vec<_> = (mesh.points.iter())
        .map(|p| p.extend(choices.coordinate()))
        .collect();
    let is_flat_right = are_there && mesh.points.iter().all(|p| p.is_finite());
    let is_right = are_there && in_space.iter().all(|p| p.is_finite());
    for (result, is_right) in [
        (check::<DVec2>(cpu(), &mesh.points, &faces), is_flat_right),
        (check::<DVec3>(cpu(), &in_space, &faces), is_right),
    ] {
        match result {
            Ok(()) => assert!(is_right, "wrong input is ordered"),
            Err(error) if is_right => panic!("{error}"),
            Err(_) => {}
        }
    }
}
