//! What vertices and faces carry through a weld.

use glam::{DVec2, DVec3};
use gpu::launch::Buffer;

use super::guards::{bits, words};
use crate::backend::Device;
use crate::mesh::VertexAttributes;
use crate::{Error, Result};

/// What the V vertices and F faces of a mesh carry, and which vertices are locked.
#[derive(Clone, Copy, Debug)]
pub struct Carried<'a> {
    /// Attributes of the vertices.
    pub attributes: &'a VertexAttributes,
    /// Vertices that are no one's neighbours; V, or empty for none.
    pub locked: &'a [bool],
    /// Region of each face; F.
    pub regions: Option<&'a [i32]>,
}

impl Carried<'_> {
    /// Nothing.
    pub const NONE: Self = Carried {
        attributes: &VertexAttributes {
            normals: None,
            colors: None,
            uvs: None,
        },
        locked: &[],
        regions: None,
    };

    /// Refuses arrays of another length than the mesh's.
    pub(crate) fn check(&self, points: usize, faces: usize) -> Result<()> {
        let attributes = self.attributes;
        let locked = Some(self.locked.len()).filter(|&n| n > 0);
        for (length, needed, what) in [
            (attributes.normals.as_ref().map(Vec::len), points, "normals"),
            (attributes.colors.as_ref().map(Vec::len), points, "colours"),
            (
                attributes.uvs.as_ref().map(Vec::len),
                points,
                "texture coordinates",
            ),
            (locked, points, "locks"),
            (self.regions.map(<[i32]>::len), faces, "regions"),
        ] {
            if let Some(length) = length.filter(|&length| length != needed) {
                return Err(Error::Invalid {
                    element: "the mesh".to_owned(),
                    rule: format!("has {length} {what} for {needed} elements"),
                });
            }
        }
        Ok(())
    }
}

/// [`Carried`] on a device; an empty array for what is not there.
pub struct DeviceCarried {
    /// Normals; V.
    pub normals: Buffer<DVec3>,
    /// Texture coordinates; V.
    pub uvs: Buffer<DVec2>,
    /// Red, green, blue and alpha, from the lowest byte on; V.
    pub colors: Buffer<u32>,
    /// Bit set of the locked vertices; V / 32, rounded up.
    pub locked: Buffer<u32>,
    /// Region of each face; F.
    pub regions: Buffer<i32>,
}

impl DeviceCarried {
    /// Nothing.
    ///
    /// # Errors
    /// Those of the device.
    pub fn none(on: &Device) -> Result<Self> {
        Ok(Self {
            normals: on.uninitialized(0)?,
            uvs: on.uninitialized(0)?,
            colors: on.uninitialized(0)?,
            locked: on.uninitialized(0)?,
            regions: on.uninitialized(0)?,
        })
    }

    /// Copies what a mesh of V vertices and F faces carries to the device.
    ///
    /// # Errors
    /// [`Error::Invalid`] for an array of another length than the mesh's; those of the device.
    pub fn upload(on: &Device, carried: &Carried, points: usize, faces: usize) -> Result<Self> {
        carried.check(points, faces)?;
        let Carried {
            attributes,
            locked,
            regions,
        } = carried;
        Ok(Self {
            normals: on.upload(attributes.normals.as_deref().unwrap_or_default())?,
            uvs: on.upload(attributes.uvs.as_deref().unwrap_or_default())?,
            colors: on.upload(&words(attributes.colors.as_deref().unwrap_or_default()))?,
            locked: on.upload(&bits(locked))?,
            regions: on.upload(regions.unwrap_or_default())?,
        })
    }
}
