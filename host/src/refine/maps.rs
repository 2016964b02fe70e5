//! The way back from a device: the mesh, and the parent of each part.

use gpu::ids::{Side, Triangle, Vertex};
use gpu::refine::Ends;
use gpu::refine::maps::{find_ancestors, find_edge_ends};
use gpu::weld::gather_regions;
use trioxide_kernel::launch::Buffer;

use super::edges::{DeviceEdgeMesh, Level};
use super::error::Error;
use super::midpoints::{Midpoints, carry};
use super::tags::segments;
use crate::Result;
use crate::device::Device;
use crate::half_edges::{self, AnyPoint, DeviceSurface, DeviceTriangulation, Known};
use crate::mesh::{EdgeTriangulation, Refinement, Segment, Triangulation};

/// The arrays of a refined mesh on a device: V points, T triangles.
pub struct RefinedArrays<P> {
    /// Points, those of the input first, and triangles. Its half-edges are known.
    pub surface: DeviceSurface<P>,
    /// The triangle of the input that each is a part of; T.
    pub parents: Buffer<Triangle>,
    /// Where the new vertices lie.
    pub midpoints: Midpoints,
}

impl<P: AnyPoint> DeviceEdgeMesh<P> {
    /// The mesh as half-edges, which its sides lead to.
    ///
    /// # Errors
    /// Errors of [`DeviceTriangulation::of_surface`]: a mesh whose triangles run clockwise is refused.
    pub fn into_triangulation(self, on: &Device) -> half_edges::Result<DeviceTriangulation<P>> {
        DeviceTriangulation::of_surface(on, self.into_surface(on))
    }

    /// The mesh as a surface whose half-edges are known: made of its sides when they are first asked for.
    pub fn into_surface(self, on: &Device) -> DeviceSurface<P> {
        surface(on, self.points, self.corners, self.sides, self.levels)
    }

