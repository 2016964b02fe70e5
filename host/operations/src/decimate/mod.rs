//! Meshes of a wanted number of triangles with a small error: whole meshes, with all that they carry. The family is
//! [`trioxide::decimate`].

mod options;
mod weighed;

use std::sync::Arc;

use trioxide::bit_set::pack_list;
use trioxide::decimate::{self as family, Decimated, DeviceDecimated, Numbers, Surface};
use trioxide::device::Device;
use trioxide::fields::MeshFields;
use trioxide::mesh::{self, Faces, Mesh};
use trioxide::weld::Locks;

use crate::error::{Error, Result};
use crate::input;
use crate::machine::{On, Start};
use crate::precision::Precision;
use crate::report::{Counts, Note, Run};
use crate::scale::Scale;

pub use crate::error::decimate::Refusal;
pub use options::Options;
pub use weighed::{WEIGHT, Weigh};

use weighed::Weighed;

/// The machine, the counts, and the maps.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The machine, with times.
    pub run: Run,
    /// The counts.
    pub totals: Totals,
    /// New vertex that each old one went into; V.
    pub map: Vec<u32>,
    /// Old vertex of each new one, ascending; W.
    pub survivors: Vec<u32>,
    /// Old triangle of each new one, ascending.
    pub triangle_ids: Vec<u32>,
    /// Notes for the user.
    pub notes: Vec<Note>,
}

/// The counts of a decimation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Vertices before.
    pub vertices: u64,
    /// Triangles before.
    pub faces: u64,
    /// Vertices after.
    pub decimated_vertices: u64,
    /// Triangles after.
    pub decimated_faces: u64,
    /// Rounds of collapses.
    pub rounds: u64,
}

impl Totals {
    /// By their names.
    pub fn counts(&self) -> Counts {
        vec![
            ("vertices", self.vertices.into()),
            ("faces", self.faces.into()),
            ("decimated_vertices", self.decimated_vertices.into()),
            ("decimated_faces", self.decimated_faces.into()),
            ("rounds", self.rounds.into()),
        ]
    }
}

/// Decimates a mesh of triangles, with its attributes, fields, regions and segments.
///
/// Vertices get the attributes and the values of fields of floats that fit best at their place; of fields of integers
/// they keep those of the lowest vertex that they stand for. The ones that [`Options::weigh`] names count in the choice
/// of edges too. Triangles keep their regions and fields. Ends of segments stay where they are, as do vertices where
/// regions meet. Vertices of the boundary that lie at one place, as at the seams of a texture, stay at one place.
///
/// ```
/// use trioxide_operations::decimate;
///
/// # fn main() -> trioxide_operations::Result<()> {
/// # let device = trioxide::Device::cpu(None)?;
/// let scan = trioxide::generate::scan(1000, 1)?;
/// let (decimated, report) = decimate(&device, scan, &decimate::Options::new(200))?;
/// assert_eq!((decimated.faces.len(), report.triangle_ids.len()), (200, 200));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Those of [`Options::check`] and [`trioxide::decimate::decimate()`]; [`Refusal`]; those of the device.
pub fn decimate(on: &dyn Start, mesh: Mesh, options: &Options) -> Result<(Mesh, Report)> {
    options.check_one()?;
    Ok(to_each(on, mesh, options)?.remove(0))
}

/// Decimates a mesh to each of the fractions of `options`, in their order, in one run. Each mesh is that of a run of
/// its own. The first report has the machine's times, those of the whole run.
///
/// # Errors
/// As [`decimate()`].
pub fn to_each(on: &dyn Start, mut mesh: Mesh, options: &Options) -> Result<Vec<(Mesh, Report)>> {
    options.check()?;
    let scale = Scale::take(&mut mesh.points, Precision::F64)?;
    let done = match options.error.filter(|_| scale != Scale::default()) {
        Some(error) => {
            let error = Some(scale.option(error));
            let options = Options {
                error,
                ..options.clone()
            };
            scaled_to_each(on, mesh, &options)
        }
        None => scaled_to_each(on, mesh, options),
    };
    let mut each = done.map_err(|error| scale.explain(error))?;
    for (mesh, _) in &mut each {
        scale.give(&mut mesh.points)?;
    }
    Ok(each)
}

