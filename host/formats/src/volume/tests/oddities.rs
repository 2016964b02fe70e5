//! Files as other programs write them, and faults with their places.

use super::*;
use crate::triangle;
use trioxide_mesh::fields::{Field, Fields};

const CORNER: [[u32; 4]; 1] = [[0, 1, 2, 3]];

fn tetrahedra_of(mesh: &VolumeMesh) -> &[[u32; 4]] {
    match &mesh.cells {
        Cells::Tetrahedra(tetrahedra) => tetrahedra,
        Cells::Mixed(_) => panic!("there are other cells"),
    }
}

const NODES: &str =
    "# by hand\n4 3 1 1\n1 0 0 0 7.5 1\n2 1 0 0 7.5 1\n3 0 1 0 7.5 0\n\n4 0 0 1 7.5 1 # last\n";

#[test]
fn tetgen_oddities_and_faults() {
    let nodes = || triangle::parse_nodes(NODES.as_bytes()).unwrap();
    let elements = |text: &str| {
        tetgen::parse_elements(text.as_bytes(), &nodes())
            .and_then(|elements| tetgen::finish(elements, nodes()))
            .map(|(mesh, _)| mesh)
    };
    let mesh = elements("1 4 1\n1 1 2 3 4 -7 # region\n").unwrap();
    assert_eq!(tetrahedra_of(&mesh), CORNER);
    assert_eq!(mesh.regions, Some(vec![-7]));
    assert_eq!(mesh.points[3], DVec3::Z);
    // Points have an attribute, and markers which are not all 0.
    let of_points = mesh.fields.points.iter();
    let of_points: Vec<_> = of_points.map(|f| (f.name.as_str(), &f.values)).collect();
    let [attributes, markers] = [vec![7.5; 4].into(), vec![1, 1, 0, 1].into()];
    assert_eq!(
        of_points,
        [("attribute_1", &attributes), ("marker", &markers)]
    );
    let mesh = elements("3 4 2\n1 1 2 3 4 2.5 8\n2 1 2 3 4 -0 9\n3 1 2 3 4 2.5 0.5").unwrap();
    assert_eq!(mesh.regions, Some(vec![2, 1, 2]));
    let of_cells = mesh.fields.cells.iter();
    let of_cells: Vec<_> = of_cells.map(|f| (f.name.as_str(), &f.values)).collect();
    let [first, second] = [vec![2.5, -0.0, 2.5].into(), vec![8.0, 9.0, 0.5].into()];
    assert_eq!(
        of_cells,
        [("attribute_1", &first), ("attribute_2", &second)]
    );
    assert_eq!(
        elements("1 4 1\n1 1 2 3 4 0").unwrap().regions,
        Some(vec![0])
    );
    assert_eq!(elements("1 4 0\n1 1 2 3 4").unwrap().regions, None);
    let fault = |text: &str| {
        let fault = elements(text).unwrap_err();
        fault.in_text(Path::new("f"), text.as_bytes()).to_string()
    };
    assert_eq!(
        fault("1 4 0\n1 1 2 3 0"),
        "f:2: vertex 0 does not exist: 4 vertices are numbered from 1"
    );
    assert_eq!(
        fault("1 3 0\n1 1 2 3"),
        "f:1: the elements have 3 nodes, but 4 or 10 are needed"
    );
    assert_eq!(
        fault("9999999999 4 0\n1 1 2 3 4"),
        "f:2: expected 9999999999 tetrahedra, but the file ends after 1"
    );

    // Second order: the first four nodes are the corners of a cell, the first three those of a face.
    let ten = "1 10 1\n1 1 2 3 4 5 5 6 6 5 6 -7";
    let nodes_of_ten = || {
        let text = "6 3\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 .5 0 0\n6 9 9 9\n";
        triangle::parse_nodes(text.as_bytes()).unwrap()
    };
    for (faces, tags) in [
        ("1 1\n1 1 2 3 5 5 5 8 1 -1", [8]),
        ("1 0\n1 1 2 3 5 5 5", [0]),
        ("1 1\n1 1 2 3 8 1 -1", [8]),
        ("1 0\n1 1 2 3 1 -1", [0]),
    ] {
        let mut elements = tetgen::parse_elements(ten.as_bytes(), &nodes_of_ten()).unwrap();
        tetgen::parse_faces(faces.as_bytes(), &nodes_of_ten(), &mut elements).unwrap();
        let (mesh, notes) = tetgen::finish(elements, nodes_of_ten()).unwrap();
        assert_eq!(
            (tetrahedra_of(&mesh), &mesh.regions),
            (&CORNER[..], &Some(vec![-7]))
        );
        assert_eq!(
            (mesh.faces.get(0), &mesh.face_tags[..]),
            (&[0, 1, 2][..], &tags[..])
        );
        assert_eq!(mesh.points.len(), 4);
        assert!(
            notes[0].ends_with("2 nodes on them are left out"),
            "{notes:?}"
        );
    }
    assert_eq!(
        fault("1 10 0\n1 1 2 3 4 1"),
        "f:2: expected a vertex index, but the line ends"
    );

    let faces = |text: &str| {
        let mut elements = tetgen::Parts::default();
        tetgen::parse_faces(text.as_bytes(), &nodes(), &mut elements)?;
        tetgen::finish(elements, nodes()).map(|(mesh, _)| mesh)
    };
    let mesh = faces("2 1\n1 1 2 3 -1\n2 4 3 2 5 17 -1\n").unwrap();
    assert_eq!(mesh.face_tags, [-1, 5]);
    assert_eq!(mesh.faces.get(1), [3, 2, 1]);
    assert_eq!(faces("1 0\n1 1 2 3").unwrap().face_tags, [0]);
    assert!(faces("1 1\n1 1 2 3").is_err());
}

