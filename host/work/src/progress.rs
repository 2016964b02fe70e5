//! The progress of a long computation, for programs that show it.
//!
//! Crates of trioxide note here the stage that begins, and count pieces of work. The total number may be unknown. A
//! program calls [`now`] from a thread of its own, as often as it likes. No result depends on the record.
//!
//! The process has one record. If several threads compute at a time, it holds the latest note.
//!
//! A program that waits for a computation can end it by an [`Interrupt`]. Loops test it by [`check`]. Code that returns
//! no errors, as the loops of [`parallel`](crate::parallel) and callbacks of other crates, leaves by [`unwind`]
//! instead, up to [`Interrupt::watch`].

use std::borrow::Cow;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use crate::{Error, Result};

/// Time between two tests of an interrupt by a waiting thread.
const LOOK: Duration = Duration::from_millis(50);

/// The state of the computation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Now {
    /// Name of the stage.
    pub stage: Cow<'static, str>,
    /// The counted pieces of work: "sweep", "round".
    pub unit: &'static str,
    /// Finished pieces.
    pub done: u64,
    /// Number of all pieces; 0 if it is unknown.
    pub total: u64,
}

struct Noted {
    stage: Cow<'static, str>,
    unit: &'static str,
    total: u64,
}

static NOTED: Mutex<Noted> = Mutex::new(Noted {
    stage: Cow::Borrowed(""),
    unit: "",
    total: 0,
});
/// A field of its own, so that threads that work together count without a lock.
static DONE: AtomicU64 = AtomicU64::new(0);

fn noted() -> MutexGuard<'static, Noted> {
    NOTED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Notes that a stage begins. Counts go on: a round has several stages.
pub fn stage(name: impl Into<Cow<'static, str>>) {
    noted().stage = name.into();
}

/// Notes that `total` pieces of work begin; 0 if their number is unknown. They end when the result is dropped.
pub fn count(unit: &'static str, total: u64) -> Counted {
    let mut noted = noted();
    let before = (noted.unit, noted.total, DONE.swap(0, Relaxed));
    (noted.unit, noted.total) = (unit, total);
    Counted { before }
}

/// The current state of the computation.
pub fn now() -> Now {
    let noted = noted();
    Now {
        stage: noted.stage.clone(),
        unit: noted.unit,
        done: DONE.load(Relaxed),
        total: noted.total,
    }
}

/// Counted pieces of work. When it is dropped, the enclosing pieces are counted again.
#[derive(Debug)]
pub struct Counted {
    /// Unit, total and done of the enclosing pieces.
    before: (&'static str, u64, u64),
}

impl Counted {
    /// Notes that `pieces` more are done.
    pub fn advance(&self, pieces: u64) {
        DONE.fetch_add(pieces, Relaxed);
    }

    /// Notes that `pieces` are done in all.
    pub fn reach(&self, pieces: u64) {
        DONE.store(pieces, Relaxed);
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut noted = noted();
        let (unit, total, done) = self.before;
        (noted.unit, noted.total) = (unit, total);
        DONE.store(done, Relaxed);
    }
}

/// Ends a computation of another thread: at its next stage, at the next piece of a [parallel](crate::parallel) loop, or
/// at the next [`check`].
///
/// ```
/// use trioxide_work::progress::{Interrupt, check, is_interrupted};
///
/// let interrupt = Interrupt::default();
/// assert!(interrupt.watch(check).is_ok());
/// // From any thread:
/// interrupt.interrupt();
/// assert!(interrupt.watch(check).is_err());
/// assert!(!is_interrupted());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

thread_local! {
    /// The computation of this thread.
    static WATCHED: RefCell<Option<Interrupt>> = const { RefCell::new(None) };
}

/// Restores the interrupt of the enclosing computation.
struct Restore(Option<Interrupt>);

impl Drop for Restore {
    fn drop(&mut self) {
        WATCHED.set(self.0.take());
    }
}

/// The payload of [`unwind`].
struct Unwound;

impl Interrupt {
    /// Ends the computation: it returns [`Error::Interrupted`].
    pub fn interrupt(&self) {
        self.0.store(true, Relaxed);
    }

    /// Whether [`Interrupt::interrupt`] was called.
    pub fn is_set(&self) -> bool {
        self.0.load(Relaxed)
    }

    /// Runs a computation on this thread that [`Interrupt::interrupt`] can end.
    ///
    /// # Errors
    /// Those of `work`; [`Error::Interrupted`].
    pub fn watch<R, E: From<Error>>(&self, work: impl FnOnce() -> Result<R, E>) -> Result<R, E> {
        let _restore = Restore(WATCHED.replace(Some(self.clone())));
        caught(work)
    }
}

/// Runs work that [`unwind`] may leave, for callers that must clean up after it.
///
/// # Errors
/// Those of `work`; [`Error::Interrupted`].
pub fn caught<R, E: From<Error>>(work: impl FnOnce() -> Result<R, E>) -> Result<R, E> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| match panic.is::<Unwound>() {
        true => Err(Error::Interrupted.into()),
        false => resume_unwind(panic),
    })
}

