//! `trioxide weld --memory-limit`: the same file as without it, and its messages.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

fn trioxide(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_trioxide"))
        .args(arguments)
        .output()
        .expect("the binary was built for this test")
}

fn weld(folder: &Path, output: &str, more: &[&str]) -> Output {
    let path = |name: &str| folder.join(name).to_str().expect("UTF-8").to_owned();
    let (scan, output) = (path("scan.ply"), path(output));
    let mut arguments = vec!["weld", &scan, "--epsilon", "0.02", "-o", &output];
    arguments.extend(["--device", "cpu", "--json", "-"]);
    arguments.extend(more);
    trioxide(&arguments)
}

fn json(output: &Output) -> serde_json::Value {
    assert!(output.status.success(), "{}", text(output));
    serde_json::from_slice(&output.stdout).expect("one object")
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_memory_limit_changes_no_byte_of_the_result() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let scan = folder.path().join("scan.ply");
    let made = trioxide(&[
        "generate",
        "scan",
        "-n",
        "20k",
        "-o",
        scan.to_str().expect("UTF-8"),
    ]);
    assert!(made.status.success(), "{}", text(&made));

    let at_once = weld(folder.path(), "at-once.ply", &[]);
    let whole = json(&at_once);
    assert!(whole["slabs"].is_null(), "{whole}");

    let in_slabs = weld(folder.path(), "slabs.ply", &["--memory-limit", "0.7M"]);
    let object = json(&in_slabs);
    assert!(object["slabs"].as_u64() > Some(2), "{object}");
    assert!(object["passes"].as_u64() >= Some(1), "{object}");
    let peak = object["peak_bytes"].as_u64().expect("a number");
    assert!(peak > 100_000 && peak <= 700_000, "{object}");
    assert!(text(&in_slabs).contains("700000"), "{}", text(&in_slabs));
    for key in ["welded_vertices", "welded_faces"] {
        assert_eq!(object[key], whole[key]);
    }
    let bytes = |name| std::fs::read(folder.path().join(name)).expect("was written");
    assert!(bytes("at-once.ply") == bytes("slabs.ply"), "other bytes");

    let quiet = weld(
        folder.path(),
        "quiet.ply",
        &["--memory-limit", "700k", "--quiet"],
    );
    assert!(text(&quiet).is_empty(), "{}", text(&quiet));
    let enough = json(&weld(
        folder.path(),
        "enough.ply",
        &["--memory-limit", "1G"],
    ));
    assert!(enough["slabs"].is_null(), "{enough}");

    let by_frontiers = json(&weld(
        folder.path(),
        "frontiers.ply",
        &["--memory-limit", "1G", "--method", "sparse-grid"],
    ));
    assert_eq!(by_frontiers["method"], "sparse-grid", "{by_frontiers}");
    assert!(
        bytes("at-once.ply") == bytes("frontiers.ply"),
        "other bytes"
    );

    let refused = weld(folder.path(), "refused.ply", &["--memory-limit", "100k"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        text(&refused).contains("100000 bytes"),
        "{}",
        text(&refused)
    );
    assert!(!folder.path().join("refused.ply").exists());
}

#[test]
fn what_slabs_do_without_is_refused_with_its_remedy() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let scan = folder.path().join("scan.ply");
    let made = trioxide(&[
        "generate",
        "scan",
        "-n",
        "2k",
        "-o",
        scan.to_str().expect("UTF-8"),
    ]);
    assert!(made.status.success(), "{}", text(&made));
    for (more, remedy) in [
        (&["--lock", "boundary"][..], "--lock: leave it out"),
        (
            &["--method", "on-the-fly"],
            "--method on-the-fly: leave it out",
        ),
    ] {
        let more = [more, &["--memory-limit", "150k"]].concat();
        let refused = weld(folder.path(), "refused.ply", &more);
        assert_eq!(refused.status.code(), Some(1), "{more:?}");
        let text = text(&refused);
        assert!(text.contains(remedy) && text.contains("150000"), "{text}");
    }
    assert!(!folder.path().join("refused.ply").exists());

    // Colours are kept, or the mesh is refused: never dropped.
    let cloud = folder.path().join("scan.xyz");
    let lines: String = (0..3000).map(|i| format!("{i} 0 0 10 20 30\n")).collect();
    std::fs::write(&cloud, lines).expect("writes");
    let run = |limit: &str| {
        trioxide(&[
            "weld",
            cloud.to_str().expect("UTF-8"),
            "--epsilon",
            "0.5",
            "--device",
            "cpu",
            "--memory-limit",
            limit,
        ])
    };
    let refused = run("150k");
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        text(&refused).contains("regions: drop them"),
        "{}",
        text(&refused)
    );
    let kept = run("1G");
    assert!(kept.status.success(), "{}", text(&kept));

    let usage = trioxide(&[
        "weld",
        cloud.to_str().expect("UTF-8"),
        "--ratio",
        "0.5",
        "--memory-limit",
        "1G",
    ]);
    assert_eq!(usage.status.code(), Some(2), "{}", text(&usage));
}

/// 60,000 equal points, and points with 3,000 neighbours each: some seconds in a development build. Pairs of neighbours
/// took a minute.
#[test]
fn slabs_of_crowded_points_take_linear_time() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut equal = String::new();
    for i in 0..200_000u32 {
        let coordinate = |k: u32| f64::from(i.wrapping_mul(k) >> 8) / f64::from(1 << 24);
        let [x, y, z] = match i % 10 < 3 {
            true => [0.5; 3],
            false => [2_654_435_761, 805_459_861, 3_674_653_429].map(coordinate),
        };
        writeln!(equal, "{x} {y} {z}").expect("text");
    }
    let line: String = (0..300_000).map(|i| format!("{i} 0 0\n")).collect();
    for (name, text, epsilon, limit) in [
        ("equal.xyz", equal, "0.0001", "15M"),
        ("line.xyz", line, "3000", "20M"),
    ] {
        let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
        let input = path(name);
        std::fs::write(&input, text).expect("writes");
        let run = |output: &str, more: &[&str]| {
            let output = path(output);
            let mut arguments = vec!["weld", &input, "--epsilon", epsilon, "-o", &output];
            arguments.extend(["--json", "-"]);
            arguments.extend(more);
            json(&trioxide(&arguments))
        };
        let start = Instant::now();
        let object = run("slabs.xyz", &["--device", "cpu", "--memory-limit", limit]);
        let took = start.elapsed();
        assert!(object["slabs"].as_u64() > Some(1), "{object}");
        assert!(took < Duration::from_secs(25), "{name}: {took:?}");
        run("serial.xyz", &["--device", "serial"]);
        let bytes = |name| std::fs::read(folder.path().join(name)).expect("was written");
        assert!(
            bytes("slabs.xyz") == bytes("serial.xyz"),
            "{name}: other bytes"
        );
    }
}
