use glam::{DVec3, Vec3};

use super::camera::{self, Projection};
use super::color::{self, Rgb};
use super::painter::{farthest_first, push, start};
use super::raster::{self, Band, SAMPLES};
use super::scale::Defaults;
use super::svg::hex;
use super::{Color, Colormap, Format, Legend, Options, Own, Painted, Per, Up, legend};
use trioxide_mesh::mesh::Mesh;
use trioxide_mesh::{Error, Result, parallel};

/// The picture of a mesh without faces: its points as dots, in the colours of a field, in their own colours or by
/// height, edges of depth darkened.
pub fn render(mesh: &Mesh, options: &Options, format: Format) -> Result<Vec<u8>> {
    let dots = Dots::new(mesh, options)?;
    let legend = match &dots.colors {
        Colors::Numbers(painted) => Legend::of_scale(&painted.scale),
        Colors::Own(_) | Colors::None => Legend::default(),
    };
    // In an SVG no edge is darkened.
    let is_shaded = dots.is_shaded && format == Format::Png;
    let strip = Legend::strip(legend, options, &dots.projection.place(), is_shaded);
    let strip = strip.as_ref();
    match format {
        Format::Png => Ok(legend::write_png(dots.size(), dots.pixels(), strip)),
        Format::Svg => {
            let svg = to_svg(&dots)?;
            Ok(legend::finish_svg(svg, dots.size(), strip).into_bytes())
        }
    }
}

enum Colors<'a> {
    Numbers(Painted<'a>),
    /// The points' own.
    Own(Own<'a>),
    None,
}

pub struct Dots<'a> {
    mesh: &'a Mesh,
    projection: Projection,
    pub radius: f32,
    colors: Colors<'a>,
    is_shaded: bool,
}

impl<'a> Dots<'a> {
    fn new(mesh: &'a Mesh, options: &Options) -> Result<Dots<'a>> {
        let points = &mesh.points;
        if let Some(i) = parallel::position(points, |p| !p.is_finite()) {
            return Err(Error::not_finite(i));
        }
        let camera = options.camera().unwrap_or_default();
        let bounds = |turned: &(dyn Fn(DVec3) -> DVec3 + Sync)| {
            camera::bounds(points.len(), &|i| turned(points[i]))
        };
        let projection = Projection::new(&camera, options.width, bounds)?;
        let colors = colors(mesh, options, camera.up)?;
        let [width, height] = projection.size().map(f64::from);
        let spacing = (width * height / points.len() as f64).sqrt();
        Ok(Dots {
            mesh,
            projection,
            radius: (0.5 * spacing).clamp(0.5, 4.0) as f32,
            colors,
            is_shaded: options.is_shaded(matches!(options.color, Color::Field(_))),
        })
    }

    pub fn len(&self) -> usize {
        self.mesh.points.len()
    }

    pub fn size(&self) -> [u32; 2] {
        self.projection.size()
    }

    /// Middle of a dot in pixels.
    pub fn place(&self, i: usize) -> Vec3 {
        self.projection.apply(self.mesh.points[i])
    }

    pub fn color(&self, i: usize) -> Rgb {
        match &self.colors {
            Colors::Numbers(painted) => painted.scale.color(painted.values[i]),
            Colors::Own(own) => own.rgb(i),
            Colors::None => color::EDGE,
        }
    }

    fn pixels(&self) -> Vec<u8> {
        raster::picture(
            self.size(),
            |band| {
                parallel::for_each(self.len(), |i| {
                    band.draw_dot(self.place(i), self.radius, i as u32);
                });
            },
            |band, number, sample| {
                let color = self.color(number as usize);
                match self.is_shaded {
                    true => color::scale(color, openness(band, sample)),
                    false => color,
                }
            },
        )
    }
}

/// The colours that the options ask for.
fn colors<'a>(mesh: &'a Mesh, options: &Options, up: Up) -> Result<Colors<'a>> {
    let own = mesh.attributes.colors.as_deref();
    let (own, is_known) = match (&options.color, own) {
        (Color::Auto, own) => (own, own.is_some()),
        (Color::Vertices, None) => {
            return Err(Error::Argument(
                "the points have no colours: use another color".into(),
            ));
        }
        (Color::Vertices, own) => (own, true),
        (color, _) => (None, *color == Color::None),
    };
    if is_known {
        options.refuse_scale()?;
        return Ok(own.map_or(Colors::None, |colors| Colors::Own(Own::of_points(colors))));
    }
    if let Color::Field(name) = &options.color {
        let sizes = [mesh.points.len(), 0];
        if let Some(own) = Own::of_field(&mesh.fields, sizes, options)? {
            return Ok(Colors::Own(own));
        }
        return Painted::of_field(&mesh.fields, name, sizes, options).map(Colors::Numbers);
    }
    let (axis, name) = match up {
        Up::X => (0, "x"),
        Up::Y => (1, "y"),
        Up::Z => (2, "z"),
    };
    let heights = parallel::map(&mesh.points, |p| p[axis]);
    let defaults = Defaults::new(format!("height ({name})"), Colormap::Light);
    Painted::new(heights.into(), Per::Point, options, defaults).map(Colors::Numbers)
}

/// Darkens a place that is deeper than its neighbours in the picture: eye-dome lighting (Boucheny 2009), which shows
/// shape without normals.
fn openness(band: &Band, [x, y]: [i32; 2]) -> f32 {
    let Some(own) = band.nearest([x, y]) else {
        return 1.0;
    };
    let mut behind = 0.0;
    for (reach, weight) in [(1, 0.6), (3, 0.4)] {
        let reach = reach * SAMPLES;
        for [dx, dy] in [[1, 0], [-1, 0], [0, 1], [0, -1]] {
            if let Some(depth) = band.nearest([x + dx * reach, y + dy * reach]) {
                // In pixels: the slope is 1 if the step in depth equals the distance.
                behind += weight * ((own - depth) / reach as f32).clamp(0.0, 4.0);
            }
        }
    }
    (-0.25 * behind).exp()
}

/// The picture as SVG: the farthest dots first.
fn to_svg(dots: &Dots) -> Result<String> {
    let order = farthest_first((0..dots.len()).collect(), "points", |i| dots.place(i).z)?;
    let mut svg = start(dots.size());
    for i in order {
        let (at, color, radius) = (dots.place(i), hex(dots.color(i)), dots.radius);
        push(
            &mut svg,
            format_args!(
                "<circle fill=\"{color}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"{radius:.1}\"/>\n",
                at.x, at.y
            ),
        );
    }
    svg += "</svg>\n";
    Ok(svg)
}
