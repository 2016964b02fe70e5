//! `trioxide bench`: stage times of a pipeline, resident on the device.

use std::collections::BTreeMap;
use std::time::Instant;

use clap::{Args, ValueEnum};
use glam::{DVec2, Vec2};
use serde_json::json;
use trioxide::backend::{Choice, Device, Stage};
use trioxide::half_edges::{DeviceTriangulation, Point};
use trioxide::indexed::{self, Neighbours};
use trioxide::mesh::Triangulation;
use trioxide::polylla::{self, Constraints};
use trioxide::selftest::weld as scans;
use trioxide::{Error, Result, generate, weld};

use super::device::{DeviceOptions, Precision};
use super::polylla::{Method, Repair, check_repair};
use super::{generate::parse_count, is_standard_output, print, write_json};

/// Time the stages of a pipeline over several runs
///
/// The mesh is generated, copied to the device once and stays there. Times are medians, with minimum and maximum.
#[derive(Args)]
pub struct Options {
    /// Pipeline to time
    family: Family,
    /// Distance within which weld merges vertices [default: one that removes the fraction --ratio of the vertices]
    #[arg(long, value_name = "E")]
    epsilon: Option<f64>,
    /// Fraction of the vertices that weld is to remove
    #[arg(long, value_name = "R", default_value_t = 0.5)]
    ratio: f64,
    /// Weld: vertices that are tried for one before it is left for the next round
    #[arg(long, value_name = "N", default_value_t = weld::Tuning::default().steps)]
    steps: u32,
    /// Weld: vertices of an occupied cell that the choice of cells aims at
    #[arg(long, value_name = "N", default_value_t = weld::Tuning::default().points_per_cell)]
    points_per_cell: f64,
    /// Weld: vertices of a block of buckets
    #[arg(long, value_name = "N", default_value_t = weld::Tuning::default().points_per_block)]
    points_per_block: usize,
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
    /// Clusters of a scan's vertices.
    Weld,
}

#[derive(Clone, Copy, ValueEnum)]
enum Mesh {
    /// Uniform grid.
    Grid,
    /// Delaunay triangulation of random points.
    Random,
    /// Displaced sphere with noise, vertices in the scanner's order.
    Scan,
    /// The same with its vertices in random order.
    ShuffledScan,
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
    let mesh = match (options.family, options.mesh) {
        (Family::Polylla, Mesh::Grid) => generate::grid(options.n)?,
        (Family::Polylla, Mesh::Random) => generate::random(options.n, options.seed)?,
        (Family::Weld, Mesh::Scan | Mesh::ShuffledScan) => return weld(&device, options),
        _ => {
            return Err(Error::Argument(
                "polylla takes --mesh grid or random, weld --mesh scan or shuffled-scan".to_owned(),
            ));
        }
    };
    let repair = options.repair.map(Into::into).unwrap_or_default();
    let (stages, peak_bytes) = match (options.method, options.device.precision) {
        (Method::HalfEdge, Precision::F64) => polylla::<DVec2>(&device, &mesh, runs)?,
        (Method::HalfEdge, Precision::F32) => polylla::<Vec2>(&device, &mesh, runs)?,
        (Method::Indexed, Precision::F64) => indexed::<DVec2>(&device, &mesh, repair, runs)?,
        (Method::Indexed, Precision::F32) => indexed::<Vec2>(&device, &mesh, repair, runs)?,
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
            "family": "polylla",
            "method": options.method.to_possible_value().expect("none is hidden").get_name(),
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
        "most device memory from host arrays to host lists: {per_point:.1} bytes a point, {per_triangle:.1} a triangle\n"
    );
    print(&text)
}

struct Row {
    pipeline: &'static str,
    stage: &'static str,
    median: f64,
    minimum: f64,
    maximum: f64,
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

/// Times of `work` by stage, and of all its stages together.
fn rows(
    pipeline: &'static str,
    on: &Device,
    runs: u32,
    mut work: impl FnMut() -> Result<()>,
) -> Result<Vec<Row>> {
    let mut times: BTreeMap<&'static str, Vec<f64>> = BTreeMap::new();
    let mut order = Vec::new();
    for run in 0..runs + 2 {
        on.take_stages()?;
        work()?;
        let mut stages = on.take_stages()?;
        stages.push(Stage {
            name: "all stages",
            milliseconds: stages.iter().map(|stage| stage.milliseconds).sum(),
        });
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
fn waited(stage: &'static str, runs: u32, mut work: impl FnMut() -> Result<()>) -> Result<Row> {
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

/// Times of welding: from and to the device's memory, and from and to the host's.
fn weld(on: &Device, options: &Options) -> Result<()> {
    let (mut points, mut faces) = scans::scan(options.n, options.seed);
    if let Mesh::ShuffledScan = options.mesh {
        (points, faces) = scans::shuffled(&points, &faces);
    }
    let (device_points, device_faces) = (on.upload(&points)?, on.upload(&faces)?);
    let epsilon = match options.epsilon {
        Some(epsilon) => epsilon,
        None => weld::epsilon_for_ratio(on, &device_points, options.ratio)?.epsilon,
    };
    let settings = weld::Options {
        tuning: weld::Tuning {
            steps: options.steps,
            points_per_cell: options.points_per_cell,
            points_per_block: options.points_per_block,
        },
        ..weld::Options::new(epsilon)
    };
    let mut counts = (0, 0, 0);
    let mut all = rows("weld", on, options.runs, || {
        let welded = weld::weld(on, &device_points, &device_faces, &settings)?;
        counts = (welded.points.len(), welded.faces.len(), welded.rounds);
        Ok(())
    })?;
    drop((device_points, device_faces));
    on.reset_peak();
    all.push(waited(
        "host arrays to host arrays",
        options.runs.min(10),
        || {
            let (points, faces) = (on.upload(&points)?, on.upload(&faces)?);
            weld::weld(on, &points, &faces, &settings)?
                .download(on)
                .map(drop)
        },
    )?);
    let (vertices, triangles, rounds) = counts;
    let mut text = format!(
        "{}: {} vertices, {} triangles to {vertices} and {triangles} by epsilon {epsilon:e} in {rounds} rounds, \
         median of {} runs, milliseconds\n",
        on.name(),
        points.len(),
        faces.len(),
        options.runs
    );
    for row in &all {
        text += &format!(
            "{:<12} {:<32} {:>10.3} {:>10.3} {:>10.3}\n",
            row.pipeline, row.stage, row.median, row.minimum, row.maximum
        );
    }
    text += &format!(
        "most device memory: {:.1} bytes a vertex\n",
        on.peak_bytes() as f64 / points.len() as f64
    );
    print(&text)
}
