//! Where an operation runs.

use std::fmt::Display;
use std::sync::Arc;

use trioxide::device::Device;

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
}

impl Machine {
    /// This machine; the device that `otherwise` opens runs what does not fit its memory. That gets the reason.
    pub fn or(
        self,
        otherwise: impl Fn(&dyn Display) -> trioxide::Result<Device> + Send + Sync + 'static,
    ) -> Self {
        Self {
            otherwise: Some(Arc::new(otherwise)),
            ..self
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

impl From<On> for Machine {
    fn from(on: On) -> Self {
        Self {
            on,
            otherwise: None,
        }
    }
}

impl From<&Device> for Machine {
    fn from(device: &Device) -> Self {
        On::Device(device.clone()).into()
    }
}

/// What gives an operation its machine: an open one, or one that starts meanwhile. The operation asks for it after it
/// has checked its input.
pub trait Start {
    /// The machine.
    ///
    /// # Errors
    /// It does not start.
    fn start(self) -> trioxide::Result<Machine>;
}

impl Start for Machine {
    fn start(self) -> trioxide::Result<Machine> {
        Ok(self)
    }
}

impl Start for &Machine {
    fn start(self) -> trioxide::Result<Machine> {
        Ok(self.clone())
    }
}

impl Start for On {
    fn start(self) -> trioxide::Result<Machine> {
        Ok(self.into())
    }
}

impl Start for &Device {
    fn start(self) -> trioxide::Result<Machine> {
        Ok(self.into())
    }
}
