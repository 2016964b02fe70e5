//! Refinement of tetrahedra: no paper has times of it.

use serde_json::json;

use super::super::plot::of_grids;
use super::super::results::Run;
use super::super::table::{OURS, Table, ours_only};
use super::Made;

const WAYS: [(&str, &str); 3] = [
    ("0.1 %", "0.1 % marked"),
    ("100 %", "all marked, by the longest edge"),
    ("every edge", "all marked, by every edge"),
];

pub(super) fn made_of(runs: &[Run]) -> Made {
    let columns: Vec<&str> = ["mesh", "vertices", "tetrahedra", "level"]
        .into_iter()
        .chain(OURS)
        .collect();
    let mut table = Table::new("refine-tets-levels", "A level, edges within", "", &columns);
    for run in runs {
        for (pipeline, name) in WAYS {
            let mut cells = vec![
                json!(run.parameter("mesh")),
                json!(run.count("vertices").map(|n| n as u64)),
                json!(run.count("cells").map(|n| n as u64)),
                json!(name),
            ];
            cells.extend(ours_only(run.stage(pipeline, "all stages").as_ref()));
            table.row(cells);
        }
    }
    let plot = of_grids(
        "refine-tets-time",
        "Refinement of tetrahedra of a grid: a level",
        runs,
        &WAYS,
    );
    Made {
        tables: vec![table],
        plots: vec![plot],
    }
}
