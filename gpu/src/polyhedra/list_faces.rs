//! Polyhedra: their tetrahedra and the sides of their surfaces.

use trioxide_kernel::safe::{self, Own, Safe, Scatter};
use trioxide_kernel::{Atomic, Bits, Block, In, Out, Shared, SharedMemory, kernel};

use super::link::{Link, walk};
use super::{sides_of, tally};
use crate::ids::{FaceSide, Polyhedron, Tet};
use trioxide_kernel::rows::{rank_of, sort};

/// The polyhedron of tetrahedron `t`, and the place in it, in no particular order: `counts` has the number of
/// tetrahedra that each polyhedron has so far.
///
/// `ranks` are the ranks of the roots ([`rank_of()`](trioxide_kernel::rows::rank_of())): a polyhedron has the rank of
/// its root.
/// root.
#[kernel(
    requires(links.len() == n, 16 * ranks.len() >= n, polyhedra.len() == n, places.len() == n),
    moves(links.bytes() + ranks.bytes() + counts.bytes() + polyhedra.bytes() + places.bytes())
)]
pub fn assign_tetrahedra(
    t: Own<Tet>,
    links: safe::In<Link, Tet>,
    ranks: safe::In<u32>,
    counts: safe::Atomic<u32, Polyhedron>,
    polyhedra: safe::Out<Polyhedron, Tet>,
    places: safe::Out<u32, Tet>,
) {
    let (root, _) = walk(links, links.at(t).parent(), u32::MAX);
    let p = Polyhedron::new(rank_of(ranks, root));
    polyhedra.set(t, p);
    places.set(t, counts.add(p, 1));
}

/// Puts tetrahedron `t` at its place in its polyhedron's list.
#[kernel(
    requires(polyhedra.len() == n, places.len() == n, items.len() == n),
    moves(polyhedra.bytes() + places.bytes() + offsets.bytes() + items.bytes())
)]
pub fn list_tetrahedra(
    t: Own<Tet>,
    polyhedra: safe::In<Polyhedron, Tet>,
    places: safe::In<u32, Tet>,
    offsets: safe::In<u32, Polyhedron>,
    items: Scatter<Tet>,
) {
    items.set(offsets.at(polyhedra.at(t)) + places.at(t), *t);
}

/// First side of polyhedron `p` in the list of all sides, with `tets` tetrahedra in the polyhedra before it: n
/// tetrahedra of a tree have 2n + 2 sides.
#[inline(always)]
pub fn first_side(tets: u32, p: u32) -> u32 {
    2 * tets + 2 * p
}

/// Lanes of a block: a polyhedron each.
const LANES: usize = 256;
/// Polyhedra of a block.
pub const PART: u32 = LANES as u32;
/// Tetrahedra that a block takes at a time.
const ROOM: usize = EACH as usize * LANES;
/// Tetrahedra of a lane.
const EACH: u32 = 6;

/// Shared memory of a block: the polyhedra that it takes at a time.
#[derive(SharedMemory)]
pub struct Taken {
    /// Their tetrahedra, as they were listed.
    listed: Shared<u32, ROOM>,
    /// The same tetrahedra, ascending in each polyhedron.
    ordered: Shared<u32, ROOM>,
    /// Polyhedron of each tetrahedron, counted from the first.
    owners: Shared<u8, ROOM>,
    /// First tetrahedron of each polyhedron, and the end of the last.
    starts: Shared<u16, { LANES + 1 }>,
    /// Sides of their surfaces: four times the tetrahedron's place, plus the side's place.
    sides: Shared<u16, { 2 * (ROOM + LANES) }>,
    /// Tetrahedra of each polyhedron of the part.
    lengths: Shared<u32, LANES>,
}

