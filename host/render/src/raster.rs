//! Removal of hidden surfaces by a depth buffer.
//!
//! Every sample of the picture keeps the nearest element drawn there, as its depth and its number in one atomic
//! integer. The smallest value wins, so threads may draw in any order and the picture is the same. Colours are computed
//! at the end, for visible elements only. Triangles are drawn exactly, in fixed point: two that share a side leave no
//! gap.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use glam::{Vec2, Vec3};

use super::color::{BACKGROUND, Rgb};
use trioxide_mesh::parallel;

/// Samples along a side of a pixel, which are averaged.
pub const SAMPLES: i32 = 3;
/// Steps of the fixed-point coordinates along a side of a sample.
const STEPS: i64 = 256;
/// Samples in memory at once; a larger picture is drawn in bands.
const MOST_SAMPLES: usize = 1 << 25;
/// Pixels drawn above and below a band: the largest distance of a call of [`Band::nearest`].
const PADDING: i32 = 4;
const NOTHING: u64 = u64::MAX;

/// Some rows of the picture.
pub struct Band {
    /// Samples of a row.
    width: i32,
    /// The range of rows of samples.
    rows: Range<i32>,
    /// By row: depth in the upper half, number in the lower.
    samples: Vec<AtomicU64>,
}

/// The pixels of a picture. `draw` draws all elements into a band. `color` gives the colour of a visible element by its
/// number and the sample's place in the band.
pub fn picture(
    [width, height]: [u32; 2],
    draw: impl Fn(&Band),
    color: impl Fn(&Band, u32, [i32; 2]) -> Rgb + Sync,
) -> Vec<u8> {
    let rows = rows_of_band(width);
    let mut pixels = vec![0; 3 * width as usize * height as usize];
    for (i, pixels) in pixels.chunks_mut(3 * width as usize * rows).enumerate() {
        let first = (i * rows) as i32;
        let last = first + (pixels.len() / (3 * width as usize)) as i32;
        let band = Band::new(width, first - PADDING..last + PADDING);
        draw(&band);
        parallel::for_chunks_mut(pixels, 3 * width as usize, |row, pixels| {
            let top = (first + row as i32) * SAMPLES;
            for (column, pixel) in pixels.chunks_mut(3).enumerate() {
                pixel.copy_from_slice(&band.average(column as i32 * SAMPLES, top, &color));
            }
        });
    }
    pixels
}

/// Which of `count` elements are the nearest ones at a sample of the picture.
pub fn visible([width, height]: [u32; 2], count: usize, draw: impl Fn(&Band)) -> Vec<bool> {
    let rows = rows_of_band(width) as i32;
    let mut visible = vec![false; count];
    for first in (0..height as i32).step_by(rows as usize) {
        let band = Band::new(width, first..(first + rows).min(height as i32));
        draw(&band);
        for sample in &band.samples {
            let key = sample.load(Relaxed);
            if key != NOTHING {
                visible[key as u32 as usize] = true;
            }
        }
    }
    visible
}

/// Rows of pixels that are drawn at once.
fn rows_of_band(width: u32) -> usize {
    let samples_of_row = (width as usize) * (SAMPLES * SAMPLES) as usize;
    (MOST_SAMPLES / samples_of_row).max(1)
}

impl Band {
    fn new(width: u32, pixel_rows: Range<i32>) -> Band {
        let rows = pixel_rows.start * SAMPLES..pixel_rows.end * SAMPLES;
        let width = width as i32 * SAMPLES;
        let count = width as usize * rows.len();
        Band {
            width,
            rows,
            samples: parallel::collect(count, |_| AtomicU64::new(NOTHING)),
        }
    }

    /// Depth of the nearest element at a sample; `None` without an element.
    pub fn nearest(&self, [x, y]: [i32; 2]) -> Option<f32> {
        let is_inside = (0..self.width).contains(&x) && self.rows.contains(&y);
        let key = is_inside.then(|| self.sample(x, y).load(Relaxed))?;
        (key != NOTHING).then(|| from_ordered((key >> 32) as u32))
    }

