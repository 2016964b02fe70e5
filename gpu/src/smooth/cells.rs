//! Cells of any kind, seen from their corners.
//!
//! The vertices of all cells are in one list; a *corner* is a place in it. A mesh of tetrahedra has only that list
//! (`offsets` and `cells` are empty): cell `c` has corners `4c..4c + 4`. Other meshes have `offsets`, the start of each
//! cell and the end of the last, and `cells`, the cell of each corner. The number of a cell's vertices is its kind. The
//! cells of a surface mesh are polygons; kernels for both kinds of meshes take a `dimension`.

use trioxide_kernel::Each;
use trioxide_kernel::safe::{self, Group, In};

use crate::ids::{Cell, CellFace, Corner, Vertex};

/// Dimension: cells are tetrahedra, pyramids, wedges and hexahedra, with 4, 5, 6 and 8 vertices.
pub const VOLUME: u32 = 0;
/// Dimension: cells are polygons.
pub const SURFACE: u32 = 1;
/// As a volume, but all vertices of a cell are neighbours, not only the ends of an edge.
pub const WHOLE_CELLS: u32 = 2;

/// No vertex: the nibble that ends a list of a cell's vertices.
const END: u32 = 0xF;

/// N cells with C corners.
#[derive(Group)]
pub struct Cells<'a> {
    /// First corner of each cell, and the end of the last; N + 1, or empty if all cells are tetrahedra.
    pub offsets: In<'a, u32>,
    /// Vertex at each corner; C.
    pub vertices: In<'a, Vertex, Corner>,
    /// Cell of each corner; C, or empty if all cells are tetrahedra.
    pub cells: In<'a, Cell, Corner>,
}

/// Cells, and the corners at each of V vertices: the stars of the vertices.
#[derive(Group)]
pub struct Stars<'a> {
    /// Cells.
    pub cells: Cells<'a>,
    /// Start of each vertex's corners in `corners`, and the end of the last; V + 1.
    pub starts: In<'a, u32, Vertex>,
    /// Corners by their vertex; C.
    pub corners: In<'a, Corner>,
}

#[cfg(not(target_arch = "nvptx64"))]
impl CellsBuffers<'_> {
    /// Whether the three arrays have the lengths of one mesh.
    pub fn fit(&self) -> bool {
        let corners = self.vertices.len();
        match self.offsets.len() {
            0 => corners.is_multiple_of(4) && self.cells.is_empty(),
            _ => self.cells.len() == corners,
        }
    }

    /// N.
    pub fn count(&self) -> usize {
        match self.offsets.len() {
            0 => self.vertices.len() / 4,
            ends => ends - 1,
        }
    }

    /// Size of all arrays.
    pub fn bytes(&self) -> usize {
        self.offsets.bytes() + self.vertices.bytes() + self.cells.bytes()
    }
}

#[cfg(not(target_arch = "nvptx64"))]
impl StarsBuffers<'_> {
    /// V.
    pub fn nodes(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Whether the arrays have the lengths of one mesh of `vertices` vertices.
    pub fn fit(&self, vertices: usize) -> bool {
        self.cells.fit()
            && self.starts.len() == vertices + 1
            && self.corners.len() == self.cells.vertices.len()
    }

    /// Size of all arrays.
    pub fn bytes(&self) -> usize {
        self.cells.bytes() + self.starts.bytes() + self.corners.bytes()
    }
}

impl Stars<'_> {
    /// Start of the corners at vertex `v`.
    #[inline(always)]
    pub fn start(self, v: impl safe::Place<Vertex>) -> u32 {
        self.starts.at(v)
    }

    /// End of the corners at vertex `v`.
    #[inline(always)]
    pub fn end(self, v: Vertex) -> u32 {
        self.starts.at(Vertex::new(v.index() + 1))
    }

    /// Number of cells at vertex `v`.
    #[inline(always)]
    pub fn degree(self, v: Vertex) -> u32 {
        self.end(v) - self.start(v)
    }

    /// Corner number `s` of the list.
    #[inline(always)]
    pub fn corner(self, s: u32) -> Corner {
        self.corners.at(s)
    }

    /// Prefetches, on a CPU, the cell of a corner some way after `s` in the list: cells lie anywhere in memory.
    #[inline(always)]
    pub fn prefetch(self, s: u32) {
        self.cells.vertices.prefetch_item(self.corners, s);
    }
}

