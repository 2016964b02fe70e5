//! `cargo xtask bench --compare OLD NEW`: the stages that got slower.
//!
//! A stage has got slower beyond noise when
//! - its quickest new run is slower than the median of the old ones: noise makes runs slower, seldom quicker, so minima
//!   hold still;
//! - its median is slower by more than a twentieth, and by more than two microseconds, the grain of device events;
//! - and, where either side has fewer than eight runs, its quickest new run is slower than the slowest old one too.
//!
//! It has got faster when the same holds with old and new exchanged.
//!
//! The ranges of one process do not show changes from one process to the next, such as other work on the machine: where
//! a plain copy changed its speed too, a line says so. On a machine that others use, give folders with the results of
//! several processes, taken by turns: then the median of each process counts as one run.

use std::path::Path;

use serde_json::{Value, json};

use super::results::{Run, Stage, read_file, read_folder};
use xtask::Error;

/// Smallest change of a median that counts.
const SMALLEST_CHANGE: f64 = 0.05;
/// Milliseconds that a device event's time may be off by.
const GRAIN: f64 = 0.002;
/// Smallest change of the copy bandwidth that is reported.
const SMALLEST_DRIFT: f64 = 0.1;
/// Runs from which minimum against median is enough.
const ENOUGH_RUNS: u64 = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Slower,
    Faster,
    Noise,
}

fn verdict(old: &Stage, new: &Stage) -> Verdict {
    if is_slower(old, new) {
        Verdict::Slower
    } else if is_slower(new, old) {
        Verdict::Faster
    } else {
        Verdict::Noise
    }
}

/// Whether `b` is slower than `a` beyond noise.
fn is_slower(a: &Stage, b: &Stage) -> bool {
    let change = b.median - a.median;
    let few = a.runs.min(b.runs) < ENOUGH_RUNS;
    b.minimum > a.median
        && change > SMALLEST_CHANGE * a.median
        && change > GRAIN
        && (!few || b.minimum > a.maximum)
}

/// Prints the ratios of all stages of the cases that both files, or folders, have; returns whether none got slower.
pub(crate) fn compare(old: &Path, new: &Path) -> Result<bool, Error> {
    let read = |path: &Path| match path.is_dir() {
        true => read_folder(path),
        false => read_file(path),
    };
    let (text, slower) = report(&pooled(read(old)?), &pooled(read(new)?))?;
    print!("{text}");
    Ok(slower == 0)
}

/// One run of each case: of several processes, with the range of their medians.
fn pooled(runs: Vec<Run>) -> Vec<Run> {
    let mut cases: Vec<Vec<Run>> = Vec::new();
    for run in runs {
        match cases.iter_mut().find(|case| case[0].key() == run.key()) {
            Some(case) => case.push(run),
            None => cases.push(vec![run]),
        }
    }
    cases.into_iter().map(pool).collect()
}

fn pool(mut runs: Vec<Run>) -> Run {
    if runs.len() == 1 {
        return runs.remove(0);
    }
    let stages = runs[0].stages().into_iter().map(|stage| {
        let of = |run: &Run| Some(run.stage(&stage.pipeline, &stage.name)?.median);
        let mut medians: Vec<f64> = runs.iter().filter_map(of).collect();
        medians.sort_by(f64::total_cmp);
        json!({"pipeline": stage.pipeline, "name": stage.name, "median": medians[medians.len() / 2],
               "minimum": medians[0], "maximum": medians[medians.len() - 1], "runs": medians.len()})
    });
    let stages: Vec<Value> = stages.collect();
    let mut one = runs.remove(0);
    one.0["stages"] = json!(stages);
    one
}

