//! A level on ranks: the edges to divide, the numbers of the new elements, and the part after it.

use trioxide::Device;
use trioxide::ids::Tet;
use trioxide::marking::{CheckedMarking, ShareNames};
use trioxide::refine_tets::{
    DividedEdges, DividedShare, Error, MarkedShare, ShareChildren, SpacePoint, TetShare,
};
use trioxide_mesh::bit_set::contains;
use trioxide_mesh::parallel;

use super::numbers::{Numbers, children_of, faces};
use super::part::{OR_LESS, TetPart};
use super::{Elements, Level, Options};
use crate::fault::{Fault, Result};
use crate::halo::HaloEdges;
use crate::part::owned_bits;
use crate::tets::too_large;
use crate::transport::{Ranks, Reduction};

/// A part on the device after a level.
pub struct Divided<P> {
    pub share: DividedShare<P>,
    /// The divided tetrahedra, with ghosts; `None` after the last level, where ghosts are not divided.
    pub children: Option<ShareChildren>,
}

/// The result of a level.
pub struct Done<P> {
    /// The part's pieces.
    pub divided: Divided<P>,
    /// Elements of the whole mesh.
    pub counts: Elements,
    /// Elements of the level.
    pub level: Level,
}

/// Runs the level with this number, from 0; `share` is the part on the device. The last level divides no ghosts.
/// Collective.
///
/// # Errors
/// A part with more elements than 32-bit ids name; a flat tetrahedron; errors of the device.
pub fn level<P: SpacePoint>(
    ranks: &Ranks,
    on: &Device,
    part: &TetPart,
    share: TetShare<P>,
    options: &Options,
    marking: &CheckedMarking<Tet>,
    number: u32,
) -> Result<Done<P>> {
    ranks.phase("edges");
    let named = if marking.needs_names() { part.len() } else { 0 };
    let names = ShareNames {
        ids: &parallel::collect(named, |t| part.cells.get(t)),
        ancestors: &parallel::collect(named, |t| part.ancestors.get(t)),
        round: number as usize,
    };
    let mut share = ranks.agree(share.mark(on, marking, &names))?;
    let exchanges = close(ranks, on, part, &mut share, options.edges)?;
    let owned = owned_bits(&part.owners, ranks.rank(), 1);
    let is_last = number + 1 == options.rounds;
    let all = vec![u32::MAX; if is_last { 0 } else { owned.len() }];
    let share = share.divide(on, if is_last { &owned } else { &all });
    let share = share.map_err(|error| too_large(ranks, error, OR_LESS));
    let divided = share.and_then(|share| {
        let children = share.children(on).map(Some);
        let children = if is_last { None } else { children? };
        Ok(Divided { share, children })
    });
    let divided = ranks.agree(divided)?;
    let mut totals = divided.totals(&owned);
    ranks.reduce_all(&mut totals, Reduction::Sum);
    check(ranks, on, part, &divided, number)?;
    let [divided_edges, divided_tetrahedra, new, new_faces] = totals;
    let counts = Elements {
        vertices: part.counts.vertices + divided_edges,
        tetrahedra: part.counts.tetrahedra + new,
        faces: part.counts.faces + new_faces,
    };
    Ok(Done {
        divided,
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
        let mut orders = ranks.agree(share.orders(on))?;
        part.halo.update(ranks, &mut orders);
        ranks.agree(share.set_orders(on, &orders))?;
    }
    ranks.phase("refine");
    let marked = ranks.agree(share.close(on, by).and_then(|()| share.marked(on)))?;
    let edges = ranks.agree(HaloEdges::of(&part.halo, 6, |cells| {
        share.edges_of(on, cells)
    }))?;
    edges.spread(ranks, &part.halo, marked, |found| {
        share.follow(on, found)?;
        share.marked(on)
    })
}

/// Refuses parts that break a rule, in the words of the single run. Collective.
fn check<P: SpacePoint>(
    ranks: &Ranks,
    on: &Device,
    part: &TetPart,
    divided: &Divided<P>,
    number: u32,
) -> Result<()> {
    let broken = &divided.share.broken;
    if !ranks.any(broken.is_some()) {
        return Ok(());
    }
    let children = divided.children.clone();
    let numbers = Numbers::of(ranks, on, part, &divided.share, children)?;
    ranks.agree(broken.as_ref().map_or(Ok(()), |error| {
        let level = number as usize + 1;
        let (rule, tetrahedron, said) = match *error {
            Error::TooSmall { tetrahedron, .. } => (3, tetrahedron, error.to_string()),
            Error::Inverted { tetrahedron } => {
                let error = Error::Flat { level, tetrahedron };
                (4, tetrahedron, error.to_string())
            }
            _ => (5, 0, error.to_string()),
        };
        let id = match (tetrahedron as usize).checked_sub(part.len()) {
            None => part.cells.get(tetrahedron as usize),
            Some(new) => numbers.tetrahedra[new],
        };
        let [local, whole] = [tetrahedron.into(), id].map(|id: u64| format!("tetrahedron {id} "));
        Err(Fault::of_mesh(rule, id, said.replacen(&local, &whole, 1)))
    }))
}

impl<P: SpacePoint> Divided<P> {
    /// Elements of the `owned` tetrahedra, a bit each: divided edges that they use first, divided tetrahedra, new ones,
    /// and new tagged triangles.
    fn totals(&self, owned: &[u32]) -> [u64; 4] {
        let Self { share, children } = self;
        let is_first = |i: usize| contains(owned, share.uses[i] as usize / 6);
        let (divided, new) = match children {
            None => (share.divided.into(), share.tetrahedra.into()),
            Some(children) => {
                let is_own = |i: usize| contains(owned, children.divided[i] as usize);
                let new = share.tetrahedra as usize;
                let count = children.divided.len();
                let added = parallel::map_pieces(count, parallel::GRAIN, |range| {
                    let own = range.filter(|&i| is_own(i));
                    own.map(|i| children_of(children, new, i).len())
                        .sum::<usize>()
                });
                let divided = parallel::count(count, is_own);
                (divided as u64, added.into_iter().sum::<usize>() as u64)
            }
        };
        let edges = parallel::count(share.uses.len(), is_first) as u64;
        [edges, divided, new, share.faces.into()]
    }

    /// Advances `part` past this level, after which the whole mesh has these `counts`; returns the part on the device.
    /// If `record` asks for them, also returns this rank's new vertices, each with the ends of the edge that it
    /// divides. Collective.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn next(
        self,
        ranks: &Ranks,
        on: &Device,
        part: &mut TetPart,
        counts: Elements,
        record: bool,
    ) -> Result<(TetShare<P>, Vec<[u64; 3]>)> {
        ranks.phase("numbers");
        let has_ghosts = self.children.is_some();
        let (share, children) = (self.share, self.children);
        let numbers = Numbers::of(ranks, on, part, &share, children)?;
        let ends = match record {
            true => share.ends(on),
            false => Ok(Vec::new()),
        };
        let of_device = ends.and_then(|ends| Ok((ends, share.face_parents(on)?)));
        let (ends, face_parents) = ranks.agree(of_device)?;
        let owned = owned_bits(&part.owners, ranks.rank(), 1);
        let n = part.len();
        part.faces = faces(ranks, part, &face_parents);
        // Without divided ghosts no level follows.
        if has_ghosts {
            let new = |t: u32| {
                let range = numbers.of_parent(t);
                (n + range.start) as u32..(n + range.end) as u32
            };
            part.halo = part.halo.with_parts(new);
        }
        part.owners = part.owners.with_parts(&numbers.parents);
        let ancestors = parallel::map(&numbers.parents, |&t| part.ancestors.get(t as usize));
        part.ancestors.push(ancestors);
        part.cells.push(numbers.tetrahedra);
        let first = part.vertices.len();
        part.vertices.push(numbers.vertices);
        part.counts = counts;
        let ends = parallel::filter_collect(ends.len(), |i| {
            let vertex = |v: u32| part.vertices.get(v as usize);
            let is_first = contains(&owned, share.uses[i] as usize / 6);
            is_first.then(|| [(first + i) as u32, ends[i][0], ends[i][1]].map(vertex))
        });
        let share = ranks.agree(share.next(on))?;
        Ok((share, ends))
    }
}
