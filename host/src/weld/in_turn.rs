//! The fraction of the vertices that an epsilon removes, by one thread.
//!
//! As in S-Weld vertices go in ascending order, and a vertex with a representative near it is a member. In a search
//! that leaves few representatives a CPU does this sooner than it finds pairs of neighbours: only representatives are
//! compared, the representative of a member is not asked for, and a count ends as soon as it shows on which side of the
//! wanted fraction it will be. Threads count for several epsilons at once.

use glam::DVec3;
use trioxide_kernel::launch::Buffer;
use trioxide_mesh::parallel;

use super::fraction::{LESS, MORE, extent, fraction_removed, is_found};
use super::guards::DeviceGuards;
use super::{Error, HostGuards, Nearness, Result, is_weldable};
use crate::device::Device;

/// The points of a search, in host memory.
pub(super) struct InTurn {
    points: Vec<DVec3>,
    guards: HostGuards<'static>,
    /// Width of a cell with few of them.
    side: f64,
}

impl InTurn {
    /// Copies the points and the arrays that guards compare to host memory. A cell of this `side` has few points.
    ///
    /// # Errors
    /// [`Error::Coordinate`]; those of the device.
    pub fn new(
        on: &Device,
        points: &Buffer<DVec3>,
        guards: &DeviceGuards,
        side: f64,
    ) -> Result<Self> {
        let points = on.download(points)?;
        match parallel::position(&points, |&p| !is_weldable(p)) {
            Some(vertex) => Err(Error::Coordinate { vertex }),
            None => Ok(Self {
                points,
                guards: guards.download(on)?,
                side,
            }),
        }
    }

    /// A distance that no two points exceed.
    pub fn extent(&self) -> f64 {
        extent(&self.points)
    }

    /// The fraction of the vertices that `epsilon` removes. With a `wanted` fraction, [`LESS`] or [`MORE`] in place of
    /// one that is not near it.
    pub fn removed(&self, epsilon: f64, wanted: Option<f64>) -> f64 {
        let n = self.points.len();
        let far = |fraction: f64, is_beyond: fn(&f64, &f64) -> bool| {
            wanted
                .is_some_and(|wanted| is_beyond(&fraction, &wanted) && !is_found(fraction, wanted))
        };
        let enough_kept = least(n, |kept| far(fraction_removed(n, kept), f64::lt));
        let enough_gone = least(n, |gone| far(fraction_removed(n, n - gone), f64::gt));
        let mut found = Representatives::new(Nearness::new(epsilon), self.side);
        let (mut kept, mut gone) = (0, 0);
        for (v, &p) in (0..).zip(&self.points) {
            let has_neighbours = self.guards.has_neighbours(v);
            if has_neighbours && found.is_near_one(p, |r| self.guards.allow(v, r)) {
                gone += 1;
                if gone == enough_gone {
                    return MORE;
                }
                continue;
            }
            kept += 1;
            if kept == enough_kept {
                return LESS;
            }
            if has_neighbours {
                found.insert(p, v);
            }
        }
        fraction_removed(n, kept)
    }
}

/// The least number up to `most` from which on something holds; one more than `most` if it never does.
fn least(most: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, most + 1);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// Representatives by cells that are at least twice as wide as the reach, so that neighbours lie in two along each
/// axis.
struct Representatives {
    near: Nearness,
    /// Width of a cell that the reach needs.
    least_side: f64,
    /// Cells in a unit of length.
    inverse_side: f64,
    /// A hash table of cells: the key of each, 0 for none, and its first representative. Cells may share a key, since
    /// the distance decides.
    slots: Vec<(u64, u32)>,
    list: Vec<Representative>,
    /// The one that was near the last point: mostly it is near the next one too.
    last: u32,
}

struct Representative {
    point: DVec3,
    vertex: u32,
    /// The next one of the cell.
    next: u32,
}

/// The end of a cell's list.
const END: u32 = u32::MAX;
/// Slots that a table begins with.
const FEW_SLOTS: usize = 1 << 10;
/// Representatives of a cell that is too wide.
const MANY: usize = 64;
/// Least width of a cell for each unit of reach. Two and a little would do; wider cells are fewer to look at.
const SIDE: f64 = 4.0;
/// Least width of a cell, whose inverse is a number.
const LEAST_SIDE: f64 = 1e-290;

