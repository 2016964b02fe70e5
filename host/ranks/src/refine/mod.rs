//! Longest-edge bisection of triangles on ranks, to the points, triangles and numbers of the single run.
//!
//! | stage | who | what crosses |
//! | --- | --- | --- |
//! | edges | the rank's device numbers the part's edges, and ghosts get the longest side that their owners found; edges are counted in the order of half-edges, and named where something needs their ids | four words a run of consecutive triangles, a byte a ghost; four words a ghost, where they are named |
//! | balance, before each round but the first | triangles are dealt anew along the curve, where a rank has more than two shares | else nothing; a row and three points a triangle that moves |
//! | ghosts, before each round | the triangles at an owned triangle's vertices | vertices to their directories, a row and points a ghost |
//! | refine | each rank marks and walks in its part, and tells the others the edges that it divides, until nobody has a new one | four bytes a divided side of a ghost |
//! | numbers | the directories of triangles count divided sides, and those that own their edge | four words a run of consecutive triangles that divides any |
//! | templates | [`Share`] on the rank's device: the kernels of the single run | |
//! | pieces, where another round follows or a file is written | the owned triangles after the round, with their ids | two words a ghost |
//! | order, where a file is written | points and triangles to the blocks of their ids | a row each that lies elsewhere |
//!
//! # Why the bits are the same
//!
//! The single run numbers new elements by divided sides: with n of them in smaller half-edges, m of which own their edge, the next side
//! gives triangle T + n, edge E + n + m, and vertex V + m if it owns its edge. Of equally long sides the one with the smaller edge id is
//! the longest. So ids of edges and who owns an edge are part of the mesh: a triangle carries its three sides in the whole mesh from rank
//! to rank, and local ids of vertices, edges and triangles ascend with those. An edge is divided if any rank says so; that order does not
//! show.
//!
//! A part of a triangle stays with its owner, until a rank has more than twice its share of the triangles: then all are dealt anew.

mod part;
mod result;
mod round;
mod rows;

use trioxide::Device;
use trioxide::half_edges::AnyPoint;
use trioxide::refine::{End, Error, Marking, Share};

use crate::block::Block;
use crate::check::check_points;
use crate::fault::{Fault, Result};
use crate::ownership::{Ownership, Position};
use crate::part::Part;
use crate::transport::{Ranks, Reduction};

use part::EdgePart;
use round::{Divided, Outcome, round};

pub use result::{Refined, Whole, gather};

/// Options of refinement, as [`trioxide::refine::Options`].
#[derive(Clone, Debug)]
pub struct Options {
    /// The triangles that each round refines.
    pub marking: Marking,
    /// Most rounds. A round in which nothing is marked is the last.
    pub rounds: u32,
    /// Most triangles: no round begins that would give more.
    pub max_triangles: Option<u64>,
    /// Keep where new elements come from: [`Refined::rounds`].
    pub record: bool,
}

impl Default for Options {
    /// Every triangle, once.
    fn default() -> Self {
        Self {
            marking: Marking::All,
            rounds: 1,
            max_triangles: None,
            record: false,
        }
    }
}

/// Elements of a whole mesh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// V.
    pub vertices: u64,
    /// E.
    pub edges: u64,
    /// T.
    pub triangles: u64,
}

/// Where the new elements of a round come from, by the ids of the whole mesh.
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
    pub counts: Counts,
    /// Where this rank's new elements come from, of each round; empty lists, if that is not asked for.
    pub rounds: Vec<Round>,
    /// The reason why it ended.
    pub end: End,
    /// How often the ranks told each other edges to divide, in all rounds.
    pub exchanges: u64,
    /// The part at the beginning of the last round, and its pieces.
    part: EdgePart<P>,
    divided: Option<Divided<P>>,
    /// Markers of the input's segments, ascending.
    markers: Vec<i32>,
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
    ranks.agree(check_points::<P>(
        ranks,
        block.vertices,
        points,
        "vertex",
        P::LARGEST,
    ))?;
    Part::without_segments(ranks, block, ownership)
}

/// As [`refine`], in parts that are made already, without the mesh in the order of its ids, which not every run needs. Collective.
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
    let (part, share, markers) = EdgePart::<P>::of_input(ranks, on, block, part)?;
    let checked = options.marking.check(block.cells as usize);
    ranks.agree(checked.map_err(Fault::from))?;
    rounds(ranks, on, (part, share), markers, options, ownership)
}

/// The rounds, and what they leave. Collective.
fn rounds<P: AnyPoint>(
    ranks: &Ranks,
    on: &Device,
    (mut part, share): (EdgePart<P>, Share<P>),
    markers: Vec<i32>,
    options: &Options,
    ownership: &Ownership,
) -> Result<Run<P>>
where
    P::Double: Position,
{
    let mut share = Some(share);
    let mut counts = part.counts;
    let mut divided: Option<Divided<P>> = None;
    let mut records = Vec::new();
    let (mut end, mut exchanges) = (End::Rounds, 0);
    let mut degenerate = u64::MAX;
    for number in 0..options.rounds as usize {
        if let Some(divided) = divided.take() {
            let owned = divided.into_owned(ranks, on, part)?;
            ranks.phase("balance");
            let owners = owned.new_owners(ranks, counts.triangles, ownership, P::to_f64);
            let owned = match owners {
                Some(owners) => owned.deal(ranks, &owners),
                None => owned,
            };
            let next = EdgePart::of_owned(ranks, on, counts, owned)?;
            (part, share) = (next.0, Some(next.1));
        }
        let share = share.take().expect("each round has a part on the device");
        match round(ranks, on, &mut part, share, options, number)? {
            Outcome::Ended(reason) => {
                end = reason;
                break;
            }
            Outcome::Done(done) => {
                let done = *done;
                counts = done.counts;
                divided = Some(done.divided);
                exchanges += done.exchanges;
                records.push(done.record);
                degenerate = degenerate.min(done.degenerate.unwrap_or(u64::MAX));
            }
        }
        // Halves of an edge between neighbouring numbers are as long as the edge: without an end of rounds there would be none.
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
            divided,
            markers,
        }),
        triangle => Err(came_out_degenerate(triangle)),
    }
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
