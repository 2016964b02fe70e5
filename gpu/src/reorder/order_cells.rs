//! The order of cells.

use bytemuck::{Pod, Zeroable};
use trioxide_kernel::kernel;
use trioxide_kernel::safe::{Atomic, In, Out, Own, Scatter};

use crate::ids::{Cell, FaceSide, HalfEdge, Item, Tet, Triangle, Vertex};

/// The first four vertices of a cell, by their new numbers. A missing one is the number of all vertices.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub struct Head {
    /// The vertices.
    pub vertices: [Vertex; 4],
}

impl Head {
    /// Whether this head is before another one; `None` if they are equal.
    #[inline(always)]
    fn is_before(self, other: Self) -> Option<bool> {
        let ([a, b, c, d], [e, f, g, h]) = (self.vertices, other.vertices);
        if a != e {
            Some(a < e)
        } else if b != f {
            Some(b < f)
        } else if c != g {
            Some(c < g)
        } else if d != h {
            Some(d < h)
        } else {
            None
        }
    }
}

/// Slots of the kernels' result: `NONE` where nothing was found.
pub mod cell_rule {
    /// The lowest cell with a vertex that is not there, or without vertices.
    pub const VERTEX: u32 = 0;
    /// The lowest polygon whose list of vertices is not there.
    pub const LIST: u32 = 1;
    /// 0 if a group is too large to be ordered.
    pub const LARGE: u32 = 2;
    /// Number of slots.
    pub const COUNT: usize = 3;
}

/// Adds a cell to the group of its first vertex. Returns its place in the group, which is not fixed.
#[inline(always)]
pub(super) fn join_group(head: Head, counts: Atomic<u32, Vertex>) -> u32 {
    counts.add(head.vertices[0], 1)
}

/// The cell of a wrong id: one in the range of all arrays, since the host has not read yet that it is wrong.
pub(super) const WRONG: Head = Head {
    vertices: [Vertex::new(0); 4],
};

/// The rotation of three vertices that is least, compared vertex by vertex.
#[inline(always)]
fn rotate([a, b, c]: [Vertex; 3]) -> [Vertex; 3] {
    let least = |x: [Vertex; 3], y: [Vertex; 3]| {
        let is_less = if x[0] != y[0] {
            x[0] < y[0]
        } else if x[1] != y[1] {
            x[1] < y[1]
        } else {
            x[2] <= y[2]
        };
        if is_less { x } else { y }
    };
    least(least([a, b, c], [b, c, a]), [c, a, b])
}

/// The new vertices of triangle `t`, from the lowest one on.
#[kernel(
    requires(
        corners.len() == 3 * n,
        heads.len() == n,
        slots.len() == n,
        counts.len() > new.len(),
        found.len() == cell_rule::COUNT
    ),
    moves(corners.bytes() + new.bytes() + heads.bytes() + slots.bytes() + counts.bytes())
)]
pub fn turn_triangles(
    t: Own<Triangle>,
    corners: In<Vertex, HalfEdge>,
    new: In<Vertex, Vertex>,
    heads: Out<Head, Triangle>,
    slots: Out<u32, Triangle>,
    counts: Atomic<u32, Vertex>,
    found: Atomic,
) {
    let corner = |k| new.get(corners.at(t.part(k)));
    let head = match [corner(0), corner(1), corner(2)] {
        [Some(a), Some(b), Some(c)] => {
            let [a, b, c] = rotate([a, b, c]);
            Head {
                vertices: [a, b, c, Vertex::new(new.len())],
            }
        }
        _ => {
            found.min(cell_rule::VERTEX, t.get().index());
            WRONG
        }
    };
    heads.set(t, head);
    slots.set(t, join_group(head, counts));
}

/// Ascending vertices of a tetrahedron, the last two exchanged where that keeps its orientation.
#[inline(always)]
fn ascend([a, b, c, d]: [Vertex; 4]) -> [Vertex; 4] {
    let mut is_odd = false;
    let mut sort = |x: Vertex, y: Vertex| {
        is_odd ^= y < x;
        if y < x { (y, x) } else { (x, y) }
    };
    let (a, b) = sort(a, b);
    let (c, d) = sort(c, d);
    let (a, c) = sort(a, c);
    let (b, d) = sort(b, d);
    let (b, c) = sort(b, c);
    if is_odd && a != b && b != c && c != d {
        [a, b, d, c]
    } else {
        [a, b, c, d]
    }
}

