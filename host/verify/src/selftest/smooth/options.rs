//! Weights, methods and rules for boundary nodes, on a device against the serial reference.

use glam::{DVec3, Vec3};
use gpu::smooth::Vector;

use super::meshes;
use crate::selftest::{Outcome, Size, equal};
use crate::validate::smooth::{smoothed_surface, smoothed_volume};
use trioxide::bit_set::pack_list;
use trioxide::device::Device;
use trioxide::half_edges::{AnyPoint, DeviceSurface};
use trioxide::mesh::{Faces, Mesh};
use trioxide::smooth::{
    self, Blocks, BoundaryRule, DeviceMesh, Error, Filter, Form, Layout, Options, Renumber, Result,
    Smoothed, Weights,
};
use trioxide::volume::{VolumeMesh, bounds};

const WEIGHTS: [Weights; 3] = [Weights::Uniform, Weights::InverseLength, Weights::Cotangent];
const BOUNDARIES: [BoundaryRule; 2] = [BoundaryRule::Fixed, BoundaryRule::Slide];

/// Deterministic ways to smooth over many blocks; both machines refuse some of them.
const WAYS: [(Form, bool, Layout, Renumber, Filter); 10] = [
    (Form::A, false, Layout::Aos, Renumber::On, Filter::Laplacian),
    (Form::A, false, Layout::Soa, Renumber::On, Filter::TAUBIN),
    (Form::A, false, Layout::Soa, Renumber::Off, Filter::HC),
    (Form::A, false, Layout::Aos, Renumber::On, Filter::HC),
    (Form::A, false, Layout::Aligned, Renumber::On, STRONG),
    (
        Form::BColoured,
        false,
        Layout::Aos,
        Renumber::Off,
        Filter::TAUBIN,
    ),
    (
        Form::BExact,
        false,
        Layout::Aligned,
        Renumber::On,
        Filter::Laplacian,
    ),
    (
        Form::BExact,
        false,
        Layout::Soa,
        Renumber::Off,
        Filter::Laplacian,
    ),
    (
        Form::BColoured,
        true,
        Layout::Aligned,
        Renumber::Off,
        Filter::Laplacian,
    ),
    (
        Form::BColoured,
        false,
        Layout::Soa,
        Renumber::Off,
        Filter::HC,
    ),
];

/// The other ends of both parameters' ranges.
const STRONG: Filter = Filter::Hc {
    alpha: 1.0,
    beta: 0.0,
};

/// Every other combination of a way, weights and a rule of the boundary: those of one half (0 or 1). In each half every
/// two of the three meet.
fn every_way(half: usize, mut check: impl FnMut(&Options) -> Outcome) -> Outcome {
    for (b, boundary) in BOUNDARIES.into_iter().enumerate() {
        for (w, weights) in WEIGHTS.into_iter().enumerate() {
            for (k, (form, guard, layout, renumber, method)) in WAYS.into_iter().enumerate() {
                if (b + w + k) % 2 != half {
                    continue;
                }
                let options = Options {
                    form,
                    guard,
                    layout,
                    renumber,
                    weights,
                    boundary,
                    method,
                    max_iterations: 5,
                    ..Options::default()
                };
                check(&options).map_err(|error| format!("{options:?}: {error}"))?;
            }
        }
    }
    Ok(())
}

/// One half of the combinations in double precision, the other half in single precision.
pub(super) fn volume<const HALF: usize>(on: &Device, mesh: &VolumeMesh) -> Outcome {
    volume_in::<DVec3>(on, mesh, HALF)?;
    volume_in::<Vec3>(on, mesh, 1 - HALF)
}

fn volume_in<P: Vector>(on: &Device, mesh: &VolumeMesh, half: usize) -> Outcome {
    let mut before = mesh.clone();
    before.points.iter_mut().for_each(round::<P>);
    every_way(half, |options| {
        let ours = smooth::run::<P>(on, mesh, &[], options);
        let expected = trioxide_reference::smooth::volume::<P>(mesh, &[], options);
        let Some(points) = same(ours, expected)? else {
            return Ok(());
        };
        let after = VolumeMesh {
            points,
            ..mesh.clone()
        };
        smoothed_volume(&before, &after, &[], options).map_err(|error| error.to_string())
    })
}

