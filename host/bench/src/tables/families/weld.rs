//! gpu-vertex-clustering-2026, chapter 6: tables 6.1, 6.3, 6.4, 6.6, 6.8 and figures 6.1 to 6.11.
//!
//! The paper's scans are not available: generated ones of as many vertices stand in.

use serde_json::{Value, json};

use super::super::papers::{self, floats, text};
use super::super::plot::{Bar, Plot, Series, by_size};
use super::super::results::{Run, Stage};
use super::super::table::{OURS, Table, ours_only, ratio};
use super::{Made, is_same_size};

/// The paper's phases, and our stages.
const PHASES: [(&str, &[&str]); 4] = [
    ("spatial index", &["choose cells", "grid"]),
    ("adjacency", &["note neighbours"]),
    (
        "clustering",
        &[
            "decide",
            "assign",
            "number clusters",
            "members",
            "positions",
        ],
    ),
    ("mesh update", &["faces"]),
];
const STAND_IN: &str = "The paper's scans are not available here: ours are generated, with as many vertices, and epsilon is the one that removes the same fraction.";

pub(super) fn made_of(runs: &[Run]) -> Made {
    let paper = papers::weld();
    let source = text(&paper["source"]);
    let every: Vec<&Run> = runs.iter().collect();
    // The paper's own methods stand in the table of reductions only.
    let is_ours = |run: &&Run| method(run) == "grid";
    let runs: Vec<&Run> = every.iter().copied().filter(is_ours).collect();
    let scans: Vec<&Run> = of_mesh(&runs, "scan");
    let mut plots = vec![scaling(&paper, &scans), index(&paper, &runs)];
    plots.extend(by_reduction(&runs));
    plots.extend(phases(&runs));
    Made {
        tables: vec![
            stand_ins(&paper, &source, &runs),
            reductions(&every),
            table_6_3(&paper, &source, &runs),
            table_6_4(&paper, &source, &runs),
            table_6_6(&paper, &source, &runs),
            table_6_8(&paper, &source, &runs),
        ],
        plots,
    }
}

fn of_mesh<'a>(runs: &[&'a Run], mesh: &str) -> Vec<&'a Run> {
    let of = |run: &&&Run| run.parameter("mesh") == mesh;
    runs.iter().filter(of).copied().collect()
}

fn datasets(paper: &Value) -> impl Iterator<Item = &Value> {
    paper["datasets"].as_array().into_iter().flatten()
}

/// The run that stands in for a dataset, by the fraction that it removes.
fn standing_in<'a>(paper: &Value, runs: &[&'a Run], name: &str, removed: &str) -> Option<&'a Run> {
    let dataset = datasets(paper).find(|dataset| dataset["name"] == name)?;
    let (mesh, vertices) = (dataset["stand_in"].as_str()?, dataset["vertices"].as_u64()?);
    let is_it = |run: &&&Run| {
        run.parameter("mesh") == mesh
            && run.parameter("removed") == removed
            && is_same_size(run.n(), vertices)
    };
    runs.iter().find(is_it).copied()
}

fn all_stages(run: &Run) -> Option<Stage> {
    run.stage("weld", "all stages")
}

fn waited(run: &Run) -> Option<Stage> {
    run.stage("as waited", "host arrays to host arrays")
}

fn stand_ins(paper: &Value, source: &str, runs: &[&Run]) -> Table {
    let mut table = Table::new(
        "weld-6-1",
        "Tables 6.1 and 6.5: datasets, and what stands in for them",
        source,
        &[
            "dataset",
            "vertices",
            "triangles",
            "at 50 %",
            "ours",
            "vertices",
            "triangles",
            "at 50 %",
        ],
    )
    .note(STAND_IN);
    for dataset in datasets(paper) {
        let name = text(&dataset["name"]);
        let run = standing_in(paper, runs, &name, "50 %");
        let count = |key: &str| json!(run.and_then(|run| run.count(key)).map(|n| n as u64));
        let results = paper["table_6_5"]["rows"].as_array().into_iter().flatten();
        let mut results = results.filter(|row| row["name"] == *name);
        let after = results
            .next()
            .map_or(Value::Null, |row| row["counts"][0].clone());
        table.row(vec![
            json!(name),
            dataset["vertices"].clone(),
            dataset["triangles"].clone(),
            after,
            dataset["stand_in"].clone(),
            count("vertices"),
            count("triangles"),
            count("welded_vertices"),
        ]);
    }
    table
}

