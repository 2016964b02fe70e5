//! Work beside Python: without the GIL, by threads of this process, with signals and progress looked at meanwhile.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pyo3::exceptions::{PyMemoryError, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use trioxide::{Error, progress};

/// Time between two looks at signals.
const STEP: Duration = Duration::from_millis(50);

/// The exception of an error: `ValueError` for a mesh or an argument, with element and rule; `MemoryError`; `OSError` for a file;
/// `RuntimeError` for a device.
pub fn exception(error: Error) -> PyErr {
    let text = error.to_string();
    match error {
        Error::OutOfMemory { .. } => PyMemoryError::new_err(text),
        Error::File { path, source } => match source.raw_os_error() {
            Some(number) => PyOSError::new_err((number, source.to_string(), path)),
            None => PyOSError::new_err(text),
        },
        Error::NoDevice(_) | Error::Device { .. } => PyRuntimeError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}

/// The threads of this process: a child that was forked has none of its parent's.
fn threads() -> PyResult<Arc<ThreadPool>> {
    static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    match &*pool {
        Some((id, threads)) if *id == process::id() => Ok(threads.clone()),
        _ => {
            let threads = ThreadPoolBuilder::new()
                .build()
                .map_err(|error| PyRuntimeError::new_err(format!("no thread starts: {error}")))?;
            let threads = Arc::new(threads);
            let before = pool.replace((process::id(), threads.clone()));
            // Its threads are another process's: there is nothing to wait for.
            std::mem::forget(before);
            Ok(threads)
        }
    }
}

/// Runs `work` without the GIL and waits for it. Signals are looked at meanwhile: after Ctrl-C the work ends before its next stage,
/// and `KeyboardInterrupt` is raised. `watch` is called with the stage, the pieces that are done and the number of all.
pub fn run<R: Send + 'static>(
    py: Python<'_>,
    watch: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce() -> trioxide::Result<R> + Send + 'static,
) -> PyResult<R> {
    let threads = threads()?;
    let (sender, receiver) = sync_channel(1);
    threads.spawn(move || {
        let result = catch_unwind(AssertUnwindSafe(work));
        // Nobody waits any more where the interpreter is gone.
        let _ = sender.send(result);
    });
    let mut raised = None;
    loop {
        match py.detach(|| receiver.recv_timeout(STEP)) {
            Ok(Ok(result)) => {
                return match raised {
                    Some(raised) => Err(raised),
                    None => result.map_err(exception),
                };
            }
            Ok(Err(panic)) => resume_unwind(panic),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("a thread of the computation has ended"));
            }
            Err(RecvTimeoutError::Timeout) if raised.is_some() => {}
            Err(RecvTimeoutError::Timeout) => {
                let looked = py.check_signals().and_then(|()| report(watch));
                if let Err(error) = looked {
                    progress::interrupt();
                    raised = Some(error);
                }
            }
        }
    }
}

fn report(watch: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    if let Some(watch) = watch {
        let now = progress::now();
        watch.call1((&*now.stage, now.unit, now.done, now.total))?;
    }
    Ok(())
}
