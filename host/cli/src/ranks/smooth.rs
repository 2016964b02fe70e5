//! `mpirun … trioxide smooth`.

use std::path::Path;

use glam::{DVec3, Vec3};
use gpu::point::MeshPoint;
use gpu::smooth::Vector;
use trioxide::mesh::{Faces, Mesh};
use trioxide::volume::{Cells, TetMesh, VolumeMesh};
use trioxide::{Device, Error};
use trioxide_arguments::device::to_values;
use trioxide_arguments::names::worded;
use trioxide_operations::Precision;
use trioxide_operations::input::check_faces;
use trioxide_operations::smooth::{Refusal, Totals, check_cells};
use trioxide_ranks::block::Whole;
use trioxide_ranks::output::{Surface, pieces};
use trioxide_ranks::smooth::{in_words_of_one, part_to_smooth, smooth_part};
use trioxide_ranks::{Block, Ownership, Part, Ranks, Result, output};

use super::files::{check_output, is_pvtu, is_written_by_all, write_surface, write_volume};
use super::rank::{Starting, at_first, in_precision, is_quiet, refuse_sizes, with_file};
use super::report::{Counts, Ending, report};
use super::slices::{grid_of, note_first_reads, ownership, read_slices};
use crate::commands;
use crate::commands::smooth::Options;

/// The mesh that rank 0 has read for all and keeps, with all that smoothing does not change.
enum Kept {
    Surface(Mesh),
    Volume(VolumeMesh),
}

impl Kept {
    /// The arrays that ranks smooth.
    fn whole(&self) -> Option<Whole<'_, DVec3>> {
        let (points, regions) = match self {
            Self::Surface(mesh) => (&mesh.points, &mesh.regions),
            Self::Volume(mesh) => (&mesh.points, &mesh.regions),
        };
        let (corners, size) = match self {
            Self::Surface(Mesh {
                faces: Faces::Triangles(triangles),
                ..
            }) => (triangles.as_flattened(), 3),
            Self::Volume(VolumeMesh {
                cells: Cells::Tetrahedra(tetrahedra),
                ..
            }) => (tetrahedra.as_flattened(), 4),
            _ => return None,
        };
        Some(Whole {
            points,
            corners,
            size,
            regions: regions.as_deref(),
            segments: &[],
        })
    }
}

/// Runs the command as one rank of several.
///
/// # Errors
/// As the single run; options that do not work on ranks.
pub fn run<'a>(ranks: &Ranks, options: &'a Options, starting: Starting) -> Result<Ending<'a>> {
    let is_volume = commands::is_volume(&options.input, options.reading);
    check_output(options.output.as_deref(), is_volume)?;
    let settings = options.smooth.settings().map_err(worded)?;
    if options.smooth.untangling().is_some() {
        return Err(worded(Refusal::UntanglingOverRanks.into()).into());
    }
    trioxide::smooth::check_share(&settings).map_err(|error| worded(error.into()))?;
    let quiet = is_quiet(ranks, &options.device);
    ranks.phase("read");
    let (block, kept) = read(ranks, options, quiet)?;
    // Each rank reads the list whole: it is short beside the mesh.
    let stays = ranks.agree(options.fixed(block.vertices as usize))?;
    let ownership = ownership(&options.input)?;
    let precision = options.smooth.precision;
    refuse_sizes(ranks, &block.points, precision)
        .map_err(|fault| with_file(fault, &options.input))?;
    let said_by_one = in_precision!(precision, in_words_of_one::<DVec3, Vec3>);
    let in_file = |fault| {
        let fault = said_by_one(ranks, &block, fault);
        with_file(fault, &options.input)
    };
    let part = in_precision!(precision, part_to_smooth::<DVec3, Vec3>);
    let part = part(ranks, &block, &ownership).map_err(in_file)?;
    ranks.phase("open the device");
    let on = starting.device(ranks, &options.device)?;
    let smooth = in_precision!(precision, smoothed::<DVec3, Vec3>);
    let input = (&block, &ownership);
    let smoothed = smooth(ranks, &on, options, input, part, &stays, &settings);
    let (counts, points) = smoothed.map_err(in_file)?;
    if let (Some(path), Some(points)) = (&options.output, points) {
        match kept {
            None => write_slices(ranks, path, block, &points, &ownership)?,
            Some(kept) => write_gathered(ranks, path, kept, &points, quiet)?,
        }
    }
    let run = (&*options.input, &options.device, on);
    report(ranks, "smooth", run, counts)
}

