//! The kernels as PTX.

/// The kernels of a package, for [`super::Device::load`].
#[derive(Clone, Copy, Debug)]
pub struct Ptx {
    /// Name of the package that declares the kernels, `env!("CARGO_PKG_NAME")` there.
    pub package: &'static str,
    /// The PTX that `cuda_builder` made of it.
    pub text: &'static str,
}

/// trioxide's kernels, for compute capability 7.5 and later: the driver compiles them for the device at hand.
pub const TRIOXIDE: Ptx = Ptx {
    package: "gpu",
    text: include_str!(concat!(env!("OUT_DIR"), "/trioxide.ptx")),
};

/// Whether [`TRIOXIDE`] was "built" from the sources or is the "prebuilt" one that is checked in.
pub fn origin() -> &'static str {
    env!("TRIOXIDE_PTX_ORIGIN")
}
