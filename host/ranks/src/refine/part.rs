//! A rank's part of a mesh with edges: triangles that it owns and ghosts, with the sides, the ancestor and the tags of each.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};

use trioxide::Device;
use trioxide::half_edges::AnyPoint;
use trioxide::mesh::Segment;
use trioxide::refine::{DeviceEdgeMesh, Error, Share, SharePart, Tags};
use trioxide_mesh::bit_set::{contains, members};
use trioxide_mesh::parallel::{self, GRAIN};

use super::Counts;
use super::rows::{TAGS, ancestor, corners, set_row, sides, tags};
use crate::block::Block;
use crate::check::{build_half_edges, upload_half_edges};
use crate::fault::{Fault, Result};
use crate::ids::{IdSet, Ids, Owners};
use crate::numbers::Sums;
use crate::owned::{Owned, WithGhosts};
use crate::ownership::Position;
use crate::part::Part;
use crate::rows::{Halo, Rows};
use crate::transport::{Ranks, Reduction};

/// A rank's part at the beginning of a round: owned triangles and ghosts, by local ids. Their corners and sides are on the device.
pub struct EdgePart<P: AnyPoint> {
    /// Those of the whole mesh.
    pub counts: Counts,
    /// Who owns each triangle.
    pub owners: Owners,
    /// Where items of triangles go and come from.
    pub halo: Halo,
    /// Id in the whole mesh of each vertex.
    pub vertices: Ids,
    triangles: Triangles<P>,
}

/// What names the triangles of a part in the whole mesh.
enum Triangles<P: AnyPoint> {
    Input(Box<Input<P>>),
    Named(Named<P>),
}

/// Triangles of the input, whose edges have no ids of the whole mesh before something asks for them.
struct Input<P: AnyPoint> {
    cells: Ids,
    points: Vec<P::Double>,
    corners: Vec<u32>,
    /// Whether each half-edge runs along its edge: a bit each. Where the one that does is not here, the only other one does.
    along: Vec<u32>,
    /// Edges that triangles with smaller ids own.
    edges_before: Sums,
    /// Tags of the triangles' sides, where the mesh has segments.
    tags: Option<Vec<[u64; 3]>>,
}

/// Triangles, points and edges by the ids of the whole mesh.
pub struct Named<P> {
    /// The triangles.
    pub rows: Rows,
    /// Points of the vertices.
    pub points: Vec<P>,
    /// Id of each edge.
    pub edges: Vec<u64>,
}

