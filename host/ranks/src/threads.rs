//! Ranks as threads of one process: for tests, and where there is no MPI.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::transport::{Reduction, Transport};

/// One rank among threads.
pub struct Threads {
    rank: usize,
    meeting: Arc<Meeting>,
}

/// The bytes and numbers that a rank shows to all others while they meet.
type Shown = Arc<(Vec<u8>, Vec<u64>)>;

/// The place where the threads wait for each other.
struct Meeting {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    shown: Vec<Option<Shown>>,
    arrived: usize,
    /// Meetings so far.
    meetings: u64,
    /// Whether a rank is gone: the others wait in vain.
    is_broken: bool,
}

impl Meeting {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows something to all ranks, and returns what each shows.
    fn meet(&self, rank: usize, shown: Shown) -> Vec<Shown> {
        let mut state = self.lock();
        state.shown[rank] = Some(shown);
        state = self.wait(state);
        let all = state.shown.iter().flatten().cloned().collect();
        // No rank shows anything new before all have read.
        drop(self.wait(state));
        all
    }

    fn wait<'m>(&self, mut state: MutexGuard<'m, State>) -> MutexGuard<'m, State> {
        state.arrived += 1;
        let meeting = state.meetings;
        if state.arrived == state.shown.len() {
            state.arrived = 0;
            state.meetings += 1;
            self.changed.notify_all();
            return state;
        }
        while state.meetings == meeting {
            assert!(!state.is_broken, "another rank has failed");
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        state
    }
}

/// Breaks the meeting when a rank's thread panics.
struct Departure<'m>(&'m Meeting);

impl Drop for Departure<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.lock().is_broken = true;
            self.0.changed.notify_all();
        }
    }
}

