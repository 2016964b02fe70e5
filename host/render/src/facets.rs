use std::borrow::Cow;

use glam::{DVec3, Vec2, Vec3};

use super::camera::{Camera, Projection, bounds};
use super::color::{self, BACK, EDGE, Rgb, SEGMENT, SURFACE};
use super::painter::{farthest_first, place, push, start};
use super::raster::{self, PIXEL, drawn_area, in_pixels};
use super::scene::EDGES_FROM;
use super::svg::hex;
use super::triangulate::triangulate;
use super::up::of_triangles;
use super::{Color, Edges, Format, Legend, Options, classes, legend};
use trioxide_mesh::mesh::{Faces, Mesh};
use trioxide_mesh::{Error, Result, parallel};

/// Triangles in space with colours: the input of [`render_facets`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facets<'a> {
    /// Corners.
    pub points: Cow<'a, [DVec3]>,
    /// Corners of each triangle, counter-clockwise from its front.
    pub triangles: Cow<'a, [[u32; 3]]>,
    /// Colour of each triangle before shading, or a single colour for all.
    pub colors: Vec<Rgb>,
    /// Colour of the back of every triangle; `None` for the colour of its front.
    pub back: Option<Rgb>,
    /// Sides of each triangle that are edges: bit k is the side from corner k to the next. If empty, all sides are
    /// edges.
    pub sides: Vec<u8>,
    /// Lines to draw in red.
    pub lines: Vec<[u32; 2]>,
}

/// The picture of triangles in space, as the bytes of a file: seen from `options.view` (by default with the guessed
/// axis up), with hidden surfaces removed, shaded by a light from the upper left. The colours in `options` have no
/// effect, and neither have points that no triangle uses.
///
/// [`Error::Invalid`] for a corner that is missing or not finite. [`Error::Argument`] for a picture that is empty or
/// too large, or with more triangles than an SVG can hold.
pub fn render_facets(facets: &Facets, options: &Options, format: Format) -> Result<Vec<u8>> {
    render_with(facets, options, format, None)
}

/// As [`render_facets`], with a legend.
pub(super) fn render_with(
    facets: &Facets,
    options: &Options,
    format: Format,
    legend: Option<&Legend>,
) -> Result<Vec<u8>> {
    let count = facets.points.len();
    let is_bad = |&v: &u32| facets.points.get(v as usize).is_none_or(|p| !p.is_finite());
    if let Some(i) = parallel::position(&facets.triangles, |t| t.iter().any(is_bad)) {
        let v = facets.triangles[i].iter().find(|v| is_bad(v));
        let v = v.map_or(count, |&v| v as usize);
        let (element, rule) = match v < count {
            true => (
                format!("vertex {v}"),
                "has a coordinate that is not finite".to_owned(),
            ),
            false => (
                format!("triangle {i}"),
                format!("has vertex {v}, but the mesh has {count} vertices"),
            ),
        };
        return Err(Error::Invalid { element, rule });
    }
    let view = View::new(facets, options)?;
    match format {
        Format::Png => Ok(legend::write_png(view.size, view.pixels(), legend)),
        Format::Svg => {
            let svg = to_svg(&view)?;
            Ok(legend::finish_svg(svg, view.size, legend).into_bytes())
        }
    }
}

impl<'a> Facets<'a> {
    /// The faces of a mesh, coloured by `options` or by `values`. A face of more than three corners becomes several
    /// triangles.
    pub(super) fn of_mesh(
        mesh: &'a Mesh,
        options: &Options,
        values: Option<&[f64]>,
    ) -> Result<Facets<'a>> {
        let is_plain = values.is_none()
            && match options.color {
                Color::None => true,
                Color::Auto => mesh.attributes.colors.is_none(),
                _ => false,
            };
        let (triangles, sides, face_of) = triangles_of(&mesh.points, &mesh.faces);
        let face_of = |i: usize| face_of.as_ref().map_or(i, |faces| faces[i] as usize);
        let colors = if is_plain {
            vec![SURFACE]
        } else if values.is_none() && matches!(options.color, Color::Auto | Color::Vertices) {
            let colors = mesh.attributes.colors.as_ref().ok_or_else(|| {
                Error::Argument("the mesh's vertices have no colours: use another color".into())
            })?;
            parallel::map(&triangles, |t| mean(t.map(|v| colors[v as usize])))
        } else {
            let (classes, palette) = classes::of_faces(mesh, options.color, values)?;
            parallel::collect(triangles.len(), |i| palette[classes[face_of(i)] as usize])
        };
        Ok(Facets {
            points: (&mesh.points).into(),
            triangles,
            colors,
            back: is_plain.then_some(BACK),
            sides,
            lines: mesh.segments.iter().map(|segment| segment.ends).collect(),
        })
    }
}

