//! The refusals of triangulation, in words.

use super::Names;

/// A refusal of triangulation besides the failures of the algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// Points alone have no sequential algorithm.
    Serial,
    /// Equal points may be left out of points alone.
    Duplicates,
}

impl Refusal {
    pub(super) fn say(self, Names { option, value }: Names) -> String {
        match self {
            Self::Serial => format!(
                "{} goes with segments and refinement: use {} for points alone",
                value("device", "serial"),
                value("device", "cpu")
            ),
            Self::Duplicates => format!(
                "{} goes with points alone, without segments and refinement: weld the points first",
                option("duplicates")
            ),
        }
    }
}
