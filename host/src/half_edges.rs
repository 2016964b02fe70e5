//! A half-edge triangulation on a device, built there from points and triangles. The kernels, and what they do, are in
//! `gpu::half_edge`.

use glam::{DVec2, Vec2};
use gpu::half_edge::{self as kernel, rule};
use gpu::point::Point2;
use trioxide_kernel::NONE;
use trioxide_kernel::launch::Buffer;

use crate::backend::Device;
use crate::collective::compact;
use crate::mesh::{HalfEdges, Triangulation};
use crate::{Error, Result, validate};

/// Points that a device can hold: `f32` or `f64` coordinates.
pub trait Point: Point2 + bytemuck::Pod + PartialEq + std::fmt::Debug {}
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
}

/// Most triangles: half-edge ids and `NONE` fit an index.
const MOST_TRIANGLES: usize = (u32::MAX / 4) as usize;

impl<P: Point> DeviceTriangulation<P> {
    /// Bytes that building takes at once, for V points and T triangles.
    pub fn bytes_needed(points: usize, triangles: usize) -> u64 {
        let words = triangles * (3 + 3) + table_slots(points, 3 * triangles);
        (points * size_of::<P>() + words * size_of::<u32>()) as u64
    }

    /// Copies a mesh to the device, checks it and builds its half-edges there.
    ///
    /// # Errors
    /// [`Error::Invalid`] with the offending element and the rule that it breaks; [`Error::OutOfMemory`].
    pub fn upload(on: &Device, mesh: &Triangulation) -> Result<Self> {
        Self::upload_with_room(on, mesh, [0, 0])
    }

    /// As [`DeviceTriangulation::upload`], with memory for so many points and origins, if they are more than the mesh's.
    pub(crate) fn upload_with_room(
        on: &Device,
        mesh: &Triangulation,
        [points, origins]: [usize; 2],
    ) -> Result<Self> {
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
            let triangles = mesh.triangles.as_flattened();
            Ok((
                upload_points(on, &mesh.points, points)?,
                on.upload_with_capacity(triangles, origins)?,
            ))
        })?;
        Self::build(on, points, origins).map_err(|error| {
            // The host's check names the other triangles too.
            let by_host =
                matches!(error, Error::Invalid { .. }).then(|| validate::triangulation(mesh));
            by_host.and_then(Result::err).unwrap_or(error)
        })
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
            unsafe { kernel::check_points::launch(on, vertices as u32, &points, &mut found) }?;
            unsafe { kernel::check_triangles::launch(on, n / 3, &origins, &points, &mut found) }?;
            refuse(on, &found)
        })?;

        let mut twins = on.stage("match twins", || {
            let (twins, found) =
                match_twins(on, vertices, &origins, table_slots(vertices, half_edges))?;
            if on.read(&found, rule::CROWDED as usize)? == NONE {
                refuse(on, &found)?;
                return Ok(twins);
            }
            // More edges than a planar mesh can have: triangles overlap without sharing edges.
            let (twins, found) = match_twins(on, vertices, &origins, slots_for(half_edges))?;
            refuse(on, &found)?;
            Ok(twins)
        })?;

        let (border, border_next, border_prev) = on.stage("link the border", || {
            let mut boundary = on.uninitialized(half_edges.div_ceil(32))?;
            unsafe { kernel::mark_boundary::launch(on, n, &twins, &mut found, &mut boundary) }?;
            refuse(on, &found)?;
            let border = compact(on, &boundary)?;
            let b = border.len();
            let (mut next, mut prev) = (on.uninitialized(b)?, on.uninitialized(b)?);
            unsafe { kernel::number_border::launch(on, b as u32, &border, &mut twins, n) }?;
            unsafe {
                kernel::link_border::launch(on, b as u32, &border, &twins, &mut next, &mut prev, n)
            }?;
            Ok((border, next, prev))
        })?;
        Ok(Self {
            points,
            origins,
            twins,
            border,
            border_next,
            border_prev,
        })
    }

    /// Smallest half-edge that starts at each vertex, `NONE` if none does; V.
    ///
    /// # Errors
    /// Those of the device.
    pub fn half_edges_of_vertices(&self, on: &Device) -> Result<Buffer<u32>> {
        on.stage("half-edges of vertices", || {
            let mut first = on.filled(self.points.len(), NONE)?;
            let n = self.half_edges();
            unsafe {
                kernel::find_half_edges_of_vertices::launch(on, n, &self.origins, &mut first)
            }?;
            Ok(first)
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
            of_vertex: on.download(&self.half_edges_of_vertices(on)?)?,
            triangles: n / 3,
        })
    }
}

/// The twins of all half-edges, and what was found wrong on the way.
fn match_twins(
    on: &Device,
    vertices: usize,
    origins: &Buffer<u32>,
    slots: usize,
) -> Result<(Buffer<u32>, Buffer<u32>)> {
    let mut table = on.filled(slots, NONE)?;
    let mut twins = on.filled(origins.len(), NONE)?;
    let mut found = on.filled(rule::COUNT, NONE)?;
    unsafe {
        kernel::match_twins::launch(
            on,
            origins.len() as u32 / 3,
            origins,
            &mut table,
            &mut twins,
            &mut found,
            ((slots as u64) << 32) / vertices.max(1) as u64,
        )
    }?;
    Ok((twins, found))
}

/// Slots of the table in which the twins of a planar mesh meet: it has fewer than three edges a vertex, and at most one a
/// half-edge.
fn table_slots(vertices: usize, half_edges: usize) -> usize {
    slots_for(half_edges.min(3 * vertices))
}

/// Slots for a number of edges: half as many again.
fn slots_for(edges: usize) -> usize {
    edges + edges / 2 + 64
}

/// Copies points to the device in its precision.
fn upload_points<P: Point>(on: &Device, points: &[DVec2], room: usize) -> Result<Buffer<P>> {
    if P::INSTANCE == DVec2::INSTANCE {
        return on.upload_with_capacity(bytemuck::cast_slice(points), room);
    }
    let points: Vec<P> = points.iter().map(|&p| P::from_f64(p)).collect();
    on.upload_with_capacity(&points, room)
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
    if let Some(h) = element(rule::MANIFOLD).or(element(rule::CROWDED)) {
        return invalid(
            format!("edge {} of triangle {}", h % 3, h / 3),
            "is not shared by two triangles that run along it in opposite directions: three or more triangles share it, \
             or a triangle is there twice",
        );
    }
    Ok(())
}
