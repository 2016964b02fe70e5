//! Tetrahedra: refinement and Polylla; smoothing.

use gpu::smooth::Vector;
use trioxide::generate;
use trioxide::glam::{DVec3, Vec3};
use trioxide::half_edges::AnyPoint;
use trioxide::mesh::{Faces, Mesh, Polygons};
use trioxide::polyhedra::{self, Measure, Rule};
use trioxide::polyhedra_mesh::PolyhedralMesh;
use trioxide::refine_tets::{self, DeviceTets, DividedEdges, Error, Marking, SpacePoint};
use trioxide::smooth::{
    self, Blocks, BoundaryRule, DeviceMesh, Filter, Form, Goal, Layout, Options, Renumber,
    Smoothed, UntangleOptions, Untangling, Weights,
};
use trioxide::volume::{Cells, MixedCells, TaggedTriangle, TetMesh, VolumeMesh};
use trioxide_reference as reference;
use trioxide_verify::validate;

use crate::bytes::Choices;
use crate::{Pipeline, cpu, planar, results};

pub const PIPELINES: &[Pipeline] = &[
    ("refine_tets", refine_tets),
    ("polyhedra", polyhedra),
    ("smooth", smooth),
    ("untangle", untangle),
];

/// A small mesh of tetrahedra, most often valid.
fn tetrahedra(choices: &mut Choices) -> TetMesh {
    let mut mesh = match choices.below(5) {
        0 => soup(choices),
        1 => generate::random_tets(choices.between(8, 40), choices.id().into())
            .expect("a size in range"),
        2 => fan(choices),
        _ => generate::tet_grid(choices.between(8, 64), choices.id().into())
            .expect("a size in range"),
    };
    if choices.below(2) == 1 {
        // So that lengths are equal.
        mesh.points.iter_mut().for_each(|p| *p = (*p * 8.0).round());
    }
    for _ in 0..choices.below(4) {
        damage(&mut mesh, choices);
    }
    if choices.below(8) != 1 {
        mesh.orient();
    }
    let scale = choices.scale();
    mesh.points.iter_mut().for_each(|p| *p *= scale);
    if choices.below(3) == 1 {
        mesh.regions = Some(
            mesh.tetrahedra
                .iter()
                .map(|_| (choices.byte() % 3).into())
                .collect(),
        );
    }
    for tag in 0..choices.below(3) as i32 {
        let vertices = match choices.below(mesh.tetrahedra.len() + 1) {
            0 => [0; 3].map(|_| choices.vertex(mesh.points.len())),
            t => {
                let [a, b, c, _] = mesh.tetrahedra[t - 1];
                [c, b, a]
            }
        };
        mesh.faces.push(TaggedTriangle { vertices, tag });
    }
    mesh
}

fn point(choices: &mut Choices) -> DVec3 {
    DVec3::new(
        choices.coordinate(),
        choices.coordinate(),
        choices.coordinate(),
    )
}

fn soup(choices: &mut Choices) -> TetMesh {
    let n = choices.below(10);
    TetMesh {
        points: (0..n).map(|_| point(choices)).collect(),
        tetrahedra: (0..choices.below(10))
            .map(|_| [0; 4].map(|_| choices.vertex(n)))
            .collect(),
        ..TetMesh::default()
    }
}

/// Tetrahedra around an edge.
fn fan(choices: &mut Choices) -> TetMesh {
    let n = choices.between(3, 12) as u32;
    let mut points = vec![DVec3::Z, DVec3::NEG_Z];
    points.extend(planar::circle(&[(5, 0), (4, 3), (3, 4)]).map(|p| p.extend(0.0)));
    TetMesh {
        points,
        tetrahedra: (0..n).map(|i| [0, 1, 2 + i, 2 + (i + 1) % 12]).collect(),
        ..TetMesh::default()
    }
}

fn damage(mesh: &mut TetMesh, choices: &mut Choices) {
    let n = mesh.points.len();
    let kind = choices.below(6);
    if kind == 0 {
        let added = point(choices);
        mesh.points.push(added);
    } else if kind == 1 && n > 0 {
        let v = choices.below(n);
        mesh.points[v] = point(choices);
    } else if !mesh.tetrahedra.is_empty() {
        let t = choices.below(mesh.tetrahedra.len());
        match kind {
            2 => mesh.tetrahedra.push(mesh.tetrahedra[t]),
            3 => mesh.tetrahedra[t][choices.below(4)] = choices.vertex(n),
            _ => _ = mesh.tetrahedra.swap_remove(t),
        }
    }
}

