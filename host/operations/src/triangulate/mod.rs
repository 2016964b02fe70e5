//! Outlines and points become triangles: the constrained Delaunay triangulation, refined on request.
//!
//! A device triangulates and refines ([`trioxide::delaunay`]).

mod background;
mod neighbours;
mod once;
mod resident;
mod resolve;
mod within;

use glam::DVec2;
use trioxide::Buffer;
use trioxide::delaunay::refinement::{self, Keep, Refinement};
use trioxide::delaunay::{self, Delaunay, Duplicates};
use trioxide::device::Device;
use trioxide::fields::MeshFields;
use trioxide::mesh::{Faces, Mesh, Segment, gather};
use trioxide::outline::{OutlineMesh, Region, check_segments};

#[cfg(feature = "clap")]
use crate::count::parse_count;
use crate::error::Result;
use crate::machine::{Machine, On, Start};
use crate::precision::Precision;
use crate::report::{Counts, Run};
use crate::scale::Scale;

pub use crate::error::triangulate::Refusal;
pub use resident::{Pieces, Resident, ResidentLimits, flatten, resident};

use background::Sizes;
use once::Once;
use within::within;

/// How an outline is triangulated.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "clap", derive(clap::Args), group(skip))]
pub struct Options {
    /// Add vertices until no triangle has a smaller angle, but at smaller angles between segments. Up to 20.7 degrees
    /// this ends where segments meet at 60 degrees or more; up to 30 it mostly does; up to 33 are taken. A limit of the
    /// vertices stops what does not end
    #[cfg_attr(feature = "clap", arg(long, value_name = "DEGREES"))]
    pub angle: Option<f64>,
    /// Add vertices until no triangle is larger; where vertices are added, the regions of a .poly file keep the largest
    /// areas that it gives them
    #[cfg_attr(feature = "clap", arg(long, value_name = "AREA"))]
    pub area: Option<f64>,
    /// Add vertices until no triangle has an edge longer than this point field of the background at the triangle's
    /// centroid: the wanted edge lengths, interpolated linearly; outside of the background there is no bound
    #[cfg_attr(feature = "clap", arg(long, value_name = "FIELD"))]
    pub size: Option<String>,
    /// The mesh of triangles in the plane with the field of `size`
    #[cfg_attr(feature = "clap", arg(skip))]
    pub background: Option<Mesh>,
    /// Most vertices to add, counting the ones that are removed again; a refinement that needs more is an error, and
    /// gives no mesh [default: a million, and ten for each of the input]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", value_parser = parse_count))]
    pub max_vertices: Option<usize>,
    /// Add no vertices on these segments: `outer`, those at the boundary of the triangles; `all`. Triangles at them may
    /// miss the smallest angle and the sizes, which a note reports
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "SEGMENTS", value_enum, default_value_t)
    )]
    pub keep_boundary: Keep,
    /// Put vertices where segments cross each other; the parts keep the markers of their segments. Without it segments
    /// that cross are an error
    #[cfg_attr(feature = "clap", arg(long))]
    pub resolve: bool,
    /// The holes: `given`, by the points in them; `inner`, the rings nested in another, of any format. A ring within a
    /// hole is an island
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "HOLES", value_enum, default_value_t)
    )]
    pub holes: Holes,
    /// Keep the triangles outside of the segments, up to the convex hull
    #[cfg_attr(feature = "clap", arg(long))]
    pub convex: bool,
    /// Equal points; segments at left out ones end at the first
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "TREATMENT", value_enum, default_value_t)
    )]
    pub duplicates: Duplicates,
    /// Renumber vertices and triangles along a Hilbert curve, as reorder does
    #[cfg_attr(feature = "clap", arg(long))]
    pub reorder: bool,
    /// Report the neighbours of each triangle
    #[cfg_attr(feature = "clap", arg(skip))]
    pub neighbours: bool,
}

/// The areas within an outline that get no triangles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Holes {
    /// Those with a given point
    #[default]
    Given,
    /// Those of rings nested in another
    Inner,
}

impl Options {
    /// Whether vertices are added.
    pub fn refines(&self) -> bool {
        self.angle.is_some() || self.area.is_some() || self.size.is_some()
    }

    /// How to refine, with the largest areas of regions and the sizes.
    fn refinement<'a>(
        &self,
        areas: &'a [Option<f64>],
        sizes: Option<&'a refinement::Background>,
    ) -> Refinement<'a> {
        Refinement {
            smallest_angle: self.angle,
            largest_area: self.area,
            areas,
            sizes,
            keep: self.keep_boundary,
            most_vertices: self.max_vertices,
        }
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
    /// For each triangle the one across the edge opposite to each corner, `NONE` on the boundary; if the options ask
    /// for them.
    pub neighbours: Option<Vec<[u32; 3]>>,
    /// Sentences on input that was left out, and on bounds that could not be reached.
    pub notes: Vec<String>,
}

