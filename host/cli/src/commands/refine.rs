//! `trioxide refine`: longest-edge bisection.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use glam::{DVec2, Vec2};
use serde_json::json;
use trioxide::backend::{Device, Stage};
use trioxide::formats::atomic_file::write_atomically;
use trioxide::formats::edges::Layout;
use trioxide::formats::{self, Format};
use trioxide::half_edges::Point;
use trioxide::mesh::{EdgeTriangulation, Mesh, Refinement, Triangulation};
use trioxide::prolongation::Prolongation;
use trioxide::refine::{self, DeviceEdgeMesh, End, Marking, SerialRun, refine};
use trioxide::{Error, Result};

use trioxide_arguments::count::parse_count;
use trioxide_arguments::device::{DeviceOptions, Precision, Report};
use trioxide_arguments::mark::Mark;

use super::carried::Carried;
use super::ids::{read_flags, read_words};

#[path = "refine_tets.rs"]
mod tets;

/// Refine a triangulation or a mesh of tetrahedra by longest-edge bisection
///
/// Marked triangles are bisected at their longest edge, and their neighbours as far as conformity requires.
/// Regions and segments of the input are kept: parts of a triangle have its region, parts of a segment its marker. So are fields:
/// parts of a triangle have its values; a new vertex has the mean of its edge's ends, of integers those of the end with the lower id.
#[derive(Args)]
pub struct Options {
    /// Triangulation to read: .off, .obj, .ply, .vtu, .vtp, .vtk, .msh, .mesh, .inp, .xdmf, .edges, or .node and .ele (either name or
    /// the bare stem); or tetrahedra: .vtu, .inp, .xdmf,
    /// .vtk, .msh, .mesh, .meshb, or .node and .ele
    input: PathBuf,
    /// Refined mesh to write; triangles: .off, .obj, .ply, .vtu, .vtp, .vtk, .msh, .mesh, .inp, .xdmf, .edges, or .node and .ele;
    /// tetrahedra: .vtu, .inp, .xdmf, .vtk, .msh, .mesh,
    /// .meshb, or .node and .ele
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Triangles to refine: all; fraction:F, each with chance F; box:X0,Y0,X1,Y1 or disk:X,Y,R, by their centroid; area:A, larger
    /// ones; angle:DEGREES, ones with a smaller angle; ids:A,B,… or file:PATH, ids of triangles of the input (0 is the
    /// first); values:PATH, one number for each triangle of the input, to go with --threshold or --dorfler [default: the marks of an
    /// .edges file, else all]. Tetrahedra: all, fraction:F, box:X0,Y0,Z0,X1,Y1,Z1, ball:X,Y,Z,R,
    /// volume:V or file:PATH
    #[arg(long, value_name = "MARKING")]
    mark: Option<Mark>,
    /// With --mark values:PATH, refine the triangles whose value is above this
    #[arg(long, value_name = "VALUE", conflicts_with = "dorfler")]
    threshold: Option<f64>,
    /// With --mark values:PATH, refine the triangles with the largest values, as many as make this part of the sum of all (Dörfler)
    #[arg(long, value_name = "PART")]
    dorfler: Option<f64>,
    /// Seed of --mark fraction
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Rounds; each marks anew. Ids and values of a file mark all parts of their triangle again
    #[arg(
        long,
        value_name = "R",
        default_value_t = 1,
        conflicts_with = "until_area"
    )]
    rounds: u32,
    /// Refine in rounds until no triangle has more area than this
    #[arg(long, value_name = "A", conflicts_with = "mark", value_parser = parse_area)]
    until_area: Option<f64>,
    /// Begin no round that would give more triangles than this; on tetrahedra, no level that begins with this many or more
    #[arg(long, value_name = "N", value_parser = parse_count)]
    max_triangles: Option<usize>,
    /// Go back to this level after the last round: 0 is the input
    #[arg(long, value_name = "LEVEL")]
    coarsen_to: Option<usize>,
    /// Write where each part comes from to this folder: parent_triangles.txt, new_vertices.txt and prolongation.mtx
    #[arg(long, value_name = "DIR")]
    maps: Option<PathBuf>,
    /// How an .edges file is written: as the output of the paper's program, edges by coordinates, or as its input
    #[arg(long, value_enum, default_value = "ends")]
    edges_by: EdgesBy,
    #[command(flatten)]
    device: DeviceOptions,
}

