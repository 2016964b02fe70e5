//! The measurements of each family: its mesh by the options, read or generated, and its records.

use glam::{DVec2, DVec3, Vec2, Vec3};
use trioxide::device::Device;
use trioxide::indexed::Repair;
use trioxide::mesh::Triangulation;
use trioxide::volume::VolumeMesh;
use trioxide::{Result, generate};
use trioxide_arguments::names::worded;
use trioxide_operations::input::{check_faces, tetrahedra};
use trioxide_operations::polylla::{self as operation, DataStructure};
use trioxide_verify::selftest::repair::damage;
use trioxide_verify::selftest::weld as scans;

use super::record::Record;
use super::{
    Family, Mesh, Options, compare, decimate, delaunay, levels, name_of, polyhedra, polylla,
    refine, refine_tets, reorder, repair, smooth, untangle, weld,
};

pub fn polylla_cases(on: &Device, options: &Options) -> Result<Vec<Record>> {
    let runs = options.runs();
    let method = ("method", name_of(options.method));
    if let Some(mesh) = options.surface_in_space()? {
        let chosen = operation::Options {
            method: options.method,
            ..operation::Options::default()
        };
        chosen.check_surface().map_err(worded)?;
        let measured = match options.is_double() {
            true => polylla::half_edge::<DVec3>(on, &mesh, runs)?,
            false => polylla::half_edge::<Vec3>(on, &mesh, runs)?,
        };
        return Ok(vec![options.record(measured, &[method])]);
    }
    let mesh = options.planar_mesh()?;
    if matches!(options.method, DataStructure::HalfEdge) {
        let measured = match options.is_double() {
            true => polylla::in_plane::<DVec2>(on, &mesh, runs)?,
            false => polylla::in_plane::<Vec2>(on, &mesh, runs)?,
        };
        return Ok(vec![options.record(measured, &[method])]);
    }
    let repairs = match &options.repair[..] {
        [] => &[Repair::Device],
        repairs => repairs,
    };
    let case = |&repair: &Repair| {
        let measured = match options.is_double() {
            true => polylla::indexed::<DVec2>(on, &mesh, repair, runs)?,
            false => polylla::indexed::<Vec2>(on, &mesh, repair, runs)?,
        };
        let details = [method.clone(), ("repair", name_of(repair))];
        Ok(options.record(measured, &details))
    };
    repairs.iter().map(case).collect()
}

pub fn levels_case(on: &Device, options: &Options) -> Result<Record> {
    let measured = match options.surface_in_space()? {
        Some(mesh) => levels::of_polygons(on, &mesh, options.runs())?,
        None => levels::of_polygons(on, &options.planar_mesh()?, options.runs())?,
    };
    Ok(options.record(measured, &[]))
}

pub fn delaunay_case(on: &Device, options: &Options) -> Result<Record> {
    if matches!(options.mesh, Mesh::Outlines) {
        let outline = generate::outlines(options.n, options.seed)?;
        let measured = match options.is_double() {
            true => delaunay::constrained::<DVec2>(on, &outline, options.runs())?,
            false => delaunay::constrained::<Vec2>(on, &outline, options.runs())?,
        };
        return Ok(options.record(measured, &[]));
    }
    let coast = match options.file.outline()? {
        None if matches!(options.mesh, Mesh::Coast) => {
            Some((generate::coast(3000, options.seed)?, options.n))
        }
        outline => outline.map(|outline| (outline, delaunay::REFINED)),
    };
    if let Some((outline, n)) = coast {
        let measured = match options.is_double() {
            true => delaunay::refined::<DVec2>(on, &outline, n, options.runs())?,
            false => delaunay::refined::<Vec2>(on, &outline, n, options.runs())?,
        };
        return Ok(options.record(measured, &[]));
    }
    let points = match (options.surface()?, options.mesh, options.mesh.plane()) {
        (Some(mesh), ..) => mesh.points.iter().map(|p| p.truncate()).collect(),
        (None, _, Some(plane)) => generate::plane(plane, options.n, options.seed)?,
        (None, Mesh::Random, None) => generate::random_points(options.n, options.seed)?,
        _ => options.planar_mesh()?.points,
    };
    let measured = match options.is_double() {
        true => delaunay::bench::<DVec2>(on, &points, options.runs())?,
        false => delaunay::bench::<Vec2>(on, &points, options.runs())?,
    };
    Ok(options.record(measured, &[]))
}

pub fn reorder_case(on: &Device, options: &Options) -> Result<Record> {
    let mesh = match (options.surface()?, options.mesh.plane()) {
        (Some(mesh), _) => mesh,
        (None, Some(plane)) => Triangulation {
            points: generate::plane(plane, options.n, options.seed)?,
            ..Triangulation::default()
        }
        .into(),
        (None, None) => options.planar_mesh()?.into(),
    };
    let name = match options.file.path() {
        Some(_) => "as read",
        None => "as generated",
    };
    let is_planar = mesh.is_planar();
    let mesh = mesh.into_surface()?;
    let runs = options.runs();
    let measured = match (is_planar, options.is_double()) {
        (true, true) => reorder::bench::<DVec2>(on, &mesh, |p| p.truncate(), name, runs)?,
        (true, false) => reorder::bench::<Vec2>(on, &mesh, |p| p.truncate(), name, runs)?,
        (false, true) => reorder::bench::<DVec3>(on, &mesh, |p| p, name, runs)?,
        (false, false) => reorder::bench::<Vec3>(on, &mesh, |p| p, name, runs)?,
    };
    Ok(options.record(measured, &[]))
}

