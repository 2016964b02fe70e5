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
    /// All cells would be turned over.
    Flip,
    /// A step of the host's memory, for a mesh on a device.
    OnHost {
        /// The step.
        step: &'static str,
    },
    /// A step that only triangles have, for other faces or for cells.
    Triangles {
        /// The step.
        step: &'static str,
        /// The elements that have it not.
        elements: &'static str,
    },
}

impl Refusal {
    pub(super) fn say(self, Names { option, value }: Names) -> String {
        match self {
            Self::NoStep => {
                let steps = [
                    option("all"),
                    option("finite"),
                    option("conform"),
                    option("repeated"),
                    value("degenerate", "0"),
                    option("edges"),
                    option("vertices"),
                    option("cut"),
                    option("orient"),
                    option("folded"),
                    option("fill-holes"),
                    option("min-faces"),
                    option("flip"),
                    option("unused"),
                ];
                format!("no step of the repair is chosen: add {}", steps.join(", "))
            }
            Self::Triangles { step, elements } => format!(
                "{} is a step for triangles, and the mesh has {elements}: divide its faces, or use {} or {}",
                option(step),
                option("orient"),
                option("unused")
            ),
            Self::OnHost { step } => format!(
                "{} works in the host's memory: copy the mesh there (.to_host())",
                option(step)
            ),
            Self::Flip => format!(
                "{} would give every cell a negative volume: {} turns the cells that have one",
                option("flip"),
                option("orient")
            ),
            Self::Serial => format!(
                "repair has no sequential algorithm: use {}",
                value("device", "cpu")
            ),
        }
    }
}
