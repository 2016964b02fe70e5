//! `mpirun … trioxide generate`: each rank makes and writes its own part of a grid.

use trioxide::Error;
use trioxide::formats::Format;
use trioxide::generate::Grid;
use trioxide_arguments::device::{Report, to_values};
use trioxide_ranks::{Ranks, Result, output};

use super::rank::has_extension;
use super::report::Ending;
use crate::commands::generate::{Dataset, Options, check_planar, counts, give, note_host};

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
    if ranks.rank() == 0 {
        note_host(options);
    }
    output::write_grid(ranks, &options.output, &grid)?;
    let ranks = ranks.size();
    Ok(Box::new(move || {
        let report = Report {
            command: "generate",
            input: &options.name(),
            device: format!("{ranks} ranks"),
            stages: Vec::new(),
            counts: to_values(counts(grid.vertices(), grid.triangles())),
            peak_bytes: None,
        };
        give(options, &report)
    }))
}
