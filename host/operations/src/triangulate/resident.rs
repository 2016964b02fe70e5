//! Triangulation of points that stay on their device.

use std::sync::Arc;

use glam::{DVec2, DVec3};
use trioxide::device::Device;
use trioxide::half_edges::{DeviceSurface, Known};
use trioxide::ids::{Triangle, Vertex};
use trioxide::mesh::gather;
use trioxide::outline::Region;
use trioxide::{Buffer, forms};

use super::once::Once;
use super::resolve::OnDevice;
use super::within::within;
use super::{Options, Refusal, Totals, areas_of, background, find, ids_of, neighbours};
use crate::error::Result;

/// Segments, holes and regions beside points on a device; none for points alone.
#[derive(Default)]
pub struct ResidentLimits {
    /// Vertices at the ends of segments.
    pub segments: Option<Buffer<[u32; 2]>>,
    /// A point in each hole.
    pub holes: Vec<DVec2>,
    /// The regions; triangles in none are in region 0.
    pub regions: Vec<Region>,
}

/// A triangulation on a device.
pub struct Resident {
    /// All points, if some are added.
    pub points: Option<Buffer<DVec2>>,
    /// The triangles.
    pub triangles: Buffer<[u32; 3]>,
    /// The data known of the triangles.
    pub known: Arc<Known>,
    /// The region of each triangle, if there are regions.
    pub regions: Option<Buffer<i32>>,
    /// The pieces of segments, if there are segments.
    pub pieces: Option<Pieces>,
    /// For each point the first at its place; `None` where all are distinct.
    pub firsts: Option<Buffer<Vertex>>,
    /// As of a [`Report`]; three a triangle.
    pub neighbours: Option<Buffer<Triangle>>,
    /// The counts.
    pub totals: Totals,
    /// Sentences on input that was left out, and on bounds that could not be reached.
    pub notes: Vec<String>,
}

/// Pieces of segments on a device.
pub struct Pieces {
    /// Their vertices, segment by segment.
    pub ends: Buffer<[u32; 2]>,
    /// The segment of each.
    pub parents: Buffer<u32>,
}

impl Pieces {
    /// Keeps one piece along each edge, and names the segments that lose pieces. The host compares them: they are few
    /// beside the triangles.
    fn keep_once(&mut self, on: &Device) -> Result<Option<String>> {
        let (ends, parents) = (on.download(&self.ends)?, on.download(&self.parents)?);
        let once = Once::new(&ends, &parents);
        if let Some(kept) = &once.kept {
            self.ends = on.upload(&gather(&ends, kept))?;
            self.parents = on.upload(&gather(&parents, kept))?;
        }
        Ok(once.note(&[]))
    }
}

/// Points of space on a device by their x and y.
///
/// # Errors
/// [`Refusal::ResidentHeights`] for points of different z that are refined; errors of the device.
pub fn flatten(on: &Device, points: &Buffer<DVec3>, options: &Options) -> Result<Buffer<DVec2>> {
    if options.refines() {
        let (low, high) = trioxide::points::bounds(on, points)?;
        if low.z < high.z {
            let heights = [low.z, high.z];
            return Err(Refusal::ResidentHeights { heights }.into());
        }
    }
    Ok(forms::flatten(on, points)?)
}

/// Triangulates points on a device, where they stay, within limits.
///
/// ```
/// use trioxide::glam::DVec2;
/// use trioxide_operations::triangulate;
///
/// # fn main() -> trioxide_operations::Result<()> {
/// # let device = trioxide::Device::cpu(None)?;
/// let points = device.upload(&[DVec2::ZERO, DVec2::X, DVec2::Y])?;
/// let (limits, options) = Default::default();
/// let found = triangulate::resident(&device, &points, &limits, &options)?;
/// assert_eq!(device.download(&found.triangles)?, [[0, 1, 2]]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`Refusal::ResidentOrder`]; those of [`triangulate()`].
pub fn resident(
    on: &Device,
    points: &Buffer<DVec2>,
    limits: &ResidentLimits,
    options: &Options,
) -> Result<Resident> {
    let ResidentLimits {
        segments,
        holes,
        regions,
    } = limits;
    let areas = areas_of(regions);
    options.refinement(&areas, None).check()?;
    let sizes = background::sizes(options)?;
    if options.reorder {
        return Err(Refusal::ResidentOrder.into());
    }
    let is_plain =
        segments.is_none() && holes.is_empty() && regions.is_empty() && !options.refines();
    let found = if is_plain {
        let (found, totals) = find(on, points, options.duplicates)?;
        let (triangles, firsts) = found.into_arrays();
        Resident {
            points: None,
            triangles: triangles.cast(),
            known: Arc::default(),
            regions: None,
            pieces: None,
            firsts,
            neighbours: None,
            totals,
            notes: Vec::new(),
        }
    } else {
        let none = on.uninitialized(0)?;
        let given = segments.as_ref().unwrap_or(&none);
        let input = [points.len(), given.len()];
        let mut resolved = match options.resolve {
            true => OnDevice::new(on, points, given)?,
            false => None,
        };
        let (points, given) = resolved.as_ref().map_or((points, given), |resolved| {
            (&resolved.points, &resolved.pieces)
        });
        let limits = (holes.as_slice(), regions.as_slice());
        let found = within(on, points, given, limits, options, sizes.as_ref())?;
        let mut totals = found.totals(input);
        totals.vertices = found.points.as_ref().map_or(points.len(), Buffer::len) as u64;
        let mut notes = found.notes(limits, options);
        let region_ids = found.mesh.region_ids(on, &ids_of(regions))?;
        let mut parents = found.mesh.parents(on)?;
        let (triangles, pieces, mut firsts) = found.mesh.into_arrays();
        if let Some(resolved) = &resolved {
            totals.crossings = resolved.crossings;
            notes.insert(0, resolved.note.clone());
            parents = resolved.parents(on, &parents)?;
            if let Some(firsts) = &mut firsts {
                on.resize(firsts, input[0])?;
            }
        }
        let mut pieces = Pieces {
            ends: pieces.cast(),
            parents,
        };
        if let Some(note) = pieces.keep_once(on)? {
            totals.segments = pieces.ends.len() as u64;
            notes.push(note);
        }
        Resident {
            points: found
                .points
                .or(resolved.take().map(|resolved| resolved.points)),
            triangles: triangles.cast(),
            known: Arc::default(),
            regions: region_ids,
            pieces: segments.as_ref().map(|_| pieces),
            firsts,
            neighbours: None,
            totals,
            notes,
        }
    };
    match options.neighbours {
        true => with_neighbours(on, points, found),
        false => Ok(found),
    }
}

/// Adds the neighbours, and the half-edges that are known then.
fn with_neighbours(on: &Device, given: &Buffer<DVec2>, found: Resident) -> Result<Resident> {
    let points = on.duplicate(found.points.as_ref().unwrap_or(given))?;
    let surface = DeviceSurface::new(points, found.triangles);
    let (surface, neighbours) = neighbours::find(on, surface)?;
    let known = surface.known().clone();
    let (_, triangles) = surface.into_arrays();
    Ok(Resident {
        triangles,
        known,
        neighbours: Some(neighbours),
        ..found
    })
}
