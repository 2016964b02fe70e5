//! The conformance suite: every pipeline on a device against the sequential reference, with equality.
//!
//! `trioxide selftest` runs it on the devices of a machine, `tests/tests/conformance.rs` under the test harness. A case
//! takes the device that it runs on and returns the difference that it found.

#[cfg(feature = "checked")]
mod checked;
mod collectives;
mod compare;
mod constrained;
mod copies;
mod decimate;
mod decimate_seams;
mod delaunay;
mod faults;
mod forms;
mod grid;
mod half_edges;
mod indexed;
mod levels;
mod polyhedra;
mod polyhedra_share;
mod polylla;
mod polylla_share;
mod polylla_surfaces;
mod refine;
mod refine_tets;
mod refinement;
pub mod reorder;
pub mod repair;
mod short_edges;
mod small;
mod smooth;
mod tet_faces;
mod untangle;
pub mod weld;
mod weld_carried;
mod weld_dense;
mod weld_share;
mod weld_slabs;

use std::collections::BTreeSet;

use trioxide::collective;
use trioxide::conformance;
use trioxide::device::Device;
use trioxide::mesh::Triangulation;
use trioxide::{Result, generate};

/// Size of the suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// For sanitisers, which slow a case down a hundred times.
    Tiny,
    /// Seconds on a CPU.
    Small,
    /// The largest sizes at which an index can be wrong: minutes on a CPU.
    Large,
}

impl Size {
    /// Elements of a mesh that has `small` of them in the small size.
    fn of(self, small: usize) -> usize {
        match self {
            Size::Tiny => (small / 25).max(small.min(60)),
            Size::Small | Size::Large => small,
        }
    }
}

/// One check, to be run on any device.
pub struct Case {
    /// The family of the kernels that it tests: the name of their folder in `gpu/src`, or `collective`.
    pub family: &'static str,
    /// A description of the check.
    pub name: String,
    run: Box<dyn Fn(&Device) -> Outcome + Send>,
}

/// The difference found, as an error.
type Outcome = std::result::Result<(), String>;

impl Case {
    fn new(name: impl Into<String>, run: impl Fn(&Device) -> Outcome + Send + 'static) -> Self {
        Self {
            family: "",
            name: name.into(),
            run: Box::new(run),
        }
    }

    /// Runs the check.
    ///
    /// # Errors
    /// The difference found, or the error of the device.
    pub fn run(&self, on: &Device) -> Outcome {
        (self.run)(on)
    }
}

/// The triangulation of random points, by the CPU on any device.
fn random(n: usize, seed: u64) -> Result<Triangulation> {
    generate::random(&Device::cpu(None)?, n, seed)
}

/// A mesh to check with, by name.
pub type NamedMesh = (String, Triangulation);

/// Every check, with generated meshes and those given.
///
/// # Errors
/// [`trioxide::Error::Argument`] when a mesh cannot be generated.
pub fn cases(size: Size, given: Vec<NamedMesh>) -> Result<Vec<Case>> {
    let mut meshes = vec![
        ("grid 30".to_owned(), generate::grid(30)?),
        ("grid 10k".to_owned(), generate::grid(size.of(10_000))?),
        ("random 50".to_owned(), random(50, 5)?),
        ("random 12k".to_owned(), random(size.of(12_000), 1)?),
        (
            "disk 5k".to_owned(),
            generate::disk(&Device::cpu(None)?, size.of(5_000), 2)?,
        ),
    ];
    meshes.push((
        "random 10k with holes".to_owned(),
        with_holes(random(size.of(10_000), 4)?, 7),
    ));
    meshes.push((
        "grid 2k of islands".to_owned(),
        with_holes(generate::grid(size.of(2_000))?, 2),
    ));
    meshes.extend(small::meshes());
    if size == Size::Large {
        meshes.push(("grid 1M".to_owned(), generate::grid(1_000_000)?));
        meshes.push(("random 300k".to_owned(), random(300_000, 3)?));
    }
    meshes.extend(given);
    let families = [
        ("collective", collectives::cases(size)),
        #[cfg(feature = "checked")]
        ("collective", vec![checked::good_indices()]),
        (COPIES, copies::cases()),
        ("forms", forms::cases()),
        ("grid", grid::cases(size)),
        ("delaunay", delaunay::cases(size)),
        ("delaunay", constrained::cases(size)),
        ("delaunay", refinement::cases(size)),
        ("half_edges", half_edges::cases(&meshes)),
        ("polylla", polylla::cases(&meshes, size)),
        ("polylla", polylla_share::cases(size)?),
        ("polylla", polylla_surfaces::cases(size)?),
        ("polylla", short_edges::cases(&meshes, size)),
        ("indexed", indexed::cases(&meshes, size)),
        ("levels", levels::cases(&meshes, size)?),
        ("refine", refine::cases(&meshes, size)),
        ("refine_tets", refine_tets::cases(size)?),
        ("tet_faces", tet_faces::cases(size)?),
        ("polyhedra", polyhedra::cases(size)?),
        ("polyhedra", polyhedra_share::cases(size)?),
        ("reorder", reorder::cases(size)),
        ("compare", compare::cases(size)),
        ("repair", repair::cases(size)),
        ("weld", weld::cases(size)),
        ("weld", weld_dense::cases(size)),
        ("weld", weld_carried::cases(size)),
        ("weld", weld_share::cases(size)),
        ("weld", weld_slabs::cases(size)),
        ("decimate", decimate::cases(size)),
        ("decimate", decimate_seams::cases(size)),
        ("smooth", smooth::cases(size)?),
        ("untangle", untangle::cases(size)?),
        (
            LAUNCHES,
            vec![Case::new(
                "every kernel was launched",
                every_kernel_launched,
            )],
        ),
        (LAUNCHES, vec![faults::out_of_memory_midway()]),
        // Last: a GPU is lost to this process afterwards.
        #[cfg(feature = "checked")]
        (
            LAUNCHES,
            vec![
                checked::bad_index(),
                checked::broken_assertion(),
                faults::lost_device(),
            ],
        ),
    ];
    let in_family = |(family, cases): (&'static str, Vec<Case>)| {
        cases.into_iter().map(move |case| Case { family, ..case })
    };
    Ok(families.into_iter().flat_map(in_family).collect())
}

