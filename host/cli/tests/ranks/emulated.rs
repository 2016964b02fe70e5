//! Ranks on GPUs: two devices of the PTX emulator, whose folder `cargo xtask test` names. Without it the test is
//! skipped and says so.

use std::env;
use std::fs;
use std::path::Path;

use super::{done, meshes, mpirun, output_of, refine_tets};

/// The folder with the emulator, under the driver's name.
const DRIVER: &str = "TRIOXIDE_EMULATED_DRIVER";

/// The file that ranks write on two devices of the emulator.
fn on_devices(at: &Path, driver: &Path, ranks: usize, arguments: &[&str], output: &str) -> Vec<u8> {
    let mut command = mpirun(ranks);
    command
        .args(arguments)
        .args(["-o", output, "--device", "cuda", "--quiet"])
        .current_dir(at)
        .env("LD_LIBRARY_PATH", driver)
        .env("PTX_EMULATOR_DEVICES", "2")
        .env("PTX_EMULATOR_CHECK", "1");
    let ran = output_of(&mut command);
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{ranks} ranks, {arguments:?}: {said}");
    assert_eq!(said, "", "{arguments:?}");
    fs::read(at.join(output)).unwrap()
}

fn same(at: &Path, driver: &Path, ranks: usize, arguments: &[&str], output: &str) {
    let single = ["-o", output, "--device", "cpu", "--quiet"];
    done(at, 1, &[arguments, &single].concat());
    let expected = fs::read(at.join(output)).unwrap();
    fs::remove_file(at.join(output)).unwrap();
    let found = on_devices(at, driver, ranks, arguments, output);
    assert!(found == expected, "{arguments:?} on {ranks} ranks");
}

#[test]
fn ranks_on_gpus_write_the_file_of_the_single_run_on_the_cpu() {
    let Some(driver) = env::var_os(DRIVER) else {
        return eprintln!("skipped: ranks on GPUs: {DRIVER} names no folder with the PTX emulator");
    };
    let driver = Path::new(&driver);
    let folder = meshes();
    let at = folder.path();
    // Three ranks share two devices.
    same(at, driver, 2, &["polylla", "random.ply"], "p.ply");
    let strict = ["polylla", "holes.ply", "--strict"];
    same(at, driver, 3, &strict, "p.ply");
    same(at, driver, 2, &["polylla", "generate:grid:900"], "p.ply");
    let disk = ["--mark", "disk:0.5,0.5,0.2", "--rounds", "2"];
    same(
        at,
        driver,
        3,
        &[&["refine", "random.ply"], &disk[..]].concat(),
        "r.ply",
    );
    let few = ["--max-iterations", "5"];
    same(
        at,
        driver,
        2,
        &[&["smooth", "random.ply"], &few[..]].concat(),
        "s.ply",
    );
    let coloured = ["smooth", "regions.ply", "--form", "b-coloured"];
    same(at, driver, 3, &[&coloured, &few[..]].concat(), "s.ply");
    same(
        at,
        driver,
        2,
        &["weld", "grid.ply", "--epsilon", "0.05"],
        "w.ply",
    );
    let blocks = ["weld", "generate:grid:900", "--epsilon", "0.05"];
    same(at, driver, 3, &blocks, "w.ply");
    let folder = refine_tets::meshes();
    let at = folder.path();
    same(
        at,
        driver,
        2,
        &["refine", "grid.vtu", "--mark", "all"],
        "r.vtu",
    );
    same(at, driver, 3, &["polylla", "random.vtu"], "p.vtu");
}
