//! Outlines and points become triangles: the constrained Delaunay triangulation, refined on request.
//!
//! Points alone are triangulated on a device ([`trioxide::delaunay`]), with z and all that they carry. Segments, holes,
//! regions and refinement need [`trioxide::generate::triangulate()`], on one thread of the host.

use std::time::Instant;

use glam::DVec2;
use trioxide::Buffer;
use trioxide::delaunay::{self, Delaunay, Duplicates};
use trioxide::device::{Device, Stage};
use trioxide::generate::{self, Refinement};
use trioxide::mesh::{Faces, Mesh};
use trioxide::outline::OutlineMesh;
use trioxide::progress;

#[cfg(feature = "clap")]
use crate::count::parse_count;
use crate::error::Result;
use crate::machine::{Machine, On, Start};
use crate::report::{Counts, Run};

pub use crate::error::triangulate::Refusal;

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
    /// Equal points, of points alone
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "TREATMENT", value_enum, default_value_t)
    )]
    pub duplicates: Duplicates,
    /// Renumber vertices and triangles along a Hilbert curve, as reorder does
    #[cfg_attr(feature = "clap", arg(long))]
    pub reorder: bool,
}

impl Options {
    /// Whether vertices are added.
    pub fn refines(&self) -> bool {
        self.angle.is_some() || self.area.is_some()
    }

    /// Whether the triangulation runs on a device: points alone do, without refinement.
    pub fn is_for_device(&self, outline: &OutlineMesh) -> bool {
        outline.is_points_alone() && !self.refines()
    }

    /// Whether a device is needed, for the triangulation or the order.
    pub fn needs_device(&self, outline: &OutlineMesh) -> bool {
        self.reorder || self.is_for_device(outline)
    }
}

/// The time, the counts and the notes.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The time.
    pub run: Run,
    /// The counts.
    pub totals: Totals,
    /// For each vertex of the outline the first at its place; empty where no two are equal.
    pub firsts: Vec<u32>,
    /// The maps back, if the options ask for another order.
    pub order: Option<Order>,
    /// Sentences on input that was left out, and on bounds that could not be reached.
    pub notes: Vec<String>,
}

/// The maps back of a reordered triangulation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// The id before of each vertex.
    pub vertices: Vec<u32>,
    /// The id before of each triangle.
    pub triangles: Vec<u32>,
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
    /// Vertices at the place of one before, which no triangle has.
    pub duplicates: u64,
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
            ("duplicates", self.duplicates.into()),
        ]
    }
}

/// Triangulates an outline, or points with all that they carry.
///
/// # Errors
/// Those of [`trioxide::delaunay::triangulate()`] and [`trioxide::generate::triangulate()`]; [`Refusal`]; those of the
/// device.
pub fn triangulate(
    on: impl Start,
    outline: OutlineMesh,
    options: &Options,
) -> Result<(Mesh, Report)> {
    let input = &outline.mesh;
    let (vertices, segments) = (input.points.len(), input.segments.len());
    input.fields.check(vertices, 0, segments)?;
    if !options.needs_device(&outline) {
        return constrained(outline, options);
    }
    let machine = on.start()?;
    let (mesh, report) = match options.is_for_device(&outline) {
        true => points(&machine, outline.mesh, options.duplicates)?,
        false => constrained(outline, options)?,
    };
    match options.reorder {
        true => reordered(&machine, mesh, report),
        false => Ok((mesh, report)),
    }
}

/// Orders the vertices and the triangles of a triangulation.
fn reordered(on: &Machine, mesh: Mesh, mut report: Report) -> Result<(Mesh, Report)> {
    let (mesh, done) = crate::reorder(on, mesh)?;
    let before = std::mem::replace(&mut report.run, done.run);
    report.run.stages.splice(..0, before.stages);
    report.run.peak_bytes = report.run.peak_bytes.max(before.peak_bytes);
    report.order = Some(Order {
        vertices: done.vertices,
        triangles: done.cells,
    });
    Ok((mesh, report))
}

/// Triangulates points on a device, where they stay.
///
/// # Errors
/// [`Refusal::Resident`], [`Refusal::ResidentOrder`]; those of [`trioxide::delaunay::triangulate()`] and of the device.
pub fn resident(
    on: &Device,
    points: &Buffer<DVec2>,
    options: &Options,
) -> Result<(Delaunay, Totals)> {
    let given = [
        ("angle", options.angle.is_some()),
        ("area", options.area.is_some()),
        ("max_vertices", options.max_vertices.is_some()),
        ("convex", options.convex),
    ];
    if let Some(&(option, _)) = given.iter().find(|(_, is_given)| *is_given) {
        return Err(Refusal::Resident { option }.into());
    }
    if options.reorder {
        return Err(Refusal::ResidentOrder.into());
    }
    find(on, points, options.duplicates)
}

/// Triangulates points on a device, and counts.
fn find(on: &Device, points: &Buffer<DVec2>, duplicates: Duplicates) -> Result<(Delaunay, Totals)> {
    on.require(delaunay::bytes_needed(points.len()))?;
    let result = delaunay::triangulate(on, points, duplicates)?;
    let vertices = points.len() as u64;
    let totals = Totals {
        vertices,
        faces: result.triangles().len() as u64 / 3,
        input_vertices: vertices,
        duplicates: result.duplicates() as u64,
        ..Totals::default()
    };
    Ok((result, totals))
}

/// Triangulates points alone on a device.
fn points(on: &Machine, mut mesh: Mesh, duplicates: Duplicates) -> Result<(Mesh, Report)> {
    let points: Vec<DVec2> = mesh.points.iter().map(|p| p.truncate()).collect();
    let (triangles, report) = on.run(|on| match on {
        On::Device(device) => on_device(device, &points, duplicates),
        #[cfg(feature = "serial")]
        On::Serial => Err(Refusal::Serial.into()),
    })?;
    mesh.faces = Faces::Triangles(triangles);
    Ok((mesh, report))
}

fn on_device(
    on: &Device,
    points: &[DVec2],
    duplicates: Duplicates,
) -> Result<(Vec<[u32; 3]>, Report)> {
    let uploaded = on.stage("copy to the device", || on.upload(points))?;
    let (result, totals) = find(on, &uploaded, duplicates)?;
    let (triangles, firsts) = on.stage("copy to the host", || {
        let firsts = result.firsts().map(|firsts| on.download_rows(firsts));
        let firsts = firsts.transpose()?.unwrap_or_default();
        Ok((on.download_rows(result.triangles())?, firsts))
    })?;
    let report = Report {
        run: Run::of(on, Vec::new())?,
        totals,
        firsts,
        ..Report::default()
    };
    Ok((triangles, report))
}

/// Triangulates an outline on a thread of the host, and refines it.
fn constrained(outline: OutlineMesh, options: &Options) -> Result<(Mesh, Report)> {
    if options.duplicates != Duplicates::Refuse {
        return Err(Refusal::Duplicates.into());
    }
    let refinement = Refinement {
        smallest_angle: options.angle,
        largest_area: options.area,
        most_vertices: options.max_vertices,
        convex: options.convex,
    };
    progress::stage("triangulate");
    let start = Instant::now();
    let outline = outline.into_outline()?;
    let (mesh, notes) = generate::triangulate(&outline, &refinement)?;
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
        duplicates: 0,
    };
    let report = Report {
        run: Run::on_host("serial".to_owned(), vec![stage]),
        totals,
        notes,
        ..Report::default()
    };
    Ok((mesh.into(), report))
}
