//! The families on arrays of the host: polylla, weld, smooth; refine is in `refinement`.

use glam::{DVec2, DVec3, Vec2, Vec3};
use gpu::smooth::Vector;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use trioxide::fields::{Fields, Mix};
use trioxide::half_edges::{DeviceTriangulation, Point};
use trioxide::mesh::{Mesh, PolygonMesh, PolyllaLists, Ties, Triangulation};
use trioxide::polylla::{self, Constraints};
use trioxide::smooth::{self, Smoothed};
use trioxide::volume::VolumeMesh;
use trioxide::weld::{self, DeviceMesh, Guards, Locks, Method, Position};
use trioxide::{Device, indexed};

use crate::arrays::{entry, list};
use crate::device::PyDevice;
use crate::meshes::{dict_of_mesh, mesh_of, volume_of};
use crate::work::run_on;

type Dict<'py> = Bound<'py, PyDict>;

/// An option of a dictionary; the default where it is missing or None.
pub fn option<'py, T>(options: &Dict<'py>, name: &str, default: T) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py, Error: Into<PyErr>>,
{
    match options.get_item(name)? {
        Some(value) if !value.is_none() => value
            .extract()
            .map_err(|error: <T as FromPyObject<'_, 'py>>::Error| error.into()),
        _ => Ok(default),
    }
}

/// One of several words.
pub fn choice<T: Copy>(
    options: &Dict<'_>,
    name: &str,
    default: T,
    words: &[(&str, T)],
) -> PyResult<T> {
    let Some(word) = option::<Option<String>>(options, name, None)? else {
        return Ok(default);
    };
    let found = words.iter().find(|(known, _)| *known == word);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let known: Vec<&str> = words.iter().map(|(known, _)| *known).collect();
        PyValueError::new_err(format!(
            "{name}={word:?} is not known: it is {}",
            known.join(", ")
        ))
    })
}

pub fn is_single(options: &Dict<'_>) -> PyResult<bool> {
    choice(
        options,
        "precision",
        false,
        &[("f64", false), ("f32", true)],
    )
}

/// A planar triangulation, and what it carries besides.
pub fn triangulation_of(mesh: Mesh) -> trioxide::Result<(Triangulation, Mesh)> {
    let carried = Mesh {
        attributes: mesh.attributes.clone(),
        fields: mesh.fields.clone(),
        ..Mesh::default()
    };
    (carried.fields).check(mesh.points.len(), mesh.faces.len(), mesh.segments.len())?;
    Ok((mesh.into_triangulation()?, carried))
}

/// Polygons of a triangulation.
#[pyfunction]
pub fn polylla_on_host<'py>(
    py: Python<'py>,
    device: &PyDevice,
    mesh: &Dict<'py>,
    options: &Dict<'py>,
    watch: Option<&Bound<'py, PyAny>>,
) -> PyResult<Dict<'py>> {
    let mesh = mesh_of(mesh)?;
    let is_indexed = choice(
        options,
        "method",
        false,
        &[("half-edge", false), ("indexed", true)],
    )?;
    let settings = polylla::Options {
        strict: option(options, "strict", false)?,
        ties: choice(
            options,
            "ties",
            Ties::Edge,
            &[("edge", Ties::Edge), ("first", Ties::First)],
        )?,
        prev: false,
        lists: true,
    };
    if is_indexed && settings.strict {
        return Err(PyValueError::new_err(
            "strict=True needs half-edges: use method=\"half-edge\", which gives the same polygons",
        ));
    }
    let is_single = is_single(options)?;
    let is_unconstrained = option(options, "unconstrained", false)?;
    let (mesh, lists, triangles) = run_on(py, watch, device, move |on| {
        let (mut mesh, mut carried) = triangulation_of(mesh)?;
        if is_unconstrained {
            mesh.regions = None;
            mesh.segments.clear();
            carried.fields.sides = Fields::default();
        }
        let lists = match is_single {
            false => polygons::<DVec2>(on, &mesh, settings, is_indexed),
            true => polygons::<Vec2>(on, &mesh, settings, is_indexed),
        }?;
        let mix = polylla::triangles_of_polygons(&mesh, &lists.polygons, &lists.half_edges);
        let of_polygon = |&h: &u32| mesh.regions.as_ref().map(|regions| regions[h as usize / 3]);
        let regions = lists.half_edges.iter().map(of_polygon).collect();
        let mut polygons = Mesh::from(PolygonMesh {
            points: mesh.points,
            polygons: lists.polygons.clone(),
            regions: mesh.regions.is_some().then_some(regions).flatten(),
            segments: mesh.segments,
        });
        polygons.attributes = carried.attributes;
        polygons.fields = carried.fields;
        polygons.fields.cells = polygons.fields.cells.mixed(&mix);
        let triangles = triangles_of(&mix);
        Ok((polygons, lists, triangles))
    })?;
    let result = dict_of_mesh(py, mesh)?;
    let (offsets, triangles) = triangles;
    result.set_item("triangle_offsets", list(py, offsets))?;
    result.set_item("triangles_of_polygons", list(py, triangles))?;
    result.set_item("half_edges", list(py, lists.half_edges))?;
    let counts = PyDict::new(py);
    counts.set_item("polygons", lists.counts.polygons)?;
    counts.set_item("regions", lists.counts.regions)?;
    counts.set_item("frontier_edges", lists.counts.frontier_edges)?;
    counts.set_item("barrier_tips", lists.counts.barrier_tips)?;
    counts.set_item("weakly_simple", lists.counts.weakly_simple)?;
    result.set_item("counts", counts)?;
    Ok(result)
}

