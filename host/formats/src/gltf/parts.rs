//! The parts of a written file: faces and segments with the same object, material and region or marker.
//!
//! The parts come in the order of their first element, and each keeps the order of its elements.

use std::collections::HashMap;
use std::ops::Range;

use serde_json::{Map, Value};

use super::{MATERIAL, OBJECT};
use trioxide_mesh::fields::{Field, Fields};
use trioxide_mesh::mesh::Mesh;

/// Object, material, and region or marker of a part.
pub(super) type Key = [Option<i64>; 3];

/// Elements by the parts that they are in.
pub(super) struct Parts {
    /// Each part's key, and its number of elements.
    pub(super) parts: Vec<(Key, usize)>,
    /// The elements in the order of the parts, if that is not theirs.
    order: Option<Vec<u32>>,
}

impl Parts {
    pub(super) fn of(
        count: usize,
        fields: &Fields,
        tag: Option<&(dyn Fn(usize) -> Option<i64> + '_)>,
    ) -> Parts {
        let [objects, materials] = [OBJECT, MATERIAL].map(|name| held(fields, name));
        if count == 0 || objects.is_none() && materials.is_none() && tag.is_none() {
            let parts = (count > 0).then_some(([None; 3], count));
            let parts = parts.into_iter().collect();
            return Parts { parts, order: None };
        }
        let value = |field: Option<&Field>, i: usize| {
            let value = field.map(|field| field.values.i64(i));
            value.filter(|value| *value >= 0)
        };
        let (mut ids, mut parts) = (HashMap::new(), Vec::<(Key, usize)>::new());
        let mut last: Option<(Key, u32)> = None;
        let mut of = Vec::with_capacity(count);
        for i in 0..count {
            let key = [
                value(objects, i),
                value(materials, i),
                tag.and_then(|tag| tag(i)),
            ];
            let id = match last {
                Some((same, id)) if same == key => id,
                _ => *ids.entry(key).or_insert_with(|| {
                    parts.push((key, 0));
                    parts.len() as u32 - 1
                }),
            };
            last = Some((key, id));
            parts[id as usize].1 += 1;
            of.push(id);
        }
        let order = (!of.is_sorted()).then(|| {
            let mut begins = Vec::with_capacity(parts.len());
            let mut begin = 0;
            for (_, count) in &parts {
                begins.push(begin);
                begin += count;
            }
            let mut order = vec![0; count];
            for (i, &id) in of.iter().enumerate() {
                order[begins[id as usize]] = i as u32;
                begins[id as usize] += 1;
            }
            order
        });
        Parts { parts, order }
    }

    pub(super) fn element(&self, i: usize) -> usize {
        self.order.as_ref().map_or(i, |order| order[i] as usize)
    }
}

/// Returns a field of whole numbers of parts, if there is one.
pub(super) fn held<'a>(fields: &'a Fields, name: &str) -> Option<&'a Field> {
    let field = fields.get(name)?;
    (field.components == 1 && !field.values.kind().is_float()).then_some(field)
}

/// An object: its number, its vertices, their attributes, and its parts.
pub(super) struct Object {
    pub(super) number: Option<i64>,
    pub(super) vertices: Range<usize>,
    pub(super) attributes: Map<String, Value>,
    pub(super) primitives: Vec<Value>,
}

impl Object {
    pub(super) fn new(number: Option<i64>, vertices: Range<usize>) -> Object {
        Object {
            number,
            vertices,
            attributes: Map::new(),
            primitives: Vec::new(),
        }
    }
}

/// Returns the objects of faces and segments, in the order of their first elements, with all vertices each, or, if they
/// follow one another in the list of vertices, with their own.
pub(super) fn objects<'a>(mesh: &'a Mesh, faces: &Parts, segments: &Parts) -> Vec<Object> {
    let vertices = mesh.points.len();
    let has_number = |parts: &Parts| parts.parts.iter().any(|([number, ..], _)| number.is_some());
    if !has_number(faces) && !has_number(segments) {
        return vec![Object::new(None, 0..vertices)];
    }
    let mut objects: Vec<Object> = Vec::new();
    let mut places = HashMap::new();
    let mut add = |parts: &Parts, corners: &dyn Fn(usize) -> &'a [u32]| {
        let mut begin = 0;
        for &([number, ..], count) in &parts.parts {
            let place = *places.entry(number).or_insert_with(|| {
                // Nothing, so far.
                objects.push(Object::new(number, vertices..0));
                objects.len() - 1
            });
            let used = &mut objects[place].vertices;
            for &v in (begin..begin + count).flat_map(|i| corners(parts.element(i))) {
                *used = used.start.min(v as usize)..used.end.max(v as usize + 1);
            }
            begin += count;
        }
    };
    add(faces, &|i| mesh.faces.get(i));
    add(segments, &|i| &mesh.segments[i].ends);
    let follow = objects.is_sorted_by(|a, b| a.vertices.end <= b.vertices.start);
    let mut end = vertices;
    for (i, object) in objects.iter_mut().enumerate().rev() {
        // A vertex without an element belongs to the object before it.
        let begin = if i == 0 { 0 } else { object.vertices.start };
        object.vertices = if follow { begin..end } else { 0..vertices };
        end = begin;
    }
    objects
}
