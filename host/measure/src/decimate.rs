//! Times of decimation.

use glam::DVec3;
use gpu::ids::Vertex;
use serde_json::json;
use trioxide::Result;
use trioxide::decimate::{Options, Surface, decimate};
use trioxide::device::Device;

use super::names::map;
use super::{Measured, Runs, rows};

/// Times the decimation of a surface that is on the device, to a half and to a tenth of its triangles.
pub fn bench(
    on: &Device,
    points: &[DVec3],
    triangles: &[[u32; 3]],
    runs: Runs,
) -> Result<Measured> {
    let resident = on.upload(points)?;
    let corners = on.upload(triangles)?.cast::<[Vertex; 3]>();
    let surface = Surface::new(&resident, &corners);
    let mut stages = Vec::new();
    on.reset_peak();
    for (pipeline, share) in [("to 50 %", 2), ("to 10 %", 10)] {
        let options = Options::new(triangles.len() / share);
        stages.extend(rows(pipeline, on, runs, || {
            decimate(on, &surface, &options)?;
            Ok(())
        })?);
    }
    Ok(Measured {
        counts: map([
            ("vertices", json!(points.len())),
            ("triangles", json!(triangles.len())),
        ]),
        peak_bytes: on.peak_bytes(),
        stages,
    })
}