/// A cell: its corners are `first..first + size`.
#[derive(Clone, Copy)]
pub struct CellSpan {
    /// The cell.
    pub id: Cell,
    /// Number of its first corner.
    pub first: u32,
    /// Number of vertices.
    pub size: u32,
}

impl CellSpan {
    /// Its corner at place `k`.
    #[inline(always)]
    pub fn corner(self, k: u32) -> Corner {
        Corner::new(self.first + k)
    }

    /// The place of one of its corners.
    #[inline(always)]
    pub fn place(self, corner: Corner) -> u32 {
        corner.index() - self.first
    }
}

impl Cells<'_> {
    /// Whether all cells are tetrahedra, without offsets.
    #[inline(always)]
    pub fn only_tetrahedra(self) -> bool {
        self.offsets.is_empty()
    }

    /// Cell `id`.
    #[inline(always)]
    pub fn cell(self, id: Cell) -> CellSpan {
        if self.only_tetrahedra() {
            return CellSpan {
                id,
                first: 4 * id.index(),
                size: 4,
            };
        }
        let first = self.offsets.at(id.index());
        CellSpan {
            id,
            first,
            size: self.offsets.at(id.index() + 1) - first,
        }
    }

    /// The cell of a corner.
    #[inline(always)]
    pub fn cell_of(self, corner: Corner) -> CellSpan {
        if self.only_tetrahedra() {
            self.cell(Cell::new(corner.index() / 4))
        } else {
            self.cell(self.cells.at(corner))
        }
    }

    /// The vertex at place `k` of a cell.
    #[inline(always)]
    pub fn vertex(self, cell: CellSpan, k: u32) -> Vertex {
        self.vertices.at(cell.corner(k))
    }

    /// The vertices of a tetrahedron, loaded as one vector; the mesh has only tetrahedra.
    #[inline(always)]
    pub fn tetrahedron(self, id: Cell) -> [Vertex; 4] {
        self.vertices.quad(Corner::new(4 * id.index()))
    }

    /// The vertices of a cell with four.
    #[inline(always)]
    pub fn four_vertices(self, cell: CellSpan) -> [Vertex; 4] {
        self.vertices.at_all([0, 1, 2, 3].each(|k| cell.corner(k)))
    }

    /// Calls `f` with each neighbour of the vertex at `corner` in its cell.
    #[inline(always)]
    pub fn each_neighbour(self, corner: Corner, dimension: u32, mut f: impl FnMut(Vertex)) {
        if self.only_tetrahedra() {
            let [a, b, c, d] = self.tetrahedron(Cell::new(corner.index() / 4));
            let own = corner.index() % 4;
            f(if own == 0 { b } else { a });
            f(if own <= 1 { c } else { b });
            f(if own <= 2 { d } else { c });
            return;
        }
        let cell = self.cell_of(corner);
        let own = cell.place(corner);
        if dimension == SURFACE {
            f(self.vertex(cell, next(own, cell.size)));
            f(self.vertex(cell, previous(own, cell.size)));
        } else if dimension == WHOLE_CELLS {
            let mut k = 0;
            while k < cell.size {
                if k != own {
                    f(self.vertex(cell, k));
                }
                k += 1;
            }
        } else {
            let mut list = neighbours_in_cell(cell.size, own);
            while list & 0xF != END {
                f(self.vertex(cell, list & 0xF));
                list >>= 4;
            }
        }
    }

    /// Most neighbours that a vertex has in the cell of `corner`.
    #[inline(always)]
    pub fn most_neighbours(self, corner: Corner, dimension: u32) -> u32 {
        match dimension {
            SURFACE => 2,
            WHOLE_CELLS => self.cell_of(corner).size - 1,
            _ => 4,
        }
    }

    /// Vertices of face `face` of a cell.
    #[inline(always)]
    pub fn face(self, cell: CellSpan, face: u32) -> Face {
        let code = face_code(cell.size, face);
        let is_triangle = code >> 12 == END;
        let last = if is_triangle { code & 0xF } else { code >> 12 };
        let places = [code & 0xF, code >> 4 & 0xF, code >> 8 & 0xF, last];
        Face {
            vertices: self.vertices.at_all(places.each(|k| cell.corner(k))),
            is_triangle,
        }
    }
}

