//! Welded meshes.

use glam::DVec3;
use gpu::ids::Vertex;
use gpu::weld::{self as kernel, Cluster};
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::words;

use super::{CarriedArrays, DeviceCarried, Method, Result};
use crate::collective::compact;
use crate::device::{BitSet, Device};
use crate::mesh::VertexAttributes;

/// A welded mesh: C clusters of V vertices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Welded {
    /// New vertex of each old one; V.
    pub map: Vec<u32>,
    /// Old vertex that represents each new one, ascending; C.
    pub representatives: Vec<u32>,
    /// New positions; C.
    pub points: Vec<DVec3>,
    /// Remaining triangles, in their order, with new vertices.
    pub faces: Vec<[u32; 3]>,
    /// Attributes of the new vertices; C elements each.
    pub attributes: VertexAttributes,
    /// Regions of the remaining triangles.
    pub regions: Option<Vec<i32>>,
}

/// A welded mesh on a device: C clusters of V vertices.
pub struct DeviceWeld {
    pub(super) map: Buffer<Cluster>,
    pub(super) representatives: Buffer<Vertex>,
    pub(super) points: Buffer<DVec3>,
    pub(super) faces: Buffer<[Cluster; 3]>,
    pub(super) carried: DeviceCarried,
    pub(super) left: Vec<u32>,
    pub(super) method: Method,
}

/// The arrays of a [`DeviceWeld`].
pub struct WeldArrays {
    /// New vertex of each old one; V.
    pub map: Buffer<Cluster>,
    /// Old vertex that represents each new one, ascending; C.
    pub representatives: Buffer<Vertex>,
    /// New positions; C.
    pub points: Buffer<DVec3>,
    /// Remaining triangles, in their order, with new vertices.
    pub faces: Buffer<[Cluster; 3]>,
    /// Attributes of the new vertices and regions of the remaining triangles; no locks.
    pub carried: CarriedArrays,
}

impl DeviceWeld {
    /// New vertex of each old one; V.
    pub fn map(&self) -> &Buffer<Cluster> {
        &self.map
    }

    /// Old vertex that represents each new one, ascending; C.
    pub fn representatives(&self) -> &Buffer<Vertex> {
        &self.representatives
    }

    /// The old vertices that are gone, ascending; V - C.
    ///
    /// # Errors
    /// Those of the device.
    pub fn removed(&self, on: &Device) -> Result<Buffer<Vertex>> {
        super::stage(on, "removed vertices", || {
            let n = self.map.len();
            let mut gone: BitSet<Vertex> = on.uninitialized(words(n))?;
            let (map, representatives) = (&self.map, &self.representatives);
            kernel::mark_removed::launch(on, n as u32, map, representatives, &mut gone)?;
            Ok(compact(on, &gone)?)
        })
    }

    /// New positions; C.
    pub fn points(&self) -> &Buffer<DVec3> {
        &self.points
    }

    /// Remaining triangles, in their order, with new vertices.
    pub fn faces(&self) -> &Buffer<[Cluster; 3]> {
        &self.faces
    }

    /// Attributes of the new vertices and regions of the remaining triangles; no locks.
    pub fn carried(&self) -> &DeviceCarried {
        &self.carried
    }

    /// Vertices that were undecided after each round of decisions, down to 0; buckets that had any, where cells are
    /// crowded. The count decides the speed, not the result; it may differ from run to run.
    pub fn left(&self) -> &[u32] {
        &self.left
    }

    /// The method that was used.
    pub fn method(&self) -> Method {
        self.method
    }

    /// The arrays of the result, for further work on the device.
    pub fn into_arrays(self) -> WeldArrays {
        WeldArrays {
            map: self.map,
            representatives: self.representatives,
            points: self.points,
            faces: self.faces,
            carried: self.carried.into_arrays(),
        }
    }

    /// The whole result in host memory.
    ///
    /// # Errors
    /// Those of the device.
    pub fn download(&self, on: &Device) -> Result<Welded> {
        super::stage(on, "copy to the host", || {
            let (attributes, regions) = self.carried.download(on)?;
            Ok(Welded {
                attributes,
                regions,
                map: on.download_rows(&self.map)?,
                representatives: on.download_rows(&self.representatives)?,
                points: on.download(&self.points)?,
                faces: on.download_rows(&self.faces)?,
            })
        })
    }
}
