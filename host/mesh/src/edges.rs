//! Undirected edges of a mesh with faces of any size.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rayon::prelude::*;

use crate::edge_table::EdgeTable;
use crate::mesh::{Faces, NONE, Polygons};
use crate::parallel;

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

impl Faces {
    /// The edges of one face, each with its smaller vertex first, ascending.
    pub fn boundary(&self) -> Vec<[u32; 2]> {
        match self {
            Faces::Triangles(triangles) => {
                boundary_edges(vertices_of(triangles.as_flattened()), triangles)
            }
            Faces::Polygons(polygons) => Edges::of_polygons(polygons).boundary,
        }
    }
}

/// The edges of one triangle, each with its smaller vertex first, ascending, as [`Edges::of`] finds them, in a fraction
/// of the time where most edges are inside. All vertices are below `vertices`.
///
/// Each triangle adds a hash of its next corner to a corner's sum and takes one of its last corner away. Around a
/// vertex with no boundary edge all cancel, if the triangles agree. Only sides between two vertices with another sum
/// are counted. (A vertex at the boundary whose hashes cancel by chance, for one in 2^64, is left out.)
pub fn boundary_edges(vertices: usize, triangles: &[[u32; 3]]) -> Vec<[u32; 2]> {
    let sums: Vec<AtomicU64> = parallel::collect(vertices, |_| AtomicU64::new(0));
    parallel::for_each(triangles.len(), |t| {
        let corners = triangles[t];
        let hashes = corners.map(|v| mix(u64::from(v)));
        for k in 0..3 {
            let change = hashes[(k + 1) % 3].wrapping_sub(hashes[(k + 2) % 3]);
            sums[corners[k] as usize].fetch_add(change, Relaxed);
        }
    });
    let is_open = |v: u32| sums[v as usize].load(Relaxed) != 0;
    let sides = parallel::map_pieces(triangles.len(), parallel::GRAIN, |range| {
        let mut sides = Vec::new();
        for corners in &triangles[range] {
            let open = corners.map(is_open);
            for k in 0..3 {
                let l = (k + 1) % 3;
                if open[k] && open[l] {
                    let (a, b) = (corners[k], corners[l]);
                    sides.push([a.min(b), a.max(b)]);
                }
            }
        }
        sides
    });
    let mut sides = parallel::concat(sides);
    sides.par_sort_unstable();
    let once = sides.chunk_by(|a, b| a == b).filter(|uses| uses.len() == 1);
    once.map(|uses| uses[0]).collect()
}

/// A hash of a number; another one for each.
pub(crate) fn mix(x: u64) -> u64 {
    let x = (x.wrapping_add(1)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (x ^ x >> 32)
        .wrapping_mul(0xbf58_476d_1ce4_e5b9)
        .rotate_left(31)
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
    fn sums_of_hashes_find_the_boundary() {
        // Two fans that touch at a vertex, an edge of three faces, a face that runs the other way.
        let triangles = [
            [0, 1, 2],
            [0, 3, 4],
            [2, 1, 3],
            [1, 2, 4],
            [5, 2, 0],
            [6, 5, 7],
            [5, 6, 8],
        ];
        let edges = Edges::of(&Faces::Triangles(triangles.to_vec()));
        assert_eq!(boundary_edges(9, &triangles), edges.boundary);
        let closed = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];
        assert_eq!(boundary_edges(4, &closed), [] as [[u32; 2]; 0]);
    }

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
