//! Data of vertices and cells, and ids of vertices, in the new order.

use bytemuck::Pod;
use trioxide_kernel::kernel;
use trioxide_kernel::safe::{Atomic, In, Out, Own};

use crate::ids::{Item, Vertex};

/// The value of element `old[i]`, for element `i` of the new order.
#[kernel(
    T(u32 = u32, u64 = u64, f64x2 = glam::DVec2, f64x3 = glam::DVec3),
    requires(old.len() == n, carried.len() == n),
    moves(old.bytes() + 2 * carried.bytes())
)]
pub fn carry_values<T: Pod + Send + Sync>(
    i: Own<Item>,
    old: In<u32, Item>,
    values: In<T>,
    carried: Out<T, Item>,
) {
    carried.set(i, values.at(old.at(i)));
}

/// The new id of vertex `ids[i]`. `found[0]` becomes the lowest place of a vertex that is not there.
#[kernel(
    requires(ids.len() == n, renumbered.len() == n, found.len() == 1),
    moves(ids.bytes() + 2 * renumbered.bytes())
)]
pub fn renumber_vertices(
    i: Own<Item>,
    ids: In<Vertex, Item>,
    new: In<Vertex, Vertex>,
    renumbered: Out<Vertex, Item>,
    found: Atomic,
) {
    match new.get(ids.at(i)) {
        Some(vertex) => renumbered.set(i, vertex),
        None => found.min(0u32, i.get().index()),
    }
}
