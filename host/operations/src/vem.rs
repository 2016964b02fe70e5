//! Poisson problems of known solution on whole meshes, by virtual elements. The method is the crate [`trioxide_vem`].
//! It runs on the threads of the host.
//!
//! A mesh is moved and scaled first, so that the longest side of the box around its cells is from 0 to 1.

use std::time::Instant;

use glam::DVec3;
use trioxide::contact::Contacts;
use trioxide::device::Stage;
use trioxide::edges::Edges;
use trioxide::fields::{Carried, Field, MeshFields};
use trioxide::mesh::{Mesh, PolygonMesh};
use trioxide::polyhedra_mesh::PolyhedralMesh;
use trioxide::volume::VolumeMesh;
use trioxide::{progress, rules};
use trioxide_vem::{self as family, Errors, Solution, SpaceProblem};

use crate::error::vem::Refusal;
use crate::error::{Error, Result};
use crate::input::{check_planar_faces, turning};
use crate::report::{Counts, Note, Run};

/// An exact solution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Problem {
    /// A linear function
    Patch,
    /// The product of sin(pi x) and sin(pi y), in space of sin(pi z) too
    #[default]
    Sine,
}

impl Problem {
    fn in_plane(self) -> family::Problem {
        match self {
            Self::Patch => family::Problem::PATCH,
            Self::Sine => family::Problem::SINE,
        }
    }

    fn in_space(self) -> SpaceProblem {
        match self {
            Self::Patch => SpaceProblem::PATCH,
            Self::Sine => SpaceProblem::SINE,
        }
    }
}

/// Coarse levels of the solver's multigrid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Preconditioner {
    /// From the matrix alone, by smoothed aggregation
    #[default]
    Algebraic,
    /// Nested levels of the polygons, as polylla --levels makes them
    Nested,
}

impl From<Preconditioner> for family::Preconditioner {
    fn from(preconditioner: Preconditioner) -> Self {
        match preconditioner {
            Preconditioner::Algebraic => Self::Algebraic,
            Preconditioner::Nested => Self::Nested,
        }
    }
}

/// The problem that is solved, and its solver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::Args), group(skip))]
pub struct Options {
    /// Exact solution: a linear one, or sin(pi x) sin(pi y)
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t))]
    pub problem: Problem,
    /// Coarse levels of the multigrid that preconditions conjugate gradients: of the matrix alone, or nested polygons
    /// (planar meshes)
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t))]
    pub preconditioner: Preconditioner,
}

/// The solution, with its errors.
#[derive(Clone, Debug)]
pub struct Report {
    /// The threads, with times.
    pub run: Run,
    /// The counts and the errors.
    pub totals: Totals,
    /// Value at each vertex; V. A vertex of no cell has 0.
    pub values: Vec<f64>,
    /// The exact solution there, 0 too at a vertex of no cell; V.
    pub exact: Vec<f64>,
    /// Notes for the user.
    pub notes: Vec<Note>,
}

/// The counts and the errors of a solution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Totals {
    /// Vertices.
    pub vertices: u64,
    /// Polygons, or polyhedra.
    pub cells: u64,
    /// Size of the linear system.
    pub unknowns: u64,
    /// Iterations of its solver.
    pub iterations: u64,
    /// Levels of its preconditioner, with the finest.
    pub levels: u64,
    /// Largest diameter of a polygon; not of polyhedra.
    pub mesh_size: Option<f64>,
    /// The errors.
    pub errors: Errors,
}

impl Totals {
    /// By their names.
    pub fn counts(&self) -> Counts {
        let is_plane = self.mesh_size.is_some();
        let cells = if is_plane { "polygons" } else { "polyhedra" };
        let mut counts: Counts = vec![
            ("vertices", self.vertices.into()),
            (cells, self.cells.into()),
            ("unknowns", self.unknowns.into()),
            ("iterations", self.iterations.into()),
            ("levels", self.levels.into()),
        ];
        counts.extend(self.mesh_size.map(|size| ("mesh_size", size.into())));
        counts.extend([
            ("l2_error", self.errors.l2.into()),
            ("h1_error", self.errors.h1.into()),
            ("max_vertex_error", self.errors.max_vertex.into()),
        ]);
        counts
    }
}

