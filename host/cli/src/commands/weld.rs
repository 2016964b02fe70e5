//! `trioxide weld`: vertices near each other become one.

mod clusters;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{ArgGroup, Args};
use serde_json::json;
use trioxide::device::{Device, Stage};
use trioxide::formats::atomic_file::write_atomically;
use trioxide::formats::{Format, ReadOptions};
use trioxide::mesh::{Mesh, VertexAttributes};
use trioxide::weld::{
    self, Carried, DeviceMesh, Found, Guards, Locks, Method, RATIO_TOLERANCE, Welded,
};
use trioxide::{Error, Result, progress, reference};

use trioxide_arguments::account;
use trioxide_arguments::auto::Work;
use trioxide_arguments::count::parse_count;
use trioxide_arguments::device::{DeviceOptions, Opening, Precision, Report};
use trioxide_arguments::weld::MethodOption;
use trioxide_arguments::{is_standard_output, note, print};

use clusters::Clusters;
pub use clusters::Lock;

const DEFAULTS: &str = "Where defaults come from: this machine (--device auto, --threads: all cores); free memory (--memory-limit, --method auto). --epsilon and --ratio have none: they depend on the \
    mesh. --position mean is trioxide's own.";

/// Merge vertices that are within epsilon of each other
///
/// Deterministic vertex clustering: a vertex represents those within epsilon of it that no vertex of a lower id
/// represents. The result is the same on every machine, by every method. Faces and segments get the new vertices; those
/// without extent and those that are there twice are dropped. Regions and markers stay; normals, colours, texture
/// coordinates and fields of floats are averaged, and fields of integers, which are labels, are those of the first
/// vertex.
///
/// Under mpirun several processes weld one mesh or cloud by the method grid, each on its own GPU (cargo xtask build
/// --mpi), and write the files of one, or a .pvtu with a piece of each.
#[derive(Args)]
#[command(group = ArgGroup::new("distance").required(true), after_help = DEFAULTS)]
pub struct Options {
    /// Mesh or point cloud to read: .off, .obj, .ply, .stl, .vtu, .vtp, .msh, .glb, .xyz, .pcd, .las, .laz and others
    pub input: PathBuf,
    /// Mesh to write
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub clusters: Clusters,
    /// Text file for the new vertex of each old one, one a line, from 0 on; - for standard output
    #[arg(long, value_name = "FILE|-")]
    pub map: Option<PathBuf>,
    /// Text file for the ids of the old vertices that are gone, one a line, ascending; - for standard output
    #[arg(long, value_name = "FILE|-")]
    pub removed: Option<PathBuf>,
    /// Bytes of device memory to use at most: 512M, 4G; a mesh that takes more by --method grid is welded in slabs,
    /// with the same result [default: what is free]
    #[arg(long, value_name = "BYTES", value_parser = parse_count, conflicts_with = "ratio")]
    pub memory_limit: Option<usize>,
    #[command(flatten)]
    pub reading: ReadOptions,
    #[command(flatten)]
    pub device: DeviceOptions,
}

/// A welded mesh, and the work that it took.
struct Outcome {
    device: String,
    welded: Welded,
    epsilon: f64,
    found: Option<Found>,
    locked: Option<usize>,
    stages: Vec<Stage>,
    method: Option<Method>,
    rounds: Option<usize>,
    /// Slabs, and passes over them, where the mesh is larger than the device's memory.
    slabs: Option<(usize, usize)>,
    peak_bytes: Option<u64>,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    check(options)?;
    let opening = options.device.begin(&options.input, options.work());
    let mesh = super::read_mesh(&options.input, options.reading, options.device.quiet)?;
    let (mesh, report, welded) = apply(options, mesh, opening)?;
    write_maps(options, &welded)?;
    if let Some(output) = &options.output {
        super::write_mesh(output, &mesh, options.device.quiet)?;
    }
    report.give_beside(&options.device, options.takes_output())
}

impl Options {
    /// Whether ids go to standard output, in place of the report.
    pub fn takes_output(&self) -> bool {
        to_output(&self.map) || to_output(&self.removed)
    }

    /// The work for the choice of a machine.
    pub fn work(&self) -> Work {
        match self.clusters.ratio {
            Some(_) => Work::WELD_RATIO,
            None => Work::WELD,
        }
    }
}

/// Writes what became of the vertices, where it is wanted.
pub fn write_maps(options: &Options, welded: &Welded) -> Result<()> {
    if let Some(path) = &options.map {
        write_numbers(path, welded.map.iter().copied())?;
    }
    if let Some(path) = &options.removed {
        write_numbers(path, welded.removed())?;
    }
    Ok(())
}

