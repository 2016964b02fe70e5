//! Numbers of clusters, and their members.
//!
//! Clusters are numbered by their representatives, ascending: the order in which S-Weld makes them.

use trioxide_kernel::{Bits, Group, In, Out, kernel};

use super::ids::Cluster;
use crate::ids::Vertex;

/// Whether vertex `v` is a representative.
#[kernel(
    requires(representatives.len() == n),
    moves(representatives.bytes() + 4 * words(n))
)]
pub fn mark_representatives(v: Vertex, representatives: In<Vertex>) -> bool {
    representatives.at(v) == v
}

/// Whether vertex `v` is gone: its cluster has another representative.
#[kernel(requires(map.len() == n), moves(map.bytes() + representatives.bytes() + 4 * words(n)))]
pub fn mark_removed(v: Vertex, map: In<Cluster>, representatives: In<Vertex>) -> bool {
    representatives.at(map.at(v)) != v
}

/// Number of set bits of word `w`.
#[kernel(
    requires(bits.len() == n, counts.len() == n),
    moves(bits.bytes() + counts.bytes())
)]
pub fn count_in_words(w: u32, bits: In<Bits<Vertex>>, counts: Out<u32>) {
    counts.set(w, bits.at(w).word().count_ones());
}

/// Finds the cluster of vertex `v` (`map`), and the cluster that it is a member of besides the representative (`keys`: none for
/// a representative).
///
/// `counts` are those of the words of `bits`, scanned.
#[kernel(
    requires(
        representatives.len() == n,
        bits.len() == words(n),
        counts.len() == words(n),
        map.len() == n,
        keys.len() == n
    ),
    moves(representatives.bytes() + bits.bytes() + counts.bytes() + map.bytes() + keys.bytes())
)]
pub fn number_clusters(
    v: Vertex,
    representatives: In<Vertex>,
    bits: In<Bits<Vertex>>,
    counts: In<u32>,
    map: Out<Cluster>,
    keys: Out<Cluster>,
) {
    let r = representatives.at(v);
    let (word, bit) = (r.index() / 32, r.index() % 32);
    let before = bits.at(word).word() & ((1 << bit) - 1);
    let cluster = Cluster::new(counts.at(word) + before.count_ones());
    map.set(v, cluster);
    keys.set(v, if r == v { Cluster::NONE } else { cluster });
}

/// The vertices of each cluster.
#[derive(Group)]
pub struct Clusters<'a> {
    /// The lowest vertex of each cluster; C.
    pub representatives: In<'a, Vertex>,
    /// Start of each cluster's vertices in `members`, and the end of the last; C + 1.
    pub offsets: In<'a, u32>,
    /// The vertices besides the representatives, ascending in each cluster.
    pub members: In<'a, Vertex>,
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
