//! `trioxide polylla` of meshes of tetrahedra.

use std::path::Path;
use std::time::Instant;

use clap::ValueEnum;
use glam::{DVec3, Vec3};
use serde_json::json;
use trioxide::device::{Device, Stage};
use trioxide::fields::{Fields, MeshFields};
use trioxide::formats::{check_polyhedra_output, write_polyhedra};
use trioxide::polyhedra::{self, Measure, polyhedra, tets_of_polyhedra};
use trioxide::polyhedra_mesh::{PolyhedraLists, PolyhedralMesh};
use trioxide::refine_tets::{DeviceTets, SpacePoint};
use trioxide::volume::TetMesh;
use trioxide::{Result, progress, reference};

use trioxide_arguments::auto::Work;
use trioxide_arguments::device::{self, Opening, Precision, Report};
use trioxide_arguments::polylla::Method;
use trioxide_arguments::{account, note};

use super::super::volume::{refuse_given, tetrahedra};
use super::super::{read_volume, with_precision};
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

/// Refuses what tetrahedra do not have, and an output in a format without polyhedra.
pub fn check_options(options: &Options, output: Option<&Path>) -> Result<()> {
    let planar_only = [
        ("--method", options.method != Method::HalfEdge),
        ("--repair", options.repair.is_some()),
        ("--digest", options.digest),
        ("--ties", matches!(options.ties, TiesOption::First)),
    ];
    refuse_given(&planar_only, "planar meshes", &options.input)?;
    output.map_or(Ok(()), check_polyhedra_output)
}

/// The options as the library has them.
pub fn settings(options: &Options) -> polyhedra::Options {
    polyhedra::Options {
        by: options.by.unwrap_or(By::Area).into(),
        constrained: !options.unconstrained,
        count_pinched: true,
        strict: options.strict,
    }
}

/// The polyhedra of a mesh with all that it carries.
pub fn polyhedral(
    options: &Options,
    mut mesh: TetMesh,
    mut fields: MeshFields,
    lists: &PolyhedraLists,
) -> Result<PolyhedralMesh> {
    if options.unconstrained {
        mesh.regions = None;
        mesh.faces.clear();
        fields.sides = Fields::default();
    }
    let mut polyhedral = PolyhedralMesh::new(&mesh, lists)?;
    if !fields.cells.is_empty() {
        fields.cells = fields.cells.mixed(&tets_of_polyhedra(&mesh, lists));
    }
    polyhedral.fields = fields;
    if options.merge_faces {
        polyhedral = polyhedral.merge_coplanar();
    }
    Ok(polyhedral)
}

/// Writes polyhedra, and says on standard error what of them the file does not hold.
pub fn write(options: &Options, output: &Path, mesh: &PolyhedralMesh) -> Result<()> {
    account::part("work of the host");
    let losses = write_polyhedra(output, mesh, Default::default())?;
    account::part("write");
    for loss in losses {
        note(options.device.quiet, loss);
    }
    Ok(())
}

/// Runs the command on a volume mesh.
pub fn run(options: &Options) -> Result<()> {
    check_options(options, options.output.as_deref())?;
    let quiet = options.device.quiet;
    let opening = options.device.begin(&options.input, Work::POLYHEDRA);
    let mesh = read_volume(&options.input, options.reading, quiet)?;
    let (mesh, fields) = tetrahedra(mesh, &options.input, quiet)?;
    let settings = settings(options);
    let result = match options.device.precision {
        Precision::F64 => merge::<DVec3>(&mesh, settings, opening),
        Precision::F32 => merge::<Vec3>(&mesh, settings, opening),
    };
    let outcome = result
        .map_err(|error| with_precision(error, options.device.precision).in_file(&options.input))?;
    let lists = outcome.lists;
    let single = (0..lists.len()).filter(|&p| lists.tets_of(p).len() == 1);
    let counts = lists.counts;
    let report = Report {
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
    };
    if let Some(output) = &options.output {
        write(options, output, &polyhedral(options, mesh, fields, &lists)?)?;
    }
    report.give(&options.device)
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
    opening: Opening,
) -> Result<Outcome> {
    device::run(&opening.open()?, |device| match device {
        Some(on) => on_device::<P>(on, mesh, settings),
        None => serially::<P>(mesh, settings),
    })
}

fn serially<P: SpacePoint>(mesh: &TetMesh, settings: polyhedra::Options) -> Result<Outcome> {
    progress::stage("polyhedra, sequentially");
    let start = Instant::now();
    // By the check of the devices, so that every machine refuses the same meshes in the same words.
    drop(DeviceTets::<P>::upload(&Device::cpu(Some(1))?, mesh)?);
    let lists = reference::polyhedra::<P>(mesh, settings);
    let stages = vec![Stage {
        name: "polyhedra",
        milliseconds: start.elapsed().as_secs_f64() * 1e3,
    }];
    account::stages(&stages);
    Ok(Outcome {
        device: "serial".to_owned(),
        lists,
        stages,
        peak_bytes: None,
    })
}

fn on_device<P: SpacePoint>(
    on: &Device,
    mesh: &TetMesh,
    settings: polyhedra::Options,
) -> Result<Outcome> {
    on.require(polyhedra::bytes_needed::<P>(
        mesh.points.len(),
        mesh.tetrahedra.len(),
        settings,
    ))?;
    let (tets, faces) = DeviceTets::<P>::upload_with_faces(on, mesh)?;
    let result = polyhedra(on, &tets, &faces, settings)?;
    Ok(Outcome {
        device: on.name(),
        lists: result.download(on, &faces)?,
        stages: account::take_stages(on)?,
        peak_bytes: Some(on.peak_bytes()),
    })
}
