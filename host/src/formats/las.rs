//! LiDAR points: `.las`, and `.laz`, which is compressed.
//!
//! <https://www.asprs.org/divisions-committees/lidar-division/laser-las-file-format-exchange-activities>, by the `las` and
//! `laz` crates. They give blocks of raw records, of which coordinates are taken here, in parallel. Read are positions and colours, of any version and point format; colours have 16 bits in the file, of which 8 are
//! kept, the upper ones unless all colours have the lower ones only. Classes, returns, times and the coordinate system are
//! not read. Written is version 1.2 with the point format 0, or 2 where there are colours.
//!
//! A coordinate is a whole number of units, 32 bits wide. A mesh is written in the coarsest decimal unit that holds its
//! coordinates exactly, to the bit, and where none does, in the finest one in which they fit.

use std::io::{BufWriter, Cursor};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use glam::DVec3;
use las::point::Format;
use las::{Builder, PointData, PointDataBuilder, Reader, Transform, Vector, Writer};
use rayon::prelude::*;

use super::atomic_file::AtomicFile;
use super::{Bytes, map_file};
use crate::mesh::Mesh;
use crate::{Error, Result};

/// Points read or written at once.
const BATCH: usize = if cfg!(test) { 100 } else { 1 << 20 };

pub(crate) fn read(path: &Path) -> Result<Mesh> {
    parse(map_file(path)?).map_err(|reason| Error::Format {
        path: path.to_owned(),
        reason,
    })
}

pub(crate) fn parse(file: Bytes) -> Result<Mesh, String> {
    // The decompressor may panic on a damaged file.
    let result = catch_unwind(AssertUnwindSafe(|| parse_points(file)));
    result.unwrap_or_else(|_| Err("the file is damaged: its points cannot be decoded".into()))
}

fn parse_points(file: Bytes) -> Result<Mesh, String> {
    let length = file.len();
    if !file.starts_with(b"LASF") {
        return Err("this is no LAS file: it does not begin with LASF".into());
    }
    let damaged = |error: las::Error| format!("the file is damaged: {error}");
    let mut reader = Reader::new(Cursor::new(file)).map_err(damaged)?;
    let (format, count) = {
        let header = reader.header();
        (*header.point_format(), header.number_of_points())
    };
    let bytes = count.checked_mul(u64::from(format.len()));
    if !format.is_compressed && bytes.is_none_or(|bytes| bytes > length as u64) {
        return Err(format!(
            "{count} points of {} bytes are announced, but the whole file has {length} bytes",
            format.len()
        ));
    }
    // A count is not trusted before the points are there; compressed ones take four bytes and more.
    let expected = usize::try_from(count).unwrap_or(usize::MAX).min(length / 4);
    let mut points: Vec<DVec3> = Vec::with_capacity(expected);
    let mut colors: Vec<[u16; 3]> = Vec::new();
    let mut block = PointDataBuilder::new().for_header(reader.header()).build();
    let mut left = count;
    while left > 0 {
        let read = reader
            .fill_points(left.min(BATCH as u64), &mut block)
            .map_err(damaged)?;
        if read == 0 {
            return Err(format!("the file is damaged: {left} points are missing"));
        }
        left -= read;
        append_points(&block, &mut points);
        if let Some(rgb) = block.rgb() {
            colors.extend(rgb.map(<[u16; 3]>::from));
        }
    }
    let mut mesh = Mesh {
        points,
        ..Mesh::default()
    };
    if format.has_color {
        let is_short = colors.par_iter().flatten().all(|channel| *channel <= 255);
        let shift = if is_short { 0 } else { 8 };
        let color = |rgb: &[u16; 3]| {
            let [r, g, b] = rgb.map(|channel| (channel >> shift) as u8);
            [r, g, b, u8::MAX]
        };
        mesh.attributes.colors = Some(colors.par_iter().map(color).collect());
    }
    Ok(mesh)
}

/// Every point begins with its coordinates, three integers of 32 bits.
fn append_points(block: &PointData, points: &mut Vec<DVec3>) {
    let Vector { x, y, z } = *block.transforms();
    let records = block.raw_bytes().par_chunks_exact(block.record_len());
    points.par_extend(records.map(|record| {
        let units = &record[..12].as_chunks::<4>().0;
        let unit = |i: usize| i32::from_le_bytes(units[i]);
        DVec3::new(x.direct(unit(0)), y.direct(unit(1)), z.direct(unit(2)))
    }));
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
    let format = Format::new(if colors.is_some() { 2 } else { 0 })
        .map_err(|source| error(source.to_string()))?;
    let record_of = |format: Format, range: std::ops::Range<usize>| {
        let size = usize::from(format.len());
        let mut bytes = vec![0; size * range.len()];
        let records = bytes.par_chunks_exact_mut(size).zip(range);
        records.for_each(|(record, i)| {
            let point = mesh.points[i].to_array();
            let axes = [transforms.x, transforms.y, transforms.z];
            for (axis, at) in axes.iter().zip([0, 4, 8]) {
                let unit = ((point[at / 4] - axis.offset) / axis.scale).round() as i32;
                record[at..at + 4].copy_from_slice(&unit.to_le_bytes());
            }
            // The first return of one.
            record[14] = 1 | 1 << 3;
            if let Some(colors) = colors {
                let channels = record[20..26].as_chunks_mut::<2>().0;
                for (channel, value) in channels.iter_mut().zip(colors[i]) {
                    *channel = (u16::from(value) * 257).to_le_bytes();
                }
            }
        });
        bytes
    };
    let write_all = move || -> las::Result<AtomicFile> {
        let mut builder = Builder::from((1, 2));
        builder.point_format = format;
        builder.point_format.is_compressed = is_compressed;
        builder.transforms = transforms;
        builder.generating_software = "trioxide".into();
        builder.system_identifier = String::new();
        builder.date = None;
        let header = builder.into_header()?;
        let mut writer = Writer::new(BufWriter::with_capacity(1 << 20, file), header)?;
        for first in (0..mesh.points.len()).step_by(BATCH) {
            let range = first..mesh.points.len().min(first + BATCH);
            let block = PointDataBuilder::new()
                .for_header(writer.header())
                .build_from_bytes(record_of(format, range))?;
            writer.write_points(&block)?;
        }
        let file = writer.into_inner()?.into_inner();
        Ok(file.map_err(|refused| refused.into_error())?)
    };
    let file = write_all().map_err(|source| match source {
        las::Error::Io(source) => Error::file(path, source),
        source => error(source.to_string()),
    })?;
    file.commit()
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
