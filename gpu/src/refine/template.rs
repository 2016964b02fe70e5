//! The template of a triangle for its divided sides (section 4.4, figure 4.4): its pieces and their slots.

use bytemuck::{Pod, Zeroable};
use trioxide_kernel::{In, Scalar};

use super::Ends;
use super::prefix_sums::Ranking;
use crate::ids::{Edge, HalfEdge, Side, Triangle, Vertex};

/// The new edges of a triangle that the division of one side makes.
#[derive(Clone, Copy)]
pub(super) struct Division {
    /// Edge from the midpoint of the divided edge to its end; the edge from the start to the midpoint has the next id.
    pub slot: Edge,
    pub midpoint: Vertex,
    /// Side from inside the triangle to the midpoint.
    interior: Side,
    is_owned: bool,
}

impl Division {
    /// Side from the start to the midpoint.
    #[inline(always)]
    fn first(&self) -> Side {
        Side::new(2 * self.slot.index() + if self.is_owned { 2 } else { 1 })
    }

    /// Side from the midpoint to the end.
    #[inline(always)]
    fn second(&self) -> Side {
        Side::new(2 * self.slot.index() + if self.is_owned { 0 } else { 3 })
    }
}

/// Counts before a round, and of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Before {
    /// V.
    pub vertices: u32,
    /// E.
    pub edges: u32,
    /// T.
    pub triangles: u32,
    /// V of the input.
    pub input_vertices: u32,
    /// T of the input.
    pub input_triangles: u32,
}

impl Scalar for Before {}

/// A triangle with a divided side: its vertices and sides, starting with the longest side.
pub(super) struct Divided {
    vertices: [Vertex; 3],
    sides: [Side; 3],
    /// Whether each side is divided; the first side always is.
    flags: [bool; 3],
    /// The divisions of these sides.
    divisions: [Division; 3],
    /// Divided sides before the triangle.
    pub rank: u32,
}

/// The part of a triangle's data that follows from the flags alone.
#[derive(Clone, Copy)]
pub(super) struct Flagged {
    flags: [bool; 3],
    longest: u32,
    /// The numbers of divided and of owned sides before the triangle.
    before: (u32, u32),
}

impl Flagged {
    /// Triangle `t`.
    #[inline(always)]
    pub fn new(t: Triangle, longest: In<u8>, sums: impl Ranking) -> Self {
        let flag = |k| sums.is_divided(HalfEdge::of(t, k));
        Self {
            flags: [flag(0), flag(1), flag(2)],
            longest: u32::from(longest.at(t)),
            before: sums.before(HalfEdge::of(t, 0)),
        }
    }

    #[inline(always)]
    pub fn any(&self) -> bool {
        self.flags[0] | self.flags[1] | self.flags[2]
    }
}

/// `a`, `b` or `c`: an array that a variable indexes would lie in memory.
#[inline(always)]
fn pick<T>(k: u32, a: T, b: T, c: T) -> T {
    match k {
        0 => a,
        1 => b,
        _ => c,
    }
}

