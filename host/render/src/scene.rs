use glam::{DVec2, Vec2};
use rayon::prelude::*;

use super::classes::Coloring;
use super::color::Rgb;
use super::painted::{self, Painted};
use super::place::Place;
use super::{Edges, Options};
use trioxide_mesh::edges::FaceEdges;
use trioxide_mesh::mesh::{Faces, Mesh, Segment};
use trioxide_mesh::{Error, Result, parallel};

/// Under [`Edges::Auto`], edges are drawn if faces have sides of at least this many pixels.
pub const EDGES_FROM: f64 = 3.0;
/// Pixels of the longer side of a picture of no given width.
const LONGER_SIDE: f64 = 1600.0;
const LONGEST_SIDE: f64 = 16384.0;

/// Distance in pixels from an edge that its line may colour: over half of the widest line.
pub const LINE_REACH: f32 = 2.0;

/// A mesh ready to draw: in pixels, y down.
pub struct Scene<'a> {
    pub width: u32,
    pub height: u32,
    pub place: Place,
    pub points: Vec<Vec2>,
    faces: &'a Faces,
    /// Index into `palette` of each face.
    pub classes: Vec<u8>,
    pub palette: Vec<Rgb>,
    /// Edges between faces of one region; empty if they are not drawn.
    pub inner_edges: Vec<[u32; 2]>,
    /// Boundary edges, and edges between regions.
    pub outer_edges: Vec<[u32; 2]>,
    /// Segments.
    pub segments: Vec<[u32; 2]>,
    /// Widths of all three in pixels.
    pub inner_width: f32,
    pub outer_width: f32,
    pub segment_width: f32,
}

impl<'a> Scene<'a> {
    /// The scene of a planar mesh that [`check`] accepts, as [`render`](super::render) describes it, with the colours
    /// of `painted` if there are any. Also returns the result of `draw`, which gets the scene without colours and edges
    /// while one thread finds colours that keep neighbours apart. It is `None` if colours are found faster.
    pub fn planar<R: Send>(
        mesh: &'a Mesh,
        options: &Options,
        painted: Option<&Painted>,
        draw: impl FnOnce(&Scene) -> R + Send,
    ) -> Result<(Scene<'a>, Option<R>)> {
        check_plane(mesh)?;
        let view = View::new(mesh, options)?;
        let areas = || {
            parallel::collect(mesh.faces.len(), |i| {
                painted::area(mesh, mesh.faces.get(i)) * view.frame.scale * view.frame.scale
            })
        };
        let edges = FaceEdges::of(&mesh.faces);
        let coloring = Coloring::new(mesh, &options.color, painted, Some(&edges))?;
        // The thread that finds colours takes the longest time: all other work runs beside it.
        let (colored, (mut scene, made)) = coloring.find_beside(|is_drawn_first| {
            let mut scene = Scene {
                width: view.frame.width,
                height: view.frame.height,
                place: view.place(),
                points: parallel::map(&mesh.points, |p| view.apply(p.truncate())),
                faces: &mesh.faces,
                classes: Vec::new(),
                palette: Vec::new(),
                inner_edges: Vec::new(),
                outer_edges: Vec::new(),
                segments: mesh.segments.iter().map(|segment| segment.ends).collect(),
                inner_width: 0.0,
                outer_width: 0.0,
                segment_width: 0.0,
            };
            let made = is_drawn_first.then(|| draw(&scene));
            scene.add_edges(mesh, &edges, options, &areas());
            (scene, made)
        });
        (scene.classes, scene.palette) = colored;
        Ok((scene, made))
    }

    /// Adds the drawn edges and their widths, for faces of these areas in pixels.
    fn add_edges(&mut self, mesh: &Mesh, edges: &FaceEdges, options: &Options, areas: &[f64]) {
        let face_size = (areas.iter().sum::<f64>() / areas.len() as f64).sqrt();
        let region = |face: u32| mesh.regions.as_ref().map(|regions| regions[face as usize]);
        let draw_inner = match options.edges {
            Edges::Auto => face_size >= EDGES_FROM,
            Edges::Always => true,
            Edges::Never => false,
        };
        // An edge is drawn once for each pair of consecutive faces.
        let drawn = |is_outer: bool| {
            edges.table.flat_map_edges(|found, ends, sides| {
                let count = match sides {
                    [_] => usize::from(is_outer),
                    _ => {
                        let region = |side: u32| region(edges.face(side));
                        let apart = |pair: &&[(u32, u32)]| region(pair[0].1) != region(pair[1].1);
                        let pairs = sides.windows(2);
                        pairs.filter(|pair| apart(pair) == is_outer).count()
                    }
                };
                found.extend(std::iter::repeat_n(ends, count));
            })
        };
        self.inner_width = (0.05 * face_size).clamp(0.35, 1.5) as f32;
        self.outer_width = (1.6 * self.inner_width).max(1.2);
        self.segment_width = 1.5 * self.outer_width;
        if draw_inner {
            self.inner_edges = drawn(false);
        }
        self.outer_edges = drawn(true);
    }

