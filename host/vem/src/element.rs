use glam::DVec2;

use trioxide_mesh::mesh::PolygonMesh;

/// Quantities of a polygon for its projection and matrix: n corners, area |E|.
#[derive(Clone, Copy)]
pub struct Element {
    pub area: f64,
    /// Centroid of the area. It may lie outside of a polygon that is not convex.
    pub centroid: DVec2,
    /// Mean of the corners.
    pub mean: DVec2,
    /// Sums of x^2, x y and y^2 over the corners, (x, y) from `mean`.
    moments: [f64; 3],
}

impl Element {
    /// The quantities of polygon `i`, by the shoelace formula with coordinates relative to its first corner. It holds
    /// for any polygon that does not cross itself.
    pub fn new(mesh: &PolygonMesh, i: usize) -> Element {
        let polygon = mesh.polygons.get(i);
        let n = polygon.len() as f64;
        let origin = mesh.points[polygon[0] as usize];
        let corners = polygon.iter().map(|&v| mesh.points[v as usize] - origin);
        let mut twice_area = 0.0;
        let (mut moment, mut sum) = (DVec2::ZERO, DVec2::ZERO);
        let mut p = mesh.points[polygon[polygon.len() - 1] as usize] - origin;
        for q in corners.clone() {
            let cross = p.perp_dot(q);
            twice_area += cross;
            moment += cross * (p + q);
            sum += q;
            p = q;
        }
        let mean = sum / n;
        let mut moments = [0.0; 3];
        for q in corners {
            let d = q - mean;
            moments[0] += d.x * d.x;
            moments[1] += d.x * d.y;
            moments[2] += d.y * d.y;
        }
        Element {
            area: 0.5 * twice_area,
            centroid: origin + moment / (3.0 * twice_area),
            mean: origin + mean,
            moments,
        }
    }

    /// Corner `k` of `polygon`, the polygon of this element.
    pub fn corner(&self, points: &[DVec2], polygon: &[u32], k: usize) -> Corner {
        let n = polygon.len();
        let point = |k: usize| points[polygon[k] as usize];
        let along = point(if k + 1 < n { k + 1 } else { 0 }) - point(if k > 0 { k } else { n } - 1);
        Corner {
            // Half of the sum of both sides' outer normals, divided by the area.
            gradient: DVec2::new(along.y, -along.x) / (2.0 * self.area),
            from_mean: point(k) - self.mean,
        }
    }

    /// Entry of the element matrix for two corners of a polygon with `n` corners: the product of the projections'
    /// gradients, plus the dofi-dofi stabilisation. The stabilisation sums, over all corners, the products of both
    /// basis functions' remainders after projection.
    pub fn stiffness(&self, n: usize, a: &Corner, b: &Corner, same: bool) -> f64 {
        let (g, h) = (a.gradient, b.gradient);
        let [xx, xy, yy] = self.moments;
        let consistency = self.area * g.dot(h);
        // Sum over corners k of (delta_ka - P_ka) (delta_kb - P_kb), with P_ka = 1/n + g . (x_k - mean).
        let one = if same { 1.0 } else { 0.0 };
        let projected = g.x * h.x * xx + (g.x * h.y + g.y * h.x) * xy + g.y * h.y * yy;
        let stabilisation =
            one - 1.0 / n as f64 - (g.dot(b.from_mean) + h.dot(a.from_mean)) + projected;
        consistency + stabilisation
    }

    /// The projection, at the centroid, of a corner's basis function in a polygon with `n` corners.
    pub fn at_centroid(&self, n: usize, corner: &Corner) -> f64 {
        1.0 / n as f64 + corner.gradient.dot(self.centroid - self.mean)
    }

    /// The projection of the function with these vertex values.
    pub fn project(&self, points: &[DVec2], polygon: &[u32], values: &[f64]) -> Linear {
        let mut linear = Linear {
            center: self.mean,
            value: 0.0,
            gradient: DVec2::ZERO,
        };
        for (k, &v) in polygon.iter().enumerate() {
            let value = values[v as usize];
            linear.value += value;
            linear.gradient += value * self.corner(points, polygon, k).gradient;
        }
        linear.value /= polygon.len() as f64;
        linear
    }
}

/// A corner of a polygon.
pub struct Corner {
    /// Gradient of the projection of this corner's basis function.
    gradient: DVec2,
    /// Its position, from the mean of all corners.
    from_mean: DVec2,
}

