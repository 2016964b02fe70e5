//! Written files read back, to the bit.

use super::*;
use trioxide::{Device, generate};
use trioxide_mesh::mesh::Polygons;

/// Coordinates that show lost bits.
fn mesh_of(faces: Faces, regions: Option<Vec<i32>>) -> Mesh {
    let points = [
        (0.1, 1.0 / 3.0),
        (1e300, -5e-324),
        (-0.0, 2.5),
        (3e-7, 7e22),
        (4.0, -1.0),
    ];
    Mesh {
        points: points.map(|(x, y)| DVec3::new(x, y, 0.0)).to_vec(),
        faces,
        regions,
        ..Mesh::default()
    }
}

pub(super) fn polygon_mesh() -> Mesh {
    let mut polygons = Polygons::default();
    polygons.push(&[0, 1, 2, 3]);
    polygons.push(&[4, 1, 0]);
    polygons.push(&[0, 1, 2, 3, 4]);
    let mut mesh = mesh_of(Faces::Polygons(polygons), Some(vec![-1, 7, i32::MIN]));
    mesh.segments = [
        ([0, 1], 7),
        ([2, 1], 0),
        ([2, 3], -1),
        ([4, 0], i32::MAX),
        ([3, 0], i32::MIN),
    ]
    .map(|(ends, marker)| Segment { ends, marker })
    .to_vec();
    mesh
}

pub(super) fn triangle_mesh() -> Mesh {
    let mut mesh = mesh_of(
        Faces::Triangles(vec![[0, 1, 2], [2, 3, 4]]),
        Some(vec![3, -3]),
    );
    mesh.segments = vec![Segment {
        ends: [4, 0],
        marker: -2,
    }];
    mesh
}

#[test]
fn what_is_written_reads_back() {
    let folder = tempfile::tempdir().unwrap();
    for (k, mesh) in [
        polygon_mesh(),
        triangle_mesh(),
        mesh_of(Faces::Triangles(vec![]), None),
        Mesh {
            regions: None,
            ..triangle_mesh()
        },
    ]
    .into_iter()
    .enumerate()
    {
        // Of the others, soups.rs tells.
        let formats = FORMATS.iter().filter(|f| f.keeps_faces() && f.is_written());
        // Nor hold numbers of 32 bits these coordinates.
        let formats = formats.filter(|f| !matches!(f.name, "STL" | "glTF"));
        for format in formats {
            let path = folder
                .path()
                .join(format!("{k}.{}", format.extensions[0].to_ascii_uppercase()));
            let polygons = matches!(mesh.faces, Faces::Polygons(_));
            let written = write(&path, &mesh);
            if format.most_corners == 3 && polygons {
                let reason = written.unwrap_err().to_string();
                assert!(
                    reason.contains("hold polygons), but face 0 has 4 vertices"),
                    "{reason}"
                );
                continue;
            }
            if format.most_corners == 4 && polygons {
                let reason = written.unwrap_err().to_string();
                assert!(reason.contains("hold polygons), but face 2 has 5 vertices"));
                continue;
            }
            written.unwrap();
            if format.read.is_none() {
                assert!(
                    read(&path)
                        .unwrap_err()
                        .to_string()
                        .contains("are read: .off, .obj")
                );
                continue;
            }
            let mut expected = mesh.clone();
            expected.regions = expected.regions.filter(|_| format.keeps_regions);
            expected.segments.retain(|_| format.keeps_segments);
            let back = read(&path).unwrap();
            assert_eq!(back, expected, "{}", format.name);
            let bits = |mesh: &Mesh| {
                mesh.points
                    .iter()
                    .map(|p| p.to_array().map(f64::to_bits))
                    .collect::<Vec<_>>()
            };
            assert_eq!(bits(&back), bits(&expected), "{}", format.name);
        }
    }
    // No other files remain: three meshes in every format, .node with .ele, two .poly; one in all but .node and .edges.
    assert_eq!(folder.path().read_dir().unwrap().count(), 8 + 16 + 15 + 16);
}