pub fn refine_case(on: &Device, options: &Options) -> Result<Record> {
    let mesh: trioxide::mesh::Mesh = match options.surface()? {
        Some(mesh) => mesh,
        None => options.planar_mesh()?.into(),
    };
    check_faces(&mesh)?;
    let settings = trioxide_operations::refine::Options {
        mark: Some(options.mark.clone()),
        seed: options.seed,
        ..Default::default()
    };
    let settings = settings.of_triangles(mesh.faces.len(), None);
    let settings = settings.map_err(worded)?;
    let (runs, is_double) = (options.runs(), options.is_double());
    let measured = match mesh.is_planar() {
        true => {
            let mesh = mesh.into_triangulation()?;
            match is_double {
                true => refine::bench::<DVec2>(on, &mesh, &settings, runs)?,
                false => refine::bench::<Vec2>(on, &mesh, &settings, runs)?,
            }
        }
        false => {
            let mesh = mesh.into_surface()?;
            match is_double {
                true => refine::bench::<DVec3>(on, &mesh, &settings, runs)?,
                false => refine::bench::<Vec3>(on, &mesh, &settings, runs)?,
            }
        }
    };
    Ok(options.record(measured, &[("mark", options.mark.to_string())]))
}

pub fn volume_case(on: &Device, options: &Options) -> Result<Record> {
    let mesh: VolumeMesh = match (options.file.path(), options.mesh) {
        (Some(path), _) => {
            let family = name_of(options.family());
            options.file.volume(path, &family, options.device.quiet)?
        }
        (None, _) if matches!(options.family(), Family::Untangle) => {
            generate::tangled_tets(options.n, options.tangle, options.seed)?.into()
        }
        (None, Mesh::Random) => generate::random_tets(options.n, options.seed)?.into(),
        (None, _) => generate::tet_grid(options.n, options.seed)?.into(),
    };
    let runs = options.runs();
    if matches!(options.family(), Family::Untangle) {
        let measured = match options.is_double() {
            true => untangle::bench::<DVec3>(on, &mesh, runs)?,
            false => untangle::bench::<Vec3>(on, &mesh, runs)?,
        };
        let tangled = match options.file.path() {
            Some(_) => "as read".to_owned(),
            None => format!("{} inverted", options.tangle),
        };
        return Ok(options.record(measured, &[("tangled", tangled)]));
    }
    if matches!(options.family(), Family::Smooth) {
        let measured = match options.is_double() {
            true => smooth::bench::<DVec3>(on, &mesh, runs)?,
            false => smooth::bench::<Vec3>(on, &mesh, runs)?,
        };
        return Ok(options.record(measured, &[]));
    }
    let (mesh, ..) = tetrahedra(mesh).map_err(worded)?;
    let measured = match (options.family(), options.is_double()) {
        (Family::LevelsPolyhedra, _) => levels::of_polyhedra(on, &mesh, runs)?,
        (Family::Polyhedra, true) => polyhedra::bench::<DVec3>(on, &mesh, runs)?,
        (Family::Polyhedra, false) => polyhedra::bench::<Vec3>(on, &mesh, runs)?,
        (_, true) => refine_tets::bench::<DVec3>(on, &mesh, runs)?,
        (_, false) => refine_tets::bench::<Vec3>(on, &mesh, runs)?,
    };
    Ok(options.record(measured, &[]))
}

pub fn compare_case(on: &Device, options: &Options) -> Result<Record> {
    let is_planar = options.file.path().is_none()
        && !matches!(options.mesh, Mesh::Scan | Mesh::ShuffledScan | Mesh::Cloud);
    let (points, triangles) = match is_planar {
        true => {
            let mesh = options.planar_mesh()?;
            let lifted = mesh.points.iter().map(|p| p.extend(0.0));
            (lifted.collect(), mesh.triangles)
        }
        false => scanned(options)?,
    };
    let measured = compare::bench(on, &points, &triangles, options.seed, options.runs())?;
    Ok(options.record(measured, &[]))
}

/// The mesh of the file, or the scan or cloud to generate.
fn scanned(options: &Options) -> Result<(Vec<DVec3>, Vec<[u32; 3]>)> {
    Ok(match (options.surface()?, options.mesh) {
        (Some(mesh), _) => {
            let mesh = mesh.into_surface()?;
            (mesh.points, mesh.triangles)
        }
        (None, Mesh::Cloud) => (generate::cloud(options.n, options.seed)?.points, Vec::new()),
        (None, mesh) => {
            let (points, faces) = scans::scan(options.n, options.seed);
            match mesh {
                Mesh::ShuffledScan => scans::shuffled(&points, &faces),
                _ => (points, faces),
            }
        }
    })
}

pub fn decimate_case(on: &Device, options: &Options) -> Result<Record> {
    let (points, triangles) = scanned(options)?;
    let measured = decimate::bench(on, &points, &triangles, options.runs())?;
    Ok(options.record(measured, &[]))
}

pub fn repair_case(on: &Device, options: &Options) -> Result<Record> {
    let (points, mut triangles) = scanned(options)?;
    // A file has faults of its own.
    if options.file.path().is_none() {
        let times = triangles.len() / 1000;
        damage(&mut triangles, points.len() as u32, times);
    }
    let measured = repair::bench(on, &points, &triangles, options.runs())?;
    Ok(options.record(measured, &[]))
}

pub fn weld_cases(on: &Device, options: &Options) -> Result<Vec<Record>> {
    let (points, faces) = scanned(options)?;
    let cases = weld::bench(on, &points, &faces, &options.weld, options.runs())?;
    Ok(cases
        .into_iter()
        .map(|(removed, measured)| options.record(measured, &[("removed", removed)]))
        .collect())
}
