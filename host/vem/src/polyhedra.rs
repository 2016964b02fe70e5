//! The virtual element method on polyhedral meshes: -div grad u = f, u given on the boundary.
//!
//! Theory. Lowest order in three dimensions, as in Beirao da Veiga, Dassi and Russo, "High-order virtual element method
//! on polyhedral meshes" (Computers & Mathematics with Applications 74(5), 2017) for order 1: a function is given by
//! its values at the vertices. On triangles it is linear, as in the linear finite element method: by
//! the divergence theorem the mean gradient over a polyhedron is the sum over its triangles of the normal times the
//! mean of the corners. The mean of the vertices gives the constant. The element matrix is the energy of the
//! projection, plus the stabilisation "dofi-dofi" of the remainder times the diameter.
//!
//! A face of more than three vertices, planar or not, counts as the triangles around one of its vertices: the lowest of
//! those from which all triangles look the way of the face, or else the lowest of all. The face's two polyhedra have
//! the same triangles, so the function is one there, and linear functions are exact: also where a triangle lies outside
//! of its face, since the triangles' signed sum is the face. A deviation from the paper, which projects on polygons.
//! The triangles of a planar face cover it, so no shape changes; of a bent one they are the shape ([`bent_faces`]).
//!
//! Practice. The method does not need convex or star-shaped polyhedra, or 2-manifold surfaces: a vertex that the
//! surface visits twice has one value, and the two sides of a barrier face cancel. The load of a basis function is
//! volume times f at the centroid times its projection there.

use std::f64::consts::PI;

use glam::DVec3;
use trioxide::device::Laps;
use trioxide_mesh::mesh::NONE;
use trioxide_mesh::polyhedra::PolyhedralMesh;
use trioxide_mesh::{Error, Result, parallel, progress};

use crate::errors::Errors;
use crate::order::along_curve;
use crate::sparse::{SparseMatrix, block_sums};
use crate::{Solution, solved};

/// A Poisson problem in space with a known solution.
#[derive(Clone, Copy, Debug)]
pub struct SpaceProblem {
    /// u.
    pub solution: fn(DVec3) -> f64,
    /// grad u.
    pub gradient: fn(DVec3) -> DVec3,
    /// f = -div grad u.
    pub source: fn(DVec3) -> f64,
}

impl SpaceProblem {
    /// The patch test: a linear function, which the method must reproduce up to rounding.
    pub const PATCH: SpaceProblem = SpaceProblem {
        solution: |p| 1.0 + 2.0 * p.x - 3.0 * p.y + 0.5 * p.z,
        gradient: |_| DVec3::new(2.0, -3.0, 0.5),
        source: |_| 0.0,
    };

    /// sin(pi x) sin(pi y) sin(pi z).
    pub const SINE: SpaceProblem = SpaceProblem {
        solution: |p| libm::sin(PI * p.x) * libm::sin(PI * p.y) * libm::sin(PI * p.z),
        gradient: |p| {
            let [(sx, cx), (sy, cy), (sz, cz)] = [p.x, p.y, p.z].map(|t| libm::sincos(PI * t));
            PI * DVec3::new(cx * sy * sz, sx * cy * sz, sx * sy * cz)
        },
        source: |p| 3.0 * PI * PI * libm::sin(PI * p.x) * libm::sin(PI * p.y) * libm::sin(PI * p.z),
    };
}

/// A polyhedron of N vertices.
struct Element {
    /// Vertices, ascending, each once; N.
    vertices: Vec<u32>,
    /// Gradient of the projection of each vertex's basis function; N.
    gradients: Vec<DVec3>,
    /// Mean of the vertices.
    mean: DVec3,
    volume: f64,
    centroid: DVec3,
    diameter: f64,
}

/// A linear function.
struct Linear {
    origin: DVec3,
    value: f64,
    gradient: DVec3,
}

impl Linear {
    fn at(&self, x: DVec3) -> f64 {
        self.value + self.gradient.dot(x - self.origin)
    }
}

