//! The time of the whole process, which its user waits for, by parts.
//!
//! [`begin`] is called first. Then each part ends with a call that names it: [`part`] for work on the host, [`stages`]
//! for a pipeline whose stages a device has timed. So the parts add up to the time since the process began. The account
//! cannot time the end of the process after the report; `trioxide bench run` times it from outside.
//!
//! On one of several ranks the parts are the phases of its work ([`phases`]), with the time spent waiting for other
//! ranks.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use trioxide::Result;
use trioxide::device::{Costs, Device, Stage};

static ACCOUNT: Mutex<Option<Account>> = Mutex::new(None);

struct Account {
    /// When the last part ended.
    last: Instant,
    parts: Vec<TimedPart>,
    costs: Costs,
    choice: Option<String>,
    is_of_rank: bool,
}

/// A part of the run's time.
#[derive(Clone)]
pub struct TimedPart {
    /// Its name.
    pub name: &'static str,
    /// Its time.
    pub milliseconds: f64,
    /// Time of it that a rank spent on messages and on waiting for other ranks.
    pub waited: f64,
}

/// Starts the account. The system's time to load the program, before `main`, is the processor's time until now.
pub fn begin() {
    let mut account = Account {
        last: Instant::now(),
        parts: Vec::new(),
        costs: Costs::default(),
        choice: None,
        is_of_rank: false,
    };
    account.add("start", before_main().as_secs_f64() * 1e3);
    *lock() = Some(account);
}

#[cfg(unix)]
fn before_main() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the system writes one time.
    match unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) } {
        0 => Duration::new(time.tv_sec as u64, time.tv_nsec as u32),
        _ => Duration::ZERO,
    }
}

#[cfg(not(unix))]
fn before_main() -> Duration {
    Duration::ZERO
}

fn lock() -> MutexGuard<'static, Option<Account>> {
    ACCOUNT.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Account {
    fn add(&mut self, name: &'static str, milliseconds: f64) {
        self.add_part(TimedPart {
            name,
            milliseconds,
            waited: 0.0,
        });
    }

    fn add_part(&mut self, added: TimedPart) {
        match self.parts.iter_mut().find(|part| part.name == added.name) {
            Some(part) => {
                part.milliseconds += added.milliseconds;
                part.waited += added.waited;
            }
            None => self.parts.push(added),
        }
    }

    /// Milliseconds since the last part.
    fn lap(&mut self) -> f64 {
        let now = Instant::now();
        let time = now - self.last;
        self.last = now;
        time.as_secs_f64() * 1e3
    }
}

/// Counts the time since the last part for `name`. Parts of one name are added up.
pub fn part(name: &'static str) {
    if let Some(account) = &mut *lock() {
        let time = account.lap();
        account.add(name, time);
    }
}

/// Counts the time since the start for these phases of one of several ranks, in place of other parts.
pub fn phases(phases: impl IntoIterator<Item = TimedPart>) {
    if let Some(account) = &mut *lock() {
        account.lap();
        account.is_of_rank = true;
        account.parts.truncate(1);
        phases.into_iter().for_each(|phase| account.add_part(phase));
    }
}

/// Whether the parts are phases of one of several ranks.
pub fn is_of_rank() -> bool {
    lock().as_ref().is_some_and(|account| account.is_of_rank)
}

/// Counts the time since the last part for these stages of a device, and for the gaps between them.
pub fn stages(stages: &[Stage]) {
    if let Some(account) = &mut *lock() {
        let time = account.lap();
        let timed: f64 = stages.iter().map(|stage| stage.milliseconds).sum();
        for stage in stages {
            account.add(stage.name, stage.milliseconds);
        }
        // Below 0 where a GPU still works while the host goes on: the sum stays the elapsed time.
        account.add("between the stages", time - timed);
    }
}

/// The stages of a device since the last call, noted as parts of the run. See [`Device::take_stages`].
///
/// # Errors
/// Their work failed.
pub fn take_stages(on: &Device) -> Result<Vec<Stage>> {
    let taken = on.take_stages()?;
    stages(&taken);
    device(on.costs());
    Ok(taken)
}

/// Notes the device's costs within other parts: its start overlaps reading, and kernels are compiled or loaded within
/// stages.
pub fn device(costs: Costs) {
    if let Some(account) = &mut *lock() {
        account.costs = costs;
    }
}

/// Notes the machine that `--device auto` chose, and the reason.
pub fn choice(reason: String) {
    if let Some(account) = &mut *lock() {
        account.choice = Some(reason);
    }
}

