//! OBJ files of other programs, and round trips of ours.

use glam::{DVec2, DVec3};

use super::*;
use crate::tests::error;
use crate::{Encoding, Format, read_with_notes};
use trioxide_mesh::fields::{Field, Fields, MeshFields};
use trioxide_mesh::mesh::{Faces, Polygons, Segment, VertexAttributes};

const SQUARE: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\n";

/// A file as it is read, and its notes.
fn loaded(text: &str) -> (Mesh, Vec<String>) {
    let Loaded { mesh, notes } = parse(text.as_bytes()).expect(text);
    (mesh, notes)
}

/// A mesh as text.
fn text_of(mesh: &Mesh) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.obj");
    crate::write(&path, mesh).unwrap();
    let (back, _) = read_with_notes(&path).unwrap();
    assert_eq!(back, *mesh, "what is written reads back");
    std::fs::read_to_string(&path).unwrap()
}

fn uv(u: f64, v: f64) -> DVec2 {
    DVec2::new(u, v)
}

#[test]
fn values_of_corners_are_those_of_vertices_where_they_agree() {
    let read = |rest: &str| {
        let (mesh, notes) = loaded(&format!("{SQUARE}v 9 9 9\n{rest}"));
        (mesh.points.len(), mesh.attributes, notes.join("; "))
    };
    let uvs = "vt 0.5 1\nvt 0.25\nvt 2 3 0\nvt 0.5 1\n";
    let normals = "vn 0 0 1\nvn 0 0.5 -0\nvn 0 0.5 0\n";
    // Different indices of the same value, backwards ones, and a vertex that no face uses.
    let (count, attributes, notes) = read(&format!(
        "{uvs}{normals}f 1/1/1 2/2/1 3/3/1\nf 2/-3/-3 4/1/2 3/3/1\nf 1/4/1 2/2/1 4/4/3"
    ));
    let expected = [(0.5, 1.0), (0.25, 0.0), (2.0, 3.0), (0.5, 1.0), (0.0, 0.0)];
    assert_eq!(attributes.uvs.unwrap(), expected.map(|(u, v)| uv(u, v)));
    let normals_of = attributes.normals.unwrap();
    assert_eq!(normals_of[2..], [DVec3::Z, DVec3::Y * 0.5, DVec3::ZERO]);
    assert_eq!((count, notes.as_str()), (5, ""));
    // Indices of the vertices themselves: also for one without a face.
    let own = "vt 1\nvt 2\nvt 3\nvt 4\nvt 5\nf 1/1 2/2 3/3\n";
    assert_eq!(read(own).1.uvs.unwrap()[4], uv(5.0, 0.0));
    // Values that belong to nothing.
    let (_, attributes, notes) = read(&format!("{normals}f 1 2 3"));
    assert_eq!(attributes, VertexAttributes::default());
    assert_eq!(notes, "left out: normals that no face names (3)");
    let (_, attributes, notes) = read(normals);
    assert_eq!(attributes, VertexAttributes::default());
    assert_eq!(
        notes,
        "normals are left out: there are 3, for 5 vertices without faces"
    );
    let five = format!("{normals}vn 1 0 0\nvn 1 0 0\n");
    assert_eq!(read(&five).1.normals.unwrap()[4], DVec3::X);
}

/// Two squares of a folded strip: each vertex of the fold has two normals, and one of them two texture coordinates.
const FOLD: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 1 0 1\nv 1 1 1\n\
    vt 0 0\nvt 0.5 0\nvt 0.5 1\nvt 0 1\nvt 0.6 0\nvt 1 0\nvt 1 1\nvn 0 0 1\nvn 1 0 0\n\
    f 1/1/1 2/2/1 3/3/1 4/4/1\nf 3/3/2 2/5/2 5/6/2 6/7/2\n";

