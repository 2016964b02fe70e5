//! A round on ranks: the edges to divide, the numbers of the new elements, and the triangles that a rank then owns.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use trioxide::Device;
use trioxide::half_edges::AnyPoint;
use trioxide::refine::{DividedShare, End, Marking, Share, ShareNames, SharePieces, ShareSides};
use trioxide_mesh::bit_set::contains;
use trioxide_mesh::parallel;

use super::part::{EdgePart, is_own, three, too_large};
use super::rows::{corners, set_row, sides};
use super::{Counts, Options, Round};
use crate::fault::{Fault, Result};
use crate::halo_edges::HaloEdges;
use crate::numbers::Sums;
use crate::owned::Owned;
use crate::ownership::Position;
use crate::rows::Rows;
use crate::transport::{Ranks, Reduction};

/// What a round does.
pub enum Outcome<P> {
    /// Nothing, for this reason.
    Ended(End),
    /// It divides edges.
    Done(Box<Done<P>>),
}

/// What a round leaves.
pub struct Done<P> {
    /// The part's pieces.
    pub divided: Divided<P>,
    /// Elements of the whole mesh.
    pub counts: Counts,
    /// Where this rank's new elements come from, if that is asked for.
    pub record: Round,
    /// How often the ranks told each other edges to divide.
    pub exchanges: u64,
    /// The first triangle of this rank's part that came out degenerate.
    pub degenerate: Option<u64>,
}

/// A part's pieces on the device, and the numbers of the new elements.
pub struct Divided<P> {
    share: DividedShare<P>,
    sides: ShareSides,
    numbers: Numbers,
}

impl<P: AnyPoint> Divided<P>
where
    P::Double: Position,
{
    /// The triangles of `part` that this rank owns after the round. Collective.
    pub fn into_owned(self, ranks: &Ranks, on: &Device, mut part: EdgePart<P>) -> Result<Owned<P>> {
        ranks.phase("pieces");
        let pieces = ranks.agree(self.share.download(on).map_err(Fault::from))?;
        part.name(ranks, on)?;
        ranks.phase("pieces");
        let names = Names::of(&part, &self.sides, &self.numbers.of_all(ranks, &part));
        Ok(owned(&part, ranks.rank(), &names, pieces))
    }
}

/// The round with this number, from 0; `share` is the part on the device. Collective.
pub fn round<P: AnyPoint>(
    ranks: &Ranks,
    on: &Device,
    part: &mut EdgePart<P>,
    mut share: Share<P>,
    options: &Options,
    round: usize,
) -> Result<Outcome<P>>
where
    P::Double: Position,
{
    ranks.phase("refine");
    // Other markings do not go by names.
    let is_named = matches!(
        options.marking,
        Marking::Fraction { .. } | Marking::Triangles(_)
    );
    let named = if is_named { part.len() } else { 0 };
    let names = ShareNames {
        ids: &parallel::collect(named, |t| part.id(t)),
        ancestors: &parallel::collect(named, |t| part.ancestor(t)),
        round,
    };
    let is_marked = share.mark(on, &options.marking, &names);
    let is_marked = ranks.agree(is_marked.map_err(Fault::from))?;
    if ranks.reduce(u64::from(is_marked), Reduction::Or) == 0 {
        return Ok(Outcome::Ended(End::NothingMarked));
    }
    let exchanges = propagate(ranks, on, part, &mut share)?;
    ranks.phase("numbers");
    let sides = ranks.agree(share.count(on).map_err(Fault::from))?;
    let numbers = Numbers::count(ranks, part, &sides);
    let counts = numbers.after(part.counts);
    if options
        .max_triangles
        .is_some_and(|most| counts.triangles > most)
    {
        return Ok(Outcome::Ended(End::MaxTriangles));
    }
    ranks.phase("refine");
    let share = share.divide(on).map_err(|error| too_large(ranks, error));
    let share = ranks.agree(share)?;
    let is_degenerate = u64::from(share.degenerate.is_some());
    let degenerate = match ranks.reduce(is_degenerate, Reduction::Or) {
        0 => None,
        _ => {
            part.name(ranks, on)?;
            let names = Names::of(part, &sides, &numbers.of_all(ranks, part));
            let name = |t: u32| names.triangle(part, t as usize);
            share.degenerate.map(name)
        }
    };
    let mut record = Round::default();
    if options.record {
        part.name(ranks, on)?;
        record = record_of(ranks, part, &sides, &numbers);
    }
    Ok(Outcome::Done(Box::new(Done {
        counts,
        record,
        exchanges,
        degenerate,
        divided: Divided {
            share,
            sides,
            numbers,
        },
    })))
}

