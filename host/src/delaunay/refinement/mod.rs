//! Delaunay refinement on a device: the triangles within an outline get vertices until their angles and areas keep
//! bounds. One result for any order of the points, but for the numbers. The kernels are in
//! [`gpu::delaunay::refinement`], with the algorithm and the proof that it ends.
//!
//! ```
//! use glam::DVec2;
//! use trioxide::Device;
//! use trioxide::delaunay::Duplicates;
//! use trioxide::delaunay::constrained::Limits;
//! use trioxide::delaunay::refinement::{Refinement, refine};
//!
//! # fn main() -> trioxide::Result<()> {
//! let on = Device::cpu(None)?;
//! let corners = [(0.0, 0.0), (8.0, 0.0), (8.0, 1.0), (0.0, 1.0)].map(DVec2::from);
//! let segments = on.upload(&[[0, 1], [1, 2], [2, 3], [3, 0]])?;
//! let bounds = Refinement { smallest_angle: Some(30.0), ..Refinement::default() };
//! let points = on.upload(&corners)?;
//! let result = refine(&on, &points, &Limits::of(&segments), Duplicates::Refuse, &bounds)?;
//! // Squares of side 1, each of two triangles, would take seven vertices on each side.
//! assert!(result.points.len() >= 4 + 2 * 5);
//! assert!(result.not_reached.is_empty());
//! # Ok(())
//! # }
//! ```

mod background;
mod begin;
mod end;
mod parts;
mod rounds;

pub use background::Background;
use glam::DVec2;
use gpu::delaunay::refinement as kernel;
use gpu::ids::Vertex;
use kernel::{LARGEST, LEAST};
use trioxide_kernel::launch::Buffer;

use super::constrained::{Constrained, Limits};
use super::{Duplicates, Ranked, Result, constrained};
use crate::device::Device;
use crate::half_edges::Point;
use crate::{Error, reorder};
use begin::Wanted;

/// How to refine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Refinement<'a> {
    /// Smallest angle of the triangles, in degrees, 0 to 33. Up to 20.7 refinement ends if segments meet at 60 degrees
    /// or more; for most outlines it ends up to 30. Smaller angles between segments stay as they are.
    pub smallest_angle: Option<f64>,
    /// Largest area of a triangle.
    pub largest_area: Option<f64>,
    /// Largest area in each of [`Limits::regions`], in place of that of all; none may be left out at the end.
    pub areas: &'a [Option<f64>],
    /// Longest edge of a triangle, at its centroid.
    pub sizes: Option<&'a Background>,
    /// Segments that get no vertices.
    pub keep: Keep,
    /// Most vertices that refinement may add, counting the ones it removes again [default: ten for each point, and a
    /// million].
    pub most_vertices: Option<usize>,
}

/// Segments that refinement adds no vertices on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Keep {
    /// Segments get vertices where triangles need them
    #[default]
    None,
    /// The boundary of the triangles gets none
    Outer,
    /// No segment gets any
    All,
}

impl Keep {
    fn held(self) -> kernel::Held {
        match self {
            Self::None => kernel::Held::Nothing,
            Self::Outer => kernel::Held::Boundary,
            Self::All => kernel::Held::All,
        }
    }
}

impl Refinement<'_> {
    /// Refuses bounds that refinement cannot reach.
    ///
    /// # Errors
    /// [`Error::Argument`].
    pub fn check(&self) -> crate::Result<()> {
        let is_angle = |angle: &f64| (0.0..=33.0).contains(angle);
        if let Some(angle) = self.smallest_angle.filter(|angle| !is_angle(angle)) {
            return Err(Error::Argument(format!(
                "{angle} degrees is no smallest angle that refinement reaches: give 0 to 33, and up to 20.7 to be sure"
            )));
        }
        let is_area = |area: &f64| *area > 0.0;
        let areas = self
            .areas
            .iter()
            .copied()
            .flatten()
            .chain(self.largest_area);
        match areas.into_iter().find(|area| !is_area(area)) {
            None => Ok(()),
            Some(area) => Err(Error::Argument(format!(
                "{area} is no largest area: give one above 0"
            ))),
        }
    }

    /// The goal of kernels.
    fn goal(&self) -> kernel::Goal {
        let cosine = libm::cos(self.smallest_angle.unwrap_or(0.0).to_radians());
        let of_lens = 2.0 * cosine * cosine - 1.0;
        let has_angle = self.smallest_angle.is_some_and(|angle| angle > 0.0);
        kernel::Goal {
            squared_cosine: if has_angle {
                cosine * cosine
            } else {
                f64::INFINITY
            },
            lens: of_lens * of_lens,
            off_center: 0.475 * ((1.0 + cosine) / (1.0 - cosine)).sqrt(),
        }
    }

    /// The largest area in each region, and without one.
    fn largest_areas(&self, regions: usize) -> Vec<f64> {
        let of_all = self.largest_area.unwrap_or(f64::INFINITY);
        let of_regions = (0..regions).map(|i| self.areas.get(i).copied().flatten());
        of_regions
            .chain([None])
            .map(|area| area.unwrap_or(of_all))
            .collect()
    }
}

