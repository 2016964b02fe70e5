//! A round on ranks: the edges to divide, the numbers of the new elements, and the part after it.

use rayon::slice::ParallelSliceMut;
use trioxide::Device;
use trioxide::half_edges::AnyPoint;
use trioxide::ids::Triangle;
use trioxide::marking::{CheckedMarking, ShareNames};
use trioxide::refine::{DividedShare, EdgeShare, End, ShareSides};
use trioxide_mesh::bit_set::contains;
use trioxide_mesh::parallel;

use super::part::{EdgePart, Edges, three, too_large};
use super::{Elements, Options, Round};
use crate::fault::Result;
use crate::halo::HaloEdges;
use crate::ids::{Owners, Piece, Runs};
use crate::numbers::Sums;
use crate::part::owned_bits;
use crate::transport::Ranks;

/// The outcome of a round.
pub enum Outcome<P> {
    /// It divides nothing, for this reason.
    Ended(End, Box<EdgeShare<P>>),
    /// It divides edges.
    Done(Box<Done<P>>),
}

/// The result of a round that divides edges.
pub struct Done<P> {
    /// The part's pieces.
    pub divided: Divided<P>,
    /// Elements of the whole mesh.
    pub counts: Elements,
    /// The origins of this rank's new elements, if they are asked for.
    pub record: Round,
    /// Number of exchanges of divided edges.
    pub exchanges: u64,
    /// The first triangle of this rank's part that came out degenerate.
    pub degenerate: Option<u64>,
}

/// A part's pieces on the device, and the numbers of the new elements.
pub struct Divided<P> {
    share: DividedShare<P>,
    sides: ShareSides,
    numbers: Numbers,
    /// Ids of the new elements, if something needed them before.
    names: Option<Names>,
}

impl<P: AnyPoint> Divided<P> {
    /// Advances `part` past this round, after which the whole mesh has these `counts`; returns the part on the device.
    /// Collective.
    pub fn named(self, ranks: &Ranks, part: &mut EdgePart, counts: Elements) -> DividedShare<P> {
        ranks.phase("numbers");
        let names = self.names;
        let names =
            names.unwrap_or_else(|| Names::of(ranks, part, &self.sides, &self.numbers, false));
        let n = part.len();
        // New triangles have the order of their parents.
        let new = |t: u32| {
            let before = |t: u32| n + names.parents.partition_point(|&parent| parent < t);
            before(t) as u32..before(t + 1) as u32
        };
        part.halo = part.halo.with_parts(new);
        part.owners = part.owners.with_parts(&names.parents);
        part.ancestors.extend(names.parents);
        part.triangles.push(names.triangles);
        part.vertices.push(names.vertices);
        part.dividers.extend(&names.dividers);
        if let Edges::Named(ids) = &mut part.edges {
            ids.push(names.edges);
        }
        part.counts = counts;
        self.share
    }
}

/// The round with this number, from 0; `share` is the part on the device. Collective.
pub fn round<P: AnyPoint>(
    ranks: &Ranks,
    on: &Device,
    part: &mut EdgePart,
    mut share: EdgeShare<P>,
    options: &Options,
    marking: &CheckedMarking<Triangle>,
    round: usize,
) -> Result<Outcome<P>> {
    ranks.phase("refine");
    let named = if marking.needs_names() { part.len() } else { 0 };
    let names = ShareNames {
        ids: &parallel::collect(named, |t| part.triangles.get(t)),
        ancestors: &parallel::collect(named, |t| part.ancestors.get(t)),
        round,
    };
    let is_marked = ranks.agree(share.mark(on, marking, &names))?;
    if !ranks.any(is_marked) {
        return Ok(Outcome::Ended(End::NothingMarked, Box::new(share)));
    }
    let exchanges = propagate(ranks, on, part, &mut share)?;
    ranks.phase("numbers");
    let sides = ranks.agree(share.count(on))?;
    let numbers = Numbers::count(ranks, part, &sides);
    let counts = numbers.after(part.counts);
    if options
        .max_triangles
        .is_some_and(|most| counts.triangles > most)
    {
        return Ok(Outcome::Ended(End::MaxTriangles, Box::new(share)));
    }
    ranks.phase("refine");
    let share = ranks.agree(share.divide(on).map_err(|error| too_large(ranks, error)))?;
    let has_degenerate = ranks.any(share.degenerate.is_some());
    let names = (has_degenerate || options.record).then(|| {
        part.name_edges(ranks);
        Names::of(ranks, part, &sides, &numbers, options.record)
    });
    let degenerate = match (&names, share.degenerate) {
        (Some(names), Some(t)) => Some(names.triangle(part, t as usize)),
        _ => None,
    };
    let record = match names.as_ref().filter(|_| options.record) {
        Some(names) => ranks.agree(record_of(ranks, on, part, names, &share))?,
        None => Round::default(),
    };
    Ok(Outcome::Done(Box::new(Done {
        counts,
        record,
        exchanges,
        degenerate,
        divided: Divided {
            share,
            sides,
            numbers,
            names,
        },
    })))
}

