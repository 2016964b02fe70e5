//! Files named by a file, and data that it names many times.

use std::fs;

use super::*;

const DATA: &str = "0 0 0 1 0 0 0 1 0";

/// One triangle as `.vtu`.
fn piece() -> String {
    format!(
        "<VTKFile type=\"UnstructuredGrid\"><UnstructuredGrid><Piece NumberOfPoints=\"3\" NumberOfCells=\"1\">\
         <Points><DataArray type=\"Float64\" NumberOfComponents=\"3\" format=\"ascii\">{DATA}</DataArray></Points>\
         <Cells><DataArray type=\"Int64\" Name=\"connectivity\" format=\"ascii\">0 1 2</DataArray>\
         <DataArray type=\"Int64\" Name=\"offsets\" format=\"ascii\">3</DataArray>\
         <DataArray type=\"UInt8\" Name=\"types\" format=\"ascii\">5</DataArray></Cells>\
         </Piece></UnstructuredGrid></VTKFile>"
    )
}

/// Coordinates of one triangle.
fn coordinates() -> Vec<u8> {
    let numbers = DATA.split(' ').map(|number| number.parse::<f32>().unwrap());
    numbers.flat_map(f32::to_le_bytes).collect()
}

fn pvtu(names: &[&str]) -> String {
    let pieces: String = names
        .iter()
        .map(|name| format!("<Piece Source=\"{name}\"/>"))
        .collect();
    format!(
        "<VTKFile type=\"PUnstructuredGrid\"><PUnstructuredGrid>{pieces}</PUnstructuredGrid></VTKFile>"
    )
}

/// A grid of XDMF for each name.
fn xdmf(names: &[&str]) -> String {
    let grid = |name: &&str| {
        format!(
            "<Grid><Topology TopologyType=\"Triangle\" NumberOfElements=\"1\">\
             <DataItem Dimensions=\"1 3\" DataType=\"Int\">0 1 2</DataItem></Topology>\
             <Geometry><DataItem Dimensions=\"3 3\" Precision=\"4\" Format=\"Binary\">{name}</DataItem></Geometry></Grid>"
        )
    };
    let grids: String = names.iter().map(grid).collect();
    format!("<Xdmf><Domain><Grid CollectionType=\"Spatial\">{grids}</Grid></Domain></Xdmf>")
}

fn gltf_of(name: &str, primitives: usize) -> String {
    let primitives = vec!["{\"attributes\":{\"POSITION\":0}}"; primitives].join(",");
    format!(
        "{{\"asset\":{{\"version\":\"2.0\"}},\"buffers\":[{{\"uri\":\"{name}\",\"byteLength\":36}}],\
         \"bufferViews\":[{{\"buffer\":0,\"byteLength\":36}}],\
         \"accessors\":[{{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"}}],\
         \"meshes\":[{{\"primitives\":[{primitives}]}}],\"nodes\":[{{\"mesh\":0}}]}}"
    )
}

fn inp(name: &str) -> String {
    format!("*NODE\n1, 0, 0, 0\n2, 1, 0, 0\n3, 0, 1, 0\n*ELEMENT, TYPE=S3, INPUT={name}\n")
}

