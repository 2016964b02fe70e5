//! Where an operation runs.

use std::fmt::Display;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use trioxide::device::Device;
use trioxide::half_edges::{DeviceSurface, Remembered};

use crate::error::Result;

/// Where an operation runs.
#[derive(Clone)]
pub enum On {
    /// A device.
    Device(Device),
    /// The papers' sequential algorithms.
    #[cfg(feature = "serial")]
    Serial,
}

/// Opens another device, whose memory suffices for more; it gets the reason.
type Otherwise = Arc<dyn Fn(&dyn Display) -> trioxide::Result<Device> + Send + Sync>;

/// Where an operation runs, and where else if the memory there does not suffice.
#[derive(Clone)]
pub struct Machine {
    on: On,
    otherwise: Option<Otherwise>,
    between: Option<Arc<Mutex<Option<Remembered>>>>,
}

impl Machine {
    /// This machine; the device that `otherwise` opens runs meshes that do not fit this one's memory. `otherwise` gets
    /// the reason.
    pub fn or(
        self,
        otherwise: impl Fn(&dyn Display) -> trioxide::Result<Device> + Send + Sync + 'static,
    ) -> Self {
        Self {
            otherwise: Some(Arc::new(otherwise)),
            ..self
        }
    }

    /// This machine for several operations on one mesh: it keeps the triangles of a result, with the data known of
    /// them, until the next operation. It drops them where memory is short.
    pub fn for_several(self) -> Self {
        Self {
            between: Some(Arc::default()),
            ..self
        }
    }

    /// Takes the triangles that the previous operation left.
    pub(crate) fn remembered(&self) -> Option<Remembered> {
        self.between
            .as_deref()
            .and_then(|between| lock(between).take())
    }

    /// Keeps the triangles of a result, if another operation may come.
    pub(crate) fn remember<P>(&self, on: &Device, surface: impl FnOnce() -> DeviceSurface<P>) {
        if let Some(between) = &self.between {
            *lock(between) = Some(Remembered::new(on, surface()));
        }
    }

    /// The device, if it is one.
    pub fn device(&self) -> Option<&Device> {
        match &self.on {
            On::Device(device) => Some(device),
            #[cfg(feature = "serial")]
            On::Serial => None,
        }
    }

    /// Runs `work`. Where the memory does not suffice and there is another device, runs `work` once more, there.
    ///
    /// # Errors
    /// Those of `work`; the other device does not open.
    pub fn run<R>(&self, work: impl Fn(&On) -> Result<R>) -> Result<R> {
        match (work(&self.on), &self.otherwise) {
            (Err(reason), Some(otherwise)) if reason.is_out_of_memory() => {
                work(&On::Device(otherwise(&reason)?))
            }
            (result, _) => result,
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl From<On> for Machine {
    fn from(on: On) -> Self {
        Self {
            on,
            otherwise: None,
            between: None,
        }
    }
}

impl From<&Device> for Machine {
    fn from(device: &Device) -> Self {
        On::Device(device.clone()).into()
    }
}

/// A source of an operation's machine: an open machine, or one that starts meanwhile. The operation asks for it after
/// it has checked its input.
pub trait Start {
    /// The machine. An operation asks for it once.
    ///
    /// # Errors
    /// It does not start.
    fn start(&self) -> trioxide::Result<Machine>;
}

impl Start for Machine {
    fn start(&self) -> trioxide::Result<Machine> {
        Ok(self.clone())
    }
}

impl Start for On {
    fn start(&self) -> trioxide::Result<Machine> {
        Ok(self.clone().into())
    }
}

impl Start for Device {
    fn start(&self) -> trioxide::Result<Machine> {
        Ok(self.into())
    }
}