fn polygons<P: Point>(
    on: &Device,
    mesh: &Triangulation,
    options: polylla::Options,
    is_indexed: bool,
) -> trioxide::Result<PolyllaLists> {
    let (points, triangles) = (mesh.points.len(), mesh.triangles.len());
    on.require(match is_indexed {
        false => polylla::bytes_needed::<P>(points, triangles, options),
        true => indexed::bytes_needed::<P>(points, triangles),
    })?;
    let half_edges = DeviceTriangulation::<P>::upload(on, mesh)?;
    let constraints = Constraints::of(on, &half_edges, mesh)?;
    let constraints = constraints.as_ref();
    if is_indexed {
        let neighbours = indexed::Neighbours::new(on, &half_edges)?;
        let settings = indexed::Options {
            ties: options.ties,
            ..indexed::Options::default()
        };
        let result = indexed::indexed(on, &half_edges, &neighbours, constraints, settings)?;
        return Ok(result.download(on)?);
    }
    Ok(polylla::polylla(on, &half_edges, constraints, options)?.download(on)?)
}

/// The triangles of each polygon, as offsets and ids.
fn triangles_of(mix: &Mix) -> (Vec<u32>, Vec<u32>) {
    let (mut offsets, mut ids) = (vec![0], Vec::new());
    for row in mix.rows() {
        ids.extend(row.map(|(triangle, _)| triangle));
        offsets.push(ids.len() as u32);
    }
    (offsets, ids)
}

/// The options of a weld.
pub fn weld_options(options: &Dict<'_>, epsilon: f64) -> PyResult<weld::Options> {
    let mut methods = vec![("auto", Method::Auto)];
    methods.extend(Method::ALL.map(|method| (method.name(), method)));
    Ok(weld::Options {
        guards: Guards {
            normals: option(options, "normal_tolerance", None)?,
            uvs: option(options, "uv_tolerance", None)?,
            colors: option(options, "color_tolerance", None)?,
        },
        position: choice(
            options,
            "position",
            Position::Mean,
            &[("mean", Position::Mean), ("first", Position::First)],
        )?,
        keep_degenerate: option(options, "keep_degenerate", false)?,
        method: choice(options, "method", Method::Auto, &methods)?,
        ..weld::Options::new(epsilon)
    })
}

/// A welded mesh.
#[pyfunction]
pub fn weld_on_host<'py>(
    py: Python<'py>,
    device: &PyDevice,
    mesh: &Dict<'py>,
    options: &Dict<'py>,
    watch: Option<&Bound<'py, PyAny>>,
) -> PyResult<Dict<'py>> {
    let mesh = mesh_of(mesh)?;
    let epsilon: Option<f64> = option(options, "epsilon", None)?;
    let ratio: Option<f64> = option(options, "ratio", None)?;
    let mut settings = weld_options(options, epsilon.unwrap_or(0.0))?;
    let locks = Locks {
        boundary: option(options, "lock_boundary", false)?,
        vertices: entry::<u8, u8>(options, "locked")?
            .unwrap_or_default()
            .into_iter()
            .map(|flag| flag != 0)
            .collect(),
    };
    let (mesh, welded, epsilon) = run_on(py, watch, device, move |on| {
        let resident = DeviceMesh::upload_locked(on, &mesh, &locks)?;
        if let Some(ratio) = ratio {
            settings.epsilon =
                weld::epsilon_for_ratio(on, &resident, settings.guards, ratio)?.epsilon;
        }
        let mut welded = weld::weld(on, &resident, settings)?.download(on)?;
        let new = welded.take_mesh(&mesh, &settings)?;
        Ok((new, welded, settings.epsilon))
    })?;
    let result = dict_of_mesh(py, mesh)?;
    result.set_item("map", list(py, welded.map))?;
    result.set_item("representatives", list(py, welded.representatives))?;
    result.set_item("epsilon", epsilon)?;
    Ok(result)
}

