//! The refusals of repair, in words.

use super::Names;

/// A refusal of repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// No step is chosen.
    NoStep,
    /// There is no sequential algorithm.
    Serial,
}

impl Refusal {
    pub(super) fn say(self, Names { option, value }: Names) -> String {
        match self {
            Self::NoStep => {
                let steps = [
                    option("repeated"),
                    value("degenerate", "0"),
                    option("edges"),
                    option("vertices"),
                    option("orient"),
                    option("fill-holes"),
                    option("min-faces"),
                ];
                format!("no step of the repair is chosen: add {}", steps.join(", "))
            }
            Self::Serial => format!(
                "repair has no sequential algorithm: use {}",
                value("device", "cpu")
            ),
        }
    }
}
