//! Refinement on arrays of a device. A copy of the input is refined there, in memory with room for its parts.

use std::sync::Arc;

use glam::{DVec2, DVec3};
use gpu::ids::Vertex;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use trioxide::half_edges::{AnyPoint, DeviceSurface, DeviceTriangulation};
use trioxide::mesh::Refinement;
use trioxide::prolongation::Prolongation;
use trioxide::refine::{
    self, DeviceEdgeMesh, End, Midpoints, RefinedArrays, with_room, with_room_for_points,
};
use trioxide::refine_tets::{self, DeviceTets};
use trioxide::{Buffer, Device, forms};
use trioxide_operations as operations;
use trioxide_operations::refine::{Options, end_name};

use super::{put_prolongation, refine_options};
use crate::call::{Call, Dict};
use crate::device::PyDevice;
use crate::device_array::{PyDeviceArray, complete};
use crate::exception::exception;
use crate::number::Number;
use crate::resident::{Chosen, INDICES, Results, Surface, buffer, check_length, found, needed};
use crate::work::run_on;

/// Where the new vertices of a refined mesh lie: each halves an edge of the mesh before its round.
#[pyclass(frozen, name = "Midpoints", module = "trioxide._trioxide")]
pub struct PyMidpoints {
    midpoints: Arc<Midpoints>,
    device: Py<PyDevice>,
}

#[pymethods]
impl PyMidpoints {
    /// Carries a field of the input's vertices to those of the result; it and the result are float64 arrays of the
    /// device.
    fn interpolate(
        &self,
        py: Python<'_>,
        field: &PyDeviceArray,
        watch: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyDeviceArray> {
        field.check("field", &[Number::F64], 0)?;
        // SAFETY: the field is copied.
        let given = unsafe { field.read::<f64>() }.map_err(exception)?;
        let (midpoints, device) = (self.midpoints.clone(), self.device.get());
        let carried = run_on(py, watch, device, move |on| {
            let last = midpoints.vertices().last().copied().unwrap_or_default();
            let mut field = on.moved(&given, last as usize)?;
            midpoints.interpolate(on, &mut field)?;
            Ok(field)
        })?;
        let on = device.get()?;
        Ok(PyDeviceArray::of_buffer(
            &on,
            device.gpu,
            carried,
            Number::F64,
            0,
        ))
    }

    /// The matrix that does the same, as arrays of the host in a dictionary: the ends of the edges are copied.
    fn prolongation<'py>(&self, py: Python<'py>) -> PyResult<Dict<'py>> {
        let midpoints = self.midpoints.clone();
        let matrix = run_on(py, None, self.device.get(), move |on| {
            let ends: Vec<[u32; 2]> = on.download_rows(midpoints.ends())?;
            let vertices = midpoints.vertices();
            let mut ends = &ends[..];
            let rounds: Vec<Refinement> = vertices
                .windows(2)
                .map(|pair| {
                    let (of_round, rest) = ends.split_at((pair[1] - pair[0]) as usize);
                    ends = rest;
                    Refinement {
                        ends: of_round.to_vec(),
                        ..Refinement::default()
                    }
                })
                .collect();
            Ok(Prolongation::of_rounds(vertices[0] as usize, &rounds))
        })?;
        let result = PyDict::new(py);
        put_prolongation(py, &result, matrix)?;
        Ok(result)
    }
}

impl Results<'_, '_> {
    /// The midpoints, and a copy of the ends of their edges for whoever takes it.
    fn put_midpoints(&self, call: &Call<'_, '_>, midpoints: Midpoints) -> PyResult<()> {
        let on = call.device.get().get()?;
        let ends = on.duplicate(midpoints.ends());
        let ends = ends
            .and_then(|ends| complete(&on, ends))
            .map_err(exception)?;
        self.put("vertex_parents", ends, Number::U32, 2)?;
        let midpoints = PyMidpoints {
            midpoints: Arc::new(midpoints),
            device: call.device.clone().unbind(),
        };
        self.dict
            .set_item("midpoints", Py::new(call.py, midpoints)?)
    }
}

/// The regions, marks and options with which a call refines a surface.
struct Input {
    regions: Option<Buffer<i32>>,
    chosen: Option<Chosen>,
    options: Options,
}

struct Refined<P> {
    arrays: RefinedArrays<P>,
    regions: Option<Buffer<i32>>,
    rounds: usize,
    end: End,
}

impl Input {
    /// Refines a copy of `surface`, which has room for its parts.
    fn refine<P: AnyPoint>(
        self,
        on: &Device,
        surface: &DeviceSurface<P>,
    ) -> operations::Result<Refined<P>> {
        let (points, count) = (surface.points().len(), surface.triangles());
        self.options.check_resident()?;
        let settings = self.options.of_triangles(count, None)?;
        let room = with_room_for_points(points, count);
        let copy = surface.moved(on, room, with_room(count))?;
        let with_twins = DeviceTriangulation::of_surface(on, copy)?;
        let mut mesh = DeviceEdgeMesh::build(on, with_twins)?;
        let end = match self.chosen {
            Some(chosen) => {
                let marked = chosen.bits(on, "mark", count)?.cast();
                refine::refine_marked(on, &mut mesh, &marked, &settings)
            }
            None => refine::refine(on, &mut mesh, &settings),
        }?;
        let rounds = mesh.levels().len() - 1;
        self.options
            .check_level(rounds)
            .map_err(refine::Error::from)?;
        let regions = self.regions.map(|regions| mesh.regions(on, &regions));
        Ok(Refined {
            regions: regions.transpose()?,
            rounds,
            arrays: mesh.into_arrays(on)?,
            end,
        })
    }
}

