//! gpu-laplacian-smoothing-2019: tables 2 to 7, figures 6 to 11.

use serde_json::{Value, json};

use super::super::papers::{self, floats, text};
use super::super::plot::{Bar, Plot, Series, by_size};
use super::super::results::{Run, Stage};
use super::super::table::{Table, ratio, thousands};
use super::{Made, is_same_size};

/// The paper's forms, by many blocks and by one, as our rows call them.
const FORMS: [(&str, &str, &str); 2] =
    [("a", "form a", "a, 1 block"), ("b", "form b", "b, 1 block")];
const LAYOUTS: [&str; 3] = ["aos", "aligned", "soa"];

pub(super) fn made_of(runs: &[Run]) -> Made {
    let paper = papers::smooth();
    let papers_tables: Vec<&Value> = paper["tables"].as_array().into_iter().flatten().collect();
    let mut source = text(&paper["source"]);
    // Notes on oddities of the printed numbers.
    for note in paper["notes"].as_array().into_iter().flatten() {
        source += &format!("; {}", text(note));
    }
    let runs: Vec<&Run> = runs.iter().collect();
    let mut tables: Vec<Table> = papers_tables
        .iter()
        .map(|table| beside_paper(table, &source, &runs))
        .collect();
    tables.push(all_forms(&runs));
    let mut plots = vec![time(&papers_tables, &runs), neighbours(&runs)];
    plots.extend(speed_ups(&papers_tables, &runs));
    plots.push(b_over_a(&papers_tables, &runs));
    plots.push(sweeps_of_forms(&runs));
    plots.push(sweeps_of_blocks(&runs));
    plots.push(blocks(&papers_tables, &runs));
    plots.extend(stages(&runs));
    Made { tables, plots }
}

/// Names of a form's rows in our results: many blocks, one block.
fn rows_of(form: &str) -> (&'static str, &'static str) {
    let found = FORMS.iter().find(|(name, _, _)| *name == form);
    found.map_or(("form a", "a, 1 block"), |&(_, many, one)| (many, one))
}

fn whole(run: &Run, pipeline: &str, layout: &str) -> Option<Stage> {
    run.stage(pipeline, &format!("mesh to converged, {layout}"))
}

fn converged(run: &Run, pipeline: &str, layout: &str) -> Option<Stage> {
    run.stage(pipeline, &format!("to convergence, {layout}"))
}

fn sweeps(run: &Run, pipeline: &str, layout: &str) -> Option<f64> {
    run.count(&format!("sweeps, {pipeline}, {layout}"))
}

fn beside_paper(table: &Value, source: &str, runs: &[&Run]) -> Table {
    let (form, layout) = (text(&table["form"]), text(&table["layout"]));
    let name = text(&table["table"]);
    let mut made = Table::new(
        &format!("smooth-{name}"),
        &format!("Table {name}: form {}, {layout}", form.to_uppercase()),
        &format!("{source}; {}", text(&table["device"])),
        &[
            "nodes",
            "tetrahedra, paper",
            "tetrahedra, ours",
            "CPU, paper",
            "one block, paper",
            "one block, ours",
            "paper / ours",
            "many blocks, paper",
            "many blocks, ours",
            "paper / ours",
            "sweeps of that",
            "number of sweeps",
            "floor of sweeps",
            "sweeps / floor",
        ],
    )
    .note("Ours, from a mesh that is on the device to one that is smooth there: relations, boundary, order and sweeps. Random nodes in a cube as in the paper; its 77k nodes are a model of a slope that is not available, and ours are random too.");
    let (many, one) = rows_of(&form);
    for row in table["rows"].as_array().into_iter().flatten() {
        let nodes = row["nodes"].as_u64().unwrap_or(0);
        let times = floats(&row["milliseconds"]);
        let theirs = |i: usize| times.get(i).copied();
        let run = of_size(runs, nodes);
        let median = |pipeline: &str| {
            run.and_then(|run| whole(run, pipeline, &layout))
                .map(|stage| stage.median)
        };
        let sweep = run.and_then(|run| converged(run, many, &layout));
        let floor = sweep.as_ref().and_then(|stage| stage.floor);
        let sweep = sweep.map(|stage| stage.median);
        made.row(vec![
            json!(nodes),
            row["tetrahedra"].clone(),
            json!(run.and_then(|run| run.count("cells")).map(|n| n as u64)),
            json!(theirs(0)),
            json!(theirs(1)),
            json!(median(one)),
            json!(ratio(theirs(1), median(one))),
            json!(theirs(2)),
            json!(median(many)),
            json!(ratio(theirs(2), median(many))),
            json!(sweep),
            json!(
                run.and_then(|run| sweeps(run, many, &layout))
                    .map(|n| n as u64)
            ),
            json!(floor),
            json!(ratio(sweep, floor)),
        ]);
    }
    made
}

fn of_size<'a>(runs: &[&'a Run], nodes: u64) -> Option<&'a Run> {
    let found = runs.iter().find(|run| is_same_size(run.n(), nodes));
    found.copied()
}

