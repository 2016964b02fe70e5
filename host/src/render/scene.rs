use glam::{DVec2, Vec2};
use rayon::prelude::*;

use super::color::{self, Rgb};
use super::{Color, Edges, Options};
use crate::edges::edge_faces;
use crate::mesh::{Faces, Mesh, NONE, Segment};
use crate::{Error, Result};

/// Faces of which a side is shorter than this many pixels lose their edges under [`Edges::Auto`].
const EDGES_FROM: f64 = 3.0;
/// Pixels of the longer side of a picture whose width is not given.
const LONGER_SIDE: f64 = 1600.0;
/// Colours by number of vertices, from 3 on.
pub const SIZES: usize = 14;
const LONGEST_SIDE: f64 = 16384.0;

/// Pixels on both sides of an edge that its line may colour: over half of the widest line.
pub const LINE_REACH: f32 = 2.0;

/// A mesh ready to draw: in pixels, y down.
pub struct Scene<'a> {
    pub width: u32,
    pub height: u32,
    pub points: Vec<Vec2>,
    faces: &'a Faces,
    /// Index into `palette` of each face.
    pub classes: Vec<u8>,
    pub palette: Vec<Rgb>,
    /// Edges between faces of one region; empty where they are not drawn.
    pub inner_edges: Vec<[u32; 2]>,
    /// Boundary edges, and those between regions.
    pub outer_edges: Vec<[u32; 2]>,
    /// Segments.
    pub segments: Vec<[u32; 2]>,
    /// Widths of all three in pixels.
    pub inner_width: f32,
    pub outer_width: f32,
    pub segment_width: f32,
}

impl<'a> Scene<'a> {
    /// A planar mesh, as [`render`](super::render) describes it; with `values`, as [`render_values`](super::render_values).
    pub fn planar(mesh: &'a Mesh, options: &Options, values: Option<&[f64]>) -> Result<Scene<'a>> {
        check(mesh)?;
        let view = View::new(mesh, options)?;
        let points: Vec<Vec2> = mesh
            .points
            .par_iter()
            .map(|p| view.apply(p.truncate()))
            .collect();
        let count = mesh.faces.len();
        let areas: Vec<f64> = (0..count)
            .into_par_iter()
            .map(|i| area(mesh, mesh.faces.get(i)) * view.scale * view.scale)
            .collect();
        let face_size = (areas.iter().sum::<f64>() / count as f64).sqrt();

        let edges = edge_faces(&mesh.faces);
        let (classes, palette) = match (values, options.color) {
            (Some(values), _) => by_value(values, count)?,
            (None, Color::None) => (vec![0; count], vec![color::BACKGROUND]),
            (None, Color::Distinct) => {
                (color::distinct(count, &edges), color::QUALITATIVE.to_vec())
            }
            (None, Color::Area) => by_area(&areas),
            (None, Color::Size) => by_size(&mesh.faces),
            (None, Color::Region) => by_region(mesh)?,
        };

        let region = |face: u32| mesh.regions.as_ref().map(|regions| regions[face as usize]);
        let (mut inner_edges, mut outer_edges) = (Vec::new(), Vec::new());
        let draw_inner = match options.edges {
            Edges::Auto => face_size >= EDGES_FROM,
            Edges::Always => true,
            Edges::Never => false,
        };
        for edge in edges {
            let [left, right] = edge.faces;
            if right == NONE || region(left) != region(right) {
                outer_edges.push(edge.ends);
            } else if draw_inner {
                inner_edges.push(edge.ends);
            }
        }
        let inner_width = (0.05 * face_size).clamp(0.35, 1.5) as f32;
        let outer_width = (1.6 * inner_width).max(1.2);
        Ok(Scene {
            width: view.width,
            height: view.height,
            points,
            faces: &mesh.faces,
            classes,
            palette,
            inner_edges,
            outer_edges,
            segments: mesh.segments.iter().map(|segment| segment.ends).collect(),
            inner_width,
            outer_width,
            segment_width: 1.5 * outer_width,
        })
    }

    /// Vertices of a face.
    pub fn face(&self, i: usize) -> &'a [u32] {
        self.faces.get(i)
    }

