//! Triangles with boundary tags are divided as the faces of tetrahedra are.

use trioxide_kernel::safe::{Atomic, In, Out, Own, Parts};
use trioxide_kernel::{Bits, kernel};

use super::{PATHS, TRIANGLE, count_leaves, edge_set, walk};
use crate::ids::{Edge, Triangle, Vertex};
use crate::point3::{Point3, Spatial};

/// Index of the edge of a triangle with the vertices in `set`: edges 01, 02, 12.
#[inline(always)]
fn face_edge_index(set: u32) -> u32 {
    (set >> 1) - 1
}

/// Marked edges of triangle `f`, longest first, and the number of its children less one.
#[kernel(
    P in Spatial,
    requires(
        faces.len() == 3 * n,
        face_edges.len() == 3 * n,
        divisions.len() == n,
        added.len() == n
    )
)]
pub fn count_face_children<P: Point3>(
    f: Own<Triangle>,
    faces: In<Vertex, Parts<Triangle, 3>>,
    face_edges: In<Edge, Parts<Triangle, 3>>,
    points: In<P, Vertex>,
    marked: In<Bits<Edge>>,
    divisions: Out<u32, Triangle>,
    added: Out<u32, Triangle>,
) {
    let ids = face_edges.at_all([f.part(0), f.part(1), f.part(2)]);
    let [a, b, c] = points.at_all(faces.at_all([f.part(0), f.part(1), f.part(2)]));
    let is_marked = marked.bit_all(ids);
    let lengths = [
        a.distance_squared(b),
        a.distance_squared(c),
        b.distance_squared(c),
    ];
    let longer =
        |j: usize, k: usize| lengths[j] > lengths[k] || lengths[j] == lengths[k] && ids[j] < ids[k];
    // The number of longer marked edges.
    let rank = |k: usize, j: usize, l: usize| {
        (is_marked[j] && longer(j, k)) as u32 + (is_marked[l] && longer(l, k)) as u32
    };
    let place = |k: usize, set: u32, rank: u32| {
        if is_marked[k] { set << (4 * rank) } else { 0 }
    };
    let division = place(0, edge_set(0), rank(0, 1, 2))
        | place(1, edge_set(1), rank(1, 0, 2))
        | place(2, edge_set(3), rank(2, 0, 1));
    divisions.set(f, division);
    added.set(f, count_leaves(division, TRIANGLE) - 1);
}

/// Writes the children of triangle `f`, as [`write_tet_children`](super::write_children::write_tet_children()) does.
#[kernel(requires(
    n == first as usize,
    divisions.len() == n,
    added.len() == n,
    face_edges.len() == 3 * n,
    parents.len() >= n,
    faces.len() == 3 * parents.len()
))]
pub fn write_face_children(
    f: Own<Triangle>,
    divisions: In<u32, Triangle>,
    added: In<u32, Triangle>,
    face_edges: In<Edge>,
    midpoints: In<Vertex, Edge>,
    faces: Atomic<Vertex>,
    parents: Atomic<Triangle, Triangle>,
    first: u32,
) {
    let division = divisions.at(f);
    if division == 0 {
        return;
    }
    let parent = parents.load(f);
    let corners = [
        faces.load(3 * f.index()),
        faces.load(3 * f.index() + 1),
        faces.load(3 * f.index() + 2),
    ];
    let mut slot = first + added.at(f);
    let mut path = 0;
    while path < PATHS {
        let [mut a, mut b, mut c] = corners;
        let is_leaf = walk(division, TRIANGLE, path, |edge, replaced| {
            let m = midpoints.at(face_edges.at(3 * f.index() + face_edge_index(edge)));
            a = if replaced == 1 { m } else { a };
            b = if replaced == 2 { m } else { b };
            c = if replaced == 4 { m } else { c };
        });
        if is_leaf {
            let place = if path == 0 { f.index() } else { slot };
            faces.store(3 * place, a);
            faces.store(3 * place + 1, b);
            faces.store(3 * place + 2, c);
            parents.store(Triangle::new(place), parent);
            slot += (path != 0) as u32;
        }
        path += 1;
    }
}
