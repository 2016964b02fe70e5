//! Families by their names.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::call::{Call, Dict};
use crate::device::PyDevice;
use crate::{families, polyhedra, refinement, resident, resident_refinement};

/// Runs a family: on arrays of the host, where `input` is a mesh; or, if its name ends in `_on_device`, on arrays of a
/// device, which `input` has by their names.
#[pyfunction(name = "run")]
pub fn run_family<'py>(
    family: &str,
    device: &Bound<'py, PyDevice>,
    input: &Dict<'py>,
    options: &Dict<'py>,
    watch: Option<&Bound<'py, PyAny>>,
) -> PyResult<Dict<'py>> {
    let call = Call {
        py: input.py(),
        device,
        options,
        watch,
    };
    match family {
        "polylla" => families::polylla(&call, input),
        "polylla_on_device" => {
            crate::options::check_plane(options)?;
            resident::polylla(&call, input)
        }
        "polylla_volume" => polyhedra::polyhedra(&call, input),
        "refine" => refinement::refine(&call, input),
        "refine_on_device" => resident_refinement::refine(&call, input),
        "refine_tets" => refinement::refine_tets(&call, input),
        "refine_tets_on_device" => resident_refinement::refine_tets(&call, input),
        "smooth" => families::smooth_surface(&call, input),
        "smooth_on_device" => resident::smooth(&call, input),
        "smooth_tets_on_device" => resident::smooth_tets(&call, input),
        "smooth_volume" => families::smooth_volume(&call, input),
        "triangulate_on_device" => resident::triangulate(&call, input),
        "weld" => families::weld(&call, input),
        "weld_on_device" => resident::weld(&call, input),
        _ => Err(PyValueError::new_err(format!(
            "{family:?} is no family: use the package's functions"
        ))),
    }
}