/// Orders the tetrahedra of each polyhedron, and lists the sides of its surface, ascending. `offsets` are the starts of
/// their tetrahedra in `items`; `starts` gets the starts of their sides, and after the last polyhedron the end. If the
/// sides are counted already (`is_counted`), as where regions are no trees, `starts` has these. `found` gets
/// [`tally::LONGEST`].
///
/// A block takes as many polyhedra at a time as fit into its memory, so that it reads and writes lists whole. A
/// polyhedron that does not fit is done by one lane, and if it is longer than `most_alone`, by another launch with
/// `is_ordered`, for lists in order.
#[kernel(
    requires(
        (offsets.len() - 1).div_ceil(PART as usize) == n,
        8 * frontier.len() >= items.len(),
        starts.len() == offsets.len(),
        is_counted || listed.len() == 2 * items.len() + 2 * (offsets.len() - 1),
        found.len() == tally::COUNT
    ),
    moves(offsets.bytes() + 2 * items.bytes() + frontier.bytes() + starts.bytes() + listed.bytes())
)]
pub fn list_faces(
    block: &Block<LANES, Taken>,
    offsets: In<u32>,
    frontier: safe::In<Bits<FaceSide>>,
    is_ordered: bool,
    is_counted: bool,
    most_alone: u32,
    items: Out<Tet>,
    starts: Out<u32>,
    listed: Out<FaceSide>,
    found: Atomic,
) {
    // SAFETY: the launch's promise: items are tetrahedra, and each tetrahedron has four bits.
    let frontier = unsafe { frontier.trusted() };
    let polyhedra = offsets.len() - 1;
    let mut first = block.index() * PART;
    let end = (first + PART).min(polyhedra);
    find_longest(block, offsets, first, end, found);
    block.lanes(|lane| {
        let p = first + lane.index();
        if p < end && !is_counted {
            starts.set(p, first_side(offsets.at(p), p));
        }
        if p + 1 == polyhedra && !is_counted {
            starts.set(p + 1, first_side(offsets.at(p + 1), p + 1));
        }
    });
    while first < end {
        let before = offsets.at(first);
        let start = if is_counted {
            starts.at(first)
        } else {
            first_side(before, first)
        };
        let fits = block.lanes(|lane| {
            let p = first + lane.index();
            u32::from(p < end && offsets.at(p + 1) - before <= ROOM as u32)
        });
        let (_, taken) = block.exclusive_sum(&fits);
        if taken > 0 {
            order_part(block, offsets, first, taken, items);
            list_part(block, frontier, before, start, taken, items, listed);
        } else {
            block.phase(|lane| {
                let length = offsets.at(first + 1) - before;
                if lane.index() == 0 && (is_ordered || length <= most_alone) {
                    let places = (before, before + length);
                    list_alone(places, frontier, is_ordered, start, items, listed);
                }
            });
        }
        first += taken.max(1);
    }
}

/// The longest of polyhedra `first..end`.
#[inline(always)]
fn find_longest(
    block: &Block<LANES, Taken>,
    offsets: In<u32>,
    first: u32,
    end: u32,
    found: Atomic,
) {
    const RUN: u32 = 16;
    let lengths = &block.shared().lengths;
    block.phase(|lane| {
        let p = first + lane.index();
        let length = if p < end {
            offsets.at(p + 1) - offsets.at(p)
        } else {
            0
        };
        lengths.set(lane, lane.index(), length);
    });
    let longest_of = |start: u32, step: u32| {
        let mut longest = 0;
        let mut i = 0;
        while i < RUN {
            longest = lengths.at(start + i * step).max(longest);
            i += 1;
        }
        longest
    };
    block.phase(|lane| {
        if lane.index() < LANES as u32 / RUN {
            lengths.set(lane, lane.index() * RUN, longest_of(lane.index() * RUN, 1));
        }
    });
    block.phase(|lane| {
        if lane.index() == 0 {
            found.fetch_max(tally::LONGEST, longest_of(0, RUN));
        }
    });
}

