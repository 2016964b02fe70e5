//! Files that do not follow their format, or were made to consume time or memory.

use std::time::{Duration, Instant};

use super::*;

/// Such files take milliseconds; a parser that is quadratic in them takes minutes.
fn assert_quick<T>(work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    assert!(start.elapsed() < Duration::from_secs(10));
    result
}

#[test]
fn garbage_named_obj_is_refused() {
    for garbage in [
        "<!DOCTYPE html>\n<html><body>404</body></html>\n",
        "{\"error\": \"not found\"}",
        "\u{1}\u{2}\u{3}",
        "hello world\n",
    ] {
        let error = error(obj::parse, garbage);
        assert!(error.starts_with("f:1: expected a keyword of OBJ such as v or f, found `"));
    }
    for empty in [
        "",
        "\u{feff}",
        "# made by hand\n\n",
        "usemtl a\no nothing\ng a b\ns off\n",
        "vt 0 0\nvn 0 0 1\nf 1 2 3\n",
    ] {
        let expected = ": the file has no points: it is empty, or has no line `v x y z`";
        assert!(error(obj::parse, empty).ends_with(expected), "{empty:?}");
    }
    // Unknown keywords are skipped if there are vertices.
    assert_eq!(obj::parse(b"zmodel 1\nv 0 0 0\n").unwrap().points.len(), 1);
}

#[test]
fn garbage_named_xyz_is_refused() {
    for (garbage, found) in [
        (
            "<html><body>404</body></html>",
            "`<html><body>404</body></html>`",
        ),
        ("[]\n", "`[]`"),
        ("5\n", "`5`"),
    ] {
        assert_eq!(
            error(xyz::parse, garbage),
            format!(
                "f:1: expected three numbers between blanks (no point follows this line), found {found}"
            )
        );
    }
    assert_eq!(xyz::parse(b"x y z\n1 2 3\n").unwrap().points.len(), 1);
}

#[test]
fn lines_may_end_in_carriage_returns_alone() {
    let obj_file = "# old\rv 0 0 0\rv 1 0 0\rv 0 1 0\rf 1 2 3\r";
    let mesh = obj::parse(obj_file.as_bytes()).unwrap();
    assert_eq!((mesh.points.len(), mesh.faces.len()), (3, 1));
    let bad = obj_file.replace("f 1 2 3", "f 1 2 4");
    assert_eq!(
        error(obj::parse, bad),
        "f:5: vertex 4 does not exist: 3 vertices are numbered from 1"
    );
    assert_eq!(xyz::parse(b"0 0 0\r1 0 0\r").unwrap().points.len(), 2);
    let off_file = "OFF\r3 1 0\r0 0 0\r1 0 0\r0 1 0\r3 0 1 2\r";
    assert_eq!(off::parse(off_file.as_bytes()).unwrap().faces.len(), 1);
}

/// Files with line feeds were read; the same files with carriage returns were refused or empty.
#[test]
fn carriage_returns_alone_end_lines_of_every_text_format() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = Mesh {
        points: vec![DVec3::ZERO, DVec3::X, DVec3::Y],
        faces: Faces::Triangles(vec![[0, 1, 2]]),
        segments: vec![Segment {
            ends: [0, 1],
            marker: 3,
        }],
        ..Mesh::default()
    };
    for name in ["a.node", "a.stl", "a.ply", "a.msh", "a.vtk", "a.mesh"] {
        let path = folder.path().join(name);
        let format = Format::to_write(&path).unwrap();
        let text = Some(Encoding::Text).filter(|text| format.encodings.contains(text));
        write_encoded(&path, &mesh, text).unwrap();
        let expected = read(&path).unwrap();
        assert_eq!(expected.faces.len(), 1);
        for extension in ["node", "ele", "poly"]
            .into_iter()
            .chain(name.split_once('.').map(|(_, extension)| extension))
        {
            let path = path.with_extension(extension);
            if let Ok(text) = std::fs::read_to_string(&path) {
                std::fs::write(&path, text.replace('\n', "\r")).unwrap();
            }
        }
        assert_eq!(read(&path).unwrap(), expected, "{name}");
    }
    let binary = "ply\rformat binary_little_endian 1.0\relement vertex 0\rproperty float x\rproperty float y\rend_header\r";
    let expected = "f:1: the lines of the header end in carriage returns alone: only text files are read with these, so write \
        line feeds";
    assert_eq!(error(ply::parse, binary), expected);
}

/// 400,000 continued lines took 9.6 s: each line searched all text before it.
#[test]
fn many_continued_lines_of_obj_take_linear_time() {
    let mut file = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf".to_owned();
    for _ in 0..400_000 {
        file += " 1 2 3 \\\n";
    }
    file += "1 2\n";
    let mesh = assert_quick(|| obj::parse(file.as_bytes()).unwrap());
    assert_eq!(mesh.faces.get(0).len(), 1_200_002);
}

/// A grid of `points` points without cells, with a compressed array of points.
fn compressed_points(points: usize, array: &[u8]) -> Vec<u8> {
    let mut file = format!(
        "<VTKFile type=\"UnstructuredGrid\" byte_order=\"LittleEndian\" header_type=\"UInt64\" compressor=\"vtkZLibDataCompressor\">\n\
         <UnstructuredGrid><Piece NumberOfPoints=\"{points}\" NumberOfCells=\"0\">\n\
         <Points><DataArray type=\"Float64\" NumberOfComponents=\"3\" format=\"appended\" offset=\"0\"/></Points>\n\
         <Cells><DataArray type=\"Int64\" Name=\"connectivity\" format=\"ascii\"></DataArray>\n\
         <DataArray type=\"Int64\" Name=\"offsets\" format=\"ascii\"></DataArray>\n\
         <DataArray type=\"UInt8\" Name=\"types\" format=\"ascii\"></DataArray></Cells>\n\
         </Piece></UnstructuredGrid><AppendedData encoding=\"raw\">_"
    )
    .into_bytes();
    file.extend_from_slice(array);
    file.extend_from_slice(b"</AppendedData></VTKFile>");
    file
}

