//! Times of vertex clustering, from and to the device's memory, and from and to the host's.

use clap::Args;
use glam::DVec3;
use serde_json::json;
use trioxide::Result;
use trioxide::device::Device;
use trioxide::weld::{self, DeviceMesh, Guards, Method, Tuning};

use trioxide_operations::count::parse_count;

use super::names::map;
use super::{Measured, Runs, rows, waited};

/// Distance and method of the weld.
#[derive(Args)]
pub struct Settings {
    /// Distance within which weld merges vertices [default: one that removes the fraction --ratio of the vertices]
    #[arg(long, value_name = "E")]
    epsilon: Option<f64>,
    /// Fractions of the vertices that weld is to remove, a case each: 0.5 or 0.01,0.1,0.5
    #[arg(long, value_name = "R,…", value_delimiter = ',', default_value = "0.5")]
    ratio: Vec<f64>,
    /// Weld: how clusters are computed, as `trioxide weld --method`
    #[arg(long, value_enum, default_value = "grid")]
    weld_method: Method,
    /// Weld: vertices of an occupied cell that the choice of cells aims at
    #[arg(long, value_name = "N", default_value_t = Tuning::default().points_per_cell)]
    points_per_cell: f64,
    /// Weld: side of the cells, as a multiple of the least side for epsilon
    #[arg(long, value_name = "F", default_value_t = Tuning::default().cell_width)]
    cell_width: f64,
    /// Weld: vertices of a block of buckets
    #[arg(long, value_name = "N", default_value_t = Tuning::default().points_per_block)]
    points_per_block: usize,
    /// Weld: sweeps in vain after which a block of the decision gives up
    #[arg(long, value_name = "N", default_value_t = Tuning::default().patience)]
    patience: u32,
    /// Weld: vertices are decided along chains where most are near the next one, or more than one in N are left after
    /// the first round; 0: never [default: 8 on a GPU, 0 on a CPU]
    #[arg(long, value_name = "N")]
    dense_share: Option<usize>,
    /// Weld in slabs too, within BYTES of device memory: 512M, 4G
    #[arg(long, value_name = "BYTES", value_parser = parse_count)]
    memory_limit: Option<usize>,
}

/// Times the mesh of `points` and `faces` by each epsilon or ratio: the epsilon or ratio, and the times.
pub fn bench(
    on: &Device,
    points: &[DVec3],
    faces: &[[u32; 3]],
    settings: &Settings,
    runs: Runs,
) -> Result<Vec<(String, Measured)>> {
    let wanted: Vec<(String, Option<f64>)> = match settings.epsilon {
        Some(epsilon) => vec![(format!("epsilon {epsilon:e}"), None)],
        None => settings
            .ratio
            .iter()
            .map(|&ratio| (format!("{} %", 100.0 * ratio), Some(ratio)))
            .collect(),
    };
    wanted
        .into_iter()
        .map(|(name, ratio)| {
            let measured = by(on, points, faces, settings, ratio, runs)?;
            let method = settings.weld_method;
            let name = match method {
                Method::Grid => name,
                method => format!("{name}, {}", method.name()),
            };
            Ok((name, measured))
        })
        .collect()
}

fn by(
    on: &Device,
    points: &[DVec3],
    faces: &[[u32; 3]],
    settings: &Settings,
    ratio: Option<f64>,
    runs: Runs,
) -> Result<Measured> {
    let mesh = DeviceMesh::upload_arrays(on, points, faces)?;
    let epsilon = match (ratio, settings.epsilon) {
        (Some(ratio), _) => weld::epsilon_for_ratio(on, &mesh, Guards::default(), ratio)?.epsilon,
        (None, epsilon) => epsilon.expect("an epsilon or a ratio"),
    };
    let method = settings
        .weld_method
        .choose(on, points.len(), faces.len(), true)?;
    let options = weld::Options {
        method,
        tuning: Tuning {
            points_per_cell: settings.points_per_cell,
            cell_width: settings.cell_width,
            points_per_block: settings.points_per_block,
            patience: settings.patience,
            dense_share: settings.dense_share,
            ..Tuning::default()
        },
        ..weld::Options::new(epsilon)
    };
    let (mut vertices, mut triangles, mut rounds) = (0, 0, 0);
    let mut stages = rows("weld", on, runs, || {
        let welded = weld::weld(on, &mesh, options)?;
        (vertices, triangles) = (welded.points().len(), welded.faces().len());
        rounds = welded.left().len();
        Ok(())
    })?;
    drop(mesh);
    on.reset_peak();
    stages.push(waited("host arrays to host arrays", runs.min(10), || {
        let mesh = DeviceMesh::upload_arrays(on, points, faces)?;
        drop(weld::weld(on, &mesh, options)?.download(on)?);
        Ok(())
    })?);
    let peak_bytes = on.peak_bytes();
    stages.push(waited(
        "the same, copies beside work",
        runs.min(10),
        || Ok(weld::weld_from_host(on, points, faces, options).map(drop)?),
    )?);
    let mut counts = map([
        ("vertices", json!(points.len())),
        ("triangles", json!(faces.len())),
        ("welded_vertices", json!(vertices)),
        ("welded_triangles", json!(triangles)),
        ("rounds", json!(rounds)),
        ("epsilon", json!(epsilon)),
    ]);
    if let Some(limit) = settings.memory_limit {
        let mut took = None;
        stages.extend(rows("in slabs", on, runs.min(5), || {
            took = Some(weld::weld_in_slabs(
                on,
                points,
                faces,
                options,
                limit as u64,
            )?);
            Ok(())
        })?);
        let took = took.expect("at least one run");
        counts.extend(map([
            ("slabs", json!(took.slabs)),
            ("passes", json!(took.left.len())),
            ("visits", json!(took.visits)),
            ("face_parts", json!(took.face_parts)),
        ]));
    }
    Ok(Measured {
        counts,
        peak_bytes,
        stages,
    })
}
