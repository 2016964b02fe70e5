//! Steps 1 and 2 of the paper: lengths of edges, and their order.

use trioxide_kernel::kernel;
use trioxide_kernel::safe::{In, Out, Own};

use super::{corners, edge_set};
use crate::ids::{Edge, EdgeUse, Tet, Vertex};
use crate::point3::{Point3, Spatial};

/// The edges of tetrahedron `t`, longest first, as sets of four bits each.
#[kernel(
    P in Spatial,
    requires(tetrahedra.len() == 4 * n, edges.len() == 6 * n, orders.len() == n),
    moves(tetrahedra.bytes() + points.bytes() + orders.bytes())
)]
pub fn order_tet_edges<P: Point3>(
    t: Own<Tet>,
    tetrahedra: In<Vertex>,
    points: In<P, Vertex>,
    edges: In<Edge, EdgeUse>,
    orders: Out<u32, Tet>,
) {
    let [a, b, c, d] = points.at_all(corners(tetrahedra, *t));
    let lengths = [
        a.distance_squared(b),
        a.distance_squared(c),
        a.distance_squared(d),
        b.distance_squared(c),
        b.distance_squared(d),
        c.distance_squared(d),
    ];
    let longer = |j: usize, k: usize| {
        // Ids are read on a tie only.
        lengths[j] > lengths[k]
            || lengths[j] == lengths[k] && edges.at(t.part(j as u32)) < edges.at(t.part(k as u32))
    };
    // Each pair is compared once; the edges that are longer are counted. Constant indices: no array lies in memory.
    let mut ranks = [0u32; 6];
    let mut compare = |j: usize, k: usize| {
        let longer = longer(j, k) as u32;
        ranks[k] += longer;
        ranks[j] += 1 - longer;
    };
    compare(0, 1);
    compare(0, 2);
    compare(0, 3);
    compare(0, 4);
    compare(0, 5);
    compare(1, 2);
    compare(1, 3);
    compare(1, 4);
    compare(1, 5);
    compare(2, 3);
    compare(2, 4);
    compare(2, 5);
    compare(3, 4);
    compare(3, 5);
    compare(4, 5);
    let place = |k: usize| edge_set(k as u32) << (4 * ranks[k]);
    orders.set(
        t,
        place(0) | place(1) | place(2) | place(3) | place(4) | place(5),
    );
}
