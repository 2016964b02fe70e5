//! A terminal line with a command's progress.
//!
//! A thread of its own asks [`trioxide::progress`] ten times a second. If standard error is a terminal, it draws the
//! line there from half a second on, so that short runs show nothing. The line is erased when the command ends.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{HumanCount, ProgressBar, ProgressStyle};
use trioxide::progress::{Now, now};
use trioxide::terminal::visible_line;

/// Time before the line appears.
const DELAY: Duration = Duration::from_millis(500);
const TICK: Duration = Duration::from_millis(100);

/// The line, while there is one.
static LINE: Mutex<Option<ProgressBar>> = Mutex::new(None);

fn line() -> MutexGuard<'static, Option<ProgressBar>> {
    LINE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Shows the progress of a command until it is dropped.
pub struct Shown {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Shows the progress of `command` on a terminal, unless `quiet`.
pub fn show(command: &str, quiet: bool) -> Shown {
    let is_over = Arc::new(AtomicBool::new(quiet || !std::io::stderr().is_terminal()));
    let mut shown = Shown {
        is_over: is_over.clone(),
        thread: None,
    };
    if !is_over.load(Ordering::Relaxed) {
        let command = command.to_owned();
        // If no thread starts, the command goes on without the line.
        let thread = std::thread::Builder::new().spawn(move || draw(&command, &is_over));
        shown.thread = thread.ok();
    }
    shown
}

fn draw(command: &str, is_over: &AtomicBool) {
    let start = Instant::now();
    loop {
        let wait = DELAY.checked_sub(start.elapsed()).unwrap_or(TICK);
        std::thread::park_timeout(wait);
        if is_over.load(Ordering::Acquire) {
            break;
        }
        if start.elapsed() < DELAY {
            continue;
        }
        let mut line = line();
        let bar = line.get_or_insert_with(|| {
            let style = ProgressStyle::with_template("{spinner} {wide_msg} {elapsed}");
            ProgressBar::new_spinner()
                .with_style(style.expect("a template without mistakes"))
                .with_elapsed(start.elapsed())
        });
        bar.set_message(sentence(command, &now()));
        bar.tick();
    }
    if let Some(bar) = line().take() {
        bar.finish_and_clear();
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // It panics only if the terminal is gone, and then there is no line.
            _ = thread.join();
        }
    }
}

/// Writes to the terminal while the line is hidden.
pub(crate) fn beside<R>(write: impl FnOnce() -> R) -> R {
    match &*line() {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

/// `smooth: sweeps, sweep 40 of 100 (40 %)`.
fn sentence(command: &str, now: &Now) -> String {
    let mut text = command.to_owned();
    if !now.stage.is_empty() {
        text += &format!(": {}", visible_line(&now.stage));
    }
    let Now {
        unit, done, total, ..
    } = *now;
    let percent = 100 * done.min(total) / total.max(1);
    match (unit, total) {
        ("", _) => {}
        ("%", _) => text += &format!(", {percent} %"),
        (_, 0) => text += &format!(", {unit} {}", HumanCount(done)),
        _ => {
            let [done, total] = [done, total].map(HumanCount);
            text += &format!(", {unit} {done} of {total} ({percent} %)");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_have_a_stage_and_a_count_or_percent() {
        for (stage, unit, done, total, expected) in [
            ("", "", 0, 0, "weld"),
            ("read a.ply", "", 3, 9, "weld: read a.ply"),
            ("read a.ply", "%", 3, 9, "weld: read a.ply, 33 %"),
            ("read \r\u{1b}[K", "", 0, 0, "weld: read \\u000d\\u001b[K"),
            ("decide", "clustering", 7, 0, "weld: decide, clustering 7"),
            (
                "sweeps",
                "sweep",
                4000,
                10_000,
                "weld: sweeps, sweep 4,000 of 10,000 (40 %)",
            ),
            // Threads that do not wait for each other may count past the total.
            ("", "row", 5, 4, "weld, row 5 of 4 (100 %)"),
        ] {
            let now = Now {
                stage: stage.into(),
                unit,
                done,
                total,
            };
            assert_eq!(sentence("weld", &now), expected);
        }
    }
}
