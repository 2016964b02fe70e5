//! The run of one rank.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{ArgMatches, CommandFactory, FromArgMatches};
use trioxide::Error;
use trioxide::formats::pvtu::piece_names;
use trioxide_arguments::{account, print_error, write_json};
use trioxide_ranks::mpi::Mpi;
use trioxide_ranks::transport::Reduction;
use trioxide_ranks::{Fault, Ranks, Result, Transport};

use super::rank::{Starting, at_first, has_extension, number_in, place, take_all_cores, threads};
use super::report::{Ending, account_for};
use crate::{Cli, Command, driver, outputs, show_progress, usage};

/// Runs the command as one of `size` ranks. Only rank 0 prints.
pub fn main(size: usize) -> ExitCode {
    let parsed = usage::try_matches(Cli::command()).and_then(|matches| {
        let cli = Cli::from_arg_matches(&matches)?;
        Ok((matches, cli))
    });
    // SAFETY: no other thread runs yet, but the one that waits for this one.
    unsafe { set_variables(parsed.as_ref().ok().map(|(matches, _)| matches), size) };
    // A GPU starts while MPI does, and while the input is read.
    let starting = match &parsed {
        Ok((_, cli)) => Starting::begin(&cli.command),
        Err(_) => Starting::nothing(),
    };
    let Some(mpi) = Mpi::start().filter(|mpi| mpi.size() == size) else {
        print_error(format_args!(
            "{size} processes were started together, but not by the MPI that trioxide is built with: use the mpirun of that one"
        ));
        return ExitCode::FAILURE;
    };
    end_all_on_panic();
    let ranks = Ranks::new(&mpi);
    ranks.phase("start");
    account::part("start");
    let is_first = ranks.rank() == 0;
    let mut ending = None;
    let mut status = match &parsed {
        Ok((matches, cli)) => {
            let (name, options) = matches.subcommand().expect("clap asks for a command");
            let shown = is_first.then(|| show_progress(name, options));
            let result =
                start(&ranks, name, options).and_then(|()| run(&ranks, name, cli, starting));
            drop(shown);
            if let (Err(fault), true) = (&result, is_first) {
                print_error(fault);
            }
            if result.is_ok() && is_first {
                outputs::note_nothing_written(name, options);
            }
            ending = result.ok();
            i32::from(ending.is_none())
        }
        Err(error) => {
            if is_first {
                _ = error.print();
            }
            error.exit_code()
        }
    };
    // The first to end must not be one that has something to say: mpirun ends the others.
    ranks.phase("end");
    ranks.reduce(0, Reduction::Max);
    account_for(&ranks);
    drop(mpi);
    account::part("end of MPI");
    if let (Some(say), true) = (ending, is_first)
        && let Err(error) = say()
    {
        print_error(error);
        status = 1;
    }
    crate::end(status as u8)
}

/// Sets the environment variables that MPI and the GPU's driver read when they start. If all `size` ranks are on this
/// machine, Open MPI is asked for messages through memory: its own choice starts 0.2 s later. If ranks and other
/// processes take all cores of the machine, a waiting rank is asked to yield its core: by default it polls for messages
/// without end.
///
/// # Safety
/// No other thread runs yet.
unsafe fn set_variables(matches: Option<&ArgMatches>, size: usize) {
    let here = number_in("OMPI_COMM_WORLD_LOCAL_SIZE");
    if here == Some(size) {
        // SAFETY: the caller's promise.
        unsafe { driver::set("OMPI_MCA_pml", "ob1") };
    }
    if here.is_some_and(take_all_cores) {
        // SAFETY: the caller's promise.
        unsafe { driver::set("OMPI_MCA_mpi_yield_when_idle", "1") };
    }
    if let (Some((_, options)), Some(place)) = (matches.and_then(ArgMatches::subcommand), place()) {
        // SAFETY: the caller's promise.
        unsafe { driver::set_variables(options, place) };
    }
}

/// Ends the process where a thread panics: MPI would wait for the other ranks, and they for this one. `mpirun` ends
/// them.
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

/// Checks the options' files, at rank 0, starts the threads of the host, and begins the output.
fn start(ranks: &Ranks, name: &str, options: &ArgMatches) -> Result<()> {
    at_first(ranks, || {
        outputs::check(options)?;
        check_pieces(options, ranks.size())
    })?;
    let threads = rayon::ThreadPoolBuilder::new().num_threads(threads(ranks));
    let started = threads.build_global().map_err(|error| {
        Fault::from(Error::Argument(format!(
            "the threads of rank {} cannot start ({error}): use fewer ranks a machine",
            ranks.rank()
        )))
    });
    ranks.agree(started)?;
    if ranks.rank() == 0 && ranks.transport().on_this_machine().1 == ranks.size() {
        outputs::begin(name, options);
    }
    Ok(())
}

/// Checks the pieces that the ranks write beside a `.pvtu`.
fn check_pieces(options: &ArgMatches, ranks: usize) -> trioxide::Result<()> {
    match options.try_get_one::<PathBuf>("output") {
        Ok(Some(list)) if has_extension(list, "pvtu") => {
            let names = piece_names(list, ranks);
            outputs::check_pieces(names.iter().map(|name| list.with_file_name(name)))
        }
        _ => Ok(()),
    }
}

fn run<'a>(ranks: &Ranks, name: &str, cli: &'a Cli, starting: Starting) -> Result<Ending<'a>> {
    let say = match &cli.command {
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
    };
    Ok(Box::new(move || {
        say()?;
        match &cli.account {
            None => Ok(()),
            Some(path) => write_json(path, &account::to_json()),
        }
    }))
}