/// One mesh, since under a sanitiser all of them would take minutes. One half of the combinations in double precision,
/// the other half in single precision.
pub(super) fn surface(on: &Device, mesh: &Mesh, half: usize) -> Outcome {
    surface_in::<DVec3>(on, mesh, half)?;
    surface_in::<Vec3>(on, mesh, 1 - half)
}

/// Triangles and tetrahedra that are on the device give the mesh that their upload gives.
pub(super) fn resident(on: &Device, size: Size) -> Outcome {
    tetrahedra_in::<DVec3>(on)?;
    tetrahedra_in::<Vec3>(on)?;
    let surfaces = meshes::surfaces(size)?;
    for (name, mesh) in surfaces.into_iter().chain(meshes::odd_surfaces(size)?) {
        let Faces::Triangles(triangles) = &mesh.faces else {
            continue;
        };
        let of_mesh = |error| format!("{name}: {error}");
        resident_in::<DVec3>(on, &mesh, triangles).map_err(of_mesh)?;
        // This mesh is large in every size.
        if size != Size::Tiny || name != "random 3k" {
            resident_in::<Vec3>(on, &mesh, triangles).map_err(of_mesh)?;
        }
    }
    Ok(())
}

fn resident_in<P: Vector + AnyPoint>(on: &Device, mesh: &Mesh, triangles: &[[u32; 3]]) -> Outcome {
    let rounded: Vec<P> = mesh.points.iter().map(|&p| P::from_f64(p)).collect();
    let of_triangles = |triangles: &[[u32; 3]]| {
        DeviceMesh::<P>::of_triangles(on, on.upload(&rounded)?, on.upload(triangles)?)
    };
    let resident = of_triangles(triangles)?;
    let of_rounded: Vec<DVec3> = rounded.iter().map(|&p| P::to_f64(p)).collect();
    let (low, high) = bounds(&of_rounded);
    let (low_of_device, high_of_device) = resident.bounds();
    equal(
        "corner of the box",
        &[low_of_device, high_of_device],
        &[low, high],
    )?;
    let options = Options {
        renumber: Renumber::On,
        max_iterations: 8,
        ..Options::default()
    };
    let ours = smooth::smooth(on, &resident, &[], &options)?.download(on)?;
    let uploaded = smooth::run_surface::<P>(on, mesh, &[], &options)?;
    equal("node", &ours.points, &uploaded.points)?;
    with_known::<P>(on, mesh, &rounded, triangles)?;
    let mut wrong = triangles.to_vec();
    if let Some(triangle) = wrong.first_mut() {
        triangle[1] = rounded.len() as u32;
        match of_triangles(&wrong) {
            Err(error) => equal(
                "error",
                &[error.to_string()],
                &["face 0 has a vertex index that is out of range".to_owned()],
            )?,
            Ok(_) => return Err("a wrong triangle was taken".to_owned()),
        }
    }
    Ok(())
}

/// A surface smoothed by half-edges, where it has such, is the one smoothed by cells; so it is once they are known.
fn with_known<P: Vector + AnyPoint>(
    on: &Device,
    mesh: &Mesh,
    points: &[P],
    triangles: &[[u32; 3]],
) -> Outcome {
    let mut surface = DeviceSurface::new(on.upload(points)?, on.upload(triangles)?);
    let fixed: Vec<bool> = (0..points.len()).map(|v| v % 7 == 3).collect();
    let every = Options {
        max_iterations: 5,
        ..Options::default()
    };
    let in_chunks = Options {
        form: Form::B,
        blocks: Blocks::One,
        layout: Layout::Soa,
        ..every.clone()
    };
    let pulled_back = Options {
        method: Filter::HC,
        layout: Layout::Aos,
        renumber: Renumber::On,
        ..every.clone()
    };
    let coloured = Options {
        form: Form::BColoured,
        ..every.clone()
    };
    for options in [every, in_chunks, pulled_back, coloured] {
        for fixed in [&fixed[..], &[]] {
            let by_cells = DeviceMesh::<P>::upload_surface(on, mesh)?;
            let expected = smooth::smooth(on, &by_cells, fixed, &options)?.download(on)?;
            let bits = (!fixed.is_empty()).then(|| on.upload(&pack_list(fixed)));
            let bits = bits.transpose()?.map(|bits| bits.cast());
            let ours = smooth::smooth_surface(on, surface, bits, None, &options)?;
            let (moved, triangles) = (on.download(ours.surface.points())?, ours.surface);
            let moved: Vec<DVec3> = moved.into_iter().map(P::to_f64).collect();
            equal("node", &moved, &expected.points)?;
            equal("sweeps", &[ours.moves], &[expected.moves])?;
            equal("number of nodes", &[ours.moving], &[expected.moving])?;
            // The triangles with the first points again.
            surface = triangles.with_points(on.upload(points)?);
        }
    }
    Ok(())
}

