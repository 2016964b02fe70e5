//! Named fields of volume meshes.

use super::*;
use crate::tests::fields::all_fields;
use trioxide_mesh::fields::Field;

/// Tetrahedra and faces, four of each, with fields of every type.
fn full_mesh() -> VolumeMesh {
    let mut mesh = VolumeMesh {
        points: points()[..4].to_vec(),
        cells: Cells::Tetrahedra(vec![[0, 1, 2, 3], [1, 3, 2, 0], [2, 0, 1, 3], [3, 0, 1, 2]]),
        regions: Some(vec![5, 6, 7, 8]),
        faces: Polygons::default(),
        face_tags: vec![1, 2, 3, 4],
        fields: MeshFields::default(),
        about: Default::default(),
    };
    for face in [[0, 2, 1], [1, 2, 3], [0, 1, 3], [0, 3, 2]] {
        mesh.faces.push(&face);
    }
    mesh.fields.points = all_fields("point");
    mesh.fields.cells = all_fields("cell");
    let both = Field::scalars("both", vec![1.5f32, 2.5, 0.0, 4.5]);
    mesh.fields.cells.push(both.clone());
    mesh.fields.sides = [both]
        .into_iter()
        .chain(all_fields("face").iter().cloned())
        .collect();
    mesh
}

#[test]
fn vtu_and_vtk_keep_every_field() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = full_mesh();
    mesh.fields.check(4, 4, 4).unwrap();
    for name in ["a.vtu", "a.vtk"] {
        let path = folder.path().join(name);
        for encoding in [Encoding::Binary, Encoding::Text] {
            let options = WriteOptions {
                encoding: Some(encoding),
                ..WriteOptions::default()
            };
            write_volume_as(&path, &mesh, options).unwrap();
            let read = read_volume(&path).unwrap();
            assert_eq!(read.fields, mesh.fields, "{name} {encoding:?}");
            assert_eq!(read, mesh, "{name} {encoding:?}");
        }
        assert!(
            VolumeFormat::to_write(&path)
                .unwrap()
                .losses(&mesh)
                .is_empty()
        );
    }
    let losses = |name: &str| {
        VolumeFormat::to_write(Path::new(name))
            .unwrap()
            .losses(&mesh)
    };
    assert!(losses("a.node")[0].starts_with("TetGen does not hold the fields point i8,"));
    let [note] = &losses("a.mesh")[..] else {
        panic!("one note")
    };
    assert!(
        note.starts_with("Medit does not hold the fields point i8, point u8,"),
        "{note}"
    );
    assert!(
        note.contains(", both,") && note.ends_with(": not in the output"),
        "{note}"
    );
}

