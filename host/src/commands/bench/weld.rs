//! `trioxide bench weld`: stage times of vertex clustering, from and to the device's memory, and from and to the host's.

use std::path::Path;

use clap::Args;
use glam::DVec3;
use serde_json::json;
use trioxide::Result;
use trioxide::backend::Device;
use trioxide::weld::{self, Method, Tuning};

use super::{rows, waited};
use crate::commands::generate::parse_count;
use crate::commands::weld::MethodOption;
use crate::commands::{is_standard_output, print, write_json};

/// Rounds of which the text tells more than their number.
const SHOWN: usize = 40;

/// What to weld by, and how.
#[derive(Args)]
pub struct Settings {
    /// Distance within which weld merges vertices [default: one that removes the fraction --ratio of the vertices]
    #[arg(long, value_name = "E")]
    epsilon: Option<f64>,
    /// Fraction of the vertices that weld is to remove
    #[arg(long, value_name = "R", default_value_t = 0.5)]
    ratio: f64,
    /// Weld: how clusters are computed, as `trioxide weld --method`
    #[arg(long, value_enum, default_value = "grid")]
    weld_method: MethodOption,
    /// Weld: vertices of an occupied cell that the choice of cells aims at
    #[arg(long, value_name = "N", default_value_t = Tuning::default().points_per_cell)]
    points_per_cell: f64,
    /// Weld: side of the cells in terms of what epsilon asks for at least
    #[arg(long, value_name = "F", default_value_t = Tuning::default().cell_width)]
    cell_width: f64,
    /// Weld: vertices of a block of buckets
    #[arg(long, value_name = "N", default_value_t = Tuning::default().points_per_block)]
    points_per_block: usize,
    /// Weld: sweeps in vain after which a block of the decision gives up
    #[arg(long, value_name = "N", default_value_t = Tuning::default().patience)]
    patience: u32,
    /// Weld: blocks of the first decision that a device runs at once
    #[arg(long, value_name = "N", default_value_t = Tuning::default().blocks_at_once)]
    blocks_at_once: u32,
    /// Weld in slabs too, with so many bytes of device memory: 512M, 4G
    #[arg(long, value_name = "BYTES", value_parser = parse_count)]
    memory_limit: Option<usize>,
}

/// Times the mesh of `points` and `faces`.
pub fn run(
    on: &Device,
    (points, faces): (Vec<DVec3>, Vec<[u32; 3]>),
    settings: &Settings,
    runs: u32,
    json: Option<&Path>,
) -> Result<()> {
    let (device_points, device_faces) = (on.upload(&points)?, on.upload(&faces)?);
    let epsilon = match settings.epsilon {
        Some(epsilon) => epsilon,
        None => weld::epsilon_for_ratio(on, &device_points, settings.ratio)?.epsilon,
    };
    let method = Method::from(settings.weld_method).choose(on, points.len(), faces.len(), true)?;
    let options = weld::Options {
        method,
        tuning: Tuning {
            points_per_cell: settings.points_per_cell,
            cell_width: settings.cell_width,
            points_per_block: settings.points_per_block,
            patience: settings.patience,
            blocks_at_once: settings.blocks_at_once,
            ..Tuning::default()
        },
        ..weld::Options::new(epsilon)
    };
    let (mut vertices, mut triangles, mut left) = (0, 0, Vec::new());
    let mut table = rows("weld", on, runs, || {
        let welded = weld::weld(on, &device_points, &device_faces, &options)?;
        (vertices, triangles) = (welded.points.len(), welded.faces.len());
        left = welded.left;
        Ok(())
    })?;
    drop((device_points, device_faces));
    on.reset_peak();
    table.push(waited("host arrays to host arrays", runs.min(10), || {
        let (points, faces) = (on.upload(&points)?, on.upload(&faces)?);
        weld::weld(on, &points, &faces, &options)?
            .download(on)
            .map(drop)
    })?);
    let peak_bytes = on.peak_bytes();
    table.push(waited(
        "the same, copies beside work",
        runs.min(10),
        || weld::weld_from_host(on, &points, &faces, &options).map(drop),
    )?);
    let mut passes = None;
    if let Some(limit) = settings.memory_limit {
        table.extend(rows("in slabs", on, runs.min(5), || {
            let took = weld::weld_in_slabs(on, &points, &faces, &options, limit as u64)?;
            passes = Some((took.slabs, took.left, took.visits, took.face_parts));
            Ok(())
        })?);
    }
    if let Some(path) = json {
        let stages: Vec<_> = table
            .iter()
            .map(|row| {
                json!({"pipeline": row.pipeline, "name": row.stage, "milliseconds": row.median,
                       "minimum": row.minimum, "maximum": row.maximum})
            })
            .collect();
        let mut object = json!({
            "command": "bench",
            "family": "weld",
            "device": on.name(),
            "vertices": points.len(),
            "faces": faces.len(),
            "epsilon": epsilon,
            "method": method.name(),
            "rounds": left.len(),
            "welded_vertices": vertices,
            "welded_faces": triangles,
            "left_after_rounds": left,
            "runs": runs,
            "peak_bytes": peak_bytes,
            "stages": stages,
        });
        if let Some((slabs, left, visits, parts)) = &passes {
            object["in_slabs"] = json!({"slabs": slabs, "left_after_passes": left, "visits": visits, "face_parts": parts});
        }
        write_json(path, &object)?;
        if is_standard_output(path) {
            return Ok(());
        }
    }
    let mut text = format!(
        "{}: {} vertices, {} triangles to {vertices} and {triangles} by epsilon {epsilon:e}, method {}, \
         median of {runs} runs, milliseconds\nundecided after each of {} rounds: {:?}{}\n",
        on.name(),
        points.len(),
        faces.len(),
        method.name(),
        left.len(),
        &left[..left.len().min(SHOWN)],
        if left.len() > SHOWN { " …" } else { "" },
    );
    for row in &table {
        text += &format!(
            "{:<12} {:<32} {:>10.3} {:>10.3} {:>10.3}\n",
            row.pipeline, row.stage, row.median, row.minimum, row.maximum
        );
    }
    if let Some((slabs, left, visits, parts)) = passes {
        text += &format!(
            "in slabs: {slabs} slabs, {visits} visits, undecided after each pass {left:?}, faces in {parts} parts\n"
        );
    }
    text += &format!(
        "most device memory from host arrays to host arrays: {:.1} bytes a vertex\n",
        peak_bytes as f64 / points.len() as f64
    );
    print(&text)
}
