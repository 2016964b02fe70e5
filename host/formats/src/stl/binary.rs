//! The binary form: a header of 80 bytes, the number of facets, and 50 bytes a facet.
//!
//! The last two bytes of a facet hold what its program likes: a colour of 5 bits a channel, or the length of data that
//! follow the facet.

use std::sync::atomic::{AtomicU16, Ordering::Relaxed};

use glam::DVec3;

use crate::colors::face_color;
use crate::text::{Fault, Parsed};
use trioxide_mesh::fields::Field;
use trioxide_mesh::parallel;

/// Bytes before the facets: a comment of 80, and their number.
pub(super) const HEADER: usize = 84;
/// Bytes of a facet: a normal, three corners, and 16 bits.
pub(super) const FACET: usize = 50;
/// Facets of a task.
const FACETS: usize = 1024;

/// The facets of a file.
pub(super) struct Facets<'a> {
    file: &'a [u8],
    pub(super) count: usize,
    /// Where each begins, if other data stand between them.
    begins: Option<Vec<usize>>,
}

impl<'a> Facets<'a> {
    /// Returns the facets of a file whose length is that of the announced number of facets.
    pub(super) fn exact(file: &'a [u8]) -> Option<Facets<'a>> {
        let count = announced(file)?;
        let length = count.checked_mul(FACET)?.checked_add(HEADER)?;
        let begins = None;
        (length == file.len()).then_some(Facets {
            file,
            count,
            begins,
        })
    }

    /// Returns the facets of a file of another length, and a note.
    pub(super) fn inexact(file: &'a [u8]) -> Parsed<(Facets<'a>, String)> {
        let Some(announced) = announced(file) else {
            return Err(Fault::new(0, "expected solid, or a header of 84 bytes"));
        };
        let left = file.len() - HEADER;
        if let Some(begins) = announced_begins(file, announced) {
            let bytes = left - announced * FACET;
            let note = format!(
                "{bytes} bytes of attributes after its facets, which the facets' last two bytes announce, are left out"
            );
            let facets = Facets {
                file,
                count: announced,
                begins: Some(begins),
            };
            return Ok((facets, note));
        }
        // A program that writes while it computes may not know the number.
        let is_open = announced == 0 || announced == u32::MAX as usize;
        let (count, note) = match left / FACET {
            count if is_open && count > 0 && left.is_multiple_of(FACET) => (
                count,
                format!(
                    "it announces {announced} facets, but its length is that of {count}, which are read"
                ),
            ),
            // A number that was never filled in does not make an empty mesh.
            most if announced > 0 && announced <= most => (
                announced,
                format!(
                    "{} bytes behind its last facet are left out",
                    left - announced * FACET
                ),
            ),
            _ => {
                let reason = format!(
                    "byte 80: {announced} facets of {FACET} bytes are announced, but {left} bytes follow"
                );
                return Err(Fault::new(0, reason));
            }
        };
        let begins = None;
        Ok((
            Facets {
                file,
                count,
                begins,
            },
            note,
        ))
    }

    fn facet(&self, i: usize) -> &'a [u8] {
        let begin = (self.begins.as_ref()).map_or(HEADER + i * FACET, |begins| begins[i]);
        &self.file[begin..begin + FACET]
    }

    /// Returns the corners of all facets, and the bits that are set in any of their last two bytes.
    pub(super) fn corners(&self) -> (Vec<DVec3>, u16) {
        let corner = |bytes: &[u8; 12]| {
            let [x, y, z] = *bytes.as_chunks::<4>().0 else {
                unreachable!("twelve bytes are three times four");
            };
            DVec3::from_array([x, y, z].map(|bytes| f64::from(f32::from_le_bytes(bytes))))
        };
        let bits = AtomicU16::new(0);
        let mut points: Vec<DVec3> = parallel::zeroed(self.count * 3);
        let triangles = points.as_chunks_mut::<3>().0;
        parallel::for_chunks_mut(triangles, FACETS, |k, triangles| {
            let mut all = 0;
            for (i, triangle) in triangles.iter_mut().enumerate() {
                let facet = self.facet(k * FACETS + i);
                for (point, bytes) in triangle.iter_mut().zip(facet[12..].as_chunks::<12>().0) {
                    *point = corner(bytes);
                }
                all |= attribute(facet);
            }
            if all != 0 {
                bits.fetch_or(all, Relaxed);
            }
        });
        (points, bits.into_inner())
    }

    /// Returns the colours of facets as a field, or why there are none. `bits` comes from [`Facets::corners`].
    pub(super) fn colors(&self, bits: u16) -> Result<Option<Field>, String> {
        let header = &self.file[..80];
        let of_object = memchr::memmem::find(header, b"COLOR=");
        let of_object = of_object.and_then(|at| header[at + 6..].first_chunk::<4>());
        // Those of data between the facets are lengths.
        if bits == 0 || self.begins.is_some() {
            return match of_object {
                None => Ok(None),
                Some(_) => Err("the colour in its header is left out".to_owned()),
            };
        }
        let attributes: Vec<u16> = parallel::collect(self.count, |i| attribute(self.facet(i)));
        let with_bit = parallel::count(self.count, |i| attributes[i] & 1 << 15 != 0);
        let channel = |attribute: u16, k: u16| {
            let five = (attribute >> (5 * k)) & 31;
            ((u32::from(five) * 255 + 15) / 31) as u8
        };
        let color = |i: usize| {
            let attribute = attributes[i];
            let [low, middle, high] = [0, 1, 2].map(|k| channel(attribute, k));
            match (of_object, attribute >> 15) {
                // Magics: a set bit means the colour of the object.
                (Some(&color), 1) => color,
                (Some(_), _) => [low, middle, high, u8::MAX],
                // VisCAM: a set bit means a colour.
                (None, 1) => [high, middle, low, u8::MAX],
                (None, _) => [u8::MAX; 4],
            }
        };
        if of_object.is_none() && with_bit == 0 {
            return Err("the last two bytes of its facets are left out".to_owned());
        }
        let is_opaque = of_object.is_none_or(|color| color[3] == u8::MAX);
        let components = if is_opaque { 3 } else { 4 };
        let colors = parallel::collect(self.count, color);
        Ok(Some(face_color(&colors, components)))
    }
}

/// Returns the announced number of facets.
fn announced(file: &[u8]) -> Option<usize> {
    let count = file.get(80..HEADER)?.try_into().ok()?;
    Some(u32::from_le_bytes(count) as usize)
}

/// Returns the last two bytes of a facet.
fn attribute(facet: &[u8]) -> u16 {
    u16::from_le_bytes([facet[FACET - 2], facet[FACET - 1]])
}

/// Returns where `count` facets begin, each followed by the number of bytes that its last two bytes give, if they fill
/// the file.
fn announced_begins(file: &[u8], count: usize) -> Option<Vec<usize>> {
    let mut at = HEADER;
    let mut begins = Vec::with_capacity(count.min(file.len() / FACET));
    for _ in 0..count {
        begins.push(at);
        let facet = file.get(at..at.checked_add(FACET)?)?;
        at += FACET + usize::from(attribute(facet));
    }
    (count > 0 && at == file.len()).then_some(begins)
}