    /// Number of faces.
    pub fn count(&self) -> usize {
        self.faces.len()
    }

    /// Vertices of a face.
    pub fn face(&self, i: usize) -> &'a [u32] {
        self.faces.get(i)
    }

    /// The corners of the bounding box of some points.
    pub fn bounds(&self, vertices: &[u32]) -> [Vec2; 2] {
        let none = [Vec2::INFINITY, Vec2::NEG_INFINITY];
        vertices.iter().fold(none, |[least, most], &v| {
            let point = self.points[v as usize];
            [least.min(point), most.max(point)]
        })
    }

    /// Whether a box, or a line around it, reaches into the picture.
    pub fn shows(&self, [least, most]: [Vec2; 2]) -> bool {
        let size = Vec2::new(self.width as f32, self.height as f32);
        most.cmpge(Vec2::splat(-LINE_REACH)).all()
            && least.cmple(size + Vec2::splat(LINE_REACH)).all()
    }
}

/// Refuses meshes that no view can draw.
pub fn check(mesh: &Mesh) -> Result<()> {
    let invalid = |element: String, rule: String| Err(Error::Invalid { element, rule });
    if mesh.faces.is_empty() {
        return invalid(
            "the mesh".into(),
            "has no faces and no points to draw".into(),
        );
    }
    if let Some(i) = parallel::position(&mesh.points, |p| !p.is_finite()) {
        return Err(Error::not_finite(i));
    }
    let count = mesh.points.len();
    let corners = match &mesh.faces {
        Faces::Triangles(triangles) => triangles.as_flattened(),
        Faces::Polygons(polygons) => &polygons.vertices,
    };
    let is_bad = |&v: &u32| v as usize >= count;
    let is_bad_face = |i: usize| mesh.faces.get(i).iter().any(is_bad);
    if parallel::any(corners, is_bad)
        && let Some(i) = parallel::find(mesh.faces.len(), is_bad_face)
    {
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
    Ok(())
}

fn check_plane(mesh: &Mesh) -> Result<()> {
    if let Some(i) = parallel::position(&mesh.points, |p| p.z != mesh.points[0].z) {
        return Err(Error::Invalid {
            element: format!("vertex {i}"),
            rule: format!(
                "has z = {}, but vertex 0 has z = {}: a window is a part of a planar mesh",
                mesh.points[i].z, mesh.points[0].z
            ),
        });
    }
    Ok(())
}

/// Size of a picture.
pub struct Frame {
    pub width: u32,
    pub height: u32,
    /// Pixels per unit.
    pub scale: f64,
}

/// The picture of a box, with a margin as a fraction of its longer side.
pub fn frame([least, most]: [DVec2; 2], margin: f64, width: Option<u32>) -> Result<Frame> {
    let extent = most - least;
    // For a mesh on a line, one extent may be 0.
    if !(extent.is_finite() && extent.min_element() >= 0.0 && extent.max_element() > 0.0) {
        return Err(Error::Argument(format!(
            "nothing can be drawn between ({:?}, {:?}) and ({:?}, {:?}): the mesh or window must span an area{}",
            least.x,
            least.y,
            most.x,
            most.y,
            match extent.max_element() == f64::INFINITY {
                true => " within double precision; scale the mesh down",
                false => "",
            }
        )));
    }
    let margin = margin * extent.max_element() / (1.0 - 2.0 * margin);
    let framed = extent + DVec2::splat(2.0 * margin);
    let scale = match width {
        Some(width) => f64::from(width) / framed.x,
        None => LONGER_SIDE / framed.max_element(),
    };
    let size = (framed * scale).round().max(DVec2::ONE);
    if size.max_element() > LONGEST_SIDE || width == Some(0) {
        return Err(Error::Argument(format!(
            "a picture of {} x {} pixels cannot be made: sides have 1 to {LONGEST_SIDE} pixels, \
             so use another width",
            size.x, size.y
        )));
    }
    Ok(Frame {
        width: size.x as u32,
        height: size.y as u32,
        scale,
    })
}

/// From the mesh's coordinates to pixels.
struct View {
    frame: Frame,
    center: DVec2,
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
        Ok(View {
            frame: frame([least, most], margin, options.width)?,
            center: least.midpoint(most),
        })
    }

    fn place(&self) -> Place {
        let size = DVec2::new(self.frame.width.into(), self.frame.height.into());
        let half = size / 2.0 / self.frame.scale;
        let [least, most] = [-1.0, 1.0].map(|side| self.center + side * half);
        Place {
            pixels_per_unit: self.frame.scale,
            axes: [Vec2::X, Vec2::NEG_Y, Vec2::ZERO],
            ranges: Some([[least.x, most.x], [least.y, most.y]]),
        }
    }

    fn apply(&self, point: DVec2) -> Vec2 {
        let from_center = (point - self.center) * self.frame.scale;
        let x = f64::from(self.frame.width) / 2.0 + from_center.x;
        let y = f64::from(self.frame.height) / 2.0 - from_center.y;
        Vec2::new(x as f32, y as f32)
    }
}

/// The bounding box of all faces. Points that no face uses do not count.
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
