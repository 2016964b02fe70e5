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
mod painted;
mod painter;
#[cfg(feature = "clap")]
mod parse;
mod pen;
mod place;
mod png;
mod polyhedra;
mod raster;
mod scale;
mod scene;
mod shapes;
mod svg;
#[cfg(test)]
mod tests;
mod text;
mod ticks;
mod triangulate;
mod up;
mod volume;

use std::path::Path;

use trioxide_mesh::mesh::Mesh;
use trioxide_mesh::{Error, Result};

use camera::Camera;
use legend::Legend;
use painted::{Own, Painted, Per};
use scene::Scene;

pub use camera::{Up, View};
pub use color::Rgb;
pub use facets::{Facets, render_facets};
pub use polyhedra::render_polyhedra;
pub use triangulate::triangulate;
pub use up::{guess_up, guess_up_polyhedra, guess_up_volume, up_of_format};
pub use volume::{Cut, render_volume};

/// The quantity that a colour shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
    /// The field of the cells or else of the points with this name: a scalar, or the magnitude of a vector; with a
    /// colon and a number from 0, this component. A field of bytes of 3 or 4 components is colours.
    #[cfg_attr(feature = "clap", value(skip))]
    Field(String),
}

#[cfg(feature = "clap")]
impl std::str::FromStr for Color {
    type Err = std::convert::Infallible;

    /// A word that is no other colour is the name of a field.
    fn from_str(text: &str) -> std::result::Result<Color, Self::Err> {
        let word = <Color as clap::ValueEnum>::from_str(text, false);
        Ok(word.unwrap_or_else(|_| Color::Field(text.to_owned())))
    }
}

/// Colours of a scale of numbers, from the least to the largest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Colormap {
    /// From light yellow to dark blue: edges stay visible on most of it.
    Light,
    /// From dark blue over green to yellow.
    Viridis,
    /// From black over purple to light yellow.
    Magma,
    /// From black over red to light yellow.
    Inferno,
    /// From dark blue over grey to yellow: nearly the same to people who do not see red or green.
    Cividis,
    /// Diverging, from blue over white to red; 0 is white if there is no range and the numbers have both signs.
    BlueRed,
}

/// Whether a mesh in space is shaded by a light.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Shading {
    /// The mesh is shaded if its colours show no field: shaded colours differ from those of the legend.
    #[default]
    Auto,
    /// It is always shaded, and the legend says so.
    Always,
    /// It is never shaded.
    Never,
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

/// The help of the option `--up`, of pictures and of the viewer.
pub const UP_HELP: &str = "Axis that points up in a view [default: guessed for a mesh in space: the axis at right angles to a \
    terrain or to a flat base; y for glTF; else z]";

