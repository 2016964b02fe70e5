//! `trioxide triangulate`: an outline or points into triangles.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use serde_json::json;
use trioxide::device::Stage;
use trioxide::formats::{self, Format, ReadOptions};
use trioxide::generate::{self, Refinement};
use trioxide::mesh::Mesh;
use trioxide::{Error, Result, progress};
use trioxide_arguments::device::Report;
use trioxide_arguments::{account, is_standard_output, note, print, write_json};
use trioxide_operations::count::parse_count;

const DEFAULTS: &str = "Where defaults come from: --max-vertices is trioxide's own, so that a refinement that does not end stops; --angle and --area have none.";

/// Triangulate points or an outline (constrained Delaunay), with a smallest angle and a largest area on request
///
/// What the segments enclose is triangulated, less the holes; points alone up to their convex hull. Only that is
/// refined. A .poly file has holes and regions too. Segments keep their markers; vertices of the input keep their
/// numbers. A note says what could not be reached, and what was left out.
#[derive(Args)]
#[command(after_help = DEFAULTS)]
pub struct Options {
    /// Outline to read: a .poly file of Triangle; or the points and segments of a mesh or cloud in the plane: .ply,
    /// .vtu, .vtk, .msh, .mesh, .obj, .xyz, .node and others
    input: PathBuf,
    /// Triangulation to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Add vertices until no triangle has a smaller angle, but at smaller angles between segments. Up to 20.7 degrees
    /// this ends where segments meet at 60 degrees or more; up to 30 it mostly does; up to 33 are taken. --max-vertices
    /// stops what does not end
    #[arg(long, value_name = "DEGREES")]
    angle: Option<f64>,
    /// Add vertices until no triangle is larger
    #[arg(long, value_name = "AREA")]
    area: Option<f64>,
    /// Most vertices to add, those that are removed again included; a refinement that needs more is an error, and
    /// writes nothing [default: a million, and ten for each of the input]
    #[arg(long, value_name = "N", value_parser = parse_count)]
    max_vertices: Option<usize>,
    /// Keep the triangles outside of the segments, up to the convex hull
    #[arg(long)]
    convex: bool,
    #[command(flatten)]
    reading: ReadOptions,
    /// Print the time of each part of the run
    #[arg(long)]
    timings: bool,
    /// Write counts and times as JSON to this file, or to standard output for -
    #[arg(long, value_name = "FILE|-")]
    json: Option<PathBuf>,
    /// Do not say what was written, left out or not reached
    #[arg(long)]
    quiet: bool,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    let Options { input, output, .. } = options;
    let format = Format::to_write(output)?;
    account::part("work of the host");
    let (outline, notes) = formats::poly::read_outline_as(input, options.reading)?;
    account::part("read");
    say(options, &notes);
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
    let start = Instant::now();
    let (mesh, notes) = generate::triangulate(&outline, &refinement)
        .map_err(|error: Error| error.in_file(input))?;
    let stage = Stage {
        name: "triangulate",
        milliseconds: start.elapsed().as_secs_f64() * 1e3,
    };
    account::part("triangulate");
    say(options, &notes);
    let mesh = Mesh::from(mesh);
    formats::write(output, &mesh)?;
    account::part("write");
    if !options.quiet {
        super::note_losses(format, &mesh);
    }
    report(options, &outline, &mesh, stage)
}

fn say(options: &Options, notes: &[String]) {
    for said in notes {
        note(
            options.quiet,
            format_args!("{}: {said}", options.input.display()),
        );
    }
}

fn report(options: &Options, outline: &generate::Outline, mesh: &Mesh, stage: Stage) -> Result<()> {
    let counts = [
        ("vertices", mesh.points.len()),
        ("faces", mesh.faces.len()),
        ("segments", mesh.segments.len()),
        ("input_vertices", outline.points.len()),
        ("input_segments", outline.segments.len()),
    ];
    if let Some(path) = &options.json {
        let report = Report {
            command: "triangulate",
            input: &options.input,
            device: "serial".to_owned(),
            stages: vec![stage],
            counts: counts.map(|(key, count)| (key, json!(count))).to_vec(),
            peak_bytes: None,
        };
        let mut object = report.to_json();
        object["whole_run"] = account::to_json();
        write_json(path, &object)?;
    }
    if options.quiet || options.json.as_deref().is_some_and(is_standard_output) {
        return Ok(());
    }
    print(&format!(
        "{}: {} vertices, {} triangles\n",
        options.output.display(),
        mesh.points.len(),
        mesh.faces.len()
    ))?;
    super::print_timings(options.timings)
}
