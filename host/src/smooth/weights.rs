//! Weights of neighbours, and the boundary nodes that slide.

use gpu::ids::{Corner, Vertex};
use gpu::smooth::{self as kernel, StarsBuffers, Vector};
use trioxide_collective::order_buckets;
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::{Bits, words};

use super::options::Weights;
use super::relations::{Relations, Sides};
use crate::Result;
use crate::device::Device;

/// The weight of each neighbour; empty if all are equal.
pub(super) fn weigh<P: Vector>(
    on: &Device,
    relations: &Relations<'_, P>,
    weights: Weights,
) -> Result<Buffer<f64>> {
    let (points, nodes) = (relations.mesh.points(), relations.mesh.cells().nodes());
    let adjacency = relations.neighbours.buffers();
    let count = relations.neighbour_count();
    match weights {
        Weights::Uniform => on.uninitialized(0),
        Weights::InverseLength => on.stage("weights", || {
            let mut weights = on.uninitialized(count)?;
            kernel::weigh_by_distance::launch(on, nodes, adjacency, points, &mut weights)?;
            Ok(weights)
        }),
        Weights::Cotangent => on.stage("weights", || {
            let stars = relations.stars();
            let corners = ascending_corners(on, relations)?;
            let stars = StarsBuffers {
                corners: &corners,
                ..stars
            };
            let mut weights = on.uninitialized(count)?;
            kernel::weigh_by_cotangents::launch(on, nodes, stars, adjacency, points, &mut weights)?;
            Ok(weights)
        }),
    }
}

/// The corners of each node, ascending: sums over them have one order.
pub(super) fn ascending_corners<P: Vector>(
    on: &Device,
    relations: &Relations<'_, P>,
) -> Result<Buffer<Corner>> {
    let (stars, nodes) = (relations.stars(), relations.mesh.cells().nodes());
    let mut corners = on.duplicate(stars.corners)?;
    // SAFETY: starts and corners belong together.
    unsafe { order_buckets::launch(on, nodes, stars.starts, corners.as_words_mut()) }?;
    Ok(corners)
}

/// The boundary nodes that stay. Nodes that slide lose the `weights` of the neighbours off their patch or edge.
pub(super) fn slide<P: Vector>(
    on: &Device,
    relations: &Relations<'_, P>,
    weights: &mut Buffer<f64>,
) -> Result<Buffer<Bits<Vertex>>> {
    let (points, nodes) = (relations.mesh.points(), relations.mesh.cells().nodes());
    let (stars, adjacency) = (relations.stars(), relations.neighbours.buffers());
    let boundary = &relations.boundary;
    on.stage("sliding nodes", || {
        if weights.is_empty() {
            *weights = on.upload(&vec![1.0; relations.neighbour_count()])?;
        }
        let mut stays = on.uninitialized(words(nodes as usize))?;
        match &boundary.sides {
            Sides::Edges(edges) => kernel::slide_border_nodes::launch(
                on,
                nodes,
                stars,
                edges,
                &boundary.nodes,
                adjacency,
                points,
                weights,
                &mut stays,
            ),
            Sides::Faces(faces) => kernel::slide_nodes::launch(
                on,
                nodes,
                stars,
                faces,
                &boundary.nodes,
                adjacency,
                points,
                weights,
                &mut stays,
            ),
        }?;
        Ok(stays)
    })
}
