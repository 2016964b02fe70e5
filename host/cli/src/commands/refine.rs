//! `trioxide refine`: longest-edge bisection.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use glam::{DVec2, DVec3, Vec2, Vec3};
use serde_json::json;
use trioxide::fields::Carried;
use trioxide::formats::edges::Layout;
use trioxide::formats::{self, Format, ReadOptions, ancestry};
use trioxide::half_edges::AnyPoint;
use trioxide::mesh::{EdgeTriangulation, Mesh, Refinement, Triangulation};
use trioxide::prolongation::Prolongation;
use trioxide::refine::{self, End, Marking};
use trioxide::{Error, Result};

use trioxide_arguments::account;
use trioxide_arguments::auto::Work;
use trioxide_arguments::device::{self, DeviceOptions, Opening, Report};
use trioxide_arguments::mark::Mark;
use trioxide_operations::Precision;
use trioxide_operations::count::parse_count;
use trioxide_operations::input::check_faces;

use super::ids::{read_flags, read_values};

#[path = "refine_runs.rs"]
mod runs;
#[path = "refine_tets.rs"]
pub mod tets;

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
    /// Triangulation to read: .off, .obj, .ply, .vtu, .vtp, .vtk, .msh, .mesh, .inp, .xdmf, .edges, or .node and .ele
    /// (either name or the bare stem); or tetrahedra: .vtu, .inp, .xdmf, .vtk, .msh, .mesh, .meshb, or .node and .ele
    pub input: PathBuf,
    /// Refined mesh to write; triangles: .off, .obj, .ply, .vtu, .vtp, .vtk, .msh, .mesh, .inp, .xdmf, .edges, or .node
    /// and .ele; tetrahedra: .vtu, .inp, .xdmf, .vtk, .msh, .mesh, .meshb, or .node and .ele
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Triangles to refine: all; fraction:F, each with chance F; box:X0,Y0,X1,Y1 or disk:X,Y,R, by their centroid, in
    /// space at any height; box:X0,Y0,Z0,X1,Y1,Z1 or ball:X,Y,Z,R, by their centroid in space; area:A, larger ones;
    /// angle:DEGREES, ones with a smaller angle; ids:A,B,… or file:PATH, ids of triangles of the input (0 is the
    /// first); values:PATH, one number for each triangle of the input, to go with --threshold or --dorfler
    /// [default: the marks of an .edges file, else all]. Tetrahedra: all, fraction:F, box:X0,Y0,Z0,X1,Y1,Z1,
    /// ball:X,Y,Z,R, volume:V or file:PATH
    #[arg(long, value_name = "MARKING")]
    mark: Option<Mark>,
    /// With --mark values:PATH, refine the triangles whose value is above this
    #[arg(long, value_name = "VALUE", conflicts_with = "dorfler", value_parser = parse_threshold)]
    threshold: Option<f64>,
    /// With --mark values:PATH, refine the triangles with the largest values, as many as make this part of the sum of
    /// all (Dörfler)
    #[arg(long, value_name = "PART")]
    dorfler: Option<f64>,
    /// Seed of --mark fraction
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Rounds; each marks anew. Ids and values of a file mark all parts of their triangle again
    #[arg(
        long,
        value_name = "R",
        default_value_t = 1,
        conflicts_with = "until_area"
    )]
    rounds: u32,
    /// Refine in rounds until no triangle has more area than this
    #[arg(long, value_name = "A", conflicts_with = "mark", value_parser = parse_area)]
    until_area: Option<f64>,
    /// Begin no round that would give more triangles than this; on tetrahedra, no level that begins with this many or
    /// more
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub max_triangles: Option<usize>,
    /// Give the mesh of this level in place of the last round's, bit for bit: 0 is the input, and rounds after it are
    /// not run
    #[arg(long, value_name = "LEVEL")]
    pub coarsen_to: Option<usize>,
    /// Write where each part comes from to this folder: parent_triangles.txt, new_vertices.txt and prolongation.mtx
    #[arg(long, value_name = "DIR")]
    pub maps: Option<PathBuf>,
    /// How an .edges file is written: as the output of the paper's program, edges by coordinates, or as its input
    #[arg(long, value_enum, default_value = "ends")]
    edges_by: EdgesBy,
    /// Precision of coordinates on the device
    #[arg(long, value_enum, default_value_t)]
    pub precision: Precision,
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