/// Each kind of attribute of the legacy format, as its documentation shows it.
#[test]
fn attributes_of_legacy_files_are_fields() {
    let file = "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 float\n\
        0 0 0 1 0 0 0 1 0 0 0 1\nCELLS 2 9\n4 0 1 2 3\n3 0 2 1\nCELL_TYPES 2\n10 5\n\
        POINT_DATA 4\nSCALARS the%20heat float 1\nLOOKUP_TABLE default\n0.1 0.2 0.3 0.4\n\
        VECTORS v double\n1 2 3 4 5 6 7 8 9 10 11 12\nCOLOR_SCALARS c 3\n1 0 0 0 1 0 0 0 1 0.5 0 0\n\
        CELL_DATA 2\nSCALARS part int\nLOOKUP_TABLE default\n7 9\nFIELD f 2\n\
        p 1 2 double\n0.5 0\nregion 1 2 int\n3 0\n";
    let mesh = vtk::parse(file.as_bytes()).unwrap();
    let points = &mesh.fields.points;
    let heat = points.get("the heat").unwrap();
    assert_eq!(heat.values, vec![0.1f32, 0.2, 0.3, 0.4].into());
    assert_eq!(points.get("v").unwrap().components, 3);
    let colors = &points.get("c").unwrap().values;
    assert_eq!(
        *colors,
        vec![255u8, 0, 0, 0, 255, 0, 0, 0, 255, 128, 0, 0].into()
    );
    assert_eq!(mesh.regions, Some(vec![3]));
    assert_eq!(
        mesh.fields.cells.get("part").unwrap().values,
        vec![7i32].into()
    );
    assert_eq!(
        mesh.fields.sides.get("part").unwrap().values,
        vec![9i32].into()
    );
    assert_eq!(mesh.fields.cells.get("p").unwrap().values, vec![0.5].into());
    assert!(mesh.fields.sides.get("p").is_none());
    // Other programs write colours from 0 to 255.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.vtk");
    let bytes = file.replace("1 0 0 0 1 0 0 0 1 0.5 0 0", "200 0 0 0 1 0 0 0 255 7 0 0");
    std::fs::write(&path, bytes).unwrap();
    let (mesh, notes) = read_volume_with_notes(&path).unwrap();
    let colors = mesh.fields.points.get("c").unwrap();
    let expected = vec![200_u8, 0, 0, 0, 1, 0, 0, 0, 255, 7, 0, 0];
    assert_eq!(colors.values, expected.into());
    assert_eq!(notes, ["colours c: its colours run from 0 to 255"]);
    let error = error(
        vtk::parse,
        file.replace("p 1 2 double\n0.5 0", "p 1 1 double\n0.5"),
    );
    assert!(
        error.contains("the array p has 1 numbers, but 2 times 1 are needed"),
        "{error}"
    );
}

#[test]
fn gmsh_keeps_fields_of_up_to_nine_components_and_exact_doubles() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.msh");
    let mut mesh = full_mesh();
    for components in [2, 4, 9] {
        let values: Vec<f64> = (0..4 * components).map(|i| i as f64 / 3.0).collect();
        mesh.fields.cells.push(Field {
            name: format!("of {components}"),
            components,
            values: values.into(),
        });
    }
    // A cell of Gmsh in several groups is read once.
    mesh.regions = Some(vec![5; 4]);
    let mut expected = mesh.clone();
    for list in [
        &mut expected.fields.points,
        &mut expected.fields.cells,
        &mut expected.fields.sides,
    ] {
        let is_held =
            |field: &&Field| !["i64", "u64"].iter().any(|kind| field.name.ends_with(kind));
        let as_named = |field: &Field| Field {
            name: field.name.replace('"', "'"),
            ..field.clone()
        };
        *list = list.iter().filter(is_held).map(as_named).collect();
    }
    for encoding in [Encoding::Binary, Encoding::Text] {
        for msh_version in [MshVersion::V2, MshVersion::V4] {
            let options = WriteOptions {
                encoding: Some(encoding),
                msh_version,
            };
            write_volume_as(&path, &mesh, options).unwrap();
            assert_eq!(read_volume(&path).unwrap(), expected, "{options:?}");
        }
    }
    expected.fields.cells.push(Field {
        name: "large".to_owned(),
        components: 10,
        values: vec![0.0; 40].into(),
    });
    let losses = VolumeFormat::to_write(&path).unwrap().losses(&expected);
    assert_eq!(
        losses[0],
        "Gmsh does not hold the field large: not in the output"
    );
    assert!(losses[1].starts_with("Gmsh holds doubles only: the integers of point i8,"));
}