    fn sample(&self, x: i32, y: i32) -> &AtomicU64 {
        &self.samples[(y - self.rows.start) as usize * self.width as usize + x as usize]
    }

    fn average(&self, left: i32, top: i32, color: impl Fn(&Band, u32, [i32; 2]) -> Rgb) -> Rgb {
        let total = (SAMPLES * SAMPLES) as u16;
        let mut sum = [total / 2; 3];
        for y in top..top + SAMPLES {
            for x in left..left + SAMPLES {
                let rgb = match self.sample(x, y).load(Relaxed) {
                    NOTHING => BACKGROUND,
                    key => color(self, key as u32, [x, y]),
                };
                for (sum, channel) in sum.iter_mut().zip(rgb) {
                    *sum += u16::from(channel);
                }
            }
        }
        sum.map(|sum| (sum / total) as u8)
    }

    fn put(&self, x: i32, y: i32, depth: f32, number: u32) {
        let key = u64::from(to_ordered(depth)) << 32 | u64::from(number);
        let sample = self.sample(x, y);
        if key < sample.load(Relaxed) {
            sample.fetch_min(key, Relaxed);
        }
    }

    /// Rows of samples of this band whose middles lie between two places, given in steps.
    fn rows_between(&self, least: i64, most: i64) -> Range<i32> {
        let rows = samples_between(least, most);
        rows.start.max(self.rows.start)..rows.end.min(self.rows.end)
    }

    /// Draws a triangle with corners in pixels.
    pub fn draw_triangle(&self, corners: &[Vec3; 3], number: u32) {
        let places = corners.map(in_steps);
        let [a, b, c] = places;
        let rows = self.rows_between(a[1].min(b[1]).min(c[1]), a[1].max(b[1]).max(c[1]));
        let columns = samples_between(a[0].min(b[0]).min(c[0]), a[0].max(b[0]).max(c[0]));
        let columns = columns.start.max(0)..columns.end.min(self.width);
        if rows.is_empty() || columns.is_empty() {
            return;
        }
        let area = cross(a, b, c);
        if area == 0 {
            return;
        }
        let sign = area.signum();
        // Twice the areas of the triangles between the first sample and each side, and their increments to the right
        // and down.
        let first = [columns.start, rows.start].map(middle);
        let sides = [(b, c), (c, a), (a, b)].map(|(from, to)| {
            [
                sign * cross(from, to, first),
                sign * (from[1] - to[1]) * STEPS,
                sign * (to[0] - from[0]) * STEPS,
            ]
        });
        let scale = 1.0 / (sign * area) as f64;
        let depths = corners.map(|corner| f64::from(corner.z));
        let mut row_spans = sides.map(|[span, ..]| span);
        for y in rows {
            let mut spans = row_spans;
            for x in columns.clone() {
                if (spans[0] | spans[1] | spans[2]) >= 0 {
                    let depth = depths[0]
                        + ((depths[1] - depths[0]) * spans[1] as f64
                            + (depths[2] - depths[0]) * spans[2] as f64)
                            * scale;
                    self.put(x, y, depth as f32, number);
                }
                for (span, side) in spans.iter_mut().zip(&sides) {
                    *span += side[1];
                }
            }
            for (span, side) in row_spans.iter_mut().zip(&sides) {
                *span += side[2];
            }
        }
    }

    /// Draws a dot of a radius in pixels.
    pub fn draw_dot(&self, center: Vec3, radius: f32, number: u32) {
        let [x, y] = in_steps(center);
        let reach = (radius * (SAMPLES as i64 * STEPS) as f32) as i64;
        let columns = samples_between(x - reach, x + reach);
        for row in self.rows_between(y - reach, y + reach) {
            let dy = middle(row) - y;
            for column in columns.start.max(0)..columns.end.min(self.width) {
                let dx = middle(column) - x;
                if dx * dx + dy * dy <= reach * reach {
                    self.put(column, row, center.z, number);
                }
            }
        }
    }

