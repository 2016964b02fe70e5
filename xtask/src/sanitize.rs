//! `cargo xtask sanitize`: ThreadSanitizer, AddressSanitizer, and compute-sanitizer's four tools.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use clap::ValueEnum;

use crate::platforms::cargo_with_std_sources;
use crate::process::{cargo, output_of, run as run_command};
use crate::{Error, build, target_dir};

/// Runs the self-test, the readers' tests and the fuzzers under sanitisers.
///
/// Sanitisers that cannot run here are skipped with the reason.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The sanitisers [default: all].
    #[arg(value_enum, value_name = "SANITISER")]
    sanitisers: Vec<Sanitiser>,
    /// Write a folder for a GPU machine without Rust, with the program and a script that runs compute-sanitizer there.
    #[arg(long, value_name = "FOLDER")]
    dist: Option<PathBuf>,
    /// The program for the folder, if it is built already.
    #[arg(long, value_name = "FILE", requires = "dist")]
    program: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Sanitiser {
    /// Data races: the CPU's cases of the self-test, with a standard library that is built for it.
    Thread,
    /// Wrong accesses: the tests of the readers and writers.
    Address,
    /// compute-sanitizer's memcheck, racecheck, initcheck and synccheck on the GPU, each case of the self-test in a
    /// process of its own.
    Cuda,
}

const TARGET: &str = "x86_64-unknown-linux-gnu";
/// The tools of compute-sanitizer.
const CUDA_TOOLS: [&str; 4] = ["memcheck", "racecheck", "initcheck", "synccheck"];

pub(crate) fn run(arguments: &Arguments) -> Result<(), Error> {
    if let Some(folder) = &arguments.dist {
        return write_folder(folder, arguments.program.as_deref());
    }
    let chosen = match arguments.sanitisers.is_empty() {
        true => Sanitiser::value_variants(),
        false => &arguments.sanitisers,
    };
    let mut failed = Vec::new();
    for &sanitiser in chosen {
        println!("== {sanitiser:?}");
        let start = Instant::now();
        let outcome = match sanitiser {
            Sanitiser::Thread => thread(),
            Sanitiser::Address => address(),
            Sanitiser::Cuda => cuda(),
        };
        let seconds = start.elapsed().as_secs();
        match outcome {
            Ok(Run::Passed) => println!("{sanitiser:?}: no finding, {seconds} s"),
            Ok(Run::Skipped(reason)) => println!("skipped: {sanitiser:?}: {reason}"),
            Err(error) => {
                println!("{sanitiser:?}: {error}");
                failed.push(format!("{sanitiser:?}"));
            }
        }
    }
    match failed.is_empty() {
        true => Ok(()),
        false => Err(format!("findings or failures: {}", failed.join(", ")).into()),
    }
}

/// The result of a sanitiser without findings.
enum Run {
    Passed,
    Skipped(String),
}

/// The folder of rustup's toolchain with runtimes and lld.
fn runtimes() -> Option<PathBuf> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let sysroot = output_of(Command::new(rustc).args(["--print", "sysroot"]))?;
    Some(Path::new(sysroot.trim()).join("lib/rustlib").join(TARGET))
}

