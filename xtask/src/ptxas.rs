//! NVIDIA's assembler: it turns PTX into machine code without a GPU, and lists the resources of each kernel.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::{command_line, output_of};
use crate::{Error, target_dir};

/// The PyPI package with ptxas, and the version whose numbers can be compared from run to run.
const PACKAGE: &str = "nvidia-cuda-nvcc";
const PACKAGE_VERSION: &str = "13.0.88";

/// The first release that assembles for sm_120.
const OLDEST_RELEASE: (u32, u32) = (12, 8);

/// An assembler that knows every architecture we check.
pub(crate) struct Ptxas {
    pub(crate) path: PathBuf,
    /// As `13.0`.
    pub(crate) release: String,
}

/// The resources of one kernel on one architecture.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct KernelUse {
    pub(crate) kernel: String,
    /// 32-bit registers a thread.
    pub(crate) registers: u32,
    /// Bytes of spill stores and loads a thread.
    pub(crate) spills: u32,
    /// Bytes of static shared memory a block.
    pub(crate) shared: u32,
    /// Bytes of stack a thread.
    pub(crate) stack: u32,
}

/// An assembler on this machine: `TRIOXIDE_PTXAS`, `PATH`, the CUDA toolkit's usual folder, an earlier download.
pub(crate) fn find() -> Option<Ptxas> {
    if let Some(path) = env::var_os("TRIOXIDE_PTXAS") {
        return usable(path.into());
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let dirs = env::split_paths(&path).chain([PathBuf::from("/usr/local/cuda/bin")]);
    dirs.map(|dir| dir.join("ptxas"))
        .chain([downloaded()])
        .find_map(usable)
}

/// An assembler on this machine or, if there is none, from PyPI.
///
/// # Errors
///
/// The reason, in one sentence.
pub(crate) fn find_or_download() -> Result<Ptxas, Error> {
    if let Some(ptxas) = find() {
        return Ok(ptxas);
    }
    if env::var_os("TRIOXIDE_PTXAS").is_some() {
        let (major, minor) = OLDEST_RELEASE;
        return Err(format!("TRIOXIDE_PTXAS is no ptxas of {major}.{minor} or newer").into());
    }
    download()
        .map_err(|error| format!("ptxas is not here and cannot be had from PyPI: {error}"))?;
    usable(downloaded()).ok_or_else(|| "the ptxas from PyPI does not run here".into())
}

/// Names the assembler to a build, which then embeds machine code of the kernels. Without one it embeds only PTX.
pub(crate) fn name_for(build: &mut Command) {
    match find_or_download() {
        Ok(ptxas) => _ = build.env("TRIOXIDE_PTXAS", ptxas.path),
        Err(reason) => {
            eprintln!("no machine code is embedded, only PTX: {reason}");
            build.env_remove("TRIOXIDE_PTXAS");
        }
    }
}

fn download_dir() -> PathBuf {
    target_dir().join("ptxas").join(PACKAGE_VERSION)
}

fn downloaded() -> PathBuf {
    download_dir().join("nvidia/cu13/bin/ptxas")
}

fn usable(path: PathBuf) -> Option<Ptxas> {
    let text = output_of(Command::new(&path).arg("--version"))?;
    let release = release_of(&text)?;
    let (major, minor) = release.split_once('.')?;
    let new_enough = (major.parse().ok()?, minor.parse().ok()?) >= OLDEST_RELEASE;
    new_enough.then_some(Ptxas { path, release })
}

/// The release `13.0` in "Cuda compilation tools, release 13.0, V13.0.88".
fn release_of(version_text: &str) -> Option<String> {
    let (_, after) = version_text.split_once("release ")?;
    Some(after.split_once(',')?.0.to_owned())
}

/// Fetches the wheel and unpacks it; Python does both, since it knows PyPI.
fn download() -> Result<(), Error> {
    let dir = download_dir();
    fs::create_dir_all(&dir)?;
    // On standard error: standard output may belong to the program that is built and run.
    eprintln!("downloading ptxas ({PACKAGE} {PACKAGE_VERSION} from PyPI)");
    let requirement = format!("{PACKAGE}=={PACKAGE_VERSION}");
    let mut pip = Command::new("python3");
    pip.args([
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--only-binary",
        ":all:",
    ]);
    quietly(pip.arg("--dest").arg(&dir).arg(&requirement))?;
    let entries = fs::read_dir(&dir)?.flatten().map(|entry| entry.path());
    let mut wheels = entries.filter(|path| path.extension().is_some_and(|e| e == "whl"));
    let wheel = wheels.next().ok_or("pip left no wheel")?;
    quietly(
        Command::new("python3")
            .args(["-m", "zipfile", "-e"])
            .arg(&wheel)
            .arg(&dir),
    )?;
    fs::remove_file(&wheel)?;
    // A wheel records modes; Python's unpacking drops them.
    #[cfg(unix)]
    fs::set_permissions(
        downloaded(),
        std::os::unix::fs::PermissionsExt::from_mode(0o755),
    )?;
    Ok(())
}

fn quietly(command: &mut Command) -> Result<(), Error> {
    let output = command
        .output()
        .map_err(|error| format!("{} cannot be started: {error}", command_line(command)))?;
    if output.status.success() {
        return Ok(());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    let last = stderr
        .lines()
        .rfind(|line| !line.trim().is_empty())
        .unwrap_or_default();
    Err(format!("{} failed: {last}", command_line(command)).into())
}

/// Whether the assembler optimises: that takes twice the time, and only then are the resources those of real runs.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Optimise {
    Yes,
    No,
}

impl Ptxas {
    /// Assembles a PTX file for one architecture and returns the resources of each kernel, by name.
    ///
    /// # Errors
    ///
    /// The assembler's messages, if it refuses the file.
    pub(crate) fn assemble(
        &self,
        ptx: &Path,
        arch: &str,
        optimise: Optimise,
    ) -> Result<Vec<KernelUse>, Error> {
        let cubin = target_dir().join(format!("trioxide.{arch}.cubin"));
        let mut command = Command::new(&self.path);
        if optimise == Optimise::No {
            command.args(["--opt-level", "0"]);
        }
        command
            .args(["--verbose", "--gpu-name", arch, "--output-file"])
            .arg(cubin)
            .arg(ptx);
        let output = command.output()?;
        let messages = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            return Err(format!("{}\n{messages}", command_line(&command)).into());
        }
        let mut kernels = parse_verbose(&messages);
        kernels.sort_by(|a, b| a.kernel.cmp(&b.kernel));
        Ok(kernels)
    }
}

