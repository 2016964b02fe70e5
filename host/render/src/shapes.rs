//! Shapes of text, lines and colours around a picture, as pixels and as SVG.

use std::fmt::Write;

use glam::Vec2;
use tiny_skia::{Color as Ink, FillRule, Paint, PathBuilder, Pixmap, Shader, Stroke, Transform};

use super::color::{BACKGROUND, EDGE, Rgb};
use super::svg::hex;
use super::text::{FAMILY, Font};

/// A part of a strip, in pixels, y down.
#[derive(Clone, Debug)]
pub enum Shape {
    /// A bar of colours of equal width, on whole pixels.
    Bar {
        at: Vec2,
        size: Vec2,
        palette: Vec<Rgb>,
    },
    /// A filled polygon.
    Polygon { points: Vec<Vec2>, color: Rgb },
    /// A dark line.
    Line(Vec<Vec2>),
    /// A line of text, from the start of its baseline.
    Text { at: Vec2, text: String },
}

impl Shape {
    pub fn moved(self, by: Vec2) -> Shape {
        let all = |points: Vec<Vec2>| points.into_iter().map(|p| p + by).collect();
        match self {
            Shape::Bar { at, size, palette } => Shape::Bar {
                at: at + by,
                size,
                palette,
            },
            Shape::Polygon { points, color } => Shape::Polygon {
                points: all(points),
                color,
            },
            Shape::Line(points) => Shape::Line(all(points)),
            Shape::Text { at, text } => Shape::Text { at: at + by, text },
        }
    }
}

/// The shapes around a picture.
pub struct Layout {
    /// From the lower left corner of the whole picture without the strip, y down.
    pub shapes: Vec<Shape>,
    /// Width in pixels of the margin to the left.
    pub left: u32,
    /// Height in pixels of the strip below.
    pub below: u32,
    pub font: Font,
}

impl Layout {
    /// RGB rows of pixels with a picture of this size and these rows in them, and their size.
    pub fn around(&self, [width, height]: [u32; 2], picture: Vec<u8>) -> (Vec<u8>, [u32; 2]) {
        let all = width + self.left;
        let mut pixels = match self.left {
            0 => picture,
            left => {
                let margin = self.pixels([left, height], height as f32);
                let rows = margin.chunks(3 * left as usize);
                let rows = rows.zip(picture.chunks(3 * width as usize));
                rows.flat_map(|(margin, row)| [margin, row])
                    .flatten()
                    .copied()
                    .collect()
            }
        };
        pixels.extend(self.pixels([all, self.below], 0.0));
        (pixels, [all, height + self.below])
    }