/// Finds the edges that any rank divides ([`HaloEdges::spread`]). Collective.
fn propagate<P: AnyPoint>(
    ranks: &Ranks,
    on: &Device,
    part: &EdgePart,
    share: &mut EdgeShare<P>,
) -> Result<u64> {
    let divided = ranks.agree(share.divided(on))?;
    let edges = HaloEdges::of(&part.halo, 3, |triangles| {
        let half_edges: Vec<u32> = triangles.iter().flat_map(|&t| 3 * t..3 * t + 3).collect();
        let sides = share.sides_of(on, &half_edges)?;
        Ok(sides.into_iter().map(|side| side >> 1).collect())
    });
    let edges = ranks.agree(edges)?;
    edges.spread(ranks, &part.halo, divided, |found| {
        share.follow(on, found)?;
        share.divided(on)
    })
}

/// The number of divided sides before each triangle in the whole mesh, and of divided sides that own their edge.
struct Numbers(Sums);

impl Numbers {
    /// Elements the divided sides of owned triangles. Collective.
    fn count(ranks: &Ranks, part: &EdgePart, sides: &ShareSides) -> Self {
        let (total, id) = (part.counts.triangles, |t: usize| part.triangles.get(t));
        let kinds = [&sides.divided[..], &sides.owned];
        Self(Sums::count(ranks, total, &part.owners, id, 3, kinds))
    }

    fn after(&self, counts: Elements) -> Elements {
        let [sides, edges] = self.0.totals;
        Elements {
            vertices: counts.vertices + edges,
            edges: counts.edges + sides + edges,
            triangles: counts.triangles + sides,
        }
    }
}

/// Ids in the whole mesh of a part's new elements, in their order, also of the parts of ghosts. A ghost without a
/// neighbour may own an edge only here: the new vertex in it has no id, and no owned triangle has it.
#[derive(Default)]
struct Names<T = Piece> {
    triangles: T,
    /// Local triangle that each of them is a part of.
    parents: Vec<u32>,
    vertices: T,
    /// For each new vertex, the owner of the triangle that owns the divided edge.
    dividers: Owners,
    /// The local id of that triangle, if it is asked for.
    divided_by: Vec<u32>,
    /// Empty where edges have no ids.
    edges: T,
}

/// No id of the whole mesh.
const BEYOND: u64 = u64::MAX;

/// Triangles whose new elements a thread names at a time.
const PIECE: usize = 1 << 14;

impl Names {
    /// `record` asks for the triangles that own divided edges. Collective.
    fn of(
        ranks: &Ranks,
        part: &EdgePart,
        sides: &ShareSides,
        numbers: &Numbers,
        record: bool,
    ) -> Self {
        // For each triangle the number of divided sides before it; and the number of these that own their edge, with a
        // bit for each side of the triangle that owns its edge.
        let known = |t: usize, [n, m]: [u64; 2]| [n, m << 3 | three(&sides.owned, t)];
        let of_owned = |&t: &u32| known(t as usize, numbers.0.before_cell(t as usize));
        let of_ghosts = part.halo.take(ranks, of_owned);
        let ghosts = part.halo.ghosts();
        let mut of_ghosts = parallel::collect(ghosts.len(), |i| (ghosts[i] as usize, of_ghosts[i]));
        of_ghosts.par_sort_unstable();
        let pieces = parallel::map_pieces(part.len(), PIECE, |range| {
            let mut names = Names::<Runs>::default();
            let first = of_ghosts.partition_point(|ghost| ghost.0 < range.start);
            let mut of_ghosts = of_ghosts[first..].iter().peekable();
            let mut owners = part.owners.of_range(range.clone());
            numbers.0.for_each(range, |t, before| {
                let of_owner = of_ghosts.next_if(|ghost| ghost.0 == t);
                let known = of_owner.map_or_else(|| known(t, before), |ghost| ghost.1);
                let vertices = names.vertices.len();
                names.push(part, sides, t, known, record);
                let owner = owners.next().expect("each has an owner");
                names.dividers.push(names.vertices.len() - vertices, owner);
            });
            names
        });
        let (mut triangles, mut parents) = (Vec::new(), Vec::new());
        let (mut vertices, mut divided_by, mut edges) = (Vec::new(), Vec::new(), Vec::new());
        let mut dividers = Owners::default();
        for names in pieces {
            triangles.push(names.triangles);
            parents.push(names.parents);
            vertices.push(names.vertices);
            dividers.extend(&names.dividers);
            divided_by.push(names.divided_by);
            edges.push(names.edges);
        }
        Self {
            triangles: Piece::concat(triangles),
            parents: parallel::concat(parents),
            vertices: Piece::concat(vertices),
            dividers,
            divided_by: parallel::concat(divided_by),
            edges: Piece::concat(edges),
        }
    }

