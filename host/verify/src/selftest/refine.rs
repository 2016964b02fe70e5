//! Longest-edge bisection on a device against the sequential reference, and against the rules that any result must
//! keep.

use std::sync::Arc;

use bytemuck::Pod;
use glam::{DVec2, DVec3, Vec2, Vec3};
use gpu::point::DoublePoint;
use trioxide_kernel::launch::Buffer;

use super::{Case, NamedMesh, Outcome, Size, equal, random};
use crate::validate;
use trioxide::device::Device;
use trioxide::half_edges::AnyPoint;
use trioxide::mesh::{EdgeTriangulation, Mesh, Segment, Triangulation};
use trioxide::refine::{self, DeviceEdgeMesh, End, Marking, Options, refine};
use trioxide_reference::refine::SerialRun;

pub fn cases(meshes: &[NamedMesh], size: Size) -> Vec<Case> {
    let runs = match size {
        Size::Tiny | Size::Small => 1,
        Size::Large => 10,
    };
    let mut cases = Vec::new();
    for (name, mesh) in meshes {
        let mesh = Arc::new(super::polylla::with_regions(mesh));
        for (what, options) in manners(&mesh) {
            let mesh = mesh.clone();
            cases.push(Case::new(format!("refine {name}, {what}"), move |on| {
                compare::<DVec2>(on, &mesh, &options, runs)?;
                compare::<Vec2>(on, &mesh, &options, 1)
            }));
        }
    }
    for (name, mesh) in surfaces() {
        let mesh = Arc::new(mesh);
        for (what, options) in manners_in_space(&mesh) {
            let mesh = mesh.clone();
            cases.push(Case::new(format!("refine {name}, {what}"), move |on| {
                compare::<DVec3>(on, &mesh, &options, runs)?;
                compare::<Vec3>(on, &mesh, &options, 1)
            }));
        }
    }
    cases.push(Case::new(
        "surfaces that are none are refused",
        refuse_surfaces,
    ));
    cases.push(Case::new("refine the paper's example", paper_example));
    cases.push(Case::new("refine up to a number of triangles", |on| {
        let mesh = trioxide::generate::grid(100)?;
        let mut ours = DeviceEdgeMesh::<DVec2>::upload(on, &mesh)?;
        let options = Options {
            rounds: 100,
            max_triangles: Some(1000),
            ..Options::default()
        };
        let end = refine(on, &mut ours, &options)?;
        equal("end", &[end], &[End::MaxTriangles])?;
        // 162 triangles in squares with one diagonal: each round doubles them.
        equal("triangles", &[ours.level().triangles], &[648])
    }));
    cases.push(Case::new("refine until areas are small", |on| {
        let mesh = random(500, 3)?;
        let mut ours = DeviceEdgeMesh::<DVec2>::upload(on, &mesh)?;
        let options = Options {
            marking: Marking::Area(1e-4),
            rounds: u32::MAX,
            ..Options::default()
        };
        let end = refine(on, &mut ours, &options)?;
        equal("end", &[end], &[End::NothingMarked])?;
        let fine = ours.triangulation(on, None)?;
        let area = |&[a, b, c]: &[u32; 3]| {
            let p = |v: u32| fine.points[v as usize];
            (p(b) - p(a)).perp_dot(p(c) - p(a)) * 0.5
        };
        match fine.triangles.iter().position(|t| area(t) > 1e-4) {
            None => Ok(()),
            Some(t) => Err(format!("triangle {t} is larger")),
        }
    }));
    cases.push(Case::new("too small a triangle is refused", |on| {
        let mut mesh = trioxide::generate::grid(4)?;
        for point in &mut mesh.points {
            *point = DVec2::ONE + *point * (4.0 * f64::EPSILON);
        }
        let mut ours = DeviceEdgeMesh::<DVec2>::upload(on, &mesh)?;
        let options = Options {
            rounds: 12,
            ..Options::default()
        };
        match refine(on, &mut ours, &options) {
            Err(refine::Error::Degenerate { .. }) => Ok(()),
            other => Err(format!("not refused: {other:?}")),
        }
    }));
    cases
}

fn manner(name: &'static str, marking: Marking, rounds: u32) -> (&'static str, Options) {
    let options = Options {
        marking,
        seed: 1,
        rounds,
        max_triangles: None,
        history: true,
    };
    (name, options)
}