#[test]
fn corners_of_one_vertex_with_different_values_are_points() {
    let (mesh, notes) = loaded(&format!("{FOLD}# trioxide marker 4\nl 2 3\nl 5 2\n"));
    let note = "corners of one vertex with different texture coordinates or normals are points of their own: 2";
    assert_eq!(notes, [note]);
    // The first corner of a vertex keeps its id; the others follow in the order of the faces.
    let polygons = Polygons {
        offsets: vec![0, 4, 8],
        vertices: vec![0, 1, 2, 3, 6, 7, 4, 5],
    };
    assert_eq!(mesh.faces, Faces::Polygons(polygons));
    assert_eq!(mesh.points[6..], [mesh.points[2], mesh.points[1]]);
    let uvs = [
        (0.0, 0.0),
        (0.5, 0.0),
        (0.5, 1.0),
        (0.0, 1.0),
        (1.0, 0.0),
        (1.0, 1.0),
        (0.5, 1.0),
        (0.6, 0.0),
    ];
    assert_eq!(
        mesh.attributes.uvs.as_deref().unwrap(),
        uvs.map(|(u, v)| uv(u, v))
    );
    let [z, x] = [DVec3::Z, DVec3::X];
    assert_eq!(
        mesh.attributes.normals.as_deref().unwrap(),
        [z, z, z, z, x, x, x, x]
    );
    // A segment is a side of a face, as it was: of the first that has it.
    let ends: Vec<[u32; 2]> = mesh.segments.iter().map(|segment| segment.ends).collect();
    assert_eq!(ends, [[1, 2], [4, 7]]);

    // Both are one vertex again.
    let text = text_of(&mesh);
    assert_eq!(text.matches("\nv ").count() + 1, 6, "{text}");
    assert!(text.contains("\nf 3/7/7 2/8/8 5/5/5 6/6/6\n"), "{text}");
    assert!(text.contains("\nl 2 3\nl 5 2\n"), "{text}");
}

/// The same for any number of threads, and for any order in which they come.
#[test]
fn points_of_seams_are_in_the_order_of_their_corners() {
    let mut text = String::new();
    let count = 300;
    for i in 0..count {
        text += &format!("v {i} 0 0\nv {i} 1 0\nvt {i}\n");
    }
    // Each quad has a texture coordinate of its own at all corners.
    for i in 1..count {
        let [a, b] = [2 * i - 1, 2 * i];
        text += &format!("f {a}/{i} {}/{i} {}/{i} {b}/{i}\n", a + 2, b + 2);
    }
    let (mesh, _) = loaded(&text);
    let n = 2 * count as u32;
    assert_eq!(mesh.points.len() as u32, n + n - 4);
    for i in 0..count as u32 - 1 {
        let face = mesh.faces.get(i as usize);
        // The first quad has the vertices; each other one has two points of its own, but for the last vertices.
        let [a, d] = match i {
            0 => [0, 1],
            _ => [n + 2 * i - 2, n + 2 * i - 1],
        };
        assert_eq!(face, [a, 2 * i + 2, 2 * i + 3, d], "face {i}");
        let uvs = mesh.attributes.uvs.as_ref().unwrap();
        assert!(face.iter().all(|&v| uvs[v as usize].x == f64::from(i)));
    }
    let one = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .unwrap();
    assert_eq!(one.install(|| loaded(&text).0), mesh);
}

