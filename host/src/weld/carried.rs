//! Attributes, locks and regions through a weld.

use glam::{DVec2, DVec3};
use gpu::ids::{Triangle, Vertex};
use gpu::weld as kernel;
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::{Bits, words};

use super::clusters::{Clusters, Members};
use super::{Error, Result};
use crate::collective::count_bits;
use crate::device::{BitSet, Device};
use crate::mesh::VertexAttributes;

/// The attributes and locks of the V vertices of a mesh, and the regions of its F faces.
#[derive(Clone, Copy, Debug)]
pub struct Carried<'a> {
    /// Attributes of the vertices.
    pub attributes: &'a VertexAttributes,
    /// Locked vertices, which have no neighbours; V, or empty for none.
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
    ///
    /// # Errors
    /// [`Error::Length`](super::Error::Length).
    pub fn check(&self, points: usize, faces: usize) -> Result<()> {
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
fn check_lengths(arrays: [(Option<usize>, usize, &'static str); 5]) -> Result<()> {
    for (length, needed, array) in arrays {
        if let Some(length) = length.filter(|&length| length != needed) {
            return Err(Error::Length {
                array,
                length,
                needed,
            });
        }
    }
    Ok(())
}

/// The arrays of [`DeviceCarried`]; `None` for one that is not there.
#[derive(Default)]
pub struct CarriedArrays {
    /// Normals; V.
    pub normals: Option<Buffer<DVec3>>,
    /// Texture coordinates; V.
    pub uvs: Option<Buffer<DVec2>>,
    /// Red, green, blue and alpha, from the lowest byte on; V.
    pub colors: Option<Buffer<u32>>,
    /// Bit set of the locked vertices.
    pub locked: Option<BitSet<Vertex>>,
    /// Region of each triangle; F.
    pub regions: Option<Buffer<i32>>,
}

/// [`Carried`] on a device.
pub struct DeviceCarried {
    // An empty array for one that is not there.
    pub(super) normals: Buffer<DVec3>,
    pub(super) uvs: Buffer<DVec2>,
    /// Red, green, blue and alpha, from the lowest byte on.
    pub(super) colors: Buffer<u32>,
    pub(super) locked: Buffer<Bits<Vertex>>,
    regions: Buffer<i32>,
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

    /// Of arrays that are on the device.
    ///
    /// # Errors
    /// Those of the device.
    pub fn of_arrays(on: &Device, arrays: CarriedArrays) -> Result<Self> {
        let mut carried = Self::none(on)?;
        if let Some(normals) = arrays.normals {
            carried.normals = normals;
        }
        if let Some(uvs) = arrays.uvs {
            carried.uvs = uvs;
        }
        if let Some(colors) = arrays.colors {
            carried.colors = colors;
        }
        if let Some(locked) = arrays.locked {
            carried.locked = locked;
        }
        if let Some(regions) = arrays.regions {
            carried.regions = regions;
        }
        Ok(carried)
    }

    /// The arrays, for further work on the device. An array without elements is none.
    pub fn into_arrays(self) -> CarriedArrays {
        fn there<T: bytemuck::Pod>(array: Buffer<T>) -> Option<Buffer<T>> {
            Some(array).filter(|array| !array.is_empty())
        }
        CarriedArrays {
            normals: there(self.normals),
            uvs: there(self.uvs),
            colors: there(self.colors),
            locked: there(self.locked),
            regions: there(self.regions),
        }
    }

    /// Copies the arrays of a mesh of `points` vertices and `faces` faces to the device.
    ///
    /// # Errors
    /// [`Error::Length`] for an array of another length than the mesh's; those of the device.
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
            colors: on.upload(&packed(attributes.colors.as_deref().unwrap_or_default()))?,
            locked: on.upload(&bits(locked))?,
            regions: on.upload(regions.unwrap_or_default())?,
        })
    }

    /// Normals; V, or none.
    pub fn normals(&self) -> Option<&Buffer<DVec3>> {
        Some(&self.normals).filter(|array| !array.is_empty())
    }

    /// Texture coordinates; V, or none.
    pub fn uvs(&self) -> Option<&Buffer<DVec2>> {
        Some(&self.uvs).filter(|array| !array.is_empty())
    }

    /// Red, green, blue and alpha, from the lowest byte on; V, or none.
    pub fn colors(&self) -> Option<&Buffer<u32>> {
        Some(&self.colors).filter(|array| !array.is_empty())
    }

    /// Bit set of the locked vertices; V / 32, rounded up, or none.
    pub fn locked(&self) -> Option<&Buffer<Bits<Vertex>>> {
        Some(&self.locked).filter(|array| !array.is_empty())
    }

    /// Region of each face; F, or none.
    pub fn regions(&self) -> Option<&Buffer<i32>> {
        Some(&self.regions).filter(|array| !array.is_empty())
    }

    /// Number of locked vertices, if any are named.
    ///
    /// # Errors
    /// Those of the device.
    pub fn count_locked(&self, on: &Device) -> Result<Option<u32>> {
        let locked = self.locked();
        Ok(locked.map(|locked| count_bits(on, locked)).transpose()?)
    }

    /// Bytes that these arrays take on a device, twice: before and after the weld.
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
            (there(self.locked.len()), words(points), "words of locks"),
            (there(self.regions.len()), faces, "regions"),
        ])
    }

    /// Whether vertices have attributes.
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

    /// Locks the vertices of a bit set, besides the vertices that are locked already.
    pub(super) fn lock(&mut self, on: &Device, more: Buffer<Bits<Vertex>>) -> Result<()> {
        if self.locked.is_empty() {
            self.locked = more;
            return Ok(());
        }
        let words = self.locked.len() as u32;
        let mut joined = on.duplicate(&self.locked)?.cast();
        gpu::smooth::join_bits::launch(on, words, &more.cast(), &mut joined)?;
        self.locked = joined.cast();
        Ok(())
    }

    /// Takes the regions of the `count` remaining triangles from `before`; `list` holds their old ids, or is empty for
    /// all.
    pub(super) fn take_regions(
        &mut self,
        on: &Device,
        before: &DeviceCarried,
        list: &Buffer<Triangle>,
        count: usize,
    ) -> Result<()> {
        if before.regions.is_empty() {
            return Ok(());
        }
        self.regions = on.uninitialized(count)?;
        let (from, to) = (&before.regions, &mut self.regions);
        kernel::gather_regions::launch(on, count as u32, list, from, to)?;
        Ok(())
    }
}

