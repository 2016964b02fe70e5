//! Files of other programs with unusual layouts.

use super::*;
use trioxide_mesh::fields::{Field, Fields, Values};

fn off_loaded(text: &str) -> Loaded {
    super::super::off::parse(text.as_bytes()).unwrap()
}

#[test]
fn off_with_a_fourth_coordinate_or_a_count_of_dimensions() {
    let expected = [DVec3::ZERO, DVec3::X, 2.0 * DVec3::Y];
    let four = "4OFF\n3 1 0\n0 0 0 2\n2 0 0 2\n0 -4 0 -2\n3 0 1 2\n";
    for text in [
        four,
        &four.replace("4OFF", "4off"),
        "nOFF\n2\n3 1 0\n0 0\n1 0\n0 2\n3 0 1 2\n",
        "nOFF 3 3 1 0\n0 0 0\n1 0 0\n0 2 0\n3 0 1 2\n",
        "CnOFF 2\n3 1\n0 0 1 0 0\n1 0 1 0 0\n0 2 1 0 0\n3 0 1 2\n",
        "N4OFF\n3 1 0\n0 0 0 1 0 0 1\n1 0 0 1 0 0 1\n0 1 0 0.5 0 0 1\n3 0 1 2\n",
    ] {
        let loaded = off_loaded(text);
        assert_eq!(loaded.mesh.points, expected, "{text}");
        assert_eq!(triangles_of(&loaded.mesh), [[0, 1, 2]]);
        assert!(loaded.notes.is_empty());
        assert_eq!(
            loaded.mesh.attributes.normals.is_some(),
            text.starts_with('N')
        );
    }
    let bare = off_loaded("4OFF\n3 1 0\n0 0 0\n1 0 0\n0 2 0\n3 0 1 2\n");
    assert_eq!((bare.mesh.points, bare.notes.len()), (expected.to_vec(), 1));
    let with = |from: &str, to: &str| error(off::parse, four.replacen(from, to, 1));
    assert_eq!(
        with("0 -4 0 -2", "0 -4 0 0"),
        "f:5: a vertex of 4OFF has 0 as its fourth coordinate: it lies at infinity"
    );
    assert_eq!(
        with("2 0 0 2", "2 0 0"),
        "f:4: expected w, but the line ends"
    );
    assert_eq!(
        with("3 1 0", "3 1 0 1"),
        "f:2: these are cells of four dimensions, as Stella4D writes them: of 4OFF surfaces are read"
    );

    let mut file = b"4nOFF BINARY\n".to_vec();
    assert!(error(off::parse, &file).contains("4nOFF is not read"));
    file.remove(1);
    let int = |file: &mut Vec<u8>, value: i32| file.extend_from_slice(&value.to_be_bytes());
    for value in [3, 1, 0] {
        int(&mut file, value);
    }
    for x in [0f32, 0.0, 0.0, 2.0, 2.0, 0.0, 0.0, 2.0, 0.0, 4.0, 0.0, 2.0] {
        file.extend_from_slice(&x.to_be_bytes());
    }
    for value in [3, 0, 1, 2, 0] {
        int(&mut file, value);
    }
    assert_eq!(off::parse(&file).unwrap().points, expected);
    let first = b"4OFF BINARY\n".len() + 12;
    file[first + 12..first + 16].fill(0);
    assert!(error(off::parse, &file).contains("lies at infinity"));
}

#[test]
fn bytes_behind_the_facets_of_stl_are_left_out_with_a_note() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.stl");
    let mesh = Mesh {
        points: vec![DVec3::ZERO, DVec3::X, DVec3::Y],
        faces: Faces::Triangles(vec![[0, 1, 2]]),
        ..Mesh::default()
    };
    write(&path, &mesh).unwrap();
    let mut file = std::fs::read(&path).unwrap();
    file.extend_from_slice(b"by hand\n");
    for head in [&b"trio"[..], b"solid by hand"] {
        file[..head.len()].copy_from_slice(head);
        let loaded = super::super::stl::parse(&file).unwrap();
        assert_eq!(loaded.mesh, mesh);
        assert_eq!(loaded.notes, ["8 bytes behind its last facet are left out"]);
    }
    // A count that was never filled in.
    file[80] = 0;
    assert_eq!(
        error(stl::parse, &file),
        "f:1: byte 80: 0 facets of 50 bytes are announced, but 58 bytes follow"
    );
}

