//! The native part of the Python package `trioxide`: arrays in, arrays out. The public functions are in
//! `python/trioxide/`; they convert arguments to the types that these functions take.

mod about;
mod arrays;
mod call;
mod convert;
mod device;
mod device_array;
mod dlpack;
mod exception;
mod families;
mod files;
mod foreign;
mod meshes;
mod number;
mod options;
mod polyhedra;
mod resident;
mod work;

use pyo3::prelude::*;

#[pymodule]
fn _trioxide(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<device::PyDevice>()?;
    module.add_class::<device_array::PyDeviceArray>()?;
    module.add_class::<families::PyWayBack>()?;
    module.add_class::<families::PyMidpoints>()?;
    for function in [
        wrap_pyfunction!(families::run_family, module)?,
        wrap_pyfunction!(families::families, module)?,
        wrap_pyfunction!(families::options, module)?,
        wrap_pyfunction!(families::step, module)?,
        wrap_pyfunction!(convert::convert, module)?,
        wrap_pyfunction!(files::read, module)?,
        wrap_pyfunction!(files::write, module)?,
        wrap_pyfunction!(files::generate_mesh, module)?,
        wrap_pyfunction!(files::draw, module)?,
        wrap_pyfunction!(files::view, module)?,
        wrap_pyfunction!(files::measure, module)?,
        wrap_pyfunction!(files::measure_polyhedra, module)?,
        wrap_pyfunction!(files::measure_volume, module)?,
        wrap_pyfunction!(families::vem::solve_poisson, module)?,
        wrap_pyfunction!(files::cuda_devices, module)?,
        wrap_pyfunction!(files::run_selftest, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}
