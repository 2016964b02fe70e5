//! Refinement of triangles and tetrahedra, on arrays of the host.

use glam::{DVec2, DVec3, Vec2, Vec3};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use trioxide::Device;
use trioxide::fields::Mix;
use trioxide::half_edges::Point;
use trioxide::mesh::{Mesh, Refinement};
use trioxide::prolongation::Prolongation;
use trioxide::refine::{self, DeviceEdgeMesh, End, Marking};
use trioxide::refine_tets::{self, DeviceTets, DividedEdges, SpacePoint};
use trioxide::volume::{TetMesh, VolumeMesh};

use crate::arrays::{entry, list, table};
use crate::device::PyDevice;
use crate::families::{choice, is_single, option, triangulation_of};
use crate::meshes::{dict_of_mesh, dict_of_volume, mesh_of, volume_of};
use crate::work::run_on;

type Dict<'py> = Bound<'py, PyDict>;

/// The marking of the options, of a mesh of `cells` triangles.
fn marking(options: &Dict<'_>) -> PyResult<Marking> {
    let kind: String = option(options, "mark", "all".to_owned())?;
    let numbers: Vec<f64> = option(options, "numbers", Vec::new())?;
    Ok(match (&*kind, &numbers[..]) {
        ("all", []) => Marking::All,
        ("fraction", &[fraction]) => Marking::Fraction {
            fraction,
            seed: option(options, "seed", 0)?,
        },
        ("box", &[a, b, c, d]) => Marking::Box([a, b, c, d]),
        ("disk", &[x, y, radius]) => Marking::Disk([x, y, radius]),
        ("area", &[area]) => Marking::Area(area),
        ("angle", &[degrees]) => Marking::Angle(degrees),
        ("flags", []) => Marking::Triangles(trioxide::bit_set::pack(flags(options)?)),
        _ => return Err(unknown_marking(&kind, numbers.len())),
    })
}

fn flags(options: &Dict<'_>) -> PyResult<impl Iterator<Item = bool> + use<>> {
    let flags = entry::<u8, u8>(options, "flags")?.unwrap_or_default();
    Ok(flags.into_iter().map(|flag| flag != 0))
}

fn unknown_marking(kind: &str, numbers: usize) -> PyErr {
    PyValueError::new_err(format!(
        "mark={kind:?} with {numbers} numbers is not known: see the function's documentation"
    ))
}

/// A refined triangulation with its maps.
struct RefinedPlane {
    mesh: Mesh,
    parents: Vec<u32>,
    prolongation: Prolongation,
    rounds: usize,
    end: &'static str,
}

/// A refined triangulation.
#[pyfunction]
pub fn refine_on_host<'py>(
    py: Python<'py>,
    device: &PyDevice,
    mesh: &Dict<'py>,
    options: &Dict<'py>,
    watch: Option<&Bound<'py, PyAny>>,
) -> PyResult<Dict<'py>> {
    let mesh = mesh_of(mesh)?;
    let settings = refine::Options {
        marking: marking(options)?,
        rounds: option(options, "rounds", 1)?,
        max_triangles: option(options, "max_cells", None)?,
        history: false,
    };
    if let Marking::Triangles(words) = &settings.marking
        && words.len() != mesh.faces.len().div_ceil(32)
    {
        return Err(PyValueError::new_err(format!(
            "mark has flags for another number of triangles than the mesh's {}",
            mesh.faces.len()
        )));
    }
    let is_single = is_single(options)?;
    let refined = run_on(py, watch, device, move |on| match is_single {
        false => refined_plane::<DVec2>(on, mesh, &settings),
        true => refined_plane::<Vec2>(on, mesh, &settings),
    })?;
    let result = dict_of_mesh(py, refined.mesh)?;
    result.set_item("parents", list(py, refined.parents))?;
    put_prolongation(py, &result, refined.prolongation)?;
    result.set_item("rounds", refined.rounds)?;
    result.set_item("end", refined.end)?;
    Ok(result)
}

fn put_prolongation(py: Python<'_>, result: &Dict<'_>, matrix: Prolongation) -> PyResult<()> {
    let offsets: Vec<i64> = matrix.offsets.iter().map(|&start| start as i64).collect();
    result.set_item("prolongation_offsets", list(py, offsets))?;
    result.set_item("prolongation_columns", list(py, matrix.columns))?;
    result.set_item("prolongation_weights", list(py, matrix.weights))
}

