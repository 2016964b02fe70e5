//! The refusals of reordering, in words.

use super::Names;

/// A refusal of reordering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// There is no sequential algorithm.
    Serial,
}

impl Refusal {
    pub(super) fn say(self, Names { value, .. }: Names) -> String {
        match self {
            Self::Serial => format!(
                "reordering has no sequential algorithm: use {}",
                value("device", "cpu")
            ),
        }
    }
}
