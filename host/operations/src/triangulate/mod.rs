//! Outlines and points become triangles: the constrained Delaunay triangulation, refined on request.
//!
//! A device triangulates and refines ([`trioxide::delaunay`]).

mod background;
mod neighbours;

use std::sync::Arc;

use glam::{DVec2, DVec3};
use trioxide::Buffer;
use trioxide::delaunay::constrained::{self, Constrained, Limits};
use trioxide::delaunay::refinement::{self, Missed, Refinement};
use trioxide::delaunay::{self, Delaunay, Duplicates};
use trioxide::device::Device;
use trioxide::fields::MeshFields;
use trioxide::forms;
use trioxide::half_edges::Known;
use trioxide::ids::{Triangle, Vertex};
use trioxide::mesh::{Faces, Mesh, Segment};
use trioxide::outline::{OutlineMesh, Region, check_segments};

#[cfg(feature = "clap")]
use crate::count::parse_count;
use crate::error::Result;
use crate::machine::{Machine, On, Start};
use crate::report::{Counts, Run};

pub use crate::error::triangulate::Refusal;
use background::Sizes;

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
    on: impl Start,
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
    let machine = on.start()?;
    let (mesh, report) = match is_plain {
        true => points(&machine, outline.mesh, options.duplicates)?,
        false => limited(&machine, outline, options, sizes.as_ref())?,
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

/// Segments, holes and regions beside points on a device; none for points alone.
#[derive(Default)]
pub struct ResidentLimits {
    /// Vertices at the ends of segments.
    pub segments: Option<Buffer<[u32; 2]>>,
    /// A point in each hole.
    pub holes: Vec<DVec2>,
    /// The regions; triangles in none are in region 0.
    pub regions: Vec<Region>,
}

/// A triangulation on a device.
pub struct Resident {
    /// All points, if some are added.
    pub points: Option<Buffer<DVec2>>,
    /// The triangles.
    pub triangles: Buffer<[u32; 3]>,
    /// The data known of the triangles.
    pub known: Arc<Known>,
    /// The region of each triangle, if there are regions.
    pub regions: Option<Buffer<i32>>,
    /// The pieces of segments, if there are segments.
    pub pieces: Option<Pieces>,
    /// For each point the first at its place; `None` where all are distinct.
    pub firsts: Option<Buffer<Vertex>>,
    /// As of a [`Report`]; three a triangle.
    pub neighbours: Option<Buffer<Triangle>>,
    /// The counts.
    pub totals: Totals,
    /// Sentences on input that was left out, and on bounds that could not be reached.
    pub notes: Vec<String>,
}

/// Pieces of segments on a device.
pub struct Pieces {
    /// Their vertices, segment by segment.
    pub ends: Buffer<[u32; 2]>,
    /// The segment of each.
    pub parents: Buffer<u32>,
}

/// Points of space on a device by their x and y.
///
/// # Errors
/// [`Refusal::ResidentHeights`] for points of different z that are refined; errors of the device.
pub fn flatten(on: &Device, points: &Buffer<DVec3>, options: &Options) -> Result<Buffer<DVec2>> {
    if options.refines() {
        let (low, high) = trioxide::points::bounds(on, points)?;
        if low.z < high.z {
            let heights = [low.z, high.z];
            return Err(Refusal::ResidentHeights { heights }.into());
        }
    }
    Ok(forms::flatten(on, points)?)
}

/// Triangulates points on a device, where they stay, within limits.
///
/// ```
/// use trioxide::glam::DVec2;
/// use trioxide_operations::triangulate;
///
/// # fn main() -> trioxide_operations::Result<()> {
/// # let device = trioxide::Device::cpu(None)?;
/// let points = device.upload(&[DVec2::ZERO, DVec2::X, DVec2::Y])?;
/// let (limits, options) = Default::default();
/// let found = triangulate::resident(&device, &points, &limits, &options)?;
/// assert_eq!(device.download(&found.triangles)?, [[0, 1, 2]]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`Refusal::ResidentOrder`]; those of [`triangulate()`].
pub fn resident(
    on: &Device,
    points: &Buffer<DVec2>,
    limits: &ResidentLimits,
    options: &Options,
) -> Result<Resident> {
    let ResidentLimits {
        segments,
        holes,
        regions,
    } = limits;
    let areas = areas_of(regions);
    options.refinement(&areas, None).check()?;
    let sizes = background::sizes(options)?;
    if options.reorder {
        return Err(Refusal::ResidentOrder.into());
    }
    let is_plain =
        segments.is_none() && holes.is_empty() && regions.is_empty() && !options.refines();
    let found = if is_plain {
        let (found, totals) = find(on, points, options.duplicates)?;
        let (triangles, firsts) = found.into_arrays();
        Resident {
            points: None,
            triangles: triangles.cast(),
            known: Arc::default(),
            regions: None,
            pieces: None,
            firsts,
            neighbours: None,
            totals,
            notes: Vec::new(),
        }
    } else {
        let none = on.uninitialized(0)?;
        let given = segments.as_ref().unwrap_or(&none);
        let found = within(on, points, given, (holes, regions), options, sizes.as_ref())?;
        let totals = found.totals([points.len(), given.len()]);
        let notes = found.notes(regions, options);
        let region_ids = found.mesh.region_ids(on, &ids_of(regions))?;
        let parents = found.mesh.parents(on)?;
        let (triangles, pieces, firsts) = found.mesh.into_arrays();
        Resident {
            points: found.points,
            triangles: triangles.cast(),
            known: Arc::default(),
            regions: region_ids,
            pieces: segments.as_ref().map(|_| Pieces {
                ends: pieces.cast(),
                parents,
            }),
            firsts,
            neighbours: None,
            totals,
            notes,
        }
    };
    match options.neighbours {
        true => neighbours::of_resident(on, points, found),
        false => Ok(found),
    }
}

/// The triangles within limits on a device.
struct Within {
    mesh: Constrained,
    /// All points, if some are added.
    points: Option<Buffer<DVec2>>,
    not_reached: Vec<Missed>,
}

/// Triangulates points within limits on a device, and refines the result on request.
fn within(
    on: &Device,
    points: &Buffer<DVec2>,
    segments: &Buffer<[u32; 2]>,
    (holes, regions): (&[DVec2], &[Region]),
    options: &Options,
    sizes: Option<&Sizes>,
) -> Result<Within> {
    on.require(constrained::bytes_needed(points.len(), segments.len()))?;
    let in_regions: Vec<DVec2> = regions.iter().map(|region| region.point).collect();
    let limits = Limits {
        segments,
        holes,
        regions: &in_regions,
        convex: options.convex,
    };
    if !options.refines() {
        let mesh = constrained::triangulate(on, points, &limits, options.duplicates)?;
        return Ok(Within {
            mesh,
            points: None,
            not_reached: Vec::new(),
        });
    }
    let areas = areas_of(regions);
    let background = sizes.map(|sizes| sizes.upload(on)).transpose()?;
    let bounds = options.refinement(&areas, background.as_ref());
    let refined = refinement::refine(on, points, &limits, options.duplicates, &bounds)?;
    Ok(Within {
        mesh: refined.mesh,
        points: Some(refined.points),
        not_reached: refined.not_reached,
    })
}

impl Within {
    /// The counts; `input` has those of the points and the segments.
    fn totals(&self, input: [usize; 2]) -> Totals {
        let vertices = self.points.as_ref().map_or(input[0], Buffer::len);
        Totals {
            vertices: vertices as u64,
            faces: self.mesh.triangles().len() as u64 / 3,
            segments: self.mesh.pieces().len() as u64 / 2,
            input_vertices: input[0] as u64,
            input_segments: input[1] as u64,
            duplicates: self.mesh.duplicates() as u64,
        }
    }

    /// Sentences on input that was left out, and on bounds that could not be reached.
    fn notes(&self, regions: &[Region], options: &Options) -> Vec<String> {
        let missed = self.not_reached.iter();
        [
            left_out(self.mesh.left_out()),
            collapsed(self.mesh.collapsed()),
        ]
        .into_iter()
        .flatten()
        .chain(missed.map(|missed| of_missed(missed, options)))
        .chain(unused_areas(regions, options))
        .collect()
    }
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
    let (inside, report) = on.run(|on| match on {
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
        let z = mesh.points.first().map_or(0.0, |p| p.z);
        mesh = Mesh {
            points: points.iter().map(|p| p.extend(z)).collect(),
            segments: mesh.segments,
            fields: MeshFields {
                sides: mesh.fields.sides,
                ..MeshFields::default()
            },
            ..Mesh::default()
        };
    }
    mesh.faces = Faces::Triangles(inside.triangles);
    mesh.regions = inside.regions;
    Ok((mesh, report))
}

/// The triangles within an outline.
struct Inside {
    /// All points, if some are added.
    points: Option<Vec<DVec2>>,
    triangles: Vec<[u32; 3]>,
    /// The region of each triangle, if the outline has regions.
    regions: Option<Vec<i32>>,
    /// The edges on segments, segment by segment, each in its direction.
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
    let (inside, firsts) = on.stage("copy to the host", || {
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
    let report = Report {
        run: Run::of(on, Vec::new())?,
        totals: found.totals([points.len(), segments.len()]),
        firsts,
        notes: found.notes(regions, options),
        ..Report::default()
    };
    Ok((inside, report))
}

/// Reports largest areas that have no effect.
fn unused_areas(regions: &[Region], options: &Options) -> Option<String> {
    let has_areas = regions.iter().any(|region| region.largest_area.is_some());
    let note = "largest areas of regions are left out: they hold where vertices are added, for a smallest angle or a largest \
                area of all triangles";
    (has_areas && !options.refines()).then(|| note.to_owned())
}

/// Names a bound that triangles miss.
fn of_missed(missed: &Missed, options: &Options) -> String {
    match missed {
        Missed::Areas { triangles, largest } => {
            let bound = options
                .area
                .map_or_else(|| "of a region".to_owned(), |area| area.to_string());
            format!(
                "the largest area {bound} is not reached: {triangles} triangles are larger, the largest {largest}"
            )
        }
        Missed::Angles {
            triangles,
            smallest,
        } => format!(
            "{triangles} triangles at small angles between segments stay below {} degrees, the smallest at {smallest:.3}",
            options.angle.unwrap_or(0.0)
        ),
        Missed::Sizes { triangles, worst } => format!(
            "the sizes {} are not reached: {triangles} triangles have longer edges, the longest {worst:.3} times its size",
            options.size.as_deref().unwrap_or_default()
        ),
    }
}

/// Reports the number of segments between equal points.
fn collapsed(segments: u32) -> Option<String> {
    match segments {
        0 => None,
        1 => Some("1 segment joins equal points, and is left out".to_owned()),
        count => Some(format!(
            "{count} segments join equal points, and are left out"
        )),
    }
}

/// Reports the number of segments that the result lacks, wholly or in part.
fn left_out(segments: u32) -> Option<String> {
    match segments {
        0 => None,
        1 => Some("1 segment lies outside of the triangles, and is left out there".to_owned()),
        count => Some(format!(
            "{count} segments lie outside of the triangles, and are left out there"
        )),
    }
}
