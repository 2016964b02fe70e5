//! A program with all processes that it starts: on Unix a session, whose members are ended together, also when a signal
//! ends this program.

use std::collections::BTreeSet;
use std::io;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The running programs.
static RUNNING: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

fn running() -> MutexGuard<'static, BTreeSet<u32>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A program that was started.
pub(super) struct Session(Child);

impl Session {
    /// Starts a program.
    pub(super) fn start(command: &mut Command) -> io::Result<Self> {
        #[cfg(unix)]
        {
            signals::watch()?;
            begin_session(command);
        }
        // The lock is held until the program is in the list: a signal ends it too.
        let mut running = running();
        let program = command.spawn()?;
        running.insert(program.id());
        Ok(Self(program))
    }

    /// Returns the program's exit status, if it has ended.
    pub(super) fn exit_status(&mut self) -> io::Result<Option<ExitStatus>> {
        self.0.try_wait()
    }

    /// Kills the program, and the processes that it has started.
    pub(super) fn end(&self) {
        end(self.0.id());
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        running().remove(&self.0.id());
    }
}

/// Lets the started process begin a session, whose number is that of the process. A process group would not do: mpirun
/// gives each of its processes a group.
#[cfg(unix)]
fn begin_session(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    let begin = || {
        // SAFETY: it has no requirements, and may be called between fork and exec.
        match unsafe { libc::setsid() } {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    };
    // SAFETY: the closure calls one function that may be called between fork and exec, and allocates nothing.
    unsafe { command.pre_exec(begin) };
}

#[cfg(unix)]
fn end(session: u32) {
    // Process ids fit the type of the system.
    kill(-(session as libc::pid_t));
    // A listed process may have started another one since.
    #[cfg(target_os = "linux")]
    for _ in 0..100 {
        let members = members(session);
        if members.is_empty() {
            break;
        }
        members.into_iter().for_each(kill);
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

#[cfg(unix)]
fn kill(process: libc::pid_t) {
    // SAFETY: it has no requirements. A process that has just ended is an error without consequences.
    unsafe { libc::kill(process, libc::SIGKILL) };
}

/// Returns the session's processes that have not ended.
#[cfg(target_os = "linux")]
fn members(session: u32) -> Vec<libc::pid_t> {
    let session = session.to_string();
    let is_member = |process: &libc::pid_t| {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        // After the name in brackets: state, parent, group, session.
        let fields = stat.rsplit(')').next().unwrap_or_default();
        let fields: Vec<&str> = fields.split_whitespace().take(4).collect();
        matches!(fields[..], [state, _, _, of] if of == session && !["Z", "X"].contains(&state))
    };
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let processes = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    processes.filter(is_member).collect()
}

#[cfg(not(unix))]
fn end(process: u32) {
    // An error means that the process has just ended.
    let _ = Command::new("taskkill")
        .args(["/T", "/F", "/PID", &process.to_string()])
        .output();
}

/// The signals that end this program. Their senders, a terminal above all, do not know of the sessions.
#[cfg(unix)]
mod signals {
    use std::io::{self, PipeReader, Read, Write};
    use std::os::fd::IntoRawFd;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicI32, Ordering};
    use std::{mem, ptr, thread};

    use super::{end, running};

    /// The end of a pipe for the numbers of signals.
    static NOTED: AtomicI32 = AtomicI32::new(-1);

    /// Writes the signal's number to the pipe, which a handler may do.
    extern "C" fn note(signal: libc::c_int) {
        let number = signal as u8;
        // SAFETY: the byte lives until the call returns.
        unsafe { libc::write(NOTED.load(Ordering::Relaxed), (&raw const number).cast(), 1) };
    }

    /// Starts a thread that waits for signals, at the first call. A signal that is ignored from the start, by nohup or
    /// in a background job of a script, stays ignored.
    pub(super) fn watch() -> io::Result<()> {
        static WATCHED: OnceLock<Result<(), io::ErrorKind>> = OnceLock::new();
        WATCHED
            .get_or_init(|| begin().map_err(|error| error.kind()))
            .map_err(io::Error::from)
    }

    fn begin() -> io::Result<()> {
        let (reader, writer) = io::pipe()?;
        NOTED.store(writer.into_raw_fd(), Ordering::Relaxed);
        thread::Builder::new().spawn(move || wait(reader))?;
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            let note: extern "C" fn(libc::c_int) = note;
            // SAFETY: the handler calls only what may be called in one; an action without a mask is all zeros.
            unsafe {
                let mut action: libc::sigaction = mem::zeroed();
                libc::sigaction(signal, ptr::null(), &mut action);
                if action.sa_sigaction == libc::SIG_IGN {
                    continue;
                }
                action = mem::zeroed();
                action.sa_sigaction = note as *const () as libc::sighandler_t;
                action.sa_flags = libc::SA_RESTART;
                libc::sigaction(signal, &action, ptr::null_mut());
            }
        }
        Ok(())
    }

    /// Waits for a signal, ends all programs, then this one by the same signal.
    fn wait(mut reader: PipeReader) {
        let mut number = [0];
        if reader.read_exact(&mut number).is_err() {
            return;
        }
        let signal = libc::c_int::from(number[0]);
        // The lock is never released: no program starts any more.
        let running = running();
        // A terminal that is gone has sent the signal.
        let _ = writeln!(
            io::stderr(),
            "\ninterrupted; programs ended: {}",
            running.len()
        );
        running.iter().copied().for_each(end);
        // SAFETY: there are no requirements.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
    }
}
