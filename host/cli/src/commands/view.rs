//! `trioxide view`: a page with meshes to turn, to zoom and to cut.

mod serve;

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use trioxide::formats::atomic_file::write_atomically;
use trioxide::formats::{ReadOptions, is_polyhedra_as};
use trioxide::render::{UP_HELP, Up, up_of_format};
use trioxide::{Error, Result, progress};
use trioxide_arguments::{account, print};
use trioxide_operations::count::parse_count;
use trioxide_view::{Drawn, Figure, MOST_ELEMENTS, check_count, page};

use super::help;

const DEFAULTS: &str = "In the page: drag turns, or moves a planar mesh (with Shift any), the wheel zooms, a click shows the id, the quality and the fields' values of an element.\n\n\
    Where defaults come from: --max-cells is trioxide's own; with one field a page has 7 bytes a triangle, or 16 in random order.";

/// Show meshes in a browser, beside each other with one camera: to turn, zoom and cut, with fields as colours
#[derive(Args)]
#[command(after_help = DEFAULTS)]
pub struct Options {
    #[arg(required = true, value_name = "MESH", help = help::any_mesh_to_read("Meshes to show"))]
    meshes: Vec<PathBuf>,
    /// Page to write, .html, which needs no other file and no network; without it the page is served on this machine
    /// alone, until Ctrl-C
    #[arg(short, long, value_name = "PAGE")]
    output: Option<PathBuf>,
    /// Port to serve the page at [default: a free one]
    #[arg(long, conflicts_with = "output")]
    port: Option<u16>,
    /// Show the meshes in one picture, one after the other by a slider: levels of refinement, or steps of time
    // The files of a chain are with its `steps`.
    #[arg(long = "steps")]
    as_steps: bool,
    /// Field of elements or points whose colours the page begins with, or distinct: colours that keep neighbours
    /// apart [default: the vertices' own colours; else distinct for polygons of the plane and for polyhedra]
    #[arg(long, value_name = "FIELD")]
    color: Option<String>,
    /// Most faces, cells or points of a mesh that is shown whole: larger surfaces and clouds are welded, and of larger
    /// volumes only the surface is shown
    #[arg(long, value_name = "N", value_parser = parse_count, default_value_t = MOST_ELEMENTS)]
    max_cells: usize,
    #[arg(long, value_enum, value_name = "AXIS", help = UP_HELP)]
    up: Option<Up>,
    #[command(flatten)]
    reading: ReadOptions,
    /// Print the time of each part of the run
    #[arg(long)]
    timings: bool,
    /// Print errors only, and the address
    #[arg(long)]
    quiet: bool,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    // Bad options are refused before a long read.
    if let Some(output) = &options.output {
        check_is_page(output)?;
    }
    check_count(options.meshes.len(), options.as_steps)?;
    let listener = match &options.output {
        None => Some(serve::listen(options.port)?),
        Some(_) => None,
    };
    let meshes = (options.meshes.iter())
        .map(|path| Ok((path.display().to_string(), read(path, options)?)))
        .collect::<Result<Vec<_>>>()?;
    let text = lines(&meshes);
    progress::stage("make the page");
    let figure = Figure::of_meshes(meshes, options.as_steps, options.color.as_deref())?;
    let page = page(&figure);
    account::part("work of the host");
    match (listener, &options.output) {
        (Some(listener), _) => {
            say(options, &text)?;
            super::print_timings(options.timings && !options.quiet)?;
            serve::serve(&listener, &page)
        }
        (None, Some(output)) => {
            write_atomically(output, |file| file.write_all(page.as_bytes()))?;
            account::part("write");
            let size = page.len() as f64 / 1e6;
            say(
                options,
                &format!("{text}{}: {size:.1} MB\n", output.display()),
            )?;
            super::print_timings(options.timings && !options.quiet)
        }
        (None, None) => unreachable!("a page is written or served"),
    }
}

fn say(options: &Options, text: &str) -> Result<()> {
    if options.quiet { Ok(()) } else { print(text) }
}

/// The counts of each mesh, and a note on each mesh that is not shown whole.
fn lines(meshes: &[(String, Drawn)]) -> String {
    let line = |(name, mesh): &(String, Drawn)| {
        let note = mesh
            .note()
            .map_or(String::new(), |note| format!("\n  {note}"));
        format!("{name}: {}{note}\n", mesh.counts())
    };
    meshes.iter().map(line).collect()
}

fn check_is_page(output: &Path) -> Result<()> {
    let extension = output.extension().unwrap_or_default();
    match ["html", "htm"]
        .iter()
        .any(|name| extension.eq_ignore_ascii_case(name))
    {
        true => Ok(()),
        false => Err(Error::Format {
            path: output.to_owned(),
            reason: "pages are written as .html".to_owned(),
        }),
    }
}

fn read(input: &Path, options: &Options) -> Result<Drawn> {
    let (reading, quiet, most) = (options.reading, options.quiet, options.max_cells);
    let drawn = if is_polyhedra_as(input, reading) {
        Drawn::of_polyhedra(super::read_polyhedra(input, reading, quiet)?, most)
    } else if super::is_volume(input, reading) {
        Drawn::of_volume(super::read_volume(input, reading, quiet)?, most)
    } else {
        Drawn::of_mesh(super::read_mesh(input, reading, quiet)?, most)
    };
    let drawn = drawn.map_err(|error| error.in_file(input))?;
    let of_format = || up_of_format(input).filter(|_| !drawn.is_planar());
    let up = options.up.or_else(of_format);
    Ok(drawn.with_up(up))
}