    /// Draws a line of a width in pixels with round ends, in front of its depth by its width.
    pub fn draw_line(&self, [from, to]: [Vec3; 2], width: f32, number: u32) {
        let along = (to - from).truncate();
        let reach = width / 2.0;
        let nearest = |middle: Vec2| {
            let share = (middle - from.truncate()).dot(along) / along.length_squared();
            let share = if share.is_finite() {
                share.clamp(0.0, 1.0)
            } else {
                0.0
            };
            let place = from.lerp(to, share);
            (place.truncate().distance_squared(middle) <= reach * reach).then_some(place.z - width)
        };
        let steps = |pixels: f32| (pixels * (SAMPLES as i64 * STEPS) as f32) as i64;
        let (least, most) = (from.min(to), from.max(to));
        let rows = self.rows_between(steps(least.y - reach) - 1, steps(most.y + reach) + 1);
        for row in rows {
            // The part of the line near the row, in columns.
            let y = in_pixels([0, row]).y;
            let at = |y: f32| from.x + along.x * ((y - from.y) / along.y).clamp(0.0, 1.0);
            let ends = match along.y.abs() > 1e-3 * along.x.abs() {
                true => [at(y - 2.0 * reach), at(y + 2.0 * reach)],
                false => [from.x, to.x],
            };
            let [left, right] = [ends[0].min(ends[1]) - reach, ends[0].max(ends[1]) + reach];
            let columns = samples_between(steps(left) - 1, steps(right) + 1);
            for column in columns.start.max(0)..columns.end.min(self.width) {
                if let Some(depth) = nearest(in_pixels([column, row])) {
                    self.put(column, row, depth, number);
                }
            }
        }
    }
}

/// Twice the signed area of a triangle in pixels, after rounding to steps.
pub fn drawn_area(corners: &[Vec3; 3]) -> i64 {
    let [a, b, c] = corners.map(in_steps);
    cross(a, b, c)
}

/// The value of [`drawn_area`] for one square pixel.
pub const PIXEL: f64 = 2.0 * ((SAMPLES as i64 * STEPS) * (SAMPLES as i64 * STEPS)) as f64;

/// Middle of a sample in pixels.
pub fn in_pixels(sample: [i32; 2]) -> Vec2 {
    Vec2::from(sample.map(|i| (i as f32 + 0.5) / SAMPLES as f32))
}

fn in_steps(point: Vec3) -> [i64; 2] {
    let scale = (SAMPLES as i64 * STEPS) as f32;
    // Rounded: all places are in the picture, so none is negative. Pictures have at most 2^14 pixels per side.
    [point.x, point.y].map(|x| i64::from((x * scale + 0.5) as i32))
}

fn middle(sample: i32) -> i64 {
    i64::from(sample) * STEPS + STEPS / 2
}

/// Samples whose middles lie between two places, given in steps.
fn samples_between(least: i64, most: i64) -> Range<i32> {
    let first = (least + STEPS / 2 - 1).div_euclid(STEPS);
    let last = (most - STEPS / 2).div_euclid(STEPS);
    first as i32..last as i32 + 1
}

fn cross(a: [i64; 2], b: [i64; 2], c: [i64; 2]) -> i64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

/// An integer whose order is the order of depths.
fn to_ordered(depth: f32) -> u32 {
    let bits = depth.to_bits();
    bits ^ if bits >> 31 == 1 { u32::MAX } else { 1 << 31 }
}

fn from_ordered(bits: u32) -> f32 {
    f32::from_bits(bits ^ if bits >> 31 == 0 { u32::MAX } else { 1 << 31 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depths_keep_their_order() {
        let depths = [-1e30, -2.0, -1.0, -1e-30, 0.0, 1e-30, 1.5, 7e8];
        for pair in depths.windows(2) {
            assert!(to_ordered(pair[0]) < to_ordered(pair[1]));
            assert_eq!(from_ordered(to_ordered(pair[0])), pair[0]);
        }
    }

    #[test]
    fn samples_lie_between_two_places() {
        let half = STEPS / 2;
        assert_eq!(samples_between(half, half), 0..1);
        assert_eq!(samples_between(half + 1, half + STEPS), 1..2);
        assert!(samples_between(half + 1, half + STEPS - 1).is_empty());
        assert_eq!(samples_between(-half, 0), -1..0);
    }
}
