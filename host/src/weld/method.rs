//! The ways to compute clusters.

/// How clusters are computed: the same bits by each. Bytes are those beside the points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// [`Method::Grid`] where it fits the free memory, else [`Method::OnTheFly`].
    #[default]
    Auto,
    /// Vertices bucketed by cells, short lists of lower neighbours, no counters. The fastest for any epsilon; 60 to 85
    /// bytes a vertex.
    Grid,
    /// P-Weld (section 3.6): dependency counters over stored lists of neighbours. 41 bytes a vertex and 4 for each pair
    /// of neighbours.
    Dependency,
    /// The paper's chapter 4: hashed cells, looked up in every round, nothing stored. 41 bytes a vertex; its time grows
    /// with the square of the distinct vertices in a cell of epsilon's width.
    OnTheFly,
    /// The paper's chapter 5: hashed cells, lists of neighbours in two passes, frontiers. 45 bytes a vertex and 4 for
    /// each pair of neighbours.
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

    /// Its name in the command line.
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
