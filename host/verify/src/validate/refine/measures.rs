//! Quantities that refinement keeps up to rounding: area and angles.

use std::f64::consts::{PI, SQRT_2};

use glam::DVec3;
use gpu::point::{DoublePoint, MeshPoint};

use super::corners;
use crate::validate::exact::ExactSum;
use trioxide::mesh::EdgeTriangulation;
use trioxide::rules::{ensure, invalid};
use trioxide::{Error, Result};
use trioxide_mesh::parallel;

/// Triangles whose areas one thread sums up; the sum is the same for any number of threads.
const BLOCK: usize = 4096;

/// Area of a mesh before and after refinement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Areas {
    /// Area before, rounded once.
    pub before: f64,
    /// Area after less area before, rounded once; 0 where no midpoint on the boundary was rounded.
    pub change: f64,
    /// Largest change by rounded midpoints on the boundary: the boundary's length by the largest displacement.
    pub bound: f64,
}

/// Checks that the planar mesh `after`, made from `before` by at most `rounds` rounds of refinement, has the same area.
///
/// Areas are summed without rounding (unless products of coordinates overflow or underflow). Inside of the mesh rounded
/// midpoints cancel: one triangle gains the area that the next one loses. On the boundary they do not; they account for
/// at most its length times the largest displacement (see [the module](super)).
///
/// # Errors
/// [`Error::Invalid`] when the change is more.
pub fn area<P: MeshPoint>(
    before: &EdgeTriangulation<P>,
    after: &EdgeTriangulation<P>,
    rounds: u32,
) -> Result<Areas> {
    let was = twice_area(before);
    let mut change = twice_area(after);
    change.add_sum(&was, -1.0);
    let mut uses = vec![0u8; before.edges.len()];
    for &side in before.triangles.iter().flatten() {
        uses[side as usize / 2] += 1;
    }
    let boundary = before.edges.iter().zip(uses).filter(|(_, uses)| *uses == 1);
    let length: f64 = boundary
        .map(|(ends, _)| {
            let [a, b] = ends.map(|v| before.points[v as usize].to_f64().in_space());
            a.distance(b)
        })
        .sum();
    let areas = Areas {
        before: 0.5 * was.value(),
        change: 0.5 * change.value(),
        // The length is rounded too.
        bound: (1.0 + 1e-9) * length * displacement(before, rounds),
    };
    check_change(areas)
}

/// Checks that the surface `after`, made from `before` by at most `rounds` rounds of refinement, has the same area.
///
/// A vertex displaced by d changes the area of a triangle at it by at most d times half of the side across, so all
/// change it by no more than the largest displacement times the lengths of all sides; and 1e-12 of the area for
/// computing it.
///
/// # Errors
/// [`Error::Invalid`] when the change is more.
pub fn area_in_space<P: MeshPoint>(
    before: &EdgeTriangulation<P>,
    after: &EdgeTriangulation<P>,
    rounds: u32,
) -> Result<Areas> {
    let sums = |mesh: &EdgeTriangulation<P>| {
        (0..mesh.triangles.len())
            .map(|t| {
                let [a, b, c] = corners(mesh, t);
                let sides = a.distance(b) + b.distance(c) + c.distance(a);
                (0.5 * (b - a).spanned_area(c - a), sides)
            })
            .fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1))
    };
    let ((was, _), (is, sides)) = (sums(before), sums(after));
    let areas = Areas {
        before: was,
        change: is - was,
        bound: sides * displacement(before, rounds) + 1e-12 * was,
    };
    check_change(areas)
}

fn check_change(areas: Areas) -> Result<Areas> {
    ensure(
        areas.change.abs() <= areas.bound,
        || "mesh".into(),
        || {
            format!(
                "of area {} changes it by {}, more than the {} of rounding",
                areas.before, areas.change, areas.bound
            )
        },
    )?;
    Ok(areas)
}

