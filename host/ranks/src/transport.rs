//! What carries messages between ranks: one small trait, and typed calls over it that count what crosses.

use std::cell::{Cell, RefCell};
use std::time::Instant;

use bytemuck::Pod;
use trioxide_mesh::parallel;

/// How [`Transport::reduce`] joins the numbers of all ranks. None of them shows an order: none is a sum of floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// The sum.
    Sum,
    /// The bits of any.
    Or,
}

impl Reduction {
    /// Two numbers joined.
    pub fn join(self, a: u64, b: u64) -> u64 {
        match self {
            Reduction::Min => a.min(b),
            Reduction::Max => a.max(b),
            Reduction::Sum => a + b,
            Reduction::Or => a | b,
        }
    }
}

/// Ranks that work together. Every call but [`rank`](Transport::rank), [`size`](Transport::size) and
/// [`abort`](Transport::abort) is collective: all ranks make it, in the same order.
pub trait Transport {
    /// This rank, from 0.
    fn rank(&self) -> usize;

    /// Number of ranks.
    fn size(&self) -> usize;

    /// This rank's place among those of its machine, and their number.
    fn on_this_machine(&self) -> (usize, usize);

    /// Gives `to[r]` to rank r; what each rank gave to this one.
    fn counts(&self, to: &[u64]) -> Vec<u64>;

    /// Gives bytes to every rank: `sent` bytes of `send` to each, in the order of ranks. `receive` takes `received`
    /// bytes from each, which [`counts`](Transport::counts) told.
    fn exchange(&self, send: &[u8], sent: &[u64], receive: &mut [u8], received: &[u64]);

    /// Joins the numbers of all ranks, place by place.
    fn reduce(&self, values: &mut [u64], by: Reduction);

    /// Ends all ranks, this one included, with this status: where a rank cannot go on and the others wait for it.
    fn abort(&self, status: i32) -> !;
}

/// Items for each rank, or of each: the ones of rank 0, then those of rank 1, and so on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mail<T> {
    items: Vec<T>,
    /// Start of each rank's items, and the end of the last.
    offsets: Vec<usize>,
}

/// Fewest rows that a thread sorts by their ranks.
const FEWEST_ROWS: usize = 1 << 14;

impl<T: Pod + Send + Sync> Mail<T> {
    /// `n` items, each with the rank that it is for; those for one rank keep their order.
    pub fn sorted(ranks: usize, n: usize, item: impl Fn(usize) -> (usize, T) + Sync) -> Self {
        let rank = |i| item(i).0;
        Self::rows(ranks, n, 1, rank, |i, row| row[0] = item(i).1)
    }

    /// `n` rows of `stride` items: `to` gives the rank of each, `write` its items. Rows for one rank keep their order.
    ///
    /// Pieces of the rows are counted by ranks, and then written by the threads, each to its own places.
    pub fn rows(
        ranks: usize,
        n: usize,
        stride: usize,
        to: impl Fn(usize) -> usize + Sync,
        write: impl Fn(usize, &mut [T]) + Sync,
    ) -> Self {
        let grain = n
            .div_ceil(4 * rayon::current_num_threads())
            .max(FEWEST_ROWS);
        let counts = parallel::map_pieces(n, grain, |range| {
            let mut counts = vec![0; ranks];
            range.for_each(|i| counts[to(i)] += stride);
            counts
        });
        let mut offsets = vec![0; ranks + 1];
        for rank in 0..ranks {
            let of_rank = counts.iter().map(|counts| counts[rank]);
            offsets[rank + 1] = offsets[rank] + of_rank.sum::<usize>();
        }
        let mut items: Vec<T> = parallel::zeroed(offsets[ranks]);
        let mut rest = &mut items[..];
        let mut rooms: Vec<Vec<&mut [T]>> = counts.iter().map(|_| Vec::new()).collect();
        for rank in 0..ranks {
            for (rooms, counts) in rooms.iter_mut().zip(&counts) {
                rooms.push(split_off(&mut rest, counts[rank]));
            }
        }
        parallel::for_each_mut(&mut rooms, |piece, rooms| {
            for i in piece * grain..n.min((piece + 1) * grain) {
                write(i, split_off(&mut rooms[to(i)], stride));
            }
        });
        Self { items, offsets }
    }

    /// Items made of these, each at its place.
    pub fn map<U: Pod + Send>(&self, make: impl Fn(&T) -> U + Sync) -> Mail<U> {
        self.with(parallel::map(&self.items, make))
    }
}

/// Takes the first `count` elements off a list.
fn split_off<'a, T>(list: &mut &'a mut [T], count: usize) -> &'a mut [T] {
    let (first, rest) = std::mem::take(list).split_at_mut(count);
    *list = rest;
    first
}