fn scaled_to_each(on: &dyn Start, mesh: Mesh, options: &Options) -> Result<Vec<(Mesh, Report)>> {
    let triangles = mesh.faces.triangles()?;
    let counts = [mesh.points.len(), triangles.len()];
    (mesh.fields).check(counts[0], counts[1], mesh.segments.len())?;
    let locked = locks(&mesh, &options.locks)?;
    if counts[0] > 0 {
        input::check_faces(&mesh)?;
    }
    let mut notes = Vec::new();
    let weighed = Weighed::of(&mesh, &options.weigh, &mut notes)?;
    let (settings, targets) = (options.settings(counts[1]), options.targets(counts[1]));
    let machine = on.start()?;
    // A decimated mesh has other triangles, and they take memory until then.
    drop(machine.remembered());
    let (done, mut run, is_fitted) = machine.run(|on| match on {
        On::Device(device) => {
            let input = Input {
                mesh: &mesh,
                triangles,
                locked: &locked,
                weighed: weighed.as_ref(),
                is_weighed: !options.weigh.is_empty(),
            };
            on_device(device, &input, &settings, &targets)
        }
        #[cfg(feature = "serial")]
        On::Serial => Err(Refusal::Serial.into()),
    })?;
    let weighed = weighed.filter(|_| is_fitted);
    if !is_fitted {
        notes.push(Note::NoRoomToFit);
    }
    let mut contacts = input::contacts(|v| mesh.points[v as usize], counts[0], triangles);
    let is_stuck = |(done, &wanted): (&Decimated, &usize)| {
        let left = done.triangles.len();
        left > wanted && (settings.error.is_none() || left == counts[1])
    };
    if !done.iter().zip(&targets).any(is_stuck) {
        // Both sides of a seam collapse together: they need no weld.
        contacts.doubled = 0;
    }
    notes.extend(Note::apart(&contacts));
    let each = done.into_iter().zip(targets).map(|(mut done, wanted)| {
        let mut left = carried(&mesh, &mut done);
        if let Some(weighed) = &weighed {
            weighed.put(&done, &mut left);
        }
        let totals = totals_of(counts, [left.points.len(), left.faces.len()], done.rounds);
        let mut notes = std::mem::take(&mut notes);
        let note = note_of(&totals, wanted, &settings);
        notes.extend(
            note.as_ref()
                .and_then(|_| Note::crowded(counts[0], triangles)),
        );
        notes.extend(note);
        let report = Report {
            run: std::mem::take(&mut run),
            notes,
            totals,
            map: done.map,
            survivors: done.survivors,
            triangle_ids: done.triangle_ids,
        };
        (left, report)
    });
    Ok(each.collect())
}

/// The mesh that is left, with the data of its vertices and triangles.
fn carried(mesh: &Mesh, done: &mut Decimated) -> Mesh {
    let mut segments = mesh.segments.clone();
    for segment in &mut segments {
        segment.ends = segment.ends.map(|v| done.map[v as usize]);
    }
    let regions = mesh.regions.as_ref();
    Mesh {
        points: std::mem::take(&mut done.points),
        faces: Faces::Triangles(std::mem::take(&mut done.triangles)),
        regions: regions.map(|regions| mesh::gather(regions, &done.triangle_ids)),
        segments,
        attributes: mesh.attributes.gather(&done.survivors),
        fields: MeshFields {
            points: mesh.fields.points.gather(&done.survivors),
            cells: mesh.fields.cells.gather(&done.triangle_ids),
            sides: mesh.fields.sides.clone(),
        },
        about: Arc::clone(&mesh.about),
    }
}

/// Decimates a surface that is on a device; the result stays there.
///
/// The report has no maps: they are with the result. Of the options' locks only the boundary counts: `surface`
/// has the locked vertices.
///
/// # Errors
/// As [`decimate()`].
pub fn resident(
    on: &Device,
    surface: &Surface,
    options: &Options,
) -> Result<(DeviceDecimated, Report)> {
    options.check_one()?;
    Ok(resident_to_each(on, surface, options)?.remove(0))
}

/// Decimates a surface that is on a device to each of the fractions of `options`, as [`to_each`].
///
/// # Errors
/// As [`decimate()`].
pub fn resident_to_each(
    on: &Device,
    surface: &Surface,
    options: &Options,
) -> Result<Vec<(DeviceDecimated, Report)>> {
    options.check()?;
    if !options.weigh.is_empty() {
        return Err(Refusal::Resident.into());
    }
    let before = [surface.points.len(), surface.triangles.len()];
    let (settings, targets) = (options.settings(before[1]), options.targets(before[1]));
    let done = family::decimate_to_each(on, surface, &settings, &targets)?;
    let mut run = Run::of(on, Vec::new())?;
    let each = done.into_iter().zip(targets).map(|(done, wanted)| {
        let after = [done.points.len(), done.triangles.len()];
        let totals = totals_of(before, after, done.rounds);
        let report = Report {
            run: std::mem::take(&mut run),
            notes: note_of(&totals, wanted, &settings).into_iter().collect(),
            totals,
            ..Report::default()
        };
        (done, report)
    });
    Ok(each.collect())
}

