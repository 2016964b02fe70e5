//! The record of a case of `trioxide bench`: the same object for every family, made here and nowhere else.

use std::path::Path;
use std::thread;

use serde_json::{Map, Value, json};
use trioxide::Result;
use trioxide::device::Device;

use super::Row;
use trioxide_arguments::{is_standard_output, print, write_json};

/// Version of the objects below; readers refuse others.
pub const SCHEMA: &str = "trioxide-bench/1";

/// Times of one case: a mesh, and how it was processed.
pub struct Record {
    /// As on the command line.
    pub family: String,
    /// For people: mesh, size and other data that distinguish cases of the family.
    pub case: String,
    /// Parameters of the case: a mesh, a method, a precision.
    pub parameters: Map<String, Value>,
    /// Counts of the case, input and result: vertices, triangles, polygons; whole numbers.
    pub counts: Map<String, Value>,
    /// Most bytes on the device at once, from host arrays to host arrays where the case goes all the way.
    pub peak_bytes: u64,
    /// The times.
    pub stages: Vec<Row>,
}

/// Prints the records and writes them to `path`: one object for one record, for several a
/// `{"schema", "family", "runs"}` around them.
pub fn give(on: &Device, records: &[Record], path: Option<&Path>) -> Result<()> {
    let machine = Machine::of(on)?;
    if let Some(path) = path {
        let mut objects: Vec<Value> = records
            .iter()
            .map(|record| record.to_json(&machine))
            .collect();
        let object = match objects.len() {
            1 => objects.remove(0),
            _ => json!({"schema": SCHEMA, "family": records[0].family, "runs": objects}),
        };
        write_json(path, &object)?;
        if is_standard_output(path) {
            return Ok(());
        }
    }
    let texts: Vec<String> = records
        .iter()
        .map(|record| record.to_text(&machine))
        .collect();
    print(&texts.join("\n"))
}

/// The machine that ran, and its copy bandwidth.
struct Machine {
    device: String,
    object: Value,
    /// Bytes read plus written in a second.
    copy_bandwidth: f64,
}

impl Machine {
    fn of(on: &Device) -> Result<Self> {
        let details = on.details();
        let copy_bandwidth = on.copy_bandwidth()?;
        let object = json!({
            "device": on.name(),
            "kind": details.kind,
            "driver": details.driver,
            "clocks": {"core_mhz": details.core_mhz, "memory_mhz": details.memory_mhz},
            "memory_bytes": details.memory_bytes,
            "cpu": cpu_model(),
            "threads": details.threads.or_else(|| thread::available_parallelism().ok().map(usize::from)),
            "os": operating_system(),
            "copy_bandwidth_gb_s": copy_bandwidth / 1e9,
        });
        Ok(Self {
            device: on.name(),
            object,
            copy_bandwidth,
        })
    }
}

/// The commit that the binary was built from, as `cargo xtask bench` and the `run.sh` of `cargo xtask dist` pass it. A
/// commit within the binary would have every build after a commit compile it anew.
fn commit() -> Option<String> {
    std::env::var("TRIOXIDE_COMMIT")
        .ok()
        .filter(|commit| !commit.is_empty())
}

/// The processor's name, as the system gives it.
fn cpu_model() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// Name of the system, and of its kernel where it says so.
fn operating_system() -> String {
    let release = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    let pretty = release
        .lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="));
    let name = pretty.map_or(std::env::consts::OS, |name| name.trim_matches('"'));
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("{name} {}", kernel.trim()).trim().to_owned()
}

