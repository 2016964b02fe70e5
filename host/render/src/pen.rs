//! Draws the entries of a strip, and numbers of axes.

use glam::Vec2;

use super::color::Rgb;
use super::scale::Scale;
use super::shapes::{Shape, corners};
use super::text::Font;
use super::ticks::{self, Ticks};

/// Most marks of a scale.
const MARKS: usize = 7;

/// Shapes that stay together, from the upper left corner.
pub struct Group {
    pub size: Vec2,
    pub shapes: Vec<Shape>,
}

/// Draws entries for a picture of a width.
pub struct Pen {
    pub width: f32,
    /// Size of the text.
    pub em: f32,
    pub font: Font,
}

impl Pen {
    pub fn new(width: u32) -> Pen {
        let width = width as f32;
        let em = (width / 64.0).clamp(10.0, 64.0).round();
        Pen {
            width,
            em,
            font: Font::new(em),
        }
    }

    /// Text whose capitals are in the middle of the first line.
    fn text(&self, x: f32, text: &str) -> Shape {
        let at = Vec2::new(x, 0.86 * self.em);
        let text = text.to_owned();
        Shape::Text { at, text }
    }

    pub fn words(&self, text: &str) -> Group {
        Group {
            size: Vec2::new(self.font.width(text), self.em),
            shapes: vec![self.text(0.0, text)],
        }
    }

    /// A colour and its label.
    pub fn swatch(&self, color: Rgb, label: &str) -> Group {
        let (em, size, start) = (self.em, Vec2::new(2.0 * self.em, self.em), 2.5 * self.em);
        Group {
            size: Vec2::new(start + self.font.width(label), em),
            shapes: vec![
                bar(Vec2::ZERO, size, &[color]),
                frame(Vec2::ZERO, size),
                self.text(start, label),
            ],
        }
    }

    /// The colours of a scale, with ticks; arrows where values are clipped.
    pub fn scale(&self, scale: &Scale) -> Group {
        let em = self.em;
        let bar_width = (0.35 * self.width).clamp(8.0 * em, 28.0 * em);
        let bar_width = bar_width.min(self.width - 4.0 * em).max(2.0 * em).round();
        let middle = |value: f64| scale.share(value) as f32 * bar_width;
        let half = |label: &str| self.font.width(label) / 2.0;
        let fits = |marks: &[(f64, String)]| {
            marks.windows(2).all(|pair| {
                let [a, b] = [&pair[0], &pair[1]];
                middle(b.0) - middle(a.0) > half(&a.1) + half(&b.1) + 0.5 * em
            })
        };
        let mut tried = (1..=MARKS).rev().map(|most| scale.ticks(most));
        let ticks = tried.find(|ticks| fits(&ticks.marks));
        let ticks = ticks.unwrap_or_else(|| scale.ticks(1));
        let arrow = 0.8 * em;
        let reach = |is_clipped: bool, labels: f32| match is_clipped {
            true => labels.max(arrow),
            false => labels,
        };
        let before = ticks
            .marks
            .iter()
            .map(|(value, label)| half(label) - middle(*value));
        let after = ticks
            .marks
            .iter()
            .map(|(value, label)| half(label) + middle(*value) - bar_width);
        let [below, above] = scale.clipped.map(|count| count > 0);
        let left = reach(below, before.fold(0.0, f32::max)).ceil();
        let right = reach(above, after.fold(0.0, f32::max)).ceil();
        let (at, size) = (Vec2::new(left, 0.0), Vec2::new(bar_width, em));
        let mut shapes = vec![bar(at, size, &scale.palette), frame(at, size)];
        for (is_clipped, end, tip, color) in [
            (below, left, left - arrow, scale.palette.first()),
            (
                above,
                left + bar_width,
                left + bar_width + arrow,
                scale.palette.last(),
            ),
        ] {
            if let (true, Some(&color)) = (is_clipped, color) {
                let points = vec![
                    Vec2::new(end, 0.0),
                    Vec2::new(tip, em / 2.0),
                    Vec2::new(end, em),
                ];
                shapes.push(Shape::Polygon {
                    points: points.clone(),
                    color,
                });
                shapes.push(Shape::Line(points));
            }
        }
        for (value, label) in &ticks.marks {
            // Sharp on pixels.
            let x = left + middle(*value).clamp(0.5, bar_width - 0.5).floor() + 0.5;
            shapes.push(Shape::Line(vec![Vec2::new(x, em), Vec2::new(x, 1.3 * em)]));
            let at = Vec2::new(x - half(label), 2.25 * em);
            let text = label.clone();
            shapes.push(Shape::Text { at, text });
        }
        let mut end = left + bar_width + right;
        if let Some(factor) = &ticks.factor {
            shapes.push(self.text(end + 0.5 * em, factor));
            end += 0.5 * em + self.font.width(factor);
        }
        Group {
            size: Vec2::new(end, 2.4 * em),
            shapes,
        }
    }

