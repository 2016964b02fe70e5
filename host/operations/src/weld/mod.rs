//! Vertices within epsilon of each other become one: whole meshes, with all that they carry, in the memory that there
//! is. The family is [`trioxide::weld`].

mod options;
mod report;
mod volume;

use glam::DVec2;
use trioxide::device::{Device, Stage};
use trioxide::mesh::{Mesh, VertexAttributes};
use trioxide::weld::{
    self as family, Carried, DeviceMesh, DeviceWeld, EpsilonFound, Guards, Method, Position,
    RATIO_TOLERANCE, Welded,
};

use crate::error::{Error, Result};
use crate::machine::{On, Start};
use crate::report::{Note, Run};

pub use crate::error::weld::{Refusal, Without};
pub use options::Options;
pub use report::{Report, Totals};
pub use volume::weld_volume;

/// Welds a mesh or a cloud, with its attributes, fields, regions and segments.
///
/// A mesh that takes more memory than may be used is welded in slabs, with the same result.
///
/// ```
/// use trioxide::glam::DVec3;
/// use trioxide::mesh::Mesh;
/// use trioxide_operations::weld;
///
/// # fn main() -> trioxide_operations::Result<()> {
/// # let device = trioxide::Device::cpu(None)?;
/// let cloud = Mesh {
///     points: [0.0, 1.0, 1.001].map(|x| DVec3::X * x).to_vec(),
///     ..Mesh::default()
/// };
/// let (welded, report) = weld(&device, cloud, &weld::Options::new(0.01))?;
/// assert_eq!((welded.points.len(), report.map), (2, vec![0, 1, 1]));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Those of [`Options::check`] and [`trioxide::weld::weld()`]; [`Refusal`]; those of the device.
pub fn weld(on: &dyn Start, mesh: Mesh, options: &Options) -> Result<(Mesh, Report)> {
    options.check()?;
    let mut notes = notes_of(&mesh);
    let machine = on.start()?;
    // A welded mesh has other triangles, and they take memory until then.
    drop(machine.remembered());
    let done = machine.run(|on| {
        let done = match on {
            On::Device(device) => on_device(device, &mesh, options),
            #[cfg(feature = "serial")]
            On::Serial => serial(&mesh, options),
        };
        done.map_err(|error| by_limit(error, options))
    })?;
    let Done {
        mut welded,
        run,
        mut totals,
        note,
    } = done;
    notes.extend(note);
    notes.extend(note_of_ratio(options, &totals));
    totals.vertices = mesh.points.len() as u64;
    totals.faces = mesh.faces.len() as u64;
    let new = welded.take_mesh(&mesh, &options.settings(totals.found))?;
    totals.welded_vertices = new.points.len() as u64;
    totals.welded_faces = new.faces.len() as u64;
    if options.position == Position::Mean {
        notes.extend(note_of_uvs(&mesh, &welded.map, &welded.representatives));
    }
    let report = Report {
        run,
        totals,
        map: welded.map,
        representatives: welded.representatives,
        notes,
    };
    Ok((new, report))
}

/// Welds points and triangles that are on a device, with all that they carry; the result stays there.
///
/// The report has no maps: they are with the result.
///
/// ```
/// use trioxide::glam::DVec3;
/// use trioxide::weld::DeviceMesh;
/// use trioxide_operations::weld;
///
/// # fn main() -> trioxide_operations::Result<()> {
/// # let device = trioxide::Device::cpu(None)?;
/// let points = [0.0, 1.0, 1.001].map(|x| DVec3::X * x);
/// let cloud = DeviceMesh::upload_arrays(&device, &points, &[])?;
/// let (welded, _) = weld::resident(&device, cloud, &weld::Options::new(0.01))?;
/// assert_eq!(welded.points().len(), 2);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// As [`weld()`]; [`Refusal::ResidentLimit`].
pub fn resident(
    on: &Device,
    mut mesh: DeviceMesh,
    options: &Options,
) -> Result<(DeviceWeld, Report)> {
    options.check()?;
    if options.memory_limit.is_some() {
        return Err(Refusal::ResidentLimit.into());
    }
    if options.locks.boundary {
        mesh.lock_boundary(on)?;
    }
    let settings = options.settings(None);
    let (welded, mut totals, stages) = at_once(on, &mesh, options, settings)?;
    totals.vertices = mesh.points().len() as u64;
    totals.faces = mesh.faces().len() as u64;
    totals.welded_vertices = welded.points().len() as u64;
    totals.welded_faces = welded.faces().len() as u64;
    let report = Report {
        run: Run::of(on, stages)?,
        notes: note_of_ratio(options, &totals).into_iter().collect(),
        totals,
        ..Report::default()
    };
    Ok((welded, report))
}