#[test]
fn points_in_one_place_with_equal_values_stay_apart() {
    let mut mesh = Mesh {
        points: vec![
            DVec3::ZERO,
            DVec3::X,
            DVec3::Y,
            DVec3::ZERO,
            DVec3::ZERO,
            DVec3::ZERO,
        ],
        faces: Faces::Triangles(vec![[0, 1, 2], [3, 2, 1], [4, 1, 2], [5, 2, 1]]),
        ..Mesh::default()
    };
    let lines = |mesh: &Mesh| text_of(mesh).matches("v ").count();
    assert_eq!(lines(&mesh), 6, "nothing sets them apart");
    // 0 and 5 differ from 3 and 4 in their texture coordinates: two vertices of two points.
    mesh.attributes.uvs = Some([0, 1, 2, 7, 7, 0].map(|u| uv(u.into(), 0.5)).to_vec());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.obj");
    crate::write(&path, &mesh).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text.matches("v ").count(), 4, "{text}");
    let back = read_with_notes(&path).unwrap().0;
    assert_eq!(back.points.len(), 6);
    let places = |mesh: &Mesh| -> Vec<(DVec3, DVec2)> {
        let uvs = mesh.attributes.uvs.clone().unwrap();
        let corners = faces::corners(&mesh.faces).iter();
        corners
            .map(|&v| (mesh.points[v as usize], uvs[v as usize]))
            .collect()
    };
    assert_eq!(places(&back), places(&mesh));
    // A colour belongs to a vertex.
    mesh.attributes.colors = Some((0..6).map(|i| [i, 0, 0, 255]).collect());
    assert_eq!(lines(&mesh), 6);
}

#[test]
fn values_that_are_missing_or_dangle_are_counted() {
    let (mesh, notes) = loaded(&format!("{SQUARE}f 1/1/1 2/2/1 3/-3/0\n"));
    assert_eq!(mesh.attributes, VertexAttributes::default());
    let note = "left out: texture coordinates that corners name and that do not exist (3), normals that corners name and \
                that do not exist (3)";
    assert_eq!((mesh.faces.len(), notes), (1, vec![note.to_owned()]));
    // A corner without a value needs no point of its own.
    let (mesh, notes) = loaded(&format!("{SQUARE}vt 0.5 1 2\nf 1 2 3\nf 2/1 4 3\n"));
    let half = uv(0.5, 1.0);
    let uvs = [DVec2::ZERO, half, DVec2::ZERO, DVec2::ZERO];
    assert_eq!(mesh.attributes.uvs.unwrap(), uvs);
    let missing = "corners without a texture coordinate take the first one of their vertex, or 0 if there is none: 5 of 6";
    assert_eq!(
        notes,
        [
            "left out: third numbers of texture coordinates (1)",
            missing
        ]
    );
    let face = |face: &str| {
        error(
            |file| parse(file).map(|loaded| loaded.mesh),
            format!("{SQUARE}{face}"),
        )
    };
    assert_eq!(
        face("f 1/x 2 3"),
        "f:5: expected a texture coordinate index, found `1/x`"
    );
    assert_eq!(
        face("f 1 2/ 3/1/1/1"),
        "f:5: expected at most 3 indices, found `3/1/1/1`"
    );
    assert_eq!(
        face("l 1 5"),
        "f:5: vertex 5 does not exist: 4 vertices are numbered from 1"
    );
}

#[test]
fn colours_run_to_1_or_to_255_and_may_be_missing() {
    let read = |rows: &str| {
        let (mesh, notes) = loaded(rows);
        (mesh.attributes.colors.unwrap_or_default(), notes)
    };
    let (colors, notes) = read("v 0 0 0 0 0.5 1\nv 1 0 0 1 1 1 0.2\n");
    assert_eq!(
        (colors, notes.len()),
        (vec![[0, 128, 255, 255], [255, 255, 255, 51]], 0)
    );
    let (colors, notes) = read("v 0 0 0 200 100 50\nv 1 0 0 0 128 1\n");
    assert_eq!(colors, [[200, 100, 50, 255], [0, 128, 1, 255]]);
    assert_eq!(notes, ["its colours run from 0 to 255"]);
    let (colors, notes) = read("v 0 0 0\nv 0 0 1 0 0 1\nv 0 1 0\nv 1 0 0 1 0.6 0.2\nv 1 1 1\n");
    let white = [255; 4];
    assert_eq!(
        colors,
        [white, [0, 0, 255, 255], white, [255, 153, 51, 255], white]
    );
    assert_eq!(notes, ["vertices without a colour are white: 3 of 5"]);
    let (colors, notes) = read("v 0 0 0 nan 0 1\n");
    assert_eq!(colors, [[0, 0, 255, 255]]);
    assert!(
        notes[0].starts_with("1 of 1 colours have a channel outside"),
        "{notes:?}"
    );
}

