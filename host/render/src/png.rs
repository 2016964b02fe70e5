use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use glam::Vec2;
use rayon::prelude::*;
use tiny_skia::{
    Color, LineCap, Paint, PathBuilder, Pixmap, PremultipliedColorU8, Shader, Stroke, Transform,
};

use super::color::{BACKGROUND, EDGE, Rgb, SEGMENT};
use super::fill::{self, Filler};
use super::scene::{LINE_REACH, Scene};
use trioxide_mesh::partition::Partition;
use trioxide_mesh::progress::{self, Interrupt};

/// Rows of pixels that one task draws.
const BAND: u32 = 64;
/// Columns of pixels of a band's cell; one task draws its faces.
const COLUMNS: u32 = 512;
/// Pixels drawn beyond a band on every side and discarded. Lines are clipped in the middle of them: tiny-skia draws an
/// antialiased line wrongly if it must clip the line itself, even far from the cut.
const PADDING: u32 = 8;
/// Pixels beyond a band at which lines are clipped.
const CUT: f32 = PADDING as f32 / 2.0;
/// Faces of a cell whose corners are read before the first of them is drawn.
const READ_AHEAD: usize = 64;
/// Faces are drawn this many times larger, without antialiasing, and averaged: antialiased faces would let the
/// background show through along every shared edge.
const SAMPLES: u32 = 3;

/// Fewest faces that are drawn before their colours are known.
const MANY_FACES: usize = if cfg!(test) { 100 } else { 1 << 18 };
/// Most samples kept until the colours are known: 256 MiB.
const MOST_SAMPLES: usize = 1 << 26;
/// The mark of the background, whose bits are all ones.
const NO_FACE: u32 = (1 << 24) - 1;
const _: () = assert!(matches!(BACKGROUND, [255, 255, 255]));

/// Faces drawn before their colours are known: a sample has the mark of a face instead of its colour.
pub struct Marked {
    cells: Cells,
    /// The cells of each band.
    bands: Vec<Vec<Pixmap>>,
}

impl Marked {
    /// The faces of a scene without colours. `None` if they are few, or too many for the marks or the memory.
    pub fn of(scene: &Scene) -> Option<Marked> {
        let rows = scene.height.div_ceil(BAND) * (BAND + 2 * PADDING);
        let columns = scene.width + 2 * PADDING;
        let samples = (SAMPLES * SAMPLES) as usize * rows as usize * columns as usize;
        if scene.count() < MANY_FACES || samples > MOST_SAMPLES {
            return None;
        }
        let cells = Cells::of(scene);
        if cells.largest() >= NO_FACE as usize {
            return None;
        }
        let bands = scene.height.div_ceil(BAND) as usize;
        let draw = |number: usize| -> Vec<Pixmap> {
            let band = Band::new(scene, number);
            let of_band = cells.in_band(number, columns);
            let draw_cell = |(faces, columns)| band.draw_cell(faces, columns, |i, _| mark(i));
            of_band.into_par_iter().map(draw_cell).collect()
        };
        Some(Marked {
            bands: (0..bands).into_par_iter().map(draw).collect(),
            cells,
        })
    }
}

/// The mark of the face with this place in its cell, as a colour.
fn mark(place: usize) -> PremultipliedColorU8 {
    let [r, g, b, _] = (place as u32).to_le_bytes();
    PremultipliedColorU8::from_rgba(r, g, b, 255).expect("opaque")
}

/// The place with this mark; [`NO_FACE`] for the background.
fn place(mark: PremultipliedColorU8) -> u32 {
    u32::from_le_bytes([mark.red(), mark.green(), mark.blue(), 0])
}

