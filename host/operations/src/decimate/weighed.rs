//! The numbers of the vertices that count in the quadrics, and their values after.

use std::str::FromStr;

use glam::{DVec2, DVec3};
use gpu::weld::unit;
use trioxide::decimate::{Channel, Decimated, Error};
use trioxide::fields::{Field, Fields, Values};
use trioxide::mesh::Mesh;
use trioxide_work::parallel;

use crate::error::Result;
use crate::error::decimate::Refusal;
use crate::report::Note;

/// The weight by default: of a difference of 1 of unit vectors, of colours from 0 to 1, and of texture coordinates; of
/// fields, of their range.
pub const WEIGHT: f64 = 0.01;

/// Largest magnitude of a number that decimation takes: 2^250.
const LARGEST: f64 = f64::from_bits((1023 + 250) << 52);

/// A name of numbers of the vertices, which count in the quadrics.
#[derive(Clone, Debug, PartialEq)]
pub struct Weigh {
    /// `normals`, `colours` (or `colors`), `uvs`, or the name of a field of the points.
    pub name: String,
    /// The distance that a difference of 1 counts as, in parts of the bounding box's diagonal; of fields, a difference
    /// of their whole range. None is the default.
    pub weight: Option<f64>,
}

impl Weigh {
    /// Numbers of this name, with the default weight.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            weight: None,
        }
    }

    /// The name in one spelling.
    pub(super) fn word(&self) -> &str {
        word_of(&self.name)
    }
}

/// A name of numbers in one spelling.
fn word_of(name: &str) -> &str {
    match name {
        "colors" => "colours",
        name => name,
    }
}

impl FromStr for Weigh {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((name, weight)) = text.rsplit_once('=') else {
            return Ok(Self::new(text));
        };
        let number = weight.parse().ok();
        let weight = number.filter(|weight: &f64| weight.is_finite() && *weight >= 0.0);
        match weight {
            Some(weight) => Ok(Self {
                name: name.to_owned(),
                weight: Some(weight),
            }),
            None => Err(format!(
                "expected a weight of 0 or more after {name}=, and finite"
            )),
        }
    }
}