    /// A round length, a fifth of the picture's width at most.
    pub fn scale_bar(&self, pixels_per_unit: f64) -> Group {
        let em = self.em;
        let (length, label) = ticks::round_length(f64::from(self.width) / 5.0 / pixels_per_unit);
        let pixels = (length * pixels_per_unit) as f32;
        let [top, line, bottom] = [0.25, 0.5, 0.75].map(|share| share * em);
        let upright = |x: f32| Shape::Line(vec![Vec2::new(x, top), Vec2::new(x, bottom)]);
        let along = vec![Vec2::new(0.0, line), Vec2::new(pixels, line)];
        let start = pixels + 0.5 * em;
        Group {
            size: Vec2::new(start + self.font.width(&label), em),
            shapes: vec![
                upright(0.0),
                Shape::Line(along),
                upright(pixels),
                self.text(start, &label),
            ],
        }
    }

    /// The numbers of x and y at the lower and the left side of a picture, from its lower left corner without the
    /// margin; the size is that of the margin and of the line of numbers.
    pub fn ruler(&self, [x, y]: &[[f64; 2]; 2], [width, height]: [f32; 2]) -> Group {
        let em = self.em;
        let numbers = |range: [f64; 2], most: usize| {
            let Ticks { marks, factor } = ticks::linear(range, most);
            let factor = factor.unwrap_or_default();
            let share = move |value: f64| ((value - range[0]) / (range[1] - range[0])) as f32;
            let marks = marks.into_iter();
            let marks = marks.map(move |(value, label)| (share(value), format!("{label}{factor}")));
            marks.collect::<Vec<(f32, String)>>()
        };
        let fits = |marks: &[(f32, String)]| {
            marks.windows(2).all(|pair| {
                let widths = self.font.width(&pair[0].1) + self.font.width(&pair[1].1);
                (pair[1].0 - pair[0].0) * width > widths / 2.0 + em
            })
        };
        let mut along = (1..=MARKS).rev().map(|most| numbers(*x, most));
        let along = along.find(|marks| fits(marks)).unwrap_or_default();
        let up = numbers(*y, ((height / (2.5 * em)) as usize).clamp(1, MARKS));
        let widths = up.iter().map(|(_, label)| self.font.width(label));
        let left = (widths.fold(0.0, f32::max) + em).ceil();
        // On the margin's side of the picture.
        let corner = Vec2::new(left - 0.5, 0.5);
        let mut shapes = vec![
            Shape::Line(vec![corner, Vec2::new(left + width, 0.5)]),
            Shape::Line(vec![corner, Vec2::new(corner.x, -height)]),
        ];
        for (share, label) in along {
            let (x, half) = (
                (left + share * width).floor() + 0.5,
                self.font.width(&label) / 2.0,
            );
            shapes.push(Shape::Line(vec![Vec2::new(x, 0.5), Vec2::new(x, 0.3 * em)]));
            // A number that reaches out of the picture is left out.
            if x + half <= left + width {
                let at = Vec2::new(x - half, 1.25 * em);
                shapes.push(Shape::Text { at, text: label });
            }
        }
        for (share, label) in up {
            let y = (-share * height).floor() + 0.5;
            let end = left - 0.4 * em;
            shapes.push(Shape::Line(vec![Vec2::new(end, y), Vec2::new(corner.x, y)]));
            if y - 0.5 * em >= -height {
                let at = Vec2::new(end - 0.2 * em - self.font.width(&label), y + 0.36 * em);
                shapes.push(Shape::Text { at, text: label });
            }
        }
        Group {
            size: Vec2::new(left, (1.4 * em).ceil()),
            shapes,
        }
    }

    /// The directions of x, y and z, but for one along the view.
    pub fn axes(&self, axes: &[Vec2; 3]) -> Group {
        let (em, reach) = (self.em, 1.6 * self.em);
        let middle = Vec2::splat(reach + em);
        let mut shapes = Vec::new();
        for (axis, name) in axes.iter().zip(["x", "y", "z"]) {
            let length = axis.length();
            // An axis that points to the viewer or away is left out.
            if length < 0.1 {
                continue;
            }
            let (tip, along) = (middle + reach * axis, *axis / length);
            let across = along.perp();
            let barb = |side: f32| tip - 0.4 * em * along + side * 0.2 * em * across;
            shapes.push(Shape::Line(vec![middle, tip]));
            shapes.push(Shape::Line(vec![barb(1.0), tip, barb(-1.0)]));
            let half = Vec2::new(self.font.width(name) / 2.0, -0.28 * em);
            shapes.push(Shape::Text {
                at: tip + 0.55 * em * along - half,
                text: name.to_owned(),
            });
        }
        Group {
            size: 2.0 * middle,
            shapes,
        }
    }
}

fn bar(at: Vec2, size: Vec2, palette: &[Rgb]) -> Shape {
    let palette = palette.to_vec();
    Shape::Bar { at, size, palette }
}

/// The outline of a rectangle.
fn frame(at: Vec2, size: Vec2) -> Shape {
    let inside = Vec2::splat(0.5);
    let mut points = corners([at + inside, size - 2.0 * inside]).to_vec();
    points.push(points[0]);
    Shape::Line(points)
}
