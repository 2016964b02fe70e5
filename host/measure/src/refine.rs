//! Times of longest-edge bisection.

use serde_json::json;
use trioxide::Result;
use trioxide::device::Device;
use trioxide::half_edges::{AnyPoint, DeviceTriangulation};
use trioxide::mesh::Triangulation;
use trioxide::refine::{DeviceEdgeMesh, Options, refine, with_room, with_room_for_points};

use super::names::{is_step, map};
use super::{Measured, Runs, Total, rows, rows_with_totals, waited};

/// Host arrays in to host arrays out; edges from triangles; a round with only the edges known ("refine"), and a round
/// with the longest edges known too ("labelled").
pub fn bench<P: AnyPoint>(
    on: &Device,
    mesh: &Triangulation<P::Double>,
    options: &Options,
    runs: Runs,
) -> Result<Measured> {
    on.reset_peak();
    let mut stages = vec![waited("host arrays to host arrays", runs.min(5), || {
        let mut fine = DeviceEdgeMesh::<P>::upload(on, mesh)?;
        refine(on, &mut fine, options)?;
        Ok(fine.triangulation(on, None).map(drop)?)
    })?];
    let peak_bytes = on.peak_bytes();

    let points: Vec<P> = mesh.points.iter().map(|&p| P::from_f64(p)).collect();
    let (points, corners) = (
        on.upload(&points)?,
        on.upload(mesh.triangles.as_flattened())?,
    );
    let mut resident = None;
    stages.extend(rows("edges", on, runs, || {
        drop(resident.take());
        let points = on.moved(
            &points,
            with_room_for_points(points.len(), corners.len() / 3),
        )?;
        let corners = on.moved(&corners, with_room(corners.len()))?;
        let with_twins = DeviceTriangulation::build(on, points, corners.cast())?;
        resident = Some(DeviceEdgeMesh::<P>::build(on, with_twins)?);
        Ok(())
    })?);
    drop((points, corners));
    let mut resident = resident.expect("at least one run");
    let before = resident.level();
    let mut after = before;
    let totals: [Total<'_>; 2] = [("steps 1 to 7", &is_step), ("all stages", &|_| true)];
    for pipeline in ["refine", "labelled"] {
        stages.extend(rows_with_totals(pipeline, on, runs, &totals, || {
            let mut fine = resident.duplicate(on)?;
            refine(on, &mut fine, options)?;
            after = fine.level();
            Ok(())
        })?);
        resident.label(on)?;
    }
    let counts = map([
        ("vertices", json!(before.vertices)),
        ("edges", json!(before.edges)),
        ("triangles", json!(before.triangles)),
        ("vertices_after", json!(after.vertices)),
        ("edges_after", json!(after.edges)),
        ("triangles_after", json!(after.triangles)),
    ]);
    Ok(Measured {
        counts,
        peak_bytes,
        stages,
    })
}
