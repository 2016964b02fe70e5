//! Reads the kernels' PTX: checks its rules, and whether the prebuilt files match the sources.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use cuda_builder::{CudaBuilder, NvvmArch, SOURCES, search_device_compiler};
use ptx_rules::{
    Build, declared_kernels, entries, family_of, join_directory, read_families, review,
};
use xtask::ptx::PACKAGES;

fn folder(package: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .join(package)
}

/// PTX that was built from the sources, and the list of the sources.
struct Fresh {
    text: String,
    sources: String,
}

/// The PTX of the sources of each package, built once, if there is a device compiler.
fn built() -> Option<&'static [Fresh; PACKAGES.len()]> {
    static BUILT: OnceLock<Option<[Fresh; PACKAGES.len()]>> = OnceLock::new();
    let build_all = || {
        search_device_compiler().found.as_ref()?;
        Some(PACKAGES.map(build))
    };
    BUILT.get_or_init(build_all).as_ref()
}

fn build(package: &str) -> Fresh {
    build_with(package, "", |builder| builder)
}

fn build_with(package: &str, suffix: &str, with: impl Fn(CudaBuilder) -> CudaBuilder) -> Fresh {
    // The target directory of the host's build scripts, where `core` is built already.
    let tmp = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let target = tmp.parent().expect("it is target/tmp");
    let name = format!("{}{suffix}.ptx", package.replace('/', "-"));
    let built = with(CudaBuilder::new(folder(package)))
        .arch(NvvmArch::Compute75)
        .target_dir(target.join("device"))
        .copy_to(tmp.join(name))
        .build_listed()
        .unwrap_or_else(|error| panic!("{error}"));
    Fresh {
        text: fs::read_to_string(built.ptx).expect("the builder has written it"),
        sources: built.sources,
    }
}

/// One text for each family of a package, as `cargo xtask ptx --bless` splits a PTX.
fn families(package: &str, ptx: &str) -> BTreeMap<String, String> {
    let declared = declared_kernels(&folder(package).join("src")).expect("the sources can be read");
    let family = |entry: &str| family_of(entry, &declared).map(|(_, family)| family.to_owned());
    ptx_rules::split(ptx, family).unwrap_or_else(|error| panic!("{error}"))
}

/// Prints that a test was skipped, to standard error: the test harness hides the output of passing tests.
fn skip(test: &str, reason: &str) {
    writeln!(std::io::stderr(), "skipped: {test}: {reason}").expect("standard error is open");
}

/// The PTX of the sources, or the prebuilt one without a device compiler.
#[test]
fn kernels_keep_the_rules() {
    for (k, package) in PACKAGES.iter().enumerate() {
        let exceptions = xtask::ptx::exceptions(&folder(package)).expect("they are checked in");
        let text = match built() {
            Some(built) => built[k].text.clone(),
            None => join_directory(&folder(package).join("prebuilt")).expect("one build's files"),
        };
        assert!(!entries(&text).is_empty(), "no kernel in {package}");
        if let Err(report) = review(package, &text, Build::Plain, &exceptions) {
            panic!("kernels break rules of the PTX\n{report}");
        }
    }
}

#[test]
fn prebuilt_ptx_is_that_of_the_sources() {
    let test = "prebuilt_ptx_is_that_of_the_sources";
    let Some(built) = built() else {
        return skip(
            test,
            "no device compiler; `cargo xtask doctor` says what is missing",
        );
    };
    for (package, fresh) in PACKAGES.iter().zip(built) {
        let folder = folder(package).join("prebuilt");
        let remedy = format!("run `cargo xtask ptx --bless` and commit {package}/prebuilt");
        let listed = fs::read_to_string(folder.join(SOURCES)).expect("it is checked in");
        assert_eq!(listed, fresh.sources, "the sources of {package}: {remedy}");
        let prebuilt = read_families(&folder).expect("it is checked in");
        let compiler = |ptx: &str| ptx.lines().next().unwrap_or_default().to_owned();
        let theirs = prebuilt.values().next().map(|ptx| compiler(ptx));
        let (theirs, ours) = (theirs.expect("there are families"), compiler(&fresh.text));
        if theirs != ours {
            let reason = format!(
                "the prebuilt files are by another compiler: {theirs}; here: {ours}; `cargo xtask ptx --check` assembles \
                 the kernels of the sources"
            );
            return skip(test, &reason);
        }
        let built = families(package, &fresh.text);
        assert!(
            prebuilt.keys().eq(built.keys()),
            "the families of {package}/prebuilt and of the sources differ: {remedy}"
        );
        for (family, built) in &built {
            let mut lines = prebuilt[family].lines().zip(built.lines());
            let difference = lines.position(|(old, new)| old != new);
            assert!(
                prebuilt[family] == *built,
                "{package}/prebuilt/{family}.ptx is not what the sources give (first different line: {}): {remedy}",
                difference
                    .map_or_else(|| "after the end".to_owned(), |line| (line + 1).to_string())
            );
        }
    }
}

/// The instructions are the same, and all have lines of the package, except some in called functions.
#[test]
fn line_information_changes_no_instruction() {
    let test = "line_information_changes_no_instruction";
    let Some(built) = built() else {
        return skip(
            test,
            "no device compiler; `cargo xtask doctor` says what is missing",
        );
    };
    let with_lines = build_with(PACKAGES[0], ".lines", |builder| builder.lines(true)).text;
    let is_of_lines = |line: &&str| {
        [".loc", ".file", "$L__tmp", "$L__func"]
            .iter()
            .any(|word| line.trim_start().starts_with(word))
    };
    let instructions = |text: &str| {
        let lines = text
            .lines()
            .skip(1)
            .map(|line| line.split("//").next().unwrap_or_default());
        let lines = lines.map(str::trim_end).filter(|line| !line.is_empty());
        lines
            .filter(|line| !is_of_lines(line))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let (ours, plain) = (instructions(&with_lines), instructions(&built[0].text));
    let is_other = |(with, without): (&String, &String)| with != without;
    let first = ours.iter().zip(&plain).position(is_other);
    assert_eq!((first, ours.len()), (None, plain.len()));
    let locations = with_lines.matches("\t.loc\t").count();
    assert!(locations > 500, "{locations} locations");
    let files = with_lines
        .lines()
        .filter(|line| line.trim_start().starts_with(".file"));
    let sources = folder(PACKAGES[0])
        .canonicalize()
        .expect("a folder")
        .join("src");
    for file in files {
        let path = file.split('"').nth(1).expect("a path");
        assert!(Path::new(path).starts_with(&sources), "{path}");
    }
}

/// Without a compiler too: splitting the prebuilt files again gives the same files.
#[test]
fn prebuilt_ptx_is_cut_by_family() {
    for package in PACKAGES {
        let prebuilt = folder(package).join("prebuilt");
        let joined = join_directory(&prebuilt).expect("one build's files");
        let prebuilt = read_families(&prebuilt).expect("it is checked in");
        for (family, text) in families(package, &joined) {
            assert!(
                prebuilt.get(&family) == Some(&text),
                "{package}/prebuilt/{family}.ptx has other kernels than the sources of {family}: run \
                 `cargo xtask ptx --bless` and commit {package}/prebuilt"
            );
        }
    }
}