/// Corners of the triangles around polyhedron `p`, counter-clockwise as seen from outside.
fn triangles(mesh: &PolyhedralMesh, p: usize) -> impl Iterator<Item = [u32; 3]> {
    mesh.sides_of(p).iter().flat_map(|&side| {
        let face = mesh.faces.get(side as usize / 2);
        let middle = middle(&mesh.points, face);
        (1..face.len() - 1).map(move |k| {
            let triangle = fan_triangle(face, middle, k);
            match side % 2 {
                0 => triangle,
                _ => [triangle[2], triangle[1], triangle[0]],
            }
        })
    })
}

/// Triangle `k`, from 1 on, around the vertex at place `middle` of a face.
fn fan_triangle(face: &[u32], middle: usize, k: usize) -> [u32; 3] {
    [0, k, k + 1].map(|i| face[(middle + i) % face.len()])
}

/// Most vertices of a face that are tried.
const MOST_TRIED: usize = 64;

/// The place of the vertex around which a face is cut into triangles.
fn middle(points: &[DVec3], face: &[u32]) -> usize {
    if face.len() == 3 {
        return 0;
    }
    let normal = |[a, b, c]: [u32; 3]| {
        let [a, b, c] = [a, b, c].map(|v| points[v as usize]);
        (b - a).cross(c - a)
    };
    let inner = 1..face.len() - 1;
    let whole: DVec3 = inner
        .clone()
        .map(|k| normal(fan_triangle(face, 0, k)))
        .sum();
    let mut places: Vec<usize> = (0..face.len()).collect();
    places.sort_unstable_by_key(|&place| face[place]);
    let sees_all = |place: &&usize| {
        let mut all = inner.clone();
        all.all(|k| normal(fan_triangle(face, **place, k)).dot(whole) > 0.0)
    };
    let seeing = places.iter().take(MOST_TRIED).find(sees_all);
    *seeing.unwrap_or(&places[0])
}

/// Largest distance of a planar face's vertices from its plane, as a fraction of its extent: above rounding errors.
const PLANAR: f64 = 1e-9;

/// Returns the number of faces that are not planar: the triangles that they count as decide their shape.
pub fn bent_faces(mesh: &PolyhedralMesh) -> usize {
    let is_bent = |face: &[u32]| {
        if face.len() == 3 {
            return false;
        }
        let from_first = |&v: &u32| mesh.points[v as usize] - mesh.points[face[0] as usize];
        let edges = face[1..].windows(2);
        let normal: DVec3 = edges
            .map(|pair| from_first(&pair[0]).cross(from_first(&pair[1])))
            .sum();
        let normal = normal.normalize_or_zero();
        let extent = face
            .iter()
            .map(|v| from_first(v).length())
            .fold(0.0, f64::max);
        let heights = face.iter().map(|v| from_first(v).dot(normal));
        let [least, most] = heights.fold([0.0; 2], |[least, most]: [f64; 2], h| {
            [least.min(h), most.max(h)]
        });
        most - least > PLANAR * extent
    };
    parallel::count(mesh.faces.len(), |face| is_bent(mesh.faces.get(face)))
}

impl Element {
    fn new(mesh: &PolyhedralMesh, p: usize) -> Element {
        let point = |v: u32| mesh.points[v as usize];
        let triangles: Vec<[u32; 3]> = triangles(mesh, p).collect();
        let mut vertices = triangles.as_flattened().to_vec();
        vertices.sort_unstable();
        vertices.dedup();
        let sum: DVec3 = vertices.iter().map(|&v| point(v)).sum();
        let mean = sum / vertices.len() as f64;
        let mut gradients = vec![DVec3::ZERO; vertices.len()];
        let (mut volume, mut moment) = (0.0, DVec3::ZERO);
        for triangle in triangles {
            let [a, b, c] = triangle.map(|v| point(v) - mean);
            let normal = (b - a).cross(c - a) / 2.0;
            let pyramid = a.dot(normal) / 3.0;
            volume += pyramid;
            moment += pyramid * (a + b + c) / 4.0;
            for v in triangle {
                let place = vertices.partition_point(|&w| w < v);
                gradients[place] += normal / 3.0;
            }
        }
        gradients
            .iter_mut()
            .for_each(|gradient| *gradient /= volume);
        let mut diameter = 0.0f64;
        for (i, &v) in vertices.iter().enumerate() {
            for &w in &vertices[i + 1..] {
                diameter = diameter.max(point(v).distance_squared(point(w)));
            }
        }
        Element {
            vertices,
            gradients,
            mean,
            volume,
            centroid: mean + moment / volume,
            diameter: diameter.sqrt(),
        }
    }

