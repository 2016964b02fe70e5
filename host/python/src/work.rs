//! Work beside Python: without the GIL, by threads of this process, with signals and progress looked at meanwhile.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use trioxide::Device;
use trioxide::progress::{self, Interrupt};
use trioxide::terminal::visible_line;

use crate::device::PyDevice;
use crate::exception::exception;

/// Time between two looks at signals.
const STEP: Duration = Duration::from_millis(50);

/// Threads for one computation at a time: while one waits for its own parts, it never begins another.
struct Threads {
    process: u32,
    pool: Option<ThreadPool>,
}

/// Pools that no computation uses.
static FREE: Mutex<Vec<Threads>> = Mutex::new(Vec::new());

fn free() -> MutexGuard<'static, Vec<Threads>> {
    FREE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Threads {
    /// A free pool of this process, or a new one.
    fn take() -> PyResult<Self> {
        let process = process::id();
        loop {
            match free().pop() {
                Some(threads) if threads.process == process => return Ok(threads),
                // A child that was forked has none of its parent's threads: there is nothing to wait for.
                Some(mut forked) => std::mem::forget(forked.pool.take()),
                None => break,
            }
        }
        let pool = ThreadPoolBuilder::new()
            .build()
            .map_err(|error| PyRuntimeError::new_err(format!("no thread starts: {error}")))?;
        Ok(Self {
            process,
            pool: Some(pool),
        })
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        if let Some(pool) = self.pool.take() {
            free().push(Self {
                process: self.process,
                pool: Some(pool),
            });
        }
    }
}

/// As [`run`], on a device. Its stages are noted, and all its work is done when this returns, whether it fails or not:
/// nothing of the input is used any more.
pub fn run_on<R: Send + 'static>(
    py: Python<'_>,
    watch: Option<&Bound<'_, PyAny>>,
    device: &PyDevice,
    work: impl FnOnce(&Device) -> trioxide::Result<R> + Send + 'static,
) -> PyResult<R> {
    let on = device.get()?;
    let (result, stages) = run(py, watch, move || {
        // The stages of a computation that is left are not those of the next.
        let result = progress::caught(|| work(&on));
        let stages = on.take_stages();
        Ok((result, stages))
    })?;
    let result = result.map_err(exception)?;
    device.note(stages.map_err(exception)?);
    Ok(result)
}

/// Runs `work` without the GIL and waits for it. Signals are checked meanwhile: after Ctrl-C the work ends at its next
/// check of the interrupt, and `KeyboardInterrupt` is raised. `watch` is called with the stage, the unit of its pieces,
/// the number of finished pieces and the number of all; an exception from it ends the work too.
pub fn run<R: Send + 'static>(
    py: Python<'_>,
    watch: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce() -> trioxide::Result<R> + Send + 'static,
) -> PyResult<R> {
    let threads = Threads::take()?;
    let interrupt = Interrupt::default();
    let watched = interrupt.clone();
    let (sender, mut receiver) = sync_channel(1);
    let pool = threads.pool.as_ref().expect("taken with its pool");
    pool.spawn(move || {
        let result = catch_unwind(AssertUnwindSafe(|| watched.watch(work)));
        // Whoever waits is there until the result is.
        let _ = sender.send(result);
    });
    let mut raised = None;
    loop {
        let received = {
            let receiver = &mut receiver;
            py.detach(move || receiver.recv_timeout(STEP))
        };
        match received {
            Ok(Ok(result)) => {
                return match raised {
                    Some(raised) => Err(raised),
                    None => result.map_err(exception),
                };
            }
            Ok(Err(panic)) => resume_unwind(panic),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err(
                    "a thread of the computation has ended",
                ));
            }
            Err(RecvTimeoutError::Timeout) if raised.is_some() => {}
            Err(RecvTimeoutError::Timeout) => {
                let looked = py.check_signals().and_then(|()| report(watch));
                if let Err(error) = looked {
                    interrupt.interrupt();
                    raised = Some(error);
                }
            }
        }
    }
}

fn report(watch: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    if let Some(watch) = watch {
        let now = progress::now();
        watch.call1((&*visible_line(&now.stage), now.unit, now.done, now.total))?;
    }
    Ok(())
}
