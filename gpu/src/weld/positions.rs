//! Positions of clusters.

use glam::DVec3;
use trioxide_kernel::safe::{In, Out, Own};
use trioxide_kernel::{Each, kernel};

use super::clusters::Clusters;
use super::ids::Cluster;
use crate::ids::Vertex;

/// The mean of `count` numbers with this sum, between the least and the largest of them: the mean of equal numbers is
/// that number.
#[inline(always)]
pub fn mean_of(sum: f64, count: f64, [least, most]: [f64; 2]) -> f64 {
    let mean = sum / count;
    if mean < least {
        least
    } else if mean > most {
        most
    } else {
        mean
    }
}

/// The range of numbers with the range `[least, most]` and of `x`.
#[inline(always)]
pub fn with_number([least, most]: [f64; 2], x: f64) -> [f64; 2] {
    [
        if x < least { x } else { least },
        if x > most { x } else { most },
    ]
}

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
    let point = points.at(representative);
    if end == first {
        positions.set(c, point);
        return;
    }
    let mut sum = point;
    let [mut x, mut y, mut z] = [point.x, point.y, point.z].each(|x| [x, x]);
    clusters.each([first, end], points, |point| {
        sum += point;
        x = with_number(x, point.x);
        y = with_number(y, point.y);
        z = with_number(z, point.z);
    });
    let count = f64::from(1 + end - first);
    let mean = DVec3::new(
        mean_of(sum.x, count, x),
        mean_of(sum.y, count, y),
        mean_of(sum.z, count, z),
    );
    positions.set(c, mean);
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
