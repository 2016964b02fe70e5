//! `cargo xtask demo`: each family's effect on a mesh, as pictures.

mod polyhedra;
mod polylla;
mod refine;
mod smooth;
mod weld;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::ValueEnum;
use serde_json::Value;

use crate::process::command_line;
use crate::{Error, build, workspace};

/// Generates meshes, processes them on the best device, writes meshes and pictures to out/ and prints one table.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Family to show.
    #[arg(value_enum, default_value = "polylla")]
    family: Family,
}

#[derive(Clone, Copy, ValueEnum)]
enum Family {
    /// Triangulations of about 200k points become polygon meshes.
    Polylla,
    /// Tetrahedra in a cube become polyhedra, cut open.
    Polyhedra,
    /// A mesh of 100k triangles, refined in a corner, at random and everywhere.
    Refine,
    /// A scan of 200k vertices, welded, and a soup of triangles that becomes a mesh.
    Weld,
    /// A mesh of tetrahedra, smoothed with and without the guard, cut open; and a noisy scan.
    Smooth,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Error> {
    let trioxide = build::trioxide()?;
    let out = workspace().join("out");
    fs::create_dir_all(&out).map_err(|error| format!("{}: {error}", out.display()))?;
    let demo = Demo { trioxide, out };
    let devices = demo.json(&["devices"])?;
    if let Some(reason) = devices["cuda_unavailable"].as_str() {
        println!("running on the CPU: {reason}");
    }
    match arguments.family {
        Family::Polylla => polylla::run(&demo),
        Family::Polyhedra => polyhedra::run(&demo),
        Family::Refine => refine::run(&demo),
        Family::Weld => weld::run(&demo),
        Family::Smooth => smooth::run(&demo),
    }
}

/// Names of the families that it shows.
pub fn families() -> Vec<String> {
    let named = Family::value_variants()
        .iter()
        .filter_map(Family::to_possible_value);
    named.map(|value| value.get_name().to_owned()).collect()
}

/// The binary and the folder of its output.
pub struct Demo {
    /// The binary.
    pub trioxide: PathBuf,
    /// The folder of its files.
    pub out: PathBuf,
}

impl Demo {
    /// Runs `trioxide`; returns its standard output.
    pub fn trioxide(&self, arguments: &[&str]) -> Result<Vec<u8>, Error> {
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

    /// Runs `trioxide` with `--json -`; returns its object.
    pub fn json(&self, arguments: &[&str]) -> Result<Value, Error> {
        let text = self.trioxide(&[arguments, &["--json", "-"]].concat())?;
        Ok(serde_json::from_slice(&text)?)
    }
}

/// The path relative to the workspace.
fn relative(path: &Path) -> &Path {
    path.strip_prefix(workspace()).unwrap_or(path)
}

/// A number with `decimals` decimals and separators of thousands; `-` if there is none.
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
}
