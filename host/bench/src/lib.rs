//! Benchmarks of trioxide, in two parts that share their families' names and nothing else.
//!
//! | feature | part |
//! | --- | --- |
//! | `measure` | [`measure`]: `trioxide bench`, which times the pipelines on a device and writes one JSON object a case |
//! | `report` | the program `trioxide-bench`, which `cargo xtask bench`, `report` and `dist` build and run: `tables` has the plans, the papers' numbers (host/bench/papers/), tables and plots; `report` the page; `dist` a folder for machines without Rust |
//!
//! `report` drives the `trioxide` binary and does not depend on the library.

#[cfg(feature = "report")]
pub mod dist;
#[cfg(feature = "measure")]
pub mod measure;
#[cfg(feature = "report")]
pub mod report;
#[cfg(feature = "report")]
pub mod tables;
