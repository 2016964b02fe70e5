//! Edges of a surface that stay because of angles.

use glam::DVec3;
use gpu::ids::Triangle;
use gpu::point::MeshPoint;
use gpu::polylla::kernels as kernel;
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::{Bits, words};

use super::{Constraints, Result, label_longest};
use crate::device::Device;
use crate::half_edges::{AnyPoint, DeviceTriangulation};
use crate::mesh::Ties;

/// Angles at which edges of a surface stay, in degrees from 0 to 180; `None` for any angle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Angles {
    /// Largest angle between the triangles of an edge that polygons may cross.
    pub feature: Option<f64>,
    /// Largest angle of a region's triangles with those of its terminal edge.
    pub flatness: Option<f64>,
}

impl Angles {
    /// Bytes that the edges which stay for angles take at once, of T triangles.
    pub fn bytes_needed(&self, triangles: usize) -> u64 {
        let bit_sets = 3 * (3 * triangles / 8);
        match self.are_free() {
            true => 0,
            false => (triangles * (size_of::<DVec3>() + size_of::<u32>()) + bit_sets) as u64,
        }
    }

    /// Whether no edge stays for an angle.
    pub fn are_free(&self) -> bool {
        *self == Self::default()
    }
}

/// The least inner product of two normals that are not over this many degrees apart (the documentation of
/// `gpu::polylla`).
///
/// The cosine is one of software, not of the system's library, so every machine compares with the same number.
pub fn least_cosine(degrees: f64) -> f64 {
    const ROUNDING: f64 = 1.0 / (1u64 << 48) as f64;
    libm::cos(degrees * (core::f64::consts::PI / 180.0)) - ROUNDING
}

impl Constraints {
    /// The edges of `constraints` and those of a surface that stay for `angles`; `None` where there are neither.
    /// Longest edges are those by these `ties`.
    ///
    /// # Errors
    /// [`Error::OtherMesh`](super::Error::OtherMesh); errors of the device.
    pub fn with_angles<P: AnyPoint + MeshPoint<Double = DVec3>>(
        on: &Device,
        mesh: &DeviceTriangulation<P>,
        constraints: Option<Self>,
        angles: Angles,
        ties: Ties,
    ) -> Result<Option<Self>> {
        let mut edges = match Self::edges(constraints.as_ref(), mesh)? {
            _ if angles.are_free() => return Ok(constraints),
            Some(edges) => on.duplicate(edges)?,
            None => on.uninitialized(0)?,
        };
        let normals = measure_normals(on, mesh)?;
        let n = mesh.half_edges();
        if let Some(degrees) = angles.feature {
            let least = least_cosine(degrees);
            edges = on.try_stage("mark sharp edges", || -> Result<_> {
                let mut marked = on.uninitialized(words(n as usize))?;
                let twins = mesh.twins();
                kernel::mark_sharp_edges::launch(
                    on,
                    n,
                    twins,
                    &normals,
                    &edges,
                    least,
                    &mut marked,
                )?;
                Ok(marked)
            })?;
        }
        if let Some(degrees) = angles.flatness {
            let least = least_cosine(degrees);
            let longest = label_longest(on, mesh, ties)?;
            edges = on.try_stage("mark steep edges", || -> Result<_> {
                let mut stays = match edges.is_empty() {
                    true => on.filled(words(n as usize), Bits::EMPTY)?,
                    false => on.duplicate(&edges)?,
                };
                let mut bases: Buffer<Triangle> = on.uninitialized(mesh.triangles() as usize)?;
                // SAFETY: twins are half-edges or border ones, which the kernel compares with their number. Each
                // triangle but the terminal ones is the child of one, so one index reads and writes its base; each has
                // a longest edge, and those lead down trees, so that the walk ends.
                unsafe {
                    kernel::mark_steep_edges::launch(
                        on,
                        mesh.triangles(),
                        mesh.twins(),
                        &longest,
                        &edges,
                        &normals,
                        least,
                        &mut bases,
                        &mut stays,
                    )
                }?;
                Ok(stays)
            })?;
        }
        let mesh = mesh.id();
        Ok(Some(Self { mesh, edges }))
    }
}

/// The normal of each triangle.
pub(super) fn measure_normals<P: AnyPoint + MeshPoint<Double = DVec3>>(
    on: &Device,
    mesh: &DeviceTriangulation<P>,
) -> Result<Buffer<DVec3>> {
    on.try_stage("measure normals", || -> Result<_> {
        let mut normals: Buffer<DVec3> = on.uninitialized(mesh.triangles() as usize)?;
        let (n, origins, points) = (mesh.triangles(), mesh.origins(), mesh.points());
        // SAFETY: vertices of a checked triangulation.
        unsafe { kernel::measure_normals::launch(on, n, origins, points, &mut normals) }?;
        Ok(normals)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers themselves: another machine or library must give these bits.
    #[test]
    fn cosines_are_the_same_everywhere() {
        let bits = |degrees| least_cosine(degrees).to_bits();
        assert_eq!(bits(0.0), (1.0 - 2f64.powi(-48)).to_bits());
        assert_eq!(least_cosine(180.0), -1.0 - 2f64.powi(-48));
        for (degrees, cosine) in [(60.0, 0.5), (90.0, 0.0), (120.0, -0.5)] {
            assert!((least_cosine(degrees) - cosine).abs() < 2f64.powi(-47));
        }
        assert_eq!(bits(30.0), 0x3febb67ae8584c8b);
        assert_eq!(bits(1.0), 0x3feffec097f5af6a);
    }
}