/// Reads the messages of `ptxas --verbose`: for each kernel a line with its name, one about its stack, one about the
/// rest.
fn parse_verbose(messages: &str) -> Vec<KernelUse> {
    let mut kernels: Vec<KernelUse> = Vec::new();
    // Device functions that were not inlined have properties too, which belong to no kernel.
    let mut of_kernel = false;
    for line in messages.lines() {
        if let Some((_, after)) = line.split_once("Compiling entry function '") {
            let kernel = after.split('\'').next().unwrap_or_default().to_owned();
            kernels.push(KernelUse {
                kernel,
                ..KernelUse::default()
            });
        } else if let Some((_, name)) = line.split_once("Function properties for ") {
            of_kernel = kernels
                .last()
                .is_some_and(|kernel| kernel.kernel == name.trim());
        } else if let Some(kernel) = kernels.last_mut() {
            let number = |unit: &str| number_before(line, unit);
            if line.contains("bytes stack frame") && of_kernel {
                kernel.stack = number(" bytes stack frame");
                kernel.spills = number(" bytes spill stores") + number(" bytes spill loads");
            } else if line.contains("Used ") {
                kernel.registers = number(" registers");
                kernel.shared = number(" bytes smem");
            }
        }
    }
    kernels
}

/// The number before `unit`, 0 if the line has none.
fn number_before(line: &str, unit: &str) -> u32 {
    let before = line.find(unit).map_or("", |at| &line[..at]);
    let digits = before
        .rfind(|c: char| !c.is_ascii_digit())
        .map_or(before, |at| &before[at + 1..]);
    digits.parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_release() {
        let text = "ptxas: NVIDIA (R) Ptx optimizing assembler\n\
                    Cuda compilation tools, release 13.0, V13.0.88\nBuild cuda_13.0.r13.0/compiler";
        assert_eq!(release_of(text).as_deref(), Some("13.0"));
        assert_eq!(release_of("GNU assembler 2.40"), None);
    }

    #[test]
    fn reads_what_kernels_use() {
        let messages = "ptxas info    : 0 bytes gmem\n\
            ptxas info    : Compiling entry function 'scan' for 'sm_75'\n\
            ptxas info    : Function properties for scan\n\
            \x20   16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads\n\
            ptxas info    : Used 40 registers, used 1 barriers, 16 bytes cumulative stack size, 1056 bytes smem, 372 bytes cmem[0]\n\
            ptxas info    : Function properties for helper\n\
            \x20   64 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n\
            ptxas info    : Compiling entry function 'label' for 'sm_75'\n\
            ptxas info    : Function properties for label\n\
            \x20   0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n\
            ptxas info    : Used 22 registers, used 0 barriers, 392 bytes cmem[0]\n";
        let scan = KernelUse {
            kernel: "scan".into(),
            registers: 40,
            spills: 20,
            shared: 1056,
            stack: 16,
        };
        let label = KernelUse {
            kernel: "label".into(),
            registers: 22,
            ..KernelUse::default()
        };
        assert_eq!(parse_verbose(messages), [scan, label]);
    }
}
