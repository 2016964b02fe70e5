//! `trioxide polylla`: a triangulation becomes a polygonal mesh, a mesh of tetrahedra a mesh of polyhedra.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use glam::{DVec2, Vec2};
use serde_json::{Value, json};
use trioxide::device::{Choice, Device, Laps, Stage};
use trioxide::fields::{Carried, Fields};
use trioxide::formats::{Format, Printed, ReadOptions};
use trioxide::half_edges::{DeviceTriangulation, Point};
use trioxide::indexed::{self, Neighbours};
use trioxide::mesh::{
    Mesh, PolygonMesh, Polygons, PolyllaCounts, Ties, Triangulation, VertexAttributes,
};
use trioxide::polylla::{self, Constraints, PolygonTriangles};
use trioxide::reference::indexed::IndexedTriangulation;
use trioxide::{Error, Result, digest, progress, reference};

use trioxide_arguments::account;
use trioxide_arguments::auto::Work;
use trioxide_arguments::device::{self, DeviceOptions, Precision, Report};
use trioxide_arguments::polylla::{Method, Repair, check_repair};
use trioxide_operations::Machine;

#[path = "polyhedra.rs"]
pub mod polyhedra;

use polyhedra::By;

const DEFAULTS: &str = "Where defaults come from: this machine (--device auto, --threads: all cores); the newer of two papers (--method half-edge: GPolylla, 2023). The others are trioxide's own: regions \
    and segments hold, ties go by ids.";

/// Merge the triangles of a mesh into polygons, or its tetrahedra into polyhedra (Polylla)
///
/// Triangles that send each other along their longest edges become one polygon, tetrahedra along their largest faces
/// one polyhedron. Regions, segments and tagged faces of the input are never crossed. Fields of vertices stay as they
/// are; those of triangles have in a polygon the mean over its area, integers the value of its first triangle, as
/// regions; those of tetrahedra in a polyhedron the mean over its volume.
///
/// Under mpirun several processes work on one mesh, each on its own GPU (cargo xtask build --mpi), and write the file
/// of one (polygons to .ply by slices, polyhedra by the first), or a .pvtu with a piece of each. Of generate:grid:N,
/// generate:jittered:N and, without -o, generate:tets:N each makes its own part, so the mesh may be larger than one of
/// them holds, and than 32-bit ids.
#[derive(Args)]
#[command(after_help = DEFAULTS)]
pub struct Options {
    /// Triangulation to read, or generate:KIND:N (`trioxide help generate`): .off, .obj, .ply, .vtu, .vtp, .vtk, .msh,
    /// .mesh, .inp, .xdmf, .edges, or .node and .ele (either name or the bare stem); or tetrahedra: .vtu, .vtk, .msh,
    /// .mesh, .meshb, .inp, .xdmf, or .node and .ele
    pub input: PathBuf,
    /// Polygonal mesh to write: .off, .obj, .ply, .vtu, .vtp, .vtk, .xdmf or .ale; .ply, .xdmf and VTK's keep regions
    /// and segments. Polyhedra: .vtu, .foam with constant/polyMesh beside it (OpenFOAM), .visf (Camaron), or their
    /// faces to a format of faces
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Data that polygons are made from: half-edges, or arrays of triangles and their neighbours. Both give the same
    /// polygons
    #[arg(long, value_enum, default_value = "half-edge")]
    pub method: Method,
    /// Where --method indexed splits polygons with barrier tips [default: device]
    #[arg(long, value_enum)]
    repair: Option<Repair>,
    /// Split the few polygons that visit a vertex twice (--method half-edge), and polyhedra whose surface is no
    /// 2-manifold
    #[arg(long)]
    pub strict: bool,
    /// Which face of a tetrahedron is its largest: by area, or by the radius of the circle through its vertices
    /// [default: area]
    #[arg(long, value_enum, value_name = "MEASURE")]
    by: Option<By>,
    /// Join the triangles between two polyhedra that lie in one plane, exactly
    #[arg(long)]
    merge_faces: bool,
    /// Let polygons cross segments and region borders of the input, polyhedra tagged faces and region borders
    #[arg(long)]
    pub unconstrained: bool,
    /// Which of two equally long edges counts as longer: the one with the smaller id, or the first in the triangle
    #[arg(long, value_enum, default_value = "edge")]
    ties: TiesOption,
    /// Give a digest of the polygons, 64 bits in 16 digits: of their order and their vertices in order. It is the same
    /// for every device and any number of processes
    #[arg(long)]
    pub digest: bool,
    #[command(flatten)]
    pub reading: ReadOptions,
    #[command(flatten)]
    pub device: DeviceOptions,
}

