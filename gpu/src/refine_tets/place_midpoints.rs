//! Step 7 of the paper: the midpoints of divided edges become vertices.

use trioxide_kernel::safe::In;
use trioxide_kernel::{Out, kernel};

use super::number_edges::ends_of_use;
use crate::ids::{Edge, EdgeUse, Vertex};
use crate::point3::{Point3, Spatial};

/// Makes the midpoint of the `j`-th divided edge vertex `vertices + j`; `parents` gets the ends of the edge, at number
/// `before + j`.
#[kernel(
    P in Spatial,
    requires(
        divided.len() == n,
        points.len() == vertices as usize + n,
        parents.len() == 2 * (before as usize + n),
        midpoints.len() == first_uses.len()
    ),
    // For each edge, two words of the lists and two of a tetrahedron are read; three words and a point are written.
    moves((28 + size_of::<P>()) * n)
)]
pub fn place_tet_midpoints<P: Point3>(
    j: u32,
    divided: In<Edge>,
    first_uses: In<EdgeUse, Edge>,
    tetrahedra: In<Vertex>,
    points: Out<P>,
    parents: Out<Vertex>,
    midpoints: Out<Vertex>,
    vertices: u32,
    before: u32,
) {
    let e = divided.at(j);
    let (a, b) = ends_of_use(tetrahedra, first_uses.at(e));
    let m = Vertex::new(vertices + j);
    points.set(m, points.at(a).midpoint(points.at(b)));
    parents.set(2 * (before + j), a);
    parents.set(2 * (before + j) + 1, b);
    midpoints.set(e, m);
}