/// Welds a mesh on the machine that `opening` gives.
pub fn apply(
    options: &Options,
    mut mesh: Mesh,
    opening: Opening,
) -> Result<(Mesh, Report<'_>, Welded)> {
    let in_file = |error: Error| error.in_file(&options.input);
    note_normals(&mesh, options.device.quiet);
    let locks = options.clusters.locks(mesh.points.len())?;
    let result = opening.open()?.run(|device| {
        let result = match device {
            Some(on) => on_device(on, &mesh, &locks, options),
            None if options.memory_limit.is_some() => Err(argument(
                "--memory-limit is for the memory of a device: leave it out with --device serial",
            )),
            None if options.clusters.method != MethodOption::Auto => Err(argument(
                "--device serial has one method of its own: leave --method out, or use another --device",
            )),
            None => serial(&mesh, &locks, &options.clusters),
        };
        result.map_err(|error| by_limit(with_flags(error), options))
    });
    let mut outcome = result.map_err(in_file)?;
    if let (Some(found), Some(wanted), false) =
        (&outcome.found, options.clusters.ratio, options.device.quiet)
    {
        note_ratio(wanted, found);
    }
    let (vertices, faces) = (mesh.points.len(), mesh.faces.len());
    let settings = options.clusters.options(outcome.epsilon);
    mesh = (outcome.welded.take_mesh(&mesh, &settings)).map_err(|error| in_file(error.into()))?;
    let report = report(options, &outcome, [vertices, faces], &mesh);
    Ok((mesh, report, outcome.welded))
}

/// An error of the arguments.
fn argument(text: impl Into<String>) -> weld::Error {
    Error::Argument(text.into()).into()
}

/// The error, where --memory-limit is too small in place of the memory: then another device has no more.
fn by_limit(error: Error, options: &Options) -> Error {
    match error {
        Error::NoMemory(text) if options.memory_limit.is_some() => Error::Argument(text),
        error => error,
    }
}

/// A failure of welding with its remedy on the command line.
pub fn with_flags(error: weld::Error) -> Error {
    use weld::Error as Weld;
    let is_memory = matches!(
        error,
        Weld::TooDense { .. } | Weld::FacesInSlabs { .. } | Weld::Neighbours { .. }
    );
    let text = match &error {
        Weld::Guarded { method } => format!(
            "tolerances and locks are known to --method grid alone: leave --method {} out",
            method.name()
        ),
        Weld::MethodInSlabs { method } => format!(
            "slabs are welded by --method grid alone: leave --method {} out, or give weld more memory",
            method.name()
        ),
        Weld::TooLarge { .. } => format!("{error}: weld parts of the mesh, or use --device serial"),
        Weld::TooDense { .. } => format!("{error}, or use another --device"),
        Weld::FacesInSlabs { .. } => format!("{error}, or keep them by --keep-degenerate"),
        Weld::Neighbours { .. } => {
            format!("{error}: use --method grid, which has none, or a smaller epsilon")
        }
        _ => return error.into(),
    };
    match is_memory {
        true => Error::NoMemory(text),
        false => Error::Argument(text),
    }
}

/// Refuses an output of no format, and arguments that contradict each other, before anything is read.
pub fn check(options: &Options) -> Result<()> {
    if let Some(output) = &options.output {
        Format::to_write(output)?;
    }
    check_arguments(options)
}

/// As [`check`], without the output's format: ranks write a list of pieces too.
pub fn check_arguments(options: &Options) -> Result<()> {
    if options.device.precision == Precision::F32 {
        return Err(Error::Argument(
            "weld computes in double precision: leave --precision f32 out".to_owned(),
        ));
    }
    let outputs = [&options.map, &options.removed, &options.device.json];
    if outputs.into_iter().filter(|path| to_output(path)).count() > 1 {
        return Err(Error::Argument(
            "only one of --map, --removed and --json can go to standard output: name files for the others"
                .to_owned(),
        ));
    }
    Ok(())
}

fn to_output(path: &Option<PathBuf>) -> bool {
    path.as_deref().is_some_and(is_standard_output)
}

/// Reports the number of normals that have no direction because they are not finite, or too large.
pub fn note_normals(mesh: &Mesh, quiet: bool) {
    let is_bad = |x: &f64| x.is_nan() || x.abs() > gpu::weld::LARGEST_COORDINATE;
    let normals = mesh.attributes.normals.iter().flatten();
    let bad = normals.filter(|n| n.to_array().iter().any(is_bad)).count();
    if bad > 0 {
        note(
            quiet,
            format_args!("{bad} normals are not finite or beyond 1e298: they count as zero"),
        );
    }
}

