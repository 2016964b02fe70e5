//! SVG files of views: nearer elements are painted over farther ones.

use std::fmt::Write;

use glam::Vec3;
use rayon::prelude::*;

use trioxide_mesh::{Error, Result};

/// A file with more elements opens in no program.
const MOST: usize = 200_000;

/// The start of an SVG file, with a white background.
pub fn start([width, height]: [u32; 2]) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n\
         <path fill=\"#ffffff\" d=\"M0 0H{width}V{height}H0z\"/>\n"
    )
}

/// Numbers of elements, sorted by descending depth.
pub fn farthest_first(
    elements: Vec<usize>,
    what: &str,
    depth: impl Fn(usize) -> f32 + Sync,
) -> Result<Vec<usize>> {
    let count = elements.len();
    if count > MOST {
        return Err(Error::Argument(format!(
            "{count} {what} in space are too many for an SVG, which holds {MOST} at most: write a .png"
        )));
    }
    let mut order: Vec<(f32, usize)> = elements.into_iter().map(|i| (depth(i), i)).collect();
    order.par_sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    Ok(order.into_iter().map(|(_, i)| i).collect())
}

/// A point as text in a path.
pub fn place(point: Vec3) -> String {
    format!("{:.1} {:.1}", point.x, point.y)
}

/// Appends formatted text.
pub fn push(svg: &mut String, text: std::fmt::Arguments) {
    let written = svg.write_fmt(text);
    debug_assert!(written.is_ok(), "a String takes everything");
}
