//! Surfaces with seams: the copies of the vertices at one place.

use glam::DVec3;
use gpu::ids::{HalfEdge, Vertex};
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::{Bits, words};

use super::fans::place_corners;
use super::kernel::{self, Channel, FansBuffers, Site, Span, Start, Trend, mark};
use super::{Options, Result};
use crate::collective::{compact, count_bits};
use crate::device::{BitSet, Device};

/// The copies at the seams of a surface of V vertices and T triangles.
pub(super) struct Seams {
    /// The copy of each corner; 3T.
    pub copies: Buffer<Vertex>,
    /// The area of the quadric of each copy; V, or empty without numbers of the vertices.
    pub areas: Buffer<f64>,
    /// For a surface without numbers.
    pub no_channels: Buffer<Channel>,
    pub no_trends: Buffer<Trend>,
}

/// The fans and the sites of a surface.
pub(super) struct Lists<'a> {
    pub spans: &'a mut Buffer<Span>,
    pub corners: &'a mut Buffer<HalfEdge>,
    pub starts: &'a mut Buffer<Start>,
    pub sites: &'a mut Buffer<Site>,
}

impl Lists<'_> {
    fn fans(&self) -> FansBuffers<'_> {
        FansBuffers {
            spans: self.spans,
            corners: self.corners,
            starts: self.starts,
        }
    }
}

/// The vertices of the boundary, and the lowest at the place of each.
struct Border<'a> {
    on: &'a Device,
    points: &'a Buffer<DVec3>,
    list: &'a Buffer<Vertex>,
    lowest: Buffer<Vertex>,
}

impl Seams {
    /// Finds the vertices of the boundary that lie at one place, and joins the `lists` of the copies, which are the
    /// vertices of the corners. None if there are none. Locks the boundary, if the options do.
    pub fn find(
        on: &Device,
        points: &Buffer<DVec3>,
        copies: Buffer<Vertex>,
        mut lists: Lists,
        options: &Options,
        has_numbers: bool,
    ) -> Result<Option<Self>> {
        let vertices = points.len();
        let mut open: BitSet<Vertex> = on.uninitialized(words(vertices))?;
        let marks = mark::BORDER | mark::APART;
        kernel::mark_marked::launch(on, vertices as u32, lists.sites, marks, &mut open)?;
        let list = compact(on, &open)?;
        if list.is_empty() {
            return Ok(None);
        }
        let seams = match lowest_copies(on, points, &list)? {
            None => None,
            Some(lowest) => {
                // The lists are made anew beside the old ones; later there are two numbers for each half-edge.
                on.require((24 * vertices + 24 * copies.len()) as u64)?;
                let mut areas = on.uninitialized(if has_numbers { vertices } else { 0 })?;
                if has_numbers {
                    kernel::write_areas::launch(on, vertices as u32, lists.sites, &mut areas)?;
                }
                let border = Border {
                    on,
                    points,
                    list: &list,
                    lowest,
                };
                border.join(&copies, &mut lists)?;
                Some(Self {
                    copies,
                    areas,
                    no_channels: on.uninitialized(0)?,
                    no_trends: on.uninitialized(0)?,
                })
            }
        };
        if options.lock_boundary {
            // SAFETY: the list has vertices, each once.
            unsafe { kernel::lock_border::launch(on, list.len() as u32, &list, lists.sites) }?;
        }
        Ok(seams)
    }

    /// A copy.
    pub fn duplicate(&self, on: &Device) -> Result<Self> {
        Ok(Self {
            copies: on.duplicate(&self.copies)?,
            areas: on.duplicate(&self.areas)?,
            no_channels: on.uninitialized(0)?,
            no_trends: on.uninitialized(0)?,
        })
    }
}

/// The lowest vertex of a list at the place of each vertex of it, and none for other vertices; V. None if no two of the
/// list lie at one place.
fn lowest_copies(
    on: &Device,
    points: &Buffer<DVec3>,
    list: &Buffer<Vertex>,
) -> Result<Option<Buffer<Vertex>>> {
    let n = list.len() as u32;
    // Half of the slots stay free, where indices reach.
    let slots = (2 * list.len() + 1).min(u32::MAX as usize);
    let mut owners = on.filled(slots, Vertex::NONE)?;
    let mut found = on.filled(1, Vertex::NONE)?;
    kernel::find_seams::launch(on, n, list, points, &mut owners, &mut found)?;
    if on.read(&found, 0)?.is_none() {
        return Ok(None);
    }
    let mut lowest = on.filled(points.len(), Vertex::NONE)?;
    kernel::find_lowest::launch(on, n, list, points, &owners, &mut lowest)?;
    Ok(Some(lowest))
}

impl Border<'_> {
    /// Joins the lists of the copies at each place, and the sites of the copies.
    fn join(mut self, copies: &Buffer<Vertex>, lists: &mut Lists) -> Result<()> {
        let (on, n) = (self.on, self.list.len() as u32);
        let mut parted: BitSet<Vertex> = on.filled(words(self.points.len()), Bits::EMPTY)?;
        let triangles = copies.len() as u32 / 3;
        kernel::find_flat_corners::launch(on, triangles, copies, &self.lowest, &mut parted)?;
        self.part(&parted, lists)?;
        self.join_lists(copies, lists)?;
        // Copies whose triangles together are no single fan stay apart.
        let mut parted = on.filled(words(self.points.len()), Bits::EMPTY)?;
        let (list, lowest, points) = (self.list, &self.lowest, self.points);
        // SAFETY: the list has vertices, and the fans have half-edges of the triangles.
        unsafe {
            kernel::find_parted::launch(on, n, list, lowest, lists.fans(), points, &mut parted)
        }?;
        if self.part(&parted, lists)? {
            self.join_lists(copies, lists)?;
        }
        let (list, lowest, points) = (self.list, &self.lowest, self.points);
        let fans = FansBuffers {
            spans: lists.spans,
            corners: lists.corners,
            starts: lists.starts,
        };
        // SAFETY: as above; the copies at a place are at no other.
        unsafe {
            kernel::join_sites::launch(on, n, list, lowest, fans, copies, points, lists.sites)
        }?;
        Ok(())
    }

    /// Makes the copies at the `parted` places places of their own, and locks them. Returns whether there are any.
    fn part(&mut self, parted: &BitSet<Vertex>, lists: &mut Lists) -> Result<bool> {
        let on = self.on;
        if count_bits(on, parted)? == 0 {
            return Ok(false);
        }
        let (list, lowest) = (self.list, &mut self.lowest);
        // SAFETY: the list has vertices, each once, and each has a lowest one.
        unsafe {
            kernel::part_copies::launch(on, list.len() as u32, list, parted, lowest, lists.sites)
        }?;
        Ok(true)
    }

    /// Makes the lists of the places.
    fn join_lists(&self, copies: &Buffer<Vertex>, lists: &mut Lists) -> Result<()> {
        let on = self.on;
        let mut places = on.uninitialized(copies.len())?;
        let n = copies.len() as u32;
        let lowest = &self.lowest;
        kernel::place_copies::launch(on, n, copies, lowest, &mut places, lists.starts)?;
        (*lists.spans, *lists.corners) = place_corners(on, &places, self.points.len())?;
        Ok(())
    }
}
