//! glTF 2.0, read: `.gltf` with its buffers inline or beside, and `.glb`.
//!
//! <https://registry.khronos.org/glTF/specs/2.0/glTF-2.0.html>. The triangles, strips and fans of all meshes in the
//! scene, placed by their nodes, become one mesh; lines are segments, points vertices. Normals, colours and texture
//! coordinates are read if every part has them. Materials, textures, skins and animations are left out. Sparse
//! accessors and compressed geometry (Draco, meshopt) are refused. The y axis remains the second axis; in glTF it
//! points up.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::path::Path;

use glam::{DMat3, DMat4, DQuat, DVec2, DVec3, DVec4};
use serde_json::Value;

use super::faces::FaceList;
use super::volume::bytes::{Order, read_f64};
use super::volume::vtk_cells::split_strip;
use super::{Loaded, ReadOptions, map_file};
use crate::references::{Copies, References};
pub(crate) use buffers::chunks;
use buffers::{Buffer, Opener};
use trioxide_mesh::fields::NumberType;
use trioxide_mesh::mesh::{Mesh, Segment, VertexAttributes};
use trioxide_mesh::{Error, Result};

mod buffers;

type Read<T> = std::result::Result<T, String>;

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
    let mut scene = Scene {
        document: &document,
        buffers,
        copies: opener.copies,
        mesh: Mesh::default(),
        faces: FaceList::default(),
        has: [true; 3],
        parts: 0,
    };
    scene.visit()?;
    scene.finish()
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn index(value: &Value) -> Option<usize> {
    usize::try_from(value.as_u64()?).ok()
}

struct Scene<'a> {
    document: &'a Value,
    buffers: Vec<Buffer<'a>>,
    /// Count of accessors' copies: nodes may share a mesh, and primitives an accessor, any number of times.
    copies: Copies,
    mesh: Mesh,
    faces: FaceList,
    /// Whether all parts so far had normals, colours and texture coordinates.
    has: [bool; 3],
    parts: usize,
}

/// Numbers of an accessor, and their number per element.
struct Numbers {
    values: Vec<f64>,
    width: usize,
}

