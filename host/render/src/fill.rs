//! Faces filled into samples.
//!
//! A large mesh has faces of a few samples, and tiny-skia prepares a path and a pipeline for each. This module fills
//! faces whose edges tiny-skia would not clip, with tiny-skia's arithmetic, sample for sample. tiny-skia fills the
//! other faces.

use glam::Vec2;
use tiny_skia::{
    Color, FillRule, Paint, Path, PathBuilder, Pixmap, PremultipliedColorU8, Shader, Transform,
};

/// Most corners of a face that this module fills: each row tests all edges.
pub const CORNERS: usize = 32;
/// Longest side of a pixmap that tiny-skia draws as one tile.
pub const TILE: u32 = 8191;
/// Margin of tiny-skia's box of a path around its samples.
const BIAS: f64 = 0.5 + 1.5 / 64.0;
/// Narrower paths are not drawn.
const NEARLY_ZERO: f32 = 1.0 / 4096.0;

/// An edge of a face: the samples and rows whose middles it crosses.
#[derive(Clone, Copy)]
struct Edge {
    /// Its place at the middle of the first row, and the step from row to row, with 16 fractional bits.
    x: i32,
    dx: i32,
    first: i32,
    last: i32,
}

/// Draws faces into a pixmap, without antialiasing.
pub struct Filler {
    pixmap: Pixmap,
    transform: Transform,
    /// Missing columns at the left of the pixmap.
    left: u32,
    /// Size with the missing columns.
    size: [u32; 2],
    /// Kept from face to face: a path of each face would allocate memory.
    builder: PathBuilder,
    corners: Vec<Vec2>,
    edges: Vec<Edge>,
}

impl Filler {
    /// Draws into `pixmap`, which has the columns from `left` on of a pixmap of `width` columns, by `transform`, a
    /// scale and a translation.
    pub fn new(pixmap: Pixmap, [left, width]: [u32; 2], transform: Transform) -> Filler {
        Filler {
            size: [width, pixmap.height()],
            pixmap,
            left,
            transform,
            builder: PathBuilder::new(),
            corners: Vec::new(),
            edges: Vec::new(),
        }
    }

    /// The drawn pixmap.
    pub fn into_pixmap(self) -> Pixmap {
        self.pixmap
    }

    /// Fills a polygon with an opaque colour.
    ///
    /// # Panics
    /// If the polygon reaches nearly to the border of a pixmap with missing columns.
    pub fn fill(
        &mut self,
        corners: impl Iterator<Item = Vec2> + Clone,
        color: PremultipliedColorU8,
    ) {
        if self.fill_inside(corners.clone(), color) {
            return;
        }
        let is_whole = self.pixmap.width() == self.size[0];
        assert!(is_whole, "tiny-skia fills whole pixmaps");
        let builder = std::mem::take(&mut self.builder);
        if let Some(path) = polygon(builder, corners) {
            let [r, g, b] = [color.red(), color.green(), color.blue()];
            let paint = Paint {
                shader: Shader::SolidColor(Color::from_rgba8(r, g, b, 255)),
                anti_alias: false,
                ..Paint::default()
            };
            let rule = FillRule::EvenOdd;
            self.pixmap
                .fill_path(&path, &paint, rule, self.transform, None);
            self.builder = path.clear();
        }
    }

