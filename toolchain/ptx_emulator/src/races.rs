//! Data races: two threads of a launch use the same place, one of them writes it, at least one use is not atomic, and
//! no barrier of their block is between them ("PTX ISA", section 8, Memory Consistency Model: morally strong operations
//! and races).
//!
//! A place is a word, or a byte that is used as a byte or a half.

use std::cell::Cell;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;

/// Bytes whose uses are stored together; a use lies in one page, since it is aligned. Memory is aligned to as many.
const PAGE: u64 = 256;

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

/// A use of memory, with its thread and time. Eight of them are kept for each word, so it is small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    pub block: u32,
    /// Barriers that the block has passed.
    pub barriers: u32,
    pub step: u32,
    /// The thread in its block.
    pub thread: u16,
    pub kind: Kind,
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

/// The last uses of a place in a launch, two each: atomic reads, plain reads, plain writes, atomic writes.
#[derive(Clone, Copy, Default)]
struct Place {
    /// The launch of the uses; those of an earlier one count no longer.
    launch: u32,
    uses: [[Option<Use>; 2]; 4],
}

impl Place {
    /// An earlier use that races with a later one.
    fn find(&self, launch: u32, later: Use) -> Option<Use> {
        if self.launch != launch {
            return None;
        }
        // Two reads do not race, nor do two atomic uses.
        let rows = match later.kind {
            Kind::Read => 2..4,
            Kind::AtomicRead => 2..3,
            Kind::Write => 0..4,
            Kind::AtomicWrite | Kind::Update => 1..3,
        };
        let mut earlier = self.uses[rows].as_flattened().iter().flatten();
        earlier.find(|earlier| earlier.races_with(later)).copied()
    }

    /// Records a use, unless an earlier one races with it, which is returned.
    fn note(&mut self, launch: u32, now: Use) -> Option<Use> {
        if let Some(earlier) = self.find(launch, now) {
            return Some(earlier);
        }
        if self.launch != launch {
            *self = Self {
                launch,
                ..Self::default()
            };
        }
        let row = match now.kind {
            Kind::AtomicRead => 0,
            Kind::Read => 1,
            Kind::Write => 2,
            Kind::AtomicWrite | Kind::Update => 3,
        };
        keep(&mut self.uses[row], now);
        None
    }
}

/// Numbers of pages are near each other and nobody chooses them to collide, so a product is enough.
#[derive(Default)]
struct PageHasher(u64);

impl Hasher for PageHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(self.0 ^ u64::from(byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(32);
    }
}

/// Places of one size, by pages.
struct Places {
    /// The logarithm of the bytes of a place.
    shift: u32,
    pages: Vec<Vec<Place>>,
    /// Where the page of a number is.
    index: HashMap<u64, usize, BuildHasherDefault<PageHasher>>,
    /// The page that was used last: number and index.
    last: (u64, usize),
}

impl Places {
    fn new(shift: u32) -> Self {
        Self {
            shift,
            pages: Vec::new(),
            index: HashMap::default(),
            last: (u64::MAX, 0),
        }
    }

    /// The places of a page that have some of these bytes.
    fn range(&self, address: u64, bytes: u64) -> Range<usize> {
        let first = address % PAGE;
        let last = first + bytes - 1;
        (first >> self.shift) as usize..(last >> self.shift) as usize + 1
    }

    /// The index of a page, if it has been used.
    fn page(&mut self, number: u64) -> Option<usize> {
        if self.last.0 != number {
            self.last = (number, *self.index.get(&number)?);
        }
        Some(self.last.1)
    }

    /// An earlier use that races with one of these bytes.
    fn find(&mut self, launch: u32, address: u64, bytes: u64, later: Use) -> Option<Use> {
        let page = self.page(address / PAGE)?;
        let used = &self.pages[page][self.range(address, bytes)];
        used.iter().find_map(|place| place.find(launch, later))
    }

    /// Records a use of bytes, up to a place whose earlier use races with it.
    fn note(&mut self, launch: u32, address: u64, bytes: u64, now: Use) -> Option<Use> {
        let (number, range) = (address / PAGE, self.range(address, bytes));
        let page = self.page(number).unwrap_or_else(|| {
            let page = self.pages.len();
            let places = vec![Place::default(); (PAGE >> self.shift) as usize];
            self.pages.push(places);
            self.index.insert(number, page);
            page
        });
        let mut used = self.pages[page][range].iter_mut();
        used.find_map(|place| place.note(launch, now))
    }

    fn forget(&mut self, address: u64, bytes: u64) {
        let end = address + bytes;
        for number in address / PAGE..end.div_ceil(PAGE) {
            let first = address.max(number * PAGE);
            let range = self.range(first, end.min((number + 1) * PAGE) - first);
            if let Some(page) = self.page(number) {
                let forgotten = self.pages[page][range].iter_mut();
                forgotten.for_each(|place| place.launch = 0);
            }
        }
    }
}

/// The uses of a launch.
pub struct Races {
    /// Number of the launch, from 1 on.
    launch: u32,
    bytes: Places,
    words: Places,
}

impl Default for Races {
    fn default() -> Self {
        Self {
            launch: 1,
            bytes: Places::new(0),
            words: Places::new(2),
        }
    }
}

thread_local! {
    /// Pages for the next launch: new ones took a third of a small launch's time.
    static SPARE: Cell<Option<Races>> = const { Cell::new(None) };
}
/// Places for the next launch, at most: some 70 MB.
const MOST_SPARE: usize = 1 << 19;

impl Races {
    /// No uses, for a new launch.
    pub fn begin() -> Self {
        SPARE.take().unwrap_or_default()
    }

    /// The launch has ended.
    pub fn end(mut self) {
        let places: usize = [&self.bytes, &self.words]
            .map(|places| places.pages.len() * (PAGE >> places.shift) as usize)
            .iter()
            .sum();
        if places <= MOST_SPARE
            && let Some(next) = self.launch.checked_add(1)
        {
            self.launch = next;
            SPARE.set(Some(self));
        }
    }

    /// Records a use of some bytes. Returns an earlier use that races with it.
    pub fn note(&mut self, address: u64, bytes: usize, now: Use) -> Option<Use> {
        let (launch, bytes) = (self.launch, bytes as u64);
        let (own, other) = match bytes < 4 {
            true => (&mut self.bytes, &mut self.words),
            false => (&mut self.words, &mut self.bytes),
        };
        let found = other.find(launch, address, bytes, now);
        found.or_else(|| own.note(launch, address, bytes, now))
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

    fn at(kind: Kind, block: u32, thread: u16, barriers: u32) -> Use {
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
                let now = at(kind, block as u32, next(3) as u16, barriers[block]);
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
    fn a_launch_begins_without_uses() {
        let [first, second] = [0, 1].map(|thread| at(Kind::Write, 0, thread, 0));
        for (address, bytes) in [(64, 4), (64, 1), (512, 16)] {
            let mut races = Races::begin();
            assert_eq!(races.note(address, bytes, first), None);
            races.end();
            let mut races = Races::begin();
            assert!(races.launch > 1, "the pages are kept");
            assert_eq!(races.note(address, bytes, second), None);
            assert!(races.note(address, bytes, first).is_some());
            races.end();
        }
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
