//! The tree over the triangles of a shape.

use glam::DVec3;
use gpu::compare::{Bounds, TreeBuffers, first_leaf, kernels as kernel, leaves, nodes};
use gpu::ids::Triangle;
use trioxide_kernel::launch::Buffer;

use super::{Shape, Triangles, too_many};
use crate::device::Device;
use crate::{Result, reorder};

/// A shape in a tree, to find the nearest triangle of a point.
pub struct Tree<'a> {
    shape: Shape<'a>,
    order: Triangles,
    boxes: Buffer<Bounds>,
}

/// The nearest triangles of points.
pub struct Nearest {
    /// The distance of each point.
    pub distances: Buffer<f64>,
    /// Its nearest triangle; of a cloud, its nearest point.
    pub triangles: Buffer<Triangle>,
}

impl<'a> Tree<'a> {
    /// The tree over a shape.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) for more triangles than half of all ids; errors of the device.
    pub fn build(on: &Device, shape: Shape<'a>) -> Result<Self> {
        let n = shape.triangles();
        // Nodes have ids too.
        if n > 1 << 31 {
            return Err(too_many("triangles", n));
        }
        let order = match shape.is_cloud() {
            true => order(on, shape.points)?,
            false => order(on, &centers(on, shape)?)?,
        };
        let boxes = on.stage("bound triangles", || boxes(on, shape, &order))?;
        Ok(Self {
            shape,
            order,
            boxes,
        })
    }

    /// The nearest triangle of each point, all of which are finite.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) for more points than ids; errors of the device.
    pub fn nearest(&self, on: &Device, points: &Buffer<DVec3>) -> Result<Nearest> {
        let n = u32::try_from(points.len()).map_err(|_| too_many("points", points.len()))?;
        on.stage("measure distances", || {
            let mut distances = on.uninitialized(points.len())?;
            let mut triangles = on.uninitialized(points.len())?;
            let tree = TreeBuffers {
                shape: self.shape.buffers(),
                order: &self.order,
                boxes: &self.boxes,
                first_leaf: first_leaf(leaves(self.order.len() as u32)),
            };
            // SAFETY: the order has ids of triangles, whose vertices are there; each inner node has two nodes below
            // it where its level has not ended, and a search goes to no other.
            unsafe {
                kernel::measure_distances::launch(
                    on,
                    n,
                    points,
                    tree,
                    &mut distances,
                    &mut triangles,
                )?;
            }
            Ok(Nearest {
                distances,
                triangles,
            })
        })
    }
}

/// The places along a Hilbert curve, as triangles.
fn order(on: &Device, places: &Buffer<DVec3>) -> Result<Triangles> {
    let (_, order, _) = reorder::vertices_in_space(on, places)?.into_arrays();
    Ok(order.cast())
}

/// The middle of each triangle.
fn centers(on: &Device, shape: Shape<'_>) -> Result<Buffer<DVec3>> {
    let n = shape.triangles();
    on.stage("find centers", || {
        let mut centers = on.uninitialized(n)?;
        // SAFETY: the vertices of a shape's triangles are there.
        unsafe { kernel::find_centers::launch(on, n as u32, shape.buffers(), &mut centers)? };
        Ok(centers)
    })
}

/// Boxes of all nodes, from the leaves up.
fn boxes(on: &Device, shape: Shape<'_>, order: &Triangles) -> Result<Buffer<Bounds>> {
    let count = leaves(order.len() as u32);
    let mut first = first_leaf(count);
    let mut boxes = on.uninitialized(nodes(count))?;
    let padded = count.next_multiple_of(2);
    // SAFETY: the order has ids of triangles, whose vertices are there; there is a box for each leaf.
    unsafe {
        kernel::bound_leaves::launch(on, padded, shape.buffers(), order, first, &mut boxes)?;
    }
    let mut count = count;
    while first > 1 {
        (first, count) = (first / 2, count.div_ceil(2));
        let padded = if first > 1 {
            count.next_multiple_of(2)
        } else {
            1
        };
        // SAFETY: the two nodes below each of the first `count` have been written, and lie after this level.
        unsafe { kernel::bound_nodes::launch(on, padded, first, count, &mut boxes)? };
    }
    Ok(boxes)
}
