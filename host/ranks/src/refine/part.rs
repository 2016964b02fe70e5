//! A rank's part of a mesh with edges: triangles that it owns and ghosts, with the sides, the ancestor and the tags of each.

use std::collections::HashMap;
use std::ops::Range;

use bytemuck::zeroed_vec;
use rayon::prelude::*;
use trioxide::Device;
use trioxide::half_edges::AnyPoint;
use trioxide::mesh::Segment;
use trioxide::refine::{Error, SharePart, Tags};

use super::Counts;
use crate::block::Block;
use crate::check::upload_half_edges;
use crate::fault::{Fault, Result};
use crate::ids::IdSet;
use crate::numbers::exclusive_sums;
use crate::ownership::{Ownership, Position};
use crate::part::{Part, Shared, all_vertices, check_size};
use crate::rows::{Halo, Rows, join};
use crate::transport::{Ranks, Reduction};

/// Words of a triangle's row, by the ids of the whole mesh: its id, its vertices, its sides (2e along edge e, 2e + 1 against it), the
/// triangle of the input that it is a part of, and the tags of its sides where the mesh has segments.
const CORNERS: Range<usize> = 1..4;
const SIDES: Range<usize> = 4..7;
const ANCESTOR: usize = 7;
const TAGS: Range<usize> = 8..11;

/// The triangles that a rank owns, between two rounds.
pub struct Owned<P> {
    /// A row each, by their ids.
    pub rows: Rows,
    /// Their vertices, ascending.
    pub vertices: Vec<u64>,
    /// Where these lie.
    pub points: Vec<P>,
}

impl<P> Owned<P> {
    /// Nothing, of rows with so many words.
    pub fn none(stride: usize) -> Self {
        Self {
            rows: Rows {
                words: Vec::new(),
                stride,
            },
            vertices: Vec::new(),
            points: Vec::new(),
        }
    }
}

/// A rank's part at the beginning of a round.
pub struct EdgePart<P> {
    /// Those of the whole mesh.
    pub counts: Counts,
    /// Owned triangles and ghosts, by their ids.
    pub rows: Rows,
    /// The rank that owns each.
    pub owners: Vec<u32>,
    /// Where items of triangles go and come from.
    pub halo: Halo,
    /// Id in the whole mesh of each vertex, ascending.
    pub vertices: Vec<u64>,
    /// Points of the vertices.
    pub points: Vec<P>,
    /// Vertices of the triangles by local ids, three each.
    pub corners: Vec<u32>,
    /// Id in the whole mesh of each edge, ascending.
    pub edges: Vec<u64>,
    /// Sides of the triangles by local ids; an edge whose owner is not here runs along its only triangle.
    pub sides: Vec<u32>,
    /// Tag of each edge, or none.
    pub tags: Vec<u32>,
}

/// The vertices of a row's triangle.
pub fn corners(row: &[u64]) -> &[u64] {
    &row[CORNERS]
}

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