/// Our deterministic forms beside the paper's two.
fn all_forms(runs: &[&Run]) -> Table {
    let mut table = Table::new(
        "smooth-forms",
        "All forms over many blocks, aligned layout",
        "",
        &[
            "nodes",
            "form",
            "mesh to converged",
            "sweeps of that",
            "number of sweeps",
            "floor of sweeps",
            "16 sweeps",
            "floor",
            "16 sweeps / floor",
        ],
    );
    for run in runs {
        for form in ["form a", "form b", "b-coloured", "b-exact"] {
            let layout = "aligned";
            let fixed = run.stage(form, &format!("16 sweeps, {layout}"));
            let sweep = converged(run, form, layout);
            let time = |stage: &Option<Stage>| stage.as_ref().map(|stage| stage.median);
            let floor = |stage: &Option<Stage>| stage.as_ref().and_then(|stage| stage.floor);
            table.row(vec![
                json!(run.n()),
                json!(form),
                json!(time(&whole(run, form, layout))),
                json!(time(&sweep)),
                json!(sweeps(run, form, layout).map(|n| n as u64)),
                json!(floor(&sweep)),
                json!(time(&fixed)),
                json!(floor(&fixed)),
                json!(ratio(time(&fixed), floor(&fixed))),
            ]);
        }
    }
    table
}

/// A column of the paper's table of a form and a layout, by nodes.
fn curve(tables: &[&Value], form: &str, layout: &str, column: usize) -> Vec<(f64, f64)> {
    let table = tables
        .iter()
        .find(|table| table["form"] == form && table["layout"] == layout);
    let rows = table.and_then(|table| table["rows"].as_array());
    let mut points: Vec<(f64, f64)> = rows
        .into_iter()
        .flatten()
        .filter_map(|row| {
            let times = floats(&row["milliseconds"]);
            Some((row["nodes"].as_f64()?, *times.get(column)?))
        })
        .collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}

/// Quotients of two curves where both have a point of a size.
fn quotient(a: &[(f64, f64)], b: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let pair = |&(n, x): &(f64, f64)| {
        let (_, y) = b
            .iter()
            .find(|(size, _)| is_same_size(n as u64, *size as u64))?;
        (*y > 0.0).then(|| (n, x / y))
    };
    a.iter().filter_map(pair).collect()
}

fn ours(runs: &[&Run], pipeline: &str, layout: &str) -> Vec<(f64, f64)> {
    by_size(runs, |run| whole(run, pipeline, layout)).times
}

fn time(tables: &[&Value], runs: &[&Run]) -> Plot {
    let sweep = by_size(runs, |run| converged(run, "form b", "aligned"));
    Plot::log_log(
        "smooth-time",
        "Smoothing to convergence (gpu-laplacian-smoothing-2019, tables 3 and 6)",
        "nodes",
        "milliseconds",
    )
    .with(Series::line("paper, CPU", curve(tables, "a", "aligned", 0)))
    .with(Series::line(
        "paper, form A",
        curve(tables, "a", "aligned", 2),
    ))
    .with(Series::line(
        "paper, form B",
        curve(tables, "b", "aligned", 2),
    ))
    .with(Series::marked(
        "ours, form A",
        ours(runs, "form a", "aligned"),
    ))
    .with(Series::marked(
        "ours, form B",
        ours(runs, "form b", "aligned"),
    ))
    .with(Series::dashed(
        "floor of the sweeps of form B",
        sweep.floors,
    ))
}

fn neighbours(runs: &[&Run]) -> Plot {
    let found = by_size(runs, |run| {
        run.sum("prepare", &["cells of nodes", "neighbours"])
    });
    Plot::log_log(
        "smooth-figure-6",
        "Finding neighbours (gpu-laplacian-smoothing-2019, figure 6; it prints no numbers)",
        "nodes",
        "milliseconds",
    )
    .with(Series::marked("ours", found.times))
    .with(Series::dashed("floor", found.floors))
}

/// Figure 7: over the paper's CPU, by layouts, a plot for each form.
fn speed_ups(tables: &[&Value], runs: &[&Run]) -> Vec<Plot> {
    let plot = |(form, many, _): (&str, &str, &str)| {
        let mut plot = Plot::log_log(
            &format!("smooth-figure-7-{form}"),
            &format!(
                "Form {}: times faster than the paper's CPU, by layout (gpu-laplacian-smoothing-2019, figure 7)",
                form.to_uppercase()
            ),
            "nodes",
            "times faster",
        );
        for layout in LAYOUTS {
            let cpu = curve(tables, form, layout, 0);
            plot = plot
                .with(Series::line(
                    &format!("paper, {layout}"),
                    quotient(&cpu, &curve(tables, form, layout, 2)),
                ))
                .with(Series::marked(
                    &format!("ours, {layout}"),
                    quotient(&cpu, &ours(runs, many, layout)),
                ));
        }
        plot
    };
    FORMS.map(plot).to_vec()
}

