//! `cargo xtask ptx`: builds the kernels, checks them, and makes them the prebuilt ones.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use cuda_builder::{CudaBuilder, NvvmArch, SOURCES, search_device_compiler};
use ptx_rules::{Build, Exceptions, declared_kernels, entries, family_of, join_directory, review};

use crate::ptxas::{self, KernelUse, Optimise, Ptxas};
use crate::{Error, target_dir, workspace};

/// The architectures that the PTX must assemble for: our baseline, the data-centre GPUs, the newest.
const ARCHITECTURES: [&str; 4] = ["sm_75", "sm_80", "sm_90", "sm_120"];
/// The newest of them, for `--quick`. For any architecture ptxas refuses an instruction that the PTX of the oldest
/// lacks, which the text names as its target.
const NEWEST: &str = "sm_120";

/// The packages with kernels, by their folders. Each has a folder `prebuilt` with its PTX, a file for each family.
pub const PACKAGES: [&str; 2] = ["gpu/collective", "gpu"];

/// The kernels that all packages declare, each with its family.
///
/// # Errors
/// A folder or file cannot be read, or two kernels have one name.
pub fn declared() -> Result<BTreeMap<String, String>, Error> {
    let mut all = BTreeMap::new();
    for package in PACKAGES {
        for (kernel, family) in declared_kernels(&workspace().join(package).join("src"))? {
            if let Some(other) = all.insert(kernel.clone(), family) {
                return Err(format!("{package}: {kernel} is declared in {other} too").into());
            }
        }
    }
    Ok(all)
}

/// The families of kernels: the folders of gpu/src, and the packages beside them.
///
/// # Errors
/// Errors of [`declared`].
pub fn families() -> Result<BTreeSet<String>, Error> {
    Ok(declared()?.into_values().collect())
}

/// The prebuilt PTX of all packages.
///
/// # Errors
/// A folder or file cannot be read, or a package's files are not of one build.
pub fn prebuilt() -> Result<Vec<String>, String> {
    let prebuilt = |package: &&str| join_directory(&workspace().join(package).join("prebuilt"));
    PACKAGES.iter().map(prebuilt).collect()
}

/// Builds the kernels to PTX: target/ptx/gpu.ptx and target/ptx/collective.ptx.
///
/// Without a device compiler (`cargo xtask doctor`) the command works on the checked-in prebuilt kernels.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Make the build the prebuilt one: write a file for each family to the folder `prebuilt` of its package, and the
    /// list of the sources; commit them.
    #[arg(long)]
    bless: bool,
    /// Check the rules of the PTX, assemble it with ptxas and show the resources of each kernel on each architecture.
    ///
    /// ptxas is taken from TRIOXIDE_PTXAS, PATH or /usr/local/cuda/bin, or downloaded from PyPI into target/ptxas. No
    /// GPU is needed.
    #[arg(long)]
    check: bool,
    /// With --check: only assemble the prebuilt kernels, without optimisation, for the newest architecture: 20 to 40 s
    /// of one core.
    ///
    /// Fails if ptxas refuses a kernel. Builds nothing, checks no rules and shows no resources. `cargo xtask test` runs
    /// it; its test `ptx` compares the prebuilt kernels with the sources and checks the rules.
    #[arg(long, requires = "check", conflicts_with_all = ["bless", "checked"])]
    quick: bool,
    /// With --check: assemble for these architectures.
    #[arg(
        long,
        value_name = "SM",
        requires = "check",
        default_values = ARCHITECTURES,
        default_value_if("quick", "true", NEWEST)
    )]
    arch: Vec<String>,
    /// Build the kernels of a checked build, which report every index out of range.
    #[arg(long, conflicts_with = "bless")]
    checked: bool,
}

