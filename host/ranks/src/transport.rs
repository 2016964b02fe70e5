//! Messages between ranks: a small trait, and typed calls over it that count the traffic.
//!
//! | call | use |
//! | --- | --- |
//! | [`Ranks::exchange`] | each rank sends items to any ranks |
//! | [`Ranks::ask`] | questions to any ranks, and their answers in the order of the questions |
//! | [`Halo`](crate::halo::Halo) | items of owned elements to the ranks that hold these as ghosts, again and again |
//! | [`Ranks::all`], [`Ranks::gather`] | the items of all ranks, at every rank or at rank 0 |
//! | [`Ranks::reduce`], [`Ranks::scan`], [`Ranks::numbers`] | a number of each rank |

use std::cell::{Cell, RefCell};
use std::time::Instant;

use bytemuck::Pod;
use trioxide_mesh::parallel;

/// How [`Transport::reduce`] joins the numbers of all ranks. None depends on an order: there are no sums of floats.
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
    /// Joins two numbers.
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

    /// This rank's place among the ranks of its machine, and their number.
    fn on_this_machine(&self) -> (usize, usize);

    /// Gives `to[r]` to rank r, and returns the number that each rank gave to this one.
    fn counts(&self, to: &[u64]) -> Vec<u64>;

    /// Gives bytes to every rank: `sent[r]` bytes of `send` to rank r, in the order of ranks. `receive` takes
    /// `received[r]` bytes from rank r.
    fn exchange(&self, send: &[u8], sent: &[u64], receive: &mut [u8], received: &[u64]);

    /// Joins the numbers of all ranks, place by place.
    fn reduce(&self, values: &mut [u64], by: Reduction);

    /// Ends all ranks with this status, when a rank cannot go on and the others wait for it.
    fn abort(&self, status: i32) -> !;
}

/// Items for each rank, or from each: first those of rank 0, then those of rank 1, and so on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mail<T> {
    items: Vec<T>,
    /// Start of each rank's items, and the end of the last.
    offsets: Vec<usize>,
}

/// Fewest rows that a thread sorts by their ranks.
const FEWEST_ROWS: usize = 1 << 14;

impl<T: Pod + Send + Sync> Mail<T> {
    /// `n` items, each with its rank; the items for one rank keep their order.
    pub fn sorted(ranks: usize, n: usize, item: impl Fn(usize) -> (usize, T) + Sync) -> Self {
        let rank = |i| item(i).0;
        Self::rows(ranks, n, 1, rank, |i, row| row[0] = item(i).1)
    }

    /// `n` rows of `stride` items: `to` gives the rank of each, `write` its items. Rows for one rank keep their order.
    ///
    /// Threads count pieces of the rows by ranks, and then write them, each piece to its own places.
    pub fn rows(
        ranks: usize,
        n: usize,
        stride: usize,
        to: impl Fn(usize) -> usize + Sync,
        write: impl Fn(usize, &mut [T]) + Sync,
    ) -> Self {
        let threads = rayon::current_num_threads();
        let grain = n.div_ceil(4 * threads).max(FEWEST_ROWS);
        let counts = parallel::map_pieces(n, grain, |range| {
            let mut counts = vec![0; ranks];
            range.for_each(|i| counts[to(i)] += stride);
            counts
        });
        let of_rank = |rank: usize| counts.iter().map(|counts| counts[rank]).sum();
        let offsets = offsets((0..ranks).map(of_rank));
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

    /// One item made of each, at the same place.
    pub fn map<U: Pod + Send>(&self, make: impl Fn(&T) -> U + Sync) -> Mail<U> {
        self.with(parallel::map(&self.items, make))
    }
}

impl Mail<u32> {
    /// The numbers below `n` by the ranks that `to` gives; the numbers of one rank ascend.
    pub fn places(ranks: usize, n: usize, to: impl Fn(usize) -> usize + Sync) -> Self {
        Self::sorted(ranks, n, |i| (to(i), i as u32))
    }
}

/// Takes the first `count` elements off a list.
pub(crate) fn split_off<'a, T>(list: &mut &'a mut [T], count: usize) -> &'a mut [T] {
    let (first, rest) = std::mem::take(list).split_at_mut(count);
    *list = rest;
    first
}

