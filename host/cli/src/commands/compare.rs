//! `trioxide compare`: distances between two meshes.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Map, Value};
use trioxide::Result;
use trioxide::formats::{Format, ReadOptions};
use trioxide_arguments::auto::Work;
use trioxide_arguments::device::{DeviceOptions, Report, to_values};
use trioxide_arguments::names::worded;
use trioxide_arguments::{account, print};
use trioxide_operations::compare::{self, Table, Totals};
use trioxide_operations::{Count, Counts, Error};

use super::help;

const DEFAULTS: &str = "Where defaults come from: this machine (--device auto, --threads: all cores). The others are trioxide's own: \
    --samples 200000, --seed 0.";

/// Two trees, distances of vertices and samples.
const WORK: Work = Work { cpu: 60.0 };

/// Measure the distances between two meshes: largest, mean and root mean square, and angles between normals
///
/// Distances are from the vertices, and from samples, of each mesh to the nearest point of the other. The largest is
/// the Hausdorff distance of these points; `symmetric` is the larger one of both sides, and of means half the sum.
/// Distances are also given relative to the diagonal of the box around A. Angles are between the normals of a sample's
/// triangle and of the nearest triangle, in degrees. Points without faces are a cloud: a distance to it is the distance
/// to its nearest point. The result is the same on every machine.
#[derive(Args)]
#[command(after_help = DEFAULTS, mut_arg("device", help::without_serial))]
pub struct Options {
    #[arg(value_name = "A", help = help::mesh_to_read("Mesh or point cloud to read"))]
    input: PathBuf,
    /// Mesh or point cloud to compare it with, in the same formats
    #[arg(value_name = "B")]
    other: PathBuf,
    #[command(flatten)]
    compare: compare::Options,
    /// Mesh to write: A, with the distance of each vertex to B as the field `distance`
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    reading: ReadOptions,
    #[command(flatten)]
    device: DeviceOptions,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    if let Some(output) = &options.output {
        Format::to_write(output)?;
    }
    let quiet = options.device.quiet;
    let opening = options.device.begin(&options.input, WORK);
    let a = super::read_mesh(&options.input, options.reading, quiet)?;
    let b = super::read_mesh(&options.other, options.reading, quiet)?;
    let compared = compare::compare(&opening, a, &b, options.compare);
    let (mesh, report) = compared.map_err(|error| match error {
        Error::Second(error) => error.in_file(&options.other),
        error => worded(error).in_file(&options.input),
    })?;
    if let Some(output) = &options.output {
        super::write_mesh(output, &mesh, quiet)?;
    }
    let totals = report.totals;
    let mut given = Report::of("compare", &options.input, report.run, totals.counts());
    given.counts.extend(tables(&totals));
    let is_text = options.device.prints_text();
    if is_text {
        account::part("work of the host");
        print(&to_text(&totals))?;
    }
    given.give(&options.device)
}

/// The distances as JSON objects.
fn tables(totals: &Totals) -> impl Iterator<Item = (&'static str, Value)> {
    let object = |counts: Counts| -> Value {
        let values = to_values(counts).into_iter();
        Value::Object(
            values
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
        )
    };
    totals.tables().into_iter().map(move |(side, table)| {
        let rows = table.into_iter();
        let rows: Map<_, _> = rows
            .map(|(from, counts)| (from.to_owned(), object(counts)))
            .collect();
        (side, Value::Object(rows))
    })
}

/// The distances as a table: a row for each side and kind of points, once in units of length and once in parts of the
/// diagonal.
fn to_text(totals: &Totals) -> String {
    let tables: [(&str, Table); 3] = totals.tables();
    let mut text = String::new();
    for (title, kind, prefix) in [
        ("distance", false, ""),
        ("of the diagonal", false, "relative_"),
        ("angle of normals", true, ""),
    ] {
        let mut rows = String::new();
        for (side, table) in &tables {
            for (from, counts) in table
                .iter()
                .filter(|(from, _)| (*from == "normals") == kind)
            {
                let numbers = ["largest", "mean", "root_mean_square"].map(|name| {
                    let name = format!("{prefix}{name}");
                    let found = counts.iter().find(|(key, _)| *key == name);
                    match found {
                        Some((_, Count::Real(number))) => format!("{number:.6e}"),
                        _ => String::new(),
                    }
                });
                if numbers[0].is_empty() {
                    continue;
                }
                let row = format!("{}, {from}", side.replace('_', " "));
                let [largest, mean, square] = numbers;
                let row = format!("{row:<24} {largest:>14} {mean:>14} {square:>18}");
                rows += row.trim_end();
                rows.push('\n');
            }
        }
        if !rows.is_empty() {
            let last = if kind { "" } else { "root mean square" };
            let head = format!("{title:<24} {:>14} {:>14} {last:>18}", "largest", "mean");
            text += &format!("{}\n{rows}\n", head.trim_end());
        }
    }
    text
}
