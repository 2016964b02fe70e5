//! Cells of volume meshes as polyhedra.

use super::{PolyhedraBuilder, PolyhedralMesh};
use crate::fields::MeshFields;
use crate::volume::{CellKind, VolumeMesh, faces};
use crate::{Error, Result};

impl PolyhedralMesh {
    /// Returns the cells of a volume mesh as polyhedra by their faces, turned outward, with regions, tagged faces and
    /// fields; and notes on cells that were turned, and on parts that are left out.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a vertex id out of range, for cells that are not closed or that overlap, and for a face
    /// of more than two cells.
    pub fn of_cells(mesh: VolumeMesh) -> Result<(Self, Vec<String>)> {
        of_cells(mesh).map_err(|error| match error {
            Error::Invalid { element, rule } => Error::Invalid {
                element: element.replace("polyhedron", "cell"),
                rule,
            },
            error => error,
        })
    }
}

fn of_cells(mesh: VolumeMesh) -> Result<(PolyhedralMesh, Vec<String>)> {
    let points = mesh.points.len();
    let mut builder = PolyhedraBuilder::default();
    for (c, cell) in mesh.cells.iter().enumerate() {
        if let Some(v) = cell.iter().find(|&&v| v as usize >= points) {
            return Err(Error::Invalid {
                element: format!("cell {c}"),
                rule: format!("has vertex {v}, but the mesh has {points} vertices"),
            });
        }
        let of_kind = CellKind::of(cell.len()).map_or(&[][..], faces);
        for face in of_kind {
            builder.push_face(face.iter().map(|&k| cell[k]))?;
        }
        builder.end()?;
    }
    let mut notes = builder.notes();
    let mut result = PolyhedralMesh {
        points: mesh.points,
        regions: mesh.regions,
        ..builder.finish()?
    };
    notes.extend(result.orient()?.notes());
    let (tagged, kept, note) = result.tag_faces(&mesh.faces, &mesh.face_tags);
    result.tagged = tagged;
    notes.extend(note);
    result.fields = MeshFields {
        sides: mesh.fields.sides.gather(&kept),
        ..mesh.fields
    };
    Ok((result, notes))
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::fields::Field;
    use crate::mesh::Polygons;
    use crate::volume::{Cells, MixedCells};

    /// A cube that is inside out, with a pyramid on it.
    #[test]
    fn cells_become_polyhedra() {
        let mut cells = MixedCells::default();
        cells.push(&[4, 5, 6, 7, 0, 1, 2, 3]);
        cells.push(&[4, 5, 6, 7, 8]);
        let mut points = Vec::new();
        for z in [0.0, 1.0] {
            points.extend(
                [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)].map(|(x, y)| DVec3::new(x, y, z)),
            );
        }
        points.push(DVec3::new(0.5, 0.5, 2.0));
        let mut faces = Polygons::default();
        for face in [[4, 5, 6, 7], [0, 1, 2, 4], [3, 2, 1, 0]] {
            faces.push(&face);
        }
        let mesh = VolumeMesh {
            points,
            cells: Cells::Mixed(cells),
            regions: Some(vec![5, 6]),
            faces,
            about: Default::default(),
            face_tags: vec![7, 8, 9],
            fields: MeshFields {
                cells: [Field::scalars("load", vec![1u8, 2])].into_iter().collect(),
                sides: [Field::scalars("flow", vec![3u8, 4, 5])]
                    .into_iter()
                    .collect(),
                ..MeshFields::default()
            },
        };
        let (result, notes) = PolyhedralMesh::of_cells(mesh.clone()).unwrap();
        assert_eq!((result.len(), result.faces.len()), (2, 10));
        assert_eq!(
            notes,
            [
                "faces of 1 polyhedron did not look outward: turned",
                "1 face belongs to no polyhedron: left out with its tag",
            ]
        );
        assert_eq!(result.regions, Some(vec![5, 6]));
        assert_eq!(result.fields.cells, mesh.fields.cells);
        let flow = result.fields.sides.get("flow").expect("it is kept");
        assert_eq!(flow.values, vec![3u8, 5].into());
        let tagged: Vec<(i32, Vec<u32>)> = (result.tagged.iter())
            .map(|tagged| {
                let mut face = result.faces.get(tagged.face as usize).to_vec();
                face.sort_unstable();
                (tagged.tag, face)
            })
            .collect();
        assert_eq!(tagged, [(7, vec![4, 5, 6, 7]), (9, vec![0, 1, 2, 3])]);
        let mut again = result.clone();
        assert_eq!(again.orient().unwrap(), super::super::Oriented::default());
        assert_eq!(again, result);
        let broken = VolumeMesh {
            points: mesh.points[..7].to_vec(),
            ..mesh
        };
        let error = PolyhedralMesh::of_cells(broken).unwrap_err().to_string();
        assert_eq!(error, "cell 0 has vertex 7, but the mesh has 7 vertices");
    }
}
