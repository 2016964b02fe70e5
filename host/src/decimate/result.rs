//! Decimated meshes.

use glam::DVec3;
use gpu::ids::{Triangle, Vertex};
use trioxide_kernel::launch::Buffer;

use super::{Result, stage};
use crate::device::Device;

/// A decimated mesh: W of V vertices, U of T triangles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decimated {
    /// New positions; W.
    pub points: Vec<DVec3>,
    /// Remaining triangles, in their order, with new vertices; U.
    pub triangles: Vec<[u32; 3]>,
    /// New vertex that each old one went into; V.
    pub map: Vec<u32>,
    /// Old vertex of each new one, ascending; W.
    pub survivors: Vec<u32>,
    /// Old triangle of each new one, ascending; U.
    pub triangle_ids: Vec<u32>,
    /// Numbers of the vertices, if they counted in the quadrics; W times as many as a vertex has.
    pub values: Vec<f64>,
    /// Number of rounds.
    pub rounds: u32,
}

/// A decimated mesh on a device: W of V vertices, U of T triangles.
pub struct DeviceDecimated {
    /// New positions; W.
    pub points: Buffer<DVec3>,
    /// Remaining triangles, in their order, with new vertices; U.
    pub triangles: Buffer<[Vertex; 3]>,
    /// New vertex that each old one went into; V.
    pub map: Buffer<Vertex>,
    /// Old vertex of each new one, ascending; W.
    pub survivors: Buffer<Vertex>,
    /// Old triangle of each new one, ascending; U.
    pub triangle_ids: Buffer<Triangle>,
    /// Numbers of the vertices, if they counted in the quadrics; W times as many as a vertex has.
    pub values: Buffer<f64>,
    /// Number of rounds.
    pub rounds: u32,
}

impl DeviceDecimated {
    /// The whole result in host memory.
    ///
    /// # Errors
    /// Those of the device.
    pub fn download(&self, on: &Device) -> Result<Decimated> {
        stage(on, "copy to the host", || {
            Ok(Decimated {
                points: on.download(&self.points)?,
                triangles: on.download_rows(&self.triangles)?,
                map: on.download_rows(&self.map)?,
                survivors: on.download_rows(&self.survivors)?,
                triangle_ids: on.download_rows(&self.triangle_ids)?,
                values: on.download(&self.values)?,
                rounds: self.rounds,
            })
        })
    }
}