/// A bound that some triangles miss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Missed {
    /// Triangles are larger than the bound of their region.
    Areas {
        /// Their number.
        triangles: u32,
        /// The largest area.
        largest: f64,
        /// The centroid of such a triangle.
        at: DVec2,
    },
    /// Triangles have a smaller angle, at a small angle between segments or where numbers allow no vertex.
    Angles {
        /// Their number.
        triangles: u32,
        /// The smallest angle in degrees.
        smallest: f64,
        /// The centroid of such a triangle.
        at: DVec2,
    },
    /// Triangles have an edge that is longer than the size at their centroid.
    Sizes {
        /// Their number.
        triangles: u32,
        /// The largest ratio of an edge to its size.
        worst: f64,
        /// The centroid of such a triangle.
        at: DVec2,
    },
}

/// A refined triangulation, on a device.
pub struct Refined {
    /// The points of the input, all in their order, then the added ones.
    pub points: Buffer<DVec2>,
    /// The triangles, along the curve through all points; their regions, and the pieces of the segments.
    pub mesh: Constrained,
    /// The bounds that some triangles miss.
    pub not_reached: Vec<Missed>,
}

/// The constrained Delaunay triangulation of points and segments, refined.
///
/// # Errors
/// [`Argument`](Error::Argument) for bounds that [`Refinement::check`] refuses, and if more vertices are needed than
/// may be added; [`Invalid`](Error::Invalid) for coordinates out of the range in which triangles are judged. The errors
/// of [`constrained::triangulate`].
pub fn refine<P: Point>(
    on: &Device,
    points: &Buffer<P>,
    limits: &Limits<'_>,
    duplicates: Duplicates,
    bounds: &Refinement<'_>,
) -> Result<Refined> {
    bounds.check()?;
    let found = constrained::find(on, points, limits, duplicates)?;
    check_range(on, &found.mesh.ranked)?;
    let pieces = on.stage("list pieces", || {
        constrained::pieces::list(on, &found.mesh, &found.segments, &found.selected.kept)
    })?;
    let collapsed = found.segments.collapsed;
    let shared_regions = found.selected.shared.clone();
    let (mut mesh, before) = on.stage("take triangles", || {
        begin::begin(on, found, bounds.keep.held())
    })?;
    let areas = on.upload(&bounds.largest_areas(limits.regions.len()))?;
    let no_sizes = Background::none(on)?;
    let wanted = Wanted {
        goal: bounds.goal(),
        areas: &areas,
        sizes: bounds.sizes.unwrap_or(&no_sizes),
    };
    let most = bounds
        .most_vertices
        .unwrap_or(1_000_000 + 10 * points.len());
    on.stage("refine", || match bounds.sizes {
        None => rounds::run::<false>(on, &mut mesh, wanted, most),
        Some(_) => rounds::run::<true>(on, &mut mesh, wanted, most),
    })?;
    let (list, not_reached) = on.stage("measure triangles", || {
        let list = end::alive(on, &mesh)?;
        let not_reached = end::measure(on, &mesh, &list, wanted, bounds)?;
        Ok((list, not_reached))
    })?;
    let names = on.stage("number vertices", || end::name(on, &mesh, &before))?;
    let (starts, parts) = on.stage("list parts", || {
        parts::list(on, &mesh, &before, &names, &pieces)
    })?;
    let ranked = reorder::vertices(on, &names.points)?;
    let (triangles, regions) = on.stage("order triangles", || {
        end::order(on, &mesh, &list, &names, ranked, !limits.regions.is_empty())
    })?;
    Ok(Refined {
        points: names.points,
        mesh: Constrained {
            triangles,
            regions,
            pieces: parts,
            starts,
            left_out: pieces.left_out,
            duplicates: before.points() - before.order.len(),
            firsts: before.firsts,
            collapsed,
            shared_regions,
        },
        not_reached,
    })
}

/// Refuses coordinates whose products overflow or underflow.
fn check_range(on: &Device, ranked: &Ranked) -> crate::Result<()> {
    let mut found = on.filled(1, Vertex::NONE)?;
    let (sorted, order) = (&ranked.sorted, &ranked.order);
    kernel::find_out_of_range::launch(on, sorted.len() as u32, sorted, order, &mut found)?;
    let vertex = on.read(&found, 0)?;
    if vertex.is_none() {
        return Ok(());
    }
    let order = on.download(order)?;
    let place = order.iter().position(|&v| v == vertex);
    let point = on.read(sorted, place.expect("a vertex of the order"))?;
    let is_out = |c: &f64| *c != 0.0 && !(LEAST..=LARGEST).contains(&c.abs());
    let coordinate = [point.x, point.y].into_iter().find(is_out);
    let coordinate = coordinate.expect("the kernel has found one");
    let reason = match coordinate.abs() > LARGEST {
        true => "too large to refine at: scale the points",
        false => "too near to zero to refine at: make it 0",
    };
    Err(Error::Invalid {
        element: format!("vertex {}", vertex.index()),
        rule: format!("has the coordinate {coordinate}, which is {reason}"),
    })
}
