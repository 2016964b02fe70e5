//! Files of other programs.

use super::*;
use trioxide_mesh::fields::Values;

/// A binary file of facets with these last two bytes, each followed by `data(i)`.
fn binary(count: u32, attributes: &[u16], data: impl Fn(usize) -> Vec<u8>) -> Vec<u8> {
    let mut file = vec![b' '; 80];
    file.extend(count.to_le_bytes());
    for (i, attribute) in attributes.iter().enumerate() {
        let corners = [
            [0.0; 3],
            [i as f32, 0.0, 0.0],
            [1.0, 0.0, 0.0],
            [0.0, 1.0, 2.0],
        ];
        file.extend(corners.iter().flatten().flat_map(|x| x.to_le_bytes()));
        file.extend(attribute.to_le_bytes());
        file.extend(data(i));
    }
    file
}

fn starts(mesh: &Mesh) -> Vec<f64> {
    mesh.points.chunks(3).map(|corners| corners[0].x).collect()
}

/// The number of facets times 50 was taken for the facets: garbage from the second one on.
#[test]
fn data_between_the_facets_are_left_out_with_a_note() {
    let lengths = [4, 0, 300, 7];
    let file = binary(4, &lengths, |i| vec![7; usize::from(lengths[i])]);
    let Loaded { mesh, notes } = parse(&file).unwrap();
    assert_eq!(starts(&mesh), [0.0, 1.0, 2.0, 3.0]);
    assert_eq!(mesh.points[11], DVec3::new(0.0, 1.0, 2.0));
    assert_eq!(
        notes,
        [
            "311 bytes of attributes after its facets, which the facets' last two bytes announce, are left out"
        ]
    );
    // If the lengths do not lead to the file's end, they are none.
    let longer = [&file[..], b"!"].concat();
    let notes = parse(&longer).unwrap().notes;
    assert_eq!(notes[0], "312 bytes behind its last facet are left out");
}

#[test]
fn the_length_of_the_file_gives_a_number_that_was_never_filled_in() {
    for count in [0, u32::MAX] {
        let file = binary(count, &[0; 4], |_| Vec::new());
        let Loaded { mesh, notes } = parse(&file).unwrap();
        assert_eq!(starts(&mesh), [0.0, 1.0, 2.0, 3.0]);
        let note =
            format!("it announces {count} facets, but its length is that of 4, which are read");
        assert_eq!(notes, [note]);
        assert!(parse(&file[..file.len() - 1]).is_err());
    }
    // A file that is cut off is another case.
    assert!(parse(&binary(5, &[0; 4], |_| Vec::new())).is_err());
    let none = parse(&binary(0, &[], |_| Vec::new())).unwrap();
    assert_eq!((none.mesh, none.notes.len()), (Mesh::default(), 0));
}

#[test]
fn the_last_two_bytes_of_facets_are_colours() {
    let of = |header: &[u8], attributes: &[u16]| {
        let mut file = binary(attributes.len() as u32, attributes, |_| Vec::new());
        file[..header.len()].copy_from_slice(header);
        let Loaded { mut mesh, notes } = parse(&file).unwrap();
        let color = mesh.fields.cells.take("color");
        (color.map(|field| (field.components, field.values)), notes)
    };
    let [red, blue] = [31 << 10, 31_u16];
    let bytes = |components: usize, list: &[u8]| Some((components, Values::U8(list.to_vec())));
    // VisCAM: red in the high bits. Facets without the highest bit have no colour.
    let viscam = of(b"", &[1 << 15 | red, 1 << 15 | blue | 16 << 5, red]);
    assert_eq!(
        viscam,
        (bytes(3, &[255, 0, 0, 0, 132, 255, 255, 255, 255]), vec![])
    );
    // Magics: red in the low bits, and the object's colour where the highest bit is set.
    let magics = of(b"COLOR=\x0a\x14\x1e\xff", &[red, blue, 1 << 15]);
    assert_eq!(
        magics,
        (bytes(3, &[0, 0, 255, 255, 0, 0, 10, 20, 30]), vec![])
    );
    let glass = of(b"x COLOR=\x0a\x14\x1e\x80", &[blue, 1 << 15]);
    assert_eq!(
        glass,
        (bytes(4, &[255, 0, 0, 255, 10, 20, 30, 128]), vec![])
    );
    for (header, attributes, note) in [
        (
            &b""[..],
            [1, 2],
            Some("the last two bytes of its facets are left out"),
        ),
        (
            b"COLOR=\x0a\x14\x1e\xff",
            [0, 0],
            Some("the colour in its header is left out"),
        ),
        (b"", [0, 0], None),
    ] {
        let notes = note.into_iter().map(str::to_owned).collect();
        assert_eq!(of(header, &attributes), (None, notes));
    }
}

