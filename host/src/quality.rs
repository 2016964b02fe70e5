//! Quality of polygonal meshes: measures that users of the virtual element method check before they compute.
//!
//! Shape measures follow Attene et al., "Benchmarking the geometrical robustness of a virtual element Poisson solver"
//! (Mathematics and Computers in Simulation 190, 2021): the ratio of the shortest edge to the diameter, convexity, and
//! the kernel, from which the whole polygon is seen.
//!
//! Sums go over fixed blocks of polygons and then over the blocks in order, so that the result is the same for any
//! number of threads.

use std::collections::BTreeMap;

use glam::DVec2;
use robust::{Coord, orient2d};

use crate::mesh::{PolygonMesh, Polygons};
use trioxide_mesh::parallel;

/// Polygons whose measures one thread sums up.
const BLOCK: usize = 1024;

/// If the kernel's part of its polygon's area is smaller, it may be rounding alone.
const SMALLEST_KERNEL: f64 = 1e-12;

/// Smallest, mean and largest value of a measure; infinite where there is no polygon.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distribution {
    /// Smallest value.
    pub min: f64,
    /// Mean over the polygons.
    pub mean: f64,
    /// Largest value.
    pub max: f64,
}

/// Quality of a polygonal mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct Quality {
    /// Number of polygons.
    pub polygons: usize,
    /// How many polygons have each number of vertices.
    pub vertices_per_polygon: BTreeMap<usize, usize>,
    /// Area.
    pub area: Distribution,
    /// Length of the boundary.
    pub perimeter: Distribution,
    /// Polygons without a reflex vertex (exact predicate; flat vertices are allowed).
    pub convex: usize,
    /// Area by the area of the convex hull, in 0 ..= 1: 1 for a convex polygon.
    pub convexity: Distribution,
    /// Shortest edge by the largest distance of two vertices, in 0 ..= 1.
    pub shortest_edge_to_diameter: Distribution,
    /// Polygons whose kernel is more than a point.
    pub star_shaped: usize,
    /// Area of the kernel (the points that see the whole polygon) by area, in 0 ..= 1: 1 for a convex polygon.
    pub kernel: Distribution,
}

/// Measures the polygons of a valid mesh ([`crate::rules::polygon_mesh`]), in parallel.
///
/// A polygon of n vertices takes n log n time, and for its kernel n times the number of the kernel's corners.
pub fn quality(mesh: &PolygonMesh) -> Quality {
    let n = mesh.polygons.len();
    let blocks = parallel::map_pieces(n, BLOCK, |range| {
        Sums::of(&mesh.points, &mesh.polygons, range, &mut Shape::default())
    });
    let mut sums = Sums::default();
    for block in blocks {
        sums.add(block);
    }
    let [
        area,
        perimeter,
        convexity,
        shortest_edge_to_diameter,
        kernel,
    ] = sums.measures.map(|sum| Distribution {
        min: sum.min,
        mean: sum.sum / n as f64,
        max: sum.max,
    });
    Quality {
        polygons: n,
        vertices_per_polygon: sums.vertices,
        area,
        perimeter,
        convex: sums.convex,
        convexity,
        shortest_edge_to_diameter,
        star_shaped: sums.star_shaped,
        kernel,
    }
}

#[derive(Clone, Copy)]
struct Sum {
    min: f64,
    sum: f64,
    max: f64,
}

impl Default for Sum {
    fn default() -> Sum {
        Sum {
            min: f64::INFINITY,
            sum: 0.0,
            max: f64::NEG_INFINITY,
        }
    }
}

/// Sums over a block of polygons.
#[derive(Default)]
struct Sums {
    vertices: BTreeMap<usize, usize>,
    convex: usize,
    star_shaped: usize,
    /// Area, perimeter, convexity, shortest edge to diameter, kernel.
    measures: [Sum; 5],
}