/// Markings, some with few triangles and some with many, so that both ways of each step run.
fn manners(mesh: &Triangulation) -> Vec<(&'static str, Options)> {
    let low = mesh.points.iter().copied().fold(DVec2::MAX, DVec2::min);
    let high = mesh.points.iter().copied().fold(DVec2::MIN, DVec2::max);
    let (middle, extent) = (low.midpoint(high), high - low);
    let area = extent.x * extent.y / mesh.triangles.len() as f64;
    let every_ninth = (0..mesh.triangles.len()).map(|t| t % 9 == 0).collect();
    vec![
        manner("all", Marking::All, 2),
        manner("1 %", Marking::Fraction(0.01), 3),
        manner("30 %", Marking::Fraction(0.3), 3),
        manner(
            "the lower left corner",
            Marking::Box([low.x, low.y, middle.x, middle.y]),
            3,
        ),
        manner(
            "a disk",
            Marking::Disk([middle.x, middle.y, extent.x / 5.0]),
            4,
        ),
        manner(
            "a ball above the plane",
            Marking::Ball([middle.x, middle.y, extent.x / 10.0, extent.x / 5.0]),
            2,
        ),
        manner("large triangles", Marking::Area(area), 3),
        manner("small angles", Marking::Angle(20.0), 2),
        manner("given triangles", Marking::Flags(every_ninth), 3),
    ]
}

/// A closed surface, an open one, and one with triangles whose corners are on a line; with regions and segments.
fn surfaces() -> Vec<(&'static str, Triangulation<DVec3>)> {
    let scan = trioxide::generate::scan(400, 1).and_then(Mesh::into_surface);
    let mut terrain = trioxide::generate::jittered(400, 2).map(Mesh::from);
    if let Ok(mesh) = &mut terrain {
        for p in &mut mesh.points {
            p.z = 0.25 * libm::sin(7.0 * p.x) * libm::cos(5.0 * p.y);
        }
    }
    let terrain = terrain.and_then(Mesh::into_surface);
    let made = [
        ("a scan in space", scan),
        ("a surface with corners on a line", with_lines()),
        ("a terrain", terrain),
    ];
    let tagged = |(name, mesh): (_, trioxide::Result<_>)| {
        let mut mesh: Triangulation<DVec3> = mesh.expect("enough points");
        mesh.regions = Some((0..mesh.triangles.len()).map(|t| (t / 10) as i32).collect());
        let some = mesh.triangles.iter().step_by(7).enumerate();
        let segment = |(i, &[a, b, _]): (usize, &[u32; 3])| Segment {
            ends: [a, b],
            marker: i as i32 % 5,
        };
        mesh.segments = some.map(segment).collect();
        (name, mesh)
    };
    made.map(tagged).into()
}

/// A terrain in which every sixth triangle is divided along its first edge, as its neighbour there is not: between them
/// is a triangle with its corners on a line. No bisection of a few rounds meets the new corner.
fn with_lines() -> trioxide::Result<Triangulation<DVec3>> {
    let mut mesh = trioxide::generate::jittered(100, 3).map(Mesh::from)?;
    for p in &mut mesh.points {
        // All midpoints are exact, so that corners stay on their line.
        *p = (p.with_z(0.2 * libm::sin(7.0 * p.x)) * 1024.0).round() / 1024.0;
    }
    let mut mesh = mesh.into_surface()?;
    for t in (0..mesh.triangles.len()).step_by(6) {
        let [a, b, c] = mesh.triangles[t];
        let [p, q] = [a, b].map(|v| mesh.points[v as usize]);
        let middle = mesh.points.len() as u32;
        mesh.points.push(p + (q - p) * (21.0 / 64.0));
        mesh.triangles[t] = [a, middle, c];
        mesh.triangles.extend([[middle, b, c], [a, b, middle]]);
    }
    Ok(mesh)
}

/// As [`manners`], on a surface.
fn manners_in_space(mesh: &Triangulation<DVec3>) -> Vec<(&'static str, Options)> {
    let low = mesh.points.iter().copied().fold(DVec3::MAX, DVec3::min);
    let high = mesh.points.iter().copied().fold(DVec3::MIN, DVec3::max);
    let (middle, extent) = (low.midpoint(high), high - low);
    let areas = mesh.triangles.iter().map(|corners| {
        let [a, b, c] = corners.map(|v| mesh.points[v as usize]);
        0.5 * (b - a).spanned_area(c - a)
    });
    let area = areas.sum::<f64>() / mesh.triangles.len() as f64;
    let every_ninth = (0..mesh.triangles.len()).map(|t| t % 9 == 0).collect();
    let [box_of_half, ball] = [
        [low.x, low.y, low.z, middle.x, high.y, high.z],
        [high.x, middle.y, middle.z, 0.5 * extent.x, 0.0, 0.0],
    ];
    let column = [low.x, low.y, middle.x, middle.y];
    vec![
        manner("all", Marking::All, 2),
        manner("1 %", Marking::Fraction(0.01), 3),
        manner("30 %", Marking::Fraction(0.3), 2),
        manner("a box in space", Marking::BoxInSpace(box_of_half), 2),
        manner("a column", Marking::Box(column), 2),
        manner(
            "a ball",
            Marking::Ball([ball[0], ball[1], ball[2], ball[3]]),
            3,
        ),
        manner(
            "a cylinder",
            Marking::Disk([middle.x, middle.y, extent.x / 5.0]),
            3,
        ),
        manner("large triangles", Marking::Area(area), 3),
        manner("small angles", Marking::Angle(20.0), 2),
        manner("given triangles", Marking::Flags(every_ninth), 3),
    ]
}

