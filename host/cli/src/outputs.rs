//! Files that a command reads and writes: no output may be another one, or an input.

use std::path::{Path, PathBuf};

use clap::ArgMatches;
use trioxide::{Error, Result};
use trioxide_arguments::is_standard_output;

/// Inputs and outputs by their names among clap's arguments, each as an error calls it.
const INPUTS: [(&str, &str); 2] = [("input", "the input"), ("mesh", "the input")];
const OUTPUTS: [(&str, &str); 4] = [
    ("output", "the output"),
    ("named", "the output"),
    ("json", "--json"),
    ("map", "--map"),
];

/// Checks the files of a command's options before any of them is opened.
///
/// # Errors
/// [`Error::Argument`] where two of them are one file.
pub fn check(options: &ArgMatches) -> Result<()> {
    let paths = |names: &[(&str, &'static str)]| -> Vec<(&'static str, Vec<PathBuf>)> {
        let given = names.iter().filter_map(|(id, name)| {
            let path = options.try_get_one::<PathBuf>(id).ok()??;
            Some((*name, files(path)))
        });
        given.collect()
    };
    let (inputs, outputs) = (paths(&INPUTS), paths(&OUTPUTS));
    for (i, (name, files)) in outputs.iter().enumerate() {
        for (other, others) in inputs.iter().chain(&outputs[..i]) {
            if let Some(file) = files.iter().find(|file| others.contains(file)) {
                return Err(Error::Argument(format!(
                    "{name} and {other} are one file, {}: choose another name for one of them",
                    file.display()
                )));
            }
        }
    }
    Ok(())
}

/// The files that `path` stands for, each by the one name that all its names lead to. None for what is no file: a pipe or
/// `/dev/null` may be several outputs.
fn files(path: &Path) -> Vec<PathBuf> {
    if is_standard_output(path) || path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        return Vec::new();
    }
    let extension = path.extension().and_then(|extension| extension.to_str());
    let is_pair = extension.is_some_and(|extension| {
        ["node", "ele"].contains(&extension.to_ascii_lowercase().as_str())
    });
    match is_pair {
        true => ["node", "ele"]
            .map(|e| resolve(&path.with_extension(e)))
            .to_vec(),
        false => vec![resolve(path)],
    }
}

/// The path without links, as far as it exists.
fn resolve(path: &Path) -> PathBuf {
    if let Ok(path) = path.canonicalize() {
        return path;
    }
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    let folder = folder.unwrap_or(Path::new(".")).canonicalize();
    match (folder, path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    }
}
