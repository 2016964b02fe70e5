//! How far a long computation is, for programs that show it.
//!
//! Crates of trioxide note here the stage that they begin, and count pieces of work whose number is known or not. A program asks
//! [`now`] from a thread of its own, as often as it likes. No result depends on the record.
//!
//! There is one record for the process. Where several threads compute at a time, it holds whatever was noted last.
//!
//! A program that waits for a computation can end it by an [`Interrupt`].

use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::{Error, Result};

/// Where the computation is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Now {
    /// Name of the stage.
    pub stage: Cow<'static, str>,
    /// The pieces of work that are counted: "sweep", "round".
    pub unit: &'static str,
    /// Pieces that are done.
    pub done: u64,
    /// Number of all pieces; 0 where it is not known.
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
/// Apart from the rest: threads that work together count without a lock.
static DONE: AtomicU64 = AtomicU64::new(0);

fn noted() -> MutexGuard<'static, Noted> {
    NOTED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Notes that a stage begins. Counts go on: a round has stages.
pub fn stage(name: impl Into<Cow<'static, str>>) {
    noted().stage = name.into();
}

/// Notes that `total` pieces of work begin, 0 for a number that is not known. They end when the result is dropped.
pub fn count(unit: &'static str, total: u64) -> Counted {
    let mut noted = noted();
    let before = (noted.unit, noted.total, DONE.swap(0, Relaxed));
    (noted.unit, noted.total) = (unit, total);
    Counted { before }
}

/// The computation now.
pub fn now() -> Now {
    let noted = noted();
    Now {
        stage: noted.stage.clone(),
        unit: noted.unit,
        done: DONE.load(Relaxed),
        total: noted.total,
    }
}

/// Pieces of work that are counted, until it is dropped: then those around them are counted again.
#[derive(Debug)]
pub struct Counted {
    /// Unit, total and done of the pieces around these.
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

/// Ends a computation of another thread, before its next stage.
///
/// ```
/// use trioxide_mesh::progress::{Interrupt, is_interrupted};
///
/// let interrupt = Interrupt::default();
/// assert!(!interrupt.watch(is_interrupted));
/// // From any thread:
/// interrupt.interrupt();
/// assert!(interrupt.watch(is_interrupted));
/// assert!(!is_interrupted());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

thread_local! {
    /// The computation of this thread.
    static WATCHED: RefCell<Option<Interrupt>> = const { RefCell::new(None) };
}

/// Puts back the computation around the one that ends.
struct Restore(Option<Interrupt>);

impl Drop for Restore {
    fn drop(&mut self) {
        WATCHED.set(self.0.take());
    }
}

impl Interrupt {
    /// Ends the computation: its next stage is [`Error::Interrupted`].
    pub fn interrupt(&self) {
        self.0.store(true, Relaxed);
    }

    /// Runs a computation on this thread that [`Interrupt::interrupt`] ends.
    pub fn watch<R>(&self, work: impl FnOnce() -> R) -> R {
        let _restore = Restore(WATCHED.replace(Some(self.clone())));
        work()
    }
}

/// Ends a long loop between stages.
///
/// # Errors
/// [`Error::Interrupted`] where this thread's computation is to end.
pub fn check() -> Result<()> {
    match is_interrupted() {
        true => Err(Error::Interrupted),
        false => Ok(()),
    }
}

/// Whether this thread's computation is to end.
pub fn is_interrupted() -> bool {
    WATCHED.with_borrow(|watched| {
        watched
            .as_ref()
            .is_some_and(|interrupt| interrupt.0.load(Relaxed))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The one test of this process that notes anything.
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
        ours.watch(|| {
            assert!(matches!(check(), Err(Error::Interrupted)));
            other.watch(|| assert!(!is_interrupted()));
            assert!(is_interrupted());
            std::thread::scope(|scope| {
                scope.spawn(|| assert!(!is_interrupted()));
            });
        });
        assert!(!is_interrupted());
    }
}
