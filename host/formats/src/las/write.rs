//! Writing of `.las` and `.laz`.

use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use glam::DVec3;
use las::point::Format;
use las::{Builder, PointDataBuilder, Transform, Vector, Writer};

use super::super::atomic_file::AtomicFile;
use super::super::las_fields::{Plan, color_offset};
use super::BATCH;
use trioxide_mesh::mesh::Mesh;
use trioxide_mesh::{Error, Result, parallel, progress};

pub(crate) fn write(path: &Path, mesh: &Mesh) -> Result<()> {
    let extension = path.extension().unwrap_or_default();
    let is_compressed = extension.eq_ignore_ascii_case("laz");
    let error = |reason: String| Error::format(path, reason);
    if let Some(i) = parallel::position(&mesh.points, |p| !p.is_finite()) {
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
        parallel::for_chunks_mut(&mut bytes, size, |k, record| {
            let i = range.start + k;
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

/// Writes the header's bounds: the bounds of the coordinates as they read back. The crate rounds the quotients of the
/// bounds and the unit down and up, and so is a unit off if a quotient is not exact.
fn write_bounds(
    file: &mut AtomicFile,
    points: &[DVec3],
    transforms: Vector<Transform>,
) -> io::Result<()> {
    const OFFSET: u64 = 179;
    let axes = [transforms.x, transforms.y, transforms.z];
    let [least, most] = bounds(points);
    file.seek(SeekFrom::Start(OFFSET))?;
    for (i, axis) in axes.iter().enumerate() {
        for bound in [most[i], least[i]] {
            let value = axis.direct(unit_of(bound, axis));
            file.write_all(&value.to_le_bytes())?;
        }
    }
    Ok(())
}

/// The least and the largest coordinates.
fn bounds(points: &[DVec3]) -> [DVec3; 2] {
    let none = [DVec3::INFINITY, DVec3::NEG_INFINITY];
    let of_piece = |range: Range<usize>| {
        let join = |[least, most]: [DVec3; 2], p: &DVec3| [least.min(*p), most.max(*p)];
        points[range].iter().fold(none, join)
    };
    let pieces = parallel::map_pieces(points.len(), parallel::GRAIN, of_piece);
    (pieces.into_iter()).fold(none, |a, b| [a[0].min(b[0]), a[1].max(b[1])])
}

/// The whole number that represents a coordinate.
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

    /// The result, or `instead` after the first error.
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

/// A file that keeps its first error and then accepts all data: the crate's writer panics if it is dropped and cannot
/// write, or if a position is less than the previous one.
struct Sink {
    file: AtomicFile,
    fault: Fault,
    /// Position of the next byte.
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

/// The sentences on fields whose numbers change their kind in the file.
pub(crate) fn retyped(mesh: &Mesh) -> Vec<String> {
    let plan = Plan::of(mesh);
    let said = |names: Vec<&str>, had: &str, has: &str| {
        let names = (!names.is_empty()).then(|| names.join(", "))?;
        Some(format!(
            "LAS holds {has} for {names}: the {had} of the input are {has} in the output"
        ))
    };
    let all = [
        said(plan.retyped(true), "floats", "integers"),
        said(plan.retyped(false), "integers", "floats"),
    ];
    all.into_iter().flatten().collect()
}

/// The sentence on coordinates that the file does not hold exactly.
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
                // As it reads back: -0 becomes 0.
                let value = scale * unit + 0.0;
                unit.abs() <= f64::from(i32::MAX) && value.to_bits() == x.to_bits()
            };
            if parallel::all(points, |p| p.to_array().iter().all(is_exact)) {
                return Units {
                    scale,
                    offset: DVec3::ZERO,
                    are_exact: true,
                };
            }
        }
        let [least, most] = bounds(points);
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
