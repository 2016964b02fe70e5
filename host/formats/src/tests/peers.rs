//! Files as other programs write them (`fixtures/peers/`), and the files that we write of them.

use super::*;

fn peer(name: &str) -> PathBuf {
    fixture("peers").join(name)
}

/// Counts of vertices and faces, of faces of each region, of segments of each marker, and the area.
fn summary(name: &str) -> (usize, usize, Vec<[usize; 2]>, Vec<[usize; 2]>, f64) {
    let (mesh, _) = read_with_notes(&peer(name)).unwrap();
    let count = |tags: Vec<i32>| {
        let mut counts = std::collections::BTreeMap::new();
        for tag in tags {
            *counts.entry(tag as usize).or_insert(0) += 1;
        }
        counts.into_iter().map(|(tag, n)| [tag, n]).collect()
    };
    let area = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| mesh.points[v as usize]);
        (b - a).cross(c - a).z / 2.0
    };
    let area: f64 = triangles_of(&mesh).iter().map(area).sum();
    let regions = mesh.regions.clone().unwrap_or_default();
    let markers = mesh.segments.iter().map(|s| s.marker).collect();
    let counts = (mesh.points.len(), mesh.faces.len());
    (
        counts.0,
        counts.1,
        count(regions),
        count(markers),
        (area * 1e9).round() / 1e9,
    )
}

/// Two squares side by side that Gmsh 4.15 meshed: surfaces 10 and 20, and the curves of the first as group 5. The
/// counts are meshio's.
#[test]
fn physical_surfaces_of_gmsh_are_regions_and_curves_are_segments() {
    let groups = (21, 28, vec![[10, 14], [20, 14]], vec![[5, 6]], 2.0);
    for name in [
        "gmsh_22.msh",
        "gmsh_40.msh",
        "gmsh_41_binary.msh",
        "gmsh.vtk",
    ] {
        assert!(!is_volume(&peer(name)));
        assert_eq!(summary(name), groups, "{name}");
        let (_, notes) = read_with_notes(&peer(name)).unwrap();
        assert_eq!(notes, Vec::<String>::new());
        let names = read(&peer(name)).unwrap().about.groups.clone();
        let names: Vec<(usize, i32, String)> =
            names.into_iter().map(|((d, n), s)| (d, n, s)).collect();
        match name {
            "gmsh.vtk" => assert_eq!(names, []),
            _ => assert_eq!(
                names,
                [(2, 10, "left".to_owned()), (2, 20, "right".to_owned())]
            ),
        }
    }
    // Gmsh writes the entities, not the groups, as references.
    let entities = (
        21,
        28,
        vec![[1, 14], [2, 14]],
        vec![[1, 2], [2, 2], [3, 2]],
        2.0,
    );
    assert_eq!(summary("gmsh.mesh"), entities);
}

#[test]
fn nodes_on_sides_of_elements_of_second_order_are_dropped_with_a_note() {
    for (name, counts) in [
        ("gmsh_22_order2.msh", [10, 20]),
        ("gmsh_order2.mesh", [1, 2]),
    ] {
        let (vertices, faces, regions, segments, area) = summary(name);
        assert_eq!((vertices, faces, area), (21, 28, 2.0), "{name}");
        assert_eq!(regions, counts.map(|tag| [tag, 14]), "{name}");
        assert_eq!(segments.iter().map(|s| s[1]).sum::<usize>(), 6, "{name}");
        let (_, notes) = read_with_notes(&peer(name)).unwrap();
        assert_eq!(
            notes,
            [
                "34 elements are of higher order: their sides are read as straight, and 48 nodes on them are left out"
            ]
        );
    }
}

