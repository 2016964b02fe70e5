//! `trioxide selftest`: every pipeline on every device against the sequential reference.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use trioxide::device::{Choice, Device};
use trioxide::formats::{self, ReadOptions};
use trioxide::{Error, Result};
use trioxide_arguments::print;
use trioxide_verify::selftest::{Size, cases, select};

/// Check every pipeline on every device against the sequential reference, bit for bit
#[derive(Args)]
pub struct Options {
    /// Triangulations to check with, besides the generated ones
    meshes: Vec<PathBuf>,
    /// Device to check [default: every one that there is]
    #[arg(long, value_name = "DEVICE")]
    device: Option<Choice>,
    /// Threads of the CPU [default: with --device cpu all cores, else 1, 2 and all]
    #[arg(long, value_name = "N", requires = "device", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Include the largest sizes (100M elements; minutes on a CPU)
    #[arg(long)]
    large: bool,
    /// The smallest sizes, for sanitisers
    #[arg(long, conflicts_with = "large")]
    tiny: bool,
    /// Only the checks of this family (refine, weld, …), or whose name is or contains this; give it several times for
    /// several
    #[arg(long, value_name = "TEXT")]
    only: Vec<String>,
    #[command(flatten)]
    reading: ReadOptions,
    /// Print the family and name of each check, and run none
    #[arg(long)]
    list: bool,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    let mut given = Vec::new();
    for path in &options.meshes {
        let (mesh, _) = formats::read_as(path, options.reading)?;
        let mesh = mesh
            .into_triangulation()
            .map_err(|error| error.in_file(path))?;
        given.push((path.display().to_string(), mesh));
    }
    let size = match (options.large, options.tiny) {
        (true, _) => Size::Large,
        (_, true) => Size::Tiny,
        _ => Size::Small,
    };
    let suite = cases(size, given)?;
    // The check of all launches counts on the others.
    let selected = select(&suite, &options.only)?;
    if options.list {
        for case in selected {
            print(&format!("{:<12} {}\n", case.family, case.name))?;
        }
        return Ok(());
    }
    let mut failed = 0;
    for device in devices(options)? {
        print(&format!("{}\n", device.name()))?;
        for case in &selected {
            let start = Instant::now();
            let outcome = case.run(&device);
            let seconds = start.elapsed().as_secs_f64();
            match outcome {
                Ok(()) => print(&format!("  ok      {:<60} {seconds:>8.2} s\n", case.name))?,
                Err(error) => {
                    failed += 1;
                    print(&format!("  FAILED  {:<60} {error}\n", case.name))?;
                }
            }
        }
    }
    if failed > 0 {
        return Err(Error::Argument(format!("{failed} checks failed")));
    }
    Ok(())
}

fn devices(options: &Options) -> Result<Vec<Device>> {
    let threads = options.threads.map(usize::from);
    match options.device {
        Some(Choice::Cpu) => Ok(vec![Device::cpu(threads)?]),
        Some(Choice::AnyCuda) => Ok(vec![Device::cuda(0)?]),
        Some(Choice::Cuda(index)) => Ok(vec![Device::cuda(index)?]),
        Some(Choice::Auto) => Ok(vec![Device::auto(threads)?.0]),
        Some(Choice::Serial) => Err(Error::Argument(
            "--device serial is the reference that the others are checked against: name another device, or none".to_owned(),
        )),
        None => {
            let mut devices = vec![
                Device::cpu(Some(1))?,
                Device::cpu(Some(2))?,
                Device::cpu(None)?,
            ];
            match Device::cuda(0) {
                Ok(device) => devices.push(device),
                Err(reason) => print(&format!("cuda skipped: {reason}\n"))?,
            }
            Ok(devices)
        }
    }
}
