//! The directions along which nodes of the boundary slide.

use glam::DVec3;
use trioxide_kernel::safe::{In, Out, Own, Parts};
use trioxide_kernel::{Bits, kernel};

use super::energy::square;
use super::simplices::cross;
use crate::ids::Vertex;
use crate::point3::{Point3, Spatial};
use crate::smooth::Adjacency;

/// The directions of node `v` of the boundary, at `frames[2 v..2 v + 2]`.
///
/// [`slide_nodes()`](crate::smooth::slide_nodes()) has the same `weights`: a neighbour of weight 0 is off the node's
/// patch or edge. The first direction is the longest edge to another one, the second is the edge that spans the largest
/// area with it, or 0 if the node has an edge of the boundary: then it has two neighbours, on a line.
#[kernel(
    P in Spatial,
    requires(
        adjacency.rows.len() == n + 1,
        on_boundary.len() == words(n),
        points.len() == n,
        weights.len() == adjacency.neighbours.len(),
        frames.len() == 2 * n
    ),
    moves(on_boundary.bytes() + points.bytes() + frames.bytes())
)]
pub fn find_frames<P: Point3>(
    v: Own<Vertex>,
    adjacency: Adjacency,
    on_boundary: In<Bits<Vertex>>,
    points: In<P, Vertex>,
    weights: In<f64>,
    frames: Out<DVec3, Parts<Vertex, 2>>,
) {
    let (mut first, mut second) = (DVec3::ZERO, DVec3::ZERO);
    let here = points.at(v).to_f64();
    let kept = |s: u32| {
        if weights.at(s) == 0.0 {
            DVec3::ZERO
        } else {
            points.at(adjacency.neighbours.at(s)).to_f64() - here
        }
    };
    if on_boundary.bit(*v) {
        let mut count = 0;
        let mut s = adjacency.start(v);
        while s < adjacency.end(*v) {
            let edge = kept(s);
            count += u32::from(square(edge) > 0.0);
            if square(edge) > square(first) {
                first = edge;
            }
            s += 1;
        }
        let mut largest = 0.0;
        let mut s = adjacency.start(v);
        while count > 2 && s < adjacency.end(*v) {
            let edge = kept(s);
            let area = square(cross(first, edge));
            if area > largest {
                (largest, second) = (area, edge);
            }
            s += 1;
        }
    }
    frames.set(v.part(0), first);
    frames.set(v.part(1), second);
}
