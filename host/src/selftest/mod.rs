//! The conformance suite: every pipeline on a device against the sequential reference, with equality.
//!
//! `trioxide selftest` runs it on the devices of a machine, `tests/tests/conformance.rs` under the test harness. A case
//! takes the device that it runs on and says what differed.

mod collectives;
mod convert;
mod copies;
mod half_edges;
mod indexed;
mod polylla;
mod refine;
mod refine_tets;
mod small;
mod smooth;
pub mod weld;
mod weld_carried;
mod weld_slabs;

use std::collections::BTreeSet;

use crate::backend::{Device, PTX};
use crate::mesh::Triangulation;
use crate::{Result, generate};

/// How much to test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Seconds on a CPU.
    Small,
    /// The largest sizes that a mistake in an index could show at: minutes on a CPU.
    Large,
}

/// One check, to be run on any device.
pub struct Case {
    /// What it checks.
    pub name: String,
    run: Box<dyn Fn(&Device) -> Outcome + Send>,
}

/// What differed, as an error.
type Outcome = std::result::Result<(), String>;

impl Case {
    fn new(name: impl Into<String>, run: impl Fn(&Device) -> Outcome + Send + 'static) -> Self {
        Self {
            name: name.into(),
            run: Box::new(run),
        }
    }

    /// Runs the check.
    ///
    /// # Errors
    /// What differed, or what the device reported.
    pub fn run(&self, on: &Device) -> Outcome {
        (self.run)(on)
    }
}

/// A mesh to check with, by name.
pub type NamedMesh = (String, Triangulation);

/// Every check, with generated meshes and those given.
///
/// # Errors
/// [`crate::Error::Argument`] when a mesh cannot be generated.
pub fn cases(size: Size, given: Vec<NamedMesh>) -> Result<Vec<Case>> {
    let mut meshes = vec![
        ("grid 30".to_owned(), generate::grid(30)?),
        ("grid 10k".to_owned(), generate::grid(10_000)?),
        ("random 50".to_owned(), generate::random(50, 5)?),
        ("random 30k".to_owned(), generate::random(30_000, 1)?),
        ("disk 5k".to_owned(), generate::disk(5_000, 2)?),
    ];
    meshes.push((
        "random 20k with holes".to_owned(),
        with_holes(generate::random(20_000, 4)?, 7),
    ));
    meshes.push((
        "grid 2k of islands".to_owned(),
        with_holes(generate::grid(2_000)?, 2),
    ));
    meshes.extend(small::meshes());
    if size == Size::Large {
        meshes.push(("grid 1M".to_owned(), generate::grid(1_000_000)?));
        meshes.push(("random 300k".to_owned(), generate::random(300_000, 3)?));
    }
    meshes.extend(given);
    let mut cases = collectives::cases(size);
    cases.extend(copies::cases());
    cases.extend(convert::cases());
    cases.extend(half_edges::cases(&meshes));
    cases.extend(polylla::cases(&meshes, size));
    cases.extend(indexed::cases(&meshes, size));
    cases.extend(refine::cases(&meshes, size));
    cases.extend(refine_tets::cases(size)?);
    cases.extend(weld::cases(size));
    cases.extend(weld_carried::cases());
    cases.extend(weld_slabs::cases(size));
    cases.extend(smooth::cases(size)?);
    cases.push(Case::new(
        "every kernel was launched",
        every_kernel_launched,
    ));
    Ok(cases)
}

/// The mesh without a part of its triangles: one in `keep` is taken out. Holes, islands, vertices at which boundary loops
/// touch and vertices without a triangle remain.
fn with_holes(mut mesh: Triangulation, keep: u64) -> Triangulation {
    let mut i = 0u64;
    mesh.triangles.retain(|_| {
        i += 1;
        i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40 & 0xFFFF > 0xFFFF / keep
    });
    mesh
}

/// Names of the kernels in the PTX.
pub fn entries() -> BTreeSet<&'static str> {
    PTX.text
        .lines()
        .filter_map(|line| line.trim().strip_prefix(".visible .entry "))
        .map(|rest| rest.trim_end_matches(['(', ')']).trim())
        .collect()
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

/// Fails with `what` and the first place where two arrays differ.
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
