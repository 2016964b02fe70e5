//! Back to the level before, without a record of it.
//!
//! The first child of a simplex lies in its place, and at each bisection on the way to it the midpoint replaced the end
//! that comes later in the simplex ([`walk()`](super::walk())): corner k is a vertex of the simplex, or the midpoint of
//! the edge between its corners j and k with j < k. So its corners are found in ascending order: corner 0 has stayed,
//! and of a midpoint's two ends the one that is no earlier corner is corner k. All other children follow the simplices
//! of the level before, and are cut off.

use trioxide_kernel::kernel;
use trioxide_kernel::safe::{Group, In, Out, Own, Parts};

use crate::ids::{Tet, Triangle, Vertex};

/// The new vertices of a level.
#[derive(Group)]
pub struct NewVertices<'a> {
    /// Ends of the edge that each new vertex of all levels halves, two for each.
    pub ends: In<'a, Vertex>,
    /// The level's first new vertex.
    pub first: u32,
    /// Number of new vertices before it.
    pub before: u32,
}

impl NewVertices<'_> {
    /// The corner of a simplex before the level in whose place `v` is, where `earlier` has its corners before that one.
    #[inline(always)]
    fn replaced(self, v: Vertex, earlier: [Vertex; 3]) -> Vertex {
        if v.index() < self.first {
            return v;
        }
        let row = 2 * (self.before + (v.index() - self.first));
        let [low, high] = self.ends.at_all([row, row + 1]);
        let [a, b, c] = earlier;
        if low == a || low == b || low == c {
            high
        } else {
            low
        }
    }
}

/// Writes tetrahedron `t` of the level before over its first child.
#[kernel(
    requires(tetrahedra.len() == 4 * n),
    // Which ends are read, and which tetrahedra are written, depends on the mesh.
    moves(tetrahedra.bytes())
)]
pub fn restore_tets(t: Own<Tet>, tetrahedra: Out<Vertex, Parts<Tet, 4>>, new: NewVertices) {
    let none = Vertex::NONE;
    let a = tetrahedra.at(t.part(0));
    let (at_b, at_c, at_d) = (
        tetrahedra.at(t.part(1)),
        tetrahedra.at(t.part(2)),
        tetrahedra.at(t.part(3)),
    );
    let b = new.replaced(at_b, [a, none, none]);
    let c = new.replaced(at_c, [a, b, none]);
    let d = new.replaced(at_d, [a, b, c]);
    if b != at_b {
        tetrahedra.set(t.part(1), b);
    }
    if c != at_c {
        tetrahedra.set(t.part(2), c);
    }
    if d != at_d {
        tetrahedra.set(t.part(3), d);
    }
}

/// As [`restore_tets()`], triangle `f` with a boundary tag.
#[kernel(requires(faces.len() == 3 * n), moves(faces.bytes()))]
pub fn restore_tet_faces(
    f: Own<Triangle>,
    faces: Out<Vertex, Parts<Triangle, 3>>,
    new: NewVertices,
) {
    let none = Vertex::NONE;
    let a = faces.at(f.part(0));
    let (at_b, at_c) = (faces.at(f.part(1)), faces.at(f.part(2)));
    let b = new.replaced(at_b, [a, none, none]);
    let c = new.replaced(at_c, [a, b, none]);
    if b != at_b {
        faces.set(f.part(1), b);
    }
    if c != at_c {
        faces.set(f.part(2), c);
    }
}