    /// The projection of vertex number `i`'s basis function at `x`.
    fn basis_at(&self, i: usize, x: DVec3) -> f64 {
        1.0 / self.vertices.len() as f64 + self.gradients[i].dot(x - self.mean)
    }

    /// The projection of the function with these values at the mesh's vertices.
    fn project(&self, values: &[f64]) -> Linear {
        let own = || self.vertices.iter().map(|&v| values[v as usize]);
        let gradients = self.gradients.iter().zip(own());
        Linear {
            origin: self.mean,
            value: own().sum::<f64>() / self.vertices.len() as f64,
            gradient: gradients.map(|(&gradient, value)| gradient * value).sum(),
        }
    }

    /// The element matrix, N by N.
    fn stiffness(&self, points: &[DVec3]) -> Vec<f64> {
        let n = self.vertices.len();
        // The projection's remainder of each function (columns) at each vertex (rows).
        let mut rest = vec![0.0; n * n];
        for (k, &v) in self.vertices.iter().enumerate() {
            for i in 0..n {
                let own = if i == k { 1.0 } else { 0.0 };
                rest[k * n + i] = own - self.basis_at(i, points[v as usize]);
            }
        }
        let mut matrix = vec![0.0; n * n];
        for i in 0..n {
            for j in i..n {
                let energy = self.volume * self.gradients[i].dot(self.gradients[j]);
                let left: f64 = (0..n).map(|k| rest[k * n + i] * rest[k * n + j]).sum();
                matrix[i * n + j] = energy + self.diameter * left;
                matrix[j * n + i] = matrix[i * n + j];
            }
        }
        matrix
    }
}

/// Checks that points are finite, faces have three vertices or more, and volumes are positive.
fn check(mesh: &PolyhedralMesh) -> Result<Vec<Element>> {
    if let Some(v) = parallel::position(&mesh.points, |point| !point.is_finite()) {
        return Err(Error::not_finite(v));
    }
    if let Some(i) = mesh.faces.iter().position(|face| face.len() < 3) {
        return Err(Error::Invalid {
            element: format!("face {i}"),
            rule: format!(
                "has {} vertices: a face has three or more",
                mesh.faces.get(i).len()
            ),
        });
    }
    let elements = parallel::collect(mesh.len(), |p| Element::new(mesh, p));
    let is_broken = |element: &Element| !(element.volume > 0.0 && element.volume.is_finite());
    match elements.iter().position(is_broken) {
        None => Ok(elements),
        Some(p) => Err(Error::Invalid {
            element: format!("polyhedron {p}"),
            rule: format!(
                "has volume {:?}: its faces must look outward, and it may not be flat",
                elements[p].volume
            ),
        }),
    }
}

/// Solves -div grad u = `source` on `mesh`, with u = `boundary` at the vertices of its boundary faces.
///
/// [`Error::Invalid`] for a coordinate that is not finite, for a face of fewer than three vertices, for a polyhedron
/// without volume, and for polyhedra so thin that the system cannot be solved.
pub fn solve_in_space(
    mesh: &PolyhedralMesh,
    source: impl Fn(DVec3) -> f64 + Sync,
    boundary: impl Fn(DVec3) -> f64,
) -> Result<Solution> {
    let mut laps = Laps::start();
    progress::stage("check the mesh");
    let elements = check(mesh)?;
    laps.end("check the mesh");

    progress::stage("assemble");
    let mut values = vec![f64::NAN; mesh.points.len()];
    for (face, pair) in mesh.neighbours().into_iter().enumerate() {
        if pair[1] == NONE {
            for &v in mesh.faces.get(face) {
                values[v as usize] = boundary(mesh.points[v as usize]);
            }
        }
    }
    // Polyhedra of each vertex, ascending, and the vertex's place in each.
    let mut around: Vec<Vec<[u32; 2]>> = vec![Vec::new(); mesh.points.len()];
    for (p, element) in elements.iter().enumerate() {
        for (place, &v) in element.vertices.iter().enumerate() {
            around[v as usize].push([p as u32, place as u32]);
        }
    }
    let mut unknowns: Vec<u32> = (0..mesh.points.len() as u32)
        .filter(|&v| values[v as usize].is_nan() && !around[v as usize].is_empty())
        .collect();
    along_curve(&mut unknowns, |v| mesh.points[v as usize].to_array());
    let matrices = parallel::map(&elements, |element| element.stiffness(&mesh.points));
    let (matrix, load) = assemble(&elements, &matrices, &around, &unknowns, &values, &source);
    drop(matrices);
    laps.end("assemble");
    solved((matrix, &load, Vec::new()), &unknowns, values, laps)
}

