//! Kernels one by one: their shares of the copy's rate. No paper has such numbers.

use serde_json::{Value, json};

use super::super::results::Run;
use super::super::table::{Table, ratio};
use super::Made;

const COLUMNS: [&str; 12] = [
    "pipeline",
    "mesh",
    "vertices",
    "kernel",
    "launches",
    "ms",
    "min",
    "max",
    "MB",
    "GB/s",
    "% of copy",
    "what moves",
];

pub(super) fn made_of(runs: &[Run]) -> Made {
    let mut table = Table::new("kernels-rates", "Kernels", "", &COLUMNS).note(
        "All launches of a kernel in a run of its pipeline together, the kernel that takes longest first. What a kernel must move is a \
         lower bound; a dash stands where it depends on the mesh or where the kernel does little. Arrays that fit a cache can go beyond \
         the copy's rate; on a GPU a short launch is mostly the wait for it.",
    );
    for run in runs {
        let launches = run.0["stages"].as_array().into_iter().flatten();
        for (stage, launches) in run.stages().iter().zip(launches) {
            let bytes = stage.bytes.map(|bytes| bytes as f64);
            let share = ratio(stage.floor, Some(stage.median));
            table.row(vec![
                json!(run.parameter("pipeline")),
                json!(run.parameter("mesh")),
                json!(run.n()),
                json!(stage.name),
                launches["launches"].clone(),
                json!(stage.median),
                json!(stage.minimum),
                json!(stage.maximum),
                json!(bytes.map(|bytes| bytes / 1e6)),
                json!(ratio(bytes, Some(stage.median * 1e6))),
                json!(share.map(|share| 100.0 * share)),
                match stage.moves.is_empty() {
                    true => Value::Null,
                    false => json!(stage.moves),
                },
            ]);
        }
    }
    Made {
        tables: vec![table],
        plots: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_has_its_rate_and_share() {
        let run = Run(json!({
            "parameters": {"pipeline": "polylla", "mesh": "grid", "n": 1000},
            "machine": {"copy_bandwidth_gb_s": 100.0},
            "stages": [
                {"pipeline": "polylla", "name": "label", "launches": 2, "median": 2.0, "minimum": 1.0, "maximum": 3.0, "runs": 3,
                 "bytes": 50_000_000, "moves": "twins read"},
                {"pipeline": "polylla", "name": "repair", "launches": 1, "median": 0.5, "minimum": 0.5, "maximum": 0.5, "runs": 3,
                 "bytes": null, "moves": null},
            ],
        }));
        let text = made_of(&[run]).tables[0].to_markdown();
        for row in [
            "| polylla | grid | 1,000 | label | 2 | 2.00 | 1.00 | 3.00 | 50.0 | 25.0 | 25.0 | twins read |\n",
            "| polylla | grid | 1,000 | repair | 1 | 0.500 | 0.500 | 0.500 | - | - | - | - |\n",
        ] {
            assert!(text.contains(row), "{text}");
        }
    }
}
