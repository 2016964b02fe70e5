//! The triangles in the gaps between stars, from few hard points: each gap alone.
//!
//! Around a hard point lie triangles of stars, and *gaps* between them: triangles whose corners are all hard, and, at
//! the hull, infinity. A gap begins at an edge of the triangulation, whose right side is covered by a star. The next
//! triangle, and each one after it, follows from the edge by gift wrapping (Jarvis 1973) over all hard points:
//!
//! - *Its apex is the hard point to the left of the edge whose circle with the edge holds no other one.* The edge is
//!   Delaunay, and no star has the triangle to its left, so that triangle's corners are hard. Its circle holds no point
//!   at all, and of the points to the left of an edge only one has such a circle.
//! - *If no hard point is to the left, the edge is on the hull*, since all points of the hull are hard. The gap goes on
//!   at the next edge counter-clockwise, the last one clockwise.
//! - *It ends* at an edge whose left side is covered, or at the edge where it began.
//!
//! A hard point without stars around it has one gap, all around. It begins at the nearest hard point: that is the
//! nearest of all, since all its neighbours are hard, and a point and its nearest one are neighbours.
//!
//! Each triangle between hard points is found at each of its corners, and written at the one of the lowest place. So
//! gaps depend on no other gap, and a round of launches fills them all. Each triangle takes a look at all hard points:
//! with many of them insertion takes less.

use glam::DVec2;
use trioxide_kernel::safe::{self, In, Own};
use trioxide_kernel::{
    Atomic, Bits, Block, Lanes, NONE, NoCells, Out, Shared, SharedMemory, kernel,
};

use super::insert_points::is_before;
use super::join_parts::{ends_of, is_covered};
use super::predicates::{filtered_circle, is_in_circle_exactly, is_nearer, orientation};
use crate::ids::{Item, Place};

/// Lanes that look at the hard points for one gap.
const LANES: usize = 128;

/// Slots of the report to the host.
pub mod filled {
    /// Number of triangles.
    pub const TRIANGLES: u32 = 0;
    /// Whether a gap took too many exact tests: the triangles are not complete.
    pub const GAVE_UP: u32 = 1;
    /// Number of slots.
    pub const COUNT: usize = 2;
}

/// Whether a gap begins at item `i`: at a slot of the table whose side is covered, and the other side of whose edge is
/// not, or at a hard point without stars around it, which follow the slots.
#[kernel(requires(n == table.len() + hard.len()), moves(table.bytes() + hard.bytes()))]
pub fn find_gaps(i: Own<Item>, table: In<u64>, hard: In<Place>, touched: In<Bits<Place>>) -> bool {
    let i = i.get().index();
    if i >= table.len() {
        return !touched.bit(hard.at(i - table.len()));
    }
    match ends_of(table.at(i)) {
        Some([from, to]) => !is_covered(table, to, from),
        None => false,
    }
}

/// The hard points.
#[derive(safe::Group)]
pub struct HardPoints<'a> {
    /// Their places.
    pub places: In<'a, Place>,
    /// Their points.
    pub sites: In<'a, DVec2>,
    /// Covered sides.
    pub table: In<'a, u64>,
}

/// A block's memory.
#[derive(SharedMemory)]
pub struct Bests {
    /// Number of the best hard point of each lane.
    bests: Shared<u32, LANES>,
}

/// A directed edge.
#[derive(Clone, Copy)]
struct Edge {
    from: DVec2,
    to: DVec2,
}

impl Edge {
    /// 1 if `q` is to the left, 0 if it is on the edge's line, -1 if it is to the right.
    #[inline(always)]
    fn side(self, q: DVec2) -> i32 {
        let Self { from, to } = self;
        // Many points may lie on a side of a rectangle: they take no exact test.
        if from.x == to.x && to.x == q.x || from.y == to.y && to.y == q.y {
            return 0;
        }
        orientation(from, to, q)
    }
}

/// Whether `q` lies between p and r on their line.
#[inline(always)]
fn is_between(p: DVec2, q: DVec2, r: DVec2) -> bool {
    is_before(p, q) == is_before(q, r)
}

