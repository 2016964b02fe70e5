//! Names of outputs in which a word in braces stands for the number of each of several meshes.

use std::path::{Path, PathBuf};

use clap::ArgMatches;
use trioxide::{Error, Result};

/// The place of a level's number.
pub const LEVEL: &str = "{level}";
/// The place of a fraction.
pub const KEEP: &str = "{keep}";

/// A place, the outputs that may have it, and the options whose numbers go there.
type Filled = (
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);

const FILLED: [Filled; 2] = [
    (LEVEL, &["output"], &["levels", "until"]),
    (KEEP, &["output", "map"], &["keep"]),
];

/// Whether the name of a file has a place.
pub fn has_place(path: &Path, place: &str) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.contains(place))
}

/// The file with a number in that place.
pub fn with_number(path: &Path, place: &str, number: impl ToString) -> PathBuf {
    let name = path.file_name().and_then(|name| name.to_str());
    path.with_file_name(name.unwrap_or_default().replace(place, &number.to_string()))
}

/// Refuses a word in braces in the name of an output, an error's `name` and the `id` of an option, unless the command's
/// options give the numbers that go there.
///
/// # Errors
/// [`Error::Argument`].
pub fn check(options: &ArgMatches, id: &str, name: &str, path: &Path) -> Result<()> {
    let file = path.file_name().and_then(|name| name.to_str());
    let is_given = |option: &&str| matches!(options.try_get_raw(option), Ok(Some(_)));
    let is_filled = |(place, outputs, by): &Filled, word: &str| {
        *place == word && outputs.contains(&id) && by.iter().any(is_given)
    };
    let mut words = places(file.unwrap_or_default());
    match words.find(|word| !FILLED.iter().any(|filled| is_filled(filled, word))) {
        None => Ok(()),
        Some(word) => Err(Error::Argument(format!(
            "{name}, {}, has {word}, for which this command has no number: {LEVEL} stands for each level in -o of polylla with \
             --levels or --until, {KEEP} for each fraction in -o and --map of decimate with --keep; else choose a name without \
             braces",
            path.display()
        ))),
    }
}

/// The words in braces of a name, with the braces.
fn places(name: &str) -> impl Iterator<Item = &str> {
    let ends = name.match_indices('}').map(|(end, _)| &name[..=end]);
    let words = ends.filter_map(|part| part.rfind('{').map(|start| &part[start..]));
    words.filter(|word| {
        let letters = &word[1..word.len() - 1];
        !letters.is_empty() && letters.chars().all(|c| c.is_ascii_alphabetic() || c == '_')
    })
}