#[test]
fn numbers_of_text_ply_may_stand_on_any_lines() {
    let head = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nelement nothing 7\n\
        element face 1\nproperty list uchar int vertex_indices\nproperty int region\nelement tristrips 2\n\
        property list int int vertex_indices\nend_header\n";
    let rows = "0 0\n1 0\n0 1\n1 1\n3 0 2 1 9\n4 0 1 2 3\n5 2 1 3 -1 0\n";
    let loaded = super::super::ply::parse(format!("{head}{rows}").as_bytes()).unwrap();
    assert_eq!(
        triangles_of(&loaded.mesh),
        [[0, 2, 1], [0, 1, 2], [2, 1, 3], [2, 1, 3]]
    );
    assert_eq!(loaded.mesh.regions, Some(vec![9, 0, 0, 0]));
    let expected = [
        "7 elements `nothing` are left out",
        "the triangles of its strips are in region 0: 3",
    ];
    assert_eq!(loaded.notes, expected);
    let on_one_line = rows.replace('\n', " ");
    let wrapped = rows.replace(' ', "\r\n\t");
    let strips_on_one_line = rows.replace("3\n5", "3 5");
    let comments = on_one_line.replace("1 1 3", "1 1# a 7\n3");
    for body in [&on_one_line, &wrapped, &strips_on_one_line, &comments] {
        let other = super::super::ply::parse(format!("{head}{body}").as_bytes()).unwrap();
        assert_eq!(other.mesh, loaded.mesh, "{body}");
    }
    let with = |from: &str, to: &str| {
        let body = wrapped.replacen(from, to, 1);
        error(ply::parse, format!("{head}{body}"))
    };
    assert_eq!(
        with("\t3\n5", "\t4\n5"),
        "f:26: vertex 4 does not exist: 4 vertices are numbered from 0"
    );
    // One number too few or too many: then lines matter.
    for to in ["", "\t-1\r\n\t0\r\n\t0"] {
        assert!(with("\t-1\r\n\t0", to).starts_with("f:13: expected y, but the line ends"));
    }
}

#[test]
fn triangles_of_second_order_lose_the_nodes_on_their_sides_with_a_note() {
    let folder = tempfile::tempdir().unwrap();
    let path = |extension: &str| {
        folder
            .path()
            .join("a.1")
            .with_extension(format!("1.{extension}"))
    };
    let nodes = "7 2 0 0\n1 0 0\n2 1 0\n3 0 1\n4 .5 .5\n5 0 .5\n6 .5 0\n7 9 9\n";
    std::fs::write(path("node"), nodes).unwrap();
    std::fs::write(path("ele"), "1 6 1\n1 1 2 3 4 5 6 8\n").unwrap();
    std::fs::write(path("poly"), "0 2 0 1\n1 1\n1 3 2 4\n0\n").unwrap();
    let (mesh, notes) = read_with_notes(&path("ele")).unwrap();
    assert_eq!(mesh.points.len(), 4);
    assert_eq!(mesh.points[3], DVec3::new(9.0, 9.0, 0.0));
    assert_eq!(triangles_of(&mesh), [[0, 1, 2]]);
    assert_eq!(mesh.regions, Some(vec![8]));
    assert_eq!(
        (mesh.segments[0].ends, mesh.segments[0].marker),
        ([2, 1], 4)
    );
    assert_eq!(
        notes,
        [
            "1 elements are of higher order: their sides are read as straight, and 3 nodes on them are left out"
        ]
    );
    std::fs::write(path("ele"), "1 6 1\n1 1 2 3 4 5 8 8\n").unwrap();
    let reason = read(&path("ele")).unwrap_err().to_string();
    assert!(
        reason.ends_with("a.1.ele:2: vertex 8 does not exist: 7 vertices are numbered from 1"),
        "{reason}"
    );
}

