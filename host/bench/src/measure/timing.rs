//! Repeated runs and their times.

use std::collections::BTreeMap;
use std::time::Instant;

use trioxide::Result;
use trioxide::bench::{KernelRuns, KernelTime};
use trioxide::device::{Device, Stage};

/// Warm-up runs, which do not count: the first compile kernels and touch memory.
const WARM_UP: u32 = 2;
/// Runs that count, whatever their time.
const FEWEST: u32 = 3;

/// How often a measurement is repeated.
#[derive(Clone, Copy)]
pub struct Runs {
    /// Runs that count.
    pub most: u32,
    /// Seconds after which no further run begins, once [`FEWEST`] are done.
    pub seconds: f64,
}

impl Runs {
    /// At most `most`.
    pub fn min(self, most: u32) -> Self {
        Self {
            most: self.most.min(most),
            ..self
        }
    }

    /// Calls `run` with whether it counts, as often as asked for.
    fn repeat(self, mut run: impl FnMut(bool) -> Result<()>) -> Result<()> {
        let start = Instant::now();
        let mut done = 0;
        // A single warm-up where it alone takes much of the time.
        while done < WARM_UP && (done == 0 || start.elapsed().as_secs_f64() < self.seconds / 4.0) {
            run(false)?;
            done += 1;
        }
        let start = Instant::now();
        for i in 0..self.most {
            if i >= FEWEST && start.elapsed().as_secs_f64() > self.seconds {
                break;
            }
            run(true)?;
        }
        Ok(())
    }
}

/// Times of a stage, in milliseconds.
pub struct Row {
    pub pipeline: &'static str,
    pub stage: &'static str,
    pub median: f64,
    pub minimum: f64,
    pub maximum: f64,
    /// Runs that counted.
    pub runs: usize,
    /// The kernel, for a row of one.
    pub kernel: Option<Kernel>,
}

/// Bytes that a stage, or the launches of a kernel in one run, must move from and to memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moved {
    pub bytes: u64,
    /// The arrays that move, for people.
    pub what: &'static str,
}

/// The data of a kernel's launches in one run.
pub struct Kernel {
    pub launches: usize,
    pub moved: Option<Moved>,
}

impl Row {
    pub fn new(pipeline: &'static str, stage: &'static str, mut times: Vec<f64>) -> Self {
        times.sort_by(f64::total_cmp);
        Self {
            pipeline,
            stage,
            median: times[times.len() / 2],
            minimum: times[0],
            maximum: times[times.len() - 1],
            runs: times.len(),
            kernel: None,
        }
    }

    /// Bytes that the kernel's launches move in a second.
    pub fn rate(&self, kernel: &Kernel) -> Option<f64> {
        let moved = kernel.moved?;
        (self.median > 0.0).then(|| moved.bytes as f64 / (self.median * 1e-3))
    }
}

/// A sum over stages: its name, and the stages that it takes.
pub type Total<'a> = (&'static str, &'a dyn Fn(&str) -> bool);

/// Times of `work` by stage, and of all its stages together.
pub fn rows(
    pipeline: &'static str,
    on: &Device,
    runs: Runs,
    work: impl FnMut() -> Result<()>,
) -> Result<Vec<Row>> {
    rows_with_totals(pipeline, on, runs, &[("all stages", &|_| true)], work)
}

/// Times of `work` by stage, and their sums.
pub fn rows_with_totals(
    pipeline: &'static str,
    on: &Device,
    runs: Runs,
    totals: &[Total<'_>],
    mut work: impl FnMut() -> Result<()>,
) -> Result<Vec<Row>> {
    let mut times: BTreeMap<&'static str, Vec<f64>> = BTreeMap::new();
    let mut order = Vec::new();
    runs.repeat(|counts| {
        on.take_stages()?;
        work()?;
        let mut stages = on.take_stages()?;
        let sums: Vec<Stage> = totals
            .iter()
            .map(|(name, takes)| Stage {
                name,
                milliseconds: stages
                    .iter()
                    .filter(|stage| takes(stage.name))
                    .map(|stage| stage.milliseconds)
                    .sum(),
            })
            .collect();
        stages.extend(sums);
        for Stage { name, milliseconds } in stages {
            if !order.contains(&name) {
                order.push(name);
            }
            if counts {
                times.entry(name).or_default().push(milliseconds);
            }
        }
        Ok(())
    })?;
    Ok(order
        .into_iter()
        .filter_map(|stage| Some(Row::new(pipeline, stage, times.remove(stage)?)))
        .collect())
}

/// Times of `work` by kernel, the one that takes longest first, with the bytes that its launches must move in one run.
pub fn kernels(
    pipeline: &'static str,
    on: &Device,
    runs: Runs,
    mut work: impl FnMut() -> Result<()>,
) -> Result<Vec<Row>> {
    let mut measured = KernelRuns::default();
    runs.repeat(|counts| measured.run(on, counts, &mut work))?;
    let row = |time: KernelTime| {
        let moved = |(bytes, what)| Moved { bytes, what };
        let kernel = Kernel {
            launches: time.launches,
            moved: time.moves.map(moved),
        };
        Row {
            kernel: Some(kernel),
            ..Row::new(pipeline, time.entry, time.milliseconds)
        }
    };
    Ok(measured.end().into_iter().map(row).collect())
}

/// Time of `work` by the clock, files and start of the device left out.
pub fn waited(
    stage: &'static str,
    runs: Runs,
    mut work: impl FnMut() -> Result<()>,
) -> Result<Row> {
    let mut times = Vec::new();
    runs.repeat(|counts| {
        let start = Instant::now();
        work()?;
        if counts {
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
        Ok(())
    })?;
    Ok(Row::new("as waited", stage, times))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measurement_ends_in_time_but_not_before_three_runs() {
        let count = |most, seconds| {
            let mut counted = 0;
            let runs = Runs { most, seconds };
            runs.repeat(|counts| {
                counted += u32::from(counts);
                Ok(())
            })
            .unwrap();
            counted
        };
        assert_eq!(count(20, f64::INFINITY), 20);
        assert_eq!(count(20, 0.0), 3);
        assert_eq!(count(1, 0.0), 1);
    }

    #[test]
    fn a_row_is_median_and_range() {
        let row = Row::new("polylla", "compact", vec![3.0, 1.0, 2.0]);
        assert_eq!(
            (row.median, row.minimum, row.maximum, row.runs),
            (2.0, 1.0, 3.0, 3)
        );
    }
}
