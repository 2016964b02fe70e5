//! `trioxide render`: a picture of a mesh.

use std::io::Write;
use std::path::PathBuf;

use super::help;
use clap::Args;
use trioxide::formats::atomic_file::write_atomically;
use trioxide::formats::{ReadOptions, is_polyhedra_as};
use trioxide::render::{self, Format, Up};
use trioxide::{Error, Result, progress};
use trioxide_arguments::account;

const DEFAULTS: &str = "Where defaults come from: the mesh (--view, --up, --color auto, --range, --edges auto: how large its faces are in the picture). --width and \
    --colormap are trioxide's own: 1600 pixels for the longer side, viridis for fields.\n\nA field of the points has colours between the points in a \
    .png; in an .svg and in a window a face has the colour of the mean. Values that are no numbers are grey, and the legend counts them; it has arrows \
    where --range leaves values out, and says if shading makes colours darker than its own.";

/// Draw a mesh: a planar one from above, one in space shaded, points without faces as dots, the outside of cells
#[derive(Args)]
#[command(after_help = DEFAULTS)]
pub struct Options {
    #[arg(help = help::any_mesh_to_read("Mesh to read"))]
    input: PathBuf,
    /// Picture to write: .png or .svg
    #[arg(short, long)]
    output: PathBuf,
    #[command(flatten)]
    drawing: render::Options,
    #[command(flatten)]
    reading: ReadOptions,
    /// Leave out the strip that says what the colours mean
    #[arg(long)]
    no_legend: bool,
    /// Print the time of each part of the run
    #[arg(long)]
    timings: bool,
    /// Do not say what was written
    #[arg(long)]
    quiet: bool,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    // A bad output is refused before a long read.
    let format = Format::of_path(&options.output)?;
    let mut drawing = render::Options {
        legend: !options.no_legend,
        ..options.drawing.clone()
    };
    let in_file = |error: Error| error.in_file(&options.input);
    let draw = || progress::stage("draw");
    let (picture, drawn) = if is_polyhedra_as(&options.input, options.reading) {
        let mesh = super::read_polyhedra(&options.input, options.reading, options.quiet)?;
        draw();
        let mut drawn = format!("{} polyhedra", mesh.len());
        settle_up(&mut drawing, &mut drawn, options, || {
            render::guess_up_polyhedra(&mesh)
        });
        let picture = render::render_polyhedra(&mesh, &drawing, format);
        (picture.map_err(in_file)?, drawn)
    } else if super::is_volume(&options.input, options.reading) {
        let mesh = super::read_volume(&options.input, options.reading, options.quiet)?;
        draw();
        let mut drawn = format!("{} cells", mesh.cells.len());
        settle_up(&mut drawing, &mut drawn, options, || {
            render::guess_up_volume(&mesh)
        });
        let picture = render::render_volume(&mesh, &drawing, format);
        (picture.map_err(in_file)?, drawn)
    } else {
        let mesh = super::read_mesh(&options.input, options.reading, options.quiet)?;
        if drawing.cut.is_some() {
            let cause = "--cut is for volume meshes, and this mesh has no cells: leave it out";
            return Err(in_file(Error::Argument(cause.to_owned())));
        }
        draw();
        let mut drawn = match mesh.faces.len() {
            0 => format!("{} points", mesh.points.len()),
            count => format!("{count} faces"),
        };
        if drawing.needs_up(&mesh) {
            settle_up(&mut drawing, &mut drawn, options, || {
                render::guess_up(&mesh)
            });
        }
        let picture = render::render(&mesh, &drawing, format);
        (picture.map_err(in_file)?, drawn)
    };
    account::part("draw");
    write_atomically(&options.output, |file| file.write_all(&picture))?;
    account::part("write");
    if options.quiet {
        return Ok(());
    }
    trioxide_arguments::print(&format!("{}: {drawn}\n", options.output.display()))?;
    super::print_timings(options.timings)
}

/// Sets the axis that points up where the options name none: that of the file's format, or the guess, which is said.
fn settle_up(
    drawing: &mut render::Options,
    drawn: &mut String,
    options: &Options,
    guess: impl Fn() -> Up,
) {
    if drawing.up.is_none() {
        let up = render::up_of_format(&options.input).unwrap_or_else(guess);
        drawing.up = Some(up);
        let axis = format!("{up:?}").to_lowercase();
        *drawn += &format!("; {axis} points up by a guess, --up names the axis");
    }
}
