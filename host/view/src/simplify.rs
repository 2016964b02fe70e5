//! Meshes that are too large for a page: the weld family makes smaller ones.

use trioxide::device::Device;
use trioxide::mesh::Mesh;
use trioxide_mesh::{Error, Result, progress};
use trioxide_operations::weld::{Options, weld};

/// Times that a mesh is welded at most.
const TRIES: usize = 6;

/// Welds a cloud, or a mesh of triangles, until it has at most `most` points or triangles. Returns it with the distance
/// within which vertices merged.
///
/// # Errors
/// Those of the device and of welding; [`Error::Argument`] if no distance makes the mesh as small.
pub(crate) fn simplify(mesh: Mesh, most: usize) -> Result<(Mesh, f64)> {
    progress::stage("simplify the mesh");
    let size = |mesh: &Mesh| match mesh.faces.len() {
        0 => mesh.points.len(),
        faces => faces,
    };
    let device = Device::cpu(None)?;
    // A weld misses the ratio by a little, and a mesh has not exactly two triangles a vertex.
    let mut aim = 0.97 * most as f64;
    for _ in 0..TRIES {
        let options = Options {
            ratio: Some((1.0 - aim / size(&mesh) as f64).clamp(0.0, 1.0)),
            ..Options::default()
        };
        let (welded, report) = weld(&device, mesh.clone(), &options)?;
        let epsilon = report.totals.found.map_or(0.0, |found| found.epsilon);
        if size(&welded) <= most && mesh.faces.is_empty() == welded.faces.is_empty() {
            return Ok((welded, epsilon));
        }
        aim *= (most as f64 / size(&welded) as f64).min(0.9);
    }
    Err(Error::Argument(format!(
        "no distance of welding leaves at most {most} of {} elements: raise the limit",
        size(&mesh)
    )))
}
