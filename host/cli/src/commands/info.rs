//! `trioxide info`: the counts, measures and faults of a mesh.

mod counts;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;
use glam::DVec3;
use rayon::prelude::*;
use serde_json::{Value, json};
use trioxide::device::{Laps, Stage};
use trioxide::edge_table::EdgeTable;
use trioxide::edges::Edges;
use trioxide::formats::{Format, ReadOptions};
use trioxide::mesh::{Faces, Mesh, PolygonMesh};
use trioxide::quality::{Distribution, Quality, quality};
use trioxide::{Result, progress};
use trioxide_verify::validate;

use counts::{boundary_parts, count_each, count_used, face_sizes};

use super::{field_list, help};
use trioxide_arguments::{account, is_standard_output, print, write_json};

/// Count what a mesh holds, check it, and measure the quality of a planar one or of the cells of a volume mesh
#[derive(Args)]
pub struct Options {
    #[arg(help = help::mesh_to_read("Mesh to read"))]
    mesh: PathBuf,
    #[command(flatten)]
    reading: ReadOptions,
    /// Print the time of each stage
    #[arg(long)]
    timings: bool,
    /// Write the counts as JSON to this file, or to standard output for -
    #[arg(long, value_name = "FILE|-")]
    json: Option<PathBuf>,
    /// Print errors only
    #[arg(long)]
    quiet: bool,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    if trioxide::formats::is_polyhedra(&options.mesh) {
        return super::polyhedra_info::info(
            &options.mesh,
            options.timings,
            options.json.as_deref(),
            options.quiet,
        );
    }
    if super::is_volume(&options.mesh, options.reading) {
        return super::volume::info(&super::volume::Info {
            input: &options.mesh,
            is_generated: super::is_generated(&options.mesh),
            reading: options.reading,
            timings: options.timings,
            json: options.json.as_deref(),
            quiet: options.quiet,
        });
    }
    let format = match super::is_generated(&options.mesh) {
        true => "generated",
        false => Format::to_read(&options.mesh)?.name,
    };
    let mesh = super::read_mesh(&options.mesh, options.reading, options.quiet)?;
    let report = Report::of(mesh);
    if let Some(path) = &options.json {
        let mut object = report.to_json();
        object["command"] = json!("info");
        object["input"] = json!(options.mesh.to_string_lossy());
        object["format"] = json!(format);
        object["whole_run"] = account::to_json();
        write_json(path, &object)?;
    }
    if options.quiet || options.json.as_deref().is_some_and(is_standard_output) {
        return Ok(());
    }
    print(&format!(
        "{:<width$} {}\n{}",
        "format",
        format,
        report.to_text(options.timings),
        width = NAME_WIDTH
    ))
}

/// Width of the column of names in the text.
const NAME_WIDTH: usize = 25;

struct Report {
    vertices: usize,
    unused_vertices: usize,
    /// Names of the vertices' attributes.
    attributes: Vec<&'static str>,
    /// Smallest and largest coordinates of finite vertices.
    bounds: Option<[DVec3; 2]>,
    is_planar: bool,
    faces: usize,
    /// Number of faces of each size.
    face_sizes: BTreeMap<usize, usize>,
    /// Sum of the faces' areas; of their signed areas in a planar mesh. `None` where it is not finite.
    area: Option<f64>,
    /// Space that a closed surface encloses; negative if its faces look inward. `None` where it is not finite.
    volume: Option<f64>,
    edges: usize,
    boundary_edges: usize,
    /// Connected parts of the boundary: loops that touch are one.
    boundary_parts: usize,
    /// Vertices with more than two boundary edges, at which boundary loops touch.
    pinch_vertices: usize,
    /// Number of faces of each region.
    regions: Option<BTreeMap<i32, usize>>,
    segments: usize,
    fields: Vec<field_list::Row>,
    /// Faults: of a planar mesh, the first rule that it breaks; of a surface, a line for each rule that it breaks.
    problems: Vec<String>,
    /// Faces that visit a vertex more than once; of valid planar meshes.
    weakly_simple: Option<usize>,
    /// Of valid planar meshes.
    quality: Option<Quality>,
    stages: Vec<Stage>,
}

