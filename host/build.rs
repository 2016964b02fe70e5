//! Puts the kernels where the library embeds them: `$OUT_DIR/trioxide.ptx`, built from `gpu` or put together
//! from `gpu/prebuilt`. `TRIOXIDE_PTX_ORIGIN` tells the library which of both it was.
//!
//! `TRIOXIDE_PTX=prebuilt` asks for the checked-in files even where a device compiler is there. The feature `checked` needs kernels
//! that are built with it: the checked-in ones are not.
//!
//! Where `TRIOXIDE_PTXAS` names NVIDIA's assembler, machine code for the common architectures is embedded too.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use cuda_builder::{CudaBuilder, NvvmArch, RUSTC_VARIABLE, search_device_compiler};

#[path = "build/machine_code.rs"]
mod machine_code;

/// The kernels' sources.
const SOURCES: &str = "../gpu/src";

/// One file for each family of kernels.
const PREBUILT: &str = "../gpu/prebuilt";

fn main() -> ExitCode {
    match embed_ptx().and_then(|origin| embed_machine_code().map(|()| origin)) {
        Ok(origin) => {
            println!("cargo::rustc-env=TRIOXIDE_PTX_ORIGIN={origin}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            for line in message.lines() {
                println!("cargo::error={line}");
            }
            ExitCode::FAILURE
        }
    }
}

/// Writes the PTX and returns "built" or "prebuilt".
fn embed_ptx() -> Result<&'static str, String> {
    let out_dir = env::var_os("OUT_DIR").ok_or("OUT_DIR is not set: cargo runs this, not you")?;
    let embedded = PathBuf::from(out_dir).join("trioxide.ptx");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=TRIOXIDE_PTX");
    match env::var("TRIOXIDE_PTX").as_deref() {
        Err(env::VarError::NotPresent) => {}
        Ok("prebuilt") => return join_prebuilt(&embedded, "TRIOXIDE_PTX asks for it"),
        other => {
            return Err(format!(
                "TRIOXIDE_PTX is {other:?}; it takes one value, \"prebuilt\""
            ));
        }
    }
    let search = search_device_compiler();
    if search.found.is_some() {
        CudaBuilder::new("../gpu")
            .arch(NvvmArch::Compute75)
            .features(is_checked().then_some("checked"))
            .copy_to(&embedded)
            .build()
            .map_err(|error| error.to_string())?;
        return Ok("built");
    }
    println!("cargo::rerun-if-env-changed={RUSTC_VARIABLE}");
    if env::var_os(RUSTC_VARIABLE).is_some() {
        return Err(format!(
            "{RUSTC_VARIABLE} is set to no usable compiler:\n{search}"
        ));
    }
    // As `CudaBuilder::build` does.
    for path in search.watched_paths() {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    let reason = "no device compiler was found; `cargo xtask doctor` says what is missing";
    join_prebuilt(&embedded, reason).map_err(|error| {
        format!("{error}, and no device compiler was found to build the kernels:\n{search}")
    })
}

/// Writes the machine code of the PTX that [`embed_ptx`] wrote. A checked build has none: its kernels come from their PTX.
fn embed_machine_code() -> Result<(), String> {
    println!("cargo::rerun-if-env-changed={}", machine_code::PTXAS);
    println!("cargo::rerun-if-changed=build");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    let ptxas = env::var_os(machine_code::PTXAS).map(PathBuf::from);
    let ptxas = ptxas.filter(|_| !is_checked());
    let text = fs::read_to_string(out.join("trioxide.ptx"))
        .map_err(|error| format!("the kernels cannot be read back: {error}"))?;
    let families = match &ptxas {
        None => BTreeMap::new(),
        Some(_) => {
            println!("cargo::rerun-if-changed={SOURCES}");
            let declared = ptx_rules::declared_kernels(Path::new(SOURCES))
                .map_err(|error| format!("{SOURCES}: {error}"))?;
            ptx_rules::split(&text, |entry| {
                let found = ptx_rules::family_of(entry, &declared);
                found.map(|(_, family)| family.to_owned())
            })?
        }
    };
    let bytes = machine_code::embed(&families, ptxas.as_deref(), &out)?;
    let debug = env::var("PROFILE").is_ok_and(|profile| profile == "debug");
    match bytes {
        0 if debug || is_checked() => {}
        0 => println!(
            "cargo::warning=no machine code is embedded, so drivers compile the PTX: `cargo xtask build` embeds it, or set {} to an \
             assembler",
            machine_code::PTXAS
        ),
        _ => println!(
            "cargo::warning=embedding machine code of the kernels, {} KiB",
            bytes / 1024
        ),
    }
    Ok(())
}

/// Whether the package's feature `checked` is on.
fn is_checked() -> bool {
    env::var_os("CARGO_FEATURE_CHECKED").is_some()
}

fn join_prebuilt(embedded: &Path, reason: &str) -> Result<&'static str, String> {
    if is_checked() {
        return Err(format!(
            "the feature `checked` needs kernels built with it, not the prebuilt ones of gpu/prebuilt ({reason}): build without \
             TRIOXIDE_PTX on a machine with a device compiler (`cargo xtask doctor`), or without the feature"
        ));
    }
    println!("cargo::rerun-if-changed={PREBUILT}");
    let text = ptx_rules::join_directory(Path::new(PREBUILT))
        .map_err(|error| format!("the prebuilt kernels cannot be used: {error}"))?;
    fs::write(embedded, text).map_err(|error| format!("{}: {error}", embedded.display()))?;
    println!("cargo::warning=embedding the prebuilt kernels (gpu/prebuilt): {reason}");
    Ok("prebuilt")
}
