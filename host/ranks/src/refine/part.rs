//! A rank's part of a mesh with edges: triangles that it owns and ghosts, with the sides, the ancestor and the tags of
//! each.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};

use trioxide::Device;
use trioxide::half_edges::AnyPoint;
use trioxide::mesh::Segment;
use trioxide::refine::{DeviceEdgeMesh, EdgeShare, Error, SharePart, SharePieces, Tags};
use trioxide_mesh::bit_set::{contains, members};
use trioxide_mesh::parallel::{self, GRAIN};

use super::Elements;
use super::rows::{TAGS, ancestor, set_row, sides, tags};
use crate::block::Block;
use crate::check::upload_half_edges;
use crate::fault::{Fault, Result};
use crate::halo::Halo;
use crate::ids::{IdSet, Ids, Owners};
use crate::numbers::Sums;
use crate::owned::{Owned, WithGhosts};
use crate::ownership::Position;
use crate::part::{Part, owned_bits};
use crate::records::Records;
use crate::transport::{Ranks, Reduction};

/// A rank's part at the beginning of a round: owned triangles and ghosts, by local ids. Its points, corners, sides and
/// tags are on the device.
pub struct EdgePart {
    /// Elements of the whole mesh.
    pub counts: Elements,
    /// The owner of each triangle.
    pub owners: Owners,
    /// The halo of the triangles.
    pub halo: Halo,
    /// Id in the whole mesh of each vertex; it may be wrong for a vertex that no owned triangle has.
    pub vertices: Ids,
    /// Id in the whole mesh of each triangle, ascending.
    pub triangles: Ids,
    /// The triangle of the input that each is a part of.
    pub ancestors: Ancestors,
    /// Id in the whole mesh of each edge; it may be wrong for an edge that no owned triangle has.
    pub edges: Edges,
    /// Whether edges have tags.
    pub has_tags: bool,
    /// Vertices of the whole mesh when the part was made.
    pub first_vertices: u64,
    /// For each vertex added since, the owner of the triangle that owned the edge which it divides.
    pub dividers: Owners,
}

/// Ids of a part's edges in the whole mesh, which not every run needs.
pub enum Edges {
    /// Edges of the input, in the order of the half-edges that own them.
    Counted {
        /// Whether each half-edge owns its edge here: a bit each.
        along: Vec<u32>,
        /// Edges that triangles with smaller ids own.
        before: Sums,
    },
    /// The ids.
    Named(Ids),
    /// Nothing asks for them.
    Unneeded,
}

/// The triangles of the input that a part's triangles are parts of.
pub struct Ancestors {
    /// The ancestors of the first triangles.
    first: Ids,
    /// Per round: the number of triangles before it, then the parents of its triangles.
    parents: Vec<(usize, Vec<u32>)>,
}

impl From<Ids> for Ancestors {
    fn from(first: Ids) -> Self {
        let parents = Vec::new();
        Self { first, parents }
    }
}

impl Ancestors {
    /// The ancestor of a triangle.
    pub fn get(&self, mut t: usize) -> u64 {
        for (before, parents) in self.parents.iter().rev() {
            if let Some(new) = t.checked_sub(*before) {
                t = parents[new] as usize;
            }
        }
        self.first.get(t)
    }

    /// Appends triangles that are parts of these.
    pub fn extend(&mut self, parents: Vec<u32>) {
        let last = self.parents.last();
        let before = last.map_or(self.first.len(), |(before, last)| before + last.len());
        self.parents.push((before, parents));
    }
}

impl EdgePart {
    /// Finds the edges of this rank's `part` of the input; also the ascending lists of an edge's markers. Collective.
    ///
    /// # Errors
    /// Those of half-edges; segments that are no edges; a part with more edges than 32-bit ids name.
    pub fn of_input<P: AnyPoint>(
        ranks: &Ranks,
        on: &Device,
        block: &Block<P::Double>,
        part: Part<P::Double>,
    ) -> Result<(Self, EdgeShare<P>, Vec<Vec<i32>>)>
    where
        P::Double: Position,
    {
        ranks.phase("edges");
        let shape = &part.shape;
        let bytes = DeviceEdgeMesh::<P>::bytes_needed(shape.vertices(), shape.corners() / 3);
        let mesh = on.require(bytes).map_err(Fault::from);
        let mesh = ranks.agree(mesh.and_then(|()| upload_half_edges::<P>(on, &part)))?;
        let (tags, markers) = match &block.segments[..] {
            [] => (None, Vec::new()),
            segments => {
                let (tags, markers) = tag_sides(ranks, segments, block.vertices, &part)?;
                (Some(tags), markers)
            }
        };
        let share = EdgeShare::of_triangulation(on, mesh).map_err(|error| too_large(ranks, error));
        let (mut share, along) = ranks.agree(share)?;
        ranks.agree(set_tags(on, tags.as_deref(), &mut share))?;
        give_longest(ranks, on, &part.halo, &mut share)?;
        let (id, total) = (|t: usize| part.cells.get(t), block.cells);
        let edges_before = Sums::count(ranks, total, &part.owners, id, 3, [&along, &[]]);
        let part = Self {
            counts: Elements {
                vertices: block.vertices,
                edges: edges_before.totals[0],
                triangles: block.cells,
            },
            owners: part.owners,
            halo: part.halo,
            vertices: part.vertices,
            triangles: part.cells.clone(),
            ancestors: part.cells.into(),
            edges: Edges::Counted {
                along,
                before: edges_before,
            },
            has_tags: tags.is_some(),
            first_vertices: block.vertices,
            dividers: Owners::default(),
        };
        Ok((part, share, markers))
    }