impl<P: AnyPoint> EdgePart<P>
where
    P::Double: Position,
{
    /// This rank's `part` of the input with its edges, and the markers of the segments, ascending. Collective.
    ///
    /// # Errors
    /// Those of half-edges; segments that are no edges; a part with more edges than 32-bit ids name.
    pub fn of_input(
        ranks: &Ranks,
        on: &Device,
        block: &Block<P::Double>,
        part: Part<P::Double>,
    ) -> Result<(Self, Share<P>, Vec<i32>)> {
        ranks.phase("edges");
        let bytes = DeviceEdgeMesh::<P>::bytes_needed(part.points.len(), part.corners.len() / 3);
        let mesh = on.require(bytes).map_err(Fault::from);
        let mesh = ranks.agree(mesh.and_then(|()| upload_half_edges::<P>(on, &part)))?;
        let (tags, markers) = match &block.segments[..] {
            [] => (None, Vec::new()),
            segments => {
                let (tags, markers) = tag_sides(ranks, segments, block.vertices, &part)?;
                (Some(tags), markers)
            }
        };
        let share = Share::of_triangulation(on, mesh).map_err(|error| too_large(ranks, error));
        let (mut share, along) = ranks.agree(share)?;
        ranks.agree(set_ghosts(
            ranks,
            on,
            &part.halo,
            tags.as_deref(),
            &mut share,
        ))?;
        let (id, total) = (|t: usize| part.cells.get(t), block.cells);
        let edges_before = Sums::count(ranks, total, &part.owners, id, 3, [&along, &[]]);
        let part = Self {
            counts: Counts {
                vertices: block.vertices,
                edges: edges_before.totals[0],
                triangles: block.cells,
            },
            owners: part.owners,
            halo: part.halo,
            vertices: part.vertices,
            triangles: Triangles::Input(Box::new(Input {
                cells: part.cells,
                points: part.points,
                corners: part.corners,
                along,
                edges_before,
                tags,
            })),
        };
        Ok((part, share, markers))
    }

    /// The part of owned triangles, with its ghosts. Collective.
    ///
    /// # Errors
    /// A part with more elements than 32-bit ids name; errors of the device.
    pub fn of_owned(
        ranks: &Ranks,
        on: &Device,
        counts: Counts,
        owned: Owned<P>,
    ) -> Result<(Self, Share<P>)> {
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
        let share = Share::upload(on, &share).map_err(|error| too_large(ranks, error));
        let share = ranks.agree(share)?;
        let part = Self {
            counts,
            owners,
            halo,
            vertices: Ids::of(vertices),
            triangles: Triangles::Named(Named {
                rows,
                points,
                edges: edges.to_vec(),
            }),
        };
        Ok((part, share))
    }

    /// Number of triangles.
    pub fn len(&self) -> usize {
        self.owners.len()
    }

    /// Id in the whole mesh of a triangle.
    pub fn id(&self, t: usize) -> u64 {
        match &self.triangles {
            Triangles::Input(input) => input.cells.get(t),
            Triangles::Named(named) => named.rows.id(t),
        }
    }

    /// The triangle of the input that a triangle is a part of.
    pub fn ancestor(&self, t: usize) -> u64 {
        match &self.triangles {
            Triangles::Input(input) => input.cells.get(t),
            Triangles::Named(named) => ancestor(named.rows.get(t)),
        }
    }

    /// Names the triangles, if they have no names yet. Collective.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn name(&mut self, ranks: &Ranks, on: &Device) -> Result<()> {
        let Triangles::Input(input) = &mut self.triangles else {
            return Ok(());
        };
        ranks.phase("edges");
        // The device's neighbours were there when the edges were numbered, and are not kept.
        let mesh = build_half_edges::<P>(on, &input.points, &input.corners).map_err(Fault::from);
        let twins = mesh.and_then(|mesh| Ok(on.download_rows(mesh.twins())?));
        let twins: Vec<u32> = ranks.agree(twins)?;
        let is_own = is_own(&self.owners, ranks.rank());
        let first = input.edges_before.before(is_own.len());
        let of_sides = name_sides(ranks, &self.halo, &is_own, &twins, &input.along, first);
        drop(twins);
        let edges = edges_along(&input.along, &of_sides);
        let stride = match &input.tags {
            None => TAGS.start,
            Some(_) => TAGS.end,
        };
        let mut words = parallel::zeroed(stride * is_own.len());
        parallel::for_chunks_mut(&mut words, stride, |t, row| {
            let id = input.cells.get(t);
            let corner = |k: usize| self.vertices.get(input.corners[3 * t + k] as usize);
            let tags = input.tags.as_ref().map_or([0; 3], |tags| tags[t]);
            set_row(row, id, [0, 1, 2].map(corner), of_sides[t], id, tags);
        });
        let points = parallel::map(&input.points, |&p| P::from_f64(p));
        self.triangles = Triangles::Named(Named {
            rows: Rows { words, stride },
            points,
            edges,
        });
        Ok(())
    }

    /// The names.
    ///
    /// # Panics
    /// Where [`EdgePart::name`] has not been called.
    pub fn named(&self) -> &Named<P> {
        match &self.triangles {
            Triangles::Input(_) => unreachable!("the triangles were named"),
            Triangles::Named(named) => named,
        }
    }

    /// The owned triangles, where no round has divided any. Collective.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn into_owned(mut self, ranks: &Ranks, on: &Device) -> Result<Owned<P>> {
        self.name(ranks, on)?;
        let (named, vertices) = (self.named(), &self.vertices);
        let is_own = is_own(&self.owners, ranks.rank());
        let own = parallel::filter_collect(is_own.len(), |t| is_own[t].then_some(t));
        let is_used = parallel::collect(vertices.len(), |_| AtomicBool::new(false));
        let stride = named.rows.stride;
        let mut words = parallel::zeroed(stride * own.len());
        parallel::for_chunks_mut(&mut words, stride, |i, row| {
            row.copy_from_slice(named.rows.get(own[i]));
            for &v in corners(row) {
                let place = vertices.place(v).expect("it is a corner");
                is_used[place as usize].store(true, Relaxed);
            }
        });
        Ok(Owned::of(Rows { words, stride }, 3, &is_used, |v| {
            (vertices.get(v), named.points[v])
        }))
    }
}

