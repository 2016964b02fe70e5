//! Copies beside other work, and the times of copies.

use std::time::Instant;

use bytemuck::Pod;
use trioxide_kernel::launch::Buffer;

use super::pages::new_rows;
use super::{Device, Traffic};
use crate::Result;

/// Direction of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the host's memory to the device's.
    ToDevice,
    /// From the device's memory to the host's.
    ToHost,
}

/// The memory of the host that a copy uses, and the way it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copying {
    /// Any memory, as the driver copies it by itself.
    Pageable,
    /// Any memory, as [`Device::upload`] and [`Device::download`] copy it.
    Staged,
    /// To new memory, whose pages the copy touches first: [`Device::download`] as a whole.
    StagedToNew,
    /// Pinned memory, which the device reads and writes directly.
    Pinned,
}

impl Device {
    /// As [`Device::upload`], while `work` runs on the device and here; returns the result of `work` too. Where copies
    /// beside other work gain nothing, the copy comes after.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory); errors of `work`.
    ///
    /// ```
    /// # use trioxide_device::Device;
    /// # fn main() -> trioxide_device::Result<()> {
    /// let on = Device::cpu(None)?;
    /// let (values, total) = on.upload_beside(&[1u32, 2], || on.filled(1, 0u32))?;
    /// assert_eq!((values.len(), total.len()), (2, 1));
    /// # Ok(())
    /// # }
    /// ```
    pub fn upload_beside<T: Pod, R>(
        &self,
        data: &[T],
        work: impl FnOnce() -> Result<R>,
    ) -> Result<(Buffer<T>, R)> {
        let buffer = self.uninitialized(data.len())?;
        let result = self.beside("copy to the device", work, |work| {
            let data = bytemuck::cast_slice(data);
            self.0.backend.copy_in_beside(buffer.address(), data, work)
        })?;
        self.0.transferred.add_to_device(buffer.bytes());
        Ok((buffer, result))
    }

    /// As [`Device::download`], while `work` runs on the device and here; returns the result of `work` too.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) when work before failed; errors of `work`.
    pub fn download_beside<T: Pod, R>(
        &self,
        buffer: &Buffer<T>,
        work: impl FnOnce() -> Result<R>,
    ) -> Result<(Vec<T>, R)> {
        let mut data = Vec::new();
        let result = self.beside("copy to the host", work, |work| {
            data = self.copy_out_beside(buffer, work)?;
            Ok(())
        })?;
        Ok((data, result))
    }

    /// A few numbers as the work so far left them, and the result of `work`, which a GPU begins without a wait for the
    /// host.
    ///
    /// # Errors
    /// As [`Device::download`]; errors of `work`.
    ///
    /// ```
    /// # use trioxide_device::Device;
    /// # fn main() -> trioxide_device::Result<()> {
    /// let on = Device::cpu(None)?;
    /// let count = on.filled(1, 5u32)?;
    /// let (count, next) = on.read_beside(&count, || on.filled(1000, 0u32))?;
    /// assert_eq!((count, next.len()), (vec![5], 1000));
    /// # Ok(())
    /// # }
    /// ```
    pub fn read_beside<T: Pod, R>(
        &self,
        buffer: &Buffer<T>,
        work: impl FnOnce() -> Result<R>,
    ) -> Result<(Vec<T>, R)> {
        let (mut work, mut done) = (Some(work), None);
        let data = self.copy_out_beside(buffer, &mut || {
            done = work.take().map(|work| work());
        })?;
        let result = done.expect("the copy ran the work beside it")?;
        Ok((data, result))
    }

