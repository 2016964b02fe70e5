//! `cargo xtask dist` makes a folder that runs on its own, and `cargo xtask bench --from` takes its results: from the
//! plans to the tables and plots, with tiny meshes on the CPU.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

const FAMILIES: [&str; 6] = [
    "polylla",
    "indexed",
    "refine",
    "refine-tets",
    "smooth",
    "weld",
];

fn succeed(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let [out, err] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(output.status.success(), "{command:?}\n{out}\n{err}");
    out.into_owned()
}

fn xtask() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trioxide-bench"));
    command.current_dir(workspace());
    command
}

fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .unwrap()
}

/// The `trioxide` beside this trioxide-bench, built if it is not there: `cargo test --workspace` builds both. To build
/// it here anew would build the library anew, with the features of fewer packages.
fn trioxide() -> PathBuf {
    let folder = Path::new(env!("CARGO_BIN_EXE_trioxide-bench"))
        .parent()
        .unwrap();
    let beside = folder.join("trioxide");
    if !beside.exists() {
        let mut build = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        build
            .args(["build", "--package", "trioxide-cli", "--bin", "trioxide"])
            .current_dir(workspace());
        if folder.ends_with("release") {
            build.arg("--release");
        }
        succeed(&mut build);
    }
    beside
}

fn json(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
#[cfg(unix)]
fn the_folder_runs_and_its_results_become_tables() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("dist");
    succeed(
        xtask()
            .args(["dist", "--sizes", "500", "--binary"])
            .arg(trioxide())
            .arg("--out")
            .arg(&folder),
    );
    // In another folder, and without this process's environment for cargo.
    let carried = place.path().join("carried to another machine");
    fs::rename(&folder, &carried).unwrap();
    let run = |words: &[&str]| {
        let mut command = Command::new(carried.join("run.sh"));
        command.args(words).env("DEVICE", "cpu");
        command
    };
    let text = succeed(&mut run(&FAMILIES));
    assert!(text.contains("failures: 0"), "{text}");
    let unknown = run(&["no-such-plan"]).output().unwrap();
    assert!(!unknown.status.success());

    let results = carried.join("results");
    let single = json(&results.join("smooth-random-500.json"));
    assert_eq!(single["schema"], "trioxide-bench/1");
    assert_eq!(single["machine"]["kind"], "cpu");
    assert!(single["machine"]["copy_bandwidth_gb_s"].as_f64().unwrap() > 0.1);
    assert_eq!(single["counts"]["vertices"], 500);
    assert!(!single["commit"].as_str().unwrap_or("").contains('@'));

    let out = place.path().join("tables");
    let text = succeed(
        xtask()
            .args(["bench", "all", "--markdown", "--from"])
            .arg(&results)
            .arg("--out")
            .arg(&out),
    );
    assert!(text.starts_with("## Polylla on half-edges\n"), "{text}");
    for family in FAMILIES {
        let result = json(&out.join(format!("{family}.json")));
        assert_eq!(result["schema"], "trioxide-bench/1", "{family}");
        let list = |key: &str| result[key].as_array().unwrap().clone();
        assert!(!list("runs").is_empty(), "{family}");
        assert!(!list("tables").is_empty(), "{family}");
        for plot in list("plots") {
            let svg = plot["svg"].as_str().unwrap();
            assert!(svg.starts_with("<svg") && svg.contains("<text"), "{family}");
            let name = format!("plots/{}.png", plot["id"].as_str().unwrap());
            assert!(fs::metadata(out.join(name)).unwrap().len() > 1000);
        }
        assert!(out.join(format!("{family}.md")).exists());
        // Each stage's time is there: median within its range, of at least three runs.
        for run in list("runs") {
            let stages = run["stages"].as_array().unwrap();
            assert!(!stages.is_empty());
            for stage in stages {
                let [low, middle, high] =
                    ["minimum", "median", "maximum"].map(|key| stage[key].as_f64().unwrap());
                assert!(low <= middle && middle <= high, "{stage}");
                assert!(stage["runs"].as_u64().unwrap() >= 3, "{stage}");
            }
        }
    }
    // A result is equal to itself.
    let result = out.join("weld.json");
    let text = succeed(
        xtask()
            .args(["bench", "--compare"])
            .args([&result, &result]),
    );
    assert!(text.contains("\n0 slower, 0 faster"), "{text}");
}
