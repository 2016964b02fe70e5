//! The test programs of the workspace: one call of cargo builds them, and they become jobs with the environment of
//! `cargo test`.

use std::collections::BTreeMap;
use std::env::{self, consts::EXE_SUFFIX};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::SKIPPED;
use super::jobs::Job;
use crate::limited::{Limit, Streams, succeed};
use crate::process::{self, LIBRARY_PATH, cargo, output_of};
use crate::{Error, target_dir};

/// The compiler's messages are among cargo's.
const MESSAGES: &str = "--message-format=json";
/// Everything that a test needs, with the library of the Python package. The macros are left out: they would be
/// compiled again, optimised. [`BUILD_UNITS`] has the unit tests of two packages.
const BUILD: &[&str] = &[
    "build",
    "--workspace",
    "--exclude",
    "trioxide-kernel-macros",
    "--exclude",
    "trioxide-cuda-builder",
    "--exclude",
    "trioxide-mesh",
    "--lib",
    "--bins",
    "--tests",
    "--examples",
    MESSAGES,
];
/// Unit tests that compute little, of packages without other tests: not optimised. With the Python package, which has
/// no test in Rust, dependencies have the features of [`BUILD`]: none is compiled again.
const BUILD_UNITS: &[&str] = &[
    "build",
    "--package",
    "trioxide-cuda-builder",
    "--package",
    "trioxide-mesh",
    "--package",
    "trioxide-python",
    "--tests",
    "--config",
    "profile.dev.package.trioxide-cuda-builder.opt-level=0",
    "--config",
    "profile.dev.package.trioxide-mesh.opt-level=0",
    MESSAGES,
];
/// The binary with MPI, and the tests that start it by mpirun. All but two crates are those of the other build.
const BUILD_RANKS: &[&str] = &[
    "build",
    "--workspace",
    "--features",
    "trioxide-cli/mpi",
    "--test",
    "ranks",
    MESSAGES,
];
/// The programs that take longest, which begin first; `ptx` compiles the kernels that a later step needs.
const FIRST: [&str; 11] = [
    "kernels_md",
    "ptx",
    "conformance",
    "ranks",
    "families",
    "text_inputs",
    "report",
    "compile_fail",
    "weld",
    "refine",
    "whole_run",
];

/// Cargo's variable for the program that compiles members of a workspace.
const WRAPPER: &str = "RUSTC_WORKSPACE_WRAPPER";
/// A test that compares the compiler's messages, those of Clippy not among them. Its cargo builds with a profile of its
/// own.
const OF_MESSAGES: &str = "compile_fail";

/// How the tests are built.
pub(super) struct Settings {
    /// Whether programs embed the prebuilt kernels.
    pub(super) prebuilt: bool,
    /// Clippy's driver, if there is one: it compiles the workspace, so that lints need no second pass.
    pub(super) driver: Option<PathBuf>,
    /// Time of a build from one message of cargo to the next, one for each target: the whole may take long on a slow
    /// machine, or with other programs on it.
    pub(super) limit: Limit,
}

impl Settings {
    /// Lets a command's cargo build as these settings say.
    pub(super) fn apply(&self, command: &mut Command) {
        if self.prebuilt {
            command.env("TRIOXIDE_PTX", "prebuilt");
        }
        if let Some(driver) = &self.driver {
            command.env(WRAPPER, driver);
        }
    }
}

/// The tests that were built.
#[derive(Default)]
struct Built {
    /// A job for each test program, with its place in the order.
    ranked: Vec<(usize, Job)>,
    /// Number of warnings.
    warnings: usize,
}

/// Builds the workspace's tests, those of ranks too if there is an MPI. Returns a job for each test program, and the
/// number of warnings.
///
/// # Errors
/// Cargo cannot be started, a target does not compile, or cargo's messages have changed.
pub(super) fn build(settings: &Settings, ranks: bool) -> Result<(Vec<Job>, usize), Error> {
    let mut built = Built::default();
    built.add(BUILD, settings)?;
    built.add(BUILD_UNITS, settings)?;
    if ranks {
        // Both builds give their binary the same name.
        let [plain, kept, with_mpi] = ["trioxide", "trioxide-plain", "trioxide-mpi"].map(|name| {
            target_dir()
                .join("debug")
                .join(format!("{name}{EXE_SUFFIX}"))
        });
        fs::rename(&plain, &kept)?;
        let before = built.ranked.len();
        let result = built.add(BUILD_RANKS, settings);
        if result.is_ok() {
            fs::rename(&plain, &with_mpi)?;
        }
        fs::rename(&kept, &plain)?;
        result?;
        for (_, job) in &mut built.ranked[before..] {
            job.command.env("TRIOXIDE_WITH_MPI", &with_mpi);
        }
    }
    let Built {
        mut ranked,
        warnings,
    } = built;
    ranked.sort_by_key(|&(rank, _)| rank);
    let jobs = ranked.into_iter().map(|(_, job)| job).collect();
    Ok((jobs, warnings))
}