fn parse_area(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(area) if area > 0.0 && area < f64::INFINITY => Ok(area),
        _ => Err("expected an area above 0, and finite".to_owned()),
    }
}

fn parse_threshold(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(threshold) if threshold.is_finite() => Ok(threshold),
        _ => Err("expected a finite number".to_owned()),
    }
}

/// The marking that the options ask for, of a mesh of `triangles`, with the marks that its file may have.
pub fn marking(options: &Options, triangles: usize, marks: Option<Vec<bool>>) -> Result<Marking> {
    let has_rule = options.threshold.is_some() || options.dorfler.is_some();
    if has_rule != matches!(options.mark, Some(Mark::Values(_))) {
        return Err(Error::Argument(
            "--mark values:PATH goes with --threshold or --dorfler, and these with it".to_owned(),
        ));
    }
    if let Some(area) = options.until_area {
        return Ok(Marking::Area(area));
    }
    match (&options.mark, marks) {
        (Some(Mark::File(path)), _) => marked_by_ids(path, triangles),
        (Some(Mark::Values(path)), _) => {
            let values = read_values(path, triangles)?;
            match (options.threshold, options.dorfler) {
                (Some(threshold), _) => Ok(Marking::above(&values, threshold)),
                (_, part) => Ok(Marking::dorfler(&values, part.unwrap_or_default())?),
            }
        }
        (Some(mark), _) => mark.marking(options.seed, triangles),
        (None, Some(marks)) => Ok(Marking::flags(marks.into_iter())),
        (None, None) => Ok(Marking::All),
    }
}

fn marked_by_ids(path: &Path, triangles: usize) -> Result<Marking> {
    let last = triangles.saturating_sub(1);
    let flags = read_flags(path, triangles, &format!("a triangle, from 0 to {last}"))?;
    Ok(Marking::flags(flags.into_iter()))
}

/// A mesh as its file has it.
pub enum Input<V> {
    Triangles(Triangulation<V>),
    Edges(EdgeTriangulation<V>),
}

impl<V> Input<V> {
    /// Points, triangles and regions.
    fn counts(&self) -> (usize, usize) {
        match self {
            Input::Triangles(mesh) => (mesh.points.len(), mesh.triangles.len()),
            Input::Edges(mesh) => (mesh.points.len(), mesh.triangles.len()),
        }
    }

    /// Numbers the segments for what is carried; gives their markers, if they were replaced.
    pub fn number(&mut self, carried: &Carried) -> Option<Vec<i32>> {
        match self {
            Input::Triangles(mesh) => carried.number(&mut mesh.segments),
            Input::Edges(_) => None,
        }
    }

    fn regions(&self) -> Option<&[i32]> {
        match self {
            Input::Triangles(mesh) => mesh.regions.as_deref(),
            Input::Edges(_) => None,
        }
    }
}

/// Whether a file has the format of the paper's program.
pub fn is_edges_file(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("edges"))
}

/// A mesh of the plane or of space, what it carries, and the marks in its file.
pub struct Read {
    pub mesh: Dimensions,
    pub carried: Carried,
    marks: Option<Vec<bool>>,
}

/// A mesh of the plane or of space.
pub enum Dimensions {
    Plane(Input<DVec2>),
    Space(Input<DVec3>),
}

/// Reads a mesh of the plane or of space.
pub fn read(path: &Path, reading: ReadOptions, quiet: bool) -> Result<Read> {
    if is_edges_file(path) {
        let (mesh, marks) = formats::edges::read(path)?;
        return Ok(Read {
            mesh: Dimensions::Plane(Input::Edges(mesh)),
            carried: Carried::default(),
            marks: Some(marks),
        });
    }
    of_mesh(super::read_mesh(path, reading, quiet)?).map_err(|error| error.in_file(path))
}

