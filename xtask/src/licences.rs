//! The licences of the crates that are linked into a program: their names, and the texts that their packages hold.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::Error;
use crate::process::{self, cargo, output_of};

/// Licences that ask for no more than their text and the names of the authors. Where a crate offers one of several, one
/// of these is enough.
const ALLOWED: [&str; 10] = [
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Zlib",
];

/// A crate of the registry.
struct Package {
    /// As `clap 4.6.7`.
    name: String,
    licence: String,
    authors: String,
    folder: PathBuf,
}

/// The licences of the registry's crates in the program or library of a package of the workspace, built for this
/// system: each text once, below the crates that hold it.
///
/// # Errors
/// A crate has a licence that is not known to allow this; cargo fails; a file cannot be read.
pub(crate) fn of_crates_in(package: &str) -> Result<String, Error> {
    let mut tree = cargo(&[
        "tree",
        "--package",
        package,
        "--edges",
        "normal,no-proc-macro",
        "--prefix",
        "none",
        "--format",
        "{p}",
    ]);
    let linked = output_of(&mut tree).ok_or("cargo tree failed")?;
    let linked: BTreeSet<&str> = linked.lines().filter_map(name_and_version).collect();
    let packages = process::packages(&[])?;
    let mut found = Vec::new();
    for package in packages.iter().filter_map(registered) {
        if linked.contains(package.name.as_str()) {
            if !is_allowed(&package.licence) {
                let Package { name, licence, .. } = package;
                return Err(format!("{name} has the licence {licence:?}: add it to ALLOWED if it permits redistribution").into());
            }
            found.push(package);
        }
    }
    if found.is_empty() {
        return Err(format!("cargo names no crates of the registry in {package}").into());
    }
    in_words(&found)
}

/// `clap 4.6.7` of a line `clap v4.6.7 (…)`.
fn name_and_version(line: &str) -> Option<&str> {
    // Crates of the workspace are followed by their folder, and repeated ones by a mark.
    let line = line.trim_end_matches(" (*)");
    (!line.is_empty() && !line.contains(" (")).then_some(line)
}

/// A package of cargo's metadata, named as cargo's tree does, unless it is of the workspace.
fn registered(package: &Value) -> Option<Package> {
    package["source"].as_str()?;
    let text = |key: &str| package[key].as_str().unwrap_or_default().to_owned();
    let authors = package["authors"].as_array()?.iter();
    let authors: Vec<&str> = authors.filter_map(Value::as_str).collect();
    Some(Package {
        name: format!("{} v{}", text("name"), text("version")),
        licence: text("license"),
        authors: authors.join(", "),
        folder: Path::new(package["manifest_path"].as_str()?)
            .parent()?
            .to_owned(),
    })
}

/// Whether each part that the licence asks for is allowed, or offers one that is: `(MIT OR Apache-2.0) AND
/// Unicode-3.0`.
fn is_allowed(licence: &str) -> bool {
    let is_one = |name: &str| {
        let name = name.trim_matches(['(', ')', ' ']);
        let name = name.split(" WITH ").next().unwrap_or_default();
        ALLOWED.contains(&name)
    };
    let offers = |part: &str| {
        part.split(" OR ")
            .flat_map(|part| part.split('/'))
            .any(is_one)
    };
    licence.split(" AND ").all(offers)
}

/// Names of files with words of a licence or of its authors begin so.
const FILES: [&str; 6] = [
    "LICENSE",
    "LICENCE",
    "COPYING",
    "COPYRIGHT",
    "NOTICE",
    "UNLICENSE",
];

/// Files of a package with words of a licence or of its authors; a font inside may have its own, in its folder.
fn texts(folder: &Path) -> Result<Vec<String>, Error> {
    let mut paths = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default();
            let name = name.to_string_lossy().to_uppercase();
            if path.is_dir() {
                folders.push(path);
            } else if FILES.iter().any(|start| name.starts_with(start)) {
                paths.push(path);
            }
        }
    }
    paths.sort();
    let read = |path: &PathBuf| {
        let text = fs::read_to_string(path);
        text.map(|text| text.replace('\r', "").trim().to_owned())
    };
    Ok(paths.iter().map(read).collect::<Result<_, _>>()?)
}

fn in_words(packages: &[Package]) -> Result<String, Error> {
    let mut crates_of: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let mut list = String::new();
    for package in packages {
        let Package {
            name,
            licence,
            authors,
            folder,
        } = package;
        let by = if authors.is_empty() {
            String::new()
        } else {
            format!(", by {authors}")
        };
        let texts = texts(folder)?;
        let without = if texts.is_empty() {
            "; its package holds no text"
        } else {
            ""
        };
        list += &format!("{name}: {licence}{by}{without}\n");
        for text in texts {
            crates_of.entry(text).or_default().push(name);
        }
    }
    let mut words = format!(
        "Crates in this program, each with its licence. Rust's standard library is in it too: MIT OR Apache-2.0, by the\n\
         Rust project. The texts follow; those of MIT and Apache-2.0 are in LICENSE-MIT and LICENSE-APACHE too.\n\n{list}"
    );
    for (text, crates) in crates_of {
        let line = "=".repeat(80);
        words += &format!("\n{line}\n{}\n{line}\n\n{text}\n", crates.join(", "));
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_several_licences_is_enough_and_all_parts_are_asked_for() {
        assert!(is_allowed("MIT") && is_allowed("MIT OR GPL-3.0") && is_allowed("Unlicense/MIT"));
        assert!(is_allowed("(MIT OR Apache-2.0) AND Unicode-3.0"));
        assert!(is_allowed("Apache-2.0 WITH LLVM-exception"));
        assert!(!is_allowed("GPL-3.0") && !is_allowed("") && !is_allowed("MIT AND GPL-3.0"));
    }

    #[test]
    fn crates_of_the_registry_are_told_from_others() {
        assert_eq!(name_and_version("clap v4.6.7"), Some("clap v4.6.7"));
        assert_eq!(name_and_version("clap v4.6.7 (*)"), Some("clap v4.6.7"));
        assert_eq!(name_and_version("xtask v0.1.0 (/a/xtask)"), None);
        assert_eq!(name_and_version(""), None);
    }
}
