//! The `trioxide` command line.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser};
use trioxide_arguments::progress::{Shown, show};
use trioxide_arguments::{account, write_json};

use commands::Command;

mod commands;
mod driver;
#[cfg(unix)]
mod memory;
mod outputs;
#[cfg(test)]
mod pages;
mod ranks;
#[cfg(unix)]
mod signals;
mod usage;

/// GPU mesh processing: the same results, bit for bit, on the GPU and on the CPU.
#[derive(Parser)]
#[command(name = "trioxide", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Write the time of each part of the run as JSON to this file: for `trioxide bench run`
    #[arg(long, global = true, hide = true, value_name = "FILE")]
    account: Option<PathBuf>,
}

/// Bytes of the stack of the thread that runs the command: as much as the main thread has where nobody sets a limit.
const STACK: usize = 8 << 20;

/// Runs the command in a thread whose stack does not depend on `ulimit -s`.
fn main() -> ExitCode {
    account::begin();
    #[cfg(unix)]
    {
        memory::settle();
        signals::handle();
    }
    let thread = std::thread::Builder::new().name("main".to_owned());
    match thread.stack_size(STACK).spawn(command) {
        Ok(thread) => thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
        Err(error) => {
            trioxide_arguments::print_error(format_args!(
                "the thread of the command cannot start ({error}): raise the limits of this process (ulimit -v, ulimit -u)"
            ));
            ExitCode::FAILURE
        }
    }
}

fn command() -> ExitCode {
    if let Some(size) = ranks::started_together() {
        return ranks::main(size);
    }
    // clap exits with status 2 on bad usage.
    let matches = usage::matches(Cli::command());
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let (name, options) = matches.subcommand().expect("clap asks for a command");
    // SAFETY: no other thread runs yet, but the one that waits for this one.
    unsafe { driver::set_variables(options, 0) };
    let shown = show_progress(name, options);
    let result = outputs::check(options)
        .and_then(|()| trioxide::device::start_host_threads())
        .and_then(|()| {
            outputs::begin(name, options);
            account::part("start");
            cli.command.run()
        })
        .and_then(|()| match &cli.account {
            None => Ok(()),
            Some(path) => write_json(path, &account::to_json()),
        });
    drop(shown);
    if result.is_ok() {
        outputs::note_nothing_written(name, options);
    }

    let status = match result {
        Ok(()) => 0,
        Err(error) => {
            trioxide_arguments::print_error(commands::with_remedy(error, name));
            1
        }
    };
    // Tools that watch these want to see the driver's own end.
    match name {
        "selftest" | "bench" => ExitCode::from(status),
        _ => end(status),
    }
}

/// Shows the progress of commands that do not print lines as they go.
fn show_progress(name: &str, options: &clap::ArgMatches) -> Shown {
    let prints = ["devices", "selftest", "bench"].contains(&name);
    let quiet = matches!(options.try_get_one::<bool>("quiet"), Ok(Some(true)));
    show(name, prints || quiet)
}

/// Ends the process. Outputs are whole and have their names; standard output and standard error are flushed. No handler
/// runs: a thread may still be starting the driver, whose own handlers release every resource by a call, which takes
/// longer than the release by the system.
fn end(status: u8) -> ExitCode {
    _ = std::io::stdout().flush();
    _ = std::io::stderr().flush();
    #[cfg(unix)]
    // SAFETY: it has no requirements, and does not return.
    unsafe {
        libc::_exit(status.into())
    }
    #[cfg(not(unix))]
    ExitCode::from(status)
}
