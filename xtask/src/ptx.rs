//! `cargo xtask ptx`: builds the kernels, checks them, makes them the prebuilt ones.

use std::fs;
use std::path::{Path, PathBuf};

use cuda_builder::{CudaBuilder, NvvmArch, search_device_compiler};

use crate::ptxas::{self, KernelUse, Ptxas};
use crate::{Error, target_dir, workspace};

/// The architectures that the PTX must assemble for: our baseline, the data-centre GPUs, the newest.
const ARCHITECTURES: [&str; 4] = ["sm_75", "sm_80", "sm_90", "sm_120"];

/// Builds the kernels to PTX, target/trioxide.ptx.
///
/// Without a device compiler (`cargo xtask doctor`) the checked-in gpu/prebuilt/trioxide.ptx is looked at instead.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Make the build the prebuilt one: write gpu/prebuilt/trioxide.ptx, to be committed.
    #[arg(long)]
    bless: bool,
    /// Assemble the PTX with ptxas and show what each kernel uses on each architecture.
    ///
    /// ptxas is taken from TRIOXIDE_PTXAS, PATH or /usr/local/cuda/bin, or downloaded from PyPI into target/ptxas. No
    /// GPU is needed.
    #[arg(long)]
    check: bool,
    /// Build the kernels of a checked build, which report every index that an array does not have: target/checked.ptx.
    #[arg(long, conflicts_with = "bless")]
    checked: bool,
}

/// The checked-in PTX, for machines without a device compiler.
pub(crate) fn prebuilt() -> PathBuf {
    workspace()
        .join("gpu")
        .join("prebuilt")
        .join("trioxide.ptx")
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Error> {
    let search = search_device_compiler();
    let ptx = if search.found.is_some() {
        println!("building the kernels with {search}");
        build(arguments.checked)?
    } else if arguments.bless || arguments.checked {
        return Err(format!("there is no device compiler to build with\n{search}").into());
    } else if prebuilt().is_file() {
        println!(
            "skipped: building the kernels: there is no device compiler (`cargo xtask doctor`)"
        );
        prebuilt()
    } else {
        return Err(format!(
            "there is no device compiler, and no {}\n{search}",
            prebuilt().display()
        )
        .into());
    };
    let text = fs::read_to_string(&ptx)?;
    println!(
        "{}: {} kernels, {} KiB",
        ptx.display(),
        kernel_count(&text),
        text.len() / 1024
    );
    if arguments.bless {
        bless(&text)?;
    }
    if arguments.check {
        match ptxas::find_or_download() {
            Ok(ptxas) => check(&ptxas, &ptx)?,
            Err(reason) => println!("skipped: assembling the kernels: {reason}"),
        }
    }
    Ok(())
}

/// The number of kernels in a PTX module.
pub(crate) fn kernel_count(ptx: &str) -> usize {
    ptx.lines()
        .filter(|line| line.starts_with(".visible .entry "))
        .count()
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

fn bless(text: &str) -> Result<(), Error> {
    let path = prebuilt();
    let before = fs::read_to_string(&path).unwrap_or_default();
    if before == text {
        println!("{} is up to date", path.display());
        return Ok(());
    }
    fs::create_dir_all(path.parent().expect("it lies in gpu/prebuilt"))?;
    let temporary = path.with_extension("ptx.tmp");
    fs::write(&temporary, text)?;
    fs::rename(&temporary, &path)?;
    println!("{} is written: commit it with the sources", path.display());
    Ok(())
}

/// Assembles for every architecture and prints one row a kernel.
fn check(ptxas: &Ptxas, ptx: &Path) -> Result<(), Error> {
    let mut by_architecture = Vec::new();
    for arch in ARCHITECTURES {
        by_architecture.push(ptxas.assemble(ptx, arch)?);
    }
    println!("\nptxas {} ({})", ptxas.release, ptxas.path.display());
    println!(
        "registers a thread, else bytes, on {} (one number: equal on all)\n",
        ARCHITECTURES.join(" / ")
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
    fn counts_kernels() {
        assert_eq!(
            kernel_count(
                ".version 6.3\n.visible .entry a(\n)\n.visible .func b\n.visible .entry c(\n"
            ),
            2
        );
    }
}
