//! The strip below a picture: it explains the colours, and has the bar of lengths and the axes. The numbers of the axes
//! of a plane are below and to the left.

use glam::Vec2;
use rayon::prelude::*;

use super::color::{QUALITATIVE, Rgb, SEGMENT};
use super::pen::{Group, Pen};
use super::place::Place;
use super::scale::{MISSING, Scale};
use super::shapes::Layout;
use super::{Color, Options, deflated};
use trioxide_mesh::mesh::Mesh;

/// The contents of a strip.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Legend {
    entries: Vec<Entry>,
    /// Ranges of x and y whose numbers are drawn.
    ranges: Option<[[f64; 2]; 2]>,
}

#[derive(Clone, Debug, PartialEq)]
enum Entry {
    /// The colours of a scale, with ticks; arrows where values are clipped.
    Scale(Scale),
    /// One colour.
    Swatch { color: Rgb, label: String },
    /// Words alone.
    Text(String),
    /// A round length.
    ScaleBar { pixels_per_unit: f64 },
    /// Directions of x, y and z in the picture, y down; shorter where they point to the viewer.
    Axes([Vec2; 3]),
}

/// Most swatches of one kind; the remaining ones are counted.
const SWATCHES: usize = 12;

impl Legend {
    fn of(entries: Vec<Entry>) -> Legend {
        let ranges = None;
        Legend { entries, ranges }
    }

    pub fn of_scale(scale: &Scale) -> Legend {
        let mut entries = vec![
            Entry::Text(scale.title.clone()),
            Entry::Scale(scale.clone()),
        ];
        let beyond = [(scale.clipped[0], "below"), (scale.clipped[1], "above")];
        let beyond = beyond.iter().filter(|(count, _)| *count > 0);
        let beyond: Vec<String> = beyond
            .map(|(count, word)| format!("{count} {word}"))
            .collect();
        if !beyond.is_empty() {
            entries.push(Entry::Text(beyond.join(", ")));
        }
        let legend = Legend::of(entries);
        match scale.missing {
            0 => legend,
            count => legend.and(MISSING, &format!("{count} without a value")),
        }
    }

    /// A colour for each label.
    pub fn swatches(title: &str, list: impl ExactSizeIterator<Item = (Rgb, String)>) -> Legend {
        let more = list.len().saturating_sub(SWATCHES);
        let mut entries = vec![Entry::Text(title.to_owned())];
        let shown = list.take(SWATCHES);
        entries.extend(shown.map(|(color, label)| Entry::Swatch { color, label }));
        if more > 0 {
            entries.push(Entry::Text(format!("and {more} more")));
        }
        Legend::of(entries)
    }

    /// The regions of these ids.
    pub fn of_regions(regions: &[i32]) -> Legend {
        let mut ids = regions.to_vec();
        ids.par_sort_unstable();
        ids.dedup();
        let color = |(i, id): (usize, i32)| (QUALITATIVE[i % QUALITATIVE.len()], id.to_string());
        Legend::swatches("region", ids.into_iter().enumerate().map(color))
    }

    /// The colours of a mesh with faces: numbers on a scale, or regions, and its segments.
    pub fn of_faces(mesh: &Mesh, options: &Options, scale: Option<&Scale>) -> Legend {
        let regions = mesh.regions.as_deref();
        let legend = match (scale, &options.color) {
            (Some(scale), _) => Legend::of_scale(scale),
            (None, Color::Region) if options.legend => {
                regions.map(Legend::of_regions).unwrap_or_default()
            }
            _ => Legend::default(),
        };
        match mesh.segments.is_empty() {
            true => legend,
            false => legend.and(SEGMENT, "segments"),
        }
    }

    /// The legend with one more colour.
    pub fn and(mut self, color: Rgb, label: &str) -> Legend {
        let label = label.to_owned();
        self.entries.push(Entry::Swatch { color, label });
        self
    }