/// How a mesh is drawn.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "clap", derive(clap::Args), group(skip))]
pub struct Options {
    /// Width in pixels; the height follows [default: 1600 pixels for the longer side]
    #[cfg_attr(feature = "clap", arg(long, value_name = "PIXELS", value_parser = clap::value_parser!(u32).range(1..)))]
    pub width: Option<u32>,
    /// Property that the colours show, or the name of a field of the cells or else of the points: its numbers, or the
    /// magnitudes of its vectors; with a colon and a number from 0, this component, as velocity:2. A field of bytes of
    /// 3 or 4 components, as the colours of faces in .ply, .off and .stl, is drawn as the colours that it holds
    #[cfg_attr(feature = "clap", arg(long, value_parser = parse::ColorParser, default_value = "auto"))]
    pub color: Color,
    /// Numbers that the ends of the colours stand for; smaller and larger ones have the colours of the ends
    /// [default: the range of the field; of areas without a hundredth at both ends; of the quality 0 to 1]
    #[cfg_attr(feature = "clap", arg(long, value_name = "LO,HI", value_parser = parse::range, allow_hyphen_values = true))]
    pub range: Option<[f64; 2]>,
    /// Colours of numbers [default: viridis for fields, light for others]
    #[cfg_attr(feature = "clap", arg(long, value_enum))]
    pub colormap: Option<Colormap>,
    /// Colours of numbers by their logarithms
    #[cfg_attr(feature = "clap", arg(long))]
    pub log: bool,
    /// Whether a mesh in space is shaded
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t))]
    pub shading: Shading,
    /// Whether edges between faces are drawn; segments always are, and the boundary of a planar mesh
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t))]
    pub edges: Edges,
    /// Part of a planar mesh to draw, in the mesh's coordinates
    #[cfg_attr(feature = "clap", arg(long, value_name = "X0,Y0,X1,Y1", value_parser = parse::window, allow_hyphen_values = true))]
    pub window: Option<[f64; 4]>,
    /// Where to see it from: degrees around the axis that points up, and above the horizon [default: planar meshes from
    /// above, others 30,25]
    #[cfg_attr(feature = "clap", arg(long, value_name = "AZIMUTH,ELEVATION", value_parser = parse::view, allow_hyphen_values = true))]
    pub view: Option<View>,
    /// Plane that cuts a volume mesh: its normal, to the side that is left out, and its product with the plane's points
    /// [default: through the middle]
    #[cfg_attr(feature = "clap", arg(long, value_name = "NX,NY,NZ[,D]", value_parser = parse::cut, allow_hyphen_values = true))]
    pub cut: Option<Cut>,
    /// Axis that points up in a view.
    #[cfg_attr(feature = "clap", arg(long, value_enum, value_name = "AXIS", help = UP_HELP))]
    pub up: Option<Up>,
    /// Draw a bar of a round length in the mesh's units below the picture
    #[cfg_attr(feature = "clap", arg(long))]
    pub scale_bar: bool,
    /// Draw numbers of x and y beside a picture from above, or the directions of x, y and z below others
    #[cfg_attr(feature = "clap", arg(long))]
    pub axes: bool,
    /// A strip below the picture that explains colours of numbers, regions and segments.
    #[cfg_attr(feature = "clap", arg(skip))]
    pub legend: bool,
}

impl Options {
    /// Whether the picture of a surface or of points needs an axis up that the options do not name.
    pub fn needs_up(&self, mesh: &Mesh) -> bool {
        let is_from_above = self.view.is_none() && mesh.is_planar();
        self.up.is_none() && self.window.is_none() && !is_from_above
    }

    /// Refuses options of a scale for colours that show no numbers.
    fn refuse_scale(&self) -> Result<()> {
        match self.range.is_some() || self.colormap.is_some() || self.log {
            true => Err(Error::Argument(
                "a range, a colormap and logarithms are for colours that show numbers, as those of a field: leave them out, or choose such a colour".into(),
            )),
            false => Ok(()),
        }
    }

    /// Whether a mesh in space is shaded, where the numbers of a field have colours or not.
    fn is_shaded(&self, has_field: bool) -> bool {
        match self.shading {
            Shading::Auto => !has_field,
            Shading::Always => true,
            Shading::Never => false,
        }
    }

    /// The camera that the options ask for.
    fn camera(&self) -> Option<Camera> {
        let is_asked = self.view.is_some() || self.up.is_some();
        is_asked.then(|| Camera {
            view: self.view.unwrap_or_default(),
            up: self.up.unwrap_or_default(),
        })
    }

