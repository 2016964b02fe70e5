//! Materials, with the textures, samplers and images that they refer to: kept as they are, for the writer.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Map, Value, json};

use super::accessors::Accessors;
use super::parts::held;
use super::{MATERIAL, Read, array, index};
use crate::text::listed;
use trioxide_mesh::about::GltfMaterials;
use trioxide_mesh::mesh::Mesh;

/// Arrays of a document that materials refer to.
pub(super) const ARRAYS: [&str; 4] = ["materials", "textures", "samplers", "images"];
/// Lists of the names of extensions.
const EXTENSIONS: [&str; 2] = ["extensionsUsed", "extensionsRequired"];

/// Returns the materials of a document, if it has any.
pub(super) fn read(accessors: &Accessors) -> Read<Option<GltfMaterials>> {
    let mut kept = Map::new();
    for name in ARRAYS {
        if !array(&accessors.document[name]).is_empty() {
            kept.insert(name.to_owned(), accessors.document[name].clone());
        }
    }
    if kept.is_empty() {
        return Ok(None);
    }
    let mut images = Vec::new();
    let list = kept.get_mut("images").and_then(Value::as_array_mut);
    for (i, image) in list.into_iter().flatten().enumerate() {
        let Some(view) = index(&image["bufferView"]) else {
            continue;
        };
        let (bytes, _) = accessors
            .view(view)
            .map_err(|reason| format!("image {i}: {reason}"))?;
        accessors.copies.count(bytes.len(), bytes.len())?;
        image["bufferView"] = images.len().into();
        images.push(bytes.to_vec());
    }
    // Other extensions belong to parts that are not kept.
    let mut used = BTreeSet::new();
    kept.values()
        .for_each(|value| add_extensions(value, &mut used));
    for name in EXTENSIONS {
        let mut list = array(&accessors.document[name]).to_vec();
        list.retain(|name| name.as_str().is_some_and(|name| used.contains(name)));
        if !list.is_empty() {
            kept.insert(name.to_owned(), list.into());
        }
    }
    let json = Value::Object(kept).to_string();
    Ok(Some(GltfMaterials { json, images }))
}

/// Adds the names of the extensions in a value.
fn add_extensions(value: &Value, names: &mut BTreeSet<String>) {
    match value {
        Value::Array(list) => list.iter().for_each(|value| add_extensions(value, names)),
        Value::Object(object) => {
            for (key, value) in object {
                if key == "extensions" {
                    let all = value.as_object().into_iter();
                    names.extend(all.flat_map(|all| all.keys()).cloned());
                }
                add_extensions(value, names);
            }
        }
        _ => {}
    }
}

/// Returns the names of a document's materials; empty where they have none.
pub(super) fn names(document: &Value) -> Vec<String> {
    let name = |material: &Value| material["name"].as_str().unwrap_or_default().to_owned();
    array(&document["materials"]).iter().map(name).collect()
}

/// Returns the sentence on image files that a written file names.
pub(crate) fn named_files(mesh: &Mesh) -> Vec<String> {
    let kept = mesh.about.gltf_materials.as_ref();
    let kept = kept.and_then(|kept| serde_json::from_str::<Value>(&kept.json).ok());
    let images = array(kept.as_ref().map_or(&Value::Null, |kept| &kept["images"]));
    let names = images.iter().filter_map(|image| image["uri"].as_str());
    let names: Vec<String> = names
        .filter(|uri| !uri.starts_with("data:"))
        .map(str::to_owned)
        .collect();
    let note = format!(
        "the output names files of images, from its own folder: {}",
        listed(names.iter().cloned())
    );
    (!names.is_empty()).then_some(note).into_iter().collect()
}

/// Returns the JSON of kept materials, which anyone may have made.
fn checked(kept: &GltfMaterials) -> Read<Map<String, Value>> {
    let error = |reason: String| format!("the materials that the mesh has from glTF: {reason}");
    let json: Map<String, Value> =
        serde_json::from_str(&kept.json).map_err(|reason| error(reason.to_string()))?;
    for (name, list) in &json {
        let mut known = ARRAYS.iter().chain(&EXTENSIONS);
        if !known.any(|known| known == name) || !list.is_array() {
            return Err(error(format!("{name:?} is not one of their lists")));
        }
    }
    let images = json.get("images").map_or(&[][..], array);
    for (i, image) in images.iter().enumerate() {
        let view = image.get("bufferView");
        if view.is_some_and(|view| index(view).is_none_or(|view| view >= kept.images.len())) {
            return Err(error(format!("image {i} has no bytes")));
        }
    }
    Ok(json)
}

/// Returns a material for each name that the field's values have.
fn named(mesh: &Mesh) -> Map<String, Value> {
    let names = mesh.about.names.get(MATERIAL).into_iter().flatten();
    let named = |name: &String| match name.is_empty() {
        true => json!({}),
        false => json!({ "name": name }),
    };
    let list: Vec<Value> = names.map(named).collect();
    let fields = [&mesh.fields.cells, &mesh.fields.sides];
    let is_used = !list.is_empty() && fields.iter().any(|fields| held(fields, MATERIAL).is_some());
    let entry = is_used.then(|| ("materials".to_owned(), list.into()));
    entry.into_iter().collect()
}

/// The materials that a writer refers to.
pub(super) struct Materials {
    /// The arrays of the file that the mesh was read from, or a material of each name.
    json: Map<String, Value>,
    /// Number of materials in them: a value of the field below it is an index.
    given: usize,
    /// Indices of materials that only the field has.
    others: HashMap<i64, usize>,
}

impl Materials {
    pub(super) fn of(mesh: &Mesh) -> Read<Materials> {
        let json = match &mesh.about.gltf_materials {
            Some(kept) => checked(kept)?,
            None => named(mesh),
        };
        Ok(Materials {
            given: json.get("materials").map_or(0, |list| array(list).len()),
            json,
            others: HashMap::new(),
        })
    }

    /// Returns the index of the material that a value of the field means.
    pub(super) fn index(&mut self, value: i64) -> usize {
        if let Some(index) = usize::try_from(value)
            .ok()
            .filter(|index| *index < self.given)
        {
            return index;
        }
        let next = self.given + self.others.len();
        let index = *self.others.entry(value).or_insert(next);
        if index == next {
            let list = self.json.entry("materials").or_insert_with(|| json!([]));
            if let Some(list) = list.as_array_mut() {
                list.push(json!({"name": format!("material_{value}")}));
            }
        }
        index
    }

    /// Lets images with bytes of their own refer to the views from `first` on.
    pub(super) fn place_images(&mut self, first: usize) {
        let images = self.json.get_mut("images").and_then(Value::as_array_mut);
        for image in images.into_iter().flatten() {
            if let Some(i) = index(&image["bufferView"]) {
                image["bufferView"] = (first + i).into();
            }
        }
    }

    /// Returns the arrays of the file.
    pub(super) fn into_json(self) -> Map<String, Value> {
        self.json
    }
}
