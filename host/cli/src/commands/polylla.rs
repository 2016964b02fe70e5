//! `trioxide polylla`: a triangulation becomes a polygonal mesh, a mesh of tetrahedra a mesh of polyhedra.

use std::path::{Path, PathBuf};

use clap::Args;
use trioxide::device::Choice;
use trioxide::formats::{
    Format, Printed, ReadOptions, check_polyhedra_output, level_maps, run_files,
};
use trioxide::indexed::Repair;
use trioxide::levels::Nested;
use trioxide::mesh::{Faces, Mesh, VertexAttributes};
use trioxide::polyhedra_mesh::PolyhedralMesh;
use trioxide::{Error, Result};
use trioxide_arguments::auto::Work;
use trioxide_arguments::device::{DeviceOptions, Opening, Report};
use trioxide_arguments::names::worded;
use trioxide_arguments::note_all;
use trioxide_operations::polylla::{Input, MeshPolygons, Refusal};
use trioxide_operations::{Machine, polyhedra, polylla};

use super::help;
use super::placeholder::{LEVEL, has_place, with_number};
use super::step::{AnyMesh, Step, step_fields};
use super::volume::tetrahedra;

const DEFAULTS: &str = "Where defaults come from: this machine (--device auto, --threads: all cores); the newer of two papers (--method half-edge: GPolylla, 2023). The others are trioxide's own: regions \
    and segments hold, ties go by ids.";

/// Merge the triangles of a mesh into polygons, or its tetrahedra into polyhedra (Polylla)
///
/// Triangles that send each other along their longest edges become one polygon, of the plane where all z are the same,
/// else of a surface in space, closed or not; tetrahedra along their largest faces, or by their circumspheres, one
/// polyhedron. Regions, segments and tagged faces of the input are never crossed. Fields of vertices stay as they are;
/// those of triangles have in a polygon the mean over its area, integers the value of its first triangle, as regions;
/// those of tetrahedra in a polyhedron the mean over its volume.
///
/// Under mpirun several processes work on one mesh, each on its own GPU (cargo xtask build --mpi), and write the file
/// of one (polygons to .ply by slices, polyhedra by the first), or a .pvtu with a piece of each. Of generate:grid:N,
/// generate:jittered:N and, without -o, generate:tets:N each makes its own part, so the mesh may be larger than one of
/// them holds, and than 32-bit ids.
#[derive(Args)]
#[command(after_help = DEFAULTS)]
pub struct Options {
    #[arg(help = format!(
        "{}; or tetrahedra: {}",
        help::faces_to_read("Triangulation to read, or generate:KIND:N (`trioxide help generate`)"),
        help::volumes()
    ))]
    pub input: PathBuf,
    #[arg(short, long, value_name = "FILE", help = format!(
        "{}. With --levels or --until a {{level}} in the name writes each level to a file, the finest as level 0. \
         Polyhedra: .vtu, .foam with constant/polyMesh beside it (OpenFOAM), .visf (Camaron), or their faces to a \
         format of faces",
        help::faces_to_write("Polygonal mesh to write", usize::MAX)
    ))]
    pub output: Option<PathBuf>,
    /// Write the maps between nested levels to this folder: of each level K level_K_parents.txt, the piece that each
    /// piece of the level before belongs to, and level_K_prolongation.mtx, which gives these their piece's value
    #[arg(long, value_name = "DIR")]
    pub maps: Option<PathBuf>,
    #[command(flatten)]
    pub polylla: polylla::Options,
    #[command(flatten)]
    polyhedra: polyhedra::Options,
    #[command(flatten)]
    pub reading: ReadOptions,
    #[command(flatten)]
    pub device: DeviceOptions,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    if super::is_volume(&options.input, options.reading) {
        return run_on_volume(options);
    }
    check_usage(options)?;
    if let Some(output) = &options.output {
        Format::to_write(output)?;
    }
    let opening = options.device.begin(&options.input, Work::POLYLLA);
    let mesh = super::read_mesh(&options.input, options.reading, options.device.quiet)?;
    // Rows with attributes, and of vertices that may go, are not printed ahead.
    let is_bare =
        mesh.attributes == VertexAttributes::default() && options.polylla.min_edge.is_none();
    let mut printed = Printed::default();
    let open = |input: &Input| match &options.output {
        Some(output) if is_bare => {
            let machine;
            let point = |i| input.point(i);
            (machine, printed) =
                super::open_beside_printing(&opening, output, input.vertices(), point)?;
            Ok(machine)
        }
        _ => opening.open(),
    };
    let found = find(options, mesh, open)?;
    let (report, mesh) = match &options.output {
        Some(output) => {
            let quiet = options.device.quiet;
            let write = |file: &Path, level| super::write_mesh(file, &found.level(level), quiet);
            let output = write_levels(output, found.levels(), write)?;
            let (mesh, report) = found.into_mesh();
            (report, Some((output, mesh)))
        }
        None => (found.into_report(), None),
    };
    note_all(&report.notes, options.device.quiet);
    write_maps(options, report.nested.as_ref())?;
    let (run, counts) = (report.run, report.totals.counts());
    let report = Report::of("polylla", &options.input, run, counts);
    if let Some((output, mesh)) = mesh {
        super::write_mesh_printed(&output, &mesh, &printed, options.device.quiet)?;
    }
    report.give(&options.device)
}

