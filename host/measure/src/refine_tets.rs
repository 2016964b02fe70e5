//! Times of one level of refinement of tetrahedra.

use serde_json::json;
use trioxide::Result;
use trioxide::device::Device;
use trioxide::refine_tets::{self, DeviceTets, DividedEdges, Marking, SpacePoint};
use trioxide::volume::TetMesh;

use super::names::map;
use super::{Measured, Runs, rows, waited};

/// Times a tenth of a per cent of the tetrahedra marked, all by their longest edges, and all by every edge.
pub fn bench<P: SpacePoint>(on: &Device, mesh: &TetMesh, runs: Runs) -> Result<Measured> {
    let [few, all, every] = [
        (Marking::Fraction(0.001), DividedEdges::Longest),
        (Marking::All, DividedEdges::Longest),
        (Marking::All, DividedEdges::Every),
    ]
    .map(|(marking, edges)| refine_tets::Options {
        marking,
        seed: 1,
        edges,
        ..refine_tets::Options::default()
    });
    let mut counts = map([
        ("vertices", json!(mesh.points.len())),
        ("cells", json!(mesh.tetrahedra.len())),
    ]);
    on.reset_peak();
    let mut stages = vec![waited(
        "host arrays to host arrays, 0.1 %",
        runs.min(5),
        || Ok(refine_tets::run::<P>(on, mesh, &few).map(drop)?),
    )?];
    let peak_bytes = on.peak_bytes();
    let resident = DeviceTets::<P>::upload(on, mesh)?;
    for (name, after, options) in [
        ("0.1 %", "cells_after_0.1_percent", few),
        ("100 %", "cells_after_100_percent", all),
        ("every edge", "cells_after_every_edge", every),
    ] {
        let mut cells = 0;
        stages.extend(rows(name, on, runs, || {
            let copy = resident.duplicate(on)?;
            cells = refine_tets::refine(on, copy, &options)?.mesh().count();
            Ok(())
        })?);
        counts.insert(after.to_owned(), json!(cells));
    }
    Ok(Measured {
        counts,
        peak_bytes,
        stages,
    })
}
