//! A rank's device and threads, its messages, and its faults.

use std::path::Path;
use std::thread::JoinHandle;

use glam::DVec3;
use trioxide::Error;
use trioxide::device::{Choice, CudaDevice, Device, cuda_devices, has_cuda_driver};
use trioxide_arguments::device::DeviceOptions;
use trioxide_arguments::names::FLAGS;
use trioxide_arguments::note;
use trioxide_operations::{Precision, refine};
use trioxide_ranks::{Fault, Ranks, Result};

use crate::Command;

/// Threads of a rank: its share of the cores, or the cores that `mpirun` has bound it to.
pub fn threads(ranks: &Ranks) -> usize {
    let (_, here) = ranks.transport().on_this_machine();
    Cores::new().threads(here)
}

/// Whether this number of ranks on this machine, and other processes, leave no core free: then a waiting rank gives its
/// core away.
pub fn take_all_cores(ranks: usize) -> bool {
    Cores::new().are_taken(ranks, load())
}

/// Threads of all processes that ran at the same time in the last minute.
fn load() -> f64 {
    let mut load = [0.0];
    // SAFETY: the array has room for one number.
    let known = unsafe { libc::getloadavg(load.as_mut_ptr(), 1) };
    if known == 1 { load[0] } else { 0.0 }
}

/// The cores that a rank may use, and those of `mpirun`, which started it.
struct Cores {
    own: usize,
    all: usize,
}

impl Cores {
    fn new() -> Self {
        let own = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            own,
            all: cores_of_parent().map_or(own, |all| all.max(own)),
        }
    }

    /// Threads of each of `ranks` ranks on this machine.
    fn threads(&self, ranks: usize) -> usize {
        match self.own < self.all {
            true => self.own,
            false => (self.own / ranks).max(1),
        }
    }

    /// Whether this number of ranks takes all cores that `load` threads of others leave.
    fn are_taken(&self, ranks: usize, load: f64) -> bool {
        ranks as f64 + load >= self.all as f64
    }

    /// Whether cores are left that no rank may run on.
    fn are_left(&self, ranks: usize) -> bool {
        ranks * self.own < self.all
    }
}

#[cfg(target_os = "linux")]
fn cores_of_parent() -> Option<usize> {
    // SAFETY: an array of bits; all zeros is the empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the set is as large as said.
    let found = unsafe { libc::sched_getaffinity(libc::getppid(), size_of_val(&set), &mut set) };
    // SAFETY: it only reads the set.
    (found == 0).then(|| unsafe { libc::CPU_COUNT(&set) } as usize)
}

#[cfg(not(target_os = "linux"))]
fn cores_of_parent() -> Option<usize> {
    None
}

/// Notes that `mpirun` leaves cores without work: by default, Open MPI binds each of two ranks to one core.
fn note_bound(ranks: &Ranks, options: &DeviceOptions) {
    let (_, here) = ranks.transport().on_this_machine();
    let cores = Cores::new();
    if cores.are_left(here) {
        let Cores { own, all } = cores;
        let text = format!(
            "mpirun binds each rank to {own} of {all} cores: with --bind-to none before trioxide the ranks share all of them"
        );
        note(is_quiet(ranks, options), text);
    }
}

/// Whether this rank prints nothing but errors: rank 0 prints for all.
pub fn is_quiet(ranks: &Ranks, options: &DeviceOptions) -> bool {
    options.quiet || ranks.rank() != 0
}

/// Refuses a level of refinement that was not reached in these `rounds`, which every rank counts alike.
pub fn check_level(options: &refine::Options, rounds: usize) -> Result<()> {
    let reached = options.check_level(rounds);
    Ok(reached.map_err(|error| Error::Argument(error.to_string()))?)
}

/// Whether a file's name has this extension.
pub fn has_extension(path: &Path, wanted: &str) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| extension.eq_ignore_ascii_case(wanted))
}

/// Environment variables in which Open MPI, and MPICH and its kin, give a process its place among the processes of its
/// machine.
const PLACES: [&str; 2] = ["OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID"];

/// This process's place, where it is known before MPI starts.
pub fn place() -> Option<usize> {
    PLACES.into_iter().find_map(number_in)
}

/// The number that a variable holds.
pub fn number_in(variable: &str) -> Option<usize> {
    std::env::var(variable).ok()?.parse().ok()
}

/// The GPU of a rank, started by a thread of its own; `None` where the rank's place is not known yet, or no GPU is
/// wanted.
pub struct Starting(Option<JoinHandle<trioxide::Result<Device>>>);

impl Starting {
    /// No GPU.
    pub fn nothing() -> Self {
        Self(None)
    }

    /// Starts the GPU of a command that works on one.
    pub fn begin(command: &Command) -> Self {
        let options = match command {
            Command::Polylla(options) => &options.device,
            Command::Refine(options) => &options.device,
            Command::Smooth(options) => &options.device,
            Command::Weld(options) => &options.device,
            _ => return Self(None),
        };
        let choice = options.device;
        let is_gpu = !matches!(choice, Choice::Serial | Choice::Cpu) && has_cuda_driver();
        let place = place().filter(|_| is_gpu);
        Self(place.map(|place| std::thread::spawn(move || gpu(choice, place))))
    }

