//! Every family on ranks, in threads, against the single run. One program: linking takes most of the time of a small one.

mod common;
mod faults;
mod grids;
mod polyhedra;
mod polylla;
mod refine;
mod refine_tets;
mod smooth;
mod weld;
