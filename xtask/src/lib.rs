//! `cargo xtask`: the project's own commands, one module each.
//!
//! Parts that `trioxide-bench` (host/bench) needs are public: running programs, building the binary and its archive,
//! the demo's runs; and for the tests: the packages with kernels, the pages of the guide, the gallery's command lines.

pub mod archive;
mod bench;
pub mod browser;
pub mod build;
mod datasets;
mod debian;
pub mod demo;
mod dist;
mod doctor;
mod emulate;
mod fuzz;
pub mod gallery;
pub mod guide;
mod licences;
mod limited;
mod mpi;
mod notebooks;
mod package;
mod platforms;
pub mod portable;
pub mod process;
pub mod ptx;
mod ptxas;
mod python;
mod report;
mod run;
mod sanitize;
mod snapshots;
mod test;
mod wheel;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// An error in words, for the person at the terminal.
pub type Error = Box<dyn std::error::Error>;

/// Builds, checks and tests trioxide.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Build(build::Arguments),
    Run(run::Arguments),
    Demo(demo::Arguments),
    Gallery(gallery::Arguments),
    Bench(bench::Arguments),
    Dist(dist::Arguments),
    Wheel(wheel::Arguments),
    Package(package::Arguments),
    Platforms(platforms::Arguments),
    Report(report::Arguments),
    Notebooks(notebooks::Arguments),
    Guide(guide::Arguments),
    Test(test::Arguments),
    Fuzz(fuzz::Arguments),
    Sanitize(sanitize::Arguments),
    Emulate(emulate::Arguments),
    Snapshots(snapshots::Arguments),
    Datasets(datasets::Arguments),
    Doctor(doctor::Arguments),
    Ptx(ptx::Arguments),
}

/// Runs the command line.
pub fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Build(arguments) => build::run(&arguments),
        Command::Run(arguments) => run::run(&arguments),
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Gallery(arguments) => gallery::run(&arguments),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Dist(arguments) => dist::run(&arguments),
        Command::Wheel(arguments) => wheel::run(&arguments),
        Command::Package(arguments) => package::run(&arguments),
        Command::Platforms(arguments) => platforms::run(&arguments),
        Command::Report(arguments) => report::run(&arguments),
        Command::Notebooks(arguments) => notebooks::run(&arguments),
        Command::Guide(arguments) => guide::run(&arguments),
        Command::Test(arguments) => test::run(&arguments),
        Command::Fuzz(arguments) => fuzz::run(&arguments),
        Command::Sanitize(arguments) => sanitize::run(&arguments),
        Command::Emulate(arguments) => emulate::run(&arguments),
        Command::Snapshots(arguments) => snapshots::run(&arguments),
        Command::Datasets(arguments) => datasets::run(&arguments),
        Command::Doctor(arguments) => doctor::run(&arguments),
        Command::Ptx(arguments) => ptx::run(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The directory of the workspace's manifest.
pub fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask/ lies in the workspace")
}

/// Cargo's target directory.
pub fn target_dir() -> PathBuf {
    let set = std::env::var_os("CARGO_TARGET_DIR");
    set.map_or_else(|| workspace().join("target"), |dir| workspace().join(dir))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn command_line_is_consistent() {
        super::Arguments::command().debug_assert();
    }
}
