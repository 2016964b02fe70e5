//! Pictures of meshes.
//!
//! A planar mesh becomes a scene: faces in pixels, a colour class for each, and the visible edges. The scene is written
//! as SVG or PNG. A mesh in space becomes facets: triangles with a colour each. A camera sees the nearest facets,
//! shaded (PNG: a depth buffer; SVG: painted from the farthest to the nearest). Points without faces become dots.

mod camera;
mod classes;
mod color;
mod deflated;
mod dots;
mod facets;
mod fill;
mod legend;
mod neighbors;
mod painter;
mod png;
mod polyhedra;
mod raster;
mod scene;
mod svg;
#[cfg(test)]
mod tests;
mod triangulate;
mod up;
mod volume;

use std::path::Path;

use trioxide_mesh::mesh::Mesh;
use trioxide_mesh::{Error, Result};

use legend::Legend;
use scene::Scene;

pub use camera::{Camera, Up};
pub use color::Rgb;
pub use facets::{Facets, render_facets};
pub use polyhedra::render_polyhedra;
pub use up::guess_up;
pub use volume::{Cut, render_volume};

/// The quantity that a face's colour shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Color {
    /// In the plane: neighbours apart. In space: the vertices' own colours, or nothing; for points without faces, their
    /// height; for cells, their scaled Jacobian.
    #[default]
    Auto,
    /// Nothing: all faces are white; in space light blue, and their backs orange.
    None,
    /// Neighbours apart: no two faces that share an edge have the same colour.
    Distinct,
    /// Area, light (small) to dark (large), on a logarithmic scale from the smallest to the largest hundredth.
    Area,
    /// Number of vertices, light (3) to dark (16 and more).
    Size,
    /// Region id.
    Region,
    /// The vertices' own colours.
    Vertices,
}

/// Whether edges between faces are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Edges {
    /// Only where faces are large enough for their edges to be seen apart.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Options of a picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Width in pixels; the height follows from the mesh. Without it, the longer side has 1600 pixels.
    pub width: Option<u32>,
    /// Colour of the faces.
    pub color: Color,
    /// Edges between faces. In the plane, the boundary and edges between regions are always drawn; segments (red) are
    /// everywhere.
    pub edges: Edges,
    /// The part of a planar mesh to draw, as x0, y0, x1, y1 in the mesh's coordinates; `None` for all of it.
    pub window: Option<[f64; 4]>,
    /// The viewpoint. By default a planar mesh is seen from above, and another one from [`Camera::default`] with the
    /// axis up that [`guess_up`] finds.
    pub camera: Option<Camera>,
    /// A strip below the picture that explains colours of numbers or regions.
    pub legend: bool,
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
    /// The format of a file name's extension.
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

/// The picture of a mesh, as the bytes of a file. A planar mesh has y up. A mesh in space is shaded and seen from
/// `options.camera`. Points without faces become dots.
///
/// [`Error::Invalid`] when the mesh has no points, names a missing vertex, or has a coordinate that is not finite.
/// [`Error::Argument`] for a picture that is empty or too large, or for colours that the mesh does not have.
pub fn render(mesh: &Mesh, options: &Options, format: Format) -> Result<Vec<u8>> {
    draw(mesh, options, None, format)
}

/// As [`render`], with colours by a value of each face instead of `options.color`: light (smallest) to dark (largest)
/// on a linear scale.
///
/// # Errors
/// As [`render`], and [`Error::Argument`] for values that are not finite, or whose number is not the number of faces.
pub fn render_values(
    mesh: &Mesh,
    values: &[f64],
    options: &Options,
    format: Format,
) -> Result<Vec<u8>> {
    draw(mesh, options, Some(values), format)
}

/// A colour for each value, as in [`render_values`]: light (smallest) to dark (largest) on a linear scale.
///
/// # Errors
/// [`Error::Argument`] for values that are not finite.
pub fn colors_of_values(values: &[f64]) -> Result<Vec<Rgb>> {
    let (classes, palette) = classes::by_value(values, values.len())?;
    Ok(classes
        .iter()
        .map(|class| palette[usize::from(*class)])
        .collect())
}

fn draw(mesh: &Mesh, options: &Options, values: Option<&[f64]>, format: Format) -> Result<Vec<u8>> {
    let is_cloud = mesh.faces.is_empty() && !mesh.points.is_empty();
    if options.window.is_some() && (is_cloud || options.camera.is_some()) {
        return Err(Error::Argument(
            "a window is a part of a planar mesh with faces, seen from above: leave it out".into(),
        ));
    }
    if is_cloud {
        return dots::render(mesh, options, format);
    }
    let legend = Legend::of_faces(mesh, options, values);
    let is_scene = options.window.is_some()
        || options.camera.is_none() && options.color != Color::Vertices && mesh.is_planar();
    if is_scene {
        let mark = |scene: &Scene| match format {
            Format::Png => png::Marked::of(scene),
            Format::Svg => None,
        };
        let (scene, marked) = Scene::planar(mesh, options, values, mark)?;
        let size = [scene.width, scene.height];
        let legend = legend.as_ref();
        return Ok(match format {
            Format::Png => legend::write_png(size, png::pixels(&scene, marked.flatten()), legend),
            Format::Svg => legend::finish_svg(svg::encode(&scene), size, legend).into_bytes(),
        });
    }
    scene::check(mesh)?;
    let options = Options {
        camera: options.camera.or(Some(facets::camera_of(mesh))),
        ..options.clone()
    };
    let facets = Facets::of_mesh(mesh, &options, values)?;
    facets::render_with(&facets, &options, format, legend.as_ref())
}
