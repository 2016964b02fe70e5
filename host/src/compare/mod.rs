//! Distances between surfaces and clouds, on a device. The kernels are in [`gpu::compare`], with the definition and its
//! proof.
//!
//! ```
//! use glam::DVec3;
//! use trioxide::compare::{self, Options, Shape};
//! use trioxide::Device;
//!
//! # fn main() -> trioxide::Result<()> {
//! let on = Device::cpu(None)?;
//! let corners = on.upload(&[0u32, 1, 2])?.cast();
//! let triangle = |z| on.upload(&[DVec3::new(0., 0., z), DVec3::new(3., 0., z), DVec3::new(0., 4., z)]);
//! let (low, high) = (triangle(0.0)?, triangle(0.5)?);
//! let (a, b) = (Shape::new(&on, &low, &corners)?, Shape::new(&on, &high, &corners)?);
//!
//! let compared = compare::compare(&on, a, b, Options::default())?;
//! assert_eq!(compared.diagonal, 5.0);
//! assert_eq!(compared.there.vertices.largest, 0.5);
//! # Ok(())
//! # }
//! ```

mod normals;
mod samples;
mod tree;

use glam::DVec3;
use gpu::compare::{LANES, ShapeBuffers, Sums, kernels as kernel};
use gpu::ids::{Triangle, Vertex};
use gpu::point::MeshPoint;
use trioxide_kernel::NONE;
use trioxide_kernel::launch::Buffer;

use crate::collective::{compact, mark_ids};
use crate::device::Device;
use crate::points;
use crate::reorder::pick;
use crate::{Error, Result};

pub use normals::Angles;
use normals::angles;
pub use samples::{Samples, draw};
pub use tree::{Nearest, Tree};

/// A surface in space, or a cloud, which has no corners. A mesh of the plane has z = 0.
#[derive(Clone, Copy)]
pub struct Shape<'a> {
    points: &'a Buffer<DVec3>,
    corners: &'a Buffer<Vertex>,
    diagonal: f64,
}

impl<'a> Shape<'a> {
    /// The shape of points and of the vertices of triangles, three each, or none.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a triangle with a vertex that is not there, a coordinate that is no finite number,
    /// no points, or coordinates whose products leave double precision; [`Error::Argument`] for corners that are no
    /// whole triangles; errors of the device.
    pub fn new(
        on: &Device,
        points: &'a Buffer<DVec3>,
        corners: &'a Buffer<Vertex>,
    ) -> Result<Self> {
        if points.is_empty() {
            return Err(whole("has no points".to_owned()));
        }
        if !corners.len().is_multiple_of(3) {
            let corners = corners.len();
            let message = format!("{corners} corners are no whole number of triangles");
            return Err(Error::Argument(message));
        }
        let (low, high) = points::bounds(on, points)?;
        if !(low.is_finite() && high.is_finite()) {
            points::check_finite(on, points)?;
        }
        let diagonal = diagonal(low, high)?;
        check_corners(on, points.len(), corners)?;
        Ok(Self {
            points,
            corners,
            diagonal,
        })
    }

    /// The points.
    pub fn points(&self) -> &'a Buffer<DVec3> {
        self.points
    }

    /// Diagonal of the box around the points.
    pub fn diagonal(&self) -> f64 {
        self.diagonal
    }

    /// Whether there are no triangles.
    pub fn is_cloud(&self) -> bool {
        self.corners.is_empty()
    }

    /// Triangles; of a cloud, its points.
    pub fn triangles(&self) -> usize {
        match self.is_cloud() {
            true => self.points.len(),
            false => self.corners.len() / 3,
        }
    }

    fn buffers(&self) -> ShapeBuffers<'a> {
        ShapeBuffers {
            points: self.points,
            corners: self.corners,
        }
    }
}

/// A mesh that breaks a rule as a whole.
fn whole(rule: String) -> Error {
    Error::Invalid {
        element: "the mesh".to_owned(),
        rule,
    }
}

/// The diagonal of a box, if products of lengths in it stay in double precision.
fn diagonal(low: DVec3, high: DVec3) -> Result<f64> {
    let largest = low.abs().max(high.abs()).max_element();
    if largest > DVec3::LARGEST {
        return Err(whole(format!(
            "has the coordinate {largest:e}: squares of areas leave double precision; scale the mesh down"
        )));
    }
    let extent = high - low;
    let longest = extent.max_element();
    if longest > 0.0 && longest < DVec3::SMALLEST {
        return Err(whole(format!(
            "extends over {longest:e}: squares of areas leave double precision; scale the mesh up"
        )));
    }
    Ok((extent.x * extent.x + extent.y * extent.y + extent.z * extent.z).sqrt())
}

/// Refuses a triangle with a vertex that is not there.
pub(crate) fn check_corners(on: &Device, vertices: usize, corners: &Buffer<Vertex>) -> Result<()> {
    let n = u32::try_from(corners.len());
    let n = n.map_err(|_| too_many("corners", corners.len()))?;
    let mut found = on.filled(1, NONE)?;
    kernel::check_corners::launch(on, n, corners, vertices as u32, &mut found)?;
    match on.read(&found, 0)? {
        NONE => Ok(()),
        place => Err(Error::Invalid {
            element: format!("triangle {}", place / 3),
            rule: format!(
                "has vertex {}, but the mesh has {vertices} vertices",
                on.read(corners, place as usize)?.index()
            ),
        }),
    }
}

/// The samples of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Samples of each surface; 0 for none.
    pub samples: u32,
    /// The seed of their places.
    pub seed: u64,
}