/// Vertices, lines, polygons and strips that VTK 9.7 wrote.
#[test]
fn polygonal_data_of_vtk_is_read_in_every_encoding() {
    for name in [
        "poly_lz4.vtp",
        "poly_lzma.vtp",
        "poly_zlib.vtp",
        "poly_42_binary.vtk",
        "poly_51_binary.vtk",
    ] {
        let mesh = read(&peer(name)).unwrap();
        let triangles = [
            [0, 1, 2],
            [0, 2, 3],
            [1, 4, 2],
            [2, 4, 5],
            [4, 6, 5],
            [5, 6, 7],
        ];
        assert_eq!(triangles_of(&mesh), triangles, "{name}");
        assert_eq!(mesh.regions, Some(vec![1, 2, 3, 3, 4, 4]), "{name}");
        let segment = |a, b, marker| Segment {
            ends: [a, b],
            marker,
        };
        let segments = [segment(0, 1, 201), segment(1, 4, 201), segment(3, 2, 202)];
        assert_eq!(mesh.segments, segments, "{name}");
        assert_eq!(mesh.points[7], DVec3::new(3.0, 1.0, 0.5), "{name}");
    }
}

#[test]
fn cells_of_every_kind_of_vtu_are_read_compressed_by_lz4_and_lzma() {
    for name in ["mixed_lz4.vtu", "mixed_lzma.vtu"] {
        let (mesh, notes) = read_with_notes(&peer(name)).unwrap();
        let faces: [&[u32]; 6] = [
            &[1, 4, 2],
            &[2, 4, 5],
            &[4, 6, 7, 5],
            &[0, 1, 2],
            &[0, 2, 3],
            &[0, 1, 2],
        ];
        assert_eq!(faces_of(&mesh), faces, "{name}");
        assert_eq!(mesh.regions, Some(vec![13, 13, 14, 15, 16, 17]));
        let ends: Vec<_> = mesh.segments.iter().map(|s| (s.ends, s.marker)).collect();
        assert_eq!(ends, [([0, 1], 11), ([1, 4], 11), ([3, 2], 12)]);
        // All its nodes on sides are also corners of other cells.
        assert_eq!(mesh.points.len(), 8);
        assert!(notes[0].starts_with("1 elements are of higher order"));
    }
}

#[test]
fn pieces_of_vtu_are_put_one_behind_the_other() {
    let (mesh, notes) = read_with_notes(&peer("pieces.vtu")).unwrap();
    assert_eq!(mesh.points.len(), 16);
    assert_eq!(triangles_of(&mesh)[3..5], [[4, 5, 2], [8, 9, 10]]);
    assert!(notes[0].starts_with("its 2 pieces are put one behind the other"));
}

#[test]
fn pieces_of_pvtu_are_read_without_their_ghost_cells() {
    let folder = tempfile::tempdir().unwrap();
    let piece = |ghosts: &str| {
        format!(
            "<VTKFile type=\"UnstructuredGrid\"><UnstructuredGrid><Piece NumberOfPoints=\"4\" NumberOfCells=\"2\">\n\
             <CellData><DataArray type=\"UInt8\" Name=\"vtkGhostType\" format=\"ascii\">{ghosts}</DataArray></CellData>\n\
             <Points><DataArray type=\"Float64\" NumberOfComponents=\"3\" format=\"ascii\">0 0 0 1 0 0 1 1 0 0 1 0</DataArray></Points>\n\
             <Cells><DataArray type=\"Int64\" Name=\"connectivity\" format=\"ascii\">0 1 2 0 2 3</DataArray>\n\
             <DataArray type=\"Int64\" Name=\"offsets\" format=\"ascii\">3 6</DataArray>\n\
             <DataArray type=\"UInt8\" Name=\"types\" format=\"ascii\">5 5</DataArray></Cells>\n\
             </Piece></UnstructuredGrid></VTKFile>"
        )
    };
    let list = "<VTKFile type=\"PUnstructuredGrid\"><PUnstructuredGrid GhostLevel=\"1\">\n\
        <Piece Source=\"a.vtu\"/><Piece Source=\"b.vtu\"/></PUnstructuredGrid></VTKFile>";
    let path = folder.path().join("all.pvtu");
    std::fs::write(&path, list).unwrap();
    std::fs::write(folder.path().join("a.vtu"), piece("0 1")).unwrap();
    let error = read(&path).unwrap_err().to_string();
    assert!(error.contains("b.vtu"), "{error}");
    std::fs::write(folder.path().join("b.vtu"), piece("1 0")).unwrap();
    assert!(!is_volume(&path));
    let mesh = read(&path).unwrap();
    assert_eq!(triangles_of(&mesh), [[0, 1, 2], [4, 6, 7]]);
    let error = write(&path, &mesh).unwrap_err().to_string();
    assert!(error.ends_with("lists of pieces are read, not written: write .vtu or .vtp"));
}

