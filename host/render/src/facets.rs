use std::borrow::Cow;

use glam::{DVec2, DVec3, Vec2, Vec3};

use super::camera::{Camera, Projection, bounds};
use super::color::{self, BACK, EDGE, Rgb, SEGMENT, SURFACE};
use super::painter::{farthest_first, place, push, start};
use super::place::Place;
use super::raster::{self, Band, PIXEL, drawn_area, in_pixels};
use super::scene::EDGES_FROM;
use super::svg::hex;
use super::triangulate::triangulate;
use super::up::of_triangles;
use super::{Color, Edges, Format, Legend, Options, Own, Painted, Per, classes, legend};
use trioxide_mesh::error::NOT_FINITE;
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
    let colors = Colors {
        smooth: None,
        is_shaded: options.is_shaded(false),
        legend: Legend::default(),
    };
    render_with(facets, options, format, colors)
}

/// The colours of facets, and their legend.
pub(super) struct Colors<'a> {
    /// Numbers of the points, whose colours are in place of those of the triangles.
    pub smooth: Option<&'a Painted<'a>>,
    pub is_shaded: bool,
    pub legend: Legend,
}

/// As [`render_facets`], with these colours and their legend.
pub(super) fn render_with(
    facets: &Facets,
    options: &Options,
    format: Format,
    colors: Colors,
) -> Result<Vec<u8>> {
    let count = facets.points.len();
    let is_bad = |&v: &u32| facets.points.get(v as usize).is_none_or(|p| !p.is_finite());
    if let Some(i) = parallel::position(&facets.triangles, |t| t.iter().any(is_bad)) {
        let v = facets.triangles[i].iter().find(|v| is_bad(v));
        let v = v.map_or(count, |&v| v as usize);
        let (element, rule) = match v < count {
            true => (format!("vertex {v}"), NOT_FINITE.to_owned()),
            false => (
                format!("triangle {i}"),
                format!("has vertex {v}, but the mesh has {count} vertices"),
            ),
        };
        return Err(Error::Invalid { element, rule });
    }
    let (view, place) = View::new(facets, options, &colors)?;
    let strip = Legend::strip(colors.legend, options, &place, colors.is_shaded);
    let strip = strip.as_ref();
    match format {
        Format::Png => Ok(legend::write_png(view.size, view.pixels(), strip)),
        Format::Svg => {
            let svg = to_svg(&view)?;
            Ok(legend::finish_svg(svg, view.size, strip).into_bytes())
        }
    }
}

