//! Ranks of MPI, by the crate `mpi`.

use mpi::collective::SystemOperation;
use mpi::environment::{Threading, Universe};
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives, Destination, Source};
use trioxide_mesh::parallel;

use crate::transport::{Reduction, Transport};

/// The processes that one `mpirun` has started.
pub struct Mpi {
    world: SimpleCommunicator,
    here: (usize, usize),
    // Ends MPI when it is dropped, so it comes last.
    _universe: Universe,
}

/// Most bytes of a message: counts of MPI have 32 bits.
const MOST_BYTES: usize = 1 << 30;
/// Bytes that a thread copies at a time.
const COPIED: usize = 1 << 20;

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

/// The bytes for each rank, or of each.
fn parts<'b>(bytes: &'b [u8], counts: &[u64]) -> Vec<&'b [u8]> {
    let mut rest = bytes;
    let part = |&count: &u64| {
        let (part, behind) = rest.split_at(count as usize);
        rest = behind;
        part
    };
    counts.iter().map(part).collect()
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

    /// Ranks that have nothing for each other send no message.
    fn exchange(&self, send: &[u8], sent: &[u64], receive: &mut [u8], received: &[u64]) {
        let me = self.rank();
        let sends = parts(send, sent);
        let (before, rest) = receive.split_at_mut(received[..me].iter().sum::<u64>() as usize);
        let (own, behind) = rest.split_at_mut(received[me] as usize);
        let mut rest = [before, behind];
        mpi::request::scope(|scope| {
            let mut requests = Vec::new();
            for (rank, &count) in received.iter().enumerate().filter(|(rank, _)| *rank != me) {
                let rest = &mut rest[usize::from(rank > me)];
                let (part, behind) = std::mem::take(rest).split_at_mut(count as usize);
                *rest = behind;
                let from = self.world.process_at_rank(rank as i32);
                let messages = part.chunks_mut(MOST_BYTES);
                requests.extend(messages.map(|bytes| from.immediate_receive_into(scope, bytes)));
            }
            for (rank, part) in sends.iter().enumerate().filter(|(rank, _)| *rank != me) {
                let to = self.world.process_at_rank(rank as i32);
                let messages = part.chunks(MOST_BYTES);
                requests.extend(messages.map(|bytes| to.immediate_send(scope, bytes)));
            }
            // Meanwhile all threads copy the bytes that stay on this rank.
            parallel::for_chunks_mut(own, COPIED, |k, bytes| {
                bytes.copy_from_slice(&sends[me][COPIED * k..][..bytes.len()]);
            });
            requests.into_iter().for_each(|request| _ = request.wait());
        });
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
