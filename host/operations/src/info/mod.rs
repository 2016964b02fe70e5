//! Counts, measures and faults of a mesh. The operation runs on the CPU, and has no options.

mod cells;
mod counts;
mod delaunay;
mod fields;
mod polyhedra;
mod quality;
mod surface;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeMap;

use glam::DVec3;
use rayon::prelude::*;
use serde_json::{Value, json};
use trioxide::about::GroupNames;
use trioxide::contact::{Contacts, doubled};
use trioxide::device::{Device, Laps};
use trioxide::edge_table::EdgeTable;
use trioxide::edges::Edges;
use trioxide::half_edges::rules::check_triangulation_with;
use trioxide::mesh::{Faces, Mesh, PolygonMesh};

use trioxide::progress;
use trioxide::quality::{Quality, quality};
use trioxide::repair::{Survey, survey};
use trioxide::rules::polygon_mesh_with;
use trioxide_work::parallel;

use crate::report::Run;
use crate::scale::Scale;
use counts::{boundary_parts, count_each, count_used, face_sizes};

pub use cells::{VolumeReport, info_volume, quality_of_cells};
pub use delaunay::Delaunay;
pub use fields::FieldRow;
pub use polyhedra::{PolyhedraReport, info_polyhedra};
pub use quality::{cells_to_json, polygons_to_json, ratios_to_json};
pub use surface::SurfaceMeasures;

