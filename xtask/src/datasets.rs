//! `cargo xtask datasets`: the papers' meshes.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use clap::ValueEnum;

use crate::process::run as run_command;
use crate::{Error, build, workspace};

/// Generates the papers' grid and random meshes with `trioxide generate`.
///
/// They have the same bits on every machine. A file that exists already is kept, so an interrupted run continues with
/// the next file.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Directory to write to.
    #[arg(long, value_name = "DIR", default_value = "out/datasets")]
    out: PathBuf,
    /// Sizes to generate.
    #[arg(long, value_enum, default_value = "quick")]
    sizes: Sizes,
}

#[derive(Clone, Copy, ValueEnum)]
enum Sizes {
    /// 10k, 100k and 1M points of each kind: seconds, 160 MB.
    Quick,
    /// 32 sizes of each kind as in gpolylla-2023, section 7.1: random meshes from 1M to 46M points, grids from 1M to
    /// 100M. Hours, and about 130 GB.
    Paper,
}

/// Intervals of the paper's series, both ends included.
const PAPER_STEPS: u64 = 32;

impl Sizes {
    fn of(self, most: u64) -> Vec<u64> {
        match self {
            Sizes::Quick => vec![10_000, 100_000, 1_000_000],
            Sizes::Paper => (0..PAPER_STEPS)
                .map(|i| 1_000_000 + (most - 1_000_000) * i / (PAPER_STEPS - 1))
                .collect(),
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Error> {
    let trioxide = build::trioxide()?;
    let directory = workspace().join(&arguments.out);
    fs::create_dir_all(&directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    for (kind, most) in [("grid", 100_000_000), ("random", 46_000_000)] {
        for n in arguments.sizes.of(most) {
            let path = directory.join(format!("{kind}_{n}.ply"));
            if path.exists() {
                println!("{}: is there already", path.display());
                continue;
            }
            let mut command = Command::new(&trioxide);
            command.args(["generate", kind, "--seed", "1", "--points", &n.to_string()]);
            run_command(command.arg("--output").arg(&path))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Sizes;

    #[test]
    fn paper_series_has_both_ends() {
        let sizes = Sizes::Paper.of(46_000_000);
        assert_eq!(sizes.len(), 32);
        assert_eq!((sizes[0], sizes[31]), (1_000_000, 46_000_000));
        assert!(sizes.is_sorted());
    }
}
