//! The surface between rounds.

use gpu::ids::{HalfEdge, Vertex};
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::{NONE, words};

use super::kernel::{self, Choice, FansBuffers, Rules, Site, Start};
use super::weighed::{Weighed, with_seams};
use super::{DeviceDecimated, Options, Result, Surface, stage};
use crate::collective::{Tiled, bucket_long, compact, count_bits, most_alone};
use crate::device::{BitSet, Device};

/// A surface of V vertices and T triangles whose edges collapse.
pub(super) struct State {
    /// V.
    pub sites: Buffer<Site>,
    /// V.
    pub heads: Buffer<HalfEdge>,
    /// 3T.
    pub nexts: Buffer<HalfEdge>,
    /// 3T.
    pub starts: Buffer<Start>,
    /// The cheapest edge of each vertex; V.
    pub choices: Buffer<Choice>,
    /// The vertex that each vertex went into, or none; V.
    pub parents: Buffer<Vertex>,
    /// The vertices whose edges have other costs than at their choice.
    pub touched: BitSet<Vertex>,
    /// Number of triangles that are left.
    pub left: usize,
    has_border: Option<bool>,
    /// The numbers of the vertices, if they count.
    pub weighed: Option<Weighed>,
    pub rules: Rules,
    unit: f64,
}

impl State {
    /// The state before the first round. `corners` has the vertices of the surface's triangles, which are checked, as
    /// has `starts`. Lengths are in units of `unit`, in which the bounding box has this `diagonal`.
    pub fn new(
        on: &Device,
        surface: &Surface,
        corners: Buffer<Vertex>,
        starts: Buffer<Start>,
        options: &Options,
        [unit, diagonal]: [f64; 2],
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
            let count = half_edges as u32;
            kernel::link_corners::launch(on, count, items, &corners, &mut heads, &mut nexts)?;
            Ok(())
        })?;
        drop(corners);
        let seams = match surface.numbers {
            Some(_) => Some(with_seams(on, surface, &heads)?),
            None => None,
        };
        let mut sites = on.uninitialized(vertices)?;
        stage(on, "measure vertices", || {
            let (no_regions, no_locks) = (on.uninitialized(0)?, on.uninitialized(0)?);
            let fans = FansBuffers {
                heads: &heads,
                nexts: &nexts,
                starts: &starts,
            };
            // SAFETY: the lists hold half-edges of the triangles, whose corners are checked vertices.
            unsafe {
                kernel::measure_vertices::launch(
                    on,
                    n,
                    fans,
                    surface.points,
                    unit,
                    surface.regions.unwrap_or(&no_regions),
                    seams.as_ref().or(surface.locked).unwrap_or(&no_locks),
                    options.lock_boundary,
                    &mut sites,
                )
            }?;
            Ok(())
        })?;
        let weighed = surface.numbers.map(|numbers| {
            let fans = FansBuffers {
                heads: &heads,
                nexts: &nexts,
                starts: &starts,
            };
            let lengths = [unit, diagonal];
            Weighed::measure(on, &numbers, surface.points, lengths, fans, &mut sites)
        });
        Ok(Self {
            weighed: weighed.transpose()?,
            // A cost that is no number is not within any limit: vertices that are not live have no choice.
            choices: on.filled(2 * vertices, NONE)?.cast(),
            parents: on.filled(vertices, Vertex::NONE)?,
            touched: on.uninitialized(words(vertices))?,
            left: half_edges / 3,
            has_border: None,
            rules: options.rules(unit),
            sites,
            heads,
            nexts,
            starts,
            unit,
        })
    }

    /// Computes the costs of all edges.
    pub fn price(&mut self, on: &Device) -> Result<()> {
        stage(on, "price edges", || {
            let (sites, starts) = (&self.sites, &mut self.starts);
            let n = starts.len() as u32 / 3;
            match &self.weighed {
                // SAFETY: the corners of triangles that are left are vertices.
                None => unsafe {
                    kernel::price_triangles::launch(on, n, sites, self.rules, starts)
                },
                // SAFETY: as above; each vertex has a trend for each channel.
                Some(Weighed { channels, trends }) => unsafe {
                    kernel::price_weighed::launch(
                        on, n, sites, channels, trends, self.rules, starts,
                    )
                },
            }?;
            let n = sites.len() as u32;
            kernel::mark_live::launch(on, n, &self.heads, sites, &mut self.touched)?;
            Ok(())
        })
    }

    /// Whether the surface has a boundary. It has one as long as edges collapse.
    pub fn has_border(&mut self, on: &Device) -> Result<bool> {
        if let Some(has_border) = self.has_border {
            return Ok(has_border);
        }
        let vertices = self.sites.len();
        let mut bits: BitSet<Vertex> = on.uninitialized(words(vertices))?;
        kernel::mark_border::launch(on, vertices as u32, &self.sites, &mut bits)?;
        let has_border = count_bits(on, &bits)? > 0;
        self.has_border = Some(has_border);
        Ok(has_border)
    }

    /// A copy.
    pub fn duplicate(&self, on: &Device) -> Result<Self> {
        Ok(Self {
            sites: on.duplicate(&self.sites)?,
            heads: on.duplicate(&self.heads)?,
            nexts: on.duplicate(&self.nexts)?,
            starts: on.duplicate(&self.starts)?,
            choices: on.duplicate(&self.choices)?,
            parents: on.duplicate(&self.parents)?,
            touched: on.duplicate(&self.touched)?,
            weighed: match &self.weighed {
                Some(weighed) => Some(weighed.duplicate(on)?),
                None => None,
            },
            ..*self
        })
    }

    /// The lists of corners.
    pub fn fans(&self) -> FansBuffers<'_> {
        FansBuffers {
            heads: &self.heads,
            nexts: &self.nexts,
            starts: &self.starts,
        }
    }

    /// The mesh that is left.
    pub fn finish(&self, on: &Device, rounds: u32) -> Result<DeviceDecimated> {
        stage(on, "write the mesh", || {
            let (vertices, triangles) = (self.heads.len(), self.starts.len() / 3);
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
                &self.sites,
                self.unit,
                &mut points,
            )?;
            let mut bits = on.uninitialized(words(triangles))?;
            kernel::mark_left_triangles::launch(on, triangles as u32, &self.starts, &mut bits)?;
            let triangle_ids = compact(on, &bits)?;
            let mut left = on.uninitialized(triangle_ids.len())?;
            kernel::write_triangles::launch(
                on,
                triangle_ids.len() as u32,
                &triangle_ids,
                &self.starts,
                &ranks,
                &mut left,
            )?;
            let values = match &self.weighed {
                Some(weighed) => weighed.values(on, &survivors)?,
                None => on.uninitialized(0)?,
            };
            Ok(DeviceDecimated {
                values,
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
