//! Text in DejaVu Sans, as outlines.

use glam::Vec2;
use tiny_skia::{Path, PathBuilder};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// The font's name, for viewers that have it.
pub const FAMILY: &str = "DejaVu Sans, sans-serif";

/// A font, at a size in pixels.
pub struct Font {
    face: Face<'static>,
    size: f32,
}

impl Font {
    pub fn new(size: f32) -> Font {
        let face = Face::parse(dejavu::sans::regular(), 0);
        Font {
            face: face.expect("the font is part of the program"),
            size,
        }
    }

    /// Size in pixels.
    pub fn size(&self) -> f32 {
        self.size
    }

    /// Pixels per unit of the font.
    fn scale(&self) -> f32 {
        self.size / f32::from(self.face.units_per_em())
    }

    /// A letter, or the box of a letter that the font does not have, and its width in pixels.
    fn glyph(&self, letter: char) -> (GlyphId, f32) {
        let glyph = self.face.glyph_index(letter).unwrap_or_default();
        let advance = self.face.glyph_hor_advance(glyph).unwrap_or(0);
        (glyph, f32::from(advance) * self.scale())
    }

    /// Width of a line in pixels.
    pub fn width(&self, text: &str) -> f32 {
        text.chars().map(|letter| self.glyph(letter).1).sum()
    }

    /// The outline of a line whose baseline starts at `at`; `None` if there is nothing to draw.
    pub fn outline(&self, text: &str, at: Vec2) -> Option<Path> {
        let mut outline = Outline {
            path: PathBuilder::new(),
            at,
            scale: self.scale(),
        };
        for letter in text.chars() {
            let (glyph, advance) = self.glyph(letter);
            self.face.outline_glyph(glyph, &mut outline);
            outline.at.x += advance;
        }
        outline.path.finish()
    }
}

/// Moves outlines from units of the font to pixels.
struct Outline {
    path: PathBuilder,
    at: Vec2,
    scale: f32,
}

impl Outline {
    fn place(&self, x: f32, y: f32) -> Vec2 {
        self.at + self.scale * Vec2::new(x, -y)
    }
}

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        let to = self.place(x, y);
        self.path.move_to(to.x, to.y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let to = self.place(x, y);
        self.path.line_to(to.x, to.y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let (control, to) = (self.place(x1, y1), self.place(x, y));
        self.path.quad_to(control.x, control.y, to.x, to.y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let [a, b, to] = [(x1, y1), (x2, y2), (x, y)].map(|(x, y)| self.place(x, y));
        self.path.cubic_to(a.x, a.y, b.x, b.y, to.x, to.y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_as_wide_as_its_letters_and_scales() {
        let [small, large] = [10.0, 40.0].map(Font::new);
        assert!((4.0 * small.width("area 0.5") - large.width("area 0.5")).abs() < 1e-3);
        assert!(small.width("iii") < small.width("mmm"));
        let bounds = large
            .outline("H⁻⁷", Vec2::new(5.0, 100.0))
            .expect("letters")
            .bounds();
        assert!(bounds.left() > 5.0 && bounds.right() <= 5.0 + large.width("H⁻⁷"));
        assert!(bounds.top() > 60.0 && bounds.bottom() <= 100.5);
        assert!(large.outline(" ", Vec2::ZERO).is_none());
    }
}
