//! Pieces join: pairs, then leftovers.

use gpu::ids::{Item, Polygon};
use gpu::levels::{self as kernel, Extent, JoinedBuffers, PiecesBuffers};
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::{Bits, words};

use super::members;
use crate::Result;
use crate::collective::{Tiled, compact};
use crate::device::Device;

/// The pieces of a level that joined.
pub(super) struct Joined {
    pub(super) groups: Buffer<Polygon>,
    partners: Buffer<Polygon>,
    thirds: Buffer<Polygon>,
    fourths: Buffer<Polygon>,
}

/// The next level.
pub(super) struct Level {
    /// The piece that each piece of the level has its id from.
    pub(super) firsts: Buffer<Polygon>,
    /// The piece that each piece of the level before belongs to.
    pub(super) parents: Buffer<Polygon>,
    /// The boxes of the pieces.
    pub(super) boxes: Buffer<Extent>,
}

impl Joined {
    /// `count` pieces, none of which joined.
    pub(super) fn new(on: &Device, count: usize) -> Result<Self> {
        let nothing = || on.filled(count, Polygon::NONE);
        Ok(Self {
            groups: nothing()?,
            partners: nothing()?,
            thirds: nothing()?,
            fourths: nothing()?,
        })
    }

    /// Pairs pieces; returns whether there is a pair.
    pub(super) fn pair(
        &mut self,
        on: &Device,
        pieces: PiecesBuffers<'_>,
        weights: &Buffer<f64>,
    ) -> Result<bool> {
        let mut seekers = self.alone(on)?;
        let all = seekers.len();
        while !seekers.is_empty() {
            let n = seekers.len() as u32;
            let (groups, partners) = (&mut self.groups, &mut self.partners);
            kernel::choose_partners::launch(on, n, &seekers, pieces, weights, groups, partners)?;
            kernel::match_partners::launch(on, n, &seekers, partners, groups)?;
            let mut bits: Buffer<Bits<Item>> = on.uninitialized(words(seekers.len()))?;
            kernel::still_seeks::launch(on, n, &seekers, partners, groups, &mut bits)?;
            seekers = members(on, &bits, &seekers)?;
        }
        Ok(self.alone(on)?.len() < all)
    }

    /// Pieces that joined no other one, ascending.
    fn alone(&self, on: &Device) -> Result<Buffer<Polygon>> {
        let mut bits = on.uninitialized(words(self.groups.len()))?;
        kernel::has_no_group::launch(on, self.groups.len() as u32, &self.groups, &mut bits)?;
        compact(on, &bits)
    }

    /// Pieces that are left over join pairs.
    pub(super) fn take_leftovers(
        &mut self,
        on: &Device,
        pieces: PiecesBuffers<'_>,
        is_solid: bool,
    ) -> Result<()> {
        let choose = match is_solid {
            false => kernel::choose_groups::launch::<false>,
            true => kernel::choose_groups::launch::<true>,
        };
        let count = self.groups.len();
        let mut choices = on.filled(count, Polygon::NONE)?;
        let mut lengths = on.uninitialized(count)?;
        loop {
            let leftovers = self.alone(on)?;
            let mut chosen = on.filled(words(count), Bits::EMPTY)?;
            choose(
                on,
                leftovers.len() as u32,
                &leftovers,
                pieces,
                self.buffers(),
                &mut choices,
                &mut lengths,
                &mut chosen,
            )?;
            let chosen = compact(on, &chosen)?;
            if chosen.is_empty() {
                return Ok(());
            }
            kernel::take_leftovers::launch(
                on,
                chosen.len() as u32,
                &chosen,
                pieces,
                &choices,
                &lengths,
                &self.partners,
                &mut self.groups,
                &mut self.thirds,
                &mut self.fourths,
            )?;
        }
    }

    /// Numbers the pieces of the next level; `boxes` has the boxes of the pieces of this one.
    pub(super) fn number(&self, on: &Device, boxes: &Buffer<Extent>) -> Result<Level> {
        let (count, n) = (self.groups.len(), self.groups.len() as u32);
        let mut bits: Buffer<Bits<Polygon>> = on.uninitialized(words(count))?;
        kernel::is_first::launch(on, n, &self.groups, &mut bits)?;
        let tiled = Tiled::new(on, &bits)?;
        let ranks = tiled.ranks(on)?;
        let mut parents = on.uninitialized(count)?;
        kernel::write_parents_of_pieces::launch(on, n, &self.groups, &ranks, &mut parents)?;
        let firsts: Buffer<Polygon> = tiled.count(on)?.list(on)?;
        let mut larger = on.uninitialized(firsts.len())?;
        let n = firsts.len() as u32;
        kernel::join_boxes::launch(on, n, &firsts, self.buffers(), boxes, &mut larger)?;
        Ok(Level {
            firsts,
            parents,
            boxes: larger,
        })
    }

    /// The argument for kernels.
    pub(super) fn buffers(&self) -> JoinedBuffers<'_> {
        JoinedBuffers {
            groups: &self.groups,
            partners: &self.partners,
            thirds: &self.thirds,
            fourths: &self.fourths,
        }
    }
}
