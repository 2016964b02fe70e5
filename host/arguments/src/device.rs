//! `--device`, `--threads`, `--timings`, `--json`, `--quiet`: options of every pipeline's command.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;

use clap::Args;
use serde_json::{Value, json};
use trioxide::Result;
use trioxide::device::{Choice, Device, Stage, has_cuda_driver};
use trioxide_operations::{Count, Counts, Machine, On, Run, Start};

use crate::account;
use crate::auto::{Estimate, Work};
use crate::names::worded;
use crate::{is_standard_output, note, print, write_json};

/// Options of every command that runs a pipeline.
#[derive(Args)]
pub struct DeviceOptions {
    /// Machine to run on: auto (the GPU, unless there is none, its memory does not suffice or the CPU ends sooner),
    /// cuda, cuda:N, cpu, or serial (the paper's sequential algorithm)
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    pub device: Choice,
    /// CPU threads, at most four a core, or 64 if that is more [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
    /// Print the time of each stage, and of each part of the whole run; under mpirun of rank 0's, with how long it
    /// waited for other ranks
    #[arg(long)]
    pub timings: bool,
    /// Write counts and times as JSON to this file, or to standard output for -
    #[arg(long, value_name = "FILE|-")]
    pub json: Option<PathBuf>,
    /// Print errors only
    #[arg(long)]
    pub quiet: bool,
}

/// The CPU that replaces a GPU chosen by `auto`.
#[derive(Clone, Copy, Debug)]
pub struct Otherwise {
    threads: Option<usize>,
    quiet: bool,
}

impl Otherwise {
    /// Opens the CPU, and prints the reason. Where there is no driver, most likely there is no GPU: then `--timings`
    /// and `--json` alone give it.
    fn open(self, reason: &dyn Display) -> Result<Device> {
        if has_cuda_driver() {
            note(self.quiet, format_args!("running on the CPU: {reason}"));
        }
        account::choice(format!("the CPU: {reason}"));
        Device::cpu(self.threads)
    }
}

/// A machine that starts while the input is read.
pub enum Opening {
    /// The papers' sequential algorithms.
    Serial,
    /// A machine that is already open, in a run of several steps.
    Open(Machine),
    /// The CPU, with this number of threads.
    Cpu(Option<usize>),
    /// A GPU, started by a thread of its own.
    Gpu {
        /// Gives the device, once.
        starting: Mutex<Option<JoinHandle<Result<Device>>>>,
        /// For `auto`: the CPU, used if there is no GPU or its memory does not suffice.
        otherwise: Option<Otherwise>,
    },
}

impl Opening {
    /// Waits for the machine. If the GPU that `auto` finds cannot be used, it prints a note.
    ///
    /// # Panics
    /// The machine was asked for before.
    pub fn open(&self) -> Result<Machine> {
        account::part("work of the host");
        let (device, otherwise) = match self {
            Opening::Serial => return Ok(On::Serial.into()),
            Opening::Open(machine) => return Ok(machine.clone()),
            Opening::Cpu(threads) => (Device::cpu(*threads)?, None),
            Opening::Gpu {
                starting,
                otherwise,
            } => {
                let starting = starting
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .take();
                let started = starting.expect("a command opens its machine once").join();
                let started = started.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                match (started, *otherwise) {
                    (Err(reason), Some(otherwise)) => (otherwise.open(&reason)?, None),
                    (started, otherwise) => (started?, otherwise),
                }
            }
        };
        if device.is_gpu() {
            // The end of the process frees everything at once, faster than call by call.
            std::mem::forget(device.clone());
        }
        account::part("wait for the device");
        let machine = Machine::from(&device);
        Ok(match otherwise {
            None => machine,
            Some(otherwise) => machine.or(move |reason| {
                account::part("tried on the GPU");
                otherwise.open(reason)
            }),
        })
    }
}

impl Start for Opening {
    fn start(&self) -> Result<Machine> {
        self.open()
    }
}

