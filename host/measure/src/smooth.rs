//! Times of smoothing a volume mesh that is resident on the device.

use gpu::smooth::Vector;
use serde_json::json;
use trioxide::Result;
use trioxide::device::Device;
use trioxide::smooth::{self, Blocks, DeviceMesh, Form, Layout, Options, Relations};
use trioxide::volume::VolumeMesh;

use super::names::{SWEEPS, map, sweeps_name};
use super::timing::Moved;
use super::{Measured, Row, Runs, rows, waited};

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
/// Layouts, and the names of their rows: a fixed number of sweeps, sweeps to convergence, and the whole of it from a
/// mesh without relations.
const LAYOUTS: [(Layout, [&str; 3]); 3] = [
    (
        Layout::Soa,
        [
            "16 sweeps, soa",
            "to convergence, soa",
            "mesh to converged, soa",
        ],
    ),
    (
        Layout::Aos,
        [
            "16 sweeps, aos",
            "to convergence, aos",
            "mesh to converged, aos",
        ],
    ),
    (
        Layout::Aligned,
        [
            "16 sweeps, aligned",
            "to convergence, aligned",
            "mesh to converged, aligned",
        ],
    ),
];

/// Times the relations, the order, and the sweeps of every form in every layout.
pub fn bench<P: Vector>(on: &Device, mesh: &VolumeMesh, runs: Runs) -> Result<Measured> {
    on.reset_peak();
    let converging = Options {
        tolerance: TOLERANCE,
        max_iterations: 10_000,
        layout: Layout::Aligned,
        ..Options::default()
    };
    let mut stages = Vec::new();
    let converges = mesh.points.len() < MOST_FOR_ONE_BLOCK;
    if converges {
        stages.push(waited(
            "host arrays to converged host arrays",
            runs.min(5),
            || {
                let resident = DeviceMesh::<P>::upload(on, mesh)?;
                smooth::smooth(on, &resident, &[], &converging)?
                    .download(on)
                    .map(drop)
            },
        )?);
    }
    let resident = DeviceMesh::<P>::upload(on, mesh)?;
    stages.extend(rows("prepare", on, runs, || {
        let relations = Relations::new(on, &resident)?;
        smooth::prepare(on, &relations, &[], &Options::default())?;
        Ok(())
    })?);
    let relations = Relations::new(on, &resident)?;
    let mut counts = map([
        ("vertices", json!(mesh.points.len())),
        ("cells", json!(mesh.cells.len())),
        ("neighbours", json!(relations.neighbour_count())),
    ]);
    for (form, blocks, name) in FORMS {
        if blocks == Blocks::One && !converges {
            continue;
        }
        let options = Options {
            form,
            blocks,
            ..Options::default()
        };
        let prepared = smooth::prepare(on, &relations, &[], &options)?;
        counts.insert("moving".to_owned(), json!(prepared.moving()));
        counts.insert(
            "neighbours_of_moving".to_owned(),
            json!(prepared.neighbour_count()),
        );
        for (layout, [fixed_number, to_convergence, whole]) in LAYOUTS {
            let fixed = Options {
                layout,
                max_iterations: SWEEPS,
                ..options.clone()
            };
            let relax = |options: &Options| smooth::relax(on, &prepared, options);
            let row = sweeps(name, fixed_number, on, runs, || {
                relax(&fixed)?;
                Ok(())
            })?;
            let of_fixed = row.moved.clone();
            stages.push(row);
            if !converges {
                continue;
            }
            let converging = Options {
                form,
                blocks,
                layout,
                ..converging.clone()
            };
            let mut taken = 0;
            let row = sweeps(name, to_convergence, on, runs.min(10), || {
                taken = relax(&converging)?.moves().sweeps;
                Ok(())
            })?;
            // Sweeps are launched in batches, and a launched sweep after convergence moves nothing.
            let moved = of_fixed.map(|moved| Moved {
                bytes: moved.bytes * u64::from(taken) / u64::from(SWEEPS),
                what: format!("{taken} of {SWEEPS} times: {}", moved.what),
            });
            stages.push(Row { moved, ..row });
            counts.insert(sweeps_name(name, to_convergence), json!(taken));
            // The time that a user waits whose mesh is on the device.
            let all = rows(name, on, runs.min(10), || {
                smooth::smooth(on, &resident, &[], &converging)?;
                Ok(())
            })?;
            let all = all.into_iter().filter(|row| row.stage == "all stages");
            stages.extend(all.map(|row| Row {
                stage: whole,
                moved: None,
                ..row
            }));
        }
    }
    Ok(Measured {
        counts,
        peak_bytes: on.peak_bytes(),
        stages,
    })
}

/// The time of the stage of sweeps alone, under another name.
fn sweeps(
    pipeline: &'static str,
    name: &'static str,
    on: &Device,
    runs: Runs,
    work: impl FnMut() -> Result<()>,
) -> Result<Row> {
    let mut rows = rows(pipeline, on, runs, work)?.into_iter();
    let row = rows.find(|row| row.stage == "sweeps");
    let row = row.expect("sweeps are a stage");
    Ok(Row { stage: name, ..row })
}