fn refine_tets(data: &[u8]) {
    let mut choices = Choices::new(data);
    let mesh = tetrahedra(&mut choices);
    let marking = match choices.below(6) {
        0 => Marking::All,
        1 => Marking::Fraction(f64::from(choices.byte()) / 255.0),
        2 => Marking::BoxInSpace([0; 6].map(|_| choices.coordinate())),
        3 => Marking::Ball([0; 4].map(|_| choices.coordinate())),
        4 => Marking::Volume(choices.coordinate()),
        _ => Marking::Flags(
            mesh.tetrahedra
                .iter()
                .map(|_| choices.below(2) == 1)
                .collect(),
        ),
    };
    let options = refine_tets::Options {
        marking,
        seed: choices.id().into(),
        edges: [DividedEdges::Longest, DividedEdges::Every][choices.below(2)],
        rounds: choices.below(3) as u32,
        max_tetrahedra: Some(2000),
    };
    match choices.below(3) {
        0 => refine_tets_in::<Vec3>(&mesh, &options, false),
        _ => refine_tets_in::<DVec3>(&mesh, &options, true),
    }
}

fn refine_tets_in<P: SpacePoint>(mesh: &TetMesh, options: &refine_tets::Options, exact: bool) {
    let ours = refine_tets::run::<P>(cpu(), mesh, options);
    if validate::tets(mesh).is_err() {
        return;
    }
    // The sequential algorithm takes meshes that a device has checked: that check also refuses ranges of coordinates.
    if let Err(error) = DeviceTets::<P>::upload(cpu(), mesh) {
        let is_range = matches!(error, Error::TooLarge { .. } | Error::TooSmall { .. });
        assert!(is_range || !exact, "valid tetrahedra are refused: {error}");
        assert!(ours.is_err(), "{error}");
        return;
    }
    let expected = reference::refine_tets::<P>(mesh, options);
    if exact {
        assert_eq!(
            ours.is_ok(),
            expected.is_ok(),
            "{:?}, serial {:?}",
            ours.err(),
            expected.err()
        );
    }
    if let (Ok(ours), Ok(expected)) = (ours, expected) {
        assert_eq!(ours, expected);
        results::volume(&ours.mesh.clone().into());
        let resident = DeviceTets::<P>::upload(cpu(), mesh).expect("as above");
        let mut back = refine_tets::refine(cpu(), resident, options).expect("as above");
        back.coarsen(cpu(), ours.levels.len() / 2).expect("a level");
        back.coarsen(cpu(), 0).expect("the input");
        let back = back.download(cpu()).expect("the CPU");
        assert_eq!(back.mesh.tetrahedra, mesh.tetrahedra);
        assert_eq!(back.mesh.faces, mesh.faces);
        if exact {
            validate::tets(&ours.mesh).expect("a valid mesh");
        }
    }
}

fn polyhedra(data: &[u8]) {
    let mut choices = Choices::new(data);
    let mesh = tetrahedra(&mut choices);
    let rule = [Rule::LargestFaces, Rule::Cavity][choices.below(2)];
    let options = polyhedra::Options {
        rule,
        by: [Measure::Area, Measure::Circumradius][choices.below(2)],
        constrained: choices.below(2) == 1,
        count_pinched: choices.below(2) == 1,
        strict: choices.below(2) == 1 && rule == Rule::LargestFaces,
    };
    let Ok((tets, faces)) = DeviceTets::<DVec3>::upload_with_faces(cpu(), &mesh) else {
        return;
    };
    validate::tets(&mesh).expect("a device refuses no less than the validator");
    let ours = polyhedra::polyhedra(cpu(), &tets, &faces, options)
        .and_then(|result| result.download(cpu(), &faces))
        .expect("valid tetrahedra have polyhedra");
    assert_eq!(ours, reference::polyhedra::<DVec3>(&mesh, options));
    let result = PolyhedralMesh::new(&mesh, &ours).expect("a small mesh");
    results::polyhedra(&result);
    results::polyhedra(&result.merge_coplanar());
}

