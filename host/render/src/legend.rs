//! The legend of a picture: a strip below it that explains its colours.

use std::fmt::Write;

use font8x8::legacy::BASIC_LEGACY;
use rayon::prelude::*;

use super::color::{self, BACKGROUND, EDGE, QUALITATIVE, Rgb};
use super::svg::hex;
use super::{Color, Options, classes, deflated};
use trioxide_mesh::mesh::Mesh;

/// The meaning of a picture's colours.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Legend {
    /// The quantity.
    title: String,
    entries: Vec<Entry>,
}

#[derive(Clone, Debug, PartialEq)]
enum Entry {
    /// Colours from the least value to the largest one.
    Ramp {
        palette: Vec<Rgb>,
        ends: [String; 2],
    },
    /// One colour.
    Swatch { color: Rgb, label: String },
    /// Words alone.
    Text(String),
}

/// Side of a letter in pixels, for text of the smallest size.
const LETTER: u32 = 8;
/// Most swatches; the remaining ones are counted.
const SWATCHES: usize = 12;

impl Legend {
    /// Colours from `low` to `high`.
    pub fn ramp(title: &str, palette: Vec<Rgb>, [low, high]: [f64; 2]) -> Legend {
        let ends = [short(low), short(high)];
        Legend {
            title: title.to_owned(),
            entries: vec![Entry::Ramp { palette, ends }],
        }
    }

    /// A colour for each label.
    pub fn swatches(title: &str, list: impl ExactSizeIterator<Item = (Rgb, String)>) -> Legend {
        let more = list.len().saturating_sub(SWATCHES);
        let shown = list.take(SWATCHES);
        let mut entries: Vec<Entry> = shown
            .map(|(color, label)| Entry::Swatch { color, label })
            .collect();
        if more > 0 {
            entries.push(Entry::Text(format!("and {more} more")));
        }
        Legend {
            title: title.to_owned(),
            entries,
        }
    }

    /// The regions of these ids.
    pub fn of_regions(regions: &[i32]) -> Legend {
        let mut ids = regions.to_vec();
        ids.par_sort_unstable();
        ids.dedup();
        let color = |(i, id): (usize, i32)| (QUALITATIVE[i % QUALITATIVE.len()], id.to_string());
        Legend::swatches("region", ids.into_iter().enumerate().map(color))
    }

    /// The legend of the faces' colours, if they show a number or a region. The mesh must be drawable, or have no such
    /// colours.
    pub fn of_faces(mesh: &Mesh, options: &Options, values: Option<&[f64]>) -> Option<Legend> {
        let bounds = |values: &mut dyn Iterator<Item = f64>| {
            let none = [f64::INFINITY, f64::NEG_INFINITY];
            values.fold(none, |[low, high], x| [low.min(x), high.max(x)])
        };
        match (values, options.color) {
            _ if !options.legend || mesh.faces.is_empty() => None,
            (Some(values), _) => {
                let bounds = bounds(&mut values.iter().copied());
                Some(Legend::ramp("value", light_to_dark(), bounds))
            }
            (None, Color::Area) => {
                let ends = classes::area_bounds(mesh)?;
                Some(Legend::ramp(
                    "area (log)",
                    color::ramp(classes::AREAS),
                    ends,
                ))
            }
            (None, Color::Size) => {
                let most = 2 + classes::SIZES;
                let mut legend = Legend::ramp(
                    "vertices of a face",
                    color::ramp(classes::SIZES),
                    [3.0, most as f64],
                );
                if let Some(Entry::Ramp { ends, .. }) = legend.entries.first_mut() {
                    ends[1] += " and more";
                }
                Some(legend)
            }
            (None, Color::Region) => Some(Legend::of_regions(mesh.regions.as_deref()?)),
            (None, Color::Auto | Color::None | Color::Distinct | Color::Vertices) => None,
        }
    }

    /// The legend with one more colour.
    pub fn and(mut self, color: Rgb, label: &str) -> Legend {
        let label = label.to_owned();
        self.entries.push(Entry::Swatch { color, label });
        self
    }

