//! `trioxide refine`: longest-edge bisection.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use glam::{DVec2, Vec2};
use serde_json::json;
use trioxide::backend::{Device, Stage};
use trioxide::formats::{self, Format};
use trioxide::half_edges::Point;
use trioxide::mesh::{Mesh, Refinement, Triangulation};
use trioxide::refine::{EdgeMesh, End, Marking, SerialRun, refine};
use trioxide::{Error, Result};

use super::device::{DeviceOptions, Precision, Report};
use super::generate::parse_count;

#[path = "refine_tets.rs"]
mod tets;

/// Refine a triangulation or a mesh of tetrahedra by longest-edge bisection
///
/// Marked triangles are bisected at their longest edge, and with them those that must be for the mesh to stay conforming.
/// Regions and segments of the input are kept: parts of a triangle have its region, parts of a segment its marker.
#[derive(Args)]
pub struct Options {
    /// Triangulation to read: .off, .obj, .ply, .vtu, or .node and .ele (either name or the bare stem); or tetrahedra: .vtu, .vtk,
    /// .msh, .mesh, .meshb, or .node and .ele
    input: PathBuf,
    /// Refined mesh to write: of triangles .off, .obj, .ply, .vtu, or .node and .ele; of tetrahedra .vtu, .vtk, .msh, .mesh, .meshb,
    /// or .node and .ele
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Triangles to refine: all; fraction:F, each with chance F; box:X0,Y0,X1,Y1 or disk:X,Y,R, by their centroid; area:A, those
    /// that are larger; angle:DEGREES, those with a smaller angle; file:PATH, ids of triangles of the input (0 is the first), one a
    /// line; values:PATH, one number for each triangle of the input, to go with --threshold or --dorfler. Tetrahedra by all, fraction:F,
    /// box:X0,Y0,Z0,X1,Y1,Z1, ball:X,Y,Z,R, volume:V or file:PATH
    #[arg(long, value_name = "MARKING", default_value = "all")]
    mark: Mark,
    /// With --mark values:PATH, refine the triangles whose value is above this
    #[arg(long, value_name = "VALUE", conflicts_with = "dorfler")]
    threshold: Option<f64>,
    /// With --mark values:PATH, refine the triangles of the largest values that make this part of the sum of all (Dörfler)
    #[arg(long, value_name = "PART")]
    dorfler: Option<f64>,
    /// Seed of --mark fraction
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Rounds; each marks anew. Ids and values of a file mark all parts of their triangle again
    #[arg(long, value_name = "R", default_value_t = 1, conflicts_with = "until_area")]
    rounds: u32,
    /// Refine in rounds until no triangle has more area than this
    #[arg(long, value_name = "A", conflicts_with = "mark")]
    until_area: Option<f64>,
    /// Begin no round that would give more triangles than this; of tetrahedra, none with so many or more
    #[arg(long, value_name = "N", value_parser = parse_count)]
    max_triangles: Option<usize>,
    /// Go back to this level after the last round: 0 is the input
    #[arg(long, value_name = "LEVEL")]
    coarsen_to: Option<usize>,
    /// Write where each part comes from to this folder: parent_triangles.txt, new_vertices.txt and prolongation.mtx
    #[arg(long, value_name = "DIR")]
    maps: Option<PathBuf>,
    #[command(flatten)]
    device: DeviceOptions,
}

/// `--mark`.
#[derive(Clone, Debug, PartialEq)]
pub enum Mark {
    All,
    Fraction(f64),
    Box([f64; 4]),
    Disk([f64; 3]),
    Area(f64),
    Angle(f64),
    File(PathBuf),
    Values(PathBuf),
    Tets(tets::TetMark),
}

impl FromStr for Mark {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(mark) = tets::TetMark::parse(text) {
            return mark.map(Mark::Tets);
        }
        let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
        let number = |value: f64, least: f64, most: f64| {
            if (least..=most).contains(&value) {
                Ok(value)
            } else {
                Err(format!("{kind}: {value} is not between {least} and {most}"))
            }
        };
        match kind {
            "all" if rest.is_empty() => Ok(Mark::All),
            "fraction" => number(numbers::<1>(rest)?[0], 0.0, 1.0).map(Mark::Fraction),
            "box" => numbers(rest).map(Mark::Box),
            "disk" => numbers(rest).map(Mark::Disk),
            "area" => number(numbers::<1>(rest)?[0], 0.0, f64::MAX).map(Mark::Area),
            "angle" => number(numbers::<1>(rest)?[0], 0.0, 60.0).map(Mark::Angle),
            "file" if !rest.is_empty() => Ok(Mark::File(rest.into())),
            "values" if !rest.is_empty() => Ok(Mark::Values(rest.into())),
            _ => Err("expected all, fraction:F, box:X0,Y0,X1,Y1, disk:X,Y,R, area:A, angle:DEGREES, file:PATH or values:PATH".to_owned()),
        }
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mark::All => f.write_str("all"),
            Mark::Fraction(fraction) => write!(f, "fraction:{fraction}"),
            Mark::Box([x0, y0, x1, y1]) => write!(f, "box:{x0},{y0},{x1},{y1}"),
            Mark::Disk([x, y, radius]) => write!(f, "disk:{x},{y},{radius}"),
            Mark::Area(area) => write!(f, "area:{area}"),
            Mark::Angle(degrees) => write!(f, "angle:{degrees}"),
            Mark::File(path) => write!(f, "file:{}", path.display()),
            Mark::Values(path) => write!(f, "values:{}", path.display()),
            Mark::Tets(mark) => mark.fmt(f),
        }
    }
}