    /// Fills as tiny-skia does (`fill_path` in its painter.rs and scan/path.rs, `LineEdge` in edge.rs). Returns false
    /// for a polygon that tiny-skia clips, and for one with many corners.
    fn fill_inside(
        &mut self,
        corners: impl Iterator<Item = Vec2>,
        color: PremultipliedColorU8,
    ) -> bool {
        let Transform { sx, sy, tx, ty, .. } = self.transform;
        self.corners.clear();
        let corners = corners.take(CORNERS + 1);
        self.corners
            .extend(corners.map(|p| Vec2::new(p.x * sx + tx, p.y * sy + ty)));
        if !(3..=CORNERS).contains(&self.corners.len()) {
            return false;
        }
        let none = [Vec2::INFINITY, Vec2::NEG_INFINITY];
        let join = |[least, most]: [Vec2; 2], p: &Vec2| [least.min(*p), most.max(*p)];
        let [least, most] = self.corners.iter().fold(none, join);
        let size = self.size.map(|side| side.min(TILE) as f32);
        // Then all values are finite, and sums fit their integers. A NaN is in no box.
        let is_finite = self.corners.iter().all(|p| p.is_finite());
        let is_inside = least.cmpge(Vec2::ZERO).all() && most.cmple(Vec2::from(size)).all();
        if !is_finite || !is_inside {
            return false;
        }
        let extent = most - least;
        if extent.x <= NEARLY_ZERO || extent.y <= NEARLY_ZERO {
            return true;
        }
        let [least, most] = [least, most].map(|p| p.as_dvec2());
        let first = [least.x, least.y].map(|v| (v - BIAS).ceil() as i32);
        let last = [most.x, most.y].map(|v| (v + BIAS).floor() as i32);
        if first[0] >= last[0] || first[1] >= last[1] {
            return true;
        }
        if first[0] < 0 || first[1] < 0 || last[0] > size[0] as i32 || last[1] > size[1] as i32 {
            return false;
        }
        self.find_edges();
        self.fill_rows(color);
        true
    }

    fn find_edges(&mut self) {
        self.edges.clear();
        let mut from = self.corners[self.corners.len() - 1];
        for &to in &self.corners {
            let [[x0, y0], [x1, y1]] = [from, to].map(|p| [p.x, p.y].map(|v| (v * 64.0) as i32));
            from = to;
            let [[x0, y0], [x1, y1]] = match y0 > y1 {
                true => [[x1, y1], [x0, y0]],
                false => [[x0, y0], [x1, y1]],
            };
            let [top, bottom] = [y0, y1].map(|y| (y + 32) >> 6);
            if top == bottom {
                continue;
            }
            let dx = divide(x1 - x0, y1 - y0);
            let dy = (top << 6) + 32 - y0;
            let moved = (i64::from(dx) * i64::from(dy)) >> 16;
            self.edges.push(Edge {
                x: (x0 + moved as i32) << 10,
                dx,
                first: top,
                last: bottom - 1,
            });
        }
    }

    fn fill_rows(&mut self, color: PremultipliedColorU8) {
        let Some(first) = self.edges.iter().map(|edge| edge.first).min() else {
            return;
        };
        let last = self.edges.iter().map(|edge| edge.last).max();
        let width = self.pixmap.width() as i32;
        let left = self.left as i32;
        for row in first..=last.unwrap_or(first) {
            // The edges' crossings with the row, in ascending order.
            let mut passes = [0i32; CORNERS];
            let mut count = 0;
            for edge in &mut self.edges {
                if edge.first > row || edge.last < row {
                    continue;
                }
                let x = (edge.x + (1 << 15)) >> 16;
                edge.x = edge.x.wrapping_add(edge.dx);
                let mut place = count;
                while place > 0 && passes[place - 1] > x {
                    passes[place] = passes[place - 1];
                    place -= 1;
                }
                passes[place] = x;
                count += 1;
            }
            let start = row as usize * width as usize;
            let pixels = &mut self.pixmap.pixels_mut()[start..start + width as usize];
            for span in passes[..count].chunks_exact(2) {
                let [from, to] = [span[0], span[1]].map(|x| (x - left).clamp(0, width) as usize);
                pixels[from..to].fill(color);
            }
        }
    }
}

/// A quotient with 16 fractional bits, clamped to 32 bits.
fn divide(a: i32, b: i32) -> i32 {
    if i16::try_from(a).is_ok() {
        (a << 16) / b
    } else {
        let quotient = (i64::from(a) << 16) / i64::from(b);
        quotient.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
    }
}

fn polygon(mut path: PathBuilder, mut points: impl Iterator<Item = Vec2>) -> Option<Path> {
    let first = points.next()?;
    path.move_to(first.x, first.y);
    for point in points {
        path.line_to(point.x, point.y);
    }
    path.close();
    path.finish()
}
