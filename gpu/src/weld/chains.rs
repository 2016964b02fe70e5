//! Decisions along chains: for meshes where nearly all vertices wait for lower ones, as in a dense scan in the order of
//! its lines.
//!
//! Dependencies lead to lower ids only, and a device starts blocks in their order. So the running blocks are a window
//! along the ids, whose first block never waits: decisions run through the mesh as a wave, in one launch. The launch
//! takes as long as the longest chain, a link at a time:
//!
//! | a link to | takes | because |
//! | --- | --- | --- |
//! | an entry of the same block | tens of cycles | a block is a warp: its lanes vote |
//! | an entry of another block | one or two loads from the L2 | a lane looks at four undecided neighbours until one is decided, and states are stored at once |
//!
//! Blocks are small, and few entries of the mesh are polled at any time: the waiting entries take little of the L2's
//! bandwidth from the others. Lists of more than [`LISTED`] neighbours are made before the launch, for the rows that
//! need them: a search within a chain takes as long as many links.

use trioxide_kernel::safe::{Group, In, Own, Safe, Scatter};
use trioxide_kernel::{Atomic, Block, Each, Out, Shared, SharedMemory, kernel, safe};

use super::guards::{Guard, Guarding};
use super::ids::Row;
use super::search::Search;
use super::states::{LISTED, MEMBER, REPRESENTATIVE, is_undecided};
use crate::ids::Item;

/// Returns whether `row` is undecided; finds it in `long[0]` if its short list does not hold all its lower neighbours.
#[kernel(
    requires(states.len() == n, !long.is_empty()),
    moves(states.bytes() + 4 * words(n))
)]
pub fn mark_undecided(row: Own<Row>, states: In<u32, Row>, long: safe::Atomic<Row>) -> bool {
    let state = states.at(row);
    if is_undecided(state) && state > LISTED {
        long.min(0, *row);
    }
    is_undecided(state)
}

/// Whether `row` is undecided and its short list does not hold all its lower neighbours.
#[kernel(requires(states.len() == n), moves(states.bytes() + 4 * words(n)))]
pub fn mark_long_lists(row: Own<Row>, states: In<u32, Row>) -> bool {
    let state = states.at(row);
    is_undecided(state) && state > LISTED
}

/// Length of the long list of `row`; 0 if it has none.
#[kernel(
    requires(states.len() == n, lengths.len() == n + 1),
    moves(states.bytes() + lengths.bytes())
)]
pub fn measure_long_lists(row: Own<Row>, states: In<u32, Row>, lengths: safe::Out<u32, Row>) {
    let state = states.at(row);
    let is_long = is_undecided(state) && state > LISTED;
    lengths.set(row, if is_long { state } else { 0 });
}

/// Writes the lower neighbours of row `rows[i]` to its long list, from `starts[row]` on.
#[kernel(
    G in Guarding,
    requires(
        rows.len() == n,
        search.fits(starts.len() - 1)
    )
)]
pub fn note_long_lists<G: Guard>(
    i: Own<Item>,
    rows: In<Row, Item>,
    search: Search<G>,
    starts: In<u32>,
    long: Scatter<Row>,
) {
    let row = rows.at(i);
    let mut place = starts.at(row.index());
    let end = starts.at(row.index() + 1);
    search.each_lower_neighbour(row, |neighbour, _| {
        long.set(place, neighbour);
        place += 1;
        place < end
    });
}

/// The listed lower neighbours of each row.
#[derive(Group)]
pub struct Lists<'a> {
    /// Short lists, [`LISTED`] places a row.
    pub short: In<'a, Row>,
    /// Start of each row's long list, and the end of the last; empty if there are no long lists.
    pub starts: In<'a, u32>,
    /// Long lists, in the order of the rows.
    pub long: In<'a, Row>,
}

#[cfg(not(target_arch = "nvptx64"))]
impl ListsBuffers<'_> {
    /// Whether these are lists of `rows` rows.
    pub fn fit(&self, rows: usize) -> bool {
        self.short.len() == LISTED as usize * rows
            && (self.starts.is_empty() || self.starts.len() == rows + 1)
    }
}

impl Lists<'_> {
    /// Length of the list of `row`, which has `number` lower neighbours; 0 if it needs a long list and there is none.
    #[inline(always)]
    pub(super) fn len(&self, row: Row, number: u32) -> u32 {
        if number <= LISTED {
            number
        } else if self.starts.is_empty() {
            0
        } else {
            self.starts.at(row.index() + 1) - self.starts.at(row.index())
        }
    }

    /// Place `place` of the list of `row`, which has `number` lower neighbours.
    #[inline(always)]
    pub(super) fn at(&self, row: Row, number: u32, place: u32) -> Row {
        if number > LISTED {
            self.long.at(self.starts.at(row.index()) + place)
        } else {
            self.short.at(row.index() * LISTED + place)
        }
    }
}

/// Lanes of a block that decides chains, an entry each: a warp.
pub const WARP: usize = 32;

/// Shared memory of such a block: the rows of its entries, ascending; `NONE` after the end of the list.
#[derive(SharedMemory)]
pub struct Warp {
    rows: Shared<Row, WARP>,
}

impl Warp {
    /// The bit of the lane whose entry is `row`; 0 if there is none.
    #[inline(always)]
    fn lane_of(&self, row: Row) -> u32 {
        let mut lane = 0;
        let mut step = WARP as u32 / 2;
        while step > 0 {
            if self.rows.at(lane + step) <= row {
                lane += step;
            }
            step /= 2;
        }
        u32::from(self.rows.at(lane) == row) << lane
    }
}

