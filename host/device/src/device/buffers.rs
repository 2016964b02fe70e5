//! Buffers of a device: allocation, content, copies.

use std::fmt::Debug;
use std::ops::Range;

use bytemuck::Pod;
use trioxide_kernel::Word;
use trioxide_kernel::launch::Buffer;

use super::pages::new_rows;
use super::{Device, Memory};
use crate::{Error, Result};

#[cold]
fn no_rows(buffer: &dyn Debug, row: &str) -> Error {
    Error::Argument(format!("{buffer:?} is no whole number of rows of {row}"))
}

impl Device {
    /// A buffer with unspecified content.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    ///
    /// ```
    /// # use trioxide_device::Device;
    /// # fn main() -> trioxide_device::Result<()> {
    /// let on = Device::cpu(None)?;
    /// let mut squares = on.uninitialized::<u32>(3)?;
    /// // A launch or a fill writes all elements before they are read.
    /// on.fill_from(&mut squares, 0, 9)?;
    /// assert_eq!(on.download(&squares)?, [9, 9, 9]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn uninitialized<T: Pod>(&self, len: usize) -> Result<Buffer<T>> {
        let (address, memory) = self.allocate(len.checked_mul(size_of::<T>()))?;
        // SAFETY: the backend's new allocation, aligned to at least 16 bytes.
        Ok(unsafe { Buffer::from_raw(address, len, memory) })
    }

    /// Memory for `bytes`; none is more than there can be.
    #[inline(never)]
    fn allocate(&self, bytes: Option<usize>) -> Result<(u64, Box<dyn Memory>)> {
        match bytes {
            Some(bytes) => self.with_room(|| self.0.backend.allocate(bytes)),
            None => Err(Error::OutOfMemory {
                device: self.name(),
                needed: u64::MAX,
                free: self.0.backend.free()?,
            }),
        }
    }

    /// A buffer of `len` times `word`: a number, an id, a word of a bit set.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    ///
    /// ```
    /// # use trioxide_device::Device;
    /// # fn main() -> trioxide_device::Result<()> {
    /// let on = Device::cpu(None)?;
    /// let counts = on.filled(3, 0u32)?;
    /// assert_eq!(on.download(&counts)?, [0, 0, 0]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn filled<T: Word>(&self, len: usize, word: T) -> Result<Buffer<T>> {
        let buffer = self.uninitialized(len)?;
        self.fill(buffer.address(), buffer.bytes(), bytemuck::cast(word))?;
        Ok(buffer)
    }

    #[inline(never)]
    fn fill(&self, at: u64, bytes: usize, word: u32) -> Result<()> {
        self.0.traffic.moved(bytes as u64);
        self.0.backend.fill(at, bytes, word)
    }

    #[inline(never)]
    fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<()> {
        self.0.traffic.moved(2 * bytes as u64);
        self.0.backend.copy(to, from, bytes)
    }

    /// Fills `buffer` with `word` from element `first` on.
    ///
    /// # Errors
    /// [`Error::Device`] when work before failed; [`Error::Argument`] for a buffer of another device.
    ///
    /// # Panics
    /// If `first` is behind the end.
    pub fn fill_from<T: Word>(&self, buffer: &mut Buffer<T>, first: usize, word: T) -> Result<()> {
        assert!(
            first <= buffer.len(),
            "fill_from({first}) of a buffer of {} elements",
            buffer.len()
        );
        self.check(buffer)?;
        let skipped = first * size_of::<T>();
        let bytes = buffer.bytes() - skipped;
        let at = buffer.address() + skipped as u64;
        self.fill(at, bytes, bytemuck::cast(word))
    }

    /// A buffer with the content of `data`.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    ///
    /// ```
    /// # use trioxide_device::Device;
    /// # fn main() -> trioxide_device::Result<()> {
    /// let on = Device::cpu(None)?;
    /// let points = on.upload(&[[0.0, 1.0], [2.0, 3.0]])?;
    /// assert_eq!((points.len(), points.bytes()), (2, 32));
    /// # Ok(())
    /// # }
    /// ```
    pub fn upload<T: Pod>(&self, data: &[T]) -> Result<Buffer<T>> {
        self.upload_with_capacity(data, data.len())
    }

    /// A buffer with the content of `data` and memory for `capacity` elements.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    ///
    /// ```
    /// # use trioxide_device::Device;
    /// # fn main() -> trioxide_device::Result<()> {
    /// let on = Device::cpu(None)?;
    /// let list = on.upload_with_capacity(&[1u32, 2], 100)?;
    /// assert_eq!((list.len(), list.capacity()), (2, 100));
    /// # Ok(())
    /// # }
    /// ```
    pub fn upload_with_capacity<T: Pod>(&self, data: &[T], capacity: usize) -> Result<Buffer<T>> {
        let mut buffer = self.uninitialized(capacity.max(data.len()))?;
        buffer.set_len(data.len());
        self.copy_in(buffer.address(), bytemuck::cast_slice(data))?;
        Ok(buffer)
    }

    /// A buffer with the content of these lists, one behind the other.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn upload_lists<T: Pod>(&self, lists: &[&[T]]) -> Result<Buffer<T>> {
        let buffer = self.uninitialized(lists.iter().map(|list| list.len()).sum())?;
        let mut to = buffer.address();
        for list in lists {
            self.copy_in(to, bytemuck::cast_slice(list))?;
            to += size_of_val(*list) as u64;
        }
        Ok(buffer)
    }

    #[inline(never)]
    fn copy_in(&self, to: u64, bytes: &[u8]) -> Result<()> {
        self.0.backend.copy_in(to, bytes)?;
        self.0.transferred.add_to_device(bytes.len());
        Ok(())
    }

    /// Makes `buffer` longer or shorter; new elements have unspecified content. Content that does not fit the memory
    /// moves to new memory, with room for a quarter more.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    ///
    /// ```
    /// # use trioxide_device::Device;
    /// # fn main() -> trioxide_device::Result<()> {
    /// let on = Device::cpu(None)?;
    /// let mut list = on.upload(&[1u32, 2])?;
    /// on.resize(&mut list, 4)?;
    /// on.fill_from(&mut list, 2, 7)?;
    /// assert_eq!(on.download(&list)?, [1, 2, 7, 7]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn resize<T: Pod>(&self, buffer: &mut Buffer<T>, len: usize) -> Result<()> {
        if len > buffer.capacity() {
            *buffer = self.moved(buffer, len.saturating_add(len / 4))?;
        }
        buffer.set_len(len);
        Ok(())
    }

    /// A copy of `buffer` in memory for `capacity` elements.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn moved<T: Pod>(&self, buffer: &Buffer<T>, capacity: usize) -> Result<Buffer<T>> {
        self.check(buffer)?;
        let mut copy = self.uninitialized(capacity.max(buffer.len()))?;
        self.copy(copy.address(), buffer.address(), buffer.bytes())?;
        copy.set_len(buffer.len());
        Ok(copy)
    }

    /// A copy of `buffer` on the same machine.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    ///
    /// ```
    /// # use trioxide_device::Device;
    /// # fn main() -> trioxide_device::Result<()> {
    /// let on = Device::cpu(None)?;
    /// let values = on.upload(&[1u32, 2])?;
    /// let copy = on.duplicate(&values)?;
    /// assert_eq!(on.download(&copy)?, [1, 2]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn duplicate<T: Pod>(&self, buffer: &Buffer<T>) -> Result<Buffer<T>> {
        self.moved(buffer, buffer.len())
    }

    /// A copy of `buffer` on the same machine with another length: cut off, or with unspecified content behind its end.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn resized<T: Pod>(&self, buffer: &Buffer<T>, len: usize) -> Result<Buffer<T>> {
        self.check(buffer)?;
        let copy = self.uninitialized(len)?;
        let bytes = buffer.bytes().min(copy.bytes());
        if bytes > 0 {
            self.copy(copy.address(), buffer.address(), bytes)?;
        }
        Ok(copy)
    }

    /// The content of `buffer`. Waits for the work before.
    ///
    /// # Errors
    /// [`Error::Device`] when that work failed.
    ///
    /// ```
    /// # use trioxide_device::Device;
    /// # fn main() -> trioxide_device::Result<()> {
    /// let on = Device::cpu(None)?;
    /// let values = on.upload(&[1u32, 2])?;
    /// assert_eq!(on.download(&values)?, [1, 2]);
    /// // A buffer of another device is refused.
    /// assert!(Device::cpu(None)?.download(&values).is_err());
    /// # Ok(())
    /// # }
    /// ```
    pub fn download<T: Pod>(&self, buffer: &Buffer<T>) -> Result<Vec<T>> {
        self.download_rows(buffer)
    }

    /// The content of `buffer` as rows of several elements each.
    ///
    /// # Errors
    /// As [`Device::download`]; [`Error::Argument`] when the content is no whole number of rows.
    ///
    /// ```
    /// # use trioxide_device::Device;
    /// # fn main() -> trioxide_device::Result<()> {
    /// let on = Device::cpu(None)?;
    /// let corners = on.upload(&[0u32, 1, 2, 2, 1, 3])?;
    /// assert_eq!(on.download_rows::<_, [u32; 3]>(&corners)?, [[0, 1, 2], [2, 1, 3]]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn download_rows<T: Pod, R: Pod>(&self, buffer: &Buffer<T>) -> Result<Vec<R>> {
        const { assert!(size_of::<R>() > 0, "a row has no size") };
        self.check(buffer)?;
        if !buffer.bytes().is_multiple_of(size_of::<R>()) {
            return Err(no_rows(buffer, std::any::type_name::<R>()));
        }
        let mut data = new_rows::<R>(buffer.bytes() / size_of::<R>());
        self.copy_out(buffer.address(), bytemuck::cast_slice_mut(&mut data))?;
        Ok(data)
    }

    /// Some elements of `buffer`, one behind the other. Waits for the work before.
    ///
    /// # Errors
    /// As [`Device::download`].
    ///
    /// # Panics
    /// If the range ends behind the buffer.
    ///
    /// ```
    /// # use trioxide_device::Device;
    /// # fn main() -> trioxide_device::Result<()> {
    /// let on = Device::cpu(None)?;
    /// let values = on.upload(&[1u32, 2, 3, 4])?;
    /// assert_eq!(on.download_range(&values, 1..3)?, [2, 3]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn download_range<T: Pod>(
        &self,
        buffer: &Buffer<T>,
        range: Range<usize>,
    ) -> Result<Vec<T>> {
        self.download_range_rows(buffer, range)
    }

    /// As [`Device::download_range`], each element as a row of the same size.
    ///
    /// # Errors
    /// As [`Device::download`].
    ///
    /// # Panics
    /// As [`Device::download_range`].
    pub fn download_range_rows<T: Pod, R: Pod>(
        &self,
        buffer: &Buffer<T>,
        range: Range<usize>,
    ) -> Result<Vec<R>> {
        const { assert!(size_of::<R>() == size_of::<T>(), "a row is an element") };
        assert!(range.end <= buffer.len(), "{range:?} of {buffer:?}");
        self.check(buffer)?;
        let mut data = new_rows::<R>(range.len());
        let from = buffer.address() + (range.start * size_of::<T>()) as u64;
        self.copy_out(from, bytemuck::cast_slice_mut(&mut data))?;
        Ok(data)
    }

    #[inline(never)]
    fn copy_out(&self, from: u64, bytes: &mut [u8]) -> Result<()> {
        self.0.backend.copy_out(from, bytes)?;
        self.0.transferred.add_to_host(bytes.len());
        Ok(())
    }

    /// Element `i` of `buffer`. Waits for the work before.
    ///
    /// # Errors
    /// [`Error::Device`] when that work failed; [`Error::Argument`] for a buffer of another device.
    ///
    /// # Panics
    /// If there is no element `i`.
    ///
    /// ```
    /// # use trioxide_device::Device;
    /// # fn main() -> trioxide_device::Result<()> {
    /// let on = Device::cpu(None)?;
    /// let values = on.upload(&[1u32, 2, 3])?;
    /// assert_eq!(on.read(&values, 2)?, 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn read<T: Pod>(&self, buffer: &Buffer<T>, i: usize) -> Result<T> {
        assert!(
            i < buffer.len(),
            "read({i}) of a buffer of {} elements",
            buffer.len()
        );
        self.check(buffer)?;
        let mut value = [T::zeroed()];
        self.copy_out(
            buffer.address() + (i * size_of::<T>()) as u64,
            bytemuck::cast_slice_mut(&mut value),
        )?;
        Ok(value[0])
    }
}