impl Report {
    /// The report of a solution of this time; `measure` gives its errors.
    fn of(
        solution: Solution,
        sizes: [usize; 2],
        mut exact: Vec<f64>,
        measure: impl FnOnce(&[f64]) -> (Errors, Option<f64>),
    ) -> Self {
        progress::stage("measure errors");
        let start = Instant::now();
        let (errors, mesh_size) = measure(&solution.values);
        // A vertex of no cell has no value. Readers of files make nothing of NaN, and may colour all by it.
        let (mut values, mut unused) = (solution.values, 0);
        for (value, exact) in values.iter_mut().zip(&mut exact) {
            if value.is_nan() {
                (*value, *exact) = (0.0, 0.0);
                unused += 1;
            }
        }
        let mut stages = solution.stages;
        stages.push(Stage {
            name: "measure errors",
            milliseconds: start.elapsed().as_secs_f64() * 1e3,
        });
        let threads = rayon::current_num_threads();
        let plural = if threads == 1 { "" } else { "s" };
        let [vertices, cells] = sizes.map(|size| size as u64);
        Self {
            run: Run::on_host(format!("CPU, {threads} thread{plural}"), stages),
            totals: Totals {
                vertices,
                cells,
                unknowns: solution.unknowns as u64,
                iterations: solution.iterations as u64,
                levels: solution.levels as u64,
                mesh_size,
                errors,
            },
            values,
            exact,
            notes: Note::unused(unused).into_iter().collect(),
        }
    }
}

impl Report {
    fn no_unknowns(&self) -> Option<Note> {
        (self.totals.unknowns == 0).then_some(Note::NoUnknowns)
    }
}

/// Solves the problem on a planar mesh of polygons. The result has the fields `solution` and `exact` at its vertices.
///
/// ```
/// use trioxide_operations::vem;
///
/// # fn main() -> trioxide_operations::Result<()> {
/// let grid = trioxide::generate::grid(100)?;
/// let (solved, report) = vem(grid.into(), &vem::Options::default())?;
/// assert!(report.totals.errors.l2 < 0.05);
/// assert!(solved.fields.points.iter().any(|field| field.name == "solution"));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// A mesh without faces or out of the plane; a polygon that breaks a rule, with the element; those of
/// [`trioxide_vem::solve()`].
pub fn vem(mut mesh: Mesh, options: &Options) -> Result<(Mesh, Report)> {
    check_planar_faces(&mesh)?;
    let carried = Carried::take(&mut mesh)?;
    let mut mesh = mesh.into_polygon_mesh()?;
    // The solver checks the ids.
    let used = mesh.polygons.vertices.iter();
    let used = used.filter_map(|&v| mesh.points.get(v as usize));
    let fit = Fit::of(used.map(|p| p.extend(0.0)));
    let scaled = mesh
        .points
        .iter()
        .map(|p| fit.of_point(p.extend(0.0)).truncate());
    let scaled = scaled.collect();
    let given = std::mem::replace(&mut mesh.points, scaled);
    let problem = options.problem.in_plane();
    let solve = |mesh: &PolygonMesh| {
        let (source, solution) = (problem.source, problem.solution);
        Ok(family::solve(
            mesh,
            source,
            solution,
            options.preconditioner.into(),
        )?)
    };
    let (turn, element) = (rules::turn_clockwise, "clockwise polygon");
    let count = mesh.polygons.len();
    let (solution, note) = turning((&mut mesh, count), solve, turn, element).map_err(|error| {
        // The rules on the mesh as it is given name its own areas.
        let given = PolygonMesh {
            points: given.clone(),
            ..mesh.clone()
        };
        rules::polygon_mesh(&given).err().map_or(error, Error::from)
    })?;
    let sizes = [mesh.points.len(), mesh.polygons.len()];
    let exact = mesh.points.iter().map(|&p| (problem.solution)(p)).collect();
    let mut report = Report::of(solution, sizes, exact, |values| {
        let errors = family::errors(&mesh, values, problem.solution, problem.gradient);
        (errors, Some(family::mesh_size(&mesh)))
    });
    report.notes.splice(0..0, note);
    let boundary = Edges::of_polygons(&mesh.polygons).boundary;
    let point = |v: u32| mesh.points[v as usize].extend(0.0);
    (report.notes).extend(Note::apart(&Contacts::of_boundary(point, &boundary)));
    report.notes.extend(report.no_unknowns());
    mesh.points = given;
    let mut mesh = Mesh::from(mesh);
    carried.put(&mut mesh);
    put(&mut mesh.fields, &report);
    Ok((mesh, report))
}

