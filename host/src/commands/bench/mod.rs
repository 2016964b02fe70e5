//! `trioxide bench`: stage times of a pipeline, resident on the device.

mod refine;
mod smooth;
mod tets;
mod transfers;
mod weld;

use std::collections::BTreeMap;
use std::time::Instant;

use clap::{Args, ValueEnum};
use glam::{DVec2, DVec3, Vec2, Vec3};
use serde_json::json;
use trioxide::backend::{Choice, Device, Stage};
use trioxide::half_edges::{DeviceTriangulation, Point};
use trioxide::indexed::{self, Neighbours};
use trioxide::mesh::Triangulation;
use trioxide::polylla::{self, Constraints};
use trioxide::selftest::weld as scans;
use trioxide::{Error, Result, generate};

use super::device::{DeviceOptions, Precision};
use super::polylla::{Method, Repair, check_repair};
use super::refine::Mark;
use super::{generate::parse_count, is_standard_output, print, write_json};

/// Time the stages of a pipeline over several runs
///
/// The mesh is generated, copied to the device once and stays there. Times are medians, with minimum and maximum.
#[derive(Args)]
pub struct Options {
    /// Pipeline to time
    family: Family,
    /// Data that polygons are made from
    #[arg(long, value_enum, default_value = "half-edge")]
    method: Method,
    /// Where --method indexed splits polygons with barrier tips [default: device]
    #[arg(long, value_enum)]
    repair: Option<Repair>,
    /// Mesh
    #[arg(long, value_enum, default_value = "grid")]
    mesh: Mesh,
    /// Number of points: 1000000, 1e6 or 1M
    #[arg(short, value_name = "N", default_value = "1M", value_parser = parse_count)]
    n: usize,
    /// Triangles that refine marks: all, fraction:F, box:X0,Y0,X1,Y1, disk:X,Y,R, area:A, angle:DEGREES or
    /// ids:A,B,…
    #[arg(long, value_name = "MARKING", default_value = "fraction:0.001")]
    mark: Mark,
    #[command(flatten)]
    weld: weld::Settings,
    /// Seed of a random mesh
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Runs that count, after two that do not
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    #[command(flatten)]
    device: DeviceOptions,
}