fn totals_of(before: [usize; 2], after: [usize; 2], rounds: u32) -> Totals {
    Totals {
        vertices: before[0] as u64,
        faces: before[1] as u64,
        decimated_vertices: after[0] as u64,
        decimated_faces: after[1] as u64,
        rounds: rounds.into(),
    }
}

/// Says that the checks, or the largest error, allow no fewer triangles.
fn note_of(totals: &Totals, wanted: usize, settings: &family::Options) -> Option<Note> {
    let wanted = wanted as u64;
    let is_wanted = wanted > 0 || settings.error.is_none();
    (is_wanted && totals.decimated_faces > wanted).then_some(Note::Triangles {
        wanted,
        left: totals.decimated_faces,
        is_bounded: settings.error.is_some(),
    })
}

/// The vertices that stay: those with a flag, and the ends of segments; V, or empty.
fn locks(mesh: &Mesh, locks: &Locks) -> Result<Vec<bool>> {
    let vertices = mesh.points.len();
    let mut locked = locks.vertices.clone();
    if !locked.is_empty() && locked.len() != vertices {
        let length = locked.len();
        return Err(Error::Decimate(family::Error::Length {
            array: "locks",
            length,
            needed: vertices,
        }));
    }
    for (i, segment) in mesh.segments.iter().enumerate() {
        locked.resize(vertices, false);
        for end in segment.ends {
            match locked.get_mut(end as usize) {
                Some(lock) => *lock = true,
                None => return Err(Refusal::Segment(i).into()),
            }
        }
    }
    Ok(locked)
}

/// A mesh to decimate.
struct Input<'m> {
    mesh: &'m Mesh,
    triangles: &'m [[u32; 3]],
    locked: &'m [bool],
    weighed: Option<&'m Weighed<'m>>,
    /// Whether numbers count in the quadrics.
    is_weighed: bool,
}

/// The decimated meshes, the run, and whether the numbers of the vertices are fitted: they are not where only they do
/// not fit the memory, and none counts.
fn on_device(
    on: &Device,
    input: &Input,
    settings: &family::Options,
    targets: &[usize],
) -> Result<(Vec<Decimated>, Run, bool)> {
    let Input {
        mesh,
        triangles,
        locked,
        mut weighed,
        is_weighed,
    } = *input;
    let (points, faces) = (mesh.points.len(), triangles.len());
    let needed = |numbers: usize| {
        let bytes = points * 24 + faces * 16 + points * numbers * 8;
        bytes as u64 + family::bytes_needed(points, faces, targets, numbers)
    };
    let numbers = weighed.map_or(0, |weighed| weighed.channels.len());
    let room = on.require(needed(numbers));
    let is_fitted = room.is_ok();
    if !is_fitted && numbers > 0 && !is_weighed {
        on.require(needed(0))?;
        weighed = None;
    } else {
        room?;
    }
    let (channels, values) = weighed.map_or((&[][..], &[][..]), |weighed| {
        (&weighed.channels[..], &weighed.values[..])
    });
    let copied = on.stage("copy to the device", || {
        let regions = mesh.regions.as_ref().map(|regions| on.upload(regions));
        let locks = (!locked.is_empty()).then(|| on.upload(&pack_list(locked)));
        Ok((
            on.upload(&mesh.points)?,
            on.upload(triangles)?.cast(),
            regions.transpose()?,
            locks.transpose()?,
            on.upload(values)?,
        ))
    })?;
    let (points, triangles, regions, locks, values) = copied;
    let values = &values;
    let locks = locks.map(trioxide::Buffer::cast);
    let surface = Surface {
        points: &points,
        triangles: &triangles,
        regions: regions.as_ref(),
        locked: locks.as_ref(),
        numbers: weighed.map(|_| Numbers { values, channels }),
    };
    let done = family::decimate_to_each(on, &surface, settings, targets)?;
    let done = done.iter().map(|done| done.download(on));
    let done = done.collect::<family::Result<Vec<_>>>()?;
    Ok((done, Run::of(on, Vec::new())?, is_fitted))
}
