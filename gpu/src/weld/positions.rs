//! Positions of clusters.

use glam::DVec3;
use trioxide_kernel::kernel;
use trioxide_kernel::safe::{In, Out, Own};

use super::clusters::Clusters;
use super::ids::Cluster;
use crate::ids::Vertex;

/// Position of cluster `c`: the mean of its vertices, added in ascending order.
#[kernel(
    requires(clusters.fit(n, points.len()), positions.len() == n),
    moves(clusters.bytes() + points.bytes() + positions.bytes())
)]
pub fn average_points(
    c: Own<Cluster>,
    clusters: Clusters,
    points: In<DVec3, Vertex>,
    positions: Out<DVec3, Cluster>,
) {
    points.prefetch_item(clusters.representatives, *c);
    let representative = clusters.representatives.at(c);
    let [first, end] = clusters.offsets.at_all([c.index(), c.index() + 1]);
    let mut sum = points.at(representative);
    clusters.each([first, end], points, |point| sum += point);
    let count = f64::from(1 + end - first);
    positions.set(c, if end == first { sum } else { sum / count });
}

/// Position, or normal, of cluster `c`: that of its representative.
#[kernel(
    requires(representatives.len() == n, taken.len() == n),
    moves(representatives.bytes() + 2 * taken.bytes())
)]
pub fn take_first_points(
    c: Own<Cluster>,
    representatives: In<Vertex, Cluster>,
    points: In<DVec3, Vertex>,
    taken: Out<DVec3, Cluster>,
) {
    points.prefetch_item(representatives, *c);
    taken.set(c, points.at(representatives.at(c)));
}
