//! Levels in host memory.

use gpu::ids::Polygon;
use trioxide_kernel::launch::Buffer;

use crate::Result;
use crate::device::Device;
use crate::mesh::{NONE, PolygonMesh, Polygons};
use crate::polyhedra_mesh::{PolyhedralMesh, TaggedFace};

/// The levels of a mesh. Level 0 is the mesh itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nested {
    /// The piece of level k + 1 that each piece of level k belongs to.
    parents: Vec<Vec<u32>>,
    /// Pieces of each level, from level 0 on.
    counts: Vec<usize>,
    /// Whether the levels ended because nothing could join.
    pub is_stuck: bool,
}

/// The levels of a mesh, on a device.
pub struct DeviceNested {
    parents: Vec<Buffer<Polygon>>,
    counts: Vec<usize>,
    /// As of [`Nested`].
    pub is_stuck: bool,
}

impl DeviceNested {
    pub(super) fn new(polygons: usize) -> Self {
        Self {
            parents: Vec::new(),
            counts: vec![polygons],
            is_stuck: false,
        }
    }

    pub(super) fn push(&mut self, parents: Buffer<Polygon>, count: usize) {
        self.parents.push(parents);
        self.counts.push(count);
    }

    /// Number of levels above level 0.
    pub fn levels(&self) -> usize {
        self.parents.len()
    }

    /// Number of pieces of a level.
    ///
    /// # Panics
    /// There is no such level.
    pub fn pieces(&self, level: usize) -> usize {
        self.counts[level]
    }

    /// The piece of `level` that each piece of the level before belongs to.
    ///
    /// # Panics
    /// There is no such level, or it is level 0.
    pub fn parents(&self, level: usize) -> &Buffer<Polygon> {
        &self.parents[level - 1]
    }

    /// The levels in host memory.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn download(&self, on: &Device) -> Result<Nested> {
        let parents = self.parents.iter();
        let parents: Result<_> = parents.map(|parents| on.download_rows(parents)).collect();
        Ok(Nested {
            parents: parents?,
            counts: self.counts.clone(),
            is_stuck: self.is_stuck,
        })
    }
}

impl Nested {
    /// A mesh of as many polygons without levels.
    pub fn new(polygons: usize) -> Self {
        Self {
            parents: Vec::new(),
            counts: vec![polygons],
            is_stuck: false,
        }
    }

    /// Appends a level of `count` pieces: `parents` has the one that each piece of the last level belongs to.
    pub fn push(&mut self, parents: Vec<u32>, count: usize) {
        self.parents.push(parents);
        self.counts.push(count);
    }

    /// Number of levels above level 0.
    pub fn levels(&self) -> usize {
        self.parents.len()
    }

    /// Number of pieces of a level.
    ///
    /// # Panics
    /// There is no such level.
    pub fn pieces(&self, level: usize) -> usize {
        self.counts[level]
    }

    /// The piece of `level` that each piece of the level before belongs to.
    ///
    /// # Panics
    /// There is no such level, or it is level 0.
    pub fn parents(&self, level: usize) -> &[u32] {
        &self.parents[level - 1]
    }

    /// The piece of `level` that each polygon of the mesh belongs to.
    ///
    /// # Panics
    /// There is no such level.
    pub fn ancestors(&self, level: usize) -> Vec<u32> {
        let mut ancestors: Vec<u32> = (0..self.counts[0] as u32).collect();
        for parents in &self.parents[..level] {
            for piece in &mut ancestors {
                *piece = parents[*piece as usize];
            }
        }
        ancestors
    }

    /// The pieces of a level of `mesh`, as polygons that begin at their first corner in the mesh. A piece has the
    /// region of its first polygon.
    ///
    /// # Panics
    /// There is no such level, or it is one of another mesh.
    pub fn mesh<V: Clone>(&self, mesh: &PolygonMesh<V>, level: usize) -> PolygonMesh<V> {
        let ancestors = self.ancestors(level);
        assert_eq!(
            ancestors.len(),
            mesh.polygons.len(),
            "levels of another mesh"
        );
        PolygonMesh {
            points: mesh.points.clone(),
            polygons: outlines(&mesh.polygons, &ancestors, self.counts[level]),
            regions: self.regions(mesh.regions.as_deref(), level),
            segments: mesh.segments.clone(),
        }
    }

