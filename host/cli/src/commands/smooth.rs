//! `trioxide smooth`: Laplacian smoothing of volume and surface meshes.

use std::io::Write as _;
use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};
use trioxide::Result;
use trioxide::formats::atomic_file::write_atomically;
use trioxide::formats::volume::VolumeFormat;
use trioxide::formats::{Format, ReadOptions};
use trioxide::mesh::Mesh;
use trioxide::quality3d::Quality3d;
use trioxide::volume::VolumeMesh;
use trioxide_arguments::auto::Work;
use trioxide_arguments::device::{DeviceOptions, Opening, Report};
use trioxide_arguments::names::worded;
use trioxide_arguments::note_all;
use trioxide_operations::info::{cells_to_json, ratios_to_json};
use trioxide_operations::{Error, smooth, smooth_volume};

use super::help;
use super::ids::read_flags;
use super::step::{AnyMesh, Step, step_fields};

const DEFAULTS: &str = "Where defaults come from: this machine (--device auto, --threads: all cores); the mesh (--renumber auto: from 65,536 nodes on); MeshLab (--lambda 0.5, --mu -0.53). The others are \
    trioxide's own: a form that gives the same bits on every machine, and what changes least.";

/// Smooth a volume or surface mesh: every free node goes to the mean of its neighbours (Laplacian smoothing)
///
/// Nodes of the boundary, unless they slide, and nodes between cells of two regions stay where they are. With
/// --untangle and --improve nodes move in another way: until no cell is inverted, until the worst cells are better.
///
/// Under mpirun several processes smooth one mesh of triangles or tetrahedra by form a or b-coloured, each on its own
/// GPU (cargo xtask build --mpi), to the same bits, and write the file of one, or a .pvtu with a piece of each.
#[derive(Args)]
#[command(after_help = DEFAULTS)]
pub struct Options {
    #[arg(help = help::faces_to_read("Mesh of faces or cells to read"))]
    pub input: PathBuf,
    /// Mesh to write
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub smooth: smooth::Options,
    /// File with ids of nodes that stay, one a line (0 is the first)
    #[arg(long, value_name = "FILE")]
    fixed: Option<PathBuf>,
    /// File to write, with the ids of the cells that untangling has left inverted, one a line
    #[arg(long, value_name = "FILE", requires = "untangle")]
    bad: Option<PathBuf>,
    #[command(flatten)]
    pub reading: ReadOptions,
    #[command(flatten)]
    pub device: DeviceOptions,
}

impl Options {
    /// The operation's options for a mesh of this number of nodes; the nodes of `--fixed` stay.
    fn settings(&self, nodes: usize) -> Result<smooth::Options> {
        Ok(smooth::Options {
            fixed: self.fixed(nodes)?,
            quality: true,
            ..self.smooth.clone()
        })
    }

    /// The nodes that the file of `--fixed` names, as flags; none without it.
    pub fn fixed(&self, nodes: usize) -> Result<Vec<bool>> {
        let Some(path) = &self.fixed else {
            return Ok(Vec::new());
        };
        let what = format!("a node: the mesh has {nodes} nodes, from 0 on");
        read_flags(path, nodes, &what)
    }

    /// The outcome, after the ids of inverted cells are written; an error has the flags that help, and the mesh's file.
    fn finish<M>(
        &self,
        outcome: Result<(M, smooth::Report), Error>,
    ) -> Result<(M, smooth::Report)> {
        let inverted = match &outcome {
            Ok((_, report)) => report.untangling.as_ref().map(|done| &done.inverted),
            Err(Error::Tangled(left)) => Some(&left.inverted),
            Err(_) => None,
        };
        if let Some((path, ids)) = self.bad.as_ref().zip(inverted) {
            write_atomically(path, |file| {
                ids.iter().try_for_each(|id| writeln!(file, "{id}"))
            })?;
        }
        outcome.map_err(|error| self.in_file(error))
    }

