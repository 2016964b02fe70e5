//! Kernels of a module, and the sizes of their launches.

use std::marker::PhantomData;

use crate::error::CudaResult;
use crate::sys;

/// A kernel of a module.
#[derive(Clone, Copy, Debug)]
pub struct Function<'a> {
    function: sys::CUfunction,
    module: PhantomData<&'a ()>,
}

// SAFETY: a handle, which the driver lets any thread use.
unsafe impl Send for Function<'_> {}
// SAFETY: as above.
unsafe impl Sync for Function<'_> {}

impl Function<'_> {
    pub(crate) fn new(function: sys::CUfunction) -> Self {
        Self {
            function,
            module: PhantomData,
        }
    }

    /// Lets launches use up to `bytes` bytes of dynamic shared memory a block. The default limit is 48 KiB.
    ///
    /// # Errors
    /// [`CudaError::InvalidValue`](crate::error::CudaError::InvalidValue) for more than the device has.
    pub fn set_max_dynamic_shared_memory(&self, bytes: u32) -> CudaResult<()> {
        /// CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        const ATTRIBUTE: u32 = 8;
        let bytes = i32::try_from(bytes).unwrap_or(i32::MAX);
        // SAFETY: a kernel of a module that is loaded.
        unsafe { sys::cuFuncSetAttribute(self.function, ATTRIBUTE, bytes) }.to_result()
    }

    /// The driver's handle.
    pub fn to_raw(&self) -> sys::CUfunction {
        self.function
    }
}

macro_rules! size {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name {
            /// Along x.
            pub x: u32,
            /// Along y.
            pub y: u32,
            /// Along z.
            pub z: u32,
        }

        impl From<u32> for $name {
            fn from(x: u32) -> Self {
                Self { x, y: 1, z: 1 }
            }
        }

        impl From<(u32, u32, u32)> for $name {
            fn from((x, y, z): (u32, u32, u32)) -> Self {
                Self { x, y, z }
            }
        }
    };
}

size! {
    /// Blocks of a launch.
    GridSize
}
size! {
    /// Threads of a block.
    BlockSize
}
