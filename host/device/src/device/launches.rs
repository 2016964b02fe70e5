//! Times of single launches ([`Device::time_launches`]).

use std::sync::Mutex;

use trioxide_kernel::launch::{Array, Launch, LaunchError, Moves};

use super::{Backend, Device, Mark, lock};
use crate::Result;

/// A timed launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Launched {
    /// Name of the PTX entry.
    pub entry: &'static str,
    /// Number of indices, or of blocks.
    pub n: u32,
    /// The kernel's function.
    pub kernel: &'static str,
    /// The arrays that the kernel took, in the order of its parameters; bit sets that it returns come last.
    pub arrays: Vec<Array>,
    /// Bytes that the launch must move from and to memory at least, by the kernel's declaration. `None` if it declares
    /// none.
    pub moves: Option<Moves>,
    /// Time between events on a GPU, or by the clock on a CPU. If the GPU was idle, it includes the GPU's wait for the
    /// launch itself, some microseconds.
    pub milliseconds: f64,
}

/// The launches since timing began; `None` while it is off.
#[derive(Default)]
pub(super) struct Timed(Mutex<Option<Vec<(Launched, Mark, Mark)>>>);

impl Timed {
    /// Launches on `backend`, between two marks if launches are timed.
    ///
    /// # Safety
    /// The promise of the launch.
    pub(super) unsafe fn launch(
        &self,
        backend: &dyn Backend,
        launch: Launch,
    ) -> Result<(), LaunchError> {
        // Not locked during the launch: a thread that waits for its part of a launch may begin another launch.
        if lock(&self.0).is_none() {
            // SAFETY: the caller's promise.
            return unsafe { backend.launch(launch) };
        }
        let launched = Launched {
            entry: launch.kernel.entry,
            kernel: launch.kernel.name,
            moves: launch.moves,
            n: launch.n,
            arrays: launch.arguments.arrays().to_vec(),
            milliseconds: 0.0,
        };
        let kernel = launch.kernel.name;
        let mark = || {
            backend.mark().map_err(|error| LaunchError::Device {
                kernel,
                reason: error.to_string(),
            })
        };
        let from = mark()?;
        // SAFETY: the caller's promise.
        unsafe { backend.launch(launch) }?;
        let to = mark()?;
        if let Some(timed) = lock(&self.0).as_mut() {
            timed.push((launched, from, to));
        }
        Ok(())
    }
}

impl Device {
    /// Starts or stops timing each launch. Forgets the launches timed so far.
    pub fn time_launches(&self, timed: bool) {
        *lock(&self.0.timed.0) = timed.then(Vec::new);
    }

    /// The launches since the last call, in their order; none unless launches are timed.
    ///
    /// # Errors
    /// [`crate::Error::Device`] when their work failed.
    ///
    /// ```
    /// # use trioxide_device::Device;
    /// use trioxide_device::collective;
    /// # fn main() -> trioxide_device::Result<()> {
    /// let on = Device::cpu(None)?;
    /// on.time_launches(true);
    /// collective::exclusive_scan(&on, &mut on.filled(100, 1)?)?;
    /// for launched in on.take_launches()? {
    ///     println!("{}: {} ms", launched.entry, launched.milliseconds);
    /// }
    /// on.time_launches(false);
    /// # Ok(())
    /// # }
    /// ```
    pub fn take_launches(&self) -> Result<Vec<Launched>> {
        self.synchronize()?;
        let mut timed = lock(&self.0.timed.0);
        let taken = timed.as_mut().map(std::mem::take).unwrap_or_default();
        let with_time = |(launched, from, to): (Launched, Mark, Mark)| {
            Ok(Launched {
                milliseconds: self.0.backend.elapsed(&from, &to)?,
                ..launched
            })
        };
        taken.into_iter().map(with_time).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::collective::exclusive_scan;
    use crate::device::Device;

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
        let bytes: Vec<u64> = launched.arrays.iter().map(|array| array.bytes).collect();
        assert_eq!(bytes, [400, 4]);
        assert!(launched.milliseconds >= 0.0);
        assert_eq!(device.take_launches().unwrap(), []);
        scan();
        device.time_launches(false);
        assert_eq!(device.take_launches().unwrap(), []);
    }
}
