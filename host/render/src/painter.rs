//! Views as SVG: the farthest first, nearer ones over it.

use std::fmt::Write;

use glam::Vec3;
use rayon::prelude::*;

use super::color::{EDGE, SEGMENT};
use super::dots::Dots;
use super::facets::View;
use super::svg::hex;
use trioxide_mesh::{Error, Result};

/// More elements make a file that no program opens.
const MOST: usize = 200_000;

pub fn encode(view: &View) -> Result<String> {
    let corners = |i: usize| view.corners(i);
    let order = farthest_first(view.len(), "faces", |i| {
        corners(i).iter().map(|p| p.z).sum()
    })?;
    let mut svg = start(view.size);
    svg += "<g stroke-linejoin=\"round\" stroke-linecap=\"round\">\n";
    let width = view.edge_width;
    for i in order {
        let [a, b, c] = corners(i).map(place);
        let color = hex(view.color(i));
        // A line of its own colour closes the seams that antialiasing leaves.
        push(
            &mut svg,
            format_args!(
                "<path fill=\"{color}\" stroke=\"{color}\" stroke-width=\"0.4\" d=\"M{a}L{b}L{c}z\"/>\n"
            ),
        );
        if width > 0.0 {
            let corners = [a, b, c];
            let mut path = String::new();
            for k in view.sides(i) {
                push(
                    &mut path,
                    format_args!("M{}L{}", corners[k], corners[(k + 1) % 3]),
                );
            }
            let color = hex(EDGE);
            push(
                &mut svg,
                format_args!(
                    "<path fill=\"none\" stroke=\"{color}\" stroke-width=\"{width:.2}\" d=\"{path}\"/>\n"
                ),
            );
        }
    }
    // Over all faces: which of them hide a line is not known here.
    for ends in view.lines() {
        let [from, to] = ends.map(place);
        let (color, width) = (hex(SEGMENT), view.line_width);
        push(
            &mut svg,
            format_args!(
                "<path stroke=\"{color}\" stroke-width=\"{width:.2}\" d=\"M{from}L{to}\"/>\n"
            ),
        );
    }
    svg += "</g>\n</svg>\n";
    Ok(svg)
}

pub fn encode_dots(dots: &Dots) -> Result<String> {
    let order = farthest_first(dots.len(), "points", |i| dots.place(i).z)?;
    let mut svg = start(dots.size());
    for i in order {
        let (at, color, radius) = (dots.place(i), hex(dots.color(i)), dots.radius);
        push(
            &mut svg,
            format_args!(
                "<circle fill=\"{color}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"{radius:.1}\"/>\n",
                at.x, at.y
            ),
        );
    }
    svg += "</svg>\n";
    Ok(svg)
}

fn start([width, height]: [u32; 2]) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n\
         <path fill=\"#ffffff\" d=\"M0 0H{width}V{height}H0z\"/>\n"
    )
}

/// Numbers of all elements by depth, largest first.
fn farthest_first(
    count: usize,
    what: &str,
    depth: impl Fn(usize) -> f32 + Sync,
) -> Result<Vec<usize>> {
    if count > MOST {
        return Err(Error::Argument(format!(
            "{count} {what} in space are too many for an SVG, which holds {MOST} at most: write a .png"
        )));
    }
    let mut order: Vec<(f32, usize)> = (0..count).map(|i| (depth(i), i)).collect();
    order.par_sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    Ok(order.into_iter().map(|(_, i)| i).collect())
}

fn place(point: Vec3) -> String {
    format!("{:.1} {:.1}", point.x, point.y)
}

fn push(svg: &mut String, text: std::fmt::Arguments) {
    let written = svg.write_fmt(text);
    debug_assert!(written.is_ok(), "a String takes everything");
}
