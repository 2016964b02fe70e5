//! The families on arrays of the host: polylla, weld, smooth; refine is in `refinement`.

use glam::{DVec3, Vec3};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use trioxide::smooth::{self, Smoothed};
use trioxide::weld::Locks;
use trioxide_operations as operations;

use crate::arrays::{entry, list};
use crate::call::{Call, Dict, choice, is_single, option};
use crate::meshes::{dict_of_mesh, mesh_of, volume_of};
use crate::options::parse;

/// Polygons of a triangulation.
pub fn polylla<'py>(call: &Call<'_, 'py>, mesh: &Dict<'py>) -> PyResult<Dict<'py>> {
    let mut options: operations::polylla::Options = parse(call.options)?;
    options.parents = true;
    let mesh = mesh_of(mesh)?;
    let (mesh, report) = call.operate(move |on| {
        let (mesh, report) = operations::polylla(on, mesh, &options)?;
        Ok((report.run.clone(), (mesh, report)))
    })?;
    let result = dict_of_mesh(call.py, mesh)?;
    put_counts(&result, report.totals.counts())?;
    let parents = report.parents.expect("the options ask for them");
    result.set_item("triangle_offsets", list(call.py, parents.offsets))?;
    result.set_item("triangles_of_polygons", list(call.py, parents.triangles))?;
    result.set_item("half_edges", list(call.py, report.half_edges))?;
    Ok(result)
}

/// A welded mesh.
pub fn weld<'py>(call: &Call<'_, 'py>, mesh: &Dict<'py>) -> PyResult<Dict<'py>> {
    let mut options: operations::weld::Options = parse(call.options)?;
    options.locks = Locks {
        boundary: option(call.options, "lock_boundary", false)?,
        vertices: flags(call.options, "locked")?,
    };
    let mesh = mesh_of(mesh)?;
    let (mesh, report) = call.operate(move |on| {
        let (mesh, report) = operations::weld(on, mesh, &options)?;
        Ok((report.run.clone(), (mesh, report)))
    })?;
    let result = dict_of_mesh(call.py, mesh)?;
    put_counts(&result, report.totals.counts())?;
    put_notes(&result, &report.notes)?;
    result.set_item("map", list(call.py, report.map))?;
    result.set_item("representatives", list(call.py, report.representatives))?;
    Ok(result)
}

/// The counts of a report, as `counts`.
pub fn put_counts(result: &Dict<'_>, counts: operations::Counts) -> PyResult<()> {
    let dict = PyDict::new(result.py());
    for (name, count) in counts {
        match count {
            operations::Count::Whole(count) => dict.set_item(name, count)?,
            operations::Count::Real(number) => dict.set_item(name, number)?,
            operations::Count::Word(word) => dict.set_item(name, word)?,
            operations::Count::Digest(digest) => dict.set_item(name, format!("{digest:016x}"))?,
        }
    }
    result.set_item("counts", dict)
}

/// What the user may want to know, as `notes`.
pub fn put_notes(result: &Dict<'_>, notes: &[impl ToString]) -> PyResult<()> {
    let notes: Vec<String> = notes.iter().map(ToString::to_string).collect();
    result.set_item("notes", notes)
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

/// A smoothed surface: the new points.
pub fn smooth_surface<'py>(call: &Call<'_, 'py>, mesh: &Dict<'py>) -> PyResult<Dict<'py>> {
    let settings = smooth_options(call.options)?;
    let (fixed, mesh) = (flags(call.options, "fixed")?, mesh_of(mesh)?);
    let smoothed = match is_single(call.options)? {
        false => {
            call.run(move |on| Ok(smooth::run_surface::<DVec3>(on, &mesh, &fixed, &settings)?))
        }
        true => call.run(move |on| Ok(smooth::run_surface::<Vec3>(on, &mesh, &fixed, &settings)?)),
    }?;
    dict_of_smoothed(call, smoothed)
}

/// A smoothed volume mesh: the new points.
pub fn smooth_volume<'py>(call: &Call<'_, 'py>, mesh: &Dict<'py>) -> PyResult<Dict<'py>> {
    let settings = smooth_options(call.options)?;
    let (fixed, mesh) = (flags(call.options, "fixed")?, volume_of(mesh)?);
    let smoothed = match is_single(call.options)? {
        false => call.run(move |on| Ok(smooth::run::<DVec3>(on, &mesh, &fixed, &settings)?)),
        true => call.run(move |on| Ok(smooth::run::<Vec3>(on, &mesh, &fixed, &settings)?)),
    }?;
    dict_of_smoothed(call, smoothed)
}

fn dict_of_smoothed<'py>(call: &Call<'_, 'py>, smoothed: Smoothed) -> PyResult<Dict<'py>> {
    let result = PyDict::new(call.py);
    result.set_item("points", crate::arrays::points(call.py, smoothed.points)?)?;
    result.set_item("moving", smoothed.moving)?;
    result.set_item("sweeps", smoothed.moves.sweeps)?;
    Ok(result)
}

/// Flags of a dictionary; none where they are missing.
pub fn flags(options: &Dict<'_>, name: &str) -> PyResult<Vec<bool>> {
    let flags = entry::<u8, u8>(options, name)?.unwrap_or_default();
    Ok(flags.into_iter().map(|flag| flag != 0).collect())
}