/// Refines a triangulation: of the plane where the points share one z, which is 0 in the result; else in space.
pub fn refine<'py>(call: &Call<'_, 'py>, arrays: &Dict<'py>) -> PyResult<Dict<'py>> {
    let surface = Surface::of(arrays)?;
    let (vertices, triangles) = surface.sizes();
    let regions: Option<Buffer<i32>> = buffer(arrays, "regions", INDICES, 0)?;
    check_length(&regions, "regions", triangles, "triangle")?;
    let input = Input {
        chosen: Chosen::of(arrays, "mark", triangles, "triangle")?,
        options: refine_options(call.options)?,
        regions,
    };
    let (refined, columns, bounds) = call.work(move |on| {
        on.require(DeviceEdgeMesh::<DVec3>::bytes_needed(vertices, triangles))?;
        match surface {
            Surface::Plane(surface) => {
                let refined = input.refine(on, &surface)?;
                Ok((refined.with_points(|points| Ok(points.cast()))?, 2, None))
            }
            Surface::Space(surface) => {
                let bounds @ (low, high) = surface.bounds(on)?;
                if !forms::is_planar(on, &surface)? {
                    let refined = input.refine(on, &surface)?;
                    let refined = refined.with_points(|points| Ok(points.cast()))?;
                    return Ok((refined, 3, Some([bounds; 2])));
                }
                let flat: Buffer<DVec2> = forms::flatten(on, surface.points())?;
                let refined = input.refine(on, &surface.with_points(flat))?;
                let lift = |points| Ok(forms::lift(on, &points)?.cast());
                let flat = (low.with_z(0.0), high.with_z(0.0));
                Ok((refined.with_points(lift)?, 3, Some([bounds, flat])))
            }
        }
    })?;
    let results = Results::new(call)?;
    let RefinedArrays {
        surface,
        parents,
        midpoints,
    } = refined.arrays;
    let known = surface.known().clone();
    let (points, triangles) = surface.into_arrays();
    results.put("points", points, Number::F64, columns)?;
    // SAFETY: the surface knows the structure of its own triangles.
    unsafe { results.put_triangles(triangles, known) }?;
    if let (Some([of_input, of_result]), true) = (bounds, vertices > 0) {
        for (dict, bounds) in [(arrays, of_input), (&results.dict, of_result)] {
            if let Some(points) = found(dict, "points")? {
                // SAFETY: measured; the vertices of the result are those of the input, and midpoints between them.
                unsafe { points.get().set_bounds(bounds) };
            }
        }
    }
    results.put("parents", parents, Number::U32, 0)?;
    if let Some(regions) = refined.regions {
        results.put("regions", regions, Number::I32, 0)?;
    }
    results.put_midpoints(call, midpoints)?;
    results.dict.set_item("rounds", refined.rounds)?;
    results.dict.set_item("end", end_name(refined.end))?;
    Ok(results.dict)
}

impl<P> Refined<P> {
    /// With the points as numbers.
    fn with_points(
        self,
        numbers: impl FnOnce(Buffer<P>) -> trioxide::Result<Buffer<f64>>,
    ) -> trioxide::Result<Refined<f64>> {
        let arrays = self.arrays;
        Ok(Refined {
            arrays: RefinedArrays {
                surface: arrays.surface.map_points(numbers)?,
                parents: arrays.parents,
                midpoints: arrays.midpoints,
            },
            regions: self.regions,
            rounds: self.rounds,
            end: self.end,
        })
    }
}

/// Refines a mesh of tetrahedra.
pub fn refine_tets<'py>(call: &Call<'_, 'py>, arrays: &Dict<'py>) -> PyResult<Dict<'py>> {
    let points: Buffer<DVec3> = needed(arrays, "points", &[Number::F64], 3)?;
    let tetrahedra: Buffer<[Vertex; 4]> = needed(arrays, "tetrahedra", INDICES, 4)?;
    let regions: Option<Buffer<i32>> = buffer(arrays, "regions", INDICES, 0)?;
    check_length(&regions, "regions", tetrahedra.len(), "tetrahedron")?;
    let chosen = Chosen::of(arrays, "mark", tetrahedra.len(), "tetrahedron")?;
    let options = refine_options(call.options)?;
    let (refined, regions) = call.work(move |on| {
        let count = tetrahedra.len();
        options.check_resident()?;
        let settings = options.of_tetrahedra(count)?;
        let (points, tetrahedra) = (on.duplicate(&points)?, on.duplicate(&tetrahedra)?);
        let mesh = DeviceTets::build(on, points, tetrahedra)?;
        let refined = match chosen {
            Some(chosen) => {
                let chosen = chosen.bits(on, "mark", count)?.cast();
                refine_tets::refine_chosen(on, mesh, &chosen, &settings)
            }
            None => refine_tets::refine(on, mesh, &settings),
        }?;
        options
            .check_level(refined.levels().len())
            .map_err(refine_tets::Error::from)?;
        let regions = regions.map(|regions| refined.regions(on, &regions));
        Ok((refined, regions.transpose()?))
    })?;
    let rounds = refined.levels().len();
    let refined = refined.into_arrays();
    let results = Results::new(call)?;
    results.put("points", refined.points, Number::F64, 3)?;
    results.put("tetrahedra", refined.tetrahedra, Number::U32, 4)?;
    results.put("parents", refined.parents, Number::U32, 0)?;
    if let Some(regions) = regions {
        results.put("regions", regions, Number::I32, 0)?;
    }
    results.put_midpoints(call, refined.midpoints)?;
    results.dict.set_item("rounds", rounds)?;
    Ok(results.dict)
}
