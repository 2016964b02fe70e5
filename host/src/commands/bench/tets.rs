//! `trioxide bench refine-tets`: stage times of one level of refinement of tetrahedra.

use std::path::Path;

use glam::{DVec3, Vec3};
use serde_json::json;
use trioxide::Result;
use trioxide::backend::Device;
use trioxide::refine_tets::{self, DeviceTets, DividedEdges, Marking, SpacePoint};
use trioxide::volume::TetMesh;

use super::{Row, rows, waited};
use crate::commands::device::Precision;
use crate::commands::{is_standard_output, print, write_json};

/// Times a tenth of a per cent of the tetrahedra marked, all by their longest edges, and all by every edge.
pub fn run(
    device: &Device,
    mesh: &TetMesh,
    precision: Precision,
    runs: u32,
    json: Option<&Path>,
) -> Result<()> {
    let (rows, peak_bytes) = match precision {
        Precision::F64 => stages::<DVec3>(device, mesh, runs)?,
        Precision::F32 => stages::<Vec3>(device, mesh, runs)?,
    };
    let (points, tetrahedra) = (mesh.points.len(), mesh.tetrahedra.len());
    if let Some(path) = json {
        let stages: Vec<_> = rows
            .iter()
            .map(|row| {
                json!({"pipeline": row.pipeline, "name": row.stage, "milliseconds": row.median,
                       "minimum": row.minimum, "maximum": row.maximum})
            })
            .collect();
        let object = json!({
            "command": "bench",
            "family": "refine-tets",
            "device": device.name(),
            "vertices": points,
            "cells": tetrahedra,
            "runs": runs,
            "peak_bytes": peak_bytes,
            "stages": stages,
        });
        write_json(path, &object)?;
        if is_standard_output(path) {
            return Ok(());
        }
    }
    let mut text = format!(
        "{}: {points} vertices, {tetrahedra} tetrahedra, median of {runs} runs, milliseconds\n",
        device.name()
    );
    for row in &rows {
        text += &format!(
            "{:<12} {:<32} {:>10.3} {:>10.3} {:>10.3}\n",
            row.pipeline, row.stage, row.median, row.minimum, row.maximum
        );
    }
    text += &format!(
        "most device memory from host arrays to host arrays, 0.1 % marked: {:.1} bytes a tetrahedron\n",
        peak_bytes as f64 / tetrahedra as f64
    );
    print(&text)
}

fn stages<P: SpacePoint>(on: &Device, mesh: &TetMesh, runs: u32) -> Result<(Vec<Row>, u64)> {
    let some = Marking::Fraction {
        fraction: 0.001,
        seed: 1,
    };
    let [few, all, every] = [
        (some, DividedEdges::Longest),
        (Marking::All, DividedEdges::Longest),
        (Marking::All, DividedEdges::Every),
    ]
    .map(|(marking, edges)| refine_tets::Options {
        marking,
        edges,
        ..refine_tets::Options::default()
    });
    on.reset_peak();
    let mut table = vec![waited(
        "host arrays to host arrays, 0.1 %",
        runs.min(5),
        || refine_tets::run::<P>(on, mesh, &few).map(drop),
    )?];
    let peak_bytes = on.peak_bytes();
    let resident = DeviceTets::<P>::upload(on, mesh)?;
    for (name, options) in [("0.1 %", few), ("100 %", all), ("every edge", every)] {
        table.extend(rows(name, on, runs, || {
            let copy = DeviceTets {
                points: on.duplicate(&resident.points)?,
                tetrahedra: on.duplicate(&resident.tetrahedra)?,
                faces: on.duplicate(&resident.faces)?,
            };
            refine_tets::refine(on, copy, &options).map(drop)
        })?);
    }
    Ok((table, peak_bytes))
}