fn method(run: &Run) -> &str {
    match run.parameter("method") {
        "" => "grid",
        method => method,
    }
}

fn reductions(runs: &[&Run]) -> Table {
    let columns: Vec<&str> = ["mesh", "vertices", "removed", "method", "rounds", "on"]
        .into_iter()
        .chain(OURS)
        .collect();
    let mut table = Table::new(
        "weld-reductions",
        "Figures 6.1 and 6.5: time by reduction",
        "",
        &columns,
    )
    .note("The paper prints one number of these figures: 0.6 s for the sparse grid and 15.7 s for P-Weld on Lucy at 50 % (section 6.4.1, laptop).");
    for run in runs {
        for (place, stage) in [
            ("device memory", all_stages(run)),
            ("host arrays", waited(run)),
        ] {
            let mut cells = vec![
                json!(run.parameter("mesh")),
                json!(run.count("vertices").map(|n| n as u64)),
                json!(run.parameter("removed")),
                json!(method(run)),
                json!(run.count("rounds").map(|n| n as u64)),
                json!(place),
            ];
            cells.extend(ours_only(stage.as_ref()));
            table.row(cells);
        }
    }
    table
}

/// Rows of a table of the paper: name, and milliseconds by column.
fn rows_of<'a>(table: &'a Value) -> impl Iterator<Item = (String, Vec<f64>)> + 'a {
    let rows = table["rows"].as_array().into_iter().flatten();
    rows.map(|row| {
        let seconds = floats(&row["seconds"]);
        (
            text(&row["name"]),
            seconds.iter().map(|seconds| seconds * 1e3).collect(),
        )
    })
}

/// Our reduction that is nearest to the paper's at epsilon 0.001 for a dataset (table 6.2).
fn removed_by_a_thousandth(name: &str) -> &'static str {
    match name {
        "Stanford Bunny" => "10 %",
        _ => "0.1 %",
    }
}

fn table_6_3(paper: &Value, source: &str, runs: &[&Run]) -> Table {
    let mut table = Table::new(
        "weld-6-3",
        "Table 6.3: scaling at epsilon 0.001, milliseconds",
        &format!("{source}; here {}", text(&paper["table_6_3"]["device"])),
        &[
            "dataset",
            "P-Weld",
            "GPU, on the fly",
            "GPU, sparse grid",
            "ours removes",
            "ours, host to host",
            "sparse grid / ours",
            "ours, in device memory",
            "floor",
            "ours / floor",
        ],
    )
    .note(&format!("{STAND_IN} Epsilon 0.001 removes about 10 % of Bunny and less than 0.1 % of the others (table 6.2). The paper's times are without files, with transfers."));
    for (name, times) in rows_of(&paper["table_6_3"]) {
        let removed = removed_by_a_thousandth(&name);
        let run = standing_in(paper, runs, &name, removed);
        let host = run.and_then(waited).map(|stage| stage.median);
        let device = run.and_then(all_stages);
        let floor = device.as_ref().and_then(|stage| stage.floor);
        let device = device.map(|stage| stage.median);
        let theirs = |i: usize| times.get(i).copied();
        table.row(vec![
            json!(name),
            json!(theirs(0)),
            json!(theirs(1)),
            json!(theirs(2)),
            json!(removed),
            json!(host),
            json!(ratio(theirs(2), host)),
            json!(device),
            json!(floor),
            json!(ratio(device, floor)),
        ]);
    }
    table
}

