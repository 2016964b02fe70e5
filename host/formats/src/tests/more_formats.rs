//! Abaqus, XDMF, glTF; variants of OFF, XYZ and PLY.

use super::*;

#[test]
fn element_sets_of_abaqus_are_regions() {
    let path = fixture("peers").join("gmsh.inp");
    let (mesh, notes) = read_with_notes(&path).unwrap();
    assert_eq!((mesh.points.len(), mesh.faces.len()), (21, 28));
    let regions = mesh.regions.unwrap();
    // Gmsh's groups, one of them without a name.
    let in_region = |region| regions.iter().filter(|&&r| r == region).count();
    assert_eq!([in_region(1), in_region(2)], [14, 14]);
    let markers: Vec<i32> = mesh.segments.iter().map(|s| s.marker).collect();
    assert_eq!(markers, [5; 6]);
    let names: Vec<&str> = mesh.about.groups.values().map(String::as_str).collect();
    assert_eq!((names, notes), (vec!["left", "right"], vec![]));

    let (mesh, notes) = read_with_notes(&path.with_file_name("gmsh_order2.inp")).unwrap();
    assert_eq!((mesh.points.len(), mesh.segments.len()), (21, 6));
    assert_eq!(
        mesh.points[mesh.segments[0].ends[1] as usize],
        DVec3::new(0.5, 0.0, 0.0)
    );
    assert!(
        notes
            .iter()
            .any(|note| note.ends_with("48 nodes on them are left out"))
    );

    let text = "** by hand\n*Heading\n x\n*Node, nset=all\n 10, 0., 0.\n20, 1e0, 0.\n30,0,1\n40, 1,1, 0\n\
        *Element, type=S4R,\nelset=shell\n1, 10, 20,\n40, 30\n*ELEMENT, TYPE=STRI65\n2, 10, 20, 40, 20, 40, 30\n\
        *Element, type=MASS\n3, 10\n*Elset, elset=a, generate\n1, 1, 1\n*ELSET, ELSET=b\n2\n*ELSET, ELSET=both\na, b\n\
        *Shell Section, elset=b, material=steel\n*SHELL SECTION, ELSET=both\n";
    let mesh = abaqus::parse(text.as_bytes()).unwrap();
    assert_eq!(faces_of(&mesh), [vec![0, 1, 3, 2], vec![0, 1, 3]]);
    assert_eq!(mesh.regions, Some(vec![2, 1]));
    assert_eq!(mesh.points[3], DVec3::new(1.0, 1.0, 0.0));
    let with = |from: &str, to: &str| error(abaqus::parse, text.replacen(from, to, 1));
    assert_eq!(
        with("40, 30\n*E", "40, 31\n*E"),
        "f:12: there is no node 31 before here"
    );
    assert_eq!(
        with("40, 30\n*E", "40\n*E"),
        "f:12: an element of type S4R has 4 nodes, but 3 are there"
    );
    assert_eq!(
        with("20, 1e0", "20, x"),
        "f:6: expected a coordinate, found `x`"
    );
    assert_eq!(with("30,0,1", "20,0,1"), "f:7: there is a second node 20");
    assert_eq!(with("*Node", "*Nodes"), "f:25: there is no *NODE");
    let huge = with("1, 1, 1", "1, 9000000000000000000, 1");
    assert_eq!(
        huge,
        "f:18: elements 1 to 9000000000000000000 are more than there are"
    );
}

/// A square of two triangles and two lines; `sets` follow.
fn square_of_abaqus(lines: &str, [one, two]: [&str; 2], sets: &str) -> Loaded {
    let text = format!(
        "*NODE, NSET=Nall\n1, 0, 0\n2, 1, 0\n3, 1, 1\n4, 0, 1\n*ELEMENT, TYPE=T3D2{lines}\n5, 1, 2\n6, 2, 3\n\
         *ELEMENT, TYPE=CPS3{one}\n1, 1, 2, 3\n*ELEMENT, TYPE=CPS3{two}\n2, 1, 3, 4\n{sets}"
    );
    let grid = volume::abaqus::parse_grid(text.as_bytes()).unwrap();
    grid.into_surface().unwrap()
}

