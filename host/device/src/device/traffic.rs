//! Bytes that work moves at least ([`Traffic`]), as launches, fills and copies declare them.

use std::ops::{AddAssign, Sub};
use std::sync::Mutex;

use trioxide_kernel::launch::Moves;

use super::lock;

/// Bytes that some work moves from and to the device's memory at least.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Bytes of the launches by their kernels' `moves`, of the fills, and of the copies within the device.
    pub bytes: u64,
    /// Launches, fills and copies that these bytes belong to.
    pub counted: u64,
    /// Launches of kernels that declare no `moves`: `bytes` lacks theirs.
    pub uncounted: u64,
}

impl AddAssign for Traffic {
    fn add_assign(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.counted += other.counted;
        self.uncounted += other.uncounted;
    }
}

impl Sub for Traffic {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self {
            bytes: self.bytes - before.bytes,
            counted: self.counted - before.counted,
            uncounted: self.uncounted - before.uncounted,
        }
    }
}

/// The traffic of a device since it was opened.
#[derive(Default)]
pub(super) struct Counter(Mutex<Traffic>);

impl Counter {
    /// Counts a launch.
    pub(super) fn launched(&self, moves: Option<Moves>) {
        match moves {
            Some(moves) => self.moved(moves.bytes),
            None => lock(&self.0).uncounted += 1,
        }
    }

    /// Counts a fill or a copy: bytes read plus written.
    pub(super) fn moved(&self, bytes: u64) {
        let mut traffic = lock(&self.0);
        traffic.bytes += bytes;
        traffic.counted += 1;
    }

    /// The traffic so far.
    pub(super) fn so_far(&self) -> Traffic {
        *lock(&self.0)
    }
}
