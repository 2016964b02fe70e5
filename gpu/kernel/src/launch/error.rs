//! Errors of launches.

use core::fmt;

use crate::check::{BrokenAssertion, OutOfBounds};

/// The reason why a launch failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LaunchError {
    /// The arguments break a condition of the kernel's declaration.
    Requirement {
        /// The kernel.
        kernel: &'static str,
        /// The condition, as the declaration has it.
        condition: &'static str,
        /// The number of indices and the lengths of the arrays.
        lengths: String,
    },
    /// An array over the launch's own index does not have an element for each.
    TooShort {
        /// The kernel.
        kernel: &'static str,
        /// The array.
        array: &'static str,
        /// Number of its elements.
        len: u64,
        /// Number of indices of the launch.
        n: u32,
        /// Elements that each index needs.
        per: u32,
    },
    /// A call used an index that an array does not have.
    OutOfBounds {
        /// The kernel.
        kernel: &'static str,
        /// The array.
        array: &'static str,
        /// The index.
        index: u64,
        /// Number of elements of the array.
        len: u64,
        /// File and line of the kernel, if the device knows it: an emulated device does, for PTX with line information.
        place: Option<String>,
    },
    /// A `kernel_assert!` of a checked build does not hold.
    Assertion {
        /// The kernel.
        kernel: &'static str,
        /// File, line and text.
        text: String,
        /// The index in the assertion.
        index: u64,
    },
    /// A block needs more shared memory than the device has for one.
    SharedMemory {
        /// The kernel.
        kernel: &'static str,
        /// Bytes that it needs.
        bytes: usize,
        /// Bytes that the device has.
        most: usize,
    },
    /// An array lies in the memory of another device.
    OtherDevice {
        /// The kernel.
        kernel: &'static str,
        /// The array.
        array: &'static str,
    },
    /// The kernel's declaration lists no instance for this type.
    NoInstance {
        /// The kernel.
        kernel: &'static str,
        /// The type.
        ty: &'static str,
    },
    /// The device has no PTX of the kernel's package.
    NotLoaded {
        /// The kernel.
        kernel: &'static str,
        /// The package.
        package: &'static str,
    },
    /// The device refused or failed.
    Device {
        /// The kernel.
        kernel: &'static str,
        /// The driver's reason.
        reason: String,
    },
}

impl fmt::Display for LaunchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Requirement {
                kernel,
                condition,
                lengths,
            } => write!(f, "kernel {kernel} requires {condition}, but {lengths}"),
            Self::TooShort {
                kernel,
                array,
                len,
                n,
                per,
            } => {
                write!(
                    f,
                    "kernel {kernel}: array `{array}` has {len} elements, but the launch has {n} indices"
                )?;
                match per {
                    1 => Ok(()),
                    per => write!(f, " with {per} elements each"),
                }
            }
            Self::OutOfBounds {
                kernel,
                array,
                index,
                len,
                place,
            } => {
                OutOfBounds {
                    kernel,
                    array,
                    index: *index,
                    len: *len,
                }
                .fmt(f)?;
                match place {
                    Some(place) => write!(f, " ({place})"),
                    None => Ok(()),
                }
            }
            Self::Assertion {
                kernel,
                text,
                index,
            } => BrokenAssertion {
                kernel,
                text,
                index: *index,
            }
            .fmt(f),
            Self::SharedMemory {
                kernel,
                bytes,
                most,
            } => write!(
                f,
                "kernel {kernel}: a block needs {bytes} bytes of shared memory, but the device has {most} for one: use another \
                 device, or a smaller struct of shared memory"
            ),
            Self::OtherDevice { kernel, array } => write!(
                f,
                "kernel {kernel}: array `{array}` lies on another device: copy it to the device of the launch"
            ),
            Self::NoInstance { kernel, ty } => write!(
                f,
                "kernel {kernel} has no instance for {ty}: add it to the kernel's declaration"
            ),
            Self::NotLoaded { kernel, package } => write!(
                f,
                "kernel {kernel}: the device has no PTX of package {package}: the crate that launches it declares it by `trioxide_device::kernels!`"
            ),
            Self::Device { kernel, reason } => write!(f, "kernel {kernel}: {reason}"),
        }
    }
}

impl std::error::Error for LaunchError {}
