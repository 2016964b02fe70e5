//! Programs with a time limit, each in a session of its own: when the limit or a signal ends one, every process that it
//! has started ends with it.

mod session;

use std::fmt::{self, Display};
use std::io::{self, BufRead, BufReader};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::Error;
use crate::process::command_line;

use session::Session;

/// Time between two looks at a program.
const STEP: Duration = Duration::from_millis(20);

/// The time that a program may take.
#[derive(Clone, Copy)]
pub(crate) struct Limit {
    /// From the program's start.
    pub(crate) time: Duration,
    /// Each line of output begins the time again: for programs that show their progress.
    pub(crate) by_line: bool,
    /// The time after the program's end in which the processes that it has started close its output.
    pub(crate) after: Duration,
    /// The option that sets the time, if the command has one.
    pub(crate) option: Option<&'static str>,
}

impl Limit {
    /// Minutes of one program. On two quiet cores the longest program of a test run takes two minutes, and a machine
    /// four times as slow, with another test run on it, needs fifteen.
    pub(crate) const MINUTES: u32 = 20;

    /// Returns the limit that an option sets.
    pub(crate) fn minutes(minutes: u32, option: &'static str) -> Self {
        Self {
            time: Duration::from_secs(60 * u64::from(minutes)),
            option: Some(option),
            ..Self::default()
        }
    }

    /// Returns the limit with the time counted from the last line of output.
    pub(crate) fn by_line(self) -> Self {
        Self {
            by_line: true,
            ..self
        }
    }
}

impl Default for Limit {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(60 * u64::from(Self::MINUTES)),
            by_line: false,
            after: Duration::from_secs(10),
            option: None,
        }
    }
}

/// The streams of a program that are read; the others are those of this program.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Streams {
    None,
    Output,
    /// In one pipe, which keeps their lines in order.
    OutputAndErrors,
}

/// The end of a program that was started.
pub(crate) enum End {
    Exited(ExitStatus),
    /// The program took this long, and was ended.
    Overdue(Limit),
    /// The program ended, and processes that it had started held its output: these were ended.
    Outlived,
}

impl End {
    /// Whether the program has succeeded, and all its processes have ended.
    pub(crate) fn is_success(&self) -> bool {
        matches!(self, Self::Exited(status) if status.success())
    }
}

impl Display for End {
    /// Writes the words after the program's name.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(status) => write!(out, "failed ({status})"),
            Self::Overdue(limit) => {
                let seconds = limit.time.as_secs_f64();
                match seconds < 60. {
                    true => write!(out, "was ended after {seconds} s")?,
                    false => write!(out, "was ended after {} minutes", seconds / 60.)?,
                }
                if limit.by_line {
                    out.write_str(" without a line of output")?;
                }
                match limit.option {
                    Some(option) => write!(out, "; {option} sets a longer time"),
                    None => Ok(()),
                }
            }
            Self::Outlived => {
                out.write_str("ended, but processes that it had started held its output open")
            }
        }
    }
}

/// Runs a program to its end, with this program's streams.
///
/// # Errors
/// The program cannot be started, does not succeed or takes too long.
pub(crate) fn run(command: &mut Command, limit: Limit) -> Result<(), Error> {
    succeed(command, limit, Streams::None, |_| {})
}

/// Runs a program to its end, and calls `take` with each line of the streams, its end included.
///
/// # Errors
/// Errors of [`run`].
pub(crate) fn succeed(
    command: &mut Command,
    limit: Limit,
    streams: Streams,
    take: impl FnMut(&[u8]),
) -> Result<(), Error> {
    match run_to_end(command, limit, streams, take) {
        Ok(end) if end.is_success() => Ok(()),
        Ok(end) => Err(format!("{} {end}", command_line(command)).into()),
        Err(error) => Err(format!("{} cannot be started: {error}", command_line(command)).into()),
    }
}

/// As [`succeed`], and returns how the program ended.
///
/// # Errors
/// The program cannot be started.
pub(crate) fn run_to_end(
    command: &mut Command,
    limit: Limit,
    streams: Streams,
    mut take: impl FnMut(&[u8]),
) -> io::Result<End> {
    let (mut program, lines) = start(command, streams)?;
    let mut deadline = Instant::now() + limit.time;
    let mut status = None;
    let mut ended = None;
    let mut is_closed = false;
    loop {
        // A program that has ended may have closed its output just before.
        let heard = match is_closed {
            false => lines.recv_timeout(STEP),
            true => Err(RecvTimeoutError::Disconnected),
        };
        if let Ok(line) = &heard {
            take(line);
            if limit.by_line && status.is_none() && ended.is_none() {
                deadline = Instant::now() + limit.time;
            }
        }
        is_closed = matches!(heard, Err(RecvTimeoutError::Disconnected));
        if status.is_none() {
            status = program.exit_status()?;
            if status.is_some() {
                deadline = deadline.min(Instant::now() + limit.after);
            }
        }
        match status {
            Some(status) if is_closed => return Ok(ended.unwrap_or(End::Exited(status))),
            None if is_closed => thread::sleep(STEP / 4),
            _ => {}
        }
        if Instant::now() < deadline {
            continue;
        }
        match ended {
            None => {
                program.end();
                ended = Some(match status {
                    None => End::Overdue(limit),
                    Some(_) => End::Outlived,
                });
                deadline = Instant::now() + limit.after;
            }
            // A process that has left the session still holds the output: its reader is left alone with it.
            Some(ended) => return Ok(ended),
        }
    }
}

/// Starts a program, and a thread that reads the streams.
fn start(command: &mut Command, streams: Streams) -> io::Result<(Session, Receiver<Vec<u8>>)> {
    // There is nobody to answer a question.
    command.stdin(Stdio::null());
    let (sender, lines) = channel();
    if streams == Streams::None {
        return Ok((Session::start(command)?, lines));
    }
    let (reader, writer) = io::pipe()?;
    if streams == Streams::OutputAndErrors {
        command.stderr(writer.try_clone()?);
    }
    command.stdout(writer);
    let program = Session::start(command);
    // The command holds the writing end of the pipe; the reader sees no end until it is closed.
    command.stdout(Stdio::inherit()).stderr(Stdio::inherit());
    let program = program?;
    thread::spawn(move || {
        let mut reader = BufReader::new(reader);
        loop {
            let mut line = Vec::new();
            match reader.read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => break,
                // The receiver is gone if this thread was left alone.
                Ok(_) if sender.send(line).is_err() => break,
                Ok(_) => {}
            }
        }
    });
    Ok((program, lines))
}

#[cfg(all(test, unix))]
mod tests;