fn tetrahedra_in<P: Vector>(on: &Device) -> Outcome {
    let tets = trioxide::generate::random_tets(300, 2)?;
    let rounded: Vec<P> = tets.points.iter().map(|&p| P::from_f64(p)).collect();
    let of_tetrahedra = |tetrahedra: &[[u32; 4]]| {
        DeviceMesh::<P>::of_tetrahedra(on, on.upload(&rounded)?, on.upload(tetrahedra)?)
    };
    let regions: Vec<i32> = (0..tets.tetrahedra.len() as i32).map(|t| t % 2).collect();
    let (plain, halved) = (VolumeMesh::from(tets.clone()), {
        let mut mesh = VolumeMesh::from(tets.clone());
        mesh.regions = Some(regions.clone());
        mesh
    });
    for guard in [false, true] {
        let options = Options {
            renumber: Renumber::On,
            form: if guard { Form::BColoured } else { Form::A },
            guard,
            max_iterations: 8,
            ..Options::default()
        };
        let resident = of_tetrahedra(&tets.tetrahedra)?;
        let ours = smooth::smooth(on, &resident, &[], &options)?.download(on)?;
        let uploaded = smooth::run::<P>(on, &plain, &[], &options)?;
        equal("node", &ours.points, &uploaded.points)?;
        let resident = resident.with_regions(on.upload(&regions)?)?;
        let ours = smooth::smooth(on, &resident, &[], &options)?.download(on)?;
        let uploaded = smooth::run::<P>(on, &halved, &[], &options)?;
        equal("node beside regions", &ours.points, &uploaded.points)?;
    }
    let mut wrong = tets.tetrahedra;
    wrong[5][3] = wrong[5][0];
    match of_tetrahedra(&wrong) {
        Err(error) => equal(
            "error",
            &[error.to_string()],
            &["cell 5 has a vertex twice".to_owned()],
        ),
        Ok(_) => Err("a wrong tetrahedron was taken".to_owned()),
    }
}

fn surface_in<P: Vector + AnyPoint>(on: &Device, mesh: &Mesh, half: usize) -> Outcome {
    every_way(half, |options| surface_by::<P>(on, mesh, options))?;
    // The layouts in which no way has a guard.
    for layout in [Layout::Aos, Layout::Soa] {
        let options = Options {
            form: Form::BColoured,
            guard: true,
            layout,
            max_iterations: 5,
            ..Options::default()
        };
        surface_by::<P>(on, mesh, &options)?;
    }
    Ok(())
}

fn surface_by<P: Vector + AnyPoint>(on: &Device, mesh: &Mesh, options: &Options) -> Outcome {
    let mut before = mesh.clone();
    before.points.iter_mut().for_each(round::<P>);
    let ours = smooth::run_surface::<P>(on, mesh, &[], options);
    let expected = trioxide_reference::smooth::surface::<P>(mesh, &[], options);
    let Some(points) = same(ours, expected)? else {
        return Ok(());
    };
    let after = Mesh {
        points,
        ..mesh.clone()
    };
    smoothed_surface(&before, &after, &[], options).map_err(|error| error.to_string())
}

/// To the precision of the run.
fn round<P: Vector>(point: &mut DVec3) {
    *point = P::from_f64(*point).to_f64();
}

/// The nodes, if both have the same nodes and sweeps; `None` if both refuse for the same cause.
fn same(ours: Result<Smoothed>, expected: Result<Smoothed>) -> Result<Option<Vec<DVec3>>, String> {
    match (ours, expected) {
        (Ok(ours), Ok(expected)) => {
            equal("node", &ours.points, &expected.points)?;
            equal("moving nodes", &[ours.moving], &[expected.moving])?;
            equal("result of sweeps", &[ours.moves], &[expected.moves])?;
            Ok(Some(ours.points))
        }
        (Err(ours), Err(expected)) if !matches!(ours, Error::Shared(_)) => {
            equal("cause", &[ours.to_string()], &[expected.to_string()])?;
            Ok(None)
        }
        (ours, expected) => Err(format!("{ours:?}, not {expected:?}")),
    }
}
