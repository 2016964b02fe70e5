//! A rank's part of a mesh with edges: triangles that it owns and ghosts, with the sides, the ancestor and the tags of each.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};

use trioxide::Device;
use trioxide::half_edges::AnyPoint;
use trioxide::mesh::Segment;
use trioxide::refine::{Error, SharePart, Tags};
use trioxide_mesh::parallel;

use super::Counts;
use crate::block::{Block, fill};
use crate::check::upload_half_edges;
use crate::fault::{Fault, Result};
use crate::ids::{IdSet, Ids, Owners};
use crate::numbers::exclusive_sums;
use crate::ownership::Position;
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

impl<P: Send> Owned<P> {
    /// Triangles, with those vertices that are used; `vertex` gives a vertex's id and its point.
    pub fn of(
        rows: Rows,
        is_used: &[AtomicBool],
        vertex: impl Fn(usize) -> (u64, P) + Sync,
    ) -> Self {
        let used = |v: usize| is_used[v].load(Relaxed).then_some(v);
        let used = parallel::filter_collect(is_used.len(), used);
        Self {
            rows,
            vertices: parallel::map(&used, |&v| vertex(v).0),
            points: parallel::map(&used, |&v| vertex(v).1),
        }
    }
}

/// A rank's part at the beginning of a round.
pub struct EdgePart<P> {
    /// Those of the whole mesh.
    pub counts: Counts,
    /// Owned triangles and ghosts, by their ids.
    pub rows: Rows,
    /// Whether this rank owns each.
    pub is_own: Vec<bool>,
    /// Where items of triangles go and come from.
    pub halo: Halo,
    /// Id in the whole mesh of each vertex.
    pub vertices: Ids,
    /// Points of the vertices.
    pub points: Vec<P>,
    /// Vertices of the triangles by local ids, three each.
    pub corners: Vec<u32>,
    /// The ids in the whole mesh of the edges, which have their places among them as local ids.
    pub edges: IdSet,
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
    /// This rank's `part` of the input with its edges, and the markers of the segments, ascending. Collective.
    ///
    /// # Errors
    /// Those of half-edges; segments that are no edges.
    pub fn of_input(
        ranks: &Ranks,
        on: &Device,
        block: &Block<P::Double>,
        part: Part<P::Double>,
    ) -> Result<(Self, Vec<i32>)> {
        ranks.phase("edges");
        let twins = upload_half_edges::<P>(on, &part).and_then(|mesh| {
            let twins: Vec<u32> = on.download_rows(mesh.twins())?;
            Ok(twins)
        });
        let twins = ranks.agree(twins)?;
        let is_own = is_own(&part.owners, ranks.rank());
        let (sides, edges) = number_edges(ranks, &part, &is_own, &twins, block.cells);
        drop(twins);
        let (rows, markers) = first_rows(ranks, block, &part, &sides)?;
        drop(sides);
        let points = parallel::map(&part.points, |&p| P::from_f64(p));
        let counts = Counts {
            vertices: block.vertices,
            edges,
            triangles: block.cells,
        };
        let built = Self::new(counts, rows, is_own, part.halo, part.vertices, points);
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
        let mut points: Vec<P> = parallel::zeroed(vertices.len());
        let place = |i: usize| local(owned.vertices[i]) as usize;
        let of_owned = |i: usize| Some(owned.points[i]);
        fill(&mut points, owned.points.len(), place, of_owned);
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
        let corner = |h: usize| local(corners(rows.get(h / 3))[h % 3]);
        let corners = parallel::collect(3 * rows.len(), corner);
        let is_own = is_own(&owners, ranks.rank());
        let vertices = Ids::of(vertices);
        let built = Self::new(counts, rows, is_own, halo, vertices, points);
        Ok(Self { corners, ..built })
    }

