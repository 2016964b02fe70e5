use glam::Vec2;
use rayon::prelude::*;
use tiny_skia::{
    Color, FillRule, LineCap, Paint, Path, PathBuilder, Pixmap, PremultipliedColorU8, Shader,
    Stroke, Transform,
};

use super::color::{BACKGROUND, EDGE, Rgb, SEGMENT};
use super::scene::{LINE_REACH, Scene};

/// Rows of pixels that one task draws.
const BAND: u32 = 64;
/// Pixels drawn beyond a band on every side and thrown away. Lines are cut in the middle of them, since tiny-skia draws an
/// antialiased line that it has to clip itself wrongly, even far from the cut.
const PADDING: u32 = 8;
/// Pixels beyond a band at which lines are cut.
const CUT: f32 = PADDING as f32 / 2.0;
/// Faces are drawn this many times larger, without antialiasing, and averaged: antialiased faces would let the background
/// through along every edge that two of them share.
const SAMPLES: u32 = 3;

/// The scene's pixels: RGB, 8 bits a channel.
pub fn pixels(scene: &Scene) -> Vec<u8> {
    let row = scene.width as usize * 3;
    let mut pixels = vec![0; row * scene.height as usize];
    let faces = extents(scene, scene.classes.len(), |i| scene.face(i));
    let inner = extents(scene, scene.inner_edges.len(), |i| &scene.inner_edges[i]);
    let outer = extents(scene, scene.outer_edges.len(), |i| &scene.outer_edges[i]);
    let segments = extents(scene, scene.segments.len(), |i| &scene.segments[i]);
    pixels
        .par_chunks_mut(row * BAND as usize)
        .enumerate()
        .for_each(|(band, pixels)| {
            let band = Band {
                scene,
                first: (band as u32 * BAND) as f32,
            };
            let mut picture = band.draw_faces(&faces);
            for (edges, extents, width, color) in [
                (&scene.inner_edges, &inner, scene.inner_width, EDGE),
                (&scene.outer_edges, &outer, scene.outer_width, EDGE),
                (&scene.segments, &segments, scene.segment_width, SEGMENT),
            ] {
                band.draw_edges(&mut picture, edges, extents, width, color);
            }
            let padded_rows = picture.pixels().chunks(picture.width() as usize);
            for (row, padded) in pixels
                .chunks_mut(row)
                .zip(padded_rows.skip(PADDING as usize))
            {
                for (rgb, pixel) in row.chunks_mut(3).zip(&padded[PADDING as usize..]) {
                    rgb.copy_from_slice(&[pixel.red(), pixel.green(), pixel.blue()]);
                }
            }
        });
    pixels
}

/// Pixels as a PNG file: RGB, 8 bits a channel, row by row.
pub fn write([width, height]: [u32; 2], pixels: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder
        .write_header()
        .and_then(|mut writer| writer.write_image_data(pixels))
        .expect("a Vec takes everything, and the header is valid");
    file
}

/// First and last row of each of `count` faces or edges; an empty range for elements outside of the picture.
fn extents<'a>(
    scene: &Scene,
    count: usize,
    vertices: impl Fn(usize) -> &'a [u32] + Sync,
) -> Vec<[f32; 2]> {
    (0..count)
        .into_par_iter()
        .map(|i| {
            let bounds = scene.bounds(vertices(i));
            if scene.shows(bounds) {
                [bounds[0].y, bounds[1].y]
            } else {
                [f32::INFINITY, f32::NEG_INFINITY]
            }
        })
        .collect()
}

/// [`BAND`] rows of the picture, drawn with [`PADDING`] around them.
struct Band<'a> {
    scene: &'a Scene<'a>,
    /// Number of the first of these rows.
    first: f32,
}