/// The options of smoothing.
pub fn smooth_options(options: &Dict<'_>) -> PyResult<smooth::Options> {
    use smooth::{Blocks, BoundaryRule, Form, Layout, Method, Options, Renumber, Weights};
    let guard = option(options, "guard", false)?;
    let form = if guard { Form::BColoured } else { Form::A };
    let hc: Option<[f64; 2]> = option(options, "hc", None)?;
    let (alpha, beta) = hc.map_or((0.1, 0.6), |[alpha, beta]| (alpha, beta));
    let (lambda, mu) = (
        option(options, "lambda_", 0.5)?,
        option(options, "mu", -0.53)?,
    );
    Ok(Options {
        form: choice(
            options,
            "form",
            form,
            &[
                ("a", Form::A),
                ("b", Form::B),
                ("b-coloured", Form::BColoured),
                ("b-exact", Form::BExact),
            ],
        )?,
        layout: choice(
            options,
            "layout",
            Layout::Aligned,
            &[
                ("soa", Layout::Soa),
                ("aos", Layout::Aos),
                ("aligned", Layout::Aligned),
            ],
        )?,
        blocks: choice(
            options,
            "blocks",
            Blocks::Many,
            &[("one", Blocks::One), ("many", Blocks::Many)],
        )?,
        renumber: choice(
            options,
            "renumber",
            Renumber::Auto,
            &[
                ("auto", Renumber::Auto),
                ("on", Renumber::On),
                ("off", Renumber::Off),
            ],
        )?,
        tolerance: option(options, "tolerance", 0.0)?,
        max_iterations: option(options, "max_iterations", 100)?,
        guard,
        weights: choice(
            options,
            "weights",
            Weights::Uniform,
            &[
                ("uniform", Weights::Uniform),
                ("inverse-length", Weights::InverseLength),
                ("cotangent", Weights::Cotangent),
            ],
        )?,
        method: choice(
            options,
            "method",
            Method::Laplacian,
            &[
                ("laplacian", Method::Laplacian),
                ("taubin", Method::Taubin { lambda, mu }),
                ("hc", Method::Hc { alpha, beta }),
            ],
        )?,
        boundary: choice(
            options,
            "boundary",
            BoundaryRule::Fixed,
            &[
                ("fixed", BoundaryRule::Fixed),
                ("slide", BoundaryRule::Slide),
            ],
        )?,
    })
}

/// A smoothed surface, or volume mesh with `is_volume`: the new points.
#[pyfunction]
pub fn smooth_on_host<'py>(
    py: Python<'py>,
    device: &PyDevice,
    mesh: &Dict<'py>,
    is_volume: bool,
    options: &Dict<'py>,
    watch: Option<&Bound<'py, PyAny>>,
) -> PyResult<Dict<'py>> {
    let settings = smooth_options(options)?;
    let fixed: Vec<bool> = entry::<u8, u8>(options, "fixed")?
        .unwrap_or_default()
        .into_iter()
        .map(|flag| flag != 0)
        .collect();
    let is_single = is_single(options)?;
    let smoothed = if is_volume {
        let mesh = volume_of(mesh)?;
        run_on(py, watch, device, move |on| match is_single {
            false => volume::<DVec3>(on, &mesh, &fixed, &settings),
            true => volume::<Vec3>(on, &mesh, &fixed, &settings),
        })
    } else {
        let mesh = mesh_of(mesh)?;
        run_on(py, watch, device, move |on| match is_single {
            false => surface::<DVec3>(on, &mesh, &fixed, &settings),
            true => surface::<Vec3>(on, &mesh, &fixed, &settings),
        })
    }?;
    let result = PyDict::new(py);
    result.set_item("points", crate::arrays::points(py, smoothed.points)?)?;
    result.set_item("moving", smoothed.moving)?;
    result.set_item("sweeps", smoothed.moves.sweeps)?;
    Ok(result)
}

fn volume<P: Vector>(
    on: &Device,
    mesh: &VolumeMesh,
    fixed: &[bool],
    options: &smooth::Options,
) -> trioxide::Result<Smoothed> {
    Ok(smooth::run::<P>(on, mesh, fixed, options)?)
}

fn surface<P: Vector>(
    on: &Device,
    mesh: &Mesh,
    fixed: &[bool],
    options: &smooth::Options,
) -> trioxide::Result<Smoothed> {
    Ok(smooth::run_surface::<P>(on, mesh, fixed, options)?)
}
