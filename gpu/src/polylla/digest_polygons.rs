//! The digest of polygons.

use trioxide_kernel::rows::Rows;
use trioxide_kernel::safe::{self, In};
use trioxide_kernel::{Block, Index, Out, Shared, SharedMemory, kernel};

use crate::ids::{HalfEdge, Polygon, Vertex};

/// Ids in the whole mesh for the elements of a part.
#[derive(safe::Group)]
pub struct WholeIds<'a> {
    /// The id of the first element; where there is no list, ids are consecutive.
    pub first: u64,
    /// The id of each element.
    pub list: In<'a, u64>,
}

impl WholeIds<'_> {
    #[inline(always)]
    fn at(self, i: impl Index) -> u64 {
        if self.list.is_empty() {
            self.first + u64::from(i.index())
        } else {
            self.list.at(i.index())
        }
    }
}

/// Lanes of a block.
const LANES: usize = 256;
/// Polygons of a block: 16 a lane.
pub const DIGESTED: u32 = 16 * LANES as u32;

/// A sum of hashes for each lane.
#[derive(SharedMemory)]
pub struct Sums {
    of_lanes: Shared<u64, LANES>,
}

/// The golden ratio, as in SplitMix64.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// SplitMix64's finalizer.
#[inline(always)]
fn mix(bits: u64) -> u64 {
    let bits = (bits ^ bits >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let bits = (bits ^ bits >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ bits >> 31
}

/// Adds up the hashes of a block's polygons, as the host computes them (`trioxide::digest::of_polygon`): the hash of
/// the polygon's smallest half-edge and of its vertices from there on, by the ids of the whole mesh. `triangles` and
/// `vertices` give these ids.
#[kernel(
    requires(
        half_edges.len().div_ceil(DIGESTED as usize) == n,
        lists.offsets.len() == half_edges.len() + 1,
        sums.len() == n
    ),
    moves(half_edges.bytes() + lists.offsets.bytes() + lists.items.bytes() + sums.bytes())
)]
pub fn digest_polygons(
    block: &Block<LANES, Sums>,
    half_edges: In<HalfEdge, Polygon>,
    lists: Rows<Vertex>,
    triangles: WholeIds,
    vertices: WholeIds,
    sums: Out<u64>,
) {
    let of_lanes = &block.shared().of_lanes;
    let first = block.index() * DIGESTED;
    let hash = |p: u32| {
        let p = Polygon::new(p);
        let h = half_edges.at(p);
        let half_edge = 3 * triangles.at(h.triangle()) + u64::from(h.corner());
        let (start, end) = (lists.start(p), lists.end(p));
        let mut hash = mix(half_edge.wrapping_add(STEP));
        let mut i = start;
        while i < end {
            hash = mix(hash.wrapping_add(STEP) ^ vertices.at(lists.items.at(i)));
            i += 1;
        }
        mix(hash.wrapping_add(STEP) ^ !u64::from(end - start))
    };
    block.phase(|lane| of_lanes.set(lane, lane.index(), 0));
    block.each(DIGESTED.min(half_edges.len() - first), |lane, i| {
        of_lanes.set(
            lane,
            lane.index(),
            of_lanes.at(lane.index()).wrapping_add(hash(first + i)),
        );
    });
    let mut width = LANES as u32 / 2;
    while width > 0 {
        block.phase(|lane| {
            if lane.index() < width {
                let other = of_lanes.at(lane.index() + width);
                of_lanes.set(
                    lane,
                    lane.index(),
                    of_lanes.at(lane.index()).wrapping_add(other),
                );
            }
        });
        width /= 2;
    }
    block.lanes(|lane| {
        if lane.index() == 0 {
            sums.set(block.index(), of_lanes.at(0));
        }
    });
}