/// Sets of Abaqus by where they stand: the tags of the faces and of the lines, and the names.
#[test]
fn elements_of_abaqus_have_their_first_set() {
    let entities = [", ELSET=Surface1", ", ELSET=Surface2"];
    let left_out = "sets of nodes are left out: Nall";
    for (of_lines, of_faces, sets, regions, markers, names, notes) in [
        // Gmsh's groups count, not its entities, dimension by dimension; one without a name has a number.
        (
            ", ELSET=Line7",
            entities,
            "*ELSET,ELSET=Steel\n1, 2\n",
            [1, 1],
            &[7, 7][..],
            "2 1 Steel",
            "",
        ),
        (
            ", ELSET=Line7",
            entities,
            "*ELSET, ELSET=PhysicalSurface10\n1\n*ELSET, ELSET=PhysicalSurface20\n2,\n*ELSET, ELSET=wall\n5, 6, 1\n\
             *ELSET, ELSET=floor\n5,",
            [10, 20],
            &[1, 1, 2],
            "1 1 wall, 1 2 floor, 2 1 wall",
            "elements of several groups are read once, in the first: 1 face in 10 and 1 wall",
        ),
        // Sets of *ELEMENT are groups; one of all elements comes after others.
        (
            "",
            [", ELSET=a", ", ELSET=\"b b\""],
            "*ELSET, ELSET=c\na\n*ELSET, ELSET=spring\n99\n*NSET, NSET=fix\n1, 2\n*SURFACE, NAME=top\na, S1\n",
            [1, 2],
            &[0, 0],
            "2 1 a, 2 2 b b, 2 3 c",
            "surfaces are left out: top; element sets without elements that are read: spring; elements of several groups are \
             read once, in the first: 1 face in 1 a and 3 c",
        ),
        (
            "",
            [", ELSET=all"; 2],
            "*ELSET, ELSET=c, GENERATE\n2, 8, 2\n",
            [2, 1],
            &[0, 1],
            "1 1 c, 2 1 c, 2 2 all",
            "elements of several groups are read once, in the first: 1 face in 1 c and 2 all",
        ),
        // Numbers that names say are not given to others; a set of one such set is its name.
        (
            "",
            [", ELSET=region_1", ", ELSET=x"],
            "*ELSET, ELSET=Iron\nREGION_1\n",
            [1, 2],
            &[0, 0],
            "2 1 Iron, 2 2 x",
            "",
        ),
    ] {
        let Loaded { mesh, notes: found } = square_of_abaqus(of_lines, of_faces, sets);
        assert_eq!(mesh.regions, Some(regions.to_vec()), "{sets}");
        let found_markers: Vec<i32> = mesh.segments.iter().map(|s| s.marker).collect();
        assert_eq!(found_markers, markers, "{sets}");
        let of = mesh.about.groups.iter();
        let of = of.map(|((dimension, number), name)| format!("{dimension} {number} {name}"));
        assert_eq!(of.collect::<Vec<_>>().join(", "), names, "{sets}");
        let fix = if sets.contains("NSET=fix") {
            ", fix"
        } else {
            ""
        };
        let expected: Vec<&str> = notes.split("; ").filter(|note| !note.is_empty()).collect();
        assert_eq!(found[0], format!("{left_out}{fix}"));
        assert_eq!(found[1..], expected, "{sets}");
    }
}

