//! The attributes of vertices as the writer's numbers: 32-bit floats, or integers of 8 and 16 bits.

use glam::{DVec2, DVec3};
use serde_json::{Map, Value, json};

use super::parts::held;
use super::view::{VERTICES, View};
use super::{MATERIAL, OBJECT};
use crate::Encoding;
use trioxide_mesh::fields::{Field, Fields, NumberType};
use trioxide_mesh::mesh::Mesh;
use trioxide_mesh::parallel;

/// An attribute, its accessor without view and count, and its numbers.
pub(super) struct Attribute<'a> {
    pub(super) name: String,
    /// Whether the accessor needs the ends of the numbers.
    pub(super) has_ends: bool,
    pub(super) accessor: Value,
    pub(super) view: View<'a>,
}

/// Elements of a thread's piece.
const PIECE: usize = 64 << 10;

/// Where the vertices are: 32-bit floats far from the origin would have few digits for the mesh itself.
pub(super) struct Placement {
    /// The place of the origin of the file's coordinates.
    pub(super) offset: Option<DVec3>,
    /// Ends of the coordinates as the file has them.
    least: DVec3,
    largest: DVec3,
    is_finite: bool,
}

/// The box around points, and whether they are finite.
#[derive(Clone, Copy)]
struct Extent {
    least: DVec3,
    largest: DVec3,
    is_finite: bool,
}

impl Extent {
    fn of(points: &[DVec3]) -> Extent {
        let none = Extent {
            least: DVec3::INFINITY,
            largest: DVec3::NEG_INFINITY,
            is_finite: true,
        };
        let pieces = parallel::map_pieces(points.len(), PIECE, |range| {
            points[range].iter().fold(none, |all, &point| Extent {
                least: all.least.min(point),
                largest: all.largest.max(point),
                is_finite: all.is_finite && point.is_finite(),
            })
        });
        pieces.into_iter().fold(none, |all, piece| Extent {
            least: all.least.min(piece.least),
            largest: all.largest.max(piece.largest),
            is_finite: all.is_finite && piece.is_finite,
        })
    }
}

impl Placement {
    pub(super) fn of(points: &[DVec3]) -> Placement {
        let Extent {
            least,
            largest,
            is_finite,
        } = Extent::of(points);
        let (middle, sides) = ((least + largest) / 2.0, largest - least);
        // Four bits more, at least.
        let is_far = is_finite && middle.abs().max_element() > 8.0 * sides.max_element();
        let is_worth = || points.len() > 1 && error_of_points(points, DVec3::ZERO) > 0.0;
        let offset = (is_far && is_worth()).then(|| middle.round());
        let from = offset.unwrap_or_default();
        Placement {
            offset,
            least: least - from,
            largest: largest - from,
            is_finite,
        }
    }

    /// Returns the ends of the coordinates of some points as the file has them: others than those of the numbers are a
    /// fault.
    pub(super) fn ends(&self, points: &[DVec3]) -> [[f64; 3]; 2] {
        let Extent { least, largest, .. } = Extent::of(points);
        let from = self.offset.unwrap_or_default();
        [least, largest].map(|end| (end - from).as_vec3().as_dvec3().to_array())
    }

    /// Returns why the file cannot hold the coordinates, if it cannot.
    pub(super) fn fault(&self, points: &[DVec3]) -> Option<String> {
        let most = f64::from(f32::MAX);
        if !self.is_finite {
            let i = parallel::position(points, |p| !p.is_finite())?;
            return Some(format!(
                "vertex {i} has a coordinate that is not finite, and the format holds no such numbers"
            ));
        }
        let is_large = |p: DVec3| p.abs().max_element() > most;
        if !is_large(self.least) && !is_large(self.largest) {
            return None;
        }
        let offset = self.offset.unwrap_or_default();
        let i = parallel::position(points, |&p| is_large(p - offset))?;
        Some(format!(
            "vertex {i} has a coordinate that is too large for 32 bits: scale the mesh"
        ))
    }
}

/// Returns the normal of length 1 that the file holds.
fn unit(normal: DVec3) -> DVec3 {
    // The definition allows for rounding.
    if (normal.length() - 1.0).abs() < 1e-3 {
        return normal;
    }
    let scaled = normal / normal.abs().max_element();
    match scaled.is_finite() {
        true => scaled.normalize(),
        false => DVec3::Z,
    }
}

fn put_floats(bytes: &mut [u8], floats: impl IntoIterator<Item = f64>) {
    for (bytes, x) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(floats) {
        *bytes = (x as f32).to_le_bytes();
    }
}

const FLOAT: u32 = 5126;

