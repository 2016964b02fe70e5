//! The rounds of [`insert_points`](super::insert_points) in one block, for few points: the host launches once and
//! reads once, and a round costs some barriers in place of some launches.
//!
//! | phase of a round | lanes take |
//! | --- | --- |
//! | compare the triangles of each face, make new triangles | faces |
//! | test the candidates of the new triangles | candidates |
//! | write the lists of the new triangles | four candidates each |
//! | write the faces at which new triangles met others | new triangles |
//!
//! Scans over the lanes number triangles, list entries and faces, so all results are the same in every run. Two edges
//! meet in a table that lasts for all rounds: the first to come stays in it, the second finds it. Where an edge lies in
//! the table, and which of two edges of one round came first, is a race that no result depends on.
//!
//! The arrays have fixed lengths. If one is too short, the block ends and reports so; the host then makes the rounds by
//! launches.

use glam::DVec2;
use trioxide_kernel::block::Lane;
use trioxide_kernel::safe::In;
use trioxide_kernel::{Atomic, Block, Group, Lanes, NONE, Out, kernel};

use super::insert_points::{Face, INFINITE, Replacement, conflicts, corners_of};
use super::predicates::orientation;
use crate::slots::slot_of;

/// Lanes of the block: as many as it may have, with fewer registers than the exact predicates take. On an H100 512
/// lanes without spills take a tenth longer, 768 a twentieth.
const LANES: usize = 1024;
/// Candidates of a lane while lists are written: one vector load.
const ITEMS: u32 = 4;
/// Candidates whose first one's triangle is noted.
const GROUP: u32 = 32;
/// Words of a new triangle's record.
const RECORD: u32 = 8;
/// Most points: an edge is named by 32 bits.
pub const MOST_IN_BLOCK: usize = (1 << 16) - 2;

/// Slots of the block's report to the host.
pub mod report {
    /// Whether the triangulation is complete.
    pub const IS_COMPLETE: u32 = 0;
    /// Number of triangles that there have been.
    pub const TRIANGLES: u32 = 1;
    /// Number of faces of the result.
    pub const DONE: u32 = 2;
    /// Number of slots.
    pub const COUNT: usize = 3;
}

/// The block's arrays.
#[derive(Group)]
pub struct Rounds<'a> {
    /// Corners of the triangles that there have been, three each.
    pub corners: Out<'a, u32>,
    /// The first point in each triangle's circle.
    pub minima: Atomic<'a>,
    /// Faces of the result, four words each.
    pub done: Out<'a, u32>,
    /// Start of each triangle's points, and the end of the last's.
    pub starts: Out<'a, u32>,
    /// Points in the triangles' circles.
    pub points: Out<'a, u32>,
    /// Faces of this round and of the next, four words each.
    pub faces: Out<'a, u32>,
    /// Of each new triangle the place of its gone triangle's list less its own start, its first candidate of the other
    /// triangle, the same place of that triangle's, the gone triangle; from, to and the new corner, its own start.
    pub records: Out<'a, u32>,
    /// The new triangle of each candidate whose number is a multiple of [`GROUP`].
    pub groups: Out<'a, u32>,
    /// Candidates: their points, [`OUTSIDE`] for others, with [`FIRST`] for the first of a triangle.
    pub tested: Out<'a, u32>,
    /// Edges of new triangles that wait or have met: [`edge_key()`], and the side that came first.
    pub table: Atomic<'a, u64>,
    /// The triangle that a side of a triangle met in the triangle's round: two for each triangle, [`NONE`] before.
    pub meetings: Out<'a, u32>,
}

/// Set for the first candidate of a triangle.
const FIRST: u32 = 1 << 31;
/// A candidate that does not lie in the circle.
const OUTSIDE: u32 = FIRST - 1;

/// Numbers of elements so far.
#[derive(Clone, Copy)]
struct Counts {
    triangles: u32,
    listed: u32,
    /// Number of faces, and the place of the first.
    faces: u32,
    first_face: u32,
    done: u32,
}

/// New triangles of a round, and their candidates.
#[derive(Clone, Copy)]
struct New {
    count: u32,
    candidates: u32,
}