#[test]
fn xdmf_inline_and_in_binary_files_is_read_and_hdf5_is_refused() {
    let text = "<?xml version=\"1.0\"?>\n<!DOCTYPE Xdmf SYSTEM \"Xdmf.dtd\" []>\n<Xdmf Version=\"2.0\"><Domain><Grid>\n\
        <Topology Type=\"Triangle\" NumberOfElements=\"2\"><DataItem NumberType=\"Int\" Format=\"XML\">0 1 2 0 2 3</DataItem></Topology>\n\
        <Geometry Type=\"XY\"><DataItem Format=\"XML\">0 0 1 0 1 1 0 1.5</DataItem></Geometry>\n\
        <Attribute Name=\"gmsh:physical\" Center=\"Cell\"><DataItem DataType=\"Int\">4 5</DataItem></Attribute>\n\
        </Grid></Domain></Xdmf>";
    let mesh = xdmf::parse(text.as_bytes()).unwrap();
    assert_eq!(triangles_of(&mesh), [[0, 1, 2], [0, 2, 3]]);
    assert_eq!(mesh.points[3], DVec3::new(0.0, 1.5, 0.0));
    assert_eq!(mesh.regions, Some(vec![4, 5]));
    let hdf = text.replacen(
        "NumberType=\"Int\" Format=\"XML\">0 1 2 0 2 3",
        "Format=\"HDF\">mesh.h5:/data0",
        1,
    );
    assert_eq!(
        error(xdmf::parse, hdf),
        "f:4: the data is in the HDF5 file mesh.h5, which is not read: write the data inline (by meshio: data_format=\"XML\")"
    );
    let with = |from: &str, to: &str| error(xdmf::parse, text.replacen(from, to, 1));
    assert_eq!(
        with("0 2 3", "0 2 4"),
        "f:4: cell 1: vertex 4 does not exist: 4 vertices are numbered from 0"
    );
    assert_eq!(with("0 2 3", "0 2"), "f:4: 5 nodes are no cells of 3 each");
    assert_eq!(
        with(">4 5<", ">4 5 6<"),
        "f:6: gmsh:physical has 3 numbers for 2 cells"
    );
    for (tags, reason) in [
        ("4", "marker has 1 numbers for 2 cells"),
        ("4 0.5", "a marker is no 32-bit integer"),
    ] {
        let numbers = format!("\"marker\" Center=\"Cell\"><DataItem>{tags}<");
        let found = with(
            "\"gmsh:physical\" Center=\"Cell\"><DataItem DataType=\"Int\">4 5<",
            &numbers,
        );
        assert_eq!(found, format!("f:6: {reason}"));
    }
    // Another program's vector of this name gives no regions.
    let vectors = text.replacen(
        "Center=\"Cell\"><DataItem DataType=\"Int\">4 5<",
        "AttributeType=\"Vector\" Center=\"Cell\"><DataItem>1 0 0 0 1 0<",
        1,
    );
    assert_eq!(xdmf::parse(vectors.as_bytes()).unwrap().regions, None);
    assert_eq!(
        with("[]", "[<!ENTITY a \"b\">]"),
        "f:2: documents that define entities are not read"
    );
    assert_eq!(
        with("\"Triangle\"", "\"Blob\""),
        "f:4: topologies of type `blob` are not read"
    );

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.xdmf");
    let binary = text.replacen(
        "Format=\"XML\">0 1 2 0 2 3",
        "Format=\"Binary\" Dimensions=\"2 3\" Precision=\"4\" Endian=\"Big\" Seek=\"1\">cells.bin",
        1,
    );
    std::fs::write(&path, binary).unwrap();
    let cells: Vec<u8> = [0i32, 1, 2, 0, 2, 3]
        .iter()
        .flat_map(|v| v.to_be_bytes())
        .collect();
    std::fs::write(folder.path().join("cells.bin"), [&[9], &cells[..]].concat()).unwrap();
    assert_eq!(read(&path).unwrap(), mesh);
    std::fs::write(folder.path().join("cells.bin"), &cells[..20]).unwrap();
    let reason = read(&path).unwrap_err().to_string();
    assert!(
        reason.ends_with("cells.bin is shorter than its Dimensions"),
        "{reason}"
    );
    assert!(!is_volume(&path));
}

#[test]
fn steps_of_xdmf_in_time_and_parts_in_space() {
    let grid = |z: u8| {
        format!(
            "<Grid><Topology TopologyType=\"Mixed\"><DataItem DataType=\"Int\">4 0 1 2 2 2 0 1 1 1 2</DataItem></Topology>\n\
             <Geometry><DataItem>0 0 {z} 1 0 {z} 0 1 {z}</DataItem></Geometry></Grid>\n"
        )
    };
    let file = |kind: &str| {
        let (a, b) = (grid(0), grid(1));
        format!(
            "<Xdmf><Domain><Grid GridType=\"Collection\" CollectionType=\"{kind}\">{a}{b}</Grid></Domain></Xdmf>"
        )
    };
    let spatial = xdmf::parse(file("Spatial").as_bytes()).unwrap();
    assert_eq!(triangles_of(&spatial), [[0, 1, 2], [3, 4, 5]]);
    assert_eq!(spatial.segments.len(), 2);
    assert_eq!(
        xdmf::parse(file("Temporal").as_bytes())
            .unwrap()
            .points
            .len(),
        3
    );
    // As deep as it is long.
    let deep = format!(
        "<Xdmf><Domain>{}{}</Domain></Xdmf>",
        "<Grid>".repeat(900),
        "</Grid>".repeat(900)
    );
    assert!(xdmf::parse(deep.as_bytes()).is_err());
}

