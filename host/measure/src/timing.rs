//! Repeated runs and their times.

use std::collections::BTreeMap;
use std::time::Instant;

use trioxide::Result;
use trioxide::bench::{KernelRuns, KernelTime};
use trioxide::device::{Device, Traffic};

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
    fn repeat(self, run: &mut dyn FnMut(bool) -> Result<()>) -> Result<()> {
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
    /// Bytes that the stage, or the kernel's launches, must move in one run.
    pub moved: Option<Moved>,
    /// Launches in one run, for the row of a kernel.
    pub launches: Option<usize>,
}

/// Bytes that one run must move from and to the device's memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Moved {
    pub bytes: u64,
    /// The operations that move them, for people.
    pub what: String,
}

impl Moved {
    /// The bytes of a stage: a lower bound where some of its kernels declare none. `None` where none of them does.
    fn of(traffic: Traffic) -> Option<Self> {
        let Traffic {
            bytes,
            counted,
            uncounted,
        } = traffic;
        let others = match uncounted {
            0 => String::new(),
            _ => format!("; without those of {uncounted} launches"),
        };
        let what = format!("{counted} launches, fills and copies{others}");
        (bytes > 0).then_some(Moved { bytes, what })
    }
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
            moved: None,
            launches: None,
        }
    }

    /// Bytes that move in a second.
    pub fn rate(&self) -> Option<f64> {
        let moved = self.moved.as_ref()?;
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
    stages(pipeline, on, runs, totals, &mut work)
}

// Generic functions only pass `work` on: the rest is compiled once, not for each of a hundred measurements.

fn stages(
    pipeline: &'static str,
    on: &Device,
    runs: Runs,
    totals: &[Total<'_>],
    work: &mut dyn FnMut() -> Result<()>,
) -> Result<Vec<Row>> {
    let mut found: BTreeMap<&'static str, (Vec<f64>, Traffic)> = BTreeMap::new();
    let mut order = Vec::new();
    runs.repeat(&mut |counts| {
        on.take_stages()?;
        work()?;
        let stages = on.take_stages_with_traffic()?;
        let mut parts: Vec<(&'static str, f64, Traffic)> = stages
            .iter()
            .map(|(stage, traffic)| (stage.name, stage.milliseconds, *traffic))
            .collect();
        for (name, takes) in totals {
            let (mut time, mut sum) = (0.0, Traffic::default());
            for (stage, traffic) in stages.iter().filter(|(stage, _)| takes(stage.name)) {
                time += stage.milliseconds;
                sum += *traffic;
            }
            parts.push((name, time, sum));
        }
        for (name, time, traffic) in parts {
            if !order.contains(&name) {
                order.push(name);
            }
            if counts {
                let (times, last) = found.entry(name).or_default();
                times.push(time);
                *last = traffic;
            }
        }
        Ok(())
    })?;
    let row = |stage| {
        let (times, traffic) = found.remove(stage)?;
        Some(Row {
            moved: Moved::of(traffic),
            ..Row::new(pipeline, stage, times)
        })
    };
    Ok(order.into_iter().filter_map(row).collect())
}

/// Times of `work` by kernel, the one that takes longest first, with the bytes that its launches must move in one run.
pub fn kernels(
    pipeline: &'static str,
    on: &Device,
    runs: Runs,
    work: &mut dyn FnMut() -> Result<()>,
) -> Result<Vec<Row>> {
    let mut measured = KernelRuns::default();
    runs.repeat(&mut |counts| measured.run(on, counts, &mut *work))?;
    let row = |time: KernelTime| Row {
        launches: Some(time.launches),
        moved: time.moves.map(|(bytes, formula)| Moved {
            bytes,
            what: formula.to_owned(),
        }),
        ..Row::new(pipeline, time.entry, time.milliseconds)
    };
    Ok(measured.end().into_iter().map(row).collect())
}

/// Time of `work` by the clock, files and start of the device left out.
pub fn waited(
    stage: &'static str,
    runs: Runs,
    mut work: impl FnMut() -> Result<()>,
) -> Result<Row> {
    as_waited(stage, runs, &mut work)
}

fn as_waited(stage: &'static str, runs: Runs, work: &mut dyn FnMut() -> Result<()>) -> Result<Row> {
    let mut times = Vec::new();
    runs.repeat(&mut |counts| {
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
            runs.repeat(&mut |counts| {
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

    #[test]
    fn a_stage_and_a_sum_have_the_bytes_of_one_run() {
        let on = Device::cpu(Some(1)).unwrap();
        let runs = Runs {
            most: 3,
            seconds: f64::INFINITY,
        };
        let totals: [Total<'_>; 2] = [("without b", &|name| name != "b"), ("all", &|_| true)];
        let rows = rows_with_totals("p", &on, runs, &totals, || {
            let values = on.stage("a", || on.filled(10, 0u32))?;
            on.stage("b", || on.duplicate(&values).map(drop))?;
            on.stage("host", || Ok(()))
        });
        let bytes = |row: &Row| (row.stage, row.moved.as_ref().map(|moved| moved.bytes));
        let found: Vec<_> = rows.unwrap().iter().map(bytes).collect();
        let sums = [("without b", Some(40)), ("all", Some(120))];
        assert_eq!(
            found[..3],
            [("a", Some(40)), ("b", Some(80)), ("host", None)]
        );
        assert_eq!(found[3..], sums);
    }

    #[test]
    fn a_floor_says_what_it_lacks() {
        let of = |bytes, uncounted| {
            Moved::of(Traffic {
                bytes,
                counted: 2,
                uncounted,
            })
        };
        assert_eq!(of(0, 3), None);
        assert_eq!(of(8, 0).unwrap().what, "2 launches, fills and copies");
        let lacking = "2 launches, fills and copies; without those of 3 launches";
        assert_eq!(of(8, 3).unwrap().what, lacking);
    }
}
