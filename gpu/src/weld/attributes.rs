//! What clusters carry: the means of their vertices' attributes, in the order in which positions are added.
//!
//! A cluster of one vertex keeps what it has, bit by bit.

use glam::{DVec2, DVec3};
use trioxide_kernel::{In, Out, kernel};

use super::grid::item;
use super::near::direction;
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

/// Mean of texture coordinates whose sum and number are given. What is no number is always the same one.
#[inline(always)]
pub fn mean_uv(sum: DVec2, count: f64) -> DVec2 {
    let number = |x: f64| if x.is_nan() { f64::NAN } else { x };
    DVec2::new(number(sum.x / count), number(sum.y / count))
}

/// Channels of a colour.
#[inline(always)]
pub fn channels(color: u32) -> [f64; 4] {
    [color, color >> 8, color >> 16, color >> 24].map(|channel| f64::from(channel & 0xFF))
}

/// Mean of colours whose channels' sums and number are given, rounded, halves up.
#[inline(always)]
pub fn mean_color(sums: [f64; 4], count: f64) -> u32 {
    let [red, green, blue, alpha] = sums.map(|sum| (sum / count + 0.5) as u32);
    red | green << 8 | blue << 16 | alpha << 24
}

/// Normal of cluster `c`: the sum of its vertices' normals, made of length 1.
///
/// The representative is the lowest vertex, and `members[offsets[c]..offsets[c + 1]]` are the others.
#[kernel]
pub fn average_normals(
    c: u32,
    representatives: In<u32>,
    offsets: In<u32>,
    members: In<u32>,
    normals: In<DVec3>,
    averages: Out<DVec3>,
) {
    normals.prefetch_item(representatives, c);
    let first = normals.at(representatives.at(c));
    let (mut i, end) = (offsets.at(c), offsets.at(c + 1));
    if i == end {
        averages.set(c, first);
        return;
    }
    let mut sum = summand(first);
    while i < end {
        sum += summand(normals.at(members.at(i)));
        i += 1;
    }
    averages.set(c, unit(sum));
}

/// Texture coordinates of cluster `c`: the mean of its vertices'.
#[kernel]
pub fn average_uvs(
    c: u32,
    representatives: In<u32>,
    offsets: In<u32>,
    members: In<u32>,
    uvs: In<DVec2>,
    averages: Out<DVec2>,
) {
    uvs.prefetch_item(representatives, c);
    let mut sum = uvs.at(representatives.at(c));
    let (first, end) = (offsets.at(c), offsets.at(c + 1));
    if first == end {
        averages.set(c, sum);
        return;
    }
    let mut i = first;
    while i < end {
        sum += uvs.at(members.at(i));
        i += 1;
    }
    averages.set(c, mean_uv(sum, f64::from(1 + end - first)));
}

/// Colour of cluster `c`: the mean of its vertices', rounded.
#[kernel]
pub fn average_colors(
    c: u32,
    representatives: In<u32>,
    offsets: In<u32>,
    members: In<u32>,
    colors: In<u32>,
    averages: Out<u32>,
) {
    colors.prefetch_item(representatives, c);
    let [mut red, mut green, mut blue, mut alpha] = channels(colors.at(representatives.at(c)));
    let (first, end) = (offsets.at(c), offsets.at(c + 1));
    let mut i = first;
    while i < end {
        let [r, g, b, a] = channels(colors.at(members.at(i)));
        red += r;
        green += g;
        blue += b;
        alpha += a;
        i += 1;
    }
    averages.set(
        c,
        mean_color([red, green, blue, alpha], f64::from(1 + end - first)),
    );
}

/// Texture coordinates of cluster `c`: those of its representative.
#[kernel]
pub fn take_first_uvs(c: u32, representatives: In<u32>, uvs: In<DVec2>, taken: Out<DVec2>) {
    uvs.prefetch_item(representatives, c);
    taken.set(c, uvs.at(representatives.at(c)));
}

/// Colour of cluster `c`: that of its representative.
#[kernel]
pub fn take_first_colors(c: u32, representatives: In<u32>, colors: In<u32>, taken: Out<u32>) {
    colors.prefetch_item(representatives, c);
    taken.set(c, colors.at(representatives.at(c)));
}

/// Region of face `list[i]`, or of each in turn for an empty list, at place `i`.
#[kernel]
pub fn gather_regions(i: u32, list: In<u32>, regions: In<i32>, left: Out<i32>) {
    left.set(i, regions.at(item(list, i)));
}
