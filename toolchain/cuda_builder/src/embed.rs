//! Embeds the kernels of a package in the program that launches them.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::machine_code::{self, PTXAS};
use crate::{CudaBuilder, CudaBuilderError, NvvmArch, RUSTC_VARIABLE, sources};

/// The value `prebuilt` requests a package's prebuilt PTX even if there is a device compiler; `lines` requests PTX from
/// the sources, with line information ([`CudaBuilder::lines`]).
pub const PREBUILT_VARIABLE: &str = "TRIOXIDE_PTX";

/// Embeds the kernels of the package in the folder `package`: a build script needs only this call.
///
/// It writes `$OUT_DIR/<name of the package>.kernels.rs`, which `trioxide_device::kernels!` includes. The PTX is
///
/// 1. the prebuilt PTX, if the package has a folder `prebuilt` whose list of sources matches the present sources, or
///    comes from a registry, where nobody changes sources;
/// 2. otherwise built from the sources, if there is a device compiler;
/// 3. otherwise absent, with a warning: then a GPU refuses the kernels, and the CPU runs them.
///
/// The variable [`PREBUILT_VARIABLE`] requests the first, or the second with line information. If the calling package's
/// feature `checked` is on, the kernels are built with theirs, which checks every index. If `TRIOXIDE_PTXAS` names
/// NVIDIA's assembler, machine code for the common architectures is embedded too.
///
/// A failure is printed as an error, which ends cargo's build.
pub fn embed(package: impl AsRef<Path>) {
    if let Err(message) = write(package.as_ref()) {
        for line in message.lines() {
            println!("cargo::error={line}");
        }
    }
}

/// As [`embed`], for a direct dependency of the calling package whose manifest has this key `links`: the build script
/// of the dependency prints its folder, as `cargo::metadata=folder=…`.
pub fn embed_linked(links: &str) {
    let variable = format!("DEP_{}_FOLDER", links.to_uppercase());
    match env::var_os(&variable) {
        Some(folder) => embed(folder),
        None => println!(
            "cargo::error={variable} is not set: no direct dependency has links = {links:?} and prints its folder"
        ),
    }
}

fn write(package: &Path) -> Result<(), String> {
    let out = env::var_os("OUT_DIR").ok_or("OUT_DIR is not set: cargo runs this, not you")?;
    let out = PathBuf::from(out);
    let manifest = package.join("Cargo.toml");
    let manifest = fs::read_to_string(&manifest)
        .map_err(|error| format!("{}: {error}", manifest.display()))?;
    let name = name_of_package(&manifest)
        .ok_or_else(|| format!("{}: the package has no name", package.display()))?;
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={PREBUILT_VARIABLE}");
    println!("cargo::rerun-if-env-changed={PTXAS}");
    let file = out.join(format!("{name}.ptx"));
    let origin = write_ptx(package, name, &file)?;
    let families = match env::var_os(PTXAS) {
        Some(ptxas) if !is_checked() && origin != MISSING => {
            let folder = out.join(format!("{name}.machine_code"));
            embed_machine_code(package, name, Path::new(&ptxas), &file, &folder)?
        }
        _ => "&[]".to_owned(),
    };
    let text = format!("({origin:?}, include_str!({file:?}), {families})\n");
    let table = out.join(format!("{name}.kernels.rs"));
    fs::write(&table, text).map_err(|error| format!("{}: {error}", table.display()))
}

const MISSING: &str = "missing";

