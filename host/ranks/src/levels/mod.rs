//! Nested levels of polygons on ranks: the pieces of the single run, which [`gpu::levels`] defines.
//!
//! Each rank has the pieces of a range of ids. At first these are its slice of the polygons in their order; a piece of
//! a later level is at the rank of the piece that it has its id from.
//!
//! | step | data that cross ranks |
//! | --- | --- |
//! | find sides, once ([`sides`](self)) | points; sides without a twin here, to directories of edges |
//! | look beyond ([`pieces`](self)) | vertices of outlines, and boxes, of pieces beyond a border |
//! | match pieces ([`join`](self)) | a choice to the rank of the chosen piece; pairs to the ranks of their neighbours |
//! | join leftovers ([`join`](self)) | questions about pairs, choices, and joins |
//! | number pieces ([`next`](self)) | numbers; sides to the ranks of their new pieces |
//!
//! A piece has all of its sides, so both ranks of a border have all of its edges. They add the lengths in the order of
//! their ids, and decide alike. The work is that of the host's threads.

mod join;
mod next;
mod pieces;
mod sides;

use bytemuck::{Pod, Zeroable};
use gpu::levels::Extent;
use trioxide::Error;
use trioxide::levels::{self, Goal, MOST_RATIO};
use trioxide::mesh::NONE;

use crate::block::Block;
use crate::fault::Result;
use crate::ownership::Position;
use crate::polylla::Ordered;
use crate::transport::{Ranks, offsets};
use join::Joined;
use pieces::Pieces;

/// The levels of the polygons that the ranks have.
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
    ranks.phase("nested levels");
    let total = ranks.sum(ordered.polygons.len() as u64);
    ranks.agree(check(total))?;
    let mut nested = Nested {
        parents: Vec::new(),
        counts: vec![total as usize],
        is_stuck: false,
    };
    if !goal.wants_more(0, total as usize) {
        return Ok(nested);
    }
    let mut level = sides::find(ranks, block, ordered);
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

fn check(polygons: u64) -> trioxide::Result<()> {
    match polygons < u64::from(NONE) {
        true => Ok(()),
        false => Err(Error::Argument(format!(
            "{polygons} polygons are more than the 32-bit ids of levels name: make none"
        ))),
    }
}

/// A side of a piece that is not inside of it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
struct Side {
    /// The edge: the lower of its sides, among those of all polygons.
    edge: u64,
    length: f64,
    piece: u32,
    /// The piece beyond; [`NONE`] at the border of the mesh.
    beyond: u32,
    /// The vertex that it starts at.
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
}

impl Level {
    /// The level of which this rank has the pieces with these boxes. Collective.
    fn new(ranks: &Ranks, sides: Vec<Side>, boxes: Vec<Extent>) -> Self {
        let counts = ranks.numbers(boxes.len() as u64).into_iter();
        Self {
            firsts: offsets(counts.map(|count| count as u32)),
            me: ranks.rank(),
            sides,
            boxes,
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
    fn more_polygons_than_32_bits_name_are_refused() {
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
        };
        assert_eq!([0, 2, 3, 4].map(|piece| level.rank(piece)), [1, 1, 3, 3]);
        assert_eq!(
            [0, 2, 3].map(|piece| level.place(piece)),
            [Some(0), Some(2), None]
        );
        assert_eq!(level.total(), 5);
    }
}
