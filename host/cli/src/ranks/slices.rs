//! A block of a mesh that no process holds: from slices of a binary `.ply`, or generated.

use std::path::Path;

use glam::{DVec2, DVec3};
use trioxide::formats::ply;
use trioxide::generate::Grid;
use trioxide_arguments::note;
use trioxide_ranks::block::in_plane_of;
use trioxide_ranks::ownership::Position;
use trioxide_ranks::{Block, Ownership, Ranks, Result};

use super::rank::has_extension;
use crate::commands::generated::{Generated, is_generated};

/// Says when each rank reads its slice of a file.
pub(super) const READ_BY_EACH: &str = ": plain triangles in binary .ply are read by each";

/// Notes that rank 0 reads a file for all ranks; `otherwise` says when each rank reads.
pub(super) fn note_first_reads(quiet: bool, input: &Path, otherwise: &str) {
    if is_generated(input) {
        let said = format_args!(
            "{}: rank 0 makes it for all ranks: of grid, jittered and tets each makes its own part",
            input.display()
        );
        return note(quiet, said);
    }
    let input = input.display();
    note(
        quiet,
        format_args!("{input}: rank 0 reads it for all ranks{otherwise}"),
    );
}

/// The grid that an input asks for, of which each rank makes its own part.
///
/// # Errors
/// As [`Generated::of`].
pub(super) fn grid_of(input: &Path) -> Result<Option<Grid>> {
    let generated = Generated::of(input)?;
    let grid = generated.map_or(Ok(None), |generated| generated.grid());
    Ok(grid?)
}

/// The owners of an input's elements: each rank owns the rows of a grid that it makes, or else its block or a part of a
/// curve.
///
/// # Errors
/// As [`grid_of`].
pub(super) fn ownership(input: &Path) -> Result<Ownership> {
    Ok(match grid_of(input)? {
        Some(grid) => Ownership::Rows(grid),
        None => Ownership::Near,
    })
}

/// The block of this rank, if `path` is a binary `.ply` of plain triangles, or asks for a grid. `points` converts the
/// block's vertices; it also gets the height of the first vertex of all. Collective.
///
/// # Errors
/// The file cannot be opened.
pub(super) fn read_slices<P: Position>(
    ranks: &Ranks,
    path: &Path,
    points: impl FnOnce(f64, Vec<DVec3>) -> Option<Vec<P>>,
) -> Result<Option<Block<P>>> {
    if let Some(grid) = grid_of(path)? {
        ranks.phase("generate");
        return Block::of_grid(ranks, &grid).map(Some);
    }
    if !has_extension(path, "ply") {
        return Ok(None);
    }
    let file = ranks.agree(ply::Slices::open(path))?;
    let block = file.as_ref().and_then(|file| {
        let first = file.points(0..file.vertices().min(1));
        let height = first.first().map_or(0.0, |p| p.z);
        block_of_slices(ranks, file, |all| points(height, all))
    });
    ranks.agree(file.as_ref().map_or(Ok(()), ply::Slices::check))?;
    drop(file);
    let is_missing = ranks.any(block.is_none());
    Ok(block.filter(|_| !is_missing))
}

/// This rank's block of an input.
pub(super) enum Input {
    Plane(Block<DVec2>),
    Space(Block<DVec3>),
}

/// As [`read_slices`], of the plane or of space.
///
/// # Errors
/// As there.
pub(super) fn read_any(ranks: &Ranks, path: &Path) -> Result<Option<Input>> {
    let block = read_slices(ranks, path, with_heights)?;
    Ok(block.map(|block| of_slices(ranks, block)))
}

/// This rank's vertices, if all heights are finite numbers; else reading the whole file gives the error. A plane of
/// another height than 0 is read whole too: a block of the plane does not have it.
fn with_heights(height: f64, points: Vec<DVec3>) -> Option<Vec<DVec3>> {
    let is_lifted = height != 0.0 && points.iter().all(|p| p.z == height);
    let is_finite = points.iter().all(|p| p.z.is_finite());
    (is_finite && !is_lifted).then_some(points)
}

/// The block, in the plane if all ranks' vertices lie in one. Collective.
fn of_slices(ranks: &Ranks, block: Block<DVec3>) -> Input {
    // All vertices have the height of the first of all, unless one of a rank differs.
    let first = block.points.first();
    let heights = ranks.numbers(first.map_or(u64::MAX, |p| (p.z + 0.0).to_bits()));
    let flat = in_plane_of(&block.points, f64::from_bits(heights[0]));
    let is_space = ranks.any(flat.is_none());
    let Some(points) = flat.filter(|_| !is_space) else {
        return Input::Space(block);
    };
    Input::Plane(Block {
        vertices: block.vertices,
        cells: block.cells,
        size: block.size,
        points,
        corners: block.corners,
        regions: block.regions,
        segments: block.segments,
    })
}

/// The block of this rank with its converted vertices; `None` where `points` has none, or the file is faulty: reading
/// it whole gives the error.
fn block_of_slices<P>(
    ranks: &Ranks,
    file: &ply::Slices,
    points: impl FnOnce(Vec<DVec3>) -> Option<Vec<P>>,
) -> Option<Block<P>> {
    let [vertices, triangles] = [file.vertices(), file.triangles()];
    let range = |total: usize| {
        let range = ranks.block(total as u64);
        range.start as usize..range.end as usize
    };
    if triangles == 0 {
        return None;
    }
    let points = points(file.points(range(vertices)))?;
    let (corners, regions) = file.corners(range(triangles))?;
    Some(Block {
        vertices: vertices as u64,
        cells: triangles as u64,
        size: 3,
        points,
        corners: corners.into_flattened().into(),
        regions,
        segments: file.segments().to_vec(),
    })
}
