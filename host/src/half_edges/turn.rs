//! Triangles of the plane that run clockwise, turned.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use gpu::point::DoublePoint;
use trioxide_mesh::mesh::Triangulation;
use trioxide_mesh::parallel;

/// Turns the triangles of a mesh of the plane that run clockwise, by swapping their last two vertices. Returns their
/// number.
///
/// Signs are exact. A degenerate triangle, or one with an index out of range, stays as it is. In space no triangle is
/// turned: there neither side of a triangle is the right one.
pub fn turn_clockwise<V: DoublePoint>(mesh: &mut Triangulation<V>) -> usize {
    let points = &mesh.points;
    let turned = AtomicUsize::new(0);
    parallel::for_chunks_mut(&mut mesh.triangles, parallel::GRAIN, |_, triangles| {
        let mut count = 0;
        for triangle in triangles {
            if triangle.iter().any(|&v| v as usize >= points.len()) {
                continue;
            }
            let [a, b, c] = triangle.map(|v| points[v as usize]);
            if !V::is_proper(a, b, c) && V::is_proper(a, c, b) {
                triangle.swap(1, 2);
                count += 1;
            }
        }
        turned.fetch_add(count, Relaxed);
    });
    turned.into_inner()
}

#[cfg(test)]
mod tests {
    use glam::{DVec2, DVec3};

    use super::*;

    #[test]
    fn clockwise_triangles_turn_and_others_stay() {
        let points = [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (2.0, 0.0)];
        let triangles = vec![[0, 1, 2], [0, 2, 1], [0, 1, 3], [0, 2, 9], [3, 1, 2]];
        let mut mesh = Triangulation {
            points: points.map(|(x, y)| DVec2::new(x, y)).to_vec(),
            triangles: triangles.clone(),
            ..Triangulation::default()
        };
        assert_eq!(turn_clockwise(&mut mesh), 2);
        let turned = [[0, 1, 2], [0, 1, 2], [0, 1, 3], [0, 2, 9], [3, 2, 1]];
        assert_eq!(mesh.triangles, turned);
        let mut mesh = Triangulation {
            points: mesh.points.iter().map(|p| DVec3::from((*p, 0.0))).collect(),
            triangles,
            ..Triangulation::default()
        };
        assert_eq!(turn_clockwise(&mut mesh), 0);
    }
}
