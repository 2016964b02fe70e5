//! Signals that become errors: one sentence and status 1 instead of a process that the system ends.
//!
//! The handlers do what POSIX lets a handler do: they read atomics, `write` and `_exit`. Outputs have no name before
//! they are whole (`formats::atomic_file`), so there is nothing to take back; SIGINT, SIGTERM and SIGHUP need no
//! handler for the same reason. Without one they stay ignored where the process that has started this one ignores them:
//! a shell ignores SIGINT for the background jobs of a script, nohup ignores SIGHUP. SIGTERM ends such a command.

use crate::memory;

const NO_MEMORY: &[u8] = b"trioxide: there is no memory for this mesh: use a smaller one, or raise the limit of this process (ulimit -v)\n";
const SHORTER: &[u8] =
    b"trioxide: an input file became shorter while it was read: run the command again when the file is complete\n";

fn end(message: &'static [u8]) -> ! {
    // SAFETY: both functions may be called in a signal's handler, and the message is there as long as the process.
    unsafe {
        libc::write(2, message.as_ptr().cast(), message.len());
        libc::_exit(1)
    }
}

/// `abort` raises it: Rust where a list cannot grow, and others.
extern "C" fn on_abort(signal: libc::c_int) {
    if memory::has_failed() {
        end(NO_MEMORY);
    }
    // Any other cause, of this process or another one: the signal ends the process once this function is left.
    // SAFETY: both functions may be called in a signal's handler.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}

/// A page of a mapped file is gone.
extern "C" fn on_bus(signal: libc::c_int, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    // SAFETY: the system passes a description of the signal.
    if unsafe { (*info).si_code } == libc::BUS_ADRERR {
        end(SHORTER);
    }
    // Any other cause: the access is tried again, and ends the process.
    // SAFETY: it may be called in a signal's handler.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
}

/// Installs the handlers.
pub fn handle() {
    let on_abort: extern "C" fn(libc::c_int) = on_abort;
    let on_bus: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) = on_bus;
    // SAFETY: the handlers call only what may be called in one; an action without flags and mask is all zeros. To
    // ignore SIGXFSZ makes an error of writing beyond `ulimit -f`.
    unsafe {
        libc::signal(libc::SIGABRT, on_abort as *const () as libc::sighandler_t);
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_bus as *const () as libc::sighandler_t;
        // The standard library gives each thread a stack for handlers.
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigaction(libc::SIGBUS, &action, std::ptr::null_mut());
    }
}