/// The parts so far. The time after the last one counts as "end".
fn parts(account: &mut Account) -> Vec<TimedPart> {
    let time = account.lap();
    account.add("end", time);
    account.parts.clone()
}

/// The account as JSON: `parts` and their sum, the device's costs within them, and the choice of `--device auto`.
pub fn to_json() -> Value {
    let mut account = lock();
    let Some(account) = &mut *account else {
        return Value::Null;
    };
    let parts = parts(account);
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    let costs = account.costs;
    let part_to_json = |part: &TimedPart| {
        let mut object = json!({"name": part.name, "milliseconds": part.milliseconds});
        if account.is_of_rank {
            object["waited_milliseconds"] = json!(part.waited);
        }
        object
    };
    json!({
        "parts": parts.iter().map(part_to_json).collect::<Vec<_>>(),
        "milliseconds": parts.iter().map(|part| part.milliseconds).sum::<f64>(),
        "within": {
            "driver": milliseconds(costs.driver),
            "context": milliseconds(costs.context),
            "kernels": milliseconds(costs.kernels),
            "kernels_loaded": costs.loaded,
            "kernels_compiled": costs.compiled,
        },
        "choice": account.choice,
    })
}

/// The account as rows of text, with names `width` wide. The stages of a device are one row: its report lists them. The
/// row of a rank's phase gives the time of messages and waiting if it is more than a tenth.
pub fn to_text(width: usize, of_device: &[Stage]) -> String {
    let mut account = lock();
    let Some(account) = &mut *account else {
        return String::new();
    };
    let mut text = String::new();
    let mut row = |name: &str, value: String| text.push_str(&format!("{name:<width$} {value}\n"));
    if let Some(choice) = &account.choice {
        row("chosen by --device auto", choice.clone());
    }
    let parts = parts(account);
    let whole: f64 = parts.iter().map(|part| part.milliseconds).sum();
    let is_stage = |part: &TimedPart| of_device.iter().any(|stage| stage.name == part.name);
    let in_stages: f64 = parts
        .iter()
        .filter(|part| is_stage(part))
        .map(|part| part.milliseconds)
        .sum();
    let share = |time: f64| format!("{time:.3} ms, {:.1} %", 100.0 * time / whole);
    row("whole run", format!("{whole:.3} ms"));
    let mut listed = false;
    for part in &parts {
        match is_stage(part) {
            false => row(
                &format!("  {}", part.name),
                share(part.milliseconds) + &waiting(part),
            ),
            true if !listed => {
                listed = true;
                row("  stages", share(in_stages));
            }
            true => {}
        }
    }
    let costs = account.costs;
    if costs != Costs::default() {
        let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
        row(
            "within them",
            format!(
                "driver {:.1} ms and context {:.1} ms, beside reading; kernels made ready {:.1} ms ({} loaded, {} compiled)",
                milliseconds(costs.driver),
                milliseconds(costs.context),
                milliseconds(costs.kernels),
                costs.loaded,
                costs.compiled
            ),
        );
    }
    text
}

fn waiting(part: &TimedPart) -> String {
    match part.waited > 0.1 * part.milliseconds {
        true => format!(", {:.3} ms of it messages and waiting", part.waited),
        false => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_are_the_whole_time() {
        let before = Instant::now();
        begin();
        let after = Instant::now();
        std::thread::sleep(Duration::from_millis(20));
        part("read");
        std::thread::sleep(Duration::from_millis(30));
        let timed = Stage {
            name: "label",
            milliseconds: 12.5,
        };
        stages(std::slice::from_ref(&timed));
        std::thread::sleep(Duration::from_millis(10));
        part("read");
        let least = after.elapsed().as_secs_f64() * 1e3;
        let object = to_json();
        let most = before.elapsed().as_secs_f64() * 1e3;
        let parts = object["parts"].as_array().unwrap();
        let of = |name: &str| {
            let part = parts.iter().find(|part| part["name"] == name).unwrap();
            part["milliseconds"].as_f64().unwrap()
        };
        assert_eq!(of("label"), 12.5);
        assert!(of("read") >= 30.0 && of("between the stages") >= 17.0);
        let whole = object["milliseconds"].as_f64().unwrap() - of("start");
        assert!(
            least - 1e-6 <= whole && whole <= most + 1e-6,
            "{least} to {most}: {whole}"
        );
        let text = to_text(20, &[timed]);
        assert!(
            text.contains("  stages") && !text.contains("label"),
            "{text}"
        );
    }
}
