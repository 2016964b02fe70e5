//! gpolylla-2023: tables 1 to 3, and the figures that plot them.

use serde_json::{Value, json};

use super::super::papers::{self, floats};
use super::super::plot::{Bar, Plot, Series, by_size};
use super::super::results::{Run, Stage};
use super::super::table::{BESIDE, Table, beside};
use super::{Made, is_same_size};

/// Stages of the paper, by their columns, and ours. Older records have the second name of a stage.
const STAGES: [(&str, &[&str], &[&str]); 5] = [
    (
        "label longest edges (LLK)",
        &["LLK"],
        &["label longest edges"],
    ),
    (
        "label frontier and seed edges (LFK, LSK)",
        &["LFK", "LSK"],
        &["label frontier edges", "label frontier and seed edges"],
    ),
    (
        "barrier tips, change attributes (LEK, CaK)",
        &["LEK", "CaK"],
        &[
            "link frontier edges",
            "change attributes",
            "repair barrier tips",
        ],
    ),
    (
        "find polygons (SFK, OSK)",
        &["SFK", "OSK"],
        &["find polygons"],
    ),
    (
        "compact (Scan)",
        &["Scan"],
        &["compact seeds", "compact polygons"],
    ),
];

/// A table of the paper: its column's values by number of vertices.
struct Paper {
    columns: Vec<String>,
    rows: Vec<Vec<f64>>,
}

impl Paper {
    fn new(mesh: &str) -> Self {
        let paper = papers::polylla();
        let tables = paper["tables"].as_array().into_iter().flatten();
        let rows: Vec<Vec<f64>> = tables
            .filter(|table| table["mesh"] == mesh)
            .flat_map(|table| table["rows"].as_array().into_iter().flatten())
            .map(floats)
            .collect();
        let columns = paper["columns"].as_array().into_iter().flatten();
        let columns = columns.filter_map(Value::as_str).map(str::to_owned);
        Self {
            columns: columns.collect(),
            rows,
        }
    }

    /// The sum of columns at a number of vertices, of the nearest of the paper's meshes; `None` where none is as large.
    fn at(&self, vertices: u64, columns: &[&str]) -> Option<f64> {
        let distance = |row: &&Vec<f64>| vertices.abs_diff(row[0] as u64);
        let row = self.rows.iter().min_by_key(distance)?;
        let sum = || columns.iter().map(|column| row[self.column(column)]).sum();
        is_same_size(vertices, row[0] as u64).then(sum)
    }

    fn column(&self, name: &str) -> usize {
        let found = self.columns.iter().position(|column| column == name);
        found.expect("a column of polylla.json")
    }

    fn curve(&self, name: &str) -> Vec<(f64, f64)> {
        let i = self.column(name);
        self.rows.iter().map(|row| (row[0], row[i])).collect()
    }
}

pub(super) fn made_of(runs: &[Run]) -> Made {
    let mut made = Made {
        tables: Vec::new(),
        plots: Vec::new(),
    };
    for (mesh, appendix) in [("random", "2"), ("grid", "3")] {
        let runs: Vec<&Run> = runs
            .iter()
            .filter(|run| run.parameter("mesh") == mesh)
            .collect();
        if !runs.is_empty() {
            add(&mut made, mesh, appendix, &runs);
        }
    }
    made
}