/// Debian's compiler has the sources of the standard library, rustup's has the runtime; the linker joins them.
fn thread() -> Result<Run, Error> {
    let target = target_dir().join("sanitize-thread");
    let mut build = match cargo_with_std_sources(&target) {
        Ok(build) => build,
        Err(reason) => return Ok(Run::Skipped(reason.to_string())),
    };
    let runtimes = runtimes().ok_or("rustc does not say where its libraries are")?;
    let runtime = runtimes.join("lib/librustc-stable_rt.tsan.a");
    if !runtime.is_file() {
        return Ok(Run::Skipped(format!(
            "{} is not there: it comes with rustup's stable toolchain",
            runtime.display()
        )));
    }
    let flags = [
        "-Zsanitizer=thread".to_owned(),
        "-Zexternal-clangrt".to_owned(),
        "-Clink-arg=-fuse-ld=lld".to_owned(),
        format!("-Clink-arg=-B{}", runtimes.join("bin/gcc-ld").display()),
        "-Clink-arg=-Wl,--whole-archive".to_owned(),
        format!("-Clink-arg={}", runtime.display()),
        "-Clink-arg=-Wl,--no-whole-archive".to_owned(),
    ];
    build
        .args([
            "build",
            "-Zbuild-std=std,panic_unwind",
            "--target",
            TARGET,
            "--package",
            "trioxide-cli",
        ])
        .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"));
    run_command(&mut build)?;
    let program = target.join(TARGET).join("debug/trioxide");
    let mut selftest = Command::new(program);
    // Four threads on any machine: two rarely interleave.
    selftest
        .args(["selftest", "--tiny", "--device", "cpu", "--threads", "4"])
        .env("RAYON_NUM_THREADS", "4")
        .env("TSAN_OPTIONS", "halt_on_error=1 exitcode=66");
    run_command(&mut selftest)?;
    Ok(Run::Passed)
}

/// Rust's own runtime and the prebuilt standard library: it does not check the library's accesses, but those of all
/// crates.
fn address() -> Result<Run, Error> {
    let target = target_dir().join("sanitize-address");
    let mut tests = cargo(&[
        "test",
        "--target",
        TARGET,
        "--package",
        "trioxide-formats",
        "--lib",
        // Times of such a build have no meaning.
        "--",
        "--skip",
        "linear_time",
    ]);
    tests
        .env("RUSTC_BOOTSTRAP", "1")
        .env("CARGO_TARGET_DIR", &target)
        .env("TRIOXIDE_PTX", "prebuilt")
        .env("ASAN_OPTIONS", "detect_leaks=0 allocator_may_return_null=1")
        .env("CARGO_ENCODED_RUSTFLAGS", "-Zsanitizer=address");
    run_command(&mut tests)?;
    let mut targets = cargo(&[
        "test",
        "--target",
        TARGET,
        "--package",
        "trioxide-tests",
        "--test",
        "fuzz",
    ]);
    targets
        .env("RUSTC_BOOTSTRAP", "1")
        .env("CARGO_TARGET_DIR", &target)
        .env("TRIOXIDE_PTX", "prebuilt")
        .env("ASAN_OPTIONS", "detect_leaks=0 allocator_may_return_null=1")
        .env("CARGO_ENCODED_RUSTFLAGS", "-Zsanitizer=address");
    run_command(&mut targets)?;
    Ok(Run::Passed)
}

/// Seconds that one case may take under one tool.
const CASE_SECONDS: u64 = 300;

fn cuda() -> Result<Run, Error> {
    println!(
        "plan: trioxide selftest --tiny --device cuda --only CASE under compute-sanitizer, by {}",
        CUDA_TOOLS.join(", ")
    );
    println!(
        "each case in a process of its own, at most {CASE_SECONDS} s; elsewhere: cargo xtask sanitize --dist FOLDER"
    );
    let has_gpu = ["/proc/driver/nvidia/version", "/dev/dxg"]
        .iter()
        .any(|path| Path::new(path).exists());
    if !has_gpu {
        return Ok(Run::Skipped("there is no GPU on this machine".to_owned()));
    }
    if output_of(Command::new("compute-sanitizer").arg("--version")).is_none() {
        return Ok(Run::Skipped(
            "compute-sanitizer is not on the path: it comes with the CUDA toolkit".to_owned(),
        ));
    }
    let folder = target_dir().join("sanitize-cuda");
    write_folder(&folder, None)?;
    run_command(Command::new("bash").arg("sanitize.sh").current_dir(&folder))?;
    Ok(Run::Passed)
}

