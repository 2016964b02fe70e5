//! LiDAR points: `.las`, and `.laz`, which is compressed.
//!
//! <https://www.asprs.org/divisions-committees/lidar-division/laser-las-file-format-exchange-activities>, by the `las` and
//! `laz` crates. Records, and chunks of compressed ones, are found and checked here, so that a damaged file is an error and no
//! huge allocation, and are taken apart in parallel. Read are positions and colours, of any version and point format; colours have 16 bits in the file, of which 8 are
//! kept, the upper ones unless all colours have the lower ones only. Classes, intensities, returns, times and the rest of a
//! record are fields by laspy's names, where one of them is not what a point has that says nothing; of the coordinate system,
//! waveforms and extra bytes a note says that they are left out. Written is the lowest point format that holds the fields:
//! version 1.2 with the formats 0 to 3, or 1.4 with 6 to 8 or where a return's number is above 5.
//!
//! A coordinate is a whole number of units, 32 bits wide. A mesh is written in the coarsest decimal unit that holds its
//! coordinates exactly, to the bit, and where none does, in the finest one in which they fit.

use std::io::{self, BufWriter, Cursor, Seek, SeekFrom, Write};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use glam::DVec3;
use las::point::Format;
use las::raw;
use las::{Builder, PointDataBuilder, Transform, Vector, Writer};
use laz::LazVlr;
use laz::laszip::{ChunkTable, ChunkTableEntry};
use rayon::prelude::*;

use super::atomic_file::AtomicFile;
use super::las_fields::{Columns, Plan, color_offset};
use super::{Loaded, map_file};
use trioxide_mesh::mesh::Mesh;
use trioxide_mesh::{Error, Result, progress};

/// Points decompressed or written at once.
const BATCH: usize = if cfg!(test) { 100 } else { 1 << 20 };
/// Bytes that a chunk of compressed points may become; usual ones become 2 MB.
const LARGEST_CHUNK: u64 = 1 << 30;

pub(crate) fn read(path: &Path) -> Result<Loaded> {
    let file = map_file(path)?;
    parse(&file).map_err(|reason| Error::Format {
        path: path.to_owned(),
        reason,
    })
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
    result.unwrap_or_else(|_| Err("the file is damaged: its points cannot be decoded".into()))?;
    Ok(loaded(cloud))
}

fn damaged(error: impl std::fmt::Display) -> String {
    format!("the file is damaged: {error}")
}