/// Extension, text that names a file, and that file.
type Case = (&'static str, fn(&str) -> String, Vec<u8>);

fn cases() -> [Case; 5] {
    [
        ("pvtu", |name| pvtu(&[name]), piece().into()),
        ("xdmf", |name| xdmf(&[name]), coordinates()),
        ("gltf", |name| gltf_of(name, 1), coordinates()),
        ("inp", inp, b"1, 1, 2, 3\n".to_vec()),
        (
            "inp",
            |name| inp("").replace(", INPUT=", "") + &format!("*Include, Input=\"{name}\"\n"),
            b"1, 1, 2, 3\n".to_vec(),
        ),
    ]
}

#[test]
fn files_that_a_file_names_lie_below_its_folder_unless_the_user_says_otherwise() {
    let anywhere = ReadOptions {
        follow_references: FollowReferences::Anywhere,
        ..ReadOptions::default()
    };
    for (extension, text, data) in cases() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("in");
        fs::create_dir_all(inner.join("parts")).unwrap();
        for at in ["out", "in/beside", "in/parts/a b"] {
            fs::write(folder.path().join(at), &data).unwrap();
        }
        let path = inner.join("a").with_extension(extension);
        let read_by = |name: &str, options| {
            fs::write(&path, text(name)).unwrap();
            let _ = is_volume_as(&path, options);
            let mesh = read_as(&path, options).map(|(mesh, _)| mesh.faces.len());
            mesh.map_err(|error| error.to_string())
        };
        for name in ["beside", "./parts/a b"] {
            assert_eq!(read_by(name, ReadOptions::default()), Ok(1), "{extension}");
        }
        let absolute = folder.path().join("out");
        let mut outside = vec!["../out", "parts/../beside", absolute.to_str().unwrap()];
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("../out", inner.join("link")).unwrap();
            std::os::unix::fs::symlink("parts/a b", inner.join("inside")).unwrap();
            assert_eq!(read_by("inside", ReadOptions::default()), Ok(1));
            outside.push("link");
        }
        for name in outside {
            let error = read_by(name, ReadOptions::default()).unwrap_err();
            assert!(
                error.contains("is not below the folder of the file that names it: move it there, or follow references anywhere"),
                "{extension}: {error}"
            );
            assert_eq!(read_by(name, anywhere), Ok(1), "{extension} {name}");
        }
        let error = read_by("missing", anywhere).unwrap_err();
        assert!(error.contains("missing"), "{error}");
        #[cfg(unix)]
        for name in ["/dev/zero", "in/../pipe"] {
            let pipe = inner.join("pipe");
            let name = name.replace("in/../", "");
            if !pipe.exists() {
                let made = std::process::Command::new("mkfifo").arg(&pipe).status();
                assert!(made.unwrap().success());
            }
            let error = read_by(&name, anywhere).unwrap_err();
            assert!(
                error.contains("is no regular file, but a device"),
                "{error}"
            );
        }
    }
}

/// A small file became gigabytes: 155 KB became 6.3 GB, 1.2 KB became 3.4 GB.
#[test]
fn data_that_is_named_many_times_is_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let said = |name: &str| read(&at(name)).unwrap_err().to_string();
    let so_often =
        "the same data is named so often that its copies have more than 64 numbers for each of the";

    // One array of 10,000 points, compressed to one block, by many names.
    let block = vec![0; 240_000];
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    std::io::Write::write_all(&mut encoder, &block).unwrap();
    let packed = encoder.finish().unwrap();
    let sizes = [1, block.len(), 0, packed.len()].map(|size| size as u32);
    let data = [&sizes.map(u32::to_le_bytes).concat()[..], &packed].concat();
    let cloud = |fields: usize| {
        let array = |name: String| {
            format!(
                "<DataArray type=\"Float64\" NumberOfComponents=\"3\" Name=\"{name}\" format=\"appended\" offset=\"0\"/>"
            )
        };
        let fields: String = (0..fields).map(|i| array(format!("f{i}"))).collect();
        let points = array("Points".to_owned());
        let head = format!(
            "<VTKFile type=\"UnstructuredGrid\" compressor=\"vtkZLibDataCompressor\"><UnstructuredGrid>\
             <Piece NumberOfPoints=\"10000\" NumberOfCells=\"0\"><PointData>{fields}</PointData><Points>{points}</Points><Cells>\
             <DataArray type=\"Int64\" Name=\"connectivity\" format=\"ascii\"/>\
             <DataArray type=\"Int64\" Name=\"offsets\" format=\"ascii\"/>\
             <DataArray type=\"UInt8\" Name=\"types\" format=\"ascii\"/></Cells></Piece></UnstructuredGrid>\
             <AppendedData encoding=\"raw\">_"
        );
        fs::write(at("a.vtu"), [head.as_bytes(), &data].concat()).unwrap();
    };
    cloud(1);
    assert_eq!(read(&at("a.vtu")).unwrap().fields.points.len(), 1);
    cloud(100);
    assert!(said("a.vtu").contains(so_often), "{}", said("a.vtu"));

    // One piece by many references, under two names.
    cloud(0);
    fs::write(at("a.pvtu"), pvtu(&["a.vtu", "./a.vtu"])).unwrap();
    assert_eq!(read(&at("a.pvtu")).unwrap().points.len(), 20_000);
    fs::write(at("a.pvtu"), pvtu(&["a.vtu"; 100])).unwrap();
    assert!(said("a.pvtu").contains(so_often));

    fs::write(at("big"), vec![0; 36_000]).unwrap();
    let many = xdmf(&["big"; 100]).replace("3 3", "3000 3");
    fs::write(at("a.xdmf"), &many).unwrap();
    assert_eq!(read(&at("a.xdmf")).unwrap().points.len(), 300_000);
    fs::write(at("big"), vec![0; 360_000]).unwrap();
    fs::write(at("a.xdmf"), many.replace("3000 3", "30000 3")).unwrap();
    assert!(said("a.xdmf").contains(so_often));

    // Each of 12 files includes the next one four times.
    let mut text = inp("f0").replace(", INPUT=", "\n*INCLUDE, INPUT=");
    fs::write(at("a.inp"), &text).unwrap();
    for i in 0..12 {
        text = format!("*INCLUDE, INPUT=f{}\n", i + 1).repeat(4);
        fs::write(at(&format!("f{i}")), &text).unwrap();
    }
    fs::write(at("f12"), "** nothing\n").unwrap();
    assert!(said("a.inp").contains(so_often), "{}", said("a.inp"));
}

