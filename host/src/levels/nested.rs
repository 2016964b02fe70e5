//! Levels in host memory.

use crate::mesh::{NONE, PolygonMesh, Polygons};

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
    pub fn mesh(&self, mesh: &PolygonMesh, level: usize) -> PolygonMesh {
        let ancestors = self.ancestors(level);
        assert_eq!(
            ancestors.len(),
            mesh.polygons.len(),
            "levels of another mesh"
        );
        let mut firsts = vec![NONE; self.counts[level]];
        for (polygon, &piece) in ancestors.iter().enumerate().rev() {
            firsts[piece as usize] = polygon as u32;
        }
        let regions = mesh.regions.as_ref();
        let regions = regions.map(|regions| {
            firsts
                .iter()
                .map(|&first| regions[first as usize])
                .collect()
        });
        PolygonMesh {
            points: mesh.points.clone(),
            polygons: outlines(&mesh.polygons, &ancestors, self.counts[level]),
            regions,
            segments: mesh.segments.clone(),
        }
    }
}

/// The outline of each piece of polygons, from its first corner on.
fn outlines(polygons: &Polygons, pieces: &[u32], count: usize) -> Polygons {
    let sides = Sides::of(polygons);
    let piece = |side: u32| pieces[sides.polygons[side as usize] as usize];
    let is_inner = |side: u32| {
        let twin = sides.twins[side as usize];
        twin != NONE && piece(twin) == piece(side)
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
