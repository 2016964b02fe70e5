//! Triangles between two rounds: a row each.

use std::ops::Range;

/// Words of a triangle's row, by the ids of the whole mesh: its id, its vertices, its sides (2e along edge e, 2e + 1
/// against it), the triangle of the input that it is a part of, and the tags of its sides where the mesh has segments.
const CORNERS: Range<usize> = 1..4;
const SIDES: Range<usize> = 4..7;
const ANCESTOR: usize = 7;
/// Where a row has tags.
pub const TAGS: Range<usize> = 8..11;

/// The sides of a row's triangle.
pub fn sides(row: &[u64]) -> &[u64] {
    &row[SIDES]
}

/// The triangle of the input that a row's triangle is a part of.
pub fn ancestor(row: &[u64]) -> u64 {
    row[ANCESTOR]
}

/// The tags of the sides of a row's triangle, or none.
pub fn tags(row: &[u64]) -> &[u64] {
    row.get(TAGS).unwrap_or_default()
}

/// Writes a row; tags where it has room for them.
pub fn set_row(
    row: &mut [u64],
    id: u64,
    corners: [u64; 3],
    sides: [u64; 3],
    ancestor: u64,
    tags: [u64; 3],
) {
    row[0] = id;
    row[CORNERS].copy_from_slice(&corners);
    row[SIDES].copy_from_slice(&sides);
    row[ANCESTOR] = ancestor;
    if let Some(room) = row.get_mut(TAGS) {
        room.copy_from_slice(&tags);
    }
}