    /// The error with the flags that help, and the mesh's file.
    pub fn in_file(&self, error: Error) -> trioxide::Error {
        worded(error).in_file(&self.input)
    }
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    let is_volume = super::is_volume(&options.input, options.reading);
    if let Some(output) = &options.output {
        if is_volume {
            VolumeFormat::to_write(output)?;
        } else {
            Format::to_write(output)?;
        }
    }
    let quiet = options.device.quiet;
    // A bad combination is refused before a long read.
    options.smooth.settings().map_err(worded)?;
    let opening = options.device.begin(&options.input, options.work());
    let report = if is_volume {
        let mesh = super::read_volume(&options.input, options.reading, quiet)?;
        let (mesh, report) = apply_to_volume(options, mesh, &opening)?;
        if let Some(output) = &options.output {
            super::write_volume(output, &mesh, Default::default(), quiet)?;
        }
        report
    } else {
        let mesh = super::read_mesh(&options.input, options.reading, quiet)?;
        let (mesh, report) = apply_to_surface(options, mesh, &opening)?;
        if let Some(output) = &options.output {
            super::write_mesh(output, &mesh, quiet)?;
        }
        report
    };
    report.give(&options.device)
}

/// Smooths a volume mesh on the machine that `opening` gives.
pub fn apply_to_volume<'a>(
    options: &'a Options,
    mesh: VolumeMesh,
    opening: &Opening,
) -> Result<(VolumeMesh, Report<'a>)> {
    let settings = options.settings(mesh.points.len())?;
    let (mesh, report) = options.finish(smooth_volume(opening, mesh, &settings))?;
    let mut rows: Vec<_> = report.quality.iter().flat_map(quality_rows).collect();
    if report.untangling.is_some() {
        // Its own counts are exact.
        rows.retain(|(name, _)| !name.starts_with("inverted_"));
    }
    Ok((mesh, reported(options, report, rows)))
}

/// Smooths a surface on the machine that `opening` gives.
pub fn apply_to_surface<'a>(
    options: &'a Options,
    mesh: Mesh,
    opening: &Opening,
) -> Result<(Mesh, Report<'a>)> {
    let settings = options.settings(mesh.points.len())?;
    let (mesh, report) = options.finish(smooth::smooth(opening, mesh, &settings))?;
    Ok((mesh, reported(options, report, Vec::new())))
}

/// The report with these rows after the counts, then the mean ratios of a mesh that was untangled or improved.
fn reported<'a>(
    options: &'a Options,
    report: smooth::Report,
    rows: Vec<(&'static str, Value)>,
) -> Report<'a> {
    note_all(&report.notes, options.device.quiet);
    let counts = report.counts();
    let mut given = Report::of("smooth", &options.input, report.run, counts);
    given.counts.extend(rows);
    if let Some(done) = report.untangling {
        let [before, after] = done.ratios.each_ref().map(ratios_to_json);
        given
            .counts
            .extend([("mean_ratio_before", before), ("mean_ratio_after", after)]);
    }
    given
}

/// The quality of a volume mesh before and after.
fn quality_rows([before, after]: &[Quality3d; 2]) -> Vec<(&'static str, Value)> {
    let mut rows = vec![
        ("inverted_before", json!(before.inverted)),
        ("inverted_after", json!(after.inverted)),
        ("worst_quality_before", json!(before.worst_jacobian)),
        ("worst_quality_after", json!(after.worst_jacobian)),
    ];
    if let (Some(before), Some(after)) = (&before.tetrahedra, &after.tetrahedra) {
        rows.extend([
            ("smallest_angle_before", json!(before.smallest_angle)),
            ("smallest_angle_after", json!(after.smallest_angle)),
            ("largest_radius_ratio_before", json!(before.largest_ratio)),
            ("largest_radius_ratio_after", json!(after.largest_ratio)),
        ]);
    }
    rows.extend([
        ("quality_before", cells_to_json(before)),
        ("quality_after", cells_to_json(after)),
    ]);
    rows
}

impl Step for Options {
    fn name(&self) -> &'static str {
        "smooth"
    }

    step_fields!();

    fn work(&self) -> Work {
        Work::SMOOTH.and(Work::SWEEP.times(f64::from(self.smooth.max_iterations)))
    }

    fn apply(&self, mesh: AnyMesh, opening: &Opening) -> Result<(AnyMesh, Option<Report<'_>>)> {
        Ok(match mesh {
            AnyMesh::Surface(mesh) => {
                let (mesh, report) = apply_to_surface(self, mesh, opening)?;
                (AnyMesh::Surface(mesh), Some(report))
            }
            AnyMesh::Volume(mesh) => {
                let (mesh, report) = apply_to_volume(self, mesh, opening)?;
                (AnyMesh::Volume(mesh), Some(report))
            }
        })
    }
}
