use std::fmt::Write;

use glam::Vec2;

use super::color::{BACKGROUND, EDGE, Rgb, SEGMENT};
use super::scene::Scene;

/// Units per pixel. Coordinates are written as differences of integers, which keeps the file small.
const UNITS: f32 = 10.0;

/// The scene as an SVG document: one path for the faces of each colour, with their edges; one path for the boundary;
/// one for the segments if there are any.
pub fn encode(scene: &Scene) -> String {
    let points: Vec<[i32; 2]> = scene
        .points
        .iter()
        .map(|point| {
            // Points may lie far outside of a narrow window: steps must fit i32.
            let units = (point * UNITS).clamp(Vec2::splat(-1e8), Vec2::splat(1e8));
            units.round().to_array().map(|x| x as i32)
        })
        .collect();
    let (width, height) = (scene.width, scene.height);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {} {}\">\n\
         <path fill=\"{}\" d=\"M0 0H{}V{}H0z\"/>\n",
        width as f32 * UNITS,
        height as f32 * UNITS,
        hex(BACKGROUND),
        width as f32 * UNITS,
        height as f32 * UNITS,
    );

    let mut paths = vec![String::new(); scene.palette.len()];
    for (i, &class) in scene.classes.iter().enumerate() {
        let face = scene.face(i);
        if scene.shows(scene.bounds(face)) {
            polygon(
                &mut paths[class as usize],
                face.iter().map(|&v| points[v as usize]),
            );
        }
    }
    let edges_drawn = !scene.inner_edges.is_empty();
    svg += "<g stroke-linejoin=\"round\" stroke-linecap=\"round\">\n";
    for (path, &color) in paths.iter().zip(&scene.palette) {
        if path.is_empty() {
            continue;
        }
        // Without edges, a line in the face's colour closes the seams of antialiasing.
        let (stroke, width) = if edges_drawn {
            (EDGE, scene.inner_width)
        } else {
            (color, 0.5)
        };
        write_path(&mut svg, color, stroke, width, path);
    }
    for (edges, width, color) in [
        (&scene.outer_edges, scene.outer_width, EDGE),
        (&scene.segments, scene.segment_width, SEGMENT),
    ] {
        let mut path = String::new();
        for &edge in edges {
            if scene.shows(scene.bounds(&edge)) {
                polygon(&mut path, edge.iter().map(|&v| points[v as usize]));
            }
        }
        if !edges.is_empty() {
            write_path(&mut svg, color, color, width, &path);
        }
    }
    svg += "</g>\n</svg>\n";
    svg
}

pub fn hex([r, g, b]: Rgb) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

fn write_path(svg: &mut String, fill: Rgb, stroke: Rgb, width: f32, path: &str) {
    let (fill, stroke, width) = (hex(fill), hex(stroke), width * UNITS);
    let written = writeln!(
        svg,
        "<path fill=\"{fill}\" stroke=\"{stroke}\" stroke-width=\"{width:.1}\" d=\"{path}\"/>"
    );
    debug_assert!(written.is_ok(), "a String takes everything");
}

/// Appends a closed polygon: an absolute start, then steps. A polygon that is a single point in the picture is left
/// out.
fn polygon(path: &mut String, mut points: impl Iterator<Item = [i32; 2]>) {
    let Some(mut last) = points.next() else {
        return;
    };
    let before = path.len();
    path.push('M');
    pair(path, last);
    path.push('l');
    let start = path.len();
    for point in points {
        if point != last {
            let step = [point[0] - last[0], point[1] - last[1]];
            if path.len() > start {
                separate(path, step[0]);
            }
            pair(path, step);
            last = point;
        }
    }
    if path.len() == start {
        path.truncate(before);
    } else {
        path.push('z');
    }
}

fn pair(path: &mut String, [x, y]: [i32; 2]) {
    number(path, x);
    separate(path, y);
    number(path, y);
}

/// Writes a separator between numbers; a minus sign is one already.
fn separate(path: &mut String, next: i32) {
    if next >= 0 {
        path.push(' ');
    }
}

fn number(path: &mut String, number: i32) {
    let written = write!(path, "{number}");
    debug_assert!(written.is_ok(), "a String takes everything");
}
