//! Values on a device that can be made again: they are kept for later work, and dropped where memory is short.

use std::sync::{Arc, Mutex, Weak};

use super::{Device, lock};
use crate::{Error, Result};

/// A value on a device that is made when it is first asked for, and kept.
///
/// If a device lacks the memory for new work, it drops all kept values that nobody holds at the moment, and goes on. A
/// later request makes the value again.
///
/// ```
/// use trioxide_device::{Buffer, Device, Kept};
///
/// # fn main() -> trioxide_device::Result<()> {
/// let on = Device::cpu(None)?;
/// let squares: Kept<Buffer<u32>> = Kept::default();
/// let make = || on.upload(&[1u32, 4, 9]);
/// assert_eq!(squares.get_or_make(&on, make)?.len(), 3);
/// // It is there.
/// let again = squares.get_or_make(&on, make)?;
/// // Nobody drops a value that is held.
/// assert!(!on.drop_kept());
/// drop(again);
/// assert!(on.drop_kept() && squares.get().is_none());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Kept<T>(Arc<Mutex<Option<Arc<T>>>>);

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T: Send + Sync + 'static> Kept<T> {
    /// The value, if it is there.
    pub fn get(&self) -> Option<Arc<T>> {
        lock(&self.0).clone()
    }

    /// Keeps the value no longer.
    pub fn clear(&self) {
        lock(&self.0).take();
    }

    /// The value; `make` makes it if it is not there. Another thread that asks meanwhile waits.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn get_or_make<E>(
        &self,
        on: &Device,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<Arc<T>, E> {
        let mut value = lock(&self.0);
        if let Some(value) = &*value {
            return Ok(value.clone());
        }
        let made = Arc::new(make()?);
        *value = Some(made.clone());
        on.note(Arc::downgrade(&(self.0.clone() as Arc<dyn Drops>)));
        Ok(made)
    }

    /// Keeps a value in place of the one that is there.
    pub fn keep(&self, on: &Device, value: T) {
        *lock(&self.0) = Some(Arc::new(value));
        on.note(Arc::downgrade(&(self.0.clone() as Arc<dyn Drops>)));
    }
}

/// A place that can drop its value.
trait Drops: Send + Sync {
    /// Drops the value, unless somebody holds it or is about to make it. Returns whether it did.
    fn drop_value(&self) -> bool;
}

impl<T: Send + Sync> Drops for Mutex<Option<Arc<T>>> {
    fn drop_value(&self) -> bool {
        let Ok(mut value) = self.try_lock() else {
            return false;
        };
        let is_free = value
            .as_ref()
            .is_some_and(|value| Arc::strong_count(value) == 1);
        is_free && value.take().is_some()
    }
}

/// The places of a device's kept values.
#[derive(Default)]
pub(super) struct Places(Mutex<Vec<Weak<dyn Drops>>>);

impl Device {
    fn note(&self, place: Weak<dyn Drops>) {
        let mut places = lock(&self.0.kept.0);
        places.retain(|place| place.strong_count() > 0);
        places.push(place);
    }

    /// Drops all [`Kept`] values that nobody holds. Returns whether there was one.
    pub fn drop_kept(&self) -> bool {
        let places = std::mem::take(&mut *lock(&self.0.kept.0));
        let (mut dropped, mut held) = (false, Vec::new());
        for weak in places {
            match weak.upgrade() {
                Some(place) if place.drop_value() => dropped = true,
                Some(_) => held.push(weak),
                None => {}
            }
        }
        lock(&self.0.kept.0).extend(held);
        dropped
    }

    /// Calls `take`. If it finds no memory and a kept value could be dropped, calls it once more.
    pub(super) fn with_room<R>(&self, take: impl Fn() -> Result<R>) -> Result<R> {
        match take() {
            Err(Error::OutOfMemory { .. }) if self.drop_kept() => take(),
            result => result,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_values_make_room_for_work_that_has_none() {
        let on = Device::cpu(Some(1)).unwrap();
        let (free, held) = (Kept::<u32>::default(), Kept::<u32>::default());
        free.get_or_make::<Error>(&on, || Ok(1)).unwrap();
        let value = held.get_or_make::<Error>(&on, || Ok(2)).unwrap();
        // No machine has this much memory, with or without the kept values.
        assert!(on.require(u64::MAX - 1).is_err());
        assert!(free.get().is_none());
        assert_eq!((held.get(), *value), (Some(value.clone()), 2));
        // It is made again, and dropped for an allocation too.
        free.get_or_make::<Error>(&on, || Ok(3)).unwrap();
        assert!(on.uninitialized::<u64>(usize::MAX / 16).is_err());
        assert!(free.get().is_none());
    }

    #[test]
    fn an_error_keeps_nothing() {
        let on = Device::cpu(Some(1)).unwrap();
        let kept = Kept::<u32>::default();
        let refused = kept.get_or_make(&on, || Err(Error::Argument("no".to_owned())));
        assert!(refused.is_err() && kept.get().is_none() && !on.drop_kept());
    }
}