/// Distances of points.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Distances {
    /// Points.
    pub points: u64,
    /// The largest distance; 0 of no points.
    pub largest: f64,
    /// Their mean.
    pub mean: f64,
    /// The root of the mean of their squares.
    pub root_mean_square: f64,
}

impl Distances {
    /// Those from both sides: the largest of both, and means of which each side counts half.
    pub fn and(self, other: Self) -> Self {
        let half = |x: f64, y: f64| 0.5 * x + 0.5 * y;
        let square = |x: f64| x * x;
        Self {
            points: self.points + other.points,
            largest: self.largest.max(other.largest),
            mean: half(self.mean, other.mean),
            root_mean_square: half(
                square(self.root_mean_square),
                square(other.root_mean_square),
            )
            .sqrt(),
        }
    }
}

/// Distances from one shape to another.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Side {
    /// Those of the points of the shape: of a surface, the ones that its triangles have.
    pub vertices: Distances,
    /// Those of its samples: of a surface with an area, if some are wanted.
    pub samples: Option<Distances>,
    /// Angles between the normals of the samples' triangles and those of the nearest ones, of two surfaces.
    pub normals: Option<Angles>,
}

/// A comparison of A with B.
pub struct Comparison {
    /// Diagonal of the box around A.
    pub diagonal: f64,
    /// From A to B.
    pub there: Side,
    /// From B to A.
    pub back: Side,
    /// The distance of each point of A to B.
    pub distances: Buffer<f64>,
}

/// Bytes that a comparison takes at once beside its shapes, with these numbers of points and of triangles.
pub fn bytes_needed(points: [usize; 2], triangles: [usize; 2], options: Options) -> u64 {
    let sum = |[a, b]: [usize; 2]| a as u64 + b as u64;
    let largest = triangles[0].max(triangles[1]) as u64;
    // Ordering takes most: centers, their order twice, keys; the tree is there while the distances are found.
    let (ordering, tree) = (80 * largest, 40 * largest);
    let found = 12 * sum(points) + 60 * u64::from(options.samples);
    ordering.max(tree + found)
}

/// Compares two shapes, from both sides.
///
/// # Errors
/// As [`Tree::build()`].
pub fn compare(on: &Device, a: Shape<'_>, b: Shape<'_>, options: Options) -> Result<Comparison> {
    let (used_of_a, used_of_b) = (used(on, a)?, used(on, b)?);
    let (there, distances) = side(on, (a, &used_of_a), b, options)?;
    let (back, _) = side(on, (b, &used_of_b), a, options)?;
    let diagonal = match &used_of_a {
        None => a.diagonal,
        Some(used) => {
            let (low, high) = points::bounds(on, &pick(on, a.points, used)?)?;
            diagonal(low, high)?
        }
    };
    Ok(Comparison {
        diagonal,
        there,
        back,
        distances,
    })
}

/// The points of a surface that its triangles have; `None` if these are all, and of a cloud.
fn used(on: &Device, shape: Shape<'_>) -> Result<Option<Buffer<Vertex>>> {
    if shape.is_cloud() {
        return Ok(None);
    }
    let n = shape.points.len();
    let (found, _) = mark_ids(on, shape.corners.as_words(), n)?;
    let list = compact(on, &found)?;
    Ok((list.len() < n).then_some(list))
}

/// From shape `from`, and the points of it that count, to shape `to`; and the distance of each point.
fn side(
    on: &Device,
    (from, used): (Shape<'_>, &Option<Buffer<Vertex>>),
    to: Shape<'_>,
    options: Options,
) -> Result<(Side, Buffer<f64>)> {
    let tree = Tree::build(on, to)?;
    let mut distances = tree.nearest(on, from.points)?.distances;
    let mut side = Side {
        vertices: match used {
            None => sum(on, &distances)?,
            Some(used) => {
                let bits: Buffer<u64> = distances.cast();
                let of_used = pick(on, &bits, used)?.cast();
                distances = bits.cast();
                sum(on, &of_used)?
            }
        },
        ..Side::default()
    };
    if let Some(samples) = draw(on, from, options)? {
        let nearest = tree.nearest(on, &samples.points)?;
        side.samples = Some(sum(on, &nearest.distances)?);
        if !to.is_cloud() {
            let pairs = (&samples.triangles, &nearest.triangles);
            side.normals = angles(on, (from, pairs.0), (to, pairs.1))?;
        }
    }
    Ok((side, distances))
}

/// The largest distance, and means.
///
/// # Errors
/// Errors of the device.
pub fn sum(on: &Device, distances: &Buffer<f64>) -> Result<Distances> {
    on.stage("sum distances", || {
        let blocks = distances.len().div_ceil(LANES);
        let mut sums = on.uninitialized(blocks)?;
        kernel::sum_distances::launch(on, blocks as u32, distances, &mut sums)?;
        let (mut sum, mut squares, mut largest) = (0.0, 0.0, 0);
        for of_block in on.download::<Sums>(&sums)? {
            sum += of_block.sum;
            squares += of_block.squares;
            largest = of_block.largest.max(largest);
        }
        let count = distances.len().max(1) as f64;
        Ok(Distances {
            points: distances.len() as u64,
            largest: f64::from_bits(largest),
            mean: sum / count,
            root_mean_square: (squares / count).sqrt(),
        })
    })
}

/// Triangles by numbers below those of a shape.
type Triangles = Buffer<Triangle>;

fn too_many(what: &str, count: usize) -> Error {
    Error::Argument(format!("{count} {what} are too many for 32-bit ids"))
}
