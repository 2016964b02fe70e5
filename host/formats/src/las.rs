//! LiDAR points: `.las`, and `.laz`, which is compressed.
//!
//! <https://www.asprs.org/divisions-committees/lidar-division/laser-las-file-format-exchange-activities>, by the `las`
//! and `laz` crates. This module locates and checks records and chunks of compressed records, so that a damaged file is
//! an error and no huge allocation, and decodes them in parallel. It reads positions and colours, of any version and
//! point format. Colours have 16 bits in the file; the upper 8 are kept, or the lower 8 if all colours fit them.
//! Classes, intensities, returns, times and the rest of a record are fields with laspy's names, unless all points have
//! the default value. Notes report an omitted coordinate system, waveforms and extra bytes. It writes the lowest point
//! format that holds the fields: version 1.2 with the formats 0 to 3, or 1.4 with 6 to 8 or if a return's number is
//! above 5.
//!
//! A coordinate is a whole number of units, 32 bits wide. A mesh is written in the coarsest decimal unit that holds its
//! coordinates exactly, to the bit, or else in the finest unit in which they fit.

use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

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
use trioxide_mesh::mesh::Mesh;
use trioxide_mesh::{Error, Result, parallel, progress};

mod write;

pub(crate) use write::{lost_fields, retyped, rounding, write};

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
    let layout = Layout::new(&header)?;
    let mut cloud = Cloud::new(&layout);
    let notes = notes(file, &header, &layout);
    let loaded = |cloud: Cloud| Loaded {
        mesh: cloud.into_mesh(&layout),
        notes,
    };
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
        return Ok(loaded(cloud));
    }
    let chunks = Chunks::new(file, &header, &layout)?;
    // The decompressor may panic on a damaged file.
    let result = catch_unwind(AssertUnwindSafe(|| chunks.decompress(&layout, &mut cloud)));
    progress::unwind();
    result.unwrap_or_else(|_| Err("the file is damaged: its points cannot be decoded".into()))?;
    Ok(loaded(cloud))
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
}

impl Layout {
    fn new(header: &raw::Header) -> Result<Layout, String> {
        let format = Format::new(header.point_data_record_format).map_err(damaged)?;
        let size = usize::from(header.point_data_record_length);
        if size < usize::from(format.len()) {
            return Err(format!(
                "the file is damaged: points of {size} bytes are announced, but theirs take {}",
                format.len()
            ));
        }
        // The larger number is for files with more points than 32 bits can count.
        let count = match (header.number_of_point_records, &header.large_file) {
            (0, Some(large)) => large.number_of_point_records,
            (count, _) => u64::from(count),
        };
        let transform = |scale, offset| Transform { scale, offset };
        Ok(Layout {
            transforms: Vector {
                x: transform(header.x_scale_factor, header.x_offset),
                y: transform(header.y_scale_factor, header.y_offset),
                z: transform(header.z_scale_factor, header.z_offset),
            },
            count,
            start: header.offset_to_point_data as usize,
            size,
            color: format.has_color.then(|| color_offset(&format)),
            format,
        })
    }
}

/// The compressed points of a file.
struct Chunks<'a> {
    vlr: LazVlr,
    /// Points and bytes of each chunk. The bytes are checked to exist.
    table: Vec<ChunkTableEntry>,
    bytes: &'a [u8],
}

impl<'a> Chunks<'a> {
    fn new(file: &'a [u8], header: &raw::Header, layout: &Layout) -> Result<Chunks<'a>, String> {
        let vlr = find_vlr(file, header, LazVlr::USER_ID, Some(LazVlr::RECORD_ID))
            .ok_or("the file is damaged: it does not say how it is compressed")?;
        let vlr = LazVlr::from_buffer(vlr).map_err(damaged)?;
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
        for entry in table.as_ref() {
            let mut entry = *entry;
            if !vlr.uses_variable_size_chunks() {
                entry.point_count = entry.point_count.min(points_left);
            }
            let is_fine = entry.point_count <= points_left
                && entry.point_count <= LARGEST_CHUNK / layout.size as u64
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

/// Notes on parts of the file that are not read.
fn notes(file: &[u8], header: &raw::Header, layout: &Layout) -> Vec<String> {
    let mut notes = Vec::new();
    if find_vlr(file, header, "LASF_Projection", None).is_some() {
        notes.push("its coordinate system is left out".to_owned());
    }
    if layout.format.has_waveform {
        notes.push("the waveforms of its points are left out".to_owned());
    }
    match layout.size - usize::from(layout.format.len()) {
        0 => {}
        extra => notes.push(format!("{extra} extra bytes of each point are left out")),
    }
    notes
}

/// The first record after the header with that user, and with that id if one is given.
fn find_vlr<'a>(
    file: &'a [u8],
    header: &raw::Header,
    user: &str,
    wanted: Option<u16>,
) -> Option<&'a [u8]> {
    let mut left = file.get(usize::from(header.header_size)..)?;
    for _ in 0..header.number_of_variable_length_records {
        let (head, behind) = left.split_first_chunk::<54>()?;
        let length = usize::from(u16::from_le_bytes([head[20], head[21]]));
        let record = behind.get(..length)?;
        let id = u16::from_le_bytes([head[18], head[19]]);
        if head[2..].starts_with(user.as_bytes()) && wanted.is_none_or(|wanted| wanted == id) {
            return Some(record);
        }
        left = &behind[length..];
    }
    None
}

/// Points during reading.
struct Cloud {
    points: Vec<DVec3>,
    colors: Vec<[u16; 3]>,
    columns: Columns,
}

impl Cloud {
    fn new(layout: &Layout) -> Cloud {
        Cloud {
            points: Vec::new(),
            colors: Vec::new(),
            columns: Columns::new(&layout.format),
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
        mesh.fields.points = self.columns.into_fields();
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