impl Built {
    /// Builds, and adds a job for each built test program.
    fn add(&mut self, build: &[&str], settings: &Settings) -> Result<(), Error> {
        let packages = packages()?;
        let library_path = library_path()?;
        let mut command = cargo(build);
        settings.apply(&mut command);
        let mut wrong = None;
        let built = succeed(&mut command, settings.limit, Streams::Output, |line| {
            wrong = wrong.take().or_else(|| {
                self.add_message(line, &packages, &library_path, settings)
                    .err()
            });
        });
        built.and(wrong.map_or(Ok(()), Err))
    }

    /// Shows a message of cargo, and adds a job if it names a test program.
    fn add_message(
        &mut self,
        line: &[u8],
        packages: &BTreeMap<String, Package>,
        library_path: &OsStr,
        settings: &Settings,
    ) -> Result<(), Error> {
        let message: Value = serde_json::from_slice(line)?;
        if let Some(text) = message["message"]["rendered"].as_str() {
            // If the error stream is closed, the summary ends the run.
            let _ = write!(io::stderr(), "{text}");
            self.warnings += usize::from(message["message"]["level"] == "warning");
        }
        let is_test = message["profile"]["test"] == true;
        let Some(program) = message["executable"].as_str().filter(|_| is_test) else {
            return Ok(());
        };
        let id = message["package_id"].as_str().unwrap_or_default();
        let package = packages
            .get(id)
            .ok_or_else(|| format!("cargo metadata lists no package {id}"))?;
        let target = message["target"]["name"].as_str().unwrap_or_default();
        let kind = message["target"]["kind"][0].as_str().unwrap_or_default();
        let rank = FIRST.iter().position(|&name| name == target);
        let mut command = Command::new(program);
        command
            .current_dir(&package.folder)
            .env("CARGO", env::var_os("CARGO").unwrap_or("cargo".into()))
            .env("CARGO_MANIFEST_DIR", &package.folder)
            .env("CARGO_PKG_NAME", &package.name)
            .env(LIBRARY_PATH, library_path);
        settings.apply(&mut command);
        if target == OF_MESSAGES {
            command.env_remove(WRAPPER);
            command.env("CARGO_PROFILE_DEV_DEBUG", "false");
        }
        let job = Job {
            name: format!("{}: {kind} {target}", package.name),
            command,
            mark: SKIPPED,
        };
        self.ranked.push((rank.unwrap_or(FIRST.len()), job));
        Ok(())
    }
}

struct Package {
    name: String,
    folder: PathBuf,
}

/// The workspace's packages by cargo's ids.
fn packages() -> Result<BTreeMap<String, Package>, Error> {
    let packages = process::packages(&["--no-deps"])?;
    let packages = packages.iter().filter_map(|package| {
        let manifest = Path::new(package["manifest_path"].as_str()?);
        let package_there = Package {
            name: package["name"].as_str()?.to_owned(),
            folder: manifest.parent()?.to_owned(),
        };
        Some((package["id"].as_str()?.to_owned(), package_there))
    });
    Ok(packages.collect())
}

/// The folders where programs find shared libraries: tests of procedural macros link to the compiler's.
fn library_path() -> Result<OsString, Error> {
    let rustc = env::var_os("RUSTC").unwrap_or("rustc".into());
    let printed = output_of(Command::new(rustc).args(["--print", "target-libdir"]));
    let compiler = printed.ok_or("rustc --print target-libdir failed")?;
    let mut paths = vec![
        target_dir().join("debug").join("deps"),
        PathBuf::from(compiler.trim()),
    ];
    if let Some(set) = env::var_os(LIBRARY_PATH) {
        paths.extend(env::split_paths(&set));
    }
    Ok(env::join_paths(paths)?)
}