/// The scene's pixels: RGB, 8 bits a channel.
pub fn pixels(scene: &Scene, marked: Option<Marked>) -> Vec<u8> {
    let row = scene.width as usize * 3;
    let mut pixels = vec![0; row * scene.height as usize];
    let (faces, marked) = match marked {
        Some(Marked { cells, bands }) => (cells, Some(bands)),
        None => (Cells::of(scene), None),
    };
    let inner = extents(scene, scene.inner_edges.len(), |i| &scene.inner_edges[i]);
    let outer = extents(scene, scene.outer_edges.len(), |i| &scene.outer_edges[i]);
    let segments = extents(scene, scene.segments.len(), |i| &scene.segments[i]);
    let interrupt = progress::watched();
    pixels
        .par_chunks_mut(row * BAND as usize)
        .enumerate()
        .for_each(|(number, pixels)| {
            if interrupt.as_ref().is_some_and(Interrupt::is_set) {
                return;
            }
            let band = Band::new(scene, number);
            let marked = marked.as_ref().map(|bands| &*bands[number]);
            let mut picture = band.draw_faces(&faces, number, marked);
            for (edges, extents, width, color) in [
                (&scene.inner_edges, &inner, scene.inner_width, EDGE),
                (&scene.outer_edges, &outer, scene.outer_width, EDGE),
                (&scene.segments, &segments, scene.segment_width, SEGMENT),
            ] {
                band.draw_edges(&mut picture, edges, extents, width, color);
            }
            let padded_rows = picture.pixels().chunks(picture.width() as usize);
            for (row, padded) in pixels
                .chunks_mut(row)
                .zip(padded_rows.skip(PADDING as usize))
            {
                for (rgb, pixel) in row.chunks_mut(3).zip(&padded[PADDING as usize..]) {
                    rgb.copy_from_slice(&[pixel.red(), pixel.green(), pixel.blue()]);
                }
            }
        });
    // Unwinds before a caller takes a skipped band for a drawn one.
    progress::unwind();
    pixels
}

/// The faces of each cell of the picture, ascending. A cell is [`COLUMNS`] of a band, or the whole band if one of its
/// faces is large: faces that tiny-skia draws need whole pixmaps.
struct Cells {
    /// Faces by band, and in a band by columns.
    faces: Partition<u32>,
    /// Cells of a band.
    columns: usize,
    /// Whether a band is one cell.
    is_whole: Vec<bool>,
}

/// Cells that a face touches or nearly touches.
#[derive(Clone, Copy)]
struct Touched {
    /// First and last band; the first is above the last for a face outside of the picture.
    bands: [u8; 2],
    columns: [u8; 2],
}

impl Cells {
    fn of(scene: &Scene) -> Cells {
        let bands = scene.height.div_ceil(BAND) as usize;
        let columns = (scene.width + 2 * PADDING).div_ceil(COLUMNS) as usize;
        let is_whole: Vec<AtomicBool> = (0..bands).map(|_| AtomicBool::new(false)).collect();
        let place = |from: f32, size: u32, count: usize| {
            ((from / size as f32).max(0.0) as usize).min(count - 1) as u8
        };
        let touched: Vec<Touched> = (0..scene.count())
            .into_par_iter()
            .map(|i| {
                let face = scene.face(i);
                let bounds = scene.bounds(face);
                if !scene.shows(bounds) {
                    return Touched {
                        bands: [1, 0],
                        columns: [0; 2],
                    };
                }
                let [least, most] =
                    [bounds[0] - LINE_REACH, bounds[1] + LINE_REACH].map(|p| p.to_array());
                let touched = Touched {
                    bands: [least, most].map(|p| place(p[1], BAND, bands)),
                    columns: [least, most].map(|p| place(p[0] + PADDING as f32, COLUMNS, columns)),
                };
                if !is_small(scene, face, bounds) {
                    let bands = usize::from(touched.bands[0])..=usize::from(touched.bands[1]);
                    is_whole[bands]
                        .iter()
                        .for_each(|is| is.store(true, Relaxed));
                }
                touched
            })
            .collect();
        let is_whole: Vec<bool> = is_whole.into_iter().map(AtomicBool::into_inner).collect();
        let faces = Partition::new(touched.len(), bands * columns, |i| {
            let Touched { bands, columns: of } = touched[i];
            let is_whole = &is_whole;
            (usize::from(bands[0])..=usize::from(bands[1])).flat_map(move |band| {
                let [first, last] = match is_whole[band] {
                    true => [0; 2],
                    false => of.map(usize::from),
                };
                (first..=last).map(move |column| (band * columns + column, i as u32))
            })
        });
        Cells {
            faces,
            columns,
            is_whole,
        }
    }

    /// Largest number of faces of a cell.
    fn largest(&self) -> usize {
        let ends = self.faces.starts.windows(2);
        ends.map(|ends| ends[1] - ends[0]).max().unwrap_or(0)
    }

    /// Cells of a band with `width` columns of pixels: the faces and the columns of each.
    fn in_band(&self, band: usize, width: u32) -> Vec<(&[u32], Range<u32>)> {
        let first = band * self.columns;
        if self.is_whole[band] {
            return vec![(self.faces.group(first), 0..width)];
        }
        let cell = |i: usize| {
            let left = i as u32 * COLUMNS;
            let columns = left..width.min(left + COLUMNS);
            (self.faces.group(first + i), columns)
        };
        (0..self.columns).map(cell).collect()
    }
}