/// The PTX of a package.
struct Kernels {
    folder: PathBuf,
    ptx: PathBuf,
    text: String,
    /// The sources' list, if they were built.
    sources: Option<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Error> {
    if arguments.quick {
        return assemble_prebuilt(&arguments.arch);
    }
    let search = search_device_compiler();
    let must_build = arguments.bless || arguments.checked;
    match search.found {
        Some(_) => println!("building the kernels (1 to 2 minutes from nothing) with {search}"),
        None if must_build => {
            return Err(format!("there is no device compiler to build with\n{search}").into());
        }
        None => println!(
            "skipped: building the kernels: there is no device compiler (`cargo xtask doctor`)"
        ),
    }
    let mut all = Vec::new();
    for package in PACKAGES {
        let kernels = match search.found {
            Some(_) => build(package, arguments.checked)?,
            None => join_prebuilt(package, "")?,
        };
        println!(
            "{}: {} kernels, {} KiB",
            kernels.ptx.display(),
            entries(&kernels.text).len(),
            kernels.text.len() / 1024
        );
        all.push(kernels);
    }
    if arguments.bless {
        all.iter().try_for_each(bless)?;
    }
    if arguments.check {
        check_rules(&all, arguments.checked)?;
        match ptxas::find_or_download() {
            Ok(ptxas) => check(&ptxas, &all, &arguments.arch)?,
            Err(reason) => println!("skipped: assembling the kernels: {reason}"),
        }
    }
    Ok(())
}

/// The path of a package's PTX.
fn place(folder: &Path, suffix: &str) -> Result<PathBuf, Error> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let target = target_dir().join("ptx");
    fs::create_dir_all(&target)?;
    Ok(target.join(format!("{name}{suffix}.ptx")))
}

/// Assembles the prebuilt kernels without optimisation. Files of its own: a test may build the kernels meanwhile.
fn assemble_prebuilt(architectures: &[String]) -> Result<(), Error> {
    let ptxas = match ptxas::find_or_download() {
        Ok(ptxas) => ptxas,
        Err(reason) => {
            println!("skipped: assembling the kernels: {reason}");
            return Ok(());
        }
    };
    println!("ptxas {} ({})", ptxas.release, ptxas.path.display());
    for package in PACKAGES {
        let kernels = join_prebuilt(package, ".prebuilt")?;
        for arch in architectures {
            let assembled = ptxas.assemble(&kernels.ptx, arch, Optimise::No)?;
            println!("{package}, {arch}: {} kernels", assembled.len());
        }
    }
    Ok(())
}

fn join_prebuilt(package: &str, suffix: &str) -> Result<Kernels, Error> {
    let folder = workspace().join(package);
    let text = join_directory(&folder.join("prebuilt"))?;
    let ptx = place(&folder, suffix)?;
    fs::write(&ptx, &text).map_err(|error| format!("{}: {error}", ptx.display()))?;
    Ok(Kernels {
        folder,
        ptx,
        text,
        sources: None,
    })
}

fn build(package: &str, checked: bool) -> Result<Kernels, Error> {
    let folder = workspace().join(package);
    let builder = CudaBuilder::new(&folder).arch(NvvmArch::Compute75);
    let builder = builder.features(checked.then_some("checked"));
    // The directory that build scripts use too: `core` is built once.
    let builder = builder.target_dir(target_dir().join("device"));
    let suffix = if checked { ".checked" } else { "" };
    let built = builder.copy_to(place(&folder, suffix)?).build_listed()?;
    let text = fs::read_to_string(&built.ptx)
        .map_err(|error| format!("{}: {error}", built.ptx.display()))?;
    Ok(Kernels {
        folder,
        ptx: built.ptx,
        text,
        sources: Some(built.sources),
    })
}

