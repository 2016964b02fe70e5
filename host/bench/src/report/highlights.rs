//! The figures at the top of the page: speed-ups, and shares of the copy bandwidth.

use serde_json::Value;

use super::html::{number, percent};
use super::results::{ResultFile, Results, list};

/// One figure.
pub(super) struct Highlight {
    pub(super) figure: String,
    pub(super) title: String,
    pub(super) detail: String,
}

/// Speed-ups over the papers, family by family.
pub(super) fn speed_ups(results: &Results) -> Vec<Highlight> {
    results.files.iter().filter_map(speed_up).collect()
}

/// Shares of the copy bandwidth, family by family.
pub(super) fn shares(results: &Results) -> Vec<Highlight> {
    let share = |file: &ResultFile| match &*file.family {
        "kernels" => kernels(file),
        _ => bandwidth(file),
    };
    results.files.iter().filter_map(share).collect()
}

/// Whether a column holds our speed-up.
fn is_speed_up(column: &str) -> bool {
    let column = column.to_lowercase();
    column == "ratio"
        || ["speed-up", "speedup", "times faster", "/ ours"]
            .iter()
            .any(|part| column.contains(part))
}

/// The speed-up in the family's first table with such a column: in the last row, the largest mesh, of the rows about
/// all stages, or of all rows where there are none; and the range over rows of the same kind.
fn speed_up(file: &ResultFile) -> Option<Highlight> {
    file.tables().iter().find_map(|table| {
        let columns = list(table, "columns");
        let column = columns
            .iter()
            .position(|column| column.as_str().is_some_and(is_speed_up))?;
        // The subject of the row, by its texts after the first column, and its number.
        let rows: Vec<(&Value, String, f64)> = list(table, "rows")
            .iter()
            .filter_map(|row| {
                let cells = row.as_array()?;
                let texts = cells[1..].iter().filter_map(Value::as_str);
                let kind = texts.collect::<Vec<_>>().join(", ");
                Some((&cells[0], kind, cells.get(column)?.as_f64()?))
            })
            .collect();
        let last = rows.iter().rfind(|row| row.1.starts_with("all "));
        let (first, kind, figure) = last.or(rows.last())?;
        let same = || rows.iter().filter(|row| row.1 == *kind).map(|row| row.2);
        let least = same().fold(f64::INFINITY, f64::min);
        let most = same().fold(0.0, f64::max);
        let mut detail = match first {
            Value::String(text) => text.clone(),
            other => {
                let unit = columns[0].as_str().unwrap_or_default();
                format!("{} {unit}", number(other.as_f64()?))
            }
        };
        if !kind.is_empty() {
            detail += &format!(", {kind}");
        }
        if same().count() > 1 {
            detail += &format!("; {} to {}× over all sizes", number(least), number(most));
        }
        let title = table["title"].as_str().unwrap_or_default();
        Some(Highlight {
            figure: format!("{}×", number(*figure)),
            title: file.title().to_owned(),
            detail: format!("{detail}. {title}"),
        })
    })
}

/// A stage's share of the copy bandwidth: its floor over its median.
pub(super) fn share(stage: &Value, run: &Value) -> Option<f64> {
    let bandwidth = run["machine"]["copy_bandwidth_gb_s"].as_f64()?;
    let (bytes, median) = (stage["bytes"].as_f64()?, stage["median"].as_f64()?);
    (median > 0.0 && bandwidth > 0.0).then(|| bytes / median / 1e6 / bandwidth)
}

/// The stage that moves most, of the run that moves most: a sum of stages of the largest mesh.
fn bandwidth(file: &ResultFile) -> Option<Highlight> {
    let stages = file
        .runs()
        .iter()
        .flat_map(|run| list(run, "stages").iter().map(move |stage| (run, stage)));
    let (run, stage) = stages
        .filter(|(run, stage)| share(stage, run).is_some())
        .max_by_key(|(_, stage)| stage["bytes"].as_u64())?;
    Some(Highlight {
        figure: percent(share(stage, run)?),
        title: file.title().to_owned(),
        detail: format!(
            "{}, {}: {} ms where bytes that must move take {} ms",
            run["case"].as_str().unwrap_or_default(),
            stage["name"].as_str().unwrap_or_default(),
            number(stage["median"].as_f64()?),
            number(share(stage, run)? * stage["median"].as_f64()?),
        ),
    })
}

/// A kernel as it was timed.
pub(super) struct Kernel<'a> {
    pub(super) name: &'a str,
    pub(super) bytes: Option<f64>,
    pub(super) milliseconds: Option<f64>,
    pub(super) gb_s: Option<f64>,
    /// Share of the copy bandwidth.
    pub(super) share: Option<f64>,
}

