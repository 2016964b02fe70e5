//! Arrays in few bytes: differences, the bytes of each weight together, deflate, base64. `page/data.js` reads them.

use std::collections::HashMap;
use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use glam::DVec3;
use serde_json::{Value, json};
use trioxide_mesh::fields::{Field, Fields, NumberType, Values};
use trioxide_mesh::parallel;
use xxhash_rust::xxh3::xxh3_128;

use crate::drawn::{COLORS, Drawn, REGION};

/// Places of a coordinate in the box: a page rounds positions to these.
const STEPS: f64 = 65535.0;

/// The arrays of a page, each once: steps of time on one mesh share it.
#[derive(Default)]
pub(crate) struct Arrays {
    texts: Vec<String>,
    /// Their numbers, by the hash of their bytes before they are deflated.
    known: HashMap<u128, usize>,
}

impl Arrays {
    /// The arrays for the page, in the order of their numbers.
    pub(crate) fn texts(&self) -> &[String] {
        &self.texts
    }

    fn add(&mut self, bytes: &[u8]) -> usize {
        let texts = &mut self.texts;
        *self.known.entry(xxh3_128(bytes)).or_insert_with(|| {
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
            let packed = encoder.write_all(bytes).and_then(|()| encoder.finish());
            texts.push(STANDARD.encode(packed.expect("a list takes all bytes")));
            texts.len() - 1
        })
    }

    /// Numbers of `N` bytes: first the lowest bytes of all, then the next ones.
    fn planes<const N: usize>(&mut self, count: usize, number: impl Fn(usize) -> [u8; N]) -> usize {
        let mut bytes = vec![0; N * count];
        for i in 0..count {
            for (k, byte) in number(i).into_iter().enumerate() {
                bytes[k * count + i] = byte;
            }
        }
        self.add(&bytes)
    }

    /// Whole numbers as differences from the one before.
    fn differences(&mut self, numbers: &[u32]) -> usize {
        self.planes(numbers.len(), |i| {
            let before = if i == 0 { 0 } else { numbers[i - 1] };
            zigzag(numbers[i].wrapping_sub(before) as i32).to_le_bytes()
        })
    }
}

/// Small numbers of both signs as small numbers.
fn zigzag(difference: i32) -> u32 {
    ((difference << 1) ^ (difference >> 31)) as u32
}

/// A box around meshes that are shown at one scale.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Box3 {
    low: DVec3,
    high: DVec3,
    /// Sizes by the radius of the meshes around the middle: in the plane, by half of the longer side.
    sizes: DVec3,
}

impl Box3 {
    pub(crate) fn around(is_planar: bool, meshes: &[&Drawn]) -> Box3 {
        let points = || meshes.iter().flat_map(|mesh| mesh.seen_points());
        let low = points().fold(DVec3::INFINITY, |low, &p| low.min(p));
        let high = points().fold(DVec3::NEG_INFINITY, |high, &p| high.max(p));
        // Halves: the difference of two finite numbers may not be finite.
        let half = 0.5 * high - 0.5 * low;
        let longest = half.max_element();
        if longest <= 0.0 {
            return Box3 {
                low,
                high,
                sizes: DVec3::ZERO,
            };
        }
        let middle = 0.5 * high + 0.5 * low;
        let from_middle = |p: &DVec3| ((*p - middle) / longest).length();
        let radius = match is_planar {
            true => 1.0,
            false => points().map(from_middle).fold(0.0, f64::max),
        };
        Box3 {
            low,
            high,
            sizes: half / longest * (2.0 / radius),
        }
    }

    /// Half of the longest side.
    pub(crate) fn longest(&self) -> f64 {
        (0.5 * self.high - 0.5 * self.low).max_element()
    }

    fn steps(&self, point: DVec3) -> [u16; 3] {
        let half = 0.5 * self.high - 0.5 * self.low;
        let part = (0.5 * point - 0.5 * self.low) / half;
        // An axis without extent has one place.
        part.to_array().map(|part| {
            if part.is_finite() {
                (part * STEPS).round() as u16
            } else {
                0
            }
        })
    }

    pub(crate) fn to_json(self) -> Value {
        json!({
            "low": self.low.to_array(),
            "high": self.high.to_array(),
            "sizes": self.sizes.to_array(),
        })
    }
}

/// A mesh for `page/data.js`.
pub(crate) fn pack(mesh: &Drawn, bounds: &Box3, arrays: &mut Arrays) -> Value {
    let steps = parallel::map(&mesh.points, |&p| bounds.steps(p));
    let positions = [0, 1, 2].map(|axis| {
        arrays.planes(steps.len(), |i| {
            let before = if i == 0 { 0 } else { steps[i - 1][axis] };
            let difference = steps[i][axis].wrapping_sub(before) as i16;
            (zigzag(i32::from(difference)) as u16).to_le_bytes()
        })
    });
    let mut ids = |list: &[u32]| (!list.is_empty()).then(|| arrays.differences(list));
    let triangles = ids(mesh.triangles.as_flattened());
    let owners = ids(&mesh.owners);
    // Beside the owner's: neighbours have ids that are not far.
    let behind: Vec<u32> = (mesh.behind.iter().zip(&mesh.owners))
        .map(|(&behind, &owner)| match behind {
            u32::MAX => 0,
            behind => 1 + zigzag(behind.wrapping_sub(owner) as i32),
        })
        .collect();
    let segments = ids(mesh.segments.as_flattened());
    let original = [&mesh.ids[0], &mesh.ids[1]].map(|list| list.as_deref().and_then(&mut ids));
    let behind =
        (!behind.is_empty()).then(|| arrays.planes(behind.len(), |i| behind[i].to_le_bytes()));
    let sides = (!mesh.sides.is_empty()).then(|| arrays.add(&mesh.sides));
    let fields = fields(mesh, arrays);
    json!({
        "element": mesh.element,
        "elements": mesh.elements,
        "points": mesh.points.len(),
        "triangles": mesh.triangles.len(),
        "segments": mesh.segments.len(),
        "arrays": {
            "positions": positions,
            "triangles": triangles,
            "owners": owners,
            "behind": behind,
            "sides": sides,
            "segments": segments,
            "elementIds": original[0],
            "pointIds": original[1],
        },
        "fields": fields,
    })
}