/// References of vertices and special elements are fields, which the text and the binary form give back.
#[test]
fn special_elements_of_medit_are_fields() {
    let text = "MeshVersionFormatted 2\nDimension 2\nVertices 6\n0 0 1\n1 0 2\n1 1 3\n0 1 4\n2 0 0\n2 1 -5\n\
        RequiredEdges 1\n2\nQuadrilaterals 1\n2 5 6 3 9\nTriangles 2\n1 2 3 7\n1 3 4 8\nEdges 2\n1 2 11\n1 3 20\n\
        Corners 2\n1 4\nRidges 2\n1 2\nRequiredVertices 1\n6\nRequiredTriangles 1\n2\nNormals 1\n0 0\nTangents 0\nEnd\n";
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("a.mesh"), text).unwrap();
    let (mesh, notes) = crate::read_with_notes(&path("a.mesh")).unwrap();
    assert_eq!(notes, ["sections are left out: Normals"]);
    let fields = &mesh.fields;
    let points: Vec<_> = fields
        .points
        .iter()
        .map(|f| (&*f.name, &f.values))
        .collect();
    let [reference, corner] = [
        vec![1, 2, 3, 4, 0, -5].into(),
        vec![1u8, 0, 0, 1, 0, 0].into(),
    ];
    let last = vec![0u8, 0, 0, 0, 0, 1].into();
    assert_eq!(
        points,
        [
            ("reference", &reference),
            ("corner", &corner),
            ("required", &last)
        ]
    );
    // The second triangle is the third face.
    let faces: Vec<_> = fields.cells.iter().map(|f| (&*f.name, &f.values)).collect();
    assert_eq!(faces, [("required", &vec![0u8, 0, 1].into())]);
    let lines: Vec<_> = fields.sides.iter().map(|f| (&*f.name, &f.values)).collect();
    let [edges, ridges] = [vec![0u8, 1].into(), vec![1u8, 1].into()];
    assert_eq!(lines, [("required", &edges), ("ridge", &ridges)]);
    for name in ["b.mesh", "b.meshb"] {
        let format = crate::Format::to_write(&path(name)).unwrap();
        assert_eq!(format.losses(&mesh, Encoding::default()), [""; 0]);
        crate::write(&path(name), &mesh).unwrap();
        let (back, notes) = crate::read_with_notes(&path(name)).unwrap();
        let sorted = |fields: &Fields| {
            let mut all: Vec<Field> = fields.iter().cloned().collect();
            all.sort_by(|a, b| a.name.cmp(&b.name));
            all
        };
        assert_eq!(
            (sorted(&back.fields.points), notes.len()),
            (sorted(&fields.points), 0)
        );
        assert_eq!(sorted(&back.fields.sides), sorted(&fields.sides));
        assert_eq!(
            back.fields.cells.get("required").unwrap().values,
            vec![0u8, 1, 0].into()
        );
    }
    let text = std::fs::read_to_string(path("b.mesh")).unwrap();
    assert!(
        text.ends_with("\nRequiredTriangles\n1\n2\n\nEnd\n"),
        "{text}"
    );
    // A volume has no lines.
    let cells = MEDIT.replacen("Edges\n0", "Edges\n1\n1 2 3\nRidges\n1\n1", 1);
    let grid = super::super::medit::parse_grid(cells.as_bytes()).unwrap();
    let (_, notes) = grid.into_volume().unwrap();
    let lines = "a volume mesh has no lines: 1 of the file are left out, with the field ridge";
    assert_eq!(notes, ["sections are left out: Normals", lines]);
}

