//! The borders of the pieces of a level.

use trioxide_kernel::kernel;
use trioxide_kernel::safe::{In, Out, Own};

use crate::ids::{Corner, Edge, Item, Polygon, Side};

/// Whether side `c` is the lower one of an edge between two pieces.
#[kernel(requires(twins.len() == n, pieces.len() == n))]
pub fn is_shared(c: Own<Corner>, twins: In<Corner, Corner>, pieces: In<Polygon, Corner>) -> bool {
    let twin = twins.at(c);
    twin.is_some() && c.get() < twin && pieces.at(c) != pieces.at(twin)
}

/// Whether item `i` of `order` is a side of an edge without the same piece on both sides.
#[kernel(requires(order.len() == n, twins.len() == pieces.len()))]
pub fn is_outline(
    i: Own<Item>,
    order: In<Corner, Item>,
    twins: In<Corner, Corner>,
    pieces: In<Polygon, Corner>,
) -> bool {
    let side = order.at(i);
    let twin = twins.at(side);
    twin.is_none() || pieces.at(side) != pieces.at(twin)
}

/// Writes both sides of edge `e`, whose lower one is `edges[e]`.
#[kernel(
    requires(edges.len() == n, sides.len() == 2 * n),
    moves(2 * edges.bytes() + sides.bytes())
)]
pub fn write_both_sides(
    e: Own<Edge>,
    edges: In<Corner, Edge>,
    twins: In<Corner, Corner>,
    sides: Out<Corner, Side>,
) {
    let side = edges.at(e);
    sides.set(e.part(0), side);
    sides.set(e.part(1), twins.at(side));
}

/// The edge of item `i` of the list of `sides`.
#[kernel(
    requires(sides.len() == n, edges.len() == n),
    moves(2 * sides.bytes() + edges.bytes())
)]
pub fn name_edges(
    i: Own<Item>,
    sides: In<Corner, Item>,
    twins: In<Corner, Corner>,
    edges: Out<Corner, Item>,
) {
    let side = sides.at(i);
    let twin = twins.at(side);
    edges.set(i, if twin < side { twin } else { side });
}

/// Whether item `i` of a list by owner and element is the first of its element: of sides the first of a border, whose
/// element is the piece beyond.
#[kernel(requires(owners.len() == n, elements.len() == n))]
pub fn is_first_of_element(
    i: Own<Item>,
    owners: In<Polygon, Item>,
    elements: In<u32, Item>,
) -> bool {
    let k = i.get().index();
    if k == 0 {
        return true;
    }
    let before = Item::new(k - 1);
    owners.at(before) != owners.at(i) || elements.at(before) != elements.at(i)
}

/// The first place in `owners`, which ascend, of piece `p` or of one after it.
#[kernel(requires(starts.len() == n), moves(starts.bytes()))]
pub fn find_rows(p: Own<Polygon>, owners: In<Polygon>, starts: Out<u32, Polygon>) {
    let (mut begin, mut end) = (0, owners.len());
    while begin < end {
        let middle = begin + (end - begin) / 2;
        if owners.at(middle) < p.get() {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    starts.set(p, begin);
}
