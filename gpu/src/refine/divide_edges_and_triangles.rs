//! Step 7: new points, edges and triangles.
//!
//! With the ranks of step 6, the n-th divided side of the mesh gives triangle T + n, and the m-th owned one gives
//! vertex V + m. A side takes a new edge for its triangle's interior, and one more if it is owned: if m owned sides lie
//! before the n-th side, its slots start at E + n + m.

use trioxide_kernel::{Block, Group, In, Out, Shared, SharedMemory, kernel, safe};

use super::Ends;
use super::flag_divided_sides::acting;
use super::prefix_sums::{Ranking, Ranks, SideCounts};
use super::template::{Before, Divided, Division, Flagged};
use crate::ids::{Edge, HalfEdge, Side, Triangle, Vertex};
use crate::point::{Anywhere, MeshPoint};

/// The arrays that a round appends to, for each new vertex and each new triangle.
#[derive(Group)]
pub struct Parts<'a, P: MeshPoint> {
    /// Coordinates; V, with the new ones.
    pub points: Out<'a, P>,
    /// Edge that each new vertex divides; D in all rounds.
    pub divided: Out<'a, Edge>,
    /// Ends of that edge; D.
    pub origins: Out<'a, Ends>,
    /// Tag of each edge, or empty; E, with the new ones.
    pub tags: Out<'a, u32>,
    /// Triangle that each new one is a part of; N in all rounds.
    pub parents: Out<'a, Triangle>,
}

impl<P: MeshPoint> Parts<'_, P> {
    /// Writes the midpoint and the halves of edge `e`; the halves get its tag.
    #[inline(always)]
    fn divide(&self, before: Before, e: Edge, division: Division, ends: Ends) {
        let midpoint = division.midpoint;
        let (a, b) = (ends.start(), ends.end());
        self.points
            .set(midpoint, self.points.at(a).midpoint(self.points.at(b)));
        let new = midpoint.index() - before.input_vertices;
        self.divided.set(new, e);
        self.origins.set(new, ends);
        if !self.tags.is_empty() {
            let tag = self.tags.at(e);
            self.tags.set(division.slot, tag);
            self.tags.set(division.slot.index() + 1, tag);
        }
    }

    /// Clears the tag of an edge inside a triangle: its slot may hold the tag of an edge that had it before.
    #[inline(always)]
    fn untag(&self, e: Edge) {
        if !self.tags.is_empty() {
            self.tags.set(e, 0);
        }
    }
}

/// Divides a triangle by the template for its divided sides, in place, and divides the edges that it owns. For few
/// triangles.
///
/// A divided edge e becomes edges n, from its midpoint to its end, and n + 1, from its start to its midpoint, with n
/// the first of its owner's slots for it. The kernel works on the triangle of half-edge `list[i]`; its first piece
/// takes its place.
#[kernel(
    P in Anywhere,
    requires(
        list.len() == n,
        counts.flags.len() == words(3 * before.triangles as usize),
        counts.owned.len() == counts.flags.len(),
        counts.sums.len() == 2 * counts.flags.len().div_ceil(4),
        halves.len() == 2 * before.edges as usize,
        longest.len() == before.triangles as usize,
        sides.len() == corners.len(),
        corners.len() == 3 * (parts.parents.len() + before.input_triangles as usize),
        parts.points.len() == parts.origins.len() + before.input_vertices as usize,
        parts.divided.len() == parts.origins.len(),
        parts.tags.is_empty() || parts.tags.len() >= before.edges as usize
    )
)]
pub fn divide_listed_triangles<P: MeshPoint>(
    i: u32,
    list: safe::In<HalfEdge>,
    counts: SideCounts,
    halves: In<HalfEdge>,
    longest: In<u8>,
    corners: Out<Vertex>,
    sides: Out<Side>,
    parts: Parts<P>,
    before: Before,
) {
    let Some(t) = acting(i, list, counts.flags) else {
        return;
    };
    let h = |k: u32| HalfEdge::of(t, k);
    let flagged = Flagged::new(t, longest, counts);
    let vertices = [corners.at(h(0)), corners.at(h(1)), corners.at(h(2))];
    let old_sides = [sides.at(h(0)), sides.at(h(1)), sides.at(h(2))];
    let triangle = Divided::new(flagged, vertices, old_sides, halves, counts, before);
    triangle.apply(
        |piece, [a, b, c], [ab, bc, ca]| {
            let place = if piece == 0 {
                t
            } else {
                let new = before.triangles + triangle.rank + piece - 1;
                parts.parents.set(new - before.input_triangles, t);
                Triangle::new(new)
            };
            corners.set(HalfEdge::of(place, 0), a);
            corners.set(HalfEdge::of(place, 1), b);
            corners.set(HalfEdge::of(place, 2), c);
            sides.set(HalfEdge::of(place, 0), ab);
            sides.set(HalfEdge::of(place, 1), bc);
            sides.set(HalfEdge::of(place, 2), ca);
        },
        |e| parts.untag(e),
        |e, division, ends| parts.divide(before, e, division, ends),
    );
}

/// Triangles that a block of [`divide_all_triangles()`] works on, a lane each.
pub const TRIANGLES_OF_A_BLOCK: u32 = LANES as u32;
const LANES: usize = 256;
/// The distance, in triangles, at which a CPU prefetches the elements that the prefetched rows name.
const AHEAD: u32 = 8;
/// Words of the rows of a block's triangles.
const OLD: u32 = 3 * TRIANGLES_OF_A_BLOCK;