/// Orders the tetrahedra of polyhedra `first..first + taken`: each tetrahedron counts the lower ones of its polyhedron.
#[inline(always)]
fn order_part(
    block: &Block<LANES, Taken>,
    offsets: In<u32>,
    first: u32,
    taken: u32,
    items: Out<Tet>,
) {
    let part = block.shared();
    let before = offsets.at(first);
    let count = offsets.at(first + taken) - before;
    block.phase(|lane| {
        let mut i = lane.index();
        while i < count {
            part.listed.set(lane, i, items.at(before + i).index());
            i += PART;
        }
        if lane.index() < taken {
            let start = offsets.at(first + lane.index()) - before;
            let end = offsets.at(first + lane.index() + 1) - before;
            part.starts.set(lane, lane.index(), start as u16);
            if lane.index() + 1 == taken {
                part.starts.set(lane, taken, end as u16);
            }
            let mut i = start;
            while i < end {
                part.owners.set(lane, i, lane.index() as u8);
                i += 1;
            }
        }
    });
    block.phase(|lane| {
        let mut i = lane.index();
        while i < count {
            let own = part.listed.at(i);
            let owner = u32::from(part.owners.at(i));
            let start = u32::from(part.starts.at(owner));
            let end = u32::from(part.starts.at(owner + 1));
            let mut lower = 0;
            let mut other = start;
            while other < end {
                lower += u32::from(part.listed.at(other) < own);
                other += 1;
            }
            part.ordered.set(lane, start + lower, own);
            i += PART;
        }
    });
}

/// Lists the sides of as many polyhedra as are `taken`, whose tetrahedra are ordered, and writes both: the tetrahedra
/// from `before` on, the sides from `start` on.
#[inline(always)]
fn list_part(
    block: &Block<LANES, Taken>,
    frontier: safe::In<Bits<FaceSide>>,
    before: u32,
    start: u32,
    taken: u32,
    items: Out<Tet>,
    listed: Out<FaceSide>,
) {
    let part = block.shared();
    let count = u32::from(part.starts.at(taken));
    // A lane takes neighbouring tetrahedra: their sides lie side by side.
    let each = count.div_ceil(PART);
    let sides = block.lanes(|lane| {
        let mut i = lane.index();
        while i < count {
            items.set(before + i, Tet::new(part.ordered.at(i)));
            i += PART;
        }
        let mut sides = 0;
        let mut k = 0;
        while k < EACH {
            let i = lane.index() * each + k;
            if k < each && i < count {
                sides |= sides_of(frontier, Tet::new(part.ordered.at(i))) << (4 * k);
            }
            k += 1;
        }
        sides
    });
    let counts = block.lanes(|lane| sides.at(lane).count_ones());
    let (slots, total) = block.exclusive_sum(&counts);
    block.phase(|lane| {
        let mut slot = slots.at(lane);
        let mut sides = sides.at(lane);
        while sides != 0 {
            // Bit 4 k + j is side j of the lane's tetrahedron k.
            let code = 4 * lane.index() * each + sides.trailing_zeros();
            part.sides.set(lane, slot, code as u16);
            sides &= sides - 1;
            slot += 1;
        }
    });
    block.phase(|lane| {
        let mut i = lane.index();
        while i < total {
            let code = u32::from(part.sides.at(i));
            let t = Tet::new(part.ordered.at(code / 4));
            listed.set(start + i, FaceSide::of(t, code % 4));
            i += PART;
        }
    });
}

/// Orders the tetrahedra of a polyhedron at these places, unless they are in order, and lists its sides from `slot` on.
#[inline(always)]
fn list_alone(
    (mut place, end): (u32, u32),
    frontier: safe::In<Bits<FaceSide>>,
    is_ordered: bool,
    mut slot: u32,
    items: Out<Tet>,
    listed: Out<FaceSide>,
) {
    if !is_ordered {
        sort(items, place, end);
    }
    while place < end {
        let t = items.at(place);
        let mut sides = sides_of(frontier, t);
        while sides != 0 {
            listed.set(slot, FaceSide::of(t, sides.trailing_zeros()));
            sides &= sides - 1;
            slot += 1;
        }
        place += 1;
    }
}
