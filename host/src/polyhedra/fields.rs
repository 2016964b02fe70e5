//! Fields from tetrahedra to polyhedra.

use trioxide_mesh::fields::Mix;
use trioxide_mesh::volume::orientation;

use crate::polyhedra_mesh::PolyhedraLists;
use crate::volume::TetMesh;

/// The tetrahedra that each polyhedron is made of, weighted by their volumes; labels are those of its first
/// tetrahedron, as regions.
///
/// # Panics
/// For lists of another mesh.
pub fn tets_of_polyhedra(mesh: &TetMesh, lists: &PolyhedraLists) -> Mix {
    assert_eq!(lists.tets.len(), mesh.tetrahedra.len(), "one mesh");
    let volume = |&t: &u32| orientation(&mesh.points, &mesh.tetrahedra[t as usize]) / 6.0;
    let offsets = match lists.is_empty() {
        true => vec![0],
        false => lists.tet_offsets.iter().map(|&end| end as usize).collect(),
    };
    let labels = (0..lists.len()).map(|p| lists.tets_of(p)[0]).collect();
    let weights = lists.tets.iter().map(volume).collect();
    Mix::new(offsets, lists.tets.clone(), weights, labels)
}

#[cfg(test)]
mod tests {
    use glam::DVec3;
    use trioxide_mesh::fields::{Field, Fields};

    use super::*;
    use crate::device::Device;
    use crate::generate;
    use crate::polyhedra::{Options, polyhedra};
    use crate::refine_tets::DeviceTets;

    #[test]
    fn fields_are_means_over_the_volume() {
        let mesh = generate::random_tets(300, 2).unwrap();
        let on = Device::cpu(Some(1)).unwrap();
        let (resident, faces) = DeviceTets::<DVec3>::upload_with_faces(&on, &mesh).unwrap();
        let result = polyhedra(&on, &resident, &faces, Options::default()).unwrap();
        let lists = result.download(&on, &faces).unwrap();
        let ids = 0..mesh.tetrahedra.len() as u32;
        let fields: Fields = [
            Field::scalars("number", ids.clone().map(f64::from).collect::<Vec<_>>()),
            Field::scalars("id", ids.collect::<Vec<_>>()),
        ]
        .into_iter()
        .collect();
        let mixed = fields.mixed(&tets_of_polyhedra(&mesh, &lists));
        for p in 0..lists.len() {
            let tets = lists.tets_of(p);
            let (mut sum, mut total) = (0.0, 0.0);
            for &t in tets {
                let [a, b, c, d] = mesh.tetrahedra[t as usize].map(|v| mesh.points[v as usize]);
                let volume = (b - a).cross(c - a).dot(d - a);
                sum += volume * f64::from(t);
                total += volume;
            }
            let found = mixed.get("number").unwrap().values.f64(p);
            assert!((found - sum / total).abs() < 1e-9 * found, "{p}: {found}");
            assert_eq!(mixed.get("id").unwrap().values.i64(p), i64::from(tets[0]));
        }
    }
}
