//! Numbers that colours show: fields of the mesh, and measures of its faces. Fields that are colours themselves.

use std::borrow::Cow;

use glam::{DVec2, DVec3};

use super::color::Rgb;
use super::scale::{Defaults, Scale};
use super::{Color, Colormap, Options};
use trioxide_mesh::fields::{Field, MeshFields, Values};
use trioxide_mesh::mesh::{Faces, Mesh};
use trioxide_mesh::{Error, Result, parallel};

/// Colours by number of vertices, from 3 on.
pub const SIZES: usize = 14;

/// Numbers of the cells or of the points, and their scale.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Painted<'a> {
    pub values: Cow<'a, [f64]>,
    pub per: Per,
    pub scale: Scale,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Per {
    Cell,
    Point,
}

/// Colours that cells or points have themselves.
pub(super) struct Own<'a> {
    pub colors: Cow<'a, [[u8; 4]]>,
    pub per: Per,
}

impl<'a> Own<'a> {
    /// The points' attribute.
    pub fn of_points(colors: &'a [[u8; 4]]) -> Own<'a> {
        Own {
            colors: colors.into(),
            per: Per::Point,
        }
    }

    /// The field that `options` name, if it holds colours, as VTK defines them: bytes of 3 or 4 components. The mesh
    /// has these numbers of points and cells. `None` for other fields, and for one component of this one.
    ///
    /// # Errors
    /// As [`Painted::of_field`]; options of a scale.
    pub fn of_field(
        fields: &MeshFields,
        sizes: [usize; 2],
        options: &Options,
    ) -> Result<Option<Own<'a>>> {
        let Color::Field(name) = &options.color else {
            return Ok(None);
        };
        let (field, per, part) = found_of(fields, name, sizes)?;
        let components = field.components;
        let Values::U8(bytes) = &field.values else {
            return Ok(None);
        };
        if part.is_some() || !matches!(components, 3 | 4) {
            return Ok(None);
        }
        options.refuse_scale()?;
        let color = |i: usize| {
            let mut color = [u8::MAX; 4];
            color[..components].copy_from_slice(&bytes[components * i..components * (i + 1)]);
            color
        };
        let colors = parallel::collect(field.len(), color).into();
        Ok(Some(Own { colors, per }))
    }

    /// The colour of a face of a cell: the cell's, or the mean of its corners'.
    pub fn of_face(&self, cell: usize, corners: &[u32]) -> Rgb {
        let sum_of = |channel: usize| {
            let channels = corners.iter().map(|&v| self.colors[v as usize][channel]);
            channels.map(u32::from).sum::<u32>()
        };
        match self.per {
            Per::Cell => self.rgb(cell),
            Per::Point => std::array::from_fn(|k| (sum_of(k) / corners.len() as u32) as u8),
        }
    }

    /// The colour of element `i` without alpha.
    pub fn rgb(&self, i: usize) -> Rgb {
        let [r, g, b, _] = self.colors[i];
        [r, g, b]
    }
}

impl<'a> Painted<'a> {
    /// The numbers that the colours of a mesh with faces show, if they show any: `values`, one for each face, or what
    /// the options ask for.
    pub fn of_mesh(
        mesh: &'a Mesh,
        options: &Options,
        values: Option<&'a [f64]>,
    ) -> Result<Option<Painted<'a>>> {
        let count = mesh.faces.len();
        let (values, defaults): (Cow<[f64]>, _) = match (values, &options.color) {
            (Some(values), _) if values.len() != count => {
                return Err(Error::Argument(format!(
                    "there are values for {} faces, but the mesh has {count}",
                    values.len()
                )));
            }
            (Some(values), _) => (values.into(), Defaults::new("value", Colormap::Light)),
            (None, Color::Field(name)) => {
                let sizes = [mesh.points.len(), count];
                return Painted::of_field(&mesh.fields, name, sizes, options).map(Some);
            }
            (None, Color::Area) => {
                let area = |i| area(mesh, mesh.faces.get(i));
                let areas: Vec<f64> = parallel::collect(count, area);
                let range = hundredths(&areas);
                let defaults = Defaults {
                    range,
                    is_log: true,
                    ..Defaults::new("area", Colormap::Light)
                };
                (areas.into(), defaults)
            }
            (None, Color::Size) => {
                let corners = |i| mesh.faces.get(i).len() as f64;
                let defaults = Defaults {
                    range: Some([2.5, 2.5 + SIZES as f64]),
                    steps: Some(SIZES),
                    ..Defaults::new("vertices of a face", Colormap::Light)
                };
                (parallel::collect(count, corners).into(), defaults)
            }
            (
                None,
                Color::Auto | Color::None | Color::Distinct | Color::Region | Color::Vertices,
            ) => {
                return options.refuse_scale().map(|()| None);
            }
        };
        Painted::new(values, Per::Cell, options, defaults).map(Some)
    }

    pub fn new(
        values: Cow<'a, [f64]>,
        per: Per,
        options: &Options,
        defaults: Defaults,
    ) -> Result<Painted<'a>> {
        let scale = Scale::new(&values, options, defaults)?;
        Ok(Painted { values, per, scale })
    }

    /// The numbers of a field, for a mesh with these numbers of points and cells.
    pub fn of_field(
        fields: &MeshFields,
        name: &str,
        sizes: [usize; 2],
        options: &Options,
    ) -> Result<Painted<'a>> {
        let (field, per, part) = found_of(fields, name, sizes)?;
        let (components, values) = (field.components, &field.values);
        let number = |i: usize, k: usize| values.f64(components * i + k);
        let (values, title) = match part.or((components == 1).then_some(0)) {
            Some(k) => (
                parallel::collect(field.len(), |i| number(i, k)),
                name.to_owned(),
            ),
            None => {
                let magnitude = |i| {
                    let squares = (0..components).map(|k| number(i, k) * number(i, k));
                    squares.sum::<f64>().sqrt()
                };
                (
                    parallel::collect(field.len(), magnitude),
                    format!("|{name}|"),
                )
            }
        };
        let defaults = Defaults::new(title, Colormap::Viridis);
        Painted::new(values.into(), per, options, defaults)
    }

    /// The number of each face: its own, or the mean of its vertices.
    pub fn of_faces(&self, faces: &Faces) -> Cow<'_, [f64]> {
        match self.per {
            Per::Cell => Cow::Borrowed(&self.values),
            Per::Point => Cow::Owned(parallel::collect(faces.len(), |i| {
                let face = faces.get(i);
                let sum: f64 = face.iter().map(|&v| self.values[v as usize]).sum();
                sum / face.len() as f64
            })),
        }
    }
}

