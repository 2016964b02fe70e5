//! gpu-longest-edge-bisection-2011, section 5.2: tables 5.2 to 5.6, figures 5.1 and 5.2.

use serde_json::{Value, json};

use super::super::papers::{self, floats, text};
use super::super::plot::{Bar, Plot, Series, by};
use super::super::results::{Run, Stage};
use super::super::table::{Table, ratio, thousands};
use super::{Made, is_same_size};

/// Our stages, with their names in older results, and the columns of the paper that they cover.
const STEPS: [(&str, &[&str], &[usize]); 5] = [
    (
        "1, 2 longest edges",
        &["find longest edges", "label longest edges"],
        &[0, 1],
    ),
    (
        "2, 3, 4 marks, propagation",
        &[
            "mark divided edges",
            "propagate divisions",
            "link sides",
            "link edges",
        ],
        &[2, 3],
    ),
    (
        "5 counts",
        &["flag divided sides", "count divided sides"],
        &[4],
    ),
    ("6 prefix sums", &["prefix sums"], &[5]),
    (
        "7 refinement",
        &["make room", "divide edges and triangles"],
        &[6],
    ),
];
const REFINEMENT: &[&str] = &["make room", "divide edges and triangles"];

pub(super) fn made_of(runs: &[Run]) -> Made {
    let paper = papers::refine();
    let papers_tables: Vec<&Value> = paper["tables"].as_array().into_iter().flatten().collect();
    let source = text(&paper["source"]);
    let runs: Vec<&Run> = runs.iter().collect();
    let mut tables = vec![steps(&runs)];
    tables.extend(
        papers_tables
            .iter()
            .map(|table| beside_paper(table, &source, &runs)),
    );
    let mut plots = vec![
        times(&papers_tables, &runs),
        speed_ups(&papers_tables, &runs),
    ];
    plots.extend(bars(&papers_tables, &runs));
    Made { tables, plots }
}

fn triangles(run: &Run) -> f64 {
    run.count("triangles").unwrap_or(0.0)
}

fn steps(runs: &[&Run]) -> Table {
    let mut columns = vec!["triangles", "marked"];
    columns.extend(STEPS.map(|(name, _, _)| name));
    columns.extend([
        "all steps",
        "min",
        "max",
        "longest edges known",
        "edges from triangles",
        "host arrays to host arrays",
    ]);
    let mut table = Table::new("refine-steps", "Ours, by step, milliseconds", "", &columns);
    for run in runs {
        let median = |stage: Option<Stage>| json!(stage.map(|stage| stage.median));
        let mut cells = vec![json!(triangles(run) as u64), json!(run.parameter("mark"))];
        for (_, names, _) in STEPS {
            cells.push(median(run.sum("refine", names)));
        }
        let all = run.stage("refine", "steps 1 to 7");
        cells.push(json!(all.as_ref().map(|stage| stage.median)));
        cells.push(json!(all.as_ref().map(|stage| stage.minimum)));
        cells.push(json!(all.as_ref().map(|stage| stage.maximum)));
        cells.push(median(run.stage("labelled", "steps 1 to 7")));
        cells.push(median(run.stage("edges", "all stages")));
        cells.push(median(run.stage("as waited", "host arrays to host arrays")));
        table.row(cells);
    }
    table
}

/// The run of a mesh of as many triangles.
fn of_size<'a>(runs: &[&'a Run], size: u64) -> Option<&'a Run> {
    let found = runs
        .iter()
        .find(|run| is_same_size(triangles(run) as u64, size));
    found.copied()
}

/// A table of the paper: its columns, and ours.
fn beside_paper(table: &Value, source: &str, runs: &[&Run]) -> Table {
    let name = text(&table["table"]);
    let is_transfer = name == "5.6";
    let theirs = table["columns"].as_array().into_iter().flatten().map(text);
    let mut columns = vec!["triangles".to_owned()];
    columns.extend(theirs);
    let ours = if is_transfer {
        ["ours", "paper / ours", "floor", "ours / floor"]
    } else {
        [
            "ours, steps 1 to 7",
            "paper's sum / ours",
            "floor",
            "ours / floor",
        ]
    };
    columns.extend(ours.map(str::to_owned));
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let title = format!("Table {name}: {}", text(&table["device"]));
    let note = if is_transfer {
        "Ours is the whole way: copies both ways, checks, edges and the round; the paper's is the copy to the device alone."
    } else {
        "The paper's speed-ups are of its refinement step alone (step 7 here); the ratio here is of all steps. The floor is mostly that of the longest edges: what few marked triangles cost beyond it depends on where they are."
    };
    let mut made = Table::new(
        &format!("refine-{}", name.replace('.', "-")),
        &title,
        source,
        &columns,
    )
    .note(note);
    for row in table["rows"].as_array().into_iter().flatten() {
        let size = row["triangles"].as_u64().unwrap_or(0);
        let values = match is_transfer {
            true => floats(&row["values"]),
            false => floats(&row["milliseconds"]),
        };
        let (theirs, ours) = match is_transfer {
            true => (
                values.get(1).copied(),
                of_size(runs, size)
                    .and_then(|run| run.stage("as waited", "host arrays to host arrays")),
            ),
            false => (
                Some(values.iter().sum()),
                of_size(runs, size).and_then(|run| run.stage("refine", "steps 1 to 7")),
            ),
        };
        let median = ours.as_ref().map(|stage| stage.median);
        let floor = ours.as_ref().and_then(|stage| stage.floor);
        let mut cells = vec![json!(size)];
        cells.extend(values.iter().map(|value| json!(value)));
        cells.extend([
            json!(median),
            json!(ratio(theirs, median)),
            json!(floor),
            json!(ratio(median, floor)),
        ]);
        made.row(cells);
    }
    made
}