#[derive(Clone, Copy, ValueEnum)]
enum TiesOption {
    Edge,
    First,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    if super::is_volume(&options.input, options.reading) {
        return polyhedra::run(options);
    }
    check_usage(options)?;
    if let Some(output) = &options.output {
        Format::to_write(output)?;
    }
    let opening = options.device.begin(&options.input, Work::POLYLLA);
    let mesh = super::read_mesh(&options.input, options.reading, options.device.quiet)?;
    // Rows with attributes are not printed ahead.
    let is_bare = mesh.attributes == VertexAttributes::default();
    let mut printed = Printed::default();
    let open = |points: &[DVec2]| match &options.output {
        Some(output) if is_bare => {
            let machine;
            (machine, printed) = super::open_beside_printing(opening, output, points)?;
            Ok(machine)
        }
        _ => opening.open(),
    };
    let (mesh, report) = apply(options, mesh, open, options.output.is_some())?;
    if let (Some(output), Some(mesh)) = (&options.output, mesh) {
        super::write_mesh_printed(output, &mesh, &printed, options.device.quiet)?;
    }
    report.give(&options.device)
}

/// Merges the triangles of a mesh on the machine that `open` gives, beside whose start it may use the points; the
/// polygons, if they are wanted, and the report.
pub fn apply(
    options: &Options,
    mut mesh: Mesh,
    open: impl FnOnce(&[DVec2]) -> Result<Machine>,
    wants_mesh: bool,
) -> Result<(Option<Mesh>, Report<'_>)> {
    let carried = super::check_faces(&mesh).and_then(|()| Carried::take(&mut mesh));
    let (mut carried, mut mesh) = carried
        .and_then(|carried| Ok((carried, mesh.into_triangulation()?)))
        .map_err(|error| error.in_file(&options.input))?;
    if options.unconstrained {
        mesh.regions = None;
        mesh.segments.clear();
        carried.fields.sides = Fields::default();
    }
    let wants_triangles = wants_mesh && !carried.fields.cells.is_empty();
    let run = (options, wants_triangles);
    let machine = open(&mesh.points)?;
    let result = device::run(&machine, |device| {
        match (device, options.device.precision) {
            (Some(on), Precision::F64) => on_device::<DVec2>(on, &mesh, run),
            (Some(on), Precision::F32) => on_device::<Vec2>(on, &mesh, run),
            (None, Precision::F64) => serial::<DVec2>(&mesh, run),
            (None, Precision::F32) => serial::<Vec2>(&mesh, run),
        }
    });
    let outcome = result.map_err(|error| {
        super::with_precision(error, options.device.precision).in_file(&options.input)
    })?;

    let run_counts = outcome.counts;
    let mut counts = vec![
        ("vertices", json!(mesh.points.len())),
        ("triangles", json!(mesh.triangles.len())),
        ("polygons", json!(run_counts.polygons)),
        ("regions", json!(run_counts.regions)),
        ("frontier_edges", json!(run_counts.frontier_edges)),
        ("barrier_tips", json!(run_counts.barrier_tips)),
        ("weakly_simple", json!(run_counts.weakly_simple)),
    ];
    if options.digest {
        let digest = digest::of_polygons(outcome.half_edges.len(), |i| {
            let vertices = outcome.polygons.get(i).iter();
            digest::of_polygon(outcome.half_edges[i].into(), vertices.map(|&v| v.into()))
        });
        counts.push(digest_row(digest));
    }
    counts.extend(
        outcome
            .rounds
            .map(|rounds| ("repair_rounds", json!(rounds))),
    );
    let report = Report {
        command: "polylla",
        input: &options.input,
        device: outcome.device,
        stages: outcome.stages,
        counts,
        peak_bytes: outcome.peak_bytes,
    };
    let polygons = wants_mesh.then(|| {
        let regions = mesh.regions.as_ref().map(|regions| {
            outcome
                .half_edges
                .iter()
                .map(|&h| regions[h as usize / 3])
                .collect()
        });
        if let Some(triangles) = outcome.triangles {
            let mix = triangles.mix(&mesh, &outcome.half_edges);
            carried.fields.cells = carried.fields.cells.mixed(&mix);
        }
        let mut mesh = Mesh::from(PolygonMesh {
            points: mesh.points,
            polygons: outcome.polygons,
            regions,
            // Each is a frontier edge, and those stay sides of polygons.
            segments: mesh.segments,
        });
        carried.put(&mut mesh);
        mesh
    });
    Ok((polygons, report))
}