    /// The device of a rank: of a machine's GPUs its rank r gets number r, modulo their number.
    ///
    /// # Errors
    /// The device cannot be opened; `--device serial`.
    pub fn device(self, ranks: &Ranks, options: &DeviceOptions) -> Result<Device> {
        let threads = options.threads.map_or(threads(ranks), usize::from);
        note_bound(ranks, options);
        let (place, _) = ranks.transport().on_this_machine();
        let device = match (options.device, self.0) {
            (Choice::Serial, _) => Err(Error::Argument(
                "--device serial is for one process: use --device cpu, or start it without mpirun"
                    .to_owned(),
            )),
            (Choice::Cpu, _) => Device::cpu(Some(threads)),
            (Choice::Auto, _) if gpus().is_empty() => Device::cpu(Some(threads)),
            (_, Some(starting)) => {
                let started = starting.join();
                started.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            }
            (choice, None) => gpu(choice, place),
        };
        let device = ranks.agree(device)?;
        if device.is_gpu() {
            // The end of the process gives everything back at once, sooner than call by call.
            std::mem::forget(device.clone());
        }
        Ok(device)
    }
}

/// The machine's GPUs.
fn gpus() -> Vec<CudaDevice> {
    cuda_devices().map_or(Vec::new(), |(_, devices)| devices)
}

/// The GPU of the rank with this place on its machine.
fn gpu(choice: Choice, place: usize) -> trioxide::Result<Device> {
    match (choice, &gpus()[..]) {
        (Choice::Cuda(index), _) => Device::cuda(index),
        (_, []) => Device::cuda(0),
        (_, devices) => Device::cuda(devices[place % devices.len()].index),
    }
}

/// Adds the mesh's file to a fault of the mesh, and the option that helps where squares leave single precision.
pub fn with_file(fault: Fault, input: &Path) -> Fault {
    if !fault.is_of_mesh() {
        return fault;
    }
    let remedy = match fault.leaves_single() {
        true => format!(", or use {}", (FLAGS.value)("precision", "f64")),
        false => String::new(),
    };
    Error::Invalid {
        element: format!("{}:", input.display()),
        rule: format!("{fault}{remedy}"),
    }
    .into()
}

/// The result of rank 0's `work`; other ranks get none. Collective.
///
/// # Errors
/// Those of rank 0.
pub fn at_first<T>(ranks: &Ranks, work: impl FnOnce() -> trioxide::Result<T>) -> Result<Option<T>> {
    let is_first = ranks.rank() == 0;
    ranks.agree(is_first.then(work).transpose())
}

/// Refuses options that several processes do not support; `wrong` says which, if there is one.
///
/// # Errors
/// One that says so.
pub fn refuse(wrong: Option<&str>) -> Result<()> {
    let refused = |wrong| format!("{wrong}, or start it without mpirun");
    wrong.map_or(Ok(()), |wrong| Err(Error::Argument(refused(wrong)).into()))
}

/// Refuses a mesh of unusual size, which a single process scales. `points` has the points of this rank's block.
/// Collective.
///
/// # Errors
/// Such a mesh.
pub fn refuse_sizes(ranks: &Ranks, points: &[DVec3], precision: Precision) -> Result<()> {
    let [low, high] = precision.usual_sizes();
    let is_any = |test: &(dyn Fn(f64) -> bool + Sync)| {
        let is_so = |p: &DVec3| p.is_finite() && test(p.abs().max_element());
        ranks.any(points.iter().any(is_so))
    };
    let is_large = is_any(&|size| size >= high);
    let is_small = is_any(&|size| size > 0.0) && !is_any(&|size| size >= low);
    match is_large || is_small {
        false => Ok(()),
        true => Err(Error::Argument(format!(
            "several processes compute on largest coordinates of {low:.1e} to {high:.1e}: start it without mpirun, which \
             scales others"
        ))
        .into()),
    }
}

/// The instance of a generic function for a precision: double, or single.
macro_rules! in_precision {
    ($precision:expr, $function:ident::<$double:ty, $single:ty>) => {
        match $precision {
            trioxide_operations::Precision::F64 => $function::<$double>,
            trioxide_operations::Precision::F32 => $function::<$single>,
        }
    };
}
pub(super) use in_precision;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_wait_idly_where_they_and_others_take_all_cores() {
        let two = Cores { own: 1, all: 2 };
        assert!(two.are_taken(2, 0.0) && two.are_taken(1, 1.5) && !two.are_taken(1, 0.5));
        let many = Cores { own: 16, all: 16 };
        assert!(!many.are_taken(4, 3.0) && many.are_taken(4, 12.0) && many.are_taken(20, 0.0));
        assert!(load() >= 0.0);
    }

    #[test]
    fn ranks_share_the_cores_unless_mpirun_binds_them() {
        let free = Cores { own: 32, all: 32 };
        assert!(free.threads(2) == 16 && free.threads(100) == 1 && !free.are_left(2));
        let bound = Cores { own: 1, all: 32 };
        assert!(bound.threads(2) == 1 && bound.are_left(2));
        let halves = Cores { own: 16, all: 32 };
        assert!(halves.threads(2) == 16 && !halves.are_left(2) && halves.are_left(1));
        let Cores { own, all } = Cores::new();
        assert!(1 <= own && own <= all);
    }
}
