//! The program of `cargo xtask bench`, `cargo xtask report` and `cargo xtask dist`.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use trioxide_bench::{dist, report, tables};

/// Tables, plots and the page of trioxide's benchmarks.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Bench(tables::Arguments),
    Dist(dist::Arguments),
    Report(report::Arguments),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Bench(arguments) => tables::run(&arguments),
        Command::Dist(arguments) => dist::run(&arguments),
        Command::Report(arguments) => report::run(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn command_line_is_consistent() {
        super::Arguments::command().debug_assert();
    }
}