/// A linear function.
pub struct Linear {
    center: DVec2,
    /// At the centre.
    value: f64,
    pub gradient: DVec2,
}

impl Linear {
    pub fn at(&self, x: DVec2) -> f64 {
        self.value + self.gradient.dot(x - self.center)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn polygon(corners: &[(f64, f64)]) -> PolygonMesh {
        let mut mesh = PolygonMesh {
            points: corners.iter().map(|&(x, y)| DVec2::new(x, y)).collect(),
            ..Default::default()
        };
        let all: Vec<u32> = (0..corners.len() as u32).collect();
        mesh.polygons.push(&all);
        mesh
    }

    fn matrix(mesh: &PolygonMesh) -> Vec<Vec<f64>> {
        let element = Element::new(mesh, 0);
        let polygon = mesh.polygons.get(0);
        let n = polygon.len();
        let corners: Vec<Corner> = (0..n)
            .map(|k| element.corner(&mesh.points, polygon, k))
            .collect();
        let entry = |i: usize, j: usize| element.stiffness(n, &corners[i], &corners[j], i == j);
        (0..n)
            .map(|i| (0..n).map(|j| entry(i, j)).collect())
            .collect()
    }

    fn assert_near<const N: usize>(found: &[Vec<f64>], expected: &[[f64; N]; N]) {
        assert_eq!(found.len(), N);
        for (found, expected) in found.iter().flatten().zip(expected.as_flattened()) {
            assert!((found - expected).abs() < 1e-15, "{found} {expected}");
        }
    }

    /// An L of three unit squares, translated.
    fn l_shape() -> PolygonMesh {
        polygon(&[
            (10.0, 20.0),
            (12.0, 20.0),
            (12.0, 21.0),
            (11.0, 21.0),
            (11.0, 22.0),
            (10.0, 22.0),
        ])
    }

    #[test]
    fn area_and_centroid_of_an_l() {
        let element = Element::new(&l_shape(), 0);
        assert_eq!(element.area, 3.0);
        let expected = DVec2::new(10.0 + 2.5 / 3.0, 20.0 + 2.5 / 3.0);
        assert!(element.centroid.distance(expected) < 1e-14);
        assert!(element.mean.distance(DVec2::new(11.0, 21.0)) < 1e-14);
    }

    #[test]
    fn a_triangle_has_the_matrix_of_linear_finite_elements() {
        let found = matrix(&polygon(&[(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)]));
        let expected = [[1.0, -0.5, -0.5], [-0.5, 0.5, 0.0], [-0.5, 0.0, 0.5]];
        assert_near(&found, &expected);
    }

    #[test]
    fn a_square_has_the_matrix_of_the_guide() {
        // Consistency gives diagonals 1/2 and opposite corners -1/2; the stabilisation adds the hourglass: +-1/4.
        let found = matrix(&polygon(&[(0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (0.0, 2.0)]));
        let row = [0.75, -0.25, -0.25, -0.25];
        let expected: [[f64; 4]; 4] = std::array::from_fn(|i| {
            let mut row = row;
            row.rotate_right(i);
            row
        });
        assert_near(&found, &expected);
    }

    #[test]
    fn an_l_has_the_energy_of_linear_functions_and_resists_all_others() {
        let mesh = l_shape();
        let matrix = matrix(&mesh);
        let energy = |u: &[f64], v: &[f64]| -> f64 {
            (0..6)
                .flat_map(|i| (0..6).map(move |j| (i, j)))
                .map(|(i, j)| u[i] * matrix[i][j] * v[j])
                .sum()
        };
        let linear: [Vec<f64>; 3] = [
            vec![1.0; 6],
            mesh.points.iter().map(|p| p.x).collect(),
            mesh.points.iter().map(|p| p.y).collect(),
        ];
        let gradients = [DVec2::ZERO, DVec2::X, DVec2::Y];
        for i in 0..3 {
            for j in 0..3 {
                let expected = 3.0 * gradients[i].dot(gradients[j]);
                assert!((energy(&linear[i], &linear[j]) - expected).abs() < 1e-11);
            }
        }
        for k in 0..6 {
            let mut bump = vec![0.0; 6];
            bump[k] = 1.0;
            assert!(energy(&bump, &bump) > 0.1);
        }
        // Its projection is 0: only the stabilisation contributes.
        let alternating = [1.0, -1.0, 1.0, -1.0, 1.0, -1.0];
        assert!((energy(&alternating, &alternating) - 6.0).abs() < 1e-13);
    }
}
