//! Names of fields in files.

use super::fields::full_mesh;
use super::*;
use trioxide_mesh::fields::Field;
use trioxide_mesh::mesh::VertexAttributes;

/// plyfile refuses a header with other letters, and programs that read into a table refuse equal names.
#[test]
fn names_of_ply_properties_are_ascii_words_that_differ() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.ply");
    let mut mesh = full_mesh();
    mesh.fields = Default::default();
    let vector = |name: &str| Field {
        name: name.to_owned(),
        components: 2,
        values: vec![0.5; 8].into(),
    };
    mesh.fields.points = [
        Field::scalars("temp\u{e9}rature \u{b0}", vec![0.5f32; 4]),
        Field::scalars("a b", vec![1u8; 4]),
        Field::scalars("a_b", vec![2u8; 4]),
        Field::scalars("a#b\\c", vec![3u8; 4]),
        Field::scalars("100%", vec![4u8; 4]),
        vector("\u{6e29}"),
        Field::scalars("v_0", vec![5u8; 4]),
        vector("v"),
    ]
    .into_iter()
    .collect();
    write(&path, &mesh).unwrap();
    let file = std::fs::read(&path).unwrap();
    let end = memchr::memmem::find(&file, b"end_header").unwrap();
    assert!(file[..end].is_ascii());
    let header = std::str::from_utf8(&file[..end]).unwrap();
    let vertex =
        &header[header.find("element vertex").unwrap()..header.find("element face").unwrap()];
    let names = vertex
        .lines()
        .skip(1)
        .filter_map(|line| line.rsplit(' ').next());
    let mut names: Vec<&str> = names.collect();
    assert!(names.contains(&"temp%C3%A9rature_%C2%B0"), "{header}");
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count, "{header}");
    let read = read(&path).unwrap().fields;
    assert_eq!(
        read.names(),
        [
            "temp\u{e9}rature_\u{b0}",
            "a_b",
            "a_b_2",
            "a_b_c",
            "100%",
            "\u{6e29}",
            "v_0",
            "v_2"
        ]
    );
    let losses = Format::to_write(&path)
        .unwrap()
        .losses(&mesh, Encoding::Binary);
    let expected = "PLY does not take every name: the output has the fields `temp\u{e9}rature \u{b0}` as `temp%C3%A9rature_%C2%B0`, \
        `a b` as `a_b`, `a_b` as `a_b_2`, `a#b\\c` as `a_b_c`, `\u{6e29}` as `%E6%B8%A9`, `v` as `v_2`";
    assert_eq!(losses.last().map(String::as_str), Some(expected));
}

/// XML has no control characters, and Gmsh's names are quoted.
#[test]
fn names_that_a_format_cannot_hold_become_others_that_differ() {
    let folder = tempfile::tempdir().unwrap();
    for (extension, names, expected) in [
        ("vtu", ["a\u{1b}", "a ", "\"<&>'"], ["a ", "a _2", "\"<&>'"]),
        ("vtp", ["a\u{1b}", "a ", "\"<&>'"], ["a ", "a _2", "\"<&>'"]),
        ("msh", ["a\"", "a'", "\n$End"], ["a'", "a'_2", "$End"]),
        ("vtk", ["", "a\u{1b}", "a\n"], ["unnamed", "a\u{1b}", "a\n"]),
    ] {
        let path = folder.path().join("a").with_extension(extension);
        let mut mesh = full_mesh();
        mesh.attributes = VertexAttributes::default();
        mesh.faces = Faces::Triangles(vec![[0, 1, 2]]);
        (mesh.regions, mesh.fields) = (None, Default::default());
        let fields = names.map(|name| Field::scalars(name, vec![0.5; 4]));
        mesh.fields.points = fields.into_iter().collect();
        write(&path, &mesh).unwrap();
        let read = read(&path).unwrap().fields;
        assert_eq!(read.names(), expected, "{extension}");
        let losses = Format::to_write(&path)
            .unwrap()
            .losses(&mesh, Encoding::Binary);
        let is_said = losses
            .iter()
            .any(|loss| loss.contains("does not take every name"));
        assert_eq!(is_said, extension != "vtk", "{losses:?}");
    }
}
