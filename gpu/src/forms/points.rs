//! Points of the plane and of space.

use bytemuck::Pod;
use glam::{DVec2, DVec3, Vec2, Vec3};
use trioxide_kernel::kernel;
use trioxide_kernel::safe::{In, Out, Own};

use crate::ids::Vertex;
use crate::point::{Planar, Point2};

/// A point of the plane that lies in space too.
pub trait Lift: Point2 {
    /// A point of space, in the same precision.
    type Lifted: Pod + Send + Sync;

    /// The point with z = 0.
    fn lifted(self) -> Self::Lifted;

    /// The point without its z.
    fn flattened(point: Self::Lifted) -> Self;
}

impl Lift for Vec2 {
    type Lifted = Vec3;

    #[inline(always)]
    fn lifted(self) -> Vec3 {
        self.extend(0.0)
    }

    #[inline(always)]
    fn flattened(point: Vec3) -> Self {
        Vec2::new(point.x, point.y)
    }
}

impl Lift for DVec2 {
    type Lifted = DVec3;

    #[inline(always)]
    fn lifted(self) -> DVec3 {
        self.extend(0.0)
    }

    #[inline(always)]
    fn flattened(point: DVec3) -> Self {
        DVec2::new(point.x, point.y)
    }
}

/// Lifts point `v` into space.
#[kernel(
    P in Planar,
    requires(points.len() == n, lifted.len() == n),
    moves(points.bytes() + lifted.bytes())
)]
pub fn lift_points<P: Lift>(
    v: Own<Vertex>,
    points: In<P, Vertex>,
    lifted: Out<<P as Lift>::Lifted, Vertex>,
) {
    lifted.set(v, points.at(v).lifted());
}

/// Drops the z of point `v`.
#[kernel(
    P in Planar,
    requires(points.len() == n, flattened.len() == n),
    moves(points.bytes() + flattened.bytes())
)]
pub fn flatten_points<P: Lift>(
    v: Own<Vertex>,
    points: In<<P as Lift>::Lifted, Vertex>,
    flattened: Out<P, Vertex>,
) {
    flattened.set(v, P::flattened(points.at(v)));
}