#[derive(Clone, Copy, ValueEnum)]
enum Family {
    /// Half-edges from triangles, polygons from half-edges.
    Polylla,
    /// Edges from triangles, and a round of longest-edge bisection.
    Refine,
    /// One level of refinement of tetrahedra.
    RefineTets,
    /// Clusters of a scan's vertices.
    Weld,
    /// Copies between host and device, and their share in weld's time, for scans of the paper's sizes up to -n.
    Transfers,
    /// Laplacian smoothing of tetrahedra: 16 sweeps, and to convergence, of each form in each layout.
    Smooth,
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
    /// Terrain as an aerial scanner sees it, without faces.
    Cloud,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    check_repair(options.method, options.repair)?;
    let Some(device) = options.device.open()? else {
        return Err(Error::Argument(format!(
            "--device {} has no kernels to time: `trioxide polylla --device serial --timings` prints its phases",
            Choice::Serial
        )));
    };
    let runs = options.runs;
    let DeviceOptions {
        precision, json, ..
    } = &options.device;
    if matches!(options.family, Family::Transfers) {
        return transfers::run(&device, options.n, options.seed, runs, json.as_deref());
    }
    if matches!(options.family, Family::Weld) {
        let scan = || scans::scan(options.n, options.seed);
        let mesh = match options.mesh {
            Mesh::Scan => scan(),
            Mesh::ShuffledScan => {
                let (points, faces) = scan();
                scans::shuffled(&points, &faces)
            }
            Mesh::Cloud => (generate::cloud(options.n, options.seed)?.points, Vec::new()),
            _ => {
                return Err(Error::Argument(
                    "bench weld takes --mesh scan, shuffled-scan or cloud".to_owned(),
                ));
            }
        };
        return weld::run(&device, mesh, &options.weld, runs, json.as_deref());
    }
    if let Mesh::Scan | Mesh::ShuffledScan | Mesh::Cloud = options.mesh {
        return Err(Error::Argument(
            "--mesh scan, shuffled-scan and cloud are for bench weld".to_owned(),
        ));
    }
    if matches!(options.family, Family::RefineTets | Family::Smooth) {
        let mesh = match options.mesh {
            Mesh::Random => generate::random_tets(options.n, options.seed)?,
            _ => generate::tet_grid(options.n, options.seed)?,
        };
        if matches!(options.family, Family::Smooth) {
            let mesh = mesh.into();
            return match precision {
                Precision::F64 => smooth::run::<DVec3>(&device, &mesh, runs, json.as_deref()),
                Precision::F32 => smooth::run::<Vec3>(&device, &mesh, runs, json.as_deref()),
            };
        }
        return tets::run(&device, &mesh, *precision, runs, json.as_deref());
    }
    let mesh = match options.mesh {
        Mesh::Jittered => generate::jittered(options.n, options.seed)?,
        Mesh::Random => generate::random(options.n, options.seed)?,
        _ => generate::grid(options.n)?,
    };
    let repair = options.repair.map(Into::into).unwrap_or_default();
    let is_double = options.device.precision == Precision::F64;
    let (stages, peak_bytes) = match (options.family, options.method) {
        (Family::Polylla, Method::HalfEdge) if is_double => polylla::<DVec2>(&device, &mesh, runs)?,
        (Family::Polylla, Method::HalfEdge) => polylla::<Vec2>(&device, &mesh, runs)?,
        (Family::Polylla, Method::Indexed) if is_double => {
            indexed::<DVec2>(&device, &mesh, repair, runs)?
        }
        (Family::Polylla, Method::Indexed) => indexed::<Vec2>(&device, &mesh, repair, runs)?,
        (Family::RefineTets | Family::Smooth | Family::Weld | Family::Transfers, _) => {
            unreachable!("their meshes are not planar")
        }
        (Family::Refine, _) => {
            let marking = options.mark.marking(options.seed, mesh.triangles.len())?;
            if is_double {
                refine::bench::<DVec2>(&device, &mesh, &marking, runs)?
            } else {
                refine::bench::<Vec2>(&device, &mesh, &marking, runs)?
            }
        }
    };
    if let Some(path) = &options.device.json {
        let rows: Vec<_> = stages
            .iter()
            .map(|row| {
                json!({"pipeline": row.pipeline, "name": row.stage, "milliseconds": row.median,
                       "minimum": row.minimum, "maximum": row.maximum})
            })
            .collect();
        let object = json!({
            "command": "bench",
            "family": options.family.to_possible_value().expect("none is hidden").get_name(),
            "method": options.method.to_possible_value().expect("none is hidden").get_name(),
            "mesh": options.mesh.to_possible_value().expect("none is hidden").get_name(),
            "mark": options.mark.to_string(),
            "device": device.name(),
            "vertices": mesh.points.len(),
            "triangles": mesh.triangles.len(),
            "runs": options.runs,
            "peak_bytes": peak_bytes,
            "stages": rows,
        });
        write_json(path, &object)?;
        if is_standard_output(path) {
            return Ok(());
        }
    }
    let mut text = format!(
        "{}: {} vertices, {} triangles, median of {} runs, milliseconds\n",
        device.name(),
        mesh.points.len(),
        mesh.triangles.len(),
        options.runs
    );
    for row in &stages {
        text += &format!(
            "{:<12} {:<32} {:>10.3} {:>10.3} {:>10.3}\n",
            row.pipeline, row.stage, row.median, row.minimum, row.maximum
        );
    }
    let [per_point, per_triangle] =
        [mesh.points.len(), mesh.triangles.len()].map(|n| peak_bytes as f64 / n as f64);
    text += &format!(
        "most device memory from host arrays to host arrays: {per_point:.1} bytes a point, {per_triangle:.1} a triangle\n"
    );
    print(&text)
}

pub(super) struct Row {
    pub pipeline: &'static str,
    pub stage: &'static str,
    pub median: f64,
    pub minimum: f64,
    pub maximum: f64,
}

impl Row {
    fn new(pipeline: &'static str, stage: &'static str, mut times: Vec<f64>) -> Self {
        times.sort_by(f64::total_cmp);
        Self {
            pipeline,
            stage,
            median: times[times.len() / 2],
            minimum: times[0],
            maximum: times[times.len() - 1],
        }
    }
}

/// A sum over stages: its name, and which it takes.
type Total<'a> = (&'static str, &'a dyn Fn(&str) -> bool);

/// Times of `work` by stage, and of all its stages together.
pub(super) fn rows(
    pipeline: &'static str,
    on: &Device,
    runs: u32,
    work: impl FnMut() -> Result<()>,
) -> Result<Vec<Row>> {
    rows_with_totals(pipeline, on, runs, &[("all stages", &|_| true)], work)
}

