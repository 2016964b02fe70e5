//! Smoothing in pictures: tetrahedra with and without the guard, cut open; and a noisy scan.

use serde_json::Value;

use super::{Demo, aligned, number, relative};
use crate::Error;

/// Random nodes in a cube, few enough to show tetrahedra in a picture.
const NODES: &str = "20k";
/// Vertices of the scan.
const VERTICES: &str = "30k";

/// File stem, title and arguments of `trioxide smooth`.
const TETRAHEDRA: [(&str, &str, &[&str]); 3] = [
    ("tets_plain", "plain", &[]),
    ("tets_guarded", "guarded", &["--guard"]),
    (
        "tets_sliding",
        "guarded, sliding",
        &["--guard", "--boundary", "slide"],
    ),
];
const SCAN: [(&str, &str, &[&str]); 3] = [
    ("scan_laplacian", "laplacian", &[]),
    ("scan_taubin", "taubin", &["--method", "taubin"]),
    ("scan_hc", "hc", &["--method", "hc"]),
];

pub(super) fn run(demo: &Demo) -> Result<(), Error> {
    tetrahedra(demo)?;
    scan(demo)?;
    println!("{}", relative(&demo.out).display());
    for (names, what) in [
        ("tets*.vtu, scan*.ply", "the meshes"),
        (
            "tets*.png",
            "a cut through them: light cells are bad, dark ones good, red ones inverted",
        ),
        ("scan*.png", "the scan"),
    ] {
        println!("  {names:<32} {what}");
    }
    Ok(())
}

fn tetrahedra(demo: &Demo) -> Result<(), Error> {
    demo.trioxide(&[
        "generate", "tets", "--random", "-n", NODES, "--seed", "1", "-o", "tets.vtu", "--quiet",
    ])?;
    cut(demo, "tets")?;
    let info = demo.json(&["info", "tets.vtu"])?;
    let mut columns = vec![
        [
            "tetrahedra",
            "cells",
            "inverted",
            "scaled Jacobian, worst",
            "its share under 0.2",
            "smallest dihedral angle",
            "sweeps",
            "sweeps and all before",
        ]
        .map(str::to_owned)
        .to_vec(),
        column("before", &info, &info["quality"], &Value::Null),
    ];
    for (stem, title, options) in TETRAHEDRA {
        let output = format!("{stem}.vtu");
        let common = [
            "smooth",
            "tets.vtu",
            "--max-iterations",
            "20",
            "-o",
            &output,
            "--quiet",
        ];
        let report = demo.json(&[&common[..], options].concat())?;
        cut(demo, stem)?;
        columns.push(column(title, &report, &report["quality_after"], &report));
    }
    println!("\n{}", aligned(&transposed(&columns)));
    Ok(())
}

/// A picture of half of the cube.
fn cut(demo: &Demo, stem: &str) -> Result<(), Error> {
    let (mesh, picture) = (format!("{stem}.vtu"), format!("{stem}.png"));
    demo.trioxide(&[
        "render", &mesh, "-o", &picture, "--cut", "1,0,0", "--view", "25,20", "--edges", "always",
        "--quiet",
    ])?;
    Ok(())
}

fn column(title: &str, mesh: &Value, quality: &Value, run: &Value) -> Vec<String> {
    let jacobians = &quality["scaled_jacobian"];
    let list = |name: &str| jacobians[name].as_array().map_or(&[][..], Vec::as_slice);
    let below = list("bounds")
        .iter()
        .filter(|bound| bound.as_f64().is_some_and(|bound| bound < 0.2 + 1e-9));
    let count = |values: &[Value]| values.iter().filter_map(Value::as_f64).sum::<f64>();
    let counts = list("counts");
    let share = count(&counts[..below.count().min(counts.len())]) / count(counts);
    vec![
        title.to_owned(),
        number(&mesh["cells"], 0, ""),
        number(&quality["inverted"], 0, ""),
        number(&jacobians["min"], 4, ""),
        number(&(100.0 * share).into(), 2, " %"),
        number(&quality["minimum_dihedral_angle"]["min"], 3, " degrees"),
        number(&run["iterations"], 0, ""),
        number(&run["milliseconds"], 1, " ms"),
    ]
}

fn scan(demo: &Demo) -> Result<(), Error> {
    demo.trioxide(&[
        "generate", "scan", "-n", VERTICES, "--seed", "1", "-o", "scan.ply", "--quiet",
    ])?;
    draw(demo, "scan")?;
    let before = demo.json(&["info", "scan.ply"])?;
    let mut rows = vec![
        ["scan", "triangles", "area", "volume", "volume kept", "time"]
            .map(str::to_owned)
            .to_vec(),
    ];
    rows.push(scan_row("before", &before, &before, &Value::Null));
    for (stem, title, options) in SCAN {
        let output = format!("{stem}.ply");
        let common = [
            "smooth",
            "scan.ply",
            "--max-iterations",
            "30",
            "-o",
            &output,
            "--quiet",
        ];
        let report = demo.json(&[&common[..], options].concat())?;
        draw(demo, stem)?;
        let after = demo.json(&["info", &output])?;
        rows.push(scan_row(title, &before, &after, &report));
    }
    println!("{}", aligned(&rows));
    Ok(())
}

fn draw(demo: &Demo, stem: &str) -> Result<(), Error> {
    let (mesh, picture) = (format!("{stem}.ply"), format!("{stem}.png"));
    demo.trioxide(&[
        "render", &mesh, "-o", &picture, "--edges", "never", "--quiet",
    ])?;
    Ok(())
}

fn scan_row(title: &str, before: &Value, after: &Value, run: &Value) -> Vec<String> {
    let volume = |info: &Value| info["volume"].as_f64().unwrap_or(f64::NAN);
    let kept = 100.0 * volume(after) / volume(before);
    vec![
        title.to_owned(),
        number(&after["faces"], 0, ""),
        number(&after["area"], 4, ""),
        number(&after["volume"], 4, ""),
        number(&kept.into(), 2, " %"),
        number(&run["milliseconds"], 1, " ms"),
    ]
}

fn transposed(columns: &[Vec<String>]) -> Vec<Vec<String>> {
    let rows = columns.first().map_or(0, Vec::len);
    (0..rows)
        .map(|row| columns.iter().map(|column| column[row].clone()).collect())
        .collect()
}
