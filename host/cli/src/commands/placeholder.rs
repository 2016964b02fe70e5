//! Names of outputs in which a word in braces stands for the number of each of several meshes.

use std::path::{Path, PathBuf};

/// The place of a level's number.
pub const LEVEL: &str = "{level}";
/// The place of a fraction.
pub const KEEP: &str = "{keep}";

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
