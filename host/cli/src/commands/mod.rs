//! One module a command: its options (clap) and its run.

use std::borrow::Cow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

use clap::Subcommand;
use glam::DVec3;
use trioxide::error::Conversion;
use trioxide::formats::volume::{VolumeFormat, WriteOptions, write_volume_as};
use trioxide::formats::{self, Encoding, Format, Printed, ReadOptions};
use trioxide::mesh::Mesh;
use trioxide::polyhedra_mesh::PolyhedralMesh;
use trioxide::volume::VolumeMesh;
use trioxide::{Error, Result};
use trioxide_arguments::device::Opening;
use trioxide_arguments::{account, note, print};
use trioxide_operations::Machine;

pub mod chain;
pub mod compare;
pub mod completions;
pub mod convert;
pub mod decimate;
pub mod devices;
pub mod generate;
pub mod generated;
mod help;
mod ids;
pub mod info;
pub mod man;
pub mod merging;
pub mod placeholder;
pub mod polylla;
pub mod refine;
pub mod render;
pub mod reorder;
pub mod repair;
pub mod selftest;
pub mod smooth;
pub mod step;
pub mod triangulate;
pub mod vem;
pub mod view;
pub mod volume;
pub mod weld;

use generated::Generated;
pub use generated::{is_generated, is_volume};
use step::Step;

// One variant a command: `Info(info::Options)`.
#[derive(Subcommand)]
pub enum Command {
    Generate(generate::Options),
    Triangulate(triangulate::Options),
    Info(info::Options),
    Compare(compare::Options),
    Convert(convert::Options),
    Polylla(polylla::Options),
    Refine(refine::Options),
    Smooth(smooth::Options),
    Devices(devices::Options),
    Selftest(selftest::Options),
    Bench(trioxide_measure::Options),
    Render(render::Options),
    View(view::Options),
    Reorder(reorder::Options),
    Repair(repair::Options),
    Vem(vem::Options),
    Weld(weld::Options),
    Decimate(decimate::Options),
    Chain(chain::Options),
    Completions(completions::Options),
    Man(man::Options),
}

impl Command {
    /// Runs the command.
    pub fn run(self) -> Result<()> {
        match self {
            Self::Generate(options) => generate::run(&options),
            Self::Triangulate(options) => triangulate::run(&options),
            Self::Info(options) => info::run(&options),
            Self::Compare(options) => compare::run(&options),
            Self::Convert(options) => convert::run(&options),
            Self::Polylla(options) => polylla::run(&options),
            Self::Refine(options) => refine::run(&options),
            Self::Smooth(options) => smooth::run(&options),
            Self::Devices(options) => devices::run(&options),
            Self::Selftest(options) => selftest::run(&options),
            Self::Bench(options) => trioxide_measure::run(&options),
            Self::Render(options) => render::run(&options),
            Self::View(options) => view::run(&options),
            Self::Reorder(options) => reorder::run(&options),
            Self::Repair(options) => repair::run(&options),
            Self::Vem(options) => vem::run(&options),
            Self::Weld(options) => weld::run(&options),
            Self::Decimate(options) => decimate::run(&options),
            Self::Chain(options) => chain::run(&options),
            Self::Completions(options) => completions::run(&options),
            Self::Man(options) => man::run(&options),
        }
    }
}

// The steps of a chain, one variant a step.
#[derive(Subcommand)]
pub enum AnyStep {
    Triangulate(Box<triangulate::Options>),
    Reorder(Box<reorder::Options>),
    Repair(Box<repair::Options>),
    Weld(Box<weld::Options>),
    Decimate(Box<decimate::Options>),
    Smooth(Box<smooth::Options>),
    Refine(Box<refine::Options>),
    Polylla(Box<polylla::Options>),
    Write(chain::Write),
}

impl AnyStep {
    pub fn get(&self) -> &dyn Step {
        match self {
            Self::Triangulate(options) => &**options,
            Self::Reorder(options) => &**options,
            Self::Repair(options) => &**options,
            Self::Weld(options) => &**options,
            Self::Decimate(options) => &**options,
            Self::Smooth(options) => &**options,
            Self::Refine(options) => &**options,
            Self::Polylla(options) => &**options,
            Self::Write(options) => options,
        }
    }

    pub fn get_mut(&mut self) -> &mut dyn Step {
        match self {
            Self::Triangulate(options) => &mut **options,
            Self::Reorder(options) => &mut **options,
            Self::Repair(options) => &mut **options,
            Self::Weld(options) => &mut **options,
            Self::Decimate(options) => &mut **options,
            Self::Smooth(options) => &mut **options,
            Self::Refine(options) => &mut **options,
            Self::Polylla(options) => &mut **options,
            Self::Write(options) => options,
        }
    }
}