    /// The mesh with its edges, in host memory.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn download(&self, on: &Device) -> Result<EdgeTriangulation<P>> {
        on.stage("copy to the host", || {
            let marker = |tag: u32| match tag {
                0 => 0,
                // There is one number an edge: the first.
                tag => self.markers[tag as usize - 1][0],
            };
            Ok(EdgeTriangulation {
                points: on.download(&self.points)?,
                edges: on.download_rows(&self.edge_ends(on)?)?,
                triangles: on.download_rows(&self.sides)?,
                tags: on.download(&self.tags)?.into_iter().map(marker).collect(),
            })
        })
    }

    /// Start and end of each edge, along its owner; E.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn edge_ends(&self, on: &Device) -> Result<Buffer<Ends>> {
        let level = self.level();
        let mut ends = on.uninitialized(level.edges as usize)?;
        let n = 3 * level.triangles;
        find_edge_ends::launch(on, n, &self.corners, &self.sides, &mut ends)?;
        Ok(ends)
    }

    /// The mesh by points and triangles, in host memory. A triangle has the region of its ancestor in the input; edges
    /// of segments are segments, in the order of their ids; before a round, the segments of the input.
    ///
    /// # Errors
    /// [`Error::Length`] when `regions` has another length than the input's list of triangles; errors of the device.
    pub fn triangulation(
        &self,
        on: &Device,
        regions: Option<&[i32]>,
    ) -> Result<Triangulation<P::Double>, Error> {
        if let Some(regions) = regions {
            self.levels[0].check_regions(regions.len())?;
        }
        let mesh = on.stage("copy to the host", || {
            let regions = regions
                .map(|regions| -> Result<Vec<i32>> {
                    let ancestors = on.download(&self.ancestors(on)?)?;
                    Ok(ancestors
                        .iter()
                        .map(|t| regions[t.index() as usize])
                        .collect())
                })
                .transpose()?;
            Ok(Triangulation {
                points: self.download_points(on)?,
                triangles: on.download_rows(&self.corners)?,
                regions,
                segments: self.segments(on)?,
            })
        })?;
        Ok(mesh)
    }

    fn download_points(&self, on: &Device) -> Result<Vec<P::Double>> {
        if size_of::<P>() == size_of::<P::Double>() {
            return on.download_rows(&self.points);
        }
        let points = on.download(&self.points)?;
        Ok(points.into_iter().map(P::to_f64).collect())
    }

    fn segments(&self, on: &Device) -> Result<Vec<Segment>> {
        if self.tags.is_empty() {
            return Ok(Vec::new());
        }
        if self.levels.len() == 1 && !self.segments.is_empty() {
            return Ok(self.segments.clone());
        }
        let ends: Vec<[u32; 2]> = on.download_rows(&self.edge_ends(on)?)?;
        Ok(segments(&self.markers, ends, on.download(&self.tags)?))
    }

    /// The triangle of the input that each triangle is a part of; T.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn ancestors(&self, on: &Device) -> Result<Buffer<Triangle>> {
        let (n, input) = (self.level().triangles, self.levels[0].triangles);
        let mut ancestors = on.uninitialized(n as usize)?;
        find_ancestors::launch(on, n, &self.parents, &mut ancestors, input)?;
        Ok(ancestors)
    }

    /// The records of the rounds.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn rounds(&self, on: &Device) -> Result<Vec<Refinement>> {
        let input = self.levels[0];
        let round = |pair: &[Level]| {
            let [before, after] = [0, 1].map(|k| {
                let vertices = (pair[k].vertices - input.vertices) as usize;
                (vertices, (pair[k].triangles - input.triangles) as usize)
            });
            let (vertices, triangles) = (before.0..after.0, before.1..after.1);
            Ok(Refinement {
                divided: on.download_range_rows(&self.divided, vertices.clone())?,
                ends: on.download_range_rows(&self.origins, vertices)?,
                parents: on.download_range_rows(&self.parents, triangles)?,
            })
        };
        self.levels.windows(2).map(round).collect()
    }

    /// Carries a vertex field of the input to this level: its value at a new vertex is the mean of the values at the
    /// ends of its edge.
    ///
    /// # Errors
    /// [`Error::Length`] when the field does not have a value for each vertex of the input; errors of the device.
    pub fn interpolate(&self, on: &Device, field: &mut Buffer<f64>) -> Result<(), Error> {
        // SAFETY: the record of the rounds.
        unsafe { carry(on, &self.origins, &self.vertices(), field) }
    }

    /// Number of vertices of the input, and after each round.
    fn vertices(&self) -> Vec<u32> {
        self.levels.iter().map(|level| level.vertices).collect()
    }

    /// The region of each triangle, from the regions of the input's triangles, on the device; T.
    ///
    /// # Errors
    /// [`Error::Length`] when there is not one for each triangle of the input; errors of the device.
    pub fn regions(&self, on: &Device, regions: &Buffer<i32>) -> Result<Buffer<i32>, Error> {
        self.levels[0].check_regions(regions.len())?;
        let ancestors = self.ancestors(on)?;
        let mut gathered = on.uninitialized(ancestors.len())?;
        let n = ancestors.len() as u32;
        gather_regions::launch(on, n, &ancestors, regions, &mut gathered)?;
        Ok(gathered)
    }

    /// The arrays of the mesh, for further work on the device.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn into_arrays(self, on: &Device) -> Result<RefinedArrays<P>> {
        let vertices = self.vertices();
        Ok(RefinedArrays {
            parents: self.ancestors(on)?,
            surface: surface(on, self.points, self.corners, self.sides, self.levels),
            // SAFETY: the record of the rounds.
            midpoints: unsafe { Midpoints::new(self.origins, vertices) },
        })
    }
}

/// The surface of a refined mesh.
fn surface<P>(
    on: &Device,
    points: Buffer<P>,
    corners: Buffer<Vertex>,
    sides: Buffer<Side>,
    levels: Vec<Level>,
) -> DeviceSurface<P> {
    let now = levels[levels.len() - 1];
    let [vertices, edges] = [now.vertices, now.edges].map(|count| count as usize);
    // SAFETY: a mesh with edges has an owner for each, and another triangle along it at most.
    let known = unsafe { Known::of_sides(on, vertices, edges, sides) };
    DeviceSurface::of_parts(points, corners, known, None)
}

impl Level {
    /// Refuses regions of another number of triangles.
    ///
    /// # Errors
    /// [`Error::Length`].
    pub fn check_regions(self, regions: usize) -> Result<(), Error> {
        match regions == self.triangles as usize {
            true => Ok(()),
            false => Err(Error::Length {
                values: "regions",
                given: regions,
                elements: "triangles",
                needed: self.triangles as usize,
            }),
        }
    }
}
