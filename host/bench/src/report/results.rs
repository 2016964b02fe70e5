//! The result files of `cargo xtask bench`.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use xtask::Error;

use crate::tables::{FAMILIES, Family, SCHEMA};

/// The folder that `cargo xtask bench` writes to.
pub(super) const DEFAULT_FOLDER: &str = "out/bench";

/// One FAMILY.json.
#[derive(Debug)]
pub(super) struct ResultFile {
    pub(super) family: String,
    pub(super) object: Value,
}

impl ResultFile {
    fn known(&self) -> Option<&'static Family> {
        FAMILIES.iter().find(|family| family.name == self.family)
    }

    /// Heading of the family.
    pub(super) fn title(&self) -> &str {
        self.known().map_or(&self.family, |family| family.title)
    }

    /// Its title where there is little room.
    pub(super) fn short(&self) -> &str {
        self.known().map_or(&self.family, |family| family.short)
    }

    /// The runs; a file may be a single one.
    pub(super) fn runs(&self) -> &[Value] {
        if self.object["stages"].is_array() {
            std::slice::from_ref(&self.object)
        } else {
            list(&self.object, "runs")
        }
    }

    pub(super) fn tables(&self) -> &[Value] {
        list(&self.object, "tables")
    }

    pub(super) fn plots(&self) -> &[Value] {
        list(&self.object, "plots")
    }
}

/// The list under a key, empty where there is none.
pub(super) fn list<'a>(object: &'a Value, key: &str) -> &'a [Value] {
    object[key].as_array().map_or(&[], Vec::as_slice)
}

/// All results, in the order of [`FAMILIES`], then families unknown to it.
#[derive(Debug)]
pub(super) struct Results {
    pub(super) files: Vec<ResultFile>,
}

impl Results {
    /// Families without results.
    pub(super) fn missing(&self) -> impl Iterator<Item = &'static Family> {
        FAMILIES
            .iter()
            .filter(|family| self.files.iter().all(|file| file.family != family.name))
    }
}

/// The results in the `.json` files of a folder. The default folder may be missing: nothing was timed yet.
///
/// # Errors
///
/// The folder or a file cannot be read; a file is not JSON, of another schema, or of a family that another file has.
pub(super) fn read(folder: &Path) -> Result<Results, Error> {
    let mut paths: Vec<PathBuf> = match fs::read_dir(folder) {
        Ok(entries) => entries
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<Result<_, _>>()?,
        Err(_) if folder.ends_with(DEFAULT_FOLDER) => Vec::new(),
        Err(error) => {
            let remedy = "run `cargo xtask bench FAMILY --out DIR` first";
            return Err(format!("{}: {error} ({remedy})", folder.display()).into());
        }
    };
    paths.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "json")
    });
    paths.sort();
    let mut files: Vec<ResultFile> = Vec::new();
    for path in &paths {
        let file = read_file(path)?;
        if let Some(other) = files.iter().position(|other| other.family == file.family) {
            return Err(format!(
                "{}: results of {}, which {} has too: leave one, or make one with `cargo xtask bench --from`",
                path.display(),
                file.family,
                paths[other].display()
            )
            .into());
        }
        files.push(file);
    }
    let place = |file: &ResultFile| {
        let known = FAMILIES
            .iter()
            .position(|family| family.name == file.family);
        known.unwrap_or(FAMILIES.len())
    };
    files.sort_by_key(place);
    Ok(Results { files })
}

fn read_file(path: &Path) -> Result<ResultFile, Error> {
    let name = path.display();
    let text = fs::read_to_string(path).map_err(|error| format!("{name}: {error}"))?;
    let object: Value = serde_json::from_str(&text).map_err(|error| format!("{name}: {error}"))?;
    let remedy = "time it anew with `cargo xtask bench`";
    match &object["schema"] {
        Value::String(schema) if schema == SCHEMA => {}
        Value::Null => {
            return Err(format!("{name}: no schema; {SCHEMA} is needed: {remedy}").into());
        }
        other => {
            return Err(
                format!("{name}: the schema is {other}; \"{SCHEMA}\" is needed: {remedy}").into(),
            );
        }
    }
    let Some(family) = object["family"].as_str().map(str::to_owned) else {
        return Err(format!("{name}: no family: {remedy}").into());
    };
    for key in ["runs", "tables", "plots"] {
        if !object[key].is_null() && !object[key].is_array() {
            return Err(format!("{name}: `{key}` is not a list: {remedy}").into());
        }
    }
    Ok(ResultFile { family, object })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The results in a folder with these files, or the message.
    fn read_files(files: &[(&str, &str)]) -> Result<Results, String> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        read(folder.path()).map_err(|error| error.to_string())
    }

    #[test]
    fn families_come_in_the_order_of_the_page_and_may_be_missing() {
        let results = read_files(&[
            (
                "a.json",
                r#"{"schema": "trioxide-bench/1", "family": "own"}"#,
            ),
            (
                "weld.json",
                r#"{"schema": "trioxide-bench/1", "family": "weld"}"#,
            ),
            (
                "polylla.json",
                r#"{"schema": "trioxide-bench/1", "family": "polylla", "runs": []}"#,
            ),
            ("notes.md", "no results"),
        ])
        .unwrap();
        let names: Vec<&str> = results.files.iter().map(|file| &*file.family).collect();
        assert_eq!(names, ["polylla", "weld", "own"]);
        let missing: Vec<&str> = results.missing().map(|family| family.name).collect();
        assert_eq!(
            missing,
            [
                "indexed",
                "polyhedra",
                "refine",
                "refine-tets",
                "smooth",
                "kernels"
            ]
        );
    }

    #[test]
    fn other_schemas_are_errors() {
        for (text, said) in [
            ("{", "EOF"),
            (
                r#"{"family": "weld"}"#,
                "no schema; trioxide-bench/1 is needed",
            ),
            (r#"{"schema": 1, "family": "weld"}"#, "the schema is 1;"),
            (
                r#"{"schema": "trioxide-bench/2", "family": "weld"}"#,
                r#"the schema is "trioxide-bench/2"; "trioxide-bench/1" is needed"#,
            ),
            (r#"{"schema": "trioxide-bench/1"}"#, "no family"),
            (
                r#"{"schema": "trioxide-bench/1", "family": "weld", "tables": 3}"#,
                "`tables` is not a list",
            ),
        ] {
            let error = read_files(&[("weld.json", text)]).unwrap_err();
            assert!(
                error.contains(said) && error.contains("weld.json"),
                "{error}"
            );
        }
        let weld = r#"{"schema": "trioxide-bench/1", "family": "weld"}"#;
        let error = read_files(&[("a.json", weld), ("b.json", weld)]).unwrap_err();
        assert!(error.contains("b.json: results of weld, which"), "{error}");
        assert!(read(Path::new("/nonexistent")).is_err());
    }
}