/// The error of the command of this name. If its mesh has no faces, or is of another kind than the command takes, the
/// error has the command line that makes one that it takes.
pub fn with_remedy(error: Error, command: &str) -> Error {
    match &error {
        Error::InFile { path, source } => match &**source {
            Error::NoFaces { points: 1.. } => without_faces(&error, path, command),
            Error::Unconverted { conversion, reason } => {
                let remedy = match command == "chain" && !path.exists() {
                    // The path names the mesh between two steps.
                    true => format!(
                        "write it there, and convert it by trioxide convert {}",
                        option_of(*conversion)
                    ),
                    false => converting(*conversion, &quoted(path), command),
                };
                Error::Argument(format!("{}: {reason}: {remedy}", path.display()))
            }
            _ if error.is_not_finite() => {
                let remedy = match command == "chain" && !path.exists() {
                    true => "a step `repair --finite` before it leaves it out".to_owned(),
                    false => {
                        let file = quoted(path);
                        format!("trioxide convert {file} -o FILE --drop-invalid leaves it out")
                    }
                };
                Error::Argument(format!("{error}: {remedy}"))
            }
            _ => error,
        },
        _ if error.is_not_finite() => Error::Argument(format!(
            "{error}: `trioxide convert --drop-invalid` leaves it out"
        )),
        Error::Unconverted { conversion, reason } => {
            let option = option_of(*conversion);
            Error::Argument(match command {
                "convert" => format!("{reason}: add {option}"),
                _ => format!(
                    "{reason}: write one of these, and convert it by trioxide convert {option}"
                ),
            })
        }
        _ => error,
    }
}

fn without_faces(error: &Error, path: &Path, command: &str) -> Error {
    let file = quoted(path);
    let extension = path.extension();
    let is_outline = extension.is_some_and(|extension| extension.eq_ignore_ascii_case("poly"));
    Error::Argument(match command {
        // The path names the mesh between two steps.
        "chain" => format!("{error}, by a step `triangulate` before this one"),
        // A chain leaves out the holes and regions of an outline.
        _ if AnyStep::has_subcommand(command) && !is_outline => {
            format!("{error}: trioxide chain {file} : triangulate : {command} -o FILE")
        }
        _ => format!("{error}: trioxide triangulate {file} -o FILE"),
    })
}

/// The command line that converts `file`.
fn converting(conversion: Conversion, file: &str, command: &str) -> String {
    match conversion {
        // Polyhedra of tetrahedra are the way to a solution in space.
        Conversion::Boundary { of_tetrahedra } if command == "vem" => match of_tetrahedra {
            true => format!("make polyhedra by trioxide polylla {file} -o FILE"),
            false => format!(
                "trioxide convert {file} -o FILE --tetrahedra, then make polyhedra of that file by trioxide polylla"
            ),
        },
        _ => format!("trioxide convert {file} -o FILE {}", option_of(conversion)),
    }
}

/// The option of `convert`.
fn option_of(conversion: Conversion) -> &'static str {
    match conversion {
        Conversion::Triangles => "--triangles",
        Conversion::Tetrahedra => "--tetrahedra",
        Conversion::Boundary { .. } => "--boundary",
    }
}

/// A path as a word of a shell.
fn quoted(path: &Path) -> Cow<'_, str> {
    let text = path.to_string_lossy();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-:+,@%=".contains(c);
    match text.chars().all(is_plain) {
        true => text,
        false => format!("'{}'", text.replace('\'', r"'\''")).into(),
    }
}

/// Reads a mesh, or generates it. Unless `quiet`, notes on standard error name the parts of the file that the mesh
/// lacks.
pub fn read_mesh(path: &Path, reading: ReadOptions, quiet: bool) -> Result<Mesh> {
    account::part("work of the host");
    if let Some(generated) = Generated::of(path)? {
        return generated.surface();
    }
    let (mesh, notes) = formats::read_as(path, reading)?;
    account::part("read");
    for said in notes {
        note(quiet, format_args!("{}: {said}", path.display()));
    }
    Ok(mesh)
}

/// Reads a volume mesh, or generates it. Unless `quiet`, notes on standard error name the parts of the file that the
/// mesh lacks.
pub fn read_volume(path: &Path, reading: ReadOptions, quiet: bool) -> Result<VolumeMesh> {
    account::part("work of the host");
    if let Some(generated) = Generated::of(path)? {
        return generated.volume();
    }
    let (mesh, notes) = formats::read_volume_as(path, reading)?;
    account::part("read");
    for said in notes {
        note(quiet, format_args!("{}: {said}", path.display()));
    }
    Ok(mesh)
}