#[test]
fn an_outline_is_a_mesh_of_points_and_segments() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.poly");
    std::fs::write(
        &path,
        "3 2 1 1\n1 0 0 5.5 2\n2 1 0 5.5 2\n3 0 1 5.5 2\n2 1\n1 1 2 7\n2 2 3 -8\n1\n1 .1 .1\n1\n1 .2 .2 3\n",
    )
    .unwrap();
    let (mesh, notes) = read_with_notes(&path).unwrap();
    assert_eq!((mesh.points.len(), mesh.faces.len()), (3, 0));
    let segments: Vec<_> = mesh.segments.iter().map(|s| (s.ends, s.marker)).collect();
    assert_eq!(segments, [([0, 1], 7), ([1, 2], -8)]);
    assert_eq!(
        notes,
        ["its points of 1 holes and 1 regions are left out: trioxide triangulate takes them"]
    );
    for name in ["b.poly", "b.vtu"] {
        let other = folder.path().join(name);
        write(&other, &mesh).unwrap();
        assert_eq!(read(&other).unwrap(), mesh, "{name}");
    }
    let text = std::fs::read_to_string(folder.path().join("b.poly")).unwrap();
    assert_eq!(
        text,
        "3 2 1 1\n0 0 0 5.5 2\n1 1 0 5.5 2\n2 0 1 5.5 2\n2 1\n0 0 1 7\n1 1 2 -8\n0\n"
    );
    write(&path, &Mesh::default()).unwrap();
    assert_eq!(read(&path).unwrap(), Mesh::default());
    let lifted = Mesh {
        points: vec![DVec3::Z; 3],
        ..mesh
    };
    let reason = write(&path, &lifted).unwrap_err().to_string();
    assert!(reason.contains("vertex 0 has z = 1: write"), "{reason}");
}

/// The byte order mark was read as part of the first word.
#[test]
fn a_byte_order_mark_before_a_text_is_skipped() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = Mesh {
        points: vec![DVec3::ZERO, DVec3::X, DVec3::Y],
        faces: Faces::Triangles(vec![[0, 1, 2]]),
        ..Mesh::default()
    };
    let is_text = |format: &&Format| {
        let is_binary = format.encodings == [Encoding::Binary]
            || format.name == "LAS"
            || format.name == "Medit binary";
        format.is_read() && format.is_written() && !is_binary
    };
    for format in FORMATS.iter().filter(is_text) {
        let extension = format.extensions[0];
        let path = folder.path().join("a").with_extension(extension);
        let text = Some(Encoding::Text).filter(|text| format.encodings.contains(text));
        write_encoded(&path, &mesh, text).unwrap();
        let expected = read(&path).unwrap();
        for extension in [extension, "ele"] {
            if let Ok(file) = std::fs::read(path.with_extension(extension)) {
                std::fs::write(
                    path.with_extension(extension),
                    [b"\xef\xbb\xbf", &file[..]].concat(),
                )
                .unwrap();
            }
        }
        assert_eq!(read(&path).unwrap(), expected, "{extension}");
        if extension == "node" {
            std::fs::remove_file(path.with_extension("ele")).unwrap();
        }
    }
}

#[test]
fn arrays_of_material_ids_are_regions() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = Mesh {
        points: vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::NEG_X],
        faces: Faces::Triangles(vec![[0, 1, 2], [0, 2, 3]]),
        regions: Some(vec![4, 2]),
        ..Mesh::default()
    };
    for extension in ["vtu", "vtp", "vtk", "xdmf"] {
        let path = folder.path().join("a").with_extension(extension);
        let format = Format::to_write(&path).unwrap();
        let text = Some(Encoding::Text).filter(|text| format.encodings.contains(text));
        write_encoded(&path, &mesh, text).unwrap();
        let file = std::fs::read_to_string(&path).unwrap();
        for name in ["MaterialIds", "MaterialIDs"] {
            std::fs::write(&path, file.replacen("region", name, 1)).unwrap();
            assert_eq!(read(&path).unwrap(), mesh, "{extension} {name}");
        }
    }
}