impl Divided {
    /// The triangle of these vertices and sides.
    #[inline(always)]
    pub fn new(
        flagged: Flagged,
        [a, b, c]: [Vertex; 3],
        [ab, bc, ca]: [Side; 3],
        halves: In<HalfEdge>,
        sums: impl Ranking,
        before: Before,
    ) -> Self {
        let [f0, f1, f2] = flagged.flags;
        // All reads of one kind are issued before the first is used, so that they overlap.
        let owner = |flag: bool, side: Side| {
            if flag && !side.is_along() {
                halves.at(side.reverse())
            } else {
                HalfEdge::NONE
            }
        };
        let owners = [owner(f0, ab), owner(f1, bc), owner(f2, ca)];
        let rank = |owner: HalfEdge| {
            if owner.is_none() {
                (0, 0)
            } else {
                sums.before(owner)
            }
        };
        let ranks = [rank(owners[0]), rank(owners[1]), rank(owners[2])];
        let step = |(n, m): (u32, u32), flag: bool, side: Side| {
            (n + u32::from(flag), m + u32::from(flag & side.is_along()))
        };
        let rank0 = flagged.before;
        let rank1 = step(rank0, f0, ab);
        let rank2 = step(rank1, f1, bc);
        let division = |side: Side, own: (u32, u32), owners: (u32, u32)| {
            let slot = |(n, m): (u32, u32)| Edge::new(before.edges + n + m);
            let is_owned = side.is_along();
            let (n, m) = if is_owned { own } else { owners };
            Division {
                slot: slot((n, m)),
                midpoint: Vertex::new(before.vertices + m),
                interior: if is_owned {
                    side
                } else {
                    Side::along(slot(own))
                },
                is_owned,
            }
        };
        let d0 = division(ab, rank0, ranks[0]);
        let d1 = division(bc, rank1, ranks[1]);
        let d2 = division(ca, rank2, ranks[2]);
        let k = flagged.longest;
        Self {
            vertices: [pick(k, a, b, c), pick(k, b, c, a), pick(k, c, a, b)],
            sides: [
                pick(k, ab, bc, ca),
                pick(k, bc, ca, ab),
                pick(k, ca, ab, bc),
            ],
            flags: [
                pick(k, f0, f1, f2),
                pick(k, f1, f2, f0),
                pick(k, f2, f0, f1),
            ],
            divisions: [
                pick(k, d0, d1, d2),
                pick(k, d1, d2, d0),
                pick(k, d2, d0, d1),
            ],
            rank: rank0.0,
        }
    }

    /// Calls `write` with each piece, its vertices and its sides; `join` with each edge inside; and `own` with each
    /// divided edge that the triangle owns, its division and its ends.
    ///
    /// ```text
    ///            C
    ///          / | \          A, B: ends of the longest side, M its midpoint. N: midpoint of another divided side.
    ///      N  /  |  \         The longest side is divided first (I, from C to M), then the halves that have a
    ///        /  I|   \        divided side (J, from M to N). Interior edges run towards the divided edge.
    ///       / J  |    \
    ///      A --- M --- B
    /// ```
    ///
    /// The half with A comes first, then the half with B, if they have no divided side; then the two parts of A's half,
    /// then the two parts of B's half.
    #[inline(always)]
    pub fn apply(
        &self,
        mut write: impl FnMut(u32, [Vertex; 3], [Side; 3]),
        mut join: impl FnMut(Edge),
        mut own: impl FnMut(Edge, Division, Ends),
    ) {
        let [a, b, c] = self.vertices;
        let [ab, bc, ca] = self.sides;
        let [halved, of_bc, of_ca] = self.divisions;
        if halved.is_owned {
            own(ab.edge(), halved, Ends::new(a, b));
        }
        if self.flags[1] && of_bc.is_owned {
            own(bc.edge(), of_bc, Ends::new(b, c));
        }
        if self.flags[2] && of_ca.is_owned {
            own(ca.edge(), of_ca, Ends::new(c, a));
        }
        let (m, to_m) = (halved.midpoint, halved.interior);
        join(to_m.edge());
        let mut piece = 0;
        if !self.flags[2] {
            write(piece, [m, c, a], [to_m.reverse(), ca, halved.first()]);
            piece += 1;
        }
        if !self.flags[1] {
            write(piece, [c, m, b], [to_m, halved.second(), bc]);
            piece += 1;
        }
        if self.flags[2] {
            let (n, to_n) = (of_ca.midpoint, of_ca.interior);
            join(to_n.edge());
            write(piece, [m, n, a], [to_n, of_ca.second(), halved.first()]);
            let borders = [to_n.reverse(), to_m.reverse(), of_ca.first()];
            write(piece + 1, [n, m, c], borders);
            piece += 2;
        }
        if self.flags[1] {
            let (n, to_n) = (of_bc.midpoint, of_bc.interior);
            join(to_n.edge());
            write(piece, [m, n, c], [to_n, of_bc.second(), to_m]);
            let borders = [to_n.reverse(), halved.second(), of_bc.first()];
            write(piece + 1, [n, m, b], borders);
        }
    }
}
