//! The box around the nodes of a mesh that was made on the device; the host finds the box of other meshes.

use trioxide_kernel::kernel;
use trioxide_kernel::safe::{In, OwnBlock, PerBlock};

use crate::ids::Vertex;
use crate::ordered::ordered_bits;
use crate::point::{Anywhere, Coordinates, DoublePoint};

/// Extremes of a box: the largest x, y and z, then the largest -x, -y and -z.
pub const EXTREMES: usize = 6;
/// Nodes of a block.
pub const BOX_NODES: usize = 4096;
/// Lanes of a block.
const LANES: usize = 256;

/// The extremes of each [`BOX_NODES`] nodes, as [keys](ordered_bits()); a node of the plane has z = 0.
#[kernel(
    P in Anywhere,
    requires(extremes.len() == n, points.len().div_ceil(BOX_NODES) == n),
    moves(points.bytes() + extremes.bytes())
)]
pub fn measure_bounds<P: Coordinates>(
    block: OwnBlock<LANES>,
    points: In<P, Vertex>,
    extremes: PerBlock<[u64; EXTREMES]>,
) {
    let most = block.lanes(|lane| {
        let mut most = [0; EXTREMES];
        let mut k = 0;
        while k < BOX_NODES as u32 {
            let v = block.index() * BOX_NODES as u32 + k + lane.index();
            if v < points.len() {
                let point = points.at(Vertex::new(v)).to_f64().in_space();
                let keys = [point.x, point.y, point.z, -point.x, -point.y, -point.z];
                let mut e = 0;
                while e < EXTREMES {
                    let key = ordered_bits(keys[e]);
                    most[e] = if key > most[e] { key } else { most[e] };
                    e += 1;
                }
            }
            k += LANES as u32;
        }
        most
    });
    let of = |e: usize| block.max(&block.lanes(|lane| most.at(lane)[e]));
    let most = [of(0), of(1), of(2), of(3), of(4), of(5)];
    block.once(|_, own| extremes.set(own, most));
}