/// `N` finite numbers with commas between them.
fn numbers<const N: usize>(text: &str) -> Result<[f64; N], String> {
    let parsed: Option<Vec<f64>> = text
        .split(',')
        .map(|number| number.trim().parse().ok().filter(|x: &f64| x.is_finite()))
        .collect();
    parsed
        .and_then(|numbers| numbers.try_into().ok())
        .ok_or_else(|| format!("expected {N} numbers with commas between them, not `{text}`"))
}

impl Mark {
    /// The marking, for those that need no file.
    ///
    /// # Errors
    /// [`Error::Argument`] for those that do.
    pub fn marking(&self, seed: u64) -> Result<Marking> {
        Ok(match *self {
            Mark::All => Marking::All,
            Mark::Fraction(fraction) => Marking::Fraction { fraction, seed },
            Mark::Box(corners) => Marking::Box(corners),
            Mark::Disk(disk) => Marking::Disk(disk),
            Mark::Area(area) => Marking::Area(area),
            Mark::Angle(degrees) => Marking::Angle(degrees),
            Mark::File(_) | Mark::Values(_) => {
                return Err(Error::Argument(format!("{self} goes with a mesh of a file")));
            }
            Mark::Tets(_) => {
                return Err(Error::Argument(format!("--mark {self} goes with volume meshes")));
            }
        })
    }
}

/// The marking that the options ask for, of a mesh of `triangles`.
fn marking(options: &Options, triangles: usize) -> Result<Marking> {
    let has_rule = options.threshold.is_some() || options.dorfler.is_some();
    if has_rule != matches!(options.mark, Mark::Values(_)) {
        return Err(Error::Argument(
            "--mark values:PATH goes with --threshold or --dorfler, and these with it".to_owned(),
        ));
    }
    match &options.mark {
        _ if options.until_area.is_some() => Ok(Marking::Area(options.until_area.unwrap_or_default())),
        Mark::File(path) => marked_by_ids(path, triangles),
        Mark::Values(path) => {
            let values = read_values(path, triangles)?;
            match (options.threshold, options.dorfler) {
                (Some(threshold), _) => Ok(Marking::above(&values, threshold)),
                (_, part) => Marking::dorfler(&values, part.unwrap_or_default()),
            }
        }
        mark => mark.marking(options.seed),
    }
}

/// The words of a file that are not behind a `#`, with their lines from 1.
fn read_words<T>(path: &Path, parse: impl Fn(&str) -> Option<T>, what: &str) -> Result<Vec<T>> {
    let text = std::fs::read_to_string(path).map_err(|source| Error::file(path, source))?;
    let mut parsed = Vec::new();
    for (i, line) in text.lines().enumerate() {
        for word in line.split('#').next().unwrap_or("").split_whitespace() {
            parsed.push(parse(word).ok_or_else(|| Error::Parse {
                path: path.to_owned(),
                line: i + 1,
                reason: format!("`{word}` is not {what}"),
            })?);
        }
    }
    Ok(parsed)
}

fn marked_by_ids(path: &Path, triangles: usize) -> Result<Marking> {
    let id = |word: &str| word.parse().ok().filter(|&id: &usize| id < triangles);
    let what = format!("the id of a triangle, from 0 to {}", triangles.saturating_sub(1));
    let mut flags = vec![false; triangles];
    for id in read_words(path, id, &what)? {
        flags[id] = true;
    }
    Ok(Marking::flags(flags.into_iter()))
}

