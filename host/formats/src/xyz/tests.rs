//! Columns by names and by ranges, separators, and contradictions.

use super::*;
use crate::tests::error;
use crate::{Encoding, Format, read, read_with_notes};
use trioxide_mesh::about::Unit;

fn cloud(text: &str) -> Loaded {
    parse(text.as_bytes()).unwrap_or_else(|fault| panic!("{text}: {}", fault.reason))
}

fn named(names: &str, text: &str) -> Loaded {
    parse_as(text.as_bytes(), Some(names.parse().unwrap())).unwrap()
}

fn refusal(text: &str) -> String {
    error(|file| parse(file).map(|cloud| cloud.mesh), text)
}

fn field<'c>(cloud: &'c Loaded, name: &str) -> &'c Values {
    let fields = &cloud.mesh.fields.points;
    &fields
        .get(name)
        .unwrap_or_else(|| panic!("{name} of {fields:?}"))
        .values
}

fn unit(scale: f64) -> Unit {
    Unit {
        scale: [scale; 3],
        offset: [0.0; 3],
    }
}

fn names(cloud: &Loaded) -> Vec<&str> {
    cloud.mesh.fields.names()
}

#[test]
fn a_header_names_the_columns() {
    let both =
        cloud("//X Y Z R G B Nx Ny Nz\n0.5 1.5 2.5 200 100 50 0 0 1\n1.5 1.5 2.5 10 20 30 0 1 0\n");
    let attributes = &both.mesh.attributes;
    assert_eq!(both.mesh.points[0], DVec3::new(0.5, 1.5, 2.5));
    assert_eq!(
        attributes.colors,
        Some(vec![[200, 100, 50, 255], [10, 20, 30, 255]])
    );
    assert_eq!(attributes.normals, Some(vec![DVec3::Z, DVec3::Y]));
    assert_eq!((names(&both), &both.notes), (vec![], &vec![]));

    let id = cloud("id x y z\n1 10 20 30\n2 11 21 31\n3 12 22 32\n");
    assert_eq!(id.mesh.points[2], DVec3::new(12.0, 22.0, 32.0));
    assert_eq!(field(&id, "id"), &Values::from(vec![1, 2, 3]));

    let curved = cloud("x y z nx ny nz curvature\n0 0 0 0 0 1 0.02\n1 0 0 0.6 0.8 0 0.03\n");
    assert_eq!(
        curved.mesh.attributes.normals,
        Some(vec![DVec3::Z, DVec3::new(0.6, 0.8, 0.0)])
    );
    assert_eq!(field(&curved, "curvature"), &Values::from(vec![0.02, 0.03]));
    assert_eq!(curved.mesh.attributes.colors, None);
}

