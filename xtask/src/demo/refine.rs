//! The pictures of the refinement thesis, A.1 to A.4: a mesh of 100k triangles, and its refinements.

use serde_json::Value;

use super::{Demo, aligned, number, relative};
use crate::Error;

/// File stem, title and arguments of `trioxide refine`.
const REFINED: [(&str, &str, &[&str]); 3] = [
    (
        "refined_corner",
        "the lower left corner",
        &["--mark", "box:0,0,0.25,0.25"],
    ),
    (
        "refined_random",
        "a tenth, at random",
        &["--mark", "fraction:0.1", "--seed", "1"],
    ),
    ("refined_all", "every triangle", &["--mark", "all"]),
];

/// Width of the pictures, and of the part in the details.
const WIDTH: &str = "2000";
const DETAIL: &str = "0.2,0.2,0.3,0.3";

pub(super) fn run(demo: &Demo) -> Result<(), Error> {
    let input = "coarse.off";
    demo.trioxide(&[
        "generate", "random", "--points", "50k", "--seed", "1", "-o", input, "--quiet",
    ])?;
    draw(demo, "coarse", input)?;
    let mut rows = vec![
        [
            "refined",
            "device",
            "triangles",
            "vertices",
            "shortest edge by diameter",
            "all stages",
        ]
        .map(str::to_owned)
        .to_vec(),
    ];
    rows.push(row("nothing", "-", &demo.json(&["info", input])?, "-"));
    for (stem, title, marking) in REFINED {
        let output = format!("{stem}.off");
        let refined =
            demo.json(&[&["refine", input, "-o", &output, "--quiet"], marking].concat())?;
        draw(demo, stem, &output)?;
        let info = demo.json(&["info", &output])?;
        let time = number(&refined["milliseconds"], 2, " ms");
        rows.push(row(
            title,
            refined["device"].as_str().unwrap_or("-"),
            &info,
            &time,
        ));
    }
    println!("\n{}", aligned(&rows));
    println!("{}", relative(&demo.out).display());
    for (names, what) in [
        ("coarse.off, refined_*.off", "the meshes"),
        (
            "coarse.png, refined_*.png",
            "their pictures, as the thesis's A.1 to A.4",
        ),
        ("*_detail.png", "a hundredth of each, enlarged"),
    ] {
        println!("  {names:<32} {what}");
    }
    Ok(())
}

/// A picture of the whole mesh, and one of a part.
fn draw(demo: &Demo, stem: &str, mesh: &str) -> Result<(), Error> {
    let (whole, detail) = (format!("{stem}.png"), format!("{stem}_detail.png"));
    let common = [
        "--width", WIDTH, "--color", "none", "--edges", "always", "--quiet",
    ];
    demo.trioxide(&[&["render", mesh, "-o", &whole], &common[..]].concat())?;
    demo.trioxide(
        &[
            &["render", mesh, "-o", &detail, "--window", DETAIL],
            &common[..],
        ]
        .concat(),
    )?;
    Ok(())
}

fn row(title: &str, device: &str, info: &Value, time: &str) -> Vec<String> {
    let shape = info
        .pointer("/quality/shortest_edge_to_diameter/min")
        .unwrap_or(&Value::Null);
    vec![
        title.to_owned(),
        device.to_owned(),
        number(&info["faces"], 0, ""),
        number(&info["vertices"], 0, ""),
        number(shape, 4, ""),
        time.to_owned(),
    ]
}