/// The triangles of the faces, their sides that are sides of the face, and the face of each triangle. If all faces are
/// triangles, the last two are empty or missing.
#[expect(clippy::type_complexity)]
fn triangles_of<'a>(
    points: &[DVec3],
    faces: &'a Faces,
) -> (Cow<'a, [[u32; 3]]>, Vec<u8>, Option<Vec<u32>>) {
    let polygons = match faces {
        Faces::Triangles(triangles) => return (triangles.into(), Vec::new(), None),
        Faces::Polygons(polygons) => polygons,
    };
    let (mut triangles, mut sides, mut face_of) = (Vec::new(), Vec::new(), Vec::new());
    let mut parts = Vec::new();
    for (i, face) in polygons.iter().enumerate() {
        parts.clear();
        triangulate(points, face, &mut parts);
        for part in &parts {
            triangles.push(part.map(|corner| face[corner]));
            let is_side = |k: usize| (part[k] + 1) % face.len() == part[(k + 1) % 3];
            sides.push((0..3).map(|k| u8::from(is_side(k)) << k).sum());
            face_of.push(i as u32);
        }
    }
    (triangles.into(), sides, Some(face_of))
}

fn mean(colors: [[u8; 4]; 3]) -> Rgb {
    std::array::from_fn(|channel| {
        let sum: u16 = colors.iter().map(|color| u16::from(color[channel])).sum();
        (sum / 3) as u8
    })
}

/// Triangles in pixels.
pub(super) struct View<'a> {
    facets: &'a Facets<'a>,
    pub size: [u32; 2],
    points: Vec<Vec3>,
    /// Width of edges in pixels; 0 if edges are not drawn.
    pub edge_width: f32,
    pub line_width: f32,
}

