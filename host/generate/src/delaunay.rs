use glam::DVec2;
use rayon::prelude::*;
use spade::{DelaunayTriangulation, HasPosition, InsertionError, Point2, Triangulation as _};

use trioxide_mesh::mesh::Triangulation;
use trioxide_mesh::{Error, Result, ahead};

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
    let fault = |(i, point): (usize, &DVec2)| {
        let mut coordinates = point.to_array().into_iter();
        coordinates.find_map(|coordinate| {
            let error = spade::validate_coordinate(coordinate).err()?;
            Some(invalid(i, coordinate, error))
        })
    };
    if let Some(error) = points.par_iter().enumerate().find_map_first(fault) {
        return Err(error);
    }
    let sites = points
        .par_iter()
        .enumerate()
        .map(|(i, point)| Site {
            position: Point2::new(point.x, point.y),
            vertex: i as u32,
        })
        .collect();
    // One thread does all of it, in lists whose size is known: others clear their pages meanwhile.
    let delaunay = ahead::while_running(|| DelaunayTriangulation::<Site>::bulk_load(sites))
        .expect("coordinates were validated, and spade has no other error");
    if delaunay.num_vertices() < points.len() {
        return Err(repeated(&delaunay, &points));
    }

    let faces: Vec<_> = delaunay.fixed_inner_faces().collect();
    let triangles = faces
        .into_par_iter()
        .map(|face| {
            let mut triangle = delaunay.face(face).vertices().map(|v| v.data().vertex);
            let first = (0..3).min_by_key(|&k| triangle[k]).unwrap_or(0);
            triangle.rotate_left(first);
            triangle
        })
        .collect();
    // To give back its memory takes as long as a tenth of making it.
    rayon::spawn(move || drop(delaunay));
    Ok(Triangulation {
        points,
        triangles,
        ..Triangulation::default()
    })
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