/// Solves the problem on polyhedra. The result has the fields `solution` and `exact` at its vertices.
///
/// ```
/// use trioxide_operations::{polyhedra, vem, vem_in_space};
///
/// # fn main() -> trioxide_operations::Result<()> {
/// # let device = trioxide::Device::cpu(None)?;
/// let cubes = trioxide::generate::tet_grid(125, 1)?;
/// let (joined, _) = polyhedra(&device, cubes.into(), &polyhedra::Options::default())?;
/// let patch = vem::Options {
///     problem: vem::Problem::Patch,
///     ..vem::Options::default()
/// };
/// let (_, report) = vem_in_space(joined, &patch)?;
/// assert!(report.totals.errors.max_vertex < 1e-9);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`Refusal::NestedInSpace`]; those of [`trioxide_vem::solve_in_space()`].
pub fn vem_in_space(
    mut mesh: PolyhedralMesh,
    options: &Options,
) -> Result<(PolyhedralMesh, Report)> {
    if options.preconditioner == Preconditioner::Nested {
        return Err(Refusal::NestedInSpace.into());
    }
    let used = mesh.faces.vertices.iter();
    let fit = Fit::of(used.map(|&v| mesh.points[v as usize]));
    for point in &mut mesh.points {
        *point = fit.of_point(*point);
    }
    let problem = options.problem.in_space();
    let solution = family::solve_in_space(&mesh, problem.source, problem.solution)?;
    let sizes = [mesh.points.len(), mesh.len()];
    let exact = mesh.points.iter().map(|&p| (problem.solution)(p)).collect();
    let mut report = Report::of(solution, sizes, exact, |values| {
        let errors = family::errors_in_space(&mesh, values, problem.solution, problem.gradient);
        (errors, None)
    });
    report.notes.extend(report.no_unknowns());
    let bent = family::bent_faces(&mesh);
    report.notes.extend((bent > 0).then_some(Note::Bent(bent)));
    put(&mut mesh.fields, &report);
    Ok((mesh, report))
}

/// Solves the problem on a volume mesh, whose cells count as polyhedra. The result has the fields `solution` and
/// `exact` at its vertices.
///
/// ```
/// use trioxide_operations::{vem, vem_of_cells};
///
/// # fn main() -> trioxide_operations::Result<()> {
/// let cubes = trioxide::generate::tet_grid(125, 1)?;
/// let (solved, _) = vem_of_cells(cubes.into(), &vem::Options::default())?;
/// assert!(solved.fields.points.iter().any(|field| field.name == "solution"));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Those of [`PolyhedralMesh::of_cells()`] and of [`vem_in_space()`].
pub fn vem_of_cells(mut mesh: VolumeMesh, options: &Options) -> Result<(VolumeMesh, Report)> {
    let (polyhedra, notes) = PolyhedralMesh::of_cells(VolumeMesh {
        fields: MeshFields::default(),
        ..mesh.clone()
    })?;
    let (_, mut report) = vem_in_space(polyhedra, options)?;
    report
        .notes
        .splice(0..0, notes.into_iter().map(Note::Cells));
    put(&mut mesh.fields, &report);
    Ok((mesh, report))
}

/// Adds the solutions to the fields of the vertices, in place of all fields of their names.
fn put(fields: &mut MeshFields, report: &Report) {
    for (name, values) in [("solution", &report.values), ("exact", &report.exact)] {
        // A field of an earlier run would take the name, and one of the cells the colours.
        fields.cells.take(name);
        fields.points.take(name);
        fields.points.push(Field::scalars(name, values.clone()));
    }
}

/// The way of a mesh to the unit box; none where there is no box, or it has no extent.
struct Fit(Option<Scaling>);

struct Scaling {
    least: DVec3,
    side: f64,
    /// Half of all where the whole side is beyond a double.
    part: f64,
}

impl Fit {
    /// To the box around these points.
    fn of(used: impl Iterator<Item = DVec3>) -> Self {
        let none = [DVec3::INFINITY, DVec3::NEG_INFINITY];
        let [least, most] = used.fold(none, |[least, most], p| [least.min(p), most.max(p)]);
        if !(least.is_finite() && most.is_finite()) {
            return Self(None);
        }
        let is_wide = !(most - least).is_finite();
        let part = if is_wide { 0.5 } else { 1.0 };
        let side = (part * most - part * least).max_element();
        Self((side > 0.0).then_some(Scaling { least, side, part }))
    }

