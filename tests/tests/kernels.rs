//! Kernels, their PTX entries and their launches are the same set.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use trioxide::backend::Device;
use trioxide::selftest::{Size, cases, entries};

/// What the conformance suite launches. Whether its cases pass is for conformance.rs to say.
fn launched() -> BTreeSet<&'static str> {
    let device = Device::cpu(None).expect("threads can be started");
    for case in cases(Size::Small, Vec::new()).expect("the generated meshes are valid") {
        let _ = case.run(&device);
    }
    device.launched()
}

#[test]
fn every_kernel_of_the_ptx_is_launched_by_a_test_and_every_launch_is_in_the_ptx() {
    let (launched, entries) = (launched(), entries());
    let unlaunched: Vec<_> = entries.difference(&launched).collect();
    assert!(
        unlaunched.is_empty(),
        "in the PTX, but no case of the conformance suite (host/src/selftest) launches {unlaunched:?}"
    );
    let missing: Vec<_> = launched.difference(&entries).collect();
    assert!(
        missing.is_empty(),
        "launched on the CPU, but not in the PTX: {missing:?}; `cargo xtask ptx --bless` where the prebuilt file is embedded"
    );
}

/// The name behind `fn`, for every function in gpu/src under an attribute that begins with `#[kernel`.
#[test]
fn every_declaration_is_in_the_ptx() {
    let declared = declarations(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../gpu/src"));
    assert!(declared.len() > 10, "only {declared:?}");
    let entries = entries();
    // An instance's entry is called after the function: `label_longest_edges_f32`, `sweep_form_a_soa_f32`.
    let base = |entry: &str| {
        let precision = ["_f32", "_f64"]
            .iter()
            .find_map(|end| entry.strip_suffix(end));
        let layout = precision.and_then(|name| {
            let layouts = ["_soa", "_aos", "_aligned"];
            layouts.iter().find_map(|end| name.strip_suffix(end))
        });
        // Of weld: `note_lower_neighbours_plain`.
        let guards = ["_plain", "_guarded"];
        let guard = guards.iter().find_map(|end| entry.strip_suffix(end));
        [precision, layout, guard]
            .into_iter()
            .flatten()
            .find(|name| declared.contains(*name))
            .unwrap_or(entry)
            .to_owned()
    };
    let in_ptx: BTreeSet<String> = entries.iter().map(|entry| base(entry)).collect();
    assert_eq!(in_ptx, declared);
}

fn declarations(directory: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(directory).expect("the sources are there") {
        let path = entry.expect("a readable directory").path();
        if path.is_dir() {
            names.extend(declarations(&path));
            continue;
        }
        let text = fs::read_to_string(&path).expect("a source file");
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            if !line.starts_with("#[kernel") {
                continue;
            }
            let name = lines.by_ref().find_map(|line| {
                let (_, after) = line.split_once("fn ")?;
                after.split(['(', '<']).next()
            });
            let name = name.unwrap_or_else(|| panic!("{}: no function", path.display()));
            assert!(names.insert(name.to_owned()), "{name} is declared twice");
        }
    }
    names
}
