//! The mesh before refinement.

use glam::DVec2;
use gpu::delaunay::constrained::{NO_REGION, NO_SEGMENT};
use gpu::delaunay::refinement as kernel;
use gpu::ids::{HalfEdge, Place, Vertex};
use kernel::{BoundsBuffers, Goal, Held, MOST_WHOLES, OF_INPUT};
use trioxide_kernel::Bits;
use trioxide_kernel::launch::Buffer;

use super::Background;
use crate::delaunay::constrained::{Limited, select, sides};
use crate::device::{BitSet, Device};
use crate::{Error, Result};

/// A mesh that changes.
pub(super) struct Mesh {
    /// Corners of triangles; of removed ones `NONE`.
    pub corners: Buffer<Place>,
    pub twins: Buffer<HalfEdge>,
    /// The whole on which each half-edge lies, with flags.
    pub lines: Buffer<u32>,
    /// The region of each triangle.
    pub regions: Buffer<u32>,
    pub sorted: Buffer<DVec2>,
    /// The kind of each vertex.
    pub kinds: Buffer<u32>,
    /// Removed vertices.
    pub gone: BitSet<Place>,
    /// Corners before refinement.
    pub wholes: Buffer<Place>,
}

impl Mesh {
    pub fn triangles(&self) -> usize {
        self.corners.len() / 3
    }

    /// Makes room for more vertices and triangles, without content.
    ///
    /// # Errors
    /// [`Error::Argument`] for more half-edges than 32 bits number; [`Error::OutOfMemory`].
    pub fn grow(&mut self, on: &Device, vertices: usize, triangles: usize) -> Result<()> {
        if triangles > u32::MAX as usize / 3 {
            return Err(Error::Argument(format!(
                "the refinement needs more than {} triangles, whose sides have 32-bit numbers: give a smaller angle or a \
                 larger area",
                u32::MAX / 3
            )));
        }
        on.resize(&mut self.sorted, vertices)?;
        on.resize(&mut self.kinds, vertices)?;
        lengthen(on, &mut self.gone, vertices)?;
        on.resize(&mut self.corners, 3 * triangles)?;
        on.resize(&mut self.twins, 3 * triangles)?;
        on.resize(&mut self.lines, 3 * triangles)?;
        on.resize(&mut self.regions, triangles)
    }
}

/// The bounds that triangles are judged by.
#[derive(Clone, Copy)]
pub(super) struct Wanted<'a> {
    pub goal: Goal,
    /// The largest area in each region, and without one.
    pub areas: &'a Buffer<f64>,
    pub sizes: &'a Background,
}

impl<'a> Wanted<'a> {
    /// The parameter of kernels, with parts of a mesh.
    pub fn of(self, kinds: &'a Buffer<u32>, wholes: &'a Buffer<Place>) -> BoundsBuffers<'a> {
        BoundsBuffers {
            goal: self.goal,
            kinds,
            wholes,
            areas: self.areas,
            background: self.sizes.buffers(),
        }
    }
}

/// Makes room in a bit set for more elements, which are not in it.
pub(super) fn lengthen<E: Send + Sync + 'static>(
    on: &Device,
    bits: &mut BitSet<E>,
    elements: usize,
) -> Result<()> {
    let before = bits.len();
    on.resize(bits, elements.div_ceil(32))?;
    on.fill_from(bits, before, Bits::new(0))
}

/// The parts of the triangulation that the end needs.
pub(super) struct Before {
    /// The vertex at each place.
    pub order: Buffer<Vertex>,
    /// For each point its first equal, if there are equal points.
    pub firsts: Option<Buffer<Vertex>>,
    /// The place of each vertex then.
    pub places: Option<Buffer<Place>>,
    pub twins: Buffer<HalfEdge>,
    /// For each half-edge of the triangulation that of the mesh.
    pub new: Buffer<HalfEdge>,
}

impl Before {
    /// Number of points of the input.
    pub fn points(&self) -> usize {
        self.firsts.as_ref().unwrap_or(&self.order).len()
    }
}

/// Takes the selected triangles in their order.
pub(super) fn begin(on: &Device, found: Limited, held: Held) -> Result<(Mesh, Before)> {
    let Limited {
        mesh: old,
        mut selected,
        ..
    } = found;
    let ordered = select::order(on, &old, &mut selected)?;
    let corners = ordered.corners;
    if corners.len() > MOST_WHOLES as usize {
        return Err(Error::Argument(format!(
            "{} triangles are too many to refine: at most {} have numbers for their sides",
            corners.len() / 3,
            MOST_WHOLES / 3
        )));
    }
    let (sides, t) = (corners.len(), corners.len() / 3);
    let twins = sides::twins(on, &corners)?;
    let mut new = on.filled(old.corners.len(), HalfEdge::NONE)?;
    kernel::take_sides::launch(
        on,
        t as u32,
        &ordered.first,
        &ordered.second,
        &selected.list,
        &old.corners,
        &corners,
        &mut new,
    )?;
    let mut lines = on.filled(sides, NO_SEGMENT)?;
    let n = old.corners.len() as u32;
    kernel::carry_lines::launch(on, n, &new, &old.lines, &mut lines)?;
    kernel::name_wholes::launch(on, sides as u32, &twins, held, &mut lines)?;
    let vertices = old.ranked.sorted.len();
    let places = match old.ranked.firsts {
        Some(_) => Some(sides::places_of_vertices(on, &old.ranked)?),
        None => None,
    };
    let mesh = Mesh {
        wholes: on.duplicate(&corners)?,
        corners,
        twins,
        lines,
        regions: match ordered.regions {
            Some(regions) => regions,
            None => on.filled(t, NO_REGION)?,
        },
        sorted: old.ranked.sorted,
        kinds: on.filled(vertices, OF_INPUT)?,
        gone: on.filled(vertices.div_ceil(32), Bits::new(0))?,
    };
    let before = Before {
        order: old.ranked.order,
        firsts: old.ranked.firsts,
        places,
        twins: old.twins,
        new,
    };
    Ok((mesh, before))
}