    /// The part of owned triangles, with its ghosts. Collective.
    ///
    /// # Errors
    /// A part with more elements than 32-bit ids name; errors of the device.
    pub fn of_owned<P: AnyPoint>(
        ranks: &Ranks,
        on: &Device,
        counts: Elements,
        owned: Owned<P>,
    ) -> Result<(Self, EdgeShare<P>)>
    where
        P::Double: Position,
    {
        let WithGhosts {
            rows,
            owners,
            halo,
            vertices,
            points,
            corners,
        } = owned.with_ghosts(ranks, counts.vertices)?;

        ranks.phase("refine");
        let edges = IdSet::of_lists(rows.len(), |t| sides(rows.get(t)).iter().map(|s| s >> 1));
        let sides = local_sides(&rows, &edges);
        let share = SharePart {
            points: &points,
            corners: &corners,
            sides: &sides,
            edges: edges.len(),
            tags: &tags_of_edges(&rows, &sides, edges.len()),
        };
        let share = EdgeShare::upload(on, &share).map_err(|error| too_large(ranks, error));
        let share = ranks.agree(share)?;
        let part = Self {
            counts,
            owners,
            halo,
            vertices: Ids::of(vertices),
            triangles: Ids::of(rows.ids()),
            ancestors: Ids::of_list(parallel::collect(rows.len(), |t| ancestor(rows.get(t))))
                .into(),
            edges: Edges::Named(edges.to_ids()),
            has_tags: rows.stride > TAGS.start,
            first_vertices: counts.vertices,
            dividers: Owners::default(),
        };
        Ok((part, share))
    }

    /// Number of triangles.
    pub fn len(&self) -> usize {
        self.owners.len()
    }

    /// Number of triangles that a rank owns.
    pub fn owned(&self, rank: usize) -> usize {
        let owned = self.owners.of_rank(rank as u32);
        owned.map(|range| range.len()).sum()
    }

    /// Gives the edges their ids in the whole mesh, unless they have them. Collective.
    pub fn name_edges(&mut self, ranks: &Ranks) {
        let Edges::Counted { along, before } = &self.edges else {
            return;
        };
        ranks.phase("edges");
        // For each triangle the first edge that it owns, and a bit for each side that owns its edge. The owner of a
        // ghost knows them.
        let first = before.before(self.len());
        let mut known = parallel::collect(first.len(), |t| first[t][0] << 3 | three(along, t));
        drop(first);
        self.halo.update(ranks, &mut known);
        let edge_of = |h: usize| {
            let known = known[h / 3];
            let before = known & ((1 << (h % 3)) - 1);
            (known >> 3) + u64::from(before.count_ones())
        };
        let ids = parallel::map_pieces(along.len(), GRAIN, |range| {
            let first = 32 * range.start;
            let half_edges = members(&along[range]);
            let edges = half_edges.map(|h| edge_of(first + h as usize));
            edges.collect::<Vec<u64>>()
        });
        self.edges = Edges::Named(Ids::of_list(parallel::concat(ids)));
    }

    /// Id in the whole mesh of an edge.
    ///
    /// # Panics
    /// Where [`EdgePart::name_edges`] has not been called.
    pub fn edge(&self, e: u32) -> u64 {
        match &self.edges {
            Edges::Named(ids) => ids.get(e as usize),
            Edges::Counted { .. } | Edges::Unneeded => unreachable!("the edges were named"),
        }
    }