/// Writes each level above 0 to a file, if there are levels and the output has a place for their numbers. Returns the
/// file of the finest mesh.
pub fn write_levels(
    output: &Path,
    levels: Option<usize>,
    write: impl Fn(&Path, usize) -> Result<()>,
) -> Result<PathBuf> {
    let Some(levels) = levels.filter(|_| has_place(output, LEVEL)) else {
        return Ok(output.to_owned());
    };
    for level in 1..=levels {
        let file = with_number(output, LEVEL, level);
        run_files::will_write("the output", &file)?;
        write(&file, level)?;
    }
    let finest = with_number(output, LEVEL, 0);
    run_files::will_write("the output", &finest)?;
    Ok(finest)
}

/// The number of levels whose maps are named before the work, of which at most `levels` are wanted. More are rare, and
/// named before they are written.
pub fn levels_named(levels: Option<usize>) -> usize {
    const MOST: usize = 64;
    levels.unwrap_or(MOST).min(MOST)
}

/// Writes the maps between levels that the options ask for.
pub fn write_maps(options: &Options, nested: Option<&Nested>) -> Result<()> {
    let (Some(folder), Some(nested)) = (&options.maps, nested) else {
        return Ok(());
    };
    let levels = 1..=nested.levels();
    let maps = levels
        .clone()
        .map(|level| (nested.pieces(level), nested.parents(level)));
    for level in levels.skip(levels_named(options.polylla.levels)) {
        for file in level_maps::files(folder, level) {
            run_files::will_write("--maps", &file)?;
        }
    }
    level_maps::write(folder, maps)
}

/// Refuses maps of no levels.
fn check_maps(options: &Options) -> Result<()> {
    match options.maps.is_some() && options.polylla.goal().is_none() {
        false => Ok(()),
        true => Err(Error::Argument(
            "--maps writes the maps between nested levels: add --levels or --until".into(),
        )),
    }
}

/// Merges the triangles of a mesh on a machine that is open, in a chain.
pub fn apply(options: &Options, mesh: Mesh, machine: Machine) -> Result<(Mesh, Report<'_>)> {
    let found = find(options, mesh, |_| Ok(machine))?;
    if let Some(output) = &options.output {
        let quiet = options.device.quiet;
        let write = |file: &Path, level| super::write_mesh(file, &found.level(level), quiet);
        write_levels(output, found.levels(), write)?;
    }
    let (mesh, report) = found.into_mesh();
    note_all(&report.notes, options.device.quiet);
    write_maps(options, report.nested.as_ref())?;
    let (run, counts) = (report.run, report.totals.counts());
    let report = Report::of("polylla", &options.input, run, counts);
    Ok((mesh, report))
}

/// Merges the triangles of a mesh on the machine that `open` gives, beside whose start it may use the points.
fn find(
    options: &Options,
    mesh: Mesh,
    open: impl FnOnce(&Input) -> Result<Machine>,
) -> Result<MeshPolygons> {
    let in_file = |error| worded(error).in_file(&options.input);
    let input = Input::new(mesh, &options.polylla).map_err(in_file)?;
    let machine = open(&input)?;
    input.find(&machine, &options.polylla).map_err(in_file)
}

