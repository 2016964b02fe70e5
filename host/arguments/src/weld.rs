//! How clusters are computed.

use clap::ValueEnum;
use trioxide::weld::Method;

/// `--method`. Bytes a vertex are counted without the mesh.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MethodOption {
    /// grid, which is the fastest for any epsilon, if its memory is free; else on-the-fly, which needs the least memory
    Auto,
    /// Undecided vertices watch short lists of their lower neighbours: 60 to 85 bytes a vertex
    Grid,
    /// P-Weld, counters of undecided neighbours and all neighbours in lists: 41 bytes a vertex and 4 a pair of
    /// neighbours
    Dependency,
    /// Hashed cells, searched again in every round, no lists: 41 bytes a vertex; slow where epsilon is far beyond the
    /// spacing
    OnTheFly,
    /// Hashed cells, then all neighbours in lists, then frontiers: 45 bytes a vertex and 4 a pair of neighbours
    SparseGrid,
}

impl From<MethodOption> for Method {
    fn from(option: MethodOption) -> Self {
        match option {
            MethodOption::Auto => Method::Auto,
            MethodOption::Grid => Method::Grid,
            MethodOption::Dependency => Method::Dependency,
            MethodOption::OnTheFly => Method::OnTheFly,
            MethodOption::SparseGrid => Method::SparseGrid,
        }
    }
}
