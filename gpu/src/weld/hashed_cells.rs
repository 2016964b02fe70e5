//! The paper's sparse hash of cells (sections 4.3, 5.3.1 and 5.4.1): an open-addressed table of the cells that have
//! vertices, by double hashing, with the vertices of each cell in a list.
//!
//! A cell is as wide as epsilon, so that the neighbours of a vertex are in the 27 cells around it. A slot of the table
//! holds the cell's key, 64 bits mixed from its three coordinates; the vertices are in compressed sparse rows by slot.
//!
//! Differences from the paper:
//!
//! - The paper compares keys as if they were the cells: two cells with one key become one, and a vertex then meets the
//!   same neighbours twice, which makes its counters wrong. Here an equal key is checked against the cell of a vertex
//!   there, so cells may have 52 bits an axis (the paper packs three coordinates into 64 bits) and different cells stay
//!   apart.
//! - Vertices claim slots, 32 bits at a time, not keys: the claim identifies the cell as exactly.
//! - The number of slots is a prime, so that every step visits all slots (the paper requires this, but does not ensure
//!   it); the remainders are computed by a multiplication.
//! - Most of the 27 cells have no vertices. A bit set of 8 bits a vertex shows this for most of them, and stays in the
//!   cache where the table does not.
//! - A cell is a 1024th wider than epsilon, because of rounding; far from the origin, where coordinates are coarser
//!   than that, it is 2^13 neighbouring numbers wide. So near vertices are at most one cell apart, wherever they are.
//!
//! The slot that a cell gets is a race. The set of vertices that a search meets does not depend on it.

use bytemuck::{Pod, Zeroable};
use glam::DVec3;
use trioxide_kernel::safe::{Atomic, Group, In, Out, Own};
use trioxide_kernel::{Scalar, kernel};

use super::grid::{Grid, LARGEST_COORDINATE};
use super::ids::CellSlot;
use crate::ids::Vertex;

/// Key of a slot without a cell.
const EMPTY: u64 = 0;
/// Cells from the origin up to which their coordinates are floors.
const FLOORED: f64 = (1u64 << 40) as f64;
/// Width of a cell beyond that, in neighbouring numbers, as a power of two: at first two of the inner cells.
const FAR_CELL_BITS: u32 = 13;

/// The distance of neighbours, and the layout of the table.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct CellTable {
    /// The distance of neighbours; this grid's cells are not used.
    pub near: Grid,
    /// Cells in a unit of length.
    pub inverse_side: f64,
    /// Mask of the keys' used bits: all, or fewer, so that different cells have equal keys.
    pub key_mask: u64,
    /// Number of slots, a prime; at least twice the number of vertices.
    pub slots: u32,
    /// Cells between neighbours along each axis, at most: 1, or 0 if only equal points are near.
    pub around: u32,
}

impl Scalar for CellTable {}

/// A walk through the slots in which a key may be.
#[derive(Clone, Copy)]
struct Probe {
    slot: CellSlot,
    step: u32,
}