/// Writes the PTX to `file`, and returns its origin.
fn write_ptx(package: &Path, name: &str, file: &Path) -> Result<&'static str, String> {
    let (wanted, lines) = match env::var(PREBUILT_VARIABLE).as_deref() {
        Err(env::VarError::NotPresent) => (false, false),
        Ok("prebuilt") => (true, false),
        Ok("lines") => (false, true),
        other => {
            return Err(format!(
                "{PREBUILT_VARIABLE} is {other:?}; it takes \"prebuilt\" or \"lines\""
            ));
        }
    };
    let prebuilt = package.join("prebuilt");
    let has_prebuilt = prebuilt.is_dir();
    let matches = || Ok::<_, String>(is_packaged(package) || is_of_sources(package, &prebuilt)?);
    if has_prebuilt && !is_checked() && !lines && matches()? {
        let text = ptx_rules::join_directory(&prebuilt)
            .map_err(|error| format!("the prebuilt kernels cannot be used: {error}"))?;
        fs::write(file, text).map_err(|error| format!("{}: {error}", file.display()))?;
        return Ok("prebuilt");
    }
    let missing = |reason: &str| {
        println!("cargo::warning=no PTX of {name}, so the CPU alone runs its kernels: {reason}");
        fs::write(file, "").map_err(|error| format!("{}: {error}", file.display()))?;
        Ok(MISSING)
    };
    if wanted && has_prebuilt {
        if is_checked() {
            return Err(format!(
                "the feature `checked` needs kernels built with it, not prebuilt ones: build without {PREBUILT_VARIABLE} on a \
                 machine with a device compiler, or without the feature"
            ));
        }
        return missing(
            "its sources have changed since the prebuilt kernels were built, which TRIOXIDE_PTX asks for",
        );
    }
    let builder = CudaBuilder::new(package)
        .arch(NvvmArch::Compute75)
        .features(is_checked().then_some("checked"))
        .lines(lines);
    match builder.copy_to(file).build() {
        Ok(_) => Ok("built"),
        Err(CudaBuilderError::NoDeviceCompiler(search)) => {
            if env::var_os(RUSTC_VARIABLE).is_some() {
                return Err(format!(
                    "{RUSTC_VARIABLE} is set to no usable compiler:\n{search}"
                ));
            }
            if is_checked() || lines {
                let cause = if lines {
                    "TRIOXIDE_PTX=lines"
                } else {
                    "the feature `checked`"
                };
                return Err(format!("{cause} needs a device compiler:\n{search}"));
            }
            println!("cargo::rerun-if-changed={}", package.join("src").display());
            missing("no device compiler was found, and no prebuilt kernels of the same sources")
        }
        Err(error) => Err(error.to_string()),
    }
}

/// Whether `cargo package` made this folder: it writes the manifest anew, and leaves out the sources in other folders.
fn is_packaged(package: &Path) -> bool {
    let manifest = fs::read_to_string(package.join("Cargo.toml"));
    manifest.is_ok_and(|text| text.starts_with("# THIS FILE IS AUTOMATICALLY GENERATED BY CARGO"))
}

/// Whether the prebuilt PTX was built from the present sources.
fn is_of_sources(package: &Path, prebuilt: &Path) -> Result<bool, String> {
    let list = prebuilt.join(sources::LIST);
    println!("cargo::rerun-if-changed={}", prebuilt.display());
    let text = fs::read_to_string(&list).map_err(|error| format!("{}: {error}", list.display()))?;
    let files = sources::compare(package, &text);
    for (file, _) in files.iter().filter(|(file, _)| file.is_file()) {
        println!("cargo::rerun-if-changed={}", file.display());
    }
    Ok(!files.is_empty() && files.iter().all(|&(_, is_same)| is_same))
}

/// Embeds machine code of the PTX in `file`, a module for each family of kernels. Returns the table of the modules.
fn embed_machine_code(
    package: &Path,
    name: &str,
    ptxas: &Path,
    file: &Path,
    folder: &Path,
) -> Result<String, String> {
    let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let sources = package.join("src");
    println!("cargo::rerun-if-changed={}", sources.display());
    let declared = ptx_rules::declared_kernels(&sources)
        .map_err(|error| format!("{}: {error}", sources.display()))?;
    let mut families = ptx_rules::split(&text, |entry| {
        let found = ptx_rules::family_of(entry, &declared);
        found.map(|(_, family)| family.to_owned())
    })?;
    // A kernel that prints is loaded as a module of its own, so that each launch has its own lines.
    families.retain(|_, text| !text.contains(ptx_rules::PRINTS));
    let (table, bytes) = machine_code::assemble_families(&families, ptxas, folder)?;
    println!(
        "cargo::warning=embedding machine code of the kernels of {name}, {} KiB",
        bytes / 1024
    );
    Ok(table)
}

/// Whether the calling package's feature `checked` is on.
fn is_checked() -> bool {
    env::var_os("CARGO_FEATURE_CHECKED").is_some()
}

/// The name in a manifest's table `package`.
fn name_of_package(manifest: &str) -> Option<&str> {
    let package = manifest.split("[package]").nth(1)?;
    let package = package.split("\n[").next()?;
    let mut lines = package.lines();
    let value = lines.find_map(|line| {
        let (key, value) = line.split_once('=')?;
        (key.trim() == "name").then_some(value)
    })?;
    value.split('"').nth(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_names_its_package() {
        let manifest = "# name = \"no\"\n[package]\nversion = \"1\"\nname = \"far-kernels\"\n\n[lib]\nname = \"other\"\n";
        assert_eq!(name_of_package(manifest), Some("far-kernels"));
        assert_eq!(name_of_package("[package]\n\n[lib]\nname = \"x\"\n"), None);
        assert_eq!(name_of_package("[lib]\n"), None);
    }
}
