//! Polylla in three dimensions: no paper has times of it on a GPU.

use serde_json::json;

use super::super::plot::{Plot, Series, by_size};
use super::super::results::Run;
use super::super::table::{OURS, Table, ours_only};
use super::Made;

const PARTS: [(&str, &str); 3] = [
    ("faces", "faces of tetrahedra"),
    ("labels to polyhedra", "labels to polyhedra"),
    ("strict", "labels to polyhedra, --strict"),
];

pub(super) fn made_of(runs: &[Run]) -> Made {
    let columns: Vec<&str> = ["mesh", "vertices", "tetrahedra", "polyhedra", "part"]
        .into_iter()
        .chain(OURS)
        .collect();
    let mut table = Table::new("polylla3-parts", "All stages of a part", "", &columns);
    for run in runs {
        for (pipeline, name) in PARTS {
            let whole = |count: &str| run.count(count).map(|n| n as u64);
            let polyhedra = match pipeline {
                "strict" => whole("polyhedra_strict"),
                _ => whole("polyhedra"),
            };
            let mut cells = vec![
                json!(run.parameter("mesh")),
                json!(whole("vertices")),
                json!(whole("cells")),
                json!(polyhedra),
                json!(name),
            ];
            cells.extend(ours_only(run.stage(pipeline, "all stages").as_ref()));
            table.row(cells);
        }
    }
    let grids: Vec<&Run> = runs
        .iter()
        .filter(|run| run.parameter("mesh") == "grid")
        .collect();
    let mut plot = Plot::log_log(
        "polylla3-time",
        "Polyhedra of the tetrahedra of a grid",
        "vertices",
        "milliseconds",
    );
    for (pipeline, name) in PARTS {
        let level = by_size(&grids, |run| run.stage(pipeline, "all stages"));
        plot = plot
            .with(Series::marked(name, level.times))
            .with(Series::dashed(&format!("floor, {name}"), level.floors));
    }
    Made {
        tables: vec![table],
        plots: vec![plot],
    }
}
