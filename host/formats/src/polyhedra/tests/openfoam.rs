//! OpenFOAM's files: written ones, and files of other programs.

use std::path::PathBuf;

use super::*;

/// The files, as OpenFOAM's documentation describes them.
#[test]
fn polyhedra_are_written_for_openfoam() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("house.foam");
    write_polyhedra(&path, &house(), None).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"");
    let read = |name: &str| {
        let text = std::fs::read_to_string(folder.path().join("constant/polyMesh").join(name));
        let text = text.unwrap();
        assert!(text.contains(&format!("object      {name};")), "{text}");
        text.split_once("}\n\n").unwrap().1.to_owned()
    };
    assert!(read("points").starts_with("9\n(\n(0 0 0)\n(1 0 0)\n"));
    // The inner face comes first, with the cube's direction.
    assert!(read("faces").starts_with("10\n(\n4(4 5 7 6)\n4(0 2 3 1)\n"));
    assert_eq!(read("neighbour"), "1\n(\n1\n)\n");
    assert!(read("owner").starts_with("10\n(\n0\n0\n"));
    let boundary = read("boundary");
    assert!(
        boundary.contains("tag_7") && boundary.contains("nFaces          2"),
        "{boundary}"
    );
    assert!(boundary.contains("startFace       3"), "{boundary}");
    let zones = read("cellZones");
    assert!(zones.starts_with("2\n(\nregion_minus_1\n{\n"), "{zones}");
    assert!(
        zones.contains("List<label>\n1\n(\n1\n)\n;\n}\nregion_3\n"),
        "{zones}"
    );
    // Without regions, the zones of the mesh before are no longer there.
    let plain = PolyhedralMesh {
        regions: None,
        ..house()
    };
    write_polyhedra(&path, &plain, None).unwrap();
    assert_eq!(read("cellZones"), "0\n(\n)\n");
    assert_eq!(read_polyhedra(&path).unwrap().regions, None);
}