fn of_mesh(mut mesh: Mesh) -> Result<Read> {
    check_faces(&mesh)?;
    let carried = Carried::take(&mut mesh)?;
    Ok(Read {
        mesh: match mesh.is_planar() {
            true => Dimensions::Plane(Input::Triangles(mesh.into_triangulation()?)),
            false => Dimensions::Space(Input::Triangles(mesh.into_surface()?)),
        },
        carried,
        marks: None,
    })
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    if super::is_volume(&options.input, options.reading) {
        return tets::run(options);
    }
    if let Some(output) = &options.output {
        Format::to_write(output)?;
    }
    let quiet = options.device.quiet;
    let opening = options.device.begin(&options.input, options.work());
    let read = read(&options.input, options.reading, quiet)?;
    let wants = match &options.output {
        None => Wants::Counts,
        Some(path) if is_edges_file(path) => Wants::Edges,
        Some(_) => Wants::Triangles,
    };
    let (mesh, maps, report) = refine_read(options, read, opening, wants)?;
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
    match maps {
        None => write()?,
        Some(maps) => {
            // Beside each other: the system writes each file by one thread.
            let (maps, mesh) = rayon::join(|| maps.write(), write);
            maps.and(mesh)?;
            account::part("write");
        }
    }
    report.give(&options.device)
}

/// Where the parts of a refined mesh come from, for the folder of `--maps`.
struct Maps<'a> {
    folder: &'a Path,
    /// Vertices of the input.
    vertices: usize,
    ancestors: Vec<u32>,
    rounds: Vec<Refinement>,
}

impl Maps<'_> {
    fn write(&self) -> Result<()> {
        ancestry::write(self.folder, self.vertices, &self.ancestors, &self.rounds)
    }
}

fn write_edges(output: &Path, mesh: &EdgeTriangulation, edges_by: EdgesBy) -> Result<()> {
    let layout = match edges_by {
        EdgesBy::Ends => Layout::Ends,
        EdgesBy::Points => Layout::Points,
    };
    formats::edges::write(output, mesh, &vec![false; mesh.triangles.len()], layout)
}

/// Refines a mesh of triangles on the machine that `opening` gives.
pub fn apply(options: &Options, mesh: Mesh, opening: Opening) -> Result<(Mesh, Report<'_>)> {
    let read = of_mesh(mesh).map_err(|error| error.in_file(&options.input))?;
    match refine_read(options, read, opening, Wants::Triangles)? {
        (Refined::Triangles(mesh), maps, report) => {
            maps.map_or(Ok(()), |maps| maps.write())?;
            Ok((mesh, report))
        }
        _ => unreachable!("triangles are wanted"),
    }
}

/// Refines a mesh of the plane or of space. Only one of the plane is given as edges.
fn refine_read(
    options: &Options,
    read: Read,
    opening: Opening,
    wants: Wants,
) -> Result<Run<'_, DVec2>> {
    let carried = (read.carried, read.marks);
    match read.mesh {
        Dimensions::Plane(input) => refined::<DVec2, Vec2>(options, input, carried, opening, wants),
        Dimensions::Space(input) => {
            let wants = match wants {
                Wants::Counts => Wants::Counts,
                Wants::Triangles | Wants::Edges => Wants::Triangles,
            };
            let (mesh, maps, report) =
                refined::<DVec3, Vec3>(options, input, carried, opening, wants)?;
            let mesh = match mesh {
                Refined::Triangles(mesh) => Refined::Triangles(mesh),
                _ => Refined::Nothing,
            };
            Ok((mesh, maps, report))
        }
    }
}

impl Options {
    /// Most rounds.
    pub fn most_rounds(&self) -> u32 {
        match self.until_area {
            Some(_) => u32::MAX,
            None => self.rounds,
        }
    }

    /// The work for the choice of a machine: rounds that mark little are the most.
    pub fn work(&self) -> Work {
        let round = match super::is_volume(&self.input, self.reading) {
            true => Work::REFINE_TETS,
            false => Work::REFINE,
        };
        round.times(f64::from(self.rounds.clamp(1, 8)))
    }
}

/// What is wanted beside the counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wants {
    Counts,
    Triangles,
    Edges,
}

/// A refined mesh, as it is wanted.
enum Refined<V> {
    Nothing,
    Triangles(Mesh),
    Edges(EdgeTriangulation<V>),
}

/// A refined mesh, the maps that are to be written, and the report.
type Run<'a, V> = (Refined<V>, Option<Maps<'a>>, Report<'a>);

