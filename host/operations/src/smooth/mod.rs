//! Vertices go to the mean of their neighbours: surfaces and volume meshes. The family is [`trioxide::smooth`].

mod options;
mod report;
mod untangle;

use glam::{DVec3, Vec3};
use gpu::point::MeshPoint;
use gpu::smooth::Vector;
use trioxide::contact::Contacts;
use trioxide::device::Device;
use trioxide::half_edges::{AnyPoint, Remembered};
use trioxide::mesh::{Faces, Mesh};
use trioxide::quality3d::{Quality3d, quality};
use trioxide::smooth::{self as family, DeviceMesh, Smoothed};
use trioxide::volume::VolumeMesh;

use crate::error::{Error, Result};
use crate::input::check_faces;
use crate::machine::{Machine, On, Start};
use crate::precision::Precision;
use crate::report::{CLOCKWISE, Note, Run};
use crate::scale::Scale;

pub use crate::error::smooth::{Refusal, Tangled};
pub use options::{FilterKind, Options};
pub use report::{Report, Totals};

/// Smooths a surface; all but its points stays as it is.
///
/// ```
/// use trioxide_operations::smooth;
///
/// # fn main() -> trioxide_operations::Result<()> {
/// # let device = trioxide::Device::cpu(None)?;
/// let scan = trioxide::generate::scan(1000, 1)?;
/// let options = smooth::Options {
///     method: smooth::FilterKind::Taubin,
///     max_iterations: 10,
///     ..Default::default()
/// };
/// let (smoothed, report) = smooth(&device, scan.clone(), &options)?;
/// assert!(smoothed.faces == scan.faces && report.totals.moving == 1000);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// A mesh without faces, or one that breaks a rule, with the element; [`Refusal`]; those of
/// [`trioxide::smooth::run_surface()`].
pub fn smooth(on: &dyn Start, mut mesh: Mesh, options: &Options) -> Result<(Mesh, Report)> {
    let scale = Scale::take(&mut mesh.points, options.precision)?;
    let options = &options.at(scale);
    let (mut mesh, mut report) =
        smooth_scaled(on, mesh, options).map_err(|error| scale.explain(error))?;
    scale.give(&mut mesh.points)?;
    report.scale(scale);
    Ok((mesh, report))
}

fn smooth_scaled(on: &dyn Start, mut mesh: Mesh, options: &Options) -> Result<(Mesh, Report)> {
    let (vertices, faces) = (mesh.points.len(), mesh.faces.len());
    let settings = options.settings()?;
    check_faces(&mesh)?;
    let given = (options, &settings);
    let machine = on.start()?;
    let is_planar = mesh.is_planar();
    let goal = options.untangling();
    // A guard and untangling compare signs of areas; else the numbering of faces does not matter.
    let turned = match is_planar && (options.guard || goal.is_some()) {
        true => mesh.turn_faces(),
        false => 0,
    };
    let clockwise = match mesh.faces {
        Faces::Triangles(_) => CLOCKWISE,
        Faces::Polygons(_) => "clockwise polygon",
    };
    let note = Note::turned(turned, clockwise);
    if let Some(goal) = goal {
        let (mesh, mut report) = untangle::surface(&machine, mesh, options, &goal)?;
        report.notes.extend(note);
        return Ok((mesh, report));
    }
    let remembered = machine.remembered();
    let between = (&machine, remembered.as_ref());
    let done = machine.run(|on| match (on, options.precision) {
        (On::Device(device), Precision::F64) => surface_on::<DVec3>(device, &mesh, given, between),
        (On::Device(device), Precision::F32) => surface_on::<Vec3>(device, &mesh, given, between),
        #[cfg(feature = "serial")]
        (On::Serial, Precision::F64) => serial::surface::<DVec3>(&mesh, given),
        #[cfg(feature = "serial")]
        (On::Serial, Precision::F32) => serial::surface::<Vec3>(&mesh, given),
    });
    let done = done.map_err(|error| single(error, &mesh.points, options))?;
    let before = if is_planar { mesh.clockwise_faces() } else { 0 };
    let boundary = mesh.faces.boundary();
    let contacts = Contacts::of_boundary(|v| mesh.points[v as usize], &boundary);
    let (points, mut report) = done.into_report(&mesh.points, options);
    let shrinks = boundary.is_empty() && options.method == FilterKind::Laplacian;
    let shrinks = shrinks && report.totals.moving == vertices as u64;
    report.notes.extend(note);
    report.notes.extend(shrinks.then_some(Note::Shrinks));
    report.notes.extend(Note::apart(&contacts));
    report.totals.faces = Some(faces as u64);
    let smoothed = Mesh { points, ..mesh };
    // Sweeps in the plane keep the boundary, so a face that turns over overlaps others.
    if is_planar {
        let more = smoothed.clockwise_faces().saturating_sub(before);
        let are_triangles = matches!(smoothed.faces, Faces::Triangles(_));
        report.notes.extend(Note::overturned(more, are_triangles));
    }
    Ok((smoothed, report))
}