fn table_6_4(paper: &Value, source: &str, runs: &[&Run]) -> Table {
    let printed = &paper["table_6_4"];
    let mut table = Table::new(
        "weld-6-4",
        "Table 6.4: Lucy without injected transfers, milliseconds",
        &format!("{source}; here {}", text(&printed["device"])),
        &[
            "removed",
            "clustering, paper",
            "ours (decide)",
            "paper / ours",
            "total without PCIe, paper",
            "ours (all stages)",
            "paper / ours",
        ],
    )
    .note(STAND_IN);
    for row in printed["rows"].as_array().into_iter().flatten() {
        let removed = text(&row["removed"]);
        let run = standing_in(paper, runs, &text(&printed["name"]), &removed);
        let seconds = floats(&row["seconds"]);
        let theirs = |i: usize| seconds.get(i).map(|seconds| seconds * 1e3);
        let decide = run.and_then(|run| run.stage("weld", "decide"));
        let decide = decide.map(|stage| stage.median);
        let all = run.and_then(all_stages).map(|stage| stage.median);
        table.row(vec![
            json!(removed),
            json!(theirs(0)),
            json!(decide),
            json!(ratio(theirs(0), decide)),
            json!(theirs(1)),
            json!(all),
            json!(ratio(theirs(1), all)),
        ]);
    }
    table
}

fn grid(run: &Run) -> Option<Stage> {
    run.sum("weld", PHASES[0].1)
}

fn table_6_6(paper: &Value, source: &str, runs: &[&Run]) -> Table {
    let mut table = Table::new(
        "weld-6-6",
        "Table 6.6: building the spatial index, milliseconds",
        &format!("{source}; here {}", text(&paper["table_6_6"]["device"])),
        &[
            "dataset",
            "KD-tree, paper",
            "voxel grid, paper",
            "ours (choose cells, grid)",
            "voxel grid / ours",
            "floor",
            "ours / floor",
        ],
    )
    .note(&format!("{STAND_IN} At 50 %."));
    for (name, times) in rows_of(&paper["table_6_6"]) {
        let stage = standing_in(paper, runs, &name, "50 %").and_then(grid);
        let median = stage.as_ref().map(|stage| stage.median);
        let floor = stage.as_ref().and_then(|stage| stage.floor);
        table.row(vec![
            json!(name),
            json!(times.first()),
            json!(times.get(1)),
            json!(median),
            json!(ratio(times.get(1).copied(), median)),
            json!(floor),
            json!(ratio(median, floor)),
        ]);
    }
    table
}

fn table_6_8(paper: &Value, source: &str, runs: &[&Run]) -> Table {
    let printed = &paper["table_6_8"];
    let run = standing_in(paper, runs, &text(&printed["name"]), "50 %");
    let mut table = Table::new(
        "weld-6-8",
        "Table 6.8: kernels, Lucy at 50 %, milliseconds",
        &format!("{source}; here {}", text(&printed["device"])),
        &[
            "ours",
            "the paper's kernels",
            "paper",
            "ours",
            "paper / ours",
            "floor",
            "ours / floor",
        ],
    )
    .note(STAND_IN);
    for stage in ["grid", "note neighbours", "decide", "faces"] {
        let rows = printed["rows"].as_array().into_iter().flatten();
        let rows: Vec<&Value> = rows.filter(|row| row["stage"] == stage).collect();
        let names: Vec<String> = rows.iter().map(|row| text(&row["kernel"])).collect();
        let sum: f64 = rows
            .iter()
            .filter_map(|row| row["milliseconds"].as_f64())
            .sum();
        let ours = run.and_then(|run| run.stage("weld", stage));
        let median = ours.as_ref().map(|stage| stage.median);
        let floor = ours.as_ref().and_then(|stage| stage.floor);
        table.row(vec![
            json!(stage),
            json!(names.join(", ")),
            json!(sum),
            json!(median),
            json!(ratio(Some(sum), median)),
            json!(floor),
            json!(ratio(median, floor)),
        ]);
    }
    table
}

/// A column of a table of the paper by number of vertices.
fn curve(paper: &Value, table: &str, column: usize) -> Vec<(f64, f64)> {
    rows_of(&paper[table])
        .filter_map(|(name, times)| {
            let dataset = datasets(paper).find(|dataset| dataset["name"] == *name)?;
            Some((dataset["vertices"].as_f64()?, *times.get(column)?))
        })
        .collect()
}

