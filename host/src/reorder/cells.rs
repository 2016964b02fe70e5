//! The order of cells.

use gpu::ids::{Cell, Vertex};
use gpu::reorder::{self as kernel, Head, cell_rule};
use trioxide_kernel::NONE;
use trioxide_kernel::launch::Buffer;

use super::carry::pick;
use super::{Cells, Polygons, Vertices};
use crate::collective::{exclusive_scan, lengths, order_by_keys};
use crate::device::Device;
use crate::{Error, Result};

/// Orders triangles, given by their old vertices, three each.
///
/// # Errors
/// [`Invalid`](Error::Invalid) for a vertex that is not there; [`Argument`](Error::Argument) for corners that are no
/// whole number of triangles, or that 32 bits do not number; errors of the device.
pub fn triangles<P>(
    on: &Device,
    corners: &Buffer<Vertex>,
    vertices: &Vertices<P>,
) -> Result<Cells> {
    let n = count(corners, 3, "triangles")?;
    on.stage("order cells", || {
        let mut turned = Turned::new(on, n, vertices)?;
        let Turned {
            heads,
            slots,
            counts,
            found,
        } = &mut turned;
        let new = &vertices.new;
        kernel::turn_triangles::launch(on, n as u32, corners, new, heads, slots, counts, found)?;
        turned.order::<3>(on, |cell| {
            missing(on, "triangle", cell, (corners, 3 * cell, 3), vertices)
        })
    })
}

/// Orders tetrahedra, given by their old vertices, four each.
///
/// # Errors
/// As [`triangles`].
pub fn tetrahedra<P>(
    on: &Device,
    corners: &Buffer<Vertex>,
    vertices: &Vertices<P>,
) -> Result<Cells> {
    let n = count(corners, 4, "tetrahedra")?;
    on.stage("order cells", || {
        let mut turned = Turned::new(on, n, vertices)?;
        let Turned {
            heads,
            slots,
            counts,
            found,
        } = &mut turned;
        let new = &vertices.new;
        kernel::turn_tetrahedra::launch(on, n as u32, corners, new, heads, slots, counts, found)?;
        turned.order::<4>(on, |cell| {
            missing(on, "tetrahedron", cell, (corners, 4 * cell, 4), vertices)
        })
    })
}

/// Orders polygons: `offsets` are the starts of their lists in `corners`, the old vertices, and the end of the last.
///
/// # Errors
/// [`Invalid`](Error::Invalid) for a vertex that is not there, and for a polygon without vertices;
/// [`Argument`](Error::Argument) for offsets that do not ascend to the number of corners; errors of the device.
pub fn polygons<P>(
    on: &Device,
    offsets: &Buffer<u32>,
    corners: &Buffer<Vertex>,
    vertices: &Vertices<P>,
) -> Result<Polygons> {
    let wrong = || {
        Error::Argument(
            "the offsets of polygons do not ascend from 0 to the number of corners".into(),
        )
    };
    let n = offsets.len().checked_sub(1).ok_or_else(wrong)?;
    numbered(n, "polygons")?;
    if on.read(offsets, 0)? != 0 || on.read(offsets, n)? as usize != corners.len() {
        return Err(wrong());
    }
    on.stage("order cells", || {
        let mut turned = Turned::new(on, n, vertices)?;
        let Turned {
            heads,
            slots,
            counts,
            found,
        } = &mut turned;
        let new = &vertices.new;
        kernel::turn_polygons::launch(
            on, n as u32, offsets, corners, new, heads, slots, counts, found,
        )?;
        if on.read(found, cell_rule::LIST as usize)? != NONE {
            return Err(wrong());
        }
        let Cells { old, .. } = turned.order::<0>(on, |cell| {
            let [start, end] = [0, 1].map(|k| on.read(offsets, cell as usize + k));
            let (start, end) = (start?, end?);
            missing(on, "face", cell, (corners, start, end - start), vertices)
        })?;
        let mut new_offsets = lengths(on, n)?;
        kernel::measure_turned::launch(on, n as u32, &old, offsets, &mut new_offsets)?;
        exclusive_scan(on, &mut new_offsets)?;
        let mut new_corners = on.uninitialized(corners.len())?;
        kernel::write_turned::launch(
            on,
            n as u32,
            &old,
            offsets,
            corners,
            new,
            &new_offsets,
            &mut new_corners,
        )?;
        Ok(Polygons {
            offsets: new_offsets,
            vertices: new_corners,
            old,
        })
    })
}

