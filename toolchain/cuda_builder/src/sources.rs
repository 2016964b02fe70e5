//! The sources of prebuilt PTX, and whether they match the present files.
//!
//! Packages of a registry are not listed: the lock file has their versions, and a test compares the prebuilt PTX with a
//! build.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use xxhash_rust::xxh3::xxh3_128;

use crate::cargo::StaticLibrary;

/// The file beside prebuilt PTX that lists its sources.
pub const LIST: &str = "sources.txt";

/// The files of this builder that affect the PTX, in its folder.
const OF_BUILDER: [&str; 4] = [
    "src/cargo.rs",
    "src/link.rs",
    "src/parts.rs",
    "src/prelude.ll",
];

/// The sources of a build of the crate in `crate_dir` with their hashes: a line `hash path` each.
pub(crate) fn list(crate_dir: &Path, library: &StaticLibrary) -> io::Result<String> {
    let builder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let of_builder = OF_BUILDER.map(|file| builder.join(file));
    let mut lines = BTreeMap::new();
    for file in library.files().into_iter().chain(of_builder) {
        let path = relative(&file.canonicalize()?, crate_dir);
        lines.insert(path, hash(&file)?);
    }
    let line = |(path, hash): (&String, &String)| format!("{hash} {path}\n");
    Ok(lines.iter().map(line).collect())
}

/// The files of a list, and whether each has its hash.
pub(crate) fn compare(crate_dir: &Path, list: &str) -> Vec<(PathBuf, bool)> {
    let compare = |line: &str| {
        let (expected, path) = line.split_once(' ')?;
        let path = crate_dir.join(path);
        let is_same = hash(&path).is_ok_and(|hash| hash == expected);
        Some((path, is_same))
    };
    list.lines().filter_map(compare).collect()
}

/// The hash of the bytes without carriage returns: a checkout may change line endings.
fn hash(file: &Path) -> io::Result<String> {
    let mut bytes = fs::read(file)?;
    bytes.retain(|&byte| byte != b'\r');
    Ok(format!("{:032x}", xxh3_128(&bytes)))
}

/// `file` as a path from the folder `from`, with slashes; both are absolute.
fn relative(file: &Path, from: &Path) -> String {
    let (file, from): (Vec<Component>, Vec<Component>) =
        (file.components().collect(), from.components().collect());
    let common = file.iter().zip(&from).take_while(|(a, b)| a == b).count();
    let up = from[common..].iter().map(|_| "..".into());
    let down = file[common..]
        .iter()
        .map(|part| part.as_os_str().to_string_lossy());
    up.chain(down).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_to_the_crate() {
        let relative = |file: &str| relative(Path::new(file), Path::new("/a/gpu/collective"));
        assert_eq!(relative("/a/gpu/collective/src/lib.rs"), "src/lib.rs");
        assert_eq!(relative("/a/gpu/kernel/src/id.rs"), "../kernel/src/id.rs");
        assert_eq!(relative("/a/toolchain/x.rs"), "../../toolchain/x.rs");
    }

    #[test]
    fn a_changed_or_missing_file_is_found() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let own = hash(&folder.join("Cargo.toml")).unwrap();
        let list = format!("{own} Cargo.toml\n{own} src/lib.rs\n{own} no/such/file\n");
        let found: Vec<bool> = compare(folder, &list).iter().map(|file| file.1).collect();
        assert_eq!(found, [true, false, false]);
    }
}
