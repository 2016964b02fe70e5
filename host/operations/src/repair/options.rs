//! The options of repair: its steps.

use trioxide::repair::Steps;

#[cfg(feature = "clap")]
use crate::count::parse_count;
use crate::error::Result;
use crate::error::repair::Refusal;

/// The steps of a repair, in their order; none by default, and at least one is needed.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "clap", derive(clap::Args), group(skip))]
pub struct Options {
    /// Drop faces with the three vertices of another one, in any order: the first stays
    #[cfg_attr(feature = "clap", arg(long))]
    pub repeated: bool,
    /// Treat faces whose height is at most R times their longest edge (0 to 0.5), for 0 those without area: needles
    /// collapse their shortest edge, caps flip their longest; a closed surface stays closed
    #[cfg_attr(feature = "clap", arg(long, value_name = "R"))]
    pub degenerate: Option<f64>,
    /// Part the surfaces at edges of three or more faces, in pairs that enclose the inside
    #[cfg_attr(feature = "clap", arg(long))]
    pub edges: bool,
    /// Part the surfaces that touch at a vertex: each gets a vertex of its own
    #[cfg_attr(feature = "clap", arg(long))]
    pub vertices: bool,
    /// Turn faces until those of a component agree: the orientation of most of them wins
    #[cfg_attr(feature = "clap", arg(long))]
    pub orient: bool,
    /// Fill holes of at most N edges (3 to 500) with triangles of least area; the outer boundary of a surface in space
    /// is a hole too
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", value_parser = parse_count))]
    pub fill_holes: Option<usize>,
    /// Drop components of fewer than N faces; faces that share an edge are of one component
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", value_parser = parse_count))]
    pub min_faces: Option<usize>,
}

impl Options {
    /// The steps of the family.
    ///
    /// # Errors
    /// [`Refusal::NoStep`]; those of [`Steps::check`].
    pub fn steps(&self) -> Result<Steps> {
        let number = |n: Option<usize>| n.map(|n| u32::try_from(n).unwrap_or(u32::MAX));
        let steps = Steps {
            repeated: self.repeated,
            degenerate: self.degenerate,
            edges: self.edges,
            vertices: self.vertices,
            orient: self.orient,
            holes: number(self.fill_holes),
            components: number(self.min_faces),
        };
        if steps == Steps::default() {
            return Err(Refusal::NoStep.into());
        }
        steps.check()?;
        Ok(steps)
    }
}