/// The family of copies between host and device, which have no kernels of their own.
pub const COPIES: &str = "copies";

/// The family of the one case that needs all others to have run on its device before.
pub const LAUNCHES: &str = "launches";

/// The cases that the texts of `only` name, in the suite's order. A text names the case of this name; if there is none,
/// it names the family of this name and all cases whose names contain it. An empty `only` names the whole suite.
///
/// # Errors
/// [`trioxide::Error::Argument`] with the families there are, when nothing matches one of them.
pub fn select<'s>(suite: &'s [Case], only: &[impl AsRef<str>]) -> Result<Vec<&'s Case>> {
    let mut is_selected = vec![only.is_empty(); suite.len()];
    for text in only.iter().map(AsRef::as_ref) {
        let is_name = suite.iter().any(|case| case.name == text);
        let matches = |case: &Case| match is_name {
            true => case.name == text,
            false => case.family == text || case.name.contains(text),
        };
        if !suite.iter().any(matches) {
            return Err(nothing_called(text, suite));
        }
        for (is_selected, case) in is_selected.iter_mut().zip(suite) {
            *is_selected |= matches(case);
        }
    }
    let selected = suite.iter().zip(is_selected);
    Ok(selected
        .filter_map(|(case, is)| is.then_some(case))
        .collect())
}

fn nothing_called(text: &str, suite: &[Case]) -> trioxide::Error {
    let mut families: Vec<(&str, usize)> = Vec::new();
    for case in suite {
        match families.last_mut() {
            Some((family, count)) if *family == case.family => *count += 1,
            _ => families.push((case.family, 1)),
        }
    }
    let families: Vec<String> = families
        .iter()
        .map(|(family, count)| format!("  {family:<12} {count:>3} checks\n"))
        .collect();
    trioxide::Error::Argument(format!(
        "no check has {text:?} in its name, and no family is called so; the families are\n{}(`trioxide selftest --list` \
         has every name)",
        families.concat()
    ))
}

/// The mesh without one in `keep` of its triangles. Holes, islands, vertices at which boundary loops touch and vertices
/// without a triangle remain.
fn with_holes(mut mesh: Triangulation, keep: u64) -> Triangulation {
    let mut i = 0u64;
    mesh.triangles.retain(|_| {
        i += 1;
        i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40 & 0xFFFF > 0xFFFF / keep
    });
    mesh
}

/// Names of the kernels in the PTX: those of the families and of the collectives.
pub fn entries() -> BTreeSet<&'static str> {
    let mut entries = conformance::entries(trioxide::PTX);
    entries.extend(conformance::entries(collective::PTX));
    entries
}

/// The suite's other cases have run on the same device before.
fn every_kernel_launched(on: &Device) -> Outcome {
    let launched = on.launched();
    let missing: Vec<_> = entries()
        .into_iter()
        .filter(|entry| !launched.contains(entry))
        .collect();
    if missing.is_empty() {
        Ok(())
    } else {
        Err(format!("no case launches {}", missing.join(", ")))
    }
}

/// Fails with the name of the arrays (`what`) and the first place where they differ.
fn equal<T: PartialEq + std::fmt::Debug>(what: &str, ours: &[T], expected: &[T]) -> Outcome {
    if ours.len() != expected.len() {
        return Err(format!(
            "{what}: {} elements, expected {}",
            ours.len(),
            expected.len()
        ));
    }
    match ours.iter().zip(expected).position(|(a, b)| a != b) {
        None => Ok(()),
        Some(i) => Err(format!(
            "{what}: element {i} is {:?}, expected {:?}",
            ours[i], expected[i]
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suite() -> Vec<Case> {
        let case = |family, name: &str| Case {
            family,
            ..Case::new(name, |_| Ok(()))
        };
        vec![
            case("refine", "refine: grid 30"),
            case("refine", "longest edges"),
            case("weld", "slabs"),
        ]
    }

    #[test]
    fn checks_are_selected_by_family_or_name() {
        let suite = suite();
        let count = |only: &[&str]| select(&suite, only).unwrap().len();
        assert_eq!(count(&[]), 3);
        assert_eq!(count(&["refine"]), 2);
        assert_eq!(count(&["slab"]), 1);
        assert_eq!(count(&["slab", "longest", "refine"]), 3);
        let mut suite = suite;
        suite.push(Case::new("slabs of two", |_| Ok(())));
        let count = |only: &str| select(&suite, &[only]).unwrap().len();
        assert_eq!((count("slab"), count("slabs")), (2, 1));
    }

    #[test]
    fn a_selection_of_nothing_names_the_families() {
        let error = select(&suite(), &["refine", "nosuchthing"])
            .err()
            .unwrap()
            .to_string();
        assert!(error.contains("\"nosuchthing\""), "{error}");
        assert!(
            error.contains("  refine         2 checks\n  weld           1 checks"),
            "{error}"
        );
    }
}
