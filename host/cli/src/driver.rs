//! Environment variables that make CUDA's driver start sooner. A variable that the user has set stays as it is.

use std::env;
use std::fs::{File, read_dir};

use clap::ArgMatches;
use trioxide::device::Choice;

/// Number of queues to each engine of a GPU.
const QUEUES: &str = "CUDA_DEVICE_MAX_CONNECTIONS";
/// The GPUs that the driver starts and numbers.
const VISIBLE: &str = "CUDA_VISIBLE_DEVICES";

/// Asks the driver for as little as a command with these options needs, in the process at `place` among those of its
/// machine:
///
/// - one queue to each engine in place of eight: work goes to one stream and copies to another, and the driver takes
///   0.06 s to make the others and 0.03 s to give them back;
/// - one GPU, where the options name none by its number: the driver takes 0.2 s to start each.
///
/// # Safety
/// No other thread runs yet.
pub unsafe fn set_variables(options: &ArgMatches, place: usize) {
    // SAFETY: the caller's promise.
    unsafe { set(QUEUES, "1") };
    let choice = options.try_get_one::<Choice>("device").ok().flatten();
    // `bench run` starts other commands, which may name a GPU: they choose for themselves.
    let nodes = match (choice, options.subcommand()) {
        (Some(Choice::Auto | Choice::AnyCuda), None) => nodes(),
        _ => Vec::new(),
    };
    if nodes.len() > 1 {
        let own = place % nodes.len();
        // Nodes may be there of GPUs that this process may not use, which the driver does not number.
        let path = format!("/dev/nvidia{}", nodes[own]);
        if File::options().read(true).write(true).open(path).is_ok() {
            // SAFETY: the caller's promise.
            unsafe { set(VISIBLE, &own.to_string()) };
        }
    }
}

/// Sets a variable that is not set.
///
/// # Safety
/// No other thread runs yet.
pub unsafe fn set(name: &str, value: &str) {
    if env::var_os(name).is_none() {
        // SAFETY: the caller's promise.
        unsafe { env::set_var(name, value) };
    }
}

/// Numbers of the GPUs that Linux has nodes for, ascending.
fn nodes() -> Vec<u32> {
    let entries = read_dir("/dev").into_iter().flatten().flatten();
    let mut nodes: Vec<u32> = entries
        .filter_map(|entry| number(entry.file_name().to_str()?))
        .collect();
    nodes.sort_unstable();
    nodes
}

/// The number of the GPU whose node has this name.
fn number(name: &str) -> Option<u32> {
    name.strip_prefix("nvidia")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_of_gpus_have_numbers() {
        assert_eq!(number("nvidia0"), Some(0));
        assert_eq!(number("nvidia12"), Some(12));
        for other in ["nvidiactl", "nvidia-uvm", "nvidia-caps", "null"] {
            assert_eq!(number(other), None);
        }
    }
}
