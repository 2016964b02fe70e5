//! `trioxide bench`: stage times of a pipeline, resident on the device.
//!
//! A family's module measures (`Measured`); `record` makes the one object of it that every family writes.
//!
//! A stage's floor is the sum of the bytes that its kernels declare (`moves`) and of its fills and copies, as the
//! device counts them. A kernel without a declaration is small, or its reads depend on the mesh: then the floor is the
//! sum of the others, still a lower bound.

mod cases;
mod compare;
mod decimate;
mod delaunay;
mod input;
mod kernels;
mod levels;
mod names;
mod polyhedra;
mod polylla;
mod record;
mod refine;
mod refine_tets;
mod reorder;
mod repair;
mod smooth;
mod timing;
mod transfers;
mod untangle;
mod weld;
mod whole;

use clap::{Args, Subcommand, ValueEnum};
use glam::DVec3;
use serde_json::{Map, Value, json};
use trioxide::device::{Choice, Device};
use trioxide::indexed::Repair;
use trioxide::marking::Marking;
use trioxide::mesh::Triangulation;
use trioxide::{Error, Result, generate};

use cases::{
    compare_case, decimate_case, delaunay_case, levels_case, polylla_cases, refine_case,
    reorder_case, repair_case, volume_case, weld_cases,
};
use record::Record;
use timing::{Row, Runs, Total, rows, rows_with_totals, waited};

use trioxide_arguments::device::{self, DeviceOptions};
use trioxide_arguments::names::worded;
use trioxide_operations::Precision;
use trioxide_operations::count::parse_count;
use trioxide_operations::polylla::{self as operation, DataStructure};

/// Time the stages of a pipeline over several runs
///
/// The mesh is generated or read (--input), copied to the device once and stays there. Times are medians, with minimum
/// and maximum; the floor of a stage is the time for its bytes at the device's copy bandwidth. `bench kernels` times
/// every kernel of all families by its name, for meshes of N vertices: bytes that it must move, GB/s, share of the copy
/// bandwidth. --json writes the same object for every family (schema trioxide-bench/1); cargo xtask bench makes tables
/// and plots of them.
///
/// `bench run` times whole commands, each in a process of its own, and where the time goes.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Options {
    #[command(subcommand)]
    whole: Option<Whole>,
    /// Pipeline to time
    #[arg(required = true)]
    family: Option<Family>,
    /// Data that polygons are made from
    #[arg(long, value_enum, default_value = "half-edge")]
    method: DataStructure,
    /// Where --method indexed splits polygons with barrier tips, a case each: device, host or both [default: device]
    #[arg(long, value_enum, value_name = "WHERE,…", value_delimiter = ',')]
    repair: Vec<Repair>,
    /// Mesh
    #[arg(long, value_enum, default_value = "grid")]
    mesh: Mesh,
    /// Number of points: 1000000, 1e6 or 1M
    #[arg(short, value_name = "N", default_value = "1M", value_parser = parse_count)]
    n: usize,
    #[command(flatten)]
    file: input::Input,
    /// Triangles that refine marks: all, fraction:F, box:X0,Y0,X1,Y1, disk:X,Y,R, area:A, angle:DEGREES or
    /// ids:A,B,…
    #[arg(long, value_name = "MARKING", default_value = "fraction:0.001")]
    mark: Marking,
    #[command(flatten)]
    weld: weld::Settings,
    /// Part of the tetrahedra that is inverted before untangle
    #[arg(long, value_name = "PART", default_value_t = 0.1)]
    tangle: f64,
    /// Seed of a random mesh
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Runs that count, after two warm-up runs
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Seconds after which a measurement is not repeated any more, once three runs have counted [default: no limit]
    #[arg(long, value_name = "S", value_parser = parse_seconds)]
    seconds: Option<f64>,
    /// Precision of coordinates on the device
    #[arg(long, value_enum, default_value_t)]
    precision: Precision,
    #[command(flatten)]
    device: DeviceOptions,
}

#[derive(Subcommand)]
enum Whole {
    Run(whole::Options),
}

#[derive(Clone, Copy, ValueEnum)]
enum Family {
    /// Half-edges from triangles, polygons from half-edges.
    Polylla,
    /// Faces of tetrahedra, and polyhedra from them.
    Polyhedra,
    /// Six nested levels of polygons, of the plane or of a surface.
    Levels,
    /// Four nested levels of polyhedra.
    LevelsPolyhedra,
    /// Triangles from points.
    Delaunay,
    /// Edges from triangles, and a round of longest-edge bisection.
    Refine,
    /// One level of refinement of tetrahedra.
    RefineTets,
    /// Vertices and triangles along a curve.
    Reorder,
    /// Clusters of a scan's vertices.
    Weld,
    /// Edges of a scan collapsed, to a half and to a tenth of its triangles.
    Decimate,
    /// All steps of repair, of a scan of which every thousandth face is damaged.
    Repair,
    /// Copies between host and device, and their share in a weld of scans of the paper's sizes up to -n (its sections
    /// 6.6, 6.9).
    Transfers,
    /// Laplacian smoothing of tetrahedra: 16 sweeps, and to convergence, of each form in each layout.
    Smooth,
    /// Tetrahedra of a grid, a part of them inverted (--tangle), made valid and then better.
    Untangle,
    /// Distances between a mesh and one whose points are moved, from both sides.
    Compare,
    /// Every kernel of all of them: time, bytes that must move, GB/s, share of the copy bandwidth.
    Kernels,
}

