//! The definition of distances between shapes, by all pairs.

use glam::DVec3;
use gpu::compare::square_to;

/// The distance of each point to the triangles, and the first triangle that has it. Without triangles each of
/// `vertices` is one.
pub fn nearest(
    points: &[DVec3],
    vertices: &[DVec3],
    triangles: &[[u32; 3]],
) -> (Vec<f64>, Vec<u32>) {
    let cloud: Vec<[u32; 3]>;
    let triangles = match triangles {
        [] => {
            cloud = (0..vertices.len() as u32).map(|v| [v; 3]).collect();
            &cloud
        }
        triangles => triangles,
    };
    let nearest = |p: &DVec3| {
        let squares = triangles
            .iter()
            .map(|t| square_to(*p, t.map(|v| vertices[v as usize])));
        let all = (0..).zip(squares);
        let (triangle, square) = all
            .reduce(|least, next| if next.1 < least.1 { next } else { least })
            .expect("a triangle");
        (square.sqrt(), triangle)
    };
    points.iter().map(nearest).unzip()
}