#[derive(Clone, Copy, ValueEnum)]
enum EdgesBy {
    /// Coordinates of ends.
    Ends,
    /// Indices of points.
    Points,
}

fn parse_area(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(area) if area > 0.0 => Ok(area),
        _ => Err("expected an area above 0".to_owned()),
    }
}

/// The marking that the options ask for, of a mesh of `triangles`, with the marks that its file may have.
fn marking(options: &Options, triangles: usize, marks: Option<Vec<bool>>) -> Result<Marking> {
    let has_rule = options.threshold.is_some() || options.dorfler.is_some();
    if has_rule != matches!(options.mark, Some(Mark::Values(_))) {
        return Err(Error::Argument(
            "--mark values:PATH goes with --threshold or --dorfler, and these with it".to_owned(),
        ));
    }
    if let Some(area) = options.until_area {
        return Ok(Marking::Area(area));
    }
    match (&options.mark, marks) {
        (Some(Mark::File(path)), _) => marked_by_ids(path, triangles),
        (Some(Mark::Values(path)), _) => {
            let values = read_values(path, triangles)?;
            match (options.threshold, options.dorfler) {
                (Some(threshold), _) => Ok(Marking::above(&values, threshold)),
                (_, part) => Ok(Marking::dorfler(&values, part.unwrap_or_default())?),
            }
        }
        (Some(mark), _) => mark.marking(options.seed, triangles),
        (None, Some(marks)) => Ok(Marking::flags(marks.into_iter())),
        (None, None) => Ok(Marking::All),
    }
}

fn marked_by_ids(path: &Path, triangles: usize) -> Result<Marking> {
    let last = triangles.saturating_sub(1);
    let flags = read_flags(path, triangles, &format!("a triangle, from 0 to {last}"))?;
    Ok(Marking::flags(flags.into_iter()))
}

fn read_values(path: &Path, triangles: usize) -> Result<Vec<f64>> {
    let number = |word: &str| word.parse().ok().filter(|x: &f64| !x.is_nan());
    let values = read_words(path, number, "a number")?;
    if values.len() != triangles {
        return Err(Error::Argument(format!(
            "{} has {} values, but the mesh has {triangles} triangles: give one number for each",
            path.display(),
            values.len()
        )));
    }
    Ok(values)
}

/// A mesh as its file has it.
enum Input {
    Triangles(Triangulation),
    Edges(EdgeTriangulation),
}

impl Input {
    /// Points, triangles and regions.
    fn counts(&self) -> (usize, usize) {
        match self {
            Input::Triangles(mesh) => (mesh.points.len(), mesh.triangles.len()),
            Input::Edges(mesh) => (mesh.points.len(), mesh.triangles.len()),
        }
    }

    fn regions(&self) -> Option<&[i32]> {
        match self {
            Input::Triangles(mesh) => mesh.regions.as_deref(),
            Input::Edges(_) => None,
        }
    }
}

fn is_edges_file(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("edges"))
}

