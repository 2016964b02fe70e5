//! Ways around cavities, and the claims on their triangles.

use crate::delaunay::insert_points::mixed;
use crate::ids::{HalfEdge, Triangle};

/// The claim of a proposal for triangle `t`: a later round's is lower, then that of a subsegment, then that of the
/// shortest edge; equals are ordered as if at random, in each round anew. No two are the same in a round.
#[inline(always)]
pub(super) fn claim_of(round: u32, squared_length: Option<f64>, t: Triangle) -> u64 {
    // The exponent of the squared length and a bit: steps of a fifth in length.
    let level = match squared_length {
        None => 0,
        Some(squared) => (squared.to_bits() >> 51) | 1 << 15,
    };
    let number = mixed(t.index() ^ round.wrapping_mul(0x9E37_79B9));
    u64::from(u16::MAX - round as u16) << 48 | level << 32 | u64::from(number)
}

/// Goes once around a connected set of triangles without inner vertices, counter-clockwise, from one of its half-edges.
///
/// `step` gets each half-edge of each of the triangles once, and gives its twin where that is of another triangle of
/// the set, otherwise none.
#[inline(always)]
pub(super) fn go_around(start: HalfEdge, mut step: impl FnMut(HalfEdge) -> HalfEdge) {
    let mut h = start;
    loop {
        let twin = step(h);
        h = if twin.is_some() {
            twin.next()
        } else {
            h.next()
        };
        if h == start {
            return;
        }
    }
}
