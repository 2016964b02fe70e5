//! `cargo xtask package`: the crates that are meant for a registry.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::process::{cargo, output_of, packages, run as run_command};
use crate::{Error, target_dir};

/// Files that each package holds beside its sources.
const HELD: [&str; 3] = ["LICENSE-APACHE", "LICENSE-MIT", "README.md"];

/// Bytes that crates.io takes.
const LARGEST: u64 = 10 << 20;

/// Packs each crate that is meant for a registry, and builds it from its package, in the order of the dependencies.
///
/// The packages are in target/package. Nothing is uploaded. They hold the prebuilt kernels as they are: whether these
/// are of the present sources is checked by `cargo xtask test`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Do not build the packages.
    #[arg(long)]
    no_verify: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Error> {
    let packages = packages(&["--no-deps"])?;
    let (published, internal) = by_purpose(&packages);
    // Packages are of the files that are here, committed or not.
    let mut pack = cargo(&["package", "--workspace", "--allow-dirty"]);
    for package in internal {
        pack.args(["--exclude", package["name"].as_str().unwrap_or_default()]);
    }
    if arguments.no_verify {
        pack.arg("--no-verify");
    }
    run_command(pack.env("TRIOXIDE_PTX", "prebuilt"))?;
    for package in published {
        let text = |key: &str| package[key].as_str().unwrap_or_default();
        let name = format!("{}-{}", text("name"), text("version"));
        let size = check(
            &name,
            &target_dir().join("package").join(format!("{name}.crate")),
        )?;
        println!("{name}: {} KiB", size.div_ceil(1024));
    }
    Ok(())
}

/// The packages for others, and the internal ones.
fn by_purpose(packages: &[Value]) -> (Vec<&Value>, Vec<&Value>) {
    packages
        .iter()
        .partition(|package| package["publish"].is_null())
}

/// Checks that a package holds its licences and README, and returns its size.
fn check(name: &str, path: &Path) -> Result<u64, Error> {
    let size = fs::metadata(path).map_err(|error| format!("{}: {error}", path.display()))?;
    if size.len() > LARGEST {
        return Err(format!("{} is larger than a registry takes", path.display()).into());
    }
    let files = output_of(Command::new("tar").arg("-tzf").arg(path));
    let files = files.ok_or_else(|| format!("tar does not read {}", path.display()))?;
    for held in HELD {
        if !files.lines().any(|file| file == format!("{name}/{held}")) {
            return Err(format!("{} holds no {held}", path.display()).into());
        }
    }
    Ok(size.len())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The metadata that a registry asks for.
    #[test]
    fn crates_for_others_can_be_published() {
        let packages = packages(&["--no-deps"]).unwrap();
        let (published, internal) = by_purpose(&packages);
        let internal: BTreeSet<&str> = internal
            .iter()
            .filter_map(|package| package["name"].as_str())
            .collect();
        let expected = [
            "trioxide-bench",
            "trioxide-examples",
            "trioxide-fuzz-targets",
            "trioxide-python",
            "trioxide-tests",
            "xtask",
        ];
        assert_eq!(internal, BTreeSet::from(expected));
        let mut faults = Vec::new();
        for package in published {
            let name = package["name"].as_str().expect("a name");
            let mut fault = |text: String| faults.push(format!("{name}: {text}"));
            if !name.starts_with("trioxide") {
                fault("a name that may be another project's".to_owned());
            }
            for key in ["description", "license", "readme"] {
                if package[key].as_str().is_none_or(str::is_empty) {
                    fault(format!("no {key}"));
                }
            }
            for key in ["keywords", "categories"] {
                let words = package[key].as_array().map_or(0, Vec::len);
                if !(1..=5).contains(&words) {
                    fault(format!("{words} {key}, not 1 to 5"));
                }
            }
            if package["metadata"]["docs"]["rs"]["targets"].is_null() {
                fault("no target of docs.rs".to_owned());
            }
            let manifest = Path::new(package["manifest_path"].as_str().expect("a path"));
            for file in HELD {
                if !manifest.with_file_name(file).is_file() {
                    fault(format!("no {file} beside its manifest"));
                }
            }
            for dependency in package["dependencies"].as_array().expect("dependencies") {
                let to = dependency["name"].as_str().expect("a name");
                let has_version = dependency["req"] != "*";
                // A registry's package leaves out dependencies of tests without versions, which may form circles.
                match dependency["kind"] == "dev" {
                    _ if dependency["path"].is_null() => {}
                    true if has_version => fault(format!("the tests' {to} has a version")),
                    false if !has_version => fault(format!("{to} has no version")),
                    false if internal.contains(to) => fault(format!("{to} is not published")),
                    _ => {}
                }
            }
        }
        assert!(faults.is_empty(), "{faults:#?}");
    }
}
