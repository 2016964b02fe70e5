//! The neighbour search in the grid.

use glam::DVec3;
use trioxide_kernel::PREFETCHED_AHEAD;
use trioxide_kernel::safe::{Group, In};

#[cfg(target_arch = "x86_64")]
use super::grid::Site;
use super::grid::{Grid, Reach, is_same_block};
use super::guards::{Guard, Guards};
use super::ids::{Row, Slot};
use super::rows::RowSites;
use crate::ids::Vertex;

/// The grid with its vertices: the arrays that a neighbour search reads.
///
/// Positions are in the order of the vertices, or of the slots if the vertices' ids do not follow space: points near
/// each other lie near each other in memory in either case. An index into them, and into the arrays beside them, is a
/// [`Row`].
#[derive(Group)]
pub struct Search<'a, G: Guard> {
    /// The distance of neighbours, and the layout of the cells.
    pub grid: Grid,
    /// Start of each bucket in the sites, and the end of the last.
    pub offsets: In<'a, u32>,
    /// The sites and their rows.
    pub rows: RowSites<'a>,
    /// Position of each row; V.
    pub positions: In<'a, DVec3, Row>,
    /// The conditions in addition to the distance.
    pub guards: Guards<'a, G>,
}

#[cfg(not(target_arch = "nvptx64"))]
impl<G: Guard> SearchBuffers<'_, G> {
    /// Whether the arrays have the lengths that a search in `vertices` vertices relies on.
    pub fn fits(&self, vertices: usize) -> bool {
        let buckets = self.grid.regions as usize * super::REGION_BUCKETS as usize;
        self.offsets.len() == buckets + 1
            && self.rows.sites.len() == vertices
            && self.positions.len() == vertices
            && self.guards.fit(vertices)
    }
}

impl<G: Guard> Search<'_, G> {
    /// The row of a slot some way after `slot`, for a CPU to prefetch; none on a device, and none if rows are slots.
    #[inline(always)]
    pub(super) fn ahead(&self, slot: Slot) -> Option<Row> {
        if cfg!(target_arch = "nvptx64") || self.rows.order.is_by_slot() {
            return None;
        }
        let ahead = slot.index().checked_add(PREFETCHED_AHEAD)?;
        let site = self.rows.sites.get(Slot::new(ahead))?;
        Some(Row::new(site.id.index()))
    }

    /// Whether two vertices are neighbours: `v` at `p`, and `id`, whose row is `other`.
    #[inline(always)]
    fn are_near(&self, p: [f64; 3], v: Vertex, other: Row, id: Vertex) -> bool {
        self.grid.is_near(p, self.positions.at(other).to_array()) && G::allows(&self.guards, v, id)
    }

    /// Bit `i` is set if the site in slot `first + i` may be near the point that is `corner` steps away from the corner
    /// of its block, for `count` sites, 32 at most; `is_wanted` takes a site's vertex.
    #[inline(always)]
    fn candidates(
        &self,
        first: u32,
        count: u32,
        corner: [u32; 3],
        is_wanted: impl Fn(Vertex) -> bool,
    ) -> u32 {
        let sites = self.rows.sites;
        let run = sites.run(Slot::new(first), count);
        let mut candidates = 0;
        let mut i = 0;
        #[cfg(target_arch = "x86_64")]
        {
            while i < count && i + 4 <= sites.len() - first {
                let four = sites.four(Slot::new(first + i));
                let mut near = Site::which_may_be_near(four, corner, self.grid.place_bound);
                for (k, site) in four.iter().enumerate() {
                    near &= !(u32::from(!is_wanted(site.id)) << k);
                }
                candidates |= near << i;
                i += 4;
            }
            // The last four may extend beyond the count.
            candidates &= u32::MAX >> (32 - count);
        }
        while i < count {
            // Without a branch, which would be unpredictable.
            let site = run.at(i);
            let is_candidate = is_wanted(site.id) & site.may_be_near(corner, self.grid.place_bound);
            candidates |= u32::from(is_candidate) << i;
            i += 1;
        }
        candidates
    }

    /// Calls `visit(row, vertex)` for every neighbour of the vertex in `slot` that comes later in the grid: in a later
    /// slot of its bucket, or in another cell that is ahead of its own.
    ///
    /// So each pair of neighbours is found once. A cell is ahead of another if its z is larger, or its y in the same
    /// layer, or its x in the same line. Cells within reach of each other are in different buckets: blocks are wider.
    #[inline(always)]
    pub(super) fn each_later_neighbour(&self, slot: Slot, mut visit: impl FnMut(Row, Vertex)) {
        let row = self.rows.row(slot);
        let v = self.rows.vertex(row);
        let p = self.positions.at(row).to_array();
        let reach = self.grid.reach_of(p);
        let [mut x, mut y, mut z] = reach.cell();
        let Reach { steps, low, high } = reach;
        let bounds = |x: u32, y: u32, z: u32| {
            let (first, last) = self.grid.run(x, high[0], y, z);
            let [first, end] = self.offsets.at_all([first.index(), last.index() + 1]);
            (first, end)
        };
        let mut start = slot.index() + 1;
        let (_, mut end) = bounds(x, y, z);
        loop {
            let corner = Grid::from_corner(steps, [x, y, z]);
            // The rest of the line in the next block, the next line, the next layer.
            let ends_line = is_same_block(x, high[0]);
            let ends_layer = ends_line & (y == high[1]);
            let is_last = ends_layer & (z == high[2]);
            x = if ends_line { low[0] } else { high[0] };
            y = match (ends_line, ends_layer) {
                (_, true) => low[1],
                (true, _) => high[1],
                _ => y,
            };
            z = if ends_layer { high[2] } else { z };
            // The next run's bounds are read before this run's sites.
            let next = if is_last { (0, 0) } else { bounds(x, y, z) };
            while start < end {
                let count = (end - start).min(32);
                let mut candidates = self.candidates(start, count, corner, |_| true);
                while candidates != 0 {
                    let slot = Slot::new(start + candidates.trailing_zeros());
                    candidates &= candidates - 1;
                    let id = self.rows.sites.at(slot).id;
                    let other = self.rows.row_of(slot, id);
                    if self.are_near(p, v, other, id) {
                        visit(other, id);
                    }
                }
                start += count;
            }
            if is_last {
                return;
            }
            (start, end) = next;
        }
    }

    /// Calls `visit(row, vertex)` for every neighbour of the vertex of `row` with a lower id, until it returns false.
    #[inline(always)]
    pub(super) fn each_lower_neighbour(
        &self,
        row: Row,
        mut visit: impl FnMut(Row, Vertex) -> bool,
    ) {
        let v = self.rows.vertex(row);
        let p = self.positions.at(row).to_array();
        self.grid.each_run(p, |first, last, corner| {
            let [mut start, end] = self.offsets.at_all([first.index(), last.index() + 1]);
            while start < end {
                let count = (end - start).min(32);
                let mut candidates = self.candidates(start, count, corner, |id| id < v);
                while candidates != 0 {
                    let slot = Slot::new(start + candidates.trailing_zeros());
                    candidates &= candidates - 1;
                    let id = self.rows.sites.at(slot).id;
                    let other = self.rows.row_of(slot, id);
                    if self.are_near(p, v, other, id) && !visit(other, id) {
                        return false;
                    }
                }
                start += count;
            }
            true
        });
    }
}
