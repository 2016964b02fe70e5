//! Clusters of decided vertices: their numbers, members and positions.

use glam::DVec3;
use gpu::ids::Vertex;
use gpu::weld as kernel;
use gpu::weld::{Cluster, ClustersBuffers};
use trioxide_kernel::launch::Buffer;

use super::{Result, stage};
use crate::collective::{Tiled, bucket_known, bucket_long, most_alone};
use crate::device::Device;

/// The clusters of V vertices, C of them.
pub(super) struct Clusters {
    /// Cluster of each vertex; V.
    pub map: Buffer<Cluster>,
    /// Cluster of each vertex that is no representative, none of the others; V.
    keys: Buffer<Cluster>,
    /// Lowest vertex of each cluster, ascending; C.
    pub representatives: Buffer<Vertex>,
}

impl Clusters {
    /// Numbers the clusters of vertices with these `representatives`.
    pub fn number(on: &Device, representatives: &Buffer<Vertex>) -> Result<Self> {
        let n = representatives.len();
        stage(on, "number clusters", || {
            let mut bits = on.uninitialized(n.div_ceil(32))?;
            kernel::mark_representatives::launch(on, n as u32, representatives, &mut bits)?;
            let tiled = Tiled::new(on, &bits)?;
            let ranks = tiled.ranks(on)?;
            let (counted, (map, keys)) = tiled.count_beside(on, || {
                let (mut map, mut keys) = (on.uninitialized(n)?, on.uninitialized(n)?);
                kernel::number_clusters::launch(
                    on,
                    n as u32,
                    representatives,
                    &ranks,
                    &mut map,
                    &mut keys,
                )?;
                Ok((map, keys))
            })?;
            Ok(Self {
                map,
                keys,
                representatives: counted.list(on)?,
            })
        })
    }

    /// The vertices of each cluster besides its representative.
    /// `may_be_long`: a cluster may have very many.
    pub fn members(&self, on: &Device, may_be_long: bool) -> Result<Members> {
        stage(on, "members", || {
            let count = self.representatives.len();
            let keys = self.keys.as_words();
            let members = keys.len() - count;
            let buckets = if may_be_long {
                // SAFETY: all vertices but the representatives have a key below their number.
                let (lists, _) =
                    unsafe { bucket_long::<u32, u32>(on, keys, count, members, most_alone(on)) }?;
                lists
            } else {
                // SAFETY: as above.
                unsafe { bucket_known::<u32, u32>(on, keys, count, members) }?
            };
            let (offsets, vertices) = buckets.into_parts();
            Ok(Members {
                offsets,
                vertices: vertices.cast(),
            })
        })
    }

    /// Positions of the representatives, or, with the lists of the other `members`, the means.
    pub fn positions(
        &self,
        on: &Device,
        points: &Buffer<DVec3>,
        members: Option<&Members>,
    ) -> Result<Buffer<DVec3>> {
        stage(on, "positions", || {
            let mut positions = on.uninitialized(self.representatives.len())?;
            let n = self.representatives.len() as u32;
            let to = &mut positions;
            match members {
                None => {
                    let representatives = &self.representatives;
                    kernel::take_first_points::launch(on, n, representatives, points, to)
                }
                Some(members) => {
                    kernel::average_points::launch(on, n, self.lists(members), points, to)
                }
            }?;
            Ok(positions)
        })
    }

    /// The vertices of each cluster, with those besides the representatives.
    pub fn lists<'a>(&'a self, members: &'a Members) -> ClustersBuffers<'a> {
        ClustersBuffers {
            representatives: &self.representatives,
            offsets: &members.offsets,
            members: &members.vertices,
        }
    }
}

/// The vertices of each cluster besides its representative.
pub(super) struct Members {
    /// Start of each cluster's vertices, and the end of the last; C + 1.
    offsets: Buffer<u32>,
    /// Vertices, ascending in each cluster; V - C.
    vertices: Buffer<Vertex>,
}
