//! STL, XYZ, LAS: triangles without shared vertices, and points without triangles.

use super::attributes::decorated;
use super::*;

fn soup() -> Mesh {
    let points = [
        [0.0, 0.0, 0.5],
        [1.0, 0.0, 0.5],
        [0.0, 1.0, 0.5],
        [1.0, 0.0, 0.5],
        [1.5, -2.0, 0.125],
        [0.0, 1.0, 0.25],
    ];
    Mesh {
        points: points.map(DVec3::from_array).to_vec(),
        faces: Faces::Triangles(vec![[0, 1, 2], [3, 4, 5]]),
        ..Mesh::default()
    }
}

#[test]
fn stl_is_a_soup_in_both_encodings() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.stl");
    for encoding in [Encoding::Binary, Encoding::Text] {
        write_encoded(&path, &soup(), Some(encoding)).unwrap();
        assert_eq!(read(&path).unwrap(), soup(), "{encoding:?}");
        // Shared vertices are repeated for each triangle.
        let mut shared = soup();
        shared.faces = Faces::Triangles(vec![[0, 1, 2], [1, 4, 2], [1, 4, 5]]);
        write_encoded(&path, &shared, Some(encoding)).unwrap();
        let back = read(&path).unwrap();
        let corners = |i: usize| soup().points[i];
        assert_eq!(back.points, [0, 1, 2, 1, 4, 2, 1, 4, 5].map(corners));
        assert_eq!(triangles_of(&back), [[0, 1, 2], [3, 4, 5], [6, 7, 8]]);
    }
    write(&path, &soup()).unwrap();
    let file = std::fs::read(&path).unwrap();
    assert_eq!(file.len(), 84 + 2 * 50);
    // Its first facet's normal.
    assert_eq!(
        file[84..96],
        [0f32, 0.0, 1.0].map(f32::to_le_bytes).concat()
    );
    assert!(write_encoded(&path, &soup(), Some(Encoding::BigEndian)).is_err());

    // Text holds all digits. Binary does not, and a note reports it.
    let fine = Mesh {
        points: soup().points.iter().map(|p| p / 3.0).collect(),
        ..soup()
    };
    write_encoded(&path, &fine, Some(Encoding::Text)).unwrap();
    assert_eq!(read(&path).unwrap(), fine);
    let stl = Format::to_write(&path).unwrap();
    assert_eq!(stl.losses(&fine, Encoding::Text), [] as [&str; 0]);
    assert_eq!(stl.losses(&soup(), Encoding::Binary), [] as [&str; 0]);
    assert!(stl.losses(&fine, Encoding::Binary)[0].contains("are rounded"));
    let mut large = soup();
    large.points[4].y = 1e39;
    let message = write(&path, &large).unwrap_err().to_string();
    assert!(
        message.contains("vertex 4 has a coordinate that is too large"),
        "{message}"
    );
}

#[test]
fn stl_oddities_and_faults() {
    let text = "\n SOLID a name # 1\n FACET normal 0 0 1\nouter loop\r\nVertex 0 0 0\nvertex 1e0 0 0\nvertex 0 .1 0\n\
                endloop\nendfacet\nendsolid a name\nsolid another\nendsolid\n";
    let mesh = stl::parse(text.as_bytes()).unwrap();
    assert_eq!(mesh.points[2].y, 0.1);
    assert_eq!(triangles_of(&mesh), [[0, 1, 2]]);
    let many = format!(
        "solid\n{}endsolid",
        "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n".repeat(500)
    );
    assert_eq!(stl::parse(many.as_bytes()).unwrap().points.len(), 1500);
    let with = |from: &str, to: &str| error(stl::parse, text.replacen(from, to, 1));
    assert_eq!(
        with("Vertex 0 0 0\n", ""),
        "f:7: the facet before here has not three vertices"
    );
    assert_eq!(
        with("endloop", "vertex 1 1 1\nendloop"),
        "f:9: the facet before here has not three vertices"
    );
    assert_eq!(
        with("1e0 0 0", "1e0 0"),
        "f:6: expected z, but the line ends"
    );
    assert_eq!(
        with("endfacet", "endface"),
        "f:9: expected facet, outer, vertex, endloop or endfacet, found `endface`"
    );
    assert_eq!(
        error(
            stl::parse,
            many.replacen("vertex 0 1 0\nendloop\nendfacet\nendsolid", "", 1)
        ),
        "f:3499: the last facet has not three vertices"
    );
    // The length of a binary file that begins with `solid` shows that it is binary.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.stl");
    write(&path, &soup()).unwrap();
    let mut file = std::fs::read(&path).unwrap();
    file[..5].copy_from_slice(b"solid");
    assert_eq!(stl::parse(&file).unwrap(), soup());
    file[0] = b'x';
    file.pop();
    assert_eq!(
        error(stl::parse, file),
        "f:1: byte 80: 2 facets of 50 bytes are announced, but 99 bytes follow"
    );
    assert_eq!(
        error(stl::parse, "x"),
        "f:1: expected solid, or a header of 84 bytes"
    );
}