/// A triangle that a node mirrors and moves, a strip, and a loop of lines; indices of 16 bits.
pub(super) fn glb() -> Vec<u8> {
    let points: [[f32; 3]; 4] = [
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [1.0, 1.0, 0.0],
    ];
    let mut binary: Vec<u8> = points
        .iter()
        .flatten()
        .flat_map(|x| x.to_le_bytes())
        .collect();
    binary.extend([0u16, 1, 2, 0].iter().flat_map(|v| v.to_le_bytes()));
    let mut json = r#"{"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0]}],
        "nodes":[{"children":[1],"translation":[10,0,0]},{"mesh":0,"scale":[-1,1,1]}],
        "meshes":[{"primitives":[{"attributes":{"POSITION":0},"indices":1},{"attributes":{"POSITION":0},"mode":5},
        {"attributes":{"POSITION":0},"indices":1,"mode":2}]}],"materials":[{}],
        "accessors":[{"bufferView":0,"componentType":5126,"count":4,"type":"VEC3"},
        {"bufferView":1,"componentType":5123,"count":3,"type":"SCALAR"}],
        "bufferViews":[{"buffer":0,"byteLength":48},{"buffer":0,"byteOffset":48,"byteLength":8}],
        "buffers":[{"byteLength":56}]}"#
        .to_owned();
    while !json.len().is_multiple_of(4) {
        json.push(' ');
    }
    let mut file = b"glTF".to_vec();
    let word =
        |file: &mut Vec<u8>, value: usize| file.extend_from_slice(&(value as u32).to_le_bytes());
    word(&mut file, 2);
    word(&mut file, 28 + json.len() + binary.len());
    word(&mut file, json.len());
    file.extend_from_slice(b"JSON");
    file.extend_from_slice(json.as_bytes());
    word(&mut file, binary.len());
    file.extend_from_slice(b"BIN\0");
    file.extend_from_slice(&binary);
    file
}

#[test]
fn gltf_is_read_where_its_nodes_put_it() {
    let loaded = super::super::gltf::parse(&glb(), References::nowhere()).unwrap();
    let mesh = loaded.mesh;
    // The parts have one list of vertices.
    assert_eq!(mesh.points.len(), 4);
    assert_eq!(mesh.points[1], DVec3::new(9.0, 0.0, 0.0));
    // A mirrored triangle is reversed.
    assert_eq!(triangles_of(&mesh), [[0, 2, 1], [0, 2, 1], [2, 3, 1]]);
    let ends: Vec<_> = mesh.segments.iter().map(|s| s.ends).collect();
    assert_eq!(ends, [[0, 1], [1, 2], [2, 0]]);
    assert_eq!(loaded.notes, [] as [&str; 0]);

    let text = |from: &str, to: &str| {
        // In one file, with the buffer inline.
        let file = glb();
        let (json, binary) = super::super::gltf::chunks(&file).unwrap();
        let data =
            base64::Engine::encode(&base64::engine::general_purpose::STANDARD, binary.unwrap());
        let uri =
            format!("\"byteLength\":56,\"uri\":\"data:application/octet-stream;base64,{data}\"");
        let json = std::str::from_utf8(json).unwrap();
        json.replacen("\"byteLength\":56", &uri, 1)
            .replacen(from, to, 1)
    };
    assert_eq!(gltf::parse(text("", "").as_bytes()).unwrap(), mesh);
    let marked = format!("\u{feff}{}", text("", ""));
    assert_eq!(
        gltf::parse(marked.as_bytes()).unwrap(),
        mesh,
        "a byte-order mark"
    );
    for (from, to, reason) in [
        (
            "\"count\":3",
            "\"count\":5",
            "accessor 1: 5 elements are announced, but 8 bytes are there",
        ),
        (
            "\"count\":4",
            "\"count\":2",
            "vertex 2 does not exist: 2 vertices are numbered from 0",
        ),
        ("[1],", "[1,0],", "node 0 is in the scene twice"),
        (
            "\"2.0\"",
            "\"1.0\"",
            "expected an asset of version 2, found `1.0`",
        ),
        ("\"bufferView\":0,", "", "accessor 0: it has no bufferView"),
        (
            "\"scene\":0",
            "\"extensionsRequired\":[\"KHR_draco_mesh_compression\"]",
            "the geometry is compressed by KHR_draco_mesh_compression, which is not read: write it uncompressed",
        ),
    ] {
        assert_eq!(error(gltf::parse, text(from, to)), format!("f:1: {reason}"));
    }
    // Any number of nodes may use one mesh, up to the limit of the file's size.
    let nodes = vec!["{\"mesh\":0}"; 20_000].join(",");
    let ids: Vec<String> = (0..20_000).map(|i: u32| i.to_string()).collect();
    let many = text(
        "{\"nodes\":[0]}",
        &format!("{{\"nodes\":[{}]}}", ids.join(",")),
    );
    let many = many.replacen(
        "{\"children\":[1],\"translation\":[10,0,0]},{\"mesh\":0,\"scale\":[-1,1,1]}",
        &nodes,
        1,
    );
    let many = gltf::parse(many.as_bytes()).unwrap();
    assert_eq!((many.points.len(), many.faces.len()), (4, 60_000));
}

