//! Files that a command reads and writes: no output may be another one, or an input.

use std::path::{Path, PathBuf};

use clap::ArgMatches;
use trioxide::formats::atomic_file::AtomicFile;
use trioxide::formats::{ancestry, files_of, level_maps, order_maps, run_files};
use trioxide::mesh::Simplices;
use trioxide::{Error, Result};
use trioxide_arguments::auto::{TEXT, is_text};
use trioxide_arguments::{is_standard_output, note};

use crate::commands::generate::Dataset;
use crate::commands::is_generated;
use crate::commands::merging::Lock;
use crate::commands::placeholder::{self, KEEP, LEVEL, has_place};
use crate::commands::polylla;
use crate::commands::refine::MarkOption;

/// Inputs and outputs by their names among clap's arguments, each as an error calls it.
const INPUTS: [(&str, &str); 4] = [
    ("input", "the input"),
    ("other", "the second input"),
    ("mesh", "the input"),
    ("meshes", "the input"),
];
const OUTPUTS: [(&str, &str); 7] = [
    ("output", "the output"),
    ("named", "the output"),
    ("json", "--json"),
    ("map", "--map"),
    ("removed", "--removed"),
    ("bad", "--bad"),
    ("account", "--account"),
];

/// Checks the files of a command's options before any of them is opened. Files that inputs name are compared with the
/// outputs when they are opened.
///
/// # Errors
/// [`Error::File`] for an input that is not there; [`Error::Argument`] where two of them are one file, or the folder of
/// an output is not there.
pub fn check(options: &ArgMatches) -> Result<()> {
    // Its steps have the files: they are checked together.
    match options.try_contains_id("steps") {
        Ok(true) => Ok(()),
        _ => check_all(&[options], None),
    }
}

/// As [`check`], for the options of several commands that run one after the other, and the file of a `--json` of them
/// all.
///
/// # Errors
/// As [`check`].
pub fn check_all(commands: &[&ArgMatches], json: Option<&Path>) -> Result<()> {
    let mut outputs = Vec::new();
    for options in commands {
        for (id, name) in OUTPUTS {
            if let Some(path) = path(options, id) {
                placeholder::check(options, id, name, path)?;
                check_folder(name, path)?;
                outputs.extend(files_of(path).into_iter().map(|file| (name, file)));
            }
        }
        if let Some(folder) = path(options, "maps") {
            placeholder::check(options, "maps", "--maps", folder)?;
            check_is_folder(folder)?;
            outputs.extend(
                maps(options, folder)
                    .into_iter()
                    .map(|file| ("--maps", file)),
            );
        }
    }
    outputs.extend(json.map(|path| ("--json", path.to_owned())));
    let first = commands.first().copied();
    first.map_or(Ok(()), |options| {
        named_inputs(options).try_for_each(|(_, path)| check_there(path))
    })?;
    for (name, file) in inputs(commands) {
        run_files::will_read(name, &file)?;
    }
    // Standard output is left out: it may be a pipe, or a log that another option names.
    outputs.retain(|(_, path)| !is_standard_output(path));
    for (name, file) in outputs {
        run_files::will_write(name, &file)?;
    }
    Ok(())
}

/// Notes that several ranks write these pieces beside the output.
///
/// # Errors
/// As [`check`].
#[cfg(feature = "mpi")]
pub fn check_pieces(mut pieces: impl Iterator<Item = PathBuf>) -> Result<()> {
    let name = "a piece of the output";
    pieces.try_for_each(|piece| run_files::will_write(name, &piece))
}

fn path<'a>(options: &'a ArgMatches, id: &str) -> Option<&'a PathBuf> {
    options.try_get_one::<PathBuf>(id).ok().flatten()
}

/// The meshes that the options name to be read, each as an error calls it.
fn named_inputs(options: &ArgMatches) -> impl Iterator<Item = (&'static str, &PathBuf)> {
    INPUTS.into_iter().flat_map(|(id, name)| {
        let paths = options.try_get_many::<PathBuf>(id).ok().flatten();
        paths.into_iter().flatten().map(move |path| (name, path))
    })
}

/// The files that the options name to be read. The input of a command that follows another one is no file.
fn inputs(commands: &[&ArgMatches]) -> Vec<(&'static str, PathBuf)> {
    let mut inputs = Vec::new();
    let named = commands
        .first()
        .into_iter()
        .flat_map(|options| named_inputs(options));
    for (name, path) in named.filter(|(_, path)| !is_generated(path)) {
        inputs.extend(files_of(path).into_iter().map(|file| (name, file)));
    }
    for options in commands {
        inputs.extend(path(options, "fixed").map(|path| ("--fixed", path.clone())));
        let mark = options.try_get_one::<MarkOption>("mark");
        if let Ok(Some(MarkOption::File(path) | MarkOption::Values(path))) = mark {
            inputs.push(("--mark", path.clone()));
        }
        let locks = options.try_get_many::<Lock>("lock").ok().flatten();
        inputs.extend(locks.into_iter().flatten().filter_map(|lock| match lock {
            Lock::Boundary => None,
            Lock::File(path) => Some(("--lock", path.clone())),
        }));
    }
    inputs
}

