//! Wanted edge lengths on a background mesh, on a device.

use glam::{DVec2, DVec3};
use gpu::delaunay::refinement as kernel;
use gpu::ids::{Triangle, Vertex};
use kernel::{BackgroundBuffers, Cells};
use trioxide_kernel::NONE;
use trioxide_kernel::launch::Buffer;

use crate::collective::{bucket_long, exclusive_scan, lengths, most_alone};
use crate::device::Device;
use crate::half_edges::check_elements;
use crate::reorder::pick;
use crate::{Error, Result, points};

/// A triangulation with a wanted edge length at each of its points, as [`gpu::delaunay::refinement`] defines it.
#[derive(Debug)]
pub struct Background {
    cells: Cells,
    starts: Buffer<u32>,
    entries: Buffer<Triangle>,
    corners: Buffer<Vertex>,
    points: Buffer<DVec2>,
    sizes: Buffer<f64>,
}

impl Background {
    /// The background of points, counter-clockwise triangles and a size at each point.
    ///
    /// # Errors
    /// [`Error::Invalid`] with the point or the triangle that breaks a rule; [`Error::NoFaces`];
    /// [`Error::Argument`] for sizes of another number than the points; those of the device.
    pub fn new(
        on: &Device,
        points: Buffer<DVec2>,
        triangles: Buffer<[u32; 3]>,
        sizes: Buffer<f64>,
    ) -> Result<Self> {
        let corners: Buffer<Vertex> = triangles.cast();
        if corners.is_empty() {
            return Err(Error::NoFaces {
                points: points.len(),
            });
        }
        check_sizes(on, points.len(), &sizes)?;
        check_elements(on, &points, &corners)?;
        // Points of no triangle may be far away.
        let (low, high) = points::bounds(on, &pick(on, &points, &corners)?)?;
        let t = corners.len() / 3;
        let fine = Fineness::new(low, high, t);
        // Slender triangles across many cells, or a few large ones under many small ones, would fill any memory.
        let most = (8 * t as u64 + (1 << 20)).min(u32::MAX.into());
        let mut counts = lengths(on, t)?;
        let mut cells = fine.cells();
        let entries = loop {
            let mut total = on.filled(2, 0)?.cast();
            kernel::count_cells::launch(
                on,
                t as u32,
                &corners,
                &points,
                cells,
                &mut counts,
                &mut total,
            )?;
            let total: u64 = on.read(&total, 0)?;
            if total <= most {
                break total as usize;
            }
            cells = fine.coarser(cells);
        };
        exclusive_scan(on, &mut counts)?;
        let (mut keys, mut listed) = (on.uninitialized(entries)?, on.uninitialized(entries)?);
        kernel::list_cells::launch(
            on,
            t as u32,
            &corners,
            &points,
            cells,
            &counts,
            &mut keys,
            &mut listed,
        )?;
        let count = cells.columns as usize * cells.rows as usize;
        // SAFETY: `list_cells` has written a cell for each entry.
        let lists = unsafe { bucket_long::<u32, u32>(on, &keys, count, entries, most_alone(on)) }?;
        let (starts, order) = lists.0.into_parts();
        Ok(Self {
            cells,
            starts,
            // Entries ascend by triangle, so those of a cell do.
            entries: pick(on, listed.as_words(), &order)?.cast(),
            corners,
            points,
            sizes,
        })
    }

    /// A background without triangles: no bound anywhere.
    pub(super) fn none(on: &Device) -> Result<Self> {
        Ok(Self {
            cells: Fineness::new(DVec3::ZERO, DVec3::ONE, 1).cells(),
            starts: on.filled(2, 0)?,
            entries: on.uninitialized(0)?,
            corners: on.uninitialized(0)?,
            points: on.uninitialized(0)?,
            sizes: on.uninitialized(0)?,
        })
    }

    /// The parameter of kernels.
    pub(super) fn buffers(&self) -> BackgroundBuffers<'_> {
        BackgroundBuffers {
            cells: self.cells,
            starts: &self.starts,
            entries: &self.entries,
            corners: &self.corners,
            points: &self.points,
            sizes: &self.sizes,
        }
    }
}

/// The box of a background, and the number of its triangles.
struct Fineness {
    low: DVec2,
    extent: DVec2,
    triangles: f64,
}

impl Fineness {
    fn new(low: DVec3, high: DVec3, triangles: usize) -> Self {
        let low = low.truncate();
        Self {
            low,
            extent: high.truncate() - low,
            triangles: triangles as f64,
        }
    }

    /// Square cells, about one for each triangle.
    fn cells(&self) -> Cells {
        let width = (self.extent.x / self.triangles).sqrt() * self.extent.y.sqrt();
        let count = |extent: f64| (extent / width).clamp(1.0, self.triangles) as u32;
        self.divided(count(self.extent.x), count(self.extent.y))
    }

    /// Half as many columns and rows.
    fn coarser(&self, cells: Cells) -> Cells {
        self.divided((cells.columns / 2).max(1), (cells.rows / 2).max(1))
    }

    fn divided(&self, columns: u32, rows: u32) -> Cells {
        Cells {
            low: self.low,
            scale: DVec2::new(columns.into(), rows.into()) / self.extent,
            columns,
            rows,
            padding: [0; 2],
        }
    }
}

/// Refuses sizes that are no lengths, and too many or too few of them.
fn check_sizes(on: &Device, points: usize, sizes: &Buffer<f64>) -> Result<()> {
    if sizes.len() != points {
        return Err(Error::Argument(format!(
            "the background has {points} points, but {} sizes: give one for each point",
            sizes.len()
        )));
    }
    let mut found = on.filled(1, NONE)?;
    kernel::find_wrong_size::launch(on, points as u32, sizes, &mut found)?;
    match on.read(&found, 0)? {
        NONE => Ok(()),
        vertex => Err(Error::Invalid {
            element: format!("vertex {vertex}"),
            rule: format!(
                "has the size {}, which is no edge length: give a finite number above 0",
                on.read(sizes, vertex as usize)?
            ),
        }),
    }
}