/// The same two points, as other programs write them.
#[test]
fn headers_of_other_programs_name_the_columns() {
    for text in [
        // CloudCompare, with the number of points.
        "//X Y Z Intensity\n2\n1 2 3 0.5\n4 5 6 0.25\n",
        "//X;Y;Z;Intensity\n1;2;3;0.5\n4;5;6;0.25\n",
        // A spreadsheet of Central Europe.
        "X;Y;Z;Intensity\n1,0;2,0;3,0;0,5\n4,0;5,0;6,0;0,25\n",
        // pandas: an index without a name, and quoted names.
        ",x,y,z,Intensity\n0,1,2,3,0.5\n1,4,5,6,0.25\n",
        "\"\",\"x\",\"y\",\"z\",\"Intensity\"\n\"a\",1,2,3,0.5\n\"b\",\"4\",\"5\",\"6\",0.25\n",
        "\tx\ty\tz\tIntensity\n0\t1\t2\t3\t0.5\n1\t4\t5\t6\t0.25\n",
        // ParaView.
        "\"Intensity\",\"Points:0\",\"Points:1\",\"Points:2\"\n0.5,1,2,3\n0.25,4,5,6\n",
        // NumPy and MATLAB, whose comments are one line of several.
        "# made by hand\n# x y z Intensity\n1 2 3 0.5\n4 5 6 0.25\n",
        "% x, y, z, Intensity\n1, 2, 3, 0.5\n4, 5, 6, 0.25\n",
        // A byte order mark, carriage returns, tabs, units, other comments.
        "\u{feff}X [m]\tY [m]\tZ [m]\tIntensity\r\n1\t2\t3\t0.5\r\n\r\n4\t5\t6\t0.25\r\n",
        "x\ty\tz\tIntensity\n// a\n1\t\t2\t3\t0.5\n% b\n4\t5\t6\t0.25 # c\n",
        "Easting,Northing,Elevation,Intensity,class\n1,2,3,0.5,ground\n4,5,6,0.25,tree, tall\n",
    ]
    .map(|text| text.replace("tree, tall", "tree"))
    {
        let cloud = cloud(&text);
        let points = [DVec3::new(1.0, 2.0, 3.0), DVec3::new(4.0, 5.0, 6.0)];
        assert_eq!(cloud.mesh.points, points, "{text}");
        assert_eq!(
            field(&cloud, "Intensity"),
            &Values::from(vec![0.5, 0.25]),
            "{text}"
        );
        assert_eq!(names(&cloud), ["Intensity"], "{text}");
    }
    let note = "not read, without a name or numbers: column 1, class";
    assert_eq!(cloud(",x,y,z,class\n7,1,2,3,a\n8,1,2,3,b\n").notes, [note]);
    // Coordinates of the plane.
    assert_eq!(
        cloud("x y heat\n1 2 30\n").mesh.points,
        [DVec3::new(1.0, 2.0, 0.0)]
    );
}

#[test]
fn names_that_contradict_the_rows_are_refused() {
    for (text, expected) in [
        (
            "//X Y Z R G B\n1 2 3 4\n",
            "f:1: the header names 6 columns, but a point has 4 numbers: name all of them, in the file or by the option columns=x,y,z,…",
        ),
        (
            "x y\n1 2 3\n",
            "f:1: the header names 2 columns, but a point has 3 numbers",
        ),
        (
            "lat lon h\n1 2 3\n",
            "f:1: no column is named x: name the columns by the option columns=x,y,z,… in place of lat,lon,h",
        ),
        ("x y x z\n1 2 3 4\n", "f:1: x is named twice: x, x"),
        (
            "x y z r g b\n1 2 3 70000 0 0\n",
            "f:2: columns named as colours have numbers from 0 to 70000",
        ),
        (
            "x y z r g b\n1 2 3 -1 0 0\n",
            "f:2: columns named as colours have numbers from -1 to 0",
        ),
        (
            "3\n1 2 3\n4 5 6\n",
            "f:4: the file declares 3 points, but has 2",
        ),
        (
            "x y z\n1\n1 2 3\n4 5 6\n",
            "f:5: the file declares 1 points, but has 2",
        ),
        ("2\n3\n0 0 0\n", "f:2: this is a PTX file"),
        ("x,y,z\n1,2,three\n", "f:2: expected z, found `three`"),
    ] {
        let error = refusal(text);
        assert!(error.starts_with(expected), "{text}: {error}");
    }
    // A title names no coordinate.
    assert_eq!(cloud("my scan\n1 2 3\n").mesh.points.len(), 1);
    assert!(refusal("a\nb\n0 0 0\n").starts_with("f:2: a point has 0 numbers"));
    assert_eq!(
        refusal("0 0 0\n0 0\n"),
        "f:2: expected z, but the line ends"
    );
}

