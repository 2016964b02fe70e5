//! Oddities of others' files, faults and damage.

use super::*;
use crate::tests::damage::strike;
use crate::tests::error;
use crate::{read, write_encoded};

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
        assert_eq!(loaded.notes, ["its fields intensity are left out"]);
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
    let left_out = "its fields intensity are left out";
    let behind = "5 bytes behind its last point are left out";
    for (file, end, notes) in [
        (&binary[..], &b"\r\n\0\0\0"[..], vec![left_out]),
        (&binary, b"metre", vec![left_out, behind]),
        (&compressed, b"metre", vec![left_out, behind]),
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
    for scale in [0.5, 1.0 / 3.0] {
        let mesh = Mesh {
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
            assert_eq!(read(&path).unwrap(), mesh);
        }
    }
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
    let text = |width, points| said(&(cloud(width, points, "ascii") + rows).as_bytes());
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