fn b_over_a(tables: &[&Value], runs: &[&Run]) -> Plot {
    let mut plot = Plot::log_linear(
        "smooth-figure-8",
        "Form B over form A, by layout (gpu-laplacian-smoothing-2019, figure 8)",
        "nodes",
        "times faster",
    );
    for layout in LAYOUTS {
        plot = plot
            .with(Series::line(
                &format!("paper, {layout}"),
                quotient(
                    &curve(tables, "a", layout, 2),
                    &curve(tables, "b", layout, 2),
                ),
            ))
            .with(Series::marked(
                &format!("ours, {layout}"),
                quotient(&ours(runs, "form a", layout), &ours(runs, "form b", layout)),
            ));
    }
    plot
}

fn sweeps_of(runs: &[&Run], pipeline: &str) -> Vec<(f64, f64)> {
    let point = |run: &&Run| Some((run.n() as f64, sweeps(run, pipeline, "aligned")?));
    runs.iter().filter_map(point).collect()
}

fn sweeps_of_forms(runs: &[&Run]) -> Plot {
    Plot::log_linear(
        "smooth-figure-9",
        "Sweeps to convergence of both forms (gpu-laplacian-smoothing-2019, figure 9; it prints no numbers)",
        "nodes",
        "sweeps",
    )
    .with(Series::marked("ours, form A", sweeps_of(runs, "form a")))
    .with(Series::marked("ours, form B", sweeps_of(runs, "form b")))
}

fn sweeps_of_blocks(runs: &[&Run]) -> Plot {
    Plot::log_linear(
        "smooth-figure-10",
        "Sweeps to convergence by one block and by many (gpu-laplacian-smoothing-2019, figure 10; it prints no numbers)",
        "nodes",
        "sweeps",
    )
    .with(Series::marked("ours, B, one block", sweeps_of(runs, "b, 1 block")))
    .with(Series::marked("ours, B, many blocks", sweeps_of(runs, "form b")))
    .with(Series::marked("ours, A, one block", sweeps_of(runs, "a, 1 block")))
    .with(Series::marked("ours, A, many blocks", sweeps_of(runs, "form a")))
}

fn blocks(tables: &[&Value], runs: &[&Run]) -> Plot {
    let mut plot = Plot::log_log(
        "smooth-figure-11",
        "Many blocks over one, form B, by layout (gpu-laplacian-smoothing-2019, figure 11)",
        "nodes",
        "times faster",
    );
    for layout in LAYOUTS {
        plot = plot
            .with(Series::line(
                &format!("paper, {layout}"),
                quotient(
                    &curve(tables, "b", layout, 1),
                    &curve(tables, "b", layout, 2),
                ),
            ))
            .with(Series::marked(
                &format!("ours, {layout}"),
                quotient(
                    &ours(runs, "b, 1 block", layout),
                    &ours(runs, "form b", layout),
                ),
            ));
    }
    plot
}

/// Stages of our largest mesh.
fn stages(runs: &[&Run]) -> Option<Plot> {
    let run = runs.iter().max_by_key(|run| run.n())?;
    let prepare: Vec<(String, f64)> = run
        .stages()
        .into_iter()
        .filter(|stage| stage.pipeline == "prepare" && stage.name != "all stages")
        .map(|stage| (stage.name, stage.median))
        .collect();
    let bars = [("form A", "form a"), ("form B", "form b")].map(|(name, pipeline)| {
        let mut parts = prepare.clone();
        let sweep = converged(run, pipeline, "aligned");
        parts.push(("sweeps".to_owned(), sweep.map_or(0.0, |stage| stage.median)));
        Bar::new(name, parts)
    });
    Some(Plot::bars(
        "smooth-stages",
        &format!(
            "Smoothing to convergence, {} nodes: stages",
            thousands(run.n())
        ),
        "milliseconds",
        bars.to_vec(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_stands_beside_tables_2_to_7() {
        let run = Run(
            json!({"parameters": {"n": 100_000}, "counts": {"cells": 634_000, "sweeps, form b, aligned": 29},
            "machine": {"copy_bandwidth_gb_s": 1000.0},
            "stages": [
                {"pipeline": "form b", "name": "mesh to converged, aligned", "median": 5.0, "minimum": 5.0, "maximum": 5.0, "runs": 9, "bytes": null},
                {"pipeline": "form b", "name": "to convergence, aligned", "median": 1.0, "minimum": 1.0, "maximum": 1.0, "runs": 9, "bytes": 500_000_000},
            ]}),
        );
        let made = made_of(&[run]);
        assert_eq!(made.tables.len(), 7);
        let text = made.tables[4].to_markdown();
        assert!(text.starts_with("### Table 6: form B, aligned"), "{text}");
        assert!(
            text.contains("| 100,000 | 727,000 | 634,000 | 22,365 | 1632 | - | - | 485 | 5.00 | 96.9 | 1.00 | 29 | 0.500 | 2.00 |"),
            "{text}"
        );
    }
}
