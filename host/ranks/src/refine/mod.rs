//! Longest-edge bisection of triangles on ranks, to the points, triangles and numbers of the single run.
//!
//! | stage | work | data sent |
//! | --- | --- | --- |
//! | edges | the rank's device numbers the part's edges, and ghosts get the longest side from their owners; edges are counted in the order of half-edges, and get ids where something needs them | four words a run of consecutive triangles, a byte a ghost a round; a word a ghost, where edges get ids |
//! | refine | each rank marks and walks in its part, and sends the others the edges that it divides, until no rank has a new one; its device divides the triangles ([`EdgeShare`]), by the kernels of the single run | four bytes a divided side of a ghost |
//! | numbers | the directories of triangles count divided sides, and the divided sides that own their edge; new elements get ids, where another round follows or a file is written | four words a run of consecutive triangles that divides any; two words a ghost |
//! | balance, before each round but the first, where a rank has more than two shares | triangles are dealt anew along the curve, and get their ghosts | a row and three points a triangle that moves, and a ghost; nothing without a balance |
//! | pieces, where a file is written or triangles are dealt | the owned triangles with their ids | |
//! | order, where a file is written, unless each rank writes its own elements to their place in the file | points and triangles to the blocks of their ids | a row each that lies elsewhere |
//!
//! Between rounds the part stays on the device. The parts of ghosts are the ghosts of the next round: they are all
//! around every vertex of owned parts, and more.
//!
//! # Why the bits are the same
//!
//! The single run numbers new elements by divided sides. If n sides of smaller half-edges are divided, and m of them
//! own their edge, then the next side gives triangle T + n, edge E + n + m, and, if it owns its edge, vertex V + m. The
//! longest of equally long sides has the smaller edge id. Local ids of triangles ascend with those of the whole mesh,
//! and so do local ids of the edges and vertices of owned triangles: all triangles at these are here, and an edge has
//! the same owner. A triangle that is dealt carries the ids of its three sides. An edge is divided if any rank divides
//! it, in any order.
//!
//! A part of a triangle stays with its owner, until a rank has more than twice its share of the triangles. Then all
//! triangles are dealt anew.

mod file;
mod part;
mod pieces;
mod result;
mod round;
mod rows;

use trioxide::Device;
use trioxide::half_edges::AnyPoint;
use trioxide::ids::Triangle;
use trioxide::marking::{CheckedMarking, Marking};
use trioxide::refine::{DeviceEdgeMesh, EdgeShare, End, Error};

use crate::block::Block;
use crate::check::{self, check_points};
use crate::fault::{Fault, Result};
use crate::owned::is_uneven;
use crate::ownership::{Ownership, Position};
use crate::part::Part;
use crate::transport::{Ranks, Reduction};

use part::{EdgePart, give_longest};
use round::{Divided, Outcome, round};

pub use result::{Refined, Whole, gather};

/// Options of refinement, as [`trioxide::refine::Options`].
#[derive(Clone, Debug)]
pub struct Options {
    /// The triangles that each round refines.
    pub marking: Marking,
    /// Seed of a marking by fraction.
    pub seed: u64,
    /// Most rounds. A round in which nothing is marked is the last.
    pub rounds: u32,
    /// Most triangles: no round begins that would give more.
    pub max_triangles: Option<u64>,
    /// Keep the origins of new elements: [`Refined::rounds`].
    pub record: bool,
}

impl Default for Options {
    /// Every triangle, once.
    fn default() -> Self {
        Self {
            marking: Marking::All,
            seed: 0,
            rounds: 1,
            max_triangles: None,
            record: false,
        }
    }
}

/// Elements of a whole mesh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Elements {
    /// V.
    pub vertices: u64,
    /// E.
    pub edges: u64,
    /// T.
    pub triangles: u64,
}

/// The origins of a round's new elements, with ids of the whole mesh.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// New vertex, the edge that it divides, and the ends of that.
    pub vertices: Vec<[u64; 4]>,
    /// New triangle, and the one that it is a part of.
    pub triangles: Vec<[u64; 2]>,
}

/// The rule that a triangle which comes out degenerate breaks, of [`Fault::rule`].
pub const DEGENERATE: u8 = 6;

/// A refined mesh as the ranks' devices leave it.
pub struct Run<P: AnyPoint> {
    /// Elements of the whole mesh.
    pub counts: Elements,
    /// The origins of this rank's new elements for each round; empty lists if they are not asked for.
    pub rounds: Vec<Round>,
    /// The reason why it ended.
    pub end: End,
    /// Number of exchanges of divided edges, in all rounds.
    pub exchanges: u64,
    /// The part at the beginning of the last round, and its state after it.
    part: EdgePart,
    left: Left<P>,
    /// The markers of an edge's segments: each list of the input once, ascending.
    markers: Vec<Vec<i32>>,
}

/// A part after the last round.
enum Left<P> {
    /// It has divided nothing.
    Whole(Box<EdgeShare<P>>),
    /// Its new elements have no ids yet.
    Divided(Box<Divided<P>>),
}

/// Refines the mesh whose blocks the ranks hold. Collective.
///
/// # Errors
/// As [`trioxide::refine::refine`], in the same words on every rank; a part with more elements than 32-bit ids name.
pub fn refine<P: AnyPoint>(
    ranks: &Ranks,
    on: &Device,
    block: &Block<P::Double>,
    options: &Options,
    ownership: &Ownership,
) -> Result<Refined<P::Double>>
where
    P::Double: Position,
{
    let part = part_to_refine::<P>(ranks, block, ownership)?;
    run::<P>(ranks, on, block, part, options, ownership)?.into_blocks(ranks, on, block)
}

