//! The place of a CPU's thread in a launch, in a checked build: for messages, and to record who wrote an element.

#![cfg_attr(
    not(any(debug_assertions, feature = "checked")),
    allow(dead_code, reason = "nothing is noted")
)]

use core::cell::Cell;

/// The same as `check::CHECKED`; `check` depends on this module.
const CHECKED: bool = cfg!(any(debug_assertions, feature = "checked"));

/// No lane: code of a block outside its lanes' closures, and kernels without blocks.
const NO_LANE: u32 = 1024;

/// Barriers of a block are counted modulo this.
const BARRIERS: u32 = 1 << 19;

struct Place {
    kernel: Cell<&'static str>,
    /// The index, or the block.
    index: Cell<u32>,
    lane: Cell<u32>,
    /// Barriers that the block has passed, plus one.
    barriers: Cell<u32>,
}

thread_local! {
    static PLACE: Place = const {
        Place {
            kernel: Cell::new(""),
            index: Cell::new(0),
            lane: Cell::new(NO_LANE),
            barriers: Cell::new(1),
        }
    };
}

/// From now on the thread runs calls of `kernel`.
#[inline(always)]
pub fn enter_kernel(kernel: &'static str) {
    if CHECKED {
        PLACE.with(|place| place.kernel.set(kernel));
    }
}

/// From now on the thread runs the call of `index`, an index or a block.
#[inline(always)]
pub fn enter_index(index: u32) {
    if CHECKED {
        PLACE.with(|place| {
            place.index.set(index);
            place.barriers.set(1);
        });
    }
}

#[inline(always)]
pub(crate) fn enter_lane(lane: u32) {
    if CHECKED {
        PLACE.with(|place| place.lane.set(lane));
    }
}

/// From now on the thread is in no lane.
#[inline(always)]
pub(crate) fn leave_lanes() {
    if CHECKED {
        PLACE.with(|place| place.lane.set(NO_LANE));
    }
}

/// Whether the thread runs the closure of a lane, in a checked build.
#[inline(always)]
pub(crate) fn is_in_lane() -> bool {
    CHECKED && PLACE.with(|place| place.lane.get()) != NO_LANE
}

/// Counts a barrier of the block.
#[inline(always)]
pub(crate) fn pass_barrier() {
    if CHECKED {
        PLACE.with(|place| place.barriers.set((place.barriers.get() + 1) % BARRIERS));
    }
}

/// Name of the kernel whose calls the thread makes.
pub(crate) fn kernel() -> &'static str {
    PLACE.with(|place| place.kernel.get())
}

/// The index, the lane and the number of barriers before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Writer {
    pub index: u32,
    lane: u32,
    barriers: u32,
}

impl Writer {
    /// The thread's place.
    pub fn here() -> Self {
        PLACE.with(|place| Self {
            index: place.index.get(),
            lane: place.lane.get(),
            barriers: place.barriers.get(),
        })
    }

    /// The place of another index, whose lane is unknown.
    pub fn of_index(self, index: u32) -> Self {
        Self {
            index,
            lane: NO_LANE,
            ..self
        }
    }

    /// The place in 62 bits.
    pub fn pack(self) -> u64 {
        u64::from(self.index) << 30 | u64::from(self.barriers) << 11 | u64::from(self.lane)
    }

    pub fn unpack(packed: u64) -> Self {
        Self {
            index: (packed >> 30) as u32,
            barriers: (packed >> 11) as u32 % BARRIERS,
            lane: packed as u32 % (2 * NO_LANE),
        }
    }

    /// Whether a device may run both at the same time.
    pub fn races(self, other: Self) -> bool {
        self.index != other.index || self.lane != other.lane && self.barriers == other.barriers
    }
}

impl core::fmt::Display for Writer {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self.lane {
            NO_LANE => write!(f, "index {}", self.index),
            lane => write!(f, "lane {lane} of block {}", self.index),
        }
    }
}