/// What a record holds, and where.
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
        // The larger number is for files with more points than 32 bits count.
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
    /// Points and bytes of each chunk, checked: the bytes are there.
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
        // As the decompressor finds it: behind the header, or, where that was not written, at the end.
        let after_header = integer(Some(layout.start)).filter(|at| *at > layout.start);
        let at_end = || integer(file.len().checked_sub(8));
        let start = after_header.or_else(at_end).ok_or_else(cut)?;
        let count = file
            .get(start..)
            .and_then(|table| table.get(4..8))
            .ok_or_else(cut)?;
        let count = u32::from_le_bytes(count.try_into().expect("four bytes"));
        // A chunk begins with a point as it is.
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
        while !table.is_empty() {
            let (mut chunks, mut points, mut length) = (0, 0, 0);
            for entry in table {
                if points >= BATCH {
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
}

/// What of the file is not read.
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

/// The first record behind the header of that user, and of that id if one is asked for.
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

/// Points as they are read.
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

    /// Every record begins with its coordinates, three integers of 32 bits.
    fn append(&mut self, records: &[u8], layout: &Layout) {
        let Vector { x, y, z } = layout.transforms;
        let rows = records.par_chunks_exact(layout.size);
        self.points.par_extend(rows.clone().map(|record| {
            let units = record[..12].as_chunks::<4>().0;
            let unit = |i: usize| i32::from_le_bytes(units[i]);
            DVec3::new(x.direct(unit(0)), y.direct(unit(1)), z.direct(unit(2)))
        }));
        if let Some(at) = layout.color {
            self.colors.par_extend(rows.map(|record| {
                let channels = record[at..at + 6].as_chunks::<2>().0;
                std::array::from_fn(|i| u16::from_le_bytes(channels[i]))
            }));
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
            let is_short = self
                .colors
                .par_iter()
                .flatten()
                .all(|channel| *channel <= 255);
            let shift = if is_short { 0 } else { 8 };
            let color = |rgb: &[u16; 3]| {
                let [r, g, b] = rgb.map(|channel| (channel >> shift) as u8);
                [r, g, b, u8::MAX]
            };
            mesh.attributes.colors = Some(self.colors.par_iter().map(color).collect());
        }
        mesh
    }
}

pub(crate) fn write(path: &Path, mesh: &Mesh) -> Result<()> {
    let extension = path.extension().unwrap_or_default();
    let is_compressed = extension.eq_ignore_ascii_case("laz");
    let error = |reason: String| Error::Format {
        path: path.to_owned(),
        reason,
    };
    if let Some(i) = mesh.points.par_iter().position_first(|p| !p.is_finite()) {
        return Err(error(format!(
            "vertex {i} has a coordinate that is not finite, which the format does not hold"
        )));
    }
    let transforms = Units::of(&mesh.points).transforms();
    let colors = mesh.attributes.colors.as_ref();
    let file = AtomicFile::create(path)?;
    let plan = Plan::of(mesh);
    let format = Format::new(plan.format).map_err(|source| error(source.to_string()))?;
    let record_of = |format: Format, range: Range<usize>| {
        let size = usize::from(format.len());
        let mut bytes = vec![0; size * range.len()];
        let records = bytes.par_chunks_exact_mut(size).zip(range);
        records.for_each(|(record, i)| {
            let point = mesh.points[i].to_array();
            let axes = [transforms.x, transforms.y, transforms.z];
            for (axis, at) in axes.iter().zip([0, 4, 8]) {
                let unit = unit_of(point[at / 4], axis);
                record[at..at + 4].copy_from_slice(&unit.to_le_bytes());
            }
            plan.fill(record, i);
            if let Some(colors) = colors {
                let at = color_offset(&format);
                let channels = record[at..at + 6].as_chunks_mut::<2>().0;
                for (channel, value) in channels.iter_mut().zip(colors[i]) {
                    *channel = (u16::from(value) * 257).to_le_bytes();
                }
            }
        });
        bytes
    };
    let fault = Fault::default();
    let sink = Sink {
        file,
        fault: fault.clone(),
        position: 0,
    };
    let write_all = || -> las::Result<Sink> {
        let mut builder = Builder::from(plan.version());
        builder.point_format = format;
        builder.point_format.is_compressed = is_compressed;
        builder.transforms = transforms;
        builder.generating_software = "trioxide".into();
        builder.system_identifier = String::new();
        builder.date = None;
        let header = builder.into_header()?;
        let mut writer = Writer::new(BufWriter::with_capacity(1 << 20, sink), header)?;
        let counted = progress::count("%", mesh.points.len() as u64);
        for first in (0..mesh.points.len()).step_by(BATCH) {
            if fault.is_set() {
                break;
            }
            let range = first..mesh.points.len().min(first + BATCH);
            let block = PointDataBuilder::new()
                .for_header(writer.header())
                .build_from_bytes(record_of(format, range))?;
            writer.write_points(&block)?;
            counted.advance(BATCH as u64);
        }
        let sink = writer.into_inner()?.into_inner();
        Ok(sink.map_err(|refused| refused.into_error())?)
    };
    let written = write_all();
    if let Some(source) = fault.take() {
        return Err(Error::file(path, source));
    }
    let mut file = written
        .map_err(|source| match source {
            las::Error::Io(source) => Error::file(path, source),
            source => error(source.to_string()),
        })?
        .file;
    if !mesh.points.is_empty() {
        write_bounds(&mut file, &mesh.points, transforms)
            .map_err(|source| Error::file(path, source))?;
    }
    file.commit()
}

/// Writes the header's bounds: those of the coordinates as they read back. The crate rounds the quotients of the bounds and the
/// unit down and up, and so is a unit off where a quotient is not exact.
fn write_bounds(
    file: &mut AtomicFile,
    points: &[DVec3],
    transforms: Vector<Transform>,
) -> io::Result<()> {
    const OFFSET: u64 = 179;
    let axes = [transforms.x, transforms.y, transforms.z];
    let none = || [DVec3::INFINITY, DVec3::NEG_INFINITY];
    let [least, most] = points
        .par_iter()
        .fold(none, |[least, most], p| [least.min(*p), most.max(*p)])
        .reduce(none, |a, b| [a[0].min(b[0]), a[1].max(b[1])]);
    file.seek(SeekFrom::Start(OFFSET))?;
    for (i, axis) in axes.iter().enumerate() {
        for bound in [most[i], least[i]] {
            let value = axis.direct(unit_of(bound, axis));
            file.write_all(&value.to_le_bytes())?;
        }
    }
    Ok(())
}

/// The whole number that stands for a coordinate.
fn unit_of(coordinate: f64, axis: &Transform) -> i32 {
    ((coordinate - axis.offset) / axis.scale).round() as i32
}

/// The first error of a [`Sink`].
#[derive(Clone, Default)]
struct Fault(Arc<Mutex<Option<io::Error>>>);

impl Fault {
    fn is_set(&self) -> bool {
        self.lock().is_some()
    }

    fn take(&self) -> Option<io::Error> {
        self.lock().take()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<io::Error>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The result, or after the first error `instead`.
    fn guard<T>(&self, result: impl FnOnce() -> io::Result<T>, instead: T) -> io::Result<T> {
        if self.is_set() {
            return Ok(instead);
        }
        result().or_else(|error| {
            *self.lock() = Some(error);
            Ok(instead)
        })
    }
}

/// A file that keeps its first error and from then on takes everything: the crate's writer panics when it is dropped and cannot
/// write, and where a position is less than the one before.
struct Sink {
    file: AtomicFile,
    fault: Fault,
    /// Where the next byte goes.
    position: u64,
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let fault = self.fault.clone();
        let written = fault.guard(|| self.file.write(bytes), bytes.len())?;
        self.position += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.fault.clone().guard(|| self.file.flush(), ())
    }
}

impl Seek for Sink {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let instead = match to {
            SeekFrom::Start(offset) => offset,
            SeekFrom::Current(steps) => self.position.saturating_add_signed(steps),
            SeekFrom::End(_) => self.position,
        };
        let fault = self.fault.clone();
        self.position = fault.guard(|| self.file.seek(to), instead)?;
        Ok(self.position)
    }
}