/// A surface with all that these formats keep.
fn tagged() -> Mesh {
    let segment = |a, b, marker| Segment {
        ends: [a, b],
        marker,
    };
    Mesh {
        points: [(0.0, 0.0), (1.0, 1.0 / 3.0), (1.0, 1e-300), (0.1, 7e22)]
            .iter()
            .map(|&(x, y)| DVec3::new(x, y, 0.0))
            .collect(),
        faces: Faces::Triangles(vec![[0, 1, 2], [0, 2, 3]]),
        regions: Some(vec![7, -3]),
        segments: vec![segment(0, 1, 4), segment(3, 2, i32::MAX)],
        ..Mesh::default()
    }
}

#[test]
fn surfaces_keep_regions_and_segments_in_every_tagged_format() {
    let folder = tempfile::tempdir().unwrap();
    let in_space = Mesh {
        points: (0..5).map(|i| DVec3::splat(f64::from(i) / 3.0)).collect(),
        ..tagged()
    };
    let cloud = Mesh {
        points: in_space.points.clone(),
        ..Mesh::default()
    };
    for name in ["a.vtu", "a.vtp", "a.vtk", "a.msh", "a.mesh", "a.meshb"] {
        let path = folder.path().join(name);
        let format = Format::to_write(&path).unwrap();
        assert!(format.losses(&tagged(), Encoding::Binary).is_empty());
        let encodings = format.encodings.iter().map(|&encoding| Some(encoding));
        for encoding in encodings.chain([None]) {
            for msh_version in [MshVersion::V2, MshVersion::V4] {
                let options = WriteOptions {
                    encoding,
                    msh_version,
                };
                for mesh in [&tagged(), &in_space, &cloud] {
                    write_as(&path, mesh, options).unwrap();
                    assert!(!is_volume(&path));
                    assert_eq!(read(&path).unwrap(), *mesh, "{name} {options:?}");
                }
            }
        }
    }
}

