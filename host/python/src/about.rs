//! Data of a mesh as a whole, as a dictionary of plain Python values.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use trioxide::about::{About, GltfMaterials, Las, LasRecord, Unit};

type Dict<'py> = Bound<'py, PyDict>;

/// The data of the mesh in a dictionary.
pub fn about_of(mesh: &Dict<'_>) -> PyResult<Arc<About>> {
    let Some(dict) = inner(mesh, "about")? else {
        return Ok(Arc::default());
    };
    let names = [
        "unit",
        "names",
        "groups",
        "material_libraries",
        "textures",
        "las",
        "gltf_materials",
    ];
    check_names(&dict, "about", &names)?;
    Ok(Arc::new(About {
        unit: inner(&dict, "unit")?
            .map(|unit| unit_of(&unit))
            .transpose()?,
        names: value(&dict, "names")?,
        groups: value(&dict, "groups")?,
        material_libraries: value(&dict, "material_libraries")?,
        textures: value(&dict, "textures")?,
        las: inner(&dict, "las")?.map(|las| las_of(&las)).transpose()?,
        gltf_materials: inner(&dict, "gltf_materials")?
            .map(|materials| materials_of(&materials))
            .transpose()?,
    }))
}

fn unit_of(dict: &Dict<'_>) -> PyResult<Unit> {
    check_names(dict, "about[\"unit\"]", &["scale", "offset"])?;
    let unit = Unit {
        scale: value(dict, "scale")?,
        offset: value(dict, "offset")?,
    };
    let is_usable = unit.scale.iter().all(|scale| scale.is_normal())
        && unit.offset.iter().all(|offset| offset.is_finite());
    match is_usable {
        true => Ok(unit),
        false => Err(PyValueError::new_err(format!(
            "about[\"unit\"] needs three scales that are finite and not 0, and three finite offsets (got {:?} and {:?})",
            unit.scale, unit.offset
        ))),
    }
}

fn las_of(dict: &Dict<'_>) -> PyResult<Las> {
    let names = ["source", "encoding", "project", "system", "date", "records"];
    check_names(dict, "about[\"las\"]", &names)?;
    let record = |dict: &Dict<'_>| {
        let names = ["user", "id", "description", "data", "is_extended"];
        check_names(dict, "a record of about[\"las\"]", &names)?;
        Ok(LasRecord {
            user: value(dict, "user")?,
            id: value(dict, "id")?,
            description: value(dict, "description")?,
            data: value(dict, "data")?,
            is_extended: value(dict, "is_extended")?,
        })
    };
    let records: Vec<Dict<'_>> = value(dict, "records")?;
    Ok(Las {
        source: value(dict, "source")?,
        encoding: value(dict, "encoding")?,
        project: value(dict, "project")?,
        system: value(dict, "system")?,
        date: value(dict, "date")?,
        records: records.iter().map(record).collect::<PyResult<_>>()?,
    })
}

fn materials_of(dict: &Dict<'_>) -> PyResult<GltfMaterials> {
    check_names(dict, "about[\"gltf_materials\"]", &["json", "images"])?;
    Ok(GltfMaterials {
        json: value(dict, "json")?,
        images: value(dict, "images")?,
    })
}

/// Refuses a name that the dictionary does not have.
fn check_names(dict: &Dict<'_>, called: &str, names: &[&str]) -> PyResult<()> {
    for key in dict.keys() {
        let key = key.to_string();
        if !names.contains(&&*key) {
            let names = names.join(", ");
            return Err(PyValueError::new_err(format!(
                "{called} has no {key:?}: its names are {names}"
            )));
        }
    }
    Ok(())
}

/// The dictionary of that name in another, if it is there.
fn inner<'py>(dict: &Dict<'py>, name: &str) -> PyResult<Option<Dict<'py>>> {
    value(dict, name)
}

/// The value of that name, or its type's default where it is missing.
fn value<'py, T>(dict: &Dict<'py>, name: &str) -> PyResult<T>
where
    T: Default + for<'a> FromPyObject<'a, 'py>,
{
    let Some(found) = dict.get_item(name)?.filter(|found| !found.is_none()) else {
        return Ok(T::default());
    };
    found.extract::<T>().map_err(|error| {
        let error: PyErr = error.into();
        PyValueError::new_err(format!("about: {name}: {error}"))
    })
}

/// Puts the data of a mesh into its dictionary, unless there are none.
pub fn put_about(mesh: &Dict<'_>, about: &About) -> PyResult<()> {
    if *about == About::default() {
        return Ok(());
    }
    // Without `..`, so that a new member of `About` does not compile until it is put here.
    let About {
        unit,
        names,
        groups,
        material_libraries,
        textures,
        las,
        gltf_materials,
    } = about;
    let dict = PyDict::new(mesh.py());
    if let Some(Unit { scale, offset }) = unit {
        let unit = PyDict::new(mesh.py());
        unit.set_item("scale", scale)?;
        unit.set_item("offset", offset)?;
        dict.set_item("unit", unit)?;
    }
    if !names.is_empty() {
        dict.set_item("names", names)?;
    }
    if !groups.is_empty() {
        dict.set_item("groups", groups)?;
    }
    for (name, list) in [
        ("material_libraries", material_libraries),
        ("textures", textures),
    ] {
        if !list.is_empty() {
            dict.set_item(name, list)?;
        }
    }
    if let Some(las) = las {
        dict.set_item("las", dict_of_las(mesh.py(), las)?)?;
    }
    if let Some(GltfMaterials { json, images }) = gltf_materials {
        let materials = PyDict::new(mesh.py());
        let images = images.iter().map(|image| PyBytes::new(mesh.py(), image));
        materials.set_item("json", json)?;
        materials.set_item("images", images.collect::<Vec<_>>())?;
        dict.set_item("gltf_materials", materials)?;
    }
    mesh.set_item("about", dict)
}

fn dict_of_las<'py>(py: Python<'py>, las: &Las) -> PyResult<Dict<'py>> {
    let dict = PyDict::new(py);
    let records = las.records.iter().map(|record| {
        let dict = PyDict::new(py);
        dict.set_item("user", &record.user)?;
        dict.set_item("id", record.id)?;
        dict.set_item("description", &record.description)?;
        dict.set_item("data", PyBytes::new(py, &record.data))?;
        dict.set_item("is_extended", record.is_extended)?;
        Ok(dict)
    });
    dict.set_item("source", las.source)?;
    dict.set_item("encoding", las.encoding)?;
    dict.set_item("project", PyBytes::new(py, &las.project))?;
    dict.set_item("system", PyBytes::new(py, &las.system))?;
    dict.set_item("date", las.date)?;
    dict.set_item("records", records.collect::<PyResult<Vec<_>>>()?)?;
    Ok(dict)
}