#[test]
fn columns_without_names_are_read_by_their_ranges() {
    let guessed = |text: &str| {
        let cloud = cloud(text);
        let mut notes = cloud.notes.iter();
        let names = notes
            .find_map(|note| note.strip_prefix("its columns have no names: they are read as "));
        (names.unwrap_or_default().to_owned(), cloud.mesh)
    };
    for (rows, expected) in [
        (["0 0 0", "1 0 0"], ""),
        (["0 0 0 0.5", "1 0 0 7"], "x,y,z,intensity"),
        (["0 0 0 200 100 50", "1 0 0 0 1 0"], "x,y,z,r,g,b"),
        (["0 0 0 0 0 0", "1 0 0 0 0 0"], "x,y,z,r,g,b"),
        (["0 0 0 65280 256 0", "1 0 0 0 1 0"], "x,y,z,r,g,b"),
        (["0 0 0 0 0 1", "1 0 0 0 1 0"], "x,y,z,nx,ny,nz"),
        (["0 0 0 0 0.6 0.8", "1 0 0 nan nan nan"], "x,y,z,nx,ny,nz"),
        (["0 0 0 0 0 -0.5", "1 0 0 0 1 0"], "x,y,z,nx,ny,nz"),
        (["0 0 0 0 0.25 0.5", "1 0 0 1 1 1"], "x,y,z,rf,gf,bf"),
        (
            ["0 0 0 300 200 100 50", "1 0 0 -7 0 0 9"],
            "x,y,z,intensity,r,g,b",
        ),
        (
            ["0 0 0 300 0 0 0", "1 0 0 200 0 0 0"],
            "x,y,z,intensity,r,g,b",
        ),
        (
            ["0 0 0 0 0 1 0.02", "1 0 0 0.6 0.8 0 0.5"],
            "x,y,z,nx,ny,nz,scalar",
        ),
        (
            ["0 0 0 200 100 50 0.5", "1 0 0 0 1 0 0.25"],
            "x,y,z,r,g,b,intensity",
        ),
        (
            ["0 0 0 0 0 1 200 100 50", "1 0 0 0 1 0 0 0 9"],
            "x,y,z,nx,ny,nz,r,g,b",
        ),
        (
            ["0 0 0 200 100 50 0 0 1", "1 0 0 0 0 9 0 1 0"],
            "x,y,z,r,g,b,nx,ny,nz",
        ),
        (
            ["0 0 0 200 100 50 0 0 3.5", "1 0 0 0 0 9 0 1 0"],
            "x,y,z,r,g,b,nx,ny,nz",
        ),
        (
            ["0 0 0 0 0 1 1 1 0", "1 0 0 0 1 0 0 0 1"],
            "x,y,z,nx,ny,nz,r,g,b",
        ),
    ] {
        assert_eq!(guessed(&rows.join("\n")).0, expected, "{rows:?}");
    }
    let colors = |text: &str| guessed(text).1.attributes.colors.unwrap();
    assert_eq!(colors("0 0 0 0 0.25 0.5\n"), [[0, 64, 128, 255]]);
    assert_eq!(
        colors("0 0 0 65535 256 300\n1 0 0 1 0 0\n"),
        [[255, 1, 1, 255], [0, 0, 0, 255]]
    );
    assert_eq!(colors("0 0 0 0 0 1 1 1 0\n"), [[1, 1, 0, 255]]);
    assert_eq!(colors("0 0 0 200 nan 50\n"), [[200, 0, 50, 255]]);
    let note = |text: &str| cloud(text).notes.pop().unwrap();
    assert_eq!(
        note("0 0 0 65535 256 300\n"),
        "its colours have 16 bits, of which the upper 8 are kept"
    );
    assert_eq!(
        note("0 0 0 200 nan 50\n"),
        "its colours that are not numbers are black"
    );
    // A first column that counts the rows.
    let (names, mesh) = guessed("0 5 6 7\n1 5 6 8\n2 5 6 9\n");
    assert_eq!(
        (&*names, mesh.points[2]),
        ("id,x,y,z", DVec3::new(5.0, 6.0, 9.0))
    );
    assert_eq!(
        guessed("0 5 6 7\n1 5 6 8\n2 5 6 9\n2 5 6 9\n").0,
        "x,y,z,intensity"
    );
    // An element of chemistry.
    let atoms = cloud("2\nC 0 0.5 1\nO 1 2 3\n");
    assert_eq!(atoms.mesh.points[0], DVec3::new(0.0, 0.5, 1.0));
    assert_eq!(
        atoms.notes,
        ["not read, without a name or numbers: column 1"]
    );
    for (text, expected) in [
        (
            "0 0 0 2 3 0.5\n",
            "f:1: columns without names are neither colours nor normals of length 1",
        ),
        ("0 0 0 1 2\n", "f:1: a point has 5 numbers, but 3 (x y z)"),
        ("0 0\n", "f:1: a point has 2 numbers, but 3 (x y z)"),
        (
            "0 0 0\n0 0 0 1\n",
            "f:2: expected the end of the line, as in the first one, found `1`",
        ),
        (
            "512345,12,5412345,25,301,5\n",
            "f:1: its commas may be decimal marks or separate six whole numbers",
        ),
    ] {
        let error = refusal(text);
        assert!(error.starts_with(expected), "{text}: {error}");
    }
}