/// The digest as a count of the report.
pub fn digest_row(digest: u64) -> (&'static str, Value) {
    ("digest", json!(format!("{digest:016x}")))
}

struct Outcome {
    device: String,
    polygons: Polygons,
    /// Smallest half-edge of each polygon.
    half_edges: Vec<u32>,
    /// Triangles of each polygon, if they have fields.
    triangles: Option<PolygonTriangles>,
    counts: PolyllaCounts,
    /// Rounds of the indexed method's repair on a device.
    rounds: Option<u32>,
    stages: Vec<Stage>,
    peak_bytes: Option<u64>,
}

/// Refuses options that contradict each other.
pub fn check_usage(options: &Options) -> Result<()> {
    check_repair(options.method, options.repair)?;
    let wrong = match (options.method, options.repair) {
        _ if options.merge_faces => {
            "--merge-faces goes with tetrahedra: polygons of the plane are one face each"
        }
        _ if options.by.is_some() => {
            "--by goes with tetrahedra: edges of triangles are compared by length"
        }
        (Method::Indexed, _) if options.strict => {
            "--strict needs half-edges: use --method half-edge, which gives the same polygons"
        }
        (Method::Indexed, Some(Repair::Device)) if options.device.device == Choice::Serial => {
            "--device serial repairs on the host: leave --repair device out"
        }
        _ => return Ok(()),
    };
    Err(Error::Argument(wrong.to_owned()))
}

impl Options {
    /// `--ties`.
    pub fn ties(&self) -> Ties {
        match self.ties {
            TiesOption::Edge => Ties::Edge,
            TiesOption::First => Ties::First,
        }
    }
}

/// The options, and whether the triangles of the polygons are wanted.
type Run<'a> = (&'a Options, bool);

fn on_device<P: Point>(on: &Device, mesh: &Triangulation, run: Run<'_>) -> Result<Outcome> {
    let (options, wants_triangles) = run;
    if options.method == Method::Indexed {
        return by_indices::<P>(on, mesh, run);
    }
    let settings = polylla::Options {
        strict: options.strict,
        ties: options.ties(),
        prev: false,
        lists: true,
    };
    let (points, triangles) = (mesh.points.len(), mesh.triangles.len());
    on.require(polylla::bytes_needed::<P>(points, triangles, settings))?;
    let half_edges = DeviceTriangulation::<P>::upload(on, mesh)?;
    let constraints = Constraints::of(on, &half_edges, mesh)?;
    let result = polylla::polylla(on, &half_edges, constraints.as_ref(), settings);
    let result = result.map_err(with_remedy)?;
    Ok(Outcome {
        device: on.name(),
        polygons: result.download_lists(on)?,
        half_edges: on.download_rows(result.half_edges())?,
        triangles: wants_triangles
            .then(|| result.download_triangles(on, &half_edges))
            .transpose()?,
        counts: result.counts(),
        rounds: None,
        stages: account::take_stages(on)?,
        peak_bytes: Some(on.peak_bytes()),
    })
}

