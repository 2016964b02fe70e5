//! The surface between rounds.

use glam::DVec3;
use gpu::ids::{HalfEdge, Vertex};
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::{NONE, words};

use super::kernel::{self, Choice, FansBuffers, Quadric, Rules, VerticesBuffers};
use super::{DeviceDecimated, Options, Result, Surface, stage};
use crate::collective::{Tiled, bucket_long, compact, most_alone};
use crate::device::{BitSet, Device};

/// A surface of V vertices and T triangles whose edges collapse.
pub(super) struct State {
    /// Positions in units; V.
    pub points: Buffer<DVec3>,
    /// V.
    pub quadrics: Buffer<Quadric>,
    /// V.
    pub marks: Buffer<u32>,
    /// V.
    pub heads: Buffer<HalfEdge>,
    /// 3T.
    pub nexts: Buffer<HalfEdge>,
    /// Vertices of the triangles; none in triangles that are gone; 3T.
    pub corners: Buffer<Vertex>,
    /// Costs of half-edges; 3T.
    pub costs: Buffer<f32>,
    /// The cheapest edge of each vertex; V.
    pub choices: Buffer<Choice>,
    /// The vertex that each vertex went into, or none; V.
    pub parents: Buffer<Vertex>,
    /// The vertices that may be ends of collapses, and some that are gone, ascending.
    pub live: Buffer<Vertex>,
    /// Number of triangles that are left.
    pub left: usize,
    pub rules: Rules,
    unit: f64,
}

/// Parameters of kernels over fans.
pub(super) struct Views<'a> {
    pub live: &'a Buffer<Vertex>,
    pub choices: &'a Buffer<Choice>,
    pub fans: FansBuffers<'a>,
    pub vertices: VerticesBuffers<'a>,
    pub rules: Rules,
    pub costs: &'a mut Buffer<f32>,
}

impl State {
    /// The state before the first round. `corners` has the vertices of the surface's triangles, which are checked.
    pub fn new(
        on: &Device,
        surface: &Surface,
        corners: Buffer<Vertex>,
        options: &Options,
        unit: f64,
    ) -> Result<Self> {
        let (vertices, half_edges) = (surface.points.len(), corners.len());
        let n = vertices as u32;
        let mut heads = on.filled(vertices, HalfEdge::NONE)?;
        let mut nexts = on.uninitialized(half_edges)?;
        stage(on, "link corners", || {
            let most = most_alone(on);
            // SAFETY: every corner is a vertex below their number.
            let (lists, _) = unsafe {
                bucket_long::<Vertex, HalfEdge>(on, &corners, vertices, half_edges, most)
            }?;
            let items = lists.items();
            kernel::link_corners::launch(
                on,
                half_edges as u32,
                items,
                &corners,
                &mut heads,
                &mut nexts,
            )?;
            Ok(())
        })?;
        let mut points = on.uninitialized(vertices)?;
        let (mut quadrics, mut marks) = (on.uninitialized(vertices)?, on.uninitialized(vertices)?);
        stage(on, "measure vertices", || {
            // SAFETY: a point for each index.
            unsafe { kernel::scale_points::launch(on, n, surface.points, unit, &mut points) }?;
            let (no_regions, no_locks) = (on.uninitialized(0)?, on.uninitialized(0)?);
            let fans = FansBuffers {
                heads: &heads,
                nexts: &nexts,
                corners: &corners,
            };
            // SAFETY: the lists hold half-edges of the triangles, whose corners are checked vertices.
            unsafe {
                kernel::measure_vertices::launch(
                    on,
                    n,
                    fans,
                    &points,
                    surface.regions.unwrap_or(&no_regions),
                    surface.locked.unwrap_or(&no_locks),
                    options.lock_boundary,
                    &mut quadrics,
                    &mut marks,
                )
            }?;
            Ok(())
        })?;
        let mut state = Self {
            points,
            quadrics,
            marks,
            heads,
            nexts,
            costs: on.filled(half_edges, kernel::NO_COST)?,
            // A cost that is no number is not within any limit: vertices that are not live have no choice.
            choices: on.filled(2 * vertices, NONE)?.cast(),
            parents: on.filled(vertices, Vertex::NONE)?,
            live: on.uninitialized(0)?,
            left: half_edges / 3,
            rules: options.rules(unit),
            unit,
            corners,
        };
        state.list_live(on)?;
        Ok(state)
    }

    /// Lists the vertices that may be ends of collapses.
    pub fn list_live(&mut self, on: &Device) -> Result<()> {
        let vertices = self.heads.len();
        let mut bits: BitSet<Vertex> = on.uninitialized(words(vertices))?;
        kernel::mark_live::launch(on, vertices as u32, &self.heads, &self.marks, &mut bits)?;
        self.live = compact(on, &bits)?;
        Ok(())
    }

    /// Computes the costs of all edges.
    pub fn price(&mut self, on: &Device) -> Result<()> {
        stage(on, "price edges", || {
            let to = self.views();
            let n = to.live.len() as u32;
            // SAFETY: the lists hold half-edges of the triangles that are left, whose corners are vertices; each
            // half-edge is in one list.
            unsafe {
                kernel::price_edges::launch(
                    on,
                    n,
                    to.live,
                    to.fans,
                    to.vertices,
                    to.rules,
                    to.costs,
                )
            }?;
            Ok(())
        })
    }

    /// The arrays that kernels over fans take.
    pub fn views(&mut self) -> Views<'_> {
        Views {
            live: &self.live,
            choices: &self.choices,
            fans: FansBuffers {
                heads: &self.heads,
                nexts: &self.nexts,
                corners: &self.corners,
            },
            vertices: VerticesBuffers {
                points: &self.points,
                quadrics: &self.quadrics,
                marks: &self.marks,
            },
            rules: self.rules,
            costs: &mut self.costs,
        }
    }

    /// The mesh that is left.
    pub fn finish(self, on: &Device, rounds: u32) -> Result<DeviceDecimated> {
        stage(on, "write the mesh", || {
            let (vertices, triangles) = (self.heads.len(), self.corners.len() / 3);
            let n = vertices as u32;
            let mut bits: BitSet<Vertex> = on.uninitialized(words(vertices))?;
            kernel::mark_left_vertices::launch(on, n, &self.parents, &mut bits)?;
            let tiled = Tiled::new(on, &bits)?;
            let ranks = tiled.ranks(on)?;
            let survivors = tiled.count(on)?.list(on)?;
            let mut map = on.uninitialized(vertices)?;
            kernel::map_vertices::launch(on, n, &self.parents, &ranks, &mut map)?;
            let mut points = on.uninitialized(survivors.len())?;
            let count = survivors.len() as u32;
            kernel::write_kept_points::launch(
                on,
                count,
                &survivors,
                &self.points,
                self.unit,
                &mut points,
            )?;
            let mut bits = on.uninitialized(words(triangles))?;
            kernel::mark_left_triangles::launch(on, triangles as u32, &self.corners, &mut bits)?;
            let triangle_ids = compact(on, &bits)?;
            let mut left = on.uninitialized(triangle_ids.len())?;
            kernel::write_triangles::launch(
                on,
                triangle_ids.len() as u32,
                &triangle_ids,
                &self.corners,
                &ranks,
                &mut left,
            )?;
            Ok(DeviceDecimated {
                points,
                triangles: left,
                map,
                survivors,
                triangle_ids,
                rounds,
            })
        })
    }
}
