//! Times of reordering.

use glam::DVec2;
use serde_json::json;
use trioxide::Result;
use trioxide::device::Device;
use trioxide::half_edges::Point;
use trioxide::ids::Vertex;
use trioxide::mesh::Triangulation;
use trioxide::points::upload_points;
use trioxide::random::mix;
use trioxide::reorder;
use trioxide_verify::selftest::weld::shuffled;

use super::names::map;
use super::{Measured, Runs, rows};

/// Times the reordering of a mesh that is on the device: as it is, with its vertices and triangles shuffled, and in
/// order already.
pub fn bench<P: Point>(on: &Device, mesh: &Triangulation, runs: Runs) -> Result<Measured> {
    let lifted: Vec<_> = mesh.points.iter().map(|p| p.extend(0.0)).collect();
    let (points, mut triangles) = shuffled(&lifted, &mesh.triangles);
    // Each has other corners.
    triangles.sort_by_cached_key(|[a, b, c]| mix(u64::from(*a) << 32 ^ u64::from(b ^ c)));
    let points: Vec<DVec2> = points.iter().map(|p| p.truncate()).collect();
    let mut stages = Vec::new();
    let (mut ordered, mut peak_bytes) = (None, 0);
    for (pipeline, points, triangles) in [
        ("as generated", &mesh.points, &mesh.triangles),
        ("shuffled", &points, &triangles),
    ] {
        let points = upload_points::<P>(on, points, points.len())?;
        let corners = on.upload(bytemuck::cast_slice::<_, Vertex>(triangles))?;
        on.reset_peak();
        stages.extend(rows(pipeline, on, runs, || {
            ordered = None;
            let vertices = reorder::vertices(on, &points)?;
            let cells = reorder::triangles(on, &corners, &vertices)?;
            ordered = Some((vertices, cells));
            Ok(())
        })?);
        peak_bytes = on.peak_bytes();
    }
    let (vertices, cells) = ordered.expect("a run");
    stages.extend(rows("in order", on, runs, || {
        let vertices = reorder::vertices(on, vertices.points())?;
        reorder::triangles(on, cells.corners(), &vertices)?;
        Ok(())
    })?);
    let counts = map([
        ("vertices", json!(mesh.points.len())),
        ("triangles", json!(mesh.triangles.len())),
    ]);
    Ok(Measured {
        counts,
        peak_bytes,
        stages,
    })
}
