//! `cargo xtask doctor`: programs found on this machine, missing ones, and the commands that install them.

use std::path::Path;
use std::process::Command;

use cuda_builder::{CompilerSearch, search_device_compiler};
use ptx_rules::entries;

use crate::process::{cargo, output_of};
use crate::ptx::prebuilt;
use crate::report::find_browser;
use crate::{Error, mpi, ptxas};

/// Shows the programs that trioxide finds on this machine and the missing ones, with the commands that install them.
///
/// Nothing is changed. The exit status is 1 only if trioxide cannot be built here.
#[derive(clap::Args)]
pub(crate) struct Arguments {}

pub(crate) fn run(_arguments: &Arguments) -> Result<(), Error> {
    report_host_tools();
    let search = search_device_compiler();
    report_device_compiler(&search);
    let has_prebuilt = report_prebuilt();
    report_ptxas();
    report_browser();
    report_mpi();
    report_gpu();
    if search.found.is_none() && !has_prebuilt {
        return Err("there is neither a device compiler nor a prebuilt file of kernels".into());
    }
    Ok(())
}

/// One finding; the lines after the first are details.
fn report(subject: &str, finding: &str) {
    for (index, line) in finding.lines().enumerate() {
        println!("{:<18}{line}", if index == 0 { subject } else { "" });
    }
}

fn report_host_tools() {
    for (subject, arguments, remedy) in [
        ("host cargo", ["version", ""], "https://rustup.rs"),
        (
            "rustfmt",
            ["fmt", "--version"],
            "rustup component add rustfmt",
        ),
        (
            "clippy",
            ["clippy", "--version"],
            "rustup component add clippy",
        ),
    ] {
        let arguments: Vec<&str> = arguments
            .into_iter()
            .filter(|word| !word.is_empty())
            .collect();
        match output_of(&mut cargo(&arguments)) {
            Some(version) => report(subject, version.trim()),
            None => report(
                subject,
                &format!("missing (only tests need it)\ninstall: {remedy}"),
            ),
        }
    }
}

fn report_device_compiler(search: &CompilerSearch) {
    match &search.found {
        Some(compiler) => {
            report("device compiler", &search.to_string());
            report(
                "",
                &format!(
                    "{}, {}",
                    compiler.rustc.display(),
                    compiler.llvm.llc.display()
                ),
            );
        }
        None => report(
            "device compiler",
            "missing: the prebuilt kernels are used; any one of these remedies will do",
        ),
    }
    let role = if search.found.is_some() {
        "passed over: "
    } else {
        ""
    };
    for place in &search.rejected {
        let lacks = place.missing.join("; ");
        report(
            "",
            &format!(
                "{role}{} lacks {lacks}\ninstall: {}",
                place.origin, place.remedy
            ),
        );
    }
}

fn report_prebuilt() -> bool {
    match prebuilt() {
        Ok(texts) => {
            let kernels: usize = texts.iter().map(|text| entries(text).len()).sum();
            let first = texts.first().map_or("", String::as_str);
            let compiler = first.lines().next().unwrap_or_default();
            let compiler = compiler
                .trim_start_matches("// ")
                .split("; rustc ")
                .next()
                .unwrap_or_default();
            report(
                "prebuilt kernels",
                &format!("{kernels} kernels by {compiler}"),
            );
            true
        }
        Err(reason) => {
            report(
                "prebuilt kernels",
                &format!("none that can be used\n{reason}\nwrite them: cargo xtask ptx --bless"),
            );
            false
        }
    }
}

fn report_ptxas() {
    match ptxas::find() {
        Some(ptxas) => report(
            "ptxas",
            &format!("release {} ({})", ptxas.release, ptxas.path.display()),
        ),
        None => report(
            "ptxas",
            "not here (only the check of the PTX needs it)\ninstall: cargo xtask ptx --check downloads it from PyPI",
        ),
    }
}

fn report_browser() {
    match find_browser() {
        Ok(browser) => report("browser", &browser.display().to_string()),
        Err(reason) => report(
            "browser",
            &format!("not here (only the check of the report's page needs it)\n{reason}"),
        ),
    }
}

fn report_mpi() {
    let missing = mpi::missing();
    if missing.is_empty() {
        for (name, found) in mpi::findings() {
            report(name, &found.unwrap_or_default());
        }
        return;
    }
    report(
        "MPI",
        &format!(
            "not here (only several ranks need it: cargo xtask build --mpi); missing: {}\ninstall: {}",
            missing.join(", "),
            mpi::remedy()
        ),
    );
}

fn report_gpu() {
    let query = [
        "--query-gpu=index,name,compute_cap,memory.total,driver_version",
        "--format=csv,noheader",
    ];
    match output_of(Command::new("nvidia-smi").args(query)) {
        Some(gpus) if !gpus.trim().is_empty() => {
            for gpu in gpus.lines() {
                let fields: Vec<&str> = gpu.split(',').map(str::trim).collect();
                match fields[..] {
                    [index, name, capability, memory, driver] => report(
                        "GPU",
                        &format!(
                            "cuda:{index}: {name}, compute capability {capability}, {memory}, driver {driver}"
                        ),
                    ),
                    _ => report("GPU", gpu),
                }
            }
        }
        _ if Path::new("/proc/driver/nvidia/version").exists() => {
            report(
                "GPU",
                "NVIDIA's driver is loaded, and nvidia-smi shows no GPU\nsee: nvidia-smi",
            );
        }
        _ => report(
            "GPU",
            "none found: meshes are processed on the CPU\ninstall: NVIDIA's driver, for a GPU since Turing (compute capability 7.5)",
        ),
    }
}