const MEDIT: &str = "MeshVersionFormatted\n2\nDimension 3 # space\nVertices 4\n0 0 0 1  1 0 0 1\n0 1 0 1 0 0 1 nan\n\
    Normals 1\n0 inf 1\nRequiredVertices\n1\n4\nTriangles\n1\n1 3 2 8\nTetrahedra\n1\n1 2 3 4 5\nHexaedra 0\nEdges\n0\n End";

#[test]
fn medit_oddities_and_faults() {
    let mesh = medit::parse(MEDIT.as_bytes()).unwrap();
    assert_eq!(
        (tetrahedra_of(&mesh), &mesh.regions),
        (&CORNER[..], &Some(vec![5]))
    );
    assert_eq!(
        (mesh.faces.get(0), &mesh.face_tags[..]),
        (&[0, 2, 1][..], &[8][..])
    );
    assert_eq!(mesh.points, [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z]);
    let required = mesh.fields.points.get("required").unwrap();
    assert_eq!(required.values, vec![0u8, 0, 0, 1].into());
    let with = |from: &str, to: &str| error(medit::parse, MEDIT.replacen(from, to, 1));
    assert_eq!(
        with("RequiredVertices\n1\n4", "RequiredVertices\n1\n5"),
        "f:9: RequiredVertices have the number 5, but 1 to 4 are there"
    );
    assert_eq!(
        with("1 2 3 4 5", "1 2 3 5 5"),
        "f:17: vertex 5 does not exist: 4 vertices are numbered from 1"
    );
    assert_eq!(
        with("Dimension 3", "Dimension 4"),
        "f:3: the dimension is 4, but 2 or 3 is needed"
    );
    assert_eq!(
        with("Vertices 4", "Vertices 5"),
        "f:7: expected a number, found `Normals`"
    );
    assert_eq!(
        with("Vertices 4", "Vertices 9223372036854775807"),
        "f:7: expected a number, found `Normals`"
    );
    assert_eq!(
        with("Vertices 4", "Vertices -4"),
        "f:4: expected the number of vertices, found `-4`"
    );
    assert_eq!(
        with("Vertices 4", "Vertices 3"),
        "f:6: expected a keyword such as Vertices or End, found `0`"
    );
    assert_eq!(
        with("1 2 3 4 5", "1 2 3 4 3000000000"),
        "f:17: tag 3000000000 has more than 32 bits"
    );
    // Ten nodes, and a reference.
    assert_eq!(
        with("Tetrahedra", "TetrahedraP2"),
        "f:18: expected a whole number, found `Hexaedra`"
    );
    assert_eq!(
        with("Vertices", "Tangents"),
        "f:12: Triangles stand before the Vertices"
    );
    assert!(with("MeshVersion", "Mesh").starts_with("f:1: expected MeshVersionFormatted"));

    // Version 4, big-endian: numbers of 64 bits.
    let mut file = Vec::new();
    let int = |file: &mut Vec<u8>, value: i32| file.extend_from_slice(&value.to_be_bytes());
    let long = |file: &mut Vec<u8>, value: i64| file.extend_from_slice(&value.to_be_bytes());
    for value in [1, 4, 3] {
        int(&mut file, value);
    }
    long(&mut file, 24);
    int(&mut file, 3);
    int(&mut file, 4);
    long(&mut file, 24 + 20 + 4 * 32);
    long(&mut file, 4);
    for p in [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z] {
        for x in p.to_array() {
            file.extend_from_slice(&x.to_be_bytes());
        }
        long(&mut file, 0);
    }
    int(&mut file, 8);
    long(&mut file, 0);
    long(&mut file, 1);
    for value in [1, 2, 3, 4, -9] {
        long(&mut file, value);
    }
    int(&mut file, 54);
    long(&mut file, 0);
    let mesh = medit::parse(&file).unwrap();
    assert_eq!(
        (tetrahedra_of(&mesh), &mesh.regions),
        (&CORNER[..], &Some(vec![-9]))
    );
    let last = file.len() - 12 - 16;
    file[last + 7] = 9;
    assert_eq!(
        error(medit::parse, &file),
        format!("f:1: byte {last}: vertex 9 does not exist: 4 vertices are numbered from 1")
    );
    file[last - 32 + 7] = 99;
    assert!(error(medit::parse, &file).contains("expected 99 times 40 bytes of Tetrahedra"));
}