impl Representatives {
    /// None yet, in cells of this `side` or, where the reach needs it, wider ones.
    fn new(near: Nearness, side: f64) -> Self {
        let least_side = (SIDE * near.reach).max(LEAST_SIDE);
        Self {
            near,
            least_side,
            inverse_side: 1.0 / side.max(least_side),
            slots: vec![(0, END); FEW_SLOTS],
            list: Vec::new(),
            last: END,
        }
    }

    /// The cell of a coordinate: it never decreases as the coordinate grows.
    fn cell(&self, x: f64) -> i64 {
        (x * self.inverse_side).floor() as i64
    }

    /// Whether a representative that `allow` takes is near a point.
    fn is_near_one(&mut self, p: DVec3, allow: impl Fn(u32) -> bool) -> bool {
        let near = self.near;
        let is_near = |r: &Representative| near.is_near(p, r.point) && allow(r.vertex);
        if self.list.get(self.last as usize).is_some_and(is_near) {
            return true;
        }
        // Rounded, these bounds are beyond no number that the exact ones are not beyond.
        let low = (p - near.reach).to_array().map(|x| self.cell(x));
        let high = (p + near.reach).to_array().map(|x| self.cell(x));
        let mut most = 0;
        for z in low[2]..=high[2] {
            for y in low[1]..=high[1] {
                for x in low[0]..=high[0] {
                    let mut r = self.slots[self.slot_of(key([x, y, z]))].1;
                    let mut count = 0;
                    while let Some(found) = self.list.get(r as usize) {
                        if is_near(found) {
                            self.last = r;
                            return true;
                        }
                        r = found.next;
                        count += 1;
                    }
                    most = most.max(count);
                }
            }
        }
        if most > MANY && self.inverse_side < 1.0 / self.least_side {
            self.inverse_side = 1.0 / self.least_side;
            self.link_again(self.slots.len());
        }
        false
    }

    /// Adds the representative `vertex` at a point.
    fn insert(&mut self, point: DVec3, vertex: u32) {
        self.last = self.list.len() as u32;
        self.list.push(Representative {
            point,
            vertex,
            next: END,
        });
        match 2 * self.list.len() > self.slots.len() {
            true => self.link_again(2 * self.slots.len()),
            false => self.link(self.list.len() - 1),
        }
    }

    /// Makes a table of `slots` slots, a power of two.
    fn link_again(&mut self, slots: usize) {
        self.slots.clear();
        self.slots.resize(slots, (0, END));
        (0..self.list.len()).for_each(|r| self.link(r));
    }

    /// Puts a representative before the others of its cell.
    fn link(&mut self, r: usize) {
        let key = key(self.list[r].point.to_array().map(|x| self.cell(x)));
        let slot = self.slot_of(key);
        self.list[r].next = self.slots[slot].1;
        self.slots[slot] = (key, r as u32);
    }

    /// The slot of the cell with this key, or the one that it would have.
    fn slot_of(&self, key: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = key as usize & mask;
        while self.slots[slot].0 != 0 && self.slots[slot].0 != key {
            slot = (slot + 1) & mask;
        }
        slot
    }
}

/// Bits of a cell's place in its block, along an axis. The slots of a block follow each other: a neighbourhood lies in
/// few places.
const BLOCK_BITS: u32 = 2;

/// The key of a cell, not 0: its block by a hash, and its place there.
fn key(cell: [i64; 3]) -> u64 {
    let mask = (1 << BLOCK_BITS) - 1;
    let [x, y, z] = cell.map(|c| (c >> BLOCK_BITS) as u64);
    let mixed = x
        .wrapping_mul(0x9E37_79B9_7F4A_7C15)
        .wrapping_add(y.wrapping_mul(0xC2B2_AE3D_27D4_EB4F))
        .wrapping_add(z.wrapping_mul(0x1656_67B1_9E37_79F9));
    let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    let block = mixed ^ mixed >> 32;
    let place = cell
        .into_iter()
        .fold(0, |place, c| place << BLOCK_BITS | (c & mask) as u64);
    // A bit that no slot's number has.
    1 << 63 | block << (3 * BLOCK_BITS) | place
}
