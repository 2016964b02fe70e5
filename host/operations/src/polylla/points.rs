//! Points of the plane and of surfaces in space: where both need other work.

use glam::{DVec2, DVec3, Vec2, Vec3};
#[cfg(feature = "serial")]
use gpu::point::Coordinates;
use trioxide::device::Device;
use trioxide::half_edges::{AnyPoint, DeviceTriangulation, Remembered};
use trioxide::mesh::Triangulation;
#[cfg(feature = "serial")]
use trioxide::mesh::{HalfEdges, Polygons, PolyllaMesh};
#[cfg(feature = "serial")]
use trioxide::polylla::ShortEdgeCounts;
use trioxide::polylla::{
    Constraints, DevicePolygons, Shortened, convex_pieces, remove_short_edges,
};
#[cfg(feature = "serial")]
use trioxide_reference::polylla::{
    constrained_ends, cut_convex, mark_angles, remove_short_edges as remove_serially,
};

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

    /// Divides polygons of the plane into convex pieces, if the options say so.
    fn divide(
        on: &Device,
        mesh: &DeviceTriangulation<Self>,
        polygons: DevicePolygons,
        options: &Options,
    ) -> Result<DevicePolygons>;

    /// As [`divide`](Self::divide), by the sequential algorithm.
    #[cfg(feature = "serial")]
    fn divide_serially(
        points: &[Self],
        half_edges: &HalfEdges,
        polygons: &mut PolyllaMesh,
        options: &Options,
    );

    /// Collapses short edges of polygons of the plane, if the options say so.
    fn shorten(
        on: &Device,
        mesh: &DeviceTriangulation<Self>,
        polygons: &DevicePolygons,
        constraints: Option<&Constraints>,
        wanted: Wanted<'_>,
    ) -> Result<Option<Shortened>>;

    /// As [`shorten`](Self::shorten), by the sequential algorithm.
    #[cfg(feature = "serial")]
    fn shorten_serially(
        points: &[Self],
        half_edges: &HalfEdges,
        constrained: &[bool],
        polygons: &mut Polygons,
        wanted: Wanted<'_>,
    ) -> Option<(Vec<u32>, ShortEdgeCounts)>;

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

            fn divide(
                on: &Device,
                mesh: &DeviceTriangulation<Self>,
                polygons: DevicePolygons,
                options: &Options,
            ) -> Result<DevicePolygons> {
                Ok(match options.convex_pieces {
                    true => convex_pieces(on, mesh, polygons)?,
                    false => polygons,
                })
            }

            #[cfg(feature = "serial")]
            fn divide_serially(
                points: &[Self],
                half_edges: &HalfEdges,
                polygons: &mut PolyllaMesh,
                options: &Options,
            ) {
                if options.convex_pieces {
                    cut_convex(points, half_edges, polygons);
                }
            }

            fn shorten(
                on: &Device,
                mesh: &DeviceTriangulation<Self>,
                polygons: &DevicePolygons,
                constraints: Option<&Constraints>,
                wanted: Wanted<'_>,
            ) -> Result<Option<Shortened>> {
                let short = wanted.options.short_edges(wanted.pinned);
                let remove = |short| remove_short_edges(on, mesh, polygons, constraints, short);
                Ok(short.map(remove).transpose()?)
            }

            #[cfg(feature = "serial")]
            fn shorten_serially(
                points: &[Self],
                half_edges: &HalfEdges,
                constrained: &[bool],
                polygons: &mut Polygons,
                wanted: Wanted<'_>,
            ) -> Option<(Vec<u32>, ShortEdgeCounts)> {
                let short = wanted.options.short_edges(wanted.pinned)?;
                let points: Vec<DVec2> = points.iter().map(|&p| Coordinates::to_f64(p)).collect();
                let is_constrained = |h: u32| constrained[h as usize];
                let ends = constrained_ends(half_edges, is_constrained);
                let done = remove_serially(&points, polygons, &ends, short);
                *polygons = done.polygons;
                Some((done.places, done.counts))
            }

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

            fn divide(
                _: &Device,
                _: &DeviceTriangulation<Self>,
                polygons: DevicePolygons,
                options: &Options,
            ) -> Result<DevicePolygons> {
                options.check_surface()?;
                Ok(polygons)
            }

            #[cfg(feature = "serial")]
            fn divide_serially(_: &[Self], _: &HalfEdges, _: &mut PolyllaMesh, _: &Options) {}

            fn shorten(
                _: &Device,
                _: &DeviceTriangulation<Self>,
                _: &DevicePolygons,
                _: Option<&Constraints>,
                wanted: Wanted<'_>,
            ) -> Result<Option<Shortened>> {
                wanted.options.check_surface()?;
                Ok(None)
            }

            #[cfg(feature = "serial")]
            fn shorten_serially(
                _: &[Self],
                _: &HalfEdges,
                _: &[bool],
                _: &mut Polygons,
                _: Wanted<'_>,
            ) -> Option<(Vec<u32>, ShortEdgeCounts)> {
                None
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