/// Runs `work` on a machine; `None` is the `serial` machine. If the memory of a GPU that `auto` chose does not suffice,
/// prints a note and runs `work` again on the CPU.
///
/// # Errors
/// The errors of `work`.
pub fn run<R>(machine: &Machine, work: impl Fn(Option<&Device>) -> Result<R>) -> Result<R> {
    let run = |on: &On| match on {
        On::Device(device) => Ok(work(Some(device))?),
        On::Serial => Ok(work(None)?),
    };
    machine.run(run).map_err(worded)
}

/// Bytes of an input from which its copies are prepared while it is read.
const LARGE_INPUT: u64 = 16 << 20;

impl DeviceOptions {
    /// Starts the machine. `auto` takes the one with which `work` on the mesh in the file `input` ends sooner.
    pub fn begin(&self, input: &Path, work: Work) -> Opening {
        let bytes = input.metadata().map_or(0, |metadata| metadata.len());
        self.begin_for(bytes, |threads| Estimate::of(work, input, threads))
    }

    /// Starts the machine. `auto` takes the one with which `work` on generated points ends sooner.
    pub fn begin_for_points(&self, points: usize, work: Work) -> Opening {
        let bytes = 24 * points as u64;
        self.begin_for(bytes, |threads| {
            Some(Estimate::of_bytes(work, bytes as f64, false, threads))
        })
    }

    /// Starts the machine for an input of `bytes`. `auto` follows the estimate for a number of threads, if there is
    /// one.
    fn begin_for(&self, bytes: u64, estimate: impl FnOnce(usize) -> Option<Estimate>) -> Opening {
        let threads = self.threads.map(usize::from);
        if self.device == Choice::Auto {
            let cores = std::thread::available_parallelism().map_or(1, usize::from);
            let estimate = estimate(threads.unwrap_or(cores));
            // Without a driver there is no choice.
            if let Some(estimate) = estimate.filter(|_| has_cuda_driver()) {
                account::choice(estimate.reason());
                if !estimate.is_for_gpu() {
                    return Opening::Cpu(threads);
                }
            }
        }
        self.begin_any(bytes > LARGE_INPUT)
    }

    /// Starts the machine. `auto` takes a GPU if there is one.
    fn begin_any(&self, is_large: bool) -> Opening {
        let threads = self.threads.map(usize::from);
        let start = move |index| match is_large {
            true => Device::cuda_for_copies(index),
            false => Device::cuda(index),
        };
        let gpu = |index, otherwise| Opening::Gpu {
            starting: Mutex::new(Some(std::thread::spawn(move || start(index)))),
            otherwise,
        };
        match self.device {
            Choice::Serial => Opening::Serial,
            Choice::Cpu => Opening::Cpu(threads),
            Choice::AnyCuda => gpu(0, None),
            Choice::Cuda(index) => gpu(index, None),
            Choice::Auto => {
                let quiet = self.quiet;
                gpu(0, Some(Otherwise { threads, quiet }))
            }
        }
    }

    /// Opens the machine. `auto` takes a GPU if there is one.
    pub fn open(&self) -> Result<Machine> {
        self.begin_any(false).open()
    }

    /// Whether results go to standard output as text.
    pub fn prints_text(&self) -> bool {
        !self.quiet && !self.json.as_deref().is_some_and(is_standard_output)
    }
}

/// The report of a pipeline's run.
pub struct Report<'a> {
    /// Name of the command.
    pub command: &'a str,
    /// The mesh's file.
    pub input: &'a Path,
    /// Name of the device.
    pub device: String,
    /// Times, in the order of the work.
    pub stages: Vec<Stage>,
    /// Counts, in printing order: the JSON key, and the value.
    pub counts: Vec<(&'static str, Value)>,
    /// Largest number of bytes on the device at once.
    pub peak_bytes: Option<u64>,
}

/// Counts as JSON values.
pub fn to_values(counts: Counts) -> Vec<(&'static str, Value)> {
    let value = |count| match count {
        Count::Whole(count) => json!(count),
        Count::Real(number) => json!(number),
        Count::Flag(flag) => json!(flag),
        Count::Word(word) => json!(word),
        Count::Digest(digest) => json!(format!("{digest:016x}")),
    };
    counts
        .into_iter()
        .map(|(name, count)| (name, value(count)))
        .collect()
}

