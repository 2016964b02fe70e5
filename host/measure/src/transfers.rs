//! `trioxide bench transfers`: copies between host and device, and their share in the time of a weld (the experiments
//! of gpu-vertex-clustering-2026, sections 6.6 and 6.9).

use std::path::Path;

use glam::DVec3;
use serde_json::{Value, json};
use trioxide::Result;
use trioxide::device::{Copying, Device, Direction};
use trioxide::weld::{self, DeviceMesh, Guards, Options};
use trioxide_verify::selftest::weld as scans;

use super::{Row, Runs, waited};
use trioxide_arguments::{is_standard_output, print, write_json};

/// Bytes copied at a time.
const SIZES: [usize; 6] = [1 << 20, 4 << 20, 16 << 20, 64 << 20, 256 << 20, 1 << 30];
/// Bytes that the paper copies to the device and back in each round (section 6.6).
const INJECTED: usize = 64 << 20;
/// Vertices of the paper's meshes with faces: Bunny, Manuscript, Statue, Lucy.
const SCANS: [usize; 4] = [36_000, 2_000_000, 5_000_000, 14_000_000];
/// Fractions of the vertices that the paper removes (section 6.9.1).
const RATIOS: [f64; 2] = [0.001, 0.5];
/// Part of the copies' time that is left in the paper's limit (section 6.9.1).
const REMAINING: f64 = 0.02;

/// Times of one way to copy one size.
struct Copies {
    way: Direction,
    copying: Copying,
    bytes: usize,
    time: Row,
}

impl Copies {
    /// GB/s.
    fn rate(&self) -> f64 {
        self.bytes as f64 / self.time.median / 1e6
    }
}

/// A weld of a mesh from host arrays to host arrays.
struct Share {
    vertices: usize,
    faces: usize,
    ratio: f64,
    epsilon: f64,
    rounds: usize,
    /// Copies, work, copies, one after the other, as waited for.
    one_after_the_other: f64,
    /// The copies' part of it.
    copies: f64,
    /// Copies beside work, as waited for.
    beside: f64,
}

impl Share {
    /// The time with a fiftieth of the copies.
    fn limit(&self) -> f64 {
        self.one_after_the_other - (1.0 - REMAINING) * self.copies
    }
}

/// Times copies, and welds of scans of at most `largest` vertices.
pub fn run(on: &Device, largest: usize, seed: u64, runs: Runs, json: Option<&Path>) -> Result<()> {
    let table = copies(on, runs.most)?;
    let mut shares = Vec::new();
    for n in SCANS.into_iter().filter(|&n| n <= largest) {
        let (points, faces) = scans::scan(n, seed);
        for ratio in RATIOS {
            shares.push(share(on, &points, &faces, ratio, runs.min(10))?);
        }
    }
    // The copies of a round of the paper's experiment, by the fastest way there is.
    let fastest = |way| {
        let times = table
            .iter()
            .filter(|copies| copies.way == way && copies.bytes == INJECTED);
        let times = times.map(|copies| copies.time.median);
        times.fold(f64::INFINITY, f64::min)
    };
    let injected = fastest(Direction::ToDevice) + fastest(Direction::ToHost);
    if let Some(path) = json {
        write_json(path, &to_json(on, &table, &shares, injected, runs.most))?;
        if is_standard_output(path) {
            return Ok(());
        }
    }
    print(&to_text(on, &table, &shares, injected, runs.most))
}

fn copies(on: &Device, runs: u32) -> Result<Vec<Copies>> {
    let mut table = Vec::new();
    for bytes in SIZES {
        for way in [Direction::ToDevice, Direction::ToHost] {
            for copying in [
                Copying::Pageable,
                Copying::Staged,
                Copying::StagedToNew,
                Copying::Pinned,
            ] {
                if let Some(times) = on.time_copies(way, copying, bytes, runs)? {
                    table.push(Copies {
                        way,
                        copying,
                        bytes,
                        time: Row::new("copies", direction_name(way), times),
                    });
                }
            }
        }
    }
    Ok(table)
}