/// Files of a case: names in `constant/polyMesh/`, and their bytes.
pub(super) type Files = Vec<(&'static str, Vec<u8>)>;

/// Writes the files of a case. Returns its `.foam` file.
pub(super) fn lay_out(case: &Path, files: &Files) -> PathBuf {
    let folder = case.join("constant/polyMesh");
    std::fs::create_dir_all(&folder).unwrap();
    for (name, bytes) in files {
        std::fs::write(folder.join(name), bytes).unwrap();
    }
    let path = case.join("case.foam");
    std::fs::write(&path, "").unwrap();
    path
}

/// A column of two cubes: the first 12 points of a grid of two by two, the faces as OpenFOAM orders them.
const POINTS: [[f64; 3]; 12] = {
    let mut points = [[0.0; 3]; 12];
    let mut i = 0;
    while i < 12 {
        points[i] = [(i & 1) as f64, (i >> 1 & 1) as f64, (i >> 2) as f64];
        i += 1;
    }
    points
};
const FACES: [[i64; 4]; 11] = [
    [4, 5, 7, 6],
    [0, 2, 3, 1],
    [0, 1, 5, 4],
    [2, 6, 7, 3],
    [0, 4, 6, 2],
    [1, 3, 7, 5],
    [8, 9, 11, 10],
    [4, 5, 9, 8],
    [6, 10, 11, 7],
    [4, 8, 10, 6],
    [5, 7, 11, 9],
];
const OWNERS: [i64; 11] = [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1];

/// The faces so that patches are consecutive: face 0 is inner; `floor` has face 1, `lid` face 6, `walls` the others.
const ORDER: [usize; 11] = [0, 1, 6, 2, 3, 4, 5, 7, 8, 9, 10];

fn head(class: &str, object: &str, format: &str) -> String {
    format!(
        "/*--------------------------------*- C++ -*----------------------------------*\\\n  =========  (not a list) |\n\
         \\*---------------------------------------------------------------------------*/\nFoamFile\n{{\n    version     2.0;\n    \
         format      {format};\n    arch        \"LSB;label=64;scalar=32\";\n    class       {class};\n    note        \"nCells:99 // no ()\";\n    \
         object      {object};\n}}\n// * * * * * //\n\n"
    )
}

const BOUNDARY: &str = "3
(
    floor
    {
        type            wall;
        inGroups        List<word> 1(wall);
        nFaces          1;
        startFace       1;
    }
    lid // the top
    {
        type            patch;
        physicalType    { inlet { velocity (0 0 -1); } }
        nFaces          1;
        startFace       2;
    }
    \"side (all)\"
    {
        type            symmetryPlane;
        inGroups        1(symmetryPlane);
        nFaces          8;
        startFace       3;
    }
)
// ************************************************************************* //
";

fn text(list: impl Iterator<Item = String>) -> String {
    let all: Vec<String> = list.collect();
    format!("{}\n(\n{}\n)\n\n// *** //\n", all.len(), all.join("\n"))
}

/// As OpenFOAM writes text: with comments, and lists of one value in braces.
fn in_text() -> Files {
    let file =
        |class: &str, name: &str, body: String| (head(class, name, "ascii") + &body).into_bytes();
    let points = text(POINTS.iter().map(|[x, y, z]| format!("({x} {y} {z})")));
    let points = points.replace("(1 0 0)", "(1 0 0) // the second point (of 12)");
    let faces = text(ORDER.iter().map(|&f| {
        let [a, b, c, d] = FACES[f];
        format!("4({a} {b} {c} {d})")
    }));
    let owner = text(ORDER.iter().map(|&f| OWNERS[f].to_string()));
    let zones = "2\n(\nrotor\n{\n    type cellZone;\ncellLabels      List<label> \n1\n(\n1\n)\n;\n}\nempty\n{\n    type cellZone;\n    \
                 cellLabels List<label> 0();\n}\n)\n";
    vec![
        ("points", file("vectorField", "points", points)),
        ("faces", file("faceList", "faces", faces)),
        ("owner", file("labelList", "owner", owner)),
        (
            "neighbour",
            file("labelList", "neighbour", "1{1}\n".to_owned()),
        ),
        (
            "boundary",
            file("polyBoundaryMesh", "boundary", BOUNDARY.to_owned()),
        ),
        (
            "cellZones",
            file("regIOobject", "cellZones", zones.to_owned()),
        ),
    ]
}

/// As OpenFOAM writes binary, with labels of 8 bytes and numbers of 4.
fn in_binary() -> Files {
    let file = |class: &str, name: &str, parts: &[(usize, Vec<u8>)]| {
        let mut bytes = head(class, name, "binary").into_bytes();
        for (count, part) in parts {
            bytes.extend(format!("{count}\n(").bytes());
            bytes.extend(part);
            bytes.extend(b")\n");
        }
        bytes
    };
    let labels = |list: &[i64]| {
        (
            list.len(),
            list.iter()
                .flat_map(|x| x.to_le_bytes())
                .collect::<Vec<u8>>(),
        )
    };
    let points = POINTS
        .iter()
        .flatten()
        .flat_map(|&x| (x as f32).to_le_bytes())
        .collect();
    let faces: Vec<i64> = ORDER.iter().flat_map(|&f| FACES[f]).collect();
    let ends: Vec<i64> = (0..=11).map(|i| 4 * i).collect();
    let owners: Vec<i64> = ORDER.iter().map(|&f| OWNERS[f]).collect();
    let mut zones = head("regIOobject", "cellZones", "binary").into_bytes();
    zones.extend(b"1\n(\nrotor\n{\ntype cellZone;\ncellLabels List<label> \n1\n(");
    zones.extend(1i64.to_le_bytes());
    zones.extend(b")\n;\n}\n)\n");
    let mut face_zones = head("regIOobject", "faceZones", "binary").into_bytes();
    face_zones.extend(b"1\n(\nbaffle\n{\ntype faceZone;\nfaceLabels List<label> \n2\n(");
    face_zones.extend(*b"));\0\0\0\0\0{}\0\0\0\0\0\0");
    face_zones.extend(b")\n;\nflipMap List<bool> \n2\n(;)");
    face_zones.extend(b")\n;\n}\n)\n");
    vec![
        ("points", file("vectorField", "points", &[(12, points)])),
        (
            "faces",
            file("faceCompactList", "faces", &[labels(&ends), labels(&faces)]),
        ),
        ("owner", file("labelList", "owner", &[labels(&owners)])),
        ("neighbour", file("labelList", "neighbour", &[labels(&[1])])),
        (
            "boundary",
            (head("polyBoundaryMesh", "boundary", "binary") + BOUNDARY).into_bytes(),
        ),
        ("cellZones", zones),
        ("faceZones", face_zones),
    ]
}

/// Meshes of OpenFOAM; one of them is compressed.
pub(super) fn samples() -> Vec<Files> {
    let mut packed = in_text();
    for (name, bytes) in &mut packed {
        use std::io::Write;
        if matches!(*name, "points" | "owner") {
            let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            out.write_all(bytes).unwrap();
            *bytes = out.finish().unwrap();
            *name = if *name == "points" {
                "points.gz"
            } else {
                "owner.gz"
            };
        }
    }
    // Faces as binary lists in a text list.
    let mut lists = in_binary();
    let mut faces = head("faceList", "faces", "binary").into_bytes();
    faces.extend(b"11\n(\n");
    for f in ORDER {
        faces.extend(b"\n4\n(");
        faces.extend(FACES[f].iter().flat_map(|v| v.to_le_bytes()));
        faces.push(b')');
    }
    faces.extend(b"\n)\n");
    lists[1].1 = faces;
    vec![in_text(), in_binary(), packed, lists]
}

#[test]
fn meshes_of_openfoam_are_read() {
    let folder = tempfile::tempdir().unwrap();
    for (k, files) in samples().iter().enumerate() {
        let case = folder.path().join(k.to_string());
        let path = lay_out(&case, files);
        for path in [
            path,
            case.clone(),
            case.join("constant"),
            case.join("constant/polyMesh"),
        ] {
            assert!(is_polyhedra(&path), "{}", path.display());
            let (mesh, notes) = read_polyhedra_as(&path, ReadOptions::default()).unwrap();
            assert_eq!(
                (mesh.len(), mesh.faces.len(), mesh.points.len()),
                (2, 11, 12)
            );
            assert_eq!(mesh.points, POINTS.map(DVec3::from_array));
            assert_eq!(mesh.faces.get(0), [4, 5, 7, 6]);
            assert_eq!(mesh.neighbours()[0], [0, 1]);
            assert_eq!(mesh.regions, Some(vec![0, 1]));
            let mut tags: Vec<(i32, u32)> = (mesh.tagged.iter())
                .map(|tagged| {
                    (
                        tagged.tag,
                        mesh.faces.get(tagged.face as usize).iter().sum(),
                    )
                })
                .collect();
            tags.sort();
            let sums = [10, 12, 16, 18, 26, 28, 32, 34].map(|sum| (3, sum));
            assert_eq!(tags[..2], [(1, 6), (2, 38)]);
            assert_eq!(tags[2..], sums);
            assert_eq!(
                notes[0],
                "patches are tags of faces: 1 floor (wall), 2 lid (patch), 3 side (all) (symmetryPlane)"
            );
            let zones = [
                "zones of cells are regions: 1 rotor, 2 empty",
                "zones of cells are regions: 1 rotor",
            ];
            assert!(zones.contains(&&*notes[1]), "{notes:?}");
            let has_others = files.iter().any(|(name, _)| *name == "faceZones");
            let others = ["zones of faces are left out: baffle"];
            assert_eq!(notes[2..], others[..usize::from(has_others)]);
        }
    }
    // A case whose file is not there.
    let error = read_polyhedra(&folder.path().join("0/other.foam")).unwrap_err();
    assert!(matches!(error, Error::File { .. }), "{error}");
}

/// The faults of one file, each with its place.
#[test]
fn broken_meshes_of_openfoam_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut count = 0;
    let mut refused = |name: &str, from: &str, to: &str| {
        let mut files = in_text();
        let file = files.iter_mut().find(|file| file.0 == name).unwrap();
        let text = String::from_utf8(file.1.clone()).unwrap();
        assert!(text.contains(from), "{from} is not in {text}");
        file.1 = text.replacen(from, to, 1).into_bytes();
        count += 1;
        let path = lay_out(&folder.path().join(count.to_string()), &files);
        read_polyhedra(&path).unwrap_err().to_string()
    };
    for (name, from, to, said) in [
        (
            "points",
            "FoamFile",
            "Foam",
            "points:4: expected `FoamFile`, found `Foam`",
        ),
        (
            "points",
            "(1 1 2)",
            "(1 1)",
            "points:15: expected 36 coordinates, found 35",
        ),
        ("points", "\n12\n", "\n13\n", "expected 13 points, found 12"),
        (
            "points",
            "\n12\n",
            "\n99999999999999999999\n",
            "expected the length of a list",
        ),
        (
            "faces",
            "4(4 5 7 6)",
            "4(4 5 7 12)",
            "faces:15: face 0: vertex 12 does not exist",
        ),
        (
            "faces",
            "4(4 5 7 6)",
            "4(4 5 7 7)",
            "face 0 has vertex 7 twice",
        ),
        ("faces", "4(4 5 7 6)", "2(4 5)", "face 0 has 2 vertices"),
        (
            "faces",
            "4(4 5 7 6)",
            "-4(4 5 7 6)",
            "said to have -4 vertices",
        ),
        (
            "owner",
            "0\n0\n",
            "0\n11\n",
            "owner:15: face 1: cell 11 does not exist",
        ),
        (
            "owner",
            "0\n0\n",
            "0\n-1\n",
            "face 1: cell -1 does not exist",
        ),
        ("owner", "11\n(", "(", "10 owners do not fit to 11 faces"),
        (
            "owner",
            "0\n0\n",
            "0\n1\n",
            "polyhedron 0 is not closed: only one of its faces has edge",
        ),
        ("neighbour", "1{1}", "1(7)", "polyhedron 1 is not closed"),
        (
            "neighbour",
            "1{1}",
            "999999999{1}",
            "expected at most 11 numbers of neighbours, found 999999999",
        ),
        (
            "boundary",
            "startFace       3",
            "startFace       4",
            "patch side (all): there are 11 faces",
        ),
        (
            "boundary",
            "startFace       3",
            "startFace       0",
            "patch side (all): its faces begin before those of lid end",
        ),
        (
            "boundary",
            "startFace       1",
            "startFace       0",
            "patch floor: face 0 is between two cells",
        ),
        (
            "boundary",
            "nFaces          1;",
            "",
            "patch floor: expected numbers for nFaces and startFace",
        ),
        (
            "boundary",
            "type            patch;",
            "type patch",
            "patch lid: expected numbers for nFaces and startFace",
        ),
        (
            "cellZones",
            "(\n1\n)",
            "(\n2\n)",
            "zone rotor: there is no cell 2",
        ),
        (
            "cellZones",
            "1\n(\n1\n)",
            "2{1}",
            "zone rotor has cell 1 twice",
        ),
    ] {
        let error = match (name, from) {
            ("owner", "11\n(") => refused(name, "11\n(\n0\n", "(\n"),
            _ => refused(name, from, to),
        };
        assert!(error.contains(said), "{from} as {to}: {error}");
    }
}

