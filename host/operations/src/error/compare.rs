//! The refusals of comparisons, in words.

use super::Names;

/// A refusal of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// There is no sequential algorithm.
    Serial,
    /// More samples than have ids.
    Samples(usize),
}

impl Refusal {
    pub(super) fn say(self, Names { option, value }: Names) -> String {
        match self {
            Self::Serial => format!(
                "comparing has no sequential algorithm: use {}",
                value("device", "cpu")
            ),
            Self::Samples(samples) => format!(
                "{} is {samples}: at most {} samples are drawn",
                option("samples"),
                1 << 30
            ),
        }
    }
}