/// 1 MB of compressed zeros asked for 8 GiB although three numbers were declared.
#[test]
fn a_compressed_array_of_vtu_is_not_longer_than_declared() {
    // Blocks whose headers announce 2^40 bytes: no memory is allocated for them.
    let array: Vec<u8> = [1u64, 1 << 40, 0, 1 << 31]
        .iter()
        .flat_map(|x| x.to_le_bytes())
        .collect();
    let expected = format!("f:3: expected 3 numbers, found {}", (1u64 << 40) / 8);
    assert_eq!(error(vtu::parse, compressed_points(1, &array)), expected);
}

/// 100,000 attributes took 137 s.
#[test]
fn many_attributes_of_vtu_are_refused_at_once() {
    let many = |name: &str| -> String { (0..100_000).map(|i| format!(" {name}{i}='>'")).collect() };
    for (name, reason) in [
        ("a", "there are more than 1000 attributes of this element"),
        (
            "xmlns:a",
            "there are more than 1000 namespaces in this file",
        ),
    ] {
        let file = format!(
            "<!-- <a b='c'> -->\n<VTKFile type=\"UnstructuredGrid\"{}></VTKFile>",
            many(name)
        );
        let error = assert_quick(|| error(vtu::parse, file));
        assert_eq!(error, format!("f:2: {reason}"));
    }
}

#[test]
fn a_cloud_is_no_stl() {
    let cloud = Mesh {
        points: vec![DVec3::ZERO, DVec3::X],
        ..Mesh::default()
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.stl");
    for encoding in [Encoding::Binary, Encoding::Text] {
        let error = write_encoded(&path, &cloud, Some(encoding)).unwrap_err();
        let expected = "the format holds triangles only, and the mesh has 2 points without faces: write .ply, .xyz or .las";
        assert!(error.to_string().ends_with(expected), "{error}");
        assert!(!path.exists());
    }
}

/// The crate's writer panics when it is dropped and cannot write.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_of_las() {
    let cloud = Mesh {
        points: (0..1000).map(|i| DVec3::splat(f64::from(i))).collect(),
        ..Mesh::default()
    };
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.las", "a.laz"] {
        let path = folder.path().join(name);
        std::os::unix::fs::symlink("/dev/full", &path).unwrap();
        let error = write(&path, &cloud).unwrap_err().to_string();
        assert!(error.contains("No space left on device"), "{error}");
    }
}

/// 0.29 / 0.01 is less than 29: the header said 0.28.
#[test]
fn the_bounds_of_las_are_those_of_its_points() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.las", "a.laz"] {
        let path = folder.path().join(name);
        for shift in [0.0, 1.0 / 3.0] {
            let x: Vec<f64> = [0.29, 0.57, 1.13, -0.58].map(|x| x + shift).to_vec();
            let cloud = Mesh {
                points: x.iter().map(|&x| DVec3::new(x, 2.0 * x, 0.07)).collect(),
                ..Mesh::default()
            };
            write(&path, &cloud).unwrap();
            let points = read(&path).unwrap().points;
            let low = points.iter().copied().reduce(DVec3::min).unwrap();
            let high = points.iter().copied().reduce(DVec3::max).unwrap();
            let file = std::fs::read(&path).unwrap();
            let bounds = file[179..227]
                .as_chunks()
                .0
                .iter()
                .map(|x| f64::from_le_bytes(*x));
            let expected = [high.x, low.x, high.y, low.y, high.z, low.z];
            assert_eq!(bounds.collect::<Vec<_>>(), expected);
        }
    }
}

/// Vertices of four numbers gave a third more corners than vertices (found by fuzzing).
#[test]
fn vertices_of_gltf_have_three_numbers_each() {
    let data =
        |bytes: &[u8]| base64::Engine::encode(&base64::engine::general_purpose::STANDARD, bytes);
    let text = |position: &str, length: usize| {
        format!(
            "{{\"asset\":{{\"version\":\"2.0\"}},\"nodes\":[{{\"mesh\":0}}],\"meshes\":[{{\"primitives\":[{{\
            \"attributes\":{{\"POSITION\":0}}}}]}}],\"accessors\":[{{\"bufferView\":0,\"componentType\":5126,\
            \"count\":3,\"type\":\"{position}\"}}],\"bufferViews\":[{{\"buffer\":0,\"byteLength\":{length}}}],\
            \"buffers\":[{{\"byteLength\":{length},\"uri\":\"data:application/octet-stream;base64,{}\"}}]}}",
            data(&vec![0; length])
        )
    };
    let mesh = gltf::parse(text("VEC3", 36).as_bytes()).unwrap();
    assert_eq!((mesh.points.len(), mesh.faces.len()), (3, 1));
    for (position, width) in [("VEC4", 4), ("VEC2", 2), ("SCALAR", 1)] {
        assert_eq!(
            error(gltf::parse, text(position, 48)),
            format!("f:1: accessor 0: its elements have {width} numbers, not 3")
        );
    }
}