/// A face of a cell. A triangle repeats its first vertex in the fourth place.
#[derive(Clone, Copy)]
pub struct Face {
    /// Vertices.
    pub vertices: [Vertex; 4],
    /// Whether it has three vertices.
    pub is_triangle: bool,
}

impl Face {
    /// Whether vertex `v` is one of its vertices.
    #[inline(always)]
    pub fn has(self, v: Vertex) -> bool {
        let [a, b, c, d] = self.vertices;
        v == a || v == b || v == c || v == d
    }

    /// The lowest vertex.
    #[inline(always)]
    pub fn lowest(self) -> Vertex {
        let [a, b, c, d] = self.vertices;
        a.min(b).min(c.min(d))
    }

    /// Whether both have the same vertices.
    #[inline(always)]
    pub fn is(self, other: Face) -> bool {
        let [a, b, c, d] = other.vertices;
        self.is_triangle == other.is_triangle
            && self.has(a)
            && self.has(b)
            && self.has(c)
            && self.has(d)
    }
}

/// The place after `k` around a polygon.
#[inline(always)]
pub fn next(k: u32, size: u32) -> u32 {
    if k + 1 == size { 0 } else { k + 1 }
}

/// The place before `k` around a polygon.
#[inline(always)]
pub fn previous(k: u32, size: u32) -> u32 {
    if k == 0 { size - 1 } else { k - 1 }
}

/// Places at the other ends of a cell's edges from place `k`: nibbles, from the lowest on, ended by `END`.
#[inline(always)]
fn neighbours_in_cell(size: u32, k: u32) -> u32 {
    match size {
        4 => {
            let (a, b, c) = ((k + 1) & 3, (k + 2) & 3, (k + 3) & 3);
            a | b << 4 | c << 8 | END << 12
        }
        5 if k == 4 => 0xF3210,
        5 => (k + 1) & 3 | ((k + 3) & 3) << 4 | 4 << 8 | END << 12,
        6 => {
            let (base, own) = if k < 3 { (0, k) } else { (3, k - 3) };
            let opposite = 3 - base + own;
            let (ahead, behind) = (base + next(own, 3), base + previous(own, 3));
            ahead | behind << 4 | opposite << 8 | END << 12
        }
        _ => {
            let base = k & 4;
            let (ahead, behind) = (base + ((k + 1) & 3), base + ((k + 3) & 3));
            ahead | behind << 4 | (k ^ 4) << 8 | END << 12
        }
    }
}

/// Number of faces of a cell of a volume mesh.
#[inline(always)]
pub fn face_count(size: u32) -> u32 {
    match size {
        4 => 4,
        5 | 6 => 5,
        _ => 6,
    }
}

/// Most faces of a cell.
pub const MOST_FACES: u32 = CellFace::MOST;

/// Places of the vertices of face `face`, in VTK's order: nibbles, from the lowest on; the fourth of a triangle is
/// `END`.
#[inline(always)]
pub fn face_code(size: u32, face: u32) -> u32 {
    // Four faces in the first word, two in the second.
    let (low, high): (u64, u64) = match size {
        4 => (0xF120_F302_F321_F310, 0),
        5 => (0xF432_F421_F410_1230, 0xF403),
        6 => (0x2541_1430_F453_F210, 0x0352),
        _ => (0x2673_4510_5621_3740, 0x7654_1230),
    };
    let word = if face < 4 { low } else { high };
    (word >> (16 * (face & 3))) as u32 & 0xFFFF
}
