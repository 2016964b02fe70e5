//! Undirected edges of a mesh with faces of any size.

use rayon::prelude::*;

use crate::mesh::Faces;

/// What the edges of a mesh say about its boundary.
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
        let mut keys = edge_keys(faces);
        keys.par_sort_unstable();
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

/// Both ends of the edge of every corner in one number, smaller vertex first.
fn edge_keys(faces: &Faces) -> Vec<u64> {
    let key = |a: u32, b: u32| u64::from(a.min(b)) << 32 | u64::from(a.max(b));
    match faces {
        Faces::Triangles(triangles) => triangles
            .par_iter()
            .flat_map_iter(|&[a, b, c]| [key(a, b), key(b, c), key(c, a)])
            .collect(),
        Faces::Polygons(polygons) => (0..polygons.len())
            .into_par_iter()
            .flat_map_iter(|i| {
                let polygon = polygons.get(i);
                let next = polygon.iter().cycle().skip(1);
                polygon.iter().zip(next).map(move |(a, b)| key(*a, *b))
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::Polygons;

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
}
