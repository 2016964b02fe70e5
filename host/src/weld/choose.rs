//! The choice among the ways to compute clusters.

use glam::DVec3;
use gpu::ids::Vertex;
use gpu::weld as kernel;
use gpu::weld::Cluster;
use trioxide_kernel::launch::Buffer;

use super::by_grid::cluster;
use super::clustering::Clustering;
use super::clusters::Clusters;
use super::grid::DeviceGrid;
use super::guards::DeviceGuards;
use super::{Error, Method, Options, Result, bytes_needed, dependency, on_the_fly, sparse_grid};
use crate::device::Device;

impl Method {
    /// The method to use for V points and F triangles, which are on the device already if `resident`: itself, or the
    /// one that `Auto` stands for.
    ///
    /// # Errors
    /// [`OutOfMemory`](crate::Error::OutOfMemory) when it does not fit the free memory.
    pub fn choose(
        self,
        on: &Device,
        points: usize,
        faces: usize,
        resident: bool,
    ) -> Result<Method> {
        let mesh = points * size_of::<DVec3>() + faces * size_of::<[u32; 3]>();
        let fits = |method: Method| {
            let needed = bytes_needed(method, points, faces);
            on.require(needed - if resident { mesh as u64 } else { 0 })?;
            Ok(method)
        };
        if self != Method::Auto {
            return fits(self);
        }
        match fits(Method::Grid) {
            Err(Error::Shared(crate::Error::OutOfMemory { .. })) => fits(Method::OnTheFly),
            chosen => chosen,
        }
    }

    /// Clusters points by this method; `guards` are for [`Method::Grid`], which `Auto` stands for here.
    pub(super) fn cluster(
        self,
        on: &Device,
        points: &Buffer<DVec3>,
        guards: &DeviceGuards,
        options: &Options,
    ) -> Result<Clustering> {
        let cluster_at_once = |points: &Buffer<DVec3>, most_in_cell: u32| match self {
            Method::Auto | Method::Grid => cluster(on, points, guards, options).map(Some),
            Method::Dependency => dependency::cluster(on, points, options, most_in_cell),
            Method::OnTheFly => on_the_fly::cluster(on, points, options, most_in_cell),
            Method::SparseGrid => sparse_grid::cluster(on, points, options, most_in_cell),
        };
        if let Some(clustering) = cluster_at_once(points, MOST_IN_CELL)? {
            return Ok(clustering);
        }
        let distinct = Distinct::of(on, points, guards)?;
        let clustering = cluster_at_once(&distinct.points, u32::MAX)?;
        let mut clustering = clustering.expect("no cell is refused");
        clustering.representatives = distinct.expand(on, &clustering.representatives)?;
        clustering.is_crowded = true;
        Ok(clustering)
    }
}

/// Vertices of a cell of the paper's methods from which on equal ones are collapsed first: pairs of them would be far
/// too many.
const MOST_IN_CELL: u32 = 4096;

/// The distinct points among points.
///
/// Equal points have the same neighbours, and each other. So the lowest of them decides for all: if it is a
/// representative, it is the lowest that is near the others; if not, all have the same.
struct Distinct {
    points: Buffer<DVec3>,
    /// The distinct point of each point; V.
    map: Buffer<Cluster>,
    /// Lowest vertex of each distinct point.
    lowest: Buffer<Vertex>,
}

impl Distinct {
    fn of(on: &Device, points: &Buffer<DVec3>, guards: &DeviceGuards) -> Result<Self> {
        let equal = cluster(on, points, guards, &Options::new(0.0))?;
        let clusters = Clusters::number(on, &equal.representatives)?;
        Ok(Self {
            points: clusters.positions(on, points, None)?,
            map: clusters.map,
            lowest: clusters.representatives,
        })
    }

    /// The representative of each point, from those of the distinct ones.
    fn expand(&self, on: &Device, representatives: &Buffer<Vertex>) -> Result<Buffer<Vertex>> {
        let n = self.map.len();
        let mut place = on.uninitialized(n)?;
        let mut expanded = on.uninitialized(n)?;
        let (from, map) = (representatives.as_words(), self.map.as_words());
        kernel::shorten_list::launch(on, n as u32, from, map, &mut place)?;
        let from = self.lowest.as_words();
        kernel::shorten_list::launch(on, n as u32, from, &place, &mut expanded)?;
        Ok(expanded.cast())
    }
}

/// Bytes that computing clusters takes at once, for V points.
pub fn cluster_bytes(method: Method, points: usize) -> usize {
    match method {
        // Lists of lower neighbours, states, representatives.
        Method::Grid => {
            DeviceGrid::bytes_needed(points)
                + points * (kernel::LISTED as usize + 2) * size_of::<u32>()
        }
        Method::Dependency => dependency::bytes_needed(points),
        Method::Auto | Method::OnTheFly => on_the_fly::bytes_needed(points),
        Method::SparseGrid => sparse_grid::bytes_needed(points),
    }
}
