//! Times of kernels, next to the bytes that they must move.

use std::collections::BTreeMap;
use std::fmt;

use crate::device::{Device, Launched};
use crate::{Error, Result};

/// Times of a kernel's launches in the runs of some work.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelTime {
    /// Name of the PTX entry.
    pub entry: &'static str,
    /// Launches in one run.
    pub launches: usize,
    /// Milliseconds of all launches of a run, for each counted run, ascending; at least one.
    pub milliseconds: Vec<f64>,
    /// Bytes that the launches of one run must move from and to memory, by the kernel's `moves`, and its formula.
    /// `None` if the declaration states no bytes.
    pub moves: Option<(u64, &'static str)>,
}

impl KernelTime {
    /// The median of the runs, in milliseconds.
    pub fn median(&self) -> f64 {
        self.milliseconds[self.milliseconds.len() / 2]
    }
}

/// The kernels of some work, over several runs.
#[derive(Debug, Default)]
pub struct KernelRuns {
    times: BTreeMap<&'static str, Vec<f64>>,
    last: BTreeMap<&'static str, Vec<Launched>>,
}

impl KernelRuns {
    /// Runs `work`. Its times count if `counts`. Those of a first run should not count: it loads or compiles the
    /// kernels.
    ///
    /// # Errors
    /// Errors of `work` and of the device.
    pub fn run(
        &mut self,
        on: &Device,
        counts: bool,
        work: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        on.time_launches(true);
        let done = work().and_then(|()| on.take_launches());
        on.time_launches(false);
        self.last.clear();
        for launched in done? {
            self.last.entry(launched.entry).or_default().push(launched);
        }
        for (entry, launches) in self.last.iter().filter(|_| counts) {
            let sum = launches.iter().map(|launched| launched.milliseconds).sum();
            self.times.entry(entry).or_default().push(sum);
        }
        Ok(())
    }

    /// The kernels of the last run, the slowest first.
    pub fn end(mut self) -> Vec<KernelTime> {
        let time = |(entry, launches): (&'static str, Vec<Launched>)| {
            let mut milliseconds = self.times.remove(entry)?;
            milliseconds.sort_by(f64::total_cmp);
            Some(KernelTime {
                entry,
                launches: launches.len(),
                milliseconds,
                moves: moves_of(&launches),
            })
        };
        let mut kernels: Vec<KernelTime> = self.last.into_iter().filter_map(time).collect();
        kernels.sort_by(|a, b| b.median().total_cmp(&a.median()));
        kernels
    }
}

/// The bytes that the launches of one kernel move.
fn moves_of(launches: &[Launched]) -> Option<(u64, &'static str)> {
    let mut sum = None;
    for launched in launches {
        let moves = launched.moves?;
        let (bytes, _) = sum.get_or_insert((0, moves.formula));
        *bytes += moves.bytes;
    }
    sum
}

/// The result of [`kernels`]. It prints as a table.
#[derive(Clone, Debug)]
pub struct Kernels {
    /// The machine's name.
    pub device: String,
    /// Bytes read plus written per second by a copy within the device's memory.
    pub copy_bandwidth: f64,
    /// The kernels, the slowest first.
    pub kernels: Vec<KernelTime>,
}

/// Times the kernels that `work` launches: `runs` counted runs after one uncounted run.
///
/// ```
/// use trioxide_device::{Device, bench, collective};
///
/// # fn main() -> trioxide_device::Result<()> {
/// let on = Device::cpu(None)?;
/// let measured = bench::kernels(&on, 3, || {
///     let mut values = on.filled(100_000, 1u32)?;
///     collective::exclusive_scan(&on, &mut values)?;
///     Ok(())
/// })?;
/// println!("{measured}");
/// assert!(measured.kernels.iter().any(|kernel| kernel.entry == "scan_tiles"));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`Error::Argument`] for no runs; errors of `work` and of the device.
pub fn kernels(on: &Device, runs: usize, mut work: impl FnMut() -> Result<()>) -> Result<Kernels> {
    if runs == 0 {
        return Err(Error::Argument(
            "kernels are timed by at least one run".to_owned(),
        ));
    }
    let mut all = KernelRuns::default();
    for run in 0..=runs {
        all.run(on, run > 0, &mut work)?;
    }
    Ok(Kernels {
        device: on.name(),
        copy_bandwidth: on.copy_bandwidth()?,
        kernels: all.end(),
    })
}

impl fmt::Display for Kernels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bandwidth = self.copy_bandwidth;
        writeln!(
            f,
            "{}: a copy moves {:.0} GB/s",
            self.device,
            bandwidth * 1e-9
        )?;
        let width = self.kernels.iter().map(|kernel| kernel.entry.len());
        let width = width.max().unwrap_or(0).max(6);
        writeln!(
            f,
            "{:width$}  launches  median ms     bytes  floor ms  of a copy",
            "kernel"
        )?;
        for kernel in &self.kernels {
            let median = kernel.median();
            write!(
                f,
                "{:width$}  {:8}  {median:9.4}",
                kernel.entry, kernel.launches
            )?;
            match kernel.moves {
                Some((bytes, _)) => {
                    let floor = bytes as f64 / bandwidth * 1e3;
                    let share = 100.0 * floor / median;
                    writeln!(f, "  {bytes:8}  {floor:8.4}  {share:7.0} %")?;
                }
                None => writeln!(f, "         -         -          -")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use trioxide_kernel::launch::Moves;

    use super::*;

    #[test]
    fn bytes_of_launches_are_added_up() {
        let launched = |moves: Option<u64>| Launched {
            entry: "double_f32",
            kernel: "double",
            n: 1,
            arrays: Vec::new(),
            moves: moves.map(|bytes| Moves {
                bytes,
                formula: "values.bytes()",
            }),
            milliseconds: 1.0,
        };
        let bytes = |launches: &[Launched]| moves_of(launches).map(|(bytes, _)| bytes);
        assert_eq!(bytes(&[launched(Some(8)), launched(Some(4))]), Some(12));
        assert_eq!(bytes(&[launched(Some(8)), launched(None)]), None);
        assert_eq!(bytes(&[]), None);
    }

    #[test]
    fn a_table_has_a_row_for_each_kernel() {
        let measured = Kernels {
            device: "GPU".to_owned(),
            copy_bandwidth: 1e9,
            kernels: vec![
                KernelTime {
                    entry: "double_values",
                    launches: 2,
                    milliseconds: vec![1.0, 2.0, 3.0],
                    moves: Some((1_000_000, "values.bytes()")),
                },
                KernelTime {
                    entry: "other",
                    launches: 1,
                    milliseconds: vec![0.5],
                    moves: None,
                },
            ],
        };
        assert_eq!(
            measured.to_string(),
            "GPU: a copy moves 1 GB/s\n\
             kernel         launches  median ms     bytes  floor ms  of a copy\n\
             double_values         2     2.0000   1000000    1.0000       50 %\n\
             other                 1     0.5000         -         -          -\n"
        );
    }
}
