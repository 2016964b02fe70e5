//! Meshes that are untangled or improved, in place of smoothing. The family is `trioxide::smooth::untangle`.

use glam::{DVec3, Vec3};
use gpu::smooth::Vector;
use trioxide::device::Device;
use trioxide::mesh::Mesh;
use trioxide::quality3d::quality;
use trioxide::smooth::{DeviceMesh, Moves, UntangleOptions, untangle};
use trioxide::volume::VolumeMesh;

use super::{Options, Report, Tangled, Totals, single};
use crate::error::{Error, Result};
use crate::machine::{Machine, On};
use crate::precision::Precision;
use crate::report::Run;

/// As [`smooth`](super::smooth()), of triangles of the plane.
pub(super) fn surface(
    machine: &Machine,
    mesh: Mesh,
    options: &Options,
    goal: &UntangleOptions,
) -> Result<(Mesh, Report)> {
    let (points, mut report) = run(machine, &mesh.points, options, goal, &Cells::Faces(&mesh))?;
    report.totals.faces = Some(mesh.faces.len() as u64);
    Ok((Mesh { points, ..mesh }, report))
}

/// As [`smooth_volume`](super::smooth_volume()).
pub(super) fn volume(
    machine: &Machine,
    mesh: VolumeMesh,
    options: &Options,
    goal: &UntangleOptions,
) -> Result<(VolumeMesh, Report)> {
    let (points, mut report) = run(machine, &mesh.points, options, goal, &Cells::Volume(&mesh))?;
    report.totals.cells = Some(mesh.cells.len() as u64);
    Ok((VolumeMesh { points, ..mesh }, report))
}

/// A mesh of either kind.
enum Cells<'a> {
    Faces(&'a Mesh),
    Volume(&'a VolumeMesh),
}

impl Cells<'_> {
    fn upload<P: Vector>(&self, on: &Device) -> trioxide::Result<DeviceMesh<P>> {
        match self {
            Self::Faces(mesh) => DeviceMesh::upload_surface(on, mesh),
            Self::Volume(mesh) => DeviceMesh::upload(on, mesh),
        }
    }
}

/// The new points, and the report without the number of cells.
fn run(
    machine: &Machine,
    points: &[DVec3],
    options: &Options,
    goal: &UntangleOptions,
    cells: &Cells<'_>,
) -> Result<(Vec<DVec3>, Report)> {
    let done = machine.run(|on| match (on, options.precision) {
        (On::Device(on), Precision::F64) => run_on::<DVec3>(on, options, goal, cells),
        (On::Device(on), Precision::F32) => run_on::<Vec3>(on, options, goal, cells),
        #[cfg(feature = "serial")]
        (On::Serial, _) => Err(super::Refusal::UntanglingSerial.into()),
    });
    let (mut new, mut report) = done.map_err(|error| single(error, points, options))?;
    options.precision.restore(points, &mut new);
    report.totals.vertices = points.len() as u64;
    let done = report.untangling.as_ref();
    if let Some(done) = done.filter(|done| !(done.inverted.is_empty() || goal.keep_going)) {
        return Err(Error::Tangled(Box::new(Tangled {
            inverted: done.inverted.clone(),
            stuck: done.stuck.clone(),
            sweeps: done.sweeps,
            are_triangles: matches!(cells, Cells::Faces(_)),
        })));
    }
    Ok((new, report))
}

fn run_on<P: Vector>(
    on: &Device,
    options: &Options,
    goal: &UntangleOptions,
    cells: &Cells<'_>,
) -> Result<(Vec<DVec3>, Report)> {
    let resident = cells.upload::<P>(on)?;
    let is_measured = options.quality && matches!(cells, Cells::Volume(_));
    let measure = |points| match is_measured {
        true => quality(on, resident.cells(), points).map(Some),
        false => Ok(None),
    };
    let before = measure(resident.points())?;
    let result = untangle(on, &resident, &options.fixed, goal)?;
    let after = measure(result.points())?;
    let points = on.stage("copy to the host", || on.download(result.points()))?;
    let done = result.report().clone();
    let report = Report {
        totals: Totals {
            moving: done.moving.into(),
            moves: Moves {
                sweeps: done.sweeps + done.improving_sweeps,
                ..Moves::default()
            },
            ..Totals::default()
        },
        untangling: Some(done),
        quality: before.zip(after).map(<[_; 2]>::from),
        run: Run::of(on, Vec::new())?,
        notes: Vec::new(),
    };
    Ok((points.into_iter().map(P::to_f64).collect(), report))
}
