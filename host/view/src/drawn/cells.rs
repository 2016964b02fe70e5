//! Cells and polyhedra: each face once, with the elements on both sides.

use rayon::slice::ParallelSliceMut;
use trioxide_mesh::fields::MeshFields;
use trioxide_mesh::mesh::{Faces, Mesh, NONE, Polygons, gather};
use trioxide_mesh::parallel;
use trioxide_mesh::polyhedra::PolyhedralMesh;
use trioxide_mesh::volume::{CellKind, VolumeMesh, faces, key};
use trioxide_render::{guess_up_polyhedra, guess_up_volume};

use super::Drawn;
use crate::quality;

/// A face of a cell: its sorted vertices, the cell, and its place among the cell's faces.
type Use = ([u32; 4], u32, u8);

pub(super) fn of_volume(mesh: VolumeMesh) -> Drawn {
    let parts = parallel::map_pieces(mesh.cells.len(), parallel::GRAIN, |range| {
        let mut part: Vec<Use> = Vec::with_capacity(6 * range.len());
        for c in range {
            let cell = mesh.cells.get(c);
            let of_kind = CellKind::of(cell.len()).map_or(&[][..], faces);
            let uses = of_kind.iter().zip(0..);
            part.extend(uses.map(|(face, f)| (key(face.iter().map(|&k| cell[k])), c as u32, f)));
        }
        part
    });
    let mut uses = parallel::concat(parts);
    uses.par_sort_unstable();
    // In the order of the cells, whose ids then differ little from face to face.
    let mut shared: Vec<(u32, u8, u32)> = Vec::with_capacity(uses.len());
    for uses in uses.chunk_by(|a, b| a.0 == b.0) {
        match *uses {
            [(_, owner, face), (_, behind, _)] => shared.push((owner, face, behind)),
            // A face of three cells is drawn for each of them.
            _ => shared.extend(uses.iter().map(|&(_, owner, face)| (owner, face, NONE))),
        }
    }
    drop(uses);
    shared.par_sort_unstable();
    let quality = quality::of_cells(&mesh);
    let up = guess_up_volume(&mesh);
    let mut drawn = Drawn {
        element: "cell",
        elements: mesh.cells.len(),
        fields: mesh.fields,
        regions: mesh.regions,
        quality: Some(quality),
        up,
        ..Drawn::default()
    };
    let mut corners = Vec::with_capacity(4);
    for (owner, face, behind) in shared {
        let cell = mesh.cells.get(owner as usize);
        let places = CellKind::of(cell.len()).map_or(&[][..], faces)[usize::from(face)];
        corners.clear();
        corners.extend(places.iter().map(|&k| cell[k]));
        drawn.push_face(&mesh.points, &corners, owner, behind);
    }
    drawn.without_plain_sides();
    drawn.points = mesh.points;
    drawn
}

pub(super) fn of_polyhedra(mesh: PolyhedralMesh) -> Drawn {
    let quality = quality::of_polyhedra(&mesh);
    let mut drawn = Drawn {
        element: "polyhedron",
        elements: mesh.len(),
        quality: Some(quality),
        up: guess_up_polyhedra(&mesh),
        ..Drawn::default()
    };
    for (face, sides) in mesh.faces.iter().zip(mesh.neighbours()) {
        let [owner, behind] = owner_first(sides);
        // A face with one polyhedron on both sides is inside for every cut.
        if owner != behind {
            drawn.push_face(&mesh.points, face, owner, behind);
        }
    }
    drawn.without_plain_sides();
    drawn.points = mesh.points;
    drawn.fields = mesh.fields;
    drawn.regions = mesh.regions;
    drawn
}

/// The polyhedra on both sides of a face. A file may list its second side alone.
fn owner_first([first, second]: [u32; 2]) -> [u32; 2] {
    match first {
        NONE => [second, NONE],
        _ => [first, second],
    }
}

/// The faces of one polyhedron only, with its values.
pub(super) fn boundary(mesh: PolyhedralMesh) -> Mesh {
    let (mut polygons, mut owners) = (Polygons::default(), Vec::new());
    for (face, sides) in mesh.faces.iter().zip(mesh.neighbours()) {
        let [owner, behind] = owner_first(sides);
        if behind == NONE && owner != NONE {
            polygons.push(face);
            owners.push(owner);
        }
    }
    Mesh {
        points: mesh.points,
        faces: Faces::Polygons(polygons),
        regions: (mesh.regions.as_ref()).map(|regions| gather(regions, &owners)),
        fields: MeshFields {
            points: mesh.fields.points,
            cells: mesh.fields.cells.gather(&owners),
            ..MeshFields::default()
        },
        ..Mesh::default()
    }
}
