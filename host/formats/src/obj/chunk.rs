//! The lines of a piece of an OBJ file.

use std::collections::BTreeMap;
use std::ops::Range;

use glam::{DVec2, DVec3};

use super::groups::{Mark, words};
use super::{LIBRARY, MARKER};
use crate::colors::Channels;
use crate::decimals::Decimals;
use crate::faces::FaceList;
use crate::off::parse_point;
use crate::text::{Fault, Line, Parsed, lines, parse_integer, show};
use trioxide_mesh::mesh::{NONE, Segment};

/// Numbers of `v`, `vt` and `vn` lines.
pub(super) type Counts = [usize; 3];

/// A piece of the file.
pub(super) struct Chunk {
    pub(super) range: Range<usize>,
    /// Lines before it: negative indices count back from here.
    pub(super) before: Counts,
}

/// The content of a piece.
#[derive(Default)]
pub(super) struct ChunkContent<'a> {
    pub(super) points: Vec<DVec3>,
    /// Of the coordinates.
    pub(super) decimals: Decimals,
    /// Colours of the points up to the last one that has one.
    pub(super) colors: Vec<Channels>,
    pub(super) uvs: Vec<DVec2>,
    pub(super) normals: Vec<DVec3>,
    pub(super) faces: FaceList,
    /// Texture coordinate and normal of every corner, [`NONE`] if it has none. Empty if no corner has any.
    pub(super) corners: Vec<[u32; 2]>,
    pub(super) segments: Vec<Segment>,
    /// Markers, each with the number of segments before it.
    pub(super) markers: Vec<(usize, i32)>,
    pub(super) marks: Vec<Mark>,
    pub(super) libraries: Vec<String>,
    pub(super) odd: Odd<'a>,
}

/// Numbers of lines and of their parts that a note names.
#[derive(Default)]
pub(super) struct Odd<'a> {
    /// Vertices with a weight that is not 1.
    weighted: usize,
    /// Vertices with a weight that divides nothing.
    unweighted: usize,
    /// Vertices with other numbers after their coordinates than a weight or a colour.
    overlong: usize,
    /// Texture coordinates of more than two numbers.
    deep: usize,
    /// Corners that name a texture coordinate, or a normal, that is not there.
    dangling: [usize; 2],
    /// Lines that join fewer than two vertices.
    short: usize,
    /// Lines by their keyword.
    skipped: BTreeMap<&'a [u8], usize>,
}

/// Of a vertex without a colour.
pub(super) const NO_COLOR: Channels = ([0.0; 4], 0);

/// Comment of ZBrush that holds colours of vertices.
const MRGB: &[u8] = b"#MRGB";

/// Most keywords in a note.
const MOST_KEYWORDS: usize = 10;

/// Reads a piece of a file that has these numbers of lines.
pub(super) fn parse_chunk<'a>(
    file: &'a [u8],
    chunk: &Chunk,
    counts: Counts,
) -> Parsed<ChunkContent<'a>> {
    let mut part = ChunkContent::default();
    for mut line in lines(file, chunk.range.clone(), true) {
        let offset = line.offset();
        match line.token() {
            Some(b"v") => part.push_vertex(line)?,
            Some(b"vt") => {
                let u = line.f64("u")?;
                let v = if line.is_finished() {
                    0.0
                } else {
                    line.f64("v")?
                };
                part.uvs.push(DVec2::new(u, v));
                if !line.is_finished() {
                    part.odd.deep += usize::from(line.f64("").is_ok_and(|w| w != 0.0));
                }
            }
            Some(b"vn") => part.normals.push(parse_point(&mut line)?),
            Some(b"f" | b"fo") => part.push_face(line, chunk, counts)?,
            Some(b"l") => part.push_line(line, chunk, counts)?,
            Some(LIBRARY) => part.libraries.push(words(line)),
            Some(keyword) => {
                let before = [part.faces.len(), part.segments.len()];
                match Mark::new(keyword, line.clone(), before) {
                    Some(mark) => part.marks.push(mark),
                    None => part.odd.skip(keyword, line),
                }
            }
            // ZBrush's colours.
            None if file[offset..].starts_with(MRGB) => part.odd.skip(MRGB, line),
            None => {
                let marker = file[offset..].strip_prefix(MARKER).and_then(parse_integer);
                let marker = marker.and_then(|(marker, _)| i32::try_from(marker).ok());
                let first = part.segments.len();
                part.markers.extend(marker.map(|marker| (first, marker)));
            }
        }
    }
    Ok(part)
}

