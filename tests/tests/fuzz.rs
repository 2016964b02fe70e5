//! The fuzzers' targets (tests/targets), without libFuzzer: none is missing, and each works on its seeds.

use std::collections::BTreeSet;

use trioxide::formats::volume::VolumeFormat;
use trioxide::formats::{Format, PolyhedraFormat};
use trioxide_fuzz_targets as targets;

/// Families whose kernels other families run.
const SHARED: [&str; 4] = ["collective", "forms", "half_edges", "tet_faces"];

/// Families that no input reaches: their input is two numbers that ranks choose.
const WITHOUT_INPUT: [&str; 1] = ["grid"];

#[test]
fn every_format_and_every_family_is_fuzzed() {
    let all = targets::all();
    let names: BTreeSet<&str> = all.iter().map(|target| target.name.as_str()).collect();
    assert_eq!(names.len(), all.len(), "two targets have one name");
    let readers = all.iter().filter(|target| target.family.is_none()).count();
    // `.ele` is the second file of `.node`.
    let extensions = |lists: &mut dyn Iterator<Item = &'static [&'static str]>| -> usize {
        lists
            .flatten()
            .filter(|&&extension| extension != "ele")
            .count()
    };
    let surfaces = Format::all().iter().filter(|format| format.is_read());
    let expected = extensions(&mut surfaces.map(|format| format.extensions))
        + extensions(&mut VolumeFormat::all().iter().map(|format| format.extensions));
    // And polyhedra, in files of their own or of cells; OpenFOAM's are several, and a `.pvtu` file names others.
    let polyhedra = PolyhedraFormat::all().iter();
    let extensions = polyhedra.flat_map(|format| format.extensions);
    let single = extensions.filter(|extension| !["foam", "pvtu"].contains(*extension));
    let polyhedra: Vec<String> = single
        .map(|name| format!("read-polyhedra-{name}"))
        .collect();
    assert!(polyhedra.iter().all(|name| names.contains(name.as_str())));
    assert_eq!(readers, expected + polyhedra.len());

    let fuzzed: BTreeSet<&str> = all.iter().filter_map(|target| target.family).collect();
    for family in xtask::ptx::families().unwrap() {
        let family = family.as_str();
        assert!(
            fuzzed.contains(family) || SHARED.contains(&family) || WITHOUT_INPUT.contains(&family),
            "no target runs the family {family}"
        );
    }
}

#[test]
fn every_target_works_on_its_seeds() {
    for target in targets::all() {
        let seeds = (target.seeds)();
        // Fixtures, and one file that trioxide writes.
        assert!(seeds.len() >= 2, "{} has too few seeds", target.name);
        for seed in seeds {
            (target.run)(&seed);
            // Also on truncated seeds.
            (target.run)(&seed[..seed.len() / 2]);
        }
    }
}