const MSH2: &str = "$Comments\nx\n$EndComments\n$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n3 5 \"a # b $x\"\n$EndPhysicalNames\n\
    $Nodes\n4\n10 0 0 0\n30 1 0 0\n20 0 1 0\n1000000 0 0 1\n$EndNodes\n\
    $Elements\n4\n1 15 2 0 1 10\n2 1 2 0 1 10 30\n7 2 2 0 4 10 20 30\n9 4 3 5 2 77 10 30 20 1000000\n$EndElements\n";

#[test]
fn gmsh_2_oddities_and_faults() {
    // The comment before the first section is not part of the format, but occurs.
    let text = MSH2.strip_prefix("$Comments\nx\n$EndComments\n").unwrap();
    let mesh = gmsh::parse(text.as_bytes()).unwrap();
    assert_eq!(
        (tetrahedra_of(&mesh), &mesh.regions),
        (&CORNER[..], &Some(vec![5]))
    );
    assert_eq!(
        (mesh.faces.get(0), &mesh.face_tags[..]),
        (&[0, 2, 1][..], &[0][..])
    );
    let with = |from: &str, to: &str| error(gmsh::parse, text.replacen(from, to, 1));
    assert_eq!(
        with("30 20 1000000", "30 20 1000001"),
        "f:20: there is no node 1000001"
    );
    assert_eq!(
        with("\n30 1 0 0", "\n20 1 0 0"),
        "f:12: there is a second node 20"
    );
    assert_eq!(
        with("$Nodes\n4", "$Nodes\n5"),
        "f:14: expected a number, found `$EndNodes`"
    );
    assert_eq!(
        with("$Elements\n4", "$Elements\n5"),
        "f:17: expected 5 elements, found 4"
    );
    assert_eq!(with(" 77 10", " 10"), "f:20: an element is cut off");
    // Ten nodes.
    assert_eq!(
        with("9 4 3 5 2 77", "9 11 3 5 2 77"),
        "f:20: an element is cut off"
    );
    assert!(with("2.2 0 8", "1 0 8").starts_with("f:2: version 1 is not read"));
    assert_eq!(
        with("$EndElements", ""),
        "f:22: expected $EndElements, found ``"
    );
    assert_eq!(with("$Nodes", "$Other"), "f:8: there is no $EndOther");
    assert!(with("$MeshFormat", "$NODES").starts_with("f:1: expected $MeshFormat or $NOD"));
}

/// As Gmsh 4.15 writes version 1.0, with a triangle of second order.
const MSH1: &str = "$NOD\n6\n1 0 0 0\n2 1 0 0\n30 0 1 0\n4 0 0 1\n5 0.5 0 0\n6 0.5 0.5 0\n$ENDNOD\n$ELM\n4\n1 15 0 1 1 1\n\
    2 1 0 1 2 1 2\n7 9 6 4 6 1 30 2 5 6 5\n9 4 5 77 4 1 2 30 4\n$ENDELM\n";

#[test]
fn gmsh_1_oddities_and_faults() {
    let grid = super::super::gmsh::parse_grid(MSH1.as_bytes()).unwrap();
    let (mesh, notes) = grid.into_volume().unwrap();
    assert_eq!(
        (tetrahedra_of(&mesh), &mesh.regions),
        (&CORNER[..], &Some(vec![5]))
    );
    assert_eq!(
        (mesh.faces.get(0), &mesh.face_tags[..]),
        (&[0, 2, 1][..], &[6][..])
    );
    assert_eq!(mesh.points.len(), 4);
    assert_eq!(notes.len(), 2);
    let path = tempfile::tempdir().unwrap();
    let path = path.path().join("a.msh");
    std::fs::write(&path, MSH1).unwrap();
    assert!(is_volume(&path));
    let with = |from: &str, to: &str| error(gmsh::parse, MSH1.replacen(from, to, 1));
    assert_eq!(with("2 30 4\n", "2 31 4\n"), "f:15: there is no node 31");
    assert_eq!(
        with("77 4 1", "77 3 1"),
        "f:15: an element of type 4 has 4 nodes, not 3"
    );
    assert_eq!(with("2 30 4\n", "2 30\n"), "f:15: an element is cut off");
    assert_eq!(
        with("$ELM\n4", "$ELM\n5"),
        "f:12: expected 5 elements, found 4"
    );
    assert_eq!(
        with("$ENDELM", "$EndELM"),
        "f:16: expected $ENDELM, found `$EndELM`"
    );
}

