//! Runs the cargo that builds the kernel crate, isolated from the cargo that runs the build script.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{CudaBuilderError, DeviceCompiler, NvvmArch, Options};

const TARGET: &str = "nvptx64-nvidia-cuda";

/// A kernel crate and all its dependencies, as bitcode.
pub(crate) struct StaticLibrary {
    /// The archive.
    pub(crate) archive: PathBuf,
    /// The sources of the build, except the registry's.
    sources: Vec<PathBuf>,
}

/// rustc's flags for the device, in addition to the release profile's flags.
pub(crate) fn rustc_flags(arch: NvvmArch) -> Vec<String> {
    vec![
        format!("-Ctarget-cpu={arch}"),
        // Jump threading can duplicate a barrier (rust#137086).
        "-Zmir-enable-passes=-JumpThreading".into(),
        // A panic traps where it occurs: no call, no message, no stack for its arguments.
        "-Zunstable-options".into(),
        "-Cpanic=immediate-abort".into(),
        // No paths of this machine in the PTX.
        "-Zlocation-detail=none".into(),
    ]
}

/// The release profile, whatever the workspace sets for the host. With one codegen unit and no debug information the
/// PTX is the same in every checkout.
const PROFILE: [(&str, &str); 8] = [
    ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "1"),
    ("CARGO_PROFILE_RELEASE_DEBUG", "false"),
    ("CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS", "false"),
    ("CARGO_PROFILE_RELEASE_INCREMENTAL", "false"),
    ("CARGO_PROFILE_RELEASE_LTO", "off"),
    ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "3"),
    ("CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS", "false"),
    ("CARGO_PROFILE_RELEASE_STRIP", "false"),
];

/// Builds the crate in `crate_dir` for the device.
pub(crate) fn build_static_library(
    compiler: &DeviceCompiler,
    crate_dir: &Path,
    options: &Options<'_>,
    target_dir: &Path,
) -> Result<StaticLibrary, CudaBuilderError> {
    let release_dir = target_dir.join(TARGET).join("release");
    // So the only archive there after the build is this build's; cargo copies it from deps/ again even if nothing has
    // changed.
    for archive in files_with_extension(&release_dir, "a") {
        fs::remove_file(&archive)
            .map_err(|error| CudaBuilderError::io("removing", &archive, error))?;
    }

    let mut cargo = Command::new(&compiler.cargo);
    cargo.args([
        "rustc",
        "--quiet",
        "--release",
        "--lib",
        "--crate-type",
        "staticlib",
        "-Zbuild-std=core",
    ]);
    for feature in options.features {
        cargo.args(["--features", feature]);
    }
    cargo
        .args(["--target", TARGET])
        .arg("--target-dir")
        .arg(target_dir)
        .current_dir(crate_dir);
    if options.lines {
        // Of this crate alone: `core` is not compiled again. An inlined function without lines has the line of its
        // call.
        cargo.args(["--", "-Cdebuginfo=line-tables-only"]);
    }
    isolate(&mut cargo);
    cargo.env("RUSTC", &compiler.rustc);
    // A stable compiler accepts the unstable features of GPU code: abi_ptx, stdarch_nvptx, link_llvm_intrinsics.
    cargo.env("RUSTC_BOOTSTRAP", "1");
    // They override the flags and wrappers of configuration files.
    cargo.env(
        "CARGO_ENCODED_RUSTFLAGS",
        rustc_flags(options.arch).join("\x1f"),
    );
    cargo
        .env("RUSTC_WRAPPER", "")
        .env("RUSTC_WORKSPACE_WRAPPER", "");
    // A configured build directory would be that of the running cargo, and locked.
    cargo.env("CARGO_BUILD_BUILD_DIR", target_dir);
    cargo.envs(PROFILE);
    run(&mut cargo)?;

    let mut archives = files_with_extension(&release_dir, "a");
    let archive = archives
        .pop()
        .ok_or_else(|| CudaBuilderError::BuildFailed {
            command: command_line(&cargo),
            stderr: format!("cargo left no static library in {}", release_dir.display()),
        })?;
    let sources = fs::read_to_string(archive.with_extension("d"))
        .map(|rule| sources_of_rule(&rule))
        .map_err(|error| CudaBuilderError::io("reading", &archive.with_extension("d"), error))?;
    Ok(StaticLibrary { archive, sources })
}

impl StaticLibrary {
    /// The files that the build read, and the manifests of their packages.
    pub(crate) fn files(&self) -> BTreeSet<PathBuf> {
        let mut files: BTreeSet<PathBuf> = self.sources.iter().cloned().collect();
        files.extend(
            self.sources
                .iter()
                .filter_map(|file| Some(package_of(file)?.join("Cargo.toml"))),
        );
        files
    }

    /// The directories of the sources: `src` of the crate and of each of its path dependencies.
    pub(crate) fn source_dirs(&self) -> BTreeSet<PathBuf> {
        let dir_of = |file: &PathBuf| match package_of(file) {
            // The target directory may lie in the package's folder, so the folder is never watched as a whole.
            Some(package) if file.starts_with(package.join("src")) => package.join("src"),
            _ => file.clone(),
        };
        self.sources.iter().map(dir_of).collect()
    }
}