impl<P: AnyPoint> EdgePart<P>
where
    P::Double: Position,
{
    /// This rank's part of the input, and the markers of the segments, ascending. Collective.
    ///
    /// # Errors
    /// Those of half-edges; segments that are no edges.
    pub fn of_input(
        ranks: &Ranks,
        on: &Device,
        block: &Block<P::Double>,
        ownership: &Ownership,
    ) -> Result<(Self, Vec<i32>)> {
        let part = Part::without_segments(ranks, block, ownership)?;
        ranks.phase("edges");
        let twins = upload_half_edges::<P>(on, &part).and_then(|mesh| {
            let twins: Vec<u32> = on.download_rows(mesh.twins())?;
            Ok(twins)
        });
        let twins = ranks.agree(twins)?;
        let (sides, edges) = number_edges(ranks, &part, &twins, block.cells);
        let (rows, markers) = first_rows(ranks, block, &part, &sides)?;
        let points = part.points.par_iter().map(|&p| P::from_f64(p));
        let counts = Counts {
            vertices: block.vertices,
            edges,
            triangles: block.cells,
        };
        let points = points.collect();
        let built = Self::new(
            counts,
            rows,
            part.owners.to_vec(),
            part.halo,
            part.vertices.to_vec(),
            points,
        );
        Ok((
            Self {
                corners: part.corners,
                ..built
            },
            markers,
        ))
    }

    /// The part of owned triangles, with its ghosts. Collective.
    ///
    /// # Errors
    /// A part with more elements than 32-bit ids name.
    pub fn of_owned(ranks: &Ranks, counts: Counts, owned: Owned<P>) -> Result<Self> {
        ranks.phase("ghosts");
        let shared = Shared::find(ranks, &owned.rows, 3, counts.vertices);
        let (sent, ghosts) = shared.send(ranks, &owned.rows);
        let (rows, owners, halo) = join(ranks, &owned.rows, &sent, ghosts);
        let ids = all_vertices(&rows, 3);
        let vertices = ids.to_vec();
        ranks.agree(check_size(ranks, vertices.len(), 3 * rows.len()))?;
        let local = |vertex: u64| ids.place(vertex).expect("it is a corner");
        let mut points: Vec<P> = zeroed_vec(vertices.len());
        for (&vertex, &point) in owned.vertices.iter().zip(&owned.points) {
            points[local(vertex) as usize] = point;
        }
        let point = |vertex: &u64| {
            let place = owned.vertices.binary_search(vertex);
            owned.points[place.expect("it is of an owned triangle")]
        };
        let get = |&t: &u32| {
            let corners = corners(rows.get(t as usize));
            [&corners[0], &corners[1], &corners[2]].map(point)
        };
        halo.update(ranks, get, |t, three| {
            for (&vertex, point) in corners(rows.get(t as usize)).iter().zip(three) {
                points[local(vertex) as usize] = point;
            }
        });
        let of_rows = rows.words.par_chunks_exact(rows.stride);
        let corners = of_rows.flat_map_iter(|row| corners(row).iter().map(|&v| local(v)));
        let corners = corners.collect();
        let built = Self::new(counts, rows, owners, halo, vertices, points);
        Ok(Self { corners, ..built })
    }

    /// With the local ids of edges; without corners.
    fn new(
        counts: Counts,
        rows: Rows,
        owners: Vec<u32>,
        halo: Halo,
        vertices: Vec<u64>,
        points: Vec<P>,
    ) -> Self {
        let of_rows = rows.words.chunks_exact(rows.stride);
        let ids = IdSet::of(&of_rows.flat_map(|row| sides(row).iter().map(|side| side >> 1)));
        let edges = ids.to_vec();
        let local = |side: u64| {
            let edge = ids.place(side >> 1).expect("it is a side");
            2 * edge + (side & 1) as u32
        };
        let of_rows = rows.words.par_chunks_exact(rows.stride);
        let local = of_rows.flat_map_iter(|row| sides(row).iter().map(|&side| local(side)));
        let mut local: Vec<u32> = local.collect();
        let mut has_owner = vec![false; edges.len()];
        for &side in local.iter().filter(|&side| side & 1 == 0) {
            has_owner[side as usize / 2] = true;
        }
        for side in &mut local {
            if !has_owner[*side as usize / 2] {
                *side &= !1;
            }
        }
        let mut of_edges = Vec::new();
        if rows.stride > TAGS.start {
            of_edges = vec![0; edges.len()];
            for (row, local) in rows.words.chunks_exact(rows.stride).zip(local.chunks(3)) {
                for (&tag, side) in tags(row).iter().zip(local) {
                    of_edges[*side as usize / 2] = tag as u32;
                }
            }
        }
        Self {
            counts,
            rows,
            owners,
            halo,
            vertices,
            points,
            corners: Vec::new(),
            edges,
            sides: local,
            tags: of_edges,
        }
    }

    /// The part as the device takes it.
    pub fn share(&self) -> SharePart<'_, P> {
        SharePart {
            points: &self.points,
            corners: &self.corners,
            sides: &self.sides,
            edges: self.edges.len(),
            tags: &self.tags,
        }
    }

    /// The owned triangles, where no round follows.
    pub fn into_owned(self, rank: usize) -> Owned<P> {
        let mut is_used = vec![false; self.vertices.len()];
        let mut words = Vec::new();
        for (t, &owner) in self.owners.iter().enumerate() {
            if owner == rank as u32 {
                words.extend_from_slice(self.rows.get(t));
                for &v in &self.corners[3 * t..3 * t + 3] {
                    is_used[v as usize] = true;
                }
            }
        }
        let used = |v: &usize| is_used[*v];
        let used = (0..self.vertices.len()).filter(used);
        Owned {
            rows: Rows {
                words,
                stride: self.rows.stride,
            },
            vertices: used.clone().map(|v| self.vertices[v]).collect(),
            points: used.map(|v| self.points[v]).collect(),
        }
    }
}

