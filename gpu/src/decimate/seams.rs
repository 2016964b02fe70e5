//! Seams: vertices of the boundary that lie at one place. Attributes jump there, as where a texture is cut.
//!
//! The first vertex at a place that claims a slot of a hash table owns it; the others at this place find it. Which one
//! owns the slot is a race, and the set of all of them does not depend on it.

use glam::DVec3;
use trioxide_kernel::safe::{Atomic, In, Own};
use trioxide_kernel::{Bits, Each, kernel, view};

use super::fans::mark;
use super::sites::Site;
use crate::ids::{Item, Vertex};
use crate::slots::{mix, slot_of};

/// A key of a position; zeros of both signs are equal.
#[inline(always)]
fn key(p: DVec3) -> u64 {
    let [x, y, z] = [p.x + 0.0, p.y + 0.0, p.z + 0.0].each(f64::to_bits);
    mix(mix(mix(x).wrapping_add(y)).wrapping_add(z))
}

/// Puts vertex `list[i]` into the set of `seams`, and another vertex of the list at its place. `owners` are none before
/// the launch.
#[kernel(
    requires(list.len() == n, owners.len() > n, seams.len() == words(points.len())),
    moves(list.bytes() + 24 * n)
)]
pub fn find_seams(
    i: Own<Item>,
    list: In<Vertex, Item>,
    points: In<DVec3, Vertex>,
    owners: Atomic<Vertex>,
    seams: Atomic<Bits<Vertex>>,
) {
    let v = list.at(i);
    let here = points.at(v);
    let size = owners.len();
    let mut slot = slot_of(key(here), size);
    loop {
        let mut owner = owners.load(slot);
        if owner.is_none() {
            owner = owners.compare_exchange(slot, Vertex::NONE, v);
        }
        if owner.is_none() {
            return;
        }
        let there = points.at(owner);
        if (there.x == here.x) & (there.y == here.y) & (there.z == here.z) {
            seams.set_bit(v);
            seams.set_bit(owner);
            return;
        }
        slot = if slot + 1 == size { 0 } else { slot + 1 };
    }
}

/// Locks vertex `list[i]` if it is one of `seams`.
#[kernel(
    requires(list.len() == n, seams.len() == words(sites.len())),
    moves(list.bytes() + 8 * n)
)]
pub fn lock_seams(
    i: Item,
    list: view::In<Vertex>,
    seams: view::In<Bits<Vertex>>,
    sites: view::Out<Site>,
) {
    let v = list.at(i);
    if seams.bit(v) {
        let mut site = sites.at(v);
        site.marks |= mark::LOCKED;
        sites.set(v, site);
    }
}
