//! Steps 2 to 6 on a device: the edges to divide, and the ranks of the new elements.

use gpu::ids::{Edge, HalfEdge, Triangle};
use gpu::refine::flag_divided_sides::{flag_divided_sides, set_divided_sides};
use gpu::refine::mark_divided_edges::mark_divided_edges;
use gpu::refine::prefix_sums::{STEP, count_divided_sides};
use gpu::refine::propagate_divisions::{
    ForestBuffers, follow_divided_edges, follow_marked_triangles,
};
use trioxide_kernel::Bits;
use trioxide_kernel::launch::Buffer;

use super::edges::{DeviceEdgeMesh, Level};
use super::mark::Marked;
use crate::Result;
use crate::collective::{Counted, Tiled, compact, exclusive_scan};
use crate::device::{BitSet, Device};
use crate::half_edges::AnyPoint;

/// One in this many marked triangles or divided edges is few: then kernels follow lists instead of passing over all
/// elements.
const FEW: usize = 8;

/// Edges to divide.
pub(super) enum DividedEdges {
    /// A bit for each edge.
    Many(Buffer<Bits<Edge>>),
    /// A list.
    Few(Buffer<Edge>),
}

/// How many divided sides lie before each half-edge, and how many that own their edge.
pub(super) enum Before {
    /// Prefix sums, and the list of the divided half-edges; `NONE` where there is none.
    Few {
        sums: Buffer<u32>,
        list: Buffer<HalfEdge>,
    },
    /// Ranks of both.
    Many {
        ranks: Buffer<u32>,
        owned: Buffer<u32>,
    },
}

/// Divided sides of the triangles.
pub(super) struct DividedSides {
    /// A bit for each half-edge.
    pub flags: Buffer<Bits<HalfEdge>>,
    /// A bit for each half-edge that owns its edge.
    pub owned: Buffer<Bits<HalfEdge>>,
    pub before: Before,
    /// Number of divided sides: of new triangles.
    sides: u32,
    /// Number of divided edges: of new vertices.
    edges: u32,
}

impl DividedSides {
    /// Counts after the round.
    pub fn after(&self, level: Level) -> Level {
        let new_edges = self.sides.saturating_add(self.edges);
        Level {
            vertices: level.vertices.saturating_add(self.edges),
            edges: level.edges.saturating_add(new_edges),
            triangles: level.triangles.saturating_add(self.sides),
        }
    }
}

