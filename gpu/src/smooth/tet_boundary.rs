//! Boundary nodes of tetrahedra (section 3.2.2): each node counts the faces that it owns in a table in shared memory.
//!
//! A hash chooses which of a face's three nodes owns it, so that a node owns 12 of its 36 faces whatever the order of
//! the ids. A face that the node meets once is on the boundary. A node reads its tetrahedra a second time only if one
//! of its faces is on the boundary.

use trioxide_kernel::safe::Safe;
use trioxide_kernel::{Atomic, Bits, Block, Lane, Shared, SharedMemory, kernel};

use super::boundary::shares_triangle;
use super::cells::{MOST_FACES, Stars};
use super::cells_of_nodes::LIGHT;
use super::tet_neighbours::{column, opposite};
use crate::ids::{Cell, CellFace, Vertex};

/// Nodes of a block.
pub const BOUNDARY_NODES: usize = 64;
const NODES: u32 = BOUNDARY_NODES as u32;
/// Slots of a node's table; the members of a set of slots are the bits of a `u64`.
const SLOTS: u32 = 48;
/// Most faces that a table takes.
const MOST: u32 = 40;
const PLACES: usize = SLOTS as usize * BOUNDARY_NODES;

/// Shared memory of a block: the two other vertices of each face.
#[derive(SharedMemory)]
pub struct FaceTile {
    lows: Shared<Vertex, PLACES>,
    highs: Shared<Vertex, PLACES>,
}

/// Whether node `v` owns the face of `v`, `x` and `y`.
#[inline(always)]
fn owns(v: Vertex, x: Vertex, y: Vertex) -> bool {
    // The same for each of the three nodes.
    let sum = v.index().wrapping_add(x.index()).wrapping_add(y.index());
    let hash = sum.wrapping_mul(0x9E37_79B9) >> 16;
    u32::from(x < v) + u32::from(y < v) == (hash * 3) >> 16
}

/// Faces around a node: each as the other two vertices in ascending order, in the table of a lane.
struct Faces<'a> {
    tile: &'a FaceTile,
    lane: Lane<'a>,
    taken: u64,
    /// Faces that were met more than once.
    shared: u64,
    count: u32,
}

impl Faces<'_> {
    #[inline(always)]
    fn place(&self, slot: u32) -> u32 {
        column(self.lane.index(), slot, SLOTS, NODES)
    }

    /// The slot of the face of `x` and `y`: its own slot, or the free slot at which its search ends.
    #[inline(always)]
    fn slot(&self, low: Vertex, high: Vertex) -> u32 {
        let hash = low.index().wrapping_mul(0x9E37_79B9) ^ high.index().wrapping_mul(0x85EB_CA6B);
        let mut slot = ((hash >> 16) * SLOTS) >> 16;
        loop {
            let place = self.place(slot);
            if self.taken >> slot & 1 == 0
                || self.tile.lows.at(place) == low && self.tile.highs.at(place) == high
            {
                return slot;
            }
            slot = if slot + 1 == SLOTS { 0 } else { slot + 1 };
        }
    }

    #[inline(always)]
    fn meet(&mut self, x: Vertex, y: Vertex) {
        let (low, high) = (x.min(y), x.max(y));
        let slot = self.slot(low, high);
        if self.taken >> slot & 1 != 0 {
            self.shared |= 1 << slot;
        } else if self.count <= MOST {
            // Since the table has free slots, each search ends.
            let place = self.place(slot);
            self.tile.lows.set(self.lane, place, low);
            self.tile.highs.set(self.lane, place, high);
            self.taken |= 1 << slot;
            self.count += 1;
        }
    }

    /// Whether the face was met once.
    #[inline(always)]
    fn is_alone(&self, x: Vertex, y: Vertex) -> bool {
        let slot = self.slot(x.min(y), x.max(y));
        (self.taken & !self.shared) >> slot & 1 != 0
    }
}

/// Calls `visit` for each face that `v` owns in the tetrahedron at corner `s` of the list, with the opposite vertex's
/// place in the tetrahedron and the other two vertices.
#[inline(always)]
fn each_owned(stars: Stars, v: Vertex, s: u32, mut visit: impl FnMut(u32, Vertex, Vertex)) {
    let own = stars.corner(s).index() % 4;
    let [p, q, r] = opposite(stars, s);
    let mut look = |k: u32, x, y| {
        if owns(v, x, y) {
            // Vertices after the node's own are one place further.
            visit(k + u32::from(k >= own), x, y);
        }
    };
    look(0, q, r);
    look(1, p, r);
    look(2, p, q);
}

/// Marks the faces that a node owns and that only one tetrahedron has, and their nodes. A node of more than [`LIGHT`]
/// cells is left to [`mark_heavy_faces()`](super::mark_heavy_faces()).
#[kernel(
    requires(
        stars.fit(stars.nodes()),
        n == stars.nodes().div_ceil(BOUNDARY_NODES),
        faces.len() == words(MOST_FACES as usize * stars.cells.count()),
        on_boundary.len() == words(stars.nodes())
    ),
    moves(stars.bytes())
)]
pub fn mark_tet_boundary(
    block: &Block<BOUNDARY_NODES, FaceTile>,
    stars: Stars,
    faces: Atomic<Bits<CellFace>>,
    on_boundary: Atomic<Bits<Vertex>>,
) {
    // SAFETY: the launch's promise: cells and stars are of one mesh, and vertices are below V.
    let stars = unsafe { stars.trusted() };
    let tile = block.shared();
    block.lanes(|lane| {
        let v = Vertex::new(block.index() * NODES + lane.index());
        if v.index() >= stars.starts.len() - 1 {
            return;
        }
        let range = (stars.start(v), stars.end(v));
        if range.1 - range.0 > LIGHT {
            return;
        }
        let mut around = Faces {
            tile,
            lane,
            taken: 0,
            shared: 0,
            count: 0,
        };
        let mut s = range.0;
        while s < range.1 {
            stars.prefetch(s);
            each_owned(stars, v, s, |_, x, y| around.meet(x, y));
            s += 1;
        }
        let is_full = around.count > MOST;
        if !is_full && around.taken == around.shared {
            return;
        }
        let mut s = range.0;
        while s < range.1 {
            let t = Cell::new(stars.corner(s).index() / 4);
            each_owned(stars, v, s, |without, x, y| {
                let is_alone = if is_full {
                    !shares_triangle(stars, range, t, [x, y])
                } else {
                    around.is_alone(x, y)
                };
                if is_alone {
                    // Faces opposite to vertices 0, 1, 2, 3 are 1, 2, 0, 3 of a cell.
                    faces.set_bit(CellFace::of(t, 0x3021 >> (4 * without) & 0xF));
                    on_boundary.set_bit(v);
                    on_boundary.set_bit(x);
                    on_boundary.set_bit(y);
                }
            });
            s += 1;
        }
    });
}