/// The values of a report by their names in JSON.
pub type Values = Vec<(&'static str, Value)>;

/// The report on a mesh of faces, or on points.
#[derive(Clone, Debug)]
pub struct Report {
    /// The time.
    pub run: Run,
    /// Number of vertices.
    pub vertices: usize,
    /// Vertices that no face uses.
    pub unused_vertices: usize,
    /// Names of the vertices' attributes.
    pub attributes: Vec<&'static str>,
    /// Smallest and largest coordinates of finite vertices.
    pub bounds: Option<[DVec3; 2]>,
    /// Whether all vertices have one z.
    pub is_planar: bool,
    /// Number of faces.
    pub faces: usize,
    /// Number of faces of each size.
    pub face_sizes: BTreeMap<usize, usize>,
    /// Sum of the faces' areas. `None` where it is not finite.
    pub area: Option<f64>,
    /// Space that a closed surface encloses; negative if its faces look inward. `None` where neighbours do not agree on
    /// the side that is outward, or where it is not finite.
    pub volume: Option<f64>,
    /// Number of edges.
    pub edges: usize,
    /// Edges of one face.
    pub boundary_edges: usize,
    /// Connected parts of the boundary: loops that touch are one.
    pub boundary_parts: usize,
    /// Vertices with more than two boundary edges, at which boundary loops touch.
    pub pinch_vertices: usize,
    /// Vertices of the boundary that lie at the place of another one; of points without faces, such points.
    pub doubled_vertices: usize,
    /// Vertices of the boundary that lie inside edges of other faces.
    pub hanging_vertices: usize,
    /// Faces of a planar mesh that run clockwise.
    pub clockwise_faces: usize,
    /// Number of faces of each region.
    pub regions: Option<BTreeMap<i32, usize>>,
    /// Number of segments.
    pub segments: usize,
    /// Names of groups of segments (dimension 1) and of faces (2).
    pub groups: GroupNames,
    /// The fields.
    pub fields: Vec<FieldRow>,
    /// Faults: of a planar mesh, the first rule that it breaks; of a surface, a line for each rule that it breaks.
    pub problems: Vec<String>,
    /// Faces that visit a vertex more than once; of valid planar meshes.
    pub weakly_simple: Option<usize>,
    /// The faults that each step of a repair would find in a surface of triangles.
    pub repairs: Option<Survey>,
    /// Whether a valid planar mesh of triangles is Delaunay.
    pub delaunay: Option<Delaunay>,
    /// Quality of the faces of a valid planar mesh.
    pub quality: Option<Quality>,
    /// How a surface in space bends, and its faces.
    pub surface: Option<SurfaceMeasures>,
}

impl Report {
    /// By their names.
    pub fn values(&self) -> Values {
        let mut values = vec![
            ("vertices", json!(self.vertices)),
            ("unused_vertices", json!(self.unused_vertices)),
            ("attributes", json!(self.attributes)),
            ("bounds", bounds_to_json(self.bounds)),
            ("planar", json!(self.is_planar)),
            ("faces", json!(self.faces)),
            ("face_sizes", json!(self.face_sizes)),
            ("area", json!(self.area)),
            ("volume", json!(self.volume)),
            ("edges", json!(self.edges)),
            ("boundary_edges", json!(self.boundary_edges)),
            ("boundary_parts", json!(self.boundary_parts)),
            ("pinch_vertices", json!(self.pinch_vertices)),
            ("doubled_vertices", json!(self.doubled_vertices)),
            ("hanging_vertices", json!(self.hanging_vertices)),
            ("clockwise_faces", json!(self.clockwise_faces)),
            ("regions", json!(self.regions)),
            ("segments", json!(self.segments)),
            ("groups", groups_to_json(&self.groups)),
            ("fields", fields::to_json(&self.fields)),
            ("problems", json!(self.problems)),
            ("repairs", json!(self.repairs.as_ref().map(repairs_to_json))),
            ("weakly_simple", json!(self.weakly_simple)),
            ("delaunay", json!(self.delaunay.map(Delaunay::word))),
            (
                "edges_to_flip",
                json!(self.delaunay.map(Delaunay::edges_to_flip)),
            ),
            (
                "quality",
                json!(self.quality.as_ref().map(polygons_to_json)),
            ),
        ];
        values.extend(SurfaceMeasures::values(self.surface.as_ref()));
        values
    }
}

/// Names of groups in the order of their dimensions and numbers.
fn groups_to_json(groups: &GroupNames) -> Value {
    let all = groups.iter().map(|((dimension, number), name)| {
        json!({"dimension": dimension, "number": number, "name": name})
    });
    all.collect()
}

/// Counts the elements of a mesh, checks it, and measures the faces of a valid planar one. Vertex ids must be in range.
///
/// ```
/// use trioxide_operations::info;
///
/// # fn main() -> trioxide_operations::Result<()> {
/// let report = info(trioxide::generate::grid(9)?.into())?;
/// assert_eq!((report.faces, report.area), (8, Some(1.0)));
/// assert!(report.problems.is_empty());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Triangles of the plane that do not fit the memory.
pub fn info(mesh: Mesh) -> trioxide::Result<Report> {
    let (mesh, scale) = Scale::to_measure(
        Cow::Owned(mesh),
        |mesh: &mut Mesh| &mut mesh.points,
        |mesh: &Mesh| &mesh.points,
    );
    let mut report = measured(mesh.into_owned())?;
    report.bounds = report.bounds.map(|bounds| bounds.map(|p| scale.back(p)));
    let at = |number: Option<f64>, power| {
        let number = number.map(|number| scale.measure(number, power));
        number.filter(|number| number.is_finite())
    };
    (report.area, report.volume) = (at(report.area, 2), at(report.volume, 3));
    if let Some(quality) = &mut report.quality {
        scale.distribution(&mut quality.area, 2);
        scale.distribution(&mut quality.perimeter, 1);
    }
    scale.explain_all(&mut report.problems);
    Ok(report)
}

/// The report on a mesh of usual size.
fn measured(mesh: Mesh) -> trioxide::Result<Report> {
    let mut laps = Laps::start();
    progress::stage("count");
    let (points, count) = (&mesh.points, mesh.faces.len());
    let face = |i: usize| mesh.faces.get(i);
    // A coordinate that is not finite is found later.
    let is_planar = mesh.is_planar();

    let used = count_used(points.len(), &mesh.faces);
    let face_sizes = face_sizes(&mesh.faces);
    // In blocks of one size, so that the sum is the same for any number of threads.
    let blocks: Vec<f64> = (0..count.div_ceil(4096))
        .into_par_iter()
        .map(|block| {
            let faces = block * 4096..count.min((block + 1) * 4096);
            let areas = faces.map(|i| vector_area(points, face(i)));
            areas
                .map(|area| {
                    if is_planar {
                        area.z.abs()
                    } else {
                        area.length()
                    }
                })
                .sum()
        })
        .collect();
    let table = match &mesh.faces {
        Faces::Triangles(triangles) => EdgeTable::of_triangles(points.len(), triangles),
        Faces::Polygons(polygons) => EdgeTable::of_polygons(points.len(), polygons),
    };
    let edges = Edges::in_table(&table);
    let is_closed = !is_planar && count > 0 && edges.boundary.is_empty();
    let is_closed = is_closed && agree(&mesh.faces, &table);
    let volume = is_closed.then(|| {
        // From the first point, not from afar.
        let base = face(0).first().map_or(DVec3::ZERO, |&v| points[v as usize]);
        let cone = |f: &[u32]| {
            let corner = |k: usize| points[f[k] as usize] - base;
            let triangles = (2..f.len()).map(|k| corner(0).dot(corner(k - 1).cross(corner(k))));
            triangles.sum::<f64>() / 6.0
        };
        let cones: Vec<f64> = (0..count).into_par_iter().map(|i| cone(face(i))).collect();
        // One after the other: the same sum for any number of threads.
        cones.iter().sum()
    });
    let regions = mesh
        .regions
        .as_deref()
        .map(|regions| count_each(regions.len(), |i| regions[i]));
    let (boundary_parts, pinch_vertices) = boundary_parts(&edges.boundary);
    let mut contacts = Contacts::of_boundary(|v| points[v as usize], &edges.boundary);
    if mesh.faces.is_empty() {
        let all: Vec<u32> = (0..points.len() as u32).collect();
        contacts.doubled = doubled(|v| points[v as usize], &all);
    }
    let clockwise = |i: usize| is_planar && vector_area(points, face(i)).z < 0.0;
    let clockwise_faces = parallel::count(count, clockwise);
    let mut report = Report {
        run: Run::default(),
        vertices: points.len(),
        unused_vertices: points.len() - used,
        attributes: attributes_of(&mesh),
        bounds: bounds_of(points),
        is_planar,
        faces: count,
        face_sizes,
        // The sum of nothing is -0.
        area: Some(0.0 + blocks.iter().sum::<f64>()).filter(|area| area.is_finite()),
        volume: volume.filter(|volume: &f64| volume.is_finite()),
        edges: edges.count,
        boundary_edges: edges.boundary.len(),
        boundary_parts,
        pinch_vertices,
        doubled_vertices: contacts.doubled,
        hanging_vertices: contacts.inside_edges(),
        clockwise_faces,
        regions,
        segments: mesh.segments.len(),
        groups: mesh.about.groups.clone(),
        fields: fields::rows(&mesh.fields, "faces", "segments"),
        problems: Vec::new(),
        repairs: None,
        weakly_simple: None,
        delaunay: None,
        quality: None,
        surface: None,
    };
    let loose = segments_without_edge(&mesh, &table);
    let is_seamed = !report.attributes.is_empty();
    laps.end("count");
    progress::stage("check the mesh");
    if is_planar {
        match check_planar(mesh, &table) {
            Ok(Planar {
                mesh,
                weakly_simple,
                delaunay,
            }) => {
                laps.end("check the mesh");
                progress::stage("measure the quality");
                report.weakly_simple = Some(weakly_simple);
                report.delaunay = delaunay.transpose()?;
                report.quality = Some(quality(&mesh));
                laps.end("measure the quality");
            }
            Err(error) => {
                laps.end("check the mesh");
                report.problems.push(error.to_string());
            }
        }
    } else {
        report.problems = problems_of_surface(&mesh, &edges);
        report.repairs = repairs_of(&mesh)?;
        laps.end("check the mesh");
        progress::stage("measure the quality");
        report.surface = (count > 0).then(|| surface::of(points, &mesh.faces, &table));
        laps.end("measure the quality");
    }
    // Vertices that differ in their data are a seam, and points without faces no parts.
    if is_seamed || count == 0 {
        contacts.doubled = 0;
    }
    report.problems.extend(contacts.problems());
    report.problems.extend(loose);
    report.run = Run::on_host("cpu".to_owned(), laps.into_stages());
    Ok(report)
}

/// The problem of segments that are no edge of a face, if there are any.
fn segments_without_edge(mesh: &Mesh, table: &EdgeTable) -> Option<String> {
    let is_there = |v: u32| (v as usize) < mesh.points.len();
    let is_edge = |&[a, b]: &[u32; 2]| {
        a != b && is_there(a) && is_there(b) && !table.between(a, b).is_empty()
    };
    let ends = mesh.segments.iter().map(|segment| segment.ends);
    let mut found = ends.enumerate().filter(|(_, ends)| !is_edge(ends));
    let (first, [a, b]) = found.next().filter(|_| !mesh.faces.is_empty())?;
    let are_none = match found.count() {
        0 => "1 segment is no edge of a face".to_owned(),
        more => format!("{} segments are no edges of faces", more + 1),
    };
    Some(format!(
        "{are_none}, first segment {first} from vertex {a} to vertex {b}: leave such out first (`repair --all`)"
    ))
}

/// Whether the two faces of each edge run along it in opposite directions.
fn agree(faces: &Faces, table: &EdgeTable) -> bool {
    let sides = match faces {
        Faces::Triangles(triangles) => triangles.as_flattened(),
        Faces::Polygons(polygons) => &polygons.vertices,
    };
    let differs = |ends: [u32; 2], uses: &[(u32, u32)]| {
        let ascending = uses
            .iter()
            .filter(|(_, side)| sides[*side as usize] == ends[0]);
        (2 * ascending.count() != uses.len()).then_some(())
    };
    table.filter_map_edges(differs).is_empty()
}

/// Smallest and largest coordinates of finite points.
fn bounds_of(points: &[DVec3]) -> Option<[DVec3; 2]> {
    let finite = points.par_iter().filter(|point| point.is_finite());
    let join = |[min, max]: [DVec3; 2], other: [DVec3; 2]| [min.min(other[0]), max.max(other[1])];
    // In the order of the points: of equal values, as 0 and -0, the same one for any number of threads.
    finite.map(|p| [*p, *p]).reduce_with(join)
}

fn bounds_to_json(bounds: Option<[DVec3; 2]>) -> Value {
    json!(bounds.map(|bounds| bounds.map(|p| p.to_array())))
}

/// A valid planar mesh.
struct Planar {
    mesh: PolygonMesh,
    /// Polygons that visit a vertex more than once.
    weakly_simple: usize,
    /// Of triangles.
    delaunay: Option<trioxide::Result<Delaunay>>,
}

/// Checks a planar mesh with these edges by the validator of its kind.
fn check_planar(mesh: Mesh, edges: &EdgeTable) -> trioxide::Result<Planar> {
    match mesh.faces {
        Faces::Triangles(_) => {
            let triangulation = mesh.into_triangulation()?;
            check_triangulation_with(&triangulation, edges)?;
            let on = Device::cpu(None);
            let delaunay = on.and_then(|on| delaunay::of(&on, &triangulation, edges));
            // The check has found that ids of half-edges fit 32 bits.
            let polygons = triangulation.triangles.into();
            let mesh = PolygonMesh {
                points: triangulation.points,
                polygons,
                regions: triangulation.regions,
                segments: triangulation.segments,
            };
            Ok(Planar {
                mesh,
                weakly_simple: 0,
                delaunay: Some(delaunay),
            })
        }
        Faces::Polygons(_) => {
            let polygons = mesh.into_polygon_mesh()?;
            let summary = polygon_mesh_with(&polygons, edges)?;
            Ok(Planar {
                mesh: polygons,
                weakly_simple: summary.weakly_simple,
                delaunay: None,
            })
        }
    }
}

/// A line for each rule that the mesh breaks.
fn problems_of_surface(mesh: &Mesh, edges: &Edges) -> Vec<String> {
    let points = &mesh.points;
    let mut problems = Vec::new();
    let mut problem = |found: Vec<usize>, element: &str, rule: &str| {
        if let Some(first) = found.first() {
            let (count, plural) = (found.len(), if found.len() == 1 { "" } else { "s" });
            problems.push(format!(
                "{count} {element}{plural} {rule}: first {element} {first}"
            ));
        }
    };
    let select = |test: &(dyn Fn(&[u32]) -> bool + Sync)| -> Vec<usize> {
        (0..mesh.faces.len())
            .into_par_iter()
            .filter(|i| test(mesh.faces.get(*i)))
            .collect()
    };
    let non_finite = points.iter().enumerate().filter(|(_, p)| !p.is_finite());
    problem(
        non_finite.map(|(i, _)| i).collect(),
        "point",
        "without a finite position",
    );
    let repeated = select(&|face| {
        let mut sorted = face.to_vec();
        sorted.sort_unstable();
        sorted.windows(2).any(|pair| pair[0] == pair[1])
    });
    problem(repeated, "face", "with a vertex twice");
    problem(
        select(&|f| vector_area(points, f) == DVec3::ZERO),
        "face",
        "without area",
    );
    if let [first, ..] = edges.non_manifold[..] {
        let count = edges.non_manifold.len();
        problems.push(format!(
            "{count} edges of more than two faces: first {} - {}",
            first[0], first[1]
        ));
    }
    problems
}

/// The faults that each step of a repair would find in a surface of triangles with finite points.
fn repairs_of(mesh: &Mesh) -> trioxide::Result<Option<Survey>> {
    match &mesh.faces {
        Faces::Triangles(faces) if mesh.points.iter().all(|p| p.is_finite()) => {
            survey(&Device::cpu(None)?, &mesh.points, faces).map(Some)
        }
        _ => Ok(None),
    }
}

fn repairs_to_json(found: &Survey) -> Value {
    json!({
        "repeated_faces": found.repeated,
        "degenerate_faces": found.degenerate,
        "edges_of_many_faces": found.crowded,
        "touching_vertices": found.touching,
        "faces_to_turn": found.turned,
        "one_sided_components": found.one_sided,
        "holes": found.holes,
        "edges_of_largest_hole": found.largest_hole,
        "components": found.components,
        "faces_of_smallest_component": found.smallest_component,
    })
}

/// Names of the attributes that the vertices have.
fn attributes_of(mesh: &Mesh) -> Vec<&'static str> {
    let attributes = &mesh.attributes;
    [
        ("normals", attributes.normals.is_some()),
        ("colours", attributes.colors.is_some()),
        ("texture coordinates", attributes.uvs.is_some()),
    ]
    .into_iter()
    .filter(|(_, is_there)| *is_there)
    .map(|(name, _)| name)
    .collect()
}

/// Area of a face times its normal.
fn vector_area(points: &[DVec3], face: &[u32]) -> DVec3 {
    let corner = |i: usize| points[face[i] as usize] - points[face[0] as usize];
    let mut twice = DVec3::ZERO;
    for i in 2..face.len() {
        twice += corner(i - 1).cross(corner(i));
    }
    twice * 0.5
}
