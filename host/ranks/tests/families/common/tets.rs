//! Meshes of tetrahedra.

use proptest::prelude::*;
use trioxide::volume::{TaggedTriangle, TetMesh};

/// A grid whose nodes were not moved: lengths tie everywhere.
pub fn equal_edges(n: usize) -> TetMesh {
    let mut mesh = trioxide::generate::tet_grid(n, 0).unwrap();
    let cells = (n as f64).cbrt().round() - 1.0;
    for point in &mut mesh.points {
        *point = (*point * cells).round();
    }
    mesh
}

/// The same tetrahedra under other numbers, with some left out, and some of their faces tagged: inside too, and some
/// twice.
pub fn mixed(mesh: &TetMesh, seed: u64, left_out: u64, tagged: usize) -> TetMesh {
    let draw = |i: usize| {
        (i as u64 ^ seed)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(31)
            >> 20
    };
    let mut order: Vec<usize> = (0..mesh.tetrahedra.len()).collect();
    order.sort_by_key(|&t| draw(t));
    order.retain(|&t| draw(t + 7777) % 10 >= left_out);
    let mut vertices: Vec<usize> = (0..mesh.points.len()).collect();
    vertices.sort_by_key(|&v| draw(v + 99));
    let mut new = vec![0; vertices.len()];
    for (place, &v) in vertices.iter().enumerate() {
        new[v] = place as u32;
    }
    let corners = |&t: &usize| mesh.tetrahedra[t].map(|v| new[v as usize]);
    let tetrahedra: Vec<[u32; 4]> = order.iter().map(corners).collect();
    let n = tetrahedra.len();
    let face = |i: usize| {
        let [a, b, c, d] = tetrahedra[draw(i + 5) as usize % n];
        let vertices = [[b, c, d], [a, d, c], [d, b, a], [a, c, b]][i % 4];
        let tag = i as i32 - 3;
        TaggedTriangle { vertices, tag }
    };
    TetMesh {
        points: vertices.iter().map(|&v| mesh.points[v]).collect(),
        faces: (0..if n == 0 { 0 } else { tagged }).map(face).collect(),
        regions: seed
            .is_multiple_of(2)
            .then(|| (0..n as i32).map(|t| t % 3).collect()),
        tetrahedra,
    }
}

/// Grids and random meshes, some with equal edges everywhere, under any numbers, with holes, regions and tagged faces.
pub fn meshes() -> impl Strategy<Value = TetMesh> {
    let random = (8..120_usize, any::<u64>())
        .prop_map(|(n, seed)| trioxide::generate::random_tets(n, seed).unwrap());
    let grid = (8..130_usize, any::<u64>())
        .prop_map(|(n, seed)| trioxide::generate::tet_grid(n, seed).unwrap());
    let tied = (8..130_usize).prop_map(equal_edges);
    let meshes = prop_oneof![3 => random, 1 => grid, 2 => tied];
    (meshes, any::<u64>(), 0..4_u64, 0..40_usize)
        .prop_map(|(mesh, seed, left_out, tagged)| mixed(&mesh, seed, left_out, tagged))
}
