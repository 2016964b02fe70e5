//! `trioxide info`, `convert` and `generate tets` of volume meshes.

use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

use clap::{Args, ValueEnum};
use glam::DVec3;
use serde_json::{Value, json};
use trioxide::device::{Device, Stage};
use trioxide::fields::MeshFields;
use trioxide::formats::ReadOptions;
use trioxide::formats::volume::{
    Encoding, MshVersion, VolumeFormat, WriteOptions, write_volume_as,
};
use trioxide::generate::Sample;
use trioxide::quality3d::{Quality3d, quality};
use trioxide::smooth::DeviceMesh;
use trioxide::volume::{TetMesh, VolumeMesh};
use trioxide::{Result, generate, progress};
use trioxide_verify::validate::volume::{VolumeSummary, volume_summary};

use trioxide_arguments::names::worded;
use trioxide_arguments::{account, is_standard_output, note, print, write_json};

use super::{cell_quality, field_list, help};

/// How a volume mesh is written.
#[derive(Args, Clone, Copy)]
pub struct VolumeOutput {
    #[arg(long, value_enum, value_name = "ENCODING", help = help::volume_encoded())]
    pub volume_encoding: Option<Encoding>,
    /// Version of a .msh file
    #[arg(long, value_enum, value_name = "VERSION", default_value = "4.1")]
    pub msh_version: MshVersion,
}

impl From<VolumeOutput> for WriteOptions {
    fn from(options: VolumeOutput) -> WriteOptions {
        WriteOptions {
            encoding: options.volume_encoding,
            msh_version: options.msh_version,
        }
    }
}

/// Converts the volume mesh `input`.
pub fn convert(
    input: &Path,
    reading: ReadOptions,
    output: &Path,
    options: VolumeOutput,
    quiet: bool,
) -> Result<()> {
    // A bad output is refused before a long read.
    VolumeFormat::to_write(output)?;
    let mesh = super::read_volume(input, reading, quiet)?;
    super::write_volume(output, &mesh, options.into(), quiet)?;
    if quiet {
        return Ok(());
    }
    print(&format!("{}: {}\n", output.display(), counts(&mesh)))
}

/// Points of a mesh of tetrahedra.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TetPoints {
    /// A grid, every small cube split into six
    Grid,
    /// Random points with regular ones on the sides of the cube, Delaunay
    Random,
    /// Random points, those near a side moved onto it, Delaunay
    Uniform,
    /// No two points nearer than a radius, those near a side moved onto it, Delaunay
    Poisson,
    /// A grid whose inner points are moved by up to a quarter of its spacing, Delaunay
    SemiUniform,
}

/// Generates a mesh of about `n` points in the unit cube.
pub fn generate_tets(
    n: usize,
    sample: Option<TetPoints>,
    seed: u64,
    output: &Path,
    options: VolumeOutput,
    quiet: bool,
) -> Result<()> {
    VolumeFormat::to_write(output)?;
    progress::stage(format!("make {n} points and their tetrahedra"));
    let mesh = match sample.unwrap_or(TetPoints::Grid) {
        TetPoints::Grid => generate::tet_grid(n, seed)?,
        TetPoints::Random => generate::random_tets(n, seed)?,
        TetPoints::Uniform => generate::sampled_tets(n, Sample::Uniform, seed)?,
        TetPoints::Poisson => generate::sampled_tets(n, Sample::Poisson, seed)?,
        TetPoints::SemiUniform => generate::sampled_tets(n, Sample::SemiUniform, seed)?,
    };
    let mesh = VolumeMesh::from(mesh);
    account::part("generate");
    write_volume_as(output, &mesh, options.into())?;
    account::part("write");
    if quiet {
        return Ok(());
    }
    print(&format!("{}: {}\n", output.display(), counts(&mesh)))
}

/// A mesh of tetrahedra, turned to their positive side with a note, and its fields.
pub fn tetrahedra(mesh: VolumeMesh, input: &Path, quiet: bool) -> Result<(TetMesh, MeshFields)> {
    let (mesh, fields, turned) = trioxide_operations::input::tetrahedra(mesh)
        .map_err(|error| worded(error).in_file(input))?;
    turned.into_iter().for_each(|turned| note(quiet, turned));
    Ok((mesh, fields))
}

fn counts(mesh: &VolumeMesh) -> String {
    format!(
        "{} vertices, {} cells, {} tagged faces",
        mesh.points.len(),
        mesh.cells.len(),
        mesh.faces.len()
    )
}

/// Width of the column of names in the text.
const NAME_WIDTH: usize = 25;

/// The arguments of `trioxide info`.
pub struct Info<'a> {
    pub input: &'a Path,
    /// Whether the mesh is generated, not read from a file.
    pub is_generated: bool,
    pub reading: ReadOptions,
    pub timings: bool,
    pub json: Option<&'a Path>,
    pub quiet: bool,
}