impl<'a> View<'a> {
    fn new(facets: &'a Facets, options: &Options) -> Result<View<'a>> {
        let camera = options.camera().unwrap_or_else(|| Camera {
            up: of_triangles(&facets.points, &facets.triangles),
            ..Camera::default()
        });
        let projection = Projection::new(&camera, options.width, |turned| {
            let corners = facets.triangles.as_flattened();
            bounds(corners.len(), &|i| {
                turned(facets.points[corners[i] as usize])
            })
        })?;
        let points = parallel::map(&facets.points, |p| projection.apply(*p));
        let mut view = View {
            facets,
            size: projection.size(),
            points,
            edge_width: 0.0,
            line_width: 2.0,
        };
        // In integers, so that the sum is the same for any number of threads.
        let areas = parallel::map_pieces(view.len(), parallel::GRAIN, |triangles| {
            let area = |i| u128::from(drawn_area(&view.corners(i)).unsigned_abs());
            triangles.map(area).sum::<u128>()
        });
        let area: u128 = areas.into_iter().sum();
        let size = (area as f64 / PIXEL / view.len() as f64).sqrt();
        if options.edges == Edges::Always || options.edges == Edges::Auto && size >= EDGES_FROM {
            view.edge_width = (0.05 * size).clamp(0.35, 1.5) as f32;
        }
        Ok(view)
    }

    /// Number of triangles.
    pub fn len(&self) -> usize {
        self.facets.triangles.len()
    }

    /// A triangle in pixels: to the right, down, and away from the viewer.
    pub fn corners(&self, i: usize) -> [Vec3; 3] {
        self.facets.triangles[i].map(|v| self.points[v as usize])
    }

    /// Ends of the lines.
    pub fn lines(&self) -> impl ExactSizeIterator<Item = [Vec3; 2]> {
        let lines = self.facets.lines.iter();
        lines.map(|ends| ends.map(|v| self.points[v as usize]))
    }

    /// Sides of a triangle that are edges.
    pub fn sides(&self, i: usize) -> impl Iterator<Item = usize> {
        let sides = self.facets.sides.get(i).copied().unwrap_or(7);
        (0..3).filter(move |k| sides >> k & 1 == 1)
    }

    /// Colour of a triangle, shaded.
    pub fn color(&self, i: usize) -> Rgb {
        let colors = &self.facets.colors;
        let color = colors[if colors.len() == 1 { 0 } else { i }];
        let [a, b, c] = self.corners(i);
        // y points down and z away: a triangle's front is clockwise in the picture.
        let normal = (b - a).cross(c - a);
        let (color, normal) = match self.facets.back {
            _ if normal.z < 0.0 => (color, normal),
            Some(back) => (back, -normal),
            None => (color, -normal),
        };
        shade(color, normal.normalize_or(Vec3::NEG_Z))
    }

    fn pixels(&self) -> Vec<u8> {
        // Several threads share even a few large triangles.
        let grain = (self.len() / 4096).clamp(1, 256);
        raster::picture(
            self.size,
            |band| {
                parallel::for_pieces(self.len(), grain, |triangles| {
                    triangles.for_each(|i| band.draw_triangle(&self.corners(i), i as u32));
                });
                for ends in self.lines() {
                    band.draw_line(ends, self.line_width, u32::MAX);
                }
            },
            |_, number, sample| match number {
                u32::MAX => SEGMENT,
                i if self.is_on_edge(i as usize, in_pixels(sample)) => EDGE,
                i => self.color(i as usize),
            },
        )
    }

    fn is_on_edge(&self, i: usize, place: Vec2) -> bool {
        self.edge_width > 0.0
            && self.sides(i).any(|k| {
                let corners = self.corners(i);
                let [from, to] = [corners[k], corners[(k + 1) % 3]].map(Vec3::truncate);
                let along = to - from;
                let distance = along.perp_dot(place - from).abs();
                distance <= self.edge_width / 2.0 * along.length()
            })
    }
}

/// `color` under a light from the upper left on the viewer's side; `normal` points to the viewer, y down.
pub(super) fn shade(color: Rgb, normal: Vec3) -> Rgb {
    const LIGHT: Vec3 = Vec3::new(-0.37, -0.56, -0.74);
    let light = 0.4 + 0.6 * normal.dot(LIGHT).max(0.0);
    color::scale(color, light)
}

/// The picture as SVG: the farthest triangles first.
fn to_svg(view: &View) -> Result<String> {
    let corners = |i: usize| view.corners(i);
    let order = farthest_first(view.len(), "faces", |i| {
        corners(i).iter().map(|p| p.z).sum()
    })?;
    let mut svg = start(view.size);
    svg += "<g stroke-linejoin=\"round\" stroke-linecap=\"round\">\n";
    let width = view.edge_width;
    for i in order {
        let [a, b, c] = corners(i).map(place);
        let color = hex(view.color(i));
        // A line in the triangle's colour closes the seams of antialiasing.
        push(
            &mut svg,
            format_args!(
                "<path fill=\"{color}\" stroke=\"{color}\" stroke-width=\"0.4\" d=\"M{a}L{b}L{c}z\"/>\n"
            ),
        );
        if width > 0.0 {
            let corners = [a, b, c];
            let mut path = String::new();
            for k in view.sides(i) {
                push(
                    &mut path,
                    format_args!("M{}L{}", corners[k], corners[(k + 1) % 3]),
                );
            }
            let color = hex(EDGE);
            push(
                &mut svg,
                format_args!(
                    "<path fill=\"none\" stroke=\"{color}\" stroke-width=\"{width:.2}\" d=\"{path}\"/>\n"
                ),
            );
        }
    }
    // Lines are drawn over all faces: hidden lines are not removed here.
    for ends in view.lines() {
        let [from, to] = ends.map(place);
        let (color, width) = (hex(SEGMENT), view.line_width);
        push(
            &mut svg,
            format_args!(
                "<path stroke=\"{color}\" stroke-width=\"{width:.2}\" d=\"M{from}L{to}\"/>\n"
            ),
        );
    }
    svg += "</g>\n</svg>\n";
    Ok(svg)
}