/// The files that a command's `--maps` writes to its folder.
fn maps(options: &ArgMatches, folder: &Path) -> Vec<PathBuf> {
    let is_of = |id| options.try_contains_id(id).is_ok();
    match is_of("mark") {
        _ if is_of("levels") => {
            let levels = options.try_get_one::<usize>("levels").ok().flatten();
            let levels = 1..=polylla::levels_named(levels.copied());
            levels
                .flat_map(|level| level_maps::files(folder, level))
                .collect()
        }
        true => {
            // The kind of the cells is known when the mesh is.
            let [parents, ..] = ancestry::files(folder, Simplices::Triangles);
            let of_tetrahedra = ancestry::files(folder, Simplices::Tetrahedra);
            [&[parents][..], &of_tetrahedra].concat()
        }
        false => order_maps::files(folder).into(),
    }
}

fn check_is_folder(path: &Path) -> Result<()> {
    match path.exists() && !path.is_dir() {
        false => Ok(()),
        true => Err(Error::Argument(format!(
            "--maps, {}, is a file, but a folder is needed: choose another name",
            path.display()
        ))),
    }
}

/// Commands whose output is about this many times as large as their input. Pages of an output in memory are
/// preallocated during the work. The factors are rather too small: pages that are not needed are released, which takes
/// time too.
const SIZES: [(&str, f64); 8] = [
    ("convert", 1.0),
    ("polylla", 0.7),
    ("refine", 1.0),
    ("reorder", 1.0),
    ("repair", 1.0),
    ("smooth", 1.0),
    ("triangulate", 2.0),
    ("weld", 0.5),
];
/// The same for `refine` where all triangles are marked.
const SIZE_OF_ALL: f64 = 2.0;
/// Bytes of a vertex with its two triangles in a binary file.
const VERTEX: f64 = 50.0;

/// Begins the output of a command whose input is a file, or of one that generates a mesh.
pub fn begin(command: &str, options: &ArgMatches) {
    let output = path(options, "output").or_else(|| path(options, "named"));
    let Some(output) = output else {
        return;
    };
    // The list of pieces that ranks write; the name of a file for each level.
    let is_list = output
        .extension()
        .is_some_and(|extension| extension == "pvtu");
    let is_for_several = command == "polylla" && has_place(output, LEVEL)
        || command == "decimate" && has_place(output, KEEP);
    if is_list || is_for_several {
        return;
    }
    let binary = match command {
        "generate" => generated(options),
        _ => of_input(command, options),
    };
    let density = if is_text(output) { TEXT } else { 1.0 };
    if let Some(bytes) = binary {
        AtomicFile::begin(output, (bytes * density) as u64);
    }
}

/// About the bytes of the generated mesh in a binary file. `None` for clouds and tetrahedra, which have no two
/// triangles a vertex.
fn generated(options: &ArgMatches) -> Option<f64> {
    let kind = options.try_get_one::<Dataset>("dataset").ok().flatten()?;
    let n = options.try_get_one::<usize>("n").ok().flatten()?;
    let is_mesh = !matches!(kind, Dataset::Cloud | Dataset::Tets);
    is_mesh.then_some(*n as f64 * VERTEX)
}

/// About the bytes of the output in a binary file, by the size of the input.
fn of_input(command: &str, options: &ArgMatches) -> Option<f64> {
    let (_, times) = SIZES.iter().find(|(name, _)| *name == command)?;
    let input = path(options, "input")?;
    let bytes = input.metadata().ok()?.len() as f64;
    let marks = options.try_get_raw("mark").ok().flatten();
    let is_all = marks.is_none_or(|mut marks| marks.all(|mark| mark == "all"));
    let times = match command == "refine" && is_all {
        true => SIZE_OF_ALL,
        false => *times,
    };
    let density = if is_text(input) { TEXT } else { 1.0 };
    Some(bytes * times / density)
}

/// Refuses an input file that does not exist. It comes before the checks of options that depend on the content of the
/// input. A name without an extension is left to the reader, which reports its error.
fn check_there(path: &Path) -> Result<()> {
    let mut stem = path.as_os_str().to_owned();
    stem.push(".node");
    match path.metadata() {
        Err(error)
            if path.extension().is_some() && !is_generated(path) && !Path::new(&stem).exists() =>
        {
            Err(Error::file(path, error))
        }
        _ => Ok(()),
    }
}

/// Refuses an output that is a folder, or whose folder does not exist, before the work rather than after it.
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
const COMPUTING: [(&str, &str); 8] = [
    ("decimate", "decimated mesh"),
    ("polylla", "polygons"),
    ("refine", "refined mesh"),
    ("reorder", "reordered mesh"),
    ("repair", "repaired mesh"),
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
