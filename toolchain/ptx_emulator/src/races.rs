//! Data races: two threads of a launch use the same place, one of them writes it, at least one use is no atomic, and no barrier of their
//! block stands between them ("PTX ISA", section 8, Memory Consistency Model: morally strong operations and races).
//!
//! A place is a word, or a byte that is used as a byte or a half: uses of both kinds are not compared.

use std::collections::HashMap;

/// Bytes whose uses are kept together; a use lies in one of them, since it is aligned.
const PAGE: u64 = 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Read,
    Write,
    /// A relaxed load.
    AtomicRead,
    /// A relaxed store.
    AtomicWrite,
    /// An atomic operation.
    Update,
}

impl Kind {
    pub fn is_write(self) -> bool {
        matches!(self, Self::Write | Self::AtomicWrite | Self::Update)
    }

    fn is_atomic(self) -> bool {
        matches!(self, Self::AtomicRead | Self::AtomicWrite | Self::Update)
    }
}

/// A use of memory, by whom and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    pub kind: Kind,
    pub block: u32,
    /// Of the block.
    pub thread: u32,
    /// Barriers that the block has passed.
    pub barriers: u32,
    pub step: usize,
}

impl Use {
    fn is_by(self, other: Self) -> bool {
        (self.block, self.thread) == (other.block, other.thread)
    }

    /// Whether it races with a later use.
    fn races_with(self, later: Self) -> bool {
        let is_ordered = self.block == later.block && self.barriers < later.barriers;
        let is_kept = self.kind.is_atomic() && later.kind.is_atomic()
            || !self.kind.is_write() && !later.kind.is_write();
        !is_ordered && !is_kept && !self.is_by(later)
    }
}

/// The last uses of a place. Two readers stand for all: one of them is not the thread that writes.
#[derive(Clone, Copy, Default)]
struct Place {
    writes: [Option<Use>; 2],
    reads: [Option<Use>; 2],
}

impl Place {
    /// Notes a use; an earlier one that it races with.
    fn note(&mut self, now: Use) -> Option<Use> {
        let mut earlier = self.writes.iter().chain(&self.reads).flatten();
        let found = earlier.find(|earlier| earlier.races_with(now)).copied();
        keep(
            match now.kind.is_write() {
                true => &mut self.writes,
                false => &mut self.reads,
            },
            now,
        );
        found
    }
}

/// The uses of a launch, by pages of words and of bytes.
#[derive(Default)]
pub struct Races([HashMap<u64, Vec<Place>>; 2]);

impl Races {
    /// Notes a use of some bytes; an earlier one that it races with.
    pub fn note(&mut self, address: u64, bytes: usize, now: Use) -> Option<Use> {
        let size = if bytes < 4 { 1 } else { 4 };
        let places = PAGE / size;
        let page = self.0[usize::from(size == 1)]
            .entry(address / PAGE)
            .or_insert_with(|| vec![Place::default(); places as usize]);
        let first = (address % PAGE / size) as usize;
        let used = &mut page[first..first + bytes / size as usize];
        let raced = used.iter_mut().map(|place| place.note(now));
        raced.fold(None, Option::or)
    }

    /// Forgets the uses of the pages of a range, which is another's from now on.
    pub fn forget(&mut self, address: u64, bytes: usize) {
        for page in address / PAGE..(address + bytes as u64).div_ceil(PAGE) {
            for pages in &mut self.0 {
                pages.remove(&page);
            }
        }
    }
}

/// Keeps the newest use of each of two threads; plain ones before atomic ones, which race with fewer.
fn keep(uses: &mut [Option<Use>; 2], now: Use) {
    let own = uses
        .iter()
        .position(|one| one.is_some_and(|one| one.is_by(now)));
    let place = own.or_else(|| uses.iter().position(Option::is_none));
    let older = |i: usize| uses[i].map_or(0, |one| one.barriers);
    let place = place.unwrap_or(usize::from(older(1) < older(0)));
    let is_stronger = uses[place].is_some_and(|one| {
        !one.kind.is_atomic()
            && now.kind.is_atomic()
            && one.is_by(now)
            && one.barriers == now.barriers
    });
    if !is_stronger {
        uses[place] = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(kind: Kind, block: u32, thread: u32, barriers: u32) -> Use {
        Use {
            kind,
            block,
            thread,
            barriers,
            step: 0,
        }
    }

    #[test]
    fn uses_race_without_a_barrier_or_atomics() {
        use Kind::{AtomicRead, AtomicWrite, Read, Write};
        for (first, second, is_race) in [
            (at(Write, 0, 1, 0), at(Write, 0, 1, 0), false),
            (at(Write, 0, 1, 0), at(Write, 0, 2, 0), true),
            (at(Write, 0, 1, 0), at(Read, 0, 2, 0), true),
            (at(Read, 0, 1, 0), at(Write, 0, 2, 0), true),
            (at(Read, 0, 1, 0), at(Read, 1, 2, 0), false),
            (at(Write, 0, 1, 0), at(Read, 0, 2, 1), false),
            (at(Write, 0, 1, 0), at(Read, 1, 2, 1), true),
            (at(AtomicWrite, 0, 1, 0), at(AtomicWrite, 1, 2, 0), false),
            (at(AtomicWrite, 0, 1, 0), at(AtomicRead, 1, 2, 0), false),
            (at(AtomicWrite, 0, 1, 0), at(Read, 1, 2, 0), true),
            (at(Write, 0, 1, 0), at(AtomicRead, 1, 2, 0), true),
        ] {
            let mut races = Races::default();
            assert_eq!(races.note(64, 8, first), None);
            let found = races.note(68, 4, second);
            assert_eq!(found.is_some(), is_race, "{first:?} {second:?}");
            assert_eq!(races.note(72, 16, second), None);
            assert_eq!(races.note(1023, 1, first), None);
            assert_eq!(races.note(1023, 1, second).is_some(), is_race);
        }
    }

    #[test]
    fn one_of_many_readers_is_found() {
        let mut races = Races::default();
        for thread in 0..5 {
            assert_eq!(races.note(8, 4, at(Kind::Read, 0, thread, 0)), None);
        }
        assert!(races.note(8, 4, at(Kind::Write, 0, 0, 0)).is_some());
        races.forget(8, 4);
        assert_eq!(races.note(8, 4, at(Kind::Write, 0, 0, 0)), None);
    }
}
