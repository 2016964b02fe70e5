//! Every format of volume meshes: round trips, files of other programs, faults.

use glam::DVec3;

use super::*;
use crate::text::Parsed;
use trioxide_mesh::fields::MeshFields;
use trioxide_mesh::mesh::Polygons;
use trioxide_mesh::volume::{Cells, MixedCells};

mod damage;
mod fields;
mod groups;
mod mfem;
mod oddities;
mod peers;
mod round_trips;
mod vtu_arrays;

macro_rules! without_notes {
    ($($format:ident),*) => {$(
        /// The volume mesh of a file, without notes.
        mod $format {
            use super::*;

            pub fn parse(file: &[u8]) -> Parsed<VolumeMesh> {
                super::super::volume_in(super::super::$format::parse_grid, file)
            }
        }
    )*};
}

without_notes!(gmsh, medit, vtk, vtu);

/// Coordinates that show lost bits, and a corner of each kind of cell.
pub(super) fn points() -> Vec<DVec3> {
    let mut points: Vec<DVec3> = (0..8)
        .map(|i| DVec3::new(f64::from(i & 1), f64::from(i >> 1 & 1), f64::from(i >> 2)))
        .collect();
    points.push(DVec3::new(0.5, 0.5, 2.0 + 1.0 / 3.0));
    points.push(DVec3::new(1e300, -5e-324, 0.1));
    points.push(DVec3::new(-0.0, 7e22, f64::MIN_POSITIVE));
    points
}

/// Cells of every kind, kind by kind, faces of both sizes.
pub(super) fn mixed_mesh() -> VolumeMesh {
    let mut cells = MixedCells::default();
    for cell in [
        &[0, 1, 2, 4][..],
        &[8, 9, 10, 0],
        &[4, 5, 7, 6, 8],
        &[0, 1, 2, 4, 5, 6],
        &[0, 1, 3, 2, 4, 5, 7, 6],
    ] {
        cells.push(cell);
    }
    let mut faces = Polygons::default();
    faces.push(&[0, 2, 1]);
    faces.push(&[8, 9, 10]);
    faces.push(&[0, 1, 5, 4]);
    VolumeMesh {
        points: points(),
        cells: Cells::Mixed(cells),
        regions: Some(vec![7, -3, 7, i32::MAX, 1]),
        faces,
        face_tags: vec![4, -1, i32::MAX],
        fields: MeshFields::default(),
        about: Default::default(),
    }
}

/// Tetrahedra only.
pub(super) fn tetrahedra() -> VolumeMesh {
    let mut faces = Polygons::default();
    faces.push(&[0, 2, 1]);
    faces.push(&[1, 2, 4]);
    VolumeMesh {
        points: points(),
        cells: Cells::Tetrahedra(vec![[0, 1, 2, 4], [1, 3, 2, 8], [8, 9, 10, 0]]),
        regions: Some(vec![2, 1, 2]),
        faces,
        face_tags: vec![3, 9],
        fields: MeshFields::default(),
        about: Default::default(),
    }
}

/// The error of `parse` on `file`, without the path.
pub(super) fn error(parse: impl Fn(&[u8]) -> Parsed<VolumeMesh>, file: impl AsRef<[u8]>) -> String {
    let fault = parse(file.as_ref()).expect_err("the file is bad");
    fault.in_text(Path::new("f"), file.as_ref()).to_string()
}
