//! `trioxide weld`: vertices near each other become one.

use std::path::PathBuf;
use std::time::Instant;

use clap::{Args, ValueEnum};
use serde_json::json;
use trioxide::backend::{Device, Stage};
use trioxide::formats::{self, Format};
use trioxide::mesh::{Faces, Mesh, VertexAttributes};
use trioxide::weld::{self, Method, Position, Welded};
use trioxide::{Error, Result, reference};

use super::device::{DeviceOptions, Precision, Report};

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
    /// How clusters are computed: the same result by each, in other time and memory
    #[arg(long, value_enum, default_value = "auto")]
    method: MethodOption,
}

/// `--method`. Bytes a vertex are those beside the mesh.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MethodOption {
    /// grid, which is the fastest for any epsilon, if what it needs is free; else on-the-fly, which needs the least memory
    Auto,
    /// Undecided vertices watch short lists of their lower neighbours: 60 to 85 bytes a vertex
    Grid,
    /// P-Weld, counters of undecided neighbours and all neighbours in lists: 41 bytes a vertex and 4 a pair of neighbours
    Dependency,
    /// Hashed cells, searched again in every round, no lists: 41 bytes a vertex; slow where epsilon is far beyond the spacing
    OnTheFly,
    /// Hashed cells, then all neighbours in lists, then frontiers: 45 bytes a vertex and 4 a pair of neighbours
    SparseGrid,
}

impl From<MethodOption> for Method {
    fn from(option: MethodOption) -> Self {
        match option {
            MethodOption::Auto => Method::Auto,
            MethodOption::Grid => Method::Grid,
            MethodOption::Dependency => Method::Dependency,
            MethodOption::OnTheFly => Method::OnTheFly,
            MethodOption::SparseGrid => Method::SparseGrid,
        }
    }
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
            method: self.method.into(),
            ..weld::Options::new(self.epsilon)
        }
    }
}

struct Outcome {
    device: String,
    welded: Welded,
    stages: Vec<Stage>,
    method: Option<Method>,
    rounds: Option<usize>,
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
        Some(device) => on_device(&device, &mesh.points, &faces, &settings),
        None if settings.method != Method::Auto => Err(Error::Argument(
            "--device serial has one method of its own: leave --method out, or use another --device"
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
    counts.extend(outcome.method.map(|m| ("method", json!(m.name()))));
    counts.extend(outcome.rounds.map(|rounds| ("rounds", json!(rounds))));
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
) -> Result<Outcome> {
    let method = settings
        .method
        .choose(on, points.len(), faces.len(), false)?;
    let settings = &weld::Options {
        method,
        ..*settings
    };
    let (points, faces) = on.stage("copy to the device", || {
        Ok((on.upload(points)?, on.upload(faces)?))
    })?;
    let result = weld::weld(on, &points, &faces, settings)?;
    Ok(Outcome {
        device: on.name(),
        welded: result.download(on)?,
        method: Some(method),
        rounds: Some(result.left.len()),
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
        method: None,
        rounds: None,
        peak_bytes: None,
    })
}
