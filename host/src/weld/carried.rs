//! What vertices and faces carry through a weld.

use glam::{DVec2, DVec3};
use gpu::weld as kernel;
use trioxide_kernel::launch::Buffer;

use super::guards::{bits, words};
use crate::backend::Device;
use crate::collective::Csr;
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
        check_lengths([
            (attributes.normals.as_ref().map(Vec::len), points, "normals"),
            (attributes.colors.as_ref().map(Vec::len), points, "colours"),
            (
                attributes.uvs.as_ref().map(Vec::len),
                points,
                "texture coordinates",
            ),
            (locked, points, "locks"),
            (self.regions.map(<[i32]>::len), faces, "regions"),
        ])
    }
}

/// Refuses arrays that do not have as many elements as they should, by their names.
fn check_lengths(arrays: [(Option<usize>, usize, &str); 5]) -> Result<()> {
    for (length, needed, what) in arrays {
        if let Some(length) = length.filter(|&length| length != needed) {
            return Err(Error::Invalid {
                element: "the mesh".to_owned(),
                rule: format!("has {length} {what} for {needed} elements"),
            });
        }
    }
    Ok(())
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

impl DeviceCarried {
    /// Bytes that arrays of this size take on a device, twice: before and after.
    pub fn bytes_needed(carried: &Carried, points: usize, faces: usize) -> u64 {
        let attributes = carried.attributes;
        let of = |is_there: bool, count: usize, size: usize| {
            if is_there { count * size } else { 0 }
        };
        let bytes = of(attributes.normals.is_some(), points, size_of::<DVec3>())
            + of(attributes.uvs.is_some(), points, size_of::<DVec2>())
            + of(attributes.colors.is_some(), points, size_of::<u32>())
            + of(carried.regions.is_some(), faces, size_of::<i32>());
        2 * bytes as u64 + points as u64 / 8
    }

    /// Refuses arrays of another length than the mesh's.
    pub(super) fn check(&self, points: usize, faces: usize) -> Result<()> {
        let there = |length: usize| Some(length).filter(|&length| length > 0);
        check_lengths([
            (there(self.normals.len()), points, "normals"),
            (there(self.colors.len()), points, "colours"),
            (there(self.uvs.len()), points, "texture coordinates"),
            (
                there(self.locked.len()),
                points.div_ceil(32),
                "words of locks",
            ),
            (there(self.regions.len()), faces, "regions"),
        ])
    }

    /// Whether vertices carry anything.
    pub(super) fn has_attributes(&self) -> bool {
        !(self.normals.is_empty() && self.uvs.is_empty() && self.colors.is_empty())
    }

    /// The attributes and regions in host memory.
    pub(super) fn download(&self, on: &Device) -> Result<(VertexAttributes, Option<Vec<i32>>)> {
        fn there<T>(array: Vec<T>) -> Option<Vec<T>> {
            Some(array).filter(|array| !array.is_empty())
        }
        let colors = on.download(&self.colors)?;
        let colors = colors.into_iter().map(u32::to_le_bytes).collect();
        let attributes = VertexAttributes {
            normals: there(on.download(&self.normals)?),
            colors: there(colors),
            uvs: there(on.download(&self.uvs)?),
        };
        Ok((attributes, there(on.download(&self.regions)?)))
    }
}

/// What clusters carry: of their representatives, or, with the lists of the other `members`, the means.
pub(super) fn carry(
    on: &Device,
    carried: &DeviceCarried,
    representatives: &Buffer<u32>,
    members: Option<&Csr<u32, u32>>,
) -> Result<DeviceCarried> {
    let mut left = DeviceCarried::none(on)?;
    let count = representatives.len();
    let n = count as u32;
    if !carried.normals.is_empty() {
        left.normals = on.uninitialized(count)?;
        let (from, to) = (&carried.normals, &mut left.normals);
        match members {
            None => unsafe { kernel::take_first_points::launch(on, n, representatives, from, to) }?,
            Some(members) => {
                let (offsets, items) = (members.offsets(), members.items());
                unsafe {
                    kernel::average_normals::launch(
                        on,
                        n,
                        representatives,
                        offsets,
                        items,
                        from,
                        to,
                    )
                }?;
            }
        }
    }
    if !carried.uvs.is_empty() {
        left.uvs = on.uninitialized(count)?;
        let (from, to) = (&carried.uvs, &mut left.uvs);
        match members {
            None => unsafe { kernel::take_first_uvs::launch(on, n, representatives, from, to) }?,
            Some(members) => {
                let (offsets, items) = (members.offsets(), members.items());
                unsafe {
                    kernel::average_uvs::launch(on, n, representatives, offsets, items, from, to)
                }?;
            }
        }
    }
    if !carried.colors.is_empty() {
        left.colors = on.uninitialized(count)?;
        let (from, to) = (&carried.colors, &mut left.colors);
        match members {
            None => unsafe { kernel::take_first_colors::launch(on, n, representatives, from, to) }?,
            Some(members) => {
                let (offsets, items) = (members.offsets(), members.items());
                unsafe {
                    kernel::average_colors::launch(on, n, representatives, offsets, items, from, to)
                }?;
            }
        }
    }
    Ok(left)
}