/// Starts of lists with these lengths, and the end of the last.
pub(crate) fn offsets<T>(lengths: impl Iterator<Item = T>) -> Vec<T>
where
    T: Copy + Default + std::ops::Add<Output = T>,
{
    let mut offsets = Vec::with_capacity(lengths.size_hint().0 + 1);
    let mut end = T::default();
    offsets.push(end);
    offsets.extend(lengths.map(|length| {
        end = end + length;
        end
    }));
    offsets
}

impl<T: Pod> Mail<T> {
    /// Items in the order of ranks, with the number of each rank's.
    ///
    /// # Panics
    /// When the counts do not add up to the number of items.
    pub fn from_parts(items: Vec<T>, counts: impl Iterator<Item = usize>) -> Self {
        let offsets = offsets(counts);
        assert_eq!(offsets[offsets.len() - 1], items.len(), "counts of items");
        Self { items, offsets }
    }

    /// The lists that `list` appends for each rank.
    pub fn of_lists(ranks: usize, mut list: impl FnMut(usize, &mut Vec<T>)) -> Self {
        let (mut items, mut offsets) = (Vec::new(), vec![0]);
        for rank in 0..ranks {
            list(rank, &mut items);
            offsets.push(items.len());
        }
        Self { items, offsets }
    }

    /// Other items at the same places.
    ///
    /// # Panics
    /// When there are not as many of them.
    pub fn with<U: Pod>(&self, items: Vec<U>) -> Mail<U> {
        self.with_each(1, items)
    }

    /// `each` other items at the place of every item.
    ///
    /// # Panics
    /// When there are not as many of them.
    pub fn with_each<U: Pod>(&self, each: usize, items: Vec<U>) -> Mail<U> {
        assert_eq!(items.len(), each * self.items.len(), "as many items");
        let offsets = self.offsets.iter().map(|offset| each * offset).collect();
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

/// The traffic from a rank to others in one phase of the work.
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
    /// Seconds of the phase in which the rank sends, and waits for others.
    pub waited: f64,
}

/// A transport with typed calls, which counts the traffic of each phase.
pub struct Ranks<'t> {
    transport: &'t dyn Transport,
    phases: RefCell<Vec<Traffic>>,
    /// Place of the current phase.
    current: Cell<usize>,
    /// The time at which the phase began, or went on.
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

    /// Begins a phase, or continues the phase of this name.
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

    /// Adds the time until now to the current phase.
    fn lap(&self) {
        let start = self.since.replace(Instant::now());
        if let Some(phase) = self.phases.borrow_mut().get_mut(self.current.get()) {
            phase.seconds += (self.since.get() - start).as_secs_f64();
        }
    }

    /// The traffic of this rank so far, by phases.
    pub fn traffic(&self) -> Vec<Traffic> {
        self.lap();
        self.phases.borrow().clone()
    }

    /// Makes a call, and counts its bytes to other ranks, its calls with all of them, and its time.
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

    /// Sends each rank its items, and returns the items that each sent to this one. Collective.
    pub fn exchange<T: Pod>(&self, mail: &Mail<T>) -> Mail<T> {
        let counts = mail.counts();
        let head = 8 * (self.size() as u64 - 1);
        let received = self.counted(head, 1, |transport| transport.counts(&counts));
        self.exchange_known(mail, &received)
    }

    /// As [`exchange`](Ranks::exchange) with known receive counts: no counts cross, and ranks that have nothing for
    /// each other do not wait.
    pub(crate) fn exchange_known<T: Pod>(&self, mail: &Mail<T>, received: &[u64]) -> Mail<T> {
        let others = mail.items.len() - mail.of(self.rank()).len();
        self.counted((others * size_of::<T>()) as u64, 0, |transport| {
            let counts = received.iter().map(|&count| count as usize);
            let mut items: Vec<T> = parallel::zeroed(counts.clone().sum());
            let bytes = |counts: &[u64]| counts.iter().map(|n| n * size_of::<T>() as u64).collect();
            let (sent, received): (Vec<u64>, Vec<u64>) = (bytes(&mail.counts()), bytes(received));
            let send = bytemuck::cast_slice(&mail.items);
            let receive = bytemuck::cast_slice_mut(&mut items);
            transport.exchange(send, &sent, receive, &received);
            Mail::from_parts(items, counts)
        })
    }

