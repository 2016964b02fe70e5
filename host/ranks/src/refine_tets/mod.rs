//! Longest-edge bisection of tetrahedra on ranks, to the points, tetrahedra, tagged triangles and numbers of the single run.
//!
//! | stage | who | what crosses |
//! | --- | --- | --- |
//! | balance, before each level but the first | tetrahedra are dealt anew along the curve, where a rank has more than two shares | else nothing; a row and four points a tetrahedron that moves |
//! | ghosts, before each level | the tetrahedra at an owned one's vertices | vertices to their directories, a row and points a ghost |
//! | refine | each rank marks and closes in its part, and tells the others the edges that it marks, until nobody has a new one | four bytes a ghost: the order of its edges; four bytes a marked edge of a ghost |
//! | pieces, where another level follows or a file is written | new elements are numbered: the directories of tetrahedra count them | four words a run of consecutive tetrahedra that divides any edge, a word a ghost |
//! | gather, where a file is written | points, tetrahedra and tagged triangles to rank 0 | a row each |
//!
//! # Why the bits are the same
//!
//! The single run numbers the edges of each level by their first uses: use 6t + k is edge k of tetrahedron t. Of equally long edges the one
//! with the smaller number is longer, and marked ones get their midpoints in this order. Local ids of tetrahedra ascend with those of the whole
//! mesh, and all uses of an owned tetrahedron's edges are in the part: these edges stand in one order in both. Ghosts, whose other edges may
//! have uses elsewhere, get the order of their edges from their owners. An edge is marked if any rank says so; that order does not show.
//!
//! With n new tetrahedra before those of tetrahedron t, and m first uses of marked edges, t's new ones are T + n and so on, and its midpoints V + m and
//! so on. Both are counted in the order of all tetrahedra ([`Sums`](crate::numbers::Sums)), by who owns t. A tagged triangle belongs to the owner
//! of the first tetrahedron that has it as a face, later to who owns a part of that with a part of the triangle; its parts are numbered
//! likewise.

mod check;
mod level;
mod part;
mod result;

use glam::DVec3;
use trioxide::Device;
use trioxide::refine_tets::{Share, SpacePoint};

use crate::block::Block;
use crate::fault::{Fault, Result};
use crate::ownership::Ownership;
use crate::part::Part;
use crate::transport::Ranks;

use level::{Divided, level};
use part::TetPart;

pub use result::Whole;
pub use trioxide::refine_tets::Options;

/// Elements of a whole mesh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// V.
    pub vertices: u64,
    /// T.
    pub tetrahedra: u64,
    /// Tagged triangles.
    pub faces: u64,
}

/// Counts of a level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Level {
    /// Edges that were divided: new vertices.
    pub divided_edges: u64,
    /// Tetrahedra that were divided.
    pub divided_tetrahedra: u64,
    /// Tetrahedra afterwards.
    pub tetrahedra: u64,
    /// How often the ranks told each other edges to divide.
    pub exchanges: u64,
}

/// A refined mesh as the ranks' devices leave it.
pub struct Run<P> {
    /// Elements of the whole mesh.
    pub counts: Counts,
    /// Counts of each level.
    pub levels: Vec<Level>,
    /// The part at the beginning of the last level, and what is left of it.
    part: TetPart,
    left: Left<P>,
    /// Of each level, new vertices of this rank and the ends of the edges whose midpoints they are.
    ends: Vec<Vec<[u64; 3]>>,
}

/// A part behind the last level.
enum Left<P> {
    /// There was none.
    Input(Share<P>),
    Divided(Divided<P>),
}

/// Refines the mesh whose blocks the ranks hold; `tagged` are the tagged triangles of the whole mesh, which every rank has. Collective.
///
/// # Errors
/// As [`trioxide::refine_tets::refine`], in the same words on every rank; a part with more elements than 32-bit ids name.
pub fn refine<P: SpacePoint>(
    ranks: &Ranks,
    on: &Device,
    block: &Block<DVec3>,
    tagged: &[[u32; 3]],
    options: &Options,
    ownership: &Ownership,
) -> Result<Run<P>> {
    let part = part_to_refine::<P>(ranks, block, tagged, ownership)?;
    run(ranks, on, block, tagged, part, options, ownership)
}

/// This rank's part of the mesh whose blocks the ranks hold, for [`run`]. Collective.
///
/// # Errors
/// Those of [`refine`] that need no device.
pub fn part_to_refine<P: SpacePoint>(
    ranks: &Ranks,
    block: &Block<DVec3>,
    tagged: &[[u32; 3]],
    ownership: &Ownership,
) -> Result<Part<DVec3>> {
    check::check_block::<P>(ranks, block, tagged)?;
    Part::without_segments(ranks, block, ownership)
}

/// As [`refine`], in parts that are made already. Collective.
///
/// # Errors
/// As there.
pub fn run<P: SpacePoint>(
    ranks: &Ranks,
    on: &Device,
    block: &Block<DVec3>,
    tagged: &[[u32; 3]],
    part: Part<DVec3>,
    options: &Options,
    ownership: &Ownership,
) -> Result<Run<P>> {
    let (mut part, share) = TetPart::of_input(ranks, on, block, tagged, part)?;
    let checked = options.marking.check(block.cells as usize);
    ranks.agree(checked.map_err(Fault::from))?;
    let mut left = Left::Input(share);
    let mut counts = part.counts;
    let (mut levels, mut ends) = (Vec::new(), Vec::new());
    for number in 0..options.rounds {
        let most = options.max_tetrahedra;
        if most.is_some_and(|most| counts.tetrahedra >= most as u64) {
            break;
        }
        let share = match left {
            Left::Input(share) => share,
            Left::Divided(divided) => {
                let mut owned = divided.into_owned(ranks, on, &part)?;
                ends.push(std::mem::take(&mut owned.ends));
                let next =
                    TetPart::of_owned(ranks, on, counts, owned.balanced(ranks, ownership, counts))?;
                part = next.0;
                next.1
            }
        };
        let (divided, of_level) = level(ranks, on, &part, share, options, number)?;
        left = Left::Divided(divided);
        counts = Counts {
            vertices: counts.vertices + of_level.divided_edges,
            tetrahedra: of_level.tetrahedra,
            faces: counts.faces + of_level.new_faces,
        };
        levels.push(of_level.level());
        if of_level.divided_tetrahedra == 0 {
            break;
        }
    }
    Ok(Run {
        counts,
        levels,
        part,
        left,
        ends,
    })
}