#[test]
fn commas_are_decimal_marks_where_something_else_separates() {
    let point = DVec3::new(512345.12, 5412345.25, 301.5);
    for text in [
        "X Y Z\n512345,12 5412345,25 301,5\n",
        "512345,12\t5412345,25\t301,5\n",
        "512345,12;5412345,25;301,5\n",
        "512345,12 ; 5412345,25 ; 301,5\n",
        "1 2 3\n512345,12 5412345,25 301,5\n",
    ] {
        let cloud = cloud(text);
        assert_eq!(cloud.mesh.points.last(), Some(&point), "{text}");
        assert_eq!(
            (cloud.mesh.about.unit, &*cloud.notes),
            (
                Some(unit(0.01)),
                &["its numbers have decimal commas".to_owned()][..]
            )
        );
    }
    for text in [
        "512345.12, 5412345.25, 301.5\n",
        "512345.12 , 5412345.25,301.5",
        "512345.12;5412345.25;301.5;\n",
    ] {
        assert_eq!(cloud(text).mesh.points, [point], "{text}");
    }
    for text in [
        "1.234,5 2 3\n",
        "1,234.5 2 3\n",
        "1,2 3,4, 5,6\n",
        "1,2;3;4,5,6\n",
    ] {
        let error = refusal(text);
        assert!(
            error.starts_with("f:1: expected ") && error.contains(", found `"),
            "{text}: {error}"
        );
    }
    // Empty cells.
    let missing = cloud("x,y,z,t\n,,,\n1,2,3,\n4,5,6,7\n");
    assert!(missing.mesh.points[0].is_nan());
    assert_eq!(
        missing.mesh.points[1..],
        [DVec3::new(1.0, 2.0, 3.0), DVec3::new(4.0, 5.0, 6.0)]
    );
    let Values::F64(t) = field(&missing, "t") else {
        panic!("a missing number is a float")
    };
    assert!(t[1].is_nan() && t[2] == 7.0);
}

#[test]
fn options_name_the_columns() {
    let cloud = named("_,y,x,z,r,g,b,-,heat", "1 2 3 4 255 0 9 x 0.5\n");
    assert_eq!(cloud.mesh.points, [DVec3::new(3.0, 2.0, 4.0)]);
    assert_eq!(cloud.mesh.attributes.colors, Some(vec![[255, 0, 9, 255]]));
    assert_eq!(field(&cloud, "heat"), &Values::from(vec![0.5]));
    assert!(cloud.notes.is_empty());
    // They replace names of the file.
    let cloud = named("z,y,x", "x,y,z\n1,2,3\n");
    assert_eq!(cloud.mesh.points, [DVec3::new(3.0, 2.0, 1.0)]);
    let fault = parse_as(b"1 2 3\n", "x,y,z,t".parse().ok()).unwrap_err();
    assert_eq!(
        fault.reason,
        "the option columns has 4 names, but a point has 3 numbers: name all of them, `_` skips one"
    );
    let columns = |text: &str| text.parse::<Columns>();
    assert_eq!(columns("x,z"), Err("no column is named y".to_owned()));
    assert_eq!(columns("x,y,X"), Err("x is named twice: x, X".to_owned()));
    assert_eq!(columns(" x , y"), columns(" x , y"));
    assert_eq!(
        Vec::from_iter(columns("x, y,_").unwrap().names()),
        ["x", "y", "_"]
    );
}