/// Integers became doubles without a note: refinement then averaged labels.
#[test]
fn fields_whose_numbers_change_their_type_are_named() {
    let mut mesh = Mesh {
        points: vec![DVec3::ZERO, DVec3::X, DVec3::Y],
        faces: Faces::Triangles(vec![[0, 1, 2]]),
        segments: vec![Segment {
            ends: [0, 1],
            marker: 1,
        }],
        ..Mesh::default()
    };
    let list = |fields: Vec<Field>| -> Fields { fields.into_iter().collect() };
    mesh.fields.points = list(vec![
        Field::scalars("large", vec![1i64 << 40, 0, 1]),
        Field::scalars("intensity", vec![1.0, 2.0, 3.0]),
        Field::scalars("gps_time", vec![1u8, 2, 3]),
    ]);
    mesh.fields.cells = list(vec![
        Field::scalars("class", vec![7u8]),
        Field::scalars("load", vec![0.5]),
        Field::scalars("region", vec![9i16]),
    ]);
    mesh.fields.sides = list(vec![
        Field::scalars("class", vec![-300i16]),
        Field::scalars("load", vec![3u32]),
    ]);
    let losses = |name: &str| {
        let format = Format::to_write(Path::new(name)).unwrap();
        format.losses(&mesh, Encoding::default())
    };
    let renamed = "fields have other names in the output, where theirs are taken: region is region_2, load is load_2";
    for name in ["a.vtu", "a.vtp", "a.vtk"] {
        assert_eq!(losses(name), [renamed], "{name}");
        let path = tempfile::tempdir().unwrap();
        let path = path.path().join(name);
        write(&path, &mesh).unwrap();
        let read = read(&path).unwrap();
        let mut expected = mesh.fields.clone();
        // One type holds both.
        // VTP has lines before faces.
        let (load, other) = match name {
            "a.vtp" => ("load_2", "load"),
            _ => ("load", "load_2"),
        };
        expected.cells = list(vec![
            Field::scalars("class", vec![7i16]),
            Field::scalars(load, vec![0.5]),
            Field::scalars("region_2", vec![9i16]),
        ]);
        expected.sides = list(vec![
            Field::scalars("class", vec![-300i16]),
            Field::scalars(other, vec![3u32]),
        ]);
        assert_eq!(read.fields, expected, "{name}");
    }
    assert_eq!(
        losses("a.ply"),
        [
            "PLY does not hold the fields class, load: not in the output",
            "PLY does not take every name: the output has the field `region` as `field_region`",
            "PLY holds integers of 32 bits: those of large are larger, and doubles in the output"
        ]
    );
    assert_eq!(
        losses("a.msh"),
        [
            "Gmsh does not hold the fields class, load: not in the output",
            "Gmsh holds doubles only: the integers of large, gps_time, class, region are doubles in the output, which \
             trioxide alone reads as integers again"
        ]
    );
    let of_las = losses("a.las");
    assert!(
        of_las.contains(
            &"LAS holds integers for intensity: the floats of the input are integers in the output"
                .to_owned()
        ),
        "{of_las:?}"
    );
    assert!(
        of_las.contains(
            &"LAS holds floats for gps_time: the integers of the input are floats in the output"
                .to_owned()
        ),
        "{of_las:?}"
    );
}

#[test]
fn gmsh_gives_integers_back_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.msh");
    let mut mesh = Mesh {
        points: vec![DVec3::ZERO, DVec3::X, DVec3::Y],
        faces: Faces::Triangles(vec![[0, 1, 2]]),
        ..Mesh::default()
    };
    mesh.fields.points = [
        Field::scalars("class", vec![2u8, 6, 2]),
        Field {
            name: "flow".to_owned(),
            components: 2,
            values: vec![0.1f32, 1.0, f32::NAN, 2.0, 3.0, 4.0].into(),
        },
    ]
    .into_iter()
    .collect();
    mesh.fields.cells.push(Field::scalars("part", vec![-5i64]));
    for encoding in [Encoding::Text, Encoding::Binary] {
        write_encoded(&path, &mesh, Some(encoding)).unwrap();
        let (read, notes) = read_with_notes(&path).unwrap();
        assert_eq!(format!("{:?}", read.fields), format!("{:?}", mesh.fields));
        assert!(notes.is_empty());
    }
    // Another program changed a number and kept the tag.
    write_encoded(&path, &mesh, Some(Encoding::Text)).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(
        text.contains("\n3\n\"class\"\n\"\"\n\"trioxide uint8 1\"\n"),
        "{text}"
    );
    std::fs::write(&path, text.replacen("\n2 6\n", "\n2 6.5\n", 1)).unwrap();
    let (read, notes) = read_with_notes(&path).unwrap();
    let class = &read.fields.points.get("class").unwrap().values;
    assert_eq!(*class, Values::F64(vec![2.0, 6.5, 2.0]));
    assert_eq!(
        notes,
        [
            "the field class has numbers that are no uint8 in 1 components, as its third tag says: read as doubles"
        ]
    );
    // Beyond 2^53 some integers are no exact doubles.
    mesh.fields.cells.push(Field::scalars("id", vec![u64::MAX]));
    let losses = Format::to_write(&path)
        .unwrap()
        .losses(&mesh, Encoding::default());
    assert_eq!(
        losses[0],
        "Gmsh does not hold the field id: not in the output"
    );
}
