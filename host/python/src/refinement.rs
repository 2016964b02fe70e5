//! Refinement of triangles, in the plane and in space, and of tetrahedra, on arrays of the host.

use glam::{DVec2, DVec3, Vec2, Vec3};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use trioxide::Device;
use trioxide::fields::Carried;
use trioxide::half_edges::AnyPoint;
use trioxide::mesh::{Mesh, Triangulation};
use trioxide::prolongation::Prolongation;
use trioxide::refine::{self, DeviceEdgeMesh, End, Marking};
use trioxide::refine_tets::{self, DeviceTets, DividedEdges, Refined, SpacePoint};
use trioxide::volume::{TetMesh, VolumeMesh};

use crate::arrays::{list, table};
use crate::call::{Call, Dict, choice, is_single, option};
use crate::families::flags;
use crate::meshes::{dict_of_mesh, dict_of_volume, mesh_of, volume_of};

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
        ("box", &[a, b, c, d, e, f]) => Marking::BoxInSpace([a, b, c, d, e, f]),
        ("ball", &[x, y, z, radius]) => Marking::Ball([x, y, z, radius]),
        ("disk", &[x, y, radius]) => Marking::Disk([x, y, radius]),
        ("area", &[area]) => Marking::Area(area),
        ("angle", &[degrees]) => Marking::Angle(degrees),
        ("flags", []) => Marking::flags(flags(options, "flags")?.into_iter()),
        _ => return Err(unknown_marking(&kind, numbers.len())),
    })
}

fn unknown_marking(kind: &str, numbers: usize) -> PyErr {
    PyValueError::new_err(format!(
        "mark={kind:?} with {numbers} numbers is not known: see the function's documentation"
    ))
}

/// The options of refinement of triangles.
pub fn plane_options(options: &Dict<'_>) -> PyResult<refine::Options> {
    Ok(refine::Options {
        marking: marking(options)?,
        rounds: option(options, "rounds", 1)?,
        max_triangles: option(options, "max_cells", None)?,
        history: false,
    })
}

/// Why refinement ended.
pub fn name_of(end: End) -> &'static str {
    match end {
        End::Rounds => "rounds",
        End::NothingMarked => "nothing marked",
        End::MaxTriangles => "max_cells",
    }
}

/// A refined triangulation with its maps.
struct RefinedPlane {
    mesh: Mesh,
    parents: Vec<u32>,
    prolongation: Prolongation,
    rounds: usize,
    end: End,
}

/// A refined triangulation.
pub fn refine<'py>(call: &Call<'_, 'py>, mesh: &Dict<'py>) -> PyResult<Dict<'py>> {
    let (py, mut mesh) = (call.py, mesh_of(mesh)?);
    let settings = plane_options(call.options)?;
    let is_single = is_single(call.options)?;
    let refined = call.run(move |on| {
        let carried = Carried::take(&mut mesh)?;
        match (mesh.is_planar(), is_single) {
            (true, false) => refined::<DVec2>(on, mesh.into_triangulation()?, carried, &settings),
            (true, true) => refined::<Vec2>(on, mesh.into_triangulation()?, carried, &settings),
            (false, false) => refined::<DVec3>(on, mesh.into_surface()?, carried, &settings),
            (false, true) => refined::<Vec3>(on, mesh.into_surface()?, carried, &settings),
        }
    })?;
    let result = dict_of_mesh(py, refined.mesh)?;
    result.set_item("parents", list(py, refined.parents))?;
    put_prolongation(py, &result, refined.prolongation)?;
    result.set_item("rounds", refined.rounds)?;
    result.set_item("end", name_of(refined.end))?;
    Ok(result)
}

pub fn put_prolongation(py: Python<'_>, result: &Dict<'_>, matrix: Prolongation) -> PyResult<()> {
    let offsets: Vec<i64> = matrix.offsets.iter().map(|&start| start as i64).collect();
    result.set_item("prolongation_offsets", list(py, offsets))?;
    result.set_item("prolongation_columns", list(py, matrix.columns))?;
    result.set_item("prolongation_weights", list(py, matrix.weights))
}

fn refined<P: AnyPoint>(
    on: &Device,
    mut mesh: Triangulation<P::Double>,
    carried: Carried,
    options: &refine::Options,
) -> trioxide::Result<RefinedPlane>
where
    Mesh: From<Triangulation<P::Double>>,
{
    let vertices = mesh.points.len();
    let markers = carried.number(&mut mesh.segments);
    let mut resident = DeviceEdgeMesh::<P>::upload(on, &mesh)?;
    let end = refine::refine(on, &mut resident, options)?;
    let refined = resident.triangulation(on, mesh.regions.as_deref())?;
    let parents: Vec<u32> = on.download_rows(&resident.ancestors(on)?)?;
    let prolongation = Prolongation::of_rounds(vertices, &resident.rounds(on)?);
    let mut mesh = Mesh::from(refined);
    let segments = Carried::restore(markers, &mut mesh.segments);
    carried
        .refined(prolongation.clone(), &parents, &segments)
        .put(&mut mesh);
    Ok(RefinedPlane {
        mesh,
        parents,
        prolongation,
        rounds: resident.levels().len() - 1,
        end,
    })
}

/// The options of refinement of tetrahedra.
pub fn space_options(options: &Dict<'_>) -> PyResult<refine_tets::Options> {
    use refine_tets::Marking;
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
        ("flags", []) => Marking::Chosen(flags(options, "flags")?),
        _ => return Err(unknown_marking(&kind, numbers.len())),
    };
    Ok(refine_tets::Options {
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
    })
}

/// A refined mesh of tetrahedra.
pub fn refine_tets<'py>(call: &Call<'_, 'py>, mesh: &Dict<'py>) -> PyResult<Dict<'py>> {
    let (py, mesh) = (call.py, volume_of(mesh)?);
    let settings = space_options(call.options)?;
    let is_single = is_single(call.options)?;
    let (mesh, refined, matrix) = call.run(move |on| match is_single {
        false => refined_space::<DVec3>(on, mesh, &settings),
        true => refined_space::<Vec3>(on, mesh, &settings),
    })?;
    let result = dict_of_volume(py, mesh)?;
    result.set_item("parents", list(py, refined.tetrahedron_parents))?;
    let ends = refined.vertex_parents.into_flattened();
    result.set_item("vertex_parents", table(py, ends, 2)?)?;
    put_prolongation(py, &result, matrix)?;
    result.set_item("rounds", refined.levels.len())?;
    Ok(result)
}

fn refined_space<P: SpacePoint>(
    on: &Device,
    mut mesh: VolumeMesh,
    options: &refine_tets::Options,
) -> trioxide::Result<(VolumeMesh, Refined, Prolongation)> {
    let fields = std::mem::take(&mut mesh.fields);
    fields.check(mesh.points.len(), mesh.cells.len(), mesh.faces.len())?;
    let mesh: TetMesh = mesh.into_tet_mesh()?;
    let resident = DeviceTets::<P>::upload(on, &mesh)?;
    let mut refined = refine_tets::refine(on, resident, options)?.download(on)?;
    let mut fine = VolumeMesh::from(std::mem::take(&mut refined.mesh));
    fine.fields = refined.fields(&fields, mesh.points.len());
    let matrix = refined.prolongation(mesh.points.len());
    Ok((fine, refined, matrix))
}
