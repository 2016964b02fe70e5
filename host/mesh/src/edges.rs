//! Undirected edges of a mesh with faces of any size.

use rayon::prelude::*;

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
    /// The edges of `faces`. Takes eight bytes for every corner of every face meanwhile.
    pub fn of(faces: &Faces) -> Edges {
        Edges::group(sorted_sides(faces.len(), |i| faces.get(i), key))
    }

    /// The edges of `polygons`, as [`Edges::of`].
    pub fn of_polygons(polygons: &Polygons) -> Edges {
        Edges::group(sorted_sides(polygons.len(), |i| polygons.get(i), key))
    }

    fn group(keys: Vec<u64>) -> Edges {
        let mut edges = Edges::default();
        for uses in keys.chunk_by(|a, b| a == b) {
            edges.count += 1;
            let edge = [(uses[0] >> 32) as u32, uses[0] as u32];
            match uses.len() {
                1 => edges.boundary.push(edge),
                2 => {}
                _ => edges.non_manifold.push(edge),
            }
        }
        edges
    }
}

/// An edge with the faces on its sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EdgeFaces {
    /// Vertex ids, the smaller first.
    pub ends: [u32; 2],
    /// Face ids; the second is [`NONE`] on the boundary.
    pub faces: [u32; 2],
}

/// Every edge of `faces` with its faces, ascending; an edge with more than two faces once for each pair of consecutive ones.
pub fn edge_faces(faces: &Faces) -> Vec<EdgeFaces> {
    let sides = sorted_sides(faces.len(), |i| faces.get(i), |a, b, face| (a, b, face));
    sides
        .chunk_by(|a, b| (a.0, a.1) == (b.0, b.1))
        .flat_map(|sides| {
            let ends = [sides[0].0, sides[0].1];
            let boundary = (sides.len() == 1).then_some([sides[0].2, NONE]);
            let pairs = sides.windows(2).map(|pair| [pair[0].2, pair[1].2]);
            boundary
                .into_iter()
                .chain(pairs)
                .map(move |faces| EdgeFaces { ends, faces })
        })
        .collect()
}

/// Both ends of an edge in one number.
fn key(a: u32, b: u32, _face: u32) -> u64 {
    u64::from(a) << 32 | u64::from(b)
}

/// The values of `side` for every side of every face, ascending; it gets the smaller vertex, the larger vertex and the face.
fn sorted_sides<'a, T: Ord + Send>(
    count: usize,
    face: impl Fn(usize) -> &'a [u32] + Sync,
    side: impl Fn(u32, u32, u32) -> T + Sync + Copy + Send,
) -> Vec<T> {
    let mut sides: Vec<T> = (0..count)
        .into_par_iter()
        .flat_map_iter(|i| {
            let face = face(i);
            let next = face.iter().cycle().skip(1);
            face.iter()
                .zip(next)
                .map(move |(&a, &b)| side(a.min(b), a.max(b), i as u32))
        })
        .collect();
    sides.par_sort_unstable();
    sides
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
