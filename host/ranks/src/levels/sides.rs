//! The sides of the polygons.

use glam::DVec3;
use gpu::levels::Extent;
use gpu::smooth::quality::root;
use rayon::slice::ParallelSliceMut;
use std::collections::HashSet;
use trioxide::mesh::NONE;
use trioxide_mesh::parallel;

use super::pieces::name;
use super::twins::{NOTHING, Others, twins};
use super::{Level, Side};
use crate::block::Block;
use crate::directory::Fetched;
use crate::ids::IdSet;
use crate::ownership::Position;
use crate::polylla::Ordered;
use crate::transport::Ranks;

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
        |corner: usize| name([corner, nexts[corner][1] as usize].map(|corner| corners[corner]));
    let twins = twins(corners.len(), key);

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
    // The edge, the side's id among those of all polygons, the polygon (twice, plus one if it visits a vertex twice),
    // and the polygon's region.
    let seen = |corner: usize| {
        let i = nexts[corner][0] as usize;
        let region = ordered
            .regions
            .as_ref()
            .map_or(0, |regions| regions[i] as u32);
        let polygon = 2 * (before + i as u64) + u64::from(is_pinched[i]);
        [key(corner), first + corner as u64, polygon, region.into()]
    };
    let others = Others::find(ranks, block.vertices, &twins, seen, |&[edge, ..]| {
        [(edge >> 32) as u32, edge as u32, 0]
    });
    let segments = block.segments.iter().map(|segment| name(segment.ends));
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
            edge: mine[1].min(other[1]),
            length: root(d.x * d.x + d.y * d.y + d.z * d.z),
            piece: (mine[2] >> 1) as u32,
            beyond: match other {
                NOTHING => NONE,
                [_, _, polygon, _] => (polygon >> 1) as u32,
            },
            vertex: from,
            is_fixed: u32::from(
                other != NOTHING && (mine[3] != other[3] || other[2] & 1 != 0)
                    || mine[2] & 1 != 0
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
    Level::new(ranks, sides, boxes, None)
}
