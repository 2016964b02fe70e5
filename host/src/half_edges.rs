//! A half-edge triangulation on a device, built there from points and triangles. The kernels, and what they do, are in
//! `gpu::half_edge`.

use glam::{DVec2, Vec2};
use gpu::half_edge::{self as kernel, rule};
use gpu::launch::Buffer;
use gpu::point::Point2;
use gpu::view::NONE;

use crate::backend::Device;
use crate::collective::{bucket, compact};
use crate::mesh::{HalfEdges, Triangulation};
use crate::{Error, Result};

/// Points that a device can hold: `f32` or `f64` coordinates.
pub trait Point: Point2 + bytemuck::Pod {}
impl Point for Vec2 {}
impl Point for DVec2 {}

/// A half-edge triangulation on a device: V points, T triangles, B boundary edges.
///
/// Half-edges 3t + k are those of triangle t; from 3T on they are border half-edges, in the order of `border`.
pub struct DeviceTriangulation<P> {
    /// Coordinates; V.
    pub points: Buffer<P>,
    /// Vertex that each half-edge of a triangle starts at: the triangle list; 3T.
    pub origins: Buffer<u32>,
    /// The same edge, the other way, of each half-edge of a triangle; 3T.
    pub twins: Buffer<u32>,
    /// Twin of each border half-edge, ascending; B.
    pub border: Buffer<u32>,
    /// Next border half-edge along the boundary; B.
    pub border_next: Buffer<u32>,
    /// Previous border half-edge along the boundary; B.
    pub border_prev: Buffer<u32>,
    /// Smallest half-edge that starts at each vertex, `NONE` if none does; V.
    pub half_edge_of_vertex: Buffer<u32>,
}

/// Most triangles: half-edge ids and `NONE` fit an index.
const MOST_TRIANGLES: usize = (u32::MAX / 4) as usize;

impl<P: Point> DeviceTriangulation<P> {
    /// Bytes that building takes at once, for V points and T triangles.
    pub fn bytes_needed(points: usize, triangles: usize) -> u64 {
        // Points, degrees, smallest half-edges, offsets; origins, bucket items, and keys before or twins after.
        (points * (size_of::<P>() + 12) + triangles * (12 + 6 + 12) + triangles) as u64
    }

    /// Copies a mesh to the device, checks it and builds its half-edges there.
    ///
    /// # Errors
    /// [`Error::Invalid`] with the offending element and the rule that it breaks; [`Error::OutOfMemory`].
    pub fn upload(on: &Device, mesh: &Triangulation) -> Result<Self> {
        if mesh.triangles.len() > MOST_TRIANGLES {
            return Err(Error::Invalid {
                element: "the mesh".to_owned(),
                rule: format!(
                    "has {} triangles, but at most {MOST_TRIANGLES} fit 32-bit half-edge ids",
                    mesh.triangles.len()
                ),
            });
        }
        on.require(Self::bytes_needed(mesh.points.len(), mesh.triangles.len()))?;
        let (points, origins) = on.stage("copy to the device", || {
            Ok((
                upload_points(on, &mesh.points)?,
                on.upload(bytemuck::cast_slice(&mesh.triangles))?,
            ))
        })?;
        Self::build(on, points, origins)
    }

