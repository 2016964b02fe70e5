//! Polylla in three dimensions: no paper has times of it on a GPU.

use serde_json::json;

use super::super::plot::of_grids;
use super::super::results::Run;
use super::super::table::{OURS, Table, ours_only};
use super::Made;

const PARTS: [(&str, &str); 4] = [
    ("faces", "faces of tetrahedra"),
    ("labels to polyhedra", "labels to polyhedra"),
    ("strict", "labels to polyhedra, --strict"),
    ("cavities", "labels to polyhedra, --rule cavity"),
];

pub(super) fn made_of(runs: &[Run]) -> Made {
    let columns: Vec<&str> = ["mesh", "vertices", "tetrahedra", "polyhedra", "part"]
        .into_iter()
        .chain(OURS)
        .collect();
    let mut table = Table::new("polyhedra-parts", "All stages of a part", "", &columns);
    for run in runs {
        for (pipeline, name) in PARTS {
            // Older runs have no cavities.
            let Some(stage) = run.stage(pipeline, "all stages") else {
                continue;
            };
            let whole = |count: &str| run.count(count).map(|n| n as u64);
            let polyhedra = match pipeline {
                "strict" => whole("polyhedra_strict"),
                "cavities" => whole("polyhedra_cavity"),
                _ => whole("polyhedra"),
            };
            let mut cells = vec![
                json!(run.parameter("mesh")),
                json!(whole("vertices")),
                json!(whole("cells")),
                json!(polyhedra),
                json!(name),
            ];
            cells.extend(ours_only(Some(&stage)));
            table.row(cells);
        }
    }
    let plot = of_grids(
        "polyhedra-time",
        "Polyhedra of the tetrahedra of a grid",
        runs,
        &PARTS,
    );
    Made {
        tables: vec![table],
        plots: vec![plot],
    }
}