#[test]
fn points_in_space_and_long_polygons_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let mut polygons = Polygons::default();
    polygons.push(&(0..300).collect::<Vec<_>>());
    let mesh = Mesh {
        points: (0..300)
            .map(|i| DVec3::new(f64::from(i), 0.5, -f64::from(i)))
            .collect(),
        faces: Faces::Polygons(polygons),
        ..Mesh::default()
    };
    for extension in ["off", "obj", "ply", "vtu"] {
        let path = folder.path().join("m").with_extension(extension);
        write(&path, &mesh).unwrap();
        let back = read(&path).unwrap();
        // Text gives a unit.
        let about = mesh.about.clone();
        assert_eq!(Mesh { about, ..back }, mesh, "{extension}");
    }
    let reason = write(&folder.path().join("m.ale"), &mesh).unwrap_err();
    assert!(
        reason
            .to_string()
            .contains("planar meshes only, but vertex 1")
    );
    let faces = Faces::Triangles(vec![[0, 1, 2]]);
    let mesh = Mesh { faces, ..mesh };
    let path = folder.path().join("m.node");
    write(&path, &mesh).unwrap();
    assert_eq!(read(&path).unwrap(), mesh);
}

#[test]
fn ale_is_as_the_polylla_authors_write_it() {
    let mesh = read(&fixture("colours.off")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.ale");
    write(&path, &mesh).unwrap();
    let expected = "# domain type\nCustom\n\
        # nodal coordinates: number of nodes followed by the coordinates\n6\n0 0\n2 0\n3 2\n1 3.5\n-1 2\n4 -1\n\
        # element connectivity: number of elements followed by the elements\n2\n5 1 2 3 4 5\n3 2 6 3\n\
        # indices of nodes located on the Dirichlet boundary\n1 2 3 4 5 6\n\
        # indices of nodes located on the Neumann boundary\n0\n\
        # xmin, xmax, ymin, ymax of the bounding box\n-1 4 -1 3.5\n";
    assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
}

#[test]
fn off_files_have_the_same_triangles_in_place_and_in_lists() {
    let mesh = generate::random(&Device::cpu(None).unwrap(), 400, 3).unwrap();
    let mesh = Mesh::from(mesh);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mesh.off");
    write(&path, &mesh).unwrap();
    assert_eq!(read(&path).unwrap(), mesh);
    // A face of four vertices, or a colour, at the end: all faces take the general code.
    let text = std::fs::read_to_string(&path).unwrap();
    let last = text.trim_end().rsplit('\n').next().unwrap();
    let colored = text.replace(&format!("\n{last}\n"), &format!("\n{last} 255 0 0\n"));
    assert_ne!(colored, text);
    std::fs::write(&path, colored).unwrap();
    assert_eq!(read(&path).unwrap().faces, mesh.faces);
    let Faces::Triangles(triangles) = &mesh.faces else {
        panic!("triangles")
    };
    let four = text.replace(&format!("\n{last}\n"), "\n4 0 1 2 3\n");
    std::fs::write(&path, four).unwrap();
    let Faces::Polygons(polygons) = read(&path).unwrap().faces else {
        panic!("polygons")
    };
    let count = triangles.len();
    assert!((0..count - 1).all(|i| polygons.get(i) == triangles[i]));
    assert_eq!(polygons.get(count - 1), [0, 1, 2, 3]);
    // The error names the line of a fault in both cases.
    for (face, reason) in [
        ("3 0 1 400", "vertex 400 does not exist"),
        ("3 0 1 x", "expected a vertex index, found `x`"),
        ("3 0 1", "expected a vertex index, but the line ends"),
    ] {
        std::fs::write(
            &path,
            text.replace(&format!("\n{last}\n"), &format!("\n{face}\n")),
        )
        .unwrap();
        let error = read(&path).unwrap_err().to_string();
        let line = text.lines().count();
        assert!(
            error.contains(reason) && error.contains(&line.to_string()),
            "{error}"
        );
    }
}