    /// The pieces of a level of polyhedra, with the faces between them: of each face its vertices, and its tag. A piece
    /// has the region of its first polyhedron. There are no fields.
    ///
    /// # Panics
    /// There is no such level, or it is one of another mesh.
    pub fn polyhedra(&self, mesh: &PolyhedralMesh, level: usize) -> PolyhedralMesh {
        let ancestors = self.ancestors(level);
        assert_eq!(ancestors.len(), mesh.len(), "levels of another mesh");
        let is_inner: Vec<bool> = mesh
            .neighbours()
            .into_iter()
            .map(|[p, q]| q != NONE && p != q && ancestors[p as usize] == ancestors[q as usize])
            .collect();
        let mut sides = vec![Vec::new(); self.counts[level]];
        for (p, &piece) in ancestors.iter().enumerate() {
            let outer = mesh.sides_of(p).iter().copied();
            sides[piece as usize].extend(outer.filter(|&side| !is_inner[side as usize / 2]));
        }
        let mut new = vec![NONE; mesh.faces.len()];
        let mut pieces = PolyhedralMesh {
            points: mesh.points.clone(),
            offsets: vec![0],
            regions: self.regions(mesh.regions.as_deref(), level),
            ..PolyhedralMesh::default()
        };
        let mut vertices = Vec::new();
        for sides in sides {
            for side in sides {
                let face = &mut new[side as usize / 2];
                let is_first = *face == NONE;
                if is_first {
                    *face = pieces.faces.len() as u32;
                    vertices.clear();
                    vertices.extend(mesh.vertices_of(side));
                    pieces.faces.push(&vertices);
                }
                pieces.sides.push(2 * *face + u32::from(!is_first));
            }
            pieces.offsets.push(pieces.sides.len() as u32);
        }
        let tagged = mesh.tagged.iter().map(|tagged| TaggedFace {
            face: new[tagged.face as usize],
            ..*tagged
        });
        pieces.tagged = tagged.filter(|tagged| tagged.face != NONE).collect();
        pieces
    }

    /// The region of each piece: that of its first polygon or polyhedron.
    fn regions(&self, regions: Option<&[i32]>, level: usize) -> Option<Vec<i32>> {
        let regions = regions?;
        let mut result = vec![0; self.counts[level]];
        for (&piece, &region) in self.ancestors(level).iter().zip(regions).rev() {
            result[piece as usize] = region;
        }
        Some(result)
    }
}

/// The outline of each piece of polygons, from its first corner on.
fn outlines(polygons: &Polygons, pieces: &[u32], count: usize) -> Polygons {
    let sides = Sides::of(polygons);
    // A piece of one polygon is this, even if it runs along an edge twice.
    let mut members = vec![0; count];
    for &piece in pieces {
        members[piece as usize] += 1;
    }
    let piece = |side: u32| pieces[sides.polygons[side as usize] as usize];
    let is_inner = |side: u32| {
        let twin = sides.twins[side as usize];
        twin != NONE && piece(twin) == piece(side) && members[piece(side) as usize] > 1
    };
    let mut firsts = vec![NONE; count];
    for side in (0..sides.twins.len() as u32)
        .rev()
        .filter(|&side| !is_inner(side))
    {
        firsts[piece(side) as usize] = side;
    }
    let mut result = Polygons::default();
    for first in firsts {
        let mut side = first;
        loop {
            result.vertices.push(polygons.vertices[side as usize]);
            side = sides.next(polygons, side);
            // Around the vertex, through the polygons of the piece.
            while is_inner(side) {
                side = sides.next(polygons, sides.twins[side as usize]);
            }
            if side == first {
                break;
            }
        }
        result.offsets.push(result.vertices.len() as u32);
    }
    result
}

/// The sides of polygons: side c starts at corner c.
struct Sides {
    polygons: Vec<u32>,
    twins: Vec<u32>,
}

impl Sides {
    fn of(polygons: &Polygons) -> Self {
        let corners = polygons.vertices.len();
        let mut sides = Self {
            polygons: Vec::with_capacity(corners),
            twins: vec![NONE; corners],
        };
        for (i, polygon) in polygons.iter().enumerate() {
            sides.polygons.extend(polygon.iter().map(|_| i as u32));
        }
        let mut ends: Vec<(u32, u32, u32)> = (0..corners as u32)
            .map(|side| {
                let from = polygons.vertices[side as usize];
                let to = polygons.vertices[sides.next(polygons, side) as usize];
                (from.min(to), from.max(to), side)
            })
            .collect();
        ends.sort_unstable();
        for pair in ends.windows(2) {
            let ((a, b, side), (c, d, twin)) = (pair[0], pair[1]);
            if (a, b) == (c, d) {
                sides.twins[side as usize] = twin;
                sides.twins[twin as usize] = side;
            }
        }
        sides
    }

    /// The next side of the same polygon.
    fn next(&self, polygons: &Polygons, side: u32) -> u32 {
        let polygon = self.polygons[side as usize] as usize;
        match side + 1 == polygons.offsets[polygon + 1] {
            true => polygons.offsets[polygon],
            false => side + 1,
        }
    }
}
