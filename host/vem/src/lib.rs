//! A virtual element method on polygonal meshes: -div grad u = f, u given on the boundary.
//!
//! Theory. Lowest order, as in Beirao da Veiga, Brezzi, Marini and Russo, "The Hitchhiker's Guide to the Virtual
//! Element Method" (Mathematical Models and Methods in Applied Sciences 24(8), 2014): a function is given by its values
//! at the vertices and is linear on every edge. Inside of a polygon it is unknown, but its elliptic projection onto
//! linear functions is known (section 3): integration by parts gives the gradient from the edges, the mean of the
//! corners gives the constant. The element matrix is the energy of the projections, plus the stabilisation "dofi-dofi"
//! of the remainder: the product of its values at the corners (section 4.3).
//!
//! Differences. For linear functions the guide's matrices G, B and D (section 3.3) have closed forms, which this crate
//! uses: an entry takes constant time. The load of a basis function is the area times f at the centroid times the
//! *projection* there; the guide takes the mean of the corners. This is the midpoint rule, so the L2 error falls with
//! second order also if the mean of the corners is far from the centroid.
//!
//! Practice. The method does not need convex or star-shaped polygons: areas and integrals go around the boundary. A
//! polygon that visits a vertex twice has two corners there with one value. On triangles this is the linear finite
//! element method. f is evaluated at centroids, which may lie outside of a polygon that is not convex.
//!
//! The system is solved by conjugate gradients, preconditioned by multigrid (`multigrid`), algebraic or over nested
//! polygons (`nested`), over fixed blocks: the same bits for any number of threads. Iterations hardly grow with the
//! mesh: 33 of the algebraic one on the polygons of a random triangulation of 256,000 points, against 1919 with the
//! diagonal alone as preconditioner. The crate kryst (4.3, MIT) has multigrid, but brings a dozen more crates, and does
//! not promise the same bits for any number of threads; it was not tried. There is no direct solver: faer 0.24 takes
//! 170 s of processor time to compile (only `std` and `sparse-linalg`; all other crates of this binary take 240 s),
//! sprs-ldl is under the LGPL, and nalgebra-sparse does not order the unknowns, so its factors fill up.

mod blocks;
mod cholesky;
mod coarsening;
mod element;
mod errors;
mod multigrid;
mod nested;
mod order;
mod polyhedra;
mod solver;
mod sparse;

use std::f64::consts::PI;

use glam::DVec2;

use trioxide::device::{Laps, Stage};
use trioxide_mesh::edges::Edges;
use trioxide_mesh::mesh::{NONE, PolygonMesh};
use trioxide_mesh::rules;
use trioxide_mesh::{Result, parallel, progress};

use element::Element;
use nested::Transfer;
use order::along_curve;
use sparse::SparseMatrix;

pub use errors::{Errors, errors, mesh_size};
pub use polyhedra::{SpaceProblem, bent_faces, errors_in_space, solve_in_space};

/// A Poisson problem with a known solution.
#[derive(Clone, Copy, Debug)]
pub struct Problem {
    /// u.
    pub solution: fn(DVec2) -> f64,
    /// grad u.
    pub gradient: fn(DVec2) -> DVec2,
    /// f = -div grad u.
    pub source: fn(DVec2) -> f64,
}

impl Problem {
    /// The patch test: a linear function, which the method must reproduce up to rounding.
    pub const PATCH: Problem = Problem {
        solution: |p| 1.0 + 2.0 * p.x - 3.0 * p.y,
        gradient: |_| DVec2::new(2.0, -3.0),
        source: |_| 0.0,
    };

    /// sin(pi x) sin(pi y).
    pub const SINE: Problem = Problem {
        solution: |p| libm::sin(PI * p.x) * libm::sin(PI * p.y),
        gradient: |p| {
            let ((sx, cx), (sy, cy)) = (libm::sincos(PI * p.x), libm::sincos(PI * p.y));
            PI * DVec2::new(cx * sy, sx * cy)
        },
        source: |p| 2.0 * PI * PI * libm::sin(PI * p.x) * libm::sin(PI * p.y),
    };
}

/// The coarse levels of the linear solver's multigrid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preconditioner {
    /// From the matrix alone, by smoothed aggregation.
    #[default]
    Algebraic,
    /// Nested polygons, [`trioxide::levels`]. Further levels are algebraic where those end.
    Nested,
}

/// A solution, and counts and times of its computation.
#[derive(Clone, Debug)]
pub struct Solution {
    /// Value at each vertex; NaN for a vertex of no polygon.
    pub values: Vec<f64>,
    /// Vertices inside of the mesh: the number of unknowns.
    pub unknowns: usize,
    /// Iterations of the linear solver.
    pub iterations: usize,
    /// Levels of its preconditioner, with the finest.
    pub levels: usize,
    /// Times.
    pub stages: Vec<Stage>,
}

