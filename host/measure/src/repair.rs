//! Times of the repair of a mesh of triangles.

use glam::DVec3;
use serde_json::json;
use trioxide::Result;
use trioxide::device::Device;
use trioxide::repair::{Counts, Steps, repair, survey};

use super::names::map;
use super::{Measured, Runs, rows};

/// All steps; holes and components of scans are small beside these numbers.
pub const STEPS: Steps = Steps {
    repeated: true,
    degenerate: Some(0.0),
    edges: true,
    vertices: true,
    cut: true,
    orient: true,
    folded: true,
    holes: Some(100),
    components: Some(100),
    flip: false,
    unused: true,
};

/// Times a survey of the faults, and all steps, a stage each, with the copies to and from the device.
pub fn bench(
    on: &Device,
    points: &[DVec3],
    triangles: &[[u32; 3]],
    runs: Runs,
) -> Result<Measured> {
    on.reset_peak();
    let mut stages = rows("survey", on, runs, || {
        survey(on, points, triangles)?;
        Ok(())
    })?;
    let mut found = Counts::default();
    let mut faces = 0;
    stages.extend(rows("all steps", on, runs, || {
        let repaired = repair(on, points, triangles, &[], &STEPS)?;
        (found, faces) = (repaired.counts, repaired.triangles.len());
        Ok(())
    })?);
    Ok(Measured {
        counts: map([
            ("vertices", json!(points.len())),
            ("triangles", json!(triangles.len())),
            ("triangles_after", json!(faces)),
            ("repeated", json!(found.repeated)),
            ("collapsed", json!(found.collapsed)),
            ("flipped", json!(found.flipped)),
            ("dropped", json!(found.dropped)),
            ("crowded", json!(found.crowded)),
            ("copies", json!(found.copies)),
            ("turned", json!(found.turned)),
            ("filled", json!(found.filled)),
            ("component_faces", json!(found.component_faces)),
        ]),
        peak_bytes: on.peak_bytes(),
        stages,
    })
}
