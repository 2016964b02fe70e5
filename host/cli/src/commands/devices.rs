//! `trioxide devices`: the devices of the machine.

use std::path::PathBuf;
use std::thread;

use clap::Args;
use serde_json::json;
use trioxide::PTX;
use trioxide::Result;
use trioxide::device::cuda_devices;

use trioxide_arguments::{is_standard_output, print, write_json};

/// List the machines that kernels can run on
#[derive(Args)]
pub struct Options {
    /// Write the list as JSON to this file, or to standard output for -
    #[arg(long, value_name = "FILE|-")]
    json: Option<PathBuf>,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let cuda = cuda_devices();
    let mut text = String::new();
    let mut list = Vec::new();
    match &cuda {
        Ok((version, devices)) => {
            for device in devices {
                let (major, minor) = device.capability;
                let gibibytes = device.memory as f64 / f64::from(1 << 30);
                text += &format!(
                    "cuda:{}   {}, compute capability {major}.{minor}, {} multiprocessors, {gibibytes:.1} GiB, driver for CUDA {}.{}\n",
                    device.index, device.name, device.multiprocessors, version.0, version.1
                );
                list.push(json!({
                    "device": format!("cuda:{}", device.index),
                    "name": device.name,
                    "compute_capability": format!("{major}.{minor}"),
                    "multiprocessors": device.multiprocessors,
                    "memory_bytes": device.memory,
                }));
            }
        }
        Err(reason) => text += &format!("cuda     none: {reason}\n"),
    }
    text += &format!("cpu      {threads} threads\nserial   the papers' sequential algorithms\n");
    text += &format!(
        "kernels  {} PTX for compute capability 7.5 and later",
        PTX.origin()
    );
    let architectures: Vec<String> = PTX
        .architectures()
        .iter()
        .map(|architecture| format!("{}.{}", architecture / 10, architecture % 10))
        .collect();
    text += &match architectures.is_empty() {
        true => "; no machine code, so the driver compiles what a run launches first\n".to_owned(),
        false => format!("; machine code for {}\n", architectures.join(", ")),
    };
    list.push(json!({"device": "cpu", "threads": threads}));
    list.push(json!({"device": "serial"}));
    if let Some(path) = &options.json {
        let object = json!({
            "command": "devices",
            "devices": list,
            "cuda_unavailable": cuda.as_ref().err().map(ToString::to_string),
            "ptx": PTX.origin(),
            "machine_code": architectures,
        });
        write_json(path, &object)?;
        if is_standard_output(path) {
            return Ok(());
        }
    }
    print(&text)
}