impl Record {
    fn to_json(&self, machine: &Machine) -> Value {
        let stages: Vec<Value> = self
            .stages
            .iter()
            .map(|row| {
                let mut object = json!({
                    "pipeline": row.pipeline,
                    "name": row.stage,
                    "median": row.median,
                    "minimum": row.minimum,
                    "maximum": row.maximum,
                    "runs": row.runs,
                    "bytes": row.moved.as_ref().map(|moved| moved.bytes),
                    "moves": row.moved.as_ref().map(|moved| &moved.what),
                });
                if let Some(launches) = row.launches {
                    let rate = row.rate();
                    object["launches"] = json!(launches);
                    object["gb_s"] = json!(rate.map(|rate| rate / 1e9));
                    object["share"] = json!(rate.map(|rate| rate / machine.copy_bandwidth));
                }
                object
            })
            .collect();
        json!({
            "schema": SCHEMA,
            "family": self.family,
            "case": self.case,
            "command": std::env::args().skip(1).collect::<Vec<_>>(),
            "machine": machine.object,
            "commit": commit(),
            "version": env!("CARGO_PKG_VERSION"),
            "parameters": self.parameters,
            "counts": self.counts,
            "peak_bytes": self.peak_bytes,
            "stages": stages,
        })
    }

    fn to_text(&self, machine: &Machine) -> String {
        let mut text = format!("{}: {} {}\n", machine.device, self.family, self.case);
        let counts: Vec<String> = self
            .counts
            .iter()
            .map(|(name, count)| format!("{} {count}", name.replace('_', " ")))
            .collect();
        text += &format!("{}\n", counts.join(", "));
        text += &match self.stages.iter().any(|row| row.launches.is_some()) {
            true => self.kernels_text(machine),
            false => self.stages_text(machine),
        };
        text += &format!(
            "most device memory: {:.1} MiB",
            self.peak_bytes as f64 / f64::from(1 << 20)
        );
        for (name, one) in [
            ("vertices", "vertex"),
            ("triangles", "triangle"),
            ("cells", "cell"),
        ] {
            if let Some(count) = self.counts.get(name).and_then(Value::as_f64)
                && count > 0.0
            {
                text += &format!(", {:.1} bytes a {one}", self.peak_bytes as f64 / count);
            }
        }
        text + "\n"
    }

    /// A line for each kernel.
    fn kernels_text(&self, machine: &Machine) -> String {
        let mut text = format!(
            "{:<32} {:>8} {:>10} {:>10} {:>10} {:>5} {:>10} {:>8} {:>6}  {}\n",
            "kernel, milliseconds a run",
            "launches",
            "median",
            "minimum",
            "maximum",
            "runs",
            "MB",
            "GB/s",
            "share",
            "what moves"
        );
        for row in &self.stages {
            let dash = || "-".to_owned();
            let rate = row.rate();
            text += &format!(
                "{:<32} {:>8} {:>10.4} {:>10.4} {:>10.4} {:>5} {:>10} {:>8} {:>6}  {}\n",
                row.stage,
                row.launches.unwrap_or(0),
                row.median,
                row.minimum,
                row.maximum,
                row.runs,
                row.moved
                    .as_ref()
                    .map_or_else(dash, |moved| format!("{:.3}", moved.bytes as f64 / 1e6)),
                rate.map_or_else(dash, |rate| format!("{:.1}", rate / 1e9)),
                rate.map_or_else(dash, |rate| format!(
                    "{:.0} %",
                    100.0 * rate / machine.copy_bandwidth
                )),
                row.moved.as_ref().map_or("-", |moved| &*moved.what),
            );
        }
        text + &format!(
            "share: of a copy's {:.1} GB/s; arrays that fit a cache can go beyond it\n",
            machine.copy_bandwidth / 1e9
        )
    }

    /// A line for each stage.
    fn stages_text(&self, machine: &Machine) -> String {
        let mut text = format!(
            "{:<12} {:<34} {:>10} {:>10} {:>10} {:>5} {:>10}\n",
            "pipeline", "stage, milliseconds", "median", "minimum", "maximum", "runs", "floor"
        );
        for row in &self.stages {
            let floor = row.moved.as_ref().map_or("-".to_owned(), |moved| {
                format!("{:.3}", moved.bytes as f64 / machine.copy_bandwidth * 1e3)
            });
            text += &format!(
                "{:<12} {:<34} {:>10.3} {:>10.3} {:>10.3} {:>5} {:>10}\n",
                row.pipeline, row.stage, row.median, row.minimum, row.maximum, row.runs, floor
            );
        }
        text + &format!(
            "floor: bytes that must move, by a copy's {:.1} GB/s\n",
            machine.copy_bandwidth / 1e9
        )
    }
}