/// Notes for the user on a mesh to be welded: normals without a direction.
pub fn notes_of(mesh: &Mesh) -> Vec<Note> {
    let is_bad = |x: &f64| x.is_nan() || x.abs() > gpu::weld::LARGEST_COORDINATE;
    let normals = mesh.attributes.normals.iter().flatten();
    let bad = normals.filter(|n| n.to_array().iter().any(is_bad)).count();
    (bad > 0)
        .then_some(Note::Normals(bad))
        .into_iter()
        .collect()
}

/// Says that texture coordinates are averaged that are not equal.
fn note_of_uvs(mesh: &Mesh, map: &[u32], representatives: &[u32]) -> Option<Note> {
    let uvs = mesh.attributes.uvs.as_ref()?;
    let differs = |&(v, &uv): &(usize, &DVec2)| {
        let new = map
            .get(v)
            .and_then(|&new| representatives.get(new as usize));
        new.and_then(|&v| uvs.get(v as usize))
            .is_some_and(|&other| other != uv)
    };
    let count = uvs.iter().enumerate().filter(differs).count();
    (count > 0).then_some(Note::AveragedUvs(count))
}

/// Says that no distance removes the wanted fraction.
pub fn note_of_ratio(options: &Options, totals: &Totals) -> Option<Note> {
    let (wanted, found) = (options.ratio?, totals.found?);
    let is_missed = (found.ratio - wanted).abs() > RATIO_TOLERANCE;
    is_missed.then_some(Note::Ratio { wanted, found })
}

/// A weld's arrays, and the work that it took.
struct Done {
    welded: Welded,
    run: Run,
    /// Without the sizes of the meshes.
    totals: Totals,
    note: Option<Note>,
}

/// The error; [`Error::Limited`] if the memory limit is too small, as another device would have the same limit.
fn by_limit(error: Error, options: &Options) -> Error {
    match options.memory_limit {
        Some(_) if error.is_out_of_memory() && !error.has_bytes() => Error::Limited(error.into()),
        _ => error,
    }
}

fn on_device(on: &Device, mesh: &Mesh, options: &Options) -> Result<Done> {
    let mut settings = options.settings(None);
    let free = on.free_bytes()?;
    let limit = (options.memory_limit).map_or(free, |bytes| free.min(bytes as u64));
    let is_guarded = settings.guards != Guards::default() || options.has_locks();
    if settings.method == Method::Auto && (options.memory_limit.is_some() || is_guarded) {
        settings.method = Method::Grid;
    }
    let needed = DeviceMesh::bytes_needed(mesh, &options.locks, settings.method);
    let faces = family::triangles(mesh);
    if needed > limit || family::check_sizes(mesh.points.len(), faces.len()).is_err() {
        return in_slabs(on, mesh, &settings, options, [needed, limit]);
    }
    if options.memory_limit.is_some() {
        // Lists whose length is not known before take the remaining bytes, or are not made.
        settings.tuning.dense_share = Some(0);
        settings.tuning.most_neighbours = (limit - needed) / 4;
    }
    if options.ratio.is_some() || is_guarded || carries(mesh) {
        let resident = DeviceMesh::upload_locked(on, mesh, &options.locks)?;
        let (welded, totals, stages) = at_once(on, &resident, options, settings)?;
        return Ok(Done {
            welded: welded.download(on)?,
            run: Run::of(on, stages)?,
            totals,
            note: None,
        });
    }
    let result = match family::weld_from_host(on, &mesh.points, faces, settings) {
        // Another process has taken memory meanwhile: slabs then take half of the free memory. The other half stays for
        // that process.
        Err(family::Error::Shared(trioxide::Error::OutOfMemory { .. })) if on.is_gpu() => {
            let limit = limit.min(on.free_bytes()? / 2);
            return in_slabs(on, mesh, &settings, options, [needed, limit]);
        }
        result => result?,
    };
    Ok(Done {
        welded: result.welded,
        run: Run::of(on, Vec::new())?,
        totals: Totals {
            method: Some(result.method),
            rounds: Some(result.left.len() as u64),
            ..Totals::of(&settings)
        },
        note: None,
    })
}

