//! `trioxide polylla` of meshes of tetrahedra.

use std::time::Instant;

use clap::ValueEnum;
use glam::{DVec3, Vec3};
use serde_json::json;
use trioxide::backend::{Device, Stage};
use trioxide::formats::{check_polyhedra_output, write_polyhedra};
use trioxide::polyhedra::{self, Measure, polyhedra};
use trioxide::polyhedra_mesh::{PolyhedraLists, PolyhedralMesh};
use trioxide::reference;
use trioxide::refine_tets::{DeviceTets, SpacePoint};
use trioxide::volume::TetMesh;
use trioxide::{Error, Result};

use trioxide_arguments::device::{DeviceOptions, Precision, Report};
use trioxide_arguments::note;
use trioxide_arguments::polylla::Method;

use super::super::with_precision;
use super::{Options, TiesOption};

/// Measures as the command line has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum By {
    /// Area.
    Area,
    /// Radius of the circle through the vertices.
    Circumradius,
}

impl From<By> for Measure {
    fn from(by: By) -> Measure {
        match by {
            By::Area => Measure::Area,
            By::Circumradius => Measure::Circumradius,
        }
    }
}

/// Refuses what tetrahedra do not have.
fn check_options(options: &Options) -> Result<()> {
    let planar_only = [
        ("--method", options.method != Method::HalfEdge),
        ("--repair", options.repair.is_some()),
        ("--ties", matches!(options.ties, TiesOption::First)),
    ];
    match planar_only.iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((option, _)) => Err(Error::Argument(format!(
            "{option} goes with planar meshes, but {} is a volume mesh: leave it out",
            options.input.display()
        ))),
    }
}

/// Runs the command on a volume mesh.
pub fn run(options: &Options) -> Result<()> {
    check_options(options)?;
    if let Some(output) = &options.output {
        check_polyhedra_output(output)?;
    }
    let quiet = options.device.quiet;
    let mut mesh = super::super::read_volume(&options.input, quiet)?;
    let lost = mesh.fields.names().len();
    if lost > 0 && options.output.is_some() {
        note(
            quiet,
            format_args!("{lost} fields of the tetrahedra's mesh are left out"),
        );
    }
    mesh.fields = Default::default();
    let mut mesh = mesh
        .into_tet_mesh()
        .map_err(|error| error.in_file(&options.input))?;
    let turned = mesh.orient();
    if turned > 0 {
        note(
            quiet,
            format_args!("{turned} inverted tetrahedra were turned around"),
        );
    }
    let settings = polyhedra::Options {
        by: options.by.unwrap_or(By::Area).into(),
        constrained: !options.unconstrained,
        count_pinched: true,
        strict: options.strict,
    };
    let result = match options.device.precision {
        Precision::F64 => merge::<DVec3>(&mesh, settings, &options.device),
        Precision::F32 => merge::<Vec3>(&mesh, settings, &options.device),
    };
    let outcome = result
        .map_err(|error| with_precision(error, options.device.precision).in_file(&options.input))?;
    let lists = outcome.lists;
    let single = (0..lists.len()).filter(|&p| lists.tets_of(p).len() == 1);
    let counts = lists.counts;
    Report {
        command: "polylla",
        input: &options.input,
        device: outcome.device,
        stages: outcome.stages,
        counts: vec![
            ("vertices", json!(mesh.points.len())),
            ("tetrahedra", json!(mesh.tetrahedra.len())),
            ("polyhedra", json!(counts.polyhedra)),
            ("single_tetrahedra", json!(single.count())),
            ("most_tetrahedra", json!(counts.most_tetrahedra)),
            ("faces", json!(lists.faces())),
            ("regions", json!(counts.regions)),
            ("barrier_faces", json!(counts.barrier_faces)),
            ("regions_with_barriers", json!(counts.regions_with_barriers)),
            ("barrier_tips", json!(counts.barrier_tips)),
            ("barrier_faces_left", json!(counts.barrier_faces_left)),
            ("pinched", json!(counts.pinched)),
            ("split_rounds", json!(counts.split_rounds)),
        ],
        peak_bytes: outcome.peak_bytes,
    }
    .give(&options.device)?;
    if let Some(output) = &options.output {
        if options.unconstrained {
            mesh.regions = None;
            mesh.faces.clear();
        }
        let mut polyhedral = PolyhedralMesh::new(&mesh, &lists)?;
        if options.merge_faces {
            polyhedral = polyhedral.merge_coplanar();
        }
        for loss in write_polyhedra(output, &polyhedral, Default::default())? {
            note(quiet, loss);
        }
    }
    Ok(())
}

struct Outcome {
    device: String,
    lists: PolyhedraLists,
    stages: Vec<Stage>,
    peak_bytes: Option<u64>,
}

fn merge<P: SpacePoint>(
    mesh: &TetMesh,
    settings: polyhedra::Options,
    device: &DeviceOptions,
) -> Result<Outcome> {
    let Some(on) = device.open()? else {
        let start = Instant::now();
        // By the check of the devices, so that every machine refuses the same meshes in the same words.
        drop(DeviceTets::<P>::upload(&Device::cpu(Some(1))?, mesh)?);
        let lists = reference::polyhedra::<P>(mesh, settings);
        return Ok(Outcome {
            device: "serial".to_owned(),
            lists,
            stages: vec![Stage {
                name: "polyhedra",
                milliseconds: start.elapsed().as_secs_f64() * 1e3,
            }],
            peak_bytes: None,
        });
    };
    on.require(polyhedra::bytes_needed::<P>(
        mesh.points.len(),
        mesh.tetrahedra.len(),
        settings,
    ))?;
    let (tets, faces) = DeviceTets::<P>::upload_with_faces(&on, mesh)?;
    let result = polyhedra(&on, &tets, &faces, settings)?;
    Ok(Outcome {
        device: on.name(),
        lists: result.download(&on, &faces)?,
        stages: on.take_stages()?,
        peak_bytes: Some(on.peak_bytes()),
    })
}
