use std::cmp::Ordering;

use glam::DVec2;
use rayon::prelude::*;
use spade::handles::FixedVertexHandle;
use spade::{DelaunayTriangulation, InsertionError, Point2, Triangulation as _};

use trioxide_mesh::mesh::Triangulation;
use trioxide_mesh::outline::repeated;
use trioxide_mesh::partition::Partition;
use trioxide_mesh::{Error, Result, ahead, parallel, progress};

type Site = Point2<f64>;

/// A triangulation whose faces test for interrupts.
type Delaunay = DelaunayTriangulation<Site, (), (), Looks>;

/// Empty data of a face. Spade makes some with each point: this shows the progress.
struct Looks;

impl Default for Looks {
    fn default() -> Self {
        progress::unwind();
        Looks
    }
}

/// The Delaunay triangulation of `points`, which covers their convex hull.
///
/// Vertices are `points` in their order. Triangles are strictly counter-clockwise, in the order of spade's faces, each
/// from its smallest vertex. If more than three points lie on an empty circle, the result is always the same one of
/// their triangulations. Points on one line give no triangle.
///
/// # Errors
/// [`Error::Invalid`] for a point that is repeated, not finite, or out of the range of exact predicates: nearer to zero
/// than 2^-142, or larger than 2^201.
pub fn delaunay(points: Vec<DVec2>) -> Result<Triangulation> {
    let fault = |i: usize| {
        let mut coordinates = points[i].to_array().into_iter();
        coordinates.find_map(|coordinate| {
            let error = spade::validate_coordinate(coordinate).err()?;
            Some(invalid(i, coordinate, error))
        })
    };
    if let Some(error) = parallel::find_map(points.len(), fault) {
        return Err(error);
    }
    let Sites {
        sites,
        mean,
        numbers,
    } = Sites::new(&points);
    // This thread works alone, in lists of known size: other threads touch their pages meanwhile.
    let delaunay = ahead::while_running(|| Delaunay::bulk_load(sites))
        .expect("coordinates were validated, and spade has no other error");
    if delaunay.num_vertices() < points.len() {
        return Err(repeated_points(&points));
    }
    let numbers = numbers_of_vertices(&delaunay, &points, mean, numbers);

    let triangles = parallel::collect(delaunay.num_inner_faces(), |i| {
        let face = delaunay.inner_faces().nth(i);
        let edge = face.expect("it has so many faces").adjacent_edge();
        let corners = [edge.from(), edge.to(), edge.next().to()];
        let [a, b, c] = corners.map(|vertex| numbers[vertex.index()]);
        match a.min(b).min(c) {
            least if least == a => [a, b, c],
            least if least == b => [b, c, a],
            _ => [c, a, b],
        }
    });
    // Freeing its memory takes a tenth of the time of building it.
    rayon::spawn(move || drop(delaunay));
    Ok(Triangulation {
        points,
        triangles,
        ..Triangulation::default()
    })
}

/// Points, prepared for spade.
struct Sites {
    /// In the order of spade's insertions, from the last one, so that its single thread has nothing to sort. Or in the
    /// order of the points, if spade would sort them differently.
    sites: Vec<Site>,
    /// The mean of the points in their order.
    mean: DVec2,
    /// The point of each site, in the order of spade's insertions.
    numbers: Vec<u32>,
}

impl Sites {
    /// Spade sorts by the distance from the mean, which it sums in the order of the sites. Another order may move the
    /// mean by some units in the last place, and so swap two sites at nearly the same distance.
    fn new(points: &[DVec2]) -> Sites {
        let mean = mean(points.iter().copied());
        let order = farthest_first(points, mean);
        let mut sites = parallel::map(&order, |&[_, v]| site(points[v as usize]));
        let of_sorted = self::mean(sites.iter().copied().map(place));
        if !is_order_of_spade(of_sorted, sites.len(), |i| place(sites[i])) {
            sites = parallel::map(points, |&point| site(point));
        }
        let last = order.len().saturating_sub(1);
        Sites {
            sites,
            mean,
            numbers: parallel::collect(order.len(), |i| order[last - i][1] as u32),
        }
    }
}

