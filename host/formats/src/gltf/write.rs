//! The writer.
//!
//! A part is a primitive, an object a node with a mesh. The parts of an object share one list of vertices, and so do
//! objects, unless each has a range of the vertices of its own. `.gltf` has its data as a URI: one file, whole or not
//! there.

use std::collections::HashMap;
use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::path::Path;

use base64::engine::general_purpose::{GeneralPurpose, STANDARD};
use base64::write::EncoderWriter;
use serde_json::{Map, Value, json};

use super::OBJECT;
use super::attributes::{Placement, attributes};
use super::materials::Materials;
use super::parts::{Object, Parts, objects};
use super::view::{INDICES, VERTICES, View};
use crate::atomic_file::{Out, write_atomically};
use crate::triangles;
use trioxide_mesh::mesh::Mesh;
use trioxide_mesh::{Error, Result};

/// A document under construction, and the data that it refers to.
#[derive(Default)]
struct Document<'a> {
    views: Vec<View<'a>>,
    accessors: Vec<Value>,
    objects: Vec<Object>,
}

impl<'a> Document<'a> {
    /// Adds the attributes of all vertices, with accessors for each object.
    fn add_attributes(&mut self, mesh: &'a Mesh, placement: &Placement) {
        let attributes = attributes(mesh, placement);
        let view = self.views.len();
        let mut known: Option<(Range<usize>, Map<String, Value>)> = None;
        for object in &mut self.objects {
            let vertices = object.vertices.clone();
            if let Some((_, names)) = known.as_ref().filter(|(range, _)| *range == vertices) {
                object.attributes = names.clone();
                continue;
            }
            for (k, attribute) in attributes.iter().enumerate() {
                let mut accessor = attribute.accessor.clone();
                accessor["bufferView"] = (view + k).into();
                accessor["byteOffset"] = (vertices.start * attribute.view.stride).into();
                accessor["count"] = vertices.len().into();
                if attribute.has_ends {
                    let [least, largest] = placement.ends(&mesh.points[vertices.clone()]);
                    accessor["min"] = json!(least);
                    accessor["max"] = json!(largest);
                }
                let name = attribute.name.clone();
                object.attributes.insert(name, self.accessors.len().into());
                self.accessors.push(accessor);
            }
            known = Some((vertices, object.attributes.clone()));
        }
        self.views
            .extend(attributes.into_iter().map(|attribute| attribute.view));
    }

    /// Adds parts of elements with `N` vertices each.
    fn add_parts<const N: usize>(
        &mut self,
        parts: Parts,
        materials: &mut Materials,
        corners: impl Fn(usize) -> [u32; N] + Sync + 'a,
    ) {
        let ranges = self.objects.iter().map(|object| object.vertices.len());
        // The largest 16-bit number is no index.
        let (size, kind) = match ranges.max() {
            None | Some(..=65535) => (2, 5123),
            _ => (4, 5125),
        };
        let (mode, tag) = match N {
            3 => (None, "region"),
            _ => (Some(1), "marker"),
        };
        let places: HashMap<_, _> = (self.objects.iter().enumerate())
            .map(|(place, object)| (object.number, place))
            .collect();
        let (mut begin, mut firsts) = (0, Vec::new());
        for &([number, material, value], count) in &parts.parts {
            let object = &mut self.objects[places[&number]];
            let mut primitive = json!({
                "attributes": object.attributes,
                "indices": self.accessors.len(),
            });
            if let Some(mode) = mode {
                primitive["mode"] = mode.into();
            }
            if let Some(material) = material {
                primitive["material"] = materials.index(material).into();
            }
            if let Some(value) = value {
                primitive["extras"] = json!({tag: value});
            }
            object.primitives.push(primitive);
            self.accessors.push(json!({
                "bufferView": self.views.len(),
                "byteOffset": begin * N * size,
                "componentType": kind,
                "count": count * N,
                "type": "SCALAR",
            }));
            let first = object.vertices.start as u32;
            if firsts.last().is_none_or(|&(_, before)| before != first) {
                firsts.push((begin, first));
            }
            begin += count;
        }
        if begin == 0 {
            return;
        }
        let view = View::new(begin, N * size, Some(INDICES), move |bytes, i| {
            let (_, first) = match &firsts[..] {
                [one] => *one,
                all => all[all.partition_point(|(begin, _)| *begin <= i) - 1],
            };
            let corners = corners(parts.element(i));
            for (bytes, corner) in bytes.chunks_exact_mut(size).zip(corners) {
                bytes.copy_from_slice(&(corner - first).to_le_bytes()[..size]);
            }
        });
        self.views.push(view);
    }

    /// Returns the JSON of the document, without its buffer.
    fn json(&self, mesh: &Mesh, placement: &Placement, materials: Materials) -> Value {
        let names = mesh.about.names.get(OBJECT);
        let node = |(i, object): (usize, &Object)| {
            let mut node = json!({ "mesh": i });
            if let Some(number) = object.number {
                let index = usize::try_from(number).ok();
                match index.and_then(|index| names?.get(index)) {
                    Some(name) if name.is_empty() => {}
                    Some(name) => node["name"] = name.as_str().into(),
                    None => node["name"] = format!("{OBJECT}_{number}").into(),
                }
            }
            if let Some(offset) = placement.offset {
                node["translation"] = json!(offset.to_array());
            }
            node
        };
        let nodes: Vec<Value> = self.objects.iter().enumerate().map(node).collect();
        let mesh = |object: &Object| json!({ "primitives": object.primitives });
        let meshes: Vec<Value> = self.objects.iter().map(mesh).collect();
        let scene = match nodes.len() {
            0 => json!({}),
            count => json!({"nodes": (0..count).collect::<Vec<_>>()}),
        };
        let mut begin = 0;
        let view = |view: &View| {
            let mut json = json!({"buffer": 0, "byteOffset": begin, "byteLength": view.length()});
            if let Some(target) = view.target {
                json["target"] = target.into();
            }
            if view.target == Some(VERTICES) {
                json["byteStride"] = view.stride.into();
            }
            begin += view.length().next_multiple_of(4);
            json
        };
        let views: Vec<Value> = self.views.iter().map(view).collect();
        let mut document = materials.into_json();
        document.insert(
            "asset".to_owned(),
            json!({"version": "2.0", "generator": "trioxide"}),
        );
        document.insert("scene".to_owned(), 0.into());
        document.insert("scenes".to_owned(), json!([scene]));
        for (name, list) in [
            ("nodes", nodes),
            ("meshes", meshes),
            ("accessors", self.accessors.clone()),
            ("bufferViews", views),
        ] {
            // The definition has no empty lists.
            if !list.is_empty() {
                document.insert(name.to_owned(), list.into());
            }
        }
        document.into()
    }