impl Report {
    /// Adds a run after the others.
    fn add(&mut self, run: Run) {
        let before = std::mem::replace(&mut self.run, run);
        self.run.stages.splice(..0, before.stages);
        self.run.peak_bytes = self.run.peak_bytes.max(before.peak_bytes);
    }
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
    /// Pairs of segments that crossed, where vertices were put.
    pub crossings: u64,
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
            ("crossings", self.crossings.into()),
        ]
    }
}

/// Triangulates points, and an outline, with all that they carry.
///
/// Refinement drops what the points carry, and takes points of one z.
///
/// ```
/// use trioxide::glam::DVec3;
/// use trioxide::mesh::Mesh;
/// use trioxide::outline::OutlineMesh;
/// use trioxide_operations::triangulate;
///
/// # fn main() -> trioxide_operations::Result<()> {
/// # let device = trioxide::Device::cpu(None)?;
/// let corners = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
/// let points = Mesh {
///     points: corners.map(|[x, y]| DVec3::new(x, y, 0.0)).to_vec(),
///     ..Mesh::default()
/// };
/// let (outline, _) = OutlineMesh::of_mesh(points);
/// let (mesh, _) = triangulate(&device, outline, &triangulate::Options::default())?;
/// assert_eq!(mesh.faces.len(), 2);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Those of [`trioxide::delaunay::triangulate()`], [`trioxide::delaunay::constrained::triangulate()`] and
/// [`trioxide::delaunay::refinement::refine()`]; [`Refusal`]; those of the device.
pub fn triangulate(
    on: &dyn Start,
    outline: OutlineMesh,
    options: &Options,
) -> Result<(Mesh, Report)> {
    let input = &outline.mesh;
    let (vertices, segments) = (input.points.len(), input.segments.len());
    input.fields.check(vertices, 0, segments)?;
    check_segments(&input.segments, vertices)?;
    let areas = areas_of(&outline.regions);
    options.refinement(&areas, None).check()?;
    let sizes = background::sizes(options)?;
    let is_plain = outline.is_points_alone() && !options.refines();
    if options.refines() {
        outline.check_plane()?;
    }
    let (outline, crossings, note) = match options.resolve {
        true => resolve::outline(outline)?,
        false => (outline, 0, None),
    };
    let machine = on.start()?;
    let (mesh, mut report) = match is_plain {
        true => scaled_points(&machine, outline.mesh, options.duplicates)?,
        false => limited(&machine, outline, options, sizes.as_ref())?,
    };
    report.notes.splice(..0, note);
    report.firsts.truncate(vertices);
    report.totals = Totals {
        input_vertices: vertices as u64,
        input_segments: segments as u64,
        crossings,
        ..report.totals
    };
    let (mesh, report) = match options.reorder {
        true => reordered(&machine, mesh, report)?,
        false => (mesh, report),
    };
    match options.neighbours {
        true => neighbours::of_mesh(&machine, mesh, report),
        false => Ok((mesh, report)),
    }
}

/// Orders the vertices and the triangles of a triangulation.
fn reordered(on: &Machine, mesh: Mesh, mut report: Report) -> Result<(Mesh, Report)> {
    let (mesh, done) = crate::reorder(on, mesh)?;
    report.add(done.run);
    report.order = Some(Order {
        vertices: done.vertices,
        triangles: done.cells,
    });
    Ok((mesh, report))
}

/// The largest areas of regions.
fn areas_of(regions: &[Region]) -> Vec<Option<f64>> {
    regions.iter().map(|region| region.largest_area).collect()
}