/// Whether tiny-skia clips a face at no border of the bands that it touches.
fn is_small(scene: &Scene, face: &[u32], [least, most]: [Vec2; 2]) -> bool {
    // With a margin of one pixel on every side.
    let reach = PADDING as f32 - 1.0;
    let right = (fill::TILE / SAMPLES - 2 * PADDING).min(scene.width) as f32;
    (3..=fill::CORNERS).contains(&face.len())
        && most.y - least.y <= reach - LINE_REACH
        && least.x >= -reach
        && most.x <= right + reach
}

/// First and last row of each of `count` edges; an empty range for an edge outside of the picture.
fn extents<'a>(
    scene: &Scene,
    count: usize,
    vertices: impl Fn(usize) -> &'a [u32] + Sync,
) -> Vec<[f32; 2]> {
    (0..count)
        .into_par_iter()
        .map(|i| {
            let bounds = scene.bounds(vertices(i));
            if scene.shows(bounds) {
                [bounds[0].y, bounds[1].y]
            } else {
                [f32::INFINITY, f32::NEG_INFINITY]
            }
        })
        .collect()
}

/// [`BAND`] rows of the picture, drawn with [`PADDING`] around them.
struct Band<'a> {
    scene: &'a Scene<'a>,
    /// Number of the first of these rows.
    first: f32,
}

impl<'a> Band<'a> {
    fn new(scene: &'a Scene<'a>, number: usize) -> Band<'a> {
        Band {
            scene,
            first: (number as u32 * BAND) as f32,
        }
    }

    /// The edges with these extents that reach or nearly reach the rows.
    fn touched(&self, extents: &[[f32; 2]]) -> impl Iterator<Item = usize> {
        let least = self.first - LINE_REACH;
        let most = self.first + BAND as f32 + LINE_REACH;
        extents
            .iter()
            .enumerate()
            .filter(move |(_, [top, bottom])| *bottom >= least && *top <= most)
            .map(|(i, _)| i)
    }

    /// From the picture to a pixmap of the band.
    fn transform(&self, scale: u32) -> Transform {
        let padding = PADDING as f32;
        Transform::from_translate(padding, padding - self.first)
            .post_scale(scale as f32, scale as f32)
    }

    /// Draws the faces, or colours the faces that are `marked`.
    fn draw_faces(&self, faces: &Cells, number: usize, marked: Option<&[Pixmap]>) -> Pixmap {
        let width = self.scene.width + 2 * PADDING;
        let cells = faces.in_band(number, width);
        let mut picture = pixmap([width, BAND + 2 * PADDING]);
        let mut parts: Vec<Vec<&mut [PremultipliedColorU8]>> =
            cells.iter().map(|_| Vec::new()).collect();
        for mut row in picture.pixels_mut().chunks_mut(width as usize) {
            for ((_, columns), part) in cells.iter().zip(&mut parts) {
                let pixels = row.split_off_mut(..columns.len());
                part.push(pixels.expect("the cells' columns are those of the band"));
            }
        }
        let opaque =
            |&[r, g, b]: &Rgb| PremultipliedColorU8::from_rgba(r, g, b, 255).expect("opaque");
        let palette: Vec<PremultipliedColorU8> = self.scene.palette.iter().map(opaque).collect();
        let background = opaque(&BACKGROUND);
        let color_of = |face: u32| palette[usize::from(self.scene.classes[face as usize])];
        let cells = cells.into_par_iter().zip(parts).enumerate();
        cells.for_each(|(i, ((faces, columns), rows))| match marked {
            Some(marked) => average(rows, &marked[i], |mark| match place(mark) {
                NO_FACE => background,
                place => color_of(faces[place as usize]),
            }),
            None => {
                let drawn = self.draw_cell(faces, columns, |_, face| color_of(face));
                average(rows, &drawn, |color| color);
            }
        });
        picture
    }

    /// The samples of a cell. `color` gives the colour of each face by its id and its place in the list.
    fn draw_cell(
        &self,
        faces: &[u32],
        columns: Range<u32>,
        color: impl Fn(usize, u32) -> PremultipliedColorU8,
    ) -> Pixmap {
        let scene = self.scene;
        let mut filler = Filler::new(
            pixmap([columns.len() as u32, BAND + 2 * PADDING].map(|side| side * SAMPLES)),
            [columns.start, scene.width + 2 * PADDING].map(|column| column * SAMPLES),
            self.transform(SAMPLES),
        );
        // Reads the corners of several faces before filling the first: the branches of filling are unpredictable, and
        // faces and points are read in random order, so the reads overlap.
        let (mut vertices, mut ends) = (Vec::new(), Vec::new());
        let mut corners = Vec::new();
        for (block, faces) in faces.chunks(READ_AHEAD).enumerate() {
            vertices.clear();
            ends.clear();
            for &face in faces {
                vertices.extend_from_slice(scene.face(face as usize));
                ends.push(vertices.len());
            }
            corners.clear();
            corners.extend(vertices.iter().map(|&v| scene.points[v as usize]));
            let mut begin = 0;
            for (i, (&face, &end)) in faces.iter().zip(&ends).enumerate() {
                let corners = corners[begin..end].iter().copied();
                filler.fill(corners, color(block * READ_AHEAD + i, face));
                begin = end;
            }
        }
        filler.into_pixmap()
    }

    fn draw_edges(
        &self,
        picture: &mut Pixmap,
        edges: &[[u32; 2]],
        extents: &[[f32; 2]],
        width: f32,
        color: Rgb,
    ) {
        let stroke = Stroke {
            width,
            // A cap would be a darker pixel on a line narrower than a pixel.
            line_cap: if width <= 1.0 {
                LineCap::Butt
            } else {
                LineCap::Round
            },
            ..Stroke::default()
        };
        let paint = paint(color);
        let band = [
            Vec2::new(-CUT, self.first - CUT),
            Vec2::new(
                self.scene.width as f32 + CUT,
                self.first + BAND as f32 + CUT,
            ),
        ];
        // As one path, so that wide lines do not darken each other where they meet.
        let mut lines = PathBuilder::new();
        for i in self.touched(extents) {
            let ends = edges[i].map(|v| self.scene.points[v as usize]);
            if let Some([from, to]) = cut(ends, band) {
                lines.move_to(from.x, from.y);
                lines.line_to(to.x, to.y);
            }
        }
        if let Some(path) = lines.finish() {
            picture.stroke_path(&path, &paint, &stroke, self.transform(1), None);
        }
    }
}