/// A face between cells with the higher one as owner, and neighbours of -1, as old files have them.
#[test]
fn owners_may_be_the_higher_cell() {
    let folder = tempfile::tempdir().unwrap();
    let mut files = in_text();
    let swap = |file: &mut Vec<u8>, from: &str, to: &str| {
        let text = String::from_utf8(file.clone()).unwrap();
        assert!(text.contains(from), "{from} is not in {text}");
        *file = text.replacen(from, to, 1).into_bytes();
    };
    swap(&mut files[1].1, "4(4 5 7 6)", "4(4 6 7 5)");
    swap(&mut files[2].1, "(\n0\n", "(\n1\n");
    swap(
        &mut files[3].1,
        "1{1}",
        "11(0 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1)",
    );
    let (mesh, notes) =
        read_polyhedra_as(&lay_out(folder.path(), &files), ReadOptions::default()).unwrap();
    assert_eq!(mesh.faces.get(0), [4, 5, 7, 6]);
    assert_eq!((mesh.neighbours()[0], notes.len()), ([0, 1], 2));
}

#[test]
fn files_beyond_the_case_are_references() {
    let folder = tempfile::tempdir().unwrap();
    lay_out(&folder.path().join("a"), &in_text());
    std::fs::create_dir_all(folder.path().join("b/constant")).unwrap();
    let path = folder.path().join("b/case.foam");
    std::fs::write(&path, "").unwrap();
    #[cfg(unix)]
    {
        let link = folder.path().join("b/constant/polyMesh");
        std::os::unix::fs::symlink("../../a/constant/polyMesh", link).unwrap();
        let error = read_polyhedra(&path).unwrap_err().to_string();
        assert!(error.contains("follow references anywhere"), "{error}");
        let anywhere = ReadOptions {
            follow_references: crate::FollowReferences::Anywhere,
            ..ReadOptions::default()
        };
        assert_eq!(read_polyhedra_as(&path, anywhere).unwrap().0.len(), 2);
    }
}
