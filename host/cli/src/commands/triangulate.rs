//! `trioxide triangulate`: an outline or points into triangles.

use std::path::PathBuf;

use clap::Args;
use trioxide::formats::{self, Format};
use trioxide::generate::{self, Refinement};
use trioxide::mesh::Mesh;
use trioxide::{Error, Result, progress};
use trioxide_arguments::count::parse_count;
use trioxide_arguments::note;

/// Triangulate points or an outline (constrained Delaunay), with a smallest angle and a largest area on request
///
/// What the segments enclose is triangulated, less the holes; points alone up to their convex hull. A .poly file has holes and
/// regions too. Segments keep their markers; vertices of the input keep their numbers.
#[derive(Args)]
pub struct Options {
    /// Outline to read: a .poly file of Triangle; or the points and segments of a mesh or cloud in the plane: .ply, .vtu, .vtk,
    /// .msh, .mesh, .obj, .xyz and others
    input: PathBuf,
    /// Triangulation to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Add vertices until no angle is smaller, but those between segments; up to 30 degrees this ends
    #[arg(long, value_name = "DEGREES")]
    angle: Option<f64>,
    /// Add vertices until no triangle is larger
    #[arg(long, value_name = "AREA")]
    area: Option<f64>,
    /// Most vertices to add [default: a million, and ten for each of the input]
    #[arg(long, value_name = "N", value_parser = parse_count)]
    max_vertices: Option<usize>,
    /// Keep the triangles outside of the segments, up to the convex hull
    #[arg(long)]
    convex: bool,
    /// Do not say what was written
    #[arg(long)]
    quiet: bool,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    let format = Format::to_write(&options.output)?;
    let (outline, notes) = formats::poly::read_outline(&options.input)?;
    for said in notes {
        note(
            options.quiet,
            format_args!("{}: {said}", options.input.display()),
        );
    }
    let outline = generate::Outline {
        points: outline.points,
        segments: outline.segments,
        holes: outline.holes,
        regions: outline.regions,
    };
    let refinement = Refinement {
        smallest_angle: options.angle,
        largest_area: options.area,
        most_vertices: options.max_vertices,
        convex: options.convex,
    };
    progress::stage("triangulate");
    let mesh = generate::triangulate(&outline, &refinement)
        .map_err(|error: Error| error.in_file(&options.input))?;
    let mesh = Mesh::from(mesh);
    formats::write(&options.output, &mesh)?;
    if options.quiet {
        return Ok(());
    }
    super::note_losses(format, &mesh);
    trioxide_arguments::print(&format!(
        "{}: {} vertices, {} triangles\n",
        options.output.display(),
        mesh.points.len(),
        mesh.faces.len()
    ))
}
