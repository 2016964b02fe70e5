//! What `trioxide smooth` tells of its run.

use serde_json::json;
use trioxide_arguments::device::Report;

use super::super::cell_quality;
use super::{Options, Outcome};

/// The report of a run on `nodes` nodes and `count` elements.
pub fn report<'a>(
    options: &'a Options,
    outcome: &Outcome,
    [nodes, count]: [usize; 2],
    elements: &'static str,
) -> Report<'a> {
    let moves = outcome.smoothed.moves;
    let mut counts = vec![
        ("vertices", json!(nodes)),
        (elements, json!(count)),
        ("moving_vertices", json!(outcome.smoothed.moving)),
        ("iterations", json!(moves.sweeps)),
        ("converged", json!(moves.converged)),
        ("max_displacement", json!(moves.max_displacement)),
        ("rms_displacement", json!(moves.rms_displacement)),
    ];
    if let Some([before, after]) = &outcome.quality {
        counts.extend([
            ("inverted_before", json!(before.inverted)),
            ("inverted_after", json!(after.inverted)),
            ("worst_quality_before", json!(before.worst_jacobian)),
            ("worst_quality_after", json!(after.worst_jacobian)),
        ]);
        if let (Some(before), Some(after)) = (&before.tetrahedra, &after.tetrahedra) {
            counts.extend([
                ("smallest_angle_before", json!(before.smallest_angle)),
                ("smallest_angle_after", json!(after.smallest_angle)),
                ("largest_radius_ratio_before", json!(before.largest_ratio)),
                ("largest_radius_ratio_after", json!(after.largest_ratio)),
            ]);
        }
        counts.extend([
            ("quality_before", cell_quality::to_json(before)),
            ("quality_after", cell_quality::to_json(after)),
        ]);
    }
    Report {
        command: "smooth",
        input: &options.input,
        device: outcome.device.clone(),
        stages: outcome.stages.clone(),
        counts,
        peak_bytes: outcome.peak_bytes,
    }
}