/// Mixes 64 bits (finalizer of SplitMix64).
#[inline(always)]
fn mix64(mut x: u64) -> u64 {
    x = (x ^ x >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ x >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ x >> 31
}

const LOW_HALF: u64 = 0xFFFF_FFFF;

/// Spreads 32 bits evenly over 0 to `n - 1`.
#[inline(always)]
fn below(bits: u64, n: u64) -> u32 {
    ((bits * n) >> 32) as u32
}

/// Bit of a key in a filter of `words` words.
#[inline(always)]
fn filter_bit(key: u64, words: u32) -> u32 {
    below(key & LOW_HALF, u64::from(words) * 32)
}

/// Adds a coordinate to the bits of a key.
#[inline(always)]
fn mix_in(bits: u64, coordinate: i64) -> u64 {
    mix64(bits ^ (coordinate as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

impl CellTable {
    /// Coordinate of the cell of `x` along an axis; it never decreases as `x` grows.
    #[inline(always)]
    fn cell_along(&self, x: f64) -> i64 {
        let t = x * self.inverse_side;
        if t > -FLOORED && t < FLOORED {
            let towards_zero = t as i64;
            return towards_zero - i64::from(towards_zero as f64 > t);
        }
        let magnitude = t.to_bits() & (u64::MAX >> 1);
        let cell = ((magnitude - FLOORED.to_bits()) >> FAR_CELL_BITS) as i64 + FLOORED as i64;
        if t < 0.0 { !cell } else { cell }
    }

    /// Cell of a point.
    #[inline(always)]
    fn cell(&self, p: [f64; 3]) -> [i64; 3] {
        [
            self.cell_along(p[0]),
            self.cell_along(p[1]),
            self.cell_along(p[2]),
        ]
    }

    /// Whether a point is in `cell`. Compared by coordinate: arrays are compared in memory.
    #[inline(always)]
    fn is_in(&self, p: [f64; 3], cell: [i64; 3]) -> bool {
        let [x, y, z] = self.cell(p);
        (x == cell[0]) & (y == cell[1]) & (z == cell[2])
    }

    /// The key made from mixed bits.
    #[inline(always)]
    fn key_of(&self, bits: u64) -> u64 {
        (bits & self.key_mask).max(EMPTY + 1)
    }

    /// Key of a cell.
    #[inline(always)]
    fn key(&self, [x, y, z]: [i64; 3]) -> u64 {
        self.key_of(mix_in(mix_in(mix_in(0, z), y), x))
    }

    /// The first slot of a key, and the step to the next: double hashing, by either half of the key.
    #[inline(always)]
    fn probe(&self, key: u64) -> Probe {
        Probe {
            slot: CellSlot::new(below(key >> 32, self.slots.into())),
            step: 1 + below(key & LOW_HALF, (self.slots - 1).into()),
        }
    }

    #[inline(always)]
    fn next(&self, probe: Probe) -> Probe {
        let slot = probe.slot.index() + probe.step;
        Probe {
            slot: CellSlot::new(if slot < self.slots {
                slot
            } else {
                slot - self.slots
            }),
            step: probe.step,
        }
    }
}

/// Finds the slot of the cell of vertex `v`; finds a vertex in `found[0]` if a coordinate is not finite or too large.
///
/// A slot belongs to the cell of the vertex that claims it first (`owners`, none before the launch).
#[kernel(
    requires(
        points.len() == n,
        table.slots as usize > n,
        owners.len() == table.slots as usize,
        slots.len() == n,
        !found.is_empty()
    ),
    moves(points.bytes() + slots.bytes())
)]
pub fn claim_cells(
    v: Own<Vertex>,
    points: In<DVec3, Vertex>,
    table: CellTable,
    owners: Atomic<Vertex, CellSlot>,
    slots: Out<CellSlot, Vertex>,
    found: Atomic<Vertex>,
) {
    let p = points.at(v).to_array();
    let is_in_range = |x: f64| (-LARGEST_COORDINATE..=LARGEST_COORDINATE).contains(&x);
    if !(is_in_range(p[0]) && is_in_range(p[1]) && is_in_range(p[2])) {
        slots.set(v, CellSlot::NONE);
        found.min(0, *v);
        return;
    }
    let cell = table.cell(p);
    let mut probe = table.probe(table.key(cell));
    loop {
        let mut owner = owners.load(probe.slot);
        if owner.is_none() {
            owner = owners.compare_exchange(probe.slot, Vertex::NONE, *v);
        }
        if owner.is_none() || table.is_in(points.at(owner).to_array(), cell) {
            slots.set(v, probe.slot);
            return;
        }
        probe = table.next(probe);
    }
}

/// Writes the key of the cell in `slot`, and sets its bit in `filter`.
#[kernel(
    requires(owners.len() == n, keys.len() == n, !filter.is_empty()),
    moves(owners.bytes() + keys.bytes())
)]
pub fn key_cells(
    slot: Own<CellSlot>,
    owners: In<Vertex, CellSlot>,
    points: In<DVec3, Vertex>,
    table: CellTable,
    keys: Out<u64, CellSlot>,
    filter: Atomic,
) {
    let owner = owners.at(slot);
    if owner.is_none() {
        keys.set(slot, EMPTY);
        return;
    }
    let key = table.key(table.cell(points.at(owner).to_array()));
    keys.set(slot, key);
    filter.set_bit(filter_bit(key, filter.len()));
}