/// The mesh of a file, what it carries, and the marks in it.
fn read(path: &Path, quiet: bool) -> Result<(Input, Carried, Option<Vec<bool>>)> {
    if is_edges_file(path) {
        let (mesh, marks) = formats::edges::read(path)?;
        return Ok((Input::Edges(mesh), Carried::default(), Some(marks)));
    }
    let mut mesh = super::read_mesh(path, quiet)?;
    let carried = super::check_faces(&mesh).and_then(|()| Carried::take(&mut mesh));
    let carried = carried.map_err(|error| error.in_file(path))?;
    let mesh = mesh
        .into_triangulation()
        .map_err(|error| error.in_file(path))?;
    Ok((Input::Triangles(mesh), carried, None))
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    if formats::is_volume(&options.input) {
        return tets::run(options);
    }
    if let Some(output) = &options.output {
        Format::to_write(output)?;
    }
    let quiet = options.device.quiet;
    let (input, carried, marks) = read(&options.input, quiet)?;
    let wants_maps = options.maps.is_some() || (options.output.is_some() && !carried.is_empty());
    let (vertices, triangles) = input.counts();
    let settings = trioxide::refine::Options {
        marking: marking(options, triangles, marks)?,
        rounds: match options.until_area {
            Some(_) => u32::MAX,
            None => options.rounds,
        },
        max_triangles: options
            .max_triangles
            .map(|most| u32::try_from(most).unwrap_or(u32::MAX)),
        history: options.coarsen_to.is_some(),
    };
    let result = match (options.device.open()?, options.device.precision) {
        (Some(device), Precision::F64) => {
            on_device::<DVec2>(&device, &input, &settings, options, wants_maps)
        }
        (Some(device), Precision::F32) => {
            on_device::<Vec2>(&device, &input, &settings, options, wants_maps)
        }
        (None, Precision::F64) => serial::<DVec2>(&input, &settings, options, wants_maps),
        (None, Precision::F32) => serial::<Vec2>(&input, &settings, options, wants_maps),
    };
    let outcome = result.map_err(|error| {
        super::with_precision(explained(error), options.device.precision).in_file(&options.input)
    })?;
    Report {
        command: "refine",
        input: &options.input,
        device: outcome.device,
        stages: outcome.stages,
        counts: vec![
            ("vertices", json!(outcome.vertices)),
            ("faces", json!(outcome.triangles)),
            ("edges", json!(outcome.edges)),
            ("input_vertices", json!(vertices)),
            ("input_faces", json!(triangles)),
            ("rounds", json!(outcome.rounds.len())),
            ("end", json!(end_name(outcome.end))),
        ],
        peak_bytes: outcome.peak_bytes,
    }
    .give(&options.device)?;
    if let Some(folder) = &options.maps {
        write_maps(folder, vertices, &outcome.ancestors, &outcome.rounds)?;
    }
    match (&options.output, outcome.mesh) {
        (Some(output), Output::Edges(mesh)) => {
            let layout = match options.edges_by {
                EdgesBy::Ends => Layout::Ends,
                EdgesBy::Points => Layout::Points,
            };
            formats::edges::write(output, &mesh, &vec![false; mesh.triangles.len()], layout)
        }
        (Some(output), Output::Triangles(mesh)) => {
            let (ancestors, rounds) = (&outcome.ancestors, &outcome.rounds);
            let mut mesh = Mesh::from(mesh);
            let carried = carried.refined(vertices, rounds, ancestors, quiet);
            carried.put(&mut mesh);
            formats::write(output, &mesh)?;
            if !quiet {
                super::note_losses(Format::to_write(output)?, &mesh);
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Writes where each part comes from.
fn write_maps(
    folder: &Path,
    vertices: usize,
    ancestors: &[u32],
    rounds: &[Refinement],
) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|source| Error::file(folder, source))?;
    write_atomically(&folder.join("parent_triangles.txt"), |file| {
        writeln!(
            file,
            "# triangle of the input that each triangle is a part of"
        )?;
        ancestors.iter().try_for_each(|t| writeln!(file, "{t}"))
    })?;
    write_atomically(&folder.join("new_vertices.txt"), |file| {
        writeln!(
            file,
            "# round, edge that the vertex divides, vertices at its ends; from vertex {vertices} on"
        )?;
        for (i, round) in rounds.iter().enumerate() {
            for (edge, [a, b]) in round.divided.iter().zip(&round.ends) {
                writeln!(file, "{} {edge} {a} {b}", i + 1)?;
            }
        }
        Ok(())
    })?;
    let prolongation = Prolongation::of_rounds(vertices, rounds);
    formats::matrix_market::write(&folder.join("prolongation.mtx"), &prolongation)
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
    vertices: usize,
    triangles: usize,
    edges: usize,
    mesh: Output,
    /// Triangle of the input that each is a part of, if they are asked for.
    ancestors: Vec<u32>,
    rounds: Vec<Refinement>,
    end: End,
    stages: Vec<Stage>,
    peak_bytes: Option<u64>,
}

/// What the output's format takes.
enum Output {
    None,
    Triangles(Triangulation),
    Edges(EdgeTriangulation),
}

fn on_device<P: Point>(
    on: &Device,
    input: &Input,
    settings: &trioxide::refine::Options,
    options: &Options,
    wants_maps: bool,
) -> Result<Outcome, refine::Error> {
    let mut fine = match input {
        Input::Triangles(mesh) => DeviceEdgeMesh::<P>::upload(on, mesh)?,
        Input::Edges(mesh) => DeviceEdgeMesh::<P>::upload_edges(on, mesh)?,
    };
    let end = refine(on, &mut fine, settings)?;
    if let Some(level) = options.coarsen_to {
        fine.coarsen(on, level)?;
    }
    let level = fine.level();
    Ok(Outcome {
        device: on.name(),
        vertices: level.vertices as usize,
        triangles: level.triangles as usize,
        edges: level.edges as usize,
        mesh: match &options.output {
            None => Output::None,
            Some(path) if is_edges_file(path) => Output::Edges(in_double(fine.download(on)?)),
            Some(_) => Output::Triangles(fine.triangulation(on, input.regions())?),
        },
        ancestors: match wants_maps {
            true => on.download_rows(&fine.ancestors(on)?)?,
            false => Vec::new(),
        },
        rounds: match wants_maps {
            true => fine.rounds(on)?,
            false => vec![Refinement::default(); fine.levels().len() - 1],
        },
        end,
        stages: on.take_stages()?,
        peak_bytes: Some(on.peak_bytes()),
    })
}

fn in_double<P: Point>(mesh: EdgeTriangulation<P>) -> EdgeTriangulation {
    EdgeTriangulation {
        points: mesh.points.into_iter().map(P::to_f64).collect(),
        edges: mesh.edges,
        triangles: mesh.triangles,
        tags: mesh.tags,
    }
}

/// The error with the options that help.
fn explained(error: refine::Error) -> Error {
    let is_degenerate = matches!(error, refine::Error::Degenerate { .. });
    match Error::from(error) {
        Error::Invalid { element, rule } if is_degenerate => Error::Invalid {
            element,
            rule: format!("{rule}; use --precision f64, fewer --rounds or a larger area"),
        },
        error => error,
    }
}

/// The paper's sequential algorithm.
fn serial<P: Point>(
    input: &Input,
    settings: &trioxide::refine::Options,
    options: &Options,
    wants_maps: bool,
) -> Result<Outcome, refine::Error> {
    let mut settings = settings.clone();
    if let Some(level) = options.coarsen_to {
        // Levels below are those of a run that ended there.
        settings.rounds = settings
            .rounds
            .min(u32::try_from(level).unwrap_or(u32::MAX));
    }
    // By the check of the devices, so that every machine refuses the same meshes in the same words.
    let on = Device::cpu(Some(1))?;
    match input {
        Input::Triangles(mesh) => drop(DeviceEdgeMesh::<P>::upload(&on, mesh)?),
        Input::Edges(mesh) => drop(DeviceEdgeMesh::<P>::upload_edges(&on, mesh)?),
    }
    let run = match input {
        Input::Triangles(mesh) => SerialRun::<P>::of_triangulation(mesh, &settings)?,
        Input::Edges(mesh) => SerialRun::new(
            EdgeTriangulation {
                points: mesh.points.iter().map(|&p| P::from_f64(p)).collect(),
                edges: mesh.edges.clone(),
                triangles: mesh.triangles.clone(),
                tags: mesh.tags.clone(),
            },
            &settings,
        )?,
    };
    if let Some(level) = options.coarsen_to
        && level > run.rounds.len()
    {
        return Err(refine::Error::NoSuchLevel {
            level,
            rounds: run.rounds.len(),
        });
    }
    let stages = run.times.iter().map(|&(name, time)| Stage {
        name,
        milliseconds: time.as_secs_f64() * 1e3,
    });
    Ok(Outcome {
        device: "serial".to_owned(),
        vertices: run.mesh.points.len(),
        triangles: run.mesh.triangles.len(),
        edges: run.mesh.edges.len(),
        stages: stages.collect(),
        ancestors: match wants_maps {
            true => run.ancestors(),
            false => Vec::new(),
        },
        end: run.end,
        mesh: match &options.output {
            None => Output::None,
            Some(path) if is_edges_file(path) => Output::Edges(in_double(run.mesh)),
            Some(_) => Output::Triangles(run.triangulation(input.regions())?),
        },
        rounds: run.rounds,
        peak_bytes: None,
    })
}