/// Attributes of clusters: those of their representatives, or, with the lists of the other `members`, the means.
pub(super) fn carry(
    on: &Device,
    carried: &DeviceCarried,
    clusters: &Clusters,
    members: Option<&Members>,
) -> Result<DeviceCarried> {
    let mut left = DeviceCarried::none(on)?;
    let representatives = &clusters.representatives;
    let count = representatives.len();
    let n = count as u32;
    let lists = members.map(|members| clusters.lists(members));
    if let Some(from) = carried.normals() {
        left.normals = on.uninitialized(count)?;
        let to = &mut left.normals;
        match lists {
            None => kernel::take_first_points::launch(on, n, representatives, from, to),
            Some(lists) => kernel::average_normals::launch(on, n, lists, from, to),
        }?;
    }
    if let Some(from) = carried.uvs() {
        left.uvs = on.uninitialized(count)?;
        let to = &mut left.uvs;
        match lists {
            None => kernel::take_first_uvs::launch(on, n, representatives, from, to),
            Some(lists) => kernel::average_uvs::launch(on, n, lists, from, to),
        }?;
    }
    if let Some(from) = carried.colors() {
        left.colors = on.uninitialized(count)?;
        let to = &mut left.colors;
        match lists {
            None => kernel::take_first_colors::launch(on, n, representatives, from, to),
            Some(lists) => kernel::average_colors::launch(on, n, lists, from, to),
        }?;
    }
    Ok(left)
}

/// The bit set of the vertices with a flag.
pub(super) fn bits(flags: &[bool]) -> Vec<Bits<Vertex>> {
    let word = |flags: &[bool]| {
        let bits = flags.iter().enumerate();
        bits.fold(0, |word, (i, &flag)| word | u32::from(flag) << i)
    };
    flags.chunks(32).map(word).map(Bits::new).collect()
}

/// Colours as the kernels take them.
pub(super) fn packed(colors: &[[u8; 4]]) -> Vec<u32> {
    colors
        .iter()
        .map(|&color| u32::from_le_bytes(color))
        .collect()
}
