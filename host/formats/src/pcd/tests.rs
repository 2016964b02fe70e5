//! Oddities of others' files, faults and damage.

use super::*;
use crate::tests::damage::strike;
use crate::tests::error;
use crate::{Encoding, read, write_encoded};

fn parse_mesh(file: &[u8]) -> Parsed<Mesh> {
    parse(file).map(|loaded| loaded.mesh)
}

const HEADER: &str = "VERSION 0.7\nFIELDS x y z intensity rgb\nSIZE 4 4 4 4 4\nTYPE F F F F F\nCOUNT 1 1 1 1 1\nWIDTH 2\nHEIGHT 1\n\
    VIEWPOINT 0 0 0 1 0 0 0\nPOINTS 2\nDATA ";

fn packed_points() -> Vec<u8> {
    // Field by field.
    let mut bytes: Vec<u8> = [0.5f32, 1.5, 2.5, 3.5, 4.5, f32::NAN, 7.0, 8.0]
        .iter()
        .flat_map(|x| x.to_le_bytes())
        .collect();
    bytes.extend_from_slice(&[3, 2, 1, 0, 3, 2, 1, 0]);
    bytes
}

fn compressed_pcd() -> Vec<u8> {
    let plain = packed_points();
    let mut packed = Vec::new();
    // All but the last 4 bytes as they are, and these from 4 bytes before.
    for run in plain[..36].chunks(32) {
        packed.push(run.len() as u8 - 1);
        packed.extend_from_slice(run);
    }
    packed.extend_from_slice(&[2 << 5, 3]);
    let mut file = format!("{HEADER}binary_compressed\n").into_bytes();
    file.extend_from_slice(&(packed.len() as u32).to_le_bytes());
    file.extend_from_slice(&(plain.len() as u32).to_le_bytes());
    file.extend(packed);
    file
}

#[test]
fn pcd_is_read_as_text_binary_and_compressed() {
    let text = format!("{HEADER}ascii\n0.5 2.5 4.5 7 9.2198e-41\n1.5 3.5 nan 8 9.2198e-41\n");
    let compressed = compressed_pcd();
    let columns = packed_points();
    let mut binary = format!("{HEADER}binary\n").into_bytes();
    for point in 0..2 {
        for field in 0..5 {
            binary.extend_from_slice(&columns[8 * field + 4 * point..][..4]);
        }
    }
    for file in [text.as_bytes(), &compressed, &binary] {
        let loaded = parse(file).unwrap();
        let mesh = loaded.mesh;
        assert_eq!(mesh.points[0], DVec3::new(0.5, 2.5, 4.5));
        assert!(mesh.points[1].z.is_nan());
        // 9.2198e-41 is the float of these bits.
        let colors = mesh.attributes.colors.unwrap();
        assert_eq!(colors[1][3], 255);
        if file != text.as_bytes() {
            assert_eq!(colors, [[1, 2, 3, 255]; 2]);
        }
        let intensity = mesh.fields.points.get("intensity").unwrap();
        assert_eq!(intensity.values, Values::from(vec![7.0f32, 8.0]));
        assert_eq!(loaded.notes, [] as [&str; 0]);
    }
    let short = &compressed[..compressed.len() - 1];
    assert!(
        error(parse_mesh, short)
            .starts_with("f:11: 40 compressed bytes are announced, but 39 follow")
    );
    let mut broken = compressed.clone();
    *broken.last_mut().unwrap() = 255;
    assert_eq!(
        error(parse_mesh, broken),
        "f:11: the compressed data is broken"
    );
    // Zeros and the end of a line are no news, other bytes are.
    let behind = "5 bytes behind its last point are left out";
    for (file, end, notes) in [
        (&binary[..], &b"\r\n\0\0\0"[..], vec![]),
        (&binary, b"metre", vec![behind]),
        (&compressed, b"metre", vec![behind]),
    ] {
        let loaded = parse(&[file, end].concat()).unwrap();
        assert_eq!(
            (loaded.mesh.points.len(), loaded.notes),
            (2, Vec::from_iter(notes.into_iter().map(str::to_owned)))
        );
    }
    let cut = &binary[..binary.len() - 1];
    assert_eq!(
        error(parse_mesh, cut),
        "f:11: 2 points of 20 bytes are announced, but 39 bytes follow"
    );
    let many = text.replacen("WIDTH 2", "WIDTH 99999999999", 1).replacen(
        "POINTS 2",
        "POINTS 99999999999",
        1,
    );
    assert_eq!(
        error(parse_mesh, many),
        "f:13: expected 99999999999 points, but the file ends after 2"
    );
}

