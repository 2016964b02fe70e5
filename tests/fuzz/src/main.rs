//! The fuzzers' program: libFuzzer's `main`, which calls the target in the environment.
//!
//! `cargo xtask fuzz` builds and runs it. `TRIOXIDE_FUZZ_TARGET` is a target of [`trioxide_fuzz_targets::all`]; with
//! `TRIOXIDE_FUZZ_SEEDS` it writes the first inputs of each target to folders there, and with `TRIOXIDE_FUZZ_LIST` it
//! prints the targets' names.
#![no_main]

mod memory;

use std::path::Path;
use std::process::exit;
use std::sync::OnceLock;

use trioxide_fuzz_targets::{self as targets, Target};

static TARGET: OnceLock<Target> = OnceLock::new();

/// libFuzzer's hook ends the process at a panic. The laz crate panics at damaged data, and the reader catches and
/// reports these panics: they continue, and are a finding only if nothing catches them.
fn let_laz_panic() {
    let end = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let file = panic.location().map_or("", |location| location.file());
        if !file.contains("/laz-") {
            end(panic);
        }
    }));
}

fn start() {
    let_laz_panic();
    let all = targets::all();
    if std::env::var_os("TRIOXIDE_FUZZ_LIST").is_some() {
        for target in &all {
            println!("{}", target.name);
        }
        exit(0);
    }
    if let Some(folder) = std::env::var_os("TRIOXIDE_FUZZ_SEEDS") {
        for target in &all {
            write_seeds(Path::new(&folder), target);
        }
        exit(0);
    }
    let name = std::env::var("TRIOXIDE_FUZZ_TARGET").unwrap_or_default();
    match all.into_iter().find(|target| target.name == name) {
        Some(target) => _ = TARGET.set(target),
        None => {
            eprintln!(
                "TRIOXIDE_FUZZ_TARGET is {name:?}, which is no target: `cargo xtask fuzz --list` prints them"
            );
            exit(2);
        }
    }
}

fn write_seeds(folder: &Path, target: &Target) {
    let folder = folder.join(&target.name);
    let written = std::fs::create_dir_all(&folder).and_then(|()| {
        let mut seeds = (target.seeds)().into_iter().enumerate();
        seeds.try_for_each(|(i, seed)| std::fs::write(folder.join(format!("seed-{i}")), seed))
    });
    if let Err(error) = written {
        eprintln!("{}: {error}", folder.display());
        exit(1);
    }
}

libfuzzer_sys::fuzz_target!(init: start(), |data: &[u8]| {
    let target = TARGET.get().expect("started");
    // On the CPU's own thread, so that nothing moves between threads.
    memory::in_proportion(data.len(), || targets::cpu().on_host(|| (target.run)(data)));
});
