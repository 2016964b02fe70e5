//! Data races: two threads of a launch use the same place, one of them writes it, at least one use is not atomic, and
//! no barrier of their block is between them ("PTX ISA", section 8, Memory Consistency Model: morally strong operations
//! and races).
//!
//! A place is a word, or a byte that is used as a byte or a half.

use std::collections::HashMap;
use std::ops::Range;

/// Bytes whose uses are stored together; a use lies in one page, since it is aligned.
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

/// A use of memory, with its thread and time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    pub kind: Kind,
    pub block: u32,
    /// The thread in its block.
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

/// The last uses of a place, two each: plain and atomic reads, plain and atomic writes.
#[derive(Clone, Copy, Default)]
struct Place([[Option<Use>; 2]; 4]);

impl Place {
    /// An earlier use that races with a later one.
    fn find(&self, later: Use) -> Option<Use> {
        let mut earlier = self.0.iter().flatten().flatten();
        earlier.find(|earlier| earlier.races_with(later)).copied()
    }

    fn keep(&mut self, now: Use) {
        let kind = 2 * usize::from(now.kind.is_write()) + usize::from(now.kind.is_atomic());
        keep(&mut self.0[kind], now);
    }
}

/// Places of one size, by pages.
struct Places {
    /// Bytes of a place.
    size: u64,
    pages: HashMap<u64, Vec<Place>>,
}

impl Places {
    fn new(size: u64) -> Self {
        let pages = HashMap::new();
        Self { size, pages }
    }

    /// The places of a page that have some of these bytes.
    fn range(&self, address: u64, bytes: u64) -> Range<usize> {
        let first = address % PAGE;
        (first / self.size) as usize..(first + bytes).div_ceil(self.size) as usize
    }

    /// An earlier use that races with one of these bytes.
    fn find(&self, address: u64, bytes: u64, later: Use) -> Option<Use> {
        let page = self.pages.get(&(address / PAGE))?;
        let used = &page[self.range(address, bytes)];
        used.iter().find_map(|place| place.find(later))
    }

    fn keep(&mut self, address: u64, bytes: u64, now: Use) {
        let (range, places) = (self.range(address, bytes), PAGE / self.size);
        let page = self.pages.entry(address / PAGE);
        let page = page.or_insert_with(|| vec![Place::default(); places as usize]);
        page[range].iter_mut().for_each(|place| place.keep(now));
    }

    fn forget(&mut self, address: u64, bytes: u64) {
        let end = address + bytes;
        for number in address / PAGE..end.div_ceil(PAGE) {
            let first = address.max(number * PAGE);
            let range = self.range(first, end.min((number + 1) * PAGE) - first);
            if let Some(page) = self.pages.get_mut(&number) {
                page[range].fill(Place::default());
            }
        }
    }
}

/// The uses of a launch.
pub struct Races {
    bytes: Places,
    words: Places,
}

impl Default for Races {
    fn default() -> Self {
        Self {
            bytes: Places::new(1),
            words: Places::new(4),
        }
    }
}

impl Races {
    /// Records a use of some bytes. Returns an earlier use that races with it.
    pub fn note(&mut self, address: u64, bytes: usize, now: Use) -> Option<Use> {
        let bytes = bytes as u64;
        let of_words = self.words.find(address, bytes, now);
        let found = of_words.or_else(|| self.bytes.find(address, bytes, now));
        let places = match bytes < self.words.size {
            true => &mut self.bytes,
            false => &mut self.words,
        };
        places.keep(address, bytes, now);
        found
    }

    /// Forgets the uses of a range of words, which another block uses from now on.
    pub fn forget(&mut self, address: u64, bytes: usize) {
        self.words.forget(address, bytes as u64);
        self.bytes.forget(address, bytes as u64);
    }
}

/// Keeps two uses of a kind that represent all: a use that races with any of them races with one of the two. They are
/// uses of two blocks, or of the two threads that came last: those after the newest barrier first.
fn keep(uses: &mut [Option<Use>; 2], now: Use) {
    let is_own = |one: &Option<Use>| one.is_some_and(|one| one.is_by(now));
    let own = uses.iter().position(is_own);
    let place = own.or_else(|| uses.iter().position(Option::is_none));
    match (place, &mut *uses) {
        (Some(place), uses) => uses[place] = Some(now),
        (None, [Some(first), Some(second)]) if first.block == second.block => {
            let is_second = second.barriers < first.barriers;
            *(if is_second { second } else { first }) = now;
        }
        _ => {}
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

    /// Two of the earlier uses represent all of them.
    #[test]
    fn no_race_with_many_uses_is_lost() {
        use Kind::{AtomicRead, AtomicWrite, Read, Update, Write};
        let mut random = 1_u64;
        let mut next = |below: u64| {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (random >> 33) % below
        };
        let mut found = [0; 2];
        for _ in 0..20_000 {
            let (mut races, mut all) = (Races::default(), Vec::new());
            let mut barriers = [0; 3];
            for _ in 0..8 {
                let block = next(3) as usize;
                barriers[block] += u32::from(next(4) == 0);
                let kind = [Read, Read, AtomicRead, AtomicWrite, Update, Write][next(6) as usize];
                let now = at(kind, block as u32, next(3) as u32, barriers[block]);
                let is_race = all.iter().any(|one: &Use| one.races_with(now));
                assert_eq!(races.note(4, 4, now).is_some(), is_race, "{all:?} {now:?}");
                found[usize::from(is_race)] += 1;
                if is_race {
                    break;
                }
                all.push(now);
            }
        }
        assert!(found.iter().all(|&count| count > 10_000), "{found:?}");
    }

    #[test]
    fn a_byte_races_with_its_word() {
        let [first, second] = [0, 1].map(|thread| at(Kind::Write, 0, thread, 0));
        let word_first = |place: u64| {
            let mut races = Races::default();
            assert_eq!(races.note(1020, 4, first), None);
            races.note(place, 1, second).is_some()
        };
        let byte_first = |place: u64| {
            let mut races = Races::default();
            assert_eq!(races.note(place, 1, first), None);
            races.note(1016, 8, second).is_some()
        };
        assert_eq!(
            [1019, 1020, 1023, 1024].map(word_first),
            [false, true, true, false]
        );
        assert_eq!(
            [1015, 1016, 1023, 1024].map(byte_first),
            [false, true, true, false]
        );
    }

    #[test]
    fn what_lies_beside_a_range_is_not_forgotten() {
        let [first, second] = [0, 1].map(|thread| at(Kind::Write, 0, thread, 0));
        let is_known = |place: u64, bytes: usize| {
            let mut races = Races::default();
            assert_eq!(races.note(place, bytes, first), None);
            races.forget(1008, 32);
            races.note(place, bytes, second).is_some()
        };
        assert_eq!(
            [1004, 1008, 1036, 1040].map(|place| is_known(place, 4)),
            [true, false, false, true]
        );
        assert_eq!(
            [1007, 1008, 1039, 1040].map(|place| is_known(place, 1)),
            [true, false, false, true]
        );
    }
}