impl Sums {
    fn of(
        points: &[DVec2],
        polygons: &Polygons,
        range: std::ops::Range<usize>,
        shape: &mut Shape,
    ) -> Sums {
        let mut sums = Sums::default();
        let (mut size, mut count) = (polygons.get(range.start).len(), 0);
        for i in range {
            let polygon = polygons.get(i);
            // Mostly of the size before it.
            if polygon.len() != size {
                *sums.vertices.entry(size).or_default() += std::mem::take(&mut count);
                size = polygon.len();
            }
            count += 1;
            let measures = shape.measure(points, polygon);
            sums.convex += usize::from(shape.convex);
            sums.star_shaped += usize::from(measures[4] > SMALLEST_KERNEL);
            for (sum, value) in sums.measures.iter_mut().zip(measures) {
                sum.min = sum.min.min(value);
                sum.sum += value;
                sum.max = sum.max.max(value);
            }
        }
        *sums.vertices.entry(size).or_default() += count;
        sums
    }

    fn add(&mut self, other: Sums) {
        for (k, m) in other.vertices {
            *self.vertices.entry(k).or_default() += m;
        }
        self.convex += other.convex;
        self.star_shaped += other.star_shaped;
        for (sum, other) in self.measures.iter_mut().zip(other.measures) {
            sum.min = sum.min.min(other.min);
            sum.sum += other.sum;
            sum.max = sum.max.max(other.max);
        }
    }
}

/// The polygon being measured, and scratch space that the next one reuses.
#[derive(Default)]
struct Shape {
    /// Corners, from the first one as the origin.
    corners: Vec<DVec2>,
    convex: bool,
    /// Corners in the order of x, then y.
    sorted: Vec<usize>,
    /// Corners of the convex hull, counter-clockwise; flat corners left out.
    hull: Vec<usize>,
    on_hull: Vec<bool>,
    kernel: Vec<DVec2>,
    clipped: Vec<DVec2>,
}

impl Shape {
    /// Area, perimeter, convexity, shortest edge to diameter, kernel.
    fn measure(&mut self, points: &[DVec2], polygon: &[u32]) -> [f64; 5] {
        let n = polygon.len();
        let point = |k: usize| points[polygon[k % n] as usize];
        self.corners.clear();
        self.corners.extend((0..n).map(|k| point(k) - point(0)));
        // The predicate is exact: at the three corners of a triangle it gives the same.
        let turns = if n == 3 { 1 } else { n };
        self.convex = (0..turns).all(|k| {
            let corner = |k: usize| Coord {
                x: point(k).x,
                y: point(k).y,
            };
            orient2d(corner(k), corner(k + 1), corner(k + 2)) >= 0.0
        });

        let area = area(&self.corners);
        let (mut perimeter, mut shortest) = (0.0, f64::INFINITY);
        for k in 0..n {
            let length = self.corners[k].distance(self.corners[(k + 1) % n]);
            perimeter += length;
            shortest = shortest.min(length);
        }
        let edge_ratio = shortest
            / self.diameter_of_triangle().unwrap_or_else(|| {
                self.find_hull();
                self.diameter()
            });
        if self.convex {
            return [area, perimeter, 1.0, edge_ratio, 1.0];
        }
        self.kernel.clear();
        self.kernel
            .extend(self.hull.iter().map(|&k| self.corners[k]));
        let hull_area = self::area(&self.kernel);
        self.find_kernel();
        // Rounding may take either a little over 1.
        let ratio = |part: f64, whole: f64| (part / whole).clamp(0.0, 1.0);
        [
            area,
            perimeter,
            ratio(area, hull_area),
            edge_ratio,
            ratio(self::area(&self.kernel), area),
        ]
    }

    /// The diameter of a convex triangle, all of whose corners are certainly on the hull: no rounding changes the sign
    /// of a product that is a millionth of its terms. The hull would give the same diameter.
    fn diameter_of_triangle(&self) -> Option<f64> {
        let [a, b, c] = self.corners[..] else {
            return None;
        };
        let [ab, bc, ca] = [
            a.distance_squared(b),
            b.distance_squared(c),
            c.distance_squared(a),
        ];
        let largest = ab.max(bc).max(ca);
        let is_clear = (b - a).perp_dot(c - a) > 1e-6 * largest;
        // Neither lost in small numbers nor infinite.
        let is_measurable = (1e-200..1e200).contains(&largest);
        (self.convex && is_clear && is_measurable).then(|| largest.sqrt())
    }

