//! LiDAR points: `.las`, and `.laz`, which is compressed.
//!
//! <https://www.asprs.org/divisions-committees/lidar-division/laser-las-file-format-exchange-activities>, by the `las`
//! and `laz` crates. This module locates and checks records and chunks of compressed records, so that a damaged file is
//! an error and no huge allocation, and decodes them in parallel. It reads positions and colours, of any version and
//! point format. Colours have 16 bits in the file; the upper 8 are kept, or the lower 8 if all colours fit them.
//! Classes, intensities, returns, times and the rest of a record are fields with laspy's names, unless all points have
//! the default value, and so are extra bytes that the file describes ([`extra`]). The unit, the coordinate system and
//! other records are data of the mesh as a whole ([`records`]). Notes report waveforms and other extra bytes. It writes
//! the lowest point format that holds the fields: version 1.2 with the formats 0 to 3, or 1.4 with 6 to 8, and with
//! others if a return's number is above 5, the coordinate system is WKT or a record is after the points. Fields that no
//! point format has become extra bytes, and normals too.
//!
//! A coordinate is a whole number of units, 32 bits wide. A mesh is written in the unit of its file: positions that an
//! operation computed are rounded to it, with a note. Without such a unit it is written in the coarsest decimal unit
//! that holds its coordinates, or else in the finest unit in which they fit ([`units`]).

use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use glam::DVec3;
use las::point::Format;
use las::raw;
use las::{Transform, Vector};
use laz::LazVlr;
use laz::laszip::{ChunkTable, ChunkTableEntry};
use laz::record::{
    LayeredPointRecordDecompressor, RecordDecompressor, SequentialPointRecordDecompressor,
};

use super::las_fields::{Columns, color_offset};
use super::{Loaded, map_file};
use extra::ExtraColumns;
use records::Record;
use trioxide_mesh::about::{About, Unit};
use trioxide_mesh::mesh::Mesh;
use trioxide_mesh::{Error, Result, parallel, progress};

pub(crate) mod extra;
mod records;
#[cfg(test)]
mod tests;
mod units;
mod write;

pub(crate) use records::is_description;
pub(crate) use write::{lost_fields, renamed, retyped, rounding, write};

/// Points that are decompressed or written at once.
const BATCH: usize = if cfg!(test) { 100 } else { 1 << 20 };
/// Most bytes of a decompressed chunk; usual ones have 2 MB.
const LARGEST_CHUNK: u64 = 1 << 30;
/// Most decompressed bytes per compressed byte, as stated by the table of chunks, for a chunk whose memory is allocated
/// at once. Points are compressed 5 to 20 times.
const USUAL_GROWTH: u64 = 256;

pub(crate) fn read(path: &Path) -> Result<Loaded> {
    let file = map_file(path)?;
    parse(&file).map_err(|reason| Error::format(path, reason))
}

pub(crate) fn parse(file: &[u8]) -> Result<Loaded, String> {
    if !file.starts_with(b"LASF") {
        return Err("this is no LAS file: it does not begin with LASF".into());
    }
    let header = raw::Header::read_from(file).map_err(damaged)?;
    let layout = Layout::new(&header, file)?;
    let (records, missing) = records::read(file, &header);
    let descriptions = records
        .iter()
        .find(|record| record.is_of_specification(records::EXTRA_BYTES));
    let descriptions = descriptions.map_or(&[][..], |record| record.data);
    let own = usize::from(layout.format.len());
    let extra = ExtraColumns::new(descriptions, own, layout.size);
    let mut notes = notes(&header, &layout, missing, extra.unknown);
    let mut cloud = Cloud::new(&layout, extra);
    if !layout.format.is_compressed {
        let bytes = layout.count.checked_mul(layout.size as u64);
        let left = file.get(layout.start..).unwrap_or_default();
        match bytes {
            Some(bytes) if bytes <= left.len() as u64 => {
                cloud.append(&left[..bytes as usize], &layout)
            }
            _ => {
                return Err(format!(
                    "{} points of {} bytes are announced, but {} bytes follow the header",
                    layout.count,
                    layout.size,
                    left.len()
                ));
            }
        }
    } else {
        let chunks = Chunks::new(file, &records, &layout)?;
        notes.extend(chunks.note(&layout));
        // The decompressor may panic on a damaged file.
        let result = catch_unwind(AssertUnwindSafe(|| chunks.decompress(&layout, &mut cloud)));
        progress::unwind();
        result
            .unwrap_or_else(|_| Err("the file is damaged: its points cannot be decoded".into()))?;
    }
    let mut mesh = cloud.into_mesh(&layout);
    mesh.about = Arc::new(About {
        unit: layout.unit(),
        las: Some(records::about(&header, records)),
        ..About::default()
    });
    Ok(Loaded { mesh, notes })
}