impl Band<'_> {
    /// The faces or edges with these extents that reach into the rows, or nearly.
    fn touched(&self, extents: &[[f32; 2]]) -> impl Iterator<Item = usize> {
        let least = self.first - LINE_REACH;
        let most = self.first + BAND as f32 + LINE_REACH;
        extents
            .iter()
            .enumerate()
            .filter(move |(_, [top, bottom])| *bottom >= least && *top <= most)
            .map(|(i, _)| i)
    }

    /// From the picture to a pixmap of the band.
    fn transform(&self, scale: u32) -> Transform {
        let padding = PADDING as f32;
        Transform::from_translate(padding, padding - self.first)
            .post_scale(scale as f32, scale as f32)
    }

    fn pixmap(&self, scale: u32) -> Pixmap {
        let size = [self.scene.width, BAND].map(|pixels| (pixels + 2 * PADDING) * scale);
        let mut pixmap = Pixmap::new(size[0], size[1]).expect("the scene limits its size");
        let [r, g, b] = BACKGROUND;
        pixmap.fill(Color::from_rgba8(r, g, b, 255));
        pixmap
    }

    fn draw_faces(&self, extents: &[[f32; 2]]) -> Pixmap {
        let mut large = self.pixmap(SAMPLES);
        let transform = self.transform(SAMPLES);
        let paints: Vec<Paint> = self
            .scene
            .palette
            .iter()
            .map(|&color| paint(color, false))
            .collect();
        for i in self.touched(extents) {
            let points = self
                .scene
                .face(i)
                .iter()
                .map(|&v| self.scene.points[v as usize]);
            if let Some(path) = polygon(points) {
                let paint = &paints[self.scene.classes[i] as usize];
                large.fill_path(&path, paint, FillRule::EvenOdd, transform, None);
            }
        }
        self.average(&large)
    }

    fn average(&self, large: &Pixmap) -> Pixmap {
        let mut picture = self.pixmap(1);
        let (width, stride) = (picture.width() as usize, large.width() as usize);
        let samples = SAMPLES as usize;
        let total = (SAMPLES * SAMPLES) as u16;
        for (i, pixel) in picture.pixels_mut().iter_mut().enumerate() {
            let (x, y) = (i % width, i / width);
            let mut sum = [total / 2; 3];
            for row in 0..samples {
                let start = (y * samples + row) * stride + x * samples;
                for sample in &large.pixels()[start..start + samples] {
                    sum[0] += u16::from(sample.red());
                    sum[1] += u16::from(sample.green());
                    sum[2] += u16::from(sample.blue());
                }
            }
            let [r, g, b] = sum.map(|channel| (channel / total) as u8);
            *pixel = PremultipliedColorU8::from_rgba(r, g, b, 255).expect("opaque");
        }
        picture
    }

    fn draw_edges(
        &self,
        picture: &mut Pixmap,
        edges: &[[u32; 2]],
        extents: &[[f32; 2]],
        width: f32,
        color: Rgb,
    ) {
        let stroke = Stroke {
            width,
            // A cap would be a darker pixel on a line under a pixel wide.
            line_cap: if width <= 1.0 {
                LineCap::Butt
            } else {
                LineCap::Round
            },
            ..Stroke::default()
        };
        let paint = paint(color, true);
        let band = [
            Vec2::new(-CUT, self.first - CUT),
            Vec2::new(
                self.scene.width as f32 + CUT,
                self.first + BAND as f32 + CUT,
            ),
        ];
        // As one path, wide lines that meet in a vertex do not darken each other there.
        let mut lines = PathBuilder::new();
        for i in self.touched(extents) {
            let ends = edges[i].map(|v| self.scene.points[v as usize]);
            if let Some([from, to]) = cut(ends, band) {
                lines.move_to(from.x, from.y);
                lines.line_to(to.x, to.y);
            }
        }
        if let Some(path) = lines.finish() {
            picture.stroke_path(&path, &paint, &stroke, self.transform(1), None);
        }
    }
}

/// The part of a line inside of a box (Liang and Barsky 1984).
fn cut([from, to]: [Vec2; 2], [least, most]: [Vec2; 2]) -> Option<[Vec2; 2]> {
    // Ends may lie far outside of a narrow window.
    let (start, step) = (from.as_dvec2(), to.as_dvec2() - from.as_dvec2());
    let (mut enter, mut leave) = (0.0f64, 1.0f64);
    for axis in 0..2 {
        let sides = [least[axis], most[axis]].map(|side| f64::from(side) - start[axis]);
        if step[axis] == 0.0 {
            if sides[0] > 0.0 || sides[1] < 0.0 {
                return None;
            }
        } else {
            let [a, b] = sides.map(|side| side / step[axis]);
            enter = enter.max(a.min(b));
            leave = leave.min(a.max(b));
        }
    }
    // Ends inside of the box stay as they are.
    let at = |share: f64| (start + step * share).as_vec2();
    let first = if enter > 0.0 { at(enter) } else { from };
    let last = if leave < 1.0 { at(leave) } else { to };
    (enter <= leave).then_some([first, last])
}

fn paint([r, g, b]: Rgb, anti_alias: bool) -> Paint<'static> {
    Paint {
        shader: Shader::SolidColor(Color::from_rgba8(r, g, b, 255)),
        anti_alias,
        ..Paint::default()
    }
}

fn polygon(mut points: impl Iterator<Item = Vec2>) -> Option<Path> {
    let mut path = PathBuilder::new();
    let first = points.next()?;
    path.move_to(first.x, first.y);
    for point in points {
        path.line_to(point.x, point.y);
    }
    path.close();
    path.finish()
}