    /// The corners of the box around some points.
    pub fn bounds(&self, vertices: &[u32]) -> [Vec2; 2] {
        let none = [Vec2::INFINITY, Vec2::NEG_INFINITY];
        vertices.iter().fold(none, |[least, most], &v| {
            let point = self.points[v as usize];
            [least.min(point), most.max(point)]
        })
    }

    /// Whether a box is in the picture, or so near that a line around it is.
    pub fn shows(&self, [least, most]: [Vec2; 2]) -> bool {
        let size = Vec2::new(self.width as f32, self.height as f32);
        most.cmpge(Vec2::splat(-LINE_REACH)).all()
            && least.cmple(size + Vec2::splat(LINE_REACH)).all()
    }
}

/// Refuses what cannot be drawn.
fn check(mesh: &Mesh) -> Result<()> {
    let invalid = |element: String, rule: String| Err(Error::Invalid { element, rule });
    if mesh.faces.is_empty() {
        return invalid("the mesh".into(), "has no faces to draw".into());
    }
    if let Some(i) = mesh.points.par_iter().position_first(|p| !p.is_finite()) {
        return invalid(
            format!("vertex {i}"),
            "has a coordinate that is not finite".into(),
        );
    }
    let count = mesh.points.len();
    let bad_face = (0..mesh.faces.len())
        .into_par_iter()
        .find_first(|&i| mesh.faces.get(i).iter().any(|&v| v as usize >= count));
    if let Some(i) = bad_face {
        return invalid(
            format!("face {i}"),
            format!("names a vertex that is not there: the mesh has {count} vertices"),
        );
    }
    let bad_segment = |segment: &Segment| segment.ends.iter().any(|&v| v as usize >= count);
    if let Some(i) = mesh.segments.iter().position(bad_segment) {
        return invalid(
            format!("segment {i}"),
            format!("names a vertex that is not there: the mesh has {count} vertices"),
        );
    }
    if let Some(i) = mesh
        .points
        .par_iter()
        .position_first(|p| p.z != mesh.points[0].z)
    {
        return invalid(
            format!("vertex {i}"),
            format!(
                "has z = {}, but vertex 0 has z = {}: only planar meshes can be drawn",
                mesh.points[i].z, mesh.points[0].z
            ),
        );
    }
    Ok(())
}

/// From the mesh's coordinates to pixels.
struct View {
    width: u32,
    height: u32,
    center: DVec2,
    /// Pixels a unit.
    scale: f64,
}

impl View {
    fn new(mesh: &Mesh, options: &Options) -> Result<View> {
        let (least, most, margin) = match options.window {
            Some([x0, y0, x1, y1]) => (DVec2::new(x0, y0), DVec2::new(x1, y1), 0.0),
            None => {
                let [least, most] = bounds(mesh);
                (least, most, 0.02)
            }
        };
        let extent = most - least;
        // Of a mesh on a line, one of both may be 0.
        if !(extent.is_finite() && extent.min_element() >= 0.0 && extent.max_element() > 0.0) {
            return Err(Error::Argument(format!(
                "nothing can be drawn between ({}, {}) and ({}, {}): the mesh or window must span an area",
                least.x, least.y, most.x, most.y
            )));
        }
        // The margin is a share of the picture's longer side.
        let margin = margin * extent.max_element() / (1.0 - 2.0 * margin);
        let framed = extent + DVec2::splat(2.0 * margin);
        let scale = match options.width {
            Some(width) => f64::from(width) / framed.x,
            None => LONGER_SIDE / framed.max_element(),
        };
        let size = (framed * scale).round().max(DVec2::ONE);
        if size.max_element() > LONGEST_SIDE || options.width == Some(0) {
            return Err(Error::Argument(format!(
                "a picture of {} x {} pixels cannot be made: sides have 1 to {LONGEST_SIDE} pixels, \
                 so use another --width",
                size.x, size.y
            )));
        }
        Ok(View {
            width: size.x as u32,
            height: size.y as u32,
            center: least.midpoint(most),
            scale,
        })
    }

