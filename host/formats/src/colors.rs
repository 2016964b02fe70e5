//! Colours of files that do not say how far their channels run: to 1, to 255 or to 65535.
//!
//! The range is that of the whole list, not of one colour. Channels run to 1 if none is larger, but for rounding, and
//! also if the largest is a fraction up to 2: lights beyond white. Red, green and blue that are all whole run to 255
//! where alpha does, so that `1 0 0 255` is almost black. Alpha has a range of its own: programs write `255 0 0 1` and
//! `0.5 0.5 0.5 255`. Whole numbers beyond 4095 run to 65535. Where a file declares integers, they run to 255 if none
//! is larger.

use trioxide_mesh::fields::{Field, NumberType};
use trioxide_mesh::parallel;

/// Name of the field of face colours.
pub(crate) const FACE_COLOR: &str = "color";

/// Returns whether a field of faces is their colours: bytes of 3 or 4 channels.
pub(crate) fn is_face_color(field: &Field) -> bool {
    field.name == FACE_COLOR
        && matches!(field.components, 3 | 4)
        && field.values.kind() == NumberType::U8
}

/// Returns the field of face colours, with `components` of the channels.
pub(crate) fn face_color(colors: &[[u8; 4]], components: usize) -> Field {
    let values: Vec<u8> = (colors.iter())
        .flat_map(|color| &color[..components])
        .copied()
        .collect();
    Field {
        name: FACE_COLOR.to_owned(),
        components,
        values: values.into(),
    }
}

/// Channels of a colour as its file has them, and their number: 3, or 4 with alpha, or 0 for white.
pub(crate) type Channels = ([f32; 4], u8);

/// Colours of a list.
pub(crate) struct Colors {
    /// Red, green, blue and alpha of each; colours of 3 channels are opaque.
    pub(crate) bytes: Vec<[u8; 4]>,
    /// Sentences on an unusual range, and on channels that are outside of it or not a number.
    pub(crate) notes: Vec<String>,
}

/// Ends of the channels of a list, and whether all are whole.
#[derive(Clone, Copy)]
struct Extent {
    least: f32,
    largest: f32,
    is_whole: bool,
    has_nan: bool,
}

impl Extent {
    const NONE: Extent = Extent {
        least: f32::INFINITY,
        largest: f32::NEG_INFINITY,
        is_whole: true,
        has_nan: false,
    };

    fn add(&mut self, channel: f32) {
        // `min` and `max` pass over NaN.
        self.least = self.least.min(channel);
        self.largest = self.largest.max(channel);
        self.is_whole &= channel.trunc() == channel || channel.is_nan();
        self.has_nan |= channel.is_nan();
    }

    fn join(self, other: Extent) -> Extent {
        Extent {
            least: self.least.min(other.least),
            largest: self.largest.max(other.largest),
            is_whole: self.is_whole && other.is_whole,
            has_nan: self.has_nan || other.has_nan,
        }
    }

    /// Returns the number that stands for a full channel in a format with these `usual` ones.
    fn full(self, usual: &[f32]) -> f32 {
        // A file that declares integers may print fractions.
        let is_byte = self.is_whole && matches!(usual, [255.0 | 65535.0]);
        match self.largest {
            x if x < 1.0 + 0.5 / 255.0 && !is_byte => 1.0,
            x if x <= 2.0 && !self.is_whole => 1.0,
            x if x > 255.0 && *usual == [65535.0] => 65535.0,
            x if x > 4095.0 && x <= 65535.0 && self.is_whole => 65535.0,
            _ => 255.0,
        }
    }
}

/// Colours of a piece.
const PIECE: usize = 64 << 10;

/// Returns the extents of red, green and blue, and of alpha, of `count` colours.
fn extents(count: usize, color: impl Fn(usize) -> Channels + Sync) -> [Extent; 2] {
    let pieces = parallel::map_pieces(count, PIECE, |range| {
        let mut extents = [Extent::NONE; 2];
        for i in range {
            let (channels, count) = color(i);
            let rgb = &channels[..usize::from(count.min(3))];
            rgb.iter().for_each(|&x| extents[0].add(x));
            if count > 3 {
                extents[1].add(channels[3]);
            }
        }
        extents
    });
    let join =
        |[rgb, alpha]: [Extent; 2], other: [Extent; 2]| [rgb.join(other[0]), alpha.join(other[1])];
    pieces.into_iter().fold([Extent::NONE; 2], join)
}

/// Returns whether `count` lists of 3 or 4 numbers look like colours: all from 0 to 1, or whole from 0 to 255.
pub(crate) fn are_plausible(count: usize, color: impl Fn(usize) -> Channels + Sync) -> bool {
    let [rgb, alpha] = extents(count, color);
    let all = rgb.join(alpha);
    let is_in_range = all.largest <= 1.0 || all.is_whole && all.largest <= 255.0;
    all.least >= 0.0 && !all.has_nan && is_in_range
}

