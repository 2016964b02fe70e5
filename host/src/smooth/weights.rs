//! Weights of neighbours, and which boundary nodes slide.

use gpu::collective::order_buckets;
use gpu::smooth::{self as kernel, Vector};
use trioxide_kernel::launch::Buffer;

use super::cells::DeviceMesh;
use super::{Relations, Weights};
use crate::Result;
use crate::backend::Device;

/// The weight of each neighbour; empty if all are equal.
///
/// # Errors
/// Those of the device.
pub(super) fn weigh<P: Vector>(
    on: &Device,
    mesh: &DeviceMesh<P>,
    relations: &Relations,
    weights: Weights,
) -> Result<Buffer<f64>> {
    let Relations {
        incidence,
        neighbours,
        ..
    } = relations;
    let count = neighbours.neighbours.len();
    let nodes = mesh.cells.nodes;
    match weights {
        Weights::Uniform => Ok(on.uninitialized(0)?),
        Weights::InverseLength => on.stage("weights", || {
            let mut weights = on.uninitialized(count)?;
            unsafe {
                kernel::weigh_by_distance::launch(
                    on,
                    nodes,
                    &neighbours.rows,
                    &neighbours.neighbours,
                    &mesh.points,
                    &mut weights,
                )
            }?;
            Ok(weights)
        }),
        Weights::Cotangent => on.stage("weights", || {
            let mut corners = on.duplicate(&incidence.corners)?;
            unsafe { order_buckets::launch(on, nodes, &incidence.starts, &mut corners) }?;
            let mut weights = on.uninitialized(count)?;
            unsafe {
                kernel::weigh_by_cotangents::launch(
                    on,
                    nodes,
                    &mesh.cells.offsets,
                    &mesh.cells.vertices,
                    &mesh.cells.cells,
                    &incidence.starts,
                    &corners,
                    &neighbours.rows,
                    &neighbours.neighbours,
                    &mesh.points,
                    &mut weights,
                )
            }?;
            Ok(weights)
        }),
    }
}

/// The boundary nodes that stay, as a bit set; of those that slide, `weights` lose the neighbours off their patch or edge.
///
/// # Errors
/// Those of the device.
pub(super) fn slide<P: Vector>(
    on: &Device,
    mesh: &DeviceMesh<P>,
    relations: &Relations,
    weights: &mut Buffer<f64>,
) -> Result<Buffer<u32>> {
    let Relations {
        incidence,
        neighbours,
        boundary,
    } = relations;
    on.stage("sliding nodes", || {
        if weights.is_empty() {
            *weights = on.upload(&vec![1.0; neighbours.neighbours.len()])?;
        }
        let nodes = mesh.cells.nodes;
        let mut stays = on.uninitialized(nodes.div_ceil(32) as usize)?;
        let slide = if mesh.cells.is_surface {
            kernel::slide_border_nodes::launch::<P>
        } else {
            kernel::slide_nodes::launch::<P>
        };
        unsafe {
            slide(
                on,
                nodes,
                &mesh.cells.offsets,
                &mesh.cells.vertices,
                &mesh.cells.cells,
                &incidence.starts,
                &incidence.corners,
                &boundary.faces,
                &boundary.nodes,
                &neighbours.rows,
                &neighbours.neighbours,
                &mesh.points,
                weights,
                &mut stays,
            )
        }?;
        Ok(stays)
    })
}
