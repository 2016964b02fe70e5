//! The quality of each element, as `trioxide info` measures it where it does: one number from 0 to 1, 1 for the best.

use glam::DVec3;
use gpu::smooth::cell_quality;
use trioxide_mesh::mesh::{Faces, Mesh};
use trioxide_mesh::parallel;
use trioxide_mesh::polyhedra::PolyhedralMesh;
use trioxide_mesh::volume::VolumeMesh;

/// A measure and its value for each element.
#[derive(Clone, Debug)]
pub(crate) struct Quality {
    pub(crate) name: &'static str,
    pub(crate) values: Vec<f32>,
}

const EDGE_TO_DIAMETER: &str = "shortest edge / diameter";

/// Of triangles the mean ratio, of polygons the shortest edge by the diameter. `None` for a cloud.
pub(crate) fn of_faces(mesh: &Mesh) -> Option<Quality> {
    let points = &mesh.points;
    match &mesh.faces {
        faces if faces.is_empty() => None,
        Faces::Triangles(triangles) => Some(Quality {
            name: "mean ratio",
            values: parallel::map(triangles, |triangle| {
                mean_ratio(triangle.map(|v| points[v as usize]))
            }),
        }),
        Faces::Polygons(polygons) => Some(Quality {
            name: EDGE_TO_DIAMETER,
            values: parallel::collect(polygons.len(), |i| {
                let face = polygons.get(i);
                edge_to_diameter(points, face, sides(face))
            }),
        }),
    }
}

/// Scaled Jacobians; 0 for a cell that is inverted.
pub(crate) fn of_cells(mesh: &VolumeMesh) -> Quality {
    Quality {
        name: "scaled Jacobian",
        values: parallel::collect(mesh.cells.len(), |i| {
            let cell = mesh.cells.get(i);
            let at = |k: u32| mesh.points[cell[k as usize] as usize];
            cell_quality(cell.len() as u32, at).jacobian.max(0.0) as f32
        }),
    }
}

/// The shortest edge by the diameter.
pub(crate) fn of_polyhedra(mesh: &PolyhedralMesh) -> Quality {
    Quality {
        name: EDGE_TO_DIAMETER,
        values: parallel::collect(mesh.len(), |p| {
            let faces = || {
                let sides = mesh.sides_of(p).iter();
                sides.map(|&side| mesh.faces.get(side as usize / 2))
            };
            let mut vertices: Vec<u32> = faces().flatten().copied().collect();
            vertices.sort_unstable();
            vertices.dedup();
            edge_to_diameter(&mesh.points, &vertices, faces().flat_map(sides))
        }),
    }
}

fn sides(face: &[u32]) -> impl Iterator<Item = [u32; 2]> {
    (0..face.len()).map(|i| [face[i], face[(i + 1) % face.len()]])
}

/// 4 sqrt(3) times the area, by the squares of the sides: 1 for equal sides.
fn mean_ratio([a, b, c]: [DVec3; 3]) -> f32 {
    let area = (b - a).cross(c - a).length() / 2.0;
    let squares = a.distance_squared(b) + b.distance_squared(c) + c.distance_squared(a);
    let ratio = 4.0 * 3f64.sqrt() * area / squares;
    if ratio.is_finite() { ratio as f32 } else { 0.0 }
}

fn edge_to_diameter(
    points: &[DVec3],
    vertices: &[u32],
    edges: impl Iterator<Item = [u32; 2]>,
) -> f32 {
    let square = |a: u32, b: u32| points[a as usize].distance_squared(points[b as usize]);
    let shortest = edges
        .map(|[a, b]| square(a, b))
        .fold(f64::INFINITY, f64::min);
    let mut longest = 0.0f64;
    for (i, &a) in vertices.iter().enumerate() {
        for &b in &vertices[i + 1..] {
            longest = longest.max(square(a, b));
        }
    }
    let ratio = (shortest / longest).sqrt();
    if ratio.is_finite() { ratio as f32 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trioxide_mesh::mesh::Polygons;

    #[test]
    fn the_best_elements_have_one() {
        let height = 0.75f64.sqrt();
        let mut mesh = Mesh {
            points: vec![
                DVec3::ZERO,
                DVec3::X,
                DVec3::new(0.5, height, 0.0),
                DVec3::new(2.0, 0.0, 0.0),
            ],
            faces: Faces::Triangles(vec![[0, 1, 2], [0, 1, 3]]),
            ..Mesh::default()
        };
        let found = of_faces(&mesh).expect("faces").values;
        assert!(
            (found[0] - 1.0).abs() < 1e-6 && found[1] == 0.0,
            "{found:?}"
        );
        let mut polygons = Polygons::default();
        polygons.push(&[0, 1, 2]);
        polygons.push(&[0, 3, 2]);
        mesh.faces = Faces::Polygons(polygons);
        let found = of_faces(&mesh).expect("faces").values;
        assert_eq!(found[0], 1.0);
        assert!((found[1] - 0.5).abs() < 1e-6, "{found:?}");
        mesh.faces = Faces::default();
        assert!(of_faces(&mesh).is_none());
    }
}
