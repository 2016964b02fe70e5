//! Typed arrays in the memory of a device.

use core::fmt;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use bytemuck::Pod;

use crate::index::Word;

/// The device that owns a buffer's memory. Each device that is opened has its own id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeviceId(u64);

impl DeviceId {
    /// An id that no other device of this process has.
    pub fn unique() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Relaxed))
    }
}

/// A typed array in the memory of a device. Dropping it frees its memory.
///
/// ```
/// use trioxide_device::Device;
///
/// # mod trioxide_device { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/device.rs")); }
/// # fn main() -> trioxide_device::Result<()> {
/// let on = Device::cpu(None)?;
/// let mut triangles = on.upload(&[[0u32, 1, 2], [2, 1, 3]])?;
/// assert_eq!((triangles.len(), triangles.bytes()), (2, 24));
/// // A shorter one keeps its memory.
/// triangles.set_len(1);
/// assert_eq!(triangles.capacity(), 2);
/// // The same memory as elements of another type.
/// let corners = triangles.cast::<u32>();
/// assert_eq!(on.download(&corners)?, [0, 1, 2]);
/// # Ok(())
/// # }
/// ```
#[repr(C)]
pub struct Buffer<T> {
    address: u64,
    len: usize,
    capacity: usize,
    memory: Box<dyn Memory>,
    element: core::marker::PhantomData<T>,
}

/// Memory that a [`Buffer`] owns: dropping it frees it.
pub trait Memory: Send + Sync {
    /// The device whose memory this is: the same at every call.
    fn device(&self) -> DeviceId;
}

impl<T> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let element = core::any::type_name::<T>();
        write!(f, "Buffer<{element}> of {} elements", self.len)
    }
}

impl<T: Pod> Buffer<T> {
    /// A buffer of `len` elements at `address`, which `memory` keeps alive.
    ///
    /// # Safety
    /// `address` points to at least `len` initialised elements in the memory of `memory.device()`, aligned to 16 bytes,
    /// and only this buffer uses it. On a CPU it is a pointer whose provenance is exposed.
    ///
    /// An element has a size, and an alignment of 16 bytes at most; any other element does not compile.
    pub unsafe fn from_raw(address: u64, len: usize, memory: Box<dyn Memory>) -> Self {
        const { check_element::<T>() };
        Self {
            address,
            len,
            capacity: len,
            memory,
            element: core::marker::PhantomData,
        }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Address in the device's memory.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// The device whose memory holds the elements.
    pub fn device(&self) -> DeviceId {
        self.memory.device()
    }

    /// Size in bytes.
    pub fn bytes(&self) -> usize {
        self.len * size_of::<T>()
    }

    /// Elements that its memory has room for.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Sets the length; elements after the previous length have the content of their memory.
    ///
    /// # Panics
    /// If `len` is over the capacity.
    pub fn set_len(&mut self, len: usize) {
        assert!(
            len <= self.capacity,
            "set_len({len}) of a buffer with room for {} elements",
            self.capacity
        );
        self.len = len;
    }

    /// The same memory as elements of another type: `Buffer<u32>` as `Buffer<HalfEdge>`, `Buffer<[u32; 3]>` as
    /// `Buffer<u32>`.
    ///
    /// # Panics
    /// If the bytes are not a whole number of the new elements.
    pub fn cast<U: Pod>(self) -> Buffer<U> {
        const { check_element::<U>() };
        let bytes = self.bytes();
        assert!(
            bytes.is_multiple_of(size_of::<U>()),
            "{bytes} bytes are no whole number of {}",
            core::any::type_name::<U>()
        );
        Buffer {
            address: self.address,
            len: bytes / size_of::<U>(),
            capacity: self.capacity * size_of::<T>() / size_of::<U>(),
            memory: self.memory,
            element: core::marker::PhantomData,
        }
    }
}

/// Refuses elements that no buffer can hold.
const fn check_element<T>() {
    assert!(
        size_of::<T>() > 0,
        "a buffer's element has no size: a buffer holds numbers, ids, vectors or structs of these"
    );
    assert!(
        align_of::<T>() <= 16,
        "a buffer's element is aligned to more than 16 bytes: remove its repr(align)"
    );
}

impl<T: Word> Buffer<T> {
    /// The same elements as plain numbers: ids, or words of a bit set.
    pub fn as_words(&self) -> &Buffer<u32> {
        // SAFETY: the layout does not depend on the element, which is 4 bytes of plain data.
        unsafe { &*(self as *const Self).cast() }
    }

    /// The same elements as plain numbers, for writing.
    pub fn as_words_mut(&mut self) -> &mut Buffer<u32> {
        // SAFETY: as above; any number is an element.
        unsafe { &mut *(self as *mut Self).cast() }
    }
}
