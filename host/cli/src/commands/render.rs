//! `trioxide render`: a picture of a mesh.

use std::io::Write;
use std::path::PathBuf;

use super::help;
use clap::Args;
use glam::DVec3;
use trioxide::formats::atomic_file::write_atomically;
use trioxide::formats::{ReadOptions, is_polyhedra, read_polyhedra};
use trioxide::mesh::Mesh;
use trioxide::render::{self, Camera, Color, Cut, Edges, Format, Up};
use trioxide::{Error, Result, progress};
use trioxide_arguments::account;

const DEFAULTS: &str = "Where defaults come from: the mesh (--view, --up, --color auto, --edges auto: how large its faces are in the picture). --width is trioxide's \
    own: 1600 pixels for the longer side.";

/// Draw a mesh: a planar one from above, one in space shaded, points without faces as dots, the outside of cells
#[derive(Args)]
#[command(after_help = DEFAULTS)]
pub struct Options {
    #[arg(help = help::mesh_to_read("Mesh to read"))]
    input: PathBuf,
    /// Picture to write: .png or .svg
    #[arg(short, long)]
    output: PathBuf,
    /// Width in pixels; the height follows [default: 1600 pixels for the longer side]
    #[arg(long, value_name = "PIXELS", value_parser = clap::value_parser!(u32).range(1..))]
    width: Option<u32>,
    /// Property that the colour of a face shows
    #[arg(long, value_enum, default_value_t)]
    color: Color,
    /// Whether edges between faces are drawn; segments always are, and the boundary of a planar mesh
    #[arg(long, value_enum, default_value_t)]
    edges: Edges,
    /// Part of a planar mesh to draw, in the mesh's coordinates
    #[arg(long, value_name = "X0,Y0,X1,Y1", value_parser = parse_window, allow_hyphen_values = true)]
    window: Option<Window>,
    /// Where to see it from: degrees around the axis that points up, and above the horizon [default: planar meshes from
    /// above, others 30,25]
    #[arg(long, value_name = "AZIMUTH,ELEVATION", value_parser = parse_view, allow_hyphen_values = true)]
    view: Option<View>,
    /// Plane that cuts a volume mesh: its normal, to the side that is left out, and its product with the plane's points
    /// [default: through the middle]
    #[arg(long, value_name = "NX,NY,NZ[,D]", value_parser = parse_cut, allow_hyphen_values = true)]
    cut: Option<Cut>,
    /// Axis that points up in a view
    /// [default: guessed for a surface or cloud in space: the axis at right angles to a terrain or to a flat base; y
    /// for glTF; else z]
    #[arg(long, value_enum, value_name = "AXIS")]
    up: Option<Up>,
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

/// As x0, y0, x1, y1. A type of its own, since clap takes a bare array for several values.
#[derive(Clone, Copy)]
struct Window([f64; 4]);

/// As azimuth, elevation.
#[derive(Clone, Copy)]
struct View([f64; 2]);

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    // A bad output is refused before a long read.
    let format = Format::of_path(&options.output)?;
    let mut drawing = render::Options {
        width: options.width,
        color: options.color,
        edges: options.edges,
        window: options.window.map(|window| window.0),
        camera: camera(options, Up::Z),
        legend: !options.no_legend,
    };
    let in_file = |error: Error| error.in_file(&options.input);
    let draw = || progress::stage("draw");
    let (picture, drawn) = if is_polyhedra(&options.input) {
        let mesh = read_polyhedra(&options.input)?;
        draw();
        let picture = render::render_polyhedra(&mesh, options.cut, &drawing, format);
        (
            picture.map_err(in_file)?,
            format!("{} polyhedra", mesh.len()),
        )
    } else if super::is_volume(&options.input, options.reading) {
        let mesh = super::read_volume(&options.input, options.reading, options.quiet)?;
        draw();
        let picture = render::render_volume(&mesh, options.cut, &drawing, format);
        (
            picture.map_err(in_file)?,
            format!("{} cells", mesh.cells.len()),
        )
    } else {
        let mesh = super::read_mesh(&options.input, options.reading, options.quiet)?;
        if options.cut.is_some() {
            let cause = "--cut is for volume meshes, and this mesh has no cells: leave it out";
            return Err(in_file(Error::Argument(cause.to_owned())));
        }
        draw();
        let mut drawn = match mesh.faces.len() {
            0 => format!("{} points", mesh.points.len()),
            count => format!("{count} faces"),
        };
        if options.window.is_none() && (!mesh.is_planar() || options.view.is_some()) {
            let up = up(options, &mesh);
            let default = Camera {
                up,
                ..Camera::default()
            };
            drawing.camera = camera(options, up).or(Some(default));
            if options.up.is_none() {
                let axis = format!("{up:?}").to_lowercase();
                drawn += &format!("; {axis} points up by a guess, --up names the axis");
            }
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

/// The axis that points up: the named one, the format's, or a guess.
fn up(options: &Options, mesh: &Mesh) -> Up {
    let extension = options.input.extension().unwrap_or_default();
    let is_gltf = ["gltf", "glb"]
        .iter()
        .any(|e| extension.eq_ignore_ascii_case(e));
    match options.up {
        Some(up) => up,
        None if is_gltf => Up::Y,
        None => render::guess_up(mesh),
    }
}

/// The camera that the options ask for, with this axis up where they name none.
fn camera(options: &Options, up: Up) -> Option<Camera> {
    if options.view.is_none() && options.up.is_none() {
        return None;
    }
    let default = Camera::default();
    let View([azimuth, elevation]) = options
        .view
        .unwrap_or(View([default.azimuth, default.elevation]));
    Some(Camera {
        azimuth,
        elevation,
        up: options.up.unwrap_or(up),
    })
}

fn parse_view(text: &str) -> Result<View, String> {
    match parse_numbers(text)[..] {
        [azimuth, elevation] if azimuth.is_finite() && elevation.abs() <= 90.0 => {
            Ok(View([azimuth, elevation]))
        }
        _ => Err("is not AZIMUTH,ELEVATION with ELEVATION from -90 to 90".into()),
    }
}

/// Numbers between commas; NaN for a part that is not a number.
fn parse_numbers(text: &str) -> Vec<f64> {
    let parts = text.split(',');
    parts
        .map(|part| part.trim().parse().unwrap_or(f64::NAN))
        .collect()
}

fn parse_cut(text: &str) -> Result<Cut, String> {
    let numbers = parse_numbers(text);
    let (normal, offset) = match numbers[..] {
        [x, y, z] => (DVec3::new(x, y, z), None),
        [x, y, z, offset] => (DVec3::new(x, y, z), Some(offset)),
        _ => (DVec3::NAN, None),
    };
    if normal.is_finite() && normal != DVec3::ZERO && offset.is_none_or(f64::is_finite) {
        Ok(Cut { normal, offset })
    } else {
        Err("is not NX,NY,NZ or NX,NY,NZ,D with a direction that is not 0".into())
    }
}

fn parse_window(text: &str) -> Result<Window, String> {
    match parse_numbers(text)[..] {
        [x0, y0, x1, y1]
            if x0 < x1 && y0 < y1 && [x0, y0, x1, y1].iter().all(|x| x.is_finite()) =>
        {
            Ok(Window([x0, y0, x1, y1]))
        }
        _ => Err("is not X0,Y0,X1,Y1, finite numbers with X0 < X1 and Y0 < Y1".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::{parse_cut, parse_view, parse_window};

    #[test]
    fn views_are_two_angles() {
        assert_eq!(parse_view("-30, 45.5").unwrap().0, [-30.0, 45.5]);
        for text in ["", "1", "1,2,3", "0,91", "0,-90.1", "nan,0", "inf,0", "x,0"] {
            assert!(parse_view(text).is_err(), "{text}");
        }
    }

    #[test]
    fn cuts_are_a_direction_and_perhaps_a_place() {
        let cut = parse_cut("1, 0,-2").unwrap();
        assert_eq!((cut.normal.to_array(), cut.offset), ([1., 0., -2.], None));
        assert_eq!(parse_cut("0,0,1,0.5").unwrap().offset, Some(0.5));
        for text in [
            "",
            "1",
            "1,2",
            "0,0,0",
            "0,0,0,1",
            "1,0,0,x",
            "nan,0,1",
            "1,2,3,4,5",
        ] {
            assert!(parse_cut(text).is_err(), "{text}");
        }
    }

    #[test]
    fn windows_are_four_numbers_in_order() {
        assert_eq!(
            parse_window("-1,0, 2.5,1e1").unwrap().0,
            [-1.0, 0.0, 2.5, 10.0]
        );
        for text in [
            "",
            "1,2,3",
            "0,0,1,1,1",
            "1,0,0,1",
            "0,0,nan,1",
            "0,0,1,inf",
            "a,0,1,1",
        ] {
            assert!(parse_window(text).is_err(), "{text}");
        }
    }
}