#[test]
fn numbers_have_the_type_of_their_text() {
    let cloud = cloud(
        "x y z a b c d v_0 v_1\n0 0 0 1 1.0 9007199254740993 5000000000 1 0.5\n0 0 0 -2 2.0 1 3 2 2\n",
    );
    assert_eq!(field(&cloud, "a"), &Values::from(vec![1, -2]));
    assert_eq!(field(&cloud, "b"), &Values::from(vec![1.0, 2.0]));
    assert_eq!(
        field(&cloud, "c"),
        &Values::from(vec![9_007_199_254_740_993_i64, 1])
    );
    assert_eq!(
        field(&cloud, "d"),
        &Values::from(vec![5_000_000_000_i64, 3])
    );
    assert_eq!(field(&cloud, "v"), &Values::from(vec![1.0, 0.5, 2.0, 2.0]));
}

#[test]
fn the_last_digit_of_coordinates_is_their_unit() {
    for (text, expected) in [
        ("500000.123 5400000.456 301.789\n", Some(0.001)),
        ("0.5 1.25 0\n0.125 1 7\n", Some(0.001)),
        ("x,y,z\n0.5,1.25,-0.0625\n", Some(1e-4)),
        // Zeros at the end do not count, and other columns neither.
        ("0.1200 1.5000 0.0000 0.5555\n1.30 1 1.000 1\n", Some(0.01)),
        ("nan nan nan\n0 0 0.1\n", Some(0.1)),
        ("0 0.000 1. 0.5\n", None),
        ("0.5 1e-7 0\n", None),
    ] {
        let found = cloud(text).mesh.about.unit;
        assert_eq!(found, expected.map(unit), "{text}");
    }
}

#[test]
fn packed_colours_are_unpacked() {
    for (text, alpha) in [
        ("x y z rgb\n0 0 0 197121\n", 255),
        // The float of these bits.
        ("x y z rgb\n0 0 0 2.7622537e-40\n", 255),
        ("x y z rgba\n0 0 0 67305985\n", 4),
        ("x y z r g b alpha\n0 0 0 3 2 1 9\n", 9),
        (
            "x y z Rf Gf Bf Af\n0 0 0 0.0117647 0.0078431 0.0039215 1\n",
            255,
        ),
    ] {
        assert_eq!(
            cloud(text).mesh.attributes.colors,
            Some(vec![[3, 2, 1, alpha]]),
            "{text}"
        );
    }
    let white = cloud("x y z r g b\n0 0 0 1.0 1.0 1.0\n")
        .mesh
        .attributes
        .colors;
    assert_eq!(white, Some(vec![[255; 4]]));
}

/// A cloud with everything that the format holds.
fn full() -> Mesh {
    let mut mesh = Mesh {
        points: (0..9)
            .map(|i| DVec3::new(f64::from(i) / 3.0, -0.5, 1e-7))
            .collect(),
        ..Mesh::default()
    };
    mesh.attributes.normals = Some(vec![DVec3::new(0.0, 3.0, 0.5); 9]);
    mesh.attributes.colors = Some(vec![[1, 0, 1, 255]; 9]);
    let points = &mut mesh.fields.points;
    points.push(Field::scalars(
        "intensity",
        Vec::from_iter((0..9).map(f64::from)),
    ));
    points.push(Field::scalars("class", vec![7; 9]));
    points.push(Field::scalars(
        "time",
        vec![1_500_000_000_123_456_789_i64; 9],
    ));
    points.push(Field {
        name: "v".to_owned(),
        components: 2,
        values: Vec::from_iter((0..18).map(|i| f64::from(i) + 0.5)).into(),
    });
    mesh
}