/// Counts, checks and measures the volume mesh.
pub fn info(options: &Info) -> Result<()> {
    let format = match options.is_generated {
        true => "generated",
        false => VolumeFormat::to_read(options.input)?.name,
    };
    let mesh = super::read_volume(options.input, options.reading, options.quiet)?;
    progress::stage("count, check and measure");
    let start = Instant::now();
    let summary = volume_summary(&mesh);
    // The report lists the problems of a mesh that cannot be measured.
    let can_measure = summary.non_finite.count == 0 && summary.repeated.count == 0;
    let quality = if can_measure && !mesh.cells.is_empty() {
        let on = Device::cpu(None)?;
        let resident = DeviceMesh::<DVec3>::upload(&on, &mesh)?;
        Some(quality(&on, resident.cells(), resident.points())?)
    } else {
        None
    };
    let stage = Stage {
        name: "count, check and measure",
        milliseconds: start.elapsed().as_secs_f64() * 1e3,
    };
    account::stages(std::slice::from_ref(&stage));
    let finite = mesh.points.iter().copied().filter(|p| p.is_finite());
    let bounds = finite.fold(None, |bounds: Option<[DVec3; 2]>, p| {
        let [min, max] = bounds.unwrap_or([p, p]);
        Some([min.min(p), max.max(p)])
    });
    if let Some(path) = options.json {
        let mut object = to_json(&mesh, &summary, bounds, quality.as_ref());
        object["command"] = json!("info");
        object["input"] = json!(options.input.to_string_lossy());
        object["format"] = json!(format);
        object["device"] = json!("cpu");
        object["stages"] = json!([{"name": stage.name, "milliseconds": stage.milliseconds}]);
        object["milliseconds"] = json!(stage.milliseconds);
        object["whole_run"] = account::to_json();
        write_json(path, &object)?;
    }
    if options.quiet || options.json.is_some_and(is_standard_output) {
        return Ok(());
    }
    let mut text = format!("{:<NAME_WIDTH$} {}\n", "format", format);
    text += &to_text(&mesh, &summary, bounds);
    if let Some(quality) = &quality {
        text += &cell_quality::to_text(quality, NAME_WIDTH);
    }
    if options.timings {
        writeln!(
            text,
            "{:<NAME_WIDTH$} {:.3} ms",
            stage.name, stage.milliseconds
        )
        .expect("strings take all that is written");
        text += &account::to_text(NAME_WIDTH, &[stage]);
    }
    print(&text)
}

fn to_json(
    mesh: &VolumeMesh,
    summary: &VolumeSummary,
    bounds: Option<[DVec3; 2]>,
    quality: Option<&Quality3d>,
) -> Value {
    let kinds: serde_json::Map<_, _> = summary
        .kinds
        .iter()
        .map(|(kind, count)| (kind.name().to_owned(), json!(count)))
        .collect();
    json!({
        "vertices": mesh.points.len(),
        "unused_vertices": summary.unused_vertices,
        "bounds": bounds.map(|bounds| bounds.map(|p| p.to_array())),
        "cells": mesh.cells.len(),
        "cell_kinds": kinds,
        "interior_faces": summary.interior_faces,
        "boundary_faces": summary.boundary_faces,
        "boundary_vertices": summary.boundary_vertices,
        "interface_faces": summary.interface_faces,
        "regions": summary.regions,
        "tagged_faces": mesh.faces.len(),
        "face_tags": summary.tags,
        "fields": field_list::to_json(&field_list::rows(&mesh.fields, "cells", "tagged faces")),
        "volume": summary.volume,
        "inverted": summary.inverted.count,
        "flat": summary.flat.count,
        "smallest_dihedral_angle": summary.smallest_dihedral,
        "largest_dihedral_angle": summary.largest_dihedral,
        "quality": quality.map(cell_quality::to_json),
        "problems": summary.problems(),
    })
}

fn to_text(mesh: &VolumeMesh, summary: &VolumeSummary, bounds: Option<[DVec3; 2]>) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        writeln!(text, "{name:<NAME_WIDTH$} {value}").expect("strings take all that is written");
    };
    let (vertices, unused) = (mesh.points.len(), summary.unused_vertices);
    line("vertices", format!("{vertices} ({unused} unused)"));
    if let Some([min, max]) = bounds {
        for (axis, i) in [("x", 0), ("y", 1), ("z", 2)] {
            line(axis, format!("{} to {}", min[i], max[i]));
        }
    }
    line("cells", mesh.cells.len().to_string());
    for (kind, count) in &summary.kinds {
        line(&format!("  {}", kind.name()), count.to_string());
    }
    line("interior faces", summary.interior_faces.to_string());
    line("boundary faces", summary.boundary_faces.to_string());
    line("boundary vertices", summary.boundary_vertices.to_string());
    let mut tags =
        |name: &str, one: &str, what: &str, counts: &std::collections::BTreeMap<i32, usize>| {
            line(name, counts.len().to_string());
            for (tag, count) in counts.iter().take(20) {
                line(&format!("  {one} {tag}"), format!("{count} {what}"));
            }
            if counts.len() > 20 {
                line("  and more", (counts.len() - 20).to_string());
            }
        };
    if let Some(regions) = &summary.regions {
        tags("regions", "region", "cells", regions);
    }
    if !summary.tags.is_empty() {
        tags("tags of faces", "tag", "faces", &summary.tags);
    }
    if summary.regions.is_some() {
        line("faces between regions", summary.interface_faces.to_string());
    }
    let fields = field_list::rows(&mesh.fields, "cells", "tagged faces");
    for (name, value) in field_list::to_lines(&fields) {
        line(&name, value);
    }
    line("volume", summary.volume.to_string());
    line("inverted cells", summary.inverted.count.to_string());
    line("flat cells", summary.flat.count.to_string());
    if let (Some(smallest), Some(largest)) = (summary.smallest_dihedral, summary.largest_dihedral) {
        let angles = format!("{smallest:.4} to {largest:.4} degrees");
        line("dihedral angles", angles);
    }
    for problem in summary.problems() {
        line("problem", problem);
    }
    text
}