#[test]
fn clouds_with_normals_and_colours_come_back_from_pcd() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.pcd");
    for (scale, decimals) in [(0.5, Some(1)), (1.0 / 3.0, Some(16))] {
        let mut mesh = Mesh {
            points: (0..3).map(|i| DVec3::splat(f64::from(i) * scale)).collect(),
            attributes: VertexAttributes {
                normals: Some(vec![DVec3::X, DVec3::Y, DVec3::Z]),
                colors: Some(vec![[1, 2, 3, 4], [5, 6, 7, 255], [0, 0, 255, 0]]),
                uvs: None,
            },
            ..Mesh::default()
        };
        for encoding in [Encoding::Binary, Encoding::Text] {
            write_encoded(&path, &mesh, Some(encoding)).unwrap();
            // The digits of a text are a unit.
            let about = Arc::make_mut(&mut mesh.about);
            about.unit = decimals::unit(decimals.filter(|_| encoding == Encoding::Text));
            assert_eq!(read(&path).unwrap(), mesh);
        }
    }
}

/// A driver's scalars, of many types; the time is not exact as a double.
#[test]
fn scalars_are_fields_with_their_types_and_counts() {
    let text = "# .PCD v.7 - Point Cloud Data file format\nVERSION .7\nFIELDS x y z intensity ring t label _ fpfh big\n\
        SIZE 4 4 4 4 2 8 4 1 4 8\nTYPE F F F F U F I U F U\nCOUNT 1 1 1 1 1 1 1 2 3 1\nWIDTH 2\nHEIGHT 1\n\
        VIEWPOINT 0 0 0 1 0 0 0\nPOINTS 2\nDATA ascii\n\
        0.1 0 0 0.1 3 1500000000.25 -7 1 1 1 2 3 18446744073709551615\n\
        500000.123 0 0 nan 65535 1500000001 8 1 1 4 5 6 1500000000123456789\n";
    let loaded = parse(text.as_bytes()).unwrap();
    assert_eq!(loaded.notes, [] as [&str; 0]);
    assert_eq!(loaded.mesh.points[1].x, 500000.123);
    let expected: [(&str, usize, Values); 6] = [
        ("intensity", 1, vec![0.1f32, f32::NAN].into()),
        ("ring", 1, vec![3u16, 65535].into()),
        ("t", 1, vec![1500000000.25, 1500000001.0].into()),
        ("label", 1, vec![-7, 8].into()),
        ("fpfh", 3, vec![1f32, 2.0, 3.0, 4.0, 5.0, 6.0].into()),
        ("big", 1, vec![u64::MAX, 1_500_000_000_123_456_789].into()),
    ];
    let is_expected = |mesh: &Mesh, names: [&str; 6]| {
        assert_eq!(mesh.fields.names(), names);
        for (field, (_, components, values)) in mesh.fields.points.iter().zip(&expected) {
            assert_eq!(field.components, *components);
            assert_eq!(format!("{:?}", field.values), format!("{values:?}"));
        }
    };
    let names = expected.each_ref().map(|(name, ..)| *name);
    is_expected(&loaded.mesh, names);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.pcd");
    for encoding in [Encoding::Binary, Encoding::Text] {
        write_encoded(&path, &loaded.mesh, Some(encoding)).unwrap();
        is_expected(&read(&path).unwrap(), names);
    }
    let header = std::fs::read_to_string(&path).unwrap();
    for line in [
        "FIELDS x y z intensity ring t label fpfh big",
        "SIZE 8 8 8 4 2 8 4 4 8",
        "TYPE F F F F U F I F U",
        "COUNT 1 1 1 1 1 1 1 3 1",
    ] {
        assert!(header.contains(&format!("\n{line}\n")), "{header}");
    }
    for (from, to, reason) in [
        (
            "-7 1 1",
            "0.5 1 1",
            "f:12: expected label, a number of type int32, found `0.5`",
        ),
        (
            " 3 1500",
            " 70000 1500",
            "f:12: expected ring, a number of type uint16, found `70000`",
        ),
        (
            "-7 1 1",
            "-7 1 1 9",
            "f:12: expected the end of the line, found `18446744073709551615`",
        ),
    ] {
        assert_eq!(error(parse_mesh, text.replacen(from, to, 1)), reason);
    }
    // Names with a meaning, and two words.
    let mut named = Mesh {
        points: vec![DVec3::ONE],
        ..Mesh::default()
    };
    for name in ["x", "rgb", "two words"] {
        named
            .fields
            .points
            .push(fields::Field::scalars(name, vec![1u8]));
    }
    let losses = crate::Format::to_write(&path)
        .unwrap()
        .losses(&named, Encoding::default());
    assert_eq!(
        losses,
        [
            "PCD does not take every name: the output has the fields `x` as `field_x`, `rgb` as `field_rgb`, `two words` as `two_words`"
        ]
    );
    crate::write(&path, &named).unwrap();
    assert_eq!(
        read(&path).unwrap().fields.names(),
        ["field_x", "field_rgb", "two_words"]
    );
}

