//! The conformance suite, one test for each case and device, on every device of this machine. It also checks that the
//! declared kernels, their PTX entries and their launches are the same set. A device that is missing is listed as
//! ignored, with the reason.
//!
//! `cargo xtask test --quick` sets `TRIOXIDE_FAMILIES`: the families to run, with commas between them, on one device.

use std::collections::BTreeSet;
use std::io::Write;
use std::process::ExitCode;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, LazyLock, Mutex};
use std::thread;

use libtest_mimic::{Arguments, Trial};
use ptx_rules::family_of;
use trioxide::device::Device;
use trioxide_verify::selftest::{COPIES, Case, LAUNCHES, Size, cases, entries};

type Open = fn() -> trioxide::Result<Device>;
type Outcome = Result<(), String>;

/// The names of the kernels that cases have launched on one device.
type Launched = Arc<Mutex<BTreeSet<&'static str>>>;

/// The devices and the sizes of their meshes; the second is that of a quick run. There are more threads than a small
/// machine has cores, so that they end in many orders. One thread runs the same kernels in one order, for which small
/// meshes are enough.
const DEVICES: [(&str, Open, Size); 3] = [
    ("cpu, 1 thread", || Device::cpu(Some(1)), Size::Tiny),
    (QUICK, || Device::cpu(Some(7)), Size::Small),
    (CUDA, || Device::cuda(0), Size::Small),
];
const QUICK: &str = "cpu, 7 threads";
const CUDA: &str = "cuda";

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let families = match families() {
        Ok(families) => families,
        Err(message) => return fail(&message),
    };
    let is_quick = families.is_some();
    let mut trials = vec![Trial::test(
        "kernels::declarations_are_the_ptx_entries",
        move || declarations_are_the_entries(is_quick).map_err(Into::into),
    )];
    let mut launched: Vec<(&str, Launched)> = Vec::new();
    for (device, open, size) in DEVICES {
        if families.is_some() && device != QUICK {
            continue;
        }
        let unavailable = open().err();
        let reason = unavailable
            .as_ref()
            .map_or(String::new(), |error| format!(" (skipped: {error})"));
        if unavailable.is_some() {
            trials.push(
                Trial::test(format!("all::{device}{reason}"), || Ok(())).with_ignored_flag(true),
            );
            continue;
        }
        let names = Launched::default();
        // At the tiny size too, which sanitisers run.
        launched.push((device, names.clone()));
        for case in suite(size) {
            // The launches of all cases are checked at the end.
            let wanted = families
                .as_ref()
                .is_none_or(|families| families.iter().any(|family| family == case.family));
            if !wanted || case.family == LAUNCHES {
                continue;
            }
            let name = format!("{}::{} [{device}]", case.family, case.name);
            let names = names.clone();
            let run = move || {
                if device == CUDA {
                    on_cuda(case, names)
                } else {
                    run(&open().map_err(|error| error.to_string())?, &case, &names)
                }
            };
            trials.push(Trial::test(name, || run().map_err(Into::into)));
        }
    }
    if let Some(filter) = &arguments.filter
        && !trials.iter().any(|trial| trial.name().contains(filter))
    {
        let families: BTreeSet<&str> = trials
            .iter()
            .filter_map(|t| Some(t.name().split_once("::")?.0))
            .collect();
        let families = Vec::from_iter(families).join(", ");
        return fail(&format!(
            "no case has {filter:?} in its name; the families are {families}"
        ));
    }
    let all = families.is_none()
        && arguments.filter.is_none()
        && arguments.skip.is_empty()
        && !arguments.list
        && !arguments.ignored;
    let conclusion = libtest_mimic::run(&arguments, trials);
    if conclusion.has_failed() {
        return conclusion.exit_code();
    }
    for (device, launched) in launched.iter().filter(|_| all) {
        match launches_are_the_entries(&launched.lock().expect("no case has panicked")) {
            Ok(()) => println!("every kernel was launched [{device}]: ok"),
            Err(message) => return fail(&format!("[{device}] {message}")),
        }
    }
    ExitCode::SUCCESS
}

fn fail(message: &str) -> ExitCode {
    writeln!(std::io::stderr(), "error: {message}").expect("standard error is open");
    ExitCode::FAILURE
}

fn suite(size: Size) -> Vec<Case> {
    cases(size, Vec::new()).expect("the generated meshes are valid")
}