/// The new vertices of tetrahedron `t`, ascending up to its orientation.
#[kernel(
    requires(
        corners.len() == 4 * n,
        heads.len() == n,
        slots.len() == n,
        counts.len() > new.len(),
        found.len() == cell_rule::COUNT
    ),
    moves(corners.bytes() + new.bytes() + heads.bytes() + slots.bytes() + counts.bytes())
)]
pub fn turn_tetrahedra(
    t: Own<Tet>,
    corners: In<Vertex, FaceSide>,
    new: In<Vertex, Vertex>,
    heads: Out<Head, Tet>,
    slots: Out<u32, Tet>,
    counts: Atomic<u32, Vertex>,
    found: Atomic,
) {
    let old = corners.quad(FaceSide::of(*t, 0));
    let head = match old.map(|v| new.get(v)) {
        [Some(a), Some(b), Some(c), Some(d)] => Head {
            vertices: ascend([a, b, c, d]),
        },
        _ => {
            found.min(cell_rule::VERTEX, t.get().index());
            WRONG
        }
    };
    heads.set(t, head);
    slots.set(t, join_group(head, counts));
}

/// Writes cell `c` to its place in the group of its first vertex.
#[kernel(
    requires(heads.len() == n, slots.len() == n, members.len() == n),
    moves(heads.bytes() + slots.bytes() + starts.bytes() + members.bytes())
)]
pub fn group_cells(
    c: Own<Cell>,
    heads: In<Head, Cell>,
    slots: In<u32, Cell>,
    starts: In<u32, Vertex>,
    members: Scatter<Cell, Item>,
) {
    let start = starts.at(heads.at(c).vertices[0]);
    members.set(Item::new(start + slots.at(c)), *c);
}

/// The largest group that [`rank_cells()`] orders.
pub const LARGEST_GROUP: u32 = 128;

/// Writes the cell at place `i` of the `members` of all groups to its place in the order: its old id, and its first
/// `CORNERS` vertices. If its group is too large, it writes nothing but to `found`. With `IS_FINAL` members are in
/// order already.
#[kernel(
    CORNERS in [0, 3, 4],
    IS_FINAL in [false, true],
    requires(
        members.len() == n,
        heads.len() == n,
        corners.len() == CORNERS as usize * n,
        old.len() == n,
        found.len() == cell_rule::COUNT
    ),
    moves(
        members.bytes() + heads.bytes() + if IS_FINAL { 0 } else { starts.bytes() } + corners.bytes() + old.bytes()
    )
)]
pub fn rank_cells<const CORNERS: u32, const IS_FINAL: bool>(
    i: Own<Item>,
    members: In<Cell, Item>,
    heads: In<Head, Cell>,
    starts: In<u32, Vertex>,
    corners: Scatter<Vertex>,
    old: Scatter<Cell, Item>,
    found: Atomic,
) {
    let c = members.at(i);
    let head = heads.at(c);
    let mut place = i.get().index();
    if !IS_FINAL {
        let first = head.vertices[0].index();
        let start = starts.at(Vertex::new(first));
        let end = starts.at(Vertex::new(first + 1));
        if end - start > LARGEST_GROUP {
            found.min(cell_rule::LARGE, 0);
            return;
        }
        place = start;
        let mut k = start;
        while k < end {
            let other = members.at(Item::new(k));
            place += u32::from(heads.at(other).is_before(head).unwrap_or(other < c));
            k += 1;
        }
    }
    old.set(Item::new(place), c);
    let mut k = 0;
    while k < CORNERS {
        // The loop is unrolled: no index varies.
        corners.set(CORNERS * place + k, head.vertices[(k & 3) as usize]);
        k += 1;
    }
}

/// Vertex `k` of the cell at place `i` of `order`, or of cell i where there is no order yet.
#[kernel(
    requires(words.len() == n, order.is_empty() || order.len() == n),
    moves(order.bytes() + 8 * n)
)]
pub fn read_vertex(
    i: Own<Item>,
    order: In<Cell>,
    heads: In<Head, Cell>,
    k: u32,
    words: Out<u32, Item>,
) {
    let c = match order.is_empty() {
        true => Cell::new(i.get().index()),
        false => order.at(i.get().index()),
    };
    let [a, b, c, d] = heads.at(c).vertices;
    let vertex = match k {
        0 => a,
        1 => b,
        2 => c,
        _ => d,
    };
    words.set(i, vertex.index());
}
