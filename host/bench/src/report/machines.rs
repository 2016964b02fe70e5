//! Runs and their machines.

use std::collections::BTreeMap;

use serde_json::Value;

use super::html::{escape, number, text};
use super::results::{ResultFile, Results, list};

/// Runs: machines, versions, commands.
pub(super) fn machines(results: &Results) -> String {
    let mut html = "<section id=\"machines\"><h2>Machines and commands</h2>".to_owned();
    // Machines in the order of their names, each with the commands that ran there.
    let mut machines: BTreeMap<String, (&Value, Vec<&Value>)> = BTreeMap::new();
    for run in results.files.iter().flat_map(ResultFile::runs) {
        let machine = &run["machine"];
        // Clocks and bandwidth are measured anew each time.
        let key = ["device", "driver", "cpu", "os"].map(|key| machine[key].to_string());
        let key = key.join("\n") + &run["commit"].to_string();
        machines
            .entry(key)
            .or_insert((machine, Vec::new()))
            .1
            .push(run);
    }
    if machines.is_empty() {
        html += "<p class=\"soft\">Nothing was timed.</p>";
    }
    for (machine, runs) in machines.values() {
        html += &facts(machine, runs);
    }
    html + "</section>\n"
}

fn facts(machine: &Value, runs: &[&Value]) -> String {
    let mut facts: Vec<(&str, String)> = Vec::new();
    let mut fact = |name, value: Option<String>| facts.extend(value.map(|value| (name, value)));
    let owned = |key| text(machine, key).map(str::to_owned);
    fact("Kind", owned("kind"));
    fact("Driver", driver(&machine["driver"]));
    fact("Clocks", clocks(&machine["clocks"]));
    fact(
        "Memory",
        machine["memory_bytes"]
            .as_f64()
            .map(|bytes| format!("{} GB", number(bytes / 1e9))),
    );
    let bandwidths: Vec<f64> = runs
        .iter()
        .filter_map(|run| run["machine"]["copy_bandwidth_gb_s"].as_f64())
        .collect();
    let least = bandwidths.iter().copied().fold(f64::INFINITY, f64::min);
    let most = bandwidths.iter().copied().fold(0.0, f64::max);
    fact(
        "Copy bandwidth",
        (!bandwidths.is_empty()).then(|| {
            let range = if number(least) == number(most) {
                number(most)
            } else {
                format!("{} to {}", number(least), number(most))
            };
            format!("{range} GB/s, bytes read plus written, measured before each run")
        }),
    );
    fact("CPU", owned("cpu"));
    fact(
        "Threads",
        machine["threads"].as_u64().map(|n| n.to_string()),
    );
    fact("System", owned("os"));
    fact("Commit", text(runs[0], "commit").map(str::to_owned));
    fact("Version", text(runs[0], "version").map(str::to_owned));
    let facts: String = facts
        .iter()
        .map(|(name, value)| format!("<dt>{name}</dt><dd>{}</dd>", escape(value)))
        .collect();
    let mut commands: Vec<String> = runs.iter().filter_map(|run| command(run)).collect();
    commands.dedup();
    format!(
        "<h3>{}</h3><dl class=\"facts\">{facts}</dl><details><summary>{} commands</summary><pre>{}</pre></details>",
        escape(text(machine, "device").unwrap_or("Unknown device")),
        commands.len(),
        escape(&commands.join("\n"))
    )
}

/// A run's command, without the options for its result.
fn command(run: &Value) -> Option<String> {
    let mut words = list(run, "command").iter().filter_map(Value::as_str);
    let mut kept = vec!["trioxide"];
    while let Some(word) = words.next() {
        match word {
            "--json" => drop(words.next()),
            "--quiet" => {}
            word => kept.push(word),
        }
    }
    (kept.len() > 1).then(|| kept.join(" "))
}

/// A driver's version: a text, or a number as CUDA counts (13000 is 13.0).
fn driver(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(version) => Some(version.to_string()),
        _ => None,
    }
}

/// Clocks by name, in MHz.
fn clocks(value: &Value) -> Option<String> {
    let clocks: Vec<String> = value
        .as_object()?
        .iter()
        .filter_map(|(name, mhz)| {
            let name = name.trim_end_matches("_mhz").replace('_', " ");
            Some(format!("{name} {} MHz", number(mhz.as_f64()?)))
        })
        .collect();
    (!clocks.is_empty()).then(|| clocks.join(", "))
}
