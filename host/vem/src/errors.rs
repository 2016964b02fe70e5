use std::array;

use glam::DVec2;

use super::element::Element;
use super::sparse::{BLOCK, block_sums};
use trioxide_mesh::mesh::PolygonMesh;
use trioxide_mesh::parallel;

/// Errors of a solution, by its distance from the exact one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Errors {
    /// L2 norm of the difference of the projection.
    pub l2: f64,
    /// L2 norm of the difference of the projection's gradient.
    pub h1: f64,
    /// Largest difference at a vertex.
    pub max_vertex: f64,
}

/// The errors of `values`, one for each vertex of a valid mesh, against the exact `solution` and its `gradient`.
///
/// Integrals use the triangles from a polygon's first corner, with negative weight for triangles outside of it, and
/// Radon's rule, exact for polynomials of degree 5. So both functions are evaluated outside of polygons that are not
/// convex.
pub fn errors(
    mesh: &PolygonMesh,
    values: &[f64],
    solution: impl Fn(DVec2) -> f64 + Sync,
    gradient: impl Fn(DVec2) -> DVec2 + Sync,
) -> Errors {
    let squared = |x: f64| x * x;
    let [l2, h1] = block_sums(mesh.polygons.len(), |i| {
        let polygon = mesh.polygons.get(i);
        let linear = Element::new(mesh, i).project(&mesh.points, polygon, values);
        integrate(&mesh.points, polygon, |x| {
            let of_gradient = gradient(x).distance_squared(linear.gradient);
            [squared(solution(x) - linear.at(x)), of_gradient]
        })
    });
    let max_vertex = largest(values.len().min(mesh.points.len()), |i| match values[i] {
        value if value.is_nan() => 0.0,
        value => (solution(mesh.points[i]) - value).abs(),
    });
    Errors {
        // Negative weights may leave tiny negative sums.
        l2: l2.max(0.0).sqrt(),
        h1: h1.max(0.0).sqrt(),
        max_vertex,
    }
}

/// The largest distance of two corners of a polygon (h).
///
/// n^2 time for a polygon of n vertices.
pub fn mesh_size(mesh: &PolygonMesh) -> f64 {
    let squared = |i: usize| {
        let corners = mesh
            .polygons
            .get(i)
            .iter()
            .map(|&v| mesh.points[v as usize]);
        corners
            .clone()
            .flat_map(|p| corners.clone().map(move |q| p.distance_squared(q)))
            .fold(0.0, f64::max)
    };
    largest(mesh.polygons.len(), squared).sqrt()
}

/// The largest `value` of 0..n, or 0 if all are negative.
fn largest(n: usize, value: impl Fn(usize) -> f64 + Sync) -> f64 {
    let of_pieces = parallel::map_pieces(n, BLOCK, |range| range.map(&value).fold(0.0, f64::max));
    of_pieces.into_iter().fold(0.0, f64::max)
}

/// The integrals of `f`'s values over a polygon.
fn integrate<const N: usize>(
    points: &[DVec2],
    polygon: &[u32],
    f: impl Fn(DVec2) -> [f64; N],
) -> [f64; N] {
    let a = points[polygon[0] as usize];
    let mut sums = [0.0; N];
    for side in polygon[1..].windows(2) {
        let [b, c] = [side[0], side[1]].map(|v| points[v as usize]);
        let area = 0.5 * (b - a).perp_dot(c - a);
        let means = mean([a, b, c], &f);
        sums = array::from_fn(|k| sums[k] + area * means[k]);
    }
    sums
}

/// The means of `f`'s values over a triangle, exact for polynomials of degree 5 (Radon 1948).
fn mean<const N: usize>(corners: [DVec2; 3], f: impl Fn(DVec2) -> [f64; N]) -> [f64; N] {
    let center = (corners[0] + corners[1] + corners[2]) / 3.0;
    let root = 15f64.sqrt();
    let mut sums = f(center).map(|value| 9.0 / 40.0 * value);
    for sign in [1.0, -1.0] {
        // Points near the corners, and near the opposite sides.
        let near = (6.0 - sign * root) / 21.0;
        let weight = (155.0 - sign * root) / 1200.0;
        for corner in corners {
            let values = f(corner + 3.0 * near * (center - corner));
            sums = array::from_fn(|k| sums[k] + weight * values[k]);
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_exact_up_to_degree_5() {
        let triangle = [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)].map(|(x, y)| DVec2::new(x, y));
        let factorial = |n: i32| (1..=n).map(f64::from).product::<f64>();
        for i in 0..=5 {
            for j in 0..=5 - i {
                // The integral of x^i y^j over this triangle is i! j! / (i + j + 2)!.
                let expected = 2.0 * factorial(i) * factorial(j) / factorial(i + j + 2);
                let [found] = mean(triangle, |p| [p.x.powi(i) * p.y.powi(j)]);
                assert!((found - expected).abs() < 1e-15, "{i} {j}");
            }
        }
    }

    #[test]
    fn integrals_over_an_l_are_those_of_its_squares() {
        let l = [
            (2.0, 0.0),
            (2.0, 1.0),
            (1.0, 1.0),
            (1.0, 2.0),
            (0.0, 2.0),
            (0.0, 0.0),
        ];
        let points: Vec<DVec2> = l.iter().map(|&(x, y)| DVec2::new(x, y)).collect();
        let [found] = integrate(&points, &[0, 1, 2, 3, 4, 5], |p| [p.x * p.x * p.y]);
        // 2 x 1 below: 8/3 * 1/2; 1 x 1 above: 1/3 * 3/2.
        assert!((found - (8.0 / 6.0 + 0.5)).abs() < 1e-14);
    }
}
