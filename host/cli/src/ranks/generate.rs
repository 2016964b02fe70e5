//! `mpirun … trioxide generate`: each rank makes and writes its own part of a grid.

use trioxide::Error;
use trioxide::formats::Format;
use trioxide::generate::Grid;
use trioxide_ranks::{Ranks, Result, output};

use super::rank::has_extension;
use super::report::Ending;
use crate::commands;
use crate::commands::generate::{Dataset, Options, check_planar, say_written};

/// Runs the command as one rank of several.
///
/// # Errors
/// As the single run; kinds that one process makes, and formats that one process writes.
pub fn run<'a>(ranks: &Ranks, options: &'a Options) -> Result<Ending<'a>> {
    let grid = match options.dataset {
        Dataset::Grid => Grid::uniform(options.n)?,
        Dataset::Jittered => Grid::jittered(options.n, options.seed)?,
        _ => {
            let text = "several processes make grid and jittered only: start it without mpirun for other kinds";
            return Err(Error::Argument(text.to_owned()).into());
        }
    };
    check_planar(options)?;
    Format::to_write(&options.output)?;
    if !has_extension(&options.output, "ply") {
        let text = format!(
            "{}: several processes write a generated mesh to .ply only: choose that, or start it without mpirun",
            options.output.display()
        );
        return Err(Error::Argument(text).into());
    }
    output::write_grid(ranks, &options.output, &grid)?;
    Ok(Box::new(move || match options.quiet {
        true => Ok(()),
        false => say_written(options, [grid.vertices(), grid.triangles()])
            .and_then(|()| commands::print_timings(options.timings)),
    }))
}
