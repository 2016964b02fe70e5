//! `cargo xtask demo`: triangulations become polygon meshes, before your eyes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use clap::ValueEnum;
use serde_json::Value;

use crate::process::command_line;
use crate::{Error, build, workspace};

/// Generates meshes, processes them on the best device, writes meshes and pictures to out/ and prints one table.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// What to show.
    #[arg(value_enum, default_value = "polylla")]
    family: Family,
}

#[derive(Clone, Copy, ValueEnum)]
enum Family {
    /// Triangulations of about 200k points become polygon meshes.
    Polylla,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Error> {
    match arguments.family {
        Family::Polylla => polylla(),
    }
}

/// A mesh of the demo.
struct Dataset {
    /// Column of the table, and stem of its files.
    name: &'static str,
    /// What `trioxide generate` is given.
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

/// The binary and where its files go.
struct Demo {
    trioxide: PathBuf,
    out: PathBuf,
}

impl Demo {
    /// Runs `trioxide`; what it writes to standard output.
    fn trioxide(&self, arguments: &[&str]) -> Result<Vec<u8>, Error> {
        let mut command = Command::new(&self.trioxide);
        command.args(arguments).current_dir(&self.out);
        let output = command
            .output()
            .map_err(|error| format!("{} cannot be started: {error}", command_line(&command)))?;
        if !output.status.success() {
            let message = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{} failed:\n{message}", command_line(&command)).into());
        }
        Ok(output.stdout)
    }

    /// Runs `trioxide` with `--json -`; its object.
    fn json(&self, arguments: &[&str]) -> Result<Value, Error> {
        let text = self.trioxide(&[arguments, &["--json", "-"]].concat())?;
        Ok(serde_json::from_slice(&text)?)
    }
}

/// What the table says of one mesh.
struct Column {
    name: &'static str,
    polylla: Value,
    info: Value,
}

fn polylla() -> Result<(), Error> {
    println!("building trioxide");
    let trioxide = build::trioxide()?;
    let out = workspace().join("out");
    fs::create_dir_all(&out).map_err(|error| format!("{}: {error}", out.display()))?;
    let demo = Demo { trioxide, out };

    let devices = demo.json(&["devices"])?;
    if let Some(reason) = devices["cuda_unavailable"].as_str() {
        println!("running on the CPU: {reason}");
    }
    let mut columns = Vec::new();
    for dataset in &DATASETS {
        let start = Instant::now();
        columns.push(process(&demo, dataset)?);
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

/// The path as one types it in the workspace.
fn relative(path: &Path) -> &Path {
    path.strip_prefix(workspace()).unwrap_or(path)
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

/// One row a figure, one column a mesh.
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

/// A number with that many decimals, thousands apart; `-` where there is none.
fn number(value: &Value, decimals: usize, unit: &str) -> String {
    let Some(number) = value.as_f64() else {
        return "-".to_owned();
    };
    let text = format!("{number:.decimals$}");
    let (whole, fraction) = text.split_at(text.find('.').unwrap_or(text.len()));
    let mut grouped = String::new();
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped + fraction + unit
}

/// Names to the left, cells to the right; a line below the head.
fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            rows.iter()
                .map(|row| row[column].chars().count())
                .max()
                .unwrap_or(0)
        })
        .collect();
    let mut text = String::new();
    for (i, row) in rows.iter().enumerate() {
        for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            if column == 0 {
                text += &format!("{cell:<width$}");
            } else {
                text += &format!("  {cell:>width$}");
            }
        }
        text.push('\n');
        if i == 0 {
            text += &"-".repeat(widths.iter().sum::<usize>() + 2 * (columns - 1));
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(number(&json!(1234567), 0, ""), "1,234,567");
        assert_eq!(number(&json!(123), 0, ""), "123");
        assert_eq!(number(&json!(1234.5), 2, " ms"), "1,234.50 ms");
        assert_eq!(number(&Value::Null, 2, " ms"), "-");
    }

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
