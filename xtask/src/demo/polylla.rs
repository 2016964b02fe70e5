//! Triangulations of about 200k points become polygon meshes.

use std::time::Instant;

use serde_json::Value;

use super::{Demo, aligned, number, relative};
use crate::Error;

/// A mesh of the demo.
struct Dataset {
    /// Column of the table, and stem of its files.
    name: &'static str,
    /// Arguments of `trioxide generate`.
    generate: &'static [&'static str],
    /// Width of its pictures in pixels.
    width: &'static str,
    /// Whether the triangulation is drawn too: a pair, before and after.
    before: bool,
}

const DATASETS: [Dataset; 3] = [
    Dataset {
        name: "random",
        generate: &["random", "--points", "200k", "--seed", "1"],
        width: "2000",
        before: false,
    },
    Dataset {
        name: "grid",
        generate: &["grid", "--points", "200k"],
        width: "2000",
        before: false,
    },
    Dataset {
        name: "small",
        generate: &["random", "--points", "2k", "--seed", "1"],
        width: "480",
        before: true,
    },
];

/// A mesh's column of the table.
struct Column {
    name: &'static str,
    polylla: Value,
    info: Value,
}

pub(super) fn run(demo: &Demo) -> Result<(), Error> {
    let mut columns = Vec::new();
    for dataset in &DATASETS {
        let start = Instant::now();
        columns.push(process(demo, dataset)?);
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "{}: generated, processed, drawn in {seconds:.1} s",
            dataset.name
        );
    }
    println!("\n{}", table(&columns));
    let files = [
        ("random.off, grid.off, small.off", "triangulations"),
        (
            "*_polygons.vtu",
            "polygon meshes for ParaView, with all digits",
        ),
        ("*_polygons.off", "the same as text"),
        ("*_polygons.png", "their pictures"),
        ("small_triangles.png", "before small_polygons.png"),
    ];
    println!("{}", relative(&demo.out).display());
    for (names, what) in files {
        println!("  {names:<32} {what}");
    }
    Ok(())
}

/// Generates a mesh, makes polygons of it, measures and draws them.
fn process(demo: &Demo, dataset: &Dataset) -> Result<Column, Error> {
    let name = dataset.name;
    let triangles = format!("{name}.off");
    let polygons = format!("{name}_polygons.vtu");
    let generate = ["generate", "--quiet", "--output", &triangles];
    demo.trioxide(&[&generate, dataset.generate].concat())?;
    let polylla = demo.json(&["polylla", &triangles, "-o", &polygons, "--quiet"])?;
    let info = demo.json(&["info", &polygons])?;
    let text = format!("{name}_polygons.off");
    demo.trioxide(&["convert", &polygons, &text, "--quiet"])?;
    let draw = |mesh: &str, picture: &str, color: &str| {
        let picture = ["render", mesh, "--output", picture, "--color", color];
        demo.trioxide(&[&picture[..], &["--width", dataset.width, "--quiet"]].concat())
    };
    draw(&polygons, &format!("{name}_polygons.png"), "distinct")?;
    if dataset.before {
        draw(&triangles, &format!("{name}_triangles.png"), "none")?;
    }
    Ok(Column {
        name,
        polylla,
        info,
    })
}

/// A row for each figure, a column for each mesh.
fn table(columns: &[Column]) -> String {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut row = |name: &str, cell: &dyn Fn(&Column) -> String| {
        let cells = columns.iter().map(cell);
        rows.push(std::iter::once(name.to_owned()).chain(cells).collect());
    };
    row("mesh", &|column| column.name.to_owned());
    row("device", &|column| {
        column.polylla["device"].as_str().unwrap_or("-").to_owned()
    });
    for (name, key) in [
        ("points", "vertices"),
        ("triangles", "triangles"),
        ("polygons", "polygons"),
        ("terminal-edge regions", "regions"),
        ("frontier edges", "frontier_edges"),
        ("barrier tips", "barrier_tips"),
        ("weakly simple polygons", "weakly_simple"),
    ] {
        row(name, &|column| number(&column.polylla[key], 0, ""));
    }
    for stage in stage_names(columns) {
        row(&stage, &|column| {
            number(&stage_time(&column.polylla, &stage), 2, " ms")
        });
    }
    row("all stages", &|column| {
        number(&column.polylla["milliseconds"], 2, " ms")
    });
    for (name, pointer) in [
        (
            "vertices a polygon, mean",
            "/quality/vertices_per_polygon/mean",
        ),
        ("convex polygons", "/quality/convex_fraction"),
        ("star-shaped polygons", "/quality/star_shaped_fraction"),
        ("convexity, mean", "/quality/convexity/mean"),
        ("kernel by area, mean", "/quality/kernel/mean"),
        (
            "shortest edge by diameter, mean",
            "/quality/shortest_edge_to_diameter/mean",
        ),
        ("area, sum", "/area"),
    ] {
        row(name, &|column| {
            number(column.info.pointer(pointer).unwrap_or(&Value::Null), 4, "")
        });
    }
    aligned(&rows)
}

/// Stages of all runs, in the order of the first run that has them.
fn stage_names(columns: &[Column]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for stage in columns
        .iter()
        .filter_map(|column| column.polylla["stages"].as_array())
    {
        for name in stage.iter().filter_map(|stage| stage["name"].as_str()) {
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
    }
    names
}

fn stage_time(polylla: &Value, name: &str) -> Value {
    let stages = polylla["stages"].as_array().into_iter().flatten();
    let stage = stages.into_iter().find(|stage| stage["name"] == name);
    stage.map_or(Value::Null, |stage| stage["milliseconds"].clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn table_has_a_column_a_mesh_and_a_row_a_stage() {
        let column = |name, stage: &str| Column {
            name,
            polylla: json!({
                "device": "CPU, 2 threads",
                "polygons": 1000,
                "stages": [{"name": stage, "milliseconds": 1.5}],
                "milliseconds": 1.5,
            }),
            info: json!({"area": 1.0}),
        };
        let text = table(&[column("a", "label"), column("b", "link")]);
        let row = |name: &str| {
            let line = text.lines().find(|line| line.starts_with(name)).unwrap();
            line[name.len()..].trim().to_owned()
        };
        assert_eq!(row("polygons"), "1,000           1,000");
        assert!(row("label").starts_with("1.50 ms") && row("label").ends_with('-'));
        assert!(row("link").starts_with('-') && row("link").ends_with("1.50 ms"));
        assert!(row("area, sum").ends_with("1.0000"));
    }
}
