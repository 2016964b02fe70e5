//! glTF 2.0: `.gltf` with its buffers inline or beside, and `.glb`.
//!
//! <https://registry.khronos.org/glTF/specs/2.0/glTF-2.0.html>. The triangles, strips and fans of all meshes in the
//! scene, placed by their nodes, become one mesh; lines are segments, points vertices. Parts with the same attributes
//! at the same place share their vertices. Skins, animations and morph targets are left out; sparse accessors and
//! compressed geometry (Draco, meshopt) are refused. The y axis remains the second axis; in glTF it points up.
//!
//! | glTF | mesh |
//! | --- | --- |
//! | node with a mesh | face field `object` and its names, if there are several |
//! | material of a primitive | face field `material` and its names; materials, textures, samplers and images are kept |
//! | `extras.region`, `extras.marker` of a primitive | region of its faces, marker of its segments |
//! | `TEXCOORD_0` | texture coordinates; v becomes 1 - v: other formats count it from the image's last row |
//! | `_NAME`, `TEXCOORD_1`, `COLOR_1`, … | fields of points |
//!
//! Where a part lacks an attribute of another one, it is filled in, with a note.

use std::collections::HashMap;
use std::path::Path;

use serde_json::Value;

use super::{Loaded, ReadOptions, map_file};
use crate::references::{Copies, References};
use accessors::Accessors;
pub(crate) use attributes::{lost_fields, rounding};
use buffers::Opener;
pub(crate) use buffers::chunks;
pub(crate) use materials::named_files;
use scene::Scene;
use trioxide_mesh::{Error, Result};
pub(crate) use write::write;

mod accessors;
mod attributes;
mod buffers;
mod columns;
mod finish;
mod materials;
mod parts;
mod scene;
mod view;
mod write;

type Read<T> = std::result::Result<T, String>;

/// Name of the field of the numbers of nodes.
pub(crate) const OBJECT: &str = "object";
/// Name of the field of the numbers of materials.
pub(crate) const MATERIAL: &str = "material";

pub(crate) fn read(path: &Path, options: ReadOptions) -> Result<Loaded> {
    let file = map_file(path)?;
    parse(&file, References::of(path, options)).map_err(|reason| Error::format(path, reason))
}

/// The mesh of a file. `references` finds the buffers in other files.
pub(crate) fn parse(file: &[u8], references: References) -> Read<Loaded> {
    let (json, binary) = match file.starts_with(b"glTF") {
        true => chunks(file)?,
        // RFC 8259 lets readers skip a byte-order mark, which glTF forbids.
        false => (file.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(file), None),
    };
    let document: Value =
        serde_json::from_slice(json).map_err(|error| format!("the JSON is broken: {error}"))?;
    let version = document["asset"]["version"].as_str().unwrap_or_default();
    if !version.starts_with("2.") {
        return Err(format!("expected an asset of version 2, found `{version}`"));
    }
    for extension in array(&document["extensionsRequired"]) {
        let extension = extension.as_str().unwrap_or_default();
        if matches!(
            extension,
            "KHR_draco_mesh_compression" | "EXT_meshopt_compression"
        ) {
            return Err(format!(
                "the geometry is compressed by {extension}, which is not read: write it uncompressed"
            ));
        }
    }
    let mut opener = Opener {
        binary,
        references,
        files: HashMap::new(),
        copies: Copies::new(file.len()),
    };
    let buffers = array(&document["buffers"]).iter().enumerate();
    let buffers = buffers.map(|(i, buffer)| opener.open(buffer, i));
    let buffers = buffers.collect::<Read<Vec<_>>>()?;
    for (i, buffer) in buffers.iter().enumerate() {
        let declared = index(&document["buffers"][i]["byteLength"]).unwrap_or(0);
        if declared > buffer.len() {
            return Err(format!(
                "buffer {i} declares {declared} bytes, but {} are there",
                buffer.len()
            ));
        }
    }
    let accessors = Accessors {
        document: &document,
        buffers,
        copies: opener.copies,
    };
    let mut scene = Scene::new(&accessors);
    scene.visit()?;
    scene.finish()
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn index(value: &Value) -> Option<usize> {
    usize::try_from(value.as_u64()?).ok()
}

#[cfg(test)]
mod tests;
