//! A level on ranks: the edges to divide, the numbers of the new elements, and what a rank then owns.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use trioxide::Device;
use trioxide::refine_tets::{
    DividedEdges, DividedShare, Error, MarkedShare, Marking, Share, ShareNames, SharePieces,
    SpacePoint,
};
use trioxide_mesh::bit_set::contains;
use trioxide_mesh::parallel;

use super::part::{Face, OwnedTets, STRIDE, TetPart, too_large};
use super::{Counts, Level, Options};
use crate::fault::{Fault, Result};
use crate::halo_edges::HaloEdges;
use crate::ids::Owners;
use crate::numbers::Sums;
use crate::owned::Owned;
use crate::part::owned_bits;
use crate::rows::Rows;
use crate::transport::{Ranks, Reduction};

/// A part's pieces on the device.
pub struct Divided<P>(DividedShare<P>);

/// What a level leaves.
pub struct Done<P> {
    /// The part's pieces.
    pub divided: Divided<P>,
    /// Elements of the whole mesh.
    pub counts: Counts,
    /// Counts of the level.
    pub level: Level,
}

/// The level with this number, from 0; `share` is the part on the device. Collective.
///
/// # Errors
/// A part with more elements than 32-bit ids name; a flat tetrahedron; errors of the device.
pub fn level<P: SpacePoint>(
    ranks: &Ranks,
    on: &Device,
    part: &TetPart,
    share: Share<P>,
    options: &Options,
    number: u32,
) -> Result<Done<P>> {
    ranks.phase("edges");
    // Other markings do not go by names.
    let is_named = matches!(
        options.marking,
        Marking::Fraction { .. } | Marking::Chosen(_)
    );
    let named = if is_named { part.len() } else { 0 };
    let names = ShareNames {
        ids: &parallel::collect(named, |t| part.cells.get(t)),
        ancestors: &parallel::collect(named, |t| part.ancestor(t)),
        level: number,
    };
    let share = share.mark(on, &options.marking, &names);
    let mut share = ranks.agree(share.map_err(Fault::from))?;
    let exchanges = close(ranks, on, part, &mut share, options.edges)?;
    let owned = owned_bits(&part.owners, ranks.rank(), 1);
    let share = share.divide(on, &owned);
    let share = ranks.agree(share.map_err(|error| too_large(ranks, error)))?;
    let is_first = |i: usize| contains(&owned, share.uses[i] as usize / 6);
    let mut totals = [
        parallel::count(share.uses.len(), is_first) as u64,
        share.divided.into(),
        share.tetrahedra.into(),
        share.faces.into(),
    ];
    ranks.reduce_all(&mut totals, Reduction::Sum);
    check(ranks, on, part, &share, number)?;
    let [divided_edges, divided_tetrahedra, new, new_faces] = totals;
    let counts = Counts {
        vertices: part.counts.vertices + divided_edges,
        tetrahedra: part.counts.tetrahedra + new,
        faces: part.counts.faces + new_faces,
    };
    Ok(Done {
        divided: Divided(share),
        counts,
        level: Level {
            divided_edges,
            divided_tetrahedra,
            tetrahedra: counts.tetrahedra,
            exchanges,
        },
    })
}

/// Finds the edges that any rank divides ([`HaloEdges::spread`]). Collective.
fn close<P: SpacePoint>(
    ranks: &Ranks,
    on: &Device,
    part: &TetPart,
    share: &mut MarkedShare<P>,
    by: DividedEdges,
) -> Result<u64> {
    if ranks.size() > 1 {
        let mut orders = ranks.agree(share.orders(on).map_err(Fault::from))?;
        part.halo.update_all(ranks, &mut orders);
        ranks.agree(share.set_orders(on, &orders).map_err(Fault::from))?;
    }
    ranks.phase("refine");
    let marked = share.close(on, by).and_then(|()| share.marked(on));
    let marked = ranks.agree(marked.map_err(Fault::from))?;
    let edges = HaloEdges::of(&part.halo, 6, |cells| share.edges_of(on, cells));
    let edges = ranks.agree(edges.map_err(Fault::from))?;
    edges.spread(ranks, &part.halo, marked, |marked, found| {
        share.follow(on, marked, found)?;
        share.marked(on)
    })
}