fn add(made: &mut Made, mesh: &str, appendix: &str, runs: &[&Run]) {
    let paper = Paper::new(mesh);
    let columns: Vec<&str> = ["vertices", "stage"].into_iter().chain(BESIDE).collect();
    let mut table = Table::new(
        &format!("polylla-{mesh}"),
        &format!("Table 1: {mesh} meshes"),
        &format!("gpolylla-2023, table 1 and appendix table {appendix}, NVIDIA L40 and one thread of an EPYC 9534"),
        &columns,
    )
    .note("TwC is the paper's kernels with its copies, half-edges made before on the host; ours goes from the host's triangles to the host's polygons, half-edges and checks within.");
    for run in runs {
        let n = run.count("vertices").unwrap_or(0.0) as u64;
        let mut row = |name: &str, theirs: &[&str], ours: Option<&Stage>| {
            let mut cells = vec![json!(n), json!(name)];
            cells.extend(beside(paper.at(n, theirs), ours));
            table.row(cells);
        };
        for (name, theirs, ours) in STAGES {
            row(name, theirs, run.sum("polylla", ours).as_ref());
        }
        let all = run.stage("polylla", "all stages");
        row("all kernels (Total, GPU)", &["GPU"], all.as_ref());
        row("its sequential code (Total, CPU)", &["CPU"], all.as_ref());
        let waited = run.stage("as waited", "host arrays to host lists");
        row("with copies (TwC)", &["TwC"], waited.as_ref());
    }
    made.tables.push(table);

    let ours = |pipeline: &str, name: &str| by_size(runs, |run| run.stage(pipeline, name));
    let all = ours("polylla", "all stages");
    made.plots.push(
        Plot::log_log(
            &format!("polylla-{mesh}-time"),
            &format!("Polylla, {mesh} meshes: time (gpolylla-2023, figure 10 and tables 1 to 3)"),
            "vertices",
            "milliseconds",
        )
        .with(Series::line("paper, CPU", paper.curve("CPU")))
        .with(Series::line("paper, L40 kernels", paper.curve("GPU")))
        .with(Series::line("paper, L40 with copies", paper.curve("TwC")))
        .with(Series::marked("ours, kernels", all.times.clone()))
        .with(Series::marked(
            "ours, host to host",
            ours("as waited", "host arrays to host lists").times,
        ))
        .with(Series::dashed("floor of ours", all.floors.clone())),
    );
    let over = |name: &str, theirs: &str, times: &[(f64, f64)]| {
        let points = times
            .iter()
            .filter_map(|&(n, time)| Some((n, paper.at(n as u64, &[theirs])? / time)));
        Series::marked(name, points.collect())
    };
    let theirs = paper
        .rows
        .iter()
        .map(|row| (row[0], row[paper.column("CPU")] / row[paper.column("GPU")]));
    made.plots.push(
        Plot::log_log(
            &format!("polylla-{mesh}-speed-up"),
            &format!("Polylla, {mesh} meshes: speed-up (gpolylla-2023, figures 11 and 12)"),
            "vertices",
            "times faster",
        )
        .with(Series::line("paper, L40 over its CPU", theirs.collect()))
        .with(over("ours over the paper's CPU", "CPU", &all.times))
        .with(over("ours over the paper's L40", "GPU", &all.times)),
    );
    if let Some(run) = runs.last() {
        let n = run.count("vertices").unwrap_or(0.0) as u64;
        let ours = STAGES.iter().map(|(name, _, ours)| {
            let time = run.sum("polylla", ours).map_or(0.0, |stage| stage.median);
            ((*name).to_owned(), time)
        });
        let mut bars = vec![Bar::new("ours", ours.collect())];
        let theirs: Option<Vec<(String, f64)>> = STAGES
            .iter()
            .map(|(name, theirs, _)| Some(((*name).to_owned(), paper.at(n, theirs)?)))
            .collect();
        bars.extend(theirs.map(|parts| Bar::new("paper, L40", parts)));
        made.plots.push(Plot::bars(
            &format!("polylla-{mesh}-stages"),
            &format!(
                "Polylla, {mesh} mesh of {} vertices: stages",
                super::super::table::thousands(n)
            ),
            "milliseconds",
            bars,
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_totals_are_the_sums_of_its_stages() {
        for mesh in ["random", "grid"] {
            let paper = Paper::new(mesh);
            assert!(paper.rows.len() >= 32);
            for row in &paper.rows {
                let n = row[0] as u64;
                let sum: f64 = STAGES
                    .iter()
                    .filter_map(|(_, columns, _)| paper.at(n, columns))
                    .sum();
                let total = paper.at(n, &["GPU"]).unwrap();
                assert_eq!(total, row[paper.column("GPU")]);
                assert!((sum - total).abs() < 0.35, "{mesh} {n}: {sum} {total}");
            }
        }
    }

    #[test]
    fn ours_stands_beside_table_1() {
        let run = Run(json!({
            "family": "polylla", "parameters": {"mesh": "grid", "n": 1_000_000},
            "counts": {"vertices": 1_000_000}, "machine": {"copy_bandwidth_gb_s": 4000.0},
            "stages": [
                {"pipeline": "polylla", "name": "compact seeds", "median": 0.1, "minimum": 0.1, "maximum": 0.1, "runs": 20, "bytes": null},
                {"pipeline": "polylla", "name": "compact polygons", "median": 0.05, "minimum": 0.05, "maximum": 0.05, "runs": 20, "bytes": null},
                {"pipeline": "polylla", "name": "all stages", "median": 0.5, "minimum": 0.4, "maximum": 0.6, "runs": 20, "bytes": 1_000_000_000},
            ],
        }));
        let made = made_of(&[run]);
        let text = made.tables[0].to_markdown();
        assert!(
            text.contains("| 1,000,000 | compact (Scan) | 0.300 | 0.150 | 2.00 |"),
            "{text}"
        );
        assert!(
            text.contains(
                "| all kernels (Total, GPU) | 2.20 | 0.500 | 4.40 | 0.400 | 0.600 | 0.250 | 2.00 |"
            ),
            "{text}"
        );
        assert!(
            text.contains("| its sequential code (Total, CPU) | 1432 | 0.500 | 2864 |"),
            "{text}"
        );
    }
}