fn options(choices: &mut Choices) -> Options {
    Options {
        form: [Form::A, Form::A, Form::B, Form::BColoured, Form::BExact][choices.below(5)],
        layout: [Layout::Soa, Layout::Aos, Layout::Aligned][choices.below(3)],
        blocks: [Blocks::Many, Blocks::Many, Blocks::One][choices.below(3)],
        tolerance: choices.coordinate(),
        max_iterations: choices.below(6) as u32,
        renumber: Renumber::Off,
        guard: choices.below(3) == 1,
        weights: [Weights::Uniform, Weights::InverseLength, Weights::Cotangent][choices.below(3)],
        method: match choices.below(5) {
            0 => Filter::TAUBIN,
            1 => Filter::HC,
            _ => Filter::Laplacian,
        },
        boundary: [BoundaryRule::Fixed, BoundaryRule::Slide][choices.below(2)],
    }
}

fn smooth(data: &[u8]) {
    let mut choices = Choices::new(data);
    let is_surface = choices.below(3) == 0;
    let options = options(&mut choices);
    let is_f32 = choices.below(3) == 0;
    if is_surface {
        let mesh = surface(&mut choices);
        let fixed = fixed(&mut choices, mesh.points.len());
        match is_f32 {
            true => smooth_surface::<Vec3>(&mesh, &fixed, &options),
            false => smooth_surface::<DVec3>(&mesh, &fixed, &options),
        }
    } else {
        let mesh = match choices.below(3) {
            0 => mixed(&mut choices),
            _ => tetrahedra(&mut choices).into(),
        };
        let fixed = fixed(&mut choices, mesh.points.len());
        match is_f32 {
            true => smooth_volume::<Vec3>(&mesh, &fixed, &options),
            false => smooth_volume::<DVec3>(&mesh, &fixed, &options),
        }
    }
}

/// Untangles and improves: the promises hold.
fn untangle(data: &[u8]) {
    let mut choices = Choices::new(data);
    let is_plane = choices.below(3) == 0;
    let options = UntangleOptions {
        goal: [Goal::Untangled, Goal::UntangledAndImproved, Goal::Improved][choices.below(3)],
        boundary: [BoundaryRule::Fixed, BoundaryRule::Slide][choices.below(2)],
        max_sweeps: choices.below(12) as u32,
        keep_going: choices.below(2) == 1,
    };
    let on = cpu();
    if is_plane {
        let mesh = Mesh::from(planar::triangulation(&mut choices));
        let fixed = fixed(&mut choices, mesh.points.len());
        let Ok(resident) = DeviceMesh::<DVec3>::upload_surface(on, &mesh) else {
            return;
        };
        let Some((points, report)) = untangled(&resident, &fixed, &options) else {
            return;
        };
        let after = Mesh {
            points,
            ..mesh.clone()
        };
        validate::untangle::untangled_surface(&mesh, &after, &fixed, options.boundary, &report)
            .expect("the promises");
        return;
    }
    let mesh: VolumeMesh = match choices.below(3) {
        0 => mixed(&mut choices),
        _ => tetrahedra(&mut choices).into(),
    };
    let fixed = fixed(&mut choices, mesh.points.len());
    let Ok(resident) = DeviceMesh::<DVec3>::upload(on, &mesh) else {
        return;
    };
    let Some((points, report)) = untangled(&resident, &fixed, &options) else {
        return;
    };
    let after = VolumeMesh {
        points,
        ..mesh.clone()
    };
    validate::untangle::untangled_volume(&mesh, &after, &fixed, options.boundary, &report)
        .expect("the promises");
}

/// The new points, unless the mesh or the options are refused.
fn untangled(
    mesh: &DeviceMesh<DVec3>,
    fixed: &[bool],
    options: &UntangleOptions,
) -> Option<(Vec<DVec3>, Untangling)> {
    let on = cpu();
    let result = smooth::untangle(on, mesh, fixed, options).ok()?;
    let points = on.download(result.points()).expect("the points");
    Some((points, result.report().clone()))
}

fn fixed(choices: &mut Choices, nodes: usize) -> Vec<bool> {
    match choices.below(4) {
        0 => (0..nodes).map(|_| choices.below(2) == 1).collect(),
        1 => vec![true; choices.below(nodes + 2)],
        _ => Vec::new(),
    }
}

