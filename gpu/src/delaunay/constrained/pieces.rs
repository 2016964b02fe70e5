//! The pieces of segments: the edges on them.

use trioxide_kernel::safe::{In, Own, Scatter};
use trioxide_kernel::{Bits, kernel};

use super::Mesh;
use super::walk::{Met, follow, other_end};
use crate::ids::{HalfEdge, Item, Place, Triangle, Vertex};

/// Whether an edge is one of a kept triangle.
#[inline(always)]
fn is_kept(mesh: &Mesh, kept: In<Bits<Triangle>>, h: HalfEdge) -> bool {
    let twin = mesh.twins.at(h);
    kept.bit(h.triangle()) || twin.is_some() && kept.bit(twin.triangle())
}

/// Counts the kept pieces of segment number `i` of `order`. Whether it has others.
#[kernel(
    requires(order.len() == n, ends.len() == n),
    moves(order.bytes() + ends.bytes() + counts.bytes())
)]
pub fn count_pieces(
    i: Own<Item>,
    order: In<u32, Item>,
    mesh: Mesh,
    spokes: In<u32, Place>,
    ends: In<[u32; 2], Item>,
    kept: In<Bits<Triangle>>,
    counts: Scatter<u32>,
) -> bool {
    let (mut count, mut others) = (0, 0);
    follow(&mesh, spokes, ends.at(i), |met| {
        if let Met::Along(h, _) = met {
            let is_kept = u32::from(is_kept(&mesh, kept, h));
            count += is_kept;
            others += 1 - is_kept;
        }
    });
    counts.set(order.at(i), count);
    others > 0
}

/// Writes the vertices of the kept pieces of segment number `i` of `order`, two each, in its direction, from the piece
/// on where those of the segment start; and the `edges` of the pieces.
#[kernel(
    requires(order.len() == n, ends.len() == n),
    moves(order.bytes() + ends.bytes() + starts.bytes() + 2 * pieces.bytes() + edges.bytes())
)]
pub fn write_pieces(
    i: Own<Item>,
    order: In<u32, Item>,
    mesh: Mesh,
    spokes: In<u32, Place>,
    ends: In<[u32; 2], Item>,
    reversed: In<Bits<Item>>,
    kept: In<Bits<Triangle>>,
    starts: In<u32>,
    vertices: In<Vertex, Place>,
    pieces: Scatter<Vertex>,
    edges: Scatter<HalfEdge>,
) {
    let is_reversed = reversed.bit(i.get());
    let segment = order.at(i);
    let [start, end] = starts.at_all([segment, segment + 1]);
    let mut k = if is_reversed { end } else { start };
    follow(&mesh, spokes, ends.at(i), |met| {
        if let Met::Along(h, to) = met
            && is_kept(&mesh, kept, h)
        {
            let [from, to] = vertices.at_all([other_end(&mesh, h, to), to]);
            let [first, second] = if is_reversed {
                k -= 1;
                [to, from]
            } else {
                k += 1;
                [from, to]
            };
            let at = if is_reversed { k } else { k - 1 };
            pieces.set(2 * at, first);
            pieces.set(2 * at + 1, second);
            edges.set(at, h);
        }
    });
}

/// Writes the number of segment `i` for each of its pieces.
#[kernel(requires(starts.len() == n + 1), moves(starts.bytes() + parents.bytes()))]
pub fn name_parents(i: Own<Item>, starts: In<u32>, parents: Scatter<u32>) {
    let segment = i.get().index();
    let [start, end] = starts.at_all([segment, segment + 1]);
    let mut k = start;
    while k < end {
        parents.set(k, segment);
        k += 1;
    }
}