#[test]
fn weights_divide_and_other_numbers_are_counted() {
    let (mesh, notes) = loaded("v 2 4 6 2\nv 3 0 0 1\nv 0 3 0 0\nv 1 2 3 4 5\nv 1 2 3 x\n");
    let points = [
        (1.0, 2.0, 3.0),
        (3.0, 0.0, 0.0),
        (0.0, 3.0, 0.0),
        (1.0, 2.0, 3.0),
        (1.0, 2.0, 3.0),
    ];
    assert_eq!(mesh.points, points.map(|(x, y, z)| DVec3::new(x, y, z)));
    assert_eq!(mesh.attributes.colors, None);
    let left_out = "left out: weights of 0 or infinity (1), numbers after coordinates that are neither a weight nor a \
                    colour (2)";
    assert_eq!(
        notes,
        ["weights divide the coordinates of vertices: 1", left_out]
    );
}

#[test]
fn lines_are_segments_and_short_faces_are_left_out() {
    let (mesh, notes) = loaded(&format!(
        "{SQUARE}l 1 2/1 \\\n4 -4\nl 3\nl 2 2\nf 1 2\ns 1\nf 1/1 2/1 3/1\nf 4\ns off\np 1 2\nvt 0 0\ng x\nusemtl\n#MRGB ff102030\n"
    ));
    let ends: Vec<[u32; 2]> = mesh.segments.iter().map(|segment| segment.ends).collect();
    assert_eq!(ends, [[0, 1], [1, 3], [3, 0]]);
    assert_eq!(mesh.faces, Faces::Triangles(vec![[0, 1, 2]]));
    assert_eq!(mesh.attributes.uvs, Some(vec![DVec2::ZERO; 4]));
    assert!(mesh.fields.is_empty(), "the groups have no elements");
    let left_out = "left out: lines `l` that join fewer than 2 vertices (2), lines `#MRGB` (1), lines `p` (1), lines `s` (1)";
    assert_eq!(
        notes,
        ["left out: faces of fewer than 3 corners (2)", left_out]
    );
    // Every edge of the faces, without markers; then with them.
    let edges = format!("{SQUARE}f 1 2 3\n# trioxide marker 0\nl 1 2 3 1\n");
    assert_eq!(loaded(&edges).0.segments.len(), 3);
    let (mesh, notes) = loaded(&edges.replace("marker", ""));
    assert_eq!((mesh.segments.len(), notes.len()), (0, 1));
}

#[test]
fn markers_of_segments_come_back_in_any_chunk() {
    let mut mesh = Mesh {
        points: (0..200).map(|i| DVec3::new(i.into(), 0.0, 0.0)).collect(),
        ..Mesh::default()
    };
    mesh.segments = (0..199)
        .map(|i| Segment {
            ends: [i, i + 1],
            marker: [3, 3, -7, 0][i as usize / 2 % 4],
        })
        .collect();
    text_of(&mesh);
}