/// Sides of the owned triangles, and the number of edges of the whole mesh: edges are numbered in the order of the half-edges that own
/// them, the smaller of each two. Collective.
fn number_edges<P>(
    ranks: &Ranks,
    part: &Part<P>,
    twins: &[u32],
    triangles: u64,
) -> (Vec<[u64; 3]>, u64) {
    let me = ranks.rank() as u32;
    let mine = part.owners.of_rank(me).flatten();
    // Along the boundary the twin has an id behind the half-edges of all triangles.
    let owns = |h: usize| u64::from((h as u32) < twins[h]);
    let bits = |t: usize| owns(3 * t) | owns(3 * t + 1) << 1 | owns(3 * t + 2) << 2;
    let ids: Vec<u64> = mine.clone().map(|t| part.cells.get(t)).collect();
    let counts: Vec<[u32; 2]> = mine.clone().map(|t| [bits(t).count_ones(), 0]).collect();
    let (first, [edges, _]) = exclusive_sums(ranks, triangles, &ids, &counts);
    // Of each triangle the first edge that it owns, and which sides do.
    let mut known = vec![0; part.cells.len()];
    for (t, [first, _]) in mine.clone().zip(first) {
        known[t] = first << 3 | bits(t);
    }
    part.halo.update_all(ranks, &mut known);
    let edge_of = |h: usize| {
        let known = known[h / 3];
        let before = known & ((1 << (h % 3)) - 1);
        (known >> 3) + u64::from(before.count_ones())
    };
    let side = |h: usize| match owns(h) {
        1 => 2 * edge_of(h),
        _ => 2 * edge_of(twins[h] as usize) + 1,
    };
    let mut sides = vec![[0; 3]; part.cells.len()];
    for t in mine {
        sides[t] = [side(3 * t), side(3 * t + 1), side(3 * t + 2)];
    }
    part.halo.update_all(ranks, &mut sides);
    (sides, edges)
}

/// Rows of a part of the input, and the markers of the segments. Collective.
fn first_rows<P: Sync>(
    ranks: &Ranks,
    block: &Block<P>,
    part: &Part<P>,
    sides: &[[u64; 3]],
) -> Result<(Rows, Vec<i32>)> {
    let (of_sides, markers) = match &block.segments[..] {
        [] => (Vec::new(), Vec::new()),
        segments => tag_sides(ranks, segments, block.vertices, part)?,
    };
    let stride = match block.segments.is_empty() {
        true => TAGS.start,
        false => TAGS.end,
    };
    let mut words = vec![0; stride * part.cells.len()];
    let rows = words.par_chunks_exact_mut(stride).enumerate();
    rows.for_each(|(t, row)| {
        let id = part.cells.get(t);
        let corners = [0, 1, 2].map(|k| part.vertices.get(part.corners[3 * t + k] as usize));
        let tags = of_sides.get(t).copied().unwrap_or_default();
        set_row(row, id, corners, sides[t], id, tags);
    });
    Ok((Rows { words, stride }, markers))
}

/// The tags of the triangles' sides, and the markers. Of segments between the same vertices the first counts. Collective.
fn tag_sides<P>(
    ranks: &Ranks,
    segments: &[Segment],
    vertices: u64,
    part: &Part<P>,
) -> Result<(Vec<[u64; 3]>, Vec<i32>)> {
    // Every rank has all segments, and the same fault.
    let tags = Tags::new(segments, vertices as usize)?;
    let key = |a: u64, b: u64| (a.min(b), a.max(b));
    let ends = tags.ends.iter().map(|ends| ends.map(u64::from));
    let places: HashMap<_, usize> = ends.map(|[a, b]| key(a, b)).zip(0..).collect();
    let mut seen = vec![0_u64; tags.ends.len().div_ceil(64)];
    let mut of_sides = vec![[0; 3]; part.cells.len()];
    for (t, tagged) in of_sides.iter_mut().enumerate() {
        let corner = |k: usize| part.vertices.get(part.corners[3 * t + k % 3] as usize);
        for (k, tagged) in tagged.iter_mut().enumerate() {
            if let Some(&place) = places.get(&key(corner(k), corner(k + 1))) {
                *tagged = tags.values[place].into();
                seen[place / 64] |= 1 << (place % 64);
            }
        }
    }
    ranks.reduce_all(&mut seen, Reduction::Or);
    let is_missing = |&i: &usize| seen[i / 64] >> (i % 64) & 1 == 0;
    if let Some(i) = (0..tags.ends.len()).find(is_missing) {
        let ends = tags.ends[i];
        let text = Error::SegmentWithoutEdge { ends }.to_string();
        return Err(Fault::of_mesh(100, i as u64, text));
    }
    Ok((of_sides, tags.markers))
}