    /// Checks points and triangles (three origins each) that are on the device, and builds their half-edges.
    ///
    /// # Errors
    /// As [`DeviceTriangulation::upload`].
    pub fn build(on: &Device, points: Buffer<P>, origins: Buffer<u32>) -> Result<Self> {
        let (vertices, half_edges) = (points.len(), origins.len());
        let n = half_edges as u32;
        let mut found = on.filled(rule::COUNT, NONE)?;
        on.stage("check the mesh", || {
            kernel::check_points::launch(on, vertices as u32, &points, &mut found)?;
            kernel::check_triangles::launch(on, n / 3, &origins, &points, &mut found)?;
            refuse(on, &found)
        })?;

        let mut degrees = on.filled(vertices, 0)?;
        let mut half_edge_of_vertex = on.filled(vertices, NONE)?;
        let buckets = on.stage("file edges by vertex", || {
            kernel::count_degrees::launch(on, n, &origins, &mut degrees, &mut half_edge_of_vertex)?;
            let mut keys = on.uninitialized(half_edges)?;
            kernel::key_edges::launch(on, n, &origins, &degrees, &mut keys)?;
            bucket(on, &keys, vertices)
        })?;

        let mut twins = on.stage("match twins", || {
            let mut twins = on.filled(half_edges, NONE)?;
            kernel::match_twins::launch(
                on,
                n,
                &origins,
                &degrees,
                &buckets.offsets,
                &buckets.items,
                &mut twins,
                &mut found,
            )?;
            Ok(twins)
        })?;
        drop(buckets);

        let (border, border_next, border_prev) = on.stage("link the border", || {
            let mut boundary = on.uninitialized(half_edges.div_ceil(32))?;
            kernel::check_twins::launch(on, n, &twins, &mut found, &mut boundary)?;
            let border = compact(on, &boundary)?;
            let b = border.len();
            let mut keys = on.uninitialized(b)?;
            kernel::key_border::launch(on, b as u32, &border, &origins, &degrees, &mut keys)?;
            let around = bucket(on, &keys, vertices)?;
            kernel::check_border::launch(
                on,
                b as u32,
                &border,
                &origins,
                &keys,
                &around.offsets,
                &around.items,
                &mut found,
            )?;
            refuse(on, &found)?;
            let (mut next, mut prev) = (on.uninitialized(b)?, on.uninitialized(b)?);
            kernel::number_border::launch(on, b as u32, &border, &mut twins, n)?;
            kernel::link_border::launch(on, b as u32, &border, &twins, &mut next, &mut prev, n)?;
            Ok((border, next, prev))
        })?;
        Ok(Self {
            points,
            origins,
            twins,
            border,
            border_next,
            border_prev,
            half_edge_of_vertex,
        })
    }

    /// Number of half-edges of triangles, 3T.
    pub fn half_edges(&self) -> u32 {
        self.twins.len() as u32
    }

    /// The half-edges in host memory.
    ///
    /// # Errors
    /// Those of the device.
    pub fn download(&self, on: &Device) -> Result<HalfEdges> {
        let mut origin = on.download(&self.origins)?;
        let mut twin = on.download(&self.twins)?;
        let n = twin.len() as u32;
        let border = on.download(&self.border)?;
        let triangle_next = |h: u32| if h % 3 == 2 { h - 2 } else { h + 1 };
        let triangle_prev = |h: u32| if h.is_multiple_of(3) { h + 2 } else { h - 1 };
        let mut next: Vec<u32> = (0..n).map(triangle_next).collect();
        let mut prev: Vec<u32> = (0..n).map(triangle_prev).collect();
        next.extend(on.download(&self.border_next)?);
        prev.extend(on.download(&self.border_prev)?);
        // A border half-edge starts where its twin ends.
        for &h in &border {
            origin.push(origin[triangle_next(h) as usize]);
        }
        twin.extend(border);
        Ok(HalfEdges {
            origin,
            twin,
            next,
            prev,
            of_vertex: on.download(&self.half_edge_of_vertex)?,
            triangles: n / 3,
        })
    }
}

/// Copies points to the device in its precision.
fn upload_points<P: Point>(on: &Device, points: &[DVec2]) -> Result<Buffer<P>> {
    if P::INSTANCE == DVec2::INSTANCE {
        return on.upload(bytemuck::cast_slice(points));
    }
    let points: Vec<P> = points.iter().map(|&p| P::from_f64(p)).collect();
    on.upload(&points)
}

/// The error that the check kernels found, if any.
fn refuse(on: &Device, found: &Buffer<u32>) -> Result<()> {
    let found = on.download(found)?;
    let element = |rule: u32| Some(found[rule as usize]).filter(|&element| element != NONE);
    let invalid = |element: String, rule: &str| {
        Err(Error::Invalid {
            element,
            rule: rule.to_owned(),
        })
    };
    if let Some(v) = element(rule::FINITE) {
        return invalid(
            format!("vertex {v}"),
            "has a coordinate that is not a finite number in the chosen precision",
        );
    }
    if let Some(t) = element(rule::RANGE) {
        return invalid(
            format!("triangle {t}"),
            "has a vertex index that is out of range",
        );
    }
    if let Some(t) = element(rule::ORIENTATION) {
        return invalid(
            format!("triangle {t}"),
            "is clockwise or degenerate in the chosen precision: its vertices must run counter-clockwise",
        );
    }
    if let Some(h) = element(rule::MANIFOLD) {
        return invalid(
            format!("edge {} of triangle {}", h % 3, h / 3),
            "is not shared by two triangles that run along it in opposite directions: three or more triangles share it, \
             or a triangle is there twice",
        );
    }
    Ok(())
}