/// The points by their distance from `mean`, the farthest first, points at one distance by place. Each element is a key
/// and the point's number.
fn farthest_first(points: &[DVec2], mean: DVec2) -> Vec<[u64; 2]> {
    // First into groups by distance, which fit a cache.
    const GROUPS: usize = 4096;
    const MANY: usize = 1 << 17;
    let largest = parallel::map_pieces(points.len(), parallel::GRAIN, |piece| {
        let distances = points[piece].iter().map(|&p| distance(mean, p));
        distances.fold(0.0, f64::max)
    });
    let groups_a_unit = GROUPS as f64 / largest.into_iter().fold(0.0, f64::max);
    let mut groups = Partition::new(points.len(), GROUPS, |v| {
        let distance = distance(mean, points[v]);
        // NaN, if all points lie at one place, goes into the last group.
        let from_last = ((distance * groups_a_unit) as usize).min(GROUPS - 1);
        // No distance is negative, so its bits ascend with it.
        [(GROUPS - 1 - from_last, [!distance.to_bits(), v as u64])]
    });
    let mut order = std::mem::take(&mut groups.rows);
    groups.split(&mut order).into_par_iter().for_each(|group| {
        // The standard library's sort is quicker, but uses one thread.
        match group.len() < MANY {
            true => group.sort_unstable_by_key(|row| row[0]),
            false => group.par_sort_unstable_by_key(|row| row[0]),
        }
        let at_one_distance = group.chunk_by_mut(|a, b| a[0] == b[0]);
        for rows in at_one_distance.filter(|rows| rows.len() > 1) {
            rows.sort_unstable_by(|a, b| {
                let [p, q] = [a, b].map(|row| points[row[1] as usize].to_array());
                // No coordinate is NaN.
                p.partial_cmp(&q).unwrap_or(Ordering::Equal)
            });
        }
    });
    order
}

fn site(point: DVec2) -> Site {
    Site::new(point.x, point.y)
}

fn place(site: Site) -> DVec2 {
    DVec2::new(site.x, site.y)
}

/// Whether spade leaves `count` sites in their order if this is their mean; then no two of them are at one place.
fn is_order_of_spade(mean: DVec2, count: usize, place: impl Fn(usize) -> DVec2 + Sync) -> bool {
    let is_first = |i: usize| {
        let [p, q] = [place(i), place(i + 1)];
        let (near, far) = (distance(mean, q), distance(mean, p));
        far > near || far == near && p.to_array() < q.to_array()
    };
    parallel::find(count.saturating_sub(1), |i| !is_first(i)).is_none()
}

/// The point of each vertex of `delaunay`, which has one vertex for each. `inserted` are the points in spade's order.
///
/// Spade inserts some points after all others: points that are not at the left of the edge that they are inserted at.
fn numbers_of_vertices(
    delaunay: &Delaunay,
    points: &[DVec2],
    mean: DVec2,
    inserted: Vec<u32>,
) -> Vec<u32> {
    let count = inserted.len();
    let vertex = |i: usize| place(delaunay.vertex(FixedVertexHandle::from_index(i)).position());
    if is_order_of_spade(mean, count, |i| vertex(count - 1 - i)) {
        return inserted;
    }
    let (mut numbers, mut behind) = (Vec::with_capacity(count), Vec::new());
    for number in inserted {
        match vertex(numbers.len()) == points[number as usize] {
            true => numbers.push(number),
            false => behind.push(number),
        }
    }
    numbers.extend(behind);
    let is_there = |i: usize| vertex(i) == points[numbers[i] as usize];
    match parallel::find(count, |i| !is_there(i)) {
        None => numbers,
        Some(_) => numbers_by_place(points, vertex),
    }
}

/// The point of each vertex, for any order of insertion. No two points are at one place.
fn numbers_by_place(points: &[DVec2], vertex: impl Fn(usize) -> DVec2 + Sync) -> Vec<u32> {
    let compare = |p: DVec2, q: DVec2| {
        // No coordinate is NaN.
        let order = p.to_array().partial_cmp(&q.to_array());
        order.unwrap_or(Ordering::Equal)
    };
    let mut ascending: Vec<u32> = (0..points.len() as u32).collect();
    ascending.par_sort_unstable_by(|&a, &b| compare(points[a as usize], points[b as usize]));
    parallel::collect(points.len(), |i| {
        let place = vertex(i);
        let found = ascending.partition_point(|&v| compare(points[v as usize], place).is_lt());
        ascending[found]
    })
}

/// The mean, in spade's order of summation.
fn mean(points: impl ExactSizeIterator<Item = DVec2>) -> DVec2 {
    let share = 1.0 / points.len() as f64;
    points.fold(DVec2::ZERO, |sum, p| sum + p) * share
}

/// The squared distance, as spade computes it.
fn distance(mean: DVec2, point: DVec2) -> f64 {
    let [x, y] = (mean - point).to_array();
    x * x + y * y
}