    /// The items of the strip, left to right and line by line, for a width; and the strip's height.
    fn layout(&self, width: u32) -> (Vec<Item>, u32) {
        // Text of 8 pixels is small on 1600 pixels, and keeps the strip narrow below the picture.
        let scale = (width / 600).max(1);
        let letter = LETTER * scale;
        let text_width = |text: &str| text.chars().count() as u32 * letter;
        let (gap, row) = (letter, 2 * letter);
        let mut items = Vec::new();
        let (mut x, mut y) = (gap, gap);
        let mut put = |pieces: &[(u32, Piece)]| {
            let length: u32 = pieces.iter().map(|(width, _)| width + gap / 2).sum();
            if x > gap && x + length > width {
                (x, y) = (gap, y + row);
            }
            for (width, piece) in pieces {
                items.push(Item {
                    at: [x, y],
                    size: [*width, letter],
                    scale,
                    piece: piece.clone(),
                });
                x += width + gap / 2;
            }
            x += gap;
        };
        let word = |text: &str| (text_width(text), Piece::Text(text.to_owned()));
        put(&[word(&self.title)]);
        for entry in &self.entries {
            match entry {
                Entry::Ramp { palette, ends } => {
                    let bar = (width / 4).clamp(2 * letter, 24 * letter);
                    let bar = (bar, Piece::Bar(palette.clone()));
                    put(&[word(&ends[0]), bar, word(&ends[1])]);
                }
                Entry::Swatch { color, label } => {
                    put(&[(2 * letter, Piece::Bar(vec![*color])), word(label)]);
                }
                Entry::Text(text) => put(&[word(text)]),
            }
        }
        (items, y + row)
    }

    /// RGB rows of pixels below a picture of this width.
    pub fn pixels(&self, width: u32) -> (Vec<u8>, u32) {
        let (items, height) = self.layout(width);
        let mut pixels = BACKGROUND.repeat((width * height) as usize);
        let mut set = |x: u32, y: u32, color: Rgb| {
            if x < width && y < height {
                let at = 3 * (y * width + x) as usize;
                pixels[at..at + 3].copy_from_slice(&color);
            }
        };
        for Item {
            at: [left, top],
            size: [width, height],
            scale,
            piece,
        } in items
        {
            for (i, j) in (0..height).flat_map(|j| (0..width).map(move |i| (i, j))) {
                let color = match &piece {
                    Piece::Bar(palette) => palette[(i as usize * palette.len()) / width as usize],
                    Piece::Text(text) => {
                        let letter = text.chars().nth((i / (LETTER * scale)) as usize);
                        let rows = letter.and_then(|c| BASIC_LEGACY.get(c as usize));
                        let [i, j] = [i % (LETTER * scale), j].map(|x| x / scale);
                        match rows.is_some_and(|rows| rows[j as usize] >> i & 1 == 1) {
                            true => EDGE,
                            false => continue,
                        }
                    }
                };
                set(left + i, top + j, color);
            }
        }
        (pixels, height)
    }

    /// The picture `svg` of this size, with the legend below it.
    pub fn below_svg(&self, svg: &str, [width, above]: [u32; 2]) -> String {
        let (items, height) = self.layout(width);
        let all = above + height;
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{all}\" viewBox=\"0 0 {width} {all}\">\n\
             <path fill=\"{}\" d=\"M0 0H{width}V{all}H0z\"/>\n{svg}",
            hex(BACKGROUND)
        );
        for Item {
            at: [x, y],
            size: [w, h],
            piece,
            ..
        } in items
        {
            let y = y + above;
            let written = match piece {
                Piece::Bar(palette) => {
                    let step = f64::from(w) / palette.len() as f64;
                    palette.iter().enumerate().try_for_each(|(i, &color)| {
                        let (color, left) = (hex(color), f64::from(x) + i as f64 * step);
                        writeln!(
                            out,
                            "<path fill=\"{color}\" d=\"M{left:.1} {y}h{:.1}v{h}h-{:.1}z\"/>",
                            step + 0.2,
                            step + 0.2
                        )
                    })
                }
                Piece::Text(text) => writeln!(
                    out,
                    "<text x=\"{x}\" y=\"{}\" font-family=\"monospace\" font-size=\"{}\" textLength=\"{w}\" \
                     lengthAdjust=\"spacingAndGlyphs\" fill=\"{}\">{text}</text>",
                    y + h,
                    h * 3 / 2,
                    hex(EDGE)
                ),
            };
            debug_assert!(written.is_ok(), "a String takes everything");
        }
        out += "</svg>\n";
        out
    }
}