impl<T: Pod> Mail<T> {
    /// Items in the order of ranks, so many for each.
    ///
    /// # Panics
    /// When the counts are not those of the items.
    pub fn from_parts(items: Vec<T>, counts: impl Iterator<Item = usize>) -> Self {
        let mut offsets = vec![0];
        for count in counts {
            offsets.push(offsets[offsets.len() - 1] + count);
        }
        assert_eq!(offsets[offsets.len() - 1], items.len(), "counts of items");
        Self { items, offsets }
    }

    /// The same places with other items.
    ///
    /// # Panics
    /// When there are not as many of them.
    pub fn with<U: Pod>(&self, items: Vec<U>) -> Mail<U> {
        assert_eq!(items.len(), self.items.len(), "as many items");
        let offsets = self.offsets.clone();
        Mail { items, offsets }
    }

    /// All items, in the order of ranks.
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// All items, in the order of ranks.
    pub fn into_items(self) -> Vec<T> {
        self.items
    }

    /// Number of ranks.
    pub fn ranks(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The items of a rank.
    pub fn of(&self, rank: usize) -> &[T] {
        &self.items[self.offsets[rank]..self.offsets[rank + 1]]
    }

    /// Each item with its rank.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &T)> {
        (0..self.ranks()).flat_map(move |rank| self.of(rank).iter().map(move |item| (rank, item)))
    }

    /// Number of items of each rank.
    pub fn counts(&self) -> Vec<u64> {
        let pairs = self.offsets.windows(2);
        pairs.map(|pair| (pair[1] - pair[0]) as u64).collect()
    }
}

/// What a rank sent to others in one phase of the work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Traffic {
    /// The phase.
    pub phase: &'static str,
    /// Bytes to other ranks. A number that all ranks join counts once.
    pub bytes: u64,
    /// Calls in which each rank waits for all others.
    pub calls: u64,
    /// Seconds of the phase.
    pub seconds: f64,
    /// Those of them in which ranks send, and wait for others.
    pub waited: f64,
}

/// A transport with typed calls, which counts the traffic of each phase.
pub struct Ranks<'t> {
    transport: &'t dyn Transport,
    phases: RefCell<Vec<Traffic>>,
    /// Place of the phase that goes on.
    current: Cell<usize>,
    /// When it began, or went on.
    since: Cell<Instant>,
}

impl<'t> Ranks<'t> {
    /// The ranks of a transport.
    pub fn new(transport: &'t dyn Transport) -> Self {
        Self {
            transport,
            phases: RefCell::default(),
            current: Cell::new(0),
            since: Cell::new(Instant::now()),
        }
    }

    /// This rank, from 0.
    pub fn rank(&self) -> usize {
        self.transport.rank()
    }

    /// Number of ranks.
    pub fn size(&self) -> usize {
        self.transport.size()
    }

