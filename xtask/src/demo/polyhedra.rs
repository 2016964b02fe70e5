//! Polyhedra in pictures: tetrahedra become polyhedra, cut open.

use serde_json::Value;

use super::{Demo, aligned, number, relative};
use crate::Error;

/// Nodes in a cube, few enough to show polyhedra in a picture.
const NODES: &str = "4000";

/// File stem, title and arguments of `trioxide generate tets`.
const MESHES: [(&str, &str, &[&str]); 2] = [
    ("delaunay", "random Delaunay", &["--random"]),
    ("grid", "grid, nodes moved", &[]),
];
/// File stem, title and arguments of `trioxide polylla`.
const WAYS: [(&str, &str, &[&str]); 3] = [
    ("area", "by area", &[]),
    ("strict", "by area, strict", &["--strict"]),
    ("circumradius", "by circumradius", &["--by", "circumradius"]),
];

pub(super) fn run(demo: &Demo) -> Result<(), Error> {
    let head = [
        "polyhedra",
        "tetrahedra",
        "polyhedra",
        "single tetrahedra",
        "convex",
        "star-shaped",
        "pinched",
        "volume",
        "time",
    ];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for (mesh, title, options) in MESHES {
        let input = format!("{mesh}_tets.vtu");
        let common = [
            "generate", "tets", "-n", NODES, "--seed", "1", "-o", &input, "--quiet",
        ];
        demo.trioxide(&[&common[..], options].concat())?;
        for (way, how, options) in WAYS {
            let stem = format!("{mesh}_polyhedra_{way}");
            let output = format!("{stem}.vtu");
            let common = ["polylla", &input, "-o", &output, "--quiet"];
            let report = demo.json(&[&common[..], options].concat())?;
            demo.trioxide(&[
                "render",
                &output,
                "-o",
                &format!("{stem}.png"),
                "--cut",
                "1,0,0",
                "--view",
                "25,20",
                "--edges",
                "always",
                "--quiet",
            ])?;
            let info = demo.json(&["info", &output])?;
            rows.push(row(&format!("{title}, {how}"), &report, &info));
        }
    }
    println!("\n{}", aligned(&rows));
    println!("{}", relative(&demo.out).display());
    for (names, what) in [
        ("*_polyhedra_*.vtu", "the polyhedra"),
        ("*_polyhedra_*.png", "a cut through them"),
    ] {
        println!("  {names:<32} {what}");
    }
    Ok(())
}

fn row(title: &str, run: &Value, info: &Value) -> Vec<String> {
    vec![
        title.to_owned(),
        number(&run["tetrahedra"], 0, ""),
        number(&run["polyhedra"], 0, ""),
        number(&run["single_tetrahedra"], 0, ""),
        number(&info["convex"], 0, ""),
        number(&info["star_shaped"], 0, ""),
        number(&info["pinched"], 0, ""),
        number(&info["volume"], 6, ""),
        number(&run["milliseconds"], 1, " ms"),
    ]
}
