//! `cargo xtask emulate`: trioxide's GPU path without a GPU.

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX, EXE_SUFFIX};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::{LIBRARY_PATH, cargo, run as run_command};
use crate::{Error, target_dir};

/// Builds `trioxide` (a development build) and runs it with a CUDA driver that runs the kernels' PTX on the CPU:
/// `cargo xtask emulate -- selftest --tiny --device cuda --only polylla`.
///
/// Results are as on a GPU; the time is not, and effects of NVIDIA's assembler and of a GPU are missing. A load or
/// store outside the device's memory, and lanes that wait for each other, end the run with a message with kernel,
/// thread and instruction. Linux only.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Number of devices.
    #[arg(long, value_name = "N", default_value_t = 1)]
    devices: u32,
    /// Bytes of memory that each device has.
    #[arg(long, value_name = "BYTES", default_value_t = 4 << 30)]
    memory: u64,
    /// Check each launch for data races in device and shared memory, and for reads of unwritten device memory: three
    /// times as slow.
    #[arg(long)]
    check: bool,
    /// Build the kernels from their sources, with line information: a fault has file and line.
    #[arg(long)]
    lines: bool,
    /// Build in release mode: the build takes longer, a long run less.
    #[arg(long)]
    release: bool,
    /// Run this shell command, not `trioxide`: the tests of a crate of your own, as in `emulate --check --command "cd
    /// ../far && cargo test"`.
    #[arg(long, value_name = "COMMAND", conflicts_with = "arguments")]
    command: Option<String>,
    /// Arguments of `trioxide`.
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGS"
    )]
    arguments: Vec<OsString>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Error> {
    let profile = if arguments.release {
        "release"
    } else {
        "debug"
    };
    let mut build = cargo(&["build", "--package", "trioxide-ptx-emulator"]);
    if arguments.release {
        build.arg("--release");
    }
    if arguments.command.is_none() {
        build.args(["--package", "trioxide-cli", "--lib", "--bin", "trioxide"]);
    }
    let lines = arguments.lines.then_some(("TRIOXIDE_PTX", "lines"));
    build.envs(lines);
    run_command(&mut build)?;
    let mut command = match &arguments.command {
        None => {
            let name = format!("trioxide{EXE_SUFFIX}");
            let mut command = Command::new(target_dir().join(profile).join(name));
            command.args(&arguments.arguments);
            command
        }
        Some(words) => {
            let mut command = Command::new("sh");
            command.args(["-c", words]);
            command
        }
    };
    command
        .envs(lines)
        .env(LIBRARY_PATH, place(profile)?)
        .env("PTX_EMULATOR_DEVICES", arguments.devices.to_string())
        .env("PTX_EMULATOR_MEMORY", arguments.memory.to_string())
        .env("PTX_EMULATOR_CHECK", u8::from(arguments.check).to_string());
    run_command(&mut command)
}

/// The reason why the emulator does not work on this system.
pub(crate) const REFUSAL: Option<&str> = if cfg!(target_os = "linux") {
    None
} else {
    Some("the emulator stands in for the driver of Linux alone")
};

/// A folder with the emulator from a profile's build, under the driver's name.
///
/// # Errors
/// The system is not Linux, or the library is missing.
pub(crate) fn place(profile: &str) -> Result<PathBuf, Error> {
    if let Some(reason) = REFUSAL {
        return Err(reason.into());
    }
    let built = target_dir()
        .join(profile)
        .join(format!("{DLL_PREFIX}ptx_emulator{DLL_SUFFIX}"));
    let folder = target_dir().join("emulator").join(profile);
    copy(&built, &folder).map_err(|error| format!("{}: {error}", built.display()))?;
    Ok(folder)
}

/// Copies the file and renames it in one step: another program may have the previous one loaded.
fn copy(built: &Path, folder: &Path) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    let new = folder.join(format!("new-{}", std::process::id()));
    fs::copy(built, &new)?;
    fs::rename(new, folder.join("libcuda.so.1"))
}
