//! `trioxide render`: a picture of a mesh.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use trioxide::formats::atomic_file::write_atomically;
use trioxide::render::{self, Color, Edges, Format};
use trioxide::{Result, formats};

/// Draw a planar mesh
#[derive(Args)]
pub struct Options {
    /// Mesh to read: .off, .obj, .ply, .vtu, .edges, or .node and .ele (either name or the bare stem)
    input: PathBuf,
    /// Picture to write: .png or .svg
    #[arg(short, long)]
    output: PathBuf,
    /// Width in pixels; the height follows [default: 1600 pixels for the longer side]
    #[arg(long, value_name = "PIXELS", value_parser = clap::value_parser!(u32).range(1..))]
    width: Option<u32>,
    /// What the colour of a face tells
    #[arg(long, value_enum, default_value_t)]
    color: Color,
    /// Whether edges between faces are drawn; the boundary and segments always are
    #[arg(long, value_enum, default_value_t)]
    edges: Edges,
    /// Part to draw, in the mesh's coordinates
    #[arg(long, value_name = "X0,Y0,X1,Y1", value_parser = parse_window, allow_hyphen_values = true)]
    window: Option<Window>,
    /// Do not say what was written
    #[arg(long)]
    quiet: bool,
}

/// As x0, y0, x1, y1. A type of its own, since clap takes a bare array for several values.
#[derive(Clone, Copy)]
struct Window([f64; 4]);

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    // A bad output is refused before a long read.
    let format = Format::of_path(&options.output)?;
    let mesh = formats::read(&options.input)?;
    let drawing = render::Options {
        width: options.width,
        color: options.color,
        edges: options.edges,
        window: options.window.map(|window| window.0),
    };
    let picture =
        render::render(&mesh, &drawing, format).map_err(|error| error.in_file(&options.input))?;
    write_atomically(&options.output, |file| file.write_all(&picture))?;
    if options.quiet {
        return Ok(());
    }
    super::print(&format!(
        "{}: {} faces\n",
        options.output.display(),
        mesh.faces.len()
    ))
}

fn parse_window(text: &str) -> Result<Window, String> {
    let numbers: Result<Vec<f64>, _> = text.split(',').map(|part| part.trim().parse()).collect();
    match numbers.as_deref() {
        Ok(&[x0, y0, x1, y1]) if x0 < x1 && y0 < y1 => Ok(Window([x0, y0, x1, y1])),
        _ => Err("is not X0,Y0,X1,Y1 with X0 < X1 and Y0 < Y1".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::parse_window;

    #[test]
    fn windows_are_four_numbers_in_order() {
        assert_eq!(
            parse_window("-1,0, 2.5,1e1").unwrap().0,
            [-1.0, 0.0, 2.5, 10.0]
        );
        for text in ["", "1,2,3", "0,0,1,1,1", "1,0,0,1", "0,0,nan,1", "a,0,1,1"] {
            assert!(parse_window(text).is_err(), "{text}");
        }
    }
}
