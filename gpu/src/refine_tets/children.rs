//! Steps 5 and 7 of the paper: children are counted, then written.

use crate::point3::Spatial;
use trioxide_kernel::{In, Out, kernel};

use super::edges::ends_of_use;
use super::{PATHS, TETRAHEDRON, count_leaves, edge_index, walk};
use crate::point3::Point3;

/// Marked edges of the `i`-th tetrahedron in `touched`, longest first, and the number of its children but one.
#[kernel]
pub fn count_tet_children(
    i: u32,
    touched: In<u32>,
    edges: In<u32>,
    orders: In<u32>,
    marked: In<u32>,
    divisions: Out<u32>,
    added: Out<u32>,
) {
    let t = touched.at(i);
    let order = orders.at(t);
    let mut division = 0;
    // From the shortest on, so that the longest comes to the lowest bits.
    let mut place = 24;
    while place > 0 {
        place -= 4;
        let set = order >> place & 15;
        if marked.bit(edges.at(6 * t + edge_index(set))) {
            division = division << 4 | set;
        }
    }
    divisions.set(i, division);
    added.set(i, count_leaves(division, TETRAHEDRON) - 1);
}

/// Makes the midpoint of the `j`-th divided edge vertex `vertices + j`; `parents` gets the ends of the edge, at number
/// `before + j`.
#[kernel(P in Spatial)]
pub fn place_tet_midpoints<P: Point3>(
    j: u32,
    divided: In<u32>,
    first_uses: In<u32>,
    tetrahedra: In<u32>,
    points: Out<P>,
    parents: Out<u32>,
    midpoints: Out<u32>,
    vertices: u32,
    before: u32,
) {
    let e = divided.at(j);
    let (a, b) = ends_of_use(tetrahedra, first_uses.at(e));
    points.set(vertices + j, points.at(a).midpoint(points.at(b)));
    parents.set(2 * (before + j), a);
    parents.set(2 * (before + j) + 1, b);
    midpoints.set(e, vertices + j);
}

/// Writes the children of the `i`-th tetrahedron in `touched`: the first into its place, the others from `first` on, where
/// `added` has the scanned counts. They inherit its entry of `parents`.
#[kernel]
pub fn write_tet_children(
    i: u32,
    touched: In<u32>,
    divisions: In<u32>,
    added: In<u32>,
    edges: In<u32>,
    midpoints: In<u32>,
    tetrahedra: Out<u32>,
    parents: Out<u32>,
    first: u32,
) {
    let t = touched.at(i);
    let division = divisions.at(i);
    let parent = parents.at(t);
    let corners = tetrahedra.quad(4 * t);
    let mut slot = first + added.at(i);
    let mut path = 0;
    while path < PATHS {
        let [mut a, mut b, mut c, mut d] = corners;
        let is_leaf = walk(division, TETRAHEDRON, path, |edge, replaced| {
            let m = midpoints.at(edges.at(6 * t + edge_index(edge)));
            a = if replaced == 1 { m } else { a };
            b = if replaced == 2 { m } else { b };
            c = if replaced == 4 { m } else { c };
            d = if replaced == 8 { m } else { d };
        });
        if path == 0 {
            tetrahedra.set_quad(4 * t, [a, b, c, d]);
        } else if is_leaf {
            tetrahedra.set_quad(4 * slot, [a, b, c, d]);
            parents.set(slot, parent);
            slot += 1;
        }
        path += 1;
    }
}