impl<'a> Odd<'a> {
    fn skip(&mut self, keyword: &'a [u8], mut line: Line) {
        // Without a smoothing group faces are as they are here.
        let is_off = keyword == b"s" && matches!(line.token(), None | Some(b"off" | b"0"));
        if !is_off {
            *self.skipped.entry(keyword).or_default() += 1;
        }
    }
}

impl ChunkContent<'_> {
    fn push_vertex(&mut self, mut line: Line) -> Parsed<()> {
        let mut point = DVec3::ZERO;
        for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
            let before = line.clone();
            point[axis] = line.f64(name)?;
            self.decimals.add(line.since(&before));
        }
        if !line.is_finished() {
            self.take_rest(line, &mut point);
        }
        self.points.push(point);
        Ok(())
    }

    /// Takes the numbers after the coordinates of a vertex.
    fn take_rest(&mut self, mut line: Line, point: &mut DVec3) {
        let (mut numbers, mut count) = ([0.0; 4], 0);
        while !line.is_finished() {
            match (line.f64(""), numbers.get_mut(count)) {
                (Ok(value), Some(number)) => *number = value,
                _ => {
                    self.odd.overlong += 1;
                    return;
                }
            }
            count += 1;
        }
        match (count, numbers[0]) {
            (1, 1.0) => {}
            (1, weight) if weight == 0.0 || !weight.is_finite() => self.odd.unweighted += 1,
            (1, weight) => {
                *point /= weight;
                self.decimals.add_computed();
                self.odd.weighted += 1;
            }
            (3 | 4, _) => {
                self.colors.resize(self.points.len(), NO_COLOR);
                let channels = numbers.map(|number| number as f32);
                self.colors.push((channels, count as u8));
            }
            _ => self.odd.overlong += 1,
        }
    }

    /// Lines before this one.
    fn before(&self, chunk: &Chunk) -> Counts {
        let in_part = [self.points.len(), self.uvs.len(), self.normals.len()];
        std::array::from_fn(|i| chunk.before[i] + in_part[i])
    }

    fn push_face(&mut self, mut line: Line, chunk: &Chunk, counts: Counts) -> Parsed<()> {
        let (before, offset) = (self.before(chunk), line.offset());
        let first = self.faces.corners();
        while !line.is_finished() {
            let dangling = &mut self.odd.dangling;
            let [vertex, others @ ..] = parse_corner(&mut line, before, counts, dangling)?;
            if others != [NONE; 2] || !self.corners.is_empty() {
                self.corners.resize(self.faces.corners(), [NONE; 2]);
                self.corners.push(others);
            }
            self.faces.push_vertex(vertex);
        }
        let is_kept = (self.faces.finish_face()).map_err(|reason| Fault::new(offset, reason))?;
        if !is_kept {
            self.corners.truncate(first);
        }
        Ok(())
    }

    fn push_line(&mut self, mut line: Line, chunk: &Chunk, counts: Counts) -> Parsed<()> {
        let before = self.before(chunk);
        let first = self.segments.len();
        let mut from = NONE;
        while !line.is_finished() {
            let [to, ..] = parse_corner(&mut line, before, counts, &mut [0; 2])?;
            if from != NONE && from != to {
                let ends = [from, to];
                self.segments.push(Segment { ends, marker: 0 });
            }
            from = to;
        }
        self.odd.short += usize::from(self.segments.len() == first);
        Ok(())
    }
}

/// Returns vertex, texture coordinate and normal of a corner such as `7/1/3`. `before` of the `counts` lines precede
/// this one. A texture coordinate or a normal that does not exist is counted in `dangling`.
#[inline]
fn parse_corner(
    line: &mut Line,
    before: Counts,
    counts: Counts,
    dangling: &mut [usize; 2],
) -> Parsed<[u32; 3]> {
    let start = line.clone();
    if let Some(numbers) = line.short_corner()
        && (numbers.iter().zip(counts)).all(|(&number, count)| number as usize <= count)
    {
        // A number that is missing is 0, and becomes `NONE`.
        return Ok(numbers.map(|number| number.wrapping_sub(1)));
    }
    *line = start;
    parse_joined(line, before, counts, dangling)
}

