//! Writing of `.las` and `.laz`.

use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use las::point::Format;
use las::{Builder, PointDataBuilder, Transform, Vector, Vlr, Writer};

use super::super::atomic_file::AtomicFile;
use super::super::las_fields::{Plan, color_offset};
use super::BATCH;
use super::records::{EXTRA_BYTES, SPECIFICATION, encoding, is_description, is_wkt};
use super::units::{Units, bounds, unit_of};
use trioxide_mesh::about::{Las, LasRecord};
use trioxide_mesh::error::NOT_FINITE;
use trioxide_mesh::mesh::Mesh;
use trioxide_mesh::{Error, Result, parallel, progress};

pub(crate) fn write(path: &Path, mesh: &Mesh) -> Result<()> {
    let extension = path.extension().unwrap_or_default();
    let is_compressed = extension.eq_ignore_ascii_case("laz");
    let error = |reason: String| Error::format(path, reason);
    if let Some(i) = parallel::position(&mesh.points, |p| !p.is_finite()) {
        return Err(error(format!(
            "vertex {i} {NOT_FINITE}, which the format does not hold"
        )));
    }
    let transforms = Units::of(mesh).transforms();
    let colors = mesh.attributes.colors.as_ref();
    let file = AtomicFile::create(path)?;
    let plan = Plan::of(mesh);
    let mut format = Format::new(plan.format).map_err(|source| error(source.to_string()))?;
    format.extra_bytes = plan.extra.size as u16;
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
        let mut builder = builder(mesh, &plan);
        builder.point_format = format;
        builder.point_format.is_compressed = is_compressed;
        builder.transforms = transforms;
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
    write_header(&mut file, mesh, format, transforms)
        .map_err(|source| Error::file(path, source))?;
    file.commit()
}

/// The header's version and the records.
fn builder(mesh: &Mesh, plan: &Plan) -> Builder {
    let records = mesh.about.las.as_ref().map(|las| &las.records[..]);
    let records = records.unwrap_or_default().iter();
    let kept = records.filter(|record| !is_description(record));
    // Earlier versions have no bit for WKT, and no records after the points.
    let is_new = |record: &LasRecord| record.is_extended || is_wkt(record);
    let version = match kept.clone().any(is_new) {
        true => (1, 4),
        false => plan.version(),
    };
    let mut builder = Builder::from(version);
    builder.generating_software = "trioxide".into();
    for record in kept {
        let list = match record.is_extended {
            true => &mut builder.evlrs,
            false => &mut builder.vlrs,
        };
        list.push(Vlr {
            user_id: record.user.clone(),
            record_id: record.id,
            description: record.description.clone(),
            data: record.data.clone(),
        });
    }
    if plan.extra.size > 0 {
        builder.vlrs.push(Vlr {
            user_id: SPECIFICATION.into(),
            record_id: EXTRA_BYTES,
            description: "Extra Bytes Record".into(),
            data: plan.extra.descriptions.clone(),
        });
    }
    builder
}

/// Writes the numbers of the header that the crate does not write so: those of the mesh's file, and the bounds as they
/// read back. The crate rounds the quotients of the bounds and the unit down and up, and so is a unit off if a quotient
/// is not exact.
fn write_header(
    file: &mut AtomicFile,
    mesh: &Mesh,
    format: Format,
    transforms: Vector<Transform>,
) -> io::Result<()> {
    const SOURCE: u64 = 4;
    const SYSTEM: u64 = 26;
    const DATE: u64 = 90;
    const BOUNDS: u64 = 179;
    let mut put = |at: u64, bytes: &[u8]| {
        file.seek(SeekFrom::Start(at))?;
        file.write_all(bytes)
    };
    let las = mesh.about.las.as_ref();
    let encoding = encoding(las, format.is_extended).to_le_bytes();
    let none = Las::default();
    let head = las.unwrap_or(&none);
    put(SOURCE, &head.source.to_le_bytes())?;
    put(SOURCE + 2, &encoding)?;
    put(SOURCE + 4, &head.project)?;
    put(SYSTEM, &head.system)?;
    put(DATE, &head.date.map(u16::to_le_bytes).concat())?;
    if mesh.points.is_empty() {
        return Ok(());
    }
    let Vector { x, y, z } = transforms;
    let [least, most] = bounds(&mesh.points);
    for (i, axis) in [x, y, z].iter().enumerate() {
        let bounds = [most[i], least[i]].map(|bound| axis.direct(unit_of(bound, axis)));
        put(
            BOUNDS + 16 * i as u64,
            &bounds.map(f64::to_le_bytes).concat(),
        )?;
    }
    Ok(())
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

/// The fields that have another name in the file, and that name.
pub(crate) fn renamed(mesh: &Mesh) -> Vec<(String, String)> {
    Plan::of(mesh).extra.renamed
}

/// The sentence on coordinates that the file does not hold exactly.
pub(crate) fn rounding(mesh: &Mesh) -> Option<String> {
    Units::of(mesh).rounding()
}