/// Numbers of the vertices, where they are in a mesh.
#[derive(Clone, Copy)]
enum Source<'m> {
    Normals(&'m [DVec3]),
    /// Alpha too if a vertex is not opaque.
    Colors(&'m [[u8; 4]], usize),
    Uvs(&'m [DVec2]),
    Field(&'m Field),
}

impl<'m> Source<'m> {
    /// The numbers of a name.
    fn of(mesh: &'m Mesh, name: &str) -> Result<Self> {
        let attributes = &mesh.attributes;
        let given = match name {
            "normals" => attributes.normals.as_deref().map(Self::Normals),
            "colours" | "colors" => attributes.colors.as_deref().map(|colors| {
                let is_opaque = parallel::all(colors, |color| color[3] == 255);
                Self::Colors(colors, if is_opaque { 3 } else { 4 })
            }),
            "uvs" => attributes.uvs.as_deref().map(Self::Uvs),
            _ => None,
        };
        let field = || mesh.fields.points.get(name).map(Self::Field);
        match given.or_else(field) {
            None => Err(Refusal::Missing {
                name: name.to_owned(),
                has: names(mesh),
            }
            .into()),
            Some(Self::Field(field)) if !field.values.kind().is_float() => {
                Err(Refusal::Labels(name.to_owned()).into())
            }
            Some(source) => Ok(source),
        }
    }

    /// Whether all its numbers are finite, and not too large for decimation.
    fn is_finite(self) -> bool {
        let is_number = |x: f64| x.abs() <= LARGEST;
        match self {
            Self::Normals(list) => parallel::all(list, |n| n.to_array().into_iter().all(is_number)),
            Self::Colors(..) => true,
            Self::Uvs(list) => parallel::all(list, |uv| is_number(uv.x) && is_number(uv.y)),
            Self::Field(field) => {
                (0..field.len() * field.components).all(|i| is_number(field.values.f64(i)))
            }
        }
    }

    /// Vertices with numbers, and the numbers of each.
    fn shape(self) -> (usize, usize) {
        match self {
            Self::Normals(list) => (list.len(), 3),
            Self::Colors(list, channels) => (list.len(), channels),
            Self::Uvs(list) => (list.len(), 2),
            Self::Field(field) => (field.len(), field.components),
        }
    }

    /// How its numbers count.
    fn channel(self, weight: f64) -> Channel {
        let free = [f64::NEG_INFINITY, f64::INFINITY];
        match self {
            Self::Normals(_) | Self::Uvs(_) => Channel {
                weight,
                range: free,
            },
            Self::Colors(..) => Channel {
                weight,
                range: [0.0, 1.0],
            },
            Self::Field(field) => {
                // The extent takes a pass over the field.
                let extent = if weight > 0.0 { extent(field) } else { 0.0 };
                Channel {
                    weight: if extent > 0.0 { weight / extent } else { 0.0 },
                    range: free,
                }
            }
        }
    }

    /// Writes the numbers of vertex `v`.
    fn write(self, v: usize, row: &mut [f64]) {
        match self {
            Self::Normals(list) => {
                // `unit` gives zero for a normal that is not finite, which the check of all numbers would then not see.
                let normal = list[v];
                let numbers = if normal.is_finite() {
                    unit(normal)
                } else {
                    normal
                };
                row.copy_from_slice(&numbers.to_array());
            }
            Self::Colors(list, channels) => {
                for (number, &channel) in row.iter_mut().zip(&list[v][..channels]) {
                    *number = f64::from(channel) / 255.0;
                }
            }
            Self::Uvs(list) => row.copy_from_slice(&list[v].to_array()),
            Self::Field(field) => {
                for (k, number) in row.iter_mut().enumerate() {
                    *number = field.values.f64(v * field.components + k);
                }
            }
        }
    }
}

/// The names of the numbers that a mesh has, each once.
fn names(mesh: &Mesh) -> Vec<String> {
    let attributes = &mesh.attributes;
    let words = [
        ("normals", attributes.normals.is_some()),
        ("colours", attributes.colors.is_some()),
        ("uvs", attributes.uvs.is_some()),
    ];
    let fields = mesh.fields.points.iter();
    let is_there = |name: &str| {
        words
            .iter()
            .any(|&(word, is_there)| is_there && word == word_of(name))
    };
    let fields = fields.filter(|field| field.values.kind().is_float() && !is_there(&field.name));
    let words = words.iter().filter(|(_, is_there)| *is_there);
    let words = words.map(|(name, _)| (*name).to_owned());
    words
        .chain(fields.map(|field| field.name.clone()))
        .collect()
}

/// The largest range of a field's components.
fn extent(field: &Field) -> f64 {
    let range = |k: usize| {
        let numbers = (0..field.len()).map(|v| field.values.f64(v * field.components + k));
        let bounds = numbers.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], x| {
            [low.min(x), high.max(x)]
        });
        bounds[1] - bounds[0]
    };
    (0..field.components).map(range).fold(0.0, f64::max)
}

/// A part of the numbers of each vertex.
struct Part<'m> {
    source: Source<'m>,
    /// The first of its numbers among those of a vertex.
    first: usize,
    count: usize,
}

/// The numbers of the vertices of a mesh: numbers with a weight count in the quadrics, the others are fitted.
pub(super) struct Weighed<'m> {
    parts: Vec<Part<'m>>,
    /// How each number of a vertex counts.
    pub channels: Vec<Channel>,
    /// The numbers, those of a vertex one after the other.
    pub values: Vec<f64>,
}

