//! The kernels as PTX.

/// The kernels of a package, for [`super::Device::load`].
#[derive(Clone, Copy, Debug)]
pub struct Ptx {
    pub(crate) package: &'static str,
    pub(crate) text: &'static str,
}

impl Ptx {
    /// The PTX of the package that declares the kernels, and the name of that package (`env!("CARGO_PKG_NAME")` there). The text
    /// may be empty, where no device compiler was found: a GPU then refuses it.
    ///
    /// # Safety
    /// `cuda_builder` made the text of the sources of the package that the program is built with. A launch checks lengths and
    /// devices by what the sources declare, and the GPU runs what the text says.
    pub const unsafe fn new(package: &'static str, text: &'static str) -> Self {
        Self { package, text }
    }

    /// Whether there is no PTX, since no device compiler was found.
    pub const fn is_empty(&self) -> bool {
        self.text.is_empty()
    }
}

/// trioxide's kernels, for compute capability 7.5 and later: the driver compiles them for the device at hand.
// SAFETY: the build script makes the text of this package's `gpu`, or takes the prebuilt files, which a test compares with it.
pub const TRIOXIDE: Ptx = unsafe {
    Ptx::new(
        "gpu",
        include_str!(concat!(env!("OUT_DIR"), "/trioxide.ptx")),
    )
};

/// Whether [`TRIOXIDE`] was "built" from the sources or is the "prebuilt" one that is checked in.
pub fn origin() -> &'static str {
    env!("TRIOXIDE_PTX_ORIGIN")
}