fn share(
    on: &Device,
    points: &[DVec3],
    faces: &[[u32; 3]],
    ratio: f64,
    runs: Runs,
) -> Result<Share> {
    let epsilon = {
        let mesh = DeviceMesh::upload_arrays(on, points, &[])?;
        weld::epsilon_for_ratio(on, &mesh, Guards::default(), ratio)?.epsilon
    };
    let options = Options::new(epsilon);
    let mut rounds = 0;
    let mut copies = Vec::new();
    let one_after_the_other = waited("one after the other", runs, || {
        on.take_stages()?;
        let mesh = on.stage("copy to the device", || {
            Ok(DeviceMesh::upload_arrays(on, points, faces)?)
        })?;
        let welded = weld::weld(on, &mesh, options)?;
        rounds = welded.left().len();
        drop(welded.download(on)?);
        let stages = on.take_stages()?;
        let is_copy = |name: &str| name.starts_with("copy to the ");
        let times = stages.iter().filter(|stage| is_copy(stage.name));
        copies.push(times.map(|stage| stage.milliseconds).sum());
        Ok(())
    })?;
    let beside = waited("copies beside work", runs, || {
        Ok(weld::weld_from_host(on, points, faces, options).map(drop)?)
    })?;
    on.take_stages()?;
    // As in the paper, the first runs are not counted.
    copies.drain(..copies.len() - one_after_the_other.runs);
    Ok(Share {
        vertices: points.len(),
        faces: faces.len(),
        ratio,
        epsilon,
        rounds,
        one_after_the_other: one_after_the_other.median,
        copies: Row::new("copies", "all", copies).median,
        beside: beside.median,
    })
}

fn direction_name(way: Direction) -> &'static str {
    match way {
        Direction::ToDevice => "to the device",
        Direction::ToHost => "to the host",
    }
}

fn copying_name(copying: Copying) -> &'static str {
    match copying {
        Copying::Pageable => "pageable, by the driver",
        Copying::Staged => "pageable, staged by us",
        Copying::StagedToNew => "new memory, staged by us",
        Copying::Pinned => "pinned",
    }
}

fn to_json(on: &Device, table: &[Copies], shares: &[Share], injected: f64, runs: u32) -> Value {
    let copies: Vec<_> = table
        .iter()
        .map(|copies| {
            json!({
                "way": direction_name(copies.way),
                "memory": copying_name(copies.copying),
                "bytes": copies.bytes,
                "milliseconds": copies.time.median,
                "minimum": copies.time.minimum,
                "maximum": copies.time.maximum,
                "gigabytes_per_second": copies.rate(),
            })
        })
        .collect();
    let shares: Vec<_> = shares
        .iter()
        .map(|share| {
            json!({
                "vertices": share.vertices,
                "faces": share.faces,
                "ratio": share.ratio,
                "epsilon": share.epsilon,
                "rounds": share.rounds,
                "milliseconds": share.one_after_the_other,
                "copies_milliseconds": share.copies,
                "copies_share": share.copies / share.one_after_the_other,
                "limit_milliseconds": share.limit(),
                "beside_milliseconds": share.beside,
                "injected_milliseconds": injected * share.rounds as f64,
            })
        })
        .collect();
    json!({
        "command": "bench",
        "family": "transfers",
        "device": on.name(),
        "runs": runs,
        "copies": copies,
        "injected_round_milliseconds": injected,
        "weld": shares,
    })
}

fn to_text(on: &Device, table: &[Copies], shares: &[Share], injected: f64, runs: u32) -> String {
    let mut text = format!(
        "{}: copies, median of {runs} runs, milliseconds (least, most) and GB/s\n",
        on.name()
    );
    for copies in table {
        text += &format!(
            "{:>5} MiB  {:<14} {:<25} {:>10.3} {:>10.3} {:>10.3} {:>8.2}\n",
            copies.bytes >> 20,
            direction_name(copies.way),
            copying_name(copies.copying),
            copies.time.median,
            copies.time.minimum,
            copies.time.maximum,
            copies.rate()
        );
    }
    if shares.is_empty() {
        return text;
    }
    text += &format!(
        "weld of scans from host arrays to host arrays, milliseconds; at 2 %: with a fiftieth of the copies' time;\n\
         64 MiB: {injected:.3} to the device and back in each round, added up\n\
         {:>10} {:>8} {:>10} {:>10} {:>7} {:>10} {:>12} {:>7} {:>10}\n",
        "vertices",
        "removed",
        "in order",
        "copies",
        "share",
        "at 2 %",
        "beside work",
        "rounds",
        "64 MiB"
    );
    for share in shares {
        text += &format!(
            "{:>10} {:>7.1}% {:>10.2} {:>10.2} {:>6.1}% {:>10.2} {:>12.2} {:>7} {:>10.2}\n",
            share.vertices,
            100.0 * share.ratio,
            share.one_after_the_other,
            share.copies,
            100.0 * share.copies / share.one_after_the_other,
            share.limit(),
            share.beside,
            share.rounds,
            injected * share.rounds as f64
        );
    }
    text
}