pub(super) fn binary_off() -> Vec<u8> {
    let mut file = b"COFF BINARY\n".to_vec();
    let int = |file: &mut Vec<u8>, value: i32| file.extend_from_slice(&value.to_be_bytes());
    for value in [3, 1, 0] {
        int(&mut file, value);
    }
    for point in [[0.0f32, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.5, 0.0]] {
        for x in point.into_iter().chain([1.0; 4]) {
            file.extend_from_slice(&x.to_be_bytes());
        }
    }
    for value in [3, 0, 1, 2, 1] {
        int(&mut file, value);
    }
    file.extend_from_slice(&0.5f32.to_be_bytes());
    file
}

#[test]
fn off_in_lower_case_glued_to_its_counts_and_binary() {
    let body = "0 0 0\n1 0 0\n0 0.5 0\n3 0 1 2\n";
    for header in [
        "off\n3 1 0\n",
        "OFF3 1 0\n",
        "coff 3 1 0\n",
        "OFF 3 1 0\n",
        "NOFF\n3 1 0\n",
    ] {
        let loaded = super::super::off::parse(format!("{header}{body}").as_bytes()).unwrap();
        assert_eq!(triangles_of(&loaded.mesh), [[0, 1, 2]], "{header}");
        let note = match &header[..1] {
            "c" | "N" => vec!["its vertices have positions only, though its keyword names more"],
            _ => vec![],
        };
        assert_eq!(loaded.notes, note);
    }
    let mesh = off::parse(&binary_off()).unwrap();
    assert_eq!(triangles_of(&mesh), [[0, 1, 2]]);
    assert_eq!(mesh.points[2], DVec3::new(0.0, 0.5, 0.0));
    assert_eq!(mesh.attributes.colors, Some(vec![[255; 4]; 3]));
    let mut bad = binary_off();
    let length = bad.len();
    bad[length - 9] = 7;
    assert!(
        error(off::parse, &bad)
            .ends_with("vertex 7 does not exist: 3 vertices are numbered from 0")
    );
    assert!(error(off::parse, &bad[..60]).contains("of vertices, but the file ends after"));
}