fn refined_plane<P: Point>(
    on: &Device,
    mesh: Mesh,
    options: &refine::Options,
) -> trioxide::Result<RefinedPlane> {
    let (mesh, carried) = triangulation_of(mesh)?;
    let vertices = mesh.points.len();
    let mut resident = DeviceEdgeMesh::<P>::upload(on, &mesh)?;
    let end = refine::refine(on, &mut resident, options)?;
    let refined = resident.triangulation(on, mesh.regions.as_deref())?;
    let parents: Vec<u32> = on.download_rows(&resident.ancestors(on)?)?;
    let prolongation = Prolongation::of_rounds(vertices, &resident.rounds(on)?);
    let mix = Mix::of_prolongation(prolongation.clone());
    let mut mesh = Mesh::from(refined);
    mesh.attributes = carried.attributes.mixed(&mix);
    mesh.fields.points = carried.fields.points.mixed(&mix);
    mesh.fields.cells = carried.fields.cells.gather(&parents);
    Ok(RefinedPlane {
        mesh,
        parents,
        prolongation,
        rounds: resident.levels().len() - 1,
        end: match end {
            End::Rounds => "rounds",
            End::NothingMarked => "nothing marked",
            End::MaxTriangles => "max_cells",
        },
    })
}

/// A refined mesh of tetrahedra.
#[pyfunction]
pub fn refine_tets_on_host<'py>(
    py: Python<'py>,
    device: &PyDevice,
    mesh: &Dict<'py>,
    options: &Dict<'py>,
    watch: Option<&Bound<'py, PyAny>>,
) -> PyResult<Dict<'py>> {
    use refine_tets::Marking;
    let mesh = volume_of(mesh)?;
    let kind: String = option(options, "mark", "all".to_owned())?;
    let numbers: Vec<f64> = option(options, "numbers", Vec::new())?;
    let marking = match (&*kind, &numbers[..]) {
        ("all", []) => Marking::All,
        ("fraction", &[fraction]) => Marking::Fraction {
            fraction,
            seed: option(options, "seed", 0)?,
        },
        ("box", &[a, b, c, d, e, f]) => Marking::Box {
            low: DVec3::new(a, b, c),
            high: DVec3::new(d, e, f),
        },
        ("ball", &[x, y, z, radius]) => Marking::Ball {
            centre: DVec3::new(x, y, z),
            radius,
        },
        ("volume", &[volume]) => Marking::Volume(volume),
        ("flags", []) => Marking::Chosen(flags(options)?.collect()),
        _ => return Err(unknown_marking(&kind, numbers.len())),
    };
    let settings = refine_tets::Options {
        marking,
        edges: choice(
            options,
            "edges",
            DividedEdges::Longest,
            &[
                ("longest", DividedEdges::Longest),
                ("every", DividedEdges::Every),
            ],
        )?,
        rounds: option(options, "rounds", 1)?,
        max_tetrahedra: option(options, "max_cells", None)?,
    };
    let is_single = is_single(options)?;
    let (mesh, parents, ends, matrix, levels) =
        run_on(py, watch, device, move |on| match is_single {
            false => refined_space::<DVec3>(on, mesh, &settings),
            true => refined_space::<Vec3>(on, mesh, &settings),
        })?;
    let result = dict_of_volume(py, mesh)?;
    result.set_item("parents", list(py, parents))?;
    result.set_item("vertex_parents", table(py, ends.into_flattened(), 2)?)?;
    put_prolongation(py, &result, matrix)?;
    result.set_item("rounds", levels)?;
    Ok(result)
}

type RefinedSpace = (VolumeMesh, Vec<u32>, Vec<[u32; 2]>, Prolongation, usize);

fn refined_space<P: SpacePoint>(
    on: &Device,
    mut mesh: VolumeMesh,
    options: &refine_tets::Options,
) -> trioxide::Result<RefinedSpace> {
    let fields = std::mem::take(&mut mesh.fields);
    fields.check(mesh.points.len(), mesh.cells.len(), mesh.faces.len())?;
    let mesh: TetMesh = mesh.into_tet_mesh()?;
    let resident = DeviceTets::<P>::upload(on, &mesh)?;
    let refined = refine_tets::refine(on, resident, options)?.download(on)?;
    let mut ends = &refined.vertex_parents[..];
    let rounds: Vec<Refinement> = refined
        .levels
        .iter()
        .map(|level| {
            let (of_level, rest) = ends.split_at(level.divided_edges as usize);
            ends = rest;
            Refinement {
                ends: of_level.to_vec(),
                ..Refinement::default()
            }
        })
        .collect();
    let matrix = Prolongation::of_rounds(mesh.points.len(), &rounds);
    let mix = Mix::of_prolongation(matrix.clone());
    let levels = refined.levels.len();
    let mut mesh = VolumeMesh::from(refined.mesh);
    mesh.fields.points = fields.points.mixed(&mix);
    mesh.fields.cells = fields.cells.gather(&refined.tetrahedron_parents);
    mesh.fields.sides = fields.sides.gather(&refined.face_parents);
    Ok((
        mesh,
        refined.tetrahedron_parents,
        refined.vertex_parents,
        matrix,
        levels,
    ))
}