/// The folder of a source's package.
fn package_of(file: &Path) -> Option<&Path> {
    file.ancestors()
        .find(|dir| dir.join("Cargo.toml").is_file())
}

/// Runs a step of the build to its end.
pub(crate) fn run(command: &mut Command) -> Result<(), CudaBuilderError> {
    match command.output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(CudaBuilderError::BuildFailed {
            command: command_line(command),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }),
        Err(error) => Err(CudaBuilderError::BuildFailed {
            command: command_line(command),
            stderr: error.to_string(),
        }),
    }
}

/// The program and its arguments. `Debug` would also print the environment.
fn command_line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words
        .map(OsStr::to_string_lossy)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Removes the variables that cargo, rustup and the caller have set for the host's build.
fn isolate(command: &mut Command) {
    for (name, _) in env::vars_os() {
        if name.to_str().is_some_and(is_of_host_build) {
            command.env_remove(name);
        }
    }
    // Cargo runs build scripts with the libraries of its own rustc first. A directory with a `rustlib` belongs to a
    // rustc.
    if let Some(path) = env::var_os("LD_LIBRARY_PATH") {
        let others = env::split_paths(&path).filter(|dir| !dir.join("rustlib").is_dir());
        if let Ok(path) = env::join_paths(others) {
            command.env("LD_LIBRARY_PATH", path);
        }
    }
}

fn is_of_host_build(variable: &str) -> bool {
    /// Variables for registries, their network, and the shared job slots.
    const KEPT: [&str; 9] = [
        "CARGO_HOME",
        "CARGO_HTTP_",
        "CARGO_MAKEFLAGS",
        "CARGO_NET_",
        "CARGO_REGISTRIES_",
        "CARGO_REGISTRY_",
        "CARGO_SOURCE_",
        "RUSTUP_HOME",
        "RUST_BACKTRACE",
    ];
    const BUILD_SCRIPT: [&str; 7] = [
        "DEBUG",
        "HOST",
        "NUM_JOBS",
        "OPT_LEVEL",
        "OUT_DIR",
        "PROFILE",
        "TARGET",
    ];
    let of_toolchain = ["CARGO", "RUST", "__CARGO"]
        .iter()
        .any(|p| variable.starts_with(p));
    (of_toolchain && !KEPT.iter().any(|prefix| variable.starts_with(prefix)))
        || BUILD_SCRIPT.contains(&variable)
}

/// The files with this extension in a directory, none if it does not exist.
fn files_with_extension(dir: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries
        .map(|e| e.path())
        .filter(|p| p.extension().is_some_and(|e| e == extension))
        .collect()
}

/// The prerequisites of the makefile rule that cargo writes beside an artifact; spaces in paths are escaped.
fn sources_of_rule(rule: &str) -> Vec<PathBuf> {
    let line = rule.lines().next().unwrap_or_default();
    let prerequisites = line.split_once(": ").map_or("", |(_, after)| after);
    let mut paths = vec![String::new()];
    let mut characters = prerequisites.chars().peekable();
    while let Some(c) = characters.next() {
        let last = paths.len() - 1;
        match c {
            '\\' if characters.peek() == Some(&' ') => paths[last].extend(characters.next()),
            ' ' => paths.push(String::new()),
            _ => paths[last].push(c),
        }
    }
    paths
        .into_iter()
        .filter(|path| !path.is_empty())
        .map(PathBuf::from)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_variables_do_not_reach_the_device_build() {
        for name in [
            "RUSTFLAGS",
            "RUSTUP_TOOLCHAIN",
            "CARGO_ENCODED_RUSTFLAGS",
            "OUT_DIR",
        ] {
            assert!(is_of_host_build(name), "{name}");
        }
        for name in [
            "CARGO",
            "RUSTC_WORKSPACE_WRAPPER",
            "CARGO_BUILD_TARGET",
            "CARGO_PROFILE_DEV_LTO",
        ] {
            assert!(is_of_host_build(name), "{name}");
        }
        for name in [
            "PATH",
            "HOME",
            "CARGO_HOME",
            "RUSTUP_HOME",
            "CARGO_NET_OFFLINE",
            "MAKEFLAGS",
        ] {
            assert!(!is_of_host_build(name), "{name}");
        }
    }

    #[test]
    fn reads_a_makefile_rule() {
        let rule = "/t/libgpu.a: /w/a\\ b/lib.rs /w/gpu/src/lib.rs\n\n/w/gpu/src/lib.rs:\n";
        let paths = sources_of_rule(rule);
        assert_eq!(
            paths,
            [
                PathBuf::from("/w/a b/lib.rs"),
                PathBuf::from("/w/gpu/src/lib.rs")
            ]
        );
        assert!(sources_of_rule("").is_empty());
    }
}
