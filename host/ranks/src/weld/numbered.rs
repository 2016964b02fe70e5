//! The new vertices of a block's vertices, on the device of the block's rank.

use std::ops::Range;

use trioxide::Device;
use trioxide::weld::BlockMap;
use trioxide_mesh::parallel;

use crate::directory::Fetched;
use crate::fault::Result;
use crate::ids::IdSet;
use crate::transport::Ranks;

/// The new vertices of the vertices of this rank's block.
pub struct Numbered {
    /// Vertices of the whole mesh.
    pub total: u64,
    /// The block's vertices.
    pub block: Range<u64>,
    /// Their clusters. The clusters that other ranks number come first.
    pub map: BlockMap,
    /// New vertices of the clusters that other ranks number.
    pub elsewhere: Vec<u64>,
    /// The first new vertex of each rank's block, and the number of all.
    pub starts: Vec<u64>,
    /// The new vertices that this rank numbers.
    pub own: Range<u64>,
}

impl Numbered {
    /// The new vertex of a cluster.
    fn number(&self, cluster: u32) -> u64 {
        match cluster.checked_sub(self.map.clusters().start) {
            Some(name) => self.own.start + u64::from(name),
            None => self.elsewhere[cluster as usize],
        }
    }

    /// The new vertices of old vertices of any block. Collective.
    ///
    /// # Errors
    /// Those of the device.
    pub fn fetch(&mut self, ranks: &Ranks, on: &Device, ids: IdSet) -> Result<Fetched<u64>> {
        Fetched::try_by(ranks, self.total, ids, |places| {
            let clusters = self.map.get(on, places)?;
            Ok(parallel::map(&clusters, |&c| self.number(c)))
        })
    }

    /// The new vertices of all vertices of the block.
    ///
    /// # Errors
    /// Those of the device.
    pub fn download(&self, on: &Device) -> Result<Vec<u64>> {
        let clusters = self.map.download(on)?;
        Ok(parallel::map(&clusters, |&c| self.number(c)))
    }
}
