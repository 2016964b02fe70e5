//! Lists of the pieces: their sides, the corners of their faces, and the vertices and edges of their outlines.

use gpu::ids::{Item, Polygon, Vertex};
use gpu::levels as kernel;
use trioxide_kernel::launch::{Buffer, LaunchError};
use trioxide_kernel::rows::RowsBuffers;
use trioxide_kernel::view::AtomicElement;
use trioxide_kernel::{Bits, words};

use super::join::{Joined, Level};
use crate::Result;
use crate::collective::{Tiled, compact, exclusive_scan, lengths, longest_row, sort_rows};
use crate::device::Device;
use crate::reorder::{Carried, pick};

/// The places of a list in which each piece has one row.
pub(super) struct Places {
    /// First place of each piece, and the end of the last.
    pub(super) offsets: Buffer<u32>,
    /// The piece of each place.
    pub(super) owners: Buffer<Polygon>,
    longest: u32,
}

/// The items of each piece, ascending.
pub(super) struct Lists<T> {
    offsets: Buffer<u32>,
    items: Buffer<T>,
}

/// The vertices of the outlines or surfaces of all pieces, and the edges of surfaces by both vertices.
pub(super) struct Outlines {
    pub(super) vertices: Lists<Vertex>,
    pub(super) edges: Lists<u64>,
}

/// A set of the places of a list.
pub(super) struct Chosen {
    pub(super) bits: Buffer<Bits<Item>>,
    ranks: Buffer<u32>,
    /// Number of its places.
    members: u32,
}

impl Chosen {
    /// Its places, ascending.
    pub(super) fn places(&self, on: &Device) -> Result<Buffer<Item>> {
        compact(on, &self.bits)
    }
}

impl Places {
    pub(super) fn new(on: &Device, offsets: Buffer<u32>, owners: Buffer<Polygon>) -> Result<Self> {
        let longest = longest_row(on, &offsets)?;
        Ok(Self {
            offsets,
            owners,
            longest,
        })
    }

    /// No pieces.
    pub(super) fn none(on: &Device) -> Result<Self> {
        Ok(Self {
            offsets: on.uninitialized(0)?,
            owners: on.uninitialized(0)?,
            longest: 0,
        })
    }

    /// Number of places.
    pub(super) fn len(&self) -> usize {
        self.owners.len()
    }

    /// The values of each piece in ascending order.
    pub(super) fn sorted<T: AtomicElement + Ord>(
        &self,
        on: &Device,
        values: &Buffer<T>,
    ) -> Result<Buffer<T>> {
        sort_rows(on, &self.offsets, &self.owners, self.longest, values)
    }

    /// The places that `choose` puts into the set.
    pub(super) fn choose(
        &self,
        on: &Device,
        choose: impl FnOnce(u32, &mut Buffer<Bits<Item>>) -> Result<(), LaunchError>,
    ) -> Result<Chosen> {
        let mut bits = on.uninitialized(words(self.len()))?;
        choose(self.len() as u32, &mut bits)?;
        let tiled = Tiled::new(on, &bits)?;
        let ranks = tiled.ranks(on)?;
        let members = tiled.count(on)?.total();
        Ok(Chosen {
            bits,
            ranks,
            members,
        })
    }

    /// The first of the chosen places of each piece among all that are chosen, and the end of the last.
    pub(super) fn starts(&self, on: &Device, chosen: &Chosen) -> Result<Buffer<u32>> {
        let mut starts = on.uninitialized(self.offsets.len())?;
        kernel::start_rows::launch(
            on,
            self.offsets.len() as u32,
            &self.offsets,
            &chosen.ranks,
            chosen.members,
            &mut starts,
        )?;
        Ok(starts)
    }

    /// The chosen places as a list of their own, and the place before of each.
    pub(super) fn chosen(&self, on: &Device, chosen: &Chosen) -> Result<(Self, Buffer<Item>)> {
        let order = chosen.places(on)?;
        let owners = pick(on, self.owners.as_words(), &order)?.cast();
        Ok((Self::new(on, self.starts(on, chosen)?, owners)?, order))
    }

    /// Sorted values as lists.
    pub(super) fn lists<T>(&self, on: &Device, sorted: Buffer<T>) -> Result<Lists<T>> {
        Ok(Lists {
            offsets: on.duplicate(&self.offsets)?,
            items: sorted,
        })
    }

    /// Sorted values as lists of different values.
    pub(super) fn once<T: Carried + AtomicElement + PartialEq>(
        &self,
        on: &Device,
        sorted: &Buffer<T>,
    ) -> Result<Lists<T>> {
        let firsts = self.choose(on, |n, bits| {
            kernel::is_first_of_element::launch(on, n, &self.owners, sorted, bits)
        })?;
        Ok(Lists {
            offsets: self.starts(on, &firsts)?,
            items: pick(on, sorted, &firsts.places(on)?)?,
        })
    }

    /// The places of the next level, without the ones that are not in the set `kept`, and the place before of each.
    pub(super) fn join(
        &self,
        on: &Device,
        joined: &Joined,
        level: &Level,
        kept: &Chosen,
    ) -> Result<(Self, Buffer<Item>)> {
        let (firsts, members) = (&level.firsts, kept.members as usize);
        let count = firsts.len();
        let (pieces, ranks, offsets) = (joined.buffers(), &kept.ranks, &self.offsets);
        let (n, m) = (count as u32, kept.members);
        let mut starts = lengths(on, count)?;
        kernel::count_rows::launch(on, n, firsts, pieces, offsets, ranks, m, &mut starts)?;
        exclusive_scan(on, &mut starts)?;
        let mut shifts = on.uninitialized(level.parents.len())?;
        kernel::join_rows::launch(
            on,
            n,
            firsts,
            pieces,
            offsets,
            ranks,
            m,
            &starts,
            &mut shifts,
        )?;
        let (mut order, mut owners) = (on.uninitialized(members)?, on.uninitialized(members)?);
        kernel::move_items::launch(
            on,
            self.len() as u32,
            &kept.bits,
            ranks,
            &self.owners,
            &level.parents,
            &shifts,
            &mut order,
            &mut owners,
        )?;
        Ok((Self::new(on, starts, owners)?, order))
    }
}

impl<T> Lists<T> {
    /// No pieces.
    pub(super) fn none(on: &Device) -> Result<Self>
    where
        T: Carried,
    {
        Ok(Self {
            offsets: on.uninitialized(0)?,
            items: on.uninitialized(0)?,
        })
    }

    /// The same bits as items of another type.
    pub(super) fn cast<U: bytemuck::Pod>(self) -> Lists<U>
    where
        T: bytemuck::Pod,
    {
        Lists {
            offsets: self.offsets,
            items: self.items.cast(),
        }
    }

    /// The argument for kernels.
    pub(super) fn rows(&self) -> RowsBuffers<'_, T>
    where
        T: bytemuck::Pod + Send + Sync,
    {
        RowsBuffers {
            offsets: &self.offsets,
            items: &self.items,
        }
    }
}