fn twice_area<P: MeshPoint>(mesh: &EdgeTriangulation<P>) -> ExactSum {
    let blocks = parallel::map_pieces(mesh.triangles.len(), BLOCK, |range| {
        let mut sum = ExactSum::default();
        for t in range {
            sum.add_triangle(corners(mesh, t).map(DVec3::truncate));
        }
        sum
    });
    let mut sum = ExactSum::default();
    for block in &blocks {
        sum.add_sum(block, 1.0);
    }
    sum
}

/// Largest displacement of a vertex by rounding in `rounds` rounds.
fn displacement<P: MeshPoint>(mesh: &EdgeTriangulation<P>, rounds: u32) -> f64 {
    let largest = |most: f64, p: &P| most.max(p.to_f64().largest_coordinate());
    let largest = mesh.points.iter().fold(0.0, largest);
    let is_double = size_of::<P>() == size_of::<P::Double>();
    let epsilon = if is_double {
        f64::EPSILON
    } else {
        f32::EPSILON.into()
    };
    // The square root of the number of coordinates.
    let diagonal = if size_of::<P::Double>() == 16 {
        SQRT_2
    } else {
        3f64.sqrt()
    };
    f64::from(rounds) * diagonal * 0.5 * epsilon * largest
}

/// Smallest angles of a mesh before and after refinement, in radians; infinite where there is no triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SmallestAngles {
    /// Before.
    pub before: f64,
    /// After.
    pub after: f64,
}

/// Checks that the planar mesh `after`, made from `before` by at most `rounds` rounds of refinement, has no angle under
/// half of the smallest of `before`: Rosenberg and Stenger, A lower bound on the angles of triangles constructed by
/// bisecting the longest side (1975), and for triangles cut in four Rivara, Algorithms for refining triangular grids
/// suitable for adaptive and multigrid techniques (1984). An equilateral triangle attains it.
///
/// Allowed for rounding in each triangle: a corner displaced by d turns a side of length h by at most asin(2d / h), so
/// an angle changes by at most 2 pi d / h with h the shortest side; and 1e-12 of the angle for computing it. Where
/// sides differ by rounding alone, another than the longest may have been bisected: that changes angles by less.
///
/// # Errors
/// [`Error::Invalid`] with the first triangle that has a smaller angle.
pub fn angles<P: MeshPoint>(
    before: &EdgeTriangulation<P>,
    after: &EdgeTriangulation<P>,
    rounds: u32,
) -> Result<SmallestAngles> {
    let smallest = |mesh: &EdgeTriangulation<P>| {
        let of_pieces = parallel::map_pieces(mesh.triangles.len(), BLOCK, |range| {
            let angles = range.map(|t| smallest_angle(corners(mesh, t)));
            angles.fold(f64::INFINITY, f64::min)
        });
        of_pieces.into_iter().fold(f64::INFINITY, f64::min)
    };
    let was = smallest(before);
    let displacement = displacement(before, rounds);
    let broken = parallel::find_map(after.triangles.len(), |t| -> Option<Error> {
        let corners = corners(after, t);
        let angle = smallest_angle(corners);
        let [a, b, c] = corners;
        let shortest = a.distance(b).min(b.distance(c)).min(c.distance(a));
        let allowed = 2.0 * PI * displacement / shortest + 1e-12 * was;
        let degrees = |angle: f64| angle.to_degrees();
        (angle < 0.5 * was - allowed).then(|| {
            invalid(
                format!("triangle {t}"),
                format!(
                    "has an angle of {} degrees, under half of the smallest before, {}",
                    degrees(angle),
                    degrees(was)
                ),
            )
        })
    });
    match broken {
        Some(error) => Err(error),
        None => Ok(SmallestAngles {
            before: was,
            after: smallest(after),
        }),
    }
}

fn smallest_angle(corners: [DVec3; 3]) -> f64 {
    let [a, b, c] = corners;
    let angle = |p: DVec3, q: DVec3, r: DVec3| {
        let (q, r) = (q - p, r - p);
        // In the plane no square overflows.
        let area = match q.z == 0.0 && r.z == 0.0 {
            true => q.truncate().spanned_area(r.truncate()),
            false => q.spanned_area(r),
        };
        area.atan2(q.dot(r))
    };
    angle(a, b, c).min(angle(b, c, a)).min(angle(c, a, b))
}
