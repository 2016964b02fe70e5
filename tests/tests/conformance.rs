//! The conformance suite, case by case, on every backend that this machine has. What cannot run here is listed as
//! ignored, with the reason.

use libtest_mimic::{Arguments, Failed, Trial};
use trioxide::backend::Device;
use trioxide::selftest::{Case, Size, cases};

type Open = fn() -> trioxide::Result<Device>;

fn main() {
    let arguments = Arguments::from_args();
    // Devices do not cross threads: each backend's cases run in order, in a test of their own thread.
    let open: [(&str, Open); 4] = [
        ("cpu, 1 thread", || Device::cpu(Some(1))),
        ("cpu, 2 threads", || Device::cpu(Some(2))),
        ("cpu, 7 threads", || Device::cpu(Some(7))),
        ("cuda", || Device::cuda(0)),
    ];
    let mut trials = Vec::new();
    for (name, open) in open {
        let unavailable = open().err();
        let reason = unavailable
            .as_ref()
            .map_or(String::new(), |error| format!(" (skipped: {error})"));
        let suite = cases(Size::Small, Vec::new()).expect("the generated meshes are valid");
        trials.push(
            Trial::test(
                format!("{name}: {} cases{reason}", suite.len()),
                move || run(open, &suite),
            )
            .with_ignored_flag(unavailable.is_some()),
        );
    }
    libtest_mimic::run(&arguments, trials).exit();
}

fn run(open: Open, suite: &[Case]) -> Result<(), Failed> {
    let device = open().map_err(|error| error.to_string())?;
    let failures: Vec<String> = suite
        .iter()
        .filter_map(|case| {
            case.run(&device)
                .err()
                .map(|error| format!("{}: {error}", case.name))
        })
        .collect();
    if failures.is_empty() {
        Ok(())
    } else {
        Err(failures.join("\n").into())
    }
}
