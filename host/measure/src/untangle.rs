//! Times of untangling a volume mesh that is resident on the device, and of improving it.

use gpu::smooth::Vector;
use serde_json::json;
use trioxide::Result;
use trioxide::device::Device;
use trioxide::smooth::{BoundaryRule, DeviceMesh, Goal, UntangleOptions, Untangling, untangle};
use trioxide::volume::VolumeMesh;

use super::names::map;
use super::{Measured, Runs, rows, waited};

/// Most sweeps for valid cells.
pub const MOST_SWEEPS: u32 = 1000;
/// Sweeps for better cells.
const IMPROVING_SWEEPS: u32 = 10;

/// Times sweeps until no cell is inverted, and sweeps for better cells after them.
pub fn bench<P: Vector>(on: &Device, mesh: &VolumeMesh, runs: Runs) -> Result<Measured> {
    let to_valid = UntangleOptions {
        goal: Goal::Untangled,
        boundary: BoundaryRule::Fixed,
        max_sweeps: MOST_SWEEPS,
        keep_going: false,
    };
    let to_better = UntangleOptions {
        goal: Goal::Improved,
        max_sweeps: IMPROVING_SWEEPS,
        ..to_valid
    };
    on.reset_peak();
    let mut stages = vec![waited("host arrays to host arrays", runs.min(5), || {
        let resident = DeviceMesh::<P>::upload(on, mesh)?;
        let made = untangle(on, &resident, &[], &to_valid)?;
        on.download(made.points()).map(drop)
    })?];
    let peak_bytes = on.peak_bytes();
    let resident = DeviceMesh::<P>::upload(on, mesh)?;
    let mut report = Untangling::default();
    stages.extend(rows("until valid", on, runs, || {
        report = untangle(on, &resident, &[], &to_valid)?.report().clone();
        Ok(())
    })?);
    let mut counts = map([
        ("vertices", json!(mesh.points.len())),
        ("cells", json!(mesh.cells.len())),
        ("moving", json!(report.moving)),
        ("moved", json!(report.moved)),
        ("sweeps", json!(report.sweeps)),
        ("rings", json!(report.rings)),
        ("inverted_before", json!(report.inverted_before)),
        ("inverted", json!(report.inverted.len())),
    ]);
    if !report.inverted.is_empty() {
        return Ok(Measured {
            counts,
            peak_bytes,
            stages,
        });
    }
    let points = untangle(on, &resident, &[], &to_valid)?.into_points();
    let valid = VolumeMesh {
        points: on.download(&points)?.into_iter().map(P::to_f64).collect(),
        ..mesh.clone()
    };
    let resident = DeviceMesh::<P>::upload(on, &valid)?;
    stages.extend(rows("improve", on, runs.min(10), || {
        report = untangle(on, &resident, &[], &to_better)?.report().clone();
        Ok(())
    })?);
    counts.insert(
        "worst_ratio_before".to_owned(),
        json!(report.ratios[0].worst),
    );
    counts.insert("worst_ratio".to_owned(), json!(report.ratios[1].worst));
    Ok(Measured {
        counts,
        peak_bytes,
        stages,
    })
}
