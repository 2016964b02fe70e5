//! Distances between two meshes.

use glam::{DVec2, DVec3};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use trioxide::ids::Vertex;
use trioxide::{Buffer, Device, forms};
use trioxide_operations as operations;
use trioxide_operations::compare::{FIELD, Options, Totals};

use super::Family;
use crate::arrays::list;
use crate::call::{Call, Dict, dict_of_counts, put_counts};
use crate::meshes::{mesh_of, missing};
use crate::number::Number;
use crate::options::{command, parse};
use crate::resident::{FLOATS, INDICES, Results, buffer, found, needed};

pub const FAMILY: Family = Family {
    name: "compare",
    options: command::<Options>,
    step: None,
    runs: &[
        ("compare", compare),
        ("compare_on_device", compare_on_device),
    ],
};

/// The meshes `mesh` and `other`.
fn compare<'py>(call: &Call<'_, 'py>, meshes: &Dict<'py>) -> PyResult<Dict<'py>> {
    let mesh = |name| -> PyResult<_> {
        let mesh = meshes.get_item(name)?.ok_or_else(|| missing(name))?;
        mesh_of(mesh.cast::<PyDict>()?)
    };
    let (a, b) = (mesh("mesh")?, mesh("other")?);
    let options: Options = parse(call.options)?;
    let (mut a, totals) = call.operate(move |on| {
        let (a, report) = operations::compare(on, a, &b, options)?;
        Ok((report.run, (a, report.totals)))
    })?;
    let result = PyDict::new(call.py);
    put(&result, &totals)?;
    let field = a.fields.points.take(FIELD).map(|field| field.values);
    if let Some(trioxide::fields::Values::F64(distances)) = field {
        result.set_item("distances", list(call.py, distances))?;
    }
    Ok(result)
}

/// Points and triangles, which may be missing; and those of the other mesh, with `other_` before their names.
fn compare_on_device<'py>(call: &Call<'_, 'py>, arrays: &Dict<'py>) -> PyResult<Dict<'py>> {
    let (a, b) = (
        Given::of(arrays, "points", "triangles")?,
        Given::of(arrays, "other_points", "other_triangles")?,
    );
    let options: Options = parse(call.options)?;
    let (distances, totals) = call.operate(move |on| {
        let (a, b) = (a.shape(on)?, b.shape(on)?);
        let shapes = [(&a.0, &a.1), (&b.0, &b.1)];
        let (distances, report) = operations::compare::resident(on, shapes, options)?;
        Ok((report.run, (distances, report.totals)))
    })?;
    let results = Results::new(call)?;
    results.put("distances", distances, Number::F64, 0)?;
    put(&results.dict, &totals)?;
    Ok(results.dict)
}

/// Arrays of a device.
struct Given {
    points: Points,
    corners: Option<Buffer<Vertex>>,
}

enum Points {
    Plane(Buffer<DVec2>),
    Space(Buffer<DVec3>),
}

impl Given {
    fn of(arrays: &Dict<'_>, points: &str, triangles: &str) -> PyResult<Self> {
        let is_planar = found(arrays, points)?.is_some_and(|p| p.get().shape().get(1) == Some(&2));
        let corners: Option<Buffer<[u32; 3]>> = buffer(arrays, triangles, INDICES, 3)?;
        Ok(Self {
            points: match is_planar {
                true => Points::Plane(needed(arrays, points, FLOATS, 2)?),
                false => Points::Space(needed(arrays, points, FLOATS, 3)?),
            },
            corners: corners.map(Buffer::cast),
        })
    }

    fn shape(self, on: &Device) -> trioxide::Result<(Buffer<DVec3>, Buffer<Vertex>)> {
        let points = match self.points {
            Points::Plane(points) => forms::lift(on, &points)?,
            Points::Space(points) => points,
        };
        let corners = match self.corners {
            Some(corners) => corners,
            None => on.uninitialized(0)?,
        };
        Ok((points, corners))
    }
}

/// The numbers of a report.
fn put(result: &Dict<'_>, totals: &Totals) -> PyResult<()> {
    for (side, table) in totals.tables() {
        let rows = PyDict::new(result.py());
        for (from, counts) in table {
            rows.set_item(from, dict_of_counts(result.py(), counts)?)?;
        }
        result.set_item(side, rows)?;
    }
    put_counts(result, totals.counts())
}