    /// A point there. One that is not finite stays, so that an error shows it as it is.
    fn of_point(&self, point: DVec3) -> DVec3 {
        match &self.0 {
            Some(Scaling { least, side, part }) if point.is_finite() => {
                (part * point - part * least) / *side
            }
            _ => point,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trioxide::generate;

    #[test]
    fn a_moved_mesh_gives_the_same_errors() {
        let mesh = Mesh::from(generate::grid(100).unwrap());
        let moved = |map: &dyn Fn(glam::DVec3) -> glam::DVec3| Mesh {
            points: mesh.points.iter().map(|&p| map(p)).collect(),
            ..mesh.clone()
        };
        let errors = |mesh: Mesh| vem(mesh, &Options::default()).unwrap().1.totals;
        let here = errors(mesh.clone());
        assert_eq!((here.unknowns, here.cells), (64, 162));
        assert!((here.mesh_size.unwrap() - 2f64.sqrt() / 9.0).abs() < 1e-12);
        assert!(here.errors.l2 < 0.05);
        let far = errors(moved(&|p| p * 64.0 + glam::dvec3(256.0, -1024.0, 5.0)));
        // Its whole side is beyond a double.
        let wide = errors(moved(&|p| {
            (p - glam::dvec3(0.5, 0.5, 0.0)) * 2.0 * f64::MAX
        }));
        for there in [far, wide] {
            assert!((here.errors.l2 - there.errors.l2).abs() < 1e-9);
        }
    }

    #[test]
    fn clockwise_polygons_are_turned_and_errors_name_the_areas_of_the_input() {
        let right = Mesh::from(generate::grid(100).unwrap());
        let mut mesh = right.clone();
        let trioxide::mesh::Faces::Triangles(triangles) = &mut mesh.faces else {
            panic!("triangles")
        };
        triangles.iter_mut().for_each(|t| t.swap(1, 2));
        let (solved, report) = vem(mesh.clone(), &Options::default()).unwrap();
        let (_, expected) = vem(right, &Options::default()).unwrap();
        assert_eq!(report.values, expected.values);
        assert_eq!(solved.points, mesh.points);
        assert_eq!(
            report.notes[0].to_string(),
            "162 clockwise polygons were turned around"
        );
        // The last polygon is flat.
        let corners = [(0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (0.0, 2.0), (1e3, 1e3)];
        let mut polygons = trioxide::mesh::Polygons::default();
        polygons.push(&[0, 1, 2, 3]);
        polygons.push(&[0, 1, 2, 3]);
        polygons.push(&[0, 2, 4]);
        let flat = Mesh {
            points: corners.map(|(x, y)| DVec3::new(x, y, 0.0)).to_vec(),
            faces: trioxide::mesh::Faces::Polygons(polygons),
            ..Mesh::default()
        };
        let error = vem(flat, &Options::default()).unwrap_err().to_string();
        assert_eq!(
            error,
            "polygon 2 has area 0: polygons must run counter-clockwise (`convert --triangles` divides polygons, then \
             `repair --all` mends the triangles)"
        );
    }

    #[test]
    fn vertices_of_no_cell_have_the_solution_0() {
        let mut mesh = Mesh::from(generate::grid(100).unwrap());
        let (_, expected) = vem(mesh.clone(), &Options::default()).unwrap();
        mesh.points.push(DVec3::new(7.0, 8.0, 0.0));
        let (_, report) = vem(mesh, &Options::default()).unwrap();
        assert_eq!(report.totals.errors, expected.totals.errors);
        assert_eq!((report.values[100], report.exact[100]), (0.0, 0.0));
        assert_eq!(report.values[..100], expected.values);
        assert!(report.notes.contains(&Note::Unused(1)));
    }

    #[test]
    fn preconditioners_lead_to_the_same_errors() {
        let mesh = Mesh::from(generate::grid(2500).unwrap());
        let [algebraic, nested] =
            [Preconditioner::Algebraic, Preconditioner::Nested].map(|preconditioner| {
                let options = Options {
                    preconditioner,
                    ..Options::default()
                };
                vem(mesh.clone(), &options).unwrap().1.totals
            });
        assert_eq!(nested.unknowns, algebraic.unknowns);
        assert!((nested.errors.l2 - algebraic.errors.l2).abs() < 1e-12);
        assert!(nested.levels > 1 && nested.iterations < algebraic.iterations);
    }

    #[test]
    fn a_solution_replaces_that_of_an_earlier_run() {
        let mesh = Mesh::from(generate::grid(100).unwrap());
        let (mut solved, report) = vem(mesh, &Options::default()).unwrap();
        let cells = vec![0.0; solved.faces.len()];
        solved.fields.cells.push(Field::scalars("solution", cells));
        let patch = Options {
            problem: Problem::Patch,
            ..Options::default()
        };
        let (again, other) = vem(solved, &patch).unwrap();
        assert_ne!(report.values, other.values);
        assert_eq!(again.fields.names(), ["solution", "exact"]);
        let solution = again.fields.points.get("solution").unwrap();
        assert_eq!(solution.values, other.values.into());
    }
}
