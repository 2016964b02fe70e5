//! `trioxide generate`: datasets.

use std::path::PathBuf;
use std::time::Instant;

use super::help;
use super::volume::TetPoints;
use clap::{Args, ValueEnum};
use trioxide::device::{Choice, Device, Stage};
use trioxide::formats::volume::{VolumeFormat, write_volume_as};
use trioxide::formats::{self, Format};
use trioxide::mesh::Mesh;
use trioxide::{Error, Result, generate, progress};
use trioxide_arguments::auto::Work;
use trioxide_arguments::device::{self, DeviceOptions, Report};
use trioxide_arguments::names::worded;
use trioxide_arguments::{account, note};
use trioxide_operations::count::parse_count;
use trioxide_operations::triangulate::Refusal;
use trioxide_operations::{Counts, Run};

/// Points to triangles.
const WORK: Work = Work { cpu: 110.0 };

const DEFAULTS: &str = "Where defaults come from: this machine (--device auto, --threads: all cores); --msh-version is Gmsh's newest; --seed 0 is trioxide's own. -n has none.";

/// Generate a mesh, the same bits on every machine
///
/// random and disk are triangulated on the GPU or the CPU, and their vertices and triangles follow a Hilbert curve. The
/// host makes the other kinds.
///
/// Commands that read a mesh take generate:KIND:N or generate:KIND:N:SEED in place of a file: the mesh that would be
/// written, without a file.
///
/// Under mpirun each of several processes writes its own part of a grid or a jittered one to .ply, and as an input
/// makes its own part (cargo xtask build --mpi); of these N may be as large as all processes hold. The other kinds are
/// made by the first process for all.
#[derive(Args)]
#[command(after_help = DEFAULTS, mut_arg("device", help::without_serial))]
pub struct Options {
    /// Kind of mesh
    pub dataset: Dataset,
    /// Number of points, as 1000000, 1e6 or 1M, from 3 to 715827882, since half-edges have 32-bit ids; random and disk
    /// take up to 268435455, and a grid the nearest square number
    #[arg(short, long = "points", value_name = "N", value_parser = parse_count)]
    pub n: usize,
    /// Seed of random points
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Of tets: random points with regular ones on the sides of the cube, Delaunay, in place of a grid
    #[arg(long)]
    random: bool,
    /// Of tets: how their points are chosen [default: grid]
    #[arg(long, value_enum, value_name = "SAMPLE", conflicts_with = "random")]
    sample: Option<TetPoints>,
    /// Of a grid of tets: inner points are moved until this part of the tetrahedra is inverted, at most 0.4: a mesh for
    /// smooth --untangle
    #[arg(long, value_name = "PART", conflicts_with_all = ["random", "sample"])]
    tangle: Option<f64>,
    #[command(flatten)]
    volume: super::volume::VolumeOutput,
    #[arg(short, long, help = help::mesh_to_write())]
    pub output: PathBuf,
    #[command(flatten)]
    pub device: DeviceOptions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Dataset {
    /// Uniform grid on the unit square, every square split by the same diagonal
    Grid,
    /// Grid whose inner points are moved by up to a quarter of a square
    Jittered,
    /// Uniform random points in the unit square, Delaunay, along a Hilbert curve
    Random,
    /// Uniform random points in the unit disk, Delaunay, along a Hilbert curve
    Disk,
    /// Closed surface as a range scanner sees it, in rows of scan lines
    Scan,
    /// Landscape as airborne LiDAR sees it, in strips, in centimetres; no faces
    Cloud,
    /// Tetrahedra in the unit cube: a grid, every small cube split into six, inner points moved a little; to .vtu,
    /// .vtk, .msh, .mesh, .meshb, or .node and .ele
    Tets,
}

impl Options {
    /// The name of the mesh as an input.
    pub fn name(&self) -> PathBuf {
        let Self {
            dataset, n, seed, ..
        } = self;
        let kind = dataset.to_possible_value().expect("no kind is hidden");
        format!("generate:{}:{n}:{seed}", kind.get_name()).into()
    }
}

impl Dataset {
    /// Whether a device triangulates the points.
    fn is_for_device(self) -> bool {
        matches!(self, Self::Random | Self::Disk)
    }
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    if let Dataset::Tets = options.dataset {
        return run_tets(options);
    }
    check_planar(options)?;
    // A bad output is refused before long work.
    let format = Format::to_write(&options.output)?;
    let (mesh, run) = match options.dataset.is_for_device() {
        true => triangulate(options)?,
        false => on_host(options, || make(options.dataset, options.n, options.seed))?,
    };
    let counts = counts(mesh.points.len() as u64, mesh.faces.len() as u64);
    let input = options.name();
    let report = Report::of("generate", &input, run, counts);
    formats::write(&options.output, &mesh)?;
    account::part("write");
    if !options.device.quiet {
        super::note_losses(format, &mesh);
    }
    give(options, &report)
}

fn run_tets(options: &Options) -> Result<()> {
    VolumeFormat::to_write(&options.output)?;
    let sample = match options.random {
        true => Some(TetPoints::Random),
        false => options.sample,
    };
    let make = || super::volume::make_tets(options.n, sample, options.tangle, options.seed);
    let (mesh, run) = on_host(options, make)?;
    let counts: Counts = vec![
        ("vertices", mesh.points.len().into()),
        ("cells", mesh.cells.len().into()),
        ("tagged_faces", mesh.faces.len().into()),
    ];
    let input = options.name();
    let report = Report::of("generate", &input, run, counts);
    write_volume_as(&options.output, &mesh, options.volume.into())?;
    account::part("write");
    give(options, &report)
}

/// Makes a mesh with the threads of the host.
fn on_host<M>(options: &Options, make: impl FnOnce() -> Result<M>) -> Result<(M, Run)> {
    note_host(options);
    let start = Instant::now();
    let mesh = make()?;
    let stage = Stage {
        name: "generate",
        milliseconds: start.elapsed().as_secs_f64() * 1e3,
    };
    let run = Run {
        device: "cpu".to_owned(),
        stages: vec![stage],
        ..Run::default()
    };
    Ok((mesh, run))
}

/// Notes that no GPU makes the mesh, if one is asked for.
pub fn note_host(options: &Options) {
    if matches!(options.device.device, Choice::AnyCuda | Choice::Cuda(_)) {
        let sentence = "the host makes this mesh: a device makes random and disk alone";
        note(options.device.quiet, sentence);
    }
}

/// The counts of a mesh of triangles.
pub fn counts(vertices: u64, triangles: u64) -> Counts {
    vec![
        ("vertices", vertices.into()),
        ("triangles", triangles.into()),
    ]
}

/// Says which mesh was written, and gives the report that the options ask for.
pub fn give(options: &Options, report: &Report) -> Result<()> {
    let device = &options.device;
    if device.prints_text() {
        let counts = report.counts.iter();
        let counts = counts.map(|(name, count)| format!("{count} {}", name.replace('_', " ")));
        let counts = counts.collect::<Vec<_>>().join(", ");
        trioxide_arguments::print(&format!("{}: {counts}\n", options.output.display()))?;
    }
    // The line has the counts.
    let is_all_said = !device.timings;
    report.give_beside(device, is_all_said)
}

/// Refuses options that go with tetrahedra.
pub fn check_planar(options: &Options) -> Result<()> {
    if options.sample.is_some() {
        let reason = "--sample goes with tets: leave it out";
        return Err(Error::Argument(reason.to_owned()));
    }
    if options.tangle.is_some() {
        let reason = "--tangle goes with tets: leave it out";
        return Err(Error::Argument(reason.to_owned()));
    }
    if options.random {
        let reason = "--random goes with tets; `trioxide generate random` makes a planar mesh";
        return Err(Error::Argument(reason.to_owned()));
    }
    if options.volume.volume_encoding.is_some() {
        let reason = "--volume-encoding goes with tets: leave it out";
        return Err(Error::Argument(reason.to_owned()));
    }
    Ok(())
}

/// Makes a mesh of random points on the machine that the options name.
fn triangulate(options: &Options) -> Result<(Mesh, Run)> {
    let Options {
        dataset, n, seed, ..
    } = *options;
    let machine = options.device.begin_for_points(n, WORK).open()?;
    device::run(&machine, |on| {
        let Some(on) = on else {
            return Err(worded(Refusal::Serial.into()));
        };
        let mesh = triangulated(on, dataset, n, seed)?;
        Ok((mesh, Run::of(on, Vec::new())?))
    })
}

/// Makes a mesh of random points on a device.
fn triangulated(on: &Device, dataset: Dataset, n: usize, seed: u64) -> Result<Mesh> {
    let mesh = match dataset {
        Dataset::Disk => generate::disk(on, n, seed)?,
        _ => generate::random(on, n, seed)?,
    };
    Ok(mesh.into())
}

/// Makes a mesh of faces, or a cloud of points, with the threads of the host.
///
/// # Panics
/// For tetrahedra.
pub fn make(dataset: Dataset, n: usize, seed: u64) -> Result<Mesh> {
    progress::stage(format!("make {n} points"));
    Ok(match dataset {
        Dataset::Grid => generate::grid(n)?.into(),
        Dataset::Jittered => generate::jittered(n, seed)?.into(),
        Dataset::Random | Dataset::Disk => {
            let on = Device::cpu(Some(rayon::current_num_threads()))?;
            triangulated(&on, dataset, n, seed)?
        }
        Dataset::Scan => generate::scan(n, seed)?,
        Dataset::Cloud => generate::cloud(n, seed)?,
        Dataset::Tets => unreachable!("a volume mesh"),
    })
}
