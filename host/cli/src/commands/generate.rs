//! `trioxide generate`: datasets.

use std::path::PathBuf;

use super::help;
use super::volume::TetPoints;
use clap::{Args, ValueEnum};
use trioxide::formats::{self, Format};
use trioxide::mesh::Mesh;
use trioxide::{Result, generate, progress};
use trioxide_arguments::account;
use trioxide_operations::count::parse_count;

const DEFAULTS: &str = "Where defaults come from: --msh-version is Gmsh's newest; --seed 0 is trioxide's own. -n has none.";

/// Generate a mesh, the same bits on every machine
///
/// Commands that read a mesh take generate:KIND:N or generate:KIND:N:SEED in place of a file: the mesh that would be
/// written, without a file.
///
/// Under mpirun each of several processes writes its own part of a grid or a jittered one to .ply, and as an input
/// makes its own part (cargo xtask build --mpi); of these N may be as large as all processes hold. The other kinds are
/// made by the first process for all.
#[derive(Args)]
#[command(after_help = DEFAULTS)]
pub struct Options {
    /// Kind of mesh
    pub dataset: Dataset,
    /// Number of points, as 1000000, 1e6 or 1M, from 3 to 715827882, since half-edges have 32-bit ids; a grid takes the
    /// nearest square number
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
    #[command(flatten)]
    volume: super::volume::VolumeOutput,
    #[arg(short, long, help = help::mesh_to_write())]
    pub output: PathBuf,
    /// Print the time of each part of the run; under mpirun of rank 0's, with how long it waited for other ranks
    #[arg(long)]
    pub timings: bool,
    /// Do not say what was written
    #[arg(long)]
    pub quiet: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Dataset {
    /// Uniform grid on the unit square, every square split by the same diagonal
    Grid,
    /// Grid whose inner points are moved by up to a quarter of a square
    Jittered,
    /// Uniform random points in the unit square, Delaunay
    Random,
    /// Uniform random points in the unit disk, Delaunay
    Disk,
    /// Closed surface as a range scanner sees it, in rows of scan lines
    Scan,
    /// Landscape as airborne LiDAR sees it, in strips, in centimetres; no faces
    Cloud,
    /// Tetrahedra in the unit cube: a grid, every small cube split into six, inner points moved a little; to .vtu,
    /// .vtk, .msh, .mesh, .meshb, or .node and .ele
    Tets,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    if let Dataset::Tets = options.dataset {
        let Options { n, seed, .. } = *options;
        let sample = match options.random {
            true => Some(TetPoints::Random),
            false => options.sample,
        };
        let output = &options.output;
        super::volume::generate_tets(n, sample, seed, output, options.volume, options.quiet)?;
        return super::print_timings(options.timings && !options.quiet);
    }
    check_planar(options)?;
    // A bad output is refused before long work.
    let format = Format::to_write(&options.output)?;
    let mesh = make(options.dataset, options.n, options.seed)?;
    account::part("generate");
    formats::write(&options.output, &mesh)?;
    account::part("write");
    if options.quiet {
        return Ok(());
    }
    super::note_losses(format, &mesh);
    let counts = [mesh.points.len() as u64, mesh.faces.len() as u64];
    say_written(options, counts)?;
    super::print_timings(options.timings)
}

/// Says how many vertices and triangles were written.
pub fn say_written(options: &Options, [vertices, triangles]: [u64; 2]) -> Result<()> {
    trioxide_arguments::print(&format!(
        "{}: {vertices} vertices, {triangles} triangles\n",
        options.output.display(),
    ))
}

/// Refuses options that go with tetrahedra.
pub fn check_planar(options: &Options) -> Result<()> {
    if options.sample.is_some() {
        let reason = "--sample goes with tets: leave it out";
        return Err(trioxide::Error::Argument(reason.to_owned()));
    }
    if options.random {
        let reason = "--random goes with tets; `trioxide generate random` makes a planar mesh";
        return Err(trioxide::Error::Argument(reason.to_owned()));
    }
    if options.volume.volume_encoding.is_some() {
        let reason = "--volume-encoding goes with tets: leave it out";
        return Err(trioxide::Error::Argument(reason.to_owned()));
    }
    Ok(())
}

/// Makes a mesh of faces, or a cloud of points.
///
/// # Panics
/// For tetrahedra.
pub fn make(dataset: Dataset, n: usize, seed: u64) -> Result<Mesh> {
    let delaunay = |points: Vec<_>| {
        progress::stage(format!("triangulate {} points", points.len()));
        generate::delaunay(points)
    };
    progress::stage(format!("make {n} points"));
    Ok(match dataset {
        Dataset::Grid => generate::grid(n)?.into(),
        Dataset::Jittered => generate::jittered(n, seed)?.into(),
        Dataset::Random => delaunay(generate::random_points(n, seed)?)?.into(),
        Dataset::Disk => delaunay(generate::disk_points(n, seed)?)?.into(),
        Dataset::Scan => generate::scan(n, seed)?,
        Dataset::Cloud => generate::cloud(n, seed)?,
        Dataset::Tets => unreachable!("a volume mesh"),
    })
}