/// The program and the script that runs it.
fn write_folder(folder: &Path, program: Option<&Path>) -> Result<(), Error> {
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let program = match program {
        Some(program) => program.to_owned(),
        None => build::trioxide()?,
    };
    fs::copy(&program, folder.join("trioxide"))
        .map_err(|error| format!("{}: {error}", program.display()))?;
    let script = include_str!("sanitize.sh")
        .replace("@TOOLS@", &CUDA_TOOLS.join(" "))
        .replace("@SECONDS@", &CASE_SECONDS.to_string());
    fs::write(folder.join("sanitize.sh"), script)?;
    println!(
        "{}: run `bash sanitize.sh` there, on a machine with a GPU and compute-sanitizer",
        folder.display()
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The script cuts the self-test's list at the column of the names.
    #[test]
    fn a_folder_has_the_program_and_a_script_that_bash_takes() {
        let folder = tempfile::tempdir().unwrap();
        let program = std::env::current_exe().unwrap();
        write_folder(folder.path(), Some(&program)).unwrap();
        assert!(folder.path().join("trioxide").is_file());
        let script = fs::read_to_string(folder.path().join("sanitize.sh")).unwrap();
        assert!(script.contains("{*:-memcheck racecheck initcheck synccheck}"));
        assert!(script.contains("-f FILE"));
        assert!(!script.contains("@TOOLS@") && !script.contains("@SECONDS@"));
        assert!(script.contains(&format!("cut -c{}-", "collective   ".len() + 1)));
        let check = Command::new("bash")
            .arg("-n")
            .arg(folder.path().join("sanitize.sh"))
            .status();
        assert!(check.unwrap().success());
    }

    /// A folder whose program lists four cases, and a sanitiser that reports an error in the second and does not end in
    /// the third.
    fn folder_of_four_cases() -> tempfile::TempDir {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        write_folder(folder.path(), Some(&std::env::current_exe().unwrap())).unwrap();
        let script = |name: &str, text: &str| {
            let path = folder.path().join(name);
            // A new file: the program there may be a link to a running one.
            let _ = fs::remove_file(&path);
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        };
        script(
            "trioxide",
            "#!/bin/sh\nprintf '%-12s %s\\n' weld 'a (1), \"quoted\"' weld 'b' polylla 'c' smooth 'd e' launches 'of all'\n",
        );
        script(
            "compute-sanitizer",
            "#!/bin/sh\nfor last; do :; done\ncase $last in b) exit 86 ;; c) sleep 60 ;; esac\n",
        );
        folder
    }

    fn run_script(folder: &Path, arguments: &[&str]) -> (bool, String) {
        let path = std::env::var("PATH").unwrap();
        let output = Command::new("bash")
            .arg(folder.join("sanitize.sh"))
            .args(arguments)
            .env("PATH", format!("{}:{path}", folder.display()))
            .env("SECONDS_A_CASE", "2")
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.success(), text)
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_script_runs_named_tools_on_listed_cases_at_once() {
        let folder = folder_of_four_cases();
        let (passed, text) = run_script(folder.path(), &["-j", "4", "initcheck", "synccheck"]);
        assert!(!passed, "{text}");
        assert!(
            text.contains("4 cases by initcheck synccheck, 4 at once"),
            "{text}"
        );
        for tool in ["initcheck", "synccheck"] {
            let counts = format!("{tool}: 2 ok, 1 with findings, 0 failed, 1 not ended");
            assert!(text.contains(&counts), "{text}");
        }
        assert!(!text.contains("memcheck"), "{text}");
        let left = folder.path().join("logs/left-0");
        assert_eq!(fs::read_to_string(&left).unwrap(), "b\nc\n");

        let list = folder.path().join("cases");
        fs::write(&list, "a (1), \"quoted\"\nd e\n").unwrap();
        let list = list.to_str().unwrap();
        let (passed, text) = run_script(folder.path(), &["-f", list, "racecheck"]);
        assert!(
            passed && text.contains("2 cases by racecheck, 1 at once"),
            "{text}"
        );
        assert!(
            text.contains("racecheck: 2 ok, 0 with findings, 0 failed, 0 not ended"),
            "{text}"
        );
        let (passed, text) = run_script(folder.path(), &["leakcheck"]);
        assert!(
            !passed && text.contains("leakcheck is no tool: use some of memcheck"),
            "{text}"
        );
    }
}