/// Matrix and right-hand side of the `unknowns`, for given `values` at the other vertices. One thread sums each row,
/// over the polyhedra around its vertex in ascending order.
fn assemble(
    elements: &[Element],
    matrices: &[Vec<f64>],
    around: &[Vec<[u32; 2]>],
    unknowns: &[u32],
    values: &[f64],
    source: &(impl Fn(DVec3) -> f64 + Sync),
) -> (SparseMatrix, Vec<f64>) {
    let mut number = vec![NONE; values.len()];
    for (i, &v) in unknowns.iter().enumerate() {
        number[v as usize] = i as u32;
    }
    SparseMatrix::gather(unknowns.len(), |i, row| {
        let mut load = 0.0;
        for &[p, place] in &around[unknowns[i] as usize] {
            let (element, matrix) = (&elements[p as usize], &matrices[p as usize]);
            let n = element.vertices.len();
            let own = place as usize;
            let force = element.volume * source(element.centroid);
            load += force * element.basis_at(own, element.centroid);
            for (j, &w) in element.vertices.iter().enumerate() {
                let entry = matrix[own * n + j];
                match number[w as usize] {
                    NONE => load -= entry * values[w as usize],
                    column => row.add(column, entry),
                }
            }
        }
        load
    })
}

/// Points and weights of Keast's rule of degree 4 on a tetrahedron (Moderate-Degree Tetrahedral Quadrature Formulas,
/// 1986): weights for volume 1, and barycentric coordinates.
fn keast() -> Vec<(f64, [f64; 4])> {
    let mut rule = vec![(-148.0 / 1875.0, [0.25; 4])];
    for k in 0..4 {
        let mut place = [1.0 / 14.0; 4];
        place[k] = 11.0 / 14.0;
        rule.push((343.0 / 7500.0, place));
    }
    let a = 0.25 * (1.0 + (5.0f64 / 14.0).sqrt());
    for k in 0..4 {
        for l in k + 1..4 {
            let mut place = [0.5 - a; 4];
            (place[k], place[l]) = (a, a);
            rule.push((56.0 / 375.0, place));
        }
    }
    rule
}

/// The errors of `values`, one for each vertex of a mesh that [`solve_in_space`] accepts.
///
/// Integrals use the tetrahedra from the mean of a polyhedron's vertices to its faces, with negative weight for
/// tetrahedra outside of it.
pub fn errors_in_space(
    mesh: &PolyhedralMesh,
    values: &[f64],
    solution: impl Fn(DVec3) -> f64 + Sync,
    gradient: impl Fn(DVec3) -> DVec3 + Sync,
) -> Errors {
    let rule = keast();
    let squared = |x: f64| x * x;
    let [l2, h1] = block_sums(mesh.len(), |p| {
        let element = Element::new(mesh, p);
        let linear = element.project(values);
        let mut sums = [0.0; 2];
        for triangle in triangles(mesh, p) {
            let [a, b, c] = triangle.map(|v| mesh.points[v as usize] - element.mean);
            let volume = a.dot(b.cross(c)) / 6.0;
            for &(weight, [x, y, z, _]) in &rule {
                let place = element.mean + x * a + y * b + z * c;
                let of_gradient = gradient(place).distance_squared(linear.gradient);
                sums[0] += volume * weight * squared(solution(place) - linear.at(place));
                sums[1] += volume * weight * of_gradient;
            }
        }
        sums
    });
    let at_vertices = mesh.points.iter().zip(values);
    let max_vertex = at_vertices
        .filter(|(_, value)| !value.is_nan())
        .map(|(&point, value)| (solution(point) - value).abs())
        .fold(0.0, f64::max);
    Errors {
        l2: l2.max(0.0).sqrt(),
        h1: h1.max(0.0).sqrt(),
        max_vertex,
    }
}

#[cfg(test)]
mod tests;