#[derive(Clone, Copy, ValueEnum)]
enum Mesh {
    /// Uniform grid.
    Grid,
    /// Grid whose inner points are moved at random.
    Jittered,
    /// Delaunay triangulation of random points.
    Random,
    /// Displaced sphere with noise, vertices in the scanner's order.
    Scan,
    /// The same with its vertices in random order.
    ShuffledScan,
    /// Points of a landscape as airborne LiDAR sees it, without faces.
    Cloud,
    /// Points on an ellipse.
    Ellipse,
    /// Points on a circle, and its centre.
    Wheel,
    /// Points on two lines.
    Lines,
    /// Points on a parabola.
    Parabola,
    /// Points on a spiral.
    Spiral,
    /// Kuzmin's disk: points of very different density.
    Kuzmin,
    /// Points in a hundred clusters.
    Clusters,
    /// Random points among outlines of segments.
    Outlines,
    /// Outline of a sea with islands, refined to about N vertices.
    Coast,
}

impl Mesh {
    /// Of points alone that are hard to triangulate.
    fn plane(self) -> Option<generate::Plane> {
        Some(match self {
            Self::Ellipse => generate::Plane::Ellipse,
            Self::Wheel => generate::Plane::Wheel,
            Self::Lines => generate::Plane::Lines,
            Self::Parabola => generate::Plane::Parabola,
            Self::Spiral => generate::Plane::Spiral,
            Self::Kuzmin => generate::Plane::Kuzmin,
            Self::Clusters => generate::Plane::Clusters,
            _ => return None,
        })
    }
}

/// Results of a family's module for a case.
struct Measured {
    counts: Map<String, Value>,
    peak_bytes: u64,
    stages: Vec<Row>,
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if seconds >= 0.0 => Ok(seconds),
        _ => Err("expected a number of seconds".to_owned()),
    }
}

/// The families of `trioxide bench`, by their names.
pub fn families() -> Vec<String> {
    let all = Family::value_variants();
    all.iter().map(|&family| name_of(family)).collect()
}

/// As on the command line.
fn name_of(value: impl ValueEnum) -> String {
    let value = value.to_possible_value().expect("none is hidden");
    value.get_name().to_owned()
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    if let Some(Whole::Run(options)) = &options.whole {
        return whole::run(options);
    }
    operation::Options {
        method: options.method,
        repair: options.repair.first().copied(),
        ..operation::Options::default()
    }
    .check()
    .map_err(worded)?;
    check_mesh(options)?;
    let measured = device::run(&options.device.open()?, |device| match device {
        Some(device) => measure(device, options),
        None => Err(Error::Argument(format!(
            "--device {} has no kernels to time: `trioxide polylla --device serial --timings` prints its phases",
            Choice::Serial
        ))),
    });
    measured.map_err(|error| match options.file.path() {
        Some(path) => error.in_file(path),
        None => error,
    })
}

/// Refuses a mesh that the family does not take.
fn check_mesh(options: &Options) -> Result<()> {
    if options.file.path().is_some() {
        return match options.family() {
            family @ (Family::Kernels | Family::Transfers) => Err(Error::Argument(format!(
                "bench {} generates its meshes: leave --input out",
                name_of(family)
            ))),
            _ => Ok(()),
        };
    }
    let is_scanned = matches!(options.mesh, Mesh::Scan | Mesh::ShuffledScan | Mesh::Cloud);
    if is_scanned && matches!(options.family(), Family::Kernels) {
        return Err(Error::Argument(
            "bench kernels takes --mesh grid, jittered or random, for triangles and tetrahedra; it always welds a scan"
                .to_owned(),
        ));
    }
    let goes = match options.family() {
        Family::Compare => true,
        Family::Weld | Family::Decimate | Family::Repair => is_scanned,
        Family::Polylla | Family::Levels => !is_scanned || matches!(options.mesh, Mesh::Scan),
        _ => !is_scanned,
    };
    if !goes {
        return Err(Error::Argument(
            "--mesh scan, shuffled-scan and cloud go with bench weld, decimate, repair and compare, scan with bench \
             polylla and levels too; weld, decimate and repair take no other"
                .to_owned(),
        ));
    }
    let takes_points = matches!(options.family(), Family::Delaunay | Family::Reorder);
    let has_segments = matches!(options.mesh, Mesh::Outlines | Mesh::Coast);
    if has_segments && !matches!(options.family(), Family::Delaunay) {
        return Err(Error::Argument(
            "--mesh outlines and coast have segments: bench delaunay takes them, and no other family does"
                .to_owned(),
        ));
    }
    if options.mesh.plane().is_some() && !takes_points {
        return Err(Error::Argument(format!(
            "--mesh {} has points alone: bench delaunay and bench reorder take it, and no other family does",
            name_of(options.mesh)
        )));
    }
    Ok(())
}