/// Whether the mesh has attributes or regions to weld on a device.
fn carries(mesh: &Mesh) -> bool {
    let carried = Carried::of(mesh, &[]);
    *carried.attributes != VertexAttributes::default() || carried.regions.is_some()
}

/// Welds a mesh that takes more memory at once than may be used: bytes `needed`, and the `limit`.
fn in_slabs(
    on: &Device,
    mesh: &Mesh,
    settings: &family::Options,
    options: &Options,
    [needed, limit]: [u64; 2],
) -> Result<Done> {
    let is_known = matches!(settings.method, Method::Auto | Method::Grid);
    let without = [
        (options.ratio.is_some(), Without::Ratio),
        (settings.guards != Guards::default(), Without::Tolerances),
        (options.has_locks(), Without::Locks),
        (!is_known, Without::Method(settings.method)),
        (carries(mesh), Without::Attributes),
    ];
    if let Some((_, without)) = without.into_iter().find(|(is_there, _)| *is_there) {
        let device = on.name();
        return Err(Refusal::InSlabs {
            device,
            needed,
            limit,
            without,
        }
        .into());
    }
    let faces = family::triangles(mesh);
    let result = family::weld_in_slabs(on, &mesh.points, faces, *settings, limit)?;
    Ok(Done {
        welded: result.welded,
        run: Run::of(on, Vec::new())?,
        totals: Totals {
            method: Some(Method::Grid),
            slabs: Some([result.slabs as u64, result.left.len() as u64]),
            ..Totals::of(settings)
        },
        note: Some(Note::InSlabs { needed, limit }),
    })
}

/// Welds on the device from beginning to end, after the search of the distance if a ratio is wanted; the stages until
/// that is found.
fn at_once(
    on: &Device,
    mesh: &DeviceMesh,
    options: &Options,
    settings: family::Options,
) -> Result<(DeviceWeld, Totals, Vec<Stage>)> {
    let mut stages = Vec::new();
    let mut found: Option<EpsilonFound> = None;
    if let Some(ratio) = options.ratio {
        stages = on.take_stages()?;
        found = Some(family::epsilon_for_ratio(on, mesh, settings.guards, ratio)?);
        // The search runs the stages of a weld many times: they are reported as one.
        let of_search = on.take_stages()?;
        stages.push(Stage {
            name: "search epsilon",
            milliseconds: of_search.iter().map(|stage| stage.milliseconds).sum(),
        });
    }
    let settings = settings.at(found);
    let welded = family::weld(on, mesh, settings)?;
    let locked = mesh.carried().count_locked(on)?;
    let totals = Totals {
        found,
        locked: locked.map(u64::from),
        method: Some(welded.method()),
        rounds: Some(welded.left().len() as u64),
        ..Totals::of(&settings)
    };
    Ok((welded, totals, stages))
}

#[cfg(feature = "serial")]
fn serial(mesh: &Mesh, options: &Options) -> Result<Done> {
    use std::time::Instant;
    use trioxide::progress;
    use trioxide_reference as reference;

    if options.memory_limit.is_some() {
        return Err(Refusal::SerialLimit.into());
    }
    if options.method != Method::Auto {
        return Err(Refusal::SerialMethod.into());
    }
    progress::stage("weld, sequentially");
    let start = Instant::now();
    let locked = options.locks.find(mesh)?;
    let carried = Carried::of(mesh, &locked);
    let (points, guards) = (&mesh.points, options.guards());
    let search = |ratio| reference::weld::epsilon_for_ratio(points, &carried, &guards, ratio);
    let found = options.ratio.map(search).transpose()?;
    let settings = options.settings(found);
    let welded = reference::weld_carrying(points, family::triangles(mesh), &carried, &settings)?;
    let stage = Stage {
        name: "weld",
        milliseconds: start.elapsed().as_secs_f64() * 1e3,
    };
    let count = locked.iter().filter(|&&lock| lock).count() as u64;
    Ok(Done {
        welded,
        run: Run::serial(vec![stage]),
        totals: Totals {
            found,
            locked: (!locked.is_empty()).then_some(count),
            ..Totals::of(&settings)
        },
        note: None,
    })
}