fn damaged(error: impl std::fmt::Display) -> String {
    format!("the file is damaged: {error}")
}

/// The content of a record, and its place.
struct Layout {
    format: Format,
    transforms: Vector<Transform>,
    /// Number of points.
    count: u64,
    /// Offset of the points in the file.
    start: usize,
    /// Bytes of a record.
    size: usize,
    /// Offset of the colour in a record.
    color: Option<usize>,
    /// Number of points that fit between the start of the points and the data after them; unknown if they are
    /// compressed.
    room: Option<u64>,
}

impl Layout {
    fn new(header: &raw::Header, file: &[u8]) -> Result<Layout, String> {
        let format = Format::new(header.point_data_record_format).map_err(damaged)?;
        let size = usize::from(header.point_data_record_length);
        if size < usize::from(format.len()) {
            return Err(format!(
                "the file is damaged: points of {size} bytes are announced, but theirs take {}",
                format.len()
            ));
        }
        let start = header.offset_to_point_data as usize;
        let after_points = [
            header.evlr.map(|evlr| evlr.start_of_first_evlr),
            header.start_of_waveform_data_packet_record,
        ];
        let after_points = after_points.into_iter().flatten();
        let end = after_points.filter(|&at| at > start as u64).min();
        let end = end.map_or(file.len() as u64, |end| end.min(file.len() as u64));
        let room = end.saturating_sub(start as u64) / size as u64;
        let room = (!format.is_compressed).then_some(room);
        // The older count has 32 bits. It is 0 in files with more points, and in files that only newer programs read.
        let old = u64::from(header.number_of_point_records);
        let count = match header.large_file.map(|large| large.number_of_point_records) {
            Some(new) if new > 0 && (old == 0 || format.is_extended || room == Some(new)) => new,
            _ => old,
        };
        let transform = |axis, scale: f64, offset: f64| {
            if !scale.is_finite() || !offset.is_finite() {
                return Err(format!(
                    "the file is damaged: the scale of {axis} in its header is {scale}, and the offset {offset}"
                ));
            }
            Ok(Transform { scale, offset })
        };
        Ok(Layout {
            transforms: Vector {
                x: transform("x", header.x_scale_factor, header.x_offset)?,
                y: transform("y", header.y_scale_factor, header.y_offset)?,
                z: transform("z", header.z_scale_factor, header.z_offset)?,
            },
            count,
            start,
            room,
            size,
            color: format.has_color.then(|| color_offset(&format)),
            format,
        })
    }

    /// The unit of the coordinates; none where all points have one coordinate.
    fn unit(&self) -> Option<Unit> {
        let axes = [self.transforms.x, self.transforms.y, self.transforms.z];
        let unit = Unit {
            scale: axes.map(|axis| axis.scale),
            offset: axes.map(|axis| axis.offset),
        };
        unit.scale.iter().all(|&scale| scale != 0.0).then_some(unit)
    }
}

/// The compressed points of a file.
struct Chunks<'a> {
    vlr: LazVlr,
    /// Points and bytes of each chunk. The bytes are checked to exist.
    table: Vec<ChunkTableEntry>,
    bytes: &'a [u8],
    /// Most points that the header does not count.
    left_out: u64,
}

