//! The files of `trioxide bench --json`, read again.

use std::fs;
use std::path::Path;

use serde_json::Value;

use xtask::Error;

/// Version of the objects, as in host/measure/src/record.rs.
pub(crate) const SCHEMA: &str = "trioxide-bench/1";

/// One case.
#[derive(Clone, Debug)]
pub(crate) struct Run(pub(crate) Value);

/// A stage's times, in milliseconds, and its floor.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Stage {
    pub(crate) pipeline: String,
    pub(crate) name: String,
    pub(crate) median: f64,
    pub(crate) minimum: f64,
    pub(crate) maximum: f64,
    pub(crate) runs: u64,
    /// Time of the bytes that must move, at the copy bandwidth of the device.
    pub(crate) floor: Option<f64>,
    /// Bytes that must move, and the arrays that they belong to.
    pub(crate) bytes: Option<u64>,
    pub(crate) moves: String,
}

impl Run {
    /// The family of tables that it belongs to: Polylla's two methods have two.
    pub(crate) fn family(&self) -> String {
        match (self.0["family"].as_str(), self.parameter("method")) {
            (Some("polylla"), "indexed") => "indexed".to_owned(),
            // Its name in older results.
            (Some("polylla3"), _) => "polyhedra".to_owned(),
            (family, _) => family.unwrap_or("-").to_owned(),
        }
    }

    pub(crate) fn case(&self) -> &str {
        self.0["case"].as_str().unwrap_or("-")
    }

    pub(crate) fn device(&self) -> &str {
        self.0["machine"]["device"].as_str().unwrap_or("-")
    }

    /// A parameter that is a text; empty where there is none.
    pub(crate) fn parameter(&self, name: &str) -> &str {
        self.0["parameters"][name].as_str().unwrap_or("")
    }

    /// The number of vertices that was asked for.
    pub(crate) fn n(&self) -> u64 {
        self.0["parameters"]["n"].as_u64().unwrap_or(0)
    }

    pub(crate) fn count(&self, name: &str) -> Option<f64> {
        self.0["counts"][name].as_f64()
    }

    /// Bytes read plus written in a millisecond by a copy on the device.
    fn bandwidth(&self) -> Option<f64> {
        let gigabytes = self.0["machine"]["copy_bandwidth_gb_s"].as_f64()?;
        (gigabytes > 0.0).then_some(gigabytes * 1e6)
    }

    pub(crate) fn stages(&self) -> Vec<Stage> {
        let bandwidth = self.bandwidth();
        let rows = self.0["stages"].as_array().into_iter().flatten();
        let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        let number = |value: &Value| value.as_f64().unwrap_or(0.0);
        rows.map(|row| Stage {
            pipeline: text(&row["pipeline"]),
            name: text(&row["name"]),
            median: number(&row["median"]),
            minimum: number(&row["minimum"]),
            maximum: number(&row["maximum"]),
            runs: row["runs"].as_u64().unwrap_or(0),
            floor: row["bytes"]
                .as_f64()
                .and_then(|bytes| Some(bytes / bandwidth?)),
            bytes: row["bytes"].as_u64(),
            moves: row["moves"].as_str().unwrap_or("").to_owned(),
        })
        .collect()
    }

    pub(crate) fn stage(&self, pipeline: &str, name: &str) -> Option<Stage> {
        let mut stages = self.stages().into_iter();
        stages.find(|stage| stage.pipeline == pipeline && stage.name == name)
    }

    /// Several stages of a pipeline as one: sums of medians, minima, maxima and floors. `None` where the run has none
    /// of them.
    pub(crate) fn sum(&self, pipeline: &str, names: &[&str]) -> Option<Stage> {
        let found = names.iter().filter_map(|name| self.stage(pipeline, name));
        found.reduce(|sum, stage| Stage {
            median: sum.median + stage.median,
            minimum: sum.minimum + stage.minimum,
            maximum: sum.maximum + stage.maximum,
            runs: sum.runs.min(stage.runs),
            floor: match (sum.floor, stage.floor) {
                (None, None) => None,
                (a, b) => Some(a.unwrap_or(0.0) + b.unwrap_or(0.0)),
            },
            ..sum
        })
    }

