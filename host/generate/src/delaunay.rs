use std::cmp::Ordering;

use glam::DVec2;
use rayon::slice::ParallelSliceMut;
use spade::{DelaunayTriangulation, HasPosition, InsertionError, Point2, Triangulation as _};

use trioxide_mesh::mesh::Triangulation;
use trioxide_mesh::{Error, Result, ahead, parallel};

/// A point that keeps its number while spade sorts points into its own order.
struct Site {
    position: Point2<f64>,
    vertex: u32,
}

impl HasPosition for Site {
    type Scalar = f64;

    fn position(&self) -> Point2<f64> {
        self.position
    }
}

/// The Delaunay triangulation of `points`, which covers their convex hull.
///
/// Vertices are `points` in their order. Triangles are strictly counter-clockwise, in the order of spade's faces, each
/// from its smallest vertex. Where more than three points lie on an empty circle, one of their triangulations is taken,
/// always the same. Points on one line give no triangle.
///
/// # Errors
/// [`Error::Invalid`] for a point that is repeated, not finite, or so near to zero (under 2^-142) or so large (over
/// 2^201) that exact predicates could not be evaluated.
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
    let sites = sorted_sites(&points);
    // One thread does all of it, in lists whose size is known: others clear their pages meanwhile.
    let delaunay = ahead::while_running(|| DelaunayTriangulation::<Site>::bulk_load(sites))
        .expect("coordinates were validated, and spade has no other error");
    if delaunay.num_vertices() < points.len() {
        return Err(repeated(&delaunay, &points));
    }

    let faces: Vec<_> = delaunay.fixed_inner_faces().collect();
    let triangles = parallel::map(&faces, |&face| {
        let mut triangle = delaunay.face(face).vertices().map(|v| v.data().vertex);
        let first = (0..3).min_by_key(|&k| triangle[k]).unwrap_or(0);
        triangle.rotate_left(first);
        triangle
    });
    // To give back its memory takes as long as a tenth of making it.
    rayon::spawn(move || drop(delaunay));
    Ok(Triangulation {
        points,
        triangles,
        ..Triangulation::default()
    })
}

/// A site for each point, in the order in which spade inserts them, so that its one thread has nothing to sort; or in the order of the
/// points, where spade would sort these otherwise than those.
///
/// Spade sorts by the distance from the mean, which it sums up in the order in which it gets the sites: another order may move it by
/// some units in the last place, and so swap two sites at nearly the same distance.
fn sorted_sites(points: &[DVec2]) -> Vec<Site> {
    let site = |vertex: u32| {
        let point = points[vertex as usize];
        Site {
            position: Point2::new(point.x, point.y),
            vertex,
        }
    };
    let mean = mean(points.iter().copied());
    // Farthest first; no distance is negative, so that its bits ascend with it.
    let farness = |&p: &DVec2| !distance(mean, p).to_bits();
    let mut order: Vec<(u64, u32)> =
        parallel::collect(points.len(), |v| (farness(&points[v]), v as u32));
    order.par_sort_unstable_by(|a, b| {
        let [p, q] = [a, b].map(|&(_, v)| points[v as usize].to_array());
        // No coordinate is NaN.
        let by_place = || p.partial_cmp(&q).unwrap_or(Ordering::Equal);
        a.0.cmp(&b.0).then_with(by_place)
    });
    let sorted = parallel::map(&order, |&(_, v)| site(v));
    drop(order);
    if is_order_of_spade(&sorted) {
        return sorted;
    }
    parallel::collect(points.len(), |v| site(v as u32))
}

/// Whether spade leaves these sites in their order; no two of them are at one place then.
fn is_order_of_spade(sites: &[Site]) -> bool {
    let place = |site: &Site| DVec2::new(site.position.x, site.position.y);
    let mean = mean(sites.iter().map(place));
    let is_first = |i: usize| {
        let [p, q] = [place(&sites[i]), place(&sites[i + 1])];
        let (near, far) = (distance(mean, q), distance(mean, p));
        far > near || far == near && p.to_array() < q.to_array()
    };
    parallel::find(sites.len().saturating_sub(1), |i| !is_first(i)).is_none()
}

/// As spade sums it up.
fn mean(points: impl ExactSizeIterator<Item = DVec2>) -> DVec2 {
    let share = 1.0 / points.len() as f64;
    points.fold(DVec2::ZERO, |sum, p| sum + p) * share
}

/// As spade computes it: a square.
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

/// Names the first of `points` that lies where one before it does; there is one.
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
    Error::Invalid {
        element: format!("vertex {vertex}"),
        rule: format!("lies at the same place as vertex {other}: weld the points first"),
    }
}

/// Spade keeps one site of those at the same place: names the first one that it dropped.
fn repeated(delaunay: &DelaunayTriangulation<Site>, points: &[DVec2]) -> Error {
    let mut kept = vec![false; points.len()];
    for vertex in delaunay.vertices() {
        kept[vertex.data().vertex as usize] = true;
    }
    let dropped = kept.iter().position(|&kept| !kept).unwrap_or(0);
    let other = points
        .iter()
        .enumerate()
        .position(|(i, &point)| i != dropped && point == points[dropped])
        .unwrap_or(dropped);
    Error::Invalid {
        element: format!("vertex {dropped}"),
        rule: format!("lies at the same place as vertex {other}: weld the points first"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{disk_points, random_points};

    fn faces(sites: Vec<Site>) -> Vec<[u32; 3]> {
        let delaunay = DelaunayTriangulation::<Site>::bulk_load(sites).unwrap();
        let vertices = |face: spade::handles::FixedFaceHandle<spade::handles::InnerTag>| {
            delaunay.face(face).vertices().map(|v| v.data().vertex)
        };
        delaunay.fixed_inner_faces().map(vertices).collect()
    }

    #[test]
    fn sites_that_are_sorted_before_give_the_same_faces() {
        let lattice = (0..60 * 60).map(|i| DVec2::new(f64::from(i % 60), f64::from(i / 60)) / 8.0);
        // The first coordinates are large, and small ones are lost in their sum.
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
        let mut sorted = 0;
        for points in sets {
            let in_order: Vec<Site> = points
                .iter()
                .enumerate()
                .map(|(i, p)| Site {
                    position: Point2::new(p.x, p.y),
                    vertex: i as u32,
                })
                .collect();
            let sites = sorted_sites(&points);
            sorted += usize::from(is_order_of_spade(&sites));
            assert_eq!(faces(sites), faces(in_order));
        }
        assert!(sorted >= 4, "{sorted}");
        // Sites at one place are left to spade, in the order of the points.
        let mut twice = random_points(100, 1).unwrap();
        twice.push(twice[50]);
        let sites = sorted_sites(&twice);
        assert!((0..).zip(&sites).all(|(i, site)| site.vertex == i));
    }
}