impl Report {
    fn of(mesh: Mesh) -> Report {
        let mut laps = Laps::start();
        progress::stage("count");
        let (points, count) = (&mesh.points, mesh.faces.len());
        let face = |i: usize| mesh.faces.get(i);
        // A coordinate that is not finite is found later.
        let is_planar = mesh.is_planar();

        let used = count_used(points.len(), &mesh.faces);
        let face_sizes = face_sizes(&mesh.faces);
        let finite = points.par_iter().filter(|point| point.is_finite());
        let join =
            |[min, max]: [DVec3; 2], other: [DVec3; 2]| [min.min(other[0]), max.max(other[1])];
        // In the order of the points: of equal values, as 0 and -0, the same one for any number of threads.
        let bounds = finite.map(|p| [*p, *p]).reduce_with(join);
        // In blocks of one size, so that the sum is the same for any number of threads.
        let blocks: Vec<f64> = (0..count.div_ceil(4096))
            .into_par_iter()
            .map(|block| {
                let faces = block * 4096..count.min((block + 1) * 4096);
                let areas = faces.map(|i| vector_area(points, face(i)));
                areas
                    .map(|area| if is_planar { area.z } else { area.length() })
                    .sum()
            })
            .collect();
        let table = match &mesh.faces {
            Faces::Triangles(triangles) => EdgeTable::of_triangles(points.len(), triangles),
            Faces::Polygons(polygons) => EdgeTable::of_polygons(points.len(), polygons),
        };
        let edges = Edges::in_table(&table);
        let is_closed = !is_planar && count > 0 && edges.boundary.is_empty();
        let volume = is_closed.then(|| {
            // From the first point, not from afar.
            let base = points[face(0)[0] as usize];
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
        let mut report = Report {
            vertices: points.len(),
            unused_vertices: points.len() - used,
            attributes: attributes_of(&mesh),
            bounds,
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
            regions,
            segments: mesh.segments.len(),
            fields: field_list::rows(&mesh.fields, "faces", "segments"),
            problems: Vec::new(),
            weakly_simple: None,
            quality: None,
            stages: Vec::new(),
        };
        laps.end("count");
        progress::stage("check the mesh");
        if is_planar {
            match check_planar(mesh, &table) {
                Ok((mesh, weakly_simple)) => {
                    laps.end("check the mesh");
                    progress::stage("measure the quality");
                    report.weakly_simple = Some(weakly_simple);
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
            laps.end("check the mesh");
        }
        report.stages = laps.into_stages();
        account::stages(&report.stages);
        report
    }

    fn to_json(&self) -> Value {
        json!({
            "vertices": self.vertices,
            "unused_vertices": self.unused_vertices,
            "attributes": self.attributes,
            "bounds": self.bounds.map(|bounds| bounds.map(|p| p.to_array())),
            "planar": self.is_planar,
            "faces": self.faces,
            "face_sizes": self.face_sizes,
            "area": self.area,
            "volume": self.volume,
            "edges": self.edges,
            "boundary_edges": self.boundary_edges,
            "boundary_parts": self.boundary_parts,
            "pinch_vertices": self.pinch_vertices,
            "regions": self.regions,
            "segments": self.segments,
            "fields": field_list::to_json(&self.fields),
            "problems": self.problems,
            "weakly_simple": self.weakly_simple,
            "quality": self.quality.as_ref().map(trioxide_arguments::quality::to_json),
            "device": "cpu",
            "stages": self
                .stages
                .iter()
                .map(|stage| json!({"name": stage.name, "milliseconds": stage.milliseconds}))
                .collect::<Vec<_>>(),
            "milliseconds": self.milliseconds(),
        })
    }

    fn milliseconds(&self) -> f64 {
        self.stages.iter().map(|stage| stage.milliseconds).sum()
    }

    fn to_text(&self, timings: bool) -> String {
        let mut text = String::new();
        let mut line = |name: &str, value: String| {
            writeln!(text, "{name:<NAME_WIDTH$} {value}")
                .expect("strings take all that is written");
        };
        line(
            "vertices",
            format!("{} ({} unused)", self.vertices, self.unused_vertices),
        );
        if !self.attributes.is_empty() {
            line("with", self.attributes.join(", "));
        }
        if let Some([min, max]) = self.bounds {
            for (axis, i) in [("x", 0), ("y", 1), ("z", 2)] {
                line(axis, format!("{} to {}", min[i], max[i]));
            }
        }
        line(
            "planar",
            if self.is_planar { "yes" } else { "no" }.to_owned(),
        );
        line("faces", self.faces.to_string());
        for (size, count) in &self.face_sizes {
            line(&format!("  of {size} vertices"), count.to_string());
        }
        if let Some(area) = self.area {
            line("area", area.to_string());
        }
        if let Some(volume) = self.volume {
            line("enclosed volume", volume.to_string());
        }
        line("edges", self.edges.to_string());
        line(
            "boundary edges",
            format!(
                "{} (connected parts: {})",
                self.boundary_edges, self.boundary_parts
            ),
        );
        line("pinch vertices", self.pinch_vertices.to_string());
        if let Some(regions) = &self.regions {
            line("regions", regions.len().to_string());
            for (region, count) in regions.iter().take(20) {
                line(&format!("  region {region}"), format!("{count} faces"));
            }
            if regions.len() > 20 {
                line("  and more", format!("{} regions", regions.len() - 20));
            }
        }
        line("segments", self.segments.to_string());
        for (name, value) in field_list::to_lines(&self.fields) {
            line(&name, value);
        }
        for problem in &self.problems {
            line("problem", problem.clone());
        }
        if let Some(weakly_simple) = self.weakly_simple {
            line("valid", "yes".to_owned());
            line("weakly simple faces", weakly_simple.to_string());
        }
        if let Some(quality) = self.quality.as_ref().filter(|_| self.faces > 0) {
            let share = |n: usize| {
                let percent = 100.0 * n as f64 / self.faces as f64;
                format!("{n} of {} ({percent:.2} %)", self.faces)
            };
            let spread =
                |d: &Distribution| format!("{:.6} to {:.6}, mean {:.6}", d.min, d.max, d.mean);
            line("convex faces", share(quality.convex));
            line("star-shaped faces", share(quality.star_shaped));
            let units =
                |d: &Distribution| format!("{:.4e} to {:.4e}, mean {:.4e}", d.min, d.max, d.mean);
            line("area of a face", units(&quality.area));
            line("perimeter of a face", units(&quality.perimeter));
            line("area / hull", spread(&quality.convexity));
            line(
                "shortest edge / diameter",
                spread(&quality.shortest_edge_to_diameter),
            );
            line("kernel / area", spread(&quality.kernel));
        }
        if timings {
            for stage in &self.stages {
                line(stage.name, format!("{:.3} ms", stage.milliseconds));
            }
            line(
                "time without files",
                format!("{:.3} ms", self.milliseconds()),
            );
            text += &account::to_text(NAME_WIDTH, &self.stages);
        }
        text
    }
}

/// Checks a planar mesh with these edges by the validator of its kind; gives its polygons, and how many visit a vertex
/// more than once.
fn check_planar(mesh: Mesh, edges: &EdgeTable) -> Result<(PolygonMesh, usize)> {
    match mesh.faces {
        Faces::Triangles(_) => {
            let triangulation = mesh.into_triangulation()?;
            validate::check_triangulation_with(&triangulation, edges)?;
            // The check has found that ids of half-edges fit 32 bits.
            let polygons = triangulation.triangles.into();
            let mesh = PolygonMesh {
                points: triangulation.points,
                polygons,
                regions: triangulation.regions,
                segments: triangulation.segments,
            };
            Ok((mesh, 0))
        }
        Faces::Polygons(_) => {
            let polygons = mesh.into_polygon_mesh()?;
            let summary = validate::polygons::polygon_mesh_with(&polygons, edges)?;
            Ok((polygons, summary.weakly_simple))
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

#[cfg(test)]
mod tests;