fn pixmap([width, height]: [u32; 2]) -> Pixmap {
    let mut pixmap = Pixmap::new(width, height).expect("the scene limits its size");
    let [r, g, b] = BACKGROUND;
    pixmap.fill(Color::from_rgba8(r, g, b, 255));
    pixmap
}

/// Rows of pixels from the samples of their cell. `color` gives the colour of a sample.
fn average(
    rows: Vec<&mut [PremultipliedColorU8]>,
    cell: &Pixmap,
    color: impl Fn(PremultipliedColorU8) -> PremultipliedColorU8,
) {
    let total = (SAMPLES * SAMPLES) as u16;
    let width = cell.width() as usize;
    let samples = cell.pixels().chunks(width * SAMPLES as usize);
    for (row, samples) in rows.into_iter().zip(samples) {
        for (x, pixel) in row.iter_mut().enumerate() {
            let mut sum = [total / 2; 3];
            for samples in samples.chunks(width) {
                for &sample in &samples[x * SAMPLES as usize..][..SAMPLES as usize] {
                    let sample = color(sample);
                    sum[0] += u16::from(sample.red());
                    sum[1] += u16::from(sample.green());
                    sum[2] += u16::from(sample.blue());
                }
            }
            let [r, g, b] = sum.map(|channel| (channel / total) as u8);
            *pixel = PremultipliedColorU8::from_rgba(r, g, b, 255).expect("opaque");
        }
    }
}

/// Clips a line to a box (Liang and Barsky 1984).
fn cut([from, to]: [Vec2; 2], [least, most]: [Vec2; 2]) -> Option<[Vec2; 2]> {
    // Ends may lie far outside of a narrow window.
    let (start, step) = (from.as_dvec2(), to.as_dvec2() - from.as_dvec2());
    let (mut enter, mut leave) = (0.0f64, 1.0f64);
    for axis in 0..2 {
        let sides = [least[axis], most[axis]].map(|side| f64::from(side) - start[axis]);
        if step[axis] == 0.0 {
            if sides[0] > 0.0 || sides[1] < 0.0 {
                return None;
            }
        } else {
            let [a, b] = sides.map(|side| side / step[axis]);
            enter = enter.max(a.min(b));
            leave = leave.min(a.max(b));
        }
    }
    // Ends inside of the box are unchanged.
    let at = |share: f64| (start + step * share).as_vec2();
    let first = if enter > 0.0 { at(enter) } else { from };
    let last = if leave < 1.0 { at(leave) } else { to };
    (enter <= leave).then_some([first, last])
}

fn paint([r, g, b]: Rgb) -> Paint<'static> {
    Paint {
        shader: Shader::SolidColor(Color::from_rgba8(r, g, b, 255)),
        anti_alias: true,
        ..Paint::default()
    }
}
