use glam::Vec2;
use rayon::prelude::*;
use tiny_skia::{
    Color, FillRule, LineCap, Paint, Path, PathBuilder, Pixmap, PremultipliedColorU8, Shader,
    Stroke, Transform,
};

use super::color::{BACKGROUND, EDGE, Rgb};
use super::scene::Scene;

/// Rows of pixels that one task draws.
const BAND: u32 = 64;
/// Rows drawn beyond a band on both sides and thrown away: clipping an antialiased line changes the pixels next to the cut.
const PADDING: u32 = 4;
/// Faces are drawn this many times larger, without antialiasing, and averaged: antialiased faces would let the background
/// through along every edge that two of them share.
const SAMPLES: u32 = 3;

/// The scene as a PNG file: RGB, 8 bits a channel.
pub fn encode(scene: &Scene) -> Vec<u8> {
    let row = scene.width as usize * 3;
    let padding = (scene.width * PADDING) as usize;
    let mut pixels = vec![0; row * scene.height as usize];
    let faces = extents(scene, scene.classes.len(), |i| scene.face(i));
    let inner = extents(scene, scene.inner_edges.len(), |i| &scene.inner_edges[i]);
    let outer = extents(scene, scene.outer_edges.len(), |i| &scene.outer_edges[i]);
    pixels
        .par_chunks_mut(row * BAND as usize)
        .enumerate()
        .for_each(|(band, pixels)| {
            let band = Band {
                scene,
                first: (band as u32 * BAND) as f32 - PADDING as f32,
            };
            let mut picture = band.draw_faces(&faces);
            band.draw_edges(&mut picture, &scene.inner_edges, &inner, scene.inner_width);
            band.draw_edges(&mut picture, &scene.outer_edges, &outer, scene.outer_width);
            for (rgb, pixel) in pixels.chunks_exact_mut(3).zip(&picture.pixels()[padding..]) {
                rgb.copy_from_slice(&[pixel.red(), pixel.green(), pixel.blue()]);
            }
        });

    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, scene.width, scene.height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder
        .write_header()
        .and_then(|mut writer| writer.write_image_data(&pixels))
        .expect("a Vec takes everything, and the header is valid");
    file
}

/// First and last row of each of `count` faces or edges; an empty range for what is not in the picture.
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

/// Some rows of the picture: [`BAND`] and [`PADDING`] on both sides.
struct Band<'a> {
    scene: &'a Scene<'a>,
    /// Number of the first of these rows.
    first: f32,
}

impl Band<'_> {
    const ROWS: u32 = BAND + 2 * PADDING;

    /// Those of the faces or edges with these extents that reach into the band, widened by `reach`.
    fn touched(&self, extents: &[[f32; 2]], reach: f32) -> impl Iterator<Item = usize> {
        let least = self.first - reach;
        let most = self.first + Self::ROWS as f32 + reach;
        extents
            .iter()
            .enumerate()
            .filter(move |(_, [top, bottom])| *bottom >= least && *top <= most)
            .map(|(i, _)| i)
    }

    fn pixmap(&self, scale: u32) -> Pixmap {
        let mut pixmap = Pixmap::new(self.scene.width * scale, Self::ROWS * scale)
            .expect("the scene limits its size");
        let [r, g, b] = BACKGROUND;
        pixmap.fill(Color::from_rgba8(r, g, b, 255));
        pixmap
    }

    fn draw_faces(&self, extents: &[[f32; 2]]) -> Pixmap {
        let mut large = self.pixmap(SAMPLES);
        let transform =
            Transform::from_translate(0.0, -self.first).post_scale(SAMPLES as f32, SAMPLES as f32);
        let paints: Vec<Paint> = self
            .scene
            .palette
            .iter()
            .map(|&color| paint(color, false))
            .collect();
        for i in self.touched(extents, 0.0) {
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
        let stride = large.width() as usize;
        let samples = SAMPLES as usize;
        let total = (SAMPLES * SAMPLES) as u16;
        for (i, pixel) in picture.pixels_mut().iter_mut().enumerate() {
            let (x, y) = (i % self.scene.width as usize, i / self.scene.width as usize);
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
    ) {
        let stroke = Stroke {
            width,
            // Of a line under a pixel wide, a cap would be a darker pixel.
            line_cap: if width <= 1.0 {
                LineCap::Butt
            } else {
                LineCap::Round
            },
            ..Stroke::default()
        };
        let paint = paint(EDGE, true);
        let transform = Transform::from_translate(0.0, -self.first);
        // As one path, wide lines that meet in a vertex do not darken each other there.
        let mut lines = PathBuilder::new();
        for i in self.touched(extents, width) {
            let [from, to] = edges[i].map(|v| self.scene.points[v as usize]);
            lines.move_to(from.x, from.y);
            lines.line_to(to.x, to.y);
        }
        if let Some(path) = lines.finish() {
            picture.stroke_path(&path, &paint, &stroke, transform, None);
        }
    }
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
