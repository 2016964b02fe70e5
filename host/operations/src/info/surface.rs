//! Measures of the faces of a surface in space.

use glam::DVec3;
use rayon::prelude::*;
use serde_json::{Value, json};
use trioxide::edge_table::EdgeTable;
use trioxide::mesh::Faces;
use trioxide::quality::Distribution;

use super::vector_area;

/// How flat the faces of a surface are, and how it bends between them.
#[derive(Clone, Debug, PartialEq)]
pub struct SurfaceMeasures {
    /// Of a face with more than three vertices: the largest distance of a vertex from the plane along the face's vector
    /// area through the mean of its vertices, by twice the largest distance from that mean. 0 where it is flat; `None`
    /// without such faces.
    pub planarity: Option<Distribution>,
    /// Angle between the vector areas of the two faces of an edge, in degrees from 0 to 180; `None` without such edges.
    pub dihedral_angle: Option<Distribution>,
}

impl SurfaceMeasures {
    /// By their names.
    pub(super) fn values(measures: Option<&Self>) -> [(&'static str, Value); 2] {
        let json = |of: Option<&Distribution>| {
            json!(of.map(|d| json!({"min": d.min, "mean": d.mean, "max": d.max})))
        };
        let planarity = measures.and_then(|measures| measures.planarity.as_ref());
        let angle = measures.and_then(|measures| measures.dihedral_angle.as_ref());
        [
            ("planarity", json(planarity)),
            ("dihedral_angle", json(angle)),
        ]
    }
}

/// The measures of faces with these edges. Faces without an area, and vertices that are not finite, are left out.
pub(super) fn of(points: &[DVec3], faces: &Faces, edges: &EdgeTable) -> SurfaceMeasures {
    let planarity = |face: &[u32]| {
        let normal = vector_area(points, face).try_normalize()?;
        let corners = face.iter().map(|&v| points[v as usize]);
        let mean = corners.clone().sum::<DVec3>() / face.len() as f64;
        let [height, radius] = corners.fold([0.0f64; 2], |[height, radius], corner| {
            let arm = corner - mean;
            [height.max(arm.dot(normal).abs()), radius.max(arm.length())]
        });
        (face.len() > 3).then_some(height / (2.0 * radius))
    };
    let found: Vec<f64> = (0..faces.len())
        .into_par_iter()
        .filter_map(|i| planarity(faces.get(i)))
        .collect();
    let side = |id: u32| match faces {
        Faces::Triangles(triangles) => (id as usize / 3, triangles.as_flattened()[id as usize]),
        Faces::Polygons(polygons) => {
            let face = polygons.offsets.partition_point(|&begin| begin <= id) - 1;
            (face, polygons.vertices[id as usize])
        }
    };
    let angles = edges.filter_map_edges(|_, sides| {
        let &[(_, one), (_, other)] = sides else {
            return None;
        };
        let [(one, from), (other, to)] = [one, other].map(side);
        let normal = |face: usize| vector_area(points, faces.get(face)).try_normalize();
        let (one, other) = (normal(one)?, normal(other)?);
        // Where both run along the edge in one direction, one of them is turned around.
        let other = if from == to { -other } else { other };
        Some(libm::atan2(one.cross(other).length(), one.dot(other)).to_degrees())
    });
    SurfaceMeasures {
        planarity: spread(&found),
        dihedral_angle: spread(&angles),
    }
}

/// In the order of the elements: the same sum for any number of threads.
fn spread(values: &[f64]) -> Option<Distribution> {
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    let count = finite().count();
    (count > 0).then(|| Distribution {
        min: finite().fold(f64::INFINITY, f64::min),
        mean: finite().sum::<f64>() / count as f64,
        max: finite().fold(f64::NEG_INFINITY, f64::max),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use trioxide::mesh::{Mesh, Polygons};

    #[test]
    fn a_roof_has_an_angle_and_a_bent_face() {
        let corners = [
            (0., 0., 0.),
            (2., 0., 0.),
            (2., 1., 0.),
            (0., 1., 0.),
            (0., 1., 2.),
            (2., 1., 2.),
        ];
        let points: Vec<DVec3> = corners.map(DVec3::from).to_vec();
        let mut polygons = Polygons::default();
        polygons.push(&[0, 1, 2, 3]);
        polygons.push(&[3, 2, 5, 4]);
        let report = |polygons: Polygons| {
            let faces = Faces::Polygons(polygons);
            let mesh = Mesh {
                points: points.clone(),
                faces,
                ..Mesh::default()
            };
            super::super::info(mesh)
                .expect("memory")
                .surface
                .expect("it is in space")
        };
        let flat = report(polygons.clone());
        let right = flat.dihedral_angle.expect("an edge");
        assert_eq!((right.min, right.max), (90.0, 90.0));
        assert_eq!(flat.planarity.expect("faces").max, 0.0);
        // The second face the other way around, and one that leaves its plane.
        let mut turned = Polygons::default();
        turned.push(&[0, 1, 2, 3]);
        turned.push(&[3, 4, 5, 2]);
        assert_eq!(report(turned).dihedral_angle.expect("an edge").mean, 90.0);
        let mut bent = Polygons::default();
        bent.push(&[0, 1, 2, 4]);
        let bent = report(bent);
        assert!(bent.dihedral_angle.is_none());
        let planarity = bent.planarity.expect("a face").max;
        // Corners are 1/3 from the plane through their mean, the farthest is at the root of 3.5.
        let expected = 1.0 / 3.0 / (2.0 * 3.5f64.sqrt());
        assert!((planarity - expected).abs() < 1e-12, "{planarity}");
    }
}
