//! Times of single launches, for who asks ([`Device::time_launches`]).

use std::cell::RefCell;

use gpu::launch::{Launch, LaunchError};

use super::{Backend, Device, Mark};
use crate::Result;

/// A launch that was timed.
#[derive(Clone, Debug, PartialEq)]
pub struct Launched {
    /// Name of the PTX entry.
    pub entry: &'static str,
    /// Number of indices, or of blocks.
    pub n: u32,
    /// Bytes of each array that the kernel took, in the order of its parameters and, of one that gives bits, its results.
    pub arrays: Vec<u64>,
    /// Between events on a GPU, by the clock on a CPU. What a GPU waits for the launch itself, some microseconds, is in it where
    /// the GPU had nothing else to do.
    pub milliseconds: f64,
}

/// The launches since they are timed; `None` while they are not.
#[derive(Default)]
pub(super) struct Timed(RefCell<Option<Vec<(Launched, Mark, Mark)>>>);

impl Timed {
    /// Launches on `backend`, between two marks if launches are timed.
    pub(super) fn launch(
        &self,
        backend: &dyn Backend,
        launch: Launch<'_>,
    ) -> Result<(), LaunchError> {
        let mut timed = self.0.borrow_mut();
        let Some(timed) = timed.as_mut() else {
            return backend.launch(launch);
        };
        let launched = Launched {
            entry: launch.entry,
            n: launch.n,
            arrays: launch.arguments.arrays().to_vec(),
            milliseconds: 0.0,
        };
        let mark = || {
            backend
                .mark()
                .map_err(|error| LaunchError(error.to_string()))
        };
        let from = mark()?;
        backend.launch(launch)?;
        timed.push((launched, from, mark()?));
        Ok(())
    }
}

impl Device {
    /// Times launches one by one from now on, or no longer. Those timed so far are forgotten.
    pub fn time_launches(&self, timed: bool) {
        self.timed.0.replace(timed.then(Vec::new));
    }

    /// The launches since the last call, in their order; none while they are not timed.
    ///
    /// # Errors
    /// [`crate::Error::Device`] when their work failed.
    pub fn take_launches(&self) -> Result<Vec<Launched>> {
        self.synchronize()?;
        let mut timed = self.timed.0.borrow_mut();
        let taken = timed.as_mut().map(std::mem::take).unwrap_or_default();
        let with_time = |(launched, from, to): (Launched, Mark, Mark)| {
            Ok(Launched {
                milliseconds: self.backend.elapsed(&from, &to)?,
                ..launched
            })
        };
        taken.into_iter().map(with_time).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::backend::Device;
    use crate::collective::exclusive_scan;

    #[test]
    fn launches_are_timed_for_who_asks() {
        let device = Device::cpu(Some(1)).unwrap();
        let scan = || {
            let mut values = device.filled(100, 1).unwrap();
            exclusive_scan(&device, &mut values).unwrap();
        };
        scan();
        assert_eq!(device.take_launches().unwrap(), []);
        device.time_launches(true);
        scan();
        let [launched] = &device.take_launches().unwrap()[..] else {
            panic!("one launch");
        };
        assert_eq!((launched.entry, launched.n), ("scan_sums", 1));
        assert_eq!(launched.arrays, [400, 4]);
        assert!(launched.milliseconds >= 0.0);
        assert_eq!(device.take_launches().unwrap(), []);
        scan();
        device.time_launches(false);
        assert_eq!(device.take_launches().unwrap(), []);
    }
}