/// The kernels of kernels.json: under `kernels` or `rows`, of the file or of each of its runs; else the stages of its
/// runs.
pub(super) fn kernel_rows(file: &ResultFile) -> Vec<Kernel<'_>> {
    let objects = || std::iter::once(&file.object).chain(file.runs());
    let rows = objects().flat_map(|object| {
        let lists = ["kernels", "rows"].map(|key| list(object, key));
        lists.into_iter().flatten().map(|row| Kernel {
            name: row["name"].as_str().unwrap_or_default(),
            bytes: row["bytes"].as_f64(),
            milliseconds: row["milliseconds"].as_f64().or(row["median"].as_f64()),
            gb_s: row["gb_s"].as_f64(),
            share: row["share"].as_f64(),
        })
    });
    let rows: Vec<Kernel> = rows.collect();
    if !rows.is_empty() || file.family != "kernels" {
        return rows;
    }
    let stages = file
        .runs()
        .iter()
        .flat_map(|run| list(run, "stages").iter().map(move |stage| (run, stage)));
    stages
        .map(|(run, stage)| {
            let (bytes, milliseconds) = (stage["bytes"].as_f64(), stage["median"].as_f64());
            Kernel {
                name: stage["name"].as_str().unwrap_or_default(),
                bytes,
                milliseconds,
                gb_s: bytes
                    .zip(milliseconds)
                    .map(|(bytes, time)| bytes / time / 1e6),
                share: share(stage, run),
            }
        })
        .collect()
}

fn kernels(file: &ResultFile) -> Option<Highlight> {
    let mut shares: Vec<(f64, &str)> = kernel_rows(file)
        .iter()
        .filter_map(|kernel| Some((kernel.share?, kernel.name)))
        .collect();
    shares.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (least, most) = (shares.first()?, shares.last()?);
    Some(Highlight {
        figure: percent(shares[shares.len() / 2].0),
        title: "Kernels, the median one".to_owned(),
        detail: format!(
            "{} kernels, from {} ({}) to {} ({})",
            shares.len(),
            percent(least.0),
            least.1,
            percent(most.0),
            most.1
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn results(family: &str, object: Value) -> Results {
        let family = family.to_owned();
        Results {
            files: vec![ResultFile { family, object }],
        }
    }

    #[test]
    fn speed_up_is_that_of_the_largest_mesh() {
        let table = json!({"title": "Table 5.2", "columns": ["triangles", "ours", "paper / ours"],
            "rows": [[1000, 2.0, 4.0], [2000, 3.0, 9.5], [3000, 4.0, 6.25], [4000, null, null]]});
        let found = speed_ups(&results(
            "refine",
            json!({"tables": [{"columns": ["a"]}, table]}),
        ));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].figure, "6.25×");
        assert_eq!(
            found[0].detail,
            "3,000 triangles; 4 to 9.50× over all sizes. Table 5.2"
        );
        let table = json!({"title": "Table 1", "columns": ["vertices", "stage", "paper / ours"], "rows": [
            [100, "label", 90.0], [100, "all kernels", 3.0], [200, "label", 80.0], [200, "all kernels", 5.0], [200, "copies", 7.0]]});
        let found = speed_ups(&results("polylla", json!({"tables": [table]})));
        assert_eq!(found[0].figure, "5×");
        assert_eq!(
            found[0].detail,
            "200 vertices, all kernels; 3 to 5× over all sizes. Table 1"
        );
    }

    #[test]
    fn share_is_floor_over_time_of_what_moves_most() {
        let runs = json!([{"case": "grid", "machine": {"copy_bandwidth_gb_s": 100.0}, "stages": [
            {"name": "one", "median": 1.0, "bytes": 80_000_000},
            {"name": "all", "median": 4.0, "bytes": 100_000_000},
            {"name": "other", "median": 1.0, "bytes": null},
        ]}]);
        let found = shares(&results("polylla", json!({"runs": runs})));
        assert_eq!(found[0].figure, "25 %");
        assert_eq!(
            found[0].detail,
            "grid, all: 4 ms where bytes that must move take 1 ms"
        );
    }

    #[test]
    fn kernels_are_summed_up() {
        let rows = json!([{"name": "a", "share": 0.5}, {"name": "b", "share": 0.9}, {"name": "c", "share": null},
            {"name": "d", "share": 0.7}]);
        let found = shares(&results("kernels", json!({"rows": rows})));
        assert_eq!(found[0].figure, "70 %");
        assert_eq!(found[0].detail, "3 kernels, from 50 % (a) to 90 % (b)");
    }

    #[test]
    fn kernels_may_come_as_stages() {
        let run = json!({"machine": {"copy_bandwidth_gb_s": 100.0},
            "stages": [{"name": "a", "median": 2.0, "bytes": 100_000_000}]});
        let family = "kernels".to_owned();
        let object = json!({"runs": [run]});
        let file = ResultFile { family, object };
        let kernels = kernel_rows(&file);
        assert_eq!((kernels[0].gb_s, kernels[0].share), (Some(50.0), Some(0.5)));
    }
}
