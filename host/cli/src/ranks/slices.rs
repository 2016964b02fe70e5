//! A block of a mesh from slices of a binary `.ply`.

use std::path::Path;

use glam::DVec3;
use trioxide::formats::ply;
use trioxide_arguments::note;
use trioxide_ranks::block::Blocks;
use trioxide_ranks::transport::Reduction;
use trioxide_ranks::{Block, Fault, Ranks, Result};

use super::run::has_extension;

/// Says that rank 0 reads a file for all ranks, and where it would not.
pub(super) fn note_first_reads(quiet: bool, input: &Path, otherwise: &str) {
    let said = format_args!(
        "{}: rank 0 reads it for all ranks{otherwise}",
        input.display()
    );
    note(quiet, said);
}

/// The block of this rank, where `path` is a binary `.ply` of plain triangles, of whose vertices `points` makes something on all ranks.
/// Collective.
///
/// # Errors
/// The file cannot be opened.
pub(super) fn read_slices<P>(
    ranks: &Ranks,
    path: &Path,
    points: impl FnOnce(&ply::Slices, Vec<DVec3>) -> Option<Vec<P>>,
) -> Result<Option<Block<P>>> {
    if !has_extension(path, "ply") {
        return Ok(None);
    }
    let file = ranks.agree(ply::Slices::open(path).map_err(Fault::from))?;
    let block = file.and_then(|file| block_of_slices(ranks, &file, |all| points(&file, all)));
    let is_missing = ranks.reduce(u64::from(block.is_none()), Reduction::Max);
    Ok(block.filter(|_| is_missing == 0))
}

/// The block of this rank, with what `points` makes of its vertices; `None` where that is none, or the file is faulty, which is said by
/// who reads it whole.
fn block_of_slices<P>(
    ranks: &Ranks,
    file: &ply::Slices,
    points: impl FnOnce(Vec<DVec3>) -> Option<Vec<P>>,
) -> Option<Block<P>> {
    let [vertices, triangles] = [file.vertices(), file.triangles()];
    let range = |total: usize| {
        let range = Blocks::new(total as u64, ranks.size()).range(ranks.rank());
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
        corners: corners.as_flattened().iter().map(|&v| v.into()).collect(),
        regions,
        segments: file.segments().to_vec(),
    })
}