/// Smooths a volume mesh; all but its points stays as it is.
///
/// ```
/// use trioxide_operations::{smooth, smooth_volume};
///
/// # fn main() -> trioxide_operations::Result<()> {
/// # let device = trioxide::Device::cpu(None)?;
/// let options = smooth::Options {
///     guard: true,
///     quality: true,
///     ..Default::default()
/// };
/// let cubes = trioxide::generate::tet_grid(125, 1)?;
/// let (_, report) = smooth_volume(&device, cubes.into(), &options)?;
/// let [before, after] = report.quality.expect("the options ask for it");
/// assert!(after.inverted == 0 && after.worst_jacobian >= before.worst_jacobian);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// A mesh without cells, or one that breaks a rule, with the element; [`Refusal`]; those of
/// [`trioxide::smooth::run()`].
pub fn smooth_volume(
    on: &dyn Start,
    mut mesh: VolumeMesh,
    options: &Options,
) -> Result<(VolumeMesh, Report)> {
    let scale = Scale::take(&mut mesh.points, options.precision)?;
    let options = &options.at(scale);
    let (mut mesh, mut report) =
        smooth_volume_scaled(on, mesh, options).map_err(|error| scale.explain(error))?;
    scale.give(&mut mesh.points)?;
    report.scale(scale);
    Ok((mesh, report))
}

fn smooth_volume_scaled(
    on: &dyn Start,
    mut mesh: VolumeMesh,
    options: &Options,
) -> Result<(VolumeMesh, Report)> {
    let cells = mesh.cells.len();
    let settings = options.settings()?;
    check_cells(&mesh)?;
    let given = (options, &settings);
    let machine = on.start()?;
    let goal = options.untangling();
    // A guard and untangling compare signs of volumes; else the numbering of cells does not matter.
    let turned = match options.guard || goal.is_some() {
        true => mesh.turn_cells(),
        false => 0,
    };
    let note = Note::turned(turned, "inverted cell");
    if let Some(goal) = goal {
        let (mesh, mut report) = untangle::volume(&machine, mesh, options, &goal)?;
        report.notes.extend(note);
        return Ok((mesh, report));
    }
    let done = machine.run(|on| match (on, options.precision) {
        (On::Device(device), Precision::F64) => volume_on::<DVec3>(device, &mesh, given),
        (On::Device(device), Precision::F32) => volume_on::<Vec3>(device, &mesh, given),
        #[cfg(feature = "serial")]
        (On::Serial, Precision::F64) => serial::volume::<DVec3>(&mesh, given),
        #[cfg(feature = "serial")]
        (On::Serial, Precision::F32) => serial::volume::<Vec3>(&mesh, given),
    });
    let done = done.map_err(|error| single(error, &mesh.points, options))?;
    let (points, mut report) = done.into_report(&mesh.points, options);
    report.notes.extend(note);
    report.notes.extend(Note::apart(&Contacts::of_cells(&mesh)));
    report.totals.cells = Some(cells as u64);
    Ok((VolumeMesh { points, ..mesh }, report))
}

/// Refuses a volume mesh in which no node has a neighbour.
///
/// # Errors
/// [`Invalid`](trioxide::Error::Invalid).
pub fn check_cells(mesh: &VolumeMesh) -> trioxide::Result<()> {
    match mesh.cells.len() {
        0 => Err(trioxide::Error::Invalid {
            element: "the mesh".to_owned(),
            rule: format!(
                "has {} vertices and no cells: vertices move to the mean of their neighbours in cells, so give a mesh that \
                 has some",
                mesh.points.len()
            ),
        }),
        _ => Ok(()),
    }
}