/// Tests for an interrupt, in a long loop or between stages.
///
/// # Errors
/// [`Error::Interrupted`] if this thread's computation is interrupted.
pub fn check() -> Result<()> {
    match is_interrupted() {
        true => Err(Error::Interrupted),
        false => Ok(()),
    }
}

/// Whether this thread's computation is interrupted.
pub fn is_interrupted() -> bool {
    WATCHED.with_borrow(|watched| watched.as_ref().is_some_and(Interrupt::is_set))
}

/// The interrupt of this thread's computation, for its worker threads. `None` if nobody can interrupt it, or if this
/// thread is unwinding: its cleanup runs to the end.
pub fn watched() -> Option<Interrupt> {
    match cfg!(panic = "unwind") && !std::thread::panicking() {
        true => WATCHED.with_borrow(Clone::clone),
        false => None,
    }
}

/// Leaves an interrupted computation of this thread up to its [`Interrupt::watch`]: [`check`] for code that returns no
/// errors. It is no panic: nothing is printed, and destructors run.
pub fn unwind() {
    if watched().is_some_and(|interrupt| interrupt.is_set()) {
        resume_unwind(Box::new(Unwound));
    }
}

/// Runs `work`, code of another crate that cannot be interrupted. If this thread's computation can be interrupted,
/// `work` runs on a thread of its own, and an interrupt does not wait for its end.
///
/// # Errors
/// [`Error::Interrupted`]: `work` runs to its end, and its result is dropped.
///
/// # Panics
/// When `work` panics.
pub fn leave_behind<R: Send + 'static>(work: impl FnOnce() -> R + Send + 'static) -> Result<R> {
    let Some(interrupt) = watched() else {
        return Ok(work());
    };
    let (sender, receiver) = sync_channel(1);
    // A dropped receiver wants no result.
    let thread = thread::Builder::new().spawn(move || _ = sender.send(work()));
    let thread = thread.map_err(|error| Error::Argument(format!("no thread starts: {error}")))?;
    loop {
        match receiver.recv_timeout(LOOK) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) if interrupt.is_set() => return Err(Error::Interrupted),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => match thread.join() {
                Ok(()) => unreachable!("a thread that ends well has sent its result"),
                Err(panic) => resume_unwind(panic),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The only test of this process that notes progress.
    #[test]
    fn pieces_are_counted_within_pieces() {
        stage("refine");
        let rounds = count("round", 3);
        rounds.advance(1);
        {
            let rows = count("row", 0);
            rows.advance(40);
            rows.advance(2);
            stage("read");
            let expected = Now {
                stage: "read".into(),
                unit: "row",
                done: 42,
                total: 0,
            };
            assert_eq!(now(), expected);
        }
        assert_eq!((now().unit, now().done, now().total), ("round", 1, 3));
        rounds.reach(3);
        assert_eq!(now().done, 3);
        drop(rounds);
        assert_eq!((now().unit, now().total), ("", 0));
    }

    #[test]
    fn an_interrupt_ends_its_own_computation_only() {
        let (ours, other) = (Interrupt::default(), Interrupt::default());
        ours.interrupt();
        let ended = ours.watch(|| {
            assert!(matches!(check(), Err(Error::Interrupted)));
            other.watch(check).unwrap();
            assert!(is_interrupted());
            std::thread::scope(|scope| {
                scope.spawn(|| assert!(!is_interrupted()));
            });
            Ok::<_, Error>(())
        });
        ended.unwrap();
        assert!(!is_interrupted());
    }

    #[test]
    fn code_without_errors_is_left_and_destructors_run() {
        struct Dropped<'a>(&'a AtomicBool);
        impl Drop for Dropped<'_> {
            fn drop(&mut self) {
                // Cleanup runs to its end.
                unwind();
                self.0.store(true, Relaxed);
            }
        }
        let (interrupt, dropped) = (Interrupt::default(), AtomicBool::new(false));
        let work = || {
            let _dropped = Dropped(&dropped);
            unwind();
            interrupt.interrupt();
            unwind();
            Ok::<_, Error>(())
        };
        let result = interrupt.watch(work);
        assert!(matches!(result, Err(Error::Interrupted)) && dropped.into_inner());
        // Without a watch nothing unwinds.
        unwind();
        let panics = || Interrupt::default().watch(|| -> Result<()> { panic!("as it should") });
        assert!(catch_unwind(panics).is_err());
    }

    #[test]
    fn nobody_waits_for_work_that_cannot_be_ended() {
        assert_eq!(leave_behind(|| 7).unwrap(), 7);
        let interrupt = Interrupt::default();
        assert_eq!(interrupt.watch(|| leave_behind(|| 7)).unwrap(), 7);
        interrupt.interrupt();
        let (_open, wait) = sync_channel::<()>(0);
        let endless = move || wait.recv();
        let left = interrupt.watch(|| leave_behind(endless));
        assert!(matches!(left, Err(Error::Interrupted)));
    }
}