    fn apply(&self, point: DVec2) -> Vec2 {
        let from_center = (point - self.center) * self.scale;
        let x = f64::from(self.width) / 2.0 + from_center.x;
        let y = f64::from(self.height) / 2.0 - from_center.y;
        Vec2::new(x as f32, y as f32)
    }
}

/// The box around all faces. Points that no face uses do not count.
fn bounds(mesh: &Mesh) -> [DVec2; 2] {
    let none = || [DVec2::INFINITY, DVec2::NEG_INFINITY];
    (0..mesh.faces.len())
        .into_par_iter()
        .fold(none, |bounds, i| {
            mesh.faces.get(i).iter().fold(bounds, |[least, most], &v| {
                let point = mesh.points[v as usize].truncate();
                [least.min(point), most.max(point)]
            })
        })
        .reduce(none, |a, b| [a[0].min(b[0]), a[1].max(b[1])])
}

fn area(mesh: &Mesh, face: &[u32]) -> f64 {
    let Some(&first) = face.first() else {
        return 0.0;
    };
    let corner = |v: u32| (mesh.points[v as usize] - mesh.points[first as usize]).truncate();
    let doubled: f64 = face
        .windows(2)
        .map(|side| corner(side[0]).perp_dot(corner(side[1])))
        .sum();
    doubled.abs() / 2.0
}

fn by_area(areas: &[f64]) -> (Vec<u8>, Vec<Rgb>) {
    let mut sorted = areas.to_vec();
    sorted.par_sort_unstable_by(f64::total_cmp);
    let hundredth = sorted.len() / 100;
    // An area of 0 has no logarithm.
    let logarithm = |area: f64| area.max(1e-30).log2();
    let low = logarithm(sorted[hundredth]);
    let high = logarithm(sorted[sorted.len() - 1 - hundredth]);
    // Of equal areas, differences are rounding.
    by_share(areas, 24, (high - low).max(1e-6), |area| {
        logarithm(area) - low
    })
}

fn by_value(values: &[f64], count: usize) -> Result<(Vec<u8>, Vec<Rgb>)> {
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
    // Equal values are light, and halves do not overflow.
    let span = (high / 2.0 - low / 2.0).max(f64::MIN_POSITIVE);
    Ok(by_share(values, 64, span, |value| value / 2.0 - low / 2.0))
}

/// One of `steps` colours from light to dark for each value, by the part of `span` that `above` gives.
fn by_share(
    values: &[f64],
    steps: usize,
    span: f64,
    above: impl Fn(f64) -> f64 + Sync,
) -> (Vec<u8>, Vec<Rgb>) {
    let classes = values
        .par_iter()
        .map(|&value| {
            let share = (above(value) / span).clamp(0.0, 1.0);
            (share * (steps - 1) as f64).round() as u8
        })
        .collect();
    (classes, color::ramp(steps))
}

fn by_size(faces: &Faces) -> (Vec<u8>, Vec<Rgb>) {
    let classes = (0..faces.len())
        .into_par_iter()
        .map(|i| faces.get(i).len().clamp(3, 2 + SIZES) as u8 - 3)
        .collect();
    (classes, color::ramp(SIZES))
}

fn by_region(mesh: &Mesh) -> Result<(Vec<u8>, Vec<Rgb>)> {
    let regions = mesh.regions.as_ref().ok_or_else(|| {
        Error::Argument("the mesh has no regions to colour: use another --color".into())
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
