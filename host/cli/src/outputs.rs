//! Files that a command reads and writes: no output may be another one, or an input.

use std::path::{Path, PathBuf};

use clap::ArgMatches;
use trioxide::formats::atomic_file::AtomicFile;
use trioxide::{Error, Result};
use trioxide_arguments::auto::{TEXT, is_text};
use trioxide_arguments::{is_standard_output, note};

use crate::commands::is_generated;

/// Inputs and outputs by their names among clap's arguments, each as an error calls it.
const INPUTS: [(&str, &str); 2] = [("input", "the input"), ("mesh", "the input")];
const OUTPUTS: [(&str, &str); 5] = [
    ("output", "the output"),
    ("named", "the output"),
    ("json", "--json"),
    ("map", "--map"),
    ("removed", "--removed"),
];

/// Checks the files of a command's options before any of them is opened.
///
/// # Errors
/// [`Error::File`] for an input that is not there; [`Error::Argument`] where two of them are one file, or the folder of an output is
/// not there.
pub fn check(options: &ArgMatches) -> Result<()> {
    for (id, _) in INPUTS {
        if let Ok(Some(path)) = options.try_get_one::<PathBuf>(id) {
            check_there(path)?;
        }
    }
    check_all(&[options], None)
}

/// As [`check`], for the options of several commands that run one after the other, and the file of a `--json` of them all.
///
/// # Errors
/// As [`check`].
pub fn check_all(commands: &[&ArgMatches], json: Option<&Path>) -> Result<()> {
    let paths = |names: &[(&str, &'static str)]| -> Vec<(&'static str, Vec<PathBuf>)> {
        let of_command = |options: &ArgMatches| {
            let given = names.iter().filter_map(|(id, name)| {
                let path = options.try_get_one::<PathBuf>(id).ok()??;
                Some((*name, files(path)))
            });
            given.collect::<Vec<_>>()
        };
        commands
            .iter()
            .flat_map(|options| of_command(options))
            .collect()
    };
    for options in commands {
        for (id, name) in OUTPUTS {
            if let Ok(Some(path)) = options.try_get_one::<PathBuf>(id) {
                check_folder(name, path)?;
            }
        }
    }
    for options in commands {
        if let Ok(Some(path)) = options.try_get_one::<PathBuf>("maps")
            && path.exists()
            && !path.is_dir()
        {
            return Err(Error::Argument(format!(
                "--maps, {}, is a file, but a folder is needed: choose another name",
                path.display()
            )));
        }
    }
    let (inputs, mut outputs) = (paths(&INPUTS), paths(&OUTPUTS));
    outputs.extend(json.map(|path| ("--json", files(path))));
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

/// Commands with an output about as large as their input, and how many times: where it lies in memory its pages are set aside meanwhile.
/// Rather too few: those that are not needed are given back, which takes time too.
const SIZES: [(&str, f64); 5] = [
    ("convert", 1.0),
    ("polylla", 0.7),
    ("refine", 1.0),
    ("smooth", 1.0),
    ("weld", 0.5),
];
/// The same for `refine` where all triangles are marked.
const SIZE_OF_ALL: f64 = 2.0;

/// Begins the output of a command whose input is a file.
pub fn begin(command: &str, options: &ArgMatches) {
    let path = |id| options.try_get_one::<PathBuf>(id).ok().flatten();
    let Some(&(_, times)) = SIZES.iter().find(|(name, _)| *name == command) else {
        return;
    };
    let output = path("output").or_else(|| path("named"));
    let (Some(input), Some(output)) = (path("input"), output) else {
        return;
    };
    let Ok(metadata) = input.metadata() else {
        return;
    };
    // The list of pieces that ranks write.
    if output
        .extension()
        .is_some_and(|extension| extension == "pvtu")
    {
        return;
    }
    let marks = options.try_get_raw("mark").ok().flatten();
    let is_all = marks.is_none_or(|mut marks| marks.all(|mark| mark == "all"));
    let times = match command == "refine" && is_all {
        true => SIZE_OF_ALL,
        false => times,
    };
    let density = |path: &Path| if is_text(path) { TEXT } else { 1.0 };
    let bytes = metadata.len() as f64 * times * density(output) / density(input);
    AtomicFile::begin(output, bytes as u64);
}

/// Refuses an input that is not there. Which options go with an input depends on what it holds, and no option is refused for a
/// file that nobody has seen.
fn check_there(path: &Path) -> Result<()> {
    let mut stem = path.as_os_str().to_owned();
    stem.push(".node");
    match path.metadata() {
        Err(error) if !is_generated(path) && !Path::new(&stem).exists() => {
            Err(Error::file(path, error))
        }
        _ => Ok(()),
    }
}

/// Refuses an output in a folder that is not there, before the work that it would take to find that out.
fn check_folder(name: &str, path: &Path) -> Result<()> {
    if path.is_dir() {
        return Err(Error::Argument(format!(
            "{name}, {}, is a folder: name a file in it, or choose another name",
            path.display()
        )));
    }
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => return Ok(()),
    };
    if is_standard_output(path) || folder.is_dir() {
        return Ok(());
    }
    Err(Error::Argument(format!(
        "{name}, {}, cannot be written: there is no folder {}: make it, or choose another",
        path.display(),
        folder.display()
    )))
}

/// Commands that compute a mesh, or a solution on one, and write it only if they are asked to.
const COMPUTING: [(&str, &str); 5] = [
    ("polylla", "polygons"),
    ("refine", "refined mesh"),
    ("smooth", "smoothed mesh"),
    ("weld", "welded mesh"),
    ("vem", "solution"),
];

/// Says on standard error that a command computes and writes nothing.
pub fn note_nothing_written(command: &str, options: &ArgMatches) {
    let Some((_, result)) = COMPUTING.iter().find(|(name, _)| *name == command) else {
        return;
    };
    let is_given = |id| matches!(options.try_get_one::<PathBuf>(id), Ok(Some(_)));
    let mut outputs = OUTPUTS.iter().map(|(id, _)| *id).chain(["maps"]);
    if !outputs.any(is_given) {
        let quiet = options.try_get_one::<bool>("quiet");
        note(
            matches!(quiet, Ok(Some(true))),
            format_args!("nothing is written: -o FILE writes the {result}"),
        );
    }
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