    /// A few numbers, and the result of `work` if they are as `expected`. A GPU begins with it before the host knows
    /// them, and where they are not, its result is dropped; a CPU looks first. So `work` keeps its promises whatever
    /// the numbers are.
    ///
    /// # Errors
    /// As [`Device::read_beside`].
    pub fn guess<T: Pod, R>(
        &self,
        buffer: &Buffer<T>,
        expected: impl FnOnce(&[T]) -> bool,
        work: impl FnOnce() -> Result<R>,
    ) -> Result<(Vec<T>, Option<R>)> {
        if self.is_gpu() {
            let (data, result) = self.read_beside(buffer, work)?;
            let is_right = expected(&data);
            return Ok((data, is_right.then_some(result)));
        }
        let data = self.download(buffer)?;
        let result = match expected(&data) {
            true => Some(work()?),
            false => None,
        };
        Ok((data, result))
    }

    /// The elements of `buffer` as the work so far left them; calls `work` once, while they are copied.
    fn copy_out_beside<T: Pod>(
        &self,
        buffer: &Buffer<T>,
        work: &mut dyn FnMut(),
    ) -> Result<Vec<T>> {
        self.check(buffer)?;
        let mut data = new_rows::<T>(buffer.len());
        let bytes = bytemuck::cast_slice_mut(&mut data);
        (self.0.backend).copy_out_beside(buffer.address(), bytes, work)?;
        self.0.transferred.add_to_host(buffer.bytes());
        Ok(data)
    }

    /// Runs `copy`, which calls its argument once. The stage called `name` is the part of the copy after `work`.
    fn beside<R>(
        &self,
        name: &'static str,
        work: impl FnOnce() -> Result<R>,
        copy: impl FnOnce(&mut dyn FnMut()) -> Result<()>,
    ) -> Result<R> {
        let mut work = Some(work);
        let mut done = None;
        copy(&mut || {
            if let Some(work) = work.take() {
                done = Some(work().and_then(|result| Ok((result, self.0.backend.mark()?))));
            }
        })?;
        let (result, from) = done.expect("the copy ran the work beside it")?;
        let to = self.0.backend.mark()?;
        self.note_stage(name, from, to, Traffic::default())?;
        Ok(result)
    }

    /// Milliseconds that copies of `bytes` bytes take by the clock, `runs` of them; `None` where there is no such copy.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory); errors of the device.
    pub fn time_copies(
        &self,
        way: Direction,
        copying: Copying,
        bytes: usize,
        runs: u32,
    ) -> Result<Option<Vec<f64>>> {
        let device = self.filled(bytes / size_of::<u32>(), 1)?;
        let (address, bytes) = (device.address(), device.bytes());
        let mut pinned = match copying {
            Copying::Pinned => match self.0.backend.pinned(bytes) {
                Some(pinned) => Some(pinned?),
                None => return Ok(None),
            },
            _ => None,
        };
        let mut pageable = vec![1u8; if pinned.is_none() { bytes } else { 0 }];
        let host = match &mut pinned {
            Some(pinned) => (**pinned).as_mut(),
            None => &mut pageable[..],
        };
        let mut copy = || -> Option<Result<()>> {
            match (copying, way) {
                (Copying::Pageable | Copying::Pinned, _) => {
                    self.0.backend.copy_unstaged(address, host, way)
                }
                (Copying::Staged, Direction::ToDevice) => {
                    Some(self.0.backend.copy_in(address, host))
                }
                (Copying::Staged, Direction::ToHost) => {
                    Some(self.0.backend.copy_out(address, host))
                }
                (Copying::StagedToNew, Direction::ToHost) => Some(self.download(&device).map(drop)),
                (Copying::StagedToNew, Direction::ToDevice) => None,
            }
        };
        let mut times = Vec::new();
        // The first run is not counted: it pays for memory that later ones find.
        for run in 0..=runs {
            self.synchronize()?;
            let start = Instant::now();
            match copy() {
                Some(result) => result?,
                None => return Ok(None),
            }
            self.synchronize()?;
            if run > 0 {
                times.push(start.elapsed().as_secs_f64() * 1e3);
            }
        }
        Ok(Some(times))
    }
}
