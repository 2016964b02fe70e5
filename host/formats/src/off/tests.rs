//! Attributes that the keyword does not name, or names in another order.

use glam::{DVec2, DVec3};

use super::parse;
use crate::Loaded;
use trioxide_mesh::fields::Values;
use trioxide_mesh::mesh::VertexAttributes;

/// A triangle whose vertices have these numbers after their positions.
fn loaded(keyword: &str, [a, b, c]: [&str; 3]) -> Loaded {
    let text = format!("{keyword}\n3 1 0\n0 0 0 {a}\n1 0 0 {b}\n0 1 0 {c}\n3 0 1 2\n");
    parse(text.as_bytes()).expect(&text)
}

const ORDER: &str = "its colours stand before its normals, as MeshLab writes them";
const UNCLEAR: &str = "the numbers of its normals and colours fit in either order: the normals are taken as first, by the \
                       format's definition";

/// The note on numbers that the keyword does not name.
fn named(n: usize, what: &str) -> String {
    format!(
        "its keyword does not name the {n} numbers after the first position: they are read as {what}"
    )
}

#[test]
fn the_numbers_show_whether_normals_or_colours_come_first() {
    let color = Some(vec![[255, 127, 63, 255]; 3]);
    for (numbers, z, note) in [
        // MeshLab's order. Its normals have length 1 or any other.
        ("255 127 63 255 0 0 1", 1.0, Some(ORDER)),
        ("255 127 63 255 0 0 0.785", 0.785, Some(ORDER)),
        ("255 127 63 255 0 0 1.57", 1.57, Some(ORDER)),
        ("255 127 63 255 0 0 2", 2.0, Some(ORDER)),
        ("255 127 63 0 0 -2", -2.0, Some(ORDER)),
        // Geomview's.
        ("0 0 1 255 127 63 255", 1.0, None),
        ("0 0 2 255 127 63 255", 2.0, None),
        ("0 0 2 255 127 63", 2.0, None),
        ("0 0 -1 1 0.5 0.25 1", -1.0, None),
    ] {
        for (keyword, uv) in [("NCOFF", ""), ("CNOFF", ""), ("STNCOFF", " 0.5 2")] {
            let row = format!("{numbers}{uv}");
            let Loaded { mesh, notes } = loaded(keyword, [&row; 3]);
            let VertexAttributes {
                normals,
                colors,
                uvs,
            } = mesh.attributes;
            let expected = match numbers.contains("0.25") {
                true => Some(vec![[255, 128, 64, 255]; 3]),
                false => color.clone(),
            };
            assert_eq!(colors, expected, "{keyword} {row}");
            assert_eq!(normals.unwrap(), [DVec3::Z * z; 3], "{keyword} {row}");
            assert_eq!(notes, Vec::from_iter(note), "{keyword} {row}");
            let uv = (!uv.is_empty()).then_some(vec![DVec2::new(0.5, 2.0); 3]);
            assert_eq!((uvs, mesh.points[1]), (uv, DVec3::X));
        }
    }
    // Neither order and range is seen at one vertex alone.
    let rows = ["0 0 1 1 0 0", "255 0 0 0 0.6 0.8", "1 0 0 nan nan nan"];
    let attributes = loaded("NCOFF", rows).mesh.attributes;
    let reds = attributes.colors.unwrap();
    assert_eq!(reds, [[0, 0, 1, 255], [255, 0, 0, 255], [1, 0, 0, 255]]);
    let normals = attributes.normals.unwrap();
    assert_eq!(normals[..2], [DVec3::X, DVec3::new(0.0, 0.6, 0.8)]);
    assert!(normals[2].is_nan());
    let either = loaded("NCOFF", ["0 0 100 0 100 0"; 3]);
    assert_eq!(either.notes, [UNCLEAR]);
    assert_eq!(either.mesh.attributes.normals.unwrap()[0].z, 100.0);
}

#[test]
fn numbers_that_the_keyword_does_not_name_are_colours_or_normals() {
    let red = Some([255, 127, 63, 255]);
    for (keyword, numbers, color, normal, notes) in [
        (
            "OFF",
            "255 127 63 255",
            red,
            None,
            vec![named(4, "colours")],
        ),
        ("OFF", "255 127 63", red, None, vec![named(3, "colours")]),
        (
            "OFF",
            "1 0 0.2 1.0",
            Some([255, 0, 51, 255]),
            None,
            vec![named(4, "colours")],
        ),
        (
            "OFF",
            "0 -0.6 0.8",
            None,
            Some(DVec3::new(0.0, -0.6, 0.8)),
            vec![named(3, "normals")],
        ),
        (
            "OFF",
            "0 0 1 255 127 63 255",
            red,
            Some(DVec3::Z),
            vec![named(7, "normals and colours")],
        ),
        (
            "COFF",
            "255 127 63 255 0 0 1",
            red,
            Some(DVec3::Z),
            vec![named(7, "normals and colours"), ORDER.to_owned()],
        ),
        ("NCOFF", "255 127 63", red, None, vec![named(3, "colours")]),
    ] {
        let loaded = loaded(keyword, [numbers; 3]);
        let attributes = loaded.mesh.attributes;
        let colors = attributes.colors.map(|colors| colors[2]);
        let normals = attributes.normals.map(|normals| normals[2]);
        assert_eq!((colors, normals), (color, normal), "{keyword} {numbers}");
        assert_eq!(loaded.notes, notes, "{keyword} {numbers}");
    }
}

#[test]
fn numbers_without_a_meaning_and_cut_colours_are_named() {
    let left = |n: usize| {
        format!(
            "its keyword does not name the {n} numbers after the first position: numbers of vertices that it does not name \
             are left out"
        )
    };
    for (keyword, rows, n) in [
        ("OFF", ["7", "8", "9"], 1),
        ("OFF", ["1.5 0 0 7"; 3], 4),
        ("OFF", ["1 2 3 4 5"; 3], 5),
        // Not at every vertex.
        ("OFF", ["1 0 0 1", "", ""], 4),
        ("NOFF", ["0 0 1 5"; 3], 4),
    ] {
        let Loaded { mesh, notes } = loaded(keyword, rows);
        assert_eq!(notes, [left(n)], "{keyword} {rows:?}");
        assert_eq!(mesh.attributes.colors, None);
        assert_eq!(mesh.attributes.normals.is_some(), keyword == "NOFF");
        assert_eq!(mesh.points[1], DVec3::X);
    }
    let cut = loaded("COFF", ["300 -1 0", "nan 0 255", "1 1 1"]);
    let colors = cut.mesh.attributes.colors.unwrap();
    assert_eq!(colors, [[255, 0, 0, 255], [0, 0, 255, 255], [1, 1, 1, 255]]);
    let begin = "2 of 3 colours have a channel outside of 0 to 255, which";
    assert!(cut.notes[0].starts_with(begin), "{:?}", cut.notes);
    // Faces have colours too.
    let faces = "OFF\n3 2 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2 0 128 nan\n3 0 2 1 1 0 0\n";
    let loaded = parse(faces.as_bytes()).unwrap();
    let colors = &loaded.mesh.fields.cells.get("color").unwrap().values;
    assert_eq!(*colors, Values::U8(vec![0, 128, 0, 1, 0, 0]));
    assert!(loaded.notes[0].starts_with("1 of 2 colours"));
}
