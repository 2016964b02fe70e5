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
    /// Take all steps that mend faults and neither fill nor drop parts: conform, repeated, degenerate (0, or as given),
    /// edges, vertices, cut, orient, folded, unused. Polygons and cells take conform,
    /// orient and unused, cells folded too
    #[cfg_attr(feature = "clap", arg(long))]
    pub all: bool,
    /// Drop vertices with a coordinate that is not a finite number, and the faces and segments that use one; the step
    /// takes points, polygons and cells too
    #[cfg_attr(feature = "clap", arg(long))]
    pub finite: bool,
    /// Insert vertices that lie inside edges and faces of other elements (hanging nodes): into polygons, by dividing
    /// triangles and tetrahedra. A tetrahedron with several of them gets a vertex in its middle
    #[cfg_attr(feature = "clap", arg(long))]
    pub conform: bool,
    /// Drop faces with the three vertices of another one, in any order: the first stays
    #[cfg_attr(feature = "clap", arg(long))]
    pub repeated: bool,
    /// Treat faces whose height is at most R times their longest edge (0 to 0.5), for 0 those without area: needles
    /// collapse their shortest edge, caps flip their longest; a closed surface stays closed
    #[cfg_attr(feature = "clap", arg(long, value_name = "R"))]
    pub degenerate: Option<f64>,
    /// Part the surfaces at edges of three or more faces, in pairs: first faces of one body, then pairs that enclose
    /// the inside, then any that can be oriented
    #[cfg_attr(feature = "clap", arg(long))]
    pub edges: bool,
    /// Part the surfaces that touch at a vertex: each gets a vertex of its own
    #[cfg_attr(feature = "clap", arg(long))]
    pub vertices: bool,
    /// Cut one-sided components open, along few edges
    #[cfg_attr(feature = "clap", arg(long))]
    pub cut: bool,
    /// Turn faces until those of a component agree: closed components outward, cavities in them inward, those of a mesh
    /// of the plane counter-clockwise, others as most of their faces are; polygons and cells too
    #[cfg_attr(feature = "clap", arg(long))]
    pub orient: bool,
    /// Unfold a mesh, which is oriented first. Of the plane: triangles that run clockwise, or have no area, flip an
    /// edge, or go. Of cells: those without a positive volume go, and of those on one side of a face all but the
    /// largest
    #[cfg_attr(feature = "clap", arg(long))]
    pub folded: bool,
    /// Fill holes of at most N edges (3 or more; without N 500) with triangles of least area. A hole of more than 500
    /// edges loses its ears with the shortest new edges first. The outer boundary of a surface in space is a hole too.
    /// Notes give the reason why a hole is left
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "N", value_parser = parse_count, num_args = 0..=1, default_missing_value = "500")
    )]
    pub fill_holes: Option<usize>,
    /// Drop components of fewer than N faces; faces that share an edge are of one component
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", value_parser = parse_count))]
    pub min_faces: Option<usize>,
    /// Turn all faces over at the end; polygons too
    #[cfg_attr(feature = "clap", arg(long))]
    pub flip: bool,
    /// Drop vertices that no face, cell or segment has; of polygons and cells too
    #[cfg_attr(feature = "clap", arg(long))]
    pub unused: bool,
}

impl Options {
    /// The steps of the family: all but `finite`, which comes before them.
    ///
    /// # Errors
    /// [`Refusal::NoStep`]; those of [`Steps::check`].
    pub fn steps(&self) -> Result<Steps> {
        let number = |n: Option<usize>| n.map(|n| u32::try_from(n).unwrap_or(u32::MAX));
        let steps = Steps {
            repeated: self.repeated || self.all,
            degenerate: self.degenerate.or(self.all.then_some(0.0)),
            edges: self.edges || self.all,
            vertices: self.vertices || self.all,
            cut: self.cut || self.all,
            orient: self.orient || self.folded || self.all,
            folded: self.folded || self.all,
            holes: number(self.fill_holes),
            components: number(self.min_faces),
            flip: self.flip,
            unused: self.unused || self.all,
        };
        if steps == Steps::default() && !self.conform && !self.finite {
            return Err(Refusal::NoStep.into());
        }
        steps.check()?;
        Ok(steps)
    }

    /// Whether the only step is to drop vertices that are not finite.
    pub(super) fn is_only_finite(&self) -> bool {
        let finite = Options {
            finite: true,
            ..Options::default()
        };
        *self == finite
    }

    /// Whether hanging vertices are inserted.
    pub(super) fn conforms(&self) -> bool {
        self.conform || self.all
    }

    /// The first step that these `elements` do not take and that was asked for by its name.
    pub(super) fn of_triangles(&self, elements: &str) -> Option<&'static str> {
        let steps = [
            (self.repeated, "repeated"),
            (self.degenerate.is_some(), "degenerate"),
            (self.edges, "edges"),
            (self.vertices, "vertices"),
            (self.cut, "cut"),
            (self.folded && elements != "cells", "folded"),
            (self.fill_holes.is_some(), "fill-holes"),
            (self.min_faces.is_some(), "min-faces"),
        ];
        steps.into_iter().find(|step| step.0).map(|step| step.1)
    }
}