/// As [`parse_corner`], for any corner.
fn parse_joined(
    line: &mut Line,
    before: Counts,
    counts: Counts,
    dangling: &mut [usize; 2],
) -> Parsed<[u32; 3]> {
    const NAMES: [&str; 3] = ["vertex", "texture coordinate", "normal"];
    let offset = line.offset();
    let token = line.token().unwrap_or_default();
    let fault = |reason| Fault::new(offset, reason);
    let mut corner = [NONE; 3];
    let mut rest = token;
    for (i, name) in NAMES.iter().enumerate() {
        // Texture coordinate or normal may be missing.
        if i == 0 || !matches!(rest.first(), None | Some(b'/')) {
            let index = match parse_integer(rest) {
                Some((index, length)) if matches!(rest.get(length), None | Some(b'/')) => {
                    rest = &rest[length..];
                    index
                }
                _ => {
                    let token = show(token);
                    return Err(fault(format!("expected a {name} index, found `{token}`")));
                }
            };
            let at = match index < 0 {
                true => before[i] as i64 + index,
                false => index - 1,
            };
            match u32::try_from(at)
                .ok()
                .filter(|&at| (at as usize) < counts[i])
            {
                Some(at) => corner[i] = at,
                None if i > 0 => dangling[i - 1] += 1,
                None => {
                    let rule = match index < 0 {
                        true => format!("{} vertices stand before this line", before[0]),
                        false => format!("{} vertices are numbered from 1", counts[0]),
                    };
                    return Err(fault(format!("vertex {index} does not exist: {rule}")));
                }
            }
        }
        match rest.split_first() {
            Some((b'/', behind)) if i < 2 => rest = behind,
            Some(_) => {
                let token = show(token);
                return Err(fault(format!(
                    "expected at most 3 indices, found `{token}`"
                )));
            }
            None => break,
        }
    }
    Ok(corner)
}

impl Odd<'_> {
    /// Returns the notes on all pieces.
    pub(super) fn notes<'a>(parts: impl Iterator<Item = &'a Odd<'a>>) -> Vec<String> {
        let mut all = Odd::default();
        for part in parts {
            all.weighted += part.weighted;
            all.unweighted += part.unweighted;
            all.overlong += part.overlong;
            all.deep += part.deep;
            all.short += part.short;
            for (sum, count) in all.dangling.iter_mut().zip(part.dangling) {
                *sum += count;
            }
            for (keyword, count) in &part.skipped {
                *all.skipped.entry(keyword).or_default() += count;
            }
        }
        let left_out = [
            (all.unweighted, "weights of 0 or infinity"),
            (
                all.overlong,
                "numbers after coordinates that are neither a weight nor a colour",
            ),
            (all.deep, "third numbers of texture coordinates"),
            (
                all.dangling[0],
                "texture coordinates that corners name and that do not exist",
            ),
            (
                all.dangling[1],
                "normals that corners name and that do not exist",
            ),
            (all.short, "lines `l` that join fewer than 2 vertices"),
        ];
        let left_out = left_out.into_iter().filter(|(count, _)| *count > 0);
        let mut left_out: Vec<String> = left_out
            .map(|(count, what)| format!("{what} ({count})"))
            .collect();
        let skipped = all.skipped.iter().take(MOST_KEYWORDS);
        left_out
            .extend(skipped.map(|(keyword, count)| format!("lines `{}` ({count})", show(keyword))));
        if all.skipped.len() > MOST_KEYWORDS {
            left_out.push(format!(
                "lines of {} other keywords",
                all.skipped.len() - MOST_KEYWORDS
            ));
        }
        let mut notes = Vec::new();
        if all.weighted > 0 {
            notes.push(format!(
                "weights divide the coordinates of vertices: {}",
                all.weighted
            ));
        }
        if !left_out.is_empty() {
            notes.push(format!("left out: {}", left_out.join(", ")));
        }
        notes
    }
}
