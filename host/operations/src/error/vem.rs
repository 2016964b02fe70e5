//! Reasons why Poisson problems of whole meshes refuse a mesh or options, in words.

use super::Names;

/// A reason why a Poisson problem of a whole mesh is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// Nested levels are of polygons.
    NestedInSpace,
}

impl Refusal {
    pub(super) fn say(self, Names { value, .. }: Names) -> String {
        match self {
            Self::NestedInSpace => format!(
                "{} goes with planar meshes, but this one has polyhedra: use {}",
                value("preconditioner", "nested"),
                value("preconditioner", "algebraic")
            ),
        }
    }
}