/// Refuses parts that break a rule, in the words of the single run. Collective.
fn check<P: SpacePoint>(
    ranks: &Ranks,
    on: &Device,
    part: &TetPart,
    share: &DividedShare<P>,
    number: u32,
) -> Result<()> {
    let is_broken = u64::from(share.broken.is_some());
    if ranks.reduce(is_broken, Reduction::Or) == 0 {
        return Ok(());
    }
    let names = Names::of(ranks, on, part, share)?;
    ranks.agree(share.broken.as_ref().map_or(Ok(()), |error| {
        let level = number as usize + 1;
        let (rule, tetrahedron, said) = match *error {
            Error::TooSmall { tetrahedron, .. } => (3, tetrahedron, error.to_string()),
            Error::Inverted { tetrahedron } => (
                4,
                tetrahedron,
                Error::Flat { level, tetrahedron }.to_string(),
            ),
            _ => (5, 0, error.to_string()),
        };
        let id = names.tetrahedron(part, tetrahedron as usize);
        let [local, whole] = [tetrahedron.into(), id].map(|id: u64| format!("tetrahedron {id} "));
        Err(Fault::of_mesh(rule, id, said.replacen(&local, &whole, 1)))
    }))
}

/// Tetrahedra whose bits a thread writes at a time: four to a word.
const PIECE: usize = 1 << 14;

/// Bits a tetrahedron, or a tagged triangle, of what is counted: one for each element.
const EACH: usize = 8;

/// Eight bits for each of `n` elements: those of item i, of `count` in ascending order, for element `of(i)`.
fn eights(
    n: usize,
    count: usize,
    of: impl Fn(usize) -> usize + Sync,
    bits: impl Fn(usize) -> u32 + Sync,
) -> Vec<u32> {
    let mut words = parallel::zeroed(n.div_ceil(4));
    parallel::for_chunks_mut(&mut words, PIECE / 4, |k, words| {
        let (first, end) = (k * PIECE, k * PIECE + 4 * words.len());
        let mut i = crate::ids::partition(count, |i| of(i) < first);
        while i < count && of(i) < end {
            let place = of(i) - first;
            words[place / 4] |= bits(i) << (EACH * (place % 4));
            i += 1;
        }
    });
    words
}

/// Ids in the whole mesh of a part's new elements, in their order.
#[derive(Default)]
pub struct Names {
    tetrahedra: Vec<u64>,
    /// Local tetrahedron that each of them is a part of.
    parents: Vec<u32>,
    /// Those of edges that owned tetrahedra have are right.
    vertices: Vec<u64>,
}

impl Names {
    /// Collective.
    fn of<P: SpacePoint>(
        ranks: &Ranks,
        on: &Device,
        part: &TetPart,
        share: &DividedShare<P>,
    ) -> Result<Self> {
        let (n, new) = (part.len(), share.tetrahedra as usize);
        let children = ranks.agree(share.children(on).map_err(Fault::from))?;
        let (divided, slots, uses) = (&children.divided, &children.slots, &share.uses);
        let end = |i: usize| slots.get(i + 1).map_or(new, |&slot| slot as usize);
        let added = |i: usize| (1 << (end(i) - slots[i] as usize)) - 1;
        let added = eights(n, divided.len(), |i| divided[i] as usize, added);
        let tetrahedron = |i: usize| uses[i] as usize / 6;
        let first = eights(n, uses.len(), tetrahedron, |i| 1 << (uses[i] % 6));
        let (total, id) = (part.counts.tetrahedra, |t: usize| part.cells.get(t));
        let kinds = [&added[..], &first];
        let sums = Sums::count(ranks, total, &part.owners, id, EACH, kinds);
        let before = sums.before(n);

        let parent = |new: usize| slots.partition_point(|&slot| slot as usize <= new) - 1;
        let tetrahedra = parallel::collect(new, |new| {
            let i = parent(new);
            let of_parent = new - slots[i] as usize;
            part.counts.tetrahedra + before[divided[i] as usize][0] + of_parent as u64
        });
        // Midpoints before those of each tetrahedron, and which of its edges it is the first to use: ghosts' are their owners'.
        let of_tetrahedron = |t: usize| first[t / 4] >> (EACH * (t % 4)) & 0xff;
        let mut known =
            parallel::collect(n, |t| before[t][1] << EACH | u64::from(of_tetrahedron(t)));
        part.halo.update_all(ranks, &mut known);
        let vertices = parallel::map(uses, |&usage| {
            let known = known[usage as usize / 6];
            let before = known & ((1 << (usage % 6)) - 1);
            part.counts.vertices + (known >> EACH) + u64::from(before.count_ones())
        });
        Ok(Self {
            tetrahedra,
            parents: parallel::collect(new, |new| divided[parent(new)]),
            vertices,
        })
    }

    /// Id of a tetrahedron behind the level.
    fn tetrahedron(&self, part: &TetPart, t: usize) -> u64 {
        match t.checked_sub(part.len()) {
            None => part.cells.get(t),
            Some(new) => self.tetrahedra[new],
        }
    }

    /// Id of a vertex behind the level.
    fn vertex(&self, part: &TetPart, v: usize) -> u64 {
        match v.checked_sub(part.vertices.len()) {
            None => part.vertices.get(v),
            Some(new) => self.vertices[new],
        }
    }
}