/// The number of the best of the wanted hard points; [`NONE`] if there is none. `is_better` compares the second of two
/// points with the first, and counts the exact tests of a lane.
#[inline(always)]
fn find_best(
    block: &Block<LANES, Bests>,
    sites: In<DVec2>,
    spent: &mut Lanes<u32, LANES>,
    is_wanted: impl Fn(DVec2) -> bool + NoCells,
    is_better: impl Fn(DVec2, DVec2, &mut u32) -> bool + NoCells,
) -> u32 {
    let bests = &block.shared().bests;
    let before = *spent;
    let found = block.lanes(|lane| {
        let (mut best, mut of_best, mut spent) = (NONE, DVec2::ZERO, before.at(lane));
        let mut i = lane.index();
        while i < sites.len() {
            let point = sites.at(i);
            if is_wanted(point) && (best == NONE || is_better(of_best, point, &mut spent)) {
                (best, of_best) = (i, point);
            }
            i += LANES as u32;
        }
        [best, spent]
    });
    *spent = block.lanes(|lane| found.at(lane)[1]);
    // Lanes have read the best of the search before.
    block.phase(|_| ());
    block.phase(|lane| bests.set(lane, lane.index(), found.at(lane)[0]));
    let mut half = LANES as u32 / 2;
    while half > 0 {
        block.phase(|lane| {
            if lane.index() >= half {
                return;
            }
            let (a, b) = (bests.at(lane.index()), bests.at(lane.index() + half));
            let is_better = || is_better(sites.at(a), sites.at(b), &mut 0);
            if b != NONE && (a == NONE || is_better()) {
                bests.set(lane, lane.index(), b);
            }
        });
        half /= 2;
    }
    bests.at(0)
}

/// Fills the gap of each item of `list`: writes places of the corners of its triangles, the lowest first, to
/// `corners`. A lane may take `most_exact` exact tests for a gap.
#[kernel(
    registers = 80,
    requires(
        n == list.len(),
        hard.sites.len() == hard.places.len(),
        corners.len() >= 6 * hard.places.len(),
        report.len() == filled::COUNT
    ),
    moves(list.bytes() + 12 * n)
)]
pub fn fill_gaps(
    block: &Block<LANES, Bests>,
    list: In<Item>,
    most_exact: u32,
    hard: HardPoints,
    sorted: In<DVec2, Place>,
    corners: Out<Place>,
    report: Atomic,
) {
    let i = list.at(block.index()).index();
    let mut spent = block.lanes(|_| 0);
    let slots = hard.table.len();
    let begin = match i < slots {
        true => ends_of(hard.table.at(i)),
        false => None,
    };
    let (p, first) = match begin {
        Some([from, to]) => (to, from),
        None => {
            let p = hard.places.at(i - slots);
            let own = sorted.at(p);
            let nearest = find_best(
                block,
                hard.sites,
                &mut spent,
                |q| q != own,
                |best, q, _| is_nearer(own, q, best),
            );
            (p, hard.places.at(nearest))
        }
    };
    let own = sorted.at(p);
    let mut side = first;
    loop {
        let edge = Edge {
            from: own,
            to: sorted.at(side),
        };
        let apex = find_best(
            block,
            hard.sites,
            &mut spent,
            |q| edge.side(q) > 0,
            |best, q, exact| match filtered_circle(own, edge.to, best, q) {
                0 => {
                    *exact += 1;
                    is_in_circle_exactly(own, edge.to, best, q)
                }
                sign => sign > 0,
            },
        );
        let taken = spent;
        if block.any(&block.lanes(|lane| taken.at(lane) > most_exact)) {
            block.phase(|lane| {
                if lane.index() == 0 {
                    report.store(filled::GAVE_UP, 1);
                }
            });
            return;
        }
        let next = match apex {
            NONE => find_last(block, hard.sites, &mut spent, edge),
            apex => apex,
        };
        let next = hard.places.at(next);
        if apex != NONE && p < side && p < next {
            block.phase(|lane| {
                if lane.index() == 0 {
                    let t = report.add(filled::TRIANGLES, 1);
                    corners.set(3 * t, p);
                    corners.set(3 * t + 1, side);
                    corners.set(3 * t + 2, next);
                }
            });
        }
        if next == first || is_covered(hard.table, p, next) {
            return;
        }
        side = next;
    }
}

/// The number of the hard point that is the last clockwise, seen from the first end of `edge`, and the nearest of
/// these; all are to the right of the edge's line, or on it, and not all are on it.
#[inline(always)]
fn find_last(
    block: &Block<LANES, Bests>,
    sites: In<DVec2>,
    spent: &mut Lanes<u32, LANES>,
    edge: Edge,
) -> u32 {
    let own = edge.from;
    let is_opposite = |q| q != own && edge.side(q) == 0 && is_between(edge.to, own, q);
    let opposite = find_best(block, sites, spent, is_opposite, |best, q, _| {
        is_between(own, q, best)
    });
    if opposite != NONE {
        return opposite;
    }
    let is_right = |q| edge.side(q) < 0;
    find_best(
        block,
        sites,
        spent,
        is_right,
        |best, q, _| match orientation(own, best, q) {
            0 => is_between(own, q, best),
            sign => sign < 0,
        },
    )
}