#[test]
fn groups_and_materials_keep_their_names() {
    let file = "mtllib skin.mtl\nmtllib old one.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\ng wall left\nusemtl steel\n\
        f 2 4 3\nusemtl glass\nf 1 2 4\ng roof\nl 1 4\nf 1 4 3\ng\nusemtl steel\nf 3 2 1\n";
    let (mesh, notes) = loaded(file);
    let of = |fields: &Fields, name| fields.get(name).cloned();
    let field = |name: &str, values: &[i32]| Some(Field::scalars(name, values.to_vec()));
    let MeshFields { cells, sides, .. } = &mesh.fields;
    assert_eq!(of(cells, "group"), field("group", &[-1, 0, 0, 1, -1]));
    assert_eq!(of(cells, "material"), field("material", &[-1, 0, 1, 1, 0]));
    assert_eq!(of(cells, "object"), None);
    assert_eq!(of(sides, "group"), field("group", &[1]));
    assert_eq!(of(sides, "material"), field("material", &[1]));
    assert_eq!(mesh.about.names["group"], ["wall left", "roof"]);
    assert_eq!(mesh.about.names["material"], ["steel", "glass"]);
    assert_eq!(mesh.about.material_libraries, ["skin.mtl", "old one.mtl"]);
    assert_eq!(notes.len(), 0);
    let losses = |mesh: &Mesh| {
        let format = Format::with_extension("obj").unwrap();
        format.losses(mesh, Encoding::default())
    };
    assert_eq!(losses(&mesh).len(), 0);
    let of_ply = Format::with_extension("ply").unwrap();
    let expected = [
        "PLY holds no files of materials: those of the input are not in the output",
        "PLY does not hold the fields group, material: not in the output",
        "PLY holds no names of numbers: of group 0 is `wall left`, 1 is `roof`; of material 0 is `steel`, 1 is `glass`",
    ];
    assert_eq!(of_ply.losses(&mesh, Encoding::default()), expected);
    let mut of_faces = mesh.clone();
    of_faces.fields.sides = Fields::default();
    let losses_of_faces = of_ply.losses(&of_faces, Encoding::default());
    assert_eq!(losses_of_faces, [expected[0], expected[2]]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.obj");
    crate::write(&path, &mesh).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(
        text.starts_with("mtllib skin.mtl\nmtllib old one.mtl\nv "),
        "{text}"
    );
    let lines = "\ng roof\nusemtl glass\n# trioxide marker 0\nl 1 4\ng\nusemtl\nf 1 2 3\ng wall left\nusemtl steel\nf 2 4 3\n\
        usemtl glass\nf 1 2 4\ng roof\nf 1 4 3\ng\nusemtl steel\nf 3 2 1\n";
    assert!(text.ends_with(lines), "{text}");
    // The numbers of names change with their order, the names do not.
    let (back, _) = read_with_notes(&path).unwrap();
    assert_eq!(
        of(&back.fields.cells, "group"),
        field("group", &[-1, 1, 1, 0, -1])
    );
    assert_eq!(back.about.names["group"], ["roof", "wall left"]);

    // Numbers without names, and names that would end a line.
    let mut other = mesh.clone();
    other.segments.clear();
    other.fields.sides = Default::default();
    let about = Arc::make_mut(&mut other.about);
    about.names.remove("group");
    about
        .names
        .insert("material".to_owned(), vec!["a#b\n\\c".to_owned()]);
    crate::write(&path, &other).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let lines = "\nf 1 2 3\ng group_0\nusemtl a_b__c\nf 2 4 3\nusemtl material_1\nf 1 2 4\ng group_1\nf 1 4 3\ng\n\
        usemtl a_b__c\nf 3 2 1\n";
    assert!(text.ends_with(lines), "{text}");
}

#[test]
fn coordinates_have_the_unit_of_their_last_digit() {
    let unit = |vertex: &str| {
        let (mesh, _) = loaded(&format!("{vertex}\nv 1 0 0.50\nv 0 1 0\nf 1 2 3\n"));
        mesh.about.unit.map(|unit| unit.scale)
    };
    assert_eq!(unit("v 0.25 0 0"), Some([0.01; 3]));
    // A colour is not a coordinate; a weight divides the coordinates.
    assert_eq!(unit("v 0 0 0 0.125 1 1"), Some([0.1; 3]));
    assert_eq!(unit("v 0.25 0 0 3"), None);
    let ply = "ply\nformat ascii 1.0\nelement vertex 1\nproperty double x\nproperty double y\nproperty double z\n\
        property float heat\nend_header\n0.125 1 2 0.0625\n";
    let ply = crate::ply::parse(ply.as_bytes()).unwrap().mesh;
    assert_eq!(ply.about.unit.map(|unit| unit.scale), Some([0.001; 3]));
}