/// Gives ghosts the longest edges of their owners, and edges the tags of the triangles' sides. Collective.
fn set_ghosts<P: AnyPoint>(
    ranks: &Ranks,
    on: &Device,
    halo: &Halo,
    tags: Option<&[[u64; 3]]>,
    share: &mut Share<P>,
) -> Result<()> {
    if ranks.size() > 1 {
        let mut longest = ranks.agree(share.longest(on).map_err(Fault::from))?;
        halo.update_all(ranks, &mut longest);
        share.set_longest(on, &longest)?;
    }
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

/// Sides by local ids: of an edge whose owner is not here, along the only triangle.
fn local_sides(rows: &Rows, edges: &IdSet) -> Vec<u32> {
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

/// Tag of each edge, or none where rows have no tags.
fn tags_of_edges(rows: &Rows, sides: &[u32], edges: usize) -> Vec<u32> {
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

/// Whether rank `me` owns each triangle.
pub fn is_own(owners: &Owners, me: usize) -> Vec<bool> {
    let mut is_own = vec![false; owners.len()];
    for range in owners.of_rank(me as u32) {
        is_own[range].fill(true);
    }
    is_own
}

/// Sides of the triangles: edges are numbered in the order of the half-edges that own them, the smaller of each two. `first` has the
/// number of edges that the triangles before each own. Collective.
fn name_sides(
    ranks: &Ranks,
    halo: &Halo,
    is_own: &[bool],
    twins: &[u32],
    along: &[u32],
    first: Vec<[u64; 2]>,
) -> Vec<[u64; 3]> {
    // Of each triangle the first edge that it owns, and which sides do.
    let mut known = parallel::collect(is_own.len(), |t| first[t][0] << 3 | three(along, t));
    drop(first);
    halo.update_all(ranks, &mut known);
    let edge_of = |h: usize| {
        let known = known[h / 3];
        let before = known & ((1 << (h % 3)) - 1);
        (known >> 3) + u64::from(before.count_ones())
    };
    let side = |h: usize| match contains(along, h) {
        true => 2 * edge_of(h),
        false => 2 * edge_of(twins[h] as usize) + 1,
    };
    let mut sides = parallel::collect(is_own.len(), |t| match is_own[t] {
        true => [side(3 * t), side(3 * t + 1), side(3 * t + 2)],
        false => [0; 3],
    });
    halo.update_all(ranks, &mut sides);
    sides
}

/// Ids of the edges, in the order of the half-edges along them.
fn edges_along(along: &[u32], of_sides: &[[u64; 3]]) -> Vec<u64> {
    let of_sides = of_sides.as_flattened();
    parallel::concat(parallel::map_pieces(along.len(), GRAIN, |range| {
        let first = 32 * range.start;
        let half_edges = members(&along[range]);
        let edges = half_edges.map(|h| of_sides[first + h as usize] >> 1);
        edges.collect::<Vec<u64>>()
    }))
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
