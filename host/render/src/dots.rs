use glam::{DVec3, Vec3};

use super::camera::{self, Projection};
use super::color::{self, Rgb};
use super::painter::{farthest_first, push, start};
use super::raster::{self, Band, SAMPLES};
use super::svg::hex;
use super::{Color, Format, Legend, Options, Up, legend};
use trioxide_mesh::mesh::Mesh;
use trioxide_mesh::{Error, Result, parallel};

/// Colours by height.
const HEIGHTS: usize = 64;

/// The picture of a mesh without faces: its points as dots, in their own colours or by height, edges of depth darkened.
pub fn render(mesh: &Mesh, options: &Options, format: Format) -> Result<Vec<u8>> {
    let dots = Dots::new(mesh, options)?;
    match format {
        Format::Png => Ok(legend::write_png(
            dots.size(),
            dots.pixels(),
            dots.legend.as_ref(),
        )),
        Format::Svg => {
            let svg = to_svg(&dots)?;
            Ok(legend::finish_svg(svg, dots.size(), dots.legend.as_ref()).into_bytes())
        }
    }
}

pub struct Dots<'a> {
    mesh: &'a Mesh,
    projection: Projection,
    pub radius: f32,
    palette: Vec<Rgb>,
    /// Axis that points up, least height, and span of the heights.
    heights: (usize, f64, f64),
    has_own_colors: bool,
    legend: Option<Legend>,
}

impl<'a> Dots<'a> {
    fn new(mesh: &'a Mesh, options: &Options) -> Result<Dots<'a>> {
        let points = &mesh.points;
        if let Some(i) = parallel::position(points, |p| !p.is_finite()) {
            return Err(Error::Invalid {
                element: format!("vertex {i}"),
                rule: "has a coordinate that is not finite".into(),
            });
        }
        let has_own_colors = match options.color {
            Color::Auto => mesh.attributes.colors.is_some(),
            Color::Vertices if mesh.attributes.colors.is_none() => {
                return Err(Error::Argument(
                    "the points have no colours: use another color".into(),
                ));
            }
            color => color == Color::Vertices,
        };
        let camera = options.camera().unwrap_or_default();
        let bounds = |turned: &(dyn Fn(DVec3) -> DVec3 + Sync)| {
            camera::bounds(points.len(), &|i| turned(points[i]))
        };
        let projection = Projection::new(&camera, options.width, bounds)?;
        let [least, most] = bounds(&|p| p);
        let axis = match camera.up {
            Up::X => 0,
            Up::Y => 1,
            Up::Z => 2,
        };
        let span = (most[axis] - least[axis]).max(f64::MIN_POSITIVE);
        let is_by_height = options.legend && !has_own_colors && options.color != Color::None;
        let legend = is_by_height.then(|| {
            let title = format!("height ({})", ["x", "y", "z"][axis]);
            Legend::ramp(&title, color::ramp(HEIGHTS), [least[axis], most[axis]])
        });
        let [width, height] = projection.size().map(f64::from);
        let spacing = (width * height / points.len() as f64).sqrt();
        Ok(Dots {
            mesh,
            projection,
            radius: (0.5 * spacing).clamp(0.5, 4.0) as f32,
            palette: match options.color {
                Color::None => vec![color::EDGE],
                _ => color::ramp(HEIGHTS),
            },
            heights: (axis, least[axis], span),
            has_own_colors,
            legend,
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
        if let Some(colors) = self
            .mesh
            .attributes
            .colors
            .as_ref()
            .filter(|_| self.has_own_colors)
        {
            let [r, g, b, _] = colors[i];
            return [r, g, b];
        }
        let (axis, least, span) = self.heights;
        let share = (self.mesh.points[i][axis] - least) / span;
        self.palette[(share * (self.palette.len() - 1) as f64).round() as usize]
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
                color::scale(self.color(number as usize), openness(band, sample))
            },
        )
    }
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
    let order = farthest_first(dots.len(), "points", |i| dots.place(i).z)?;
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
