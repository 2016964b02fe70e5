//! `cargo xtask package`: the crates that are meant for a registry.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::process::{cargo, output_of, run as run_command};
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
    let listed = output_of(&mut cargo(&["metadata", "--no-deps", "--format-version=1"]));
    let listed: Value = serde_json::from_str(&listed.ok_or("cargo metadata failed")?)?;
    let packages = listed["packages"].as_array();
    let packages = packages.ok_or("cargo metadata lists no packages")?;
    let (published, internal): (Vec<&Value>, Vec<&Value>) = packages
        .iter()
        .partition(|package| package["publish"].is_null());
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
