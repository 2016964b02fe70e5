//! The sides of the polygons.

use glam::DVec3;
use gpu::levels::Extent;
use gpu::smooth::quality::root;
use rayon::slice::ParallelSliceMut;
use std::collections::HashSet;
use trioxide::mesh::NONE;
use trioxide_mesh::parallel;

use super::{Level, Side};
use crate::block::Block;
use crate::directory::Fetched;
use crate::ids::IdSet;
use crate::ownership::Position;
use crate::polylla::Ordered;
use crate::transport::{Mail, Ranks};

/// A side of a polygon, as the other side of its edge has to know it: its id among those of all polygons, the polygon
/// (twice, plus one if it visits a vertex twice), and the polygon's region.
type Seen = [u64; 3];

/// No other side.
const NOTHING: Seen = [u64::MAX; 3];

/// The key of an edge, with the lower vertex in the upper half.
fn edge([a, b]: [u32; 2]) -> u64 {
    u64::from(a.min(b)) << 32 | u64::from(a.max(b))
}

/// Level 0: the polygons of all ranks. Collective.
pub(super) fn find<P: Position>(ranks: &Ranks, block: &Block<P>, ordered: &Ordered) -> Level {
    let polygons = &ordered.polygons;
    let corners = &polygons.vertices;
    let ids = parallel::map(corners, |&v| u64::from(v));
    let points = Fetched::of(ranks, block.vertices, IdSet::of_list(&ids), &block.points);
    drop(ids);
    let point = |v: u32| DVec3::from(points.get(v.into()).coordinates());
    let (before, _) = ranks.scan(polygons.len() as u64);
    let (first, _) = ranks.scan(corners.len() as u64);

    // The polygon here, and the next corner, of each corner.
    let mut nexts = parallel::zeroed::<[u32; 2]>(corners.len());
    for (i, ends) in polygons.offsets.windows(2).enumerate() {
        for corner in ends[0]..ends[1] {
            let next = if corner + 1 < ends[1] {
                corner + 1
            } else {
                ends[0]
            };
            nexts[corner as usize] = [i as u32, next];
        }
    }
    let key =
        |corner: usize| edge([corner, nexts[corner][1] as usize].map(|corner| corners[corner]));
    let mut order = parallel::collect(corners.len(), |corner| (key(corner), corner as u32));
    order.par_sort_unstable();
    let mut twins = vec![NONE; corners.len()];
    for pair in order.windows(2) {
        if pair[0].0 == pair[1].0 {
            twins[pair[0].1 as usize] = pair[1].1;
            twins[pair[1].1 as usize] = pair[0].1;
        }
    }
    drop(order);

    let is_pinched = parallel::collect(polygons.len(), |i| {
        let mut vertices = polygons.get(i).to_vec();
        vertices.sort_unstable();
        let mut own = polygons.offsets[i]..polygons.offsets[i + 1];
        vertices.windows(2).any(|pair| pair[0] == pair[1])
            || own.any(|corner| {
                let twin = twins[corner as usize];
                twin != NONE && nexts[twin as usize][0] == i as u32
            })
    });
    let seen = |corner: usize| {
        let i = nexts[corner][0] as usize;
        let region = ordered
            .regions
            .as_ref()
            .map_or(0, |regions| regions[i] as u32);
        let polygon = 2 * (before + i as u64) + u64::from(is_pinched[i]);
        [first + corner as u64, polygon, region.into()]
    };
    let others = beyond_ranks(ranks, block.vertices, &twins, key, seen);
    let segments = block.segments.iter().map(|segment| edge(segment.ends));
    let segments: HashSet<u64> = segments.collect();

    let mut sides = parallel::filter_collect(corners.len(), |corner| {
        let mine = seen(corner);
        let other = match twins[corner] {
            NONE => others.get(corner),
            twin => seen(twin as usize),
        };
        let (from, to) = (corners[corner], corners[nexts[corner][1] as usize]);
        let d = point(to) - point(from);
        let side = Side {
            edge: mine[0].min(other[0]),
            length: root(d.x * d.x + d.y * d.y + d.z * d.z),
            piece: (mine[1] >> 1) as u32,
            beyond: match other {
                NOTHING => NONE,
                [_, polygon, _] => (polygon >> 1) as u32,
            },
            vertex: from,
            is_fixed: u32::from(
                other != NOTHING && (mine[2] != other[2] || other[1] & 1 != 0)
                    || mine[1] & 1 != 0
                    || !segments.is_empty() && segments.contains(&key(corner)),
            ),
        };
        (side.piece != side.beyond).then_some(side)
    });
    sides.par_sort_unstable_by_key(Side::key);
    let boxes = parallel::collect(polygons.len(), |i| {
        let corners = polygons.get(i).iter();
        let corners = corners.map(|&v| {
            let p = point(v);
            Extent { low: p, high: p }
        });
        corners.fold(Extent::NOTHING, Extent::with)
    });
    Level::new(ranks, sides, boxes)
}

/// The sides of other ranks that are the other sides of edges here.
struct Others {
    /// Corners without another side here, ascending.
    corners: Vec<u32>,
    seen: Vec<Seen>,
}

impl Others {
    /// The other side of the edge at a corner without one here.
    fn get(&self, corner: usize) -> Seen {
        let i = self.corners.partition_point(|&c| (c as usize) < corner);
        self.seen[i]
    }
}

/// Finds the other sides of edges by their directories, the ranks of their lower vertices. Collective.
fn beyond_ranks(
    ranks: &Ranks,
    vertices: u64,
    twins: &[u32],
    key: impl Fn(usize) -> u64 + Sync,
    seen: impl Fn(usize) -> Seen + Sync,
) -> Others {
    let corners = parallel::filter_collect(twins.len(), |corner| {
        (twins[corner] == NONE).then_some(corner as u32)
    });
    let blocks = ranks.blocks(vertices);
    let rank = |i: usize| blocks.rank(key(corners[i] as usize) >> 32);
    let places = Mail::places(ranks.size(), corners.len(), rank);
    let questions = places.map(|&i| {
        let corner = corners[i as usize] as usize;
        let [id, polygon, region] = seen(corner);
        [key(corner), id, polygon, region]
    });
    let answers = ranks.ask_together(&questions, |asked| {
        let asked = asked.items();
        let mut order = parallel::collect(asked.len(), |i| (asked[i][0], i as u32));
        order.par_sort_unstable();
        let mut answers = vec![NOTHING; asked.len()];
        for pair in order.windows(2) {
            let [(a, i), (b, k)] = [pair[0], pair[1]];
            if a == b {
                let [i, k] = [i, k].map(|i| i as usize);
                let seen = |i: usize| [asked[i][1], asked[i][2], asked[i][3]];
                (answers[i], answers[k]) = (seen(k), seen(i));
            }
        }
        answers
    });
    let mut seen = vec![NOTHING; corners.len()];
    for (&i, answer) in places.items().iter().zip(answers) {
        seen[i as usize] = answer;
    }
    Others { corners, seen }
}
