//! gpu-polylla-imr22: its figures print no numbers, so ours stand alone.

use serde_json::json;

use super::super::papers::{self, text};
use super::super::plot::{Bar, Plot, Series, by_size};
use super::super::results::{Run, Stage};
use super::super::table::{OURS, Table, ours_only};
use super::Made;

/// The paper's phases, and our stages. Older records have "label seeds" for "label seed".
const PHASES: [(&str, &[&str]); 4] = [
    (
        "label phase",
        &["label max", "label seed", "label seeds", "label frontier"],
    ),
    ("traversal phase", &["traversal"]),
    ("reparation phase", &["reparation"]),
    ("order polygons (not the paper's)", &["order polygons"]),
];
const KERNELS: [&str; 4] = ["label max", "label seed", "label seeds", "label frontier"];

pub(super) fn made_of(runs: &[Run]) -> Made {
    let columns: Vec<&str> = ["vertices", "non-simple polygons' tips", "repair", "phase"]
        .into_iter()
        .chain(OURS)
        .collect();
    let mut table = Table::new(
        "indexed-phases",
        "Figures 7 to 10: phases",
        &text(&papers::indexed()["source"]),
        &columns,
    );
    for run in runs {
        let mut row = |name: &str, stage: Option<&Stage>| {
            let mut cells = vec![
                json!(run.count("vertices").map(|n| n as u64)),
                json!(run.count("barrier_tips").map(|n| n as u64)),
                json!(repair(run)),
                json!(name),
            ];
            cells.extend(ours_only(stage));
            table.row(cells);
        };
        for (name, stages) in PHASES {
            row(name, run.sum("indexed", stages).as_ref());
        }
        row("all", run.stage("indexed", "all stages").as_ref());
        let waited = run.stage("as waited", "host arrays to host lists");
        row("host arrays to host lists", waited.as_ref());
    }
    let of =
        |place: &str| -> Vec<&Run> { runs.iter().filter(|run| repair(run) == place).collect() };
    let (parallel, mixed) = (of("device"), of("host"));
    let all = by_size(&parallel, |run| run.stage("indexed", "all stages"));
    let time = Plot::log_log(
        "indexed-time",
        "Indexed Polylla: time (gpu-polylla-imr22, figure 8; it prints no numbers)",
        "vertices",
        "milliseconds",
    )
    .with(Series::marked("parallel", all.times))
    .with(Series::marked(
        "mixed: repair on the host",
        by_size(&mixed, |run| run.stage("indexed", "all stages")).times,
    ))
    .with(Series::dashed("floor of the parallel version", all.floors));
    let mut phases = Plot::log_log(
        "indexed-phases",
        "Indexed Polylla: phases (gpu-polylla-imr22, figure 9)",
        "vertices",
        "milliseconds",
    );
    for (name, stages) in PHASES {
        let times = by_size(&parallel, |run| run.sum("indexed", stages)).times;
        phases = phases.with(Series::marked(name, times));
    }
    let bars = parallel.iter().map(|run| {
        let parts = KERNELS
            .iter()
            .filter_map(|&name| Some((name.to_owned(), run.stage("indexed", name)?.median)));
        Bar::new(&size_label(run), parts.collect())
    });
    let kernels = Plot::bars(
        "indexed-kernels",
        "Indexed Polylla: kernels of the label phase (gpu-polylla-imr22, figure 10)",
        "milliseconds",
        bars.collect(),
    );
    Made {
        tables: vec![table],
        plots: vec![time, phases, kernels],
    }
}

fn repair(run: &Run) -> &str {
    run.parameter("repair")
}

fn size_label(run: &Run) -> String {
    super::super::table::thousands(run.n())
}