fn surface(choices: &mut Choices) -> Mesh {
    let mut mesh = Mesh::from(planar::triangulation(choices));
    for point in &mut mesh.points {
        point.z = choices.lattice();
    }
    if choices.below(2) == 1 {
        let mut polygons = Polygons::default();
        for i in 0..mesh.faces.len() {
            let mut face = mesh.faces.get(i).to_vec();
            if choices.below(3) == 1 {
                face.push(choices.vertex(mesh.points.len()));
            }
            polygons.push(&face);
        }
        mesh.faces = Faces::Polygons(polygons);
    }
    mesh
}

/// Boxes of hexahedra, wedges and pyramids.
fn mixed(choices: &mut Choices) -> VolumeMesh {
    let side = choices.between(1, 3) as u32;
    let n = side + 1;
    let mut points = Vec::new();
    for i in 0..n * n * n {
        let mut p = DVec3::new((i % n).into(), (i / n % n).into(), (i / n / n).into());
        if choices.below(4) == 1 {
            p += DVec3::splat(f64::from(choices.byte()) / 1000.0);
        }
        points.push(p);
    }
    let mut cells = MixedCells::default();
    for i in 0..side * side * side {
        let a = i / side / side * n * n + i / side % side * n + i % side;
        let [b, c, d] = [a + 1, a + n + 1, a + n];
        let up = n * n;
        match choices.below(4) {
            0 => {}
            1 => {
                cells.push(&[a, b, c, a + up, b + up, c + up]);
                cells.push(&[a, c, d, a + up, c + up, d + up]);
            }
            2 => cells.push(&[a, b, c, d, a + up]),
            _ => cells.push(&[a, b, c, d, a + up, b + up, c + up, d + up]),
        }
    }
    if choices.seldom(6) && !cells.vertices.is_empty() {
        let k = choices.below(cells.vertices.len());
        cells.vertices[k] = choices.vertex(points.len());
    }
    if choices.seldom(6) {
        let v = choices.below(points.len());
        points[v] = point(choices);
    }
    let count = Cells::Mixed(cells.clone()).len();
    VolumeMesh {
        points,
        cells: Cells::Mixed(cells),
        regions: (choices.below(3) == 1)
            .then(|| (0..count).map(|_| (choices.byte() % 2).into()).collect()),
        faces: Polygons::default(),
        face_tags: Vec::new(),
        fields: Default::default(),
        about: Default::default(),
    }
}

fn smooth_volume<P: Vector>(mesh: &VolumeMesh, fixed: &[bool], options: &Options) {
    let on = cpu();
    // The sequential algorithm takes checked meshes.
    let Ok(resident) = DeviceMesh::<P>::upload(on, mesh) else {
        return;
    };
    _ = trioxide::quality3d::quality(on, resident.cells(), resident.points());
    let ours = smooth::run::<P>(on, mesh, fixed, options);
    if let Ok(smoothed) = &ours {
        results::volume(&VolumeMesh {
            points: smoothed.points.clone(),
            ..mesh.clone()
        });
    }
    same(
        ours,
        reference::smooth::volume::<P>(mesh, fixed, options),
        options,
    );
}

fn smooth_surface<P: Vector + AnyPoint>(mesh: &Mesh, fixed: &[bool], options: &Options) {
    let on = cpu();
    if DeviceMesh::<P>::upload_surface(on, mesh).is_err() {
        return;
    }
    let ours = smooth::run_surface::<P>(on, mesh, fixed, options);
    if let Ok(smoothed) = &ours {
        results::surface(&Mesh {
            points: smoothed.points.clone(),
            ..mesh.clone()
        });
    }
    same(
        ours,
        reference::smooth::surface::<P>(mesh, fixed, options),
        options,
    );
}

fn same(ours: smooth::Result<Smoothed>, expected: smooth::Result<Smoothed>, options: &Options) {
    if let Err(smooth::Error::Race) = expected {
        return;
    }
    assert_eq!(
        ours.is_ok(),
        expected.is_ok(),
        "{:?}, serial {:?}",
        ours.err(),
        expected.err()
    );
    if let (Ok(ours), Ok(expected)) = (ours, expected) {
        // By bits, but all NaNs are equal.
        let bits = |points: &[DVec3]| -> Vec<[u64; 3]> {
            let bits = |x: f64| if x.is_nan() { u64::MAX } else { x.to_bits() };
            points.iter().map(|p| p.to_array().map(bits)).collect()
        };
        assert_eq!(bits(&ours.points), bits(&expected.points), "{options:?}");
        assert_eq!(
            (ours.moving, ours.moves.sweeps),
            (expected.moving, expected.moves.sweeps)
        );
    }
}
