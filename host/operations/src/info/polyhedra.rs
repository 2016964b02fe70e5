//! Counts, measures and faults of polyhedra.

use std::borrow::Cow;

use serde_json::{Value, json};
use trioxide::Error;
use trioxide::device::Laps;
use trioxide::polyhedra_mesh::PolyhedralMesh;
use trioxide::quality::Distribution;
use trioxide::quality_polyhedra::{PolyhedraQuality, quality};

use super::Values;
use super::fields::{self, FieldRow};
use crate::report::Run;
use crate::scale::Scale;

/// The report on a mesh of polyhedra.
#[derive(Clone, Debug)]
pub struct PolyhedraReport {
    /// The time.
    pub run: Run,
    /// Number of vertices.
    pub vertices: usize,
    /// Number of polyhedra.
    pub polyhedra: usize,
    /// Number of faces.
    pub faces: usize,
    /// Number of tagged faces.
    pub tagged_faces: usize,
    /// The fields.
    pub fields: Vec<FieldRow>,
    /// Counts and measures.
    pub quality: PolyhedraQuality,
    /// The first vertex for which measures are not finite.
    pub problem: Option<String>,
}

impl PolyhedraReport {
    /// By their names.
    pub fn values(&self) -> Values {
        let quality = &self.quality;
        vec![
            ("vertices", json!(self.vertices)),
            ("polyhedra", json!(self.polyhedra)),
            ("faces", json!(self.faces)),
            ("boundary_faces", json!(quality.boundary_faces)),
            ("barrier_faces", json!(quality.barrier_faces)),
            ("tagged_faces", json!(self.tagged_faces)),
            ("fields", fields::to_json(&self.fields)),
            ("faces_per_polyhedron", json!(quality.faces_per_polyhedron)),
            ("volume", json!(quality.total_volume)),
            ("volumes", spread(&quality.volume)),
            ("surface_to_volume", spread(&quality.surface_to_volume)),
            (
                "shortest_edge_to_diameter",
                spread(&quality.shortest_edge_to_diameter),
            ),
            ("convex", json!(quality.convex)),
            ("star_shaped", json!(quality.star_shaped)),
            ("pinched", json!(quality.pinched)),
            ("problems", json!(Vec::from_iter(&self.problem))),
        ]
    }
}

/// Null where there is no polyhedron.
fn spread(values: &Distribution) -> Value {
    match values.min.is_finite() {
        true => json!({"min": values.min, "mean": values.mean, "max": values.max}),
        false => Value::Null,
    }
}

/// Counts and measures polyhedra.
///
/// ```
/// use trioxide_operations::{info_polyhedra, polyhedra};
///
/// # fn main() -> trioxide_operations::Result<()> {
/// # let device = trioxide::Device::cpu(None)?;
/// let cubes = trioxide::generate::tet_grid(27, 1)?;
/// let (joined, _) = polyhedra(&device, cubes.into(), &polyhedra::Options::default())?;
/// assert_eq!(info_polyhedra(&joined).polyhedra, joined.len());
/// # Ok(())
/// # }
/// ```
pub fn info_polyhedra(mesh: &PolyhedralMesh) -> PolyhedraReport {
    let (mesh, scale) = Scale::to_measure(
        Cow::Borrowed(mesh),
        |mesh: &mut PolyhedralMesh| &mut mesh.points,
        |mesh: &PolyhedralMesh| &mesh.points,
    );
    let mut report = measured(&mesh);
    let quality = &mut report.quality;
    scale.distribution(&mut quality.volume, 3);
    scale.distribution(&mut quality.surface_to_volume, -1);
    quality.total_volume = scale.measure(quality.total_volume, 3);
    report
}

/// The report on a mesh of usual size.
fn measured(mesh: &PolyhedralMesh) -> PolyhedraReport {
    let mut laps = Laps::start();
    let quality = quality(mesh);
    laps.end("measure");
    let bad = mesh.points.iter().position(|point| !point.is_finite());
    PolyhedraReport {
        run: Run::on_host("cpu".to_owned(), laps.into_stages()),
        vertices: mesh.points.len(),
        polyhedra: mesh.len(),
        faces: mesh.faces.len(),
        tagged_faces: mesh.tagged.len(),
        fields: fields::rows(&mesh.fields, "polyhedra", "tagged faces"),
        quality,
        problem: bad.map(|v| Error::not_finite(v).to_string()),
    }
}
