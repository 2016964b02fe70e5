//! The kernels of a package as PTX and machine code.

use linkme::distributed_slice;

#[cfg(any(feature = "cuda", feature = "emulator"))]
use crate::{Error, Result};

/// The kernels of a package, embedded by [`kernels!`](crate::kernels): PTX, and machine code if the build had an
/// assembler.
#[derive(Clone, Copy, Debug)]
pub struct Ptx {
    pub(crate) package: &'static str,
    pub(crate) origin: &'static str,
    pub(crate) text: &'static str,
    pub(crate) families: &'static [Family],
}

/// Kernels in one module of machine code: names of the entries, and the deflated module for each compute capability
/// (ten times the major version plus the minor).
#[doc(hidden)]
pub type Family = (&'static [&'static str], &'static [(u32, &'static [u8])]);

/// The data that `cuda_builder::embed` writes: the PTX's origin, the PTX, and the machine code.
#[doc(hidden)]
pub type Embedded = (&'static str, &'static str, &'static [Family]);

impl Ptx {
    /// The embedded kernels of a package.
    ///
    /// # Safety
    /// `cuda_builder::embed` wrote the data for the sources of the package that the program is built with. A launch
    /// checks lengths and devices by the sources' declarations, and the GPU runs the PTX or the machine code.
    #[doc(hidden)]
    pub const unsafe fn new(package: &'static str, (origin, text, families): Embedded) -> Self {
        Self {
            package,
            origin,
            text,
            families,
        }
    }

    /// Whether a device that has `loaded` lacks these kernels, and they can be loaded.
    ///
    /// # Errors
    /// [`Error::NoDevice`] without PTX; [`Error::Argument`] when another package has this name.
    #[cfg(any(feature = "cuda", feature = "emulator"))]
    pub(super) fn is_new(&self, mut loaded: impl Iterator<Item = Ptx>) -> Result<bool> {
        if self.is_empty() {
            return Err(Error::NoDevice(format!(
                "the kernels of {} were built without a device compiler, so a GPU cannot run them: install one (see \
                 docs/KERNELS.md) and build again, or use the CPU",
                self.package
            )));
        }
        match loaded.find(|other| other.package == self.package) {
            None => Ok(true),
            Some(other) if other.text == self.text => Ok(false),
            Some(_) => Err(Error::Argument(format!(
                "two packages with kernels are called {}: give each one a name of its own",
                self.package
            ))),
        }
    }

    /// The package that declares the kernels.
    pub const fn package(&self) -> &'static str {
        self.package
    }

    /// The PTX of all kernels; empty if the build found no device compiler.
    pub const fn text(&self) -> &'static str {
        self.text
    }

    /// Whether there is no PTX, because the build found no device compiler.
    pub const fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The compute capabilities of the embedded machine code, as 75 for 7.5; none if the build had no assembler.
    pub fn architectures(&self) -> Vec<u32> {
        let first = self.families.first().map(|(_, modules)| *modules);
        let modules = first.unwrap_or_default().iter();
        modules.map(|(architecture, _)| *architecture).collect()
    }

    /// Origin of the PTX: the build compiled the sources ("built"), used the prebuilt PTX of the same sources
    /// ("prebuilt"), or had neither ("missing").
    pub const fn origin(&self) -> &'static str {
        self.origin
    }
}

/// The kernels of all packages of the program. A GPU loads them when it is opened.
#[doc(hidden)]
#[distributed_slice]
pub static PACKAGES: [Ptx];

/// Declares the static with the kernels of a package, which the build script embedded by `cuda_builder::embed`. Every
/// GPU that the program opens loads them.
///
/// ```ignore
/// trioxide_device::kernels! {
///     /// The kernels of far-kernels.
///     pub PTX = "far-kernels";
/// }
/// ```
#[macro_export]
macro_rules! kernels {
    ($(#[$meta:meta])* $visibility:vis $name:ident = $package:literal;) => {
        // A static, not a constant: each crate that uses a constant contains its own copy of the PTX.
        $(#[$meta])*
        #[$crate::linkme::distributed_slice($crate::device::PACKAGES)]
        #[linkme(crate = $crate::linkme)]
        $visibility static $name: $crate::Ptx = {
            const PACKAGE: &str = $package;
            const EMBEDDED: $crate::device::Embedded =
                include!(concat!(env!("OUT_DIR"), "/", $package, ".kernels.rs"));
            // SAFETY: the build script wrote the file by `cuda_builder::embed`.
            unsafe { $crate::Ptx::new(PACKAGE, EMBEDDED) }
        };
    };
}
