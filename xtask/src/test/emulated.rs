//! Runs the self-test on the emulator of the driver, which runs the kernels' PTX on the CPU.

use std::env::consts::EXE_SUFFIX;
use std::path::Path;
use std::process::Command;

use super::SKIPPED;
use super::jobs::Job;
use super::quick;
use crate::process::LIBRARY_PATH;
use crate::{Error, target_dir};

/// Cases that launch every kernel of families whose whole suite takes long; other families run whole. All are run with
/// checks for races and unwritten memory, in two minutes of one core. The whole self-test is
/// `cargo xtask emulate --check -- selftest --tiny --device cuda`.
const PARTS: &[(&str, &[&str])] = &[
    (
        "delaunay",
        &[
            "Delaunay random",
            "Delaunay grid",
            "Delaunay wheel",
            "Delaunay hard points",
            "Delaunay single precision",
            "Delaunay equal points",
            "Delaunay illegal edges",
            "segments of Delaunay random",
            "segments of Delaunay grid",
            "refinement of a star",
            "refinement of repeated points",
            "refinement to sizes",
        ],
    ),
    (
        // A word in the names of other families' cases.
        "grid",
        &[
            "rows of grids",
            "runs of grids",
            "rows that a grid does not have are refused",
        ],
    ),
    (
        "levels",
        &[
            "levels of squares",
            "levels of regions and segments",
            "levels in space: cubes that touch",
        ],
    ),
    (
        "refine",
        &[
            "refine a weakly simple polygon",
            "refine a terrain",
            "refine disk 5k",
            "refine two triangles",
            "refine the paper's example",
        ],
    ),
    (
        "refine_tets",
        &[
            "refine tetrahedra: a fan",
            "refine tetrahedra: bad meshes",
            "refine tetrahedra: more edges",
            "refine tetrahedra: one tetrahedron",
            "refine tetrahedra: random 800",
        ],
    ),
    (
        "smooth",
        &[
            "neighbours and boundary",
            "form B, racing",
            "smooth grid 1k",
            "smooth one tetrahedron",
            "smooth quadrilaterals of a cube",
            "smooth dented quadrilaterals",
            "smooth surfaces",
        ],
    ),
    (
        "weld",
        &[
            "weld a cloud a tenth of which is at the origin",
            "weld a scan by a tenth of its radius",
            "weld a scan in random order guarded by locks",
            "weld a share",
            "weld a small scan",
            "weld equal points",
            "weld in slabs a scan by 0e0",
            "weld in slabs nothing, and one point",
            "weld one point",
            "weld refuses",
            "weld within a locked boundary",
        ],
    ),
];
/// Compares the launched kernels with those in the PTX, after the cases of all families.
const LAST: &str = "every kernel was launched";
/// Bytes of the device's memory: one of the cases fills it.
const MEMORY: &str = "268435456";

/// The variable with the emulator's folder, for tests that start programs.
const DRIVER: &str = "TRIOXIDE_EMULATED_DRIVER";
/// A test program that opens two GPUs.
const TWO_DEVICES: &str = "trioxide: test devices";

/// Lets the tests of a program use the emulator in the folder `driver`.
pub(super) fn name_driver(job: &mut Job, driver: &Path, has_gpu: bool) {
    job.command.env(DRIVER, driver);
    if job.name == TWO_DEVICES && !has_gpu {
        job.command
            .env(LIBRARY_PATH, driver)
            .env("PTX_EMULATOR_DEVICES", "2");
    }
}

/// The texts of the cases to run, as the self-test takes them.
fn texts() -> Result<Vec<String>, Error> {
    let cases = |family: String| match PARTS.iter().find(|(name, _)| *name == family) {
        Some((_, cases)) => cases.iter().map(|&case| case.to_owned()).collect(),
        None => vec![family],
    };
    let mut texts: Vec<String> = quick::families()?.into_iter().flat_map(cases).collect();
    texts.push(LAST.to_owned());
    Ok(texts)
}

/// The self-test of the binary that the tests use, with the emulator in the folder `driver`.
///
/// # Errors
/// The sources of the kernels cannot be read.
pub(super) fn job(driver: &Path) -> Result<Job, Error> {
    let mut command = Command::new(
        target_dir()
            .join("debug")
            .join(format!("trioxide{EXE_SUFFIX}")),
    );
    command.args(["selftest", "--tiny", "--device", "cuda"]);
    for text in texts()? {
        command.args(["--only", &text]);
    }
    command
        .env(LIBRARY_PATH, driver)
        .env("PTX_EMULATOR_MEMORY", MEMORY)
        .env("PTX_EMULATOR_CHECK", "1");
    Ok(Job {
        name: "kernels, emulated".to_owned(),
        command,
        mark: SKIPPED,
    })
}