    /// Sends questions, and returns the answers in the order of the questions. Collective.
    pub fn ask<Q, A>(&self, questions: &Mail<Q>, answer: impl Fn(&Q) -> A + Sync) -> Vec<A>
    where
        Q: Pod + Send + Sync,
        A: Pod + Send,
    {
        self.ask_together(questions, |asked| parallel::map(asked.items(), answer))
    }

    /// As [`ask`](Ranks::ask): `answer` gives the answers to all questions to this rank, in the order of these.
    pub fn ask_together<Q: Pod, A: Pod>(
        &self,
        questions: &Mail<Q>,
        answer: impl FnOnce(&Mail<Q>) -> Vec<A>,
    ) -> Vec<A> {
        let asked = self.exchange(questions);
        self.send_back(questions, asked.with(answer(&asked)))
    }

    /// Sends answers to the ranks that asked.
    pub(crate) fn send_back<Q: Pod, A: Pod>(
        &self,
        questions: &Mail<Q>,
        answers: Mail<A>,
    ) -> Vec<A> {
        let answers = self.exchange_known(&answers, &questions.counts());
        answers.into_items()
    }

    /// The items of each rank, at every rank. Collective.
    pub fn all<T: Pod>(&self, items: &[T]) -> Mail<T> {
        let counts = std::iter::repeat_n(items.len(), self.size());
        self.exchange(&Mail::from_parts(items.repeat(self.size()), counts))
    }

    /// The items of all ranks, in their order, at rank 0; other ranks get none. Collective.
    pub fn gather<T: Pod>(&self, items: &[T]) -> Vec<T> {
        self.gather_mail(items).into_items()
    }

    /// As [`gather`](Ranks::gather), with the ranks of the items.
    pub fn gather_mail<T: Pod>(&self, items: &[T]) -> Mail<T> {
        self.exchange(&self.mail_to(0, items.to_vec()))
    }

    /// Items for one rank alone.
    pub(crate) fn mail_to<T: Pod>(&self, rank: usize, items: Vec<T>) -> Mail<T> {
        let n = items.len();
        let counts = (0..self.size()).map(|to| if to == rank { n } else { 0 });
        Mail::from_parts(items, counts)
    }

    /// Joins the numbers of all ranks, place by place. Collective.
    pub fn reduce_all(&self, values: &mut [u64], by: Reduction) {
        let bytes = size_of_val(values) as u64;
        self.counted(bytes, 1, |transport| transport.reduce(values, by));
    }

    /// Joins one number of each rank. Collective.
    pub fn reduce(&self, value: u64, by: Reduction) -> u64 {
        let mut values = [value];
        self.reduce_all(&mut values, by);
        values[0]
    }

    /// Whether it is so on any rank. Collective.
    pub fn any(&self, is_so: bool) -> bool {
        self.reduce(is_so.into(), Reduction::Or) != 0
    }

    /// The sum of one number of each rank. Collective.
    pub fn sum(&self, value: u64) -> u64 {
        self.reduce(value, Reduction::Sum)
    }

    /// The number of each rank. Collective.
    pub fn numbers(&self, value: u64) -> Vec<u64> {
        self.counted(8 * (self.size() as u64 - 1), 1, |transport| {
            transport.counts(&vec![value; self.size()])
        })
    }

    /// The sum of the numbers of the ranks before this one, and of all. Collective.
    pub fn scan(&self, value: u64) -> (u64, u64) {
        let all = self.numbers(value);
        (all[..self.rank()].iter().sum(), all.iter().sum())
    }
}