/// As Gmsh 4.15 writes views: an element and a node without a value, elements numbered from 7 on.
#[test]
fn views_of_gmsh_files_name_nodes_and_elements() {
    let file = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n10 0 0 0\n11 1 0 0\n12 0 1 0\n13 0 0 1\n\
        $EndNodes\n$Elements\n3\n7 15 2 0 1 10\n8 2 2 1 1 10 12 11\n9 4 2 1 1 10 11 12 13\n$EndElements\n\
        $NodeData\n2\n\"the heat\"\n\"scheme\"\n1\n0.5\n4\n0\n1\n3\n0\n13 3.5\n10 0.5\n11 1.5\n$EndNodeData\n\
        $ElementData\n1\n\"q\"\n0\n3\n0\n1\n2\n7 100\n9 -2\n$EndElementData\n";
    let mesh = gmsh::parse(file.as_bytes()).unwrap();
    let heat = &mesh.fields.points.get("the heat").unwrap().values;
    assert_eq!([heat.f64(0), heat.f64(1), heat.f64(3)], [0.5, 1.5, 3.5]);
    assert!(heat.f64(2).is_nan());
    assert_eq!(
        mesh.fields.cells.get("q").unwrap().values,
        vec![-2.0].into()
    );
    assert!(mesh.fields.sides.is_empty());
    let error = error(gmsh::parse, file.replace("13 3.5", "14 3.5"));
    assert!(error.ends_with("there is no node 14"), "{error}");
}

#[test]
fn a_note_names_the_arrays_of_a_vtu_file_that_are_no_fields() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.vtu");
    let mut mesh = crate::Mesh {
        points: vec![glam::DVec3::ZERO; 3],
        faces: trioxide_mesh::mesh::Faces::Triangles(vec![[0, 1, 2]]),
        ..Default::default()
    };
    mesh.fields.cells.push(Field::scalars("q", vec![0.5]));
    crate::write_encoded(&path, &mesh, Some(crate::Encoding::Text)).unwrap();
    let array = |name: &str, kind: &str| {
        format!("<DataArray type=\"{kind}\" Name=\"{name}\" format=\"ascii\">65 0</DataArray>")
    };
    let of_whole = format!("<FieldData>{}</FieldData><Piece", array("TIME", "Float64"));
    let label = format!("<CellData>{}", array("label", "String"));
    let file = std::fs::read_to_string(&path).unwrap();
    let file = file
        .replacen("<Piece", &of_whole, 1)
        .replacen("<CellData>", &label, 1);
    std::fs::write(&path, file).unwrap();
    let (back, notes) = crate::read_with_notes(&path).unwrap();
    assert_eq!(back, mesh);
    assert_eq!(
        notes,
        ["left out: arrays of text and data of the whole mesh: TIME, label"]
    );
}

#[test]
fn other_parts_of_vtk_and_abaqus_files_are_in_notes() {
    let folder = tempfile::tempdir().unwrap();
    let notes = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let (mesh, notes) = crate::read_with_notes(&path).unwrap();
        assert_eq!((mesh.points.len(), mesh.faces.len()), (3, 1));
        notes
    };
    let vtk = "# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\nFIELD FieldData 1\nTIME 1 1 double\n0.5\n\
        POINTS 3 float\n0 0 0 1 0 0 0 1 0\nVERTICES 1 2\n1 0\nPOLYGONS 1 4\n3 0 1 2\nPOINT_DATA 3\nSCALARS s float\n\
        LOOKUP_TABLE mine\n1 2 3\nLOOKUP_TABLE mine 2\n1 0 0 1\n0 1 0 1\n";
    assert_eq!(
        notes("a.vtk", vtk),
        [
            "the field TIME of the whole dataset is left out",
            "the lookup table mine, of 2 colours, is left out",
            "left out: cells of type vertex (1)",
        ]
    );
    let inp = "*HEADING\nt\n*NODE\n1,0,0\n2,1,0\n3,0,1\n*ELEMENT,TYPE=CPS3,ELSET=e\n1,1,2,3\n*MATERIAL,NAME=m\n\
        *ELASTIC\n1,0.3\n*SOLID SECTION,ELSET=e,MATERIAL=m\n*STEP\n*BOUNDARY\n1,1,2\n*END STEP\n";
    assert_eq!(
        notes("a.inp", inp),
        ["other keywords are left out: *MATERIAL, *ELASTIC, *STEP, *BOUNDARY"]
    );
}