/// Refines a mesh of points that are `P` in double precision, and `S` in single.
fn refined<P, S>(
    options: &Options,
    mut input: Input<P>,
    (carried, marks): (Carried, Option<Vec<bool>>),
    opening: Opening,
    wants: Wants,
) -> Result<Run<'_, P>>
where
    P: AnyPoint<Double = P>,
    S: AnyPoint<Double = P>,
    Mesh: From<Triangulation<P>>,
{
    let markers = input.number(&carried);
    let input = &input;
    let wanted = runs::Wanted {
        maps: options.maps.is_some() || (wants != Wants::Counts && !carried.is_empty()),
        mesh: wants,
    };
    let (vertices, triangles) = input.counts();
    let settings = trioxide::refine::Options {
        marking: marking(options, triangles, marks)?,
        // Level L is what L rounds give: rounds after it would be undone, and might fail.
        rounds: (options.coarsen_to)
            .map_or(u32::MAX, |level| u32::try_from(level).unwrap_or(u32::MAX))
            .min(options.most_rounds()),
        max_triangles: options
            .max_triangles
            .map(|most| u32::try_from(most).unwrap_or(u32::MAX)),
        history: false,
    };
    let result = device::run(&opening.open()?, |device| {
        let run = match (device, options.precision) {
            (Some(on), Precision::F64) => runs::on_device::<P>(on, input, &settings, wanted),
            (Some(on), Precision::F32) => runs::on_device::<S>(on, input, &settings, wanted),
            (None, Precision::F64) => runs::serial::<P>(input, &settings, wanted),
            (None, Precision::F32) => runs::serial::<S>(input, &settings, wanted),
        };
        let outcome = run.map_err(explained)?;
        check_level(options, outcome.rounds.len()).map_err(explained)?;
        Ok(outcome)
    });
    let outcome = result
        .map_err(|error| super::with_precision(error, options.precision).in_file(&options.input))?;
    let report = Report {
        command: "refine",
        input: &options.input,
        device: outcome.device,
        stages: outcome.stages,
        counts: vec![
            ("vertices", json!(outcome.vertices)),
            ("faces", json!(outcome.triangles)),
            ("edges", json!(outcome.edges)),
            ("input_vertices", json!(vertices)),
            ("input_faces", json!(triangles)),
            ("rounds", json!(outcome.rounds.len())),
            ("end", json!(end_name(outcome.end))),
        ],
        peak_bytes: outcome.peak_bytes,
    };
    let mesh = match outcome.mesh {
        runs::Output::None => Refined::Nothing,
        runs::Output::Edges(mesh) => Refined::Edges(mesh),
        runs::Output::Triangles(mesh) => {
            let parts = (&outcome.ancestors[..], &outcome.rounds[..]);
            let mesh = with_carried(mesh.into(), &carried, markers, vertices, parts);
            Refined::Triangles(mesh)
        }
    };
    let maps = options.maps.as_deref().map(|folder| Maps {
        folder,
        vertices,
        ancestors: outcome.ancestors,
        rounds: outcome.rounds,
    });
    Ok((mesh, maps, report))
}

/// A refined mesh with what its input of so many vertices carried, whose segments had these markers where places
/// replaced them. `ancestors` and `rounds` say where its parts come from, if anything is carried.
pub fn with_carried(
    mut mesh: Mesh,
    carried: &Carried,
    markers: Option<Vec<i32>>,
    vertices: usize,
    (ancestors, rounds): (&[u32], &[Refinement]),
) -> Mesh {
    let segments = Carried::restore(markers, &mut mesh.segments);
    if !carried.is_empty() {
        let matrix = Prolongation::of_rounds(vertices, rounds);
        let refined = carried.refined(matrix, ancestors, &segments);
        refined.put(&mut mesh);
    }
    mesh
}

/// The reason why a run ended, in words.
pub fn end_name(end: End) -> &'static str {
    match end {
        End::Rounds => "all rounds done",
        End::NothingMarked => "nothing left to refine",
        End::MaxTriangles => "the next round would have passed --max-triangles",
    }
}

/// Refuses a level beyond the last of `rounds` rounds.
fn check_level(options: &Options, rounds: usize) -> Result<(), refine::Error> {
    match options.coarsen_to {
        Some(level) if level > rounds => Err(refine::Error::NoSuchLevel { level, rounds }),
        _ => Ok(()),
    }
}

/// The options that help where triangles come out too small for the precision.
pub const TOO_FINE: &str = "; use --precision f64, fewer --rounds or a larger area";

/// The error with the options that help.
fn explained(error: refine::Error) -> Error {
    let is_degenerate = matches!(error, refine::Error::Degenerate { .. });
    match Error::from(error) {
        Error::Invalid { element, rule } if is_degenerate => Error::Invalid {
            element,
            rule: rule + TOO_FINE,
        },
        error => error,
    }
}
