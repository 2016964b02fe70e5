//! `trioxide refine`: longest-edge bisection.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::{Args, ValueEnum};
use trioxide::Result;
use trioxide::formats::edges::Layout;
use trioxide::formats::volume::VolumeFormat;
use trioxide::formats::{self, Format, ReadOptions, ancestry};
use trioxide::marking::{EXPECTED, Marking};
use trioxide::mesh::{EdgeTriangulation, Mesh, Refinement, Simplices};
use trioxide::volume::VolumeMesh;
use trioxide_arguments::auto::Work;
use trioxide_arguments::device::{DeviceOptions, Opening, Report};
use trioxide_arguments::names::worded;
use trioxide_arguments::{account, note_all};
use trioxide_operations::refine::{self, Input, Refined, Refusal, Wanted};
use trioxide_operations::{Error, refine_tets};

use super::help;
use super::ids::{read_flags, read_values};
use super::step::{AnyMesh, Step, step_fields};

const DEFAULTS: &str = "Where defaults come from: this machine (--device auto, --threads: all cores); the input (--mark: the marks of an .edges file, else all). The others are trioxide's own: one round, \
    seed 0.";

/// Refine a triangulation, a triangulated surface in space or a mesh of tetrahedra by longest-edge bisection
///
/// Marked triangles are bisected at their longest edge, and their neighbours as far as conformity requires.
/// Regions and segments of the input are kept: parts of a triangle have its region, parts of a segment its marker. So
/// are fields: parts of a triangle have its values; a new vertex has the mean of its edge's ends, of integers those of
/// the end with the lower id.
///
/// Under mpirun several processes refine one mesh, each on its own GPU (cargo xtask build --mpi), and write the files
/// of one, or a .pvtu with a piece of each.
#[derive(Args)]
#[command(after_help = DEFAULTS)]
pub struct Options {
    #[arg(help = format!(
        "{}; or tetrahedra: {}",
        help::faces_to_read("Triangulation to read"),
        help::volumes()
    ))]
    pub input: PathBuf,
    #[arg(short, long, value_name = "FILE", help = format!(
        "{}; tetrahedra: {}",
        help::faces_to_write("Refined mesh to write", 3),
        help::volumes()
    ))]
    pub output: Option<PathBuf>,
    /// Triangles to refine: all; fraction:F, each with chance F; box:X0,Y0,X1,Y1 or disk:X,Y,R, by their centroid, in
    /// space at any height; box:X0,Y0,Z0,X1,Y1,Z1 or ball:X,Y,Z,R, by their centroid in space; area:A, larger ones;
    /// angle:DEGREES, ones with a smaller angle; ids:A,B,… or file:PATH, ids of triangles of the input (0 is the
    /// first); values:PATH, one number for each triangle of the input, to go with --threshold or --dorfler
    /// [default: the marks of an .edges file, else all]. Tetrahedra: all, fraction:F, box:X0,Y0,Z0,X1,Y1,Z1,
    /// ball:X,Y,Z,R, volume:V, file:PATH or values:PATH
    #[arg(long, value_name = "MARKING", conflicts_with_all = ["until_area", "until_volume"])]
    mark: Option<MarkOption>,
    #[command(flatten)]
    pub refine: refine::Options,
    /// Write where each part comes from to this folder: parent_triangles.txt or parent_tetrahedra.txt, new_vertices.txt
    /// and prolongation.mtx
    #[arg(long, value_name = "DIR")]
    pub maps: Option<PathBuf>,
    /// How an .edges file is written: as the output of the paper's program, edges by coordinates, or as its input
    #[arg(long, value_enum, default_value = "ends")]
    edges_by: EdgesBy,
    #[command(flatten)]
    pub reading: ReadOptions,
    #[command(flatten)]
    pub device: DeviceOptions,
}

#[derive(Clone, Copy, ValueEnum)]
enum EdgesBy {
    /// Coordinates of ends.
    Ends,
    /// Indices of points.
    Points,
}

/// `--mark`: a kind that has a text, or a file.
#[derive(Clone, Debug, PartialEq)]
pub enum MarkOption {
    Kind(Marking),
    /// Ids of cells.
    File(PathBuf),
    /// A value for each cell.
    Values(PathBuf),
}

