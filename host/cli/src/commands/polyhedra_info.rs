//! `trioxide info` of meshes of polyhedra.

use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};
use trioxide::Result;
use trioxide::formats::read_polyhedra;
use trioxide::polyhedra_mesh::PolyhedralMesh;
use trioxide::quality::Distribution;
use trioxide::quality_polyhedra::{PolyhedraQuality, quality};

use super::field_list;
use trioxide_arguments::{is_standard_output, print, write_json};

/// Of the names in the text.
const NAME_WIDTH: usize = 25;

/// Counts and measures the polyhedra in `input`.
pub fn info(input: &Path, timings: bool, json: Option<&Path>, quiet: bool) -> Result<()> {
    let mesh = read_polyhedra(input)?;
    let start = Instant::now();
    let quality = quality(&mesh);
    let milliseconds = start.elapsed().as_secs_f64() * 1e3;
    if let Some(path) = json {
        let mut object = to_json(&mesh, &quality);
        object["command"] = json!("info");
        object["input"] = json!(input.to_string_lossy());
        object["format"] = json!("VTU");
        object["device"] = json!("cpu");
        object["stages"] = json!([{"name": "measure", "milliseconds": milliseconds}]);
        object["milliseconds"] = json!(milliseconds);
        write_json(path, &object)?;
    }
    if quiet || json.is_some_and(is_standard_output) {
        return Ok(());
    }
    let mut text = to_text(&mesh, &quality);
    if timings {
        line(&mut text, "measure", format!("{milliseconds:.3} ms"));
    }
    print(&text)
}

/// Why measures are no numbers, where they are none.
fn problem(mesh: &PolyhedralMesh) -> Option<String> {
    let v = mesh.points.iter().position(|point| !point.is_finite())?;
    Some(format!("vertex {v} has a coordinate that is not finite"))
}

/// `None` where there is no polyhedron.
fn spread(values: &Distribution) -> Option<Value> {
    let all = json!({"min": values.min, "mean": values.mean, "max": values.max});
    values.min.is_finite().then_some(all)
}

fn to_json(mesh: &PolyhedralMesh, quality: &PolyhedraQuality) -> Value {
    let sizes: serde_json::Map<_, _> = quality
        .faces_per_polyhedron
        .iter()
        .map(|(faces, count)| (faces.to_string(), json!(count)))
        .collect();
    json!({
        "vertices": mesh.points.len(),
        "polyhedra": mesh.len(),
        "faces": mesh.faces.len(),
        "boundary_faces": quality.boundary_faces,
        "barrier_faces": quality.barrier_faces,
        "tagged_faces": mesh.tagged.len(),
        "fields": field_list::to_json(&field_list::rows(&mesh.fields, "polyhedra", "tagged faces")),
        "faces_per_polyhedron": sizes,
        "volume": quality.total_volume,
        "volumes": spread(&quality.volume),
        "surface_to_volume": spread(&quality.surface_to_volume),
        "shortest_edge_to_diameter": spread(&quality.shortest_edge_to_diameter),
        "convex": quality.convex,
        "star_shaped": quality.star_shaped,
        "pinched": quality.pinched,
        "problems": Vec::from_iter(problem(mesh)),
    })
}

fn line(text: &mut String, name: &str, value: String) {
    writeln!(text, "{name:<NAME_WIDTH$} {value}").expect("strings take all that is written");
}

fn to_text(mesh: &PolyhedralMesh, quality: &PolyhedraQuality) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: String| line(&mut text, name, value);
    let share = |count: usize| {
        let percent = 100.0 * count as f64 / mesh.len().max(1) as f64;
        format!("{count} ({percent:.2} %)")
    };
    line("format", "VTU".to_owned());
    line("vertices", mesh.points.len().to_string());
    line("polyhedra", mesh.len().to_string());
    line("faces", mesh.faces.len().to_string());
    line("  on the boundary", quality.boundary_faces.to_string());
    line("  barriers", quality.barrier_faces.to_string());
    line("tagged faces", mesh.tagged.len().to_string());
    let fields = field_list::rows(&mesh.fields, "polyhedra", "tagged faces");
    for (name, value) in field_list::to_lines(&fields) {
        line(&name, value);
    }
    line("volume", quality.total_volume.to_string());
    let measures = [
        ("volumes", &quality.volume),
        ("surface to volume", &quality.surface_to_volume),
        ("edge to diameter", &quality.shortest_edge_to_diameter),
    ];
    for (name, values) in measures {
        if values.min.is_finite() {
            let Distribution { min, mean, max } = values;
            line(name, format!("{min:.4e} to {max:.4e}, mean {mean:.4e}"));
        }
    }
    line("convex", share(quality.convex));
    line("star-shaped", share(quality.star_shaped));
    line("pinched", share(quality.pinched));
    line("faces a polyhedron", String::new());
    for (faces, count) in quality.faces_per_polyhedron.iter().take(20) {
        line(&format!("  {faces}"), share(*count));
    }
    if quality.faces_per_polyhedron.len() > 20 {
        let rest = quality.faces_per_polyhedron.values().skip(20).sum();
        line("  more", share(rest));
    }
    if let Some(problem) = problem(mesh) {
        line("problem", problem);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;
    use trioxide::polyhedra_mesh::PolyhedraBuilder;

    #[test]
    fn a_measure_that_is_no_number_has_its_vertex_named() {
        let mut builder = PolyhedraBuilder::default();
        let faces = [vec![0, 2, 1], vec![0, 1, 3], vec![1, 2, 3], vec![0, 3, 2]];
        builder.push(&faces).unwrap();
        let mesh = PolyhedralMesh {
            points: vec![DVec3::ZERO, DVec3::X, DVec3::NAN, DVec3::Z],
            ..builder.finish()
        };
        let measured = quality(&mesh);
        let problem = "vertex 2 has a coordinate that is not finite";
        assert!(to_text(&mesh, &measured).contains(problem));
        assert_eq!(to_json(&mesh, &measured)["problems"], json!([problem]));
    }
}