#[test]
fn clouds_with_fields_come_back() {
    let folder = tempfile::tempdir().unwrap();
    for extension in ["xyz", "txt", "CSV", "asc"] {
        let path = folder.path().join("a").with_extension(extension);
        for fields in 0..2 {
            for attributes in 0..4 {
                let mut mesh = full();
                let VertexAttributes {
                    normals, colors, ..
                } = &mut mesh.attributes;
                *normals = normals.take().filter(|_| attributes & 1 != 0);
                *colors = colors.take().filter(|_| attributes & 2 != 0);
                if fields == 0 {
                    mesh.fields = MeshFields::default();
                }
                crate::write(&path, &mesh).unwrap();
                let expected = (mesh, vec![]);
                assert_eq!(
                    read_with_notes(&path).unwrap(),
                    expected,
                    "{extension} {fields} {attributes}"
                );
            }
        }
    }
    let text = |name: &str, mesh: &Mesh| {
        let path = folder.path().join(name);
        crate::write(&path, mesh).unwrap();
        std::fs::read_to_string(path).unwrap()
    };
    let mut mesh = full();
    mesh.points.truncate(1);
    mesh.attributes.normals = None;
    mesh.attributes.colors = Some(vec![[1, 2, 3, 255]]);
    mesh.fields = MeshFields::default();
    assert_eq!(text("a.xyz", &mesh), "0 -0.5 1e-7 1 2 3\n");
    mesh.fields
        .points
        .push(Field::scalars("Red tone", vec![2.0f32]));
    mesh.fields.points.push(Field::scalars("red", vec![3u8]));
    assert_eq!(
        text("a.xyz", &mesh),
        "//X Y Z R G B Red_tone field_red\n0 -0.5 1e-7 1 2 3 2.0 3\n"
    );
    assert_eq!(
        text("a.csv", &mesh),
        "x,y,z,r,g,b,Red_tone,field_red\n0,-0.5,1e-7,1,2,3,2.0,3\n"
    );
    let losses = Format::to_write(Path::new("a.xyz"))
        .unwrap()
        .losses(&mesh, Encoding::default());
    assert_eq!(
        losses,
        [
            "XYZ does not take every name: the output has the fields `Red tone` as `Red_tone`, `red` as `field_red`"
        ]
    );
    assert_eq!(text("none.xyz", &Mesh::default()), "//X Y Z\n0\n");
    assert_eq!(
        read(&folder.path().join("none.xyz")).unwrap(),
        Mesh::default()
    );
}

#[test]
fn empty_files_are_refused() {
    for text in [
        "",
        "\u{feff}",
        " \n\t\n",
        "# nothing\n\n",
        "// a scan\n% of nothing\n",
        "x y z\n",
        "x,y,z,t\n",
        "//X Y Z\n\n",
    ] {
        assert_eq!(
            refusal(text),
            "f:1: the file has no points: it is empty, or has names and comments only",
            "{text:?}"
        );
    }
    // The number of points is declared.
    for text in ["0\n", "//X Y Z\n0\n", "x,y,z\n0\n"] {
        assert_eq!(cloud(text).mesh, Mesh::default(), "{text:?}");
    }
}

/// Files of scanners begin with their number of points.
#[test]
fn pts_files_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.pts");
    std::fs::write(&path, "2\n0.5 1 2 -1200 200 100 50\n3 4 5 300 0 0 9\n").unwrap();
    let mesh = read(&path).unwrap();
    assert_eq!(
        mesh.attributes.colors,
        Some(vec![[200, 100, 50, 255], [0, 0, 9, 255]])
    );
    assert_eq!(
        mesh.fields.points.get("intensity").unwrap().values,
        Values::from(vec![-1200, 300])
    );
    let ptx = folder.path().join("a.ptx");
    let error = read(&ptx).unwrap_err().to_string();
    let expected =
        "a.ptx: PTX files are grids of points with transformations (save them as .pts): ";
    assert!(error.contains(expected), "{error}");
}