fn report<'a>(
    options: &'a Options,
    outcome: &Outcome,
    [vertices, faces]: [usize; 2],
    welded: &Mesh,
) -> Report<'a> {
    let mut counts = vec![
        ("vertices", json!(vertices)),
        ("faces", json!(faces)),
        ("epsilon", json!(outcome.epsilon)),
    ];
    if let Some(found) = &outcome.found {
        counts.extend([
            ("ratio", json!(found.ratio)),
            ("clusterings", json!(found.clusterings)),
        ]);
    }
    counts.extend(
        outcome
            .locked
            .map(|locked| ("locked_vertices", json!(locked))),
    );
    counts.extend([
        ("welded_vertices", json!(welded.points.len())),
        ("welded_faces", json!(welded.faces.len())),
    ]);
    counts.extend(outcome.method.map(|m| ("method", json!(m.name()))));
    counts.extend(outcome.rounds.map(|rounds| ("rounds", json!(rounds))));
    if let Some((slabs, passes)) = outcome.slabs {
        counts.extend([("slabs", json!(slabs)), ("passes", json!(passes))]);
    }
    Report {
        command: "weld",
        input: &options.input,
        device: outcome.device.clone(),
        stages: outcome.stages.clone(),
        counts,
        peak_bytes: outcome.peak_bytes,
    }
}

/// Writes numbers as text, one a line.
fn write_numbers(path: &Path, numbers: impl Iterator<Item = u32>) -> Result<()> {
    let mut text = String::new();
    let mut digits = itoa::Buffer::new();
    for number in numbers {
        text.push_str(digits.format(number));
        text.push('\n');
    }
    if is_standard_output(path) {
        return print(&text);
    }
    write_atomically(path, |file| file.write_all(text.as_bytes()))
}

/// Notes on standard error that no distance removes the wanted fraction.
pub fn note_ratio(wanted: f64, found: &Found) {
    if (found.ratio - wanted).abs() > RATIO_TOLERANCE {
        trioxide_arguments::print_error(format_args!(
            "no distance that was tried removes {wanted} of the vertices: the nearest, {}, removes {}",
            found.epsilon, found.ratio
        ));
    }
}