    /// The strip that the options ask for; `None` if it is empty. A legend of shaded colours says so.
    pub fn strip(
        legend: Legend,
        options: &Options,
        place: &Place,
        is_shaded: bool,
    ) -> Option<Legend> {
        let mut strip = match options.legend {
            true => legend,
            false => Legend::default(),
        };
        if is_shaded && !strip.entries.is_empty() {
            strip
                .entries
                .push(Entry::Text("colours are shaded".to_owned()));
        }
        if options.scale_bar {
            let pixels_per_unit = place.pixels_per_unit;
            strip.entries.push(Entry::ScaleBar { pixels_per_unit });
        }
        match place.ranges {
            _ if !options.axes => {}
            None => strip.entries.push(Entry::Axes(place.axes)),
            ranges => strip.ranges = ranges,
        }
        (!strip.entries.is_empty() || strip.ranges.is_some()).then_some(strip)
    }

    /// The shapes around a picture of this size.
    fn layout(&self, [width, height]: [u32; 2]) -> Layout {
        let mut pen = Pen::new(width);
        let mut shapes = Vec::new();
        let (mut left, mut top) = (0.0, 0.0);
        if let Some(ranges) = &self.ranges {
            let ruler = pen.ruler(ranges, [width, height].map(|side| side as f32));
            (left, top) = (ruler.size.x, ruler.size.y);
            shapes = ruler.shapes;
        }
        pen.width += left;
        let (gap, between) = (pen.em, (0.6 * pen.em).round());
        let (mut x, mut y, mut row) = (gap, top + between, 0.0f32);
        for entry in &self.entries {
            let group = group(&pen, entry);
            if x > gap && x + group.size.x + gap > pen.width {
                (x, y, row) = (gap, y + row + between, 0.0);
            }
            let at = Vec2::new(x, y);
            shapes.extend(group.shapes.into_iter().map(|shape| shape.moved(at)));
            x += (group.size.x + gap).ceil();
            row = row.max(group.size.y);
        }
        Layout {
            shapes,
            left: left as u32,
            below: (y + row + between).ceil() as u32,
            font: pen.font,
        }
    }
}

/// The shapes of an entry.
fn group(pen: &Pen, entry: &Entry) -> Group {
    match entry {
        Entry::Text(text) => pen.words(text),
        Entry::Swatch { color, label } => pen.swatch(*color, label),
        Entry::Scale(scale) => pen.scale(scale),
        Entry::ScaleBar { pixels_per_unit } => pen.scale_bar(*pixels_per_unit),
        Entry::Axes(axes) => pen.axes(axes),
    }
}

/// Pixels as a PNG file, with the strip and the numbers of axes around them.
pub(super) fn write_png(size: [u32; 2], pixels: Vec<u8>, strip: Option<&Legend>) -> Vec<u8> {
    let (pixels, size) = match strip {
        None => (pixels, size),
        Some(strip) => strip.layout(size).around(size, pixels),
    };
    deflated::write(size, &pixels)
}

