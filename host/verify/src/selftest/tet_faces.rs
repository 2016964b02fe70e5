//! Faces of tetrahedra on a device against a map of faces.

use std::sync::Arc;

use glam::DVec3;

use super::refine_tets::{meshes, oriented};
use super::{Case, Outcome, Size, equal};
use crate::validate;
use trioxide::device::Device;
use trioxide::refine_tets::DeviceTets;
use trioxide::volume::{TaggedTriangle, TetMesh};
use trioxide::{Result, generate};
use trioxide_reference as reference;

pub fn cases(size: Size) -> Result<Vec<Case>> {
    let mut all = meshes(size)?;
    all.push((
        "more faces than the first table has room for".to_owned(),
        alone(size.of(20_000) as u32),
    ));
    all.push((
        "vertices in random order".to_owned(),
        shuffled(generate::random_tets(size.of(3000), 5)?),
    ));
    let mut cases: Vec<Case> = all
        .into_iter()
        .map(|(name, mesh)| {
            let mesh = Arc::new(mesh);
            Case::new(format!("faces of tetrahedra: {name}"), move |on| {
                compare(on, &mesh)
            })
        })
        .collect();
    cases.push(Case::new(
        "faces of tetrahedra: what overlaps is refused",
        overlaps_are_refused,
    ));
    Ok(cases)
}

fn compare(on: &Device, mesh: &TetMesh) -> Outcome {
    let (_, faces) = DeviceTets::<DVec3>::upload_with_faces(on, mesh).map_err(String::from)?;
    let (twins, tagged) = reference::polyhedra::face_sides(mesh);
    equal("twin", &on.download_rows::<_, u32>(faces.twins())?, &twins)?;
    equal(
        "side of tagged face",
        &on.download_rows::<_, u32>(faces.tagged())?,
        &tagged,
    )?;
    let summary = validate::tets(mesh)?;
    equal(
        "number of faces",
        &[faces.inner_faces(), faces.boundary_faces()],
        &[summary.interior_faces as u32, summary.boundary_faces as u32],
    )
}

/// Tetrahedra without a common vertex.
fn alone(n: u32) -> TetMesh {
    let corners = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
    TetMesh {
        points: (0..n)
            .flat_map(|i| corners.map(|corner| corner + DVec3::X * (2.0 * f64::from(i))))
            .collect(),
        tetrahedra: (0..n).map(|i| [0, 1, 2, 3].map(|k| 4 * i + k)).collect(),
        ..TetMesh::default()
    }
}

/// The mesh with its vertices in another order.
fn shuffled(mesh: TetMesh) -> TetMesh {
    let n = mesh.points.len() as u64;
    // A stride without a common divisor.
    let stride = (n / 3..n).find(|&s| gcd(s, n) == 1).unwrap_or(1);
    let place = |v: u32| (u64::from(v) * stride % n) as u32;
    let mut points = mesh.points.clone();
    for (v, &point) in mesh.points.iter().enumerate() {
        points[place(v as u32) as usize] = point;
    }
    TetMesh {
        points,
        tetrahedra: mesh.tetrahedra.iter().map(|t| t.map(place)).collect(),
        faces: mesh
            .faces
            .iter()
            .map(|face| TaggedTriangle {
                vertices: face.vertices.map(place),
                tag: face.tag,
            })
            .collect(),
        ..mesh
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Three tetrahedra at a face, in every order of their ids; two on the same side; a tagged triangle that is no face.
fn overlaps_are_refused(on: &Device) -> Outcome {
    let points = vec![
        DVec3::ZERO,
        DVec3::X,
        DVec3::Y,
        DVec3::new(0.2, 0.2, 1.0),
        DVec3::new(0.2, 0.2, -1.0),
        DVec3::new(0.3, 0.3, 2.0),
        DVec3::new(0.3, 0.3, -2.0),
    ];
    let check = |tips: &[u32], tag: Option<[u32; 3]>, expected: Option<&str>| -> Outcome {
        let mesh = oriented(TetMesh {
            points: points.clone(),
            tetrahedra: tips.iter().map(|&tip| [0, 1, 2, tip]).collect(),
            faces: tag
                .into_iter()
                .map(|vertices| TaggedTriangle { vertices, tag: 1 })
                .collect(),
            ..TetMesh::default()
        });
        let result = DeviceTets::<DVec3>::upload_with_faces(on, &mesh);
        match (result, expected) {
            (Ok(_), None) => Ok(()),
            (Ok(_), Some(expected)) => Err(format!("{tips:?}: not refused: {expected}")),
            (Err(error), None) => Err(format!("{tips:?}: {error}")),
            (Err(error), Some(expected)) => {
                let text = error.to_string();
                match text.contains(expected) {
                    true => Ok(()),
                    false => Err(format!("{tips:?}: {text:?} is not {expected:?}")),
                }
            }
        }
    };
    check(&[3, 4], None, None)?;
    check(&[3, 4], Some([2, 0, 1]), None)?;
    check(&[3, 4], Some([0, 3, 4]), Some("no face of a tetrahedron"))?;
    check(&[3, 4], Some([0, 1, 9]), Some("no face of a tetrahedron"))?;
    check(&[3, 5], None, Some("on the same side"))?;
    for tips in [
        [3, 4, 5],
        [3, 5, 4],
        [4, 3, 5],
        [4, 3, 6],
        [3, 4, 6],
        [4, 6, 3],
    ] {
        check(&tips, None, Some("belongs to 3 tetrahedra"))?;
    }
    check(&[3, 4, 5, 6], None, Some("belongs to 4 tetrahedra"))
}
