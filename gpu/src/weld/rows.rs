//! Rows of the grid's points: vertices or slots.

use bytemuck::{Pod, Zeroable};
use trioxide_kernel::Scalar;
use trioxide_kernel::safe::{Group, In};

use super::grid::Site;
use super::ids::{Row, Slot};
use crate::ids::Vertex;

/// The meaning of a row's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(transparent)]
pub struct RowOrder(u32);

impl RowOrder {
    /// Row i is vertex i: vertices with neighbouring ids are near each other.
    pub const BY_VERTEX: Self = Self(0);
    /// Row i is slot i of the grid: the ids do not follow space.
    pub const BY_SLOT: Self = Self(1);

    /// Whether rows are slots.
    #[inline(always)]
    pub const fn is_by_slot(self) -> bool {
        self.0 != 0
    }
}

impl Scalar for RowOrder {}

/// The vertices by slot, and their rows.
#[derive(Group)]
pub struct RowSites<'a> {
    /// The site of each slot; V.
    pub sites: In<'a, Site, Slot>,
    /// Whether rows are vertices or slots.
    pub order: RowOrder,
}

impl RowSites<'_> {
    /// Vertex of a row.
    #[inline(always)]
    pub fn vertex(&self, row: Row) -> Vertex {
        if self.order.is_by_slot() {
            self.sites.at(Slot::new(row.index())).id
        } else {
            Vertex::new(row.index())
        }
    }

    /// Row of the vertex `id`, which is in `slot`.
    #[inline(always)]
    pub fn row_of(&self, slot: Slot, id: Vertex) -> Row {
        Row::new(if self.order.is_by_slot() {
            slot.index()
        } else {
            id.index()
        })
    }

    /// Row of a slot.
    #[inline(always)]
    pub fn row(&self, slot: Slot) -> Row {
        if self.order.is_by_slot() {
            Row::new(slot.index())
        } else {
            Row::new(self.sites.at(slot).id.index())
        }
    }
}