impl<'a> Report<'a> {
    /// The report of an operation that has just ended. Its stages are noted as parts of the run.
    pub fn of(command: &'static str, input: &'a Path, run: Run, counts: Counts) -> Self {
        account::stages(&run.stages);
        account::device(run.costs);
        Self {
            command,
            input,
            device: run.device,
            stages: run.stages,
            counts: to_values(counts),
            peak_bytes: run.peak_bytes,
        }
    }
}

impl Report<'_> {
    /// Sum of the stages: the time without reading and writing files.
    pub fn milliseconds(&self) -> f64 {
        self.stages.iter().map(|stage| stage.milliseconds).sum()
    }

    /// Prints and writes the report as the options ask. It is the last part of a run: the account of the whole run ends
    /// here.
    pub fn give(&self, options: &DeviceOptions) -> Result<()> {
        self.give_beside(options, false)
    }

    /// As [`Report::give`]. If `is_output_taken`, other data goes to standard output, and no text is printed.
    pub fn give_beside(&self, options: &DeviceOptions, is_output_taken: bool) -> Result<()> {
        if let Some(path) = &options.json {
            let mut object = self.to_json();
            object["whole_run"] = account::to_json();
            write_json(path, &object)?;
        }
        if options.prints_text() && !is_output_taken {
            // A rank's stages are its phases, which the account lists.
            let is_of_rank = account::is_of_rank();
            let mut text = self.to_text(options.timings && !is_of_rank);
            if options.timings {
                let of_device = if is_of_rank { &[] } else { &self.stages[..] };
                text += &account::to_text(32, of_device);
            }
            print(&text)?;
        }
        Ok(())
    }

    /// The report as an object, without the account of the whole run.
    pub fn to_json(&self) -> Value {
        let stages: Vec<_> = self
            .stages
            .iter()
            .map(|stage| json!({"name": stage.name, "milliseconds": stage.milliseconds}))
            .collect();
        let mut object = json!({
            "command": self.command,
            "input": self.input.to_string_lossy(),
            "device": self.device,
            "stages": stages,
            "milliseconds": self.milliseconds(),
        });
        for (key, value) in &self.counts {
            object[*key] = value.clone();
        }
        if let Some(bytes) = self.peak_bytes {
            object["peak_bytes"] = json!(bytes);
        }
        object
    }

    /// The name in the text of the count with this key. Regions of a volume's input are materials in the text:
    /// Polylla's regions have another name.
    fn text_name(&self, key: &str) -> String {
        let is_volume = self.counts.iter().any(|(key, _)| *key == "tetrahedra");
        match (self.command, key) {
            ("polylla", "regions") if is_volume => "terminal-face regions".to_owned(),
            ("polylla", "regions") => "terminal-edge regions".to_owned(),
            _ => key.replace('_', " "),
        }
    }

    /// The report as rows of text.
    pub fn to_text(&self, timings: bool) -> String {
        let mut text = String::new();
        let mut row = |name: &str, value: String| text.push_str(&format!("{name:<32} {value}\n"));
        row("device", self.device.clone());
        // JSON objects are only for programs.
        for (key, value) in self.counts.iter().filter(|(_, value)| !value.is_object()) {
            let text = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            row(&self.text_name(key), text);
        }
        if timings {
            for stage in &self.stages {
                row(stage.name, format!("{:.3} ms", stage.milliseconds));
            }
            if let Some(bytes) = self.peak_bytes {
                let bytes = bytes as f64;
                let mut text = format!("{:.1} MiB", bytes / f64::from(1 << 20));
                for (key, one) in [("vertices", "vertex"), ("triangles", "triangle")] {
                    let count = self.counts.iter().find(|(name, _)| *name == key);
                    if let Some(count) = count.and_then(|(_, count)| count.as_f64()) {
                        text += &format!(", {:.1} bytes a {one}", bytes / count);
                    }
                }
                row("most device memory", text);
            }
        }
        row(
            "time without files",
            format!("{:.3} ms", self.milliseconds()),
        );
        text
    }
}
