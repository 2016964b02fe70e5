//! Every family on ranks, in threads, against the single run. One program: they instantiate the same generic code.

mod common;
mod faults;
mod grids;
mod levels;
mod polyhedra;
mod polylla;
mod refine;
mod refine_tets;
mod smooth;
mod surfaces;
mod weld;
