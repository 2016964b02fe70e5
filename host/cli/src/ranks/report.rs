//! The report of a run on ranks.

use std::path::Path;

use serde_json::{Value, json};
use trioxide::device::{Device, Stage};
use trioxide_arguments::account::{self, TimedPart};
use trioxide_arguments::device::{DeviceOptions, Report};
use trioxide_ranks::transport::{Reduction, Traffic};
use trioxide_ranks::{Ranks, Result};

/// Phases without work on the mesh.
const BESIDE: [&str; 5] = ["start", "read", "open the device", "gather", "write"];

/// Prints rank 0's report after the end of MPI, which is a part of the run.
pub type Ending<'a> = Box<dyn FnOnce() -> trioxide::Result<()> + 'a>;

/// A run that is over.
pub struct Run<'a> {
    pub command: &'static str,
    pub input: &'a Path,
    pub options: &'a DeviceOptions,
    /// Whether something else goes to standard output in place of the report.
    pub is_output_taken: bool,
}

/// The counts of a command.
pub type Counts = Vec<(&'static str, Value)>;

/// Makes the report of a command that leaves standard output to it. Collective.
pub fn report<'a>(
    ranks: &Ranks,
    command: &'static str,
    (input, options, on): (&'a Path, &'a DeviceOptions, Device),
    counts: Counts,
) -> Result<Ending<'a>> {
    let run = Run {
        command,
        input,
        options,
        is_output_taken: false,
    };
    report_beside(ranks, run, on, counts)
}

/// Notes the phases of this rank as parts of its run.
pub fn account_for(ranks: &Ranks) {
    account::phases(ranks.traffic().into_iter().map(|phase| TimedPart {
        name: phase.phase,
        milliseconds: 1e3 * phase.seconds,
        waited: 1e3 * phase.waited,
    }));
}

/// Makes the report that rank 0 prints and writes: `counts`, and the traffic between ranks. Collective.
pub fn report_beside<'a>(
    ranks: &Ranks,
    run: Run<'a>,
    on: Device,
    mut counts: Counts,
) -> Result<Ending<'a>> {
    let traffic = ranks.traffic();
    ranks.phase("end");
    let sent: u64 = traffic.iter().map(|phase| phase.bytes).sum();
    let most = ranks.reduce(sent, Reduction::Max);
    let sent_by_all = ranks.sum(sent);
    let of_phase = |phase: &Traffic| {
        json!({
            "name": phase.phase,
            "seconds": phase.seconds,
            "waited": phase.waited,
            "bytes": phase.bytes,
            "calls": phase.calls,
        })
    };
    let phases: Vec<_> = traffic.iter().map(of_phase).collect();
    let stages = ranks.agree(on.take_stages())?;
    let of_stage =
        |stage: &Stage| json!({"name": stage.name, "seconds": 1e-3 * stage.milliseconds});
    let stages: Vec<_> = stages.iter().map(of_stage).collect();
    let resident = ranks.reduce(most_resident_bytes(), Reduction::Max);
    let on_device = ranks.reduce(on.peak_bytes(), Reduction::Max);
    counts.extend([
        ("ranks", json!(ranks.size())),
        ("bytes_sent", json!(sent_by_all)),
        ("most_bytes_of_a_rank", json!(most)),
        ("most_device_bytes_of_a_rank", json!(on_device)),
        ("most_resident_bytes_of_a_rank", json!(resident)),
        // An object: for programs.
        (
            "messages",
            json!({"phases_of_rank_0": phases, "device_stages_of_rank_0": stages}),
        ),
    ]);
    let work = traffic
        .iter()
        .filter(|phase| !BESIDE.contains(&phase.phase));
    let report = Report {
        command: run.command,
        input: run.input,
        device: format!("{} ranks, rank 0: {}", ranks.size(), on.name()),
        stages: work
            .map(|phase| Stage {
                name: phase.phase,
                milliseconds: 1e3 * phase.seconds,
            })
            .collect(),
        counts,
        peak_bytes: None,
    };
    account::device(on.costs());
    Ok(Box::new(move || {
        report.give_beside(run.options, run.is_output_taken)
    }))
}

/// Largest resident memory of this process, which a CPU as device uses too.
fn most_resident_bytes() -> u64 {
    // SAFETY: all bits zero are numbers.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: it writes to the struct that it is given.
    let is_known = unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) } == 0;
    // Linux counts in units of 1024 bytes.
    let unit = if cfg!(target_os = "linux") { 1024 } else { 1 };
    if is_known {
        unit * usage.ru_maxrss as u64
    } else {
        0
    }
}