    /// The key that distinguishes it from all other cases: family, case and parameters.
    pub(crate) fn key(&self) -> String {
        format!("{} {}", self.0["family"], self.0["parameters"])
    }
}

/// The runs in the `.json` files of a folder: runs, lists of runs and whole results. Other JSON with another schema, or
/// none, is left out with a note.
pub(crate) fn read_folder(folder: &Path) -> Result<Vec<Run>, Error> {
    let error = |error| format!("{}: {error}", folder.display());
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(error)? {
        let path = entry?.path();
        if path.extension().is_some_and(|name| name == "json") {
            paths.push(path);
        }
    }
    paths.sort();
    let mut runs: Vec<Run> = Vec::new();
    for path in paths {
        let value = read_json(&path)?;
        if value["schema"].is_null() {
            eprintln!(
                "{}: is left out: it has no schema, so is no result of trioxide bench",
                path.display()
            );
            continue;
        }
        for run in runs_of(value).map_err(|error| format!("{}: {error}", path.display()))? {
            // A folder may hold single runs and the result made of them.
            if !runs.iter().any(|known| known.0 == run.0) {
                runs.push(run);
            }
        }
    }
    if runs.is_empty() {
        return Err(format!(
            "{}: has no results of `trioxide bench --json`: is it the folder results of run.sh?",
            folder.display()
        )
        .into());
    }
    Ok(runs)
}

/// The runs in a file.
pub(crate) fn read_file(path: &Path) -> Result<Vec<Run>, Error> {
    let value = read_json(path)?;
    Ok(runs_of(value).map_err(|error| format!("{}: {error}", path.display()))?)
}

fn read_json(path: &Path) -> Result<Value, Error> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?)
}

/// The runs of an object: itself, or the ones in its list.
pub(crate) fn runs_of(value: Value) -> Result<Vec<Run>, String> {
    if value["schema"] != SCHEMA {
        return Err(format!(
            "its schema is {}, but this reads {SCHEMA}: use the commit of that time",
            value["schema"]
        ));
    }
    match value["runs"].as_array() {
        None => Ok(vec![Run(value)]),
        Some(list) => {
            let runs = list.iter().cloned().map(runs_of);
            Ok(runs.collect::<Result<Vec<_>, _>>()?.concat())
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_run_is_read_alone_and_in_lists() {
        let run = json!({"schema": SCHEMA, "family": "weld", "parameters": {"n": 7}});
        let list = json!({"schema": SCHEMA, "family": "weld", "runs": [run, run]});
        assert_eq!(runs_of(run).unwrap()[0].n(), 7);
        assert_eq!(runs_of(list).unwrap().len(), 2);
        let old = runs_of(json!({"schema": "trioxide-bench/0"})).unwrap_err();
        assert!(old.contains("trioxide-bench/0"), "{old}");
    }

    #[test]
    fn floors_are_bytes_by_bandwidth() {
        let run = Run(json!({
            "machine": {"copy_bandwidth_gb_s": 2.0},
            "stages": [
                {"pipeline": "p", "name": "a", "median": 3.0, "minimum": 2.0, "maximum": 5.0, "runs": 9, "bytes": 4_000_000},
                {"pipeline": "p", "name": "b", "median": 1.0, "minimum": 1.0, "maximum": 1.0, "runs": 8, "bytes": null},
            ],
        }));
        assert_eq!(run.stage("p", "a").unwrap().floor, Some(2.0));
        let sum = run.sum("p", &["a", "b", "c"]).unwrap();
        assert_eq!((sum.median, sum.runs, sum.floor), (4.0, 8, Some(2.0)));
        assert_eq!(run.sum("q", &["a"]), None);
    }
}