fn fields(mesh: &Drawn, arrays: &mut Arrays) -> Vec<Value> {
    let mut all = Vec::new();
    if let Some(quality) = &mesh.quality {
        // From 0 to 1, in steps of 1/255: a byte.
        let bytes = parallel::map(&quality.values, |&value| {
            (value.clamp(0.0, 1.0) * 255.0).round() as u8
        });
        all.push(json!({
            "name": quality.name, "on": "elements", "components": 1, "show": "scale",
            "type": "parts", "range": [0, 1], "array": arrays.add(&bytes),
        }));
    }
    if let Some(regions) = &mesh.regions {
        let field = Field::scalars(REGION, regions.clone());
        all.push(packed_field(&field, "elements", "labels", arrays));
    }
    if let Some(colors) = &mesh.colors {
        all.push(json!({
            "name": COLORS, "on": "points", "components": 4, "show": "colors",
            "type": "bytes", "array": arrays.planes(colors.len(), |i| colors[i]),
        }));
    }
    let of = |fields: &Fields, on, arrays: &mut Arrays| -> Vec<Value> {
        let shown = fields.iter().filter(|field| field.components > 0);
        shown
            .map(|field| packed_field(field, on, "scale", arrays))
            .collect()
    };
    all.extend(of(&mesh.fields.cells, "elements", arrays));
    all.extend(of(&mesh.fields.points, "points", arrays));
    all
}

/// A field: whole numbers of up to 32 bits as they are, others in single precision.
fn packed_field(field: &Field, on: &str, show: &str, arrays: &mut Arrays) -> Value {
    let (values, n) = (&field.values, field.components);
    let kind = values.kind();
    let is_whole = !kind.is_float() && kind.size() < 8;
    let count = values.len() / n;
    // The numbers of one component one after the other.
    let at = |i: usize| values.f64(i % count * n + i / count);
    let (name, array) = match (is_whole, values) {
        (true, _) => {
            let numbers: Vec<u32> = (0..values.len()).map(|i| at(i) as i64 as u32).collect();
            let name = match kind {
                NumberType::U32 => "natural",
                _ => "whole",
            };
            (name, arrays.differences(&numbers))
        }
        (false, Values::F32(list)) => {
            let bits = |i: usize| list[i % count * n + i / count].to_le_bytes();
            ("single", arrays.planes(list.len(), bits))
        }
        _ => (
            "single",
            arrays.planes(values.len(), |i| (at(i) as f32).to_le_bytes()),
        ),
    };
    json!({
        "name": field.name, "on": on, "components": n, "show": show, "type": name, "array": array,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_arrays_are_stored_once() {
        let mut arrays = Arrays::default();
        let first = arrays.differences(&[5, 6, 7]);
        assert_ne!(arrays.differences(&[5, 6, 8]), first);
        assert_eq!(arrays.differences(&[5, 6, 7]), first);
        assert_eq!(arrays.texts().len(), 2);
    }

    /// Single precision has 24 bits.
    #[test]
    fn ids_keep_all_bits() {
        let mut arrays = Arrays::default();
        let ids = vec![1 << 24, (1 << 24) + 1, u32::MAX, 0];
        let expected = arrays.differences(&ids);
        let field = Field::scalars("ids", ids);
        let packed = packed_field(&field, "points", "scale", &mut arrays);
        assert_eq!(packed["type"], "natural");
        assert_eq!(packed["array"], expected);
        let negative = Field::scalars("negative", vec![-1i32, i32::MIN]);
        let packed = packed_field(&negative, "points", "scale", &mut arrays);
        assert_eq!(packed["type"], "whole");
        assert_eq!(packed["array"], arrays.differences(&[u32::MAX, 1 << 31]));
    }

    #[test]
    fn differences_of_both_signs_are_small() {
        let all = [0, -1, 1, -2, 2].map(zigzag);
        assert_eq!(all, [0, 1, 2, 3, 4]);
        assert_eq!(zigzag(i32::MIN), u32::MAX);
    }

    #[test]
    fn a_box_holds_what_is_large_and_what_is_flat() {
        let mesh = |points: &[DVec3]| Drawn {
            points: points.to_vec(),
            ..Drawn::default()
        };
        let far = mesh(&[DVec3::X * -1.7e308, DVec3::X * 1.7e308]);
        let bounds = Box3::around(false, &[&far]);
        assert_eq!(bounds.sizes, DVec3::X * 2.0);
        assert_eq!(bounds.steps(DVec3::X * 1.7e308), [65535, 0, 0]);
        // A point that no face has does not count.
        let mut faces = mesh(&[DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::splat(-99.0)]);
        faces.triangles = vec![[0, 1, 2]];
        assert_eq!(Box3::around(true, &[&faces]).longest(), 0.5);
        let point = mesh(&[DVec3::ONE]);
        let bounds = Box3::around(true, &[&point]);
        assert_eq!(
            (bounds.sizes, bounds.steps(DVec3::ONE)),
            (DVec3::ZERO, [0; 3])
        );
    }
}