fn measure(device: &Device, options: &Options) -> Result<()> {
    let records = match options.family() {
        Family::Polylla => polylla_cases(device, options)?,
        Family::Levels => vec![levels_case(device, options)?],
        Family::Delaunay => vec![delaunay_case(device, options)?],
        Family::Reorder => vec![reorder_case(device, options)?],
        Family::Refine => vec![refine_case(device, options)?],
        Family::Polyhedra
        | Family::LevelsPolyhedra
        | Family::RefineTets
        | Family::Smooth
        | Family::Untangle => {
            vec![volume_case(device, options)?]
        }
        Family::Weld => weld_cases(device, options)?,
        Family::Compare => vec![compare_case(device, options)?],
        Family::Decimate => vec![decimate_case(device, options)?],
        Family::Repair => vec![repair_case(device, options)?],
        Family::Transfers => {
            let json = options.device.json.as_deref();
            return transfers::run(device, options.n, options.seed, options.runs(), json);
        }
        Family::Kernels => kernels::cases(device, options)?,
    };
    record::give(device, &records, options.device.json.as_deref())
}

impl Options {
    fn family(&self) -> Family {
        self.family.expect("clap asks for a family")
    }

    fn runs(&self) -> Runs {
        Runs {
            most: self.runs,
            seconds: self.seconds.unwrap_or(f64::INFINITY),
        }
    }

    /// The faces or points of the file, if there is one.
    fn surface(&self) -> Result<Option<trioxide::mesh::Mesh>> {
        let surface = |path| {
            self.file
                .surface(path, &name_of(self.family()), self.device.quiet)
        };
        self.file.path().map(surface).transpose()
    }

    fn is_double(&self) -> bool {
        self.precision == Precision::F64
    }

    /// The record of a measurement; `details` distinguish the case, beside the mesh, from others of the family.
    fn record(&self, measured: Measured, details: &[(&str, String)]) -> Record {
        let (mesh, n) = match self.file.path() {
            Some(path) => (
                path.display().to_string(),
                measured.counts["vertices"].clone(),
            ),
            None => (name_of(self.mesh), json!(self.n)),
        };
        let mut case = format!("{mesh} {n}");
        let mut parameters =
            names::map([("mesh", json!(mesh)), ("n", n), ("seed", json!(self.seed))]);
        // These are by doubles, whatever the precision.
        let is_double = matches!(
            self.family(),
            Family::Weld
                | Family::Decimate
                | Family::Repair
                | Family::Levels
                | Family::LevelsPolyhedra
        );
        let precision = match self.is_double() || is_double {
            true => "f64",
            false => "f32",
        };
        parameters.insert("precision".to_owned(), json!(precision));
        if precision == "f32" {
            case += ", f32";
        }
        for (name, value) in details {
            parameters.insert((*name).to_owned(), json!(value));
            case += &format!(", {value}");
        }
        Record {
            family: name_of(self.family()),
            case,
            parameters,
            counts: measured.counts,
            peak_bytes: measured.peak_bytes,
            stages: measured.stages,
        }
    }

    /// The surface in space that is asked for; `None` where a mesh of the plane is.
    fn surface_in_space(&self) -> Result<Option<Triangulation<DVec3>>> {
        let mesh = match self.surface()? {
            Some(mesh) => mesh,
            None if matches!(self.mesh, Mesh::Scan) => generate::scan(self.n, self.seed)?,
            None => return Ok(None),
        };
        match mesh.is_planar() || mesh.faces.is_empty() {
            true => Ok(None),
            false => Ok(Some(mesh.into_surface()?)),
        }
    }

    fn planar_mesh(&self) -> Result<Triangulation> {
        if let Some(path) = self.file.path() {
            return self
                .file
                .planar(path, &name_of(self.family()), self.device.quiet);
        }
        match self.mesh {
            Mesh::Jittered => generate::jittered(self.n, self.seed),
            Mesh::Random => generate::random(&Device::cpu(None)?, self.n, self.seed),
            _ => generate::grid(self.n),
        }
    }
}