/// The counts of a run, and the points of this rank's block, if a file gets them. Collective.
fn smoothed<P: Vector + MeshPoint>(
    ranks: &Ranks,
    on: &Device,
    options: &Options,
    (block, ownership): (&Block<DVec3>, &Ownership),
    part: Part<DVec3>,
    fixed: &[bool],
    settings: &trioxide::smooth::Options,
) -> Result<(Counts, Option<Vec<DVec3>>)> {
    let smoothed = smooth_part::<P>(ranks, on, part, block.vertices, fixed, settings)?;
    let points = match options.output {
        Some(_) => {
            let mut points = smoothed.points(ranks, on, block)?;
            let precision = options.smooth.precision;
            match ownership {
                // Its block has no points yet.
                Ownership::Rows(grid) if precision == Precision::F32 => {
                    let before = grid.points_as(ranks.block(grid.vertices()), |p| p.extend(0.0));
                    precision.restore(&before, &mut points);
                }
                _ => precision.restore(&block.points, &mut points),
            }
            Some(points)
        }
        None => None,
    };
    let is_volume = commands::is_volume(&options.input, options.reading);
    let totals = Totals {
        vertices: block.vertices,
        cells: is_volume.then_some(block.cells),
        faces: (!is_volume).then_some(block.cells),
        moving: smoothed.moving,
        moves: smoothed.moves,
    };
    let counts = to_values(totals.counts());
    Ok((counts, points))
}

/// Writes a `.ply` or a `.pvtu`, each rank its slice. Collective.
fn write_slices(
    ranks: &Ranks,
    path: &Path,
    block: Block<DVec3>,
    points: &[DVec3],
    ownership: &Ownership,
) -> Result<()> {
    let block = match ownership {
        Ownership::Rows(grid) => Block::of_grid(ranks, grid)?,
        _ => block,
    };
    if is_pvtu(path) {
        let corners = &block.corners;
        let slice = pieces::Slice {
            vertices: block.vertices,
            points,
            offsets: None,
            corners: (0..corners.len()).map(|i| corners.get(i)).collect(),
            regions: block.regions,
            segments: &block.segments,
        };
        return pieces::write_slice(ranks, path, slice);
    }
    let surface = Surface {
        vertices: block.vertices,
        points,
        corners: block.corners.narrow(),
        regions: block.regions.clone(),
        segments: &block.segments,
    };
    output::write_surface(ranks, path, surface)
}

/// Writes the mesh that rank 0 keeps, with the points of all ranks. Collective.
fn write_gathered(
    ranks: &Ranks,
    path: &Path,
    kept: Kept,
    points: &[DVec3],
    quiet: bool,
) -> Result<()> {
    ranks.phase("gather");
    let points = ranks.gather(points);
    ranks.phase("write");
    let is_first = ranks.rank() == 0;
    match kept {
        Kept::Surface(mesh) => {
            let mesh = is_first.then_some(Mesh { points, ..mesh });
            write_surface(ranks, path, mesh, quiet)
        }
        Kept::Volume(mesh) => {
            let mesh = is_first.then_some(VolumeMesh { points, ..mesh });
            write_volume(ranks, path, mesh, quiet)
        }
    }
}

/// Reads this rank's block of the input. Each rank reads its slice of plain triangles in binary `.ply` that become
/// `.ply`
/// or `.pvtu`; else rank 0 reads for all, and keeps the mesh, and other ranks keep an empty mesh of the same kind.
fn read(ranks: &Ranks, options: &Options, quiet: bool) -> Result<(Block<DVec3>, Option<Kept>)> {
    let by_all = (options.output.as_deref()).is_none_or(is_written_by_all);
    if by_all && let Some(grid) = grid_of(&options.input)? {
        return Ok((Block::counts_of_grid(&grid), None));
    }
    if by_all && let Some(block) = read_slices(ranks, &options.input, |_, points| Some(points))? {
        return Ok((block, None));
    }
    note_first_reads(
        quiet,
        &options.input,
        " and writes the result: from plain triangles in binary .ply to .ply or .pvtu each does",
    );
    let kept = at_first(ranks, || read_whole(options, quiet))?;
    let whole = kept.as_ref().and_then(Kept::whole);
    let block = Block::scatter(ranks, whole);
    let elsewhere = || match commands::is_volume(&options.input, options.reading) {
        true => Kept::Volume(TetMesh::default().into()),
        false => Kept::Surface(Mesh::default()),
    };
    Ok((block, Some(kept.unwrap_or_else(elsewhere))))
}

/// Reads the whole mesh: of triangles, or of tetrahedra.
fn read_whole(options: &Options, quiet: bool) -> trioxide::Result<Kept> {
    let of_one_kind = |is_fine: bool, cells: &str| match is_fine {
        true => Ok(()),
        false => Err(Error::Argument(format!(
            "several processes smooth {cells} only: start it without mpirun for other cells"
        ))),
    };
    if commands::is_volume(&options.input, options.reading) {
        let mesh = commands::read_volume(&options.input, options.reading, quiet)?;
        let is_fine = matches!(mesh.cells, Cells::Tetrahedra(_));
        check_cells(&mesh).map_err(|error| error.in_file(&options.input))?;
        of_one_kind(is_fine, "tetrahedra")?;
        return Ok(Kept::Volume(mesh));
    }
    let mesh = commands::read_mesh(&options.input, options.reading, quiet)?;
    check_faces(&mesh)
        .map_err(|error| commands::with_remedy(error.in_file(&options.input), "smooth"))?;
    of_one_kind(matches!(mesh.faces, Faces::Triangles(_)), "triangles")?;
    Ok(Kept::Surface(mesh))
}