#[test]
fn off_keeps_normals_colours_and_texture_coordinates() {
    let parse = |text: &str| super::super::off::parse(text.as_bytes()).unwrap();
    // As Geomview writes them, and as MeshLab and CGAL do.
    for colors in [["1 0.5 0 1", "0 0 0 0"], ["255 128 0 255", "0 0 0 0"]] {
        let [a, b] = colors;
        let text = format!(
            "CNOFF\n3 1 0\n0 0 0 0 0 1 {a}\n1 0 0 0 0 2 {b}\n0 1 0 1 0 0 {b}\n3 0 1 2 {a}\n"
        );
        let loaded = parse(&text);
        let attributes = &loaded.mesh.attributes;
        let normals = attributes.normals.as_deref().unwrap();
        assert_eq!(normals, [DVec3::Z, 2.0 * DVec3::Z, DVec3::X]);
        let expected = [[255, 128, 0, 255], [0; 4], [0; 4]];
        assert_eq!(attributes.colors.as_deref().unwrap(), expected, "{text}");
        let field = loaded.mesh.fields.cells.get("color").unwrap();
        assert_eq!((field.components, field.len()), (4, 1));
        assert!(loaded.notes.is_empty(), "{:?}", loaded.notes);

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.off");
        super::super::write(&path, &loaded.mesh).unwrap();
        assert!(std::fs::read(&path).unwrap().starts_with(b"CNOFF\n"));
        assert_eq!(super::super::read(&path).unwrap(), loaded.mesh);
    }
    let loaded =
        parse("STCOFF\n3 1 0\n0 0 0 9 8 7 0.5 1\n1 0 0 1 2 3 0 0\n0 1 0 1 2 3 0 0\n3 0 1 2\n");
    let attributes = &loaded.mesh.attributes;
    assert_eq!(attributes.colors.as_ref().unwrap()[0], [9, 8, 7, 255]);
    assert_eq!(
        attributes.uvs.as_ref().unwrap()[0],
        glam::DVec2::new(0.5, 1.0)
    );
    // An index of a palette is no colour.
    let loaded = parse("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2 7\n");
    assert!(loaded.notes[0].contains("colours of faces are left out"));
    assert!(loaded.mesh.fields.is_empty());
}

#[test]
fn strips_and_other_names_of_texture_coordinates_in_ply() {
    let head = "element vertex 4\nproperty float x\nproperty float y\nproperty float texture_s\nproperty float texture_t\n\
        element tristrips 1\nproperty list int int vertex_indices\nend_header\n";
    let text = format!(
        "ply\nformat ascii 1.0\n{head}0 0 0 0\n1 0 1 0\n0 1 0 1\n1 1 1 1\n8 0 1 2 3 -1 2 1 3\n"
    );
    let mut binary = format!("ply\nformat binary_little_endian 1.0\n{head}").into_bytes();
    let points = [
        0f32, 0., 0., 0., 1., 0., 1., 0., 0., 1., 0., 1., 1., 1., 1., 1.,
    ];
    binary.extend(points.iter().flat_map(|x| x.to_le_bytes()));
    binary.extend(
        [8i32, 0, 1, 2, 3, -1, 2, 1, 3]
            .iter()
            .flat_map(|x| x.to_le_bytes()),
    );
    for file in [text.as_bytes(), &binary] {
        let mesh = ply::parse(file).unwrap();
        assert_eq!(triangles_of(&mesh), [[0, 1, 2], [2, 1, 3], [2, 1, 3]]);
        let uvs = mesh.attributes.uvs.unwrap();
        assert_eq!(uvs[3], glam::DVec2::ONE);
    }
    assert_eq!(
        error(ply::parse, text.replacen("-1 2 1 3", "-1 2 1 4", 1)),
        "f:15: vertex 4 does not exist: 4 vertices are numbered from 0"
    );
}

#[test]
fn points_without_triangles_beside_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.node");
    std::fs::write(&path, "2 3 1\n1 0 1 2 9\n2 3 4 5 9\n").unwrap();
    let (mesh, notes) = read_with_notes(&path).unwrap();
    assert_eq!(
        mesh.points,
        [DVec3::new(0.0, 1.0, 2.0), DVec3::new(3.0, 4.0, 5.0)]
    );
    assert!(mesh.faces.is_empty() && !is_volume(&path));
    let alone = "there is no .ele file beside it: the points alone are read";
    assert_eq!(notes, [alone]);
    let poly = path.with_extension("poly");
    std::fs::write(&poly, "").unwrap();
    let named = format!("{alone}: triangulate {} takes its outline", poly.display());
    assert_eq!(read_with_notes(&path).unwrap().1, [named]);
}
