//! Cells of any kind, seen from their corners.
//!
//! Cells are lists of vertices, one behind the other; a *corner* is a place in that list. Of tetrahedra the list alone is
//! there (`offsets` and `cells` are empty), as cell `c` is `4c..4c + 4`. Other cells are told by `offsets` (their starts,
//! and the end of the last) and `cells` (the cell of each corner); the number of vertices is the kind. A surface mesh is
//! told by `SURFACE`: there a cell is a polygon.

use trioxide_kernel::In;

/// Kinds of cells are those of volumes: 4 tetrahedron, 5 pyramid, 6 wedge, 8 hexahedron.
pub const VOLUME: u32 = 0;
/// Cells are polygons.
pub const SURFACE: u32 = 1;
/// As a volume, but every other vertex of a cell counts as neighbour, not only those at the other ends of its edges.
pub const WHOLE_CELLS: u32 = 2;

/// No vertex: the nibble that ends a list of a cell's vertices.
const END: u32 = 0xF;

/// Cells of a mesh.
#[derive(Clone, Copy)]
pub struct CellView<'a> {
    offsets: In<'a, u32>,
    vertices: In<'a, u32>,
    cells: In<'a, u32>,
}

/// A cell: its number, the start of its vertices, and how many they are.
#[derive(Clone, Copy)]
pub struct Cell {
    /// Number.
    pub id: u32,
    /// Start in the list of vertices.
    pub first: u32,
    /// Number of vertices.
    pub size: u32,
}

impl<'a> CellView<'a> {
    /// The view of a kernel's arrays.
    #[inline(always)]
    pub fn new(offsets: In<'a, u32>, vertices: In<'a, u32>, cells: In<'a, u32>) -> Self {
        Self {
            offsets,
            vertices,
            cells,
        }
    }

    /// Whether every cell is a tetrahedron, told so.
    #[inline(always)]
    pub fn only_tetrahedra(self) -> bool {
        self.offsets.is_empty()
    }

    /// Cell number `id`.
    #[inline(always)]
    pub fn cell(self, id: u32) -> Cell {
        if self.only_tetrahedra() {
            return Cell {
                id,
                first: 4 * id,
                size: 4,
            };
        }
        let first = self.offsets.at(id);
        Cell {
            id,
            first,
            size: self.offsets.at(id + 1) - first,
        }
    }

    /// The cell of a corner.
    #[inline(always)]
    pub fn cell_of(self, corner: u32) -> Cell {
        if self.only_tetrahedra() {
            self.cell(corner / 4)
        } else {
            self.cell(self.cells.at(corner))
        }
    }

    /// The vertex at a corner.
    #[inline(always)]
    pub fn vertex(self, corner: u32) -> u32 {
        self.vertices.at(corner)
    }

    /// Asks a CPU for the cell of a corner some way behind `s` in the list: cells lie anywhere in memory.
    #[inline(always)]
    pub fn prefetch(self, corners: In<u32>, s: u32) {
        self.vertices.prefetch_item(corners, s);
    }

    /// The vertices of a tetrahedron, loaded as one vector; it is one of tetrahedra told so.
    #[inline(always)]
    pub fn tetrahedron(self, id: u32) -> [u32; 4] {
        self.vertices.quad(4 * id)
    }

    /// Calls `f` with each neighbour of the vertex at `corner` in its cell.
    #[inline(always)]
    pub fn each_neighbour(self, corner: u32, dimension: u32, mut f: impl FnMut(u32)) {
        if self.only_tetrahedra() {
            let [a, b, c, d] = self.tetrahedron(corner / 4);
            let own = corner % 4;
            f(if own == 0 { b } else { a });
            f(if own <= 1 { c } else { b });
            f(if own <= 2 { d } else { c });
            return;
        }
        let cell = self.cell_of(corner);
        let own = corner - cell.first;
        if dimension == SURFACE {
            f(self.vertex(cell.first + next(own, cell.size)));
            f(self.vertex(cell.first + previous(own, cell.size)));
        } else if dimension == WHOLE_CELLS {
            let mut k = 0;
            while k < cell.size {
                if k != own {
                    f(self.vertex(cell.first + k));
                }
                k += 1;
            }
        } else {
            let mut list = neighbours_in_cell(cell.size, own);
            while list & 0xF != END {
                f(self.vertex(cell.first + (list & 0xF)));
                list >>= 4;
            }
        }
    }

    /// Most neighbours that a vertex has in the cell of `corner`.
    #[inline(always)]
    pub fn most_neighbours(self, corner: u32, dimension: u32) -> u32 {
        match dimension {
            SURFACE => 2,
            WHOLE_CELLS => self.cell_of(corner).size - 1,
            _ => 4,
        }
    }

    /// Vertices of face `face` of a cell.
    #[inline(always)]
    pub fn face(self, cell: Cell, face: u32) -> Face {
        let code = face_code(cell.size, face);
        let at = |k: u32| self.vertex(cell.first + (code >> (4 * k) & 0xF));
        let is_triangle = code >> 12 == END;
        Face {
            vertices: [at(0), at(1), at(2), if is_triangle { at(0) } else { at(3) }],
            is_triangle,
        }
    }
}

/// A face of a cell. Of a triangle the first vertex stands in the fourth place too.
#[derive(Clone, Copy)]
pub struct Face {
    /// Vertex ids.
    pub vertices: [u32; 4],
    /// Whether it has three vertices.
    pub is_triangle: bool,
}

impl Face {
    /// Whether vertex `v` is one of its vertices.
    #[inline(always)]
    pub fn has(self, v: u32) -> bool {
        let [a, b, c, d] = self.vertices;
        v == a || v == b || v == c || v == d
    }

    /// The lowest vertex.
    #[inline(always)]
    pub fn lowest(self) -> u32 {
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

/// The place behind `k` around a polygon.
#[inline(always)]
pub fn next(k: u32, size: u32) -> u32 {
    if k + 1 == size { 0 } else { k + 1 }
}

/// The place before `k` around a polygon.
#[inline(always)]
pub fn previous(k: u32, size: u32) -> u32 {
    if k == 0 { size - 1 } else { k - 1 }
}

/// Places of the vertices that edges of a cell lead to from place `k`: nibbles from the lowest on, ended by `END`.
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
pub const MOST_FACES: u32 = 6;

/// Places of the vertices of face `face`, in VTK's order, nibbles from the lowest on; the fourth of a triangle is `END`.
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