pub(crate) fn invalid(vertex: usize, coordinate: f64, error: InsertionError) -> Error {
    let reason = match error {
        InsertionError::NAN => "which is not a number",
        InsertionError::TooSmall => "which is too near to zero for exact predicates: make it 0",
        InsertionError::TooLarge => "which is too large for exact predicates: scale the points",
    };
    Error::Invalid {
        element: format!("vertex {vertex}"),
        rule: format!("has the coordinate {coordinate}, {reason}"),
    }
}

/// The error for the first of `points` that repeats an earlier one. There must be one.
pub(crate) fn repeated_points(points: &[DVec2]) -> Error {
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|&a, &b| {
        let [p, q] = [points[a], points[b]];
        p.x.total_cmp(&q.x)
            .then(p.y.total_cmp(&q.y))
            .then(a.cmp(&b))
    });
    let pairs = order
        .windows(2)
        .filter(|pair| points[pair[0]] == points[pair[1]]);
    let first = pairs.map(|pair| (pair[1], pair[0])).min();
    let (vertex, other) = first.unwrap_or_default();
    repeated(vertex as u64, other as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{disk_points, random_points};
    use spade::HasPosition;

    /// A point with its number.
    struct Numbered(Site, u32);

    impl HasPosition for Numbered {
        type Scalar = f64;

        fn position(&self) -> Site {
            self.0
        }
    }

    /// Spade's faces of points in their order, each from its smallest vertex.
    fn plain(points: &[DVec2]) -> Vec<[u32; 3]> {
        let numbered = points.iter().zip(0..);
        let numbered = numbered.map(|(&point, number)| Numbered(site(point), number));
        let delaunay = DelaunayTriangulation::<Numbered>::bulk_load(numbered.collect()).unwrap();
        let faces = delaunay.inner_faces().map(|face| {
            let mut triangle = face.vertices().map(|vertex| vertex.data().1);
            while triangle[0] > triangle[1].min(triangle[2]) {
                triangle.rotate_left(1);
            }
            triangle
        });
        faces.collect()
    }

    #[test]
    fn an_interrupt_ends_the_insertion_of_points() {
        let sites: Vec<Site> = random_points(100, 1)
            .unwrap()
            .into_iter()
            .map(site)
            .collect();
        let interrupt = progress::Interrupt::default();
        let load = || Ok::<_, Error>(Delaunay::bulk_load(sites.clone()).unwrap().num_vertices());
        assert_eq!(interrupt.watch(load).unwrap(), 100);
        interrupt.interrupt();
        assert!(matches!(interrupt.watch(load), Err(Error::Interrupted)));
    }

    #[test]
    fn sites_that_are_sorted_before_give_the_same_faces() {
        let lattice = (0..60 * 60).map(|i| DVec2::new(f64::from(i % 60), f64::from(i / 60)) / 8.0);
        // The first coordinates are large: small ones are lost in their sum.
        let mut uneven = random_points(3_000, 5).unwrap();
        for (i, point) in uneven.iter_mut().enumerate() {
            *point *= [1e15, 1.0, 1e-9][i % 3];
        }
        let sets = [
            random_points(4, 1).unwrap(),
            random_points(20_000, 2).unwrap(),
            disk_points(9_000, 3).unwrap(),
            lattice.collect(),
            uneven,
            vec![DVec2::ZERO, DVec2::X],
        ];
        let (mut sorted, mut behind) = (0, 0);
        for points in sets {
            let Sites {
                sites,
                mean,
                numbers,
            } = Sites::new(&points);
            sorted += usize::from(
                sites
                    .iter()
                    .zip(numbers.iter().rev())
                    .all(|(&site, &number)| place(site) == points[number as usize]),
            );
            let delaunay = Delaunay::bulk_load(sites).unwrap();
            let of_vertices = numbers_of_vertices(&delaunay, &points, mean, numbers.clone());
            behind += usize::from(of_vertices != numbers);
            let vertex = |i| place(delaunay.vertex(FixedVertexHandle::from_index(i)).position());
            assert_eq!(numbers_by_place(&points, vertex), of_vertices);
            assert_eq!(
                super::delaunay(points.clone()).unwrap().triangles,
                plain(&points)
            );
        }
        assert!(sorted >= 4 && behind > 0, "{sorted}, {behind}");
        // If sites coincide, spade gets them in the order of the points.
        let mut twice = random_points(100, 1).unwrap();
        twice.push(twice[50]);
        let Sites { sites, .. } = Sites::new(&twice);
        assert!(sites.into_iter().map(place).eq(twice));
    }
}