impl FromStr for MarkOption {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            Some(("file", path)) if !path.is_empty() => Ok(Self::File(path.into())),
            Some(("values", path)) if !path.is_empty() => Ok(Self::Values(path.into())),
            _ => text
                .parse()
                .map(Self::Kind)
                .map_err(|error: String| match &*error {
                    EXPECTED => format!("{EXPECTED}; or file:PATH or values:PATH"),
                    _ => error,
                }),
        }
    }
}

impl Options {
    /// The options of the operation on a mesh of `count` cells.
    pub fn settings(&self, count: usize, cells: Simplices) -> Result<refine::Options> {
        let has_values = matches!(self.mark, Some(MarkOption::Values(_)));
        let has_rule = self.refine.threshold.is_some() || self.refine.dorfler.is_some();
        if has_values != has_rule {
            return Err(worded(Refusal::Rule.into()));
        }
        let [cell, cells] = cells.names();
        let mut options = refine::Options {
            maps: self.maps.is_some(),
            ..self.refine.clone()
        };
        match &self.mark {
            None => {}
            Some(MarkOption::Kind(mark)) => options.mark = Some(mark.clone()),
            Some(MarkOption::File(path)) => {
                let last = count.saturating_sub(1);
                let what = format!("a {cell}, from 0 to {last}");
                options.mark = Some(Marking::Flags(read_flags(path, count, &what)?));
            }
            Some(MarkOption::Values(path)) => {
                options.values = Some(read_values(path, count, cells)?)
            }
        }
        Ok(options)
    }

    /// The error with the flags that help, and the mesh's file.
    pub fn in_file(&self, error: Error) -> trioxide::Error {
        worded(error).in_file(&self.input)
    }
}

/// Whether a file has the format of the paper's program.
pub fn is_edges_file(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("edges"))
}

/// Reads a mesh of the plane or of space.
pub fn read(options: &Options, quiet: bool) -> Result<Input> {
    let path = &options.input;
    if is_edges_file(path) {
        let (mesh, marks) = formats::edges::read(path)?;
        return Ok(Input::of_edges(mesh, marks));
    }
    let mesh = super::read_mesh(path, options.reading, quiet)?;
    Input::new(mesh).map_err(|error| options.in_file(error))
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    if super::is_volume(&options.input, options.reading) {
        return run_on_volume(options);
    }
    if let Some(output) = &options.output {
        Format::to_write(output)?;
    }
    options.refine.check_numbers().map_err(worded)?;
    let quiet = options.device.quiet;
    let opening = options.device.begin(&options.input, options.work());
    let input = read(options, quiet)?;
    let wanted = match &options.output {
        None => Wanted::Report,
        Some(path) if is_edges_file(path) && input.is_planar() => Wanted::Edges,
        Some(_) => Wanted::Triangles,
    };
    let (mesh, maps, report) = refine(options, input, &opening, wanted)?;
    let write = || -> Result<()> {
        match (&options.output, mesh) {
            (Some(output), Refined::Triangles(mesh)) => super::write_mesh(output, &mesh, quiet)?,
            (Some(output), Refined::Edges(mesh)) => {
                account::part("work of the host");
                write_edges(output, &mesh, options.edges_by)?;
                account::part("write");
            }
            _ => {}
        }
        Ok(())
    };
    write_beside(options, &maps, write)?;
    report.give(&options.device)
}

/// Writes the maps that the options ask for, and the mesh.
fn write_beside(
    options: &Options,
    maps: &Maps,
    write: impl FnOnce() -> Result<()> + Send,
) -> Result<()> {
    let Some(folder) = &options.maps else {
        return write();
    };
    // Beside each other: the system writes each file by one thread.
    let (maps, mesh) = rayon::join(|| maps.write(folder), write);
    maps.and(mesh)?;
    account::part("write");
    Ok(())
}

/// Where the parts of a refined mesh come from, for the folder of `--maps`.
struct Maps {
    cells: Simplices,
    /// Vertices of the input.
    vertices: u64,
    parents: Vec<u32>,
    rounds: Vec<Refinement>,
}

impl Maps {
    fn write(&self, folder: &Path) -> Result<()> {
        let vertices = self.vertices as usize;
        ancestry::write(folder, self.cells, vertices, &self.parents, &self.rounds)
    }
}

fn write_edges(output: &Path, mesh: &EdgeTriangulation, edges_by: EdgesBy) -> Result<()> {
    let layout = match edges_by {
        EdgesBy::Ends => Layout::Ends,
        EdgesBy::Points => Layout::Points,
    };
    formats::edges::write(output, mesh, &vec![false; mesh.triangles.len()], layout)
}

