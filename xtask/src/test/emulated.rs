//! Runs the self-test on the emulator of the driver, which runs the kernels' PTX on the CPU.

use std::env::consts::EXE_SUFFIX;
use std::path::Path;
use std::process::Command;

use super::SKIPPED;
use super::jobs::Job;
use crate::process::LIBRARY_PATH;
use crate::target_dir;

/// Families and cases that together launch every kernel, with checks for races and unwritten memory, in a minute of one
/// core. All cases: `cargo xtask emulate --check -- selftest --tiny --device cuda`.
const ONLY: &[&str] = &[
    "collective",
    "copies",
    "forms",
    "Delaunay random",
    "Delaunay grid",
    "Delaunay wheel",
    "Delaunay single precision",
    "Delaunay equal points",
    "half_edges",
    "polylla",
    "indexed",
    "refine a weakly simple polygon",
    "refine a terrain",
    "refine a scan in space",
    "refine disk 5k",
    "refine grid 30",
    "refine two triangles",
    "refine the paper's example",
    "refine one triangle",
    "refine grid 2k of islands",
    "refine_tets",
    "tet_faces",
    "polyhedra",
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
    "neighbours and boundary",
    "form B, racing",
    "smooth grid 1k",
    "smooth one tetrahedron",
    "smooth quadrilaterals of a cube",
    "smooth surfaces",
    "rows of grids",
    "runs of grids",
    "rows that a grid does not have are refused",
    "every kernel was launched",
];
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

/// The self-test of the binary that the tests use, with the emulator in the folder `driver`.
pub(super) fn job(driver: &Path) -> Job {
    let mut command = Command::new(
        target_dir()
            .join("debug")
            .join(format!("trioxide{EXE_SUFFIX}")),
    );
    command.args(["selftest", "--tiny", "--device", "cuda"]);
    command.args(ONLY.iter().flat_map(|name| ["--only", name]));
    command
        .env(LIBRARY_PATH, driver)
        .env("PTX_EMULATOR_MEMORY", MEMORY)
        .env("PTX_EMULATOR_CHECK", "1");
    Job {
        name: "kernels, emulated".to_owned(),
        command,
        mark: SKIPPED,
    }
}
