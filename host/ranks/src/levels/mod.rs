//! Nested levels of polygons or polyhedra on ranks: the pieces of the single run, which [`gpu::levels`] defines.
//!
//! Each rank has the pieces of a range of ids. At first these are its slice of the polygons or polyhedra in their
//! order; a piece of a later level is at the rank of the piece that it has its id from.
//!
//! | step | data that cross ranks |
//! | --- | --- |
//! | find sides, once ([`sides`](self), [`solid`](self)) | points; sides without a twin here, to directories of edges or faces; of polyhedra tetrahedra, and whether the ones beyond are balls |
//! | look beyond ([`pieces`](self)) | vertices of outlines, and boxes, of pieces beyond a border; of polyhedra the edges of surfaces |
//! | match pieces ([`join`](self)) | a choice to the rank of the chosen piece; pairs to the ranks of their neighbours |
//! | join leftovers ([`join`](self)) | questions about pairs, choices, and joins |
//! | number pieces ([`next`](self)) | numbers; sides to the ranks of their new pieces |
//!
//! A piece has all of its sides, so both ranks of a border have all of its edges or faces. They add the lengths or
//! areas in the order of their ids, and decide alike. The work is that of the host's threads.

mod join;
mod lists;
mod next;
mod pieces;
mod sides;
mod solid;
mod twins;

use bytemuck::{Pod, Zeroable};
use gpu::levels::Extent;
use trioxide::Error;
use trioxide::levels::{self, Goal, MOST_RATIO};
use trioxide::mesh::NONE;
use trioxide::polyhedra_mesh::PolyhedraLists;

use crate::block::Block;
use crate::check::{check_corners, check_ids};
use crate::fault::Result;
use crate::ownership::Position;
use crate::polylla::Ordered;
use crate::tets::Input;
use crate::transport::{Ranks, offsets};
use join::Joined;
use lists::Lists;
use pieces::Pieces;

pub use solid::Surfaces;

/// The levels of the polygons or polyhedra that the ranks have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nested {
    /// For each level, the piece of it that each of this rank's pieces of the level before belongs to.
    pub parents: Vec<Vec<u32>>,
    /// Pieces of all ranks of each level, from level 0 on.
    pub counts: Vec<usize>,
    /// Whether the levels ended because nothing could join.
    pub is_stuck: bool,
}

impl Nested {
    /// The levels of the whole mesh at rank 0; other ranks get none. Collective.
    pub fn gather(&self, ranks: &Ranks) -> Option<levels::Nested> {
        let mut nested = levels::Nested::new(self.counts[0]);
        for (parents, &count) in self.parents.iter().zip(&self.counts[1..]) {
            nested.push(ranks.gather(parents), count);
        }
        nested.is_stuck = self.is_stuck;
        (ranks.rank() == 0).then_some(nested)
    }
}

/// The levels of the polygons of all ranks; `block` has the rank's vertices and all segments. Collective.
///
/// # Errors
/// More polygons than 32-bit ids name.
pub fn levels<P: Position>(
    ranks: &Ranks,
    block: &Block<P>,
    ordered: &Ordered,
    goal: Goal,
) -> Result<Nested> {
    nest(ranks, ordered.polygons.len(), goal, || {
        sides::find(ranks, block, ordered)
    })
}

/// The levels of the polyhedra of all ranks, of a mesh of tetrahedra whose blocks the ranks hold; `slice` is this
/// rank's slice of the polyhedra ([`Found::ordered`](crate::polyhedra::Found::ordered)). Collective.
///
/// # Errors
/// More vertices, polyhedra, or corners of faces of one rank, than 32-bit ids name.
pub fn levels_of_polyhedra(
    ranks: &Ranks,
    input: Input,
    slice: &PolyhedraLists,
    surfaces: Surfaces,
    goal: Goal,
) -> Result<Nested> {
    ranks.agree(check_ids(input.block.vertices))?;
    ranks.agree(check_corners(3 * slice.sides.len() as u64))?;
    nest(ranks, slice.len(), goal, || {
        solid::find(ranks, input, slice, surfaces)
    })
}