/// A picture as SVG, with the strip and the numbers of axes around it.
pub(super) fn finish_svg(svg: String, size: [u32; 2], strip: Option<&Legend>) -> String {
    match strip {
        None => svg,
        Some(strip) => strip.layout(size).around_svg(&svg, size),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Colormap;
    use crate::color::EDGE;
    use crate::scale::Defaults;
    use crate::svg::hex;

    fn legend(title: &str, values: &[f64], range: Option<[f64; 2]>) -> Legend {
        let options = Options {
            range,
            ..Options::default()
        };
        let scale = Scale::new(values, &options, Defaults::new(title, Colormap::Light));
        Legend::of_scale(&scale.expect("a scale"))
    }

    fn svg_of(legend: &Legend, svg: &str, size: [u32; 2]) -> String {
        legend.layout(size).around_svg(svg, size)
    }

    fn around(legend: &Legend, size: [u32; 2], picture: Vec<u8>) -> (Vec<u8>, [u32; 2]) {
        legend.layout(size).around(size, picture)
    }

    fn words(svg: &str) -> Vec<String> {
        let document = roxmltree::Document::parse(svg).expect("well formed");
        let texts = document
            .descendants()
            .filter(|node| node.has_tag_name("text"));
        texts
            .filter_map(|node| node.text())
            .map(str::to_owned)
            .collect()
    }

    #[test]
    fn the_strip_has_the_scale_the_words_and_the_width_of_the_picture() {
        let red = [206, 62, 50];
        let legend = legend("area", &[0.5, 2.0], None).and(red, "inverted");
        let palette = Colormap::Light.colors(252);
        for width in [40, 200, 1600] {
            let (pixels, [all, height]) =
                around(&legend, [width, 2], vec![255; 6 * width as usize]);
            assert_eq!((pixels.len(), all), (3 * (width * height) as usize, width));
            let has = |color: &Rgb| pixels.chunks(3).any(|pixel| pixel == color);
            assert!(palette.iter().any(has) && has(&red), "{width}");
            let is_dark = |pixel: &[u8]| pixel.iter().all(|&channel| channel < 120);
            assert!(pixels.chunks(3).any(is_dark), "{width}");
        }
        let words = words(&svg_of(&legend, "<svg/>\n", [1600, 100]));
        assert_eq!(words, ["area", "0.5", "1.0", "1.5", "2.0", "inverted"]);
        // Labels that would touch each other are fewer.
        let narrow = super::tests::words(&svg_of(&legend, "<svg/>\n", [60, 100]));
        assert_eq!(narrow, ["area", "1", "2", "inverted"]);
    }

    #[test]
    fn clipped_and_missing_values_are_said() {
        let (few, all) = ([0.0, 1.0], [-1.0, 0.5, 3.0, 4.0, f64::NAN]);
        let svg =
            |values: &[f64]| svg_of(&legend("a<b & c\u{1}", values, Some(few)), "", [1600, 9]);
        let clipped = svg(&all);
        let said = words(&clipped);
        assert_eq!(said[0], "a<b & c\u{fffd}");
        assert!(said.contains(&"1 below, 2 above".to_owned()), "{said:?}");
        assert!(said.contains(&"1 without a value".to_owned()), "{said:?}");
        assert!(clipped.contains(&hex(MISSING)));
        let inside = svg(&few);
        assert!(!inside.contains(&hex(MISSING)));
        assert_eq!(words(&inside).len(), words(&clipped).len() - 2);
        // Two arrows with outlines; the swatch with its frame.
        let paths = |svg: &str| svg.matches("<path").count();
        assert_eq!(paths(&clipped), paths(&inside) + 2 * 2 + 2);
    }

    #[test]
    fn lengths_and_axes_come_on_request() {
        let place = Place {
            pixels_per_unit: 400.0,
            axes: [Vec2::X, Vec2::NEG_Y, Vec2::ZERO],
            ranges: None,
        };
        let options = |legend, scale_bar, axes| Options {
            legend,
            scale_bar,
            axes,
            ..Options::default()
        };
        let colors = Legend::default().and(SEGMENT, "segments");
        let strip = |options: &Options, place| Legend::strip(colors.clone(), options, place, true);
        let said =
            |strip: Option<Legend>| words(&svg_of(&strip.expect("a strip"), "", [1600, 800]));
        assert_eq!(strip(&options(false, false, false), &place), None);
        // A fifth of the width is 0.8 units; z points to the viewer.
        let all = said(strip(&options(true, true, true), &place));
        assert_eq!(all, ["segments", "colours are shaded", "0.5", "x", "y"]);
        assert_eq!(said(strip(&options(false, true, false), &place)), ["0.5"]);
        // Of a plane with numbers: the last one of x and of y would reach out.
        let plane = Place {
            ranges: Some([[-1.0, 3.0], [0.0, 2.0]]),
            ..place
        };
        let ruled = strip(&options(false, false, true), &plane).expect("a ruler");
        let numbers = words(&svg_of(&ruled, "", [1600, 800]));
        assert_eq!(numbers, ["-1", "0", "1", "2", "0.0", "0.5", "1.0", "1.5"]);
        let red = [255, 0, 0];
        let (pixels, [width, height]) = around(&ruled, [1600, 800], red.repeat(1600 * 800));
        assert!(width > 1600 && height > 800);
        let row = &pixels[..3 * width as usize];
        let first = row
            .chunks(3)
            .position(|pixel| pixel == red)
            .expect("the picture");
        assert_eq!(first, width as usize - 1600);
        assert!(row.chunks(3).skip(first).all(|pixel| pixel == red));
    }

    #[test]
    fn many_regions_are_counted() {
        let list: Vec<_> = (0..100).map(|i| (EDGE, i.to_string())).collect();
        let legend = Legend::swatches("region", list.into_iter());
        assert_eq!(legend.entries.len(), SWATCHES + 2);
        let last = Entry::Text("and 88 more".to_owned());
        assert_eq!(legend.entries.last(), Some(&last));
    }
}