/// As [`found`], in fields of a mesh with these numbers of points and cells.
fn found_of<'f>(
    fields: &'f MeshFields,
    name: &str,
    [points, cells]: [usize; 2],
) -> Result<(&'f Field, Per, Option<usize>)> {
    fields.points.check(points, "points")?;
    fields.cells.check(cells, "cells")?;
    found(fields, name)
}

/// The field of a name, or of a name and a component after a colon. A field of the cells comes before one of the
/// points.
fn found<'f>(fields: &'f MeshFields, name: &str) -> Result<(&'f Field, Per, Option<usize>)> {
    let of_name = |name: &str| {
        let of_cells = fields.cells.get(name).map(|field| (field, Per::Cell));
        of_cells.or_else(|| fields.points.get(name).map(|field| (field, Per::Point)))
    };
    if let Some((field, per)) = of_name(name) {
        return Ok((field, per, None));
    }
    let part = name.rsplit_once(':');
    let part = part.and_then(|(name, part)| Some((of_name(name)?, part)));
    let Some(((field, per), part)) = part else {
        let all = fields.cells.iter().chain(&fields.points);
        let names: Vec<&str> = all.map(|field| field.name.as_str()).collect();
        return Err(Error::Argument(match names.is_empty() {
            true => format!("there is no colour and no field `{name}`: the mesh has no fields"),
            false => format!(
                "there is no colour and no field `{name}`: the mesh has the fields {}",
                names.join(", ")
            ),
        }));
    };
    match part.parse::<usize>() {
        Ok(k) if k < field.components => Ok((field, per, Some(k))),
        _ => Err(Error::Argument(format!(
            "field {} has the components 0 to {}, but not {part}",
            field.name,
            field.components.saturating_sub(1)
        ))),
    }
}

/// Area of a face in space.
pub fn area(mesh: &Mesh, face: &[u32]) -> f64 {
    let Some(&first) = face.first() else {
        return 0.0;
    };
    let corner = |v: u32| mesh.points[v as usize] - mesh.points[first as usize];
    let sides = face.windows(2);
    let doubled: DVec3 = sides
        .map(|side| corner(side[0]).cross(corner(side[1])))
        .sum();
    let length = match doubled.truncate() == DVec2::ZERO {
        // A planar mesh: no square underflows or overflows.
        true => doubled.z.abs(),
        false => doubled.length(),
    };
    length / 2.0
}

/// The range of the positive areas without a hundredth of all areas at both ends; `None` if none is positive.
pub fn hundredths(areas: &[f64]) -> Option<[f64; 2]> {
    let mut sorted = areas.to_vec();
    parallel::sort_floats(&mut sorted);
    let first = sorted.partition_point(|&area| area <= 0.0);
    let last = sorted
        .partition_point(|&area| area.is_finite())
        .checked_sub(1)?;
    let hundredth = sorted.len() / 100;
    let low = first.max(hundredth);
    (low <= last).then(|| {
        [
            sorted[low],
            sorted[last.min(sorted.len() - 1 - hundredth).max(low)],
        ]
    })
}
