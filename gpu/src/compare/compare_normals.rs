//! Angles between the normals of two surfaces.

use glam::{DVec2, DVec3};
use trioxide_kernel::kernel;
use trioxide_kernel::view::{In, Out};

use super::distance::{cross, dot};
use super::shape::Shape;
use crate::ids::{Item, Triangle};
use crate::smooth::root;

/// The cosine and the sine of the angle between the normals of triangle `of[i]` of `shape` and triangle `to[i]` of
/// `other`; both are 0 if one of the triangles has no area.
#[kernel(
    requires(of.len() == n, to.len() == n, angles.len() == n),
    moves(of.bytes() + to.bytes() + angles.bytes())
)]
pub fn compare_normals(
    i: Item,
    shape: Shape,
    of: In<Triangle>,
    other: Shape,
    to: In<Triangle>,
    angles: Out<DVec2>,
) {
    let (u, v) = (normal(shape, of.at(i)), normal(other, to.at(i)));
    let turn = cross(u, v);
    angles.set(i, DVec2::new(dot(u, v), root(dot(turn, turn))));
}

/// The normal of length 1; 0 of a triangle without an area.
#[inline(always)]
fn normal(shape: Shape, t: Triangle) -> DVec3 {
    let [a, b, c] = shape.triangle(t);
    let normal = cross(b - a, c - a);
    let length = root(dot(normal, normal));
    match length > 0.0 {
        true => normal / length,
        false => DVec3::ZERO,
    }
}
