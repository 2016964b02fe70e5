//! A list of triangles that stays on a device while its mesh goes to the host and comes back.

use std::sync::Arc;

use gpu::half_edges as kernel;
use gpu::ids::Vertex;
use gpu::point::Coordinates;
use trioxide_kernel::NONE;
use trioxide_kernel::launch::Buffer;

use super::surface::{DeviceSurface, Known};
use crate::device::{Device, Kept};
use crate::points::upload_points;

/// Triangles on a device, with the data known of them, for the next operation on the mesh, which comes from the host.
///
/// They serve a mesh with the same list of triangles alone: the device compares the lists. They are dropped where
/// memory is short.
pub struct Remembered {
    triangles: Kept<Buffer<Vertex>>,
    known: Arc<Known>,
}

impl Remembered {
    /// The triangles of a surface, with the data known of them.
    pub fn new<P>(on: &Device, surface: DeviceSurface<P>) -> Self {
        let (_, triangles, known) = surface.into_parts();
        let kept = Kept::default();
        kept.keep(on, triangles);
        Self {
            triangles: kept,
            known,
        }
    }

    /// The data known of these triangles, if they equal the remembered ones.
    fn known_of(&self, on: &Device, triangles: &Buffer<Vertex>) -> crate::Result<Arc<Known>> {
        let same_size = |ours: &Arc<Buffer<Vertex>>| {
            ours.device() == triangles.device() && ours.len() == triangles.len()
        };
        let Some(ours) = self.triangles.get().filter(same_size) else {
            return Ok(Arc::default());
        };
        on.stage("compare triangles", || {
            let mut found = on.filled(1, NONE)?;
            let n = triangles.len() as u32;
            kernel::find_difference::launch(on, n, &ours, triangles, &mut found)?;
            Ok(match on.read(&found, 0)? {
                NONE => self.known.clone(),
                _ => Arc::default(),
            })
        })
    }
}

impl<P: Coordinates> DeviceSurface<P> {
    /// Copies a surface to the device, with memory for `room` points and triangles where it has fewer; it may be the
    /// one that is `remembered`.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn upload(
        on: &Device,
        points: &[P::Double],
        triangles: &[[u32; 3]],
        room: [usize; 2],
        remembered: Option<&Remembered>,
    ) -> crate::Result<Self> {
        let (points, triangles) = on.stage("copy to the device", || {
            let points = upload_points(on, points, room[0])?;
            let origins = bytemuck::cast_slice(triangles);
            Ok((points, on.upload_with_capacity(origins, 3 * room[1])?))
        })?;
        let known = match remembered {
            Some(remembered) => remembered.known_of(on, &triangles)?,
            None => Arc::default(),
        };
        Ok(Self::of_parts(points, triangles, known, None))
    }
}