    /// The picture `svg` of this size, with the strip below it.
    pub fn around_svg(&self, svg: &str, [width, height]: [u32; 2]) -> String {
        let [all, down] = [width + self.left, height + self.below];
        let (left, size) = (self.left, self.font.size());
        let (paper, ink) = (hex(BACKGROUND), hex(EDGE));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{all}\" height=\"{down}\" viewBox=\"0 0 {all} {down}\">\n\
             <path fill=\"{paper}\" d=\"M0 0H{all}V{down}H0z\"/>\n\
             <g transform=\"translate({left} 0)\">\n{svg}</g>\n\
             <g transform=\"translate(0 {height})\" fill=\"{ink}\" font-family=\"{FAMILY}\" font-size=\"{size}\">\n\
             {}</g>\n</svg>\n",
            self.svg()
        )
    }

    /// RGB rows of pixels of this size, `down` pixels above the strip's upper side.
    fn pixels(&self, [width, height]: [u32; 2], down: f32) -> Vec<u8> {
        let font = &self.font;
        let mut strip = Pixmap::new(width, height).expect("the picture has an area");
        let ink = |[r, g, b]: Rgb| Paint {
            shader: Shader::SolidColor(Ink::from_rgba8(r, g, b, 255)),
            anti_alias: true,
            ..Paint::default()
        };
        let (dark, still) = (ink(EDGE), Transform::from_translate(0.0, down));
        let [r, g, b] = BACKGROUND;
        strip.fill(Ink::from_rgba8(r, g, b, 255));
        for shape in &self.shapes {
            match shape {
                Shape::Bar { at, size, palette } => {
                    for column in 0..size.x as usize {
                        let color = palette[column * palette.len() / size.x as usize];
                        let rectangle = [*at + Vec2::X * column as f32, Vec2::new(1.0, size.y)];
                        if let Some(path) = path(&corners(rectangle), true) {
                            strip.fill_path(&path, &ink(color), FillRule::Winding, still, None);
                        }
                    }
                }
                Shape::Polygon { points, color } => {
                    if let Some(path) = path(points, true) {
                        strip.fill_path(&path, &ink(*color), FillRule::Winding, still, None);
                    }
                }
                Shape::Line(points) => {
                    let width = line_width(font.size());
                    let stroke = Stroke {
                        width,
                        ..Stroke::default()
                    };
                    if let Some(path) = path(points, false) {
                        strip.stroke_path(&path, &dark, &stroke, still, None);
                    }
                }
                Shape::Text { at, text } => {
                    if let Some(path) = font.outline(text, *at) {
                        strip.fill_path(&path, &dark, FillRule::Winding, still, None);
                    }
                }
            }
        }
        let pixels = strip.pixels().iter();
        let pixels = pixels.flat_map(|pixel| [pixel.red(), pixel.green(), pixel.blue()]);
        pixels.collect()
    }

    /// The elements of an SVG file.
    fn svg(&self) -> String {
        let font = &self.font;
        let mut out = String::new();
        for shape in &self.shapes {
            let written = match shape {
                Shape::Bar { at, size, palette } => {
                    // More steps look the same.
                    let steps = palette.len().min(64);
                    let step = size.x / steps as f32;
                    (0..steps).try_for_each(|i| {
                        let color = hex(palette[(2 * i + 1) * palette.len() / (2 * steps)]);
                        let from = *at + Vec2::X * (i as f32 * step);
                        // The next one covers what this one has more.
                        let more = if i + 1 < steps { 0.5 } else { 0.0 };
                        let d = outline(&corners([from, Vec2::new(step + more, size.y)]));
                        writeln!(out, "<path fill=\"{color}\" d=\"{d}z\"/>")
                    })
                }
                Shape::Polygon { points, color } => {
                    let (color, d) = (hex(*color), outline(points));
                    writeln!(out, "<path fill=\"{color}\" d=\"{d}z\"/>")
                }
                Shape::Line(points) => {
                    let (color, width) = (hex(EDGE), line_width(font.size()));
                    let d = outline(points);
                    writeln!(
                        out,
                        "<path fill=\"none\" stroke=\"{color}\" stroke-width=\"{width:.1}\" d=\"{d}\"/>"
                    )
                }
                Shape::Text { at, text } => writeln!(
                    out,
                    "<text x=\"{:.1}\" y=\"{:.1}\" textLength=\"{:.1}\" lengthAdjust=\"spacingAndGlyphs\">{}</text>",
                    at.x,
                    at.y,
                    font.width(text),
                    escaped(text)
                ),
            };
            debug_assert!(written.is_ok(), "a String takes everything");
        }
        out
    }
}

pub fn corners([at, size]: [Vec2; 2]) -> [Vec2; 4] {
    let end = at + size;
    [at, Vec2::new(end.x, at.y), end, Vec2::new(at.x, end.y)]
}

fn line_width(em: f32) -> f32 {
    (em / 16.0).max(1.0)
}

fn path(points: &[Vec2], is_closed: bool) -> Option<tiny_skia::Path> {
    let mut path = PathBuilder::new();
    for (i, p) in points.iter().enumerate() {
        match i {
            0 => path.move_to(p.x, p.y),
            _ => path.line_to(p.x, p.y),
        }
    }
    if is_closed {
        path.close();
    }
    path.finish()
}

/// Points as the steps of an SVG path.
fn outline(points: &[Vec2]) -> String {
    let points: Vec<String> = points
        .iter()
        .map(|p| format!("{:.1} {:.1}", p.x, p.y))
        .collect();
    format!("M{}", points.join("L"))
}

/// Text in XML, which has no control characters.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        match letter {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            letter if letter.is_control() => out.push(char::REPLACEMENT_CHARACTER),
            letter => out.push(letter),
        }
    }
    out
}
