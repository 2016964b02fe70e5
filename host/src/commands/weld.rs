//! `trioxide weld`: vertices near each other become one.

use std::path::PathBuf;
use std::time::Instant;

use clap::{Args, ValueEnum};
use serde_json::json;
use trioxide::backend::{Device, Stage};
use trioxide::formats::{self, Format};
use trioxide::mesh::{Faces, Mesh, VertexAttributes};
use trioxide::weld::{self, Position, Welded};
use trioxide::{Error, Result, reference};

use super::device::{DeviceOptions, Precision, Report};
use super::generate::parse_count;

/// Merge vertices that are within epsilon of each other
///
/// Deterministic vertex clustering: a vertex represents those within epsilon of it that no vertex of a lower id represents.
/// The result is the same on every machine, by every method.
#[derive(Args)]
pub struct Options {
    /// Triangle mesh or point cloud to read: .off, .obj, .ply, .vtu
    input: PathBuf,
    /// Mesh to write: .off, .obj, .ply or .vtu
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    clusters: Clusters,
    /// Bytes of device memory to use at most: 512M, 4G; a mesh that takes more is welded in slabs, with the same result
    /// [default: what is free]
    #[arg(long, value_name = "BYTES", value_parser = parse_count)]
    memory_limit: Option<usize>,
    #[command(flatten)]
    device: DeviceOptions,
}

/// What clusters are made of.
#[derive(Args)]
pub struct Clusters {
    /// Distance within which vertices merge; 0 merges exact duplicates
    #[arg(long, value_name = "E")]
    epsilon: f64,
    /// Position of a merged vertex: the mean of its vertices, or that of the first
    #[arg(long, value_enum, default_value = "mean")]
    position: PositionOption,
    /// Keep triangles whose corners merged, and those that are there twice
    #[arg(long)]
    keep_degenerate: bool,
}

/// `--position`.
#[derive(Clone, Copy, ValueEnum)]
enum PositionOption {
    Mean,
    First,
}

impl Clusters {
    fn options(&self) -> weld::Options {
        weld::Options {
            position: match self.position {
                PositionOption::Mean => Position::Mean,
                PositionOption::First => Position::First,
            },
            keep_degenerate: self.keep_degenerate,
            ..weld::Options::new(self.epsilon)
        }
    }
}

struct Outcome {
    device: String,
    welded: Welded,
    stages: Vec<Stage>,
    rounds: Option<usize>,
    /// Slabs, and passes over them, where the mesh is larger than the device's memory.
    slabs: Option<(usize, usize)>,
    peak_bytes: Option<u64>,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    if options.device.precision == Precision::F32 {
        return Err(Error::Argument(
            "weld computes in double precision: leave --precision f32 out".to_owned(),
        ));
    }
    if let Some(output) = &options.output {
        Format::to_write(output)?;
    }
    let mesh = super::read_mesh(&options.input, options.device.quiet)?;
    let is_tagged = mesh.regions.is_some()
        || !mesh.segments.is_empty()
        || mesh.attributes != VertexAttributes::default();
    if is_tagged && options.output.is_some() && !options.device.quiet {
        eprintln!(
            "trioxide: weld does not carry regions, segments, normals, colours and texture coordinates yet: the output has none"
        );
    }
    let faces = triangles(mesh.faces).map_err(|error| error.in_file(&options.input))?;
    let settings = options.clusters.options();
    let outcome = match options.device.open()? {
        Some(device) => on_device(&device, &mesh.points, &faces, &settings, options),
        None if options.memory_limit.is_some() => Err(Error::Argument(
            "--memory-limit is for the memory of a device: leave it out with --device serial"
                .to_owned(),
        )),
        None => serial(&mesh.points, &faces, &settings),
    }
    .map_err(|error| error.in_file(&options.input))?;
    let welded = outcome.welded;
    let mut counts = vec![
        ("vertices", json!(mesh.points.len())),
        ("faces", json!(faces.len())),
        ("welded_vertices", json!(welded.points.len())),
        ("welded_faces", json!(welded.faces.len())),
    ];
    counts.extend(outcome.rounds.map(|rounds| ("rounds", json!(rounds))));
    if let Some((slabs, passes)) = outcome.slabs {
        counts.extend([("slabs", json!(slabs)), ("passes", json!(passes))]);
    }
    Report {
        command: "weld",
        input: &options.input,
        device: outcome.device,
        stages: outcome.stages,
        counts,
        peak_bytes: outcome.peak_bytes,
    }
    .give(&options.device)?;
    if let Some(output) = &options.output {
        let mesh = Mesh {
            points: welded.points,
            faces: Faces::Triangles(welded.faces),
            ..Mesh::default()
        };
        formats::write(output, &mesh)?;
    }
    Ok(())
}

/// The faces, if all are triangles.
fn triangles(faces: Faces) -> Result<Vec<[u32; 3]>> {
    match faces {
        Faces::Triangles(triangles) => Ok(triangles),
        Faces::Polygons(polygons) => polygons
            .iter()
            .enumerate()
            .map(|(i, face)| {
                face.try_into().map_err(|_| Error::Invalid {
                    element: format!("face {i}"),
                    rule: format!(
                        "has {} vertices, but this operation takes triangles only",
                        face.len()
                    ),
                })
            })
            .collect(),
    }
}

fn on_device(
    on: &Device,
    points: &[glam::DVec3],
    faces: &[[u32; 3]],
    settings: &weld::Options,
    options: &Options,
) -> Result<Outcome> {
    let limit = match options.memory_limit {
        Some(bytes) => bytes as u64,
        None => on.free_bytes()?,
    };
    if !weld::fits(points.len(), faces.len(), limit) {
        return in_slabs(on, points, faces, settings, limit, options.device.quiet);
    }
    let (welded, left) = weld::weld_from_host(on, points, faces, settings)?;
    Ok(Outcome {
        device: on.name(),
        welded,
        rounds: Some(left.len()),
        slabs: None,
        stages: on.take_stages()?,
        peak_bytes: Some(on.peak_bytes()),
    })
}

fn in_slabs(
    on: &Device,
    points: &[glam::DVec3],
    faces: &[[u32; 3]],
    settings: &weld::Options,
    limit: u64,
    quiet: bool,
) -> Result<Outcome> {
    if !quiet {
        eprintln!(
            "trioxide: welding at once takes {} bytes of device memory, of which {limit} may be used: welding in slabs",
            weld::bytes_needed(points.len(), faces.len())
        );
    }
    let result = weld::weld_in_slabs(on, points, faces, settings, limit)?;
    Ok(Outcome {
        device: on.name(),
        welded: result.welded,
        rounds: None,
        slabs: Some((result.slabs, result.left.len())),
        stages: on.take_stages()?,
        peak_bytes: Some(on.peak_bytes()),
    })
}

fn serial(points: &[glam::DVec3], faces: &[[u32; 3]], settings: &weld::Options) -> Result<Outcome> {
    let start = Instant::now();
    let welded = reference::weld(points, faces, settings)?;
    Ok(Outcome {
        device: "serial".to_owned(),
        welded,
        stages: vec![Stage {
            name: "weld",
            milliseconds: start.elapsed().as_secs_f64() * 1e3,
        }],
        rounds: None,
        slabs: None,
        peak_bytes: None,
    })
}
