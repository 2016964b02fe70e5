//! The ways to compute clusters.

/// How clusters are computed: the same bits by each. Bytes are those beside the points. In the paper, `Dependency` is
/// section 3.6, `OnTheFly` chapter 4, `SparseGrid` chapter 5.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Method {
    /// grid, which is the fastest for any epsilon, if its memory is free; else on-the-fly, which needs the least memory
    #[default]
    Auto,
    /// Undecided vertices watch short lists of their lower neighbours: 60 to 85 bytes a vertex
    Grid,
    /// P-Weld, counters of undecided neighbours and all neighbours in lists: 41 bytes a vertex and 4 a
    /// pair of neighbours
    Dependency,
    /// Hashed cells, searched again in every round, no lists: 41 bytes a vertex; slow where epsilon is far
    /// beyond the spacing
    OnTheFly,
    /// Hashed cells, then all neighbours in lists, then frontiers: 45 bytes a vertex and 4 a pair of
    /// neighbours
    SparseGrid,
}

impl Method {
    /// Every method but `Auto`.
    pub const ALL: [Method; 4] = [
        Method::Grid,
        Method::Dependency,
        Method::OnTheFly,
        Method::SparseGrid,
    ];

    /// Its name as an option.
    pub fn name(self) -> &'static str {
        match self {
            Method::Auto => "auto",
            Method::Grid => "grid",
            Method::Dependency => "dependency",
            Method::OnTheFly => "on-the-fly",
            Method::SparseGrid => "sparse-grid",
        }
    }
}
