//! Devices.

use std::process;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use trioxide::Device;
use trioxide::device::{Choice, Stage};

use crate::exception::exception;

/// A machine that computes: `Device("auto")`, `Device("cuda:0")`, `Device("cpu", threads=4)`.
///
/// "auto" is the first GPU, or the CPU where there is none; `fallback` then says why. A device that is asked for by
/// name is an error where it is not there. A function that gets the word "auto" in place of this object goes on with
/// the CPU too where the GPU's memory does not suffice, with a warning.
#[pyclass(frozen, name = "Device", module = "trioxide")]
pub struct PyDevice {
    opened: Mutex<Opened>,
    threads: Option<usize>,
    /// Number of the GPU; `None` for the CPU.
    pub gpu: Option<u32>,
    fallback: Option<String>,
    stages: Mutex<Vec<Stage>>,
}

struct Opened {
    process: u32,
    device: Device,
}

#[pymethods]
impl PyDevice {
    #[new]
    #[pyo3(signature = (name = "auto", *, threads = None))]
    fn new(py: Python<'_>, name: &str, threads: Option<i64>) -> PyResult<Self> {
        let threads = match threads {
            None => None,
            Some(threads) if (1..=4096).contains(&threads) => Some(threads as usize),
            Some(threads) => {
                return Err(PyValueError::new_err(format!(
                    "threads is {threads}: it is 1 to 4096, or None for all cores"
                )));
            }
        };
        let choice: Choice = name.parse().map_err(|_: String| {
            PyValueError::new_err(format!(
                "device {name:?} is not known: it is auto, cuda:N or cpu"
            ))
        })?;
        if matches!(choice, Choice::Auto | Choice::AnyCuda | Choice::Cuda(_)) {
            check_fork()?;
        }
        let opened = py.detach(|| match choice {
            Choice::Auto => match Device::cuda(0) {
                Ok(device) => Ok((device, Some(0), None)),
                Err(reason) => {
                    let reason = reason.to_string();
                    Device::cpu(threads).map(|cpu| (cpu, None, Some(reason)))
                }
            },
            Choice::AnyCuda => Device::cuda(0).map(|gpu| (gpu, Some(0), None)),
            Choice::Cuda(index) => Device::cuda(index).map(|gpu| (gpu, Some(index), None)),
            Choice::Cpu => Device::cpu(threads).map(|cpu| (cpu, None, None)),
            Choice::Serial => Err(trioxide::Error::Argument(
                "the sequential algorithms are on the command line only (--device serial): use \"cpu\" with threads=1"
                    .to_owned(),
            )),
        });
        let (device, gpu, fallback) = opened.map_err(exception)?;
        if gpu.is_some() {
            STARTED_BY.store(process::id(), Relaxed);
        }
        Ok(Self {
            opened: Mutex::new(Opened {
                process: process::id(),
                device,
            }),
            threads,
            gpu,
            fallback,
            stages: Mutex::default(),
        })
    }

    /// The machine's name.
    #[getter]
    fn name(&self) -> PyResult<String> {
        Ok(self.get()?.name())
    }

    /// Whether it is a GPU.
    #[getter]
    fn is_gpu(&self) -> bool {
        self.gpu.is_some()
    }

    /// Why "auto" is the CPU; None where it is a GPU, or the CPU was asked for.
    #[getter]
    fn fallback(&self) -> Option<&str> {
        self.fallback.as_deref()
    }

    /// Bytes copied between host and device since the device was opened, as (to the device, to the host).
    #[getter]
    fn transferred(&self) -> PyResult<(u64, u64)> {
        Ok(self.get()?.transferred())
    }

    /// Stages of the last function that used this object, with their milliseconds: by the device's clock on a GPU.
    #[getter]
    fn timings(&self) -> Vec<(&'static str, f64)> {
        let stages = self.stages.lock().unwrap_or_else(PoisonError::into_inner);
        stages
            .iter()
            .map(|stage| (stage.name, stage.milliseconds))
            .collect()
    }

    fn __repr__(&self) -> PyResult<String> {
        Ok(format!("<trioxide.Device {}>", self.name()?))
    }
}

/// Process that started CUDA; 0 before.
static STARTED_BY: AtomicU32 = AtomicU32::new(0);

/// Refuses CUDA in a process that was forked after it was started: the driver does not work there.
fn check_fork() -> PyResult<()> {
    let started_by = STARTED_BY.load(Relaxed);
    if started_by == 0 || started_by == process::id() {
        return Ok(());
    }
    Err(PyRuntimeError::new_err(
        "this process was forked after CUDA was started, and CUDA does not work in such a child: start workers by multiprocessing's \
         \"spawn\" or \"forkserver\"",
    ))
}

impl PyDevice {
    /// Notes the stages of a computation.
    pub fn note(&self, stages: Vec<Stage>) {
        *self.stages.lock().unwrap_or_else(PoisonError::into_inner) = stages;
    }

    /// The device for this process.
    ///
    /// # Errors
    /// `RuntimeError` in a process that was forked after a GPU was opened.
    pub fn get(&self) -> PyResult<Device> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if opened.process == process::id() {
            return Ok(opened.device.clone());
        }
        if self.gpu.is_some() {
            check_fork()?;
        }
        let device = Device::cpu(self.threads).map_err(exception)?;
        let before = std::mem::replace(
            &mut *opened,
            Opened {
                process: process::id(),
                device: device.clone(),
            },
        );
        // Its threads are the parent's: there is nothing to wait for.
        std::mem::forget(before);
        Ok(device)
    }
}