    /// The transport below.
    pub fn transport(&self) -> &'t dyn Transport {
        self.transport
    }

    /// What follows is counted under this name, also where it comes again.
    pub fn phase(&self, phase: &'static str) {
        self.lap();
        let mut phases = self.phases.borrow_mut();
        let place = phases.iter().position(|traffic| traffic.phase == phase);
        self.current.set(place.unwrap_or(phases.len()));
        if place.is_none() {
            phases.push(Traffic {
                phase,
                bytes: 0,
                calls: 0,
                seconds: 0.0,
                waited: 0.0,
            });
        }
    }

    /// The time until now belongs to the phase that goes on.
    fn lap(&self) {
        let start = self.since.replace(Instant::now());
        if let Some(phase) = self.phases.borrow_mut().get_mut(self.current.get()) {
            phase.seconds += (self.since.get() - start).as_secs_f64();
        }
    }

    /// What this rank sent so far, phase by phase.
    pub fn traffic(&self) -> Vec<Traffic> {
        self.lap();
        self.phases.borrow().clone()
    }

    /// Counts bytes to other ranks, calls with all of them, and the time.
    fn counted<R>(&self, bytes: u64, calls: u64, call: impl FnOnce(&dyn Transport) -> R) -> R {
        if self.phases.borrow().is_empty() {
            self.phase("start");
        }
        let start = Instant::now();
        let result = call(self.transport);
        if let Some(phase) = self.phases.borrow_mut().get_mut(self.current.get()) {
            phase.bytes += bytes;
            phase.calls += calls;
            phase.waited += start.elapsed().as_secs_f64();
        }
        result
    }

    /// Gives each rank its items; the items that each gave to this one.
    pub fn exchange<T: Pod>(&self, mail: &Mail<T>) -> Mail<T> {
        let head = 8 * (self.size() as u64 - 1);
        self.counted(self.bytes_to_others(mail) + head, 1, |transport| {
            deliver(transport, mail, &transport.counts(&mail.counts()))
        })
    }

    /// As [`exchange`](Ranks::exchange), where so many items come from each rank, as this one knows: no counts cross,
    /// and nobody waits for ranks that have nothing for it.
    pub fn exchange_expected<T: Pod>(&self, mail: &Mail<T>, received: &[u64]) -> Mail<T> {
        self.counted(self.bytes_to_others(mail), 0, |transport| {
            deliver(transport, mail, received)
        })
    }

    /// As [`exchange`](Ranks::exchange), where items go to ranks for which `to` has some, and come from those for which
    /// `from` has some: counts cross between these alone.
    pub fn exchange_between<T: Pod, U: Pod, V: Pod>(
        &self,
        mail: &Mail<T>,
        to: &Mail<U>,
        from: &Mail<V>,
    ) -> Mail<T> {
        let neighbors = |mail: &[u64]| mail.iter().map(|&n| usize::from(n > 0)).collect();
        let (to, from): (Vec<usize>, Vec<usize>) =
            (neighbors(&to.counts()), neighbors(&from.counts()));
        let told = mail.counts().into_iter().zip(&to);
        let told: Vec<u64> = told
            .flat_map(|(n, &is_one)| (is_one > 0).then_some(n))
            .collect();
        let counts = Mail::from_parts(told, to.into_iter());
        let bytes = self.bytes_to_others(&counts) + self.bytes_to_others(mail);
        self.counted(bytes, 0, |transport| {
            let from: Vec<u64> = from.into_iter().map(|n| n as u64).collect();
            let told = deliver(transport, &counts, &from);
            let received =
                (0..told.ranks()).map(|rank| told.of(rank).first().copied().unwrap_or(0));
            deliver(transport, mail, &received.collect::<Vec<u64>>())
        })
    }

    fn bytes_to_others<T: Pod>(&self, mail: &Mail<T>) -> u64 {
        let others = mail.items.len() - mail.of(self.rank()).len();
        (others * size_of::<T>()) as u64
    }

    /// Joins the numbers of all ranks, place by place.
    pub fn reduce_all(&self, values: &mut [u64], by: Reduction) {
        let bytes = size_of_val(values) as u64;
        self.counted(bytes, 1, |transport| transport.reduce(values, by));
    }

    /// Joins one number of each rank.
    pub fn reduce(&self, value: u64, by: Reduction) -> u64 {
        let mut values = [value];
        self.reduce_all(&mut values, by);
        values[0]
    }

    /// The number of each rank.
    pub fn gather(&self, value: u64) -> Vec<u64> {
        self.counted(8 * (self.size() as u64 - 1), 1, |transport| {
            transport.counts(&vec![value; self.size()])
        })
    }

    /// The sum of the numbers of the ranks before this one, and of all.
    pub fn scan(&self, value: u64) -> (u64, u64) {
        let all = self.gather(value);
        (all[..self.rank()].iter().sum(), all.iter().sum())
    }

    /// The items of rank `from`, on every rank.
    pub fn broadcast<T: Pod>(&self, from: usize, items: &[T]) -> Vec<T> {
        let copies = match self.rank() == from {
            true => self.size(),
            false => 0,
        };
        let all = items.repeat(copies);
        let counts = (0..self.size()).map(|_| if copies == 0 { 0 } else { items.len() });
        self.exchange(&Mail::from_parts(all, counts)).into_items()
    }
}

/// Gives each rank its items; those that each gave to this one, of which there are so many.
fn deliver<T: Pod>(transport: &dyn Transport, mail: &Mail<T>, received: &[u64]) -> Mail<T> {
    let counts = received.iter().map(|&count| count as usize);
    let mut items: Vec<T> = parallel::zeroed(counts.clone().sum());
    let bytes = |counts: &[u64]| counts.iter().map(|n| n * size_of::<T>() as u64).collect();
    let (sent, received): (Vec<u64>, Vec<u64>) = (bytes(&mail.counts()), bytes(received));
    let send = bytemuck::cast_slice(&mail.items);
    let receive = bytemuck::cast_slice_mut(&mut items);
    transport.exchange(send, &sent, receive, &received);
    Mail::from_parts(items, counts)
}

/// The items of all ranks, in their order, at rank 0. Collective.
pub fn to_first<T: Pod>(ranks: &Ranks, items: &[T]) -> Vec<T> {
    mail_to_first(ranks, items).into_items()
}

/// The items of each rank, at rank 0. Collective.
pub fn mail_to_first<T: Pod>(ranks: &Ranks, items: &[T]) -> Mail<T> {
    let counts = (0..ranks.size()).map(|rank| if rank == 0 { items.len() } else { 0 });
    ranks.exchange(&Mail::from_parts(items.to_vec(), counts))
}
