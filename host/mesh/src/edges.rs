//! Undirected edges of a mesh with faces of any size.

use rayon::prelude::*;

use crate::edge_table::EdgeTable;
use crate::mesh::{Faces, NONE, Polygons};

/// The edges of a mesh: their number, its boundary, and edges with too many faces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edges {
    /// Number of edges.
    pub count: usize,
    /// Edges of one face, each with its smaller vertex first, ascending.
    pub boundary: Vec<[u32; 2]>,
    /// Edges of more than two faces, each with its smaller vertex first, ascending.
    pub non_manifold: Vec<[u32; 2]>,
}

impl Edges {
    /// The edges of `faces`. Takes 20 bytes of temporary memory per corner.
    pub fn of(faces: &Faces) -> Edges {
        match faces {
            Faces::Triangles(triangles) => {
                let vertices = vertices_of(triangles.as_flattened());
                Edges::in_table(&EdgeTable::of_triangles(vertices, triangles))
            }
            Faces::Polygons(polygons) => Edges::of_polygons(polygons),
        }
    }

    /// The edges of `polygons`, as [`Edges::of`].
    pub fn of_polygons(polygons: &Polygons) -> Edges {
        let vertices = vertices_of(&polygons.vertices);
        Edges::in_table(&EdgeTable::of_polygons(vertices, polygons))
    }

    /// The edges of a table.
    pub fn in_table(table: &EdgeTable) -> Edges {
        let of_uses = |is_wanted: fn(usize) -> bool| {
            table.filter_map_edges(|ends, uses| is_wanted(uses.len()).then_some(ends))
        };
        Edges {
            count: table.count(),
            boundary: of_uses(|uses| uses == 1),
            non_manifold: of_uses(|uses| uses > 2),
        }
    }
}

/// One more than the largest of `ids`.
fn vertices_of(ids: &[u32]) -> usize {
    ids.par_iter().max().map_or(0, |&last| last as usize + 1)
}

/// An edge with the faces on its sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EdgeFaces {
    /// Vertex ids, the smaller first.
    pub ends: [u32; 2],
    /// Face ids; the second is [`NONE`] on the boundary.
    pub faces: [u32; 2],
}

/// The edges of faces, and the face of each of their sides.
pub struct FaceEdges {
    /// The edges. The entries' ids are sides: corners in the order of the faces.
    pub table: EdgeTable,
    /// Face of each side; only for polygons.
    face_of: Option<Vec<u32>>,
}

impl FaceEdges {
    /// The edges of `faces`. Takes 20 bytes of temporary memory per corner.
    pub fn of(faces: &Faces) -> FaceEdges {
        match faces {
            Faces::Triangles(triangles) => {
                let vertices = vertices_of(triangles.as_flattened());
                FaceEdges {
                    table: EdgeTable::of_triangles(vertices, triangles),
                    face_of: None,
                }
            }
            Faces::Polygons(polygons) => {
                let vertices = vertices_of(&polygons.vertices);
                let sides = |i: usize| std::iter::repeat_n(i as u32, polygons.get(i).len());
                FaceEdges {
                    table: EdgeTable::of_polygons(vertices, polygons),
                    face_of: Some(
                        (0..polygons.len())
                            .into_par_iter()
                            .flat_map_iter(sides)
                            .collect(),
                    ),
                }
            }
        }
    }

    /// The face of this side.
    pub fn face(&self, side: u32) -> u32 {
        let face_of = self.face_of.as_ref();
        face_of.map_or(side / 3, |faces| faces[side as usize])
    }
}

/// Every edge of `faces` with its faces, ascending. An edge with more than two faces appears once for each pair of
/// consecutive faces.
pub fn edge_faces(faces: &Faces) -> Vec<EdgeFaces> {
    let edges = FaceEdges::of(faces);
    let face = |side: u32| edges.face(side);
    // Sides of an edge ascend, and so do their faces.
    edges
        .table
        .flat_map_edges(|found, ends, sides| match *sides {
            [(_, side)] => found.push(EdgeFaces {
                ends,
                faces: [face(side), NONE],
            }),
            _ => found.extend(sides.windows(2).map(|pair| EdgeFaces {
                ends,
                faces: [face(pair[0].1), face(pair[1].1)],
            })),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boundary_and_non_manifold_edges() {
        let edges = Edges::of(&Faces::Triangles(vec![[0, 1, 2], [2, 1, 3], [1, 2, 4]]));
        assert_eq!(edges.count, 7);
        assert_eq!(edges.non_manifold, [[1, 2]]);
        assert_eq!(
            edges.boundary,
            [[0, 1], [0, 2], [1, 3], [1, 4], [2, 3], [2, 4]]
        );

        let mut polygons = Polygons::default();
        polygons.push(&[0, 1, 2, 3]);
        polygons.push(&[3, 2, 4]);
        let edges = Edges::of(&Faces::Polygons(polygons));
        assert_eq!(edges.count, 6);
        assert_eq!(edges.boundary, [[0, 1], [0, 3], [1, 2], [2, 4], [3, 4]]);
        assert_eq!(edges.non_manifold, [] as [[u32; 2]; 0]);
    }

    #[test]
    fn edges_know_their_faces() {
        let edge = |ends, faces| EdgeFaces { ends, faces };
        // Two faces of one edge, and three of another.
        let faces = Faces::Triangles(vec![[0, 1, 2], [2, 1, 3], [1, 2, 4]]);
        let shared = edge_faces(&faces);
        assert_eq!(shared.len(), 8);
        assert_eq!(shared[0], edge([0, 1], [0, NONE]));
        assert_eq!(shared[2..4], [edge([1, 2], [0, 1]), edge([1, 2], [1, 2])]);
    }
}