impl<P: AnyPoint> DeviceEdgeMesh<P> {
    pub(super) fn forest(&self) -> ForestBuffers<'_> {
        ForestBuffers {
            longest: &self.longest,
            sides: &self.sides,
            halves: &self.halves,
        }
    }

    /// Steps 2 and 4: the longest edges of the marked triangles, and the edges along their links. `None` if nothing is
    /// marked.
    pub(super) fn propagate(&self, on: &Device, marked: &Marked) -> Result<Option<DividedEdges>> {
        if self.level().triangles == 0 {
            return Ok(None);
        }
        let Marked::Some(marked) = marked else {
            // Every longest edge is divided, so no link leads to another edge.
            let (divided, _) = self.divided_by(on, &on.uninitialized(0)?)?;
            return Ok(Some(DividedEdges::Many(divided)));
        };
        let level = self.level();
        let marks = on.stage("mark divided edges", || Counted::new(on, marked))?;
        if marks.total() == 0 {
            return Ok(None);
        }
        if marks.total() as usize * FEW >= level.triangles as usize {
            let divided = self.propagate_from_many(on, marked)?;
            return Ok(Some(DividedEdges::Many(divided)));
        }
        let words = level.edges.div_ceil(32) as usize;
        let (list, mut divided) = on.stage("mark divided edges", || {
            Ok((marks.list(on)?, on.filled(words, Bits::EMPTY)?))
        })?;
        on.stage("propagate divisions", || {
            let forest = self.forest();
            follow_marked_triangles::launch(on, marks.total(), &list, forest, &mut divided)?;
            let count = Counted::new(on, &divided)?;
            Ok(Some(
                if count.total() as usize * FEW < level.edges as usize {
                    DividedEdges::Few(count.list(on)?)
                } else {
                    DividedEdges::Many(divided)
                },
            ))
        })
    }

    /// The longest edges of the marked triangles, and the edges among them that lead into a triangle that is not
    /// marked, a bit each. No mark at all: every triangle is marked.
    pub(super) fn divided_by(
        &self,
        on: &Device,
        marked: &Buffer<Bits<Triangle>>,
    ) -> Result<(BitSet<Edge>, BitSet<Edge>)> {
        on.stage("mark divided edges", || {
            let edges = self.level().edges;
            let words = edges.div_ceil(32) as usize;
            let (mut divided, mut leading) = (on.uninitialized(words)?, on.uninitialized(words)?);
            mark_divided_edges::launch(
                on,
                edges,
                &self.halves,
                &self.longest,
                marked,
                &mut divided,
                &mut leading,
            )?;
            Ok((divided, leading))
        })
    }

    /// The edges that many marked triangles divide.
    pub(super) fn propagate_from_many(
        &self,
        on: &Device,
        marked: &Buffer<Bits<Triangle>>,
    ) -> Result<Buffer<Bits<Edge>>> {
        let (mut divided, leading) = self.divided_by(on, marked)?;
        on.stage("propagate divisions", || {
            let leading = compact(on, &leading)?;
            let (n, forest) = (leading.len() as u32, self.forest());
            follow_divided_edges::launch(on, n, &leading, marked, forest, &mut divided)?;
            Ok(divided)
        })
    }

    /// Steps 5 and 6: the divided sides, and their prefix sums.
    pub(super) fn count(&self, on: &Device, divided: &DividedEdges) -> Result<DividedSides> {
        let n = 3 * self.level().triangles;
        let words = n.div_ceil(32) as usize;
        let (flags, owned, list) = on.stage("flag divided sides", || match divided {
            DividedEdges::Few(edges) => {
                let (mut flags, mut owned) = (
                    on.filled(words, Bits::EMPTY)?,
                    on.filled(words, Bits::EMPTY)?,
                );
                let mut list = on.uninitialized(2 * edges.len())?;
                set_divided_sides::launch(
                    on,
                    edges.len() as u32,
                    edges,
                    &self.halves,
                    &mut list,
                    &mut flags,
                    &mut owned,
                )?;
                Ok((flags, owned, Some(list)))
            }
            DividedEdges::Many(edges) => {
                let (mut flags, mut owned) = (on.uninitialized(words)?, on.uninitialized(words)?);
                let sides = &self.sides;
                flag_divided_sides::launch(on, n, sides, edges, &mut flags, &mut owned)?;
                Ok((flags, owned, None))
            }
        })?;
        on.stage("prefix sums", || {
            let (before, sides, edges) = match list {
                Some(list) => {
                    let n = n.div_ceil(STEP) as usize;
                    let mut sums = on.uninitialized(2 * n)?;
                    count_divided_sides::launch(on, n as u32, &flags, &owned, &mut sums)?;
                    let total = exclusive_scan(on, &mut sums)?;
                    // All flags, and an owned one for each edge.
                    let edges = list.len() as u32 / 2;
                    let sides = on.read(&total, 0)? - edges;
                    (Before::Few { sums, list }, sides, edges)
                }
                None => {
                    let (of_sides, of_edges) = (Tiled::new(on, &flags)?, Tiled::new(on, &owned)?);
                    // The device goes on while the host waits for both numbers.
                    let rank = || Ok((of_sides.ranks(on)?, of_edges.ranks(on)?));
                    let (sides, (edges, (ranks, owned))) = on
                        .read_beside(of_sides.total(), || on.read_beside(of_edges.total(), rank))?;
                    (Before::Many { ranks, owned }, sides[0], edges[0])
                }
            };
            Ok(DividedSides {
                flags,
                owned,
                before,
                sides,
                edges,
            })
        })
    }
}