    /// Id of a triangle after the round.
    fn triangle(&self, part: &EdgePart, t: usize) -> u64 {
        match t.checked_sub(part.len()) {
            None => part.triangles.get(t),
            Some(new) => self.triangles.get(new),
        }
    }
}

impl Names<Runs> {
    /// Gives ids to the new elements of triangle `t`: n divided sides are before it, of which m own their edge. The
    /// lowest three bits of `known` say which of its own sides do.
    fn push(
        &mut self,
        part: &EdgePart,
        sides: &ShareSides,
        t: usize,
        [mut n, known]: [u64; 2],
        record: bool,
    ) {
        let (counts, has_edges) = (part.counts, matches!(part.edges, Edges::Named(_)));
        let divided = three(&sides.divided, t);
        let mut m = known >> 3;
        for k in (0..3).filter(|k| divided >> k & 1 != 0) {
            let owns = known >> k & 1 != 0;
            let edge = counts.edges + n + m;
            self.triangles.push(counts.triangles + n);
            self.parents.push(t as u32);
            if has_edges {
                self.edges.push(edge);
            }
            if contains(&sides.owned, 3 * t + k) {
                let named = |id| if owns { id } else { BEYOND };
                if has_edges {
                    self.edges.push(named(edge + 1));
                }
                self.vertices.push(named(counts.vertices + m));
                if record {
                    self.divided_by.push(t as u32);
                }
            }
            n += 1;
            m += u64::from(owns);
        }
    }
}

/// The origins of the owned triangles' new elements.
fn record_of<P: AnyPoint>(
    ranks: &Ranks,
    on: &Device,
    part: &EdgePart,
    names: &Names,
    share: &DividedShare<P>,
) -> Result<Round> {
    let owned = owned_bits(&part.owners, ranks.rank(), 1);
    let is_own = |t: u32| contains(&owned, t as usize);
    let origins = share.origins(on, names.vertices.len())?;
    let vertex = |i: usize| {
        let (edge, ends) = origins[i];
        let [start, end] = ends.map(|v| part.vertices.get(v as usize));
        let id = names.vertices.get(i);
        is_own(names.divided_by[i]).then(|| [id, part.edge(edge), start, end])
    };
    let triangle = |i: usize| {
        let parent = names.parents[i];
        let id = names.triangles.get(i);
        is_own(parent).then(|| [id, part.triangles.get(parent as usize)])
    };
    Ok(Round {
        vertices: parallel::filter_collect(names.vertices.len(), vertex),
        triangles: parallel::filter_collect(names.triangles.len(), triangle),
    })
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
    use trioxide::generate;
    use trioxide::marking::Marking;

    /// Else a ghost has other pieces than in the mesh, and a degenerate one has a wrong number.
    #[test]
    fn ghosts_have_the_divided_sides_of_their_owners() {
        let mesh = generate::random(&Device::cpu(None).unwrap(), 400, 7).unwrap();
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
                let part = EdgePart::of_input::<DVec2>(&ranks, &on, &block, part);
                let (part, mut share, _) = part.unwrap();
                let ids: Vec<u64> = (0..part.len()).map(|t| part.triangles.get(t)).collect();
                let names = ShareNames {
                    ids: &ids,
                    ancestors: &ids,
                    round: 0,
                };
                let marking = Marking::Fraction(0.01);
                let marking = marking.of_triangles(seed, mesh.triangles.len()).unwrap();
                share.mark(&on, &marking, &names).unwrap();
                propagate(&ranks, &on, &part, &mut share).unwrap();
                let sides = share.count(&on).unwrap();
                let here: Vec<u64> = (0..part.len()).map(|t| three(&sides.divided, t)).collect();
                let mut of_owners = here.clone();
                part.halo.update(&ranks, &mut of_owners);
                assert_eq!(here, of_owners, "seed {seed}, {size} ranks");
                here.iter().filter(|&&flags| flags != 0).count()
            });
            assert!(checked.into_iter().sum::<usize>() > 0);
        }
    }
}
