//! Colours of faces: a class for each face, and a colour for each class.

use glam::{DVec2, DVec3};
use rayon::prelude::*;

use super::Color;
use super::color::{self, Distinct, Rgb};
use super::neighbors::Neighbors;
use trioxide_mesh::edges::FaceEdges;
use trioxide_mesh::mesh::{Faces, Mesh};
use trioxide_mesh::{Error, Result, parallel};

/// Colours by number of vertices, from 3 on.
pub const SIZES: usize = 14;

/// The class of each face, and the colours of the classes.
pub type Colored = (Vec<u8>, Vec<Rgb>);

/// Colours of faces: known ones, or ones that a single thread can find.
pub enum Coloring {
    Known(Colored),
    Distinct(Distinct),
}

impl Coloring {
    /// With `values`, colours by values. `areas` is called only if the colours need it. Edges are computed if they are
    /// needed and not given.
    pub fn new(
        mesh: &Mesh,
        color: Color,
        values: Option<&[f64]>,
        areas: impl FnOnce() -> Vec<f64>,
        edges: Option<&FaceEdges>,
    ) -> Result<Coloring> {
        let count = mesh.faces.len();
        Ok(Coloring::Known(match (values, color) {
            (Some(values), _) => by_value(values, count)?,
            (None, Color::None) => (vec![0; count], vec![color::BACKGROUND]),
            (None, Color::Auto | Color::Distinct) => {
                let neighbors = match edges {
                    Some(edges) => Neighbors::new(mesh, edges),
                    None => Neighbors::new(mesh, &FaceEdges::of(&mesh.faces)),
                };
                return Ok(Coloring::Distinct(Distinct::new(neighbors)));
            }
            (None, Color::Area) => by_area(&areas()),
            (None, Color::Size) => by_size(&mesh.faces),
            (None, Color::Region) => by_region(mesh)?,
            (None, Color::Vertices) => {
                return Err(Error::Argument(
                    "colours of vertices are not drawn in a window: leave one of both out".into(),
                ));
            }
        }))
    }

    /// The colours, and the result of `work`. `work` gets whether one thread finds colours at the same time.
    pub fn find_beside<R: Send>(self, work: impl FnOnce(bool) -> R + Send) -> (Colored, R) {
        match self {
            Coloring::Known(colored) => (colored, work(false)),
            Coloring::Distinct(mut distinct) => {
                let (classes, made) = rayon::join(|| distinct.find(), || work(true));
                let colored = (distinct.of_faces(&classes), color::QUALITATIVE.to_vec());
                (colored, made)
            }
        }
    }
}

/// All colours at once. Areas are computed only if the colours need them.
pub fn of_faces(mesh: &Mesh, color: Color, values: Option<&[f64]>) -> Result<Colored> {
    let areas = || parallel::collect(mesh.faces.len(), |i| area(mesh, mesh.faces.get(i)));
    Ok(Coloring::new(mesh, color, values, areas, None)?
        .find_beside(|_| ())
        .0)
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

/// Colours by area.
pub const AREAS: usize = 24;

/// The areas, in the mesh's units, with the lightest and the darkest colour; `None` if no face can be drawn.
pub fn area_bounds(mesh: &Mesh) -> Option<[f64; 2]> {
    let count = mesh.points.len();
    let faces = (0..mesh.faces.len())
        .into_par_iter()
        .map(|i| mesh.faces.get(i));
    if faces
        .clone()
        .any(|face| face.iter().any(|&v| v as usize >= count))
    {
        return None;
    }
    let mut areas: Vec<f64> = faces.map(|face| area(mesh, face)).collect();
    areas.par_sort_unstable_by(f64::total_cmp);
    let hundredth = areas.len() / 100;
    Some([hundredth, areas.len() - 1 - hundredth].map(|i| areas[i]))
}

fn by_area(areas: &[f64]) -> Colored {
    let mut sorted = areas.to_vec();
    sorted.par_sort_unstable_by(f64::total_cmp);
    let hundredth = sorted.len() / 100;
    // An area of 0 has no logarithm.
    let logarithm = |area: f64| area.max(1e-30).log2();
    let low = logarithm(sorted[hundredth]);
    let high = logarithm(sorted[sorted.len() - 1 - hundredth]);
    // Equal areas differ only by rounding.
    by_share(areas, AREAS, (high - low).max(1e-6), |area| {
        logarithm(area) - low
    })
}

/// The class of each of `count` faces by its value, and the colours of the classes.
pub fn by_value(values: &[f64], count: usize) -> Result<Colored> {
    if values.len() != count {
        return Err(Error::Argument(format!(
            "there are values for {} faces, but the mesh has {count}",
            values.len()
        )));
    }
    if let Some(i) = values.iter().position(|value| !value.is_finite()) {
        return Err(Error::Argument(format!(
            "face {i} has the value {}, which has no colour: values must be finite",
            values[i]
        )));
    }
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // Equal values are light, and halving avoids overflow.
    let span = (high / 2.0 - low / 2.0).max(f64::MIN_POSITIVE);
    Ok(by_share(values, 64, span, |value| value / 2.0 - low / 2.0))
}

/// One of `steps` colours from light to dark for each value, by the fraction `above` / `span`.
fn by_share(values: &[f64], steps: usize, span: f64, above: impl Fn(f64) -> f64 + Sync) -> Colored {
    let classes = values
        .par_iter()
        .map(|&value| {
            let share = (above(value) / span).clamp(0.0, 1.0);
            (share * (steps - 1) as f64).round() as u8
        })
        .collect();
    (classes, color::ramp(steps))
}

fn by_size(faces: &Faces) -> Colored {
    let classes = (0..faces.len())
        .into_par_iter()
        .map(|i| faces.get(i).len().clamp(3, 2 + SIZES) as u8 - 3)
        .collect();
    (classes, color::ramp(SIZES))
}

fn by_region(mesh: &Mesh) -> Result<Colored> {
    let regions = mesh.regions.as_ref().ok_or_else(|| {
        Error::Argument("the mesh has no regions to colour: use another color".into())
    })?;
    let mut ids = regions.clone();
    ids.par_sort_unstable();
    ids.dedup();
    let colors = color::QUALITATIVE.len();
    let classes = regions
        .par_iter()
        .map(|id| (ids.partition_point(|other| other < id) % colors) as u8)
        .collect();
    Ok((classes, color::QUALITATIVE.to_vec()))
}