/// Solves -div grad u = `source` on `mesh`, with u = `boundary` at the vertices of its boundary edges. The solution
/// differs by rounding between preconditioners.
///
/// # Errors
/// [`trioxide_mesh::Error::Invalid`] for a mesh that [`rules::polygon_mesh`] refuses, or whose polygons
/// are so thin that the system cannot be solved.
pub fn solve(
    mesh: &PolygonMesh,
    source: impl Fn(DVec2) -> f64 + Sync,
    boundary: impl Fn(DVec2) -> f64,
    preconditioner: Preconditioner,
) -> Result<Solution> {
    let mut laps = Laps::start();
    progress::stage("check the mesh");
    let edges = rules::polygon_mesh_edges(mesh)?;
    laps.end("check the mesh");

    progress::stage("assemble");
    let mut values = vec![f64::NAN; mesh.points.len()];
    for &v in Edges::in_table(&edges).boundary.as_flattened() {
        values[v as usize] = boundary(mesh.points[v as usize]);
    }
    progress::check()?;
    let incidence = Incidence::of(mesh);
    progress::check()?;
    let mut unknowns: Vec<u32> = (0..mesh.points.len() as u32)
        .filter(|&v| values[v as usize].is_nan() && !incidence.of_vertex(v).is_empty())
        .collect();
    along_curve(&mut unknowns, |v| mesh.points[v as usize].to_array());
    let elements = parallel::collect(mesh.polygons.len(), |i| Element::new(mesh, i));
    let (matrix, load) = assemble(mesh, &elements, &incidence, &unknowns, &values, source);
    drop((elements, incidence));
    laps.end("assemble");

    let mut transfers = Vec::new();
    if preconditioner == Preconditioner::Nested {
        progress::stage("nest polygons");
        transfers = nested::transfers(mesh, &edges, &unknowns)?;
        laps.end("nest polygons");
    }
    drop(edges);
    solved((matrix, &load, transfers), &unknowns, values, laps)
}

/// The solution of a system: `values`, completed at the `unknowns`.
fn solved(
    (matrix, load, transfers): (SparseMatrix, &[f64], Vec<Transfer>),
    unknowns: &[u32],
    mut values: Vec<f64>,
    mut laps: Laps,
) -> Result<Solution> {
    progress::stage("solve");
    let found = matrix.solve(load, transfers)?;
    for (&v, value) in unknowns.iter().zip(found.x) {
        values[v as usize] = value;
    }
    laps.end("solve");
    Ok(Solution {
        values,
        unknowns: unknowns.len(),
        iterations: found.iterations,
        levels: found.levels,
        stages: laps.into_stages(),
    })
}

/// The value of a solution on each polygon: its projection at the centroid.
pub fn polygon_values(mesh: &PolygonMesh, values: &[f64]) -> Vec<f64> {
    parallel::collect(mesh.polygons.len(), |i| {
        let element = Element::new(mesh, i);
        element
            .project(&mesh.points, mesh.polygons.get(i), values)
            .at(element.centroid)
    })
}

/// Corners of every vertex.
struct Incidence {
    /// Start of each vertex's corners, and the end of the last.
    offsets: Vec<u32>,
    /// Polygon, and number of the corner in it; ascending.
    corners: Vec<[u32; 2]>,
}

impl Incidence {
    fn of(mesh: &PolygonMesh) -> Incidence {
        let mut offsets = vec![0; mesh.points.len() + 1];
        for &v in &mesh.polygons.vertices {
            offsets[v as usize + 1] += 1;
        }
        for v in 0..mesh.points.len() {
            offsets[v + 1] += offsets[v];
        }
        let mut cursor = offsets.clone();
        let mut corners = vec![[0; 2]; mesh.polygons.vertices.len()];
        for (i, polygon) in mesh.polygons.iter().enumerate() {
            for (k, &v) in polygon.iter().enumerate() {
                corners[cursor[v as usize] as usize] = [i as u32, k as u32];
                cursor[v as usize] += 1;
            }
        }
        Incidence { offsets, corners }
    }

    fn of_vertex(&self, v: u32) -> &[[u32; 2]] {
        let v = v as usize;
        &self.corners[self.offsets[v] as usize..self.offsets[v + 1] as usize]
    }
}

/// Matrix and right-hand side of the `unknowns`, for given `values` at the other vertices.
///
/// One thread sums each row, over the polygons around its vertex in ascending order.
fn assemble(
    mesh: &PolygonMesh,
    elements: &[Element],
    incidence: &Incidence,
    unknowns: &[u32],
    values: &[f64],
    source: impl Fn(DVec2) -> f64 + Sync,
) -> (SparseMatrix, Vec<f64>) {
    let mut number = vec![NONE; mesh.points.len()];
    for (i, &v) in unknowns.iter().enumerate() {
        number[v as usize] = i as u32;
    }
    let forces = parallel::map(elements, |element| element.area * source(element.centroid));
    SparseMatrix::gather(unknowns.len(), |i, row| {
        let mut load = 0.0;
        for &[i, k] in incidence.of_vertex(unknowns[i]) {
            let (element, polygon) = (&elements[i as usize], mesh.polygons.get(i as usize));
            let n = polygon.len();
            let corner = |k: usize| element.corner(&mesh.points, polygon, k);
            let own = corner(k as usize);
            load += forces[i as usize] * element.at_centroid(n, &own);
            for (other, &w) in polygon.iter().enumerate() {
                let same = other == k as usize;
                let entry = element.stiffness(n, &own, &corner(other), same);
                match number[w as usize] {
                    NONE => load -= entry * values[w as usize],
                    column => row.add(column, entry),
                }
            }
        }
        load
    })
}

#[cfg(test)]
mod tests;
