//! Longest-edge bisection of tetrahedra on ranks, to the points, tetrahedra, tagged triangles and numbers of the single
//! run.
//!
//! | stage | work | data sent |
//! | --- | --- | --- |
//! | edges | the rank's device numbers the part's edges, and ghosts get the order of their edges from their owners | four bytes a ghost |
//! | refine | each rank marks and closes in its part, and sends the others the edges that it marks, until no rank has a new one; its device divides owned tetrahedra and ghosts | four bytes a marked edge of a ghost |
//! | numbers, where another level follows or a file is written | the directories of tetrahedra count new elements | four words a run of consecutive tetrahedra that divides any edge, two words a ghost |
//! | balance, where another level follows and a rank has more than two shares | tetrahedra are dealt anew along the curve, and get their ghosts | a row and four points a tetrahedron that moves, and a ghost |
//! | gather, where a file is written | points, tetrahedra and tagged triangles to rank 0 | a row each |
//!
//! Between levels the part stays on the device. At the end a ghost has its owner's marked edges, in its owner's order,
//! so each rank divides its ghosts as their owners do. The parts of ghosts are the ghosts of the next level: they are
//! all around every vertex of owned parts, and more.
//!
//! # Why the bits are the same
//!
//! The single run numbers the edges of each level by their first uses: use 6t + k is edge k of tetrahedron t. The
//! longest of equally long edges has the smallest number, and marked edges get their midpoints in this order. Local ids
//! of tetrahedra ascend with those of the whole mesh, also of tetrahedra that levels add, and all uses of an owned
//! tetrahedron's edges are in the part: so these edges have the same order. Ghosts, whose other edges may have uses
//! elsewhere, get the order of their edges from their owners. An edge is marked if any rank marks it, in any order.
//!
//! If n new tetrahedra come before those of tetrahedron t, and m first uses of marked edges, then t's new tetrahedra
//! are T + n and so on, and its midpoints V + m and so on. The owner of t counts both in the order of all tetrahedra
//! ([`Sums`](crate::numbers::Sums)). A tagged triangle belongs to the owner of the first tetrahedron that has it as a
//! face, and later to the owner of the part with its part. Its parts are numbered likewise.

mod level;
mod numbers;
mod part;
mod result;

use glam::DVec3;
use trioxide::Device;
use trioxide::refine_tets::{DividedEdges, Marking, SpacePoint, TetShare};

use crate::fault::Result;
use crate::owned::is_uneven;
use crate::ownership::Ownership;
use crate::part::Part;
use crate::tets::{Input, part_of};
use crate::transport::Ranks;

use level::{Divided, level};
use part::TetPart;

pub use result::Whole;

/// Options of refinement, as [`trioxide::refine_tets::Options`].
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The tetrahedra to refine.
    pub marking: Marking,
    /// Seed of a marking by fraction.
    pub seed: u64,
    /// The edges to divide them by.
    pub edges: DividedEdges,
    /// Number of levels.
    pub rounds: u32,
    /// No level begins with this many tetrahedra or more.
    pub max_tetrahedra: Option<u64>,
    /// Keep the origins of new vertices: [`Whole::rounds`].
    pub record: bool,
}

impl Default for Options {
    /// Every tetrahedron, once.
    fn default() -> Self {
        Self {
            marking: Marking::All,
            seed: 0,
            edges: DividedEdges::default(),
            rounds: 1,
            max_tetrahedra: None,
            record: false,
        }
    }
}

/// Elements of a whole mesh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Elements {
    /// V.
    pub vertices: u64,
    /// T.
    pub tetrahedra: u64,
    /// Tagged triangles.
    pub faces: u64,
}

/// Elements of a level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Level {
    /// Edges that were divided: new vertices.
    pub divided_edges: u64,
    /// Tetrahedra that were divided.
    pub divided_tetrahedra: u64,
    /// Tetrahedra afterwards.
    pub tetrahedra: u64,
    /// Number of exchanges of divided edges.
    pub exchanges: u64,
}

/// A refined mesh as the ranks' devices leave it.
pub struct Run<P> {
    /// Elements of the whole mesh.
    pub counts: Elements,
    /// Elements of each level.
    pub levels: Vec<Level>,
    /// The part at the beginning of the last level, and its state after it.
    part: TetPart,
    left: Left<P>,
    record: bool,
    /// For each level, this rank's new vertices, each with the ends of the edge that it divides.
    ends: Vec<Vec<[u64; 3]>>,
}

/// A part after the last level.
enum Left<P> {
    /// There was none.
    Input(Box<TetShare<P>>),
    /// Its new elements have no ids yet.
    Divided(Box<Divided<P>>),
}

/// Refines the mesh whose blocks the ranks hold. Collective.
///
/// # Errors
/// As [`trioxide::refine_tets::refine`], in the same words on every rank; a part with more elements than 32-bit ids
/// name.
pub fn refine<P: SpacePoint>(
    ranks: &Ranks,
    on: &Device,
    input: Input,
    options: &Options,
    ownership: &Ownership,
) -> Result<Run<P>> {
    let part = part_of::<P>(ranks, input, ownership)?;
    run(ranks, on, input, part, options, ownership)
}

/// As [`refine`], in parts that exist already. Collective.
///
/// # Errors
/// As there.
pub fn run<P: SpacePoint>(
    ranks: &Ranks,
    on: &Device,
    input: Input,
    part: Part<DVec3>,
    options: &Options,
    ownership: &Ownership,
) -> Result<Run<P>> {
    let (mut part, share) = TetPart::of_input(ranks, on, input, part)?;
    let tetrahedra = input.block.cells as usize;
    let marking = ranks.agree(options.marking.of_tetrahedra(options.seed, tetrahedra))?;
    let mut left = Left::Input(Box::new(share));
    let mut counts = part.counts;
    let (mut levels, mut ends) = (Vec::new(), Vec::new());
    for number in 0..options.rounds {
        let most = options.max_tetrahedra;
        if most.is_some_and(|most| counts.tetrahedra >= most) {
            break;
        }
        let share = match left {
            Left::Input(share) => *share,
            Left::Divided(divided) => {
                let (share, of_level) =
                    divided.next(ranks, on, &mut part, counts, options.record)?;
                ends.push(of_level);
                if is_uneven(ranks, part.owned(ranks.rank()), counts.tetrahedra) {
                    let owned = part.to_owned(ranks, on, &share)?;
                    drop(share);
                    let owned = owned.balanced(ranks, ownership, counts);
                    let next = TetPart::of_owned(ranks, on, counts, owned)?;
                    part = next.0;
                    next.1
                } else {
                    share
                }
            }
        };
        let done = level(ranks, on, &part, share, options, &marking, number)?;
        left = Left::Divided(Box::new(done.divided));
        counts = done.counts;
        if done.level.divided_tetrahedra == 0 {
            break;
        }
        levels.push(done.level);
    }
    Ok(Run {
        counts,
        levels,
        part,
        left,
        record: options.record,
        ends,
    })
}
