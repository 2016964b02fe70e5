//! The forms of a sweep.

/// The positions of its neighbours that a node takes (section 2.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Form {
    /// The positions before the sweep: Jacobi's iteration
    #[default]
    A,
    /// The positions of the moment: over one block in chunks of 512 nodes, over many blocks in a race
    B,
    /// As Gauss-Seidel's iteration in the order of colours, then ids: no two neighbours have one colour
    BColoured,
    /// As Gauss-Seidel's iteration in the order of ids
    BExact,
}
