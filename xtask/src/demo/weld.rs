//! A scan welded until a tenth, half and nine tenths of its vertices are removed; and a soup of triangles that becomes
//! a mesh.

use serde_json::{Value, json};

use super::{Demo, aligned, number, relative};
use crate::Error;

/// File stem, title and arguments of `trioxide weld`.
const WELDED: [(&str, &str, &[&str]); 4] = [
    ("welded_10", "10 % removed", &["--ratio", "0.1"]),
    ("welded_50", "50 % removed", &["--ratio", "0.5"]),
    ("welded_90", "90 % removed", &["--ratio", "0.9"]),
    (
        "welded_first",
        "90 % removed, first positions",
        &["--ratio", "0.9", "--position", "first"],
    ),
];

/// Width of the pictures.
const WIDTH: &str = "1200";

pub(super) fn run(demo: &Demo) -> Result<(), Error> {
    let scan = "scan.ply";
    generate(demo, "200k", scan)?;
    draw(demo, "scan", scan)?;
    let heads = [
        "welded",
        "device",
        "vertices",
        "faces",
        "epsilon",
        "clusterings",
        "all stages",
    ];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    let scanned = demo.json(&["info", scan])?;
    // The report's device and time are dropped.
    let counts = json!({"vertices": scanned["vertices"], "faces": scanned["faces"]});
    rows.push(row("nothing", "vertices", "faces", &counts));
    for (stem, title, arguments) in WELDED {
        let output = format!("{stem}.ply");
        let welded = demo.json(&[&["weld", scan, "-o", &output, "--quiet"], arguments].concat())?;
        draw(demo, stem, &output)?;
        rows.push(row(title, "welded_vertices", "welded_faces", &welded));
    }
    let (small, soup, mesh) = ("small.ply", "soup.stl", "soup_welded.ply");
    generate(demo, "20k", small)?;
    demo.trioxide(&["convert", small, soup, "--quiet"])?;
    let welded = demo.json(&["weld", soup, "-o", mesh, "--epsilon", "0", "--quiet"])?;
    rows.push(row("a soup of triangles", "vertices", "faces", &welded));
    rows.push(row(
        "the mesh of it",
        "welded_vertices",
        "welded_faces",
        &welded,
    ));
    println!("\n{}", aligned(&rows));
    println!("{}", relative(&demo.out).display());
    for (names, what) in [
        ("scan.ply, welded_*.ply", "the meshes"),
        ("scan.png, welded_*.png", "their pictures, shaded"),
        (
            "soup.stl, soup_welded.ply",
            "three vertices a triangle, and one for all that are equal",
        ),
    ] {
        println!("  {names:<32} {what}");
    }
    Ok(())
}

fn generate(demo: &Demo, points: &str, output: &str) -> Result<(), Error> {
    let what = ["generate", "scan", "--points", points, "--seed", "1"];
    demo.trioxide(&[&what[..], &["-o", output, "--quiet"]].concat())?;
    Ok(())
}

/// A shaded picture.
fn draw(demo: &Demo, stem: &str, mesh: &str) -> Result<(), Error> {
    let picture = format!("{stem}.png");
    demo.trioxide(&["render", mesh, "-o", &picture, "--width", WIDTH, "--quiet"])?;
    Ok(())
}

/// A row of the table; `-` for values that are not in the report.
fn row(title: &str, vertices: &str, faces: &str, report: &Value) -> Vec<String> {
    vec![
        title.to_owned(),
        report["device"].as_str().unwrap_or("-").to_owned(),
        number(&report[vertices], 0, ""),
        number(&report[faces], 0, ""),
        number(&report["epsilon"], 6, ""),
        number(&report["clusterings"], 0, ""),
        number(&report["milliseconds"], 2, " ms"),
    ]
}
