//! Lists of the pieces: their sides, and corners of faces. A list has the items of each piece in one row.

use trioxide_kernel::rows::rank_of;
use trioxide_kernel::safe::{In, Out, Own, Scatter};
use trioxide_kernel::view::AtomicElement;
use trioxide_kernel::{Bits, kernel};

use super::Joined;
use crate::ids::{Border, Corner, Item, Polygon};

/// A side in the list of its piece, in the order of borders and their edges: the piece beyond it, or `NONE`, and its
/// edge or face.
#[inline(always)]
pub(super) fn key_of(beyond: Polygon, edge: Corner) -> u64 {
    u64::from(beyond.index()) << 32 | u64::from(edge.index())
}

/// The piece beyond a side, or `NONE`.
#[inline(always)]
pub(super) fn beyond(key: u64) -> Polygon {
    Polygon::new((key >> 32) as u32)
}

/// The edge or face of a side.
#[inline(always)]
pub(super) fn edge(key: u64) -> Corner {
    Corner::new(key as u32)
}

/// Whether item `i` of a sorted list is the first of its element in its piece.
#[kernel(
    T(u32 = u32, u64 = u64),
    requires(owners.len() == n, elements.len() == n)
)]
pub fn is_first_of_element<T: AtomicElement + PartialEq>(
    i: Own<Item>,
    owners: In<Polygon, Item>,
    elements: In<T, Item>,
) -> bool {
    let k = i.get().index();
    if k == 0 {
        return true;
    }
    let before = Item::new(k - 1);
    owners.at(before) != owners.at(i) || elements.at(before) != elements.at(i)
}

/// Whether item `i` of the sorted sides is the first of a border, or of the sides of a piece beyond which there is
/// none.
#[kernel(requires(owners.len() == n, keys.len() == n))]
pub fn is_first_of_border(i: Own<Item>, owners: In<Polygon, Item>, keys: In<u64, Item>) -> bool {
    let k = i.get().index();
    if k == 0 {
        return true;
    }
    let before = Item::new(k - 1);
    owners.at(before) != owners.at(i) || beyond(keys.at(before)) != beyond(keys.at(i))
}

/// Writes both pieces of border `b`, whose first side is `firsts[b]`.
#[kernel(
    requires(firsts.len() == n, pieces.len() == n, neighbours.len() == n),
    moves(2 * firsts.bytes() + pieces.bytes() + 2 * neighbours.bytes())
)]
pub fn write_borders(
    b: Own<Border>,
    firsts: In<Item, Border>,
    owners: In<Polygon, Item>,
    keys: In<u64, Item>,
    pieces: Out<Polygon, Border>,
    neighbours: Out<Polygon, Border>,
) {
    let first = firsts.at(b);
    pieces.set(b, owners.at(first));
    neighbours.set(b, beyond(keys.at(first)));
}

/// Number of the items in a set before place `offset` of a list, the end included; `members` are in the set.
#[inline(always)]
fn members_before(offset: u32, ranks: In<u32>, members: u32) -> u32 {
    if offset / 32 * 2 < ranks.len() {
        rank_of(ranks, Item::new(offset))
    } else {
        members
    }
}

/// The first place of piece `p` in the list of a set of items, whose list has `offsets`; `members` are in the set.
#[kernel(
    requires(offsets.len() == n, starts.len() == n),
    moves(offsets.bytes() + ranks.bytes() + starts.bytes())
)]
pub fn start_rows(
    p: Own<Polygon>,
    offsets: In<u32, Polygon>,
    ranks: In<u32>,
    members: u32,
    starts: Out<u32, Polygon>,
) {
    starts.set(p, members_before(offsets.at(p), ranks, members));
}

/// Whether item `i` of the sides of pieces is not inside of a piece of the next level.
#[kernel(requires(owners.len() == n, keys.len() == n))]
pub fn is_outline(
    i: Own<Item>,
    owners: In<Polygon, Item>,
    keys: In<u64, Item>,
    parents: In<Polygon, Polygon>,
) -> bool {
    let q = beyond(keys.at(i));
    q.is_none() || parents.at(owners.at(i)) != parents.at(q)
}

/// Counts the items of a set in the pieces of piece `i` of the next level, whose first is `firsts[i]`.
#[kernel(
    requires(firsts.len() == n, lengths.len() == n + 1),
    moves(firsts.bytes() + 2 * offsets.bytes() + lengths.bytes())
)]
pub fn count_rows(
    i: Own<Item>,
    firsts: In<Polygon, Item>,
    joined: Joined,
    offsets: In<u32>,
    ranks: In<u32>,
    members: u32,
    lengths: Scatter<u32>,
) {
    let (mut length, mut k) = (0, 0);
    while k < 4 {
        let p = joined.piece(firsts.at(i), k);
        if p.is_some() {
            length += members_before(offsets.at(p.index() + 1), ranks, members)
                - members_before(offsets.at(p.index()), ranks, members);
        }
        k += 1;
    }
    lengths.set(i.get().index(), length);
}

/// Joins the rows of the pieces of piece `i` of the next level, whose row starts at `starts[i]`: writes how far each
/// moves, modulo 2^32.
#[kernel(
    requires(firsts.len() == n, starts.len() == n + 1),
    moves(firsts.bytes() + 2 * offsets.bytes() + starts.bytes() + shifts.bytes())
)]
pub fn join_rows(
    i: Own<Item>,
    firsts: In<Polygon, Item>,
    joined: Joined,
    offsets: In<u32>,
    ranks: In<u32>,
    members: u32,
    starts: In<u32>,
    shifts: Scatter<u32, Polygon>,
) {
    let (mut start, mut k) = (starts.at(i.get().index()), 0);
    while k < 4 {
        let p = joined.piece(firsts.at(i), k);
        if p.is_some() {
            let before = members_before(offsets.at(p.index()), ranks, members);
            shifts.set(p, start.wrapping_sub(before));
            start += members_before(offsets.at(p.index() + 1), ranks, members) - before;
        }
        k += 1;
    }
}

/// Gives item `i` of a list its place in the list of the next level, if it is in the set `kept`.
#[kernel(
    requires(owners.len() == n, larger.len() == order.len()),
    moves(owners.bytes() + ranks.bytes() + order.bytes() + larger.bytes())
)]
pub fn move_items(
    i: Own<Item>,
    kept: In<Bits<Item>>,
    ranks: In<u32>,
    owners: In<Polygon, Item>,
    parents: In<Polygon, Polygon>,
    shifts: In<u32, Polygon>,
    order: Scatter<Item>,
    larger: Scatter<Polygon>,
) {
    if kept.bit(i.get()) {
        let p = owners.at(i);
        let place = rank_of(ranks, i.get()).wrapping_add(shifts.at(p));
        order.set(place, i.get());
        larger.set(place, parents.at(p));
    }
}

/// The side in place `i` of the list of the next level: side `order[i]` of the one before.
#[kernel(
    requires(order.len() == n, moved.len() == n),
    moves(order.bytes() + 2 * moved.bytes())
)]
pub fn move_sides(
    i: Own<Item>,
    order: In<Item, Item>,
    keys: In<u64>,
    parents: In<Polygon, Polygon>,
    moved: Out<u64, Item>,
) {
    let key = keys.at(order.at(i).index());
    let q = beyond(key);
    let q = if q.is_none() { q } else { parents.at(q) };
    moved.set(i, key_of(q, edge(key)));
}
