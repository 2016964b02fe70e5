//! Pictures of meshes.
//!
//! A mesh becomes a scene: faces in pixels, a colour class each, and the edges worth drawing. The scene
//! is written as SVG or PNG. Scenes are made of planar meshes here; a view of a surface would be another way to make one.

mod color;
mod png;
mod scene;
mod svg;
#[cfg(test)]
mod tests;

use std::path::Path;

use clap::ValueEnum;

use crate::mesh::Mesh;
use crate::{Error, Result};

use scene::Scene;

/// What the colour of a face tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// Nothing: all faces are white.
    None,
    /// Neighbours apart: no two faces that share an edge have the same colour.
    #[default]
    Distinct,
    /// Area, light (small) to dark (large), on a logarithmic scale from the smallest to the largest hundredth.
    Area,
    /// Number of vertices, light (3) to dark (16 and more).
    Size,
    /// Region id.
    Region,
}

/// Whether edges between faces are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Edges {
    /// Only where faces are large enough for their edges to be seen apart.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// How a mesh is drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Width in pixels; the height follows from the mesh. Without it, the longer side has 1600 pixels.
    pub width: Option<u32>,
    /// Colour of the faces.
    pub color: Color,
    /// Edges between faces. The boundary, edges between regions, and segments (red) are always drawn.
    pub edges: Edges,
    /// The part to draw, as x0, y0, x1, y1 in the mesh's coordinates; all of it without.
    pub window: Option<[f64; 4]>,
}

/// A kind of picture file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Pixels.
    Png,
    /// Vectors, in tenths of a pixel.
    Svg,
}

impl Format {
    /// The format that a file name's extension stands for.
    ///
    /// # Errors
    /// [`Error::Format`] for any extension but `.png` and `.svg`.
    pub fn of_path(path: &Path) -> Result<Format> {
        let extension = path.extension().and_then(|extension| extension.to_str());
        match extension.map(str::to_ascii_lowercase).as_deref() {
            Some("png") => Ok(Format::Png),
            Some("svg") => Ok(Format::Svg),
            _ => Err(Error::Format {
                path: path.to_owned(),
                reason: "pictures are written as .png or .svg".into(),
            }),
        }
    }
}

/// The picture of a planar mesh, y up, as the bytes of a file.
///
/// # Errors
/// [`Error::Invalid`] when the mesh has no face, is not planar, names a vertex that it does not have, or has a coordinate
/// that is not finite; [`Error::Argument`] for a picture that is empty or too large, or for colours by region where the
/// mesh has none.
pub fn render(mesh: &Mesh, options: &Options, format: Format) -> Result<Vec<u8>> {
    Ok(encode(&Scene::planar(mesh, options, None)?, format))
}

/// As [`render`], with colours by a value of each face in place of `options.color`: light (smallest) to dark (largest) on a
/// linear scale.
///
/// # Errors
/// As [`render`], and [`Error::Argument`] for values that are not finite or not one for each face.
pub fn render_values(
    mesh: &Mesh,
    values: &[f64],
    options: &Options,
    format: Format,
) -> Result<Vec<u8>> {
    Ok(encode(&Scene::planar(mesh, options, Some(values))?, format))
}

fn encode(scene: &Scene, format: Format) -> Vec<u8> {
    match format {
        Format::Png => png::encode(scene),
        Format::Svg => svg::encode(scene).into_bytes(),
    }
}