/// The levels of pieces of which this rank has `own`, whose sides `find` finds. Collective.
fn nest(ranks: &Ranks, own: usize, goal: Goal, find: impl FnOnce() -> Level) -> Result<Nested> {
    ranks.phase("nested levels");
    let total = ranks.sum(own as u64);
    ranks.agree(check(total))?;
    let mut nested = Nested {
        parents: Vec::new(),
        counts: vec![total as usize],
        is_stuck: false,
    };
    if !goal.wants_more(0, total as usize) {
        return Ok(nested);
    }
    let mut level = find();
    while goal.wants_more(nested.parents.len(), level.total()) {
        let mut pieces = Pieces::of(ranks, &level);
        let made = [MOST_RATIO, f64::INFINITY]
            .into_iter()
            .find_map(|most_ratio| {
                let mut joined = Joined::new(&level, &pieces);
                joined.pair(ranks, &level, &pieces, most_ratio).then(|| {
                    joined.take_leftovers(ranks, &level, &mut pieces, most_ratio);
                    joined
                })
            });
        let Some(joined) = made else {
            nested.is_stuck = true;
            break;
        };
        let (next, parents) = next::make(ranks, level, pieces, joined);
        level = next;
        nested.parents.push(parents);
        nested.counts.push(level.total());
    }
    Ok(nested)
}

fn check(pieces: u64) -> trioxide::Result<()> {
    match pieces < u64::from(NONE) {
        true => Ok(()),
        false => Err(Error::Argument(format!(
            "{pieces} polygons or polyhedra are more than the 32-bit ids of levels name: make none"
        ))),
    }
}

/// A side of a piece that is not inside of it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
struct Side {
    /// The edge or face: the lower of its sides, among those of all polygons or polyhedra.
    edge: u64,
    /// Its length or area.
    length: f64,
    piece: u32,
    /// The piece beyond; [`NONE`] at the border of the mesh.
    beyond: u32,
    /// The vertex that it starts at; of a face its place in the level's list of these.
    vertex: u32,
    /// 1 if no piece crosses it, else 0.
    is_fixed: u32,
}

impl Side {
    /// Sides are in the order of these: by piece and border, edges ascending.
    fn key(&self) -> (u32, u32, u64) {
        (self.piece, self.beyond, self.edge)
    }
}

/// The pieces of a level.
struct Level {
    /// First piece of each rank, and the end of the last.
    firsts: Vec<u32>,
    /// This rank.
    me: usize,
    /// The sides of this rank's pieces, in their order.
    sides: Vec<Side>,
    /// The boxes of this rank's pieces.
    boxes: Vec<Extent>,
    /// If sides are faces of polyhedra, the vertices of each, seen from outside of its piece.
    faces: Option<Lists<u32>>,
}

impl Level {
    /// The level of which this rank has the pieces with these boxes. Collective.
    fn new(ranks: &Ranks, sides: Vec<Side>, boxes: Vec<Extent>, faces: Option<Lists<u32>>) -> Self {
        let counts = ranks.numbers(boxes.len() as u64).into_iter();
        Self {
            firsts: offsets(counts.map(|count| count as u32)),
            me: ranks.rank(),
            sides,
            boxes,
            faces,
        }
    }

    /// Number of pieces of all ranks.
    fn total(&self) -> usize {
        self.firsts[self.firsts.len() - 1] as usize
    }

    /// This rank's first piece.
    fn first(&self) -> u32 {
        self.firsts[self.me]
    }

    /// The rank of a piece.
    fn rank(&self, piece: u32) -> usize {
        self.firsts.partition_point(|&first| first <= piece) - 1
    }

    /// The place of a piece among this rank's, if it is one of them.
    fn place(&self, piece: u32) -> Option<usize> {
        let is_here = (self.first()..self.firsts[self.me + 1]).contains(&piece);
        is_here.then(|| (piece - self.first()) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_pieces_than_32_bits_name_are_refused() {
        assert!(check(u64::from(NONE) - 1).is_ok());
        assert!(check(NONE.into()).is_err());
    }

    /// Also where ranks have no pieces.
    #[test]
    fn pieces_have_ranks() {
        let level = Level {
            firsts: vec![0, 0, 3, 3, 5],
            me: 1,
            sides: Vec::new(),
            boxes: Vec::new(),
            faces: None,
        };
        assert_eq!([0, 2, 3, 4].map(|piece| level.rank(piece)), [1, 1, 3, 3]);
        assert_eq!(
            [0, 2, 3].map(|piece| level.place(piece)),
            [Some(0), Some(2), None]
        );
        assert_eq!(level.total(), 5);
    }
}