    /// The owned triangles of the part, which has these `pieces` on the host: with sides where edges have ids.
    pub fn to_owned<P: AnyPoint>(&self, ranks: &Ranks, pieces: &SharePieces<P>) -> Owned<P>
    where
        P::Double: Position,
    {
        let owned = owned_bits(&self.owners, ranks.rank(), 1);
        let own = |t: usize| contains(&owned, t).then_some(t as u32);
        let mine = parallel::filter_collect(self.len(), own);
        let is_used = parallel::collect(pieces.points.len(), |_| AtomicBool::new(false));
        let stride = if self.has_tags { TAGS.end } else { TAGS.start };
        let mut words = parallel::zeroed(stride * mine.len());
        parallel::for_chunks_mut(&mut words, stride, |i, row| {
            let t = mine[i] as usize;
            let (corners, sides) = (&pieces.corners[3 * t..][..3], &pieces.sides[3 * t..][..3]);
            for &v in corners {
                is_used[v as usize].store(true, Relaxed);
            }
            let corner = |k: usize| self.vertices.get(corners[k] as usize);
            let side = |k: usize| match &self.edges {
                Edges::Named(_) => 2 * self.edge(sides[k] / 2) + u64::from(sides[k] % 2),
                Edges::Counted { .. } | Edges::Unneeded => 0,
            };
            let tag = |k: usize| pieces.tags.get(sides[k] as usize / 2).copied();
            set_row(
                row,
                self.triangles.get(t),
                [0, 1, 2].map(corner),
                [0, 1, 2].map(side),
                self.ancestors.get(t),
                [0, 1, 2].map(|k| tag(k).unwrap_or(0).into()),
            );
        });
        // The used vertices ascend: new ones have the order of the triangles that divide their edges.
        let vertex = |v: usize| (self.vertices.get(v), pieces.points[v]);
        Owned::of(Records { words, stride }, 3, &is_used, vertex)
    }
}

/// Sends ghosts the longest sides from their owners. Collective.
///
/// # Errors
/// Errors of the device.
pub fn give_longest<P: AnyPoint>(
    ranks: &Ranks,
    on: &Device,
    halo: &Halo,
    share: &mut EdgeShare<P>,
) -> Result<()> {
    if ranks.size() == 1 {
        return Ok(());
    }
    let mut longest = ranks.agree(share.longest(on))?;
    halo.update(ranks, &mut longest);
    ranks.agree(share.set_longest(on, &longest))
}

/// Gives edges the tags of the triangles' sides.
fn set_tags<P: AnyPoint>(
    on: &Device,
    tags: Option<&[[u64; 3]]>,
    share: &mut EdgeShare<P>,
) -> Result<()> {
    let Some(tags) = tags else {
        return Ok(());
    };
    let tags = tags.as_flattened();
    let tagged = parallel::filter_collect(tags.len(), |h| (tags[h] != 0).then_some(h as u32));
    let mut of_edges = vec![0; share.edges()];
    for (&h, side) in tagged.iter().zip(share.sides_of(on, &tagged)?) {
        // The triangles at an edge have one tag for it.
        of_edges[side as usize / 2] = tags[h as usize] as u32;
    }
    Ok(share.set_tags(on, &of_edges)?)
}

/// Sides with local ids. An edge without its owner here has the direction of the only triangle.
fn local_sides(rows: &Records, edges: &IdSet) -> Vec<u32> {
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
    local
}

/// Tag of each edge; an empty list where rows have no tags.
fn tags_of_edges(rows: &Records, sides: &[u32], edges: usize) -> Vec<u32> {
    if rows.stride <= TAGS.start {
        return Vec::new();
    }
    let of_edges = parallel::collect(edges, |_| AtomicU32::new(0));
    // The triangles at an edge have one tag for it.
    parallel::for_each(sides.len(), |h| {
        let tag = tags(rows.get(h / 3))[h % 3];
        of_edges[sides[h] as usize / 2].store(tag as u32, Relaxed);
    });
    parallel::map(&of_edges, |tag| tag.load(Relaxed))
}

/// The fault of a rank's part.
pub fn too_large(ranks: &Ranks, error: Error) -> Fault {
    let Error::TooManyEdges { edges, most } = error else {
        return error.into();
    };
    Fault::from(trioxide::Error::Argument(format!(
        "rank {} would hold {edges} edges, but at most {most} fit 32-bit ids: use more ranks, or refine less",
        ranks.rank()
    )))
}

/// Bits of a triangle's half-edges.
pub fn three(bits: &[u32], t: usize) -> u64 {
    let one = |k: usize| u64::from(contains(bits, 3 * t + k)) << k;
    one(0) | one(1) | one(2)
}

/// Lists of markers.
type Markers = Vec<Vec<i32>>;

/// The tags of the triangles' sides, and the lists of an edge's markers. Collective.
fn tag_sides<P: Sync>(
    ranks: &Ranks,
    segments: &[Segment],
    vertices: u64,
    part: &Part<P>,
) -> Result<(Vec<[u64; 3]>, Markers)> {
    // Every rank has all segments, and finds the same fault.
    let tags = Tags::new(segments, vertices as usize)?;
    let key = |a: u64, b: u64| (a.min(b), a.max(b));
    let ends = tags.ends.iter().map(|ends| ends.map(u64::from));
    let places: HashMap<_, usize> = ends.map(|[a, b]| key(a, b)).zip(0..).collect();
    let seen = parallel::collect(tags.ends.len().div_ceil(64), |_| AtomicU64::new(0));
    let of_sides = parallel::collect(part.cells.len(), |t| {
        let corner = |k: usize| part.vertices.get(part.shape.corner(3 * t + k % 3) as usize);
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