impl<P: SpacePoint> Divided<P> {
    /// What this rank owns of `part` behind the level; and, if that is asked for, its new vertices and the ends of the edges whose midpoints they
    /// are. Collective.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn into_owned(
        self,
        ranks: &Ranks,
        on: &Device,
        part: &TetPart,
        record: bool,
    ) -> Result<(OwnedTets<P>, Vec<[u64; 3]>)> {
        ranks.phase("pieces");
        let share = self.0;
        let names = Names::of(ranks, on, part, &share)?;
        let pieces = ranks.agree(share.download(on).map_err(Fault::from))?;
        let owned = owned_bits(&part.owners, ranks.rank(), 1);
        let recorded = if record { share.uses.len() } else { 0 };
        let ends = parallel::filter_collect(recorded, |i| {
            let [a, b] = pieces.ends[i].map(|v| names.vertex(part, v as usize));
            let is_first = contains(&owned, share.uses[i] as usize / 6);
            is_first.then(|| [names.vertices[i], a, b])
        });
        drop(share);
        let owned = OwnedTets {
            faces: faces(ranks, part, &names, &pieces),
            cells: cells(&owned, part, &names, pieces),
        };
        Ok((owned, ends))
    }
}

/// What a rank owns of the input. Collective.
///
/// # Errors
/// Errors of the device.
pub fn owned_of_input<P: SpacePoint>(
    ranks: &Ranks,
    on: &Device,
    part: &TetPart,
    share: &Share<P>,
) -> Result<OwnedTets<P>> {
    let pieces = ranks.agree(share.download(on).map_err(Fault::from))?;
    let owned = owned_bits(&part.owners, ranks.rank(), 1);
    Ok(OwnedTets {
        faces: part.faces.clone(),
        cells: cells(&owned, part, &Names::default(), pieces),
    })
}

/// The owned tetrahedra behind a level: a part of a tetrahedron is its owner's.
fn cells<P: SpacePoint>(
    owned: &[u32],
    part: &TetPart,
    names: &Names,
    pieces: SharePieces<P>,
) -> Owned<P> {
    let n = part.len();
    let mine = parallel::filter_collect(pieces.tetrahedra.len(), |t| {
        (t >= n || contains(owned, t)).then_some(t as u32)
    });
    let is_used = parallel::collect(pieces.points.len(), |_| AtomicBool::new(false));
    let mut words = parallel::zeroed(STRIDE * mine.len());
    parallel::for_chunks_mut(&mut words, STRIDE, |i, row| {
        let t = mine[i] as usize;
        let parent = t
            .checked_sub(n)
            .map_or(t, |new| names.parents[new] as usize);
        row[0] = names.tetrahedron(part, t);
        for (corner, &v) in row[1..].iter_mut().zip(&pieces.tetrahedra[t]) {
            is_used[v as usize].store(true, Relaxed);
            *corner = names.vertex(part, v as usize);
        }
        row[STRIDE - 1] = part.ancestor(parent);
    });
    let stride = STRIDE;
    Owned::of(Rows { words, stride }, 4, &is_used, |v| {
        (names.vertex(part, v), pieces.points[v])
    })
}

/// This rank's tagged triangles behind a level. Collective.
fn faces<P: SpacePoint>(
    ranks: &Ranks,
    part: &TetPart,
    names: &Names,
    pieces: &SharePieces<P>,
) -> Vec<Face> {
    if part.counts.faces == 0 {
        return Vec::new();
    }
    let (n, parents) = (part.faces.len(), &pieces.face_parents);
    // New ones stand in the order of their parents.
    let of_parent = |f: usize| {
        let first = parents[n..].partition_point(|&parent| parent < parents[f]);
        f - n - first
    };
    let mut added = vec![0; n.div_ceil(4)];
    for f in n..parents.len() {
        let parent = parents[f] as usize;
        added[parent / 4] |= 1 << (EACH * (parent % 4) + of_parent(f));
    }
    let owners = Owners::of(&vec![ranks.rank() as u32; n]);
    let (total, id) = (part.counts.faces, |f: usize| part.faces[f][0]);
    let sums = Sums::count(ranks, total, &owners, id, EACH, [&added, &[]]);
    let before = sums.before(n);
    parallel::collect(parents.len(), |f| {
        let parent = parents[f] as usize;
        let id = match f < n {
            true => part.faces[f][0],
            false => part.counts.faces + before[parent][0] + of_parent(f) as u64,
        };
        let [a, b, c] = pieces.faces[f].map(|v| names.vertex(part, v as usize));
        [id, a, b, c, part.faces[parent][4]]
    })
}