/// Names of the fields that a file does not hold.
pub(crate) fn lost_fields(mesh: &Mesh) -> Vec<String> {
    Plan::of(mesh).lost(mesh)
}

/// What the file makes of coordinates that it does not hold as they are.
pub(crate) fn rounding(mesh: &Mesh) -> Option<String> {
    let Units {
        scale, are_exact, ..
    } = Units::of(&mesh.points);
    (!are_exact).then(|| {
        format!("LAS holds multiples of a unit: the input's coordinates are rounded to {scale:e}")
    })
}

/// The units of a file's coordinates.
struct Units {
    scale: f64,
    offset: DVec3,
    are_exact: bool,
}

impl Units {
    fn of(points: &[DVec3]) -> Units {
        const DECIMALS: [f64; 13] = [
            1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12,
        ];
        for scale in DECIMALS {
            let is_exact = |x: &f64| {
                let unit = (x / scale).round();
                // As it is read: -0 becomes 0.
                let value = scale * unit + 0.0;
                unit.abs() <= f64::from(i32::MAX) && value.to_bits() == x.to_bits()
            };
            if points.par_iter().all(|p| p.to_array().iter().all(is_exact)) {
                return Units {
                    scale,
                    offset: DVec3::ZERO,
                    are_exact: true,
                };
            }
        }
        let none = || [DVec3::INFINITY, DVec3::NEG_INFINITY];
        let [least, most] = points
            .par_iter()
            .fold(none, |[least, most], p| [least.min(*p), most.max(*p)])
            .reduce(none, |a, b| [a[0].min(b[0]), a[1].max(b[1])]);
        let offset = least.midpoint(most).round();
        let reach = (most - offset).max(offset - least).max_element();
        let exponent = libm::log10(reach / f64::from(i32::MAX)).ceil() as i32;
        Units {
            scale: 10f64.powi(exponent.clamp(-300, 300)),
            offset,
            are_exact: false,
        }
    }

    fn transforms(&self) -> Vector<Transform> {
        let [x, y, z] = self.offset.to_array().map(|offset| Transform {
            scale: self.scale,
            offset,
        });
        Vector { x, y, z }
    }
}
