//! `trioxide refine` of meshes of tetrahedra.

use std::time::Instant;

use glam::{DVec3, Vec3};
use serde_json::json;
use trioxide::device::{Device, Stage};
use trioxide::formats::volume::VolumeFormat;
use trioxide::refine_tets::{self, DeviceTets, DividedEdges, Marking, Refined, SpacePoint};
use trioxide::volume::{TetMesh, VolumeMesh};
use trioxide::{Error, Result};
use trioxide::{progress, reference};

use trioxide_arguments::account;
use trioxide_arguments::device::{self, Opening, Report};
use trioxide_arguments::mark::Mark;
use trioxide_operations::Precision;

use super::super::ids::read_flags;
use super::super::volume::{refuse_given, tetrahedra};
use super::super::with_precision;
use super::Options;

/// The marking that the options ask for, of a mesh of `tetrahedra`.
pub fn marking(options: &Options, tetrahedra: usize) -> Result<Marking> {
    Ok(match options.mark.as_ref().unwrap_or(&Mark::All) {
        Mark::All => Marking::All,
        Mark::Fraction(fraction) => Marking::Fraction {
            fraction: *fraction,
            seed: options.seed,
        },
        Mark::Tets(mark) => mark.marking(),
        Mark::File(path) => {
            let last = tetrahedra.saturating_sub(1);
            let what = format!("a tetrahedron, from 0 to {last}");
            Marking::Chosen(read_flags(path, tetrahedra, &what)?)
        }
        mark => {
            return Err(Error::Argument(format!(
                "--mark {mark} goes with planar meshes; tetrahedra are marked by all, fraction:F, \
                 box:X0,Y0,Z0,X1,Y1,Z1, ball:X,Y,Z,R, volume:V or file:PATH"
            )));
        }
    })
}

/// Refuses what tetrahedra do not have.
pub fn check_options(options: &Options) -> Result<()> {
    let planar_only = [
        ("--threshold", options.threshold.is_some()),
        ("--dorfler", options.dorfler.is_some()),
        ("--until-area", options.until_area.is_some()),
        ("--coarsen-to", options.coarsen_to.is_some()),
        ("--maps", options.maps.is_some()),
    ];
    refuse_given(&planar_only, "meshes of triangles", &options.input)
}

/// Runs the command on a volume mesh.
pub fn run(options: &Options) -> Result<()> {
    check_options(options)?;
    if let Some(output) = &options.output {
        VolumeFormat::to_write(output)?;
    }
    let quiet = options.device.quiet;
    let opening = options.device.begin(&options.input, options.work());
    let mesh = super::super::read_volume(&options.input, options.reading, quiet)?;
    let (fine, report) = apply(options, mesh, opening)?;
    if let Some(output) = &options.output {
        super::super::write_volume(output, &fine, Default::default(), quiet)?;
    }
    report.give(&options.device)
}

/// Refines a mesh of tetrahedra on the machine that `opening` gives.
pub fn apply(
    options: &Options,
    mesh: VolumeMesh,
    opening: Opening,
) -> Result<(VolumeMesh, Report<'_>)> {
    check_options(options)?;
    let (mesh, fields) = tetrahedra(mesh, &options.input, options.device.quiet)?;
    let settings = refine_tets::Options {
        marking: marking(options, mesh.tetrahedra.len())?,
        edges: DividedEdges::default(),
        rounds: options.rounds,
        // One that begins below the limit may end above it.
        max_tetrahedra: options.max_triangles,
    };
    let result = match options.precision {
        Precision::F64 => refine::<DVec3>(&mesh, &settings, opening),
        Precision::F32 => refine::<Vec3>(&mesh, &settings, opening),
    };
    let outcome =
        result.map_err(|error| with_precision(error, options.precision).in_file(&options.input))?;
    let fields = outcome.refined.fields(&fields, mesh.points.len());
    let (levels, fine) = (outcome.refined.levels, outcome.refined.mesh);
    let report = Report {
        command: "refine",
        input: &options.input,
        device: outcome.device,
        stages: outcome.stages,
        counts: vec![
            ("vertices", json!(fine.points.len())),
            ("cells", json!(fine.tetrahedra.len())),
            ("tagged_faces", json!(fine.faces.len())),
            ("input_vertices", json!(mesh.points.len())),
            ("input_cells", json!(mesh.tetrahedra.len())),
            ("rounds", json!(levels.len())),
            (
                "closure_rounds",
                json!(levels.iter().map(|level| level.closure_rounds).sum::<u32>()),
            ),
        ],
        peak_bytes: outcome.peak_bytes,
    };
    let fine = VolumeMesh {
        fields,
        ..VolumeMesh::from(fine)
    };
    Ok((fine, report))
}

struct Outcome {
    device: String,
    refined: Refined,
    stages: Vec<Stage>,
    peak_bytes: Option<u64>,
}

fn refine<P: SpacePoint>(
    mesh: &TetMesh,
    settings: &refine_tets::Options,
    opening: Opening,
) -> Result<Outcome> {
    device::run(&opening.open()?, |device| match device {
        Some(on) => Ok(Outcome {
            refined: refine_tets::run::<P>(on, mesh, settings)?,
            device: on.name(),
            stages: account::take_stages(on)?,
            peak_bytes: Some(on.peak_bytes()),
        }),
        None => serially::<P>(mesh, settings),
    })
}

fn serially<P: SpacePoint>(mesh: &TetMesh, settings: &refine_tets::Options) -> Result<Outcome> {
    progress::stage("refine, sequentially");
    let start = Instant::now();
    // By the check of the devices, so that every machine refuses the same meshes in the same words.
    drop(DeviceTets::<P>::upload(&Device::cpu(Some(1))?, mesh)?);
    let refined = reference::refine_tets::<P>(mesh, settings)?;
    let stages = vec![Stage {
        name: "refine",
        milliseconds: start.elapsed().as_secs_f64() * 1e3,
    }];
    account::stages(&stages);
    Ok(Outcome {
        device: "serial".to_owned(),
        refined,
        stages,
        peak_bytes: None,
    })
}