/// Gmsh's `view.write(append=True)` repeats the mesh before each view.
#[test]
fn a_mesh_that_gmsh_appends_once_more_is_read_once() {
    let text = MSH2.strip_prefix("$Comments\nx\n$EndComments\n").unwrap();
    for mesh in [text, MSH4] {
        let nodes = if mesh == MSH4 {
            "4\n0 1\n1 2\n2 3\n3 4\n"
        } else {
            "1\n10 7\n"
        };
        let nodes = nodes.replace("\n0 1\n", "\n4 1\n");
        let view = |name: &str| {
            format!("$NodeData\n1\n\"{name}\"\n1\n0\n4\n0\n1\n{nodes}$EndNodeData\n").replacen(
                "\n4\n0\n1\n",
                "\n3\n0\n1\n",
                1,
            )
        };
        let (heat, load) = (view("heat"), view("load"));
        let file = format!("{mesh}{mesh}{heat}{mesh}{load}");
        let once = gmsh::parse(format!("{mesh}{heat}{load}").as_bytes()).unwrap();
        assert_eq!(once.fields.points.len(), 2);
        let again = gmsh::parse(file.as_bytes()).unwrap();
        assert_eq!(format!("{again:?}"), format!("{once:?}"));
        // Only data, after a format of its own.
        let format = &mesh[..mesh.find("$EndMeshFormat").unwrap() + 15];
        let data = gmsh::parse(format!("{mesh}{format}{heat}{format}{load}").as_bytes()).unwrap();
        assert_eq!(format!("{data:?}"), format!("{once:?}"));
        let other = mesh.replacen("0 1 0", "0 2 0", 1);
        let reason = error(gmsh::parse, format!("{mesh}{other}{heat}"));
        assert!(
            reason.ends_with("Gmsh appends such a mesh with a view where Mesh.SaveAll was set for the first: write both without it"),
            "{reason}"
        );
        let other = if mesh == MSH4 { text } else { MSH4 };
        let reason = error(gmsh::parse, format!("{mesh}{other}"));
        assert!(
            reason.ends_with(
                "a second mesh of another format begins here: write it to a file of its own"
            ),
            "{reason}"
        );
    }
}

const MSH4: &str = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n1 0 1 1\n1 0 0 0 1 4\n3 0 0 0 1 1 1 1 7 2 1 2\n\
    2 0 0 0 1 1 1 2 5 6 1 3\n$EndEntities\n$Nodes\n2 4 1 4\n2 3 1 3\n1\n2\n4\n0 0 0 0.1 0.2\n1 0 0 0.1 0.2\n0 1 0 0.1 0.2\n3 2 0 1\n3\n\
    0 0 1\n$EndNodes\n$Elements\n2 2 1 2\n2 3 2 1\n1 1 4 2\n3 2 4 1\n2 1 2 4 3\n$EndElements\n$Periodic\n0\n$EndPeriodic\n";

#[test]
fn gmsh_4_oddities_and_faults() {
    let mesh = gmsh::parse(MSH4.as_bytes()).unwrap();
    assert_eq!(
        (tetrahedra_of(&mesh), &mesh.regions),
        (&CORNER[..], &Some(vec![5]))
    );
    assert_eq!(
        (mesh.faces.get(0), &mesh.face_tags[..]),
        (&[0, 2, 1][..], &[7][..])
    );
    assert_eq!(mesh.points, [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z]);
    let with = |from: &str, to: &str| error(gmsh::parse, MSH4.replacen(from, to, 1));
    assert_eq!(with("2 1 2 4 3", "2 1 2 4 5"), "f:28: there is no node 5");
    assert_eq!(
        with("2 4 1 4\n", "2 5 1 4\n"),
        "f:11: expected 5 nodes, found 4"
    );
    assert_eq!(
        with("2 3 2 1\n1 1", "2 3 99 1\n1 1"),
        "f:25: elements of Gmsh's type 99 are not read: write a mesh of first or second order"
    );
    assert!(with("4.1 0", "4.2 0").starts_with("f:2: version 4.2 is not read"));
    let without = MSH4.replacen("2 0 0 0 1 1 1 2 5 6 1 3", "2 0 0 0 1 1 1 0 1 3", 1);
    assert_eq!(gmsh::parse(without.as_bytes()).unwrap().regions, None);
}

