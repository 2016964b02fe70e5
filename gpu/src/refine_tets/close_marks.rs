//! Steps 3 and 4 of the paper: marks follow the dependencies.
//!
//! A round reads all tetrahedra: 28 bytes each, in order, and six bits of edges, which stay in the L2 cache. It needs
//! no list of the tetrahedra around each edge, which takes as long to make as ten rounds.

use trioxide_kernel::{Atomic, Bits, Block, In, Out, Shared, SharedMemory, kernel};

use super::{TETRAHEDRON, edge_index, longest_within};
use crate::ids::{Edge, Tet};

/// Tetrahedra of a block.
pub const CLOSE_TETS: usize = 256;
const TETS: u32 = CLOSE_TETS as u32;

/// Shared memory of a block: the edges of its tetrahedra, and the tetrahedra with a marked edge.
#[derive(SharedMemory)]
pub struct CloseTile {
    edges: Shared<u32, { 6 * CLOSE_TETS }>,
    touched: Shared<u8, CLOSE_TETS>,
}

/// Edges 01, 02, 03, 12, 13, 23, a bit each, of the tetrahedron and of its faces without vertex 3, 2, 1 and 0.
#[doc(hidden)]
pub const SIMPLICES: [(u32, u32); 5] = [
    (TETRAHEDRON, 0b11_1111),
    (0b0111, 0b00_1011),
    (0b1011, 0b01_0101),
    (0b1101, 0b10_0110),
    (0b1110, 0b11_1000),
];

/// Marks, in `after`, the edges that the marks in `before` require: in each tetrahedron and each of its faces with a
/// marked edge, the longest edge. `after` is a copy of `before`.
///
/// `progress[round + 1]` becomes 1 if there is a new mark; a round after one without a new mark returns at once.
/// `touched` gets the tetrahedra with an edge in `before`: after the last round, all that have a marked edge.
///
/// A round reads only the marks of the round before, so that the number of rounds does not depend on the order of
/// blocks.
#[kernel(
    requires(
        n == orders.len().div_ceil(CLOSE_TETS),
        edges.len() == 6 * orders.len(),
        after.len() == before.len(),
        touched.len() == words(orders.len()),
        progress.len() > round as usize + 1
    ),
    moves(edges.bytes() + orders.bytes() + 2 * before.bytes() + touched.bytes())
)]
pub fn close_tet_marks(
    block: &Block<CLOSE_TETS, CloseTile>,
    edges: In<Edge>,
    orders: In<u32>,
    before: In<Bits<Edge>>,
    after: Atomic<Bits<Edge>>,
    touched: Out<u32>,
    progress: Out<u32>,
    round: u32,
) {
    if progress.at(round) == 0 {
        return;
    }
    let tile = block.shared();
    let first = block.index() * TETS;
    block.phase(|lane| {
        let mut quad = lane.index();
        while quad < 6 * TETS / 4 {
            let [a, b, c, d] = edges.quad(6 * first + 4 * quad);
            tile.edges.set(lane, 4 * quad, a.index());
            tile.edges.set(lane, 4 * quad + 1, b.index());
            tile.edges.set(lane, 4 * quad + 2, c.index());
            tile.edges.set(lane, 4 * quad + 3, d.index());
            quad += TETS;
        }
    });
    block.phase(|lane| {
        let t = Tet::new(first + lane.index());
        if t.index() >= orders.len() {
            tile.touched.set(lane, lane.index(), 0);
            return;
        }
        let edge = |k: u32| Edge::new(tile.edges.at(6 * lane.index() + k));
        let mut marked = 0;
        let mut k = 0;
        while k < 6 {
            marked |= u32::from(before.bit(edge(k))) << k;
            k += 1;
        }
        tile.touched.set(lane, lane.index(), u8::from(marked != 0));
        if marked == 0 || marked == 0b11_1111 {
            return;
        }
        let order = orders.at(t);
        let require = |(simplex, own): (u32, u32)| {
            let k = edge_index(longest_within(order, simplex));
            if marked & own != 0 && marked >> k & 1 == 0 && !after.test_and_set_bit(edge(k)) {
                progress.set_same(round + 1, 1);
            }
        };
        require(SIMPLICES[0]);
        require(SIMPLICES[1]);
        require(SIMPLICES[2]);
        require(SIMPLICES[3]);
        require(SIMPLICES[4]);
    });
    block.lanes(|lane| {
        let word = first / 32 + lane.index();
        if lane.index() < TETS / 32 && word < touched.len() {
            let mut bits = 0;
            let mut k = 0;
            while k < 8 {
                // Four bytes, 0 or 1 each, to four bits.
                let bytes = tile.touched.word(8 * lane.index() + k);
                bits |= (bytes.wrapping_mul(0x1020_4080) >> 28) << (4 * k);
                k += 1;
            }
            touched.set(word, bits);
        }
    });
}
