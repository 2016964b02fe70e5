//! Where the time of a rank goes.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use super::{done, mpirun_of, output_of, trioxide};

/// Rank 0 says the nanoseconds of its process, seen from outside.
const TIMED: &str = r#"begin=$(date +%s%N); "$@"; status=$?; end=$(date +%s%N)
[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 0 ] && echo "took $((end - begin))" >&2
exit $status"#;

/// The milliseconds of rank 0 of two, and its account.
fn timed(at: &Path, line: &str) -> (f64, Value) {
    let mut command = mpirun_of(2);
    command.args(["sh", "-c", TIMED, "sh"]).arg(trioxide());
    command.args(line.split_whitespace());
    command.args(["--account", "account.json"]).current_dir(at);
    let output = output_of(&mut command);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{line}: {said}");
    let took = said.lines().find_map(|line| line.strip_prefix("took "));
    let took: f64 = took.expect("the time of rank 0").parse().unwrap();
    let account = fs::read(at.join("account.json")).unwrap();
    (1e-6 * took, serde_json::from_slice(&account).unwrap())
}

fn meshes() -> TempDir {
    let folder = TempDir::new().unwrap();
    for line in [
        "generate random -n 40k -o mesh.ply --quiet",
        "generate scan -n 40k -o scan.ply --quiet",
        "generate tets -n 5k -o tets.vtu --quiet",
    ] {
        let arguments: Vec<&str> = line.split_whitespace().collect();
        done(folder.path(), 1, &arguments);
    }
    folder
}

/// Milliseconds that a busy machine may take to start a process, and to say that it has ended.
const OUTSIDE: f64 = 10.0;

/// Runs again where the machine was busy with something else between the process's end and ours.
#[test]
fn the_parts_of_a_rank_are_its_wall_time() {
    let folder = meshes();
    for line in [
        "polylla mesh.ply -o out.ply --device cpu",
        "polylla mesh.ply -o out.off --device cpu",
        "polylla tets.vtu -o out.vtu --device cpu",
        "refine mesh.ply -o out.ply --device cpu",
        "refine tets.vtu -o out.vtu --device cpu",
        "smooth scan.ply -o out.ply --device cpu --max-iterations 9",
        "weld scan.ply -o out.ply --device cpu --epsilon 0.001 --map map.txt",
        "generate grid -n 1M -o out.ply",
    ] {
        let mut nearest = f64::INFINITY;
        for _ in 0..8 {
            let (wall, account) = timed(folder.path(), &format!("{line} --quiet"));
            let number = |value: &Value| value.as_f64().expect("a number");
            let parts = account["parts"].as_array().unwrap();
            let whole: f64 = parts.iter().map(|part| number(&part["milliseconds"])).sum();
            let told = number(&account["milliseconds"]);
            assert!((told - whole).abs() < 1e-6, "{told} and {whole}");
            for name in ["start", "write", "end", "end of MPI"] {
                assert!(
                    parts.iter().any(|part| part["name"] == name),
                    "{line}: {name}"
                );
            }
            for part in parts {
                let waited = number(&part["waited_milliseconds"]);
                let all = number(&part["milliseconds"]) + 1e-6;
                assert!((0.0..=all).contains(&waited), "{line}: {part}");
            }
            assert!(whole <= wall + 1.0, "{line}: {whole} of {wall} ms");
            nearest = nearest.min((wall - whole - OUTSIDE) / wall);
            if nearest < 0.03 {
                break;
            }
        }
        assert!(
            nearest < 0.03,
            "{line}: {nearest} of the wall time is in no part, beside {OUTSIDE} ms"
        );
    }
}

#[test]
fn timings_of_ranks_list_each_phase_once() {
    let folder = meshes();
    let at = folder.path();
    let mut command = mpirun_of(2);
    command.arg(trioxide()).current_dir(at);
    command.args(["polylla", "mesh.ply", "-o", "out.ply", "--device", "cpu"]);
    command.args(["--timings", "--json", "out.json"]);
    let output = output_of(&mut command);
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    let phases = [
        "start",
        "read",
        "ownership",
        "ghosts",
        "open the device",
        "polylla",
        "polygons across ranks",
        "write",
        "end of MPI",
    ];
    let json = fs::read(at.join("out.json")).unwrap();
    let json: Value = serde_json::from_slice(&json).unwrap();
    let parts = json["whole_run"]["parts"].as_array().unwrap();
    for name in phases {
        let row = format!("{name:<30} ");
        let rows = text
            .lines()
            .filter(|line| line.trim_start().starts_with(&row));
        assert_eq!(rows.count(), 1, "{name} in {text}");
        assert!(parts.iter().any(|part| part["name"] == name), "{name}");
    }
    assert!(
        text.contains("whole run") && !text.contains("  stages"),
        "{text}"
    );
}