/// An entry of the list, in its lane's registers. Its lower neighbours are taken 32 at a time.
#[derive(Clone, Copy)]
struct Entry {
    row: Row,
    /// Number of its lower neighbours; 0 once it is decided.
    number: u32,
    /// Place of the first of the 32.
    first: u32,
    /// The neighbours among the 32 that are in other blocks and not known to be decided.
    open: u32,
    /// The lanes of lower neighbours in this block.
    within: u32,
    /// 1 if a representative has been seen in another block, otherwise 0. It is a word because the padding after a
    /// `bool` lay in local memory.
    member: u32,
}

impl Entry {
    /// Whether all neighbours in other blocks are decided. They are members, unless one was seen as a representative.
    #[inline(always)]
    fn is_done(&self) -> bool {
        self.open == 0 && self.first + 32 >= self.number
    }

    /// Whether it has seen more decided neighbours than in the state `before`.
    #[inline(always)]
    fn has_seen_more(&self, before: Self) -> bool {
        self.open != before.open || self.first != before.first
    }

    /// Takes the neighbours from place `first` on.
    #[inline(always)]
    fn take(&mut self, first: u32, warp: &Warp, lists: &Lists) {
        self.first = first;
        let count = (self.number - first).min(32);
        let mut place = 0;
        while place < count {
            let lane = warp.lane_of(lists.at(self.row, self.number, first + place));
            self.within |= lane;
            self.open |= u32::from(lane == 0) << place;
            place += 1;
        }
    }

    /// Polls four open neighbours; takes the next 32 neighbours once none is open.
    #[inline(always)]
    fn look(&mut self, warp: &Warp, lists: &Lists, states: Atomic) {
        if self.open != 0 {
            let mut left = self.open;
            // The four loads do not wait for each other. If fewer are open, the first takes the other places.
            let places = [0; 4].each(|_: u32| {
                let place = if left == 0 { self.open } else { left }.trailing_zeros();
                left &= left.wrapping_sub(1);
                place
            });
            let rows = places.each(|place| lists.at(self.row, self.number, self.first + place));
            let states = rows.each(|row| states.load(row));
            let mut i = 0;
            while i < 4 {
                self.member |= u32::from(states[i] == REPRESENTATIVE);
                self.open &= !(u32::from(!is_undecided(states[i])) << places[i]);
                i += 1;
            }
        }
        if self.open == 0 && !self.is_done() {
            self.take(self.first + 32, warp, lists);
        }
    }
}

/// Whether `lane` is one of `lanes`, a bit each.
#[inline(always)]
fn is_in(lanes: u32, lane: u32) -> bool {
    lanes >> lane & 1 != 0
}

/// Decides the entries of `list`, ascending rows, until the remaining entries wait in vain: a block polls other blocks'
/// entries `patience` times before it gives up, on a CPU once. The bits of `undecided` mark the remaining entries.
#[kernel(
    requires(
        !list.is_empty(),
        n == list.len().div_ceil(WARP),
        lists.fit(states.len()),
        undecided.len() == n
    )
)]
pub fn decide_chains(
    block: &Block<WARP, Warp>,
    list: In<Row>,
    lists: Lists,
    patience: u32,
    states: Atomic,
    undecided: Out<u32>,
) {
    let patience = if cfg!(target_arch = "nvptx64") {
        patience
    } else {
        0
    };
    // SAFETY: the launch's promise: each list has the length that the state of its row gives.
    let lists = unsafe { lists.trusted() };
    let warp = block.shared();
    block.phase(|lane| {
        let i = block.index() * WARP as u32 + lane.index();
        let row = if i < list.len() {
            list.at(i)
        } else {
            Row::NONE
        };
        warp.rows.set(lane, lane.index(), row);
    });
    let found = block.lanes(|lane| match warp.rows.at(lane.index()) {
        Row::NONE => MEMBER,
        row => states.load(row),
    });
    let mut entries = block.lanes(|lane| {
        let state = found.at(lane);
        let mut entry = Entry {
            row: warp.rows.at(lane.index()),
            number: if is_undecided(state) { state } else { 0 },
            first: 0,
            open: 0,
            within: 0,
            member: 0,
        };
        entry.take(0, warp, &lists);
        entry
    });
    // Bits of lanes, the same in all lanes.
    let mut waiting = block.ballot(&block.lanes(|lane| is_undecided(found.at(lane))));
    let mut chosen = block.ballot(&block.lanes(|lane| found.at(lane) == REPRESENTATIVE));
    let mut vain = 0;
    while waiting != 0 && vain <= patience {
        let before = entries;
        entries = block.lanes(|lane| {
            let mut entry = before.at(lane);
            if is_in(waiting, lane.index()) {
                entry.look(warp, &lists, states);
            }
            entry
        });
        let has_seen = block.lanes(|lane| entries.at(lane).has_seen_more(before.at(lane)));
        vain = if block.ballot(&has_seen) == 0 {
            vain + 1
        } else {
            0
        };
        // One link within the block in each pass.
        loop {
            let members = block.ballot(&block.lanes(|lane| {
                let entry = entries.at(lane);
                is_in(waiting, lane.index()) && (entry.member | entry.within & chosen) != 0
            }));
            let alone = block.ballot(&block.lanes(|lane| {
                let entry = entries.at(lane);
                is_in(waiting & !members, lane.index())
                    && entry.within & waiting == 0
                    && entry.is_done()
            }));
            block.lanes(|lane| {
                let entry = entries.at(lane);
                if is_in(members, lane.index()) {
                    states.store(entry.row, MEMBER | entry.number);
                } else if is_in(alone, lane.index()) {
                    states.store(entry.row, REPRESENTATIVE);
                }
            });
            if members | alone == 0 {
                break;
            }
            chosen |= alone;
            waiting &= !(members | alone);
        }
    }
    block.lanes(|lane| {
        if lane.index() == 0 {
            undecided.set(block.index(), waiting);
        }
    });
}