/// A facet at z, on one line or several.
fn facet(z: usize, separator: &str) -> String {
    let words = [
        "facet normal 0 0 1",
        "outer loop",
        &format!("vertex 0 0 {z}"),
        "vertex 1 0 0",
        "vertex 0 1 0",
        "endloop",
        "endfacet\n",
    ];
    words.join(separator)
}

#[test]
fn solids_of_a_text_are_numbered_and_named() {
    let [a, b, c] = [0, 1, 2].map(|z| facet(z, "\n"));
    let text = format!(
        "solid left part\n{a}{b}endsolid left part\nsolid empty\nendsolid empty\nsolid\n{c}endsolid\n"
    );
    // Blanks in words, another case, other line ends.
    let blanks = text
        .replace("endsolid", "end solid")
        .replace("endloop", "end loop");
    let blanks = blanks
        .replace("endfacet", "END FACET")
        .replace("solid", "Solid");
    for text in [
        &text,
        &blanks,
        &text.replace('\n', "\r\n"),
        &text.replace('\n', "\r"),
    ] {
        let Loaded { mesh, notes } = parse(text.as_bytes()).expect(text);
        let z: Vec<f64> = mesh.points.chunks(3).map(|corners| corners[0].z).collect();
        assert_eq!(z, [0.0, 1.0, 2.0]);
        let solid = mesh.fields.cells.get("solid").unwrap();
        assert_eq!(solid.values, Values::I32(vec![0, 0, 1]));
        assert_eq!(mesh.about.names["solid"], ["left part", ""]);
        let note = "its 2 solids are numbered in the face field solid, from 0: `left part`, ``";
        assert_eq!(notes, [note]);
    }
    // Without a solid.
    let bare = parse(format!("{a}{b}").as_bytes()).unwrap();
    assert_eq!((bare.mesh.faces.len(), bare.notes.len()), (2, 0));
    let one = parse(format!("SOLID x\n{a}ENDSOLID x\nsolid y\nendsolid").as_bytes()).unwrap();
    assert!(one.mesh.fields.is_empty() && one.notes.is_empty());
}

/// Only the first word of a line was read: a file of one line was an empty mesh.
#[test]
fn all_words_of_a_line_are_read() {
    let [a, b] = [3, 5].map(|z| facet(z, " "));
    let lines = format!("solid a facet\n{a}{b}endsolid");
    let line = format!("solid a {a} endsolid a solid solid {b} end solid").replace('\n', " ");
    for (text, solids) in [(&lines, 1), (&line, 2)] {
        let mesh = parse(text.as_bytes()).unwrap().mesh;
        let z: Vec<f64> = mesh.points.chunks(3).map(|corners| corners[0].z).collect();
        assert_eq!(z, [3.0, 5.0], "{text}");
        let names = mesh.about.names.get("solid").map_or(1, Vec::len);
        assert_eq!(names, solids, "{text}");
    }
    for (from, to) in [
        ("vertex 1 0 0 ", ""),
        ("endloop", "end lop"),
        ("outer", "vertex 1 1 1 outer"),
    ] {
        let text = lines.replacen(from, to, 1);
        assert!(parse(text.as_bytes()).is_err(), "{text}");
    }
}

#[test]
fn text_keeps_solids_and_binary_names_them_in_a_note() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.stl");
    let text = format!(
        "solid a b\n{}endsolid\nsolid\n{}endsolid",
        facet(1, "\n"),
        facet(2, "\n")
    );
    let mesh = parse(text.as_bytes()).unwrap().mesh;
    write(&path, &mesh, Encoding::Text).unwrap();
    assert_eq!(read(&path).unwrap().mesh, mesh);
    assert_eq!(lost_fields(&mesh), [] as [&str; 0]);
    assert_eq!(rounding(&mesh, Encoding::Text), None);
    let note = rounding(&mesh, Encoding::Binary).unwrap();
    assert!(
        note.starts_with("binary STL holds one solid: the field solid is not"),
        "{note}"
    );
    // Numbers without names.
    let mut mesh = mesh;
    mesh.about = Default::default();
    write(&path, &mesh, Encoding::Text).unwrap();
    let names = read(&path).unwrap().mesh.about.names["solid"].clone();
    assert_eq!(names, ["solid_0", "solid_1"]);
}
