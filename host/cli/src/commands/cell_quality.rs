//! The quality of a volume mesh's cells, as JSON and as text.

use std::fmt::Write;

use serde_json::{Value, json};
use trioxide::quality3d::{Histogram, Quality3d};

/// Extremes and histograms.
pub fn to_json(quality: &Quality3d) -> Value {
    let histogram = |h: &Histogram, extreme: (&str, f64)| {
        let (name, value) = extreme;
        json!({"bounds": h.bounds, "counts": h.counts, name: value})
    };
    let mut object = json!({
        "inverted": quality.inverted,
        "scaled_jacobian": histogram(&quality.jacobians, ("min", quality.worst_jacobian)),
    });
    if let Some(tetrahedra) = &quality.tetrahedra {
        object["minimum_dihedral_angle"] =
            histogram(&tetrahedra.angles, ("min", tetrahedra.smallest_angle));
        object["radius_ratio"] = histogram(&tetrahedra.ratios, ("max", tetrahedra.largest_ratio));
    }
    object
}

/// Lines for each measure: its worst value, and each bin that is not empty; names take `width` characters.
pub fn to_text(quality: &Quality3d, width: usize) -> String {
    let mut text = String::new();
    let mut measure = |name: &str, worst: String, histogram: &Histogram| {
        writeln!(text, "{name:<width$} {worst}").expect("strings take all that is written");
        let total: u64 = histogram.counts.iter().sum();
        let bin = |i: usize| match (i.checked_sub(1), histogram.bounds.get(i)) {
            (None, Some(above)) => format!("under {above:.2}"),
            (Some(below), Some(above)) => {
                format!("{:.2} to {above:.2}", histogram.bounds[below])
            }
            (_, None) => format!("from {:.2}", histogram.bounds[i - 1]),
        };
        let counted = histogram.counts.iter().enumerate();
        for (i, &count) in counted.filter(|(_, count)| **count > 0) {
            let share = 100.0 * count as f64 / total as f64;
            let name = format!("  {}", bin(i));
            writeln!(text, "{name:<width$} {count} ({share:.2} %)")
                .expect("strings take all that is written");
        }
    };
    let worst = format!("{:.6} at worst", quality.worst_jacobian);
    measure("scaled Jacobian", worst, &quality.jacobians);
    if let Some(tetrahedra) = &quality.tetrahedra {
        let worst = format!("{:.4} degrees at worst", tetrahedra.smallest_angle);
        measure("smallest dihedral angle", worst, &tetrahedra.angles);
        let worst = format!("{:.4} at worst", tetrahedra.largest_ratio);
        measure("radius ratio", worst, &tetrahedra.ratios);
    }
    text
}