impl<'a> Chunks<'a> {
    fn new(file: &'a [u8], records: &[Record], layout: &Layout) -> Result<Chunks<'a>, String> {
        let is_its = |r: &&Record| r.user == LazVlr::USER_ID && r.id == LazVlr::RECORD_ID;
        let vlr = records
            .iter()
            .find(is_its)
            .ok_or("the file is damaged: it does not say how it is compressed")?;
        let vlr = LazVlr::from_buffer(vlr.data).map_err(damaged)?;
        if vlr.items_size() != layout.size as u64 {
            return Err(format!(
                "the file is damaged: points of {} bytes are compressed as {}",
                layout.size,
                vlr.items_size()
            ));
        }
        let cut = || "the file is damaged: it ends before its table of chunks".to_owned();
        let integer = |at: Option<usize>| {
            let bytes = file.get(at?..)?.first_chunk()?;
            usize::try_from(i64::from_le_bytes(*bytes)).ok()
        };
        // The table's offset, as the decompressor finds it: after the header, or, if that was not written, at the end.
        let after_header = integer(Some(layout.start)).filter(|at| *at > layout.start);
        let at_end = || integer(file.len().checked_sub(8));
        let start = after_header.or_else(at_end).ok_or_else(cut)?;
        let count = file
            .get(start..)
            .and_then(|table| table.get(4..8))
            .ok_or_else(cut)?;
        let count = u32::from_le_bytes(count.try_into().expect("four bytes"));
        // A chunk begins with an uncompressed point.
        let bytes = file.get(layout.start + 8..start).ok_or_else(cut)?;
        if u64::from(count) * layout.size as u64 > bytes.len() as u64 {
            return Err(format!(
                "the file is damaged: it is too short for {count} chunks"
            ));
        }
        let mut from_points = Cursor::new(file);
        from_points.set_position(layout.start as u64);
        let table = ChunkTable::read_from(from_points, &vlr).map_err(damaged)?;

        let mut chunks = Vec::with_capacity(table.len());
        let (mut points_left, mut bytes_left) = (layout.count, bytes.len() as u64);
        let mut left_out = 0u64;
        for entry in table.as_ref() {
            let mut entry = *entry;
            // The last chunk of a fixed size may have fewer points.
            let is_exact = vlr.uses_variable_size_chunks() || points_left == 0;
            let beyond = entry.point_count.saturating_sub(points_left);
            if is_exact && entry.byte_count > 0 {
                left_out = left_out.saturating_add(beyond);
            }
            entry.point_count -= beyond;
            let is_fine = entry.point_count <= LARGEST_CHUNK / layout.size as u64
                && entry.byte_count <= bytes_left;
            if !is_fine {
                return Err(format!(
                    "the file is damaged: a chunk of {} points in {} bytes is too large",
                    entry.point_count, entry.byte_count
                ));
            }
            points_left -= entry.point_count;
            bytes_left -= entry.byte_count;
            chunks.push(entry);
        }
        if points_left > 0 {
            return Err(format!(
                "the file is damaged: {points_left} points are missing"
            ));
        }
        Ok(Chunks {
            vlr,
            table: chunks,
            bytes,
            left_out,
        })
    }

    /// The note on points that the header does not count.
    fn note(&self, layout: &Layout) -> Option<String> {
        (self.left_out > 0).then(|| {
            format!(
                "its header counts {} points, and its chunks have up to {} more: they are left out",
                layout.count, self.left_out
            )
        })
    }

    fn decompress(&self, layout: &Layout, cloud: &mut Cloud) -> Result<(), String> {
        let (mut table, mut bytes) = (&self.table[..], self.bytes);
        let mut records = Vec::new();
        let all = table.iter().map(|entry| entry.point_count).sum();
        let counted = progress::count("%", all);
        while let Some(first) = table.first() {
            if is_unusual(first, layout.size) {
                let (chunk, others) = bytes.split_at(first.byte_count as usize);
                self.decompress_unusual(chunk, first.point_count as usize, layout, cloud)?;
                counted.advance(first.point_count);
                (table, bytes) = (&table[1..], others);
                continue;
            }
            let (mut chunks, mut points, mut length) = (0, 0, 0);
            for entry in table {
                if points >= BATCH || is_unusual(entry, layout.size) {
                    break;
                }
                chunks += 1;
                points += entry.point_count as usize;
                length += entry.byte_count as usize;
            }
            let (batch, rest) = table.split_at(chunks);
            let (compressed, others) = bytes.split_at(length);
            records.resize(points * layout.size, 0);
            laz::par_decompress(compressed, &mut records, &self.vlr, batch).map_err(damaged)?;
            cloud.append(&records, layout);
            counted.advance(points as u64);
            (table, bytes) = (rest, others);
        }
        Ok(())
    }

    /// Decompresses a chunk of unusual growth in small steps: if the table is wrong, the chunk ends soon, and no memory
    /// was allocated for missing points.
    fn decompress_unusual(
        &self,
        chunk: &[u8],
        points: usize,
        layout: &Layout,
        cloud: &mut Cloud,
    ) -> Result<(), String> {
        let (items, source) = (self.vlr.items(), Cursor::new(chunk));
        let is_layered = items.first().is_some_and(|item| item.version() > 2);
        let mut decompressor: Box<dyn RecordDecompressor<_>> = match is_layered {
            true => Box::new(LayeredPointRecordDecompressor::new(source)),
            false => Box::new(SequentialPointRecordDecompressor::new(source)),
        };
        decompressor.set_fields_from(items).map_err(damaged)?;
        let mut records = Vec::new();
        for first in (0..points).step_by(BATCH / 16) {
            records.resize((points - first).min(BATCH / 16) * layout.size, 0);
            for record in records.chunks_exact_mut(layout.size) {
                decompressor.decompress_next(record).map_err(damaged)?;
            }
            cloud.append(&records, layout);
        }
        Ok(())
    }
}

/// Whether a chunk's stated size is far larger than its bytes, for records of `size` bytes.
fn is_unusual(chunk: &ChunkTableEntry, size: usize) -> bool {
    chunk.point_count * size as u64 > chunk.byte_count.saturating_mul(USUAL_GROWTH)
}

/// Notes on parts of the file that are not read, and on numbers that contradict each other. `missing` records are not
/// there, and `unknown` bytes of each point have no description.
fn notes(header: &raw::Header, layout: &Layout, missing: u64, unknown: usize) -> Vec<String> {
    let mut notes = Vec::new();
    let counts = [
        u64::from(header.number_of_point_records),
        header
            .large_file
            .map_or(0, |large| large.number_of_point_records),
    ];
    if counts[0] != counts[1] && !counts.contains(&0) {
        notes.push(format!(
            "its header has two numbers of points, {} and {}: {} are read",
            counts[0], counts[1], layout.count
        ));
    }
    if let Some(room) = layout.room.filter(|&room| room > layout.count) {
        notes.push(format!(
            "its header counts {} points, and {room} are there: the last {} are left out",
            layout.count,
            room - layout.count
        ));
    }
    let axes = [
        layout.transforms.x,
        layout.transforms.y,
        layout.transforms.z,
    ];
    for (axis, name) in axes.iter().zip(["x", "y", "z"]) {
        if axis.scale == 0.0 && layout.count > 0 {
            notes.push(format!(
                "the scale of {name} in its header is 0: all points have {name} = {}",
                axis.offset
            ));
        }
    }
    if missing > 0 {
        let (are, they) = match missing {
            1 => ("record is", "it is"),
            _ => ("records are", "they are"),
        };
        notes.push(format!(
            "{missing} variable length {are} cut off: {they} left out"
        ));
    }
    if layout.format.has_waveform {
        notes.push("the waveforms of its points are left out".to_owned());
    }
    if unknown > 0 {
        notes.push(format!(
            "{unknown} extra bytes of each point have no description: they are left out"
        ));
    }
    notes
}

/// Points during reading.
struct Cloud {
    points: Vec<DVec3>,
    colors: Vec<[u16; 3]>,
    columns: Columns,
}

impl Cloud {
    fn new(layout: &Layout, extra: ExtraColumns) -> Cloud {
        Cloud {
            points: Vec::new(),
            colors: Vec::new(),
            columns: Columns::new(&layout.format, extra),
        }
    }

