//! The surface between rounds.

use std::ops::Range;

use gpu::ids::{HalfEdge, Item, Vertex};
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::{NONE, words};

use super::fans::place_corners;
use super::kernel::{self, Choice, Edge, FansBuffers, Rules, Site, Span, Start, mark};
use super::seams::{self, Seams};
use super::weighed::{Numbers, Weighed};
use super::{DeviceDecimated, Options, Result, Surface, stage};
use crate::collective::{Tiled, compact, count_bits, exclusive_scan};
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
    /// The copies at seams, if there are seams. Then the other arrays have one vertex a place.
    pub seams: Option<Seams>,
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
        let vertices_of_corners = corners;
        let (mut spans, mut corners) = stage(on, "place corners", || {
            place_corners(on, &vertices_of_corners, vertices)
        })?;
        let mut starts = starts;
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
                    &mut sites,
                )
            }?;
            Ok(())
        })?;
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
        let weighed = weighed.transpose()?;
        let seams = stage(on, "find seams", || {
            let lists = seams::Lists {
                spans: &mut spans,
                corners: &mut corners,
                starts: &mut starts,
                sites: &mut sites,
            };
            let copies = vertices_of_corners;
            let has_numbers = weighed.is_some();
            Seams::find(on, surface.points, copies, lists, options, has_numbers)
        })?;
        Ok(Self {
            weighed,
            seams,
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
            let sites = &self.sites;
            let n = self.starts.len() as u32 / 3;
            let weighed = self.weighed.as_ref().filter(|_| self.rules.counts != 0);
            match (weighed, &self.seams) {
                // SAFETY: the corners of triangles that are left are vertices.
                (None, _) => unsafe {
                    kernel::price_triangles::launch(on, n, sites, self.rules, &mut self.starts)
                },
                (Some(Weighed { channels, trends }), Some(seams)) => {
                    let mut priced = on.uninitialized(self.starts.len())?;
                    let (copies, areas) = (&seams.copies, &seams.areas);
                    let fans = self.fans();
                    // SAFETY: as above; the lists have corners of triangles, and each vertex a trend for each channel.
                    unsafe {
                        kernel::price_seamed::launch(
                            on,
                            n,
                            fans,
                            copies,
                            areas,
                            sites,
                            channels,
                            trends,
                            self.rules,
                            &mut priced,
                        )
                    }?;
                    self.starts = priced;
                    Ok(())
                }
                // SAFETY: as above; each vertex has a trend for each channel.
                (Some(Weighed { channels, trends }), None) => unsafe {
                    kernel::price_weighed::launch(
                        on,
                        n,
                        sites,
                        channels,
                        trends,
                        self.rules,
                        &mut self.starts,
                    )
                },
            }?;
            let n = self.sites.len() as u32;
            kernel::mark_live::launch(on, n, &self.spans, &self.sites, &mut self.touched)?;
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
            seams: match &self.seams {
                Some(seams) => Some(seams.duplicate(on)?),
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
            let (count, list) = (triangle_ids.len() as u32, &triangle_ids);
            match &self.seams {
                None => {
                    let starts = &self.starts;
                    kernel::write_triangles::launch(on, count, list, starts, &ranks, &mut left)
                }
                Some(Seams { copies, .. }) => {
                    kernel::write_copies::launch(on, count, list, copies, &ranks, &mut left)
                }
            }?;
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