#[test]
fn polygons_are_written_where_the_format_has_them() {
    let folder = tempfile::tempdir().unwrap();
    let mut polygons = trioxide_mesh::mesh::Polygons::default();
    polygons.push(&[0, 1, 2, 3, 4]);
    polygons.push(&[0, 4, 3, 2]);
    let mesh = Mesh {
        points: (0..5).map(|i| DVec3::splat(f64::from(i))).collect(),
        faces: Faces::Polygons(polygons),
        ..Mesh::default()
    };
    for name in ["a.vtu", "a.vtp", "a.vtk"] {
        let path = folder.path().join(name);
        for encoding in [Encoding::Text, Encoding::Binary] {
            write_encoded(&path, &mesh, Some(encoding)).unwrap();
            assert_eq!(read(&path).unwrap(), mesh);
        }
    }
    for name in ["a.msh", "a.mesh", "a.meshb"] {
        let error = write(&folder.path().join(name), &mesh).unwrap_err();
        let expected = "the format holds triangles and quadrilaterals only (.off, .obj, .ply, .vtk, .vtp and .vtu hold \
            polygons), but face 0 has 5 vertices: divide its faces";
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn a_volume_mesh_is_no_surface() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = trioxide::generate::tet_grid(30, 1).unwrap().into();
    for name in ["a.vtu", "a.vtk", "a.msh", "a.mesh", "a.meshb"] {
        for (encoding, msh_version) in [
            (Encoding::Text, MshVersion::V2),
            (Encoding::Binary, MshVersion::V2),
            (Encoding::Text, MshVersion::V4),
            (Encoding::Binary, MshVersion::V4),
        ] {
            let path = folder.path().join(name);
            let options = WriteOptions {
                encoding: Some(encoding),
                msh_version,
            };
            if volume::write_volume_as(&path, &mesh, options).is_err() {
                continue;
            }
            assert!(is_volume(&path), "{name} {options:?}");
            let error = read(&path).unwrap_err().to_string();
            let expected = "cells that fill space, but faces are needed: read it by `formats::read_volume` and take its `boundary()`";
            assert!(error.ends_with(expected), "{error}");
        }
    }
}

/// In order: comments before the format, periodic nodes, post-processing data.
#[test]
fn sections_of_msh_that_no_mesh_holds_are_skipped_with_a_note() {
    let plain = std::fs::read_to_string(peer("gmsh_22.msh")).unwrap();
    let text = format!(
        "$Comments\nby $MeshFormat hand\n$EndComments\n{plain}$Periodic\n0\n$EndPeriodic\n\
         $ElementNodeData\n1\n\"u\"\n0\n0\n$EndElementNodeData\n$ElementNodeData\n0\n0\n0\n$EndElementNodeData\n"
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.msh");
    std::fs::write(&path, text).unwrap();
    let (mesh, notes) = read_with_notes(&path).unwrap();
    assert_eq!(mesh, read(&peer("gmsh_22.msh")).unwrap());
    assert_eq!(
        notes,
        [
            "$Periodic is skipped: pairs of periodic nodes of .msh files are not read",
            "$ElementNodeData is skipped: fields of corners of .msh files are not read",
        ]
    );
    std::fs::write(&path, "$Comments\n").unwrap();
    let error = read(&path).unwrap_err().to_string();
    assert!(error.ends_with("a.msh:1: there is no $EndComments"));
}

#[test]
fn medit_in_two_dimensions_is_planar() {
    let text = "MeshVersionFormatted 1\nDimension 2\nVertices 3\n0 0 1\n1 0 1\n0 1 2\nTriangles 1\n1 2 3 4\nEdges 1\n1 2 9\nEnd\n";
    let mesh = medit::parse(text.as_bytes()).unwrap();
    assert_eq!(mesh.points, [DVec3::ZERO, DVec3::X, DVec3::Y]);
    assert_eq!(mesh.regions, Some(vec![4]));
    let segment = Segment {
        ends: [0, 1],
        marker: 9,
    };
    assert_eq!(mesh.segments, [segment]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mesh");
    write(&path, &mesh).unwrap();
    let written = std::fs::read_to_string(&path).unwrap();
    assert!(written.starts_with("MeshVersionFormatted 2\nDimension 2\n\nVertices\n3\n0 0 1\n"));
}

#[test]
fn files_that_are_not_there_and_unknown_extensions() {
    assert!(matches!(
        read(Path::new("none/none.off")),
        Err(Error::File { .. })
    ));
    assert!(matches!(
        read(Path::new("none/none")),
        Err(Error::Format { .. })
    ));
    let reason = Format::to_read(Path::new("a.blend"))
        .err()
        .unwrap()
        .to_string();
    let expected = "a.blend: the extension is none of those that are read: .off, .obj, .ply, .stl, .node, .ele, .poly, .vtu, .pvtu, ";
    assert!(
        reason.starts_with(expected) && reason.contains(", .edges, .xyz, "),
        "{reason}"
    );
    let reason = Format::to_write(Path::new("a")).err().unwrap().to_string();
    let expected = "a: the name has no extension: add one of those that are written: .off, .obj, .ply, .stl, .node, .ele, .poly, .vtu, .vtp, ";
    assert!(
        reason.starts_with(expected) && reason.ends_with(".ale"),
        "{reason}"
    );
    // Only the .ele file exists: the error names the missing file.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.ele");
    std::fs::write(&path, "0 3\n").unwrap();
    assert!(read(&path).unwrap_err().to_string().contains("m.node: "));
}
