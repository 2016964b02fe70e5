//! Boxes of the nodes of a level.

use trioxide_kernel::kernel;
use trioxide_kernel::view::Out;

use super::distance::Bounds;
use super::tree::Node;

/// The box around both nodes below node `first` + `node`; of no triangles where the level has ended, `count` nodes
/// after its start.
#[kernel(requires(first as usize + n <= boxes.len()), moves(144 * n))]
pub fn bound_nodes(node: Node, first: u32, count: u32, boxes: Out<Bounds>) {
    let place = first + node.index();
    let bounds = if node.index() < count {
        boxes.at(2 * place).with(boxes.at(2 * place + 1))
    } else {
        Bounds::NONE
    };
    boxes.set(place, bounds);
}