/// Runs `work` on `size` ranks, a thread each, and returns their results in the order of ranks.
///
/// # Panics
/// When the work of a rank panics.
pub fn run<R: Send>(size: usize, work: impl Fn(&Threads) -> R + Sync) -> Vec<R> {
    let meeting = Arc::new(Meeting {
        state: Mutex::new(State {
            shown: vec![None; size],
            arrived: 0,
            meetings: 0,
            is_broken: false,
        }),
        changed: Condvar::new(),
    });
    std::thread::scope(|scope| {
        let spawn = |rank| {
            let (meeting, work) = (meeting.clone(), &work);
            scope.spawn(move || {
                let departure = Departure(&meeting);
                let result = work(&Threads {
                    rank,
                    meeting: meeting.clone(),
                });
                drop(departure);
                result
            })
        };
        let threads: Vec<_> = (0..size).map(spawn).collect();
        let join = |thread: std::thread::ScopedJoinHandle<R>| {
            let joined = thread.join();
            joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads.into_iter().map(join).collect()
    })
}

impl Transport for Threads {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.meeting.lock().shown.len()
    }

    fn on_this_machine(&self) -> (usize, usize) {
        (self.rank, self.size())
    }

    fn counts(&self, to: &[u64]) -> Vec<u64> {
        let all = self
            .meeting
            .meet(self.rank, Arc::new((Vec::new(), to.to_vec())));
        all.iter().map(|shown| shown.1[self.rank]).collect()
    }

    fn exchange(&self, send: &[u8], sent: &[u64], receive: &mut [u8], received: &[u64]) {
        let shown = Arc::new((send.to_vec(), sent.to_vec()));
        let all = self.meeting.meet(self.rank, shown);
        let mut rest = receive;
        for (shown, &count) in all.iter().zip(received) {
            let (bytes, counts) = &**shown;
            let start: u64 = counts[..self.rank].iter().sum();
            let (here, behind) = rest.split_at_mut(count as usize);
            here.copy_from_slice(&bytes[start as usize..(start + counts[self.rank]) as usize]);
            rest = behind;
        }
    }

    fn reduce(&self, values: &mut [u64], by: Reduction) {
        let all = self
            .meeting
            .meet(self.rank, Arc::new((Vec::new(), values.to_vec())));
        for (i, value) in values.iter_mut().enumerate() {
            let of_all = all.iter().map(|shown| shown.1[i]);
            *value = of_all
                .reduce(|a, b| by.join(a, b))
                .expect("there is a rank");
        }
    }

    fn abort(&self, status: i32) -> ! {
        panic!("rank {} ends all with status {status}", self.rank)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::halo::Halo;
    use crate::transport::{Mail, Ranks};

    #[test]
    fn every_rank_gets_what_the_others_send() {
        for size in [1, 2, 3, 7] {
            let results = run(size, |transport| {
                let ranks = Ranks::new(transport);
                let me = ranks.rank();
                // Rank r sends r + 1 numbers to each rank but the last, which gets none.
                let to = (0..size - 1).flat_map(|to| vec![(to, (10 * me + to) as u32); me + 1]);
                let to: Vec<(usize, u32)> = to.collect();
                let got = ranks.exchange(&Mail::sorted(size, to.len(), |i| to[i]));
                let scan = ranks.scan(me as u64 + 1);
                let least = ranks.reduce(10 - me as u64, Reduction::Min);
                let last = vec![me as u64; if me + 1 == size { 3 } else { 0 }];
                (got, scan, least, ranks.all(&last).into_items())
            });
            for (me, (got, scan, least, broadcast)) in results.into_iter().enumerate() {
                for from in 0..size {
                    let count = if me + 1 < size { from + 1 } else { 0 };
                    assert_eq!(got.of(from), vec![(10 * from + me) as u32; count]);
                }
                let sum = |n: usize| (n * (n + 1) / 2) as u64;
                assert_eq!(scan, (sum(me), sum(size)));
                assert_eq!(least, 11 - size as u64);
                assert_eq!(broadcast, [size as u64 - 1; 3]);
            }
        }
    }

    /// Also where threads share many rows.
    #[test]
    fn rows_for_one_rank_keep_their_order() {
        let to = |i: usize| i * i / 7 % 3;
        let mail = Mail::rows(3, 100_000, 2, to, |i, row: &mut [u64]| {
            row.copy_from_slice(&[i as u64, 5]);
        });
        for rank in 0..3 {
            let rows = (0..100_000).filter(|&i| to(i) == rank);
            let rows: Vec<u64> = rows.flat_map(|i| [i as u64, 5]).collect();
            assert_eq!(mail.of(rank), rows);
        }
    }

    #[test]
    #[should_panic = "boom"]
    fn a_rank_that_panics_ends_all() {
        run(3, |transport| {
            assert!(transport.rank() != 0, "boom");
            transport.counts(&[0; 3]);
        });
    }

    #[test]
    fn bytes_to_other_ranks_are_counted() {
        let sent = run(3, |transport| {
            let ranks = Ranks::new(transport);
            ranks.phase("one");
            let to = [(0, 1_u32), (1, 2), (1, 3), (2, 4)];
            ranks.exchange(&Mail::sorted(3, 4, |i| to[i]));
            ranks.traffic()[0]
        });
        let bytes: Vec<u64> = sent.iter().map(|traffic| traffic.bytes).collect();
        // The items for other ranks, and a count for each of two.
        assert_eq!(bytes, [12 + 16, 8 + 16, 12 + 16]);
    }

    /// Neighbours in a ring send each other counts, and answers need none: there is no call of all ranks.
    #[test]
    fn neighbours_exchange_without_the_others() {
        for size in [1, 2, 3, 7] {
            let calls = run(size, |transport| {
                let ranks = Ranks::new(transport);
                let me = ranks.rank();
                let behind = (me + 1) % size;
                let halo = Halo {
                    given: Mail::sorted(size, 1, |_| (behind, 0)),
                    ghosts: Mail::sorted(size, 1, |_| ((me + size - 1) % size, 0)),
                };
                // Rank 0 sends nothing.
                let questions = Mail::sorted(size, me, |i| (behind, (10 * me + i) as u32));
                let asked = halo.send_some(&ranks, &questions);
                let before = (me + size - 1) % size;
                let expected: Vec<u32> = (0..before).map(|i| (10 * before + i) as u32).collect();
                assert_eq!(asked.of(before), expected);
                assert_eq!(asked.items().len(), before);
                let answers =
                    ranks.exchange_known(&asked.map(|&i| u64::from(i) + 1), &questions.counts());
                let expected: Vec<u64> = (0..me).map(|i| (10 * me + i) as u64 + 1).collect();
                assert_eq!(answers.of(behind), expected);
                assert_eq!(answers.items().len(), me);
                ranks.traffic()[0].calls
            });
            assert!(calls.into_iter().all(|calls| calls == 0));
        }
    }

    #[test]
    fn a_phase_that_comes_again_is_counted_once() {
        let phases = run(2, |transport| {
            let ranks = Ranks::new(transport);
            for phase in ["one", "two", "one"] {
                ranks.phase(phase);
                ranks.numbers(1);
            }
            ranks.traffic()
        });
        for traffic in phases {
            let counted: Vec<_> = traffic
                .iter()
                .map(|t| (t.phase, t.bytes, t.calls))
                .collect();
            assert_eq!(counted, [("one", 16, 2), ("two", 8, 1)]);
        }
    }
}