/// The table with its vertices: the arrays that a neighbour search reads.
#[derive(Group)]
pub struct Cells<'a> {
    /// The distance of neighbours, and the layout of the table.
    pub table: CellTable,
    /// Positions of the vertices; V.
    pub points: In<'a, DVec3, Vertex>,
    /// Bit set of the hashes of the table's keys.
    pub filter: In<'a, u32>,
    /// Key of each slot.
    pub keys: In<'a, u64, CellSlot>,
    /// Start of each slot's vertices in `items`, and the end of the last.
    pub offsets: In<'a, u32>,
    /// Vertices by slot, ascending in each; V.
    pub items: In<'a, Vertex>,
}

#[cfg(not(target_arch = "nvptx64"))]
impl CellsBuffers<'_> {
    /// Whether the arrays have the lengths that a search in `vertices` vertices relies on.
    pub fn fit(&self, vertices: usize) -> bool {
        let slots = self.table.slots as usize;
        self.points.len() == vertices
            && !self.filter.is_empty()
            && self.keys.len() == slots
            && self.offsets.len() == slots + 1
            && self.items.len() == vertices
    }

    /// Whether `slots` are the slots of `vertices` vertices, or are left out.
    pub fn fit_slots(&self, slots: &trioxide_kernel::launch::Buffer<CellSlot>) -> bool {
        slots.is_empty() || slots.len() == self.items.len()
    }
}

/// Most vertices of a cell that is not crowded (the paper's `TILE`).
const CROWDED: u32 = 256;

/// Whether the cell in `slot` is crowded.
#[inline(always)]
pub(super) fn is_crowded(slot: CellSlot, offsets: In<u32>) -> bool {
    offsets.at(slot.index() + 1) - offsets.at(slot.index()) > CROWDED
}

impl Cells<'_> {
    /// Whether vertices `v` at `p` and `w` at `q` are neighbours. All methods that search by hashed cells call this.
    #[inline(always)]
    pub(super) fn are_neighbours(&self, _v: Vertex, p: [f64; 3], _w: Vertex, q: [f64; 3]) -> bool {
        self.table.near.is_near(p, q)
    }

    /// The vertices of a cell: first and last place in `items`, equal if it has none.
    #[inline(always)]
    fn vertices(&self, cell: [i64; 3], key: u64) -> (u32, u32) {
        if !self.filter.bit(filter_bit(key, self.filter.len())) {
            return (0, 0);
        }
        let mut probe = self.table.probe(key);
        loop {
            let found = self.keys.at(probe.slot);
            if found == EMPTY {
                return (0, 0);
            }
            if found == key {
                let first = self.offsets.at(probe.slot.index());
                let p = self.points.at(self.items.at(first)).to_array();
                if self.table.is_in(p, cell) {
                    return (first, self.offsets.at(probe.slot.index() + 1));
                }
            }
            probe = self.table.next(probe);
        }
    }

    /// Calls `look(first, end)`, places in `items`, for each cell around that of `p` that has vertices.
    #[inline(always)]
    pub(super) fn each_cell(&self, p: [f64; 3], mut look: impl FnMut(u32, u32)) {
        let [x, y, z] = self.table.cell(p);
        let around = i64::from(self.table.around);
        let mut cell_z = z - around;
        while cell_z <= z + around {
            let bits = mix_in(0, cell_z);
            let mut cell_y = y - around;
            while cell_y <= y + around {
                let bits = mix_in(bits, cell_y);
                let mut cell_x = x - around;
                while cell_x <= x + around {
                    let key = self.table.key_of(mix_in(bits, cell_x));
                    let (first, end) = self.vertices([cell_x, cell_y, cell_z], key);
                    if first < end {
                        look(first, end);
                    }
                    cell_x += 1;
                }
                cell_y += 1;
            }
            cell_z += 1;
        }
    }

    /// Calls `visit(w)` for every neighbour of vertex `v`, once each.
    #[inline(always)]
    pub(super) fn each_neighbour(&self, v: Vertex, mut visit: impl FnMut(Vertex)) {
        let p = self.points.at(v).to_array();
        self.each_cell(p, |first, end| {
            let items = self.items.run(first, end - first);
            let mut place = 0;
            while place < end - first {
                let w = items.at(place);
                if w != v && self.are_neighbours(v, p, w, self.points.at(w).to_array()) {
                    visit(w);
                }
                place += 1;
            }
        });
    }
}