/// Reads polyhedra. Unless `quiet`, notes on standard error name the parts of the file that the mesh lacks, and
/// count the polyhedra that were turned.
pub fn read_polyhedra(path: &Path, reading: ReadOptions, quiet: bool) -> Result<PolyhedralMesh> {
    account::part("work of the host");
    let (mesh, notes) = formats::read_polyhedra_as(path, reading)?;
    account::part("read");
    for said in notes {
        note(quiet, format_args!("{}: {said}", path.display()));
    }
    Ok(mesh)
}

/// The cells of the mesh in the file `path` as polyhedra, with notes as of [`read_volume`].
pub fn polyhedra_of(mesh: VolumeMesh, path: &Path, quiet: bool) -> Result<PolyhedralMesh> {
    if let Some(names) = formats::names_of_groups(&mesh.about) {
        let lost = format!("polyhedra have no names of groups: not in the output: {names}");
        note(quiet, format_args!("{}: {lost}", path.display()));
    }
    let made = PolyhedralMesh::of_cells(mesh);
    let (mesh, notes) = made.map_err(|error| error.in_file(path))?;
    for said in notes {
        note(quiet, format_args!("{}: {said}", path.display()));
    }
    Ok(mesh)
}

/// Writes polyhedra. Unless `quiet`, notes on standard error name the parts of them that the file does not hold.
pub fn write_polyhedra(
    path: &Path,
    mesh: &PolyhedralMesh,
    encoding: Option<Encoding>,
    quiet: bool,
) -> Result<()> {
    account::part("work of the host");
    let losses = formats::write_polyhedra(path, mesh, encoding)?;
    account::part("write");
    for loss in losses {
        note(quiet, loss);
    }
    Ok(())
}

/// Prints the time of each part of the run, if it is wanted: by commands that have no report.
pub fn print_timings(wanted: bool) -> Result<()> {
    match wanted {
        true => print(&account::to_text(32, &[])),
        false => Ok(()),
    }
}

/// Writes a mesh. Unless `quiet`, notes on standard error name the parts of it that the file does not hold.
pub fn write_mesh(path: &Path, mesh: &Mesh, quiet: bool) -> Result<()> {
    write_mesh_printed(path, mesh, &Printed::default(), quiet)
}

/// As [`write_mesh`], with rows that were printed of the same vertices.
pub fn write_mesh_printed(path: &Path, mesh: &Mesh, printed: &Printed, quiet: bool) -> Result<()> {
    account::part("work of the host");
    formats::write_printed(path, mesh, printed)?;
    account::part("write");
    if !quiet {
        note_losses(Format::to_write(path)?, mesh);
    }
    Ok(())
}

/// Waits for a machine. While a GPU starts, idle cores print the rows of the `vertices` that the file `output` will
/// have, each at its `point`.
pub fn open_beside_printing(
    opening: &Opening,
    output: &Path,
    vertices: usize,
    point: impl Fn(usize) -> DVec3 + Send + Sync,
) -> Result<(Machine, Printed)> {
    let waits = matches!(opening, Opening::Gpu { .. });
    if !waits || !formats::is_printed_ahead(output) {
        return Ok((opening.open()?, Printed::default()));
    }
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let print = || formats::print_ahead(output, vertices, point, &is_over);
        // Without a thread, rows are printed when they are written.
        let printing = thread::Builder::new().spawn_scoped(scope, print).ok();
        let machine = opening.open();
        is_over.store(true, Relaxed);
        let printed = printing.map(|printing| printing.join());
        let printed =
            printed.map(|printed| printed.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        Ok((machine?, printed.unwrap_or_default()))
    })
}

/// Names on standard error the parts of `mesh` that a file of this format does not hold.
pub fn note_losses(format: &Format, mesh: &Mesh) {
    note_losses_in(format, mesh, Encoding::default());
}

/// As [`note_losses`], for a file in this encoding.
pub fn note_losses_in(format: &Format, mesh: &Mesh, encoding: Encoding) {
    for loss in format.losses(mesh, encoding) {
        note(false, loss);
    }
}

/// Writes a volume mesh. Unless `quiet`, notes on standard error name the parts of it that the file does not hold.
pub fn write_volume(
    path: &Path,
    mesh: &VolumeMesh,
    options: WriteOptions,
    quiet: bool,
) -> Result<()> {
    account::part("work of the host");
    write_volume_as(path, mesh, options)?;
    account::part("write");
    for loss in VolumeFormat::to_write(path)?.losses(mesh) {
        note(quiet, loss);
    }
    Ok(())
}
