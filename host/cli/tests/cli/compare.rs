//! `trioxide compare`.

use std::fs;

use serde_json::Value;

use super::{Place, SQUARE};

/// The square, three quarters above itself, as one polygon.
const HIGH: &str = "OFF\n4 1 0\n0 0 0.75\n1 0 0.75\n1 1 0.75\n0 1 0.75\n4 0 1 2 3\n";

fn place() -> Place {
    let place = Place::new()
        .file("square.off", SQUARE)
        .file("high.off", HIGH);
    place.file("points.xyz", "0.5 0.5 0.25\n0 0 1\n")
}

fn number(report: &Value, path: &str) -> f64 {
    let found = report.pointer(path).and_then(Value::as_f64);
    found.unwrap_or_else(|| panic!("no {path} in {report}"))
}

#[test]
fn distances_of_two_squares_are_known() {
    let place = place();
    let line = "compare square.off high.off --device cpu --json - -o out.ply --samples 1k --seed 7";
    let arguments: Vec<&str> = line.split(' ').collect();
    let report = place.call(&arguments).json();
    for side in ["a_to_b", "b_to_a", "symmetric"] {
        for from in ["vertices", "samples"] {
            for name in ["largest", "mean", "root_mean_square"] {
                let path = format!("/{side}/{from}/{name}");
                assert!((number(&report, &path) - 0.75).abs() < 1e-15, "{path}");
                let path = format!("/{side}/{from}/relative_{name}");
                assert!((number(&report, &path) - 0.75 / 2f64.sqrt()).abs() < 1e-15);
            }
        }
        assert_eq!(number(&report, &format!("/{side}/normals/largest")), 0.0);
    }
    assert_eq!(number(&report, "/a_to_b/samples/points"), 1000.0);
    assert_eq!(number(&report, "/b_triangles"), 2.0);
    let written = fs::read(place.path("out.ply")).unwrap();
    let head = String::from_utf8_lossy(&written);
    assert!(head.contains("property double distance\n"), "{head}");
    let drawn = ["render", "out.ply", "--color", "distance", "-o", "out.png"];
    place
        .call(&[&drawn[..], &["--width", "200", "--quiet"]].concat())
        .succeeds();

    // The same bits with another number of threads; the text has a row for each side.
    let again = [&arguments[..], &["--threads", "1"]].concat();
    let again = place.call(&again).json();
    for side in ["a_to_b", "b_to_a", "symmetric"] {
        assert_eq!(report[side], again[side]);
    }
    let text = place.call(&[
        "compare",
        "square.off",
        "high.off",
        "--device",
        "cpu",
        "--samples",
        "10",
    ]);
    let text = text.succeeds().stdout;
    for row in [
        "distance                        largest           mean   root mean square\n",
        "a to b, vertices            7.500000e-1    7.500000e-1        7.500000e-1\n",
        "symmetric, samples          5.303301e-1    5.303301e-1        5.303301e-1\n",
        "angle of normals                largest           mean\n",
        "b to a, normals              0.000000e0     0.000000e0\n",
    ] {
        assert!(text.contains(row), "no {row:?} in\n{text}");
    }
}

#[test]
fn distances_to_a_cloud_are_those_to_its_points() {
    let place = place();
    let call = place.call(&[
        "compare",
        "points.xyz",
        "square.off",
        "--samples",
        "100",
        "--device",
        "cpu",
        "--json",
        "-",
    ]);
    let report = call.json();
    assert_eq!(number(&report, "/a_to_b/vertices/largest"), 1.0);
    assert_eq!(number(&report, "/a_to_b/vertices/mean"), 0.625);
    assert_eq!(number(&report, "/a_triangles"), 0.0);
    assert_eq!(number(&report, "/b_to_a/vertices/largest"), 0.75);
    assert!(report.pointer("/a_to_b/samples").is_none(), "{report}");
    assert!(report.pointer("/symmetric/normals").is_none(), "{report}");
    assert_eq!(number(&report, "/b_to_a/samples/points"), 100.0);
}
