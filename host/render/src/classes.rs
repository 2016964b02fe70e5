//! Colours of faces: a class for each face, and a colour for each class.

use rayon::prelude::*;

use super::Color;
use super::color::{self, Distinct, Rgb};
use super::neighbors::Neighbors;
use super::painted::Painted;
use trioxide_mesh::edges::FaceEdges;
use trioxide_mesh::mesh::Mesh;
use trioxide_mesh::{Error, Result, parallel};

/// The class of each face, and the colours of the classes.
pub type Colored = (Vec<u8>, Vec<Rgb>);

/// Colours of faces: known ones, or ones that a single thread can find.
pub enum Coloring {
    Known(Colored),
    Distinct(Distinct),
}

impl Coloring {
    /// With `painted`, colours of numbers. Edges are computed if they are needed and not given.
    pub fn new(
        mesh: &Mesh,
        color: &Color,
        painted: Option<&Painted>,
        edges: Option<&FaceEdges>,
    ) -> Result<Coloring> {
        if let Some(painted) = painted {
            let scale = &painted.scale;
            let classes = parallel::map(&painted.of_faces(&mesh.faces), |&x| scale.class(x));
            return Ok(Coloring::Known((classes, scale.colors())));
        }
        Ok(Coloring::Known(match color {
            Color::None => (vec![0; mesh.faces.len()], vec![color::BACKGROUND]),
            Color::Region => by_region(mesh)?,
            // All others show numbers.
            _ => {
                let neighbors = match edges {
                    Some(edges) => Neighbors::new(mesh, edges),
                    None => Neighbors::new(mesh, &FaceEdges::of(&mesh.faces)),
                };
                return Ok(Coloring::Distinct(Distinct::new(neighbors)));
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

/// All colours at once.
pub fn of_faces(mesh: &Mesh, color: &Color, painted: Option<&Painted>) -> Result<Colored> {
    Ok(Coloring::new(mesh, color, painted, None)?
        .find_beside(|_| ())
        .0)
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