/// An edge of three triangles, two that run along an edge in one direction, and one with an edge of length zero.
fn refuse_surfaces(on: &Device) -> Outcome {
    let points = vec![
        DVec3::ZERO,
        DVec3::X,
        DVec3::Y,
        DVec3::Z,
        DVec3::NEG_Y,
        DVec3::X,
    ];
    for (triangles, element, rule) in [
        (
            vec![[0, 1, 2], [1, 0, 3], [0, 1, 4]],
            "edge 0-1",
            "belongs to 3 triangles (0, 1, 2)",
        ),
        (
            vec![[0, 1, 2], [0, 1, 3]],
            "edge 0-1",
            "in the same direction",
        ),
        (vec![[0, 1, 2], [0, 1, 5]], "triangle 1", "is degenerate"),
        (vec![[0, 1, 9]], "triangle 0", "has vertex 9"),
    ] {
        let mesh = Triangulation {
            points: points.clone(),
            triangles,
            ..Triangulation::default()
        };
        let Err(error) = DeviceEdgeMesh::<DVec3>::upload(on, &mesh) else {
            return Err(format!("{:?} is not refused", mesh.triangles));
        };
        let text = trioxide::Error::from(error).to_string();
        if !(text.starts_with(element) && text.contains(rule)) {
            return Err(format!("{:?}: {text}", mesh.triangles));
        }
    }
    Ok(())
}

/// All arrays of a mesh on the device.
fn arrays<P: AnyPoint>(
    on: &Device,
    mesh: &mut DeviceEdgeMesh<P>,
) -> trioxide::Result<Vec<Vec<u8>>> {
    mesh.label(on)?;
    fn bytes<T: Pod>(on: &Device, buffer: &Buffer<T>) -> trioxide::Result<Vec<u8>> {
        on.download_rows(buffer)
    }
    Ok(vec![
        bytes(on, mesh.points())?,
        bytes(on, mesh.corners())?,
        bytes(on, mesh.sides())?,
        bytes(on, mesh.halves())?,
        bytes(on, mesh.longest())?,
        bytes(on, mesh.tags())?,
        bytes(on, mesh.parents())?,
        bytes(on, mesh.divided())?,
        bytes(on, mesh.origins())?,
    ])
}

fn compare<P: AnyPoint>(
    on: &Device,
    mesh: &Triangulation<P::Double>,
    options: &Options,
    runs: usize,
) -> Outcome {
    let is_single = size_of::<P>() < size_of::<P::Double>();
    let expected = SerialRun::<P>::of_triangulation(mesh, options)?;
    let (fine, rounds) = (&expected.mesh, &expected.rounds);
    let coarse = match DeviceEdgeMesh::<P>::upload(on, mesh) {
        Err(refine::Error::Mesh(trioxide::Error::Invalid { rule, .. }))
            if is_single && rule.contains("chosen precision") =>
        {
            return Ok(());
        }
        other => other?,
    };
    for run in 0..runs {
        let mut ours = coarse.duplicate(on)?;
        refine(on, &mut ours, options)?;
        let check = || -> Outcome {
            let got = ours.download(on)?;
            equal("sides", &got.triangles, &fine.triangles)?;
            equal("edges", &got.edges, &fine.edges)?;
            equal::<P>("points", &got.points, &fine.points)?;
            equal("rounds", &ours.rounds(on)?, rounds)?;
            let corners: Vec<[u32; 3]> = on.download_rows(ours.corners())?;
            equal("corners", &corners, &fine.corners())?;
            let regions = mesh.regions.as_deref();
            let (ours, expected) = (
                ours.triangulation(on, regions)?,
                expected.triangulation(regions)?,
            );
            equal("segments", &ours.segments, &expected.segments)?;
            equal("mesh", &[ours], &[expected])
        };
        check().map_err(|error| format!("run {run}, {}: {error}", P::INSTANCE))?;
    }
    go_back(on, &coarse, options)?;
    if !is_single {
        keep_rules(on, mesh, &coarse, options)?;
    }
    Ok(())
}

