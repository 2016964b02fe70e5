//! Triangles of a block of a mesh that several processes weld: renamed, and looked through for repeated ones, on the
//! device.

use std::ops::Range;

use gpu::ids::Triangle;
use gpu::weld as kernel;
use gpu::weld::Cluster;
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::words;

use super::faces::find_repeated;
use super::{Result, check_sizes, stage};
use crate::collective::{compact, count_bits};
use crate::device::{BitSet, Device};
use crate::grid::Run;
use crate::refine::gather;

/// The triangles of a block. Their corners are distances of vertices from one vertex of the whole mesh, and once they
/// are [named](BlockFaces::name) the names of new vertices.
pub struct BlockFaces(Buffer<[u32; 3]>);

/// The clusters of a block's vertices, on the device.
pub struct BlockMap {
    /// Clusters of vertices, the block's among them.
    map: Buffer<Cluster>,
    /// The block's vertices.
    vertices: Range<u32>,
    /// The clusters that the block numbers: the name of the first one is 0.
    clusters: Range<u32>,
}

impl BlockMap {
    /// Of the `vertices` of a map, some of whose clusters the block numbers.
    ///
    /// # Panics
    /// When the map ends before the vertices.
    pub fn new(map: Buffer<Cluster>, vertices: Range<u32>, clusters: Range<u32>) -> Self {
        assert!(vertices.end as usize <= map.len(), "a map of the vertices");
        Self {
            map,
            vertices,
            clusters,
        }
    }

    /// The clusters that the block numbers.
    pub fn clusters(&self) -> Range<u32> {
        self.clusters.clone()
    }

    /// The clusters of some vertices, by their places in the block.
    ///
    /// # Errors
    /// Those of the device.
    ///
    /// # Panics
    /// When a vertex is out of range.
    pub fn get(&mut self, on: &Device, places: &[u32]) -> Result<Vec<u32>> {
        let Range { start, end } = self.vertices;
        assert!(places.iter().all(|&v| v < end - start), "vertices");
        let places: Vec<u32> = places.iter().map(|&v| start + v).collect();
        Ok(gather(on, &mut self.map, &places)?)
    }

    /// The clusters of all vertices of the block.
    ///
    /// # Errors
    /// Those of the device.
    pub fn download(&self, on: &Device) -> Result<Vec<u32>> {
        let Range { start, end } = self.vertices;
        let clusters = on.download_range(&self.map, start as usize..end as usize)?;
        Ok(bytemuck::cast_vec(clusters))
    }
}

impl BlockFaces {
    /// Copies triangles to the device: three corners each.
    ///
    /// # Errors
    /// [`Error::TooLarge`](super::Error::TooLarge); those of the device.
    ///
    /// # Panics
    /// When the corners are not three each.
    pub fn upload(on: &Device, corners: &[u32]) -> Result<Self> {
        let (triangles, rest) = corners.as_chunks();
        assert!(rest.is_empty(), "three corners a triangle");
        check_sizes(0, triangles.len())?;
        stage(on, "copy to the device", || Ok(Self(on.upload(triangles)?)))
    }

    /// Triangles of a run of a plain grid: their corners are distances of vertices from one vertex.
    ///
    /// # Errors
    /// [`Error::TooLarge`](super::Error::TooLarge); those of [`Run::corners`].
    pub fn of_run(on: &Device, run: &Run) -> Result<Self> {
        let corners = run.corners(on)?;
        check_sizes(0, corners.len() / 3)?;
        Ok(Self(corners.cast()))
    }

    /// Names the corners. They are distances from the vertex of the whole mesh that is `first` after the block's first
    /// one, modulo 2^64. Returns the triangles, ascending, that have a vertex of another block, or one that becomes a
    /// cluster that another block numbers.
    ///
    /// # Errors
    /// Those of the device.
    pub fn name(&mut self, on: &Device, first: u64, map: &BlockMap) -> Result<Vec<u32>> {
        let BlockMap {
            map,
            vertices,
            clusters,
        } = map;
        let n = self.0.len();
        stage(on, "faces", || {
            let mut others: BitSet<Triangle> = on.uninitialized(words(n))?;
            kernel::name_corners::launch(
                on,
                n as u32,
                &mut self.0,
                map,
                first,
                vertices.start,
                vertices.end - vertices.start,
                clusters.start,
                clusters.end - clusters.start,
                &mut others,
            )?;
            Ok(on.download_rows(&compact(on, &others)?)?)
        })
    }

