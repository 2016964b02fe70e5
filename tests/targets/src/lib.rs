//! The targets: every reader, by the formats' own tables; every pipeline on the CPU against the sequential algorithm;
//! every writer, on the pipelines' results.
//!
//! A pipeline's input is a small mesh made of the bytes: valid at first, then damaged. `tests/fuzz` gives them to
//! libFuzzer; `tests/tests/fuzz.rs` checks that no format and no family is left out, and runs each on its seeds.

mod bytes;
mod compare;
mod decimate;
mod planar;
mod polygons;
mod readers;
mod repair;
mod results;
mod space;
mod surfaces;
mod weld;

use std::sync::OnceLock;

use trioxide::Device;

/// Runs a target on an input.
pub type Run = dyn Fn(&[u8]) + Send + Sync;
/// Makes inputs to start from.
pub type Seeds = dyn Fn() -> Vec<Vec<u8>> + Send + Sync;
/// The family and the run of a pipeline's target. Its name on the command line is the family's, with hyphens.
type Pipeline = (&'static str, fn(&[u8]));

/// A target of the fuzzers.
pub struct Target {
    /// Its name on the command line.
    pub name: String,
    /// The family of kernels that it runs (the folder in `gpu/src`); `None` for a reader.
    pub family: Option<&'static str>,
    /// Inputs to start from.
    pub seeds: Box<Seeds>,
    /// Runs it; a panic is a finding.
    pub run: Box<Run>,
}

/// Every target.
pub fn all() -> Vec<Target> {
    let pipelines = [
        planar::PIPELINES,
        polygons::PIPELINES,
        repair::PIPELINES,
        space::PIPELINES,
        weld::PIPELINES,
        compare::PIPELINES,
        decimate::PIPELINES,
    ]
    .concat();
    let mut targets = readers::targets();
    targets.extend(pipelines.into_iter().map(|(family, run)| Target {
        name: family.replace('_', "-"),
        family: Some(family),
        seeds: Box::new(bytes::noise),
        run: Box::new(run),
    }));
    targets
}

/// The CPU with one thread: inputs are smaller than a thread's share.
pub fn cpu() -> &'static Device {
    static CPU: OnceLock<Device> = OnceLock::new();
    CPU.get_or_init(|| Device::cpu(Some(1)).expect("one thread"))
}