fn on_device(on: &Device, mesh: &Mesh, locks: &Locks, options: &Options) -> weld::Result<Outcome> {
    let clusters = &options.clusters;
    let mut settings = clusters.options(clusters.epsilon.unwrap_or(0.0));
    // Refused before copies are made.
    settings.check()?;
    let free = on.free_bytes()?;
    let limit = (options.memory_limit).map_or(free, |bytes| free.min(bytes as u64));
    let is_guarded = settings.guards != Guards::default() || !clusters.lock.is_empty();
    if settings.method == Method::Auto && (options.memory_limit.is_some() || is_guarded) {
        settings.method = Method::Grid;
    }
    let needed = DeviceMesh::bytes_needed(mesh, locks, settings.method);
    let faces = weld::triangles(mesh);
    if needed > limit || weld::check_sizes(mesh.points.len(), faces.len()).is_err() {
        return in_slabs(on, mesh, &settings, options, [needed, limit]);
    }
    if options.memory_limit.is_some() {
        // Lists whose length is not known before take the remaining bytes, or are not made.
        settings.tuning.dense_share = Some(0);
        settings.tuning.most_neighbours = (limit - needed) / 4;
    }
    if clusters.ratio.is_some() || is_guarded || carries(mesh) {
        return resident(on, mesh, locks, clusters, &settings);
    }
    let result = match weld::weld_from_host(on, &mesh.points, faces, settings) {
        // Another process has taken memory meanwhile: slabs are as small as they must be. Half of what is left stays
        // for it.
        Err(weld::Error::Shared(Error::OutOfMemory { .. })) if on.is_gpu() => {
            let limit = limit.min(on.free_bytes()? / 2);
            return in_slabs(on, mesh, &settings, options, [needed, limit]);
        }
        result => result?,
    };
    Ok(Outcome {
        device: on.name(),
        welded: result.welded,
        epsilon: settings.epsilon,
        found: None,
        locked: None,
        stages: account::take_stages(on)?,
        method: Some(result.method),
        rounds: Some(result.left.len()),
        slabs: None,
        peak_bytes: Some(on.peak_bytes()),
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
    settings: &weld::Options,
    options: &Options,
    [needed, limit]: [u64; 2],
) -> weld::Result<Outcome> {
    let clusters = &options.clusters;
    let method = format!("--method {}", settings.method.name());
    let is_known = matches!(settings.method, Method::Auto | Method::Grid);
    let has_guards = settings.guards != Guards::default();
    for (is_there, what, remedy) in [
        (clusters.ratio.is_some(), "--ratio", "give --epsilon"),
        (has_guards, "tolerances", "leave them out"),
        (!clusters.lock.is_empty(), "--lock", "leave it out"),
        (!is_known, &*method, "leave it out"),
        (
            carries(mesh),
            "normals, colours, texture coordinates and regions",
            "drop them (trioxide convert to .off)",
        ),
    ] {
        if is_there {
            return Err(weld::Error::Shared(Error::NoMemory(format!(
                "welding at once takes {needed} bytes of {}, of which {limit} may be used, and in slabs it does without {what}: \
                 {remedy}, or give weld more memory",
                on.name()
            ))));
        }
    }
    trioxide_arguments::note(
        options.device.quiet,
        format_args!(
            "welding at once takes {needed} bytes of device memory, of which {limit} may be used: welding in slabs"
        ),
    );
    let faces = weld::triangles(mesh);
    let result = weld::weld_in_slabs(on, &mesh.points, faces, *settings, limit)?;
    Ok(Outcome {
        device: on.name(),
        welded: result.welded,
        epsilon: settings.epsilon,
        found: None,
        locked: None,
        stages: account::take_stages(on)?,
        method: Some(Method::Grid),
        rounds: None,
        slabs: Some((result.slabs, result.left.len())),
        peak_bytes: Some(on.peak_bytes()),
    })
}

/// Welds with attributes, locks and regions, on the device from beginning to end.
fn resident(
    on: &Device,
    mesh: &Mesh,
    locks: &Locks,
    clusters: &Clusters,
    settings: &weld::Options,
) -> weld::Result<Outcome> {
    let resident = DeviceMesh::upload_locked(on, mesh, locks)?;
    let search = |ratio| weld::epsilon_for_ratio(on, &resident, clusters.guards(), ratio);
    let mut stages = account::take_stages(on)?;
    let found = clusters.ratio.map(search).transpose()?;
    if found.is_some() {
        // The search runs the stages of a weld many times: they are reported as one.
        let of_search = on.take_stages()?;
        stages.push(Stage {
            name: "search epsilon",
            milliseconds: of_search.iter().map(|stage| stage.milliseconds).sum(),
        });
        account::stages(&stages[stages.len() - 1..]);
    }
    let epsilon = found.map(|found| found.epsilon).or(clusters.epsilon);
    let epsilon = epsilon.expect("the options ask for one of both");
    let settings = weld::Options {
        epsilon,
        ..*settings
    };
    let result = weld::weld(on, &resident, settings)?;
    let locked = resident.carried().count_locked(on)?;
    let welded = result.download(on)?;
    stages.extend(account::take_stages(on)?);
    Ok(Outcome {
        device: on.name(),
        epsilon,
        found,
        locked: locked.map(|count| count as usize),
        method: Some(result.method()),
        rounds: Some(result.left().len()),
        slabs: None,
        welded,
        stages,
        peak_bytes: Some(on.peak_bytes()),
    })
}

fn serial(mesh: &Mesh, locks: &Locks, clusters: &Clusters) -> weld::Result<Outcome> {
    progress::stage("weld, sequentially");
    let start = Instant::now();
    let locked = locks.find(mesh)?;
    let carried = Carried::of(mesh, &locked);
    let search = |ratio| {
        reference::weld::epsilon_for_ratio(&mesh.points, &carried, &clusters.guards(), ratio)
    };
    let found = clusters.ratio.map(search).transpose()?;
    let epsilon = found.map(|found| found.epsilon).or(clusters.epsilon);
    let epsilon = epsilon.expect("the options ask for one of both");
    let options = clusters.options(epsilon);
    let welded = reference::weld_carrying(&mesh.points, weld::triangles(mesh), &carried, &options)?;
    let stages = vec![Stage {
        name: "weld",
        milliseconds: start.elapsed().as_secs_f64() * 1e3,
    }];
    account::stages(&stages);
    Ok(Outcome {
        device: "serial".to_owned(),
        welded,
        epsilon,
        found,
        locked: (!locked.is_empty()).then(|| locked.iter().filter(|&&lock| lock).count()),
        stages,
        method: None,
        rounds: None,
        slabs: None,
        peak_bytes: None,
    })
}