impl<'a> Facets<'a> {
    /// The faces of a mesh, in their `own` colours, or coloured by `options` and by the numbers of faces in `painted`.
    /// A face of more than three corners becomes several triangles.
    pub(super) fn of_mesh(
        mesh: &'a Mesh,
        options: &Options,
        painted: Option<&Painted>,
        own: Option<&Own>,
    ) -> Result<Facets<'a>> {
        let is_plain = painted.is_none()
            && own.is_none()
            && matches!(options.color, Color::None | Color::Auto);
        let (triangles, sides, face_of) = triangles_of(&mesh.points, &mesh.faces);
        let face_of = |i: usize| face_of.as_ref().map_or(i, |faces| faces[i] as usize);
        // Colours between numbers of points are mixed where they are drawn.
        let is_smooth = painted.is_some_and(|painted| painted.per == Per::Point);
        let colors = if is_plain || is_smooth {
            vec![SURFACE]
        } else if let Some(own) = own {
            parallel::collect(triangles.len(), |i| own.of_face(face_of(i), &triangles[i]))
        } else {
            let (classes, palette) = classes::of_faces(mesh, &options.color, painted)?;
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

/// Triangles in pixels.
pub(super) struct View<'a> {
    facets: &'a Facets<'a>,
    smooth: Option<&'a Painted<'a>>,
    is_shaded: bool,
    pub size: [u32; 2],
    points: Vec<Vec3>,
    /// Width of edges in pixels; 0 if edges are not drawn.
    pub edge_width: f32,
    pub line_width: f32,
}

impl<'a> View<'a> {
    fn new(
        facets: &'a Facets,
        options: &Options,
        colors: &Colors<'a>,
    ) -> Result<(View<'a>, Place)> {
        let guess = || of_triangles(&facets.points, &facets.triangles);
        let camera = Camera {
            view: options.view.unwrap_or_default(),
            up: options.up.unwrap_or_else(guess),
        };
        let projection = Projection::new(&camera, options.width, |turned| {
            let corners = facets.triangles.as_flattened();
            bounds(corners.len(), &|i| {
                turned(facets.points[corners[i] as usize])
            })
        })?;
        let points = parallel::map(&facets.points, |p| projection.apply(*p));
        let mut view = View {
            facets,
            smooth: colors.smooth,
            is_shaded: colors.is_shaded,
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
        // A face with n sides has n - 2 triangles.
        let sides = match facets.sides.is_empty() {
            true => 3 * view.len(),
            false => facets
                .sides
                .iter()
                .map(|sides| sides.count_ones() as usize)
                .sum(),
        };
        let faces = sides.saturating_sub(view.len()).div_ceil(2).max(1);
        let size = (area as f64 / PIXEL / faces as f64).sqrt();
        if options.edges == Edges::Always || options.edges == Edges::Auto && size >= EDGES_FROM {
            view.edge_width = (0.05 * size).clamp(0.35, 1.5) as f32;
        }
        Ok((view, projection.place()))
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

    /// Colour of a triangle at a place in it, shaded if it is to be.
    pub fn color(&self, i: usize, place: Vec2) -> Rgb {
        let corners = self.corners(i);
        let [a, b, c] = corners;
        // y points down and z away: a triangle's front is clockwise in the picture.
        let normal = (b - a).cross(c - a);
        let is_front = normal.z < 0.0;
        let colors = &self.facets.colors;
        let color = match (self.smooth, self.facets.back) {
            (Some(painted), _) => {
                let numbers = self.facets.triangles[i].map(|v| painted.values[v as usize]);
                painted.scale.color(mixed(numbers, shares(&corners, place)))
            }
            (None, Some(back)) if !is_front => back,
            (None, _) => colors[if colors.len() == 1 { 0 } else { i }],
        };
        if !self.is_shaded {
            return color;
        }
        let normal = if is_front { normal } else { -normal };
        shade(color, normal.normalize_or(Vec3::NEG_Z))
    }

    /// Draws the triangles by their numbers, and lines by the numbers that follow; edges, if `edges` says so, by the
    /// last number. An edge is a line of its own: a triangle of a face may be narrower than a line.
    fn draw(&self, band: &Band, edges: bool) {
        // Several threads share even a few large triangles.
        let grain = (self.len() / 4096).clamp(1, 256);
        parallel::for_pieces(self.len(), grain, |triangles| {
            for i in triangles {
                let corners = self.corners(i);
                band.draw_triangle(&corners, i as u32);
                let sides = self.sides(i).filter(|_| edges && self.edge_width > 0.0);
                for k in sides {
                    let ends = [corners[k], corners[(k + 1) % 3]];
                    band.draw_line(ends, self.edge_width, u32::MAX - 1);
                }
            }
        });
        for (k, ends) in self.lines().enumerate() {
            band.draw_line(ends, self.line_width, (self.len() + k) as u32);
        }
    }

    fn pixels(&self) -> Vec<u8> {
        raster::picture(
            self.size,
            |band| self.draw(band, true),
            |_, number, sample| match number as usize {
                i if i < self.len() => self.color(i, in_pixels(sample)),
                i if i < self.len() + self.lines().len() => SEGMENT,
                _ => EDGE,
            },
        )
    }
}

/// The parts of a triangle's corners in a place, which add up to 1: of a place outside, as at the nearest side.
fn shares(corners: &[Vec3; 3], place: Vec2) -> [f64; 3] {
    let [a, b, c] = corners.map(|corner| corner.truncate().as_dvec2());
    let place = place.as_dvec2();
    let area = |a: DVec2, b: DVec2| (a - place).perp_dot(b - place);
    let parts = [area(b, c), area(c, a), area(a, b)];
    let whole = (b - a).perp_dot(c - a);
    let parts = parts.map(|part| (part / whole).max(0.0));
    let sum: f64 = parts.iter().sum();
    match sum.is_finite() && sum > 0.0 {
        true => parts.map(|part| part / sum),
        false => [1.0 / 3.0; 3],
    }
}

/// The mean of three numbers with these weights; no number if one of them is none.
fn mixed(numbers: [f64; 3], shares: [f64; 3]) -> f64 {
    numbers.iter().zip(shares).map(|(x, share)| x * share).sum()
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
    // Those hidden behind others would be seen at silhouettes, through the lines that close seams.
    let visible = raster::visible(view.size, view.len() + view.lines().len(), |band| {
        view.draw(band, false)
    });
    let triangles = (0..view.len()).filter(|&i| visible[i]).collect();
    let order = farthest_first(triangles, "visible faces", |i| {
        corners(i).iter().map(|p| p.z).sum()
    })?;
    let mut svg = start(view.size);
    svg += "<g stroke-linejoin=\"round\" stroke-linecap=\"round\">\n";
    let width = view.edge_width;
    for i in order {
        let middle = corners(i).iter().sum::<Vec3>() / 3.0;
        let color = hex(view.color(i, middle.truncate()));
        let [a, b, c] = corners(i).map(place);
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
    // A line that is seen in part is drawn whole.
    let lines = view.lines().zip(&visible[view.len()..]);
    for (ends, _) in lines.filter(|(_, is_visible)| **is_visible) {
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