/// Writes one file for each family and the list of the sources, and removes the files of families that no longer exist.
fn bless(kernels: &Kernels) -> Result<(), Error> {
    let declared = declared_kernels(&kernels.folder.join("src"))?;
    let mut files: BTreeMap<String, String> = ptx_rules::split(&kernels.text, |entry| {
        family_of(entry, &declared).map(|(_, family)| family.to_owned())
    })?
    .into_iter()
    .map(|(family, text)| (format!("{family}.ptx"), text))
    .collect();
    files.extend(
        kernels
            .sources
            .iter()
            .map(|list| (SOURCES.to_owned(), list.clone())),
    );
    let directory = kernels.folder.join("prebuilt");
    fs::create_dir_all(&directory)?;
    let mut before = BTreeMap::new();
    for entry in fs::read_dir(&directory)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        before.insert(name.into_owned(), fs::read_to_string(&path)?);
    }
    let changed = changed_files(&before, &files);
    for name in &changed {
        let path = directory.join(name);
        match files.get(*name) {
            None => fs::remove_file(&path)?,
            Some(text) => {
                let temporary = path.with_extension("tmp");
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

/// The files whose texts differ, or that only one side has.
fn changed_files<'a>(
    before: &'a BTreeMap<String, String>,
    after: &'a BTreeMap<String, String>,
) -> Vec<&'a str> {
    let differs = |name: &&String| before.get(*name) != after.get(*name);
    let gone = before.keys().filter(|name| !after.contains_key(*name));
    let changed = after.keys().filter(differs).chain(gone);
    changed.map(String::as_str).collect()
}

/// The kernels of a package that may break a rule of the PTX: its file `ptx-exceptions.txt`, if there is one.
///
/// # Errors
/// The file cannot be read.
pub fn exceptions(folder: &Path) -> Result<Exceptions, Error> {
    let path = folder.join("ptx-exceptions.txt");
    if !path.exists() {
        return Ok(Exceptions::default());
    }
    let exceptions = fs::read_to_string(&path)
        .map_err(|error| error.to_string())
        .and_then(|text| Exceptions::parse(&text))
        .map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(exceptions)
}

/// Checks the rules of the PTX.
fn check_rules(all: &[Kernels], checked: bool) -> Result<(), Error> {
    let build = if checked {
        Build::Checked
    } else {
        Build::Plain
    };
    for Kernels {
        folder, ptx, text, ..
    } in all
    {
        review(&ptx.to_string_lossy(), text, build, &exceptions(folder)?)
            .map_err(|report| format!("kernels break rules of the PTX\n{report}"))?;
    }
    println!("the kernels keep the rules of the PTX");
    Ok(())
}

/// Assembles for each architecture and prints a row for each kernel.
fn check(ptxas: &Ptxas, all: &[Kernels], architectures: &[String]) -> Result<(), Error> {
    let mut by_architecture = Vec::new();
    for arch in architectures {
        let mut kernels = Vec::new();
        for package in all {
            kernels.extend(ptxas.assemble(&package.ptx, arch, Optimise::Yes)?);
        }
        by_architecture.push(kernels);
    }
    println!("\nptxas {} ({})", ptxas.release, ptxas.path.display());
    println!(
        "registers a thread, else bytes, on {} (one number: equal on all)\n",
        architectures.join(" / ")
    );
    print!("{}", table(&by_architecture));
    Ok(())
}

/// A row for each kernel; `by_architecture` holds the same kernels in the same order for each architecture.
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
    use clap::Parser;

    use super::*;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    #[test]
    fn quick_assembles_for_the_newest_architecture() {
        let parse = |words: &[&str]| {
            let line = Line::try_parse_from(["ptx"].iter().chain(words));
            line.map(|line| line.arguments.arch)
        };
        assert_eq!(parse(&["--check"]).unwrap(), ARCHITECTURES);
        assert_eq!(parse(&["--check", "--quick"]).unwrap(), [NEWEST]);
        let named = parse(&["--check", "--quick", "--arch", "sm_80"]);
        assert_eq!(named.unwrap(), ["sm_80"]);
        assert!(parse(&["--quick"]).is_err());
        assert!(parse(&["--check", "--quick", "--bless"]).is_err());
    }

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
    fn files_that_change_come_or_go_are_found() {
        let families = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            let own = |&(family, text): &(&str, &str)| (family.to_owned(), text.to_owned());
            pairs.iter().map(own).collect()
        };
        let before = families(&[("gone", "a"), ("same", "b"), ("weld", "c")]);
        let after = families(&[("new", "a"), ("same", "b"), ("weld", "d")]);
        assert_eq!(changed_files(&before, &after), ["new", "weld", "gone"]);
    }
}
