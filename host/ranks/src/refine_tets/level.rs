//! A level on ranks: the edges to divide, the numbers of the new elements, and what a rank then owns.

use trioxide::Device;
use trioxide::refine_tets::{
    DividedEdges, DividedShare, Error, MarkedShare, Marking, ShareChildren, ShareNames, SpacePoint,
    TetShare,
};
use trioxide_mesh::bit_set::contains;
use trioxide_mesh::parallel;

use super::numbers::{Numbers, children_of, faces};
use super::part::{OR_LESS, TetPart};
use super::{Counts, Level, Options};
use crate::fault::{Fault, Result};
use crate::halo_edges::HaloEdges;
use crate::part::owned_bits;
use crate::tets::too_large;
use crate::transport::{Ranks, Reduction};

/// A part on the device behind a level.
pub struct Divided<P> {
    pub share: DividedShare<P>,
    /// The divided tetrahedra; where nothing has asked for them, none. Else ghosts are divided too.
    pub children: Option<ShareChildren>,
}

/// What a level leaves.
pub struct Done<P> {
    /// The part's pieces.
    pub divided: Divided<P>,
    /// Elements of the whole mesh.
    pub counts: Counts,
    /// Counts of the level.
    pub level: Level,
}

/// The level with this number, from 0; `share` is the part on the device. Of the last level ghosts are not divided.
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
        ancestors: &parallel::collect(named, |t| part.ancestors.get(t)),
        level: number,
    };
    let share = share.mark(on, &options.marking, &names);
    let mut share = ranks.agree(share.map_err(Fault::from))?;
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
    let counts = Counts {
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
        let mut orders = ranks.agree(share.orders(on).map_err(Fault::from))?;
        part.halo.update_all(ranks, &mut orders);
        ranks.agree(share.set_orders(on, &orders).map_err(Fault::from))?;
    }
    ranks.phase("refine");
    let marked = share.close(on, by).and_then(|()| share.marked(on));
    let marked = ranks.agree(marked.map_err(Fault::from))?;
    let edges = HaloEdges::of(&part.halo, 6, |cells| share.edges_of(on, cells));
    let edges = ranks.agree(edges.map_err(Fault::from))?;
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
    if ranks.reduce(u64::from(broken.is_some()), Reduction::Or) == 0 {
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
    /// Of `owned` tetrahedra, a bit each: divided edges that they use first, divided ones, new ones, and new tagged
    /// triangles.
    fn totals(&self, owned: &[u32]) -> [u64; 4] {
        let Self { share, children } = self;
        let is_first = |i: usize| contains(owned, share.uses[i] as usize / 6);
        let (divided, new) = match children {
            None => (share.divided.into(), share.tetrahedra.into()),
            Some(children) => {
                let is_own = |i: usize| contains(owned, children.divided[i] as usize);
                let new = share.tetrahedra as usize;
                let of_pieces =
                    parallel::map_pieces(children.divided.len(), parallel::GRAIN, |range| {
                        let own = range.filter(|&i| is_own(i));
                        own.fold([0, 0], |[divided, added], i| {
                            [
                                divided + 1,
                                added + children_of(children, new, i).len() as u64,
                            ]
                        })
                    });
                let sum = |k: usize| {
                    of_pieces
                        .iter()
                        .map(|of_piece: &[u64; 2]| of_piece[k])
                        .sum()
                };
                (sum(0), sum(1))
            }
        };
        let edges = parallel::count(share.uses.len(), is_first) as u64;
        [edges, divided, new, share.faces.into()]
    }

    /// Makes of `part` the one behind the level, with these `counts` of the whole mesh; gives what of it is on the
    /// device; and, if that is asked for, the new vertices of this rank, and the ends of the edges whose midpoints they
    /// are. Collective.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn next(
        self,
        ranks: &Ranks,
        on: &Device,
        part: &mut TetPart,
        counts: Counts,
        record: bool,
    ) -> Result<(TetShare<P>, Vec<[u64; 3]>)> {
        ranks.phase("numbers");
        let has_ghosts = self.children.is_some();
        let (share, children) = (self.share, self.children);
        let numbers = Numbers::of(ranks, on, part, &share, children)?;
        let ends = if record {
            share.ends(on)
        } else {
            Ok(Vec::new())
        };
        let of_device = ends.and_then(|ends| Ok((ends, share.face_parents(on)?)));
        let (ends, face_parents) = ranks.agree(of_device.map_err(Fault::from))?;
        let owned = owned_bits(&part.owners, ranks.rank(), 1);
        let n = part.len();
        part.faces = faces(ranks, part, &face_parents);
        // Where ghosts are not divided, no level follows.
        if has_ghosts {
            let new = |t: u32| {
                let range = numbers.of_parent(t);
                (n + range.start) as u32..(n + range.end) as u32
            };
            part.halo = part.halo.with_parts(new);
        }
        part.owners = part.owners.with_parts(&numbers.parents);
        let ancestors = parallel::map(&numbers.parents, |&t| part.ancestors.get(t as usize));
        part.ancestors.extend(ancestors);
        part.cells.extend(numbers.tetrahedra);
        let first = part.vertices.len();
        part.vertices.extend(numbers.vertices);
        part.counts = counts;
        let ends = parallel::filter_collect(ends.len(), |i| {
            let vertex = |v: u32| part.vertices.get(v as usize);
            let is_first = contains(&owned, share.uses[i] as usize / 6);
            is_first.then(|| {
                [
                    vertex((first + i) as u32),
                    vertex(ends[i][0]),
                    vertex(ends[i][1]),
                ]
            })
        });
        let share = ranks.agree(share.next(on).map_err(Fault::from))?;
        Ok((share, ends))
    }
}