impl Scene<'_> {
    /// Reads the meshes of all nodes of the scene.
    fn visit(&mut self) -> Read<()> {
        let document = self.document;
        let nodes = array(&document["nodes"]);
        let scene = index(&document["scene"]).unwrap_or(0);
        let mut open: Vec<(usize, DMat4)> = match array(&document["scenes"]).get(scene) {
            Some(scene) => array(&scene["nodes"]).iter().filter_map(index).collect(),
            // Without a scene, every node that is no child is a root.
            None => {
                let children = nodes.iter().flat_map(|node| array(&node["children"]));
                let children: std::collections::HashSet<_> = children.filter_map(index).collect();
                (0..nodes.len())
                    .filter(|i| !children.contains(i))
                    .collect::<Vec<_>>()
            }
        }
        .into_iter()
        .map(|node| (node, DMat4::IDENTITY))
        .collect();
        open.reverse();
        let mut seen = vec![false; nodes.len()];
        while let Some((i, parent)) = open.pop() {
            let node = nodes
                .get(i)
                .ok_or_else(|| format!("there is no node {i}"))?;
            if std::mem::replace(&mut seen[i], true) {
                return Err(format!("node {i} is in the scene twice"));
            }
            let matrix = parent * local_matrix(node);
            if let Some(mesh) = index(&node["mesh"]) {
                let mesh = array(&document["meshes"])
                    .get(mesh)
                    .ok_or_else(|| format!("there is no mesh {mesh}"))?;
                for primitive in array(&mesh["primitives"]) {
                    self.push(primitive, matrix)?;
                }
            }
            let children = array(&node["children"]).iter().filter_map(index).rev();
            open.extend(children.map(|child| (child, matrix)));
        }
        Ok(())
    }

    fn push(&mut self, primitive: &Value, matrix: DMat4) -> Read<()> {
        if primitive["extensions"]
            .get("KHR_draco_mesh_compression")
            .is_some()
        {
            return Err(
                "the geometry is compressed by Draco, which is not read: write it uncompressed"
                    .to_owned(),
            );
        }
        let attributes = &primitive["attributes"];
        let points = match index(&attributes["POSITION"]) {
            Some(accessor) => self.accessor(accessor, 3..=3)?,
            // Morph targets or an extension give them.
            None => return Ok(()),
        };
        let first = self.mesh.points.len();
        let count = points.values.len() / 3;
        if first + count >= u32::MAX as usize {
            return Err(format!(
                "{} vertices are more than 32-bit indices can name",
                first + count
            ));
        }
        let linear = DMat3::from_mat4(matrix);
        let vectors = |numbers: &Numbers| -> Vec<DVec3> {
            let vectors = numbers.values.chunks_exact(numbers.width);
            vectors.map(|v| DVec3::new(v[0], v[1], v[2])).collect()
        };
        let points = vectors(&points);
        self.mesh
            .points
            .extend(points.iter().map(|&p| matrix.transform_point3(p)));
        let optional = |name: &str, widths: RangeInclusive<usize>| -> Read<Option<Numbers>> {
            match index(&attributes[name]) {
                None => Ok(None),
                Some(accessor) => {
                    let numbers = self.accessor(accessor, widths)?;
                    let is_full = numbers.values.len() == count * numbers.width;
                    is_full
                        .then_some(Some(numbers))
                        .ok_or_else(|| format!("{name} has not {count} elements"))
                }
            }
        };
        let [normals, colors, uvs] = [
            optional("NORMAL", 3..=3)?,
            optional("COLOR_0", 3..=4)?,
            optional("TEXCOORD_0", 2..=2)?,
        ];
        let VertexAttributes {
            normals: all_normals,
            colors: all_colors,
            uvs: all_uvs,
        } = &mut self.mesh.attributes;
        match normals {
            // Perpendicular to the surface after any linear map.
            Some(normals) if self.has[0] && linear.determinant() != 0.0 => {
                let turned = linear.inverse().transpose();
                let normals = vectors(&normals);
                let all = all_normals.get_or_insert_default();
                all.extend(normals.iter().map(|&n| (turned * n).normalize_or_zero()));
            }
            _ => self.has[0] = false,
        }
        match colors {
            Some(colors) if self.has[1] => {
                let channel = |x: f64| (255.0 * x).round() as u8;
                let rows = colors.values.chunks_exact(colors.width);
                let all = all_colors.get_or_insert_default();
                all.extend(rows.map(|c| {
                    let alpha = c.get(3).copied().map_or(u8::MAX, channel);
                    [channel(c[0]), channel(c[1]), channel(c[2]), alpha]
                }));
            }
            _ => self.has[1] = false,
        }
        match uvs {
            Some(uvs) if self.has[2] => {
                let rows = uvs.values.chunks_exact(uvs.width);
                let all = all_uvs.get_or_insert_default();
                all.extend(rows.map(|uv| DVec2::new(uv[0], uv[1])));
            }
            _ => self.has[2] = false,
        }
        self.parts += 1;
        let corners = self.corners(primitive, count)?;
        // A mirroring matrix reverses the triangles.
        self.push_elements(
            primitive,
            &corners,
            first as u32,
            linear.determinant() < 0.0,
        )
    }

    /// The vertices of a primitive in the order of its indices, or 0, 1, 2, … without indices.
    fn corners(&self, primitive: &Value, count: usize) -> Read<Vec<u32>> {
        let Some(accessor) = index(&primitive["indices"]) else {
            return Ok((0..count as u32).collect());
        };
        let numbers = self.accessor(accessor, 1..=1)?.values.into_iter();
        let corners = numbers.map(|corner| match corner >= 0.0 && corner < count as f64 {
            true => Ok(corner as u32),
            false => Err(format!(
                "vertex {corner} does not exist: {count} vertices are numbered from 0"
            )),
        });
        corners.collect()
    }

    fn push_elements(
        &mut self,
        primitive: &Value,
        corners: &[u32],
        first: u32,
        mirrored: bool,
    ) -> Read<()> {
        let mut triangles = Vec::new();
        let mut lines: Vec<[u32; 2]> = Vec::new();
        match primitive.get("mode").map_or(Some(4), |mode| mode.as_u64()) {
            Some(0) => {}
            Some(1) => lines.extend(corners.as_chunks().0),
            Some(mode @ (2 | 3)) => {
                lines.extend(corners.windows(2).map(|pair| [pair[0], pair[1]]));
                if let (2, [start, .., end]) = (mode, corners) {
                    lines.push([*end, *start]);
                }
            }
            Some(4) => {
                if !corners.len().is_multiple_of(3) {
                    return Err(format!("{} corners are no triangles", corners.len()));
                }
                triangles.extend_from_slice(corners);
            }
            Some(5) => split_strip(corners, &mut triangles),
            Some(6) => {
                let ring = corners.get(1..).unwrap_or_default();
                triangles.extend(
                    ring.windows(2)
                        .flat_map(|pair| [corners[0], pair[0], pair[1]]),
                );
            }
            mode => return Err(format!("there is no mode {mode:?} of primitives")),
        }
        for triangle in triangles.as_chunks::<3>().0 {
            let mut triangle = triangle.map(|corner| first + corner);
            if mirrored {
                triangle.swap(1, 2);
            }
            triangle.iter().for_each(|&v| self.faces.push_vertex(v));
            self.faces.finish_face()?;
        }
        self.mesh
            .segments
            .extend(lines.into_iter().map(|ends| Segment {
                ends: ends.map(|end| first + end),
                marker: 0,
            }));
        Ok(())
    }

    /// The bytes of a buffer: the declared number, or all.
    fn bytes_of_buffer(&self, i: usize) -> Option<&[u8]> {
        let bytes = self.buffers.get(i)?;
        let length = index(&self.document["buffers"][i]["byteLength"]);
        bytes.get(..length.unwrap_or(bytes.len()))
    }

    /// The numbers of an accessor. `widths` are the allowed numbers per element.
    fn accessor(&self, number: usize, widths: RangeInclusive<usize>) -> Read<Numbers> {
        let fault = |reason: String| format!("accessor {number}: {reason}");
        let accessor = array(&self.document["accessors"])
            .get(number)
            .ok_or_else(|| fault("it does not exist".to_owned()))?;
        if accessor.get("sparse").is_some() {
            return Err(fault(
                "sparse accessors are not read: write it dense".to_owned(),
            ));
        }
        let width = match accessor["type"].as_str().unwrap_or_default() {
            "SCALAR" => 1,
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" => 4,
            other => return Err(fault(format!("its type is `{other}`"))),
        };
        let (kind, most) = match accessor["componentType"].as_u64().unwrap_or(0) {
            5120 => (NumberType::I8, 127.0),
            5121 => (NumberType::U8, 255.0),
            5122 => (NumberType::I16, 32767.0),
            5123 => (NumberType::U16, 65535.0),
            5125 => (NumberType::U32, 1.0),
            5126 => (NumberType::F32, 1.0),
            other => return Err(fault(format!("its component type is {other}"))),
        };
        let size = kind.size();
        if !widths.contains(&width) {
            return Err(fault(format!(
                "its elements have {width} numbers, not {}",
                widths.start()
            )));
        }
        let count = index(&accessor["count"]).ok_or_else(|| fault("it has no count".to_owned()))?;
        let view = index(&accessor["bufferView"])
            .and_then(|view| array(&self.document["bufferViews"]).get(view))
            .ok_or_else(|| fault("it has no bufferView".to_owned()))?;
        let buffer = index(&view["buffer"])
            .and_then(|i| self.bytes_of_buffer(i))
            .ok_or_else(|| fault("there is no such buffer".to_owned()))?;
        let offset = |value: &Value| index(value).unwrap_or(0);
        let begin = offset(&view["byteOffset"]);
        let bytes = begin
            .checked_add(offset(&view["byteLength"]))
            .and_then(|end| buffer.get(begin..end))
            .and_then(|bytes| bytes.get(offset(&accessor["byteOffset"])..))
            .ok_or_else(|| fault("its data is outside of the buffer".to_owned()))?;
        let stride = match offset(&view["byteStride"]) {
            0 => width * size,
            stride => stride,
        };
        let last = count.saturating_sub(1).checked_mul(stride);
        let end = last.and_then(|last| last.checked_add(width * size));
        if stride < width * size || (count > 0 && end.is_none_or(|end| end > bytes.len())) {
            return Err(fault(format!(
                "{count} elements are announced, but {} bytes are there",
                bytes.len()
            )));
        }
        let is_normalized = accessor["normalized"].as_bool().unwrap_or(false);
        let is_scaled = is_normalized && most > 1.0;
        let number = |bytes: &[u8]| match (read_f64(kind, bytes, Order::Little), is_scaled) {
            (value, true) => (value / most).max(-1.0),
            (value, false) => value,
        };
        self.copies.count(count, count).map_err(fault)?;
        let mut values = Vec::with_capacity(count * width);
        for i in 0..count {
            for k in 0..width {
                let at = i * stride + k * size;
                values.push(number(&bytes[at..at + size]));
            }
        }
        Ok(Numbers { values, width })
    }

    fn finish(mut self) -> Read<Loaded> {
        let attributes = &mut self.mesh.attributes;
        let mut left_out = Vec::new();
        let [normals, colors, uvs] = self.has;
        if !normals && attributes.normals.take().is_some() {
            left_out.push("normals");
        }
        if !colors && attributes.colors.take().is_some() {
            left_out.push("colours");
        }
        if !uvs && attributes.uvs.take().is_some() {
            left_out.push("texture coordinates");
        }
        self.mesh.faces = FaceList::concat(vec![self.faces])?;
        let mut loaded = Loaded::from(self.mesh);
        if !left_out.is_empty() {
            let note = format!(
                "not every part has {}: they are left out",
                left_out.join(" and ")
            );
            loaded.notes.push(note);
        }
        let others = ["materials", "animations", "skins"].into_iter();
        let others: Vec<_> = others
            .filter(|name| !array(&self.document[*name]).is_empty())
            .collect();
        if !others.is_empty() {
            loaded
                .notes
                .push(format!("its {} are left out", others.join(" and ")));
        }
        Ok(loaded)
    }
}

/// The placement of a node's children.
fn local_matrix(node: &Value) -> DMat4 {
    let numbers = |name: &str| -> Vec<f64> {
        array(&node[name])
            .iter()
            .filter_map(Value::as_f64)
            .collect()
    };
    if let Ok(matrix) = <[f64; 16]>::try_from(numbers("matrix")) {
        return DMat4::from_cols_array(&matrix);
    }
    let vector =
        |name, default| <[f64; 3]>::try_from(numbers(name)).map_or(default, DVec3::from_array);
    let rotation = <[f64; 4]>::try_from(numbers("rotation"));
    let rotation = rotation.map_or(DVec4::W, DVec4::from_array);
    DMat4::from_scale_rotation_translation(
        vector("scale", DVec3::ONE),
        DQuat::from_vec4(rotation),
        vector("translation", DVec3::ZERO),
    )
}
