//! Edges of a triangulation, with an owner and a direction each (section 3.1).

use trioxide_kernel::kernel;
use trioxide_kernel::safe::{In, Out, Own, Scatter};

use crate::ids::{Edge, HalfEdge, Side};

/// Whether half-edge `h` owns its edge: the smaller of its two half-edges does.
#[kernel(requires(twins.len() == n), moves(twins.bytes() + 4 * words(n)))]
pub fn mark_owners(h: Own<HalfEdge>, twins: In<HalfEdge, HalfEdge>) -> bool {
    // Along the boundary the twin has an id above the half-edges of all triangles.
    *h < twins.at(h)
}

/// Numbers edge `e`, the one of half-edge `owners[e]`: the sides of its half-edges, and the half-edges of its sides.
#[kernel(
    requires(owners.len() == n, sides.len() == twins.len(), halves.len() == 2 * n),
    moves(owners.bytes() + twins.bytes() + sides.bytes() + halves.bytes())
)]
pub fn number_sides(
    e: Own<Edge>,
    owners: In<HalfEdge, Edge>,
    twins: In<HalfEdge, HalfEdge>,
    sides: Scatter<Side, HalfEdge>,
    halves: Out<HalfEdge, Side>,
) {
    twins.prefetch_item(owners, *e);
    let h = owners.at(e);
    let twin = twins.at(h);
    let is_inside = twin.index() < twins.len();
    sides.set(h, Side::along(*e));
    if is_inside {
        sides.set(twin, Side::against(*e));
    }
    halves.set(e.part(0), h);
    halves.set(e.part(1), if is_inside { twin } else { HalfEdge::NONE });
}
