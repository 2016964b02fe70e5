//! Points of the plane and of surfaces in space: where both need other work.

use glam::{DVec2, DVec3, Vec2, Vec3};
use trioxide::device::Device;
use trioxide::half_edges::{AnyPoint, DeviceTriangulation, Remembered};
#[cfg(feature = "serial")]
use trioxide::mesh::HalfEdges;
use trioxide::mesh::Triangulation;
use trioxide::polylla::Constraints;
#[cfg(feature = "serial")]
use trioxide_reference::polylla::mark_angles;

use super::{Done, Options, Refusal, Wanted, by_indices};
use crate::error::Result;

/// Points whose triangles are joined.
pub(super) trait Points: AnyPoint {
    /// The constraints, with the edges that stay for angles. In the plane all angles are 0.
    fn with_angles(
        on: &Device,
        mesh: &DeviceTriangulation<Self>,
        constraints: Option<Constraints>,
        options: &Options,
    ) -> Result<Option<Constraints>>;

    /// As [`with_angles`](Self::with_angles), by the sequential algorithm.
    #[cfg(feature = "serial")]
    fn mark_angles(
        points: &[Self],
        half_edges: &HalfEdges,
        constrained: &mut [bool],
        options: &Options,
    );

    /// Joins triangles by arrays of triangles and neighbours.
    fn by_indices(
        on: &Device,
        mesh: &Triangulation<Self::Double>,
        wanted: Wanted<'_>,
        remembered: Option<&Remembered>,
    ) -> Result<Done>;
}

macro_rules! in_plane {
    ($($point:ty),*) => {
        $(impl Points for $point {
            fn with_angles(
                _: &Device,
                _: &DeviceTriangulation<Self>,
                constraints: Option<Constraints>,
                _: &Options,
            ) -> Result<Option<Constraints>> {
                Ok(constraints)
            }

            #[cfg(feature = "serial")]
            fn mark_angles(_: &[Self], _: &HalfEdges, _: &mut [bool], _: &Options) {}

            fn by_indices(
                on: &Device,
                mesh: &Triangulation,
                wanted: Wanted<'_>,
                remembered: Option<&Remembered>,
            ) -> Result<Done> {
                by_indices::<Self>(on, mesh, wanted, remembered)
            }
        })*
    };
}
in_plane!(Vec2, DVec2);

macro_rules! in_space {
    ($($point:ty),*) => {
        $(impl Points for $point {
            fn with_angles(
                on: &Device,
                mesh: &DeviceTriangulation<Self>,
                constraints: Option<Constraints>,
                options: &Options,
            ) -> Result<Option<Constraints>> {
                let (angles, ties) = (options.angles(), options.ties);
                Ok(Constraints::with_angles(on, mesh, constraints, angles, ties)?)
            }

            #[cfg(feature = "serial")]
            fn mark_angles(
                points: &[Self],
                half_edges: &HalfEdges,
                constrained: &mut [bool],
                options: &Options,
            ) {
                mark_angles(points, half_edges, constrained, options.angles(), options.ties);
            }

            fn by_indices(
                _: &Device,
                _: &Triangulation<DVec3>,
                _: Wanted<'_>,
                _: Option<&Remembered>,
            ) -> Result<Done> {
                Err(Refusal::IndexedSurface.into())
            }
        })*
    };
}
in_space!(Vec3, DVec3);