/// Rows of three for a block's triangles, followed by those for the new triangles, up to three for each old one.
#[derive(SharedMemory)]
pub struct Pieces {
    corners: Shared<Vertex, { 4 * 3 * LANES }>,
    sides: Shared<Side, { 4 * 3 * LANES }>,
}

/// As [`divide_listed_triangles()`] for every triangle, but not in place: `corners` and `sides` get the unchanged
/// triangles too. For many triangles.
///
/// The old triangles of a block are neighbours in memory, and so are the new ones: both pass through shared memory, so
/// that neighbouring lanes read and write neighbouring words.
#[kernel(
    P in Anywhere,
    // Without the limit it takes 48: one block fewer on each multiprocessor costs more than the few spilled words.
    registers = 40,
    requires(
        n == before.triangles.div_ceil(TRIANGLES_OF_A_BLOCK) as usize,
        ranks.fit(before.triangles),
        halves.len() == 2 * before.edges as usize,
        longest.len() == before.triangles as usize,
        old_corners.len() == 3 * before.triangles as usize,
        old_sides.len() == old_corners.len(),
        sides.len() == corners.len(),
        corners.len() == 3 * (parts.parents.len() + before.input_triangles as usize),
        parts.points.len() == parts.origins.len() + before.input_vertices as usize,
        parts.divided.len() == parts.origins.len(),
        parts.tags.is_empty() || parts.tags.len() >= before.edges as usize
    ),
    // All arrays except tags, which few meshes have.
    moves(
        ranks.ranks.bytes() + ranks.owned.bytes() + halves.bytes() + longest.bytes()
            + old_corners.bytes() + old_sides.bytes() + corners.bytes() + sides.bytes()
            + parts.points.bytes() + parts.divided.bytes() + parts.origins.bytes() + parts.parents.bytes()
    )
)]
pub fn divide_all_triangles<P: MeshPoint>(
    block: &Block<LANES, Pieces>,
    ranks: Ranks,
    halves: In<HalfEdge>,
    longest: In<u8>,
    old_corners: In<Vertex>,
    old_sides: In<Side>,
    corners: Out<Vertex>,
    sides: Out<Side>,
    parts: Parts<P>,
    before: Before,
) {
    let first = block.index() * TRIANGLES_OF_A_BLOCK;
    let last = if first + TRIANGLES_OF_A_BLOCK < before.triangles {
        first + TRIANGLES_OF_A_BLOCK
    } else {
        before.triangles
    };
    let words = 3 * (last - first);
    let pieces = block.shared();
    // Read before the barrier, so that these reads overlap with the reads of the phase.
    let flagged = block.lanes(|lane| {
        let t = first + lane.index();
        Flagged::new(
            Triangle::new(if t < last { t } else { first }),
            longest,
            ranks,
        )
    });
    let (first_new, _) = ranks.before(HalfEdge::new(3 * first));
    let (end_new, _) = if last < before.triangles {
        ranks.before(HalfEdge::new(3 * last))
    } else {
        (corners.len() / 3 - before.triangles, 0)
    };
    block.each(words, |lane, i| {
        let (corner, side) = (old_corners.at(3 * first + i), old_sides.at(3 * first + i));
        pieces.corners.set(lane, i, corner);
        pieces.sides.set(lane, i, side);
        parts.points.unwritten().prefetch(corner);
        halves.prefetch(side.reverse());
    });
    block.phase(|lane| {
        let t = first + lane.index();
        if t >= last {
            return;
        }
        let (i, j, k) = (3 * lane.index(), 3 * lane.index() + 1, 3 * lane.index() + 2);
        let corners = &pieces.corners;
        let sides = &pieces.sides;
        if cfg!(not(target_arch = "nvptx64")) && t + AHEAD < last {
            for k in 0..3 {
                let i = 3 * (lane.index() + AHEAD) + k;
                ranks.prefetch(halves.at(sides.at(i).reverse()));
                parts.points.unwritten().prefetch(corners.at(i));
            }
        }
        let vertices = [corners.at(i), corners.at(j), corners.at(k)];
        let old_sides = [sides.at(i), sides.at(j), sides.at(k)];
        let flagged = flagged.at(lane);
        if !flagged.any() {
            return;
        }
        let triangle = Divided::new(flagged, vertices, old_sides, halves, ranks, before);
        triangle.apply(
            |piece, [a, b, c], [ab, bc, ca]| {
                let row = if piece == 0 {
                    3 * lane.index()
                } else {
                    let new = triangle.rank + piece - 1;
                    let parent = before.triangles - before.input_triangles + new;
                    parts.parents.set(parent, Triangle::new(t));
                    OLD + 3 * (new - first_new)
                };
                corners.set(lane, row, a);
                corners.set(lane, row + 1, b);
                corners.set(lane, row + 2, c);
                sides.set(lane, row, ab);
                sides.set(lane, row + 1, bc);
                sides.set(lane, row + 2, ca);
            },
            |e| parts.untag(e),
            |e, division, ends| parts.divide(before, e, division, ends),
        );
    });
    let new_words = 3 * (end_new - first_new);
    block.each(words, |_, i| {
        corners.set(3 * first + i, pieces.corners.at(i));
        sides.set(3 * first + i, pieces.sides.at(i));
    });
    let to = 3 * (before.triangles + first_new);
    block.each(new_words, |_, i| {
        corners.set(to + i, pieces.corners.at(OLD + i));
        sides.set(to + i, pieces.sides.at(OLD + i));
    });
}