/// Number of cells of `each` corners.
fn count(corners: &Buffer<Vertex>, each: usize, what: &str) -> Result<usize> {
    numbered(corners.len(), "corners")?;
    if !corners.len().is_multiple_of(each) {
        let message = format!("{} corners are no whole number of {what}", corners.len());
        return Err(Error::Argument(message));
    }
    Ok(corners.len() / each)
}

fn numbered(count: usize, what: &str) -> Result<()> {
    match u32::try_from(count) {
        Ok(_) => Ok(()),
        Err(_) => Err(Error::Argument(format!(
            "{count} {what} are too many for 32-bit ids"
        ))),
    }
}

/// The error of a cell with a vertex that is not there, or with none: it has `count` corners from `first` on.
fn missing<P>(
    on: &Device,
    element: &str,
    cell: u32,
    (corners, first, count): (&Buffer<Vertex>, u32, u32),
    vertices: &Vertices<P>,
) -> Result<Error> {
    let all = vertices.new.len();
    let mut rule = "has no vertices".to_owned();
    for k in first..first + count {
        let v = on.read(corners, k as usize)?.index();
        if v as usize >= all {
            rule = format!("has vertex {v}, but the mesh has {all} vertices");
            break;
        }
    }
    Ok(Error::Invalid {
        element: format!("{element} {cell}"),
        rule,
    })
}

/// Cells by their new vertices, counted by the first of them.
struct Turned {
    heads: Buffer<Head>,
    /// The place of each cell in the group of its first vertex.
    slots: Buffer<u32>,
    /// Cells of each group, and a 0 for the end.
    counts: Buffer<u32>,
    /// Slots of [`cell_rule`].
    found: Buffer<u32>,
}

impl Turned {
    /// Room for `n` cells.
    fn new<P>(on: &Device, n: usize, vertices: &Vertices<P>) -> Result<Self> {
        Ok(Self {
            heads: on.uninitialized(n)?,
            slots: on.uninitialized(n)?,
            // A wrong cell counts for vertex 0, which may be missing.
            counts: on.filled(vertices.new.len().max(1) + 1, 0)?,
            found: on.filled(cell_rule::COUNT, NONE)?,
        })
    }

    /// Orders cells of `CORNERS` corners, or of any number if it is 0. `missing` makes the error of a wrong cell.
    fn order<const CORNERS: u32>(
        mut self,
        on: &Device,
        missing: impl FnOnce(u32) -> Result<Error>,
    ) -> Result<Cells> {
        let n = self.heads.len();
        exclusive_scan(on, &mut self.counts)?;
        let mut members = on.uninitialized(n)?;
        kernel::group_cells::launch(
            on,
            n as u32,
            &self.heads,
            &self.slots,
            &self.counts,
            &mut members,
        )?;
        let cells = self.rank::<CORNERS, false>(on, &members)?;
        let found = on.download(&self.found)?;
        if found[cell_rule::VERTEX as usize] != NONE {
            return Err(missing(found[cell_rule::VERTEX as usize])?);
        }
        if found[cell_rule::LARGE as usize] == NONE {
            return Ok(cells);
        }
        drop((cells, members));
        let members = self.sort(on, if CORNERS == 3 { 3 } else { 4 })?;
        self.rank::<CORNERS, true>(on, &members)
    }

    fn rank<const CORNERS: u32, const IS_FINAL: bool>(
        &mut self,
        on: &Device,
        members: &Buffer<Cell>,
    ) -> Result<Cells> {
        let n = members.len();
        let mut cells = Cells {
            corners: on.uninitialized(CORNERS as usize * n)?,
            old: on.uninitialized(n)?,
        };
        kernel::rank_cells::launch::<CORNERS, IS_FINAL>(
            on,
            n as u32,
            members,
            &self.heads,
            &self.counts,
            &mut cells.corners,
            &mut cells.old,
            &mut self.found,
        )?;
        Ok(cells)
    }

    /// Cells sorted by their first `vertices` vertices; equal ones in the order of their ids.
    fn sort(&self, on: &Device, vertices: u32) -> Result<Buffer<Cell>> {
        let n = self.heads.len();
        // A missing vertex is the number of all vertices.
        let bits = u32::BITS - (self.counts.len() as u32 - 1).leading_zeros();
        let mut order: Buffer<Cell> = on.uninitialized(0)?;
        for k in (0..vertices).rev() {
            let mut keys = on.uninitialized(n)?;
            kernel::read_vertex::launch(on, n as u32, &order, &self.heads, k, &mut keys)?;
            let next = order_by_keys(on, keys, bits)?;
            order = match order.is_empty() {
                true => next.cast(),
                false => pick(on, order.as_words(), &next)?.cast(),
            };
        }
        Ok(order)
    }
}