/// Finds the edges that any rank divides ([`HaloEdges::spread`]). Collective.
fn propagate<P: AnyPoint>(
    ranks: &Ranks,
    on: &Device,
    part: &EdgePart<P>,
    share: &mut Share<P>,
) -> Result<u64> {
    let divided = ranks.agree(share.divided(on).map_err(Fault::from))?;
    let edges = HaloEdges::of(&part.halo, 3, |triangles| {
        let half_edges: Vec<u32> = triangles.iter().flat_map(|&t| 3 * t..3 * t + 3).collect();
        let sides = share.sides_of(on, &half_edges)?;
        Ok(sides.into_iter().map(|side| side >> 1).collect())
    });
    let edges = ranks.agree(edges.map_err(Fault::from))?;
    edges.spread(ranks, &part.halo, divided, |divided, found| {
        share.follow(on, divided, found)?;
        share.divided(on)
    })
}

/// How many divided sides, and divided sides that own their edge, lie before each triangle in the whole mesh.
struct Numbers(Sums);

impl Numbers {
    /// Collective.
    fn count<P: AnyPoint>(ranks: &Ranks, part: &EdgePart<P>, sides: &ShareSides) -> Self
    where
        P::Double: Position,
    {
        let (total, id) = (part.counts.triangles, |t: usize| part.id(t));
        let kinds = [&sides.divided[..], &sides.owned];
        Self(Sums::count(ranks, total, &part.owners, id, 3, kinds))
    }

    /// What lies before each triangle with a divided side, also before ghosts. Collective.
    fn of_all<P: AnyPoint>(&self, ranks: &Ranks, part: &EdgePart<P>) -> Vec<[u64; 2]> {
        let mut all = self.0.before(part.owners.len());
        part.halo.update_all(ranks, &mut all);
        all
    }

    fn after(&self, counts: Counts) -> Counts {
        let [sides, edges] = self.0.totals;
        Counts {
            vertices: counts.vertices + edges,
            edges: counts.edges + sides + edges,
            triangles: counts.triangles + sides,
        }
    }
}

/// Ids in the whole mesh of a part's new elements, in their order. Those beyond the ghosts have none: no owned triangle has them.
#[derive(Default)]
struct Names {
    triangles: Vec<u64>,
    /// Local triangle that each of them is a part of.
    parents: Vec<u32>,
    vertices: Vec<u64>,
    edges: Vec<u64>,
}

/// No id of the whole mesh.
const BEYOND: u64 = u64::MAX;

/// Triangles whose new elements a thread names at a time.
const PIECE: usize = 1 << 14;

impl Names {
    /// `before` is of all triangles ([`Numbers::of_all`]).
    fn of<P: AnyPoint>(part: &EdgePart<P>, sides: &ShareSides, before: &[[u64; 2]]) -> Self
    where
        P::Double: Position,
    {
        let pieces = parallel::map_pieces(part.len(), PIECE, |range| {
            let mut names = Self::default();
            range.for_each(|t| names.push(part, sides, t, before[t]));
            names
        });
        let (mut triangles, mut parents) = (Vec::new(), Vec::new());
        let (mut vertices, mut edges) = (Vec::new(), Vec::new());
        for names in pieces {
            triangles.push(names.triangles);
            parents.push(names.parents);
            vertices.push(names.vertices);
            edges.push(names.edges);
        }
        Self {
            triangles: parallel::concat(triangles),
            parents: parallel::concat(parents),
            vertices: parallel::concat(vertices),
            edges: parallel::concat(edges),
        }
    }

    /// Names the new elements of triangle `t`, before which n divided sides lie and m that own their edge.
    fn push<P: AnyPoint>(
        &mut self,
        part: &EdgePart<P>,
        of_part: &ShareSides,
        t: usize,
        [n, m]: [u64; 2],
    ) where
        P::Double: Position,
    {
        let divided = three(&of_part.divided, t);
        if divided == 0 {
            return;
        }
        let (counts, mut n, mut m) = (part.counts, n, m);
        let sides = sides(part.named().rows.get(t));
        for k in (0..3).filter(|k| divided >> k & 1 != 0) {
            let owns = sides[k] & 1 == 0;
            let edge = counts.edges + n + m;
            self.triangles.push(counts.triangles + n);
            self.parents.push(t as u32);
            self.edges.push(edge);
            if contains(&of_part.owned, 3 * t + k) {
                let named = |id| if owns { id } else { BEYOND };
                self.edges.push(named(edge + 1));
                self.vertices.push(named(counts.vertices + m));
            }
            n += 1;
            m += u64::from(owns);
        }
    }

    /// Id of a triangle after the round.
    fn triangle<P: AnyPoint>(&self, part: &EdgePart<P>, t: usize) -> u64
    where
        P::Double: Position,
    {
        match t.checked_sub(part.len()) {
            None => part.id(t),
            Some(new) => self.triangles[new],
        }
    }

    fn vertex<P: AnyPoint>(&self, part: &EdgePart<P>, v: usize) -> u64 {
        match v.checked_sub(part.vertices.len()) {
            None => part.vertices.get(v),
            Some(new) => self.vertices[new],
        }
    }

