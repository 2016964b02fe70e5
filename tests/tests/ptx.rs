//! Reads the kernels' PTX: the rules that it keeps, and whether the prebuilt files are those of the sources.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use cuda_builder::{CudaBuilder, NvvmArch, search_device_compiler};
use ptx_rules::{
    Build, Exceptions, declared_kernels, entries, family_of, join_directory, read_families, review,
};

fn gpu() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../gpu")
}

/// The PTX of the sources, or the prebuilt one where no device compiler is there to build it; with a name for messages.
fn kernels() -> (&'static str, &'static str) {
    static PREBUILT: OnceLock<String> = OnceLock::new();
    match built() {
        Some(ptx) => ("kernels.ptx", ptx),
        None => {
            let join = || join_directory(&gpu().join("prebuilt")).expect("one build's files");
            ("gpu/prebuilt, joined", PREBUILT.get_or_init(join))
        }
    }
}

/// The PTX of the sources, built once, if there is a device compiler.
fn built() -> Option<&'static str> {
    static BUILT: OnceLock<Option<String>> = OnceLock::new();
    BUILT.get_or_init(build).as_deref()
}

fn build() -> Option<String> {
    search_device_compiler().found.as_ref()?;
    // The target directory of the host's build script: `core` is built there already.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .parent()
        .expect("it is target/tmp");
    let built = CudaBuilder::new(gpu())
        .arch(NvvmArch::Compute75)
        .target_dir(target.join("device"))
        .copy_to(Path::new(env!("CARGO_TARGET_TMPDIR")).join("kernels.ptx"))
        .build();
    match built {
        Ok(path) => Some(fs::read_to_string(path).expect("the builder has written it")),
        Err(error) => panic!("{error}"),
    }
}

/// One text for each family, as `cargo xtask ptx --bless` cuts a PTX.
fn families(ptx: &str) -> BTreeMap<String, String> {
    let declared = declared_kernels(&gpu().join("src")).expect("the sources can be read");
    let family = |entry: &str| family_of(entry, &declared).map(|(_, family)| family.to_owned());
    ptx_rules::split(ptx, family).unwrap_or_else(|error| panic!("{error}"))
}

/// Says past the test harness, which keeps back what passing tests print, that a test has not run.
fn skip(test: &str, reason: &str) {
    writeln!(std::io::stderr(), "skipped: {test}: {reason}").expect("standard error is open");
}

#[test]
fn kernels_keep_the_rules() {
    let exceptions =
        fs::read_to_string(gpu().join("ptx-exceptions.txt")).expect("it is checked in");
    let exceptions = Exceptions::parse(&exceptions).unwrap_or_else(|error| panic!("{error}"));
    let (name, ptx) = kernels();
    assert!(!entries(ptx).is_empty(), "no kernel in {name}");
    if let Err(report) = review(name, ptx, Build::Plain, &exceptions) {
        panic!("kernels break rules of the PTX\n{report}");
    }
}

#[test]
fn prebuilt_ptx_is_that_of_the_sources() {
    let test = "prebuilt_ptx_is_that_of_the_sources";
    let prebuilt = read_families(&gpu().join("prebuilt")).expect("it is checked in");
    let Some(built) = built() else {
        return skip(
            test,
            "no device compiler; `cargo xtask doctor` says what is missing",
        );
    };
    let compiler = |ptx: &str| ptx.lines().next().unwrap_or_default().to_owned();
    let theirs = prebuilt.values().next().map(|ptx| compiler(ptx));
    let (theirs, ours) = (theirs.expect("there are families"), compiler(built));
    if theirs != ours {
        let reason = format!("the prebuilt files are by another compiler: {theirs}; here: {ours}");
        return skip(test, &reason);
    }
    let built = families(built);
    let names =
        |families: &BTreeMap<String, String>| -> Vec<String> { families.keys().cloned().collect() };
    assert_eq!(
        names(&prebuilt),
        names(&built),
        "the families of gpu/prebuilt and of the sources: run `cargo xtask ptx --bless` and commit gpu/prebuilt"
    );
    for (family, built) in &built {
        let mut lines = prebuilt[family].lines().zip(built.lines());
        let difference = lines.position(|(old, new)| old != new);
        assert!(
            prebuilt[family] == *built,
            "gpu/prebuilt/{family}.ptx is not what the sources give (first different line: {}): run \
             `cargo xtask ptx --bless` and commit it",
            difference.map_or_else(|| "after the end".to_owned(), |line| (line + 1).to_string())
        );
    }
}

/// Without a compiler too: the prebuilt files are as they would be cut again.
#[test]
fn prebuilt_ptx_is_cut_by_family() {
    let prebuilt = read_families(&gpu().join("prebuilt")).expect("it is checked in");
    let joined = join_directory(&gpu().join("prebuilt")).expect("one build's files");
    for (family, text) in families(&joined) {
        assert!(
            prebuilt.get(&family) == Some(&text),
            "gpu/prebuilt/{family}.ptx has other kernels than gpu/src/{family}: run `cargo xtask ptx --bless` and \
             commit gpu/prebuilt"
        );
    }
}
