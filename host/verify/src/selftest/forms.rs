//! Conversions between points of the plane and of space.

use glam::{DVec2, DVec3, Vec2, Vec3};

use super::{Case, Outcome, equal, random};
use trioxide::device::Device;
use trioxide::forms::{flatten, lift, origins, triangles, triangulation};
use trioxide::half_edges::{AnyPoint, DeviceSurface, DeviceTriangulation, Remembered};
use trioxide::mesh::Triangulation;
use trioxide::refine::{DeviceEdgeMesh, Marking, Options, refine};

pub fn cases() -> Vec<Case> {
    vec![
        Case::new("points of the plane and of space", convert),
        Case::new("a triangulation from points of space", from_space),
        Case::new("half-edges of refined meshes, by their sides", refined),
    ]
}

fn convert(on: &Device) -> Outcome {
    for n in [0, 1, 33, 10_000] {
        let flat: Vec<DVec2> = (0..n)
            .map(|i| DVec2::new(f64::from(i) / 7.0, -f64::from(i)))
            .collect();
        let high: Vec<DVec3> = flat.iter().map(|p| p.extend(p.x - 1.0)).collect();
        let lifted: Vec<DVec3> = flat.iter().map(|p| p.extend(0.0)).collect();
        let points = on.upload(&flat)?;
        equal("lifted", &on.download(&lift(on, &points)?)?, &lifted)?;
        let points = flatten::<DVec2>(on, &on.upload(&high)?)?;
        equal("flattened", &on.download(&points)?, &flat)?;

        let flat: Vec<Vec2> = flat.iter().map(|p| p.as_vec2()).collect();
        let lifted: Vec<Vec3> = flat.iter().map(|p| p.extend(0.0)).collect();
        let points = lift(on, &on.upload(&flat)?)?;
        equal("lifted, f32", &on.download(&points)?, &lifted)?;
        let points = flatten::<Vec2>(on, &points)?;
        equal("flattened, f32", &on.download(&points)?, &flat)?;
    }
    let list = [[0u32, 1, 2], [2, 1, 3]];
    let there = origins(on.upload(&list)?);
    equal(
        "origins",
        &on.download(there.as_words())?,
        list.as_flattened(),
    )?;
    equal("triangles", &on.download(&triangles(there)?)?, &list)
}

fn from_space(on: &Device) -> Outcome {
    let mesh = random(500, 3)?;
    let high: Vec<DVec3> = mesh.points.iter().map(|p| p.extend(p.y)).collect();
    let surface = DeviceSurface::new(on.upload(&high)?, on.upload(&mesh.triangles)?);
    let ours = triangulation::<DVec2>(on, surface)?.download(on)?;
    let expected = DeviceTriangulation::<DVec2>::upload(on, &mesh)?.download(on)?;
    equal("twin", &ours.twin, &expected.twin)?;
    equal("origin", &ours.origin, &expected.origin)
}

/// A refined mesh leads to the same half-edges as a build from its triangles.
fn refined(on: &Device) -> Outcome {
    let mesh = random(700, 4)?;
    let some = Marking::Fraction(0.05);
    for (marking, rounds) in [(Marking::All, 0), (Marking::All, 2), (some, 3)] {
        let options = Options {
            marking,
            seed: 2,
            rounds,
            history: true,
            ..Options::default()
        };
        let mut edges = DeviceEdgeMesh::<DVec2>::upload(on, &mesh)?;
        refine(on, &mut edges, &options)?;
        for level in [edges.levels().len() - 1, 0] {
            edges.coarsen(on, level)?;
            let arrays = edges.triangulation(on, None)?;
            let expected = DeviceTriangulation::<DVec2>::upload(on, &arrays)?.download(on)?;
            let known = edges.duplicate(on)?.into_triangulation(on)?.download(on)?;
            equal("origin", &known.origin, &expected.origin)?;
            equal("twin", &known.twin, &expected.twin)?;
            equal("next", &known.next, &expected.next)?;
            equal("prev", &known.prev, &expected.prev)?;
            equal("half-edge of vertex", &known.of_vertex, &expected.of_vertex)?;
        }
    }
    remembered(on, &mesh)?;
    refuse_wrong_points::<DVec2>(on, &mesh)?;
    refuse_wrong_points::<Vec2>(on, &mesh)?;
    let points = mesh.points.iter().map(|p| p.extend(p.x * p.y)).collect();
    let surface = Triangulation {
        points,
        triangles: mesh.triangles,
        ..Triangulation::default()
    };
    refuse_wrong_points::<DVec3>(on, &surface)?;
    refuse_wrong_points::<Vec3>(on, &surface)
}

/// Triangles that come back from the host are recognised where they equal the remembered triangles, and only there.
fn remembered(on: &Device, mesh: &Triangulation) -> Outcome {
    let first = DeviceTriangulation::<DVec2>::upload(on, mesh)?;
    let expected = first.download(on)?;
    let remembered = Remembered::new(on, first.into_surface());
    let mut turned = mesh.clone();
    turned.triangles[7].rotate_left(1);
    for (mesh, is_known) in [(mesh, true), (&turned, false)] {
        on.take_stages()?;
        let again = DeviceTriangulation::<DVec2>::upload_with(on, mesh, [0, 0], Some(&remembered))?;
        let stages = on.take_stages()?;
        if stages.iter().any(|stage| stage.name == "match twins") == is_known {
            return Err(format!(
                "half-edges of known triangles: {is_known}, {stages:?}"
            ));
        }
        let again = again.download(on)?;
        equal(
            "twin",
            &again.twin,
            &trioxide_reference::half_edges(&mesh.triangles, mesh.points.len()).twin,
        )?;
        if is_known {
            equal("next", &again.next, &expected.next)?;
        }
    }
    Ok(())
}

/// Known half-edges spare no check of points: a mesh with them is refused for the same points as without them, in the
/// same words.
fn refuse_wrong_points<P: AnyPoint>(on: &Device, mesh: &Triangulation<P::Double>) -> Outcome {
    let points: Vec<P> = mesh.points.iter().map(|&p| P::from_f64(p)).collect();
    let build = |points: &[P], is_known: bool| -> Result<Option<String>, String> {
        let (points, triangles) = (on.upload(points)?, on.upload(&mesh.triangles)?);
        let mut surface = DeviceSurface::new(points, triangles);
        if is_known {
            let edges = DeviceEdgeMesh::<P>::upload(on, mesh)?.into_surface(on);
            surface = edges.map_points(|_| Ok::<_, String>(surface.into_arrays().0))?;
        }
        Ok(DeviceTriangulation::of_surface(on, surface)
            .err()
            .map(String::from))
    };
    let huge = P::from_f64(P::to_f64(points[5]) / 1e-200);
    let wrong = [
        (points.clone(), false),
        ([&points[..5], &[huge], &points[6..]].concat(), true),
        (
            [&[points[1], points[0]], &points[2..]].concat(),
            size_of::<P::Double>() == 16,
        ),
        (vec![points[0]; points.len()], true),
        (points[..600].to_vec(), true),
    ];
    for (points, is_refused) in wrong {
        let known = build(&points, true)?;
        let anew = build(&points, false)?;
        equal("error", std::slice::from_ref(&known), &[anew])?;
        if is_refused && known.is_none() {
            return Err(format!("{}: wrong points were taken", P::INSTANCE));
        }
    }
    Ok(())
}
