//! The tables of docs/BENCHMARKS.md, from docs/results/benchmarks.json: rows that name a record of `trioxide bench`, or
//! a time that the notebook gives.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::command_of;
use super::results::{Run, read_file};
use super::table::thousands;
use xtask::{Error, workspace};

const PAGE: &str = "docs/BENCHMARKS.md";
const RESULTS: &str = "docs/results";
const ROWS: &str = "benchmarks.json";
/// The line before a table, up to the table's name.
const MADE: &str = "<!-- Made by `cargo xtask bench --page`: ";
const HEADING: &str = "\
| case | trioxide, ms | peer, ms | ratio | machine, source | command |
| --- | --- | --- | --- | --- | --- |
";

/// Writes the tables of the page.
pub(super) fn write() -> Result<(), Error> {
    let page = workspace().join(PAGE);
    let text = fs::read_to_string(&page).map_err(|error| format!("{PAGE}: {error}"))?;
    fs::write(&page, filled(&text)?).map_err(|error| format!("{PAGE}: {error}"))?;
    println!("{PAGE}");
    Ok(())
}

/// The page with its tables made again.
fn filled(page: &str) -> Result<String, Error> {
    let results = workspace().join(RESULTS);
    let rows =
        fs::read_to_string(results.join(ROWS)).map_err(|error| format!("{ROWS}: {error}"))?;
    let rows: Value = serde_json::from_str(&rows).map_err(|error| format!("{ROWS}: {error}"))?;
    let tables = rows.as_object().ok_or("benchmarks.json is no object")?;
    let mut text = String::new();
    let mut made = 0;
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        text += line;
        text += "\n";
        let Some(name) = line.strip_prefix(MADE) else {
            continue;
        };
        let name = name.trim_end_matches(" -->");
        let rows = tables.get(name).and_then(Value::as_array);
        let rows = rows.ok_or_else(|| format!("{ROWS} has no table {name}"))?;
        text += HEADING;
        for row in rows {
            text += &row_of(row, &results)?;
        }
        made += 1;
        // The table before ends at an empty line.
        if lines.find(|line| line.is_empty()).is_some() {
            text += "\n";
        }
    }
    match made == tables.len() {
        true => Ok(text),
        false => Err(format!("{PAGE} has {made} of the {} tables of {ROWS}", tables.len()).into()),
    }
}

fn row_of(row: &Value, results: &Path) -> Result<String, Error> {
    let text = |key: &str| {
        let value = row[key].as_str();
        value.ok_or_else(|| format!("{ROWS}: a row has no {key}: {row}"))
    };
    let (time, source, command) = match row["record"].as_str() {
        Some(record) => {
            let run = run_of(&results.join(record), text("case")?)?;
            let stage = run.stage(text("pipeline")?, text("stage")?);
            let stage = stage.ok_or_else(|| format!("{record} has no such stage: {row}"))?;
            let (folder, _) = record.split_once('/').ok_or("a record has no folder")?;
            let commit = run.0["commit"].as_str().unwrap_or("-");
            let commit = &commit[..commit.len().min(12)];
            let machine = match folder {
                "cpu2" => folder.to_owned(),
                gpu => gpu.to_uppercase(),
            };
            let source = format!("{machine}, [record](results/{record}) of {commit}");
            ([stage.median; 2], source, command_of(&run))
        }
        None => {
            let page = text("page")?;
            let source = format!("{}, [notebook](notebook/{page})", text("machine")?);
            (range(&row["ms"])?, source, text("command")?.to_owned())
        }
    };
    let (peer, ratio) = match row["peer"].as_str() {
        None => (String::new(), String::new()),
        Some(peer) => {
            let theirs = range(&row["peer_ms"])?;
            // The least that holds for both ranges.
            let ratio = ratio(theirs[0] / time[1]);
            (format!("{peer}: {}", shown(theirs)), ratio)
        }
    };
    let (case, time) = (text("what")?, shown(time));
    Ok(format!(
        "| {case} | {time} | {peer} | {ratio} | {source} | `{command}` |\n"
    ))
}

fn run_of(path: &Path, case: &str) -> Result<Run, Error> {
    let mut runs = read_file(path)?.into_iter();
    let found = runs.find(|run| run.case() == case);
    found.ok_or_else(|| format!("{} has no case {case}", path.display()).into())
}

/// A time, or the least and the most of several.
fn range(value: &Value) -> Result<[f64; 2], Error> {
    let ends = match value.as_f64() {
        Some(time) => Some([time; 2]),
        None => value[0]
            .as_f64()
            .zip(value[1].as_f64())
            .map(<[f64; 2]>::from),
    };
    Ok(ends.ok_or_else(|| format!("{ROWS}: {value} is no time, nor two"))?)
}

fn shown([least, most]: [f64; 2]) -> String {
    match least == most {
        true => number(least),
        false => format!("{} to {}", number(least), number(most)),
    }
}

/// Three digits, or all before the point, without zeros at the end.
fn number(number: f64) -> String {
    let decimals = match number {
        _ if number >= 99.95 => 0,
        _ if number >= 9.995 => 1,
        _ => 2,
    };
    let text = format!("{number:.decimals$}");
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let rest = rest.trim_end_matches('0').trim_end_matches('.');
    let whole = thousands(whole.parse().unwrap_or_default());
    format!("{whole}{rest}")
}

/// Two digits.
fn ratio(ratio: f64) -> String {
    let step = 10f64.powf(ratio.log10().floor() - 1.0);
    number((ratio / step).round() * step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_the_tables_of_the_results() {
        let page = fs::read_to_string(workspace().join(PAGE)).unwrap();
        assert!(
            page == filled(&page).unwrap(),
            "{PAGE} differs from docs/results: run `cargo xtask bench --page`"
        );
    }

    #[test]
    fn numbers_have_three_digits() {
        let numbers = [0.222, 4.677, 17.1, 2.0, 198.4, 1_241_200.0].map(number);
        assert_eq!(numbers, ["0.22", "4.68", "17.1", "2", "198", "1,241,200"]);
        assert_eq!(shown([95.0, 125.0]), "95 to 125");
        assert_eq!(
            [0.52, 3.364, 42.5, 14661.9].map(ratio),
            ["0.52", "3.4", "43", "15,000"]
        );
    }

    #[test]
    fn a_row_without_a_time_is_refused() {
        let row = serde_json::json!({"what": "w", "machine": "m", "page": "p.md", "command": "c", "ms": "1"});
        let error = row_of(&row, Path::new("")).unwrap_err().to_string();
        assert!(error.contains("is no time"), "{error}");
    }
}
