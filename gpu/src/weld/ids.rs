//! Ids of this family.

trioxide_kernel::id! {
    /// A place in the grid's list of sites, which is in the order of the buckets.
    pub struct Slot = "slot";
    /// An index of positions, states and lists of neighbours: a vertex or a slot: [`RowSites`](super::rows::RowSites).
    pub struct Row = "row";
    /// A bucket of the grid's table.
    pub struct Bucket = "bucket";
    /// A slot of the table of hashed cells.
    pub struct CellSlot = "slot of a cell";
    /// A cluster: a vertex of the welded mesh.
    pub struct Cluster = "cluster";
}
