//! `cargo xtask ptx`: builds the kernels, checks them, makes them the prebuilt ones.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use cuda_builder::{CudaBuilder, NvvmArch, search_device_compiler};
use ptx_rules::{Build, Exceptions, declared_kernels, entries, family_of, join_directory, review};

use crate::ptxas::{self, KernelUse, Ptxas};
use crate::{Error, target_dir, workspace};

/// The architectures that the PTX must assemble for: our baseline, the data-centre GPUs, the newest.
const ARCHITECTURES: [&str; 4] = ["sm_75", "sm_80", "sm_90", "sm_120"];
/// The oldest and the newest of them, for `cargo xtask test`: each takes ten seconds.
pub(crate) const OUTERMOST: [&str; 2] = ["sm_75", "sm_120"];

/// Builds the kernels to PTX, target/trioxide.ptx.
///
/// Without a device compiler (`cargo xtask doctor`) the command works on the checked-in gpu/prebuilt instead.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Make the build the prebuilt one: write gpu/prebuilt/<family>.ptx, to be committed.
    #[arg(long)]
    bless: bool,
    /// Check the rules of the PTX, assemble it with ptxas and show the resources of each kernel on each architecture.
    ///
    /// ptxas is taken from TRIOXIDE_PTXAS, PATH or /usr/local/cuda/bin, or downloaded from PyPI into target/ptxas. No
    /// GPU is needed.
    #[arg(long)]
    check: bool,
    /// With --check: assemble for these architectures.
    #[arg(long, value_name = "SM", requires = "check", default_values = ARCHITECTURES)]
    arch: Vec<String>,
    /// Build nothing: take this PTX of all kernels, such as one built on another machine.
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Build the kernels of a checked build, which report every index out of range: target/checked.ptx.
    #[arg(long, conflicts_with_all = ["bless", "from"])]
    checked: bool,
}

/// The directory of the checked-in PTX, for machines without a device compiler.
pub(crate) fn prebuilt() -> PathBuf {
    workspace().join("gpu").join("prebuilt")
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Error> {
    let ptx = match &arguments.from {
        Some(file) => file.clone(),
        None => kernels(arguments.bless || arguments.checked, arguments.checked)?,
    };
    let text = fs::read_to_string(&ptx).map_err(|error| format!("{}: {error}", ptx.display()))?;
    println!(
        "{}: {} kernels, {} KiB",
        ptx.display(),
        entries(&text).len(),
        text.len() / 1024
    );
    if arguments.bless {
        bless(&text)?;
    }
    if arguments.check {
        check_rules(&ptx, &text, arguments.checked)?;
        match ptxas::find_or_download() {
            Ok(ptxas) => check(&ptxas, &ptx, &arguments.arch)?,
            Err(reason) => println!("skipped: assembling the kernels: {reason}"),
        }
    }
    Ok(())
}

/// Builds the kernels, or puts the prebuilt ones together unless `must_build`. Returns the file.
fn kernels(must_build: bool, checked: bool) -> Result<PathBuf, Error> {
    let search = search_device_compiler();
    if search.found.is_some() {
        println!("building the kernels (1 to 2 minutes from nothing) with {search}");
        return build(checked);
    }
    if must_build {
        return Err(format!("there is no device compiler to build with\n{search}").into());
    }
    println!("skipped: building the kernels: there is no device compiler (`cargo xtask doctor`)");
    let text = join_directory(&prebuilt())
        .map_err(|error| format!("{error}, and there is no device compiler\n{search}"))?;
    let path = target_dir().join("trioxide.ptx");
    fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(path)
}

fn build(checked: bool) -> Result<PathBuf, Error> {
    let builder = CudaBuilder::new(workspace().join("gpu")).arch(NvvmArch::Compute75);
    let builder = builder.features(checked.then_some("checked"));
    let name = if checked { "checked" } else { "trioxide" };
    // The directory that the host's build script uses too: `core` is built once.
    let builder = builder.target_dir(target_dir().join("device"));
    Ok(builder
        .copy_to(target_dir().join(format!("{name}.ptx")))
        .build()?)
}

/// Writes one file for each family, and removes the files of families that no longer exist.
fn bless(text: &str) -> Result<(), Error> {
    let declared = declared_kernels(&workspace().join("gpu").join("src"))?;
    let families = ptx_rules::split(text, |entry| {
        family_of(entry, &declared).map(|(_, family)| family.to_owned())
    })?;
    let directory = prebuilt();
    fs::create_dir_all(&directory)?;
    let before = ptx_rules::read_families(&directory)?;
    let changed = changed_families(&before, &families);
    for family in &changed {
        let path = directory.join(format!("{family}.ptx"));
        match families.get(*family) {
            None => fs::remove_file(&path)?,
            Some(text) => {
                let temporary = path.with_extension("ptx.tmp");
                fs::write(&temporary, text)?;
                fs::rename(&temporary, &path)?;
            }
        }
        println!("{} has changed", path.display());
    }
    if changed.is_empty() {
        println!("{} is up to date", directory.display());
    } else {
        println!("commit {} with the sources", directory.display());
    }
    Ok(())
}

/// The families whose texts differ, or which only one of both has.
fn changed_families<'a>(
    before: &'a BTreeMap<String, String>,
    after: &'a BTreeMap<String, String>,
) -> Vec<&'a str> {
    let differs = |family: &&String| before.get(*family) != after.get(*family);
    let gone = before.keys().filter(|family| !after.contains_key(*family));
    let changed = after.keys().filter(differs).chain(gone);
    changed.map(String::as_str).collect()
}