/// Indices used by many primitives, and buffers named by many entries.
#[test]
fn parts_of_gltf_that_share_an_accessor_are_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.gltf");
    fs::write(folder.path().join("\u{e4} b.bin"), coordinates()).unwrap();
    fs::write(&path, gltf_of("%C3%A4%20b.bin", 2)).unwrap();
    let mesh = read(&path).unwrap();
    assert_eq!((mesh.points.len(), mesh.faces.len()), (3, 2));
    // 3 vertices, and 60,000 indices that 400 primitives share.
    let indices = gltf_of("%C3%A4%20b.bin", 400)
        .replace("}}", "},\"indices\":1}")
        .replacen("\"byteLength\":36}]", "\"byteLength\":36},{\"uri\":\"i.bin\"}]", 1)
        .replacen("\"byteLength\":36}],\"acc", "\"byteLength\":36},{\"buffer\":1,\"byteLength\":60000}],\"acc", 1)
        .replace("\"VEC3\"}", "\"VEC3\"},{\"bufferView\":1,\"componentType\":5121,\"count\":60000,\"type\":\"SCALAR\"}");
    fs::write(folder.path().join("i.bin"), vec![0; 60_000]).unwrap();
    // 4,000 primitives without indices, and the same vertices.
    let vertices = gltf_of("i.bin", 4000).replace("36", "60000");
    let vertices = vertices.replacen("\"count\":3", "\"count\":4998", 1);
    for text in [indices, vertices] {
        fs::write(&path, text).unwrap();
        let error = read(&path).unwrap_err().to_string();
        assert!(error.contains("is named so often"), "{error}");
    }
    fs::write(&path, gltf_of("https://example.org/a.bin", 1)).unwrap();
    let error = read(&path).unwrap_err().to_string();
    assert!(
        error.contains("a URI of the scheme `https` is not followed"),
        "{error}"
    );
}

#[test]
fn counts_that_xdmf_declares_are_those_of_its_data() {
    let text = "<Xdmf><Domain><Grid><Topology TopologyType=\"Triangle\" NumberOfElements=\"2\">\
        <DataItem Dimensions=\"2 3\" DataType=\"Int\">0 1 2 1 2 3</DataItem></Topology>\
        <Geometry><DataItem Dimensions=\"4 3\">0 0 0 1 0 0 0 1 0 1 1 0</DataItem></Geometry></Grid></Domain></Xdmf>";
    assert_eq!(super::xdmf::parse(text.as_bytes()).unwrap().faces.len(), 2);
    for (from, to, reason) in [
        (
            "Elements=\"2\"",
            "Elements=\"1000\"",
            "NumberOfElements declares 1000 cells, but 2 are there",
        ),
        (
            "\"2 3\"",
            "\"1000 3\"",
            "Dimensions declare 3000 numbers, but 6 are there",
        ),
        (
            "\"4 3\"",
            "\"5000 3\"",
            "Dimensions declare 15000 numbers, but 12 are there",
        ),
        (
            "\"4 3\"",
            "\"four\"",
            "expected numbers in Dimensions, found `four`",
        ),
        (
            "<DataItem Dim",
            "<DataItem ItemType=\"HyperSlab\" Dim",
            "items of type HyperSlab are not read: write the numbers as one item",
        ),
    ] {
        let error = error(super::xdmf::parse, text.replacen(from, to, 1));
        assert!(error.ends_with(reason), "{error}");
    }
}

