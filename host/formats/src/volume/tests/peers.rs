//! Written files as other programs read them: their values are pinned.

use super::*;
use trioxide_mesh::volume::orientation;

/// Gmsh assigns physical groups to geometrical entities: an entity with two groups puts every element into both. For
/// two boxes that Gmsh 4.15 meshed, it counts 382 and 380 tetrahedra and 88 triangles in the groups of the file written
/// here, text or binary, as in its own file.
#[test]
fn each_group_of_msh_2_has_an_entity_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    for encoding in [Encoding::Text, Encoding::Binary] {
        let path = folder.path().join("groups.msh");
        let options = WriteOptions {
            encoding: Some(encoding),
            msh_version: MshVersion::V2,
        };
        write_volume_as(&path, &tetrahedra(), options).unwrap();
        let file = std::fs::read(&path).unwrap();
        if encoding == Encoding::Text {
            let text = String::from_utf8(file).unwrap();
            let (_, elements) = text.split_once("$Elements\n5\n").unwrap();
            let expected = "1 4 2 2 2 1 2 3 5\n2 4 2 1 1 2 4 3 9\n3 4 2 2 2 9 10 11 1\n4 2 2 3 1 1 3 2\n5 2 2 9 2 2 3 5\n";
            assert_eq!(elements, format!("{expected}$EndElements\n"));
        } else {
            // Number, group and entity of the second tetrahedron.
            let record: Vec<u8> = [2i32, 1, 1].iter().flat_map(|x| x.to_le_bytes()).collect();
            assert!(memchr::memmem::find(&file, &record).is_some());
        }
        assert_eq!(read_volume(&path).unwrap().regions, tetrahedra().regions);
    }
}

/// A unit cube that Gmsh 4.15 extruded into wedges: VTK 9.7 measures a volume of -1 in this file.
const GMSH_WEDGES: &str = "# vtk DataFile Version 2.0\n, Created by Gmsh 4.15.2 \nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 10 double\n\
    0 0 0\n1 0 0\n1 1 0\n0 1 0\n0 0 1\n1 0 1\n1 1 1\n0 1 1\n0.5 0.5 0\n0.5 0.5 1\n\n\
    CELLS 4 28\n6 0 8 1 4 9 5\n6 3 8 0 7 9 4\n6 1 8 2 5 9 6\n6 2 8 3 6 9 7\n\nCELL_TYPES 4\n13\n13\n13\n13\n";

/// The volume of all wedges, by tetrahedra.
fn volume_of_wedges(mesh: &VolumeMesh) -> f64 {
    let volume = |cell: &[u32]| {
        let [a, b, c, d, e, f] = cell.try_into().unwrap();
        let corners = [[a, b, c, d], [b, d, e, f], [b, c, d, f]];
        let volumes = corners.map(|corners| orientation(&mesh.points, &corners) / 6.0);
        volumes.iter().sum::<f64>()
    };
    mesh.cells.iter().map(volume).sum()
}

/// For the regular wedge 0 1 2 3 4 5, of volume sqrt(3)/4, VTK 9.7 (vtkCellQuality and vtkCellSizeFilter) gives a
/// volume of 0.4330126941 and a scaled Jacobian of 1; for the order 0 2 1 3 5 4 of its documentation -0.4330126941 and
/// -1.
#[test]
fn wedges_have_the_order_of_vtks_code() {
    let height = 0.75f64.sqrt();
    let triangle = [(0.0, 0.0), (1.0, 0.0), (0.5, height)];
    let mut cells = MixedCells::default();
    cells.push(&[0, 1, 2, 3, 4, 5]);
    let mesh = VolumeMesh {
        points: [0.0, 1.0]
            .iter()
            .flat_map(|&z| triangle.map(|(x, y)| DVec3::new(x, y, z)))
            .collect(),
        cells: Cells::Mixed(cells),
        regions: None,
        faces: Polygons::default(),
        face_tags: Vec::new(),
        fields: Default::default(),
        about: Default::default(),
    };
    assert!((volume_of_wedges(&mesh) - 0.4330126941).abs() < 1e-8);
    let folder = tempfile::tempdir().unwrap();
    for (name, expected) in [
        ("a.vtk", "\n6 0 1 2 3 4 5\n"),
        ("a.vtu", ">\n0 1 2 3 4 5\n"),
    ] {
        let path = folder.path().join(name);
        let options = WriteOptions {
            encoding: Some(Encoding::Text),
            ..WriteOptions::default()
        };
        write_volume_as(&path, &mesh, options).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(expected), "{text}");
        assert_eq!(read_volume(&path).unwrap(), mesh);
    }
}

#[test]
fn wedges_of_gmshs_vtk_files_are_turned_and_one_inverted_wedge_is_not() {
    let mesh = vtk::parse(GMSH_WEDGES.as_bytes()).unwrap();
    assert_eq!(mesh.cells.get(0), [0, 1, 8, 4, 5, 9]);
    assert!((volume_of_wedges(&mesh) - 1.0).abs() < 1e-12);
    let inverted = GMSH_WEDGES.replace("\n6 0 8 1 4 9 5\n", "\n6 0 1 8 4 5 9\n");
    let mesh = vtk::parse(inverted.as_bytes()).unwrap();
    assert_eq!(mesh.cells.get(0), [0, 1, 8, 4, 5, 9]);
    assert_eq!(mesh.cells.get(1), [3, 8, 0, 7, 9, 4]);
    assert!((volume_of_wedges(&mesh) + 0.5).abs() < 1e-12);
}
