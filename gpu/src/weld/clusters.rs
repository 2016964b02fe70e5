//! Numbers of clusters, and their members.
//!
//! Clusters are numbered by their representatives, in ascending order, as S-Weld makes them.

use trioxide_kernel::kernel;
use trioxide_kernel::rows::rank_of;
use trioxide_kernel::safe::{Element, Group, In, Out, Own};

use super::ids::Cluster;
use crate::ids::Vertex;

/// Whether vertex `v` is a representative.
#[kernel(
    requires(representatives.len() == n),
    moves(representatives.bytes() + 4 * words(n))
)]
pub fn mark_representatives(v: Own<Vertex>, representatives: In<Vertex, Vertex>) -> bool {
    representatives.at(v) == *v
}

/// Whether vertex `v` is removed: its cluster has another representative.
#[kernel(requires(map.len() == n), moves(map.bytes() + representatives.bytes() + 4 * words(n)))]
pub fn mark_removed(
    v: Own<Vertex>,
    map: In<Cluster, Vertex>,
    representatives: In<Vertex, Cluster>,
) -> bool {
    representatives.at(map.at(v)) != *v
}

/// Writes the cluster of vertex `v` (`map`), and the cluster whose list of members it enters (`keys`: none for a
/// representative). `ranks` are the ranks of the representatives.
#[kernel(
    requires(
        representatives.len() == n,
        ranks.len() == 2 * words(n),
        map.len() == n,
        keys.len() == n
    ),
    moves(representatives.bytes() + ranks.bytes() + map.bytes() + keys.bytes())
)]
pub fn number_clusters(
    v: Own<Vertex>,
    representatives: In<Vertex, Vertex>,
    ranks: In<u32>,
    map: Out<Cluster, Vertex>,
    keys: Out<Cluster, Vertex>,
) {
    let r = representatives.at(v);
    let cluster = Cluster::new(rank_of(ranks, r));
    map.set(v, cluster);
    keys.set(v, if r == *v { Cluster::NONE } else { cluster });
}

/// The vertices of each cluster.
#[derive(Group)]
pub struct Clusters<'a> {
    /// The lowest vertex of each cluster; C.
    pub representatives: In<'a, Vertex, Cluster>,
    /// Start of each cluster's vertices in `members`, and the end of the last; C + 1.
    pub offsets: In<'a, u32>,
    /// The members without the representatives, ascending in each cluster.
    pub members: In<'a, Vertex>,
}

impl Clusters<'_> {
    /// Calls `add` with the value of each member from place `first` to `end`, in their order. Four are read at once, so
    /// that the reads overlap.
    #[inline(always)]
    pub(super) fn each<T: Element>(
        &self,
        [first, end]: [u32; 2],
        values: In<T, Vertex>,
        mut add: impl FnMut(T),
    ) {
        let mut i = first;
        while i < end && end - i >= 4 {
            let four = self.members.at_all([i, i + 1, i + 2, i + 3]);
            let [a, b, c, d] = values.at_all(four);
            add(a);
            add(b);
            add(c);
            add(d);
            i += 4;
        }
        while i < end {
            add(values.at(self.members.at(i)));
            i += 1;
        }
    }
}

#[cfg(not(target_arch = "nvptx64"))]
impl ClustersBuffers<'_> {
    /// Whether these are the lists of `clusters` clusters of `vertices` vertices.
    pub fn fit(&self, clusters: usize, vertices: usize) -> bool {
        self.representatives.len() == clusters
            && self.offsets.len() == clusters + 1
            && self.members.len() + clusters == vertices
    }

    /// Bytes of the lists.
    pub fn bytes(&self) -> usize {
        self.representatives.bytes() + self.offsets.bytes() + self.members.bytes()
    }
}