/// A broken rule that double precision does not have: of a coordinate beyond the largest.
fn single(error: Error, points: &[DVec3], options: &Options) -> Error {
    let is_beyond = |p: &DVec3| p.abs().max_element() > <Vec3 as MeshPoint>::LARGEST;
    match error {
        Error::Shared(error @ trioxide::Error::Invalid { .. })
            if options.precision == Precision::F32 && points.iter().any(is_beyond) =>
        {
            Error::Single(error)
        }
        error => error,
    }
}

/// The options, and as the family has them.
type Given<'a> = (&'a Options, &'a family::Options);

/// A smoothed mesh's points, and the work that they took.
struct Done {
    smoothed: Smoothed,
    quality: Option<[Quality3d; 2]>,
    run: Run,
}

impl Done {
    /// The new points of `before`, and the report.
    fn into_report(self, before: &[DVec3], options: &Options) -> (Vec<DVec3>, Report) {
        let totals = Totals {
            vertices: before.len() as u64,
            moving: self.smoothed.moving.into(),
            moves: self.smoothed.moves,
            ..Totals::default()
        };
        let report = Report {
            run: self.run,
            totals,
            quality: self.quality,
            untangling: None,
            notes: Vec::new(),
        };
        let mut points = self.smoothed.points;
        options.precision.restore(before, &mut points);
        (points, report)
    }
}

fn surface_on<P: Vector + AnyPoint>(
    on: &Device,
    mesh: &Mesh,
    (options, settings): Given<'_>,
    (machine, remembered): (&Machine, Option<&Remembered>),
) -> Result<Done> {
    let (smoothed, surface) =
        family::run_surface_with::<P>(on, mesh, &options.fixed, settings, remembered)?;
    if let Some(surface) = surface {
        machine.remember(on, || surface);
    }
    Ok(Done {
        smoothed,
        quality: None,
        run: Run::of(on, Vec::new())?,
    })
}

fn volume_on<P: Vector>(
    on: &Device,
    mesh: &VolumeMesh,
    (options, settings): Given<'_>,
) -> Result<Done> {
    settings.check(&options.fixed, mesh.points.len())?;
    let resident = DeviceMesh::<P>::upload(on, mesh)?;
    let measure = |points| match options.quality {
        true => quality(on, resident.cells(), points).map(Some),
        false => Ok(None),
    };
    let before = measure(resident.points())?;
    let result = family::smooth(on, &resident, &options.fixed, settings)?;
    let after = measure(result.points())?;
    Ok(Done {
        smoothed: result.download(on)?,
        quality: before.zip(after).map(<[Quality3d; 2]>::from),
        run: Run::of(on, Vec::new())?,
    })
}

/// The papers' sequential algorithms, after the check of the devices: every machine refuses the same meshes in the same
/// words.
#[cfg(feature = "serial")]
mod serial {
    use std::time::Instant;

    use trioxide::device::Stage;
    use trioxide::progress;
    use trioxide_reference::smooth as reference;

    use super::*;

    pub(super) fn surface<P: Vector>(mesh: &Mesh, (options, settings): Given<'_>) -> Result<Done> {
        settings.check(&options.fixed, mesh.points.len())?;
        let on = Device::cpu(Some(1))?;
        drop(DeviceMesh::<P>::upload_surface(&on, mesh)?);
        timed(|| reference::surface::<P>(mesh, &options.fixed, settings))
    }

    /// The result is measured by the CPU.
    pub(super) fn volume<P: Vector>(
        mesh: &VolumeMesh,
        (options, settings): Given<'_>,
    ) -> Result<Done> {
        settings.check(&options.fixed, mesh.points.len())?;
        let on = Device::cpu(Some(1))?;
        let resident = DeviceMesh::<P>::upload(&on, mesh)?;
        let mut done = timed(|| reference::volume::<P>(mesh, &options.fixed, settings))?;
        if options.quality {
            let points = done.smoothed.points.iter();
            let points: Vec<P> = points.map(|&p| P::from_f64(p)).collect();
            let before = quality(&on, resident.cells(), resident.points())?;
            let after = quality(&on, resident.cells(), &on.upload(&points)?)?;
            done.quality = Some([before, after]);
        }
        Ok(done)
    }

    fn timed(run: impl FnOnce() -> family::Result<Smoothed>) -> Result<Done> {
        progress::stage("smooth, sequentially");
        let start = Instant::now();
        let smoothed = run()?;
        let stage = Stage {
            name: "smooth",
            milliseconds: start.elapsed().as_secs_f64() * 1e3,
        };
        Ok(Done {
            smoothed,
            quality: None,
            run: Run::serial(vec![stage]),
        })
    }
}