fn rows_with_totals(
    pipeline: &'static str,
    on: &Device,
    runs: u32,
    totals: &[Total<'_>],
    mut work: impl FnMut() -> Result<()>,
) -> Result<Vec<Row>> {
    let mut times: BTreeMap<&'static str, Vec<f64>> = BTreeMap::new();
    let mut order = Vec::new();
    for run in 0..runs + 2 {
        on.take_stages()?;
        work()?;
        let mut stages = on.take_stages()?;
        let sums: Vec<Stage> = totals
            .iter()
            .map(|(name, takes)| Stage {
                name,
                milliseconds: stages
                    .iter()
                    .filter(|stage| takes(stage.name))
                    .map(|stage| stage.milliseconds)
                    .sum(),
            })
            .collect();
        stages.extend(sums);
        for Stage { name, milliseconds } in stages {
            if !order.contains(&name) {
                order.push(name);
            }
            if run >= 2 {
                times.entry(name).or_default().push(milliseconds);
            }
        }
    }
    Ok(order
        .into_iter()
        .filter_map(|stage| Some(Row::new(pipeline, stage, times.remove(stage)?)))
        .collect())
}

/// Time of `work` by the clock, files and start of the device left out.
pub(super) fn waited(
    stage: &'static str,
    runs: u32,
    mut work: impl FnMut() -> Result<()>,
) -> Result<Row> {
    let mut times = Vec::new();
    for run in 0..runs + 1 {
        let start = Instant::now();
        work()?;
        if run > 0 {
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
    }
    Ok(Row::new("as waited", stage, times))
}

fn polylla<P: Point>(on: &Device, mesh: &Triangulation, runs: u32) -> Result<(Vec<Row>, u64)> {
    on.reset_peak();
    let lists_only = polylla::Options {
        prev: false,
        ..polylla::Options::default()
    };
    let mut all = vec![waited("host arrays to host lists", runs.min(5), || {
        let half_edges = DeviceTriangulation::<P>::upload(on, mesh)?;
        let constraints = Constraints::none(on)?;
        let result = polylla::polylla(on, &half_edges, &constraints, lists_only)?;
        result.download_lists(on).map(drop)
    })?];
    let peak_bytes = on.peak_bytes();
    let points: Vec<P> = mesh.points.iter().map(|&p| P::from_f64(p)).collect();
    let origins = on.upload(bytemuck::cast_slice(&mesh.triangles))?;
    let mut resident = None;
    let points = on.upload(&points)?;
    all.extend(rows("half-edges", on, runs, || {
        drop(resident.take());
        let (points, origins) = (on.duplicate(&points)?, on.duplicate(&origins)?);
        let built = DeviceTriangulation::<P>::build(on, points, origins)?;
        drop(built.half_edges_of_vertices(on)?);
        resident = Some(built);
        Ok(())
    })?);
    drop((points, origins));
    let resident = resident.expect("at least one run");
    let constraints = Constraints::none(on)?;
    let half_edges_only = polylla::Options {
        lists: false,
        ..polylla::Options::default()
    };
    all.extend(rows("polylla", on, runs, || {
        polylla::polylla(on, &resident, &constraints, half_edges_only).map(drop)
    })?);
    all.extend(rows("with lists", on, runs, || {
        polylla::polylla(on, &resident, &constraints, lists_only).map(drop)
    })?);
    Ok((all, peak_bytes))
}

fn indexed<P: Point>(
    on: &Device,
    mesh: &Triangulation,
    repair: indexed::Repair,
    runs: u32,
) -> Result<(Vec<Row>, u64)> {
    on.reset_peak();
    let options = indexed::Options {
        repair,
        ..indexed::Options::default()
    };
    let mut all = vec![waited("host arrays to host lists", runs.min(5), || {
        let half_edges = DeviceTriangulation::<P>::upload(on, mesh)?;
        let neighbours = Neighbours::new(on, &half_edges)?;
        let constraints = Constraints::none(on)?;
        let result = indexed::indexed(on, &half_edges, &neighbours, &constraints, options)?;
        result.download(on).map(drop)
    })?];
    let peak_bytes = on.peak_bytes();
    let resident = DeviceTriangulation::<P>::upload(on, mesh)?;
    let constraints = Constraints::none(on)?;
    all.extend(rows("neighbours", on, runs, || {
        Neighbours::new(on, &resident).map(drop)
    })?);
    let neighbours = Neighbours::new(on, &resident)?;
    all.extend(rows("indexed", on, runs, || {
        indexed::indexed(on, &resident, &neighbours, &constraints, options).map(drop)
    })?);
    Ok((all, peak_bytes))
}
