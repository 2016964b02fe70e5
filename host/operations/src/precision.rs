//! The scalar type of coordinates.

/// Scalar type of coordinates on the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Precision {
    /// Double
    #[default]
    F64,
    /// Single
    F32,
}
