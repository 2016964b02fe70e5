//! The `trioxide` command line.

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

mod commands;
#[cfg(unix)]
mod memory;
mod outputs;
#[cfg(unix)]
mod signals;

/// GPU mesh processing: the same results, bit for bit, on the GPU and on the CPU.
#[derive(Parser)]
#[command(name = "trioxide", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

// One variant a command: `Info(commands::info::Options)`.
#[derive(Subcommand)]
enum Command {
    Generate(commands::generate::Options),
    Info(commands::info::Options),
    Convert(commands::convert::Options),
    Polylla(commands::polylla::Options),
    Refine(commands::refine::Options),
    Smooth(commands::smooth::Options),
    Devices(commands::devices::Options),
    Selftest(commands::selftest::Options),
    Bench(trioxide_bench::measure::Options),
    Render(commands::render::Options),
    Vem(commands::vem::Options),
    Weld(commands::weld::Options),
}

fn main() -> ExitCode {
    #[cfg(unix)]
    signals::handle();
    // clap exits with status 2 on bad usage.
    let matches = Cli::command().get_matches();
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let paths = matches
        .subcommand()
        .map_or(Ok(()), |(_, options)| outputs::check(options));
    let ready = paths.and_then(|()| start_threads());
    let result = ready.and_then(|()| run(cli.command));

    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            trioxide_arguments::print_error(error);
            ExitCode::FAILURE
        }
    }
}

/// Starts the threads that files are read and written by: rayon would panic where the first reader finds that they cannot start.
fn start_threads() -> trioxide::Result<()> {
    rayon::ThreadPoolBuilder::new()
        .build_global()
        .map_err(|error| {
            trioxide::Error::Argument(format!(
                "the threads to read and write files cannot start ({error}): raise the limits of this process (ulimit -u, ulimit \
                 -v), or set RAYON_NUM_THREADS to fewer"
            ))
        })
}

fn run(command: Command) -> trioxide::Result<()> {
    match command {
        Command::Generate(options) => commands::generate::run(&options),
        Command::Info(options) => commands::info::run(&options),
        Command::Convert(options) => commands::convert::run(&options),
        Command::Polylla(options) => commands::polylla::run(&options),
        Command::Refine(options) => commands::refine::run(&options),
        Command::Smooth(options) => commands::smooth::run(&options),
        Command::Devices(options) => commands::devices::run(&options),
        Command::Selftest(options) => commands::selftest::run(&options),
        Command::Bench(options) => trioxide_bench::measure::run(&options),
        Command::Render(options) => commands::render::run(&options),
        Command::Vem(options) => commands::vem::run(&options),
        Command::Weld(options) => commands::weld::run(&options),
    }
}
