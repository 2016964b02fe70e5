//! Levels of polyhedra.

use std::sync::Arc;

use glam::DVec3;
use trioxide::Result;
use trioxide::device::Device;
use trioxide::generate;
use trioxide::levels::levels_of_polyhedra;
use trioxide::polyhedra::{Options, polyhedra};
use trioxide::polyhedra_mesh::{PolyhedraBuilder, PolyhedralMesh, TaggedFace};
use trioxide::refine_tets::DeviceTets;
use trioxide::volume::TetMesh;
use trioxide_reference as reference;

use super::super::{Case, Outcome, Size, polyhedra as family};
use super::{ALL, same};
use crate::validate;

/// The cases.
pub(super) fn cases(size: Size) -> Result<Vec<Case>> {
    let side = match size {
        Size::Tiny => 4,
        _ => 7,
    };
    let mut all: Vec<(String, PolyhedralMesh)> = vec![
        ("no polyhedra".into(), PolyhedralMesh::default()),
        ("cubes".into(), cubes(side, |_| true)),
        (
            "cubes around a tunnel".into(),
            cubes(3, |[x, y, _]| [x, y] != [1, 1]),
        ),
        (
            "cubes around a hole".into(),
            cubes(3, |cube| cube != [1; 3]),
        ),
        (
            "cubes that touch at edges and vertices".into(),
            cubes(4, |[x, y, z]| (x + y) % 2 == 0 || z == 3),
        ),
    ];
    for (name, mesh) in family::shared_meshes(size, 1000)? {
        for strict in [false, true] {
            let manner = if strict { ", strict" } else { "" };
            all.push((format!("{name}{manner}"), of_tets(&mesh, strict)?));
        }
    }
    let grid = of_tets(&generate::tet_grid(size.of(2000), 1)?, true)?;
    all.push(("a grid of tetrahedra".into(), grid.clone()));
    all.push(("a grid of tetrahedra, merged".into(), grid.merge_coplanar()));
    Ok(all
        .into_iter()
        .map(|(name, mesh)| {
            let mesh = Arc::new(mesh);
            Case::new(format!("levels in space: {name}"), move |on| {
                compare(on, &mesh)
            })
        })
        .collect())
}

fn compare(on: &Device, mesh: &PolyhedralMesh) -> Outcome {
    let expected = reference::levels_of_polyhedra(mesh, ALL);
    let found = levels_of_polyhedra(on, mesh, ALL)?;
    same(&found, &expected)?;
    Ok(validate::levels_of_polyhedra(mesh, &found)?)
}

fn of_tets(mesh: &TetMesh, strict: bool) -> Result<PolyhedralMesh> {
    let on = Device::cpu(None)?;
    let (tets, faces) = DeviceTets::<DVec3>::upload_with_faces(&on, mesh)?;
    let options = Options {
        strict,
        ..Options::default()
    };
    let lists = polyhedra(&on, &tets, &faces, options)?.download(&on, &faces)?;
    PolyhedralMesh::new(mesh, &lists)
}

/// Cubes of a grid: many faces are equally large. Half of them are in another region; one face is tagged.
fn cubes(side: u32, is_there: impl Fn([u32; 3]) -> bool) -> PolyhedralMesh {
    let vertex = |x: u32, y: u32, z: u32| (z * (side + 1) + y) * (side + 1) + x;
    let mut builder = PolyhedraBuilder::default();
    let mut regions = Vec::new();
    for i in 0..side.pow(3) {
        let cube @ [x, y, z] = [i % side, i / side % side, i / side / side];
        if !is_there(cube) {
            continue;
        }
        let corner = |k: u32| vertex(x + k % 2, y + k / 2 % 2, z + k / 4);
        let faces = [
            [0, 2, 3, 1],
            [4, 5, 7, 6],
            [0, 1, 5, 4],
            [2, 6, 7, 3],
            [0, 4, 6, 2],
            [1, 3, 7, 5],
        ];
        let faces = faces.map(|face| face.map(corner).to_vec());
        builder.push(&faces).expect("cubes of a grid");
        regions.push(i32::from(2 * z > side));
    }
    let mut mesh = builder.finish().expect("cubes of a grid");
    for i in 0..(side + 1).pow(3) {
        let place = [
            i % (side + 1),
            i / (side + 1) % (side + 1),
            i / (side + 1).pow(2),
        ];
        mesh.points.push(DVec3::from_array(place.map(f64::from)));
    }
    mesh.regions = Some(regions);
    mesh.tagged.push(TaggedFace { face: 1, tag: 5 });
    mesh
}