    /// With the local ids of edges; without corners.
    fn new(
        counts: Counts,
        rows: Rows,
        is_own: Vec<bool>,
        halo: Halo,
        vertices: Ids,
        points: Vec<P>,
    ) -> Self {
        let edge_ids = |t: usize| sides(rows.get(t)).iter().map(|side| side >> 1);
        let edges = IdSet::of_lists(rows.len(), edge_ids);
        let mut local = parallel::collect(3 * rows.len(), |h| {
            let side = sides(rows.get(h / 3))[h % 3];
            let edge = edges.place(side >> 1).expect("it is a side");
            2 * edge + (side & 1) as u32
        });
        let has_owner = parallel::collect(edges.len(), |_| AtomicBool::new(false));
        parallel::for_each(local.len(), |h| {
            if local[h] & 1 == 0 {
                has_owner[local[h] as usize / 2].store(true, Relaxed);
            }
        });
        parallel::for_chunks_mut(&mut local, 3, |_, sides| {
            for side in sides {
                if !has_owner[*side as usize / 2].load(Relaxed) {
                    *side &= !1;
                }
            }
        });
        let mut of_edges = Vec::new();
        if rows.stride > TAGS.start {
            let tags_of = parallel::collect(edges.len(), |_| AtomicU32::new(0));
            // The triangles at an edge have one tag for it.
            parallel::for_each(local.len(), |h| {
                let tag = tags(rows.get(h / 3))[h % 3];
                tags_of[local[h] as usize / 2].store(tag as u32, Relaxed);
            });
            of_edges = parallel::map(&tags_of, |tag| tag.load(Relaxed));
        }
        Self {
            counts,
            rows,
            is_own,
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

    /// The local ids of the owned triangles.
    pub fn own(&self) -> Vec<u32> {
        own(&self.is_own)
    }

    /// The owned triangles, where no round has divided any.
    pub fn into_owned(self) -> Owned<P> {
        let own = self.own();
        let is_used = parallel::collect(self.vertices.len(), |_| AtomicBool::new(false));
        let stride = self.rows.stride;
        let mut words = parallel::zeroed(stride * own.len());
        parallel::for_chunks_mut(&mut words, stride, |i, row| {
            let t = own[i] as usize;
            row.copy_from_slice(self.rows.get(t));
            for &v in &self.corners[3 * t..3 * t + 3] {
                is_used[v as usize].store(true, Relaxed);
            }
        });
        Owned::of(Rows { words, stride }, &is_used, |v| {
            (self.vertices.get(v), self.points[v])
        })
    }
}

/// Whether rank `me` owns each triangle.
fn is_own(owners: &Owners, me: usize) -> Vec<bool> {
    let mut is_own = vec![false; owners.len()];
    for range in owners.of_rank(me as u32) {
        is_own[range].fill(true);
    }
    is_own
}

/// The triangles that are owned.
fn own(is_own: &[bool]) -> Vec<u32> {
    parallel::filter_collect(is_own.len(), |t| is_own[t].then_some(t as u32))
}

/// Sides of the owned triangles, and the number of edges of the whole mesh: edges are numbered in the order of the half-edges that own
/// them, the smaller of each two. Collective.
fn number_edges<P: Sync>(
    ranks: &Ranks,
    part: &Part<P>,
    is_own: &[bool],
    twins: &[u32],
    triangles: u64,
) -> (Vec<[u64; 3]>, u64) {
    let own = own(is_own);
    // Along the boundary the twin has an id behind the half-edges of all triangles.
    let owns = |h: usize| u64::from((h as u32) < twins[h]);
    let bits = |t: usize| owns(3 * t) | owns(3 * t + 1) << 1 | owns(3 * t + 2) << 2;
    let id = |i: usize| part.cells.get(own[i] as usize);
    let count = |i: usize| [bits(own[i] as usize).count_ones(), 0];
    let (first, [edges, _]) = exclusive_sums(ranks, triangles, own.len(), id, count);
    // Of each triangle the first edge that it owns, and which sides do.
    let mut known: Vec<u64> = parallel::zeroed(part.cells.len());
    let place = |i: usize| own[i] as usize;
    fill(&mut known, own.len(), place, |i| {
        Some(first[i][0] << 3 | bits(place(i)))
    });
    drop(first);
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
    let mut sides = parallel::collect(part.cells.len(), |t| match is_own[t] {
        true => [side(3 * t), side(3 * t + 1), side(3 * t + 2)],
        false => [0; 3],
    });
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
    let mut words = parallel::zeroed(stride * part.cells.len());
    parallel::for_chunks_mut(&mut words, stride, |t, row| {
        let id = part.cells.get(t);
        let corners = [0, 1, 2].map(|k| part.vertices.get(part.corners[3 * t + k] as usize));
        let tags = of_sides.get(t).copied().unwrap_or_default();
        set_row(row, id, corners, sides[t], id, tags);
    });
    Ok((Rows { words, stride }, markers))
}

/// The tags of the triangles' sides, and the markers. Of segments between the same vertices the first counts. Collective.
fn tag_sides<P: Sync>(
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
    let seen = parallel::collect(tags.ends.len().div_ceil(64), |_| AtomicU64::new(0));
    let of_sides = parallel::collect(part.cells.len(), |t| {
        let corner = |k: usize| part.vertices.get(part.corners[3 * t + k % 3] as usize);
        [0, 1, 2].map(|k| match places.get(&key(corner(k), corner(k + 1))) {
            None => 0,
            Some(&place) => {
                seen[place / 64].fetch_or(1 << (place % 64), Relaxed);
                tags.values[place].into()
            }
        })
    });
    let mut seen: Vec<u64> = seen.into_iter().map(AtomicU64::into_inner).collect();
    ranks.reduce_all(&mut seen, Reduction::Or);
    let is_missing = |&i: &usize| seen[i / 64] >> (i % 64) & 1 == 0;
    if let Some(i) = (0..tags.ends.len()).find(is_missing) {
        let ends = tags.ends[i];
        let text = Error::SegmentWithoutEdge { ends }.to_string();
        return Err(Fault::of_mesh(100, i as u64, text));
    }
    Ok((of_sides, tags.markers))
}