    /// With the view and the axis up of a surface or of points where there are none.
    fn settled(&self, mesh: &Mesh) -> Options {
        let is_from_above = self.camera().is_none() && mesh.is_planar();
        let guess = || self.needs_up(mesh).then(|| guess_up(mesh));
        Options {
            view: is_from_above.then_some(View::ABOVE).or(self.view),
            up: self.up.or_else(guess),
            ..self.clone()
        }
    }
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
/// `options.view`. Points without faces become dots.
///
/// [`Error::Invalid`] when the mesh has no points, names a missing vertex, or has a coordinate that is not finite.
/// [`Error::Argument`] for a picture that is empty or too large, or for colours or a field that the mesh does not
/// have.
///
/// A field of the points has colours between the points in a PNG. In an SVG and in a window of a planar mesh, a face
/// has one colour, that of the mean.
pub fn render(mesh: &Mesh, options: &Options, format: Format) -> Result<Vec<u8>> {
    draw(mesh, options, None, format)
}

/// As [`render`], with colours by a value of each face instead of `options.color`, as those of a field: light
/// (smallest) to dark (largest) on a linear scale where the options do not say otherwise.
///
/// # Errors
/// As [`render`], and [`Error::Argument`] for values whose number is not the number of faces.
pub fn render_values(
    mesh: &Mesh,
    values: &[f64],
    options: &Options,
    format: Format,
) -> Result<Vec<u8>> {
    draw(mesh, options, Some(values), format)
}

fn draw(mesh: &Mesh, options: &Options, values: Option<&[f64]>, format: Format) -> Result<Vec<u8>> {
    let is_cloud = mesh.faces.is_empty() && !mesh.points.is_empty();
    if options.cut.is_some() {
        return Err(Error::Argument(
            "a cut is for volume meshes, and this mesh has no cells: leave it out".into(),
        ));
    }
    if options.window.is_some() && (is_cloud || options.camera().is_some()) {
        return Err(Error::Argument(
            "a window is a part of a planar mesh with faces, seen from above: leave it out".into(),
        ));
    }
    if is_cloud {
        return dots::render(mesh, &options.settled(mesh), format);
    }
    scene::check(mesh)?;
    let own = match values {
        None => own_colors(mesh, options)?,
        Some(_) => None,
    };
    let painted = match own {
        None => Painted::of_mesh(mesh, options, values)?,
        Some(_) => None,
    };
    let painted = painted.as_ref();
    let legend = Legend::of_faces(mesh, options, painted.map(|painted| &painted.scale));
    let is_from_above = options.camera().is_none() && mesh.is_planar();
    let is_own = own.is_some() && options.color != Color::Auto;
    if is_own && options.window.is_some() {
        return Err(Error::Argument(
            "colours that vertices or faces have themselves are not drawn in a window: leave one of both out".into(),
        ));
    }
    let varies =
        is_own || format == Format::Png && painted.is_some_and(|painted| painted.per == Per::Point);
    if options.window.is_some() || is_from_above && !varies {
        let mark = |scene: &Scene| match format {
            Format::Png => png::Marked::of(scene),
            Format::Svg => None,
        };
        let (scene, marked) = Scene::planar(mesh, options, painted, mark)?;
        let size = [scene.width, scene.height];
        let strip = Legend::strip(legend, options, &scene.place, false);
        let strip = strip.as_ref();
        return Ok(match format {
            Format::Png => legend::write_png(size, png::pixels(&scene, marked.flatten()), strip),
            Format::Svg => legend::finish_svg(svg::encode(&scene), size, strip).into_bytes(),
        });
    }
    let is_field = values.is_some() || matches!(options.color, Color::Field(_));
    let colors = facets::Colors {
        smooth: painted.filter(|painted| painted.per == Per::Point),
        is_shaded: options.is_shaded(is_field) && !(is_from_above && is_field),
        legend,
    };
    let options = options.settled(mesh);
    let facets = Facets::of_mesh(mesh, &options, painted, own.as_ref())?;
    facets::render_with(&facets, &options, format, colors)
}

/// The colours of vertices or of faces that the options ask for.
fn own_colors<'a>(mesh: &'a Mesh, options: &Options) -> Result<Option<Own<'a>>> {
    let of_vertices = mesh.attributes.colors.as_deref().map(Own::of_points);
    match &options.color {
        Color::Vertices if of_vertices.is_none() => Err(Error::Argument(
            "the mesh's vertices have no colours: use another color".into(),
        )),
        Color::Vertices | Color::Auto => options.refuse_scale().map(|()| of_vertices),
        _ => {
            let sizes = [mesh.points.len(), mesh.faces.len()];
            Own::of_field(&mesh.fields, sizes, options)
        }
    }
}