/// Triangulates `sites`, which are in the order of insertion, and whose first three are not on one line.
#[kernel(
    registers = 64,
    requires(
        n == 1,
        sites.len() > 2,
        sites.len() <= MOST_IN_BLOCK,
        result.len() == report::COUNT,
        rounds.minima.len() > 3,
        rounds.corners.len() == 3 * rounds.minima.len(),
        rounds.starts.len() == rounds.minima.len() + 1,
        rounds.meetings.len() == 2 * rounds.minima.len(),
        rounds.table.len() >= 2 * rounds.minima.len(),
        rounds.faces.len().is_multiple_of(8),
        rounds.faces.len() >= 48,
        rounds.records.len() == RECORD as usize / 8 * rounds.faces.len(),
        rounds.tested.len() >= 4 * sites.len(),
        rounds.tested.len().is_multiple_of(ITEMS as usize),
        rounds.groups.len() > rounds.tested.len() / GROUP as usize
    ),
    moves(sites.bytes())
)]
pub fn insert_in_block(block: &Block<LANES>, sites: In<DVec2>, rounds: Rounds, result: Out<u32>) {
    let mut counts = start(block, sites, rounds);
    let mut is_complete = 0;
    while let Some(next) = counts {
        if next.faces == 0 {
            is_complete = 1;
            break;
        }
        counts = round(block, sites, rounds, next);
    }
    block.phase(|lane| {
        if lane.index() == 0 {
            result.set(report::IS_COMPLETE, is_complete);
            if let Some(counts) = counts {
                result.set(report::TRIANGLES, counts.triangles);
                result.set(report::DONE, counts.done);
            }
        }
    });
}

/// Sides of a new triangle at its new corner: the one that runs to it, and the one that runs from it.
const TO: u32 = 0;
const FROM: u32 = 1;