/// Checks the rules of the PTX. The kernels that may break one are in gpu/ptx-exceptions.txt.
fn check_rules(file: &Path, text: &str, checked: bool) -> Result<(), Error> {
    let path = workspace().join("gpu").join("ptx-exceptions.txt");
    let exceptions = fs::read_to_string(&path)
        .map_err(|error| error.to_string())
        .and_then(|text| Exceptions::parse(&text))
        .map_err(|error| format!("{}: {error}", path.display()))?;
    let build = if checked {
        Build::Checked
    } else {
        Build::Plain
    };
    review(&file.to_string_lossy(), text, build, &exceptions)
        .map_err(|report| format!("kernels break rules of the PTX\n{report}"))?;
    println!("the kernels keep the rules of the PTX");
    Ok(())
}

/// Assembles for each architecture and prints one row a kernel.
fn check(ptxas: &Ptxas, ptx: &Path, architectures: &[String]) -> Result<(), Error> {
    let mut by_architecture = Vec::new();
    for arch in architectures {
        by_architecture.push(ptxas.assemble(ptx, arch)?);
    }
    println!("\nptxas {} ({})", ptxas.release, ptxas.path.display());
    println!(
        "registers a thread, else bytes, on {} (one number: equal on all)\n",
        architectures.join(" / ")
    );
    print!("{}", table(&by_architecture));
    Ok(())
}

/// One row a kernel; `by_architecture` holds the same kernels in the same order for each architecture.
fn table(by_architecture: &[Vec<KernelUse>]) -> String {
    let mut rows = vec![["kernel", "registers", "spills", "shared", "stack"].map(String::from)];
    for (index, kernel) in by_architecture.first().into_iter().flatten().enumerate() {
        let cell = |value: fn(&KernelUse) -> u32| {
            let values: Vec<u32> = by_architecture
                .iter()
                .map(|kernels| value(&kernels[index]))
                .collect();
            summary(&values)
        };
        rows.push([
            kernel.kernel.clone(),
            cell(|k| k.registers),
            cell(|k| k.spills),
            cell(|k| k.shared),
            cell(|k| k.stack),
        ]);
    }
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths: [usize; 5] = std::array::from_fn(width);
    let mut text = String::new();
    for row in &rows {
        text += &format!("{:<width$}", row[0], width = widths[0]);
        for (cell, width) in row.iter().zip(widths).skip(1) {
            text += &format!("  {cell:>width$}");
        }
        text += "\n";
    }
    text
}

fn summary(values: &[u32]) -> String {
    if values.windows(2).all(|pair| pair[0] == pair[1]) {
        return values.first().map(u32::to_string).unwrap_or_default();
    }
    values
        .iter()
        .map(u32::to_string)
        .collect::<Vec<_>>()
        .join(" / ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_shows_differences_between_architectures() {
        let scan = |registers| KernelUse {
            kernel: "scan".into(),
            registers,
            shared: 128,
            ..KernelUse::default()
        };
        let text = table(&[vec![scan(20)], vec![scan(24)]]);
        assert_eq!(
            text,
            "kernel  registers  spills  shared  stack\nscan      20 / 24       0     128      0\n"
        );
    }

    #[test]
    fn families_that_change_come_or_go_are_found() {
        let families = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            let own = |&(family, text): &(&str, &str)| (family.to_owned(), text.to_owned());
            pairs.iter().map(own).collect()
        };
        let before = families(&[("gone", "a"), ("same", "b"), ("weld", "c")]);
        let after = families(&[("new", "a"), ("same", "b"), ("weld", "d")]);
        assert_eq!(changed_families(&before, &after), ["new", "weld", "gone"]);
    }
}