    /// Andrew's monotone chain.
    fn find_hull(&mut self) {
        let corners = &self.corners;
        let n = corners.len();
        self.sorted.clear();
        self.sorted.extend(0..n);
        self.sorted.sort_unstable_by(|&a, &b| {
            let (p, q) = (corners[a], corners[b]);
            p.x.total_cmp(&q.x).then(p.y.total_cmp(&q.y))
        });
        self.hull.clear();
        let add = |hull: &mut Vec<usize>, least: usize, k: usize| {
            while let [.., a, b] = hull[..]
                && hull.len() >= least
                && (corners[b] - corners[a]).perp_dot(corners[k] - corners[a]) <= 0.0
            {
                hull.pop();
            }
            hull.push(k);
        };
        for &k in &self.sorted {
            add(&mut self.hull, 2, k);
        }
        let upper = self.hull.len() + 1;
        for &k in self.sorted.iter().rev().skip(1) {
            add(&mut self.hull, upper, k);
        }
        // The first corner again.
        self.hull.pop();
    }

    /// Largest distance of two corners: rotating calipers around the hull.
    fn diameter(&self) -> f64 {
        let n = self.hull.len();
        let corner = |k: usize| self.corners[self.hull[k % n]];
        let mut largest: f64 = 0.0;
        let mut opposite = 1;
        for k in 0..n {
            let edge = corner(k + 1) - corner(k);
            // The corners go around once while k does; the bound is for hulls as flat as rounding.
            while opposite < 3 * n && edge.perp_dot(corner(opposite + 1) - corner(opposite)) > 0.0 {
                opposite += 1;
            }
            largest = largest
                .max(corner(k).distance_squared(corner(opposite)))
                .max(corner(k + 1).distance_squared(corner(opposite)));
        }
        largest.sqrt()
    }

    /// Clips the hull by the polygon's edges that are not edges of the hull: the kernel lies to the left of every edge.
    fn find_kernel(&mut self) {
        let n = self.corners.len();
        self.on_hull.clear();
        self.on_hull.resize(n, false);
        for &k in &self.hull {
            self.on_hull[k] = true;
        }
        for k in 0..n {
            let next = (k + 1) % n;
            if !(self.on_hull[k] && self.on_hull[next]) {
                self.clip(self.corners[k], self.corners[next]);
                if self.kernel.is_empty() {
                    return;
                }
            }
        }
    }

    /// Cuts off the part of the kernel to the right of the line from `a` to `b`.
    fn clip(&mut self, a: DVec2, b: DVec2) {
        let left = |p: DVec2| (b - a).perp_dot(p - a);
        if self.kernel.iter().all(|&p| left(p) >= 0.0) {
            return;
        }
        self.clipped.clear();
        for (k, &p) in self.kernel.iter().enumerate() {
            let q = self.kernel[(k + 1) % self.kernel.len()];
            let (p_left, q_left) = (left(p), left(q));
            if p_left >= 0.0 {
                self.clipped.push(p);
            }
            if (p_left > 0.0 && q_left < 0.0) || (p_left < 0.0 && q_left > 0.0) {
                self.clipped.push(p.lerp(q, p_left / (p_left - q_left)));
            }
        }
        std::mem::swap(&mut self.kernel, &mut self.clipped);
    }
}

/// Area of a polygon.
fn area(corners: &[DVec2]) -> f64 {
    let Some(&last) = corners.last() else {
        return 0.0;
    };
    let mut twice = 0.0;
    let mut p = last;
    for &q in corners {
        twice += p.perp_dot(q);
        p = q;
    }
    0.5 * twice
}

#[cfg(test)]
mod tests;
