//! Edges that ranks divide: each finds those that its part requires, and tells the others the ones of cells that they
//! have too.

use trioxide_mesh::bit_set::contains;

use crate::fault::{Fault, Result};
use crate::rows::Halo;
use crate::transport::{Ranks, Reduction};

/// Edges of the cells in a halo, as many of each.
pub struct HaloEdges {
    /// Of the owned cells that other ranks have as ghosts, once for each of these.
    given: Vec<u32>,
    /// Of the ghosts.
    taken: Vec<u32>,
    /// Edges of a cell.
    each: usize,
}

impl HaloEdges {
    /// `edges_of` gives the edges of some cells, `each` of every cell.
    ///
    /// # Errors
    /// Those of `edges_of`.
    pub fn of(
        halo: &Halo,
        each: usize,
        mut edges_of: impl FnMut(&[u32]) -> trioxide::Result<Vec<u32>>,
    ) -> trioxide::Result<Self> {
        Ok(Self {
            given: edges_of(halo.given())?,
            taken: edges_of(halo.ghosts())?,
            each,
        })
    }

    /// Finds the edges that any rank divides, from those of this rank's part: each rank walks as far as its part goes,
    /// and tells the others what is new, until nobody has anything new. `follow` walks on from edges that were found,
    /// and gives the bits of all edges that are divided then. Gives how often they did. Collective.
    ///
    /// What a cell divides, its owner finds: if the cell is marked, by the mark, else since it has a divided edge,
    /// which the owner of another cell at that edge told all that have that one as a ghost. So owners tell their cells'
    /// edges, and no ghost's need to go back. In the end a ghost has its owner's divided edges. It ends, since each
    /// time some rank divides an edge more.
    ///
    /// # Errors
    /// The fault on which all agree.
    pub fn spread(
        &self,
        ranks: &Ranks,
        halo: &Halo,
        mut divided: Vec<u32>,
        mut follow: impl FnMut(&[u32]) -> trioxide::Result<Vec<u32>>,
    ) -> Result<u64> {
        let mut told = vec![0; divided.len()];
        for exchanges in 1.. {
            let is_new = |i: usize| {
                let edge = self.given[i] as usize;
                contains(&divided, edge) && !contains(&told, edge)
            };
            let places = halo.tell(ranks, self.each, is_new);
            let mut found: Vec<u32> = places.into_iter().map(|i| self.taken[i]).collect();
            found.retain(|&e| !contains(&divided, e as usize));
            found.sort_unstable();
            found.dedup();
            if ranks.reduce(u64::from(!found.is_empty()), Reduction::Or) == 0 {
                return Ok(exchanges);
            }
            // An edge that this rank is told may be one of an owned cell too, and this rank alone tells all that have
            // that one as a ghost.
            told.copy_from_slice(&divided);
            let followed = match &found[..] {
                [] => Ok(divided),
                found => follow(found),
            };
            divided = ranks.agree(followed.map_err(Fault::from))?;
        }
        unreachable!("each exchange finds an edge, but the last")
    }
}
