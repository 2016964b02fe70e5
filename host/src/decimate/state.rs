//! The surface between rounds.

use std::ops::Range;

use glam::DVec3;
use gpu::ids::{HalfEdge, Item, Vertex};
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::{Bits, NONE, words};

use super::kernel::{self, Choice, Edge, FansBuffers, Rules, Site, Span, Start, mark};
use super::weighed::{Numbers, Weighed};
use super::{DeviceDecimated, Options, Result, Surface, stage};
use crate::collective::{Tiled, bucket_long, compact, count_bits, exclusive_scan, most_alone};
use crate::device::{BitSet, Device};

/// A surface of V vertices and T triangles whose edges collapse.
pub(super) struct State {
    /// V.
    pub sites: Buffer<Site>,
    /// The places of each vertex's corners; V.
    pub spans: Buffer<Span>,
    /// Places of corners; the first `used` have been given to vertices.
    pub corners: Buffer<HalfEdge>,
    used: usize,
    /// 3T.
    pub starts: Buffer<Start>,
    /// The cheapest edge of each vertex; V.
    pub choices: Buffer<Choice>,
    /// The vertex that each vertex went into, or none; V.
    pub parents: Buffer<Vertex>,
    /// The vertices that lost their cheapest edge, and search for it again.
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
        let mut spans = on.uninitialized(vertices)?;
        let corners = stage(on, "place corners", || {
            let most = most_alone(on);
            // SAFETY: every corner is a vertex below their number.
            let (lists, _) = unsafe {
                bucket_long::<Vertex, HalfEdge>(on, &corners, vertices, half_edges, most)
            }?;
            let (offsets, items) = lists.into_parts();
            // SAFETY: one index a vertex.
            unsafe { kernel::place_fans::launch(on, n, &offsets, &mut spans) }?;
            Ok(items)
        })?;
        let mut sites = on.uninitialized(vertices)?;
        stage(on, "measure vertices", || {
            let (no_regions, no_locks) = (on.uninitialized(0)?, on.uninitialized(0)?);
            let fans = FansBuffers {
                spans: &spans,
                corners: &corners,
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
                    surface.locked.unwrap_or(&no_locks),
                    options.lock_boundary,
                    &mut sites,
                )
            }?;
            Ok(())
        })?;
        lock_seams(on, surface.points, &mut sites)?;
        let mut rules = options.rules(unit);
        let counts = |numbers: Numbers| numbers.channels.iter().any(|channel| channel.weight > 0.0);
        rules.counts = surface.numbers.is_some_and(counts).into();
        let weighed = surface.numbers.map(|numbers| {
            let fans = FansBuffers {
                spans: &spans,
                corners: &corners,
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
            rules,
            sites,
            spans,
            corners,
            used: half_edges,
            starts,
            unit,
        })
    }

    /// Computes the costs of all edges.
    pub fn price(&mut self, on: &Device) -> Result<()> {
        stage(on, "price edges", || {
            let (sites, starts) = (&self.sites, &mut self.starts);
            let n = starts.len() as u32 / 3;
            match self.weighed.as_ref().filter(|_| self.rules.counts != 0) {
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
            kernel::mark_live::launch(on, n, &self.spans, sites, &mut self.touched)?;
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
        let n = vertices as u32;
        kernel::mark_marked::launch(on, n, &self.sites, mark::BORDER, &mut bits)?;
        let has_border = count_bits(on, &bits)? > 0;
        self.has_border = Some(has_border);
        Ok(has_border)
    }

    /// The numbers of the vertices, if they count in the quadrics.
    pub fn counting(&self) -> Option<&Weighed> {
        self.weighed.as_ref().filter(|_| self.rules.counts != 0)
    }

    /// A copy. It has no room for new lists of corners: the next ones move all.
    pub fn duplicate(&self, on: &Device) -> Result<Self> {
        let (spans, corners, used) = self.packed_fans(on, |_| 0)?;
        Ok(Self {
            sites: on.duplicate(&self.sites)?,
            spans,
            corners,
            used,
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
            spans: &self.spans,
            corners: &self.corners,
            starts: &self.starts,
        }
    }

    /// The edges that act of a range of a list, and the first place for the list of each, counted from the last number.
    pub fn list_edges(
        &mut self,
        on: &Device,
        lows: &Buffer<Vertex>,
        acting: &Buffer<Item>,
        range: Range<usize>,
    ) -> Result<(Buffer<Edge>, Buffer<u32>, u32)> {
        let n = range.len();
        let (mut edges, mut places) = (on.uninitialized(n)?, on.uninitialized(n)?);
        loop {
            // SAFETY: the ends of edges that act are vertices.
            unsafe {
                kernel::list_edges::launch(
                    on,
                    n as u32,
                    acting,
                    range.start as u32,
                    lows,
                    &self.choices,
                    &self.spans,
                    &mut edges,
                    &mut places,
                )
            }?;
            let room = exclusive_scan(on, &mut places)?;
            let room = on.read(&room, 0)? as usize;
            let first = self.used;
            if first + room <= self.corners.len() {
                self.used += room;
                return Ok((edges, places, first as u32));
            }
            self.move_fans(on, room)?;
        }
    }

    /// Moves all corners of triangles that are left to new memory, which has `room` for more, and for as many again.
    fn move_fans(&mut self, on: &Device, room: usize) -> Result<()> {
        let packed = self.packed_fans(on, |left| left.max(room))?;
        (self.spans, self.corners, self.used) = packed;
        Ok(())
    }

    /// The lists of the corners of triangles that are left, without gaps, with `room` after them by their number; and
    /// that number.
    fn packed_fans(
        &self,
        on: &Device,
        room: impl FnOnce(usize) -> usize,
    ) -> Result<(Buffer<Span>, Buffer<HalfEdge>, usize)> {
        let n = self.spans.len();
        let mut offsets = on.uninitialized(n)?;
        let fans = self.fans();
        // SAFETY: the lists hold half-edges of the triangles.
        unsafe { kernel::count_live_corners::launch(on, n as u32, fans, &mut offsets) }?;
        let total = exclusive_scan(on, &mut offsets)?;
        let left = on.read(&total, 0)? as usize;
        let mut spans = on.uninitialized(n)?;
        let mut corners = on.uninitialized(left + room(left))?;
        // SAFETY: as above; each corner has a place of its own below their number.
        unsafe {
            kernel::move_fans::launch(on, n as u32, fans, &offsets, &mut spans, &mut corners)
        }?;
        Ok((spans, corners, left))
    }

    /// The mesh that is left.
    pub fn finish(&self, on: &Device, rounds: u32) -> Result<DeviceDecimated> {
        stage(on, "write the mesh", || {
            let (vertices, triangles) = (self.spans.len(), self.starts.len() / 3);
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

/// Locks the vertices of the boundary that lie at the place of another one: both sides of a seam stay, and no gap
/// opens.
fn lock_seams(on: &Device, points: &Buffer<DVec3>, sites: &mut Buffer<Site>) -> Result<()> {
    stage(on, "find seams", || {
        let vertices = sites.len();
        let mut open: BitSet<Vertex> = on.uninitialized(words(vertices))?;
        let marks = mark::BORDER | mark::APART;
        kernel::mark_marked::launch(on, vertices as u32, sites, marks, &mut open)?;
        let list = compact(on, &open)?;
        if list.is_empty() {
            return Ok(());
        }
        let n = list.len() as u32;
        // Half of the slots stay free, where indices reach.
        let slots = (2 * list.len() + 1).min(u32::MAX as usize);
        let mut owners = on.filled(slots, Vertex::NONE)?;
        let mut seams = on.filled(words(vertices), Bits::EMPTY)?;
        kernel::find_seams::launch(on, n, &list, points, &mut owners, &mut seams)?;
        // SAFETY: the list has vertices, each once.
        unsafe { kernel::lock_seams::launch(on, n, &list, &seams, sites) }?;
        Ok(())
    })
}
