//! Pairs of pieces: rounds of local maxima.

use trioxide_kernel::kernel;
use trioxide_kernel::safe::{In, Own, Scatter};

use super::pieces::{Candidate, Pieces};
use crate::ids::{Border, Item, Polygon};

/// Whether piece `p` has joined no other one.
#[kernel(requires(groups.len() == n))]
pub fn has_no_group(p: Own<Polygon>, groups: In<Polygon, Polygon>) -> bool {
    groups.at(p).is_none()
}

/// The first of the candidates of `seekers[i]` that have no partner, or `NONE`.
#[kernel(
    requires(
        seekers.len() == n,
        groups.len() == partners.len(),
        weights.len() == pieces.neighbours.len()
    ),
    moves(seekers.bytes() + 8 * n)
)]
pub fn choose_partners(
    i: Own<Item>,
    seekers: In<Polygon, Item>,
    pieces: Pieces,
    weights: In<f64, Border>,
    groups: In<Polygon, Polygon>,
    partners: Scatter<Polygon, Polygon>,
) {
    let p = seekers.at(i);
    let (mut border, end) = pieces.borders(p);
    let (mut best, mut partner) = (Candidate::LAST, Polygon::NONE);
    while border < end {
        let length = weights.at(Border::new(border));
        let q = pieces.neighbours.at(Border::new(border));
        if length >= 0.0 && groups.at(q).is_none() {
            let candidate = Candidate::new(length, p, q);
            if candidate.is_before(best) {
                (best, partner) = (candidate, q);
            }
        }
        border += 1;
    }
    partners.set(p, partner);
}

/// Pairs `seekers[i]` and its choice if they chose each other.
#[kernel(
    requires(seekers.len() == n, groups.len() == partners.len()),
    moves(3 * seekers.bytes())
)]
pub fn match_partners(
    i: Own<Item>,
    seekers: In<Polygon, Item>,
    partners: In<Polygon, Polygon>,
    groups: Scatter<Polygon, Polygon>,
) {
    let p = seekers.at(i);
    let q = partners.at(p);
    if q.is_some() && partners.at(q) == p {
        groups.set(p, if p < q { p } else { q });
    }
}

/// Whether `seekers[i]` had a candidate, and has no partner.
#[kernel(requires(seekers.len() == n, groups.len() == partners.len()))]
pub fn still_seeks(
    i: Own<Item>,
    seekers: In<Polygon, Item>,
    partners: In<Polygon, Polygon>,
    groups: In<Polygon, Polygon>,
) -> bool {
    let p = seekers.at(i);
    partners.at(p).is_some() && groups.at(p).is_none()
}