/// The ids of regions.
fn ids_of(regions: &[Region]) -> Vec<i32> {
    regions.iter().map(|region| region.id).collect()
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

/// As [`points`], of coordinates of any size.
fn scaled_points(
    machine: &Machine,
    mut mesh: Mesh,
    duplicates: Duplicates,
) -> Result<(Mesh, Report)> {
    let scale = Scale::take(&mut mesh.points, Precision::F64)?;
    let done = points(machine, mesh, duplicates);
    let (mut mesh, report) = done.map_err(|error| scale.explain(error))?;
    // The points of the input have not moved.
    scale.back_all(&mut mesh.points);
    Ok((mesh, report))
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

/// Triangulates an outline on a device, and refines it on request. Pieces keep what their segments carry; points too,
/// where none are added.
fn limited(
    on: &Machine,
    outline: OutlineMesh,
    options: &Options,
    sizes: Option<&Sizes>,
) -> Result<(Mesh, Report)> {
    let (inside, mut report) = on.run(|on| match on {
        On::Device(device) => inside(device, &outline, options, sizes),
        #[cfg(feature = "serial")]
        On::Serial => Err(Refusal::Serial.into()),
    })?;
    let mut mesh = outline.mesh;
    let segments = inside.pieces.iter().zip(&inside.parents);
    mesh.segments = segments
        .map(|(&ends, &parent)| Segment {
            ends,
            ..mesh.segments[parent as usize]
        })
        .collect();
    mesh.fields.sides = mesh.fields.sides.gather(&inside.parents);
    if let Some(points) = inside.points {
        report.notes.extend(lost(&mesh));
        let z = mesh.points.first().map_or(0.0, |p| p.z);
        mesh = Mesh {
            points: points.iter().map(|p| p.extend(z)).collect(),
            segments: mesh.segments,
            fields: MeshFields {
                sides: mesh.fields.sides,
                ..MeshFields::default()
            },
            about: mesh.about,
            ..Mesh::default()
        };
    }
    mesh.faces = Faces::Triangles(inside.triangles);
    mesh.regions = inside.regions;
    Ok((mesh, report))
}

/// Names what the points carry, which a refinement drops.
fn lost(mesh: &Mesh) -> Option<String> {
    let attributes = &mesh.attributes;
    let names = mesh.fields.points.iter().map(|field| field.name.as_str());
    let others = [
        ("normals", attributes.normals.is_some()),
        ("colours", attributes.colors.is_some()),
        ("texture coordinates", attributes.uvs.is_some()),
    ];
    let others = others.into_iter().filter(|(_, has)| *has);
    let all: Vec<&str> = names.chain(others.map(|(name, _)| name)).collect();
    let all = all.join(", ");
    (!all.is_empty())
        .then(|| format!("vertices are added, so the data of points is left out: {all}"))
}

/// The triangles within an outline.
struct Inside {
    /// All points, if some are added.
    points: Option<Vec<DVec2>>,
    triangles: Vec<[u32; 3]>,
    /// The region of each triangle, if the outline has regions.
    regions: Option<Vec<i32>>,
    /// The edges on segments, segment by segment, each once and in the direction of its segment.
    pieces: Vec<[u32; 2]>,
    /// The segment of each piece.
    parents: Vec<u32>,
}

fn inside(
    on: &Device,
    outline: &OutlineMesh,
    options: &Options,
    sizes: Option<&Sizes>,
) -> Result<(Inside, Report)> {
    let OutlineMesh {
        mesh,
        holes,
        regions,
    } = outline;
    let (points, segments) = on.stage("copy to the device", || {
        let points: Vec<DVec2> = mesh.points.iter().map(|p| p.truncate()).collect();
        let segments: Vec<[u32; 2]> = mesh.segments.iter().map(|segment| segment.ends).collect();
        Ok((on.upload(&points)?, on.upload(&segments)?))
    })?;
    let found = within(on, &points, &segments, (holes, regions), options, sizes)?;
    let (mut inside, firsts) = on.stage("copy to the host", || {
        let result = &found.mesh;
        let of_triangles = result.region_ids(on, &ids_of(regions))?;
        let firsts = result.firsts().map(|firsts| on.download_rows(firsts));
        let points = found.points.as_ref().map(|points| on.download(points));
        let inside = Inside {
            points: points.transpose()?,
            triangles: on.download_rows(result.triangles())?,
            regions: of_triangles.map(|ids| on.download(&ids)).transpose()?,
            pieces: on.download_rows(result.pieces())?,
            parents: on.download(&result.parents(on)?)?,
        };
        Ok((inside, firsts.transpose()?.unwrap_or_default()))
    })?;
    let mut report = Report {
        run: Run::of(on, Vec::new())?,
        totals: found.totals([points.len(), segments.len()]),
        firsts,
        notes: found.notes((holes, regions), options),
        ..Report::default()
    };
    let once = Once::new(&inside.pieces, &inside.parents);
    if let Some(kept) = &once.kept {
        inside.pieces = gather(&inside.pieces, kept);
        inside.parents = gather(&inside.parents, kept);
        report.totals.segments = kept.len() as u64;
    }
    report.notes.extend(once.note(&mesh.segments));
    Ok((inside, report))
}
