//! Functions of kernels against another crate's or against plain definitions.
//!
//! They are tested from outside: a test build of the library would compile every kernel and launch once more, and the
//! lints would read them twice. Some items are public for these tests alone.

mod close_marks;
mod compare;
mod curve;
mod grid;
mod handedness;
mod ordered;
mod orientation;
mod predicates;
mod refine_tets;
mod reorder;
mod slots;
mod weld_grid;