/// Data could be longer or shorter than declared, without an error.
#[test]
fn counts_that_other_formats_declare_are_those_of_their_data() {
    let folder = tempfile::tempdir().unwrap();
    let said = |name: &str, text: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        read(&path).map_err(|error| error.to_string())
    };
    fs::write(folder.path().join("b.bin"), coordinates()).unwrap();
    let gltf = |length: usize| {
        let text = gltf_of("b.bin", 1);
        let length = format!("\"byteLength\":{length}");
        said(
            "a.gltf",
            text.replacen("\"byteLength\":36", &length, 1).as_bytes(),
        )
    };
    let error = gltf(37).unwrap_err();
    assert!(
        error.contains("buffer 0 declares 37 bytes, but 36 are there"),
        "{error}"
    );
    assert!(
        gltf(12)
            .unwrap_err()
            .contains("its data is outside of the buffer")
    );

    let polygons = |count: &str| {
        let text = format!(
            "<VTKFile type=\"PolyData\"><PolyData><Piece NumberOfPoints=\"3\" {count}><Points>\
             <DataArray type=\"Float64\" NumberOfComponents=\"3\" format=\"ascii\">{DATA}</DataArray></Points><Polys>\
             <DataArray type=\"Int64\" Name=\"connectivity\" format=\"ascii\">0 1 2</DataArray>\
             <DataArray type=\"Int64\" Name=\"offsets\" format=\"ascii\">3</DataArray></Polys></Piece></PolyData></VTKFile>"
        );
        said("a.vtp", text.as_bytes())
    };
    assert_eq!(polygons("NumberOfPolys=\"1\"").unwrap().faces.len(), 1);
    for count in ["", "NumberOfPolys=\"0\""] {
        let error = polygons(count).unwrap_err();
        assert!(
            error.ends_with("NumberOfPolys declares no cells, but 1 are there"),
            "{error}"
        );
    }
}

#[test]
fn faults_in_files_that_abaqus_includes_have_their_file_and_line() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let said = || read(&at("a.inp")).unwrap_err().to_string();
    let main = "** a comment\n*INCLUDE,\n INPUT=Nodes.txt\n*ELEMENT, TYPE=S3\n1, 1, 2, 3\n*INCLUDE, INPUT=more.inp\n";
    fs::write(at("a.inp"), main).unwrap();
    let missing = said();
    assert!(
        missing.contains("a.inp:2: ") && missing.contains("Nodes.txt"),
        "{missing}"
    );
    fs::write(at("Nodes.txt"), "\u{feff}*NODE, INPUT=points\n").unwrap();
    fs::write(at("points"), "1, 0, 0, 0\r2, 1, 0, 0\r3, 0, 1, 0").unwrap();
    fs::write(at("more.inp"), "** more\n*ELEMENT, TYPE=S3\n2, 3, 2, 4\n").unwrap();
    assert!(
        said().contains("more.inp:3: there is no node 4 before here"),
        "{}",
        said()
    );
    fs::write(at("points"), "1, 0, 0, 0\r2, 1, 0, 0\r3, 0, x, 0").unwrap();
    assert!(
        said().contains("points:3: expected a coordinate, found `x`"),
        "{}",
        said()
    );
    fs::write(
        at("points"),
        "1, 0, 0, 0\r2, 1, 0, 0\r3, 0, 1, 0\r4, 0, 0, 1",
    )
    .unwrap();
    assert_eq!(read(&at("a.inp")).unwrap().faces.len(), 2);
    fs::write(at("a.inp"), main.replace("1, 1, 2, 3", "1, 1, 2, 9")).unwrap();
    assert!(said().contains("a.inp:5: there is no node 9"), "{}", said());
    fs::write(at("more.inp"), "*INCLUDE, INPUT=./a.inp\n").unwrap();
    assert!(
        said().contains("more.inp:1: ") && said().contains("includes itself"),
        "{}",
        said()
    );
    let cell = "*ELEMENT, TYPE=C3D4\n2, 1, 2, 3, 4\n";
    fs::write(at("a.inp"), main).unwrap();
    fs::write(at("more.inp"), cell).unwrap();
    assert!(is_volume(&at("a.inp")));
    assert_eq!(read_volume(&at("a.inp")).unwrap().cells.len(), 1);
}