/// Returns the attributes of all vertices.
pub(super) fn attributes<'a>(mesh: &'a Mesh, placement: &Placement) -> Vec<Attribute<'a>> {
    let (points, attributes) = (&mesh.points, &mesh.attributes);
    let count = points.len();
    let from = placement.offset.unwrap_or_default();
    let mut all = vec![Attribute {
        name: "POSITION".to_owned(),
        has_ends: true,
        accessor: json!({"componentType": FLOAT, "type": "VEC3"}),
        view: View::new(count, 12, Some(VERTICES), move |bytes, i| {
            put_floats(bytes, (points[i] - from).to_array());
        }),
    }];
    if let Some(normals) = &attributes.normals {
        all.push(Attribute {
            name: "NORMAL".to_owned(),
            has_ends: false,
            accessor: json!({"componentType": FLOAT, "type": "VEC3"}),
            view: View::new(count, 12, Some(VERTICES), move |bytes, i| {
                put_floats(bytes, unit(normals[i]).to_array());
            }),
        });
    }
    if let Some(colors) = &attributes.colors {
        all.push(Attribute {
            name: "COLOR_0".to_owned(),
            has_ends: false,
            accessor: json!({"componentType": 5121, "type": "VEC4", "normalized": true}),
            view: View::new(count, 4, Some(VERTICES), move |bytes, i| {
                bytes.copy_from_slice(&colors[i]);
            }),
        });
    }
    if let Some(uvs) = &attributes.uvs {
        all.push(Attribute {
            name: "TEXCOORD_0".to_owned(),
            has_ends: false,
            accessor: json!({"componentType": FLOAT, "type": "VEC2"}),
            view: View::new(count, 8, Some(VERTICES), move |bytes, i| {
                put_floats(bytes, held_uv(uvs[i]).unwrap_or([0.0, 1.0]));
            }),
        });
    }
    let fields = mesh.fields.points.iter();
    let mut names = Map::new();
    for field in fields.filter(|field| is_kept(field)) {
        let name = attribute_name(mesh, field);
        if names.insert(name.clone(), Value::Null).is_none() {
            all.push(of_field(name, field));
        }
    }
    all
}

/// Returns the attribute of a field: sets of texture coordinates and colours keep their names, others begin with `_`.
fn attribute_name(mesh: &Mesh, field: &Field) -> String {
    let sets = [
        ("TEXCOORD_", mesh.attributes.uvs.is_some(), 2..=2),
        ("COLOR_", mesh.attributes.colors.is_some(), 3..=4),
    ];
    for (prefix, is_there, widths) in sets {
        // Without a gap, and as floats.
        let is_set = |i: usize| {
            let set = mesh.fields.points.get(&format!("{prefix}{i}"));
            set.is_some_and(|set| {
                widths.contains(&set.components) && set.values.kind() == NumberType::F32
            })
        };
        let number = field.name.strip_prefix(prefix);
        let number = number.and_then(|number| number.parse().ok()).unwrap_or(0);
        if is_there && number > 0 && (1..=number).all(is_set) {
            return field.name.clone();
        }
    }
    format!("_{}", field.name)
}

/// Returns the type of a field's numbers in the file, if it holds them all.
fn stored(field: &Field) -> Option<NumberType> {
    use NumberType::*;
    let (values, n) = (&field.values, field.values.len());
    let kind = values.kind();
    let is_good = |x: f64| x.is_finite() && (x as f32).is_finite();
    let is_exact = |i: usize| {
        let x = values.f64(i);
        // Of large integers a float is not exact either.
        f64::from(x as f32) == x && x.abs() <= 9_007_199_254_740_992.0
    };
    let (holds, stored) = match kind {
        I8 | U8 | I16 | U16 => (true, kind),
        F32 | F64 => (
            parallel::find(n, |i| !is_good(values.f64(i))).is_none(),
            F32,
        ),
        _ => (parallel::find(n, |i| !is_exact(i)).is_none(), F32),
    };
    (holds && (1..=4).contains(&field.components)).then_some(stored)
}

fn is_kept(field: &Field) -> bool {
    stored(field).is_some()
}

fn of_field(name: String, field: &Field) -> Attribute<'_> {
    let (values, width) = (&field.values, field.components);
    let stored = stored(field).unwrap_or(NumberType::F32);
    let component = match stored {
        NumberType::I8 => 5120,
        NumberType::U8 => 5121,
        NumberType::I16 => 5122,
        NumberType::U16 => 5123,
        _ => FLOAT,
    };
    let shape = ["SCALAR", "VEC2", "VEC3", "VEC4"][width - 1];
    let mut accessor = json!({"componentType": component, "type": shape});
    if stored != values.kind() {
        accessor["extras"] = json!({"type": values.kind().name()});
    }
    let size = stored.size();
    let stride = (width * size).next_multiple_of(4);
    let view = View::new(field.len(), stride, Some(VERTICES), move |bytes, i| {
        for k in 0..width {
            let at = &mut bytes[k * size..(k + 1) * size];
            match stored.is_float() {
                true => put_floats(at, [values.f64(i * width + k)]),
                false => at.copy_from_slice(&values.i64(i * width + k).to_le_bytes()[..size]),
            }
        }
        bytes[width * size..].fill(0);
    });
    Attribute {
        name,
        has_ends: false,
        accessor,
        view,
    }
}

