//! Outlines and points become triangles: the constrained Delaunay triangulation, refined on request. It runs on one
//! thread of the host. The algorithm is [`trioxide::generate::triangulate()`].

use std::time::Instant;

use trioxide::device::Stage;
use trioxide::generate::{self, Outline, Refinement};
use trioxide::mesh::Mesh;
use trioxide::progress;

#[cfg(feature = "clap")]
use crate::count::parse_count;
use crate::error::Result;
use crate::report::{Counts, Run};

/// How an outline is triangulated.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "clap", derive(clap::Args), group(skip))]
pub struct Options {
    /// Add vertices until no triangle has a smaller angle, but at smaller angles between segments. Up to 20.7 degrees
    /// this ends where segments meet at 60 degrees or more; up to 30 it mostly does; up to 33 are taken. A limit of the
    /// vertices stops what does not end
    #[cfg_attr(feature = "clap", arg(long, value_name = "DEGREES"))]
    pub angle: Option<f64>,
    /// Add vertices until no triangle is larger
    #[cfg_attr(feature = "clap", arg(long, value_name = "AREA"))]
    pub area: Option<f64>,
    /// Most vertices to add, counting the ones that are removed again; a refinement that needs more is an error, and
    /// gives no mesh [default: a million, and ten for each of the input]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", value_parser = parse_count))]
    pub max_vertices: Option<usize>,
    /// Keep the triangles outside of the segments, up to the convex hull
    #[cfg_attr(feature = "clap", arg(long))]
    pub convex: bool,
}

/// The time, the counts and the notes.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The time.
    pub run: Run,
    /// The counts.
    pub totals: Totals,
    /// Sentences on input that was left out, and on bounds that could not be reached.
    pub notes: Vec<String>,
}

/// The counts of a triangulation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Vertices of the mesh.
    pub vertices: u64,
    /// Triangles.
    pub faces: u64,
    /// Pieces of segments.
    pub segments: u64,
    /// Vertices of the outline.
    pub input_vertices: u64,
    /// Segments of the outline.
    pub input_segments: u64,
}

impl Totals {
    /// By their names.
    pub fn counts(&self) -> Counts {
        vec![
            ("vertices", self.vertices.into()),
            ("faces", self.faces.into()),
            ("segments", self.segments.into()),
            ("input_vertices", self.input_vertices.into()),
            ("input_segments", self.input_segments.into()),
        ]
    }
}

/// Triangulates an outline.
///
/// # Errors
/// Those of [`trioxide::generate::triangulate()`].
pub fn triangulate(outline: &Outline, options: &Options) -> Result<(Mesh, Report)> {
    let refinement = Refinement {
        smallest_angle: options.angle,
        largest_area: options.area,
        most_vertices: options.max_vertices,
        convex: options.convex,
    };
    progress::stage("triangulate");
    let start = Instant::now();
    let (mesh, notes) = generate::triangulate(outline, &refinement)?;
    let stage = Stage {
        name: "triangulate",
        milliseconds: start.elapsed().as_secs_f64() * 1e3,
    };
    let totals = Totals {
        vertices: mesh.points.len() as u64,
        faces: mesh.triangles.len() as u64,
        segments: mesh.segments.len() as u64,
        input_vertices: outline.points.len() as u64,
        input_segments: outline.segments.len() as u64,
    };
    let report = Report {
        run: Run::on_host("serial".to_owned(), vec![stage]),
        totals,
        notes,
    };
    Ok((Mesh::from(mesh), report))
}