fn read_values(path: &Path, triangles: usize) -> Result<Vec<f64>> {
    let number = |word: &str| word.parse().ok().filter(|x: &f64| !x.is_nan());
    let values = read_words(path, number, "a number")?;
    if values.len() != triangles {
        return Err(Error::Argument(format!(
            "{} has {} values, but the mesh has {triangles} triangles",
            path.display(),
            values.len()
        )));
    }
    Ok(values)
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    if formats::is_volume(&options.input) {
        return tets::run(options);
    }
    if let Some(output) = &options.output {
        Format::to_write(output)?;
    }
    let mesh = formats::read(&options.input)?
        .into_triangulation()
        .map_err(|error| error.in_file(&options.input))?;
    let settings = trioxide::refine::Options {
        marking: marking(options, mesh.triangles.len())?,
        rounds: if options.until_area.is_some() { u32::MAX } else { options.rounds },
        max_triangles: options
            .max_triangles
            .map(|most| u32::try_from(most).unwrap_or(u32::MAX)),
        history: options.coarsen_to.is_some(),
    };
    let result = match (options.device.open()?, options.device.precision) {
        (Some(device), Precision::F64) => on_device::<DVec2>(&device, &mesh, &settings, options),
        (Some(device), Precision::F32) => on_device::<Vec2>(&device, &mesh, &settings, options),
        (None, Precision::F64) => serial::<DVec2>(&mesh, &settings, options),
        (None, Precision::F32) => serial::<Vec2>(&mesh, &settings, options),
    };
    let outcome = result.map_err(|error| error.in_file(&options.input))?;
    Report {
        command: "refine",
        input: &options.input,
        device: outcome.device,
        stages: outcome.stages,
        counts: vec![
            ("vertices", json!(outcome.mesh.points.len())),
            ("faces", json!(outcome.mesh.triangles.len())),
            ("edges", json!(outcome.edges)),
            ("input_vertices", json!(mesh.points.len())),
            ("input_faces", json!(mesh.triangles.len())),
            ("rounds", json!(outcome.rounds.len())),
            ("end", json!(end_name(outcome.end))),
        ],
        peak_bytes: outcome.peak_bytes,
    }
    .give(&options.device)?;
    //MAPS
    if let Some(output) = &options.output {
        let fine = Mesh::from(outcome.mesh);
        formats::write(output, &fine)?;
        if !options.device.quiet {
            super::note_losses(Format::to_write(output)?, &fine);
        }
    }
    Ok(())
}

fn end_name(end: End) -> &'static str {
    match end {
        End::Rounds => "all rounds done",
        End::NothingMarked => "nothing left to refine",
        End::MaxTriangles => "the next round would have passed --max-triangles",
    }
}

struct Outcome {
    device: String,
    mesh: Triangulation,
    edges: usize,
    /// Triangle of the input that each is a part of, if `--maps` asks.
    ancestors: Vec<u32>,
    rounds: Vec<Refinement>,
    end: End,
    stages: Vec<Stage>,
    peak_bytes: Option<u64>,
}

fn on_device<P: Point>(
    on: &Device,
    mesh: &Triangulation,
    settings: &trioxide::refine::Options,
    options: &Options,
) -> Result<Outcome> {
    let mut fine = EdgeMesh::<P>::upload(on, mesh)?;
    let end = refine(on, &mut fine, settings)?;
    if let Some(level) = options.coarsen_to {
        fine.coarsen(on, level)?;
    }
    Ok(Outcome {
        device: on.name(),
        mesh: fine.triangulation(on, mesh.regions.as_deref())?,
        edges: fine.level().edges as usize,
        ancestors: match options.maps {
            Some(_) => on.download(&fine.ancestors(on)?)?,
            None => Vec::new(),
        },
        rounds: fine.rounds(on)?,
        end,
        stages: on.take_stages()?,
        peak_bytes: Some(on.peak_bytes()),
    })
}

/// The paper's sequential algorithm.
fn serial<P: Point>(
    mesh: &Triangulation,
    settings: &trioxide::refine::Options,
    options: &Options,
) -> Result<Outcome> {
    let mut settings = settings.clone();
    if let Some(level) = options.coarsen_to {
        // Levels below are those of a run that ended there.
        settings.rounds = settings.rounds.min(u32::try_from(level).unwrap_or(u32::MAX));
    }
    let run = SerialRun::<P>::of_triangulation(mesh, &settings)?;
    let stages = run.times.iter().map(|&(name, time)| Stage {
        name,
        milliseconds: time.as_secs_f64() * 1e3,
    });
    Ok(Outcome {
        device: "serial".to_owned(),
        mesh: run.triangulation(mesh.regions.as_deref()),
        edges: run.mesh.edges.len(),
        ancestors: match options.maps {
            Some(_) => run.ancestors(mesh.triangles.len()),
            None => Vec::new(),
        },
        end: run.end,
        stages: stages.collect(),
        rounds: run.rounds,
        peak_bytes: None,
    })
}