impl<'m> Weighed<'m> {
    /// All numbers of a mesh: those of `names` count, the others are fitted alone. None without numbers. Adds a note
    /// to `notes` for numbers that cannot be fitted.
    pub fn of(mesh: &'m Mesh, names: &[Weigh], notes: &mut Vec<Note>) -> Result<Option<Self>> {
        let mut all = Vec::new();
        for Weigh { name, weight } in names {
            all.push((Source::of(mesh, name)?, weight.unwrap_or(WEIGHT)));
        }
        let is_weighed = |name: &str| names.iter().any(|weigh| weigh.word() == word_of(name));
        for name in self::names(mesh).iter().filter(|name| !is_weighed(name)) {
            let source = Source::of(mesh, name)?;
            if source.is_finite() {
                all.push((source, 0.0));
            } else {
                notes.push(Note::NotFitted(name.clone()));
            }
        }
        let (mut parts, mut channels) = (Vec::new(), Vec::new());
        for (source, weight) in all {
            let (length, count) = source.shape();
            if length != mesh.points.len() {
                return Err(crate::Error::Decimate(Error::Length {
                    array: "numbers of vertices",
                    length,
                    needed: mesh.points.len(),
                }));
            }
            parts.push(Part {
                source,
                first: channels.len(),
                count,
            });
            let channel = source.channel(weight);
            channels.extend(std::iter::repeat_n(channel, count));
        }
        if parts.is_empty() {
            return Ok(None);
        }
        let mut values = parallel::zeroed(mesh.points.len() * channels.len());
        parallel::for_chunks_mut(&mut values, channels.len(), |v, row| {
            for part in &parts {
                let own = &mut row[part.first..part.first + part.count];
                part.source.write(v, own);
            }
        });
        Ok(Some(Self {
            parts,
            channels,
            values,
        }))
    }

    /// The numbers of a part at vertex `i` of a decimated mesh; none if they did not change: then the vertex keeps its
    /// bits.
    fn changed<'d>(&self, part: &Part, done: &'d Decimated, i: usize) -> Option<&'d [f64]> {
        let of = |v: usize| {
            let first = v * self.channels.len() + part.first;
            first..first + part.count
        };
        let (before, after) = (of(done.survivors[i] as usize), of(i));
        let (before, after) = (&self.values[before], &done.values[after]);
        (before != after).then_some(after)
    }

    /// Gives the vertices of a decimated mesh their numbers. It has those of the survivors.
    pub fn put(&self, done: &Decimated, mesh: &mut Mesh) {
        for part in &self.parts {
            let changed = |i: usize| self.changed(part, done, i);
            match part.source {
                Source::Normals(_) => {
                    let of = |i: usize, normal: &mut DVec3| {
                        let sum = changed(i).map_or(DVec3::ZERO, DVec3::from_slice);
                        if sum != DVec3::ZERO {
                            *normal = unit(sum);
                        }
                    };
                    set(&mut mesh.attributes.normals, of);
                }
                Source::Colors(..) => set(&mut mesh.attributes.colors, |i, color: &mut [u8; 4]| {
                    for (channel, &number) in color.iter_mut().zip(changed(i).unwrap_or(&[])) {
                        *channel = (number * 255.0).round() as u8;
                    }
                }),
                Source::Uvs(_) => set(&mut mesh.attributes.uvs, |i, uv: &mut DVec2| {
                    *uv = changed(i).map_or(*uv, DVec2::from_slice);
                }),
                Source::Field(field) => {
                    let fields = std::mem::take(&mut mesh.fields.points);
                    let with_numbers = fields.iter().map(|left| {
                        let mut left = left.clone();
                        if left.name == field.name {
                            set_field(&mut left, changed);
                        }
                        left
                    });
                    mesh.fields.points = with_numbers.collect::<Fields>();
                }
            }
        }
    }
}

fn set<T: Send>(list: &mut Option<Vec<T>>, of: impl Fn(usize, &mut T) + Sync) {
    if let Some(list) = list {
        parallel::for_each_mut(list, of);
    }
}

/// Gives the elements of a field of floats their changed numbers.
fn set_field<'d>(field: &mut Field, changed: impl Fn(usize) -> Option<&'d [f64]> + Sync) {
    let count = field.components;
    match &mut field.values {
        Values::F32(list) => parallel::for_chunks_mut(list, count, |i, row| {
            for (number, &new) in row.iter_mut().zip(changed(i).unwrap_or(&[])) {
                *number = new as f32;
            }
        }),
        Values::F64(list) => parallel::for_chunks_mut(list, count, |i, row| {
            for (number, &new) in row.iter_mut().zip(changed(i).unwrap_or(&[])) {
                *number = new;
            }
        }),
        _ => unreachable!("fields of integers are refused"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_have_a_weight() {
        let of = |text: &str| text.parse::<Weigh>();
        assert_eq!(of("uvs"), Ok(Weigh::new("uvs")));
        let weighed = of("colours=0.25").unwrap();
        assert_eq!((&*weighed.name, weighed.weight), ("colours", Some(0.25)));
        for wrong in ["uvs=", "uvs=-1", "uvs=inf", "uvs=few"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }
}