/// Coarsening gives every array back as it was: after all rounds but one, and before the first.
fn go_back<P: AnyPoint>(on: &Device, coarse: &DeviceEdgeMesh<P>, options: &Options) -> Outcome {
    let mut ours = coarse.duplicate(on)?;
    let input = arrays(on, &mut ours)?;
    let rounds = |rounds| Options {
        rounds,
        ..options.clone()
    };
    refine(on, &mut ours, &rounds(options.rounds - 1))?;
    let middle = arrays(on, &mut ours)?;
    let reached = ours.levels().len() - 1;
    refine(on, &mut ours, &rounds(1))?;
    ours.coarsen(on, reached)?;
    equal("coarsened by a level", &arrays(on, &mut ours)?, &middle)?;
    refine(on, &mut ours, &rounds(1))?;
    ours.coarsen(on, 0)?;
    equal("coarsened to the input", &arrays(on, &mut ours)?, &input)
}

/// Every round keeps the rules of `validate::refine`, and fields of the input are carried along.
fn keep_rules<P: AnyPoint>(
    on: &Device,
    mesh: &Triangulation<P::Double>,
    coarse: &DeviceEdgeMesh<P>,
    options: &Options,
) -> Outcome {
    let mut ours = coarse.duplicate(on)?;
    refine(on, &mut ours, options)?;
    let field: Vec<f64> = (0..mesh.points.len()).map(|i| (i % 1024) as f64).collect();
    let mut fine_field = on.upload(&field)?;
    ours.interpolate(on, &mut fine_field)?;
    let mut expected = field;
    let rounds = ours.rounds(on)?;
    for [a, b] in rounds.iter().flat_map(|round| &round.ends) {
        expected.push(expected[*a as usize] * 0.5 + expected[*b as usize] * 0.5);
    }
    equal("field", &on.download(&fine_field)?, &expected)?;

    let fine = ours.download(on)?;
    validate::refine::topology(&fine)?;
    P::validate(&Triangulation {
        points: fine.points.iter().map(|p| p.to_f64()).collect(),
        triangles: fine.corners(),
        regions: None,
        segments: Vec::new(),
    })?;
    let mut after = fine.clone();
    for (level, made) in rounds.iter().enumerate().rev() {
        ours.coarsen(on, level)?;
        let before = ours.download(on)?;
        validate::refine::refinement(&before, &after, made)?;
        after = before;
    }
    let is_planar = size_of::<P::Double>() == size_of::<DVec2>();
    match is_planar {
        true => validate::refine::area(&after, &fine, rounds.len() as u32)?,
        false => validate::refine::area_in_space(&after, &fine, rounds.len() as u32)?,
    };
    validate::refine::angles(&after, &fine, rounds.len() as u32)?;
    Ok(())
}

/// Section 4.5: tables 4.2, 4.3 and 4.7, from edges that have their numbers.
fn paper_example(on: &Device) -> Outcome {
    let point = |x: i32, y: i32| DVec2::new(f64::from(x), f64::from(y));
    let mesh = EdgeTriangulation {
        points: vec![
            point(0, 3),
            point(15, 0),
            point(0, 16),
            point(25, 14),
            point(10, 24),
        ],
        edges: vec![[1, 0], [0, 2], [2, 1], [3, 1], [3, 2], [2, 4], [4, 3]],
        triangles: [[1, 2, 3], [4, -3, -5], [5, 6, 7]].map(sides).to_vec(),
        tags: Vec::new(),
    };
    let mut ours = DeviceEdgeMesh::<DVec2>::upload_edges(on, &mesh)?;
    let options = Options {
        marking: Marking::Flags(vec![true, false, false]),
        ..Options::default()
    };
    refine(on, &mut ours, &options)?;
    let fine = ours.download(on)?;
    let expected = [
        [-3, 2, 9],
        [11, -13, 4],
        [-5, 7, 13],
        [3, 8, 1],
        [10, -9, -12],
        [-10, -11, -8],
        [5, 12, 6],
    ];
    equal("table 4.7", &fine.triangles, &expected.map(sides))?;
    let ends = fine
        .edges
        .iter()
        .map(|&[a, b]| [fine.points[a as usize], fine.points[b as usize]]);
    let (half, middle) = (DVec2::new(7.5, 8.0), DVec2::new(12.5, 15.0));
    let expected = [
        [point(15, 0), point(0, 3)],
        [point(0, 3), point(0, 16)],
        [point(0, 3), half],
        [point(25, 14), point(15, 0)],
        [point(10, 24), middle],
        [point(0, 16), point(10, 24)],
        [point(10, 24), point(25, 14)],
        [half, point(15, 0)],
        [point(0, 16), half],
        [middle, half],
        [point(15, 0), middle],
        [middle, point(0, 16)],
        [point(25, 14), middle],
    ];
    equal("table 4.6", &ends.collect::<Vec<_>>(), &expected)
}

/// Sides by the paper's numbers: edges from 1, negative in reverse.
fn sides(edges: [i32; 3]) -> [u32; 3] {
    edges.map(|edge| 2 * (edge.unsigned_abs() - 1) + u32::from(edge < 0))
}
