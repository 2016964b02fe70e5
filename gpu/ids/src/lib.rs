//! Typed ids of the elements of meshes: an id's type is its kind of element.
//!
//! Ids are ordered as their numbers, and ties are broken by id. On the device an id is a `u32`. The crate has no
//! kernels: a crate of kernels that uses these ids gets none of trioxide's kernels in its PTX.
#![no_std]

trioxide_kernel::id! {
    /// A vertex of a mesh or a point of a cloud.
    pub struct Vertex = "vertex";
    /// One of the two directions of an edge. Half-edge 3t + k starts at corner k of triangle t; ids above the
    /// half-edges of triangles are border half-edges.
    pub struct HalfEdge = "half-edge", 3 of Triangle;
    /// An edge of a mesh, in either direction.
    pub struct Edge = "edge";
    /// A triangle.
    pub struct Triangle = "triangle";
    /// A tetrahedron.
    pub struct Tet = "tetrahedron";
    /// A cell of a volume mesh of any kind, or of a surface mesh.
    pub struct Cell = "cell";
    /// A polygon.
    pub struct Polygon = "polygon";
    /// An edge and a direction along it: 2e along edge e, 2e + 1 in reverse.
    pub struct Side = "side", 2 of Edge;
    /// An edge of a tetrahedron: use 6t + k is edge k of tetrahedron t.
    pub struct EdgeUse = "edge use", 6 of Tet;
    /// A place in the list of the cells' vertices: a vertex of a cell.
    pub struct Corner = "corner";
    /// A face of a cell: 6c + f is face f of cell c.
    pub struct CellFace = "face of a cell", 6 of Cell;
    /// A place in an order of the vertices.
    pub struct Place = "place";
    /// A face of a tetrahedron, seen from it: side 4t + i is the face of tetrahedron t opposite to its vertex i.
    pub struct FaceSide = "side of a face", 4 of Tet;
    /// An item of the list that a launch goes through.
    pub struct Item = "item";
    /// A polyhedron.
    pub struct Polyhedron = "polyhedron";
    /// All common edges of two polygons, or faces of two polyhedra, seen from one of them.
    pub struct Border = "border";
    /// A corner of a face of a polyhedron, as seen from outside: an edge of its surface starts there.
    pub struct FaceCorner = "corner of a face";
}

impl Side {
    /// Edge `e` in its own direction.
    #[inline(always)]
    pub const fn along(e: Edge) -> Self {
        Self::new(2 * e.index())
    }

    /// Edge `e` in reverse.
    #[inline(always)]
    pub const fn against(e: Edge) -> Self {
        Self::new(2 * e.index() + 1)
    }

    /// The edge.
    #[inline(always)]
    pub const fn edge(self) -> Edge {
        Edge::new(self.index() / 2)
    }

    /// The same edge in the other direction.
    #[inline(always)]
    pub const fn reverse(self) -> Self {
        Self::new(self.index() ^ 1)
    }

    /// Whether it runs in the edge's own direction, as the triangle's side does that owns the edge.
    #[inline(always)]
    pub const fn is_along(self) -> bool {
        self.index().is_multiple_of(2)
    }
}

impl EdgeUse {
    /// Edge `k` of tetrahedron `t`.
    #[inline(always)]
    pub const fn of(t: Tet, k: u32) -> Self {
        Self::new(6 * t.index() + k)
    }

    /// The tetrahedron.
    #[inline(always)]
    pub const fn tet(self) -> Tet {
        Tet::new(self.index() / 6)
    }

    /// Its place in the tetrahedron, 0 to 5: edges 01, 02, 03, 12, 13, 23.
    #[inline(always)]
    pub const fn place(self) -> u32 {
        self.index() % 6
    }
}

impl FaceSide {
    /// The face of tetrahedron `t` opposite to its vertex `place`.
    #[inline(always)]
    pub const fn of(t: Tet, place: u32) -> Self {
        Self::new(4 * t.index() + place)
    }

    /// The tetrahedron.
    #[inline(always)]
    pub const fn tet(self) -> Tet {
        Tet::new(self.index() / 4)
    }

    /// Place of the opposite vertex in the tetrahedron: 0 to 3.
    #[inline(always)]
    pub const fn place(self) -> u32 {
        self.index() % 4
    }
}

impl HalfEdge {
    /// Half-edge `k` of triangle `t`.
    #[inline(always)]
    pub const fn of(t: Triangle, k: u32) -> Self {
        Self::new(3 * t.index() + k)
    }

    /// The triangle that it bounds. A border half-edge has none.
    #[inline(always)]
    pub const fn triangle(self) -> Triangle {
        Triangle::new(self.index() / 3)
    }

    /// Its place in the triangle: 0, 1 or 2.
    #[inline(always)]
    pub const fn corner(self) -> u32 {
        self.index() % 3
    }

    /// The next half-edge around the triangle, counter-clockwise.
    #[inline(always)]
    pub const fn next(self) -> Self {
        let h = self.index();
        Self::new(if h % 3 == 2 { h - 2 } else { h + 1 })
    }

    /// The previous half-edge around the triangle.
    #[inline(always)]
    pub const fn prev(self) -> Self {
        let h = self.index();
        Self::new(if h.is_multiple_of(3) { h + 2 } else { h - 1 })
    }
}

impl CellFace {
    /// Most faces of a cell.
    pub const MOST: u32 = 6;

    /// Face `f` of cell `c`.
    #[inline(always)]
    pub const fn of(c: Cell, f: u32) -> Self {
        Self::new(Self::MOST * c.index() + f)
    }

    /// The cell.
    #[inline(always)]
    pub const fn cell(self) -> Cell {
        Cell::new(self.index() / Self::MOST)
    }

    /// Its number in the cell.
    #[inline(always)]
    pub const fn side(self) -> u32 {
        self.index() % Self::MOST
    }
}