fn by_indices<P: Point>(
    on: &Device,
    mesh: &Triangulation,
    (options, wants_triangles): Run<'_>,
) -> Result<Outcome> {
    let settings = indexed::Options {
        ties: options.ties(),
        repair: options.repair.map(Into::into).unwrap_or_default(),
    };
    let (points, triangles) = (mesh.points.len(), mesh.triangles.len());
    on.require(indexed::bytes_needed::<P>(points, triangles))?;
    let half_edges = DeviceTriangulation::<P>::upload(on, mesh)?;
    let constraints = Constraints::of(on, &half_edges, mesh)?;
    let neighbours = Neighbours::new(on, &half_edges)?;
    let constraints = constraints.as_ref();
    let result = indexed::indexed(on, &half_edges, &neighbours, constraints, settings);
    let result = result.map_err(with_remedy)?;
    let lists = result.download(on)?;
    let triangles = match wants_triangles {
        true => {
            let twins: Vec<u32> = on.download_rows(half_edges.twins())?;
            let (polygons, firsts) = (&lists.polygons, &lists.half_edges);
            Some(PolygonTriangles::of_polygons(
                mesh, &twins, polygons, firsts,
            ))
        }
        false => None,
    };
    Ok(Outcome {
        device: on.name(),
        triangles,
        polygons: lists.polygons,
        half_edges: lists.half_edges,
        counts: lists.counts,
        rounds: (settings.repair == indexed::Repair::Device).then_some(result.rounds()),
        stages: account::take_stages(on)?,
        peak_bytes: Some(on.peak_bytes()),
    })
}

/// The command's error: with the option that avoids it.
fn with_remedy(error: polylla::Error) -> Error {
    let is_tied = matches!(error, polylla::Error::TiedRing);
    match error.into() {
        Error::Invalid { element, rule } if is_tied => Error::Invalid {
            element,
            rule: rule + ": use --ties edge",
        },
        error => error,
    }
}

fn serial<P: Point>(mesh: &Triangulation, (options, wants_triangles): Run<'_>) -> Result<Outcome> {
    let mut laps = Laps::start();
    progress::stage("polylla, sequentially");
    // By the check of the devices, so that every machine refuses the same meshes in the same words.
    let on = Device::cpu(Some(1))?;
    let checked = DeviceTriangulation::<P>::upload(&on, mesh)?;
    Constraints::of(&on, &checked, mesh)?;
    drop(checked);
    laps.end("check the mesh");
    let half_edges = reference::half_edges(&mesh.triangles, mesh.points.len());
    laps.end("half-edges");
    let points: Vec<P> = mesh.points.iter().map(|&p| P::from_f64(p)).collect();
    let constrained = reference::constrained_edges(mesh, &half_edges)?;
    laps.end("mark constraints");
    let is_constrained = |h: u32| constrained[h as usize];
    let is_lost = options.ties() == Ties::First
        && reference::polylla::loses_triangles(&points, &half_edges, is_constrained, Ties::First);
    if is_lost {
        return Err(with_remedy(polylla::Error::TiedRing));
    }
    let (polygons, firsts, counts) = if options.method == Method::Indexed {
        let arrays = IndexedTriangulation::new(&mesh.triangles, mesh.points.len());
        laps.end("find neighbours");
        let (result, times) = reference::indexed(&points, &arrays, is_constrained, options.ties());
        laps.end_all(times);
        (result.polygons, result.half_edges, result.counts)
    } else {
        let (mut result, times) =
            reference::polylla(&points, &half_edges, is_constrained, options.ties());
        laps.end_all(times.phases());
        if options.strict {
            reference::polylla::split_weakly_simple(&half_edges, &mut result);
            laps.end("cut weakly simple polygons");
        }
        (result.polygons, result.half_edges, result.counts)
    };
    let triangles = wants_triangles.then(|| {
        let triangles = PolygonTriangles::of_polygons(mesh, &half_edges.twin, &polygons, &firsts);
        laps.end("list triangles");
        triangles
    });
    let stages = laps.into_stages();
    account::stages(&stages);
    Ok(Outcome {
        device: "serial".to_owned(),
        polygons,
        half_edges: firsts,
        triangles,
        counts,
        rounds: None,
        stages,
        peak_bytes: None,
    })
}
