//! Seams: vertices with triangles that lie at one place. Attributes jump there, as where a texture is cut.
//!
//! The first vertex at a place that claims a slot of a hash table owns it; the others at this place find it. Which one
//! owns the slot is a race, and the set of all of them does not depend on it.

use glam::DVec3;
use trioxide_kernel::safe::{Atomic, In, Own};
use trioxide_kernel::{Bits, Each, kernel};

use super::fans::Span;
use crate::ids::Vertex;
use crate::slots::{mix, slot_of};

/// A key of a position; zeros of both signs are equal.
#[inline(always)]
fn key(p: DVec3) -> u64 {
    let [x, y, z] = [p.x + 0.0, p.y + 0.0, p.z + 0.0].each(f64::to_bits);
    mix(mix(mix(x).wrapping_add(y)).wrapping_add(z))
}

/// Puts vertex `v` into the set of `seams`, and another vertex at its place, if both have triangles. `owners` are none
/// before the launch.
#[kernel(
    requires(points.len() == n, spans.len() == n, owners.len() > n, seams.len() == words(n)),
    moves(points.bytes() + spans.bytes())
)]
pub fn find_seams(
    v: Own<Vertex>,
    points: In<DVec3, Vertex>,
    spans: In<Span, Vertex>,
    owners: Atomic<Vertex>,
    seams: Atomic<Bits<Vertex>>,
) {
    if spans.at(v).count == 0 {
        return;
    }
    let here = points.at(v);
    let size = owners.len();
    let mut slot = slot_of(key(here), size);
    loop {
        let mut owner = owners.load(slot);
        if owner.is_none() {
            owner = owners.compare_exchange(slot, Vertex::NONE, *v);
        }
        if owner.is_none() {
            return;
        }
        let there = points.at(owner);
        if (there.x == here.x) & (there.y == here.y) & (there.z == here.z) {
            seams.set_bit(*v);
            seams.set_bit(owner);
            return;
        }
        slot = if slot + 1 == size { 0 } else { slot + 1 };
    }
}
