//! The mesh of a scene's parts, and notes.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use glam::DVec3;
use serde_json::Value;

use super::scene::Scene;
use super::{MATERIAL, OBJECT, Read, array, materials};
use crate::{Loaded, colors};
use trioxide_mesh::about::About;
use trioxide_mesh::fields::{Field, Fields};
use trioxide_mesh::mesh::{Faces, Mesh, VertexAttributes};

impl Scene<'_> {
    /// Returns the mesh, and notes.
    pub(super) fn finish(mut self) -> Read<Loaded> {
        if 3 * self.triangles.len() >= u32::MAX as usize {
            return Err(format!(
                "the faces have more than {} corners together",
                u32::MAX - 1
            ));
        }
        let count = self.points.len();
        let without_normals = std::mem::take(&mut self.normals.missing);
        let (mut normals, _) = self.normals.finish();
        if let Some(normals) = &mut normals {
            fill_normals(normals, &without_normals, &self.points, &self.triangles);
        }
        let without_normals = normals
            .is_some()
            .then(|| without_normals.iter().map(Range::len).sum());
        let (colors, without_colors) = self.colors.finish();
        let colors = colors.map(|all| colors::bytes_of(count, &[1.0], |i| all[i]));
        let (colors, mut notes) = colors
            .map(|all| (Some(all.bytes), all.notes))
            .unwrap_or_default();
        let (uvs, without_uvs) = self.uvs.finish();
        let mut missing = vec![
            (
                without_normals.unwrap_or(0),
                "have the normals of their faces".to_owned(),
            ),
            (without_colors, "are white".to_owned()),
            (without_uvs, "have the texture coordinates 0 0".to_owned()),
        ];
        let mut points = Fields::default();
        for column in self.fields {
            let (field, without) = column.finish(count, &self.accessors.copies)?;
            missing.push((without, format!("have 0 in the field {}", field.name)));
            points.push(field);
        }
        missing.retain(|(count, _)| *count > 0);
        if !missing.is_empty() {
            let list = missing
                .iter()
                .map(|(count, what)| format!("{count} vertices {what}"));
            let list = list.collect::<Vec<_>>().join(", ");
            notes.push(format!("not every part has all attributes: {list}"));
        }
        let mut mesh = Mesh {
            points: self.points,
            regions: self
                .of_faces
                .tag(2, 0)
                .filter(|_| !self.triangles.is_empty()),
            faces: Faces::Triangles(self.triangles),
            segments: self.segments,
            attributes: VertexAttributes {
                normals,
                colors,
                uvs,
            },
            ..Mesh::default()
        };
        mesh.fields.points = points;
        let mut about = About::default();
        match materials::read(self.accessors) {
            Ok(materials) => about.gltf_materials = materials,
            Err(reason) => notes.push(format!("its materials are left out: {reason}")),
        }
        let has_objects =
            self.objects.len() > 1 || self.objects.iter().any(|name| !name.is_empty());
        let names = [
            (OBJECT, 0, self.objects),
            (MATERIAL, 1, materials::names(self.accessors.document)),
        ];
        for (name, k, values) in names.into_iter().skip(usize::from(!has_objects)) {
            let lists = [
                (&self.of_faces, &mut mesh.fields.cells),
                (&self.of_segments, &mut mesh.fields.sides),
            ];
            for (runs, fields) in lists {
                let numbers = runs
                    .tag(k, -1)
                    .filter(|numbers| numbers.iter().any(|&number| number >= 0));
                if let Some(numbers) = numbers {
                    fields.push(Field::scalars(name, numbers));
                    about.names.insert(name.to_owned(), values.clone());
                }
            }
        }
        add_left_out(self.accessors.document, &about, &mut self.left_out);
        mesh.about = Arc::new(about);
        if !self.left_out.is_empty() {
            let names: Vec<String> = self.left_out.into_iter().collect();
            notes.push(format!("left out: {}", names.join(", ")));
        }
        Ok(Loaded { mesh, notes })
    }
}

/// Adds the kinds of data beside the meshes that a mesh does not hold.
fn add_left_out(document: &Value, about: &About, left_out: &mut BTreeSet<String>) {
    for name in ["animations", "skins", "cameras"] {
        if !array(&document[name]).is_empty() {
            left_out.insert(name.to_owned());
        }
    }
    if document["asset"].get("copyright").is_some() {
        left_out.insert("copyright".to_owned());
    }
    let mut with_extras = ["nodes", "meshes"]
        .into_iter()
        .flat_map(|name| array(&document[name]));
    if with_extras.any(|value| value.get("extras").is_some()) {
        left_out.insert("extras of nodes or meshes".to_owned());
    }
    let kept = about.gltf_materials.as_ref();
    let kept = kept.and_then(|kept| serde_json::from_str::<Value>(&kept.json).ok());
    let kept = array(
        kept.as_ref()
            .map_or(&Value::Null, |kept| &kept["extensionsUsed"]),
    );
    let lost = array(&document["extensionsUsed"]).iter();
    // Smaller numbers are read as they are.
    let lost = lost.filter(|name| !kept.contains(name) && *name != "KHR_mesh_quantization");
    left_out.extend(lost.filter_map(Value::as_str).map(str::to_owned));
}

/// Sets the normals of vertices without one to those of the faces around them, weighted by area.
fn fill_normals(
    normals: &mut [DVec3],
    missing: &[Range<usize>],
    points: &[DVec3],
    triangles: &[[u32; 3]],
) {
    let is_missing = |v: usize| {
        let after = missing.partition_point(|range| range.start <= v);
        after > 0 && missing[after - 1].contains(&v)
    };
    if missing.is_empty() {
        return;
    }
    // The vertices of a triangle are of one part.
    for triangle in triangles
        .iter()
        .filter(|triangle| is_missing(triangle[0] as usize))
    {
        let [a, b, c] = triangle.map(|v| points[v as usize]);
        let normal = (b - a).cross(c - a);
        triangle.iter().for_each(|&v| normals[v as usize] += normal);
    }
    for normal in missing.iter().flat_map(|range| range.clone()) {
        normals[normal] = normals[normal].normalize_or_zero();
    }
}