const VTK: &str = "# vtk DataFile Version 5.1\n# title\nASCII\nDATASET UNSTRUCTURED_GRID\nFIELD FieldData 1\nTIME 1 1 double\n0.5\n\
    POINTS 4 float\n0 0 0 1 0 0 0 1 0 \n0 0 1 \n\nMETADATA\nINFORMATION 0\n\nCELLS 3 7\nOFFSETS vtktypeint64\n0 4 7\n\
    CONNECTIVITY vtktypeint64\n0 1 2 3 0 2 1\nCELL_TYPES 2\n10\n5\nPOINT_DATA 4\nVECTORS v double\n0 0 0 0 0 0 0 0 0 0 0 0\n\
    CELL_DATA 2\nSCALARS other double 2\nLOOKUP_TABLE default\n1 2 3 4\nSCALARS CellEntityIds int\nLOOKUP_TABLE default\n5 6\n";

#[test]
fn vtk_oddities_and_faults() {
    let mesh = vtk::parse(VTK.as_bytes()).unwrap();
    assert_eq!(
        (tetrahedra_of(&mesh), &mesh.regions),
        (&CORNER[..], &Some(vec![5]))
    );
    assert_eq!(
        (mesh.faces.get(0), &mesh.face_tags[..]),
        (&[0, 2, 1][..], &[6][..])
    );
    let with = |from: &str, to: &str| error(vtk::parse, VTK.replacen(from, to, 1));
    assert_eq!(
        with("0 1 2 3 0", "0 1 2 4 0"),
        "f:15: cell 0: vertex 4 does not exist: 4 vertices are numbered from 0"
    );
    assert_eq!(
        with("\n10\n", "\n12\n"),
        "f:20: cell 0: a cell of VTK type 12 has 8 vertices, not 4"
    );
    assert_eq!(
        with("\n10\n", "\n24\n"),
        "f:20: cell 0: a cell of VTK type 24 has more than 4 vertices"
    );
    assert!(
        with("\n10\n", "\n42\n")
            .starts_with("f:20: cell 0 is a polyhedron (VTK type 42): convert,")
    );
    assert!(with("\n10\n", "\n43\n").starts_with("f:20: cell 0 has VTK type 43, but"));
    assert_eq!(
        with("0 4 7", "0 4 8"),
        "f:15: the offset of cell 1 is outside of connectivity"
    );
    assert!(
        with("CELL_TYPES 2\n10\n5", "CELL_TYPES 1\n10")
            .contains("f:20: expected a type for each of 2 cells, found 1")
    );
    assert_eq!(
        with("UNSTRUCTURED_GRID", "STRUCTURED_GRID"),
        "f:4: the dataset is STRUCTURED_GRID, but UNSTRUCTURED_GRID or POLYDATA is needed"
    );
    assert_eq!(
        with("5 6\n", "5 3000000000\n"),
        "f:30: the array CellEntityIds has no 32-bit integer for each cell"
    );
    assert!(
        with("float", "half")
            .starts_with("f:8: expected a type of numbers such as double, found `half`")
    );

    // A voxel and a pixel, in the old layout.
    let old = "# vtk DataFile Version 2.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 8 double\n0 0 0 1 0 0 0 1 0 1 1 0\n\
        0 0 1 1 0 1 0 1 1 1 1 1\nCELLS 3 16\n8 0 1 2 3 4 5 6 7\n4 0 1 2 3\n1 5\nCELL_TYPES 3\n11 8 1\n";
    let mesh = vtk::parse(old.as_bytes()).unwrap();
    assert_eq!(mesh.cells.get(0), [0, 1, 3, 2, 4, 5, 7, 6]);
    assert_eq!(mesh.faces.get(0), [0, 1, 3, 2]);
    assert_eq!((mesh.cells.len(), mesh.regions), (1, None));
    assert_eq!(
        error(vtk::parse, old.replacen("4 0 1 2 3\n", "9 0 1 2 3\n", 1)),
        "f:8: cell 1 is said to have 9 vertices, more than there are"
    );
    assert_eq!(
        error(vtk::parse, old.replacen("CELLS 3 16", "CELLS 4 16", 1)),
        "f:8: expected 4 cells, found 3"
    );
}