/// The families of a quick run; `None` for all families.
fn families() -> Result<Option<Vec<String>>, String> {
    let Ok(asked) = std::env::var("TRIOXIDE_FAMILIES") else {
        return Ok(None);
    };
    let known: BTreeSet<&str> = suite(Size::Tiny).iter().map(|case| case.family).collect();
    let asked: Vec<String> = asked.split(',').map(str::to_owned).collect();
    match asked.iter().find(|family| !known.contains(family.as_str())) {
        None => Ok(Some(asked)),
        Some(unknown) => {
            let known = Vec::from_iter(known).join(", ");
            Err(format!(
                "TRIOXIDE_FAMILIES: there is no family {unknown:?}; the families are {known}"
            ))
        }
    }
}

fn run(on: &Device, case: &Case, launched: &Launched) -> Outcome {
    let outcome = case.run(on);
    let mut names = launched.lock().expect("no case has panicked");
    names.extend(on.launched());
    outcome
}

/// Runs a case on the only CUDA device of this process, in a thread of its own: one case at a time, and kernels are
/// loaded once.
fn on_cuda(case: Case, launched: Launched) -> Outcome {
    type Job = (Case, Launched, Sender<Outcome>);
    static JOBS: LazyLock<Mutex<Sender<Job>>> = LazyLock::new(|| {
        let (sender, jobs) = channel::<Job>();
        thread::spawn(move || {
            let device = Device::cuda(0);
            for (case, launched, outcome) in jobs {
                let result = match &device {
                    Ok(device) => run(device, &case, &launched),
                    Err(error) => Err(error.to_string()),
                };
                // A test that no longer waits has failed already.
                let _ = outcome.send(result);
            }
        });
        Mutex::new(sender)
    });
    let (sender, outcome) = channel();
    let jobs = JOBS
        .lock()
        .map_err(|_| "another case has panicked")?
        .clone();
    let ended = |_| "the device's thread has ended: an earlier case has panicked".to_owned();
    jobs.send((case, launched, sender)).map_err(|_| ended(()))?;
    outcome.recv().map_err(|_| ended(()))?
}

fn launches_are_the_entries(launched: &BTreeSet<&'static str>) -> Outcome {
    let entries = entries();
    let unlaunched: Vec<_> = entries.difference(launched).collect();
    if !unlaunched.is_empty() {
        return Err(format!(
            "in the PTX, but no case of the conformance suite (host/verify/src/selftest) launches {unlaunched:?}"
        ));
    }
    let missing: Vec<_> = launched.difference(&entries).collect();
    if !missing.is_empty() {
        return Err(format!(
            "launched, but not in the PTX: {missing:?}; `cargo xtask ptx --bless` where the prebuilt files are embedded"
        ));
    }
    Ok(())
}

/// Every declared kernel has an entry, and every entry belongs to a declared kernel.
fn declarations_are_the_entries(is_quick: bool) -> Outcome {
    let declared = xtask::ptx::declared().map_err(|error| error.to_string())?;
    // A quick run builds no PTX, and embeds none after a change to a kernel: it takes the names from the prebuilt
    // files.
    let prebuilt = match is_quick {
        true => xtask::ptx::prebuilt()?,
        false => Vec::new(),
    };
    let entries = match is_quick {
        true => prebuilt
            .iter()
            .flat_map(|ptx| ptx_rules::entries(ptx))
            .collect(),
        false => entries(),
    };
    let kernels = entries
        .iter()
        .map(|entry| family_of(entry, &declared).ok_or(*entry));
    let in_ptx: Result<BTreeSet<&str>, &str> = kernels.map(|kernel| Ok(kernel?.0)).collect();
    let in_ptx = in_ptx
        .map_err(|entry| format!("{entry} is in the PTX, and no source declares such a kernel"))?;
    let missing: Vec<&String> = declared
        .keys()
        .filter(|kernel| !in_ptx.contains(kernel.as_str()))
        .collect();
    if !missing.is_empty() {
        return Err(format!(
            "the sources declare {missing:?}, which the PTX has not: `cargo xtask ptx --bless` where the prebuilt files are embedded"
        ));
    }
    let families: BTreeSet<&str> = declared.values().map(String::as_str).collect();
    let tested: BTreeSet<&str> = suite(Size::Tiny).iter().map(|case| case.family).collect();
    let untested: Vec<_> = families.difference(&tested).collect();
    let unknown: Vec<_> = tested
        .difference(&families)
        .filter(|family| ![COPIES, LAUNCHES].contains(family))
        .collect();
    if !untested.is_empty() || !unknown.is_empty() {
        return Err(format!(
            "families of kernels without a case: {untested:?}; families of cases without kernels: {unknown:?}"
        ));
    }
    Ok(())
}
