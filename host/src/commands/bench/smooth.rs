//! `trioxide bench smooth`: stage times of smoothing a volume mesh that is resident on the device.

use std::path::Path;

use gpu::smooth::Vector;
use serde_json::{Value, json};
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
/// Layouts, and names of their rows.
const LAYOUTS: [(Layout, [&str; 3]); 3] = [
    (
        Layout::Soa,
        ["soa", "16 sweeps, soa", "to convergence, soa"],
    ),
    (
        Layout::Aos,
        ["aos", "16 sweeps, aos", "to convergence, aos"],
    ),
    (
        Layout::Aligned,
        ["aligned", "16 sweeps, aligned", "to convergence, aligned"],
    ),
];

/// What a form in a layout took to convergence: a number of the paper's tables 2 to 7 and figures 9 and 10.
struct Converged {
    form: Form,
    blocks: Blocks,
    layout: &'static str,
    sweeps: u32,
    row: Row,
}

impl Converged {
    fn names(&self) -> (&'static str, &'static str) {
        let form = match self.form {
            Form::A => "a",
            Form::B => "b",
            Form::BColoured => "b-coloured",
            Form::BExact => "b-exact",
        };
        let blocks = match self.blocks {
            Blocks::One => "one",
            Blocks::Many => "many",
        };
        (form, blocks)
    }

    fn to_json(&self) -> Value {
        let (form, blocks) = self.names();
        json!({"form": form, "layout": self.layout, "blocks": blocks, "iterations": self.sweeps,
               "milliseconds": self.row.median, "minimum": self.row.minimum, "maximum": self.row.maximum})
    }
}

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
    let mut converged = Vec::new();
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
        for (layout, [name_of_layout, fixed_number, to_convergence]) in LAYOUTS {
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
            let row = sweeps(name, to_convergence, on, runs.min(10), || {
                taken = relax(&converging)?.moves.sweeps;
                Ok(())
            })?;
            converged.extend(row.map(|row| Converged {
                form,
                blocks,
                layout: name_of_layout,
                sweeps: taken,
                row,
            }));
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
        let object = json!({
            "command": "bench",
            "family": "smooth",
            "device": on.name(),
            "vertices": points,
            "cells": cells,
            "runs": runs,
            "peak_bytes": on.peak_bytes(),
            "stages": stages,
            "tolerance": TOLERANCE,
            "to_convergence": converged.iter().map(Converged::to_json).collect::<Vec<_>>(),
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
    text += &of_the_paper(&converged);
    text += &format!(
        "most device memory: {:.1} bytes a vertex\n",
        on.peak_bytes() as f64 / points as f64
    );
    print(&text)
}

/// Times and sweeps to convergence, one block beside many as in the paper's tables.
fn of_the_paper(converged: &[Converged]) -> String {
    let mut text = format!(
        "to convergence, largest move under {TOLERANCE}: milliseconds (minimum, maximum) and sweeps\n\
         {:<12} {:<8} {:>38} {:>38}\n",
        "form", "layout", "one block", "many blocks"
    );
    for many in converged.iter().filter(|c| c.blocks == Blocks::Many) {
        let cell = |c: &Converged| {
            let Row {
                median,
                minimum,
                maximum,
                ..
            } = &c.row;
            format!("{median:.3} ({minimum:.3}, {maximum:.3}) {:>6}", c.sweeps)
        };
        let is_one = |c: &&Converged| {
            c.blocks == Blocks::One && c.form == many.form && c.layout == many.layout
        };
        let one = converged.iter().find(is_one);
        text += &format!(
            "{:<12} {:<8} {:>38} {:>38}\n",
            many.names().0,
            many.layout,
            one.map_or("-".to_owned(), cell),
            cell(many)
        );
    }
    text
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