    /// A side by the id of its edge; `old` are those of before the round.
    fn side(&self, old: &[u64], side: u32) -> u64 {
        let e = side as usize / 2;
        let edge = match e.checked_sub(old.len()) {
            None => old[e],
            Some(new) => self.edges[new],
        };
        2 * edge + u64::from(side & 1)
    }
}

/// The owned triangles after the round: a part of a triangle is its owner's.
fn owned<P: AnyPoint>(
    part: &EdgePart<P>,
    me: usize,
    names: &Names,
    pieces: SharePieces<P>,
) -> Owned<P>
where
    P::Double: Position,
{
    let (is_own, named) = (is_own(&part.owners, me), part.named());
    let parent = |t: usize| match t.checked_sub(part.len()) {
        None => t,
        Some(new) => names.parents[new] as usize,
    };
    let mine = parallel::filter_collect(pieces.corners.len() / 3, |t| {
        is_own[parent(t)].then_some(t as u32)
    });
    let is_used = parallel::collect(pieces.points.len(), |_| AtomicBool::new(false));
    let stride = named.rows.stride;
    let mut words = parallel::zeroed(stride * mine.len());
    parallel::for_chunks_mut(&mut words, stride, |i, row| {
        let t = mine[i] as usize;
        let (corners, sides) = (&pieces.corners[3 * t..][..3], &pieces.sides[3 * t..][..3]);
        for &v in corners {
            is_used[v as usize].store(true, Relaxed);
        }
        let corner = |k: usize| names.vertex(part, corners[k] as usize);
        let side = |k: usize| names.side(&named.edges, sides[k]);
        let tag = |k: usize| pieces.tags.get(sides[k] as usize / 2).copied();
        set_row(
            row,
            names.triangle(part, t),
            [0, 1, 2].map(corner),
            [0, 1, 2].map(side),
            part.ancestor(parent(t)),
            [0, 1, 2].map(|k| tag(k).unwrap_or(0).into()),
        );
    });
    Owned::of(Rows { words, stride }, 3, &is_used, |v| {
        (names.vertex(part, v), pieces.points[v])
    })
}

/// Where the new elements of the owned triangles come from.
fn record_of<P: AnyPoint>(
    ranks: &Ranks,
    part: &EdgePart<P>,
    of_part: &ShareSides,
    numbers: &Numbers,
) -> Round
where
    P::Double: Position,
{
    let mut record = Round::default();
    let before = numbers.0.before(part.len());
    for t in part.owners.of_rank(ranks.rank() as u32).flatten() {
        let (row, [mut n, mut m]) = (part.named().rows.get(t), before[t]);
        let divided = three(&of_part.divided, t);
        for k in (0..3).filter(|k| divided >> k & 1 != 0) {
            record.triangles.push([part.counts.triangles + n, row[0]]);
            if sides(row)[k] & 1 == 0 {
                let (edge, corners) = (sides(row)[k] >> 1, corners(row));
                let ends = [corners[k], corners[(k + 1) % 3]];
                let vertex = part.counts.vertices + m;
                record.vertices.push([vertex, edge, ends[0], ends[1]]);
                m += 1;
            }
            n += 1;
        }
    }
    record
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::block::Block;
    use crate::ownership::Ownership;
    use crate::part::Part;
    use crate::threads::run;
    use glam::DVec2;

    /// Else the pieces of a ghost are not those of the mesh, and one that is degenerate has a wrong number.
    #[test]
    fn ghosts_have_the_divided_sides_of_their_owners() {
        let mesh = trioxide_generate::random(400, 7).unwrap();
        for seed in 0..12_u64 {
            let size = 3 + seed as usize % 5;
            let mixed = move |id: u64| (id ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
            let owner = move |id: u64| mixed(id) as usize % size;
            let checked = run(size, |transport| {
                let ranks = Ranks::new(transport);
                let on = Device::cpu(Some(1)).unwrap();
                let block = Block::of(&mesh, ranks.rank(), size);
                let ownership = Ownership::Given(Arc::new(owner));
                let part = Part::without_segments(&ranks, &block, &ownership).unwrap();
                let part = EdgePart::<DVec2>::of_input(&ranks, &on, &block, part);
                let (part, mut share, _) = part.unwrap();
                let ids: Vec<u64> = (0..part.len()).map(|t| part.id(t)).collect();
                let names = ShareNames {
                    ids: &ids,
                    ancestors: &ids,
                    round: 0,
                };
                let marking = Marking::Fraction {
                    fraction: 0.01,
                    seed,
                };
                share.mark(&on, &marking, &names).unwrap();
                propagate(&ranks, &on, &part, &mut share).unwrap();
                let sides = share.count(&on).unwrap();
                let here: Vec<u64> = (0..part.len()).map(|t| three(&sides.divided, t)).collect();
                let mut of_owners = here.clone();
                part.halo.update_all(&ranks, &mut of_owners);
                assert_eq!(here, of_owners, "seed {seed}, {size} ranks");
                here.iter().filter(|&&flags| flags != 0).count()
            });
            assert!(checked.into_iter().sum::<usize>() > 0);
        }
    }
}
