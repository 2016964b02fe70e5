//! Times of reordering.

use glam::DVec3;
use serde_json::json;
use trioxide::Result;
use trioxide::device::Device;
use trioxide::ids::Vertex;
use trioxide::mesh::Triangulation;
use trioxide::points::upload_points;
use trioxide::random::mix;
use trioxide::reorder::{self, Point};
use trioxide_verify::selftest::weld::shuffled;

use super::names::map;
use super::{Measured, Runs, rows};

/// Times the reordering of a mesh that is on the device: as it is, with its vertices and triangles shuffled, and in
/// order already. `to` makes a point of the mesh one to order; `as_it_is` is the name of the first pipeline.
pub fn bench<P: Point>(
    on: &Device,
    mesh: &Triangulation<DVec3>,
    to: impl Fn(DVec3) -> P::Double,
    as_it_is: &'static str,
    runs: Runs,
) -> Result<Measured> {
    let (points, mut triangles) = shuffled(&mesh.points, &mesh.triangles);
    // Each has other corners.
    triangles.sort_by_cached_key(|[a, b, c]| mix(u64::from(*a) << 32 ^ u64::from(b ^ c)));
    let mut stages = Vec::new();
    let (mut ordered, mut peak_bytes) = (None, 0);
    for (pipeline, points, triangles) in [
        (as_it_is, &mesh.points, &mesh.triangles),
        ("shuffled", &points, &triangles),
    ] {
        let points: Vec<P::Double> = points.iter().map(|&p| to(p)).collect();
        let points = upload_points::<P>(on, &points, points.len())?;
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