/// Pixels as a PNG file, with a legend below them.
pub(super) fn write_png(
    [width, height]: [u32; 2],
    mut pixels: Vec<u8>,
    legend: Option<&Legend>,
) -> Vec<u8> {
    let Some(legend) = legend else {
        return deflated::write([width, height], &pixels);
    };
    let (strip, below) = legend.pixels(width);
    pixels.extend(strip);
    deflated::write([width, height + below], &pixels)
}

/// A picture as SVG, with a legend below it.
pub(super) fn finish_svg(svg: String, size: [u32; 2], legend: Option<&Legend>) -> String {
    match legend {
        None => svg,
        Some(legend) => legend.below_svg(&svg, size),
    }
}

/// An item of the strip, in pixels.
struct Item {
    at: [u32; 2],
    size: [u32; 2],
    /// Pixels per dot of the text.
    scale: u32,
    piece: Piece,
}

#[derive(Clone)]
enum Piece {
    /// A bar of colours of equal width.
    Bar(Vec<Rgb>),
    /// ASCII.
    Text(String),
}

/// A number in at most four digits.
fn short(value: f64) -> String {
    let trimmed = |text: String| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    };
    match value.abs() {
        0.0 => "0".to_owned(),
        size if (1e-3..1e5).contains(&size) => {
            let whole = size.log10().floor() as i32;
            trimmed(format!("{value:.*}", (3 - whole).max(0) as usize))
        }
        _ => {
            let text = format!("{value:.3e}");
            let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
            format!("{}e{exponent}", trimmed(digits.to_owned()))
        }
    }
}

/// The ramp's colours from light to dark.
pub(super) fn light_to_dark() -> Vec<Rgb> {
    color::ramp(64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (value, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (-12.5, "-12.5"),
            (0.012345, "0.01235"),
            (99999.4, "99999"),
            (123456.0, "1.235e5"),
            (-2e-7, "-2e-7"),
        ] {
            assert_eq!(short(value), text);
        }
    }

    #[test]
    fn the_strip_has_the_ramp_the_words_and_the_width_of_the_picture() {
        let palette = light_to_dark();
        let legend =
            Legend::ramp("area", palette.clone(), [0.5, 2.0]).and([206, 62, 50], "inverted");
        for width in [40, 200, 1600] {
            let (pixels, height) = legend.pixels(width);
            assert_eq!(pixels.len(), 3 * (width * height) as usize);
            let has = |color: &Rgb| pixels.chunks(3).any(|pixel| pixel == color);
            assert!(
                has(&palette[0]) && has(&EDGE) && has(&[206, 62, 50]),
                "{width}"
            );
        }
        let svg = legend.below_svg("<svg/>\n", [200, 100]);
        let document = roxmltree::Document::parse(&svg).expect("well formed");
        let words: Vec<&str> = document
            .descendants()
            .filter_map(|n| n.text())
            .map(str::trim)
            .collect();
        for word in ["area", "0.5", "2", "inverted"] {
            assert!(words.contains(&word), "{word}: {words:?}");
        }
    }

    #[test]
    fn many_regions_are_counted() {
        let list: Vec<_> = (0..100).map(|i| (EDGE, i.to_string())).collect();
        let legend = Legend::swatches("region", list.into_iter());
        assert_eq!(legend.entries.len(), SWATCHES + 1);
        assert_eq!(
            legend.entries[SWATCHES],
            Entry::Text("and 88 more".to_owned())
        );
    }
}