    /// Appends records, which begin with the coordinates: three integers of 32 bits.
    fn append(&mut self, records: &[u8], layout: &Layout) {
        let Vector { x, y, z } = layout.transforms;
        parallel::append_chunks(&mut self.points, records, layout.size, |record| {
            let units = record[..12].as_chunks::<4>().0;
            let unit = |i: usize| i32::from_le_bytes(units[i]);
            DVec3::new(x.direct(unit(0)), y.direct(unit(1)), z.direct(unit(2)))
        });
        if let Some(at) = layout.color {
            parallel::append_chunks(&mut self.colors, records, layout.size, |record| {
                let channels = record[at..at + 6].as_chunks::<2>().0;
                std::array::from_fn(|i| u16::from_le_bytes(channels[i]))
            });
        }
        self.columns.append(records, layout.size);
    }

    fn into_mesh(self, layout: &Layout) -> Mesh {
        let mut mesh = Mesh {
            points: self.points,
            ..Mesh::default()
        };
        self.columns.put(&mut mesh);
        if layout.format.has_color {
            let is_short = parallel::all(&self.colors, |rgb| rgb.iter().all(|&c| c <= 255));
            let shift = if is_short { 0 } else { 8 };
            let color = |rgb: &[u16; 3]| {
                let [r, g, b] = rgb.map(|channel| (channel >> shift) as u8);
                [r, g, b, u8::MAX]
            };
            mesh.attributes.colors = Some(parallel::map(&self.colors, color));
        }
        mesh
    }
}