/// This rank's part of the mesh whose blocks the ranks hold, for [`run`]. Collective.
///
/// # Errors
/// Those of [`refine`] that need no device.
pub fn part_to_refine<P: AnyPoint>(
    ranks: &Ranks,
    block: &Block<P::Double>,
    ownership: &Ownership,
) -> Result<Part<P::Double>>
where
    P::Double: Position,
{
    let points = &block.points;
    let checked = check_points::<P>(ranks, block.vertices, points, "vertex", P::LARGEST);
    ranks
        .agree(checked)
        .and_then(|()| Part::without_segments(ranks, block, ownership))
        .map_err(|fault| in_words_of_one::<P>(ranks, block, fault))
}

/// Words a fault of the input as the single run does. Collective.
fn in_words_of_one<P: AnyPoint>(ranks: &Ranks, block: &Block<P::Double>, fault: Fault) -> Fault
where
    P::Double: Position,
{
    check::in_words_of_one(ranks, block, fault, |mesh| {
        let mesh = mesh.into_triangulation(block);
        DeviceEdgeMesh::<P>::upload(&Device::cpu(None)?, &mesh)?;
        Ok(())
    })
}

/// As [`refine`], in parts that exist already, and without the mesh in the order of its ids, which not every run needs.
/// Collective.
///
/// # Errors
/// As there.
pub fn run<P: AnyPoint>(
    ranks: &Ranks,
    on: &Device,
    block: &Block<P::Double>,
    part: Part<P::Double>,
    options: &Options,
    ownership: &Ownership,
) -> Result<Run<P>>
where
    P::Double: Position,
{
    let (part, share, markers) = EdgePart::of_input::<P>(ranks, on, block, part)
        .map_err(|fault| in_words_of_one::<P>(ranks, block, fault))?;
    let triangles = block.cells as usize;
    let marking = ranks.agree(options.marking.of_triangles(options.seed, triangles))?;
    rounds(
        ranks,
        on,
        (part, share),
        markers,
        options,
        &marking,
        ownership,
    )
}

/// Runs the rounds. Collective.
fn rounds<P: AnyPoint>(
    ranks: &Ranks,
    on: &Device,
    (mut part, share): (EdgePart, EdgeShare<P>),
    markers: Vec<Vec<i32>>,
    options: &Options,
    marking: &CheckedMarking<Triangle>,
    ownership: &Ownership,
) -> Result<Run<P>>
where
    P::Double: Position,
{
    let mut left = Left::Whole(Box::new(share));
    let mut counts = part.counts;
    let mut records = Vec::new();
    let (mut end, mut exchanges) = (End::Rounds, 0);
    let mut degenerate = u64::MAX;
    for number in 0..options.rounds as usize {
        let share = match left {
            Left::Whole(share) => *share,
            Left::Divided(divided) => {
                let next = next(ranks, on, part, *divided, counts, ownership)?;
                part = next.0;
                next.1
            }
        };
        match round(ranks, on, &mut part, share, options, marking, number)? {
            Outcome::Ended(reason, share) => {
                end = reason;
                left = Left::Whole(share);
                break;
            }
            Outcome::Done(done) => {
                let done = *done;
                counts = done.counts;
                left = Left::Divided(Box::new(done.divided));
                exchanges += done.exchanges;
                records.push(done.record);
                degenerate = degenerate.min(done.degenerate.unwrap_or(u64::MAX));
            }
        }
        // Halves of an edge between neighbouring numbers are as long as the edge: without a limit the rounds would not
        // end.
        if options.rounds == u32::MAX && ranks.reduce(degenerate, Reduction::Min) != u64::MAX {
            break;
        }
    }
    match ranks.reduce(degenerate, Reduction::Min) {
        u64::MAX => Ok(Run {
            counts,
            rounds: records,
            end,
            exchanges,
            part,
            left,
            markers,
        }),
        triangle => Err(came_out_degenerate(triangle)),
    }
}

/// The part before the next round, on the host and on the device; the whole mesh has these `counts`. Collective.
fn next<P: AnyPoint>(
    ranks: &Ranks,
    on: &Device,
    mut part: EdgePart,
    divided: Divided<P>,
    counts: Elements,
    ownership: &Ownership,
) -> Result<(EdgePart, EdgeShare<P>)>
where
    P::Double: Position,
{
    // Triangles that move carry the ids of their edges, which are known from the first round on.
    part.name_edges(ranks);
    let share = divided.named(ranks, &mut part, counts);
    ranks.phase("balance");
    if is_uneven(ranks, part.owned(ranks.rank()), counts.triangles) {
        let owned = part.to_owned(ranks, &ranks.agree(share.download(on, true))?);
        drop(share);
        let owners = owned.new_owners(ranks, counts.triangles, ownership, P::to_f64);
        let owned = match owners {
            Some(owners) => owned.deal(ranks, &owners),
            None => owned,
        };
        return EdgePart::of_owned(ranks, on, counts, owned);
    }
    ranks.phase("edges");
    let mut share = ranks.agree(share.next(on))?;
    give_longest(ranks, on, &part.halo, &mut share)?;
    Ok((part, share))
}

/// The fault of a triangle that is too small for the precision.
fn came_out_degenerate(triangle: u64) -> Fault {
    let error = Error::Degenerate {
        triangle: triangle as u32,
    };
    let (as_32_bits, id) = ((triangle as u32).to_string(), triangle.to_string());
    let text = error.to_string().replacen(&as_32_bits, &id, 1);
    Fault::of_mesh(DEGENERATE, triangle, text)
}
