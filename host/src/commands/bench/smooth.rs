//! `trioxide bench smooth`: stage times of smoothing a volume mesh that is resident on the device.

use std::path::Path;

use gpu::smooth::Vector;
use serde_json::json;
use trioxide::Result;
use trioxide::backend::Device;
use trioxide::smooth::cells::DeviceMesh;
use trioxide::smooth::{self, Blocks, Form, Layout, Options, Relations, bounds};
use trioxide::volume::VolumeMesh;

use super::{Row, rows};
use crate::commands::{is_standard_output, print, write_json};

/// Sweeps of a timed run of a fixed number.
const SWEEPS: u32 = 16;
/// The paper's tolerance, in edges of the cube.
const TOLERANCE: f64 = 1e-4;
/// Nodes from which one block is not timed.
const MOST_FOR_ONE_BLOCK: usize = 1 << 18;

/// Forms, and their names.
const FORMS: [(Form, Blocks, &str); 6] = [
    (Form::A, Blocks::Many, "form a"),
    (Form::B, Blocks::Many, "form b"),
    (Form::BColoured, Blocks::Many, "b-coloured"),
    (Form::BExact, Blocks::Many, "b-exact"),
    (Form::A, Blocks::One, "a, 1 block"),
    (Form::B, Blocks::One, "b, 1 block"),
];
const LAYOUTS: [(Layout, &str, &str); 3] = [
    (Layout::Soa, "16 sweeps, soa", "to convergence, soa"),
    (Layout::Aos, "16 sweeps, aos", "to convergence, aos"),
    (
        Layout::Aligned,
        "16 sweeps, aligned",
        "to convergence, aligned",
    ),
];

/// Times the relations, the order, and the sweeps of every form in every layout.
pub fn run<P: Vector>(
    on: &Device,
    mesh: &VolumeMesh,
    runs: u32,
    json: Option<&Path>,
) -> Result<()> {
    let bounds = bounds(&mesh.points);
    on.reset_peak();
    let resident = DeviceMesh::<P>::upload(on, mesh)?;
    let mut table = rows("prepare", on, runs, || {
        let relations = Relations::new(on, &resident)?;
        smooth::prepare(on, &resident, &relations, bounds, &[], &Options::default()).map(drop)
    })?;
    let relations = Relations::new(on, &resident)?;
    let mut iterations = Vec::new();
    for (form, blocks, name) in FORMS {
        if blocks == Blocks::One && mesh.points.len() >= MOST_FOR_ONE_BLOCK {
            continue;
        }
        let options = Options {
            form,
            blocks,
            ..Options::default()
        };
        let ordered = smooth::prepare(on, &resident, &relations, bounds, &[], &options)?;
        for (layout, fixed_number, to_convergence) in LAYOUTS {
            let fixed = Options {
                layout,
                max_iterations: SWEEPS,
                ..options.clone()
            };
            let relax =
                |options: &Options| smooth::relax(on, &resident, &relations, &ordered, options);
            table.extend(sweeps(name, fixed_number, on, runs, || {
                relax(&fixed).map(drop)
            })?);
            if mesh.points.len() >= MOST_FOR_ONE_BLOCK {
                continue;
            }
            let converging = Options {
                tolerance: TOLERANCE,
                max_iterations: 10_000,
                ..fixed
            };
            let mut taken = 0;
            table.extend(sweeps(name, to_convergence, on, runs.min(10), || {
                taken = relax(&converging)?.moves.sweeps;
                Ok(())
            })?);
            iterations.push((name, to_convergence, taken));
            if layout != Layout::Aligned {
                continue;
            }
            // What a user waits for whose mesh is on the device.
            let whole = rows(name, on, runs.min(10), || {
                smooth::smooth(on, &resident, bounds, &[], &converging).map(drop)
            })?;
            table.extend(
                whole
                    .into_iter()
                    .filter(|row| row.stage == "all stages")
                    .map(|row| Row {
                        stage: "mesh to converged, aligned",
                        ..row
                    }),
            );
        }
    }
    let (points, cells) = (mesh.points.len(), mesh.cells.len());
    if let Some(path) = json {
        let stages: Vec<_> = table
            .iter()
            .map(|row| {
                json!({"pipeline": row.pipeline, "name": row.stage, "milliseconds": row.median,
                       "minimum": row.minimum, "maximum": row.maximum})
            })
            .collect();
        let iterations: Vec<_> = iterations
            .iter()
            .map(|(form, name, count)| json!({"form": form, "name": name, "iterations": count}))
            .collect();
        let object = json!({
            "command": "bench",
            "family": "smooth",
            "device": on.name(),
            "vertices": points,
            "cells": cells,
            "runs": runs,
            "peak_bytes": on.peak_bytes(),
            "stages": stages,
            "iterations": iterations,
        });
        write_json(path, &object)?;
        if is_standard_output(path) {
            return Ok(());
        }
    }
    let mut text = format!(
        "{}: {points} vertices, {cells} cells, median of {runs} runs, milliseconds\n",
        on.name()
    );
    for row in &table {
        text += &format!(
            "{:<12} {:<32} {:>10.3} {:>10.3} {:>10.3}\n",
            row.pipeline, row.stage, row.median, row.minimum, row.maximum
        );
    }
    for (form, name, count) in iterations {
        text += &format!("{form:<12} {name:<32} {count:>10} sweeps\n");
    }
    text += &format!(
        "most device memory: {:.1} bytes a vertex\n",
        on.peak_bytes() as f64 / points as f64
    );
    print(&text)
}

/// The time of the stage of sweeps alone, under another name.
fn sweeps(
    pipeline: &'static str,
    name: &'static str,
    on: &Device,
    runs: u32,
    work: impl FnMut() -> Result<()>,
) -> Result<Option<Row>> {
    let row = rows(pipeline, on, runs, work)?
        .into_iter()
        .find(|row| row.stage == "sweeps");
    Ok(row.map(|row| Row { stage: name, ..row }))
}