fn scaling(paper: &Value, scans: &[&Run]) -> Plot {
    let least: Vec<&Run> = removing(scans, "0.1 %");
    let all = by_size(&least, all_stages);
    Plot::log_log(
        "weld-figure-6-3",
        "Clustering: time by size (gpu-vertex-clustering-2026, figure 6.3 and table 6.3)",
        "vertices",
        "milliseconds",
    )
    .with(Series::line(
        "paper, P-Weld, 16 threads",
        curve(paper, "table_6_3", 0),
    ))
    .with(Series::line(
        "paper, RTX 3060, on the fly",
        curve(paper, "table_6_3", 1),
    ))
    .with(Series::line(
        "paper, RTX 3060, sparse grid",
        curve(paper, "table_6_3", 2),
    ))
    .with(Series::marked(
        "ours, 0.1 %, host to host",
        by_size(&least, waited).times,
    ))
    .with(Series::marked("ours, 0.1 %, in device memory", all.times))
    .with(Series::dashed("floor of that", all.floors))
}

fn removing<'a>(runs: &[&'a Run], removed: &str) -> Vec<&'a Run> {
    let of = |run: &&&Run| run.parameter("removed") == removed;
    runs.iter().filter(of).copied().collect()
}

fn index(paper: &Value, runs: &[&Run]) -> Plot {
    let ours = by_size(&removing(runs, "50 %"), grid);
    Plot::log_log(
        "weld-figure-6-6",
        "Building the spatial index (gpu-vertex-clustering-2026, figure 6.6 and table 6.6)",
        "vertices",
        "milliseconds",
    )
    .with(Series::line(
        "paper, KD-tree, 64 cores",
        curve(paper, "table_6_6", 0),
    ))
    .with(Series::line(
        "paper, voxel grid, A100",
        curve(paper, "table_6_6", 1),
    ))
    .with(Series::marked("ours", ours.times))
    .with(Series::dashed("floor", ours.floors))
}

/// Figures 6.1 and 6.5: a curve for each mesh, over the reduction.
fn by_reduction(runs: &[&Run]) -> Option<Plot> {
    let mut plot = Plot::log_log(
        "weld-figure-6-1",
        "Clustering: time by reduction, in device memory (gpu-vertex-clustering-2026, figures 6.1 and 6.5)",
        "% of the vertices removed",
        "milliseconds",
    );
    let mut meshes: Vec<(&str, u64)> = runs
        .iter()
        .map(|run| (run.parameter("mesh"), run.n()))
        .collect();
    meshes.dedup();
    for (mesh, n) in &meshes {
        let mut points: Vec<(f64, f64)> = runs
            .iter()
            .filter(|run| run.parameter("mesh") == *mesh && run.n() == *n)
            .filter_map(|run| {
                let percent: f64 = run
                    .parameter("removed")
                    .trim_end_matches(" %")
                    .parse()
                    .ok()?;
                Some((percent, all_stages(run)?.median))
            })
            .collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let name = format!("{mesh}, {}", super::super::table::thousands(*n));
        plot = plot.with(Series::marked(&name, points));
    }
    (!meshes.is_empty()).then_some(plot)
}

/// Figures 6.2 and 6.7 to 6.11: phases at each reduction, of each mesh.
fn phases(runs: &[&Run]) -> Vec<Plot> {
    let mut meshes: Vec<(&str, u64)> = runs
        .iter()
        .map(|run| (run.parameter("mesh"), run.n()))
        .collect();
    meshes.dedup();
    let plot = |(mesh, n): (&str, u64)| {
        let of = runs
            .iter()
            .filter(|run| run.parameter("mesh") == mesh && run.n() == n);
        let bars = of.map(|run| {
            let parts = PHASES.map(|(name, stages)| {
                let time = run.sum("weld", stages).map_or(0.0, |stage| stage.median);
                (name.to_owned(), time)
            });
            Bar::new(run.parameter("removed"), parts.to_vec())
        });
        Plot::bars(
            &format!("weld-phases-{mesh}-{n}"),
            &format!(
                "Clustering, {mesh} of {} vertices: phases (gpu-vertex-clustering-2026, figures 6.2, 6.7 to 6.11)",
                super::super::table::thousands(n)
            ),
            "milliseconds",
            bars.collect(),
        )
    };
    meshes.into_iter().map(plot).collect()
}

#[cfg(test)]
mod tests;