/// Refines a mesh of triangles on the machine that `opening` gives, in a chain.
pub fn apply<'a>(
    options: &'a Options,
    mesh: Mesh,
    opening: &Opening,
) -> Result<(Mesh, Report<'a>)> {
    let input = Input::new(mesh).map_err(|error| options.in_file(error))?;
    match refine(options, input, opening, Wanted::Triangles)? {
        (Refined::Triangles(mesh), maps, report) => {
            if let Some(folder) = &options.maps {
                maps.write(folder)?;
            }
            Ok((mesh, report))
        }
        _ => unreachable!("triangles are wanted"),
    }
}

fn refine<'a>(
    options: &'a Options,
    input: Input,
    opening: &Opening,
    wanted: Wanted,
) -> Result<(Refined, Maps, Report<'a>)> {
    let settings = options.settings(input.triangles(), Simplices::Triangles)?;
    settings.check().map_err(worded)?;
    let (mesh, report) =
        refine::find(opening, input, &settings, wanted).map_err(|error| options.in_file(error))?;
    note_all(&report.notes, options.device.quiet);
    let counts = report.totals.counts();
    let maps = Maps {
        cells: Simplices::Triangles,
        vertices: report.totals.input_vertices,
        parents: report.parents,
        rounds: report.rounds,
    };
    let given = Report::of("refine", &options.input, report.run, counts);
    Ok((mesh, maps, given))
}

/// Runs the command on a volume mesh.
fn run_on_volume(options: &Options) -> Result<()> {
    options.refine.check_numbers().map_err(worded)?;
    if let Some(output) = &options.output {
        VolumeFormat::to_write(output)?;
    }
    let quiet = options.device.quiet;
    let opening = options.device.begin(&options.input, options.work());
    let mesh = super::read_volume(&options.input, options.reading, quiet)?;
    let (fine, maps, report) = refine_volume(options, mesh, &opening)?;
    let write = || match &options.output {
        Some(output) => super::write_volume(output, &fine, Default::default(), quiet),
        None => Ok(()),
    };
    write_beside(options, &maps, write)?;
    report.give(&options.device)
}

/// Refines a mesh of tetrahedra on the machine that `opening` gives, in a chain.
pub fn apply_to_volume<'a>(
    options: &'a Options,
    mesh: VolumeMesh,
    opening: &Opening,
) -> Result<(VolumeMesh, Report<'a>)> {
    let (fine, maps, report) = refine_volume(options, mesh, opening)?;
    if let Some(folder) = &options.maps {
        maps.write(folder)?;
    }
    Ok((fine, report))
}

fn refine_volume<'a>(
    options: &'a Options,
    mesh: VolumeMesh,
    opening: &Opening,
) -> Result<(VolumeMesh, Maps, Report<'a>)> {
    let settings = options.settings(mesh.cells.len(), Simplices::Tetrahedra)?;
    settings.check_volume().map_err(worded)?;
    let (fine, report) = refine_tets::refine_tets(opening, mesh, &settings)
        .map_err(|error| options.in_file(error))?;
    note_all(&report.notes, options.device.quiet);
    let counts = report.totals.counts();
    let maps = Maps {
        cells: Simplices::Tetrahedra,
        vertices: report.totals.input_vertices,
        parents: report.parents,
        rounds: report.rounds,
    };
    let report = Report::of("refine", &options.input, report.run, counts);
    Ok((fine, maps, report))
}

impl Step for Options {
    fn name(&self) -> &'static str {
        "refine"
    }

    step_fields!();

    fn work(&self) -> Work {
        let round = match super::is_volume(&self.input, self.reading) {
            true => Work::REFINE_TETS,
            false => Work::REFINE,
        };
        // Rounds that mark little are the most.
        round.times(f64::from(self.refine.rounds.clamp(1, 8)))
    }

    fn apply(&self, mesh: AnyMesh, opening: &Opening) -> Result<(AnyMesh, Option<Report<'_>>)> {
        Ok(match mesh {
            AnyMesh::Surface(mesh) => {
                let (mesh, report) = apply(self, mesh, opening)?;
                (AnyMesh::Surface(mesh), Some(report))
            }
            AnyMesh::Volume(mesh) => {
                let (mesh, report) = apply_to_volume(self, mesh, opening)?;
                (AnyMesh::Volume(mesh), Some(report))
            }
        })
    }
}
