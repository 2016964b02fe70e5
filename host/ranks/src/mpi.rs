//! Ranks of MPI, by the crate `mpi`.

use mpi::collective::SystemOperation;
use mpi::datatype::{Partition, PartitionMut};
use mpi::environment::{Threading, Universe};
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives};

use crate::transport::{Reduction, Transport};

/// The processes that one `mpirun` has started.
pub struct Mpi {
    world: SimpleCommunicator,
    here: (usize, usize),
    // Ends MPI when it is dropped, so it comes last.
    _universe: Universe,
}

/// Most bytes that a rank sends in one call of MPI, whose counts have 32 bits.
const MOST_BYTES: u64 = 1 << 30;

impl Mpi {
    /// Starts MPI; `None` where it runs already. Only the thread that calls this calls MPI.
    pub fn start() -> Option<Self> {
        let (universe, _) = mpi::initialize_with_threading(Threading::Funneled)?;
        let world = universe.world();
        let here = world.split_shared(world.rank());
        let here = (here.rank() as usize, here.size() as usize);
        Some(Self {
            world,
            here,
            _universe: universe,
        })
    }
}

/// The sum of the numbers before each.
fn starts(counts: &[u64]) -> Vec<u64> {
    let mut next = 0;
    let start = |count: &u64| {
        next += count;
        next - count
    };
    counts.iter().map(start).collect()
}

impl Transport for Mpi {
    fn rank(&self) -> usize {
        self.world.rank() as usize
    }

    fn size(&self) -> usize {
        self.world.size() as usize
    }

    fn on_this_machine(&self) -> (usize, usize) {
        self.here
    }

    fn counts(&self, to: &[u64]) -> Vec<u64> {
        let mut received = vec![0; to.len()];
        self.world.all_to_all_into(to, &mut received[..]);
        received
    }

    fn exchange(&self, send: &[u8], sent: &[u64], receive: &mut [u8], received: &[u64]) {
        // In rounds of at most so many bytes to each rank.
        let most = MOST_BYTES / self.size() as u64;
        let mut rounds = sent.iter().max().map_or(0, |count| count.div_ceil(most));
        let mut all = [rounds];
        self.reduce(&mut all, Reduction::Max);
        rounds = all[0];
        let (from, to) = (starts(sent), starts(received));
        for round in 0..rounds {
            let range = |start: u64, count: u64| {
                let [begin, end] = [round, round + 1].map(|round| start + count.min(round * most));
                begin as usize..end as usize
            };
            let sends = from
                .iter()
                .zip(sent)
                .map(|(&start, &count)| range(start, count));
            let receives = to
                .iter()
                .zip(received)
                .map(|(&start, &count)| range(start, count));
            let sends: Vec<_> = sends.collect();
            let receives: Vec<_> = receives.collect();
            let is_whole = rounds == 1;
            // Ranges of one round, one behind the other.
            let packed: Vec<u8> = match is_whole {
                true => Vec::new(),
                false => sends
                    .iter()
                    .flat_map(|range| &send[range.clone()])
                    .copied()
                    .collect(),
            };
            let lengths = |ranges: &[std::ops::Range<usize>]| -> (Vec<i32>, Vec<i32>) {
                let lengths: Vec<u64> = ranges.iter().map(|range| range.len() as u64).collect();
                let as_counts = |values: Vec<u64>| values.iter().map(|&v| v as i32).collect();
                (as_counts(lengths.clone()), as_counts(starts(&lengths)))
            };
            let (send_counts, send_starts) = lengths(&sends);
            let (counts, places) = lengths(&receives);
            let total: usize = counts.iter().map(|&count| count as usize).sum();
            let bytes = if is_whole { send } else { &packed };
            // An empty slice of bytes may lie at address 1, which is Open MPI's MPI_IN_PLACE: for a send, and refused for a receive.
            let bytes = if bytes.is_empty() { &[0][..] } else { bytes };
            let partition = Partition::new(bytes, send_counts, send_starts);
            if is_whole {
                let receive: &mut [u8] = match receive.is_empty() {
                    true => &mut [0][..],
                    false => &mut *receive,
                };
                let mut partition_mut = PartitionMut::new(receive, counts, places);
                self.world
                    .all_to_all_varcount_into(&partition, &mut partition_mut);
                continue;
            }
            let mut unpacked = vec![0_u8; total.max(1)];
            let mut partition_mut = PartitionMut::new(&mut unpacked[..], counts, places);
            self.world
                .all_to_all_varcount_into(&partition, &mut partition_mut);
            drop(partition_mut);
            let mut rest = &unpacked[..];
            for range in receives {
                let (here, behind) = rest.split_at(range.len());
                receive[range].copy_from_slice(here);
                rest = behind;
            }
        }
    }

    fn reduce(&self, values: &mut [u64], by: Reduction) {
        let operation = match by {
            Reduction::Min => SystemOperation::min(),
            Reduction::Max => SystemOperation::max(),
            Reduction::Sum => SystemOperation::sum(),
            Reduction::Or => SystemOperation::bitwise_or(),
        };
        let mine = values.to_vec();
        self.world.all_reduce_into(&mine[..], values, operation);
    }

    fn abort(&self, status: i32) -> ! {
        self.world.abort(status)
    }
}