/// Points in whole units, some of them negative.
fn cloud(unit: f64) -> Mesh {
    let point = |i: i32| DVec3::new(unit * f64::from(i), unit * f64::from(-3 * i), unit * 1e6);
    Mesh {
        points: (0..250).map(point).map(|p| p + 0.0).collect(),
        ..Mesh::default()
    }
}

#[test]
fn las_keeps_points_in_units_and_colours() {
    let folder = tempfile::tempdir().unwrap();
    for extension in ["las", "laz", "LAZ"] {
        let path = folder.path().join("m").with_extension(extension);
        for unit in [1.0, 0.01, 0.001, 1e-7] {
            let mut mesh = cloud(unit);
            write(&path, &mesh).unwrap();
            assert_eq!(bare(read(&path).unwrap()), mesh, "{extension} {unit}");
            mesh.attributes.colors = Some((0..250).map(|i| [i, 7, 255 - i, 255]).collect());
            write(&path, &mesh).unwrap();
            assert_eq!(bare(read(&path).unwrap()), mesh, "{extension} {unit}");
            let format = Format::to_write(&path).unwrap();
            assert_eq!(format.losses(&mesh, Encoding::default()), [] as [&str; 0]);
        }
        // Any coordinates, rounded to 32 bits.
        let scale = 12345.678;
        let mesh = Mesh {
            points: (0..99)
                .map(|i| DVec3::splat(f64::from(i).sqrt() * scale))
                .collect(),
            ..Mesh::default()
        };
        write(&path, &mesh).unwrap();
        for (a, b) in read(&path).unwrap().points.iter().zip(&mesh.points) {
            assert!(a.distance(*b) < 1e-4, "{a} {b}");
        }
        let format = Format::to_write(&path).unwrap();
        assert!(format.losses(&mesh, Encoding::default())[0].contains("rounded to 1e-4"));
    }
    let decorated = decorated();
    let message = write(&folder.path().join("m.las"), &decorated);
    assert!(message.is_ok(), "{message:?}");
    let mut bad = cloud(1.0);
    bad.points[17].z = f64::NAN;
    let message = write(&folder.path().join("m.las"), &bad)
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("vertex 17 has a coordinate that is not a finite number, which"),
        "{message}"
    );
    // The same bytes each time: no date.
    let [a, b] = ["a.laz", "b.laz"].map(|name| {
        let path = folder.path().join(name);
        write(&path, &cloud(0.01)).unwrap();
        std::fs::read(path).unwrap()
    });
    assert!(a == b && a.len() < 250 * 12);
}

#[test]
fn las_faults() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.las");
    write(&path, &cloud(0.01)).unwrap();
    let file = std::fs::read(&path).unwrap();
    let error = |file: &[u8]| las::parse(file).unwrap_err();
    let short = error(&file[..file.len() - 1]);
    assert!(
        short.contains("damaged") || short.contains("announced"),
        "{short}"
    );
    assert!(error(b"LASX").contains("no LAS file"));
    let mut many = file.clone();
    many[107..111].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(error(&many).starts_with("4294967295 points of 20 bytes are announced"));

    // The header, and the compression's record after it: its number and size of points are not trusted.
    write(&path.with_extension("laz"), &cloud(0.01)).unwrap();
    let file = std::fs::read(path.with_extension("laz")).unwrap();
    let with = |at: usize, bytes: &[u8]| {
        let mut file = file.clone();
        file[at..at + bytes.len()].copy_from_slice(bytes);
        error(&file)
    };
    assert!(with(107, &1_000_000u32.to_le_bytes()).contains("950000 points are missing"));
    assert!(with(227 + 54 + 12, &100u32.to_le_bytes()).contains("150 points are missing"));
    assert!(with(227 + 2, b"other").contains("how it is compressed"));
    let points = u32::from_le_bytes(file[96..100].try_into().unwrap()) as usize;
    let table = u64::from_le_bytes(file[points..points + 8].try_into().unwrap()) as usize;
    assert!(with(table + 4, &u32::MAX.to_le_bytes()).contains("too short for 4294967295 chunks"));
    assert!(error(&file[..table + 2]).contains("table of chunks"));
}
