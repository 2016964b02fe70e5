//! The run of one rank.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::thread::JoinHandle;

use clap::{ArgMatches, CommandFactory, FromArgMatches};
use trioxide::Error;
use trioxide::backend::{Choice, CudaDevice, Device, cuda_devices, has_cuda_driver};
use trioxide_arguments::device::{DeviceOptions, Precision};
use trioxide_arguments::{account, note, print_error, write_json};
use trioxide_ranks::mpi::Mpi;
use trioxide_ranks::transport::Reduction;
use trioxide_ranks::{Fault, Ranks, Result, Transport};

use crate::{Cli, Command, commands, driver, outputs, show_progress, usage};

/// Runs the command as one of `size` ranks. Only rank 0 prints.
pub fn main(size: usize) -> ExitCode {
    let parsed = usage::try_matches(Cli::command()).and_then(|matches| {
        let cli = Cli::from_arg_matches(&matches)?;
        Ok((matches, cli))
    });
    // SAFETY: no other thread runs yet.
    unsafe { set_variables(parsed.as_ref().ok().map(|(matches, _)| matches), size) };
    // A GPU starts while MPI does, and while the input is read.
    let starting = match &parsed {
        Ok((_, cli)) => Starting::begin(&cli.command),
        Err(_) => Starting(None),
    };
    let Some(mpi) = Mpi::start().filter(|mpi| mpi.size() == size) else {
        print_error(format_args!(
            "{size} processes were started together, but not by the MPI that trioxide is built with: use the mpirun of that one"
        ));
        return ExitCode::FAILURE;
    };
    end_all_on_panic();
    let ranks = Ranks::new(&mpi);
    let is_first = ranks.rank() == 0;
    let status = match parsed {
        Ok((matches, cli)) => {
            let (name, options) = matches.subcommand().expect("clap asks for a command");
            let shown = is_first.then(|| show_progress(name, options));
            let result = start(&ranks, options).and_then(|()| run(&ranks, name, &cli, starting));
            drop(shown);
            if let (Err(fault), true) = (&result, is_first) {
                print_error(fault);
            }
            if result.is_ok() && is_first {
                outputs::note_nothing_written(name, options);
            }
            i32::from(result.is_err())
        }
        Err(error) => {
            if is_first {
                _ = error.print();
            }
            error.exit_code()
        }
    };
    // The first to end must not be one that has something to say: mpirun ends the others.
    ranks.reduce(0, Reduction::Max);
    drop(mpi);
    crate::end(status as u8)
}

/// Sets what MPI and the driver of the GPU read when they start. Of `size` ranks that are all on this machine, Open MPI is asked for
/// messages through memory: it takes 0.2 s to find out that there is no network to use.
///
/// # Safety
/// No other thread runs yet.
unsafe fn set_variables(matches: Option<&ArgMatches>, size: usize) {
    if number_in("OMPI_COMM_WORLD_LOCAL_SIZE") == Some(size) {
        // SAFETY: the caller's promise.
        unsafe { driver::set("OMPI_MCA_pml", "ob1") };
    }
    if let (Some((_, options)), Some(place)) = (matches.and_then(ArgMatches::subcommand), place()) {
        // SAFETY: the caller's promise.
        unsafe { driver::set_variables(options, place) };
    }
}

/// Ends the process where a thread panics: MPI would wait for the other ranks, and they for this one. `mpirun` ends them.
fn end_all_on_panic() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        print(info);
        _ = std::io::stderr().flush();
        #[cfg(unix)]
        // SAFETY: it has no requirements, and does not return.
        unsafe {
            libc::_exit(101)
        }
    }));
}

/// Checks the options' files, at rank 0, and starts the threads of the host.
fn start(ranks: &Ranks, options: &ArgMatches) -> Result<()> {
    let checked = match ranks.rank() {
        0 => outputs::check(options),
        _ => Ok(()),
    };
    ranks.agree(checked.map_err(Fault::from))?;
    let threads = rayon::ThreadPoolBuilder::new().num_threads(threads(ranks));
    let started = threads.build_global().map_err(|error| {
        Fault::from(Error::Argument(format!(
            "the threads of rank {} cannot start ({error}): use fewer ranks a machine",
            ranks.rank()
        )))
    });
    ranks.agree(started)
}

/// Threads of a rank: its share of the cores, or those that `mpirun` has bound it to.
pub fn threads(ranks: &Ranks) -> usize {
    let (_, here) = ranks.transport().on_this_machine();
    Cores::new().threads(here)
}

/// Cores that a rank may run on, and those that `mpirun` may, which started it.
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

/// Open MPI binds each of two ranks to one core unless it is told otherwise: then most cores do nothing.
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

fn run(ranks: &Ranks, name: &str, cli: &Cli, starting: Starting) -> Result<()> {
    match &cli.command {
        Command::Generate(options) => super::generate::run(ranks, options)?,
        Command::Polylla(options) => super::polylla::run(ranks, options, starting)?,
        Command::Refine(options) => super::refine::run(ranks, options, starting)?,
        Command::Smooth(options) => super::smooth::run(ranks, options, starting)?,
        Command::Weld(options) => super::weld::run(ranks, options, starting)?,
        _ => {
            return Err(Error::Argument(format!(
                "trioxide {name} does not run on several ranks: start it without mpirun"
            ))
            .into());
        }
    }
    let written = match &cli.account {
        Some(path) if ranks.rank() == 0 => write_json(path, &account::to_json()),
        _ => Ok(()),
    };
    ranks.agree(written.map_err(Fault::from))
}

/// Whether this rank says nothing beside its errors: rank 0 speaks for all.
pub fn is_quiet(ranks: &Ranks, options: &DeviceOptions) -> bool {
    options.quiet || ranks.rank() != 0
}

/// Whether a file's name has this extension.
pub fn has_extension(path: &Path, wanted: &str) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| extension.eq_ignore_ascii_case(wanted))
}

/// Variables by which Open MPI, and MPICH and its kin, tell a process its place among those of its machine.
const PLACES: [&str; 2] = ["OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID"];

/// This process's place, where it is known before MPI starts.
fn place() -> Option<usize> {
    PLACES.into_iter().find_map(number_in)
}

/// The number that a variable holds.
fn number_in(variable: &str) -> Option<usize> {
    std::env::var(variable).ok()?.parse().ok()
}

/// The GPU of a rank, started by a thread of its own; `None` where the rank's place is not known yet, or no GPU is wanted.
pub struct Starting(Option<JoinHandle<trioxide::Result<Device>>>);

impl Starting {
    /// Starts the GPU of a command that works on one.
    fn begin(command: &Command) -> Self {
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
        let device = ranks.agree(device.map_err(Fault::from))?;
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

/// The fault, with the mesh's file where the mesh is at fault, and the option that helps where squares leave single precision.
pub fn with_file(fault: Fault, input: &Path, precision: Precision) -> Fault {
    if !fault.is_of_mesh() {
        return fault;
    }
    let error = Error::Invalid {
        element: format!("{}:", input.display()),
        rule: fault.to_string(),
    };
    commands::with_precision(error, precision).into()
}

#[cfg(test)]
mod tests {
    use super::*;

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
