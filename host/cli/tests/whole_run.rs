//! The whole process: the account of its time, chains of commands, `bench run`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use serde_json::Value;
use tempfile::TempDir;

/// Status, standard output and standard error.
struct Call {
    status: Option<i32>,
    stdout: String,
    stderr: String,
}

struct Place(TempDir);

impl Place {
    fn new() -> Place {
        Place(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn call(&self, line: &str) -> Call {
        let output = Command::new(env!("CARGO_BIN_EXE_trioxide"))
            .args(line.split_whitespace())
            .current_dir(&self.0)
            .output()
            .unwrap();
        Call {
            status: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    #[track_caller]
    fn run(&self, line: &str) -> Call {
        let call = self.call(line);
        assert_eq!(call.status, Some(0), "{line}: {}", call.stderr);
        call
    }

    fn json(&self, name: &str) -> Value {
        serde_json::from_slice(&fs::read(self.path(name)).unwrap()).unwrap()
    }

    #[track_caller]
    fn assert_same(&self, a: &str, b: &str) {
        let read = |name: &str| fs::read(self.path(name)).unwrap();
        assert!(read(a) == read(b), "{a} and {b} differ");
    }
}

fn sum(account: &Value) -> f64 {
    let parts = account["parts"].as_array().unwrap().iter();
    parts
        .map(|part| part["milliseconds"].as_f64().unwrap())
        .sum()
}

fn has_part(account: &Value, name: &str) -> bool {
    let mut parts = account["parts"].as_array().unwrap().iter();
    parts.any(|part| part["name"] == name)
}

/// Runs again where the machine was busy with something else between the process's end and ours.
#[test]
fn the_parts_of_a_run_are_its_wall_time() {
    let place = Place::new();
    place.run("generate jittered -n 400k -o mesh.ply --quiet");
    for line in [
        "polylla mesh.ply -o out.ply --device cpu --quiet",
        "convert mesh.ply out.off --quiet",
        "info mesh.ply --quiet",
    ] {
        let mut nearest = f64::INFINITY;
        for _ in 0..8 {
            let start = Instant::now();
            place.run(&format!("{line} --account account.json"));
            let wall = start.elapsed().as_secs_f64() * 1e3;
            let account = place.json("account.json");
            let whole = sum(&account);
            let told = account["milliseconds"].as_f64().unwrap();
            assert!((told - whole).abs() < 1e-6, "{told} and {whole}");
            assert!(has_part(&account, "read") && has_part(&account, "start"));
            assert!(whole <= wall + 1.0, "{line}: {whole} of {wall} ms");
            nearest = nearest.min((wall - whole) / wall);
            if nearest < 0.03 {
                break;
            }
        }
        assert!(
            nearest < 0.03,
            "{line}: {nearest} of the wall time is in no part"
        );
    }
}

#[test]
fn reports_tell_the_whole_run() {
    let place = Place::new();
    place.run("generate random -n 2k -o mesh.ply");
    let call = place.run("polylla mesh.ply -o out.ply --device cpu --timings --json out.json");
    for row in [
        "whole run",
        "  read",
        "  write",
        "  stages",
        "  between the stages",
    ] {
        assert!(call.stdout.contains(row), "no {row} in {}", call.stdout);
    }
    let object = place.json("out.json");
    // The output is written before the report.
    for part in ["start", "read", "label longest edges", "write"] {
        assert!(has_part(&object["whole_run"], part), "{part}");
    }
    for line in [
        "convert mesh.ply out.off --timings",
        "generate grid -n 100 -o grid.ply --timings",
        "render mesh.ply -o mesh.png --width 99 --timings",
        "info mesh.ply --timings",
        "triangulate mesh.ply -o outline.ply --timings",
    ] {
        assert!(place.run(line).stdout.contains("whole run"), "{line}");
    }
}

#[test]
fn a_chain_has_the_bits_of_separate_runs() {
    let place = Place::new();
    place.run("generate random -n 3k -o mesh.ply");
    for device in ["cpu", "serial"] {
        let on = format!("--quiet --device {device}");
        place.run(&format!("weld mesh.ply --epsilon 1e-3 -o a.ply {on}"));
        place.run(&format!("refine a.ply --mark fraction:0.3 -o b.ply {on}"));
        place.run(&format!("polylla b.ply -o c.vtu {on}"));
        place.run(&format!(
            "chain mesh.ply {on} : weld --epsilon 1e-3 -o a2.ply : refine --mark fraction:0.3 : -o b2.ply : polylla : -o c2.vtu"
        ));
        for (a, b) in [
            ("a.ply", "a2.ply"),
            ("b.ply", "b2.ply"),
            ("c.vtu", "c2.vtu"),
        ] {
            place.assert_same(a, b);
        }
    }
    place.run("generate tets -n 1k -o tets.vtu");
    place.run("refine tets.vtu --mark fraction:0.2 -o fine.vtu --quiet --device cpu");
    place.run("smooth fine.vtu --max-iterations 5 -o smooth.vtu --quiet --device cpu");
    place.run(
        "chain tets.vtu --quiet --device cpu : refine --mark fraction:0.2 : smooth --max-iterations 5 -o smooth2.vtu",
    );
    place.assert_same("smooth.vtu", "smooth2.vtu");
    place.run("generate scan -n 2k -o scan.ply");
    place.run("weld scan.ply --epsilon 0.01 -o welded.ply --quiet --device cpu");
    place.run("smooth welded.ply --method taubin -o smooth.ply --quiet --device cpu");
    place.run(
        "chain scan.ply --quiet --device cpu : weld --epsilon 0.01 : smooth --method taubin : -o smooth2.ply",
    );
    place.assert_same("smooth.ply", "smooth2.ply");
}

/// Refinement knows the half-edges of its result: the steps after it compare the triangles, and build none.
#[test]
fn a_chain_builds_half_edges_once() {
    let place = Place::new();
    place.run("generate random -n 3k -o mesh.ply");
    let on = "--quiet --device cpu";
    for precision in ["f64", "f32"] {
        let [smooth, polylla] = ["smooth --max-iterations 3", "polylla"]
            .map(|step| format!("{step} --precision {precision}"));
        place.run(&format!("refine mesh.ply -o a.vtu {on}"));
        place.run(&format!("{smooth} a.vtu -o b.vtu {on}"));
        place.run(&format!("{polylla} b.vtu -o c.vtu {on}"));
        place.run(&format!(
            "chain mesh.ply {on} --json out.json : refine : {smooth} : {polylla} -o d.vtu"
        ));
        place.assert_same("c.vtu", "d.vtu");
        let object = place.json("out.json");
        let built = |step: usize| {
            let stages = object["steps"][step]["stages"].to_string();
            let names = [
                "match twins",
                "find twins",
                "cells of nodes",
                "compare triangles",
            ];
            names.map(|name| stages.contains(name))
        };
        assert_eq!(built(0), [true, false, false, false]);
        assert_eq!(built(1), [false, true, false, true]);
        assert_eq!(built(2), [false, false, false, true]);
    }
    // Of other triangles nothing is known: Polylla takes out none here, but welding does.
    place.run(&format!(
        "chain mesh.ply {on} --json out.json : refine : weld --epsilon 1e-3 : polylla -o e.vtu"
    ));
    let stages = place.json("out.json")["steps"][2]["stages"].to_string();
    assert!(stages.contains("match twins") && !stages.contains("compare triangles"));
}

#[test]
fn a_chain_reports_each_step() {
    let place = Place::new();
    place.run("generate random -n 1k -o mesh.ply");
    let call = place.run(
        "chain mesh.ply --device cpu --timings --json out.json : weld --epsilon 0 : polylla -o out.off",
    );
    for row in [
        "step 1: weld",
        "step 2: polylla",
        "label longest edges",
        "whole run",
    ] {
        assert!(call.stdout.contains(row), "no {row} in {}", call.stdout);
    }
    let object = place.json("out.json");
    assert_eq!(object["command"], "chain");
    assert_eq!(object["steps"][0]["command"], "weld");
    assert_eq!(object["steps"][1]["command"], "polylla");
    assert!(has_part(&object["whole_run"], "write"));
}

/// The folder with the emulator of the driver, which `cargo xtask test` names.
const DRIVER: &str = "TRIOXIDE_EMULATED_DRIVER";

#[test]
fn vertices_printed_while_a_gpu_starts_are_those_of_the_file() {
    let Some(driver) = std::env::var_os(DRIVER) else {
        return eprintln!(
            "skipped: printing ahead: {DRIVER} names no folder with the PTX emulator"
        );
    };
    let place = Place::new();
    for mesh in ["generate:random:3k", "generate:grid:3k"] {
        for output in ["a.off", "a.obj", "a.ply"] {
            place.run(&format!("polylla {mesh} -o {output} --device cpu"));
            let expected = fs::read(place.path(output)).unwrap();
            fs::remove_file(place.path(output)).unwrap();
            let status = Command::new(env!("CARGO_BIN_EXE_trioxide"))
                .args(["polylla", mesh, "-o", output, "--device", "cuda", "--quiet"])
                .current_dir(&place.0)
                .env("LD_LIBRARY_PATH", &driver)
                .status();
            assert!(status.unwrap().success());
            let found = fs::read(place.path(output)).unwrap();
            assert!(found == expected, "{mesh} {output}");
        }
    }
}

#[test]
fn auto_goes_on_with_the_cpu_where_the_memory_of_a_gpu_does_not_suffice() {
    let Some(driver) = std::env::var_os(DRIVER) else {
        return eprintln!("skipped: a full GPU: {DRIVER} names no folder with the PTX emulator");
    };
    let place = Place::new();
    let on_full = |line: &str, of_context: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_trioxide"))
            .args(line.split_whitespace())
            .current_dir(&place.0)
            .env("LD_LIBRARY_PATH", &driver)
            .env("PTX_EMULATOR_MEMORY", "8000")
            .env("PTX_EMULATOR_CONTEXT", of_context)
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        (output.status.code(), said)
    };
    // No files: those are so small that the CPU is sooner done.
    for (line, output) in [
        ("polylla generate:random:900", "a.ply"),
        ("polylla generate:tets:300", "a.vtu"),
        ("refine generate:random:900", "a.ply"),
        ("refine generate:tets:300", "a.vtu"),
        ("smooth generate:scan:900", "a.ply"),
        ("smooth generate:tets:300", "a.vtu"),
        ("weld generate:scan:900 --ratio 0.5", "a.ply"),
        (
            "chain generate:scan:900 : weld --epsilon 0.1 : smooth",
            "a.ply",
        ),
    ] {
        let (command, rest) = line.split_once(' ').unwrap();
        let on = |device: &str| {
            let (input, steps) = rest.split_once(' ').unwrap_or((rest, ""));
            format!("{command} {input} --device {device} {steps} -o {output}")
        };
        place.run(&on("cpu"));
        let expected = fs::read(place.path(output)).unwrap();
        fs::remove_file(place.path(output)).unwrap();
        let (status, said) = on_full(&on("auto"), "0");
        assert_eq!(status, Some(0), "{line}: {said}");
        assert!(said.contains("running on the CPU: "), "{line}: {said}");
        assert!(fs::read(place.path(output)).unwrap() == expected, "{line}");
        let (status, said) = on_full(&on("cuda"), "0");
        assert_eq!(status, Some(1), "{line}: {said}");
        assert!(said.contains("bytes"), "{line}: {said}");
    }
    // Not even a context fits.
    let (status, said) = on_full("polylla generate:grid:9 --device auto", "9000");
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("running on the CPU: "), "{said}");
    let (status, said) = on_full("polylla generate:grid:9 --device cuda", "9000");
    assert_eq!(status, Some(1), "{said}");
    for words in ["no room for this process", "8000 bytes", "the device cpu"] {
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn a_chain_that_cannot_be_is_refused_before_it_is_read() {
    let place = Place::new();
    place.run("generate random -n 100 -o mesh.ply");
    place.run("generate tets -n 100 -o tets.vtu");
    for (line, status, words) in [
        ("chain mesh.ply weld --epsilon 0", 1, "after colons"),
        (
            "chain mesh.ply : weld --epsilon 0 :",
            1,
            "step 2 of the chain is empty",
        ),
        (
            "chain mesh.ply : polylla --device cpu : -o out.vtu",
            1,
            "before the first colon",
        ),
        (
            "chain mesh.ply : weld --epsilon 0 --quiet : -o out.vtu",
            1,
            "before the first colon",
        ),
        ("chain mesh.ply : render -o out.png", 2, "render"),
        ("chain mesh.ply : weld", 2, "--epsilon"),
        (
            "chain mesh.ply : polylla -o out.vtu : -o out.vtu",
            1,
            "one file",
        ),
        ("chain mesh.ply : polylla -o mesh.ply", 1, "one file"),
        (
            "chain mesh.ply --json out.vtu : polylla -o out.vtu",
            1,
            "one file",
        ),
        ("chain mesh.ply : polylla -o none/out.vtu", 1, "no folder"),
        ("chain mesh.ply : polylla -o out.las2", 1, "out.las2"),
        (
            "chain tets.vtu --device cpu : polylla -o out.vtu",
            1,
            "tetrahedra to polyhedra by a command of its own",
        ),
    ] {
        let call = place.call(line);
        assert_eq!(call.status, Some(status), "{line}: {}", call.stderr);
        assert!(call.stderr.contains(words), "{line}: {}", call.stderr);
        assert!(!place.path("out.vtu").exists(), "{line}");
    }
    let call = place.run("chain mesh.ply --device cpu : polylla");
    assert!(
        call.stderr.contains("nothing is written"),
        "{}",
        call.stderr
    );
}

#[test]
fn bench_run_times_whole_processes_beside_cp() {
    let place = Place::new();
    place.run("generate random -n 1k -o mesh.ply");
    let call = place.run("bench run --runs 2 --json - convert mesh.ply out.off");
    let object: Value = serde_json::from_str(&call.stdout).unwrap();
    assert_eq!(object["schema"], "trioxide-bench-run/1");
    assert_eq!(object["runs"].as_array().unwrap().len(), 2);
    assert!(has_part(&object, "read") && has_part(&object, "outside"));
    let copied: Vec<&Path> = object["cp"]
        .as_array()
        .unwrap()
        .iter()
        .map(name_of)
        .collect();
    assert_eq!(copied, [Path::new("mesh.ply"), Path::new("out.off")]);
    let names: Vec<_> = fs::read_dir(&place.0).unwrap().collect();
    assert_eq!(names.len(), 2, "{names:?}");
    let text = place.run("bench run --runs 1 polylla mesh.ply --device cpu --quiet");
    for row in ["whole run", "outside", "times cp"] {
        assert!(text.stdout.contains(row), "no {row} in {}", text.stdout);
    }
    let call = place.call("bench run polylla none.ply");
    assert_eq!(call.status, Some(1));
    assert!(call.stderr.contains("none.ply"), "{}", call.stderr);
}

fn name_of(row: &Value) -> &Path {
    Path::new(row["name"].as_str().unwrap())
}

#[test]
fn a_compressed_file_is_smaller_and_reads_back() {
    let place = Place::new();
    place.run("generate tets -n 20k -o a.vtu --quiet");
    place.run("generate random -n 20k -o a.vtp --quiet");
    for extension in ["vtu", "vtp"] {
        place.run(&format!(
            "convert a.{extension} z.{extension} --compress --quiet"
        ));
        place.run(&format!("convert z.{extension} b.{extension} --quiet"));
        place.assert_same(&format!("a.{extension}"), &format!("b.{extension}"));
        let size = |name: &str| {
            fs::metadata(place.path(&format!("{name}.{extension}")))
                .unwrap()
                .len()
        };
        assert!(
            3 * size("z") < 2 * size("a"),
            "{} of {}",
            size("z"),
            size("a")
        );
    }
    let call = place.call("convert a.vtp out.ply --compress");
    assert_eq!(call.status, Some(1));
    assert!(
        call.stderr.contains("not written in this encoding"),
        "{}",
        call.stderr
    );
}