    fn length(&self) -> usize {
        let lengths = self.views.iter().map(View::length);
        lengths.map(|length| length.next_multiple_of(4)).sum()
    }

    fn write_data(&self, out: &mut dyn Out) -> io::Result<()> {
        self.views.iter().try_for_each(|view| view.write(out))
    }
}

pub(crate) fn write(path: &Path, mesh: &Mesh) -> Result<()> {
    let triangles = triangles(path, &mesh.faces)?;
    let triangles = &*triangles;
    let placement = Placement::of(&mesh.points);
    if let Some(reason) = placement.fault(&mesh.points) {
        return Err(Error::format(path, reason));
    }
    let mut document = Document::default();
    let materials = Materials::of(mesh);
    let mut materials = materials.map_err(|reason| Error::format(path, reason))?;
    let vertices = mesh.points.len();
    if vertices > 0 {
        let segments = &mesh.segments;
        let region = mesh.regions.as_ref();
        let region = region.map(|regions| move |i: usize| Some(i64::from(regions[i])));
        let region = region
            .as_ref()
            .map(|region| region as &dyn Fn(usize) -> Option<i64>);
        let marker = |i: usize| Some(i64::from(segments[i].marker)).filter(|&marker| marker != 0);
        let faces = Parts::of(triangles.len(), &mesh.fields.cells, region);
        let lines = Parts::of(segments.len(), &mesh.fields.sides, Some(&marker));
        document.objects = objects(mesh, &faces, &lines);
        document.add_attributes(mesh, &placement);
        document.add_parts(faces, &mut materials, |i| triangles[i]);
        document.add_parts(lines, &mut materials, |i| segments[i].ends);
        if let [
            Object {
                attributes,
                primitives,
                ..
            },
        ] = &mut document.objects[..]
            && primitives.is_empty()
        {
            primitives.push(json!({"attributes": attributes, "mode": 0}));
        }
    }
    let images = mesh.about.gltf_materials.as_ref();
    materials.place_images(document.views.len());
    for image in images.iter().flat_map(|materials| &materials.images) {
        document.views.push(View::of_bytes(image));
    }
    let is_binary = path
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("glb"));
    let json = document.json(mesh, &placement, materials);
    match is_binary {
        true => write_binary(path, &document, json),
        false => write_text(path, &document, &json),
    }
}

fn write_binary(path: &Path, document: &Document, mut json: Value) -> Result<()> {
    let length = document.length();
    if length > 0 {
        json["buffers"] = json!([{ "byteLength": length }]);
    }
    let json = json.to_string();
    let padded = json.len().next_multiple_of(4);
    let chunk = if length > 0 { 8 + length } else { 0 };
    let Ok(total) = u32::try_from(20 + padded + chunk) else {
        let reason = "the file would have more than 4 GiB, the most of .glb: write .gltf";
        return Err(Error::format(path, reason));
    };
    write_atomically(path, |out| {
        let word = |number: usize| (number as u32).to_le_bytes();
        let head = [
            *b"glTF",
            word(2),
            total.to_le_bytes(),
            word(padded),
            *b"JSON",
        ];
        out.write_all(&head.concat())?;
        out.write_all(json.as_bytes())?;
        out.write_all(&b"   "[..padded - json.len()])?;
        if length > 0 {
            out.write_all(&[word(length), *b"BIN\0"].concat())?;
        }
        document.write_data(out)
    })
}

/// Writes the data as a URI in the JSON: a file beside would be a second one to lose.
fn write_text(path: &Path, document: &Document, json: &Value) -> Result<()> {
    let length = document.length();
    let json = format!("{json:#}\n");
    write_atomically(path, |out| {
        let Some(open) = json.strip_suffix("\n}\n").filter(|_| length > 0) else {
            return out.write_all(json.as_bytes());
        };
        out.write_all(open.as_bytes())?;
        let buffer = format!(
            ",\n  \"buffers\": [\n    {{\n      \"byteLength\": {length},\n      \"uri\": \"data:application/octet-stream;base64,"
        );
        out.write_all(buffer.as_bytes())?;
        let mut encoder = Base64(EncoderWriter::new(
            BufWriter::with_capacity(256 << 10, &mut *out),
            &STANDARD,
        ));
        document.write_data(&mut encoder)?;
        let mut out = encoder.0.finish()?;
        out.write_all(b"\"\n    }\n  ]\n}\n")?;
        out.flush()
    })
}

/// The target of bytes that it writes as base64.
struct Base64<'a>(EncoderWriter<'static, GeneralPurpose, BufWriter<&'a mut dyn Out>>);

impl Write for Base64<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Out for Base64<'_> {}