/// Returns the names of the fields that a file does not hold.
pub(crate) fn lost_fields(mesh: &Mesh) -> Vec<String> {
    let is_of_parts = |fields: &Fields, field: &Field| {
        [OBJECT, MATERIAL].contains(&&*field.name) && held(fields, &field.name).is_some()
    };
    let fields = &mesh.fields;
    let points = fields.points.iter().filter(|field| !is_kept(field));
    let [cells, sides] = [&fields.cells, &fields.sides].map(|fields| {
        fields
            .iter()
            .filter(move |field| !is_of_parts(fields, field))
    });
    let all = points.chain(cells).chain(sides);
    all.map(|field| field.name.clone()).collect()
}

/// Returns the sentence on numbers that a file does not hold exactly.
pub(crate) fn rounding(mesh: &Mesh, _: Encoding) -> Option<String> {
    let attributes = &mesh.attributes;
    let normals = attributes.normals.as_deref().unwrap_or_default();
    let uvs = attributes.uvs.as_deref().unwrap_or_default();
    let points = &mesh.points;
    let from = Placement::of(points).offset.unwrap_or_default();
    let of_normal = |normal: DVec3| match unit(normal) == normal {
        true => (normal.as_vec3().as_dvec3() - normal).abs().max_element(),
        false => 0.0,
    };
    let mut errors = vec![
        ("coordinates", error_of_points(points, from)),
        ("normals", largest(normals.len(), |i| of_normal(normals[i]))),
        (
            "texture coordinates",
            largest(uvs.len(), |i| match held_uv(uvs[i]) {
                Some([u, v]) => rounded_by(u).max((1.0 - single(v) - uvs[i].y).abs()),
                None => 0.0,
            }),
        ),
    ];
    let fields = mesh.fields.points.iter().filter(|field| is_kept(field));
    errors.extend(fields.map(|field| {
        let error = |i| rounded_by(field.values.f64(i));
        let is_double = field.values.kind() == NumberType::F64;
        let count = if is_double { field.values.len() } else { 0 };
        (&*field.name, largest(count, error))
    }));
    errors.retain(|(_, error)| *error > 0.0);
    let mut sentences = Vec::new();
    if !errors.is_empty() {
        let list = errors.iter();
        let list: Vec<String> = list
            .map(|(name, error)| format!("{name} (largest error {error:.2e})"))
            .collect();
        let list = list.join(", ");
        sentences.push(format!("glTF holds 32-bit numbers and rounds {list}"));
    }
    let changed = parallel::count(normals.len(), |i| unit(normals[i]) != normals[i]);
    if changed > 0 {
        sentences.push(format!(
            "glTF holds normals of length 1: {changed} of the input have another length, or none (0 0 1 in the output)"
        ));
    }
    let changed = parallel::count(uvs.len(), |i| held_uv(uvs[i]).is_none());
    if changed > 0 {
        sentences.push(format!(
            "{changed} texture coordinates are not finite, or too large for 32 bits (0 0 in the output)"
        ));
    }
    (!sentences.is_empty()).then(|| sentences.join("; "))
}

/// Returns a number as the file holds it.
fn single(x: f64) -> f64 {
    f64::from(x as f32)
}

fn rounded_by(x: f64) -> f64 {
    (single(x) - x).abs()
}

/// Returns the largest difference between the coordinates and those of a file with this origin.
fn error_of_points(points: &[DVec3], from: DVec3) -> f64 {
    largest(points.len(), |i| {
        let held = (points[i] - from).as_vec3().as_dvec3() + from;
        (held - points[i]).abs().max_element()
    })
}

/// Returns the largest error of `count` elements.
fn largest(count: usize, error: impl Fn(usize) -> f64 + Sync) -> f64 {
    let pieces = parallel::map_pieces(count, PIECE, |range| range.map(&error).fold(0.0, f64::max));
    pieces.into_iter().fold(0.0, f64::max)
}

/// Returns the file's numbers of texture coordinates, if it can hold them.
fn held_uv(uv: DVec2) -> Option<[f64; 2]> {
    let held = [uv.x, 1.0 - uv.y];
    let is_held = held.into_iter().all(|x| single(x).is_finite());
    is_held.then_some(held)
}