impl Rounds<'_> {
    /// Number of faces for which there is room.
    #[inline(always)]
    fn most_faces(&self) -> u32 {
        self.faces.len() / 8
    }

    #[inline(always)]
    fn corners(&self, t: u32) -> [u32; 3] {
        let at = |k| self.corners.at(3 * t + k);
        [at(0), at(1), at(2)]
    }

    #[inline(always)]
    fn set_corners(&self, t: u32, corners: [u32; 3]) {
        let mut k = 0;
        while k < 3 {
            self.corners.set(3 * t + k, corners[k as usize & 3]);
            k += 1;
        }
    }

    /// Number of points in the list of triangle `t`.
    #[inline(always)]
    fn length(&self, t: u32) -> u32 {
        self.starts.at(t + 1) - self.starts.at(t)
    }

    /// The new triangle of candidate `i`, of those of `new`.
    #[inline(always)]
    fn triangle_of(&self, i: u32, new: New) -> u32 {
        let group = i / GROUP;
        let mut low = self.groups.at(group);
        let mut high = match (group + 1) * GROUP < new.candidates {
            true => self.groups.at(group + 1),
            false => new.count - 1,
        };
        // The last triangle whose candidates start at `i` or before. Each has one at least: the inserted point.
        while low < high {
            let middle = high - (high - low) / 2;
            if self.records.at(RECORD * middle + 7) <= i {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        low
    }

    /// Lets side `side` of triangle `t`, between the new corner `w` and `end`, meet the side of the other triangle
    /// there, if that one has come. Of two triangles of this round, from `first` on, the side that runs to `w` gets the
    /// other triangle.
    #[inline(always)]
    fn meet(&self, t: u32, side: u32, [w, end]: [u32; 2], first: u32) {
        let key = w << 16 | end & 0xFFFF;
        let side = 2 * t + side;
        let entry = u64::from(key) << 32 | u64::from(side);
        let size = self.table.len();
        let mut at = slot_of(u64::from(key), size);
        loop {
            let found = self.table.claim(at, u64::MAX, entry);
            if found == u64::MAX {
                return;
            }
            if (found >> 32) as u32 == key {
                let other = found as u32;
                if other >= 2 * first && other % 2 == TO {
                    self.meetings.set(other, t);
                } else {
                    self.meetings.set(side, other / 2);
                }
                return;
            }
            at = if at + 1 < size { at + 1 } else { 0 };
        }
    }
}

/// The first triangle and its ghosts, with all other points as their candidates.
#[inline(always)]
fn start(block: &Block<LANES>, sites: In<DVec2>, rounds: Rounds) -> Option<Counts> {
    block.phase(|lane| {
        if lane.index() == 0 {
            let is_left = orientation(sites.at(0), sites.at(1), sites.at(2)) > 0;
            let (a, b, c) = if is_left { (0, 1, 2) } else { (1, 0, 2) };
            let i = INFINITE;
            rounds.set_corners(0, [a, b, c]);
            rounds.set_corners(1, [b, a, i]);
            rounds.set_corners(2, [c, b, i]);
            rounds.set_corners(3, [a, c, i]);
            rounds.faces.set_quad(0, [a, b, 0, 1]);
            rounds.faces.set_quad(4, [b, c, 0, 2]);
            rounds.faces.set_quad(8, [c, a, 0, 3]);
            rounds.faces.set_quad(12, [a, i, 1, 3]);
            rounds.faces.set_quad(16, [b, i, 2, 1]);
            rounds.faces.set_quad(20, [c, i, 3, 2]);
        }
        if lane.index() < 4 {
            rounds.minima.store(lane.index(), INFINITE);
            // The last start is written below.
            rounds.starts.set(lane.index(), 0);
        }
    });
    let others = sites.len() - 3;
    block.each(4 * others, |_, i| {
        let t = u32::from(i >= others) + u32::from(i >= 2 * others) + u32::from(i >= 3 * others);
        let q = 3 + (i - t * others);
        let point = match conflicts(rounds.corners(t), q, sites) {
            true => q,
            false => OUTSIDE,
        };
        rounds.tested.set(i, point | if q == 3 { FIRST } else { 0 });
    });
    let listed = write_lists(block, rounds, 0, 0, 4 * others)?;
    block.phase(|lane| {
        if lane.index() == 0 {
            rounds.starts.set(4u32, listed);
        }
    });
    Some(Counts {
        triangles: 4,
        listed,
        faces: 6,
        first_face: 0,
        done: 0,
    })
}

/// A round; `None` if an array is too short.
#[inline(always)]
fn round(block: &Block<LANES>, sites: In<DVec2>, rounds: Rounds, counts: Counts) -> Option<Counts> {
    // The faces of the next round take the other half.
    let next_face = rounds.most_faces() - counts.first_face;
    let (new, done) = make_triangles(block, rounds, counts, next_face)?;
    if new.count == 0 {
        return Some(Counts {
            faces: 0,
            done,
            ..counts
        });
    }
    test_candidates(block, sites, rounds, new);
    let first = counts.triangles;
    let listed = write_lists(block, rounds, first, counts.listed, new.candidates)?;
    let faces = write_faces(block, rounds, first, listed, new.count, next_face)?;
    Some(Counts {
        triangles: first + new.count,
        listed,
        faces,
        first_face: next_face,
        done,
    })
}

/// A face, the first points of its triangles, and how many points both have.
#[derive(Clone, Copy)]
struct Looked {
    face: Face,
    minima: [u32; 2],
    length: u32,
}

impl Looked {
    /// Whether one of the triangles is replaced.
    #[inline(always)]
    fn is_ready(&self) -> bool {
        self.minima[0] != self.minima[1]
    }

    /// Whether the face is part of the result.
    #[inline(always)]
    fn is_done(&self) -> bool {
        self.minima[0] == INFINITE && self.minima[1] == INFINITE
    }
}

/// Replaces a triangle at each face whose triangles have different first points, and lets the new edges meet. Writes
/// the new triangles' faces at `next_face`. The new triangles, and the number of faces of the result.
#[inline(always)]
fn make_triangles(
    block: &Block<LANES>,
    rounds: Rounds,
    counts: Counts,
    next_face: u32,
) -> Option<(New, u32)> {
    let mut new = New {
        count: 0,
        candidates: 0,
    };
    let mut done = counts.done;
    let mut first = 0;
    while first < counts.faces {
        let looked = block.lanes(|lane| {
            let i = first + lane.index();
            let mut looked = Looked {
                face: [0; 4],
                minima: [0; 2],
                length: 0,
            };
            if i < counts.faces {
                looked.face = rounds.faces.quad(4 * (counts.first_face + i));
                let [_, _, left, right] = looked.face;
                looked.minima = [rounds.minima.load(left), rounds.minima.load(right)];
                if looked.is_ready() {
                    looked.length = rounds.length(left) + rounds.length(right);
                }
            }
            looked
        });
        let flags = block.lanes(|lane| {
            let looked = looked.at(lane);
            u32::from(looked.is_ready()) | u32::from(looked.is_done()) << 16
        });
        let (ranks, sums) = block.exclusive_sum(&flags);
        let lengths = block.lanes(|lane| looked.at(lane).length);
        let (starts, length) = block.exclusive_sum(&lengths);
        let next = New {
            count: new.count + (sums & 0xFFFF),
            candidates: new.candidates + length,
        };
        if counts.triangles + next.count > rounds.minima.len()
            || next.count > rounds.most_faces()
            || next.candidates > rounds.tested.len()
            || 4 * (done + (sums >> 16)) > rounds.done.len()
        {
            return None;
        }
        block.phase(|lane| {
            let (looked, rank) = (looked.at(lane), ranks.at(lane));
            if looked.is_done() {
                let place = done + (rank >> 16);
                rounds.done.set_quad(4 * place, looked.face);
            } else if looked.is_ready() {
                let k = new.count + (rank & 0xFFFF);
                let start = new.candidates + starts.at(lane);
                make_triangle(rounds, &looked, counts.triangles, k, start, next_face);
            }
        });
        new = next;
        done += sums >> 16;
        first += LANES as u32;
    }
    Some((new, done))
}

/// Makes new triangle number `k`, whose candidates begin at `start`.
#[inline(always)]
fn make_triangle(rounds: Rounds, looked: &Looked, first: u32, k: u32, start: u32, next_face: u32) {
    let replacement = Replacement::at(looked.face, looked.minima);
    let Replacement {
        gone,
        kept,
        ends: [a, b],
        w,
        ..
    } = replacement;
    let t = first + k;
    rounds.set_corners(t, corners_of(a, b, w));
    rounds.minima.store(t, INFINITE);
    rounds
        .faces
        .set_quad(4 * (next_face + k), replacement.face(looked.face, t));
    let others = start + rounds.length(gone);
    let of_gone = rounds.starts.at(gone).wrapping_sub(start);
    let of_other = rounds.starts.at(kept).wrapping_sub(others);
    let record = RECORD * k;
    rounds
        .records
        .set_quad(record, [of_gone, others, of_other, gone]);
    rounds.records.set_quad(record + 4, [a, b, w, start]);
    let mut group = start.div_ceil(GROUP);
    while group * GROUP < start + looked.length {
        rounds.groups.set(group, k);
        group += 1;
    }
    rounds.meet(t, TO, [w, b], first);
    rounds.meet(t, FROM, [w, a], first);
}

/// Tests which candidates of the new triangles lie in their circles.
#[inline(always)]
fn test_candidates(block: &Block<LANES>, sites: In<DVec2>, rounds: Rounds, new: New) {
    block.each(new.candidates.div_ceil(ITEMS) * ITEMS, |_, i| {
        if i >= new.candidates {
            rounds.tested.set(i, OUTSIDE);
            return;
        }
        let k = rounds.triangle_of(i, new);
        let [of_gone, others, of_other, gone] = rounds.records.quad(RECORD * k);
        let [a, b, w, start] = rounds.records.quad(RECORD * k + 4);
        let is_of_other = i >= others;
        let place = i.wrapping_add(if is_of_other { of_other } else { of_gone });
        let q = rounds.points.at(place);
        // The new corner itself is in the circle of the triangle that goes. Points in both circles are candidates
        // twice.
        let is_inside = q != w
            && conflicts(corners_of(a, b, w), q, sites)
            && !(is_of_other && conflicts(rounds.corners(gone), q, sites));
        let point = if is_inside { q } else { OUTSIDE };
        rounds
            .tested
            .set(i, point | if i == start { FIRST } else { 0 });
    });
}

/// The four candidates of a lane, of those from `first` on; others follow the last of all, up to a multiple of four.
#[inline(always)]
fn candidates_of(rounds: Rounds, lane: Lane<'_>, first: u32, end: u32) -> [u32; 4] {
    let at = first + ITEMS * lane.index();
    if at < end {
        rounds.tested.quad(at)
    } else {
        [OUTSIDE; 4]
    }
}

/// Writes the lists of the triangles from `first` on, whose candidates were tested, after the `listed` points of older
/// triangles. The number of points of all lists.
#[inline(always)]
fn write_lists(
    block: &Block<LANES>,
    rounds: Rounds,
    first: u32,
    mut listed: u32,
    candidates: u32,
) -> Option<u32> {
    let mut next = first;
    let mut at = 0;
    while at < candidates {
        let words = block.lanes(|lane| candidates_of(rounds, lane, at, candidates));
        let flags = block.lanes(|lane| {
            let words = words.at(lane);
            let flag = |word: u32| u32::from(word & !FIRST != OUTSIDE) | (word & FIRST) >> 15;
            flag(words[0]) + flag(words[1]) + flag(words[2]) + flag(words[3])
        });
        let (ranks, sums) = block.exclusive_sum(&flags);
        if listed + (sums & 0xFFFF) > rounds.points.len() {
            return None;
        }
        block.phase(|lane| {
            let rank = ranks.at(lane);
            write_candidates(
                rounds,
                words.at(lane),
                next + (rank >> 16),
                listed + (rank & 0xFFFF),
            );
        });
        listed += sums & 0xFFFF;
        next += sums >> 16;
        at += ITEMS * LANES as u32;
    }
    Some(listed)
}

/// Writes those of four candidates that lie in their circles from `place` on; `t` is the triangle after that of the
/// candidate before.
#[inline(always)]
fn write_candidates(rounds: Rounds, words: [u32; 4], mut t: u32, mut place: u32) {
    let mut least = INFINITE;
    let mut j = 0;
    while j < ITEMS {
        let word = words[j as usize & 3];
        j += 1;
        if word & FIRST != 0 {
            if least != INFINITE {
                rounds.minima.min(t - 1, least);
                least = INFINITE;
            }
            rounds.starts.set(t, place);
            t += 1;
        }
        let q = word & !FIRST;
        if q != OUTSIDE {
            rounds.points.set(place, q);
            place += 1;
            least = if q < least { q } else { least };
        }
    }
    if least != INFINITE {
        rounds.minima.min(t - 1, least);
    }
}

/// Writes the faces at which sides of the `count` triangles from `first` on met others, at `next_face` after those of
/// the triangles themselves, and the end of the last triangle's list. The number of all these faces.
#[inline(always)]
fn write_faces(
    block: &Block<LANES>,
    rounds: Rounds,
    first: u32,
    listed: u32,
    count: u32,
    next_face: u32,
) -> Option<u32> {
    let mut faces = count;
    let mut at = 0;
    while at < count {
        let met: Lanes<[u32; 2], LANES> = block.lanes(|lane| {
            let k = at + lane.index();
            if k >= count {
                return [NONE; 2];
            }
            let side = 2 * (first + k);
            [rounds.meetings.at(side), rounds.meetings.at(side + 1)]
        });
        let flags = block.lanes(|lane| {
            let [to, from] = met.at(lane);
            u32::from(to != NONE) + u32::from(from != NONE)
        });
        let (ranks, sum) = block.exclusive_sum(&flags);
        if faces + sum > rounds.most_faces() {
            return None;
        }
        block.phase(|lane| {
            let k = at + lane.index();
            let [to, from] = met.at(lane);
            let mut place = next_face + faces + ranks.at(lane);
            if k + 1 == count {
                rounds.starts.set(first + count, listed);
            }
            if to == NONE && from == NONE {
                return;
            }
            let [a, b, w, _] = rounds.records.quad(RECORD * k + 4);
            if to != NONE {
                rounds.faces.set_quad(4 * place, [b, w, first + k, to]);
                place += 1;
            }
            if from != NONE {
                rounds.faces.set_quad(4 * place, [a, w, from, first + k]);
            }
        });
        faces += sum;
        at += LANES as u32;
    }
    Some(faces)
}
