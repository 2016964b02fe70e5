//! Benchmarks of trioxide: the program `trioxide-bench`, which `cargo xtask bench`, `report` and `dist` build and run.
//!
//! [`tables`] has the plans, the papers' numbers (host/bench/papers/), tables and plots; [`report`] the page; [`dist`]
//! the archive, and a folder for machines without Rust. The program drives the `trioxide` binary, whose `bench`
//! measures (host/measure), and does not depend on the library.

pub mod dist;
pub mod report;
pub mod tables;