/// Returns `count` colours as bytes, by the range of all of them; white where a colour has no channels. `usual` are the
/// numbers that stand for full red, green or blue in the format; others give a note.
pub(crate) fn bytes_of(
    count: usize,
    usual: &[f32],
    color: impl Fn(usize) -> Channels + Sync,
) -> Colors {
    let [rgb, alpha] = extents(count, &color);
    let fulls = match [rgb, alpha].map(|extent| extent.full(usual)) {
        [of_rgb, of_alpha] if of_rgb == 1.0 && of_alpha > 1.0 && rgb.is_whole => [of_alpha; 2],
        fulls => fulls,
    };
    let full = |k: usize| fulls[usize::from(k == 3)];
    let bytes = parallel::collect(count, |i| {
        let (channels, count) = color(i);
        let mut bytes = [u8::MAX; 4];
        for k in 0..usize::from(count) {
            // The conversion saturates, and gives 0 for NaN.
            bytes[k] = (channels[k] * (255.0 / full(k))).round() as u8;
        }
        bytes
    });
    let is_cut =
        |extent: Extent, full| extent.least < 0.0 || extent.largest > full || extent.has_nan;
    let are_cut = is_cut(rgb, fulls[0]) || is_cut(alpha, fulls[1]);
    let [end, _] = fulls;
    let mut notes = Vec::new();
    if !usual.contains(&end) && rgb.largest > 0.0 {
        notes.push(format!("its colours run from 0 to {end}"));
    }
    if are_cut {
        let cut = parallel::count(count, |i| {
            let (channels, count) = color(i);
            let mut channels = channels[..usize::from(count)].iter().enumerate();
            !channels.all(|(k, x)| (0.0..=full(k)).contains(x))
        });
        notes.push(format!(
            "{cut} of {count} colours have a channel outside of 0 to {end}, which becomes the nearer end, or one that is not \
             a number, which becomes 0"
        ));
    }
    Colors { bytes, notes }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channels(color: &[f32]) -> Channels {
        let mut channels = [0.0; 4];
        channels[..color.len()].copy_from_slice(color);
        (channels, color.len() as u8)
    }

    #[test]
    fn the_range_of_channels_is_that_of_the_whole_list() {
        for (list, bytes, full) in [
            // No colour alone shows that 1 is nearly black.
            (
                &[&[1.0, 0.0, 0.0][..], &[0.0, 200.0, 1.0]][..],
                vec![[1, 0, 0, 255], [0, 200, 1, 255]],
                "255",
            ),
            (
                &[&[1.0, 0.0, 0.5][..], &[0.2, 0.0, 1.0]],
                vec![[255, 0, 128, 255], [51, 0, 255, 255]],
                "1",
            ),
            (&[&[65535.0, 257.0, 0.0]], vec![[255, 1, 0, 255]], "65535"),
            // Alpha has its own range.
            (&[&[255.0, 0.0, 0.0, 1.0]], vec![[255, 0, 0, 255]], "255"),
            (&[&[0.2, 0.0, 0.0, 255.0]], vec![[51, 0, 0, 255]], "1"),
            (&[&[1.0, 0.0, 0.0, 255.0]], vec![[1, 0, 0, 255]], "255"),
            (&[&[1.0, 0.0, 0.0, 0.5]], vec![[255, 0, 0, 128]], "1"),
        ] {
            let colors = bytes_of(list.len(), &[], |i| channels(list[i]));
            let note = format!("its colours run from 0 to {full}");
            assert_eq!((colors.bytes, colors.notes), (bytes, vec![note]));
        }
        for (usual, red, byte, notes) in [
            // Rounding; lights beyond white.
            (1.0, 1.001, 255, 1),
            (1.0, 1.5, 255, 1),
            (1.0, 3.5, 4, 1),
            // Declared integers.
            (65535.0, 1.0, 1, 1),
            (65535.0, 256.0, 1, 0),
            (65535.0, 200.0, 200, 1),
            (255.0, 1.0, 1, 0),
            (255.0, 0.5, 128, 1),
            (65535.0, 0.0, 0, 0),
        ] {
            let colors = bytes_of(1, &[usual], |_| channels(&[red, 0.0, 0.0]));
            assert_eq!(
                (colors.bytes[0][0], colors.notes.len()),
                (byte, notes),
                "{usual} {red}"
            );
        }
        let none = bytes_of(2, &[1.0], |i| channels([&[][..], &[0.2, 0.0, 0.0]][i]));
        assert_eq!(none.bytes, [[255; 4], [51, 0, 0, 255]]);
        assert_eq!(none.notes.len(), 0);
    }

    #[test]
    fn no_channel_is_cut_without_a_note() {
        let reds = [f32::NAN, -1.0, 256.0, 255.0];
        let colors = bytes_of(4, &[255.0], |i| channels(&[reds[i], 200.0, 0.0]));
        let bytes = colors.bytes.iter().map(|color| color[0]);
        assert_eq!(bytes.collect::<Vec<_>>(), [0, 0, 255, 255]);
        let note = &colors.notes[0];
        let begin = "3 of 4 colours have a channel outside of 0 to 255, which";
        assert!(note.starts_with(begin), "{note}");
        let halves = bytes_of(1, &[1.0], |_| channels(&[0.5, -0.5, 0.0]));
        assert_eq!(halves.bytes, [[128, 0, 0, 255]]);
        assert!(halves.notes[0].contains("outside of 0 to 1"));
    }

    #[test]
    fn numbers_that_look_like_colours() {
        for (list, is_plausible) in [
            (&[&[255.0, 0.0, 7.0, 255.0][..]][..], true),
            (&[&[0.5, 0.0, 1.0]], true),
            (&[&[255.0, 0.0, 0.0, 0.785]], false),
            (&[&[1.5, 0.0, 0.0]], false),
            (&[&[0.0, 0.0, -1.0]], false),
            (&[&[f32::NAN, 0.0, 0.0]], false),
            (&[&[0.0, 0.0, 1.0], &[0.0, 0.0, 256.0]], false),
        ] {
            let got = are_plausible(list.len(), |i| channels(list[i]));
            assert_eq!(got, is_plausible, "{list:?}");
        }
    }
}