fn report(old: &[Run], new: &[Run]) -> Result<(String, usize), Error> {
    let mut text = String::new();
    let [mut slower, mut faster, mut same, mut cases] = [0; 4];
    for run in new {
        let Some(before) = old.iter().find(|before| before.key() == run.key()) else {
            text += &format!("{}: only in the new file\n", run.case());
            continue;
        };
        cases += 1;
        text += &format!("{} {}\n", run.family(), run.case());
        if before.device() != run.device() {
            text += &format!(
                "  on different devices, {} and {}: the ratios are theirs too\n",
                before.device(),
                run.device()
            );
        }
        let rates = [before, run].map(|run| run.0["machine"]["copy_bandwidth_gb_s"].as_f64());
        if let [Some(old), Some(new)] = rates
            && (new - old).abs() > SMALLEST_DRIFT * old
        {
            text += &format!(
                "  a copy on the device went from {old:.0} to {new:.0} GB/s: the machine was not the same, or had other work\n"
            );
        }
        for stage in run.stages() {
            let Some(past) = before.stage(&stage.pipeline, &stage.name) else {
                text += &format!(
                    "  {} / {}: only in the new file\n",
                    stage.pipeline, stage.name
                );
                continue;
            };
            let verdict = verdict(&past, &stage);
            let word = match verdict {
                Verdict::Slower => "SLOWER",
                Verdict::Faster => "faster",
                Verdict::Noise => "",
            };
            match verdict {
                Verdict::Slower => slower += 1,
                Verdict::Faster => faster += 1,
                Verdict::Noise => same += 1,
            }
            let name = format!("{} / {}", stage.pipeline, stage.name);
            let line = format!(
                "  {name:<46} {:>9.3} -> {:>9.3}  x {:>6.3}  {word}",
                past.median,
                stage.median,
                stage.median / past.median.max(1e-9),
            );
            text += line.trim_end();
            text += "\n";
        }
    }
    for run in old {
        if !new.iter().any(|after| after.key() == run.key()) {
            text += &format!("{}: only in the old file\n", run.case());
        }
    }
    if cases == 0 {
        return Err(format!("{text}the files have no case in common").into());
    }
    text += &format!(
        "{slower} slower, {faster} faster beyond noise, {same} the same (slower: minimum over the old median, median by more \
         than 5 % and 2 us; with fewer than 8 runs, minimum over the old maximum)\n"
    );
    Ok((text, slower))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage(minimum: f64, median: f64, maximum: f64, runs: u64) -> Stage {
        Stage {
            minimum,
            median,
            maximum,
            runs,
            ..Stage::default()
        }
    }

    #[test]
    fn a_slowdown_is_seen() {
        let old = stage(0.95, 1.0, 1.2, 20);
        assert_eq!(verdict(&old, &stage(1.08, 1.1, 1.3, 20)), Verdict::Slower);
        // One old run was disturbed: no reason to miss it.
        let old = stage(0.95, 1.0, 9.0, 20);
        assert_eq!(verdict(&old, &stage(1.9, 2.0, 2.1, 20)), Verdict::Slower);
        assert_eq!(verdict(&stage(1.9, 2.0, 2.1, 20), &old), Verdict::Faster);
    }

    #[test]
    fn noise_is_not() {
        let old = stage(0.95, 1.0, 1.2, 20);
        // Other work on the machine made most runs slower, not all.
        assert_eq!(verdict(&old, &stage(0.96, 1.4, 3.0, 20)), Verdict::Noise);
        // The change is too small.
        assert_eq!(verdict(&old, &stage(1.01, 1.04, 1.1, 20)), Verdict::Noise);
        // The time is too small.
        let (old, new) = (
            stage(0.004, 0.004, 0.005, 20),
            stage(0.005, 0.0055, 0.006, 20),
        );
        assert_eq!(verdict(&old, &new), Verdict::Noise);
        // Too few runs, and ranges that meet.
        assert_eq!(
            verdict(&stage(1.0, 1.1, 1.3, 3), &stage(1.2, 1.3, 1.4, 3)),
            Verdict::Noise
        );
        assert_eq!(
            verdict(&stage(1.0, 1.1, 1.3, 3), &stage(1.4, 1.5, 1.6, 3)),
            Verdict::Slower
        );
    }

    fn run(n: u64, median: f64) -> Run {
        let stage = |name: &str, median: f64| -> Value {
            json!({"pipeline": "polylla", "name": name, "median": median, "minimum": 0.95 * median,
                   "maximum": 1.1 * median, "runs": 20, "bytes": null})
        };
        Run(json!({
            "family": "polylla", "case": format!("grid {n}"), "parameters": {"n": n},
            "machine": {"device": "CPU", "copy_bandwidth_gb_s": 10.0 * median},
            "stages": [stage("label longest edges", 5.0), stage("compact seeds", median)],
        }))
    }

    #[test]
    fn of_several_processes_each_counts_once() {
        let times =
            |medians: &[f64]| pooled(medians.iter().map(|&median| run(10, median)).collect());
        // Other work disturbed one process.
        let old = times(&[1.0, 1.05, 1.6]);
        assert_eq!(old.len(), 1);
        assert_eq!(old[0].stage("polylla", "compact seeds").unwrap().runs, 3);
        assert_eq!(report(&old, &times(&[1.5, 1.55, 1.2])).unwrap().1, 0);
        assert_eq!(report(&old, &times(&[1.8, 2.0, 1.9])).unwrap().1, 1);
    }

    #[test]
    fn equal_cases_are_compared() {
        let (text, slower) =
            report(&[run(10, 1.0), run(20, 2.0)], &[run(10, 1.5), run(30, 1.0)]).unwrap();
        assert_eq!(slower, 1, "{text}");
        assert!(text.contains("polylla / compact seeds"), "{text}");
        assert!(text.contains("x  1.500  SLOWER\n"), "{text}");
        assert!(text.contains("from 10 to 15 GB/s"), "{text}");
        assert!(text.contains("grid 30: only in the new file"), "{text}");
        assert!(text.contains("grid 20: only in the old file"), "{text}");
        let (text, slower) = report(&[run(10, 1.0)], &[run(10, 1.03)]).unwrap();
        assert!(!text.contains("GB/s"), "{text}");
        assert_eq!(slower, 0, "{text}");
        assert!(report(&[run(10, 1.0)], &[run(20, 1.0)]).is_err());
    }
}