    /// Gives the triangles of `list` other corners.
    ///
    /// # Errors
    /// Those of the device.
    ///
    /// # Panics
    /// When a triangle is out of range, or has no corners.
    ///
    /// # Safety
    /// No triangle is there twice: each has a thread that writes it.
    pub unsafe fn set(&mut self, on: &Device, list: &[u32], corners: &[[u32; 3]]) -> Result<()> {
        let n = self.0.len();
        assert!(list.iter().all(|&t| (t as usize) < n), "triangles");
        if list.is_empty() {
            return Ok(());
        }
        let (list, corners) = (on.upload(list)?.cast(), on.upload(corners)?);
        // SAFETY: the list holds triangles, each once by the caller's promise.
        unsafe {
            kernel::set_corners::launch(on, list.len() as u32, &list, &corners, &mut self.0)
        }?;
        Ok(())
    }

    /// The triangles that are equal to an earlier one: the same three names, below `names`, in the same circular order.
    /// The triangles of `lower` are before these, and the triangles of `higher` after them.
    ///
    /// # Errors
    /// [`Error::TooLarge`](super::Error::TooLarge); those of the device.
    pub fn find_repeated(
        &self,
        on: &Device,
        [lower, higher]: [&[[u32; 3]]; 2],
        names: usize,
    ) -> Result<Repeated> {
        // The block's bits begin with a word.
        let first = lower.len().next_multiple_of(32);
        let mut others = lower.to_vec();
        others.resize(first, [0; 3]);
        others.extend_from_slice(higher);
        check_sizes(names, self.0.len() + others.len())?;
        let others = on.upload(&others)?;
        Ok(Repeated {
            bits: find_repeated(on, &self.0, &others, first as u32, names)?,
            first,
            lower: lower.len(),
            behind: first + self.0.len(),
            higher: higher.len(),
        })
    }

    /// Number of the triangles that remain: they have three vertices, and are not repeated.
    ///
    /// # Errors
    /// Those of the device.
    ///
    /// # Panics
    /// When `repeated` is of other triangles.
    pub fn count_remaining(&self, on: &Device, repeated: &Repeated) -> Result<usize> {
        stage(on, "faces", || {
            Ok(count_bits(on, &self.mark_remaining(on, repeated)?)? as usize)
        })
    }

    /// The list of the triangles that remain, and their corners in host memory.
    ///
    /// # Errors
    /// Those of the device.
    ///
    /// # Panics
    /// When `repeated` is of other triangles.
    pub fn download_remaining(
        &self,
        on: &Device,
        repeated: &Repeated,
    ) -> Result<(Buffer<Triangle>, Vec<[u32; 3]>)> {
        let (list, corners) = stage(on, "faces", || {
            let list = compact(on, &self.mark_remaining(on, repeated)?)?;
            let mut corners: Buffer<[u32; 3]> = on.uninitialized(list.len())?;
            kernel::gather_corners::launch(on, list.len() as u32, &list, &self.0, &mut corners)?;
            Ok((list, corners))
        })?;
        let corners = stage(on, "copy to the host", || Ok(on.download(&corners)?))?;
        Ok((list, corners))
    }

    fn mark_remaining(&self, on: &Device, repeated: &Repeated) -> Result<BitSet<Triangle>> {
        let (n, first) = (self.0.len(), repeated.first);
        assert_eq!(first + n, repeated.behind, "bits of the triangles");
        let mut left = on.uninitialized(words(n))?;
        let bits = &repeated.bits;
        kernel::mark_remaining::launch(on, n as u32, &self.0, bits, first as u32, &mut left)?;
        Ok(left)
    }

    /// All corners, in host memory.
    ///
    /// # Errors
    /// Those of the device.
    pub fn download(&self, on: &Device) -> Result<Vec<[u32; 3]>> {
        stage(on, "copy to the host", || Ok(on.download(&self.0)?))
    }
}

/// Which triangles of a block and of others are repeated, on the device.
pub struct Repeated {
    bits: BitSet<Triangle>,
    /// Place of the block's first triangle.
    first: usize,
    /// Number of triangles before the block's.
    lower: usize,
    /// Place after the block's last triangle.
    behind: usize,
    /// Number of triangles after the block's.
    higher: usize,
}

impl Repeated {
    /// Whether each of the other triangles is repeated: first the triangles before the block's, then the ones after
    /// them.
    ///
    /// # Errors
    /// Those of the device.
    pub fn of_others(&self, on: &Device) -> Result<Vec<bool>> {
        let download = |range: Range<usize>| -> Result<Vec<bool>> {
            if range.is_empty() {
                return Ok(Vec::new());
            }
            let (from, words) = (range.start / 32, range.start / 32..range.end.div_ceil(32));
            let words: Vec<u32> = bytemuck::cast_vec(on.download_range(&self.bits, words)?);
            let is_set = |i: usize| words[i / 32 - from] >> (i % 32) & 1 != 0;
            Ok(range.map(is_set).collect())
        };
        stage(on, "copy to the host", || {
            let lower = download(0..self.lower)?;
            Ok([lower, download(self.behind..self.behind + self.higher)?].concat())
        })
    }
}
