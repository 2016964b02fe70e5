//! Lines that kernels print ([`Device::keep_prints`]).

use std::sync::{Arc, Mutex};

use trioxide_kernel::launch::Launch;
use trioxide_kernel::print::Print;

use super::{Device, lock};

/// The lines of launches; `None` while they go to standard error.
#[derive(Default)]
pub(super) struct Kept(Mutex<Option<Arc<Mutex<Vec<Print>>>>>);

impl Kept {
    /// Keeps the lines that the launch prints, if lines are kept.
    pub(super) fn keep(&self, launch: &mut Launch) {
        if let Some(kept) = lock(&self.0).clone() {
            launch.print_to(Arc::new(move |lines| lock(&kept).extend(lines)));
        }
    }
}

impl Device {
    /// Keeps the lines that kernels print (`kernel_print!`) from the next launch on, or writes them to standard error,
    /// which is the default. Forgets the lines kept so far.
    ///
    /// ```
    /// # use trioxide_device::{Device, collective};
    /// # fn main() -> trioxide_device::Result<()> {
    /// let on = Device::cpu(None)?;
    /// on.keep_prints(true);
    /// collective::exclusive_scan(&on, &mut on.filled(100, 1)?)?;
    /// // These kernels print nothing.
    /// assert!(on.take_prints().is_empty());
    /// # Ok(())
    /// # }
    /// ```
    pub fn keep_prints(&self, are_kept: bool) {
        *lock(&self.0.prints.0) = are_kept.then(Arc::default);
    }

    /// The lines that kernels printed since the last call, launch by launch; none unless lines are kept. When a launch
    /// returns, its lines are complete.
    pub fn take_prints(&self) -> Vec<Print> {
        let kept = lock(&self.0.prints.0).clone();
        kept.map(|kept| std::mem::take(&mut *lock(&kept)))
            .unwrap_or_default()
    }
}