/// Number of triangles and time of the refinement step, from a table of the paper.
fn refinement_of(tables: &[&Value], name: &str) -> Vec<(f64, f64)> {
    let table = tables.iter().find(|table| table["table"] == name);
    let rows = table.and_then(|table| table["rows"].as_array());
    rows.into_iter()
        .flatten()
        .filter_map(|row| {
            Some((
                row["triangles"].as_f64()?,
                *floats(&row["milliseconds"]).get(6)?,
            ))
        })
        .collect()
}

fn times(tables: &[&Value], runs: &[&Run]) -> Plot {
    let refinement = by(runs, triangles, |run| run.sum("refine", REFINEMENT));
    let all = by(runs, triangles, |run| run.stage("refine", "steps 1 to 7"));
    Plot::log_log(
        "refine-time",
        "Refinement step, 0.1 % marked (gpu-longest-edge-bisection-2011, figure 5.1)",
        "triangles",
        "milliseconds",
    )
    .with(Series::line(
        "paper, Tesla M2050",
        refinement_of(tables, "5.2"),
    ))
    .with(Series::line(
        "paper, Intel X5550",
        refinement_of(tables, "5.5"),
    ))
    .with(Series::line(
        "paper, Intel X5570",
        refinement_of(tables, "5.4"),
    ))
    .with(Series::marked("ours, refinement step", refinement.times))
    .with(Series::marked("ours, steps 1 to 7", all.times))
    .with(Series::dashed("floor of steps 1 to 7", all.floors))
}

fn speed_ups(tables: &[&Value], runs: &[&Run]) -> Plot {
    let cpu = refinement_of(tables, "5.4");
    let over = |times: &[(f64, f64)]| -> Vec<(f64, f64)> {
        let quotient = |&(n, time): &(f64, f64)| {
            let (_, cpu) = cpu
                .iter()
                .find(|(size, _)| is_same_size(n as u64, *size as u64))?;
            (time > 0.0).then(|| (n, cpu / time))
        };
        times.iter().filter_map(quotient).collect()
    };
    let ours = by(runs, triangles, |run| run.sum("refine", REFINEMENT));
    Plot::log_log(
        "refine-speed-up",
        "Refinement step: times faster than the Intel X5570 (gpu-longest-edge-bisection-2011, figure 5.2)",
        "triangles",
        "times faster",
    )
    .with(Series::line(
        "paper, Tesla M2050",
        over(&refinement_of(tables, "5.2")),
    ))
    .with(Series::marked("ours", over(&ours.times)))
}

/// Steps of the largest mesh that the paper's newest GPU has too, or of our largest.
fn bars(tables: &[&Value], runs: &[&Run]) -> Option<Plot> {
    let table = tables.iter().find(|table| table["table"] == "5.2")?;
    let rows = table["rows"].as_array()?;
    let common = rows
        .iter()
        .rev()
        .find_map(|row| Some((row, of_size(runs, row["triangles"].as_u64()?)?)));
    let run = common.map(|(_, run)| run).or(runs.last().copied())?;
    let ours = STEPS.map(|(name, stages, _)| {
        let time = run.sum("refine", stages).map_or(0.0, |stage| stage.median);
        (name.to_owned(), time)
    });
    let mut bars = vec![Bar::new("ours", ours.to_vec())];
    if let Some((row, _)) = common {
        let values = floats(&row["milliseconds"]);
        let parts = STEPS.map(|(name, _, columns)| {
            let time = columns
                .iter()
                .filter_map(|&column| values.get(column))
                .sum();
            (name.to_owned(), time)
        });
        bars.push(Bar::new("paper, M2050", parts.to_vec()));
    }
    Some(Plot::bars(
        "refine-stages",
        &format!(
            "A round, {} triangles: steps (gpu-longest-edge-bisection-2011, table 5.2)",
            thousands(triangles(run) as u64)
        ),
        "milliseconds",
        bars,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_our_columns() {
        let run = Run(
            json!({"machine": {"device": "CPU", "copy_bandwidth_gb_s": 10.0},
                "counts": {"triangles": 99_800}, "parameters": {"mark": "fraction:0.001"},
                "stages": [
                    {"pipeline": "refine", "name": "steps 1 to 7", "median": 0.5, "minimum": 0.4, "maximum": 0.7, "runs": 20, "bytes": 1_000_000},
                    {"pipeline": "refine", "name": "make room", "median": 0.25, "minimum": 0.2, "maximum": 0.3, "runs": 20, "bytes": null},
            ]}),
        );
        let made = made_of(&[run]);
        assert_eq!(made.tables.len(), 6);
        let text = made.tables[0].to_markdown();
        assert!(
            text.contains("| 99,800 | fraction:0.001 | - | - | - | - | 0.250 | 0.500 | 0.400 | 0.700 | - | - | - |"),
            "{text}"
        );
        let text = made.tables[1].to_markdown();
        assert!(
            text.contains("| 100,000 | 0.400 | 0.300 | 0.300 | 0.500 | 0.300 | 1.00 | 0.900 | 0.500 | 7.40 | 0.100 | 5.00 |"),
            "{text}"
        );
        assert!(
            text.contains(
                "| 200,000 | 0.500 | 0.300 | 0.300 | 0.500 | 0.300 | 1.10 | 1.10 | - | - | - | - |"
            ),
            "{text}"
        );
    }
}