/// Refuses options that contradict each other, and those of tetrahedra.
pub fn check_usage(options: &Options) -> Result<()> {
    check_maps(options)?;
    let Options { polylla, .. } = options;
    let repairs_on_device = polylla.repair == Some(Repair::Device);
    polylla
        .check()
        .and_then(|()| options.polyhedra.check_plane())
        .and_then(|()| match options.device.device {
            Choice::Serial if repairs_on_device => Err(Refusal::SerialRepair.into()),
            _ => Ok(()),
        })
        .map_err(worded)
}

impl Options {
    /// The options on tetrahedra.
    pub fn polyhedra(&self) -> polyhedra::Options {
        polyhedra::Options {
            shared: self.polylla,
            ..self.polyhedra
        }
    }
}

/// Refuses options that apply only to triangles, and an output in a format without polyhedra.
pub fn check_volume(options: &Options, output: Option<&Path>) -> Result<()> {
    check_maps(options)?;
    options.polyhedra().check_volume().map_err(worded)?;
    output.map_or(Ok(()), check_polyhedra_output)
}

/// Runs the command on a volume mesh.
fn run_on_volume(options: &Options) -> Result<()> {
    check_volume(options, options.output.as_deref())?;
    let (input, quiet) = (&options.input, options.device.quiet);
    let opening = options.device.begin(input, Work::POLYHEDRA);
    let mesh = super::read_volume(input, options.reading, quiet)?;
    let (mesh, fields) = tetrahedra(mesh, input, quiet)?;
    let settings = options.polyhedra();
    let found = polyhedra::find(&opening, mesh, fields, &settings)
        .map_err(|error| worded(error).in_file(input))?;
    let (report, mesh) = match &options.output {
        Some(output) => {
            let write = |file: &Path, level| write(options, file, &found.level(level));
            let output = write_levels(output, found.levels(), write)?;
            let (mesh, report) = found.into_mesh();
            (report, Some((output, mesh)))
        }
        None => (found.into_report(), None),
    };
    note_all(&report.notes, quiet);
    write_maps(options, report.nested.as_ref())?;
    let (run, counts) = (report.run, report.totals.counts());
    let report = Report::of("polylla", input, run, counts);
    if let Some((output, mesh)) = mesh {
        write(options, &output, &mesh)?;
    }
    report.give(&options.device)
}

/// Writes polyhedra. Notes on standard error name the parts of them that the file does not hold.
pub fn write(options: &Options, output: &Path, mesh: &PolyhedralMesh) -> Result<()> {
    super::write_polyhedra(output, mesh, None, options.device.quiet)
}

impl Step for Options {
    fn name(&self) -> &'static str {
        "polylla"
    }

    step_fields!();

    fn work(&self) -> Work {
        Work::POLYLLA
    }

    fn check(&self, is_volume: bool) -> Result<()> {
        match is_volume {
            false => check_usage(self),
            // No step takes polyhedra.
            true => Err(Error::Argument(
                "polylla joins tetrahedra to polyhedra by a command of its own, not in a chain: end the chain by -o FILE before \
                 it, then trioxide polylla FILE -o OUT"
                    .to_owned(),
            )),
        }
    }

    fn file(&self) -> Result<Option<PathBuf>> {
        // The levels above it have their files.
        let is_numbered = |path: &Path| self.polylla.goal().is_some() && has_place(path, LEVEL);
        Ok(self.output.as_ref().map(|path| match is_numbered(path) {
            true => with_number(path, LEVEL, 0),
            false => path.clone(),
        }))
    }

    fn apply(&self, mesh: AnyMesh, opening: &Opening) -> Result<(AnyMesh, Option<Report<'_>>)> {
        let (mesh, report) = apply(self, mesh.surface(self.name())?, opening.open()?)?;
        Ok((AnyMesh::Surface(as_read(mesh)), Some(report)))
    }
}

/// The mesh as a reader gives it: polygons that are all triangles are triangles.
fn as_read(mut mesh: Mesh) -> Mesh {
    if let Faces::Polygons(polygons) = &mesh.faces
        && polygons.iter().all(|polygon| polygon.len() == 3)
    {
        mesh.faces = Faces::Triangles(polygons.vertices.as_chunks().0.to_vec());
    }
    mesh
}
