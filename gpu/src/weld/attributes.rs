//! Attributes of clusters: the means of their vertices' attributes, in the order in which positions are added.
//!
//! A cluster of one vertex keeps its attributes, bit by bit.

use glam::{DVec2, DVec3};
use trioxide_kernel::safe::{In, Out, Own};
use trioxide_kernel::{Each, kernel};

use super::clusters::Clusters;
use super::grid::item;
use super::guards::direction;
use super::ids::Cluster;
use super::positions::{mean_of, with_number};
use crate::ids::{Item, Triangle, Vertex};
use crate::smooth::root;

/// A normal as it is added to others: zero if it has no direction.
#[inline(always)]
pub fn summand(normal: DVec3) -> DVec3 {
    if direction(normal.to_array()) == [0.0; 3] {
        DVec3::ZERO
    } else {
        normal
    }
}

/// The vector of length 1 along a sum of normals; zero for none.
#[inline(always)]
pub fn unit(sum: DVec3) -> DVec3 {
    let [x, y, z] = direction(sum.to_array());
    let square = x * x + y * y + z * z;
    if square == 0.0 {
        return DVec3::ZERO;
    }
    let length = root(square);
    DVec3::new(x / length, y / length, z / length)
}

/// Mean of texture coordinates, from their sum, their number and the ranges of both. Every NaN becomes the same NaN.
#[inline(always)]
pub fn mean_uv(sum: DVec2, count: f64, [u, v]: [[f64; 2]; 2]) -> DVec2 {
    let number = |x: f64| if x.is_nan() { f64::NAN } else { x };
    DVec2::new(
        number(mean_of(sum.x, count, u)),
        number(mean_of(sum.y, count, v)),
    )
}

/// Channels of a colour.
#[inline(always)]
pub fn channels(color: u32) -> [f64; 4] {
    [color, color >> 8, color >> 16, color >> 24].each(|channel| f64::from(channel & 0xFF))
}

/// Mean of colours, from the sums of their channels and their number; rounded, halves up.
#[inline(always)]
pub fn mean_color(sums: [f64; 4], count: f64) -> u32 {
    let [red, green, blue, alpha] = sums.each(|sum| (sum / count + 0.5) as u32);
    red | green << 8 | blue << 16 | alpha << 24
}

/// Normal of cluster `c`: that of all its vertices, or the sum of their normals, scaled to length 1.
#[kernel(
    requires(clusters.fit(n, normals.len()), averages.len() == n),
    moves(clusters.bytes() + normals.bytes() + averages.bytes())
)]
pub fn average_normals(
    c: Own<Cluster>,
    clusters: Clusters,
    normals: In<DVec3, Vertex>,
    averages: Out<DVec3, Cluster>,
) {
    normals.prefetch_item(clusters.representatives, *c);
    let representative = clusters.representatives.at(c);
    let [start, end] = clusters.offsets.at_all([c.index(), c.index() + 1]);
    let first = normals.at(representative);
    if start == end {
        averages.set(c, first);
        return;
    }
    let (mut sum, mut are_equal) = (summand(first), true);
    clusters.each([start, end], normals, |normal| {
        sum += summand(normal);
        are_equal &= normal == first;
    });
    averages.set(c, if are_equal { first } else { unit(sum) });
}

/// Texture coordinates of cluster `c`: the mean of its vertices' coordinates.
#[kernel(
    requires(clusters.fit(n, uvs.len()), averages.len() == n),
    moves(clusters.bytes() + uvs.bytes() + averages.bytes())
)]
pub fn average_uvs(
    c: Own<Cluster>,
    clusters: Clusters,
    uvs: In<DVec2, Vertex>,
    averages: Out<DVec2, Cluster>,
) {
    uvs.prefetch_item(clusters.representatives, *c);
    let representative = clusters.representatives.at(c);
    let [first, end] = clusters.offsets.at_all([c.index(), c.index() + 1]);
    let mut sum = uvs.at(representative);
    if first == end {
        averages.set(c, sum);
        return;
    }
    let (mut u, mut v) = ([sum.x, sum.x], [sum.y, sum.y]);
    clusters.each([first, end], uvs, |uv| {
        sum += uv;
        u = with_number(u, uv.x);
        v = with_number(v, uv.y);
    });
    averages.set(c, mean_uv(sum, f64::from(1 + end - first), [u, v]));
}

/// Colour of cluster `c`: the mean of its vertices' colours, rounded.
#[kernel(
    requires(clusters.fit(n, colors.len()), averages.len() == n),
    moves(clusters.bytes() + colors.bytes() + averages.bytes())
)]
pub fn average_colors(
    c: Own<Cluster>,
    clusters: Clusters,
    colors: In<u32, Vertex>,
    averages: Out<u32, Cluster>,
) {
    colors.prefetch_item(clusters.representatives, *c);
    let representative = clusters.representatives.at(c);
    let [first, end] = clusters.offsets.at_all([c.index(), c.index() + 1]);
    let [mut red, mut green, mut blue, mut alpha] = channels(colors.at(representative));
    clusters.each([first, end], colors, |color| {
        let [r, g, b, a] = channels(color);
        red += r;
        green += g;
        blue += b;
        alpha += a;
    });
    averages.set(
        c,
        mean_color([red, green, blue, alpha], f64::from(1 + end - first)),
    );
}

/// Texture coordinates of cluster `c`: those of its representative.
#[kernel(
    requires(representatives.len() == n, taken.len() == n),
    moves(representatives.bytes() + 2 * taken.bytes())
)]
pub fn take_first_uvs(
    c: Own<Cluster>,
    representatives: In<Vertex, Cluster>,
    uvs: In<DVec2, Vertex>,
    taken: Out<DVec2, Cluster>,
) {
    uvs.prefetch_item(representatives, *c);
    taken.set(c, uvs.at(representatives.at(c)));
}

/// Colour of cluster `c`: that of its representative.
#[kernel(
    requires(representatives.len() == n, taken.len() == n),
    moves(representatives.bytes() + 2 * taken.bytes())
)]
pub fn take_first_colors(
    c: Own<Cluster>,
    representatives: In<Vertex, Cluster>,
    colors: In<u32, Vertex>,
    taken: Out<u32, Cluster>,
) {
    colors.prefetch_item(representatives, *c);
    taken.set(c, colors.at(representatives.at(c)));
}

/// Copies the region of triangle `list[i]` to place `i`. An empty list stands for all triangles.
#[kernel(
    requires(list.is_empty() && regions.len() == n || list.len() == n, left.len() == n),
    moves(list.bytes() + 2 * left.bytes())
)]
pub fn gather_regions(
    i: Own<Item>,
    list: In<Triangle>,
    regions: In<i32, Triangle>,
    left: Out<i32, Item>,
) {
    left.set(i, regions.at(item(list, i.index())));
}