#[test]
fn the_grid_and_the_pose_of_a_scanner_are_noted() {
    let text = "FIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nWIDTH 1\nHEIGHT 2\nVIEWPOINT 1 2 3 1 0 0 0\nPOINTS 2\n\
        DATA ascii\n0 0 1\nnan nan nan\n";
    let loaded = parse(text.as_bytes()).unwrap();
    assert_eq!(loaded.mesh.points.len(), 2);
    assert_eq!(
        loaded.notes,
        [
            "its grid of 1 times 2 points is not kept: the points follow each other row by row",
            "its VIEWPOINT 1 2 3 1 0 0 0 is left out"
        ]
    );
}

#[test]
fn points_that_are_declared_are_those_of_the_data() {
    let coordinates: Vec<u8> = [0f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]
        .iter()
        .flat_map(|x| x.to_le_bytes())
        .collect();
    let said = |file: &[u8]| {
        parse_mesh(file).map_err(|fault| fault.in_text(Path::new("f"), file).to_string())
    };
    let cloud = |width: usize, points: usize, data: &str| {
        format!(
            "FIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nWIDTH {width}\nHEIGHT 1\nPOINTS {points}\nDATA {data}\n"
        )
    };
    let rows = "0 0 0\n1 0 0\n0 1 0\n";
    let text = |width, points| said((cloud(width, points, "ascii") + rows).as_bytes());
    assert_eq!(text(3, 3).unwrap().points.len(), 3);
    let error = text(2, 3).unwrap_err();
    assert!(
        error.ends_with(":7: POINTS declares 3 points, but WIDTH times HEIGHT are 2"),
        "{error}"
    );
    let error = text(2, 2).unwrap_err();
    assert!(
        error.ends_with(":10: expected the end of the file after 2 points"),
        "{error}"
    );
    let binary = |points, more: &[u8]| {
        said(
            &[
                cloud(points, points, "binary").as_bytes(),
                &coordinates,
                more,
            ]
            .concat(),
        )
    };
    assert_eq!(binary(3, b"\n").unwrap().points.len(), 3);
    let error = binary(2, b"").unwrap_err();
    assert!(
        error.contains("2 points of 12 bytes are announced, but 36 bytes follow"),
        "{error}"
    );
}

#[test]
fn damaged_files_do_no_harm() {
    strike(parse_mesh, &compressed_pcd());
}
