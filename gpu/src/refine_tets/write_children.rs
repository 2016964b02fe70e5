//! Step 7 of the paper: the children of each divided tetrahedron are written.

use trioxide_kernel::{In, Out, kernel};

use super::{PATHS, TETRAHEDRON, edge_index, walk};
use crate::ids::{Edge, EdgeUse, Tet, Vertex};

/// Writes the children of the `i`-th tetrahedron in `touched`: the first into its place, the others from `first` on, by the
/// scanned counts in `added`. They inherit its entry of `parents`.
#[kernel(
    requires(
        touched.len() == n,
        divisions.len() == n,
        added.len() == n,
        edges.len() == 6 * first as usize,
        parents.len() >= first as usize,
        tetrahedra.len() == 4 * parents.len()
    ),
    // Each tetrahedron of the list is read and written in place; the new ones are written.
    moves(72 * n + 20 * parents.len().saturating_sub(first as usize))
)]
pub fn write_tet_children(
    i: u32,
    touched: In<Tet>,
    divisions: In<u32>,
    added: In<u32>,
    edges: In<Edge>,
    midpoints: In<Vertex>,
    tetrahedra: Out<Vertex>,
    parents: Out<Tet>,
    first: u32,
) {
    let t = touched.at(i);
    let division = divisions.at(i);
    let parent = parents.at(t);
    let corners = tetrahedra.quad(4 * t.index());
    let mut slot = first + added.at(i);
    let mut path = 0;
    while path < PATHS {
        let [mut a, mut b, mut c, mut d] = corners;
        let is_leaf = walk(division, TETRAHEDRON, path, |edge, replaced| {
            let m = midpoints.at(edges.at(EdgeUse::of(t, edge_index(edge))));
            a = if replaced == 1 { m } else { a };
            b = if replaced == 2 { m } else { b };
            c = if replaced == 4 { m } else { c };
            d = if replaced == 8 { m } else { d };
        });
        if path == 0 {
            tetrahedra.set_quad(4 * t.index(), [a, b, c, d]);
        } else if is_leaf {
            tetrahedra.set_quad(4 * slot, [a, b, c, d]);
            parents.set(slot, parent);
            slot += 1;
        }
        path += 1;
    }
}
