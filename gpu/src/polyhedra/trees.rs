//! The trees of tetrahedra, as walks through them read them.

use trioxide_kernel::safe::{Group, In};

use super::link::Link;
use crate::ids::{FaceSide, Tet, Vertex};
use crate::tet_faces::{corner_at, corners_of};

/// The trees of tetrahedra.
#[derive(Group)]
pub struct Trees<'a> {
    /// Vertices, four for each tetrahedron, each opposite to a side; 4T.
    pub tetrahedra: In<'a, Vertex, FaceSide>,
    /// The link of each tetrahedron; T.
    pub links: In<'a, Link, Tet>,
}

#[cfg(not(target_arch = "nvptx64"))]
impl TreesBuffers<'_> {
    /// Whether the arrays have the lengths of one mesh.
    pub fn fit(&self) -> bool {
        self.tetrahedra.len() == 4 * self.links.len()
    }

    /// Size of all arrays.
    pub fn bytes(&self) -> usize {
        self.tetrahedra.bytes() + self.links.bytes()
    }
}

impl Trees<'_> {
    /// Whether `t` is the first tetrahedron that adds vertex `v` when the tree grows from its root: `v` is opposite to
    /// the joint with the parent, or `t` is the root and has `v`.
    #[inline(always)]
    pub fn is_top(self, t: Tet, v: Vertex) -> bool {
        let q = corners_of(self.tetrahedra, t);
        let link = self.links.at(t);
        if link.parent() == t {
            return (q[0] == v) | (q[1] == v) | (q[2] == v) | (q[3] == v);
        }
        corner_at(q, link.place()) == v
    }

    /// Steps from `t` to its root.
    #[inline(always)]
    pub fn depth(self, t: Tet) -> u32 {
        let mut place = t;
        let mut steps = 0;
        loop {
            let parent = self.links.at(place).parent();
            if parent == place {
                return steps;
            }
            place = parent;
            steps += 1;
        }
    }

    /// Whether the joint of `t` with its parent has vertex `v`.
    #[inline(always)]
    pub fn joint_has(self, t: Tet, v: Vertex) -> bool {
        let q = corners_of(self.tetrahedra, t);
        let place = self.links.at(t).place();
        (q[0] == v && place != 0)
            | (q[1] == v && place != 1)
            | (q[2] == v && place != 2)
            | (q[3] == v && place != 3)
    }

    /// Climbs from `t` towards the root while the tetrahedra have both vertices of an edge, and no further than to
    /// `end`. Returns the place that it reached, and the number of steps.
    #[inline(always)]
    pub fn climb_around(self, t: Tet, edge: [Vertex; 2], end: Tet) -> (Tet, u32) {
        let mut place = t;
        let mut steps = 0;
        loop {
            let link = self.links.at(place);
            // The vertex that the parent does not have.
            let left = corner_at(corners_of(self.tetrahedra, place), link.place());
            let stays = (place == end) | (link.parent() == place);
            if stays | (left == edge[0]) | (left == edge[1]) {
                return (place, steps);
            }
            place = link.parent();
            steps += 1;
        }
    }

    /// The tetrahedron `steps` steps above `t`.
    #[inline(always)]
    pub fn above(self, t: Tet, steps: u32) -> Tet {
        let mut place = t;
        let mut k = 0;
        while k < steps {
            place = self.links.at(place).parent();
            k += 1;
        }
        place
    }
}
