//! `trioxide polylla`: counts, regions, segments.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;
use trioxide::mesh::{Mesh, Segment};
use trioxide::{Device, formats, generate};

use crate::{Place, square};

#[test]
fn polylla_reports_as_json_and_writes_polygons() {
    let place = square();
    for device in ["cpu", "serial"] {
        let arguments = [
            "polylla",
            "square.off",
            "--device",
            device,
            "--json",
            "-",
            "-o",
            "out.off",
        ];
        let object = place.call(&arguments).json();
        assert_eq!(object["command"], "polylla");
        assert_eq!(object["input"], "square.off");
        assert!(object["device"].is_string() && object["milliseconds"].is_f64());
        let stages = object["stages"].as_array().unwrap();
        assert!(!stages.is_empty());
        assert!(
            stages
                .iter()
                .all(|s| s["name"].is_string() && s["milliseconds"].is_f64())
        );
        for (key, count) in [
            ("vertices", 4),
            ("triangles", 2),
            ("polygons", 1),
            ("regions", 1),
            ("frontier_edges", 4),
            ("barrier_tips", 0),
            ("weakly_simple", 0),
        ] {
            assert_eq!(object[key], count, "{key}");
        }
        let info = place.call(&["info", "out.off", "--json", "-"]).json();
        assert_eq!((&info["faces"], &info["area"]), (&1.into(), &1.0.into()));
        assert_eq!(info["problems"], Value::Array(Vec::new()));
    }
}

/// Polygons in space, in every format that holds them; a chain gives the same.
#[test]
fn surfaces_become_polygons_in_space() {
    let place = Place::new();
    let scan = "generate:scan:300:2";
    let polylla = |output: &str, more: &[&str]| {
        let flat = ["--flatness", "20", "--feature-angle", "50", "--quiet"];
        place.call(&[&["polylla", scan, "-o", output][..], &flat, more].concat())
    };
    polylla("serial.vtu", &["--device", "serial"]).succeeds();
    let expected = formats::read(&place.path("serial.vtu")).unwrap();
    assert!(expected.faces.len() < 400 && !expected.is_planar());
    for output in ["a.obj", "a.off", "a.ply", "a.vtu", "a.vtp"] {
        polylla(output, &["--device", "cpu"]).succeeds();
        let mesh = formats::read(&place.path(output)).unwrap();
        assert_eq!(
            (&mesh.points, &mesh.faces),
            (&expected.points, &expected.faces),
            "{output}"
        );
    }
    polylla("a.stl", &["--device", "cpu"]).fails(1, &["a.stl", "holds triangles only"]);
    let steps = [
        "polylla",
        "--flatness",
        "20",
        "--feature-angle",
        "50",
        ":",
        "-o",
        "chain.vtu",
    ];
    place
        .call(
            &[
                &["chain", "--quiet", "--device", "cpu", scan, ":"][..],
                &steps,
            ]
            .concat(),
        )
        .succeeds();
    let chained = formats::read(&place.path("chain.vtu")).unwrap();
    assert_eq!(chained.faces, expected.faces);

    // V - E + F stays, and so does the volume of flat polygons, nearly.
    let info = |mesh: &str| place.call(&["info", mesh, "--json", "-"]).json();
    let (before, after) = (info(scan), info("a.vtu"));
    let euler = |object: &Value| {
        let [v, e, f] = ["vertices", "edges", "faces"].map(|key| object[key].as_i64().unwrap());
        v - e + f
    };
    assert_eq!((euler(&before), euler(&after)), (2, 2));
    assert_eq!(after["boundary_edges"], 0);
    assert!(before["planarity"].is_null() && after["planarity"]["max"].as_f64().unwrap() > 0.0);
    let angle = |object: &Value| object["dihedral_angle"]["mean"].as_f64().unwrap();
    assert!(angle(&before) > 0.0 && angle(&after) > angle(&before));
    let [before, after] = [before, after].map(|object| object["volume"].as_f64().unwrap());
    assert!((after / before - 1.0).abs() < 0.02, "{before} {after}");

    // A picture of them.
    place
        .call(&["render", "a.vtu", "-o", "a.png", "--width", "60", "--quiet"])
        .succeeds();
    assert!(place.path("a.png").exists());
}

/// The fixture as a file's content.
fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures")
        .join(name);
    fs::read_to_string(path).unwrap()
}

/// Ends of each segment, the smaller first, with its marker, in order.
fn segments(mesh: &Mesh) -> Vec<([u32; 2], i32)> {
    let mut segments: Vec<_> = mesh
        .segments
        .iter()
        .map(
            |&Segment {
                 ends: [a, b],
                 marker,
             }| ([a.min(b), a.max(b)], marker),
        )
        .collect();
    segments.sort();
    segments
}

/// Sides of all faces, the smaller end first.
fn sides(mesh: &Mesh) -> BTreeSet<[u32; 2]> {
    let mut sides = BTreeSet::new();
    for face in (0..mesh.faces.len()).map(|i| mesh.faces.get(i)) {
        for (&a, &b) in face.iter().zip(face.iter().cycle().skip(1)) {
            sides.insert([a.min(b), a.max(b)]);
        }
    }
    sides
}

#[test]
fn polylla_keeps_regions_and_segments_with_their_tags() {
    // The square with hole gets one more segment, from its outer to its inner boundary.
    let poly = fixture("square_with_hole.poly")
        .replace("\n16 1\n", "\n17 1\n")
        .replace("\n1\n0 1.5 1.5", "\n16 4 5 -77\n1\n0 1.5 1.5");
    // Between both regions, then into the right one; numbered from 1, as the points are.
    let two_regions = "0 2\n4 1\n1 3 8 100\n2 8 13 101\n3 13 14 200\n4 9 14 201\n0\n";
    let place = Place::new()
        .file("hole.node", &fixture("square_with_hole.node"))
        .file("hole.ele", &fixture("square_with_hole.ele"))
        .file("hole.poly", &poly)
        .file("two.node", &fixture("two_regions.node"))
        .file("two.ele", &fixture("two_regions.ele"))
        .file("two.poly", two_regions);
    // Segments here and there end inside of regions.
    let mut random = generate::random(&Device::cpu(None).unwrap(), 400, 1).unwrap();
    let some = random.triangles.iter().step_by(7).enumerate();
    random.segments = some
        .map(|(i, &[a, b, _])| Segment {
            ends: [a, b],
            marker: 20 - i as i32,
        })
        .collect();
    let tagged = random.segments[3];
    formats::write(&place.path("random.node"), &random.into()).unwrap();
    let [a, b] = tagged.ends;
    let tagged = ([a.min(b), a.max(b)], tagged.marker);
    for (name, count, tagged) in [
        ("hole", 17, ([4, 5], -77)),
        ("random", 108, tagged),
        ("two", 4, ([12, 13], 200)),
    ] {
        let input = formats::read(&place.path(name)).unwrap();
        assert_eq!(input.segments.len(), count, "{name}");
        for output in ["out.ply", "out.vtu"] {
            for device in ["cpu", "serial"] {
                for strict in [&[][..], &["--strict"]] {
                    let arguments = ["polylla", name, "--device", device, "-o", output];
                    let call = place.call(&[&arguments[..], strict].concat()).succeeds();
                    assert_eq!(call.stderr, "");
                    let mesh = formats::read(&place.path(output)).unwrap();
                    assert_eq!(segments(&mesh), segments(&input), "{name} {output}");
                    assert!(segments(&mesh).contains(&tagged), "{name} {output}");
                    let sides = sides(&mesh);
                    for (ends, _) in segments(&mesh) {
                        assert!(sides.contains(&ends), "{name} {output}: {ends:?}");
                    }
                    let info = place.call(&["info", output, "--json", "-"]).json();
                    assert_eq!(info["segments"], count, "{name} {output}");
                }
            }
        }
    }
    // Of the two regions, the left half is 10 and the right one 20.
    let mesh = formats::read(&place.path("out.vtu")).unwrap();
    let regions = mesh.regions.unwrap();
    assert_eq!(regions.len(), mesh.faces.len());
    for (i, &region) in regions.iter().enumerate() {
        let face = mesh.faces.get(i);
        let x: f64 = face.iter().map(|&v| mesh.points[v as usize].x).sum();
        let is_left = x < 0.5 * face.len() as f64;
        assert_eq!(region, if is_left { 10 } else { 20 }, "polygon {i}");
    }
}

#[test]
fn polylla_drops_tags_only_where_it_says_so() {
    let place = Place::new()
        .file("two.node", &fixture("two_regions.node"))
        .file("two.ele", &fixture("two_regions.ele"))
        .file("two.poly", "0 2\n1 1\n1 3 8 100\n0\n");
    let polylla = |arguments: &[&str]| {
        let call = ["polylla", "two", "--device", "cpu"];
        place.call(&[&call[..], arguments].concat()).succeeds()
    };
    let call = polylla(&["--unconstrained", "-o", "out.ply"]);
    assert_eq!(call.stderr, "");
    let mesh = formats::read(&place.path("out.ply")).unwrap();
    assert_eq!((mesh.regions, mesh.segments), (None, vec![]));
    let call = polylla(&["-o", "out.off"]);
    for what in ["OFF holds no regions", "OFF holds no segments"] {
        assert!(call.stderr.contains(what), "{}", call.stderr);
    }
    assert_eq!(polylla(&["-o", "out.off", "--quiet"]).stderr, "");
}

#[test]
fn a_generated_input_is_the_mesh_of_its_file() {
    let place = Place::new();
    for (input, kind) in [
        ("generate:grid:1k", &["grid", "-n", "1000"][..]),
        ("generate:disk:300:4", &["disk", "-n", "300", "--seed", "4"]),
        ("generate:scan:500:2", &["scan", "-n", "500", "--seed", "2"]),
    ] {
        let write = ["generate", kind[0], "-o", "file.ply", "--quiet"];
        assert_eq!(
            place.call(&[&write[..], &kind[1..]].concat()).status,
            Some(0)
        );
        let convert = place.call(&["convert", input, "-o", "in_place.ply", "--quiet"]);
        assert_eq!(convert.status, Some(0), "{}", convert.stderr);
        let read = |name: &str| fs::read(place.path(name)).unwrap();
        assert!(read("file.ply") == read("in_place.ply"), "{input}");
    }
    let info = place.call(&["info", "generate:tets:200"]);
    assert!(info.stdout.contains("generated"), "{}", info.stderr);
    let of_planes = place.call(&["polylla", "generate:tets:200", "--digest"]);
    assert!(of_planes.stderr.contains("--digest goes with triangles"));
    let wrong = place.call(&["polylla", "generate:grid:25X"]);
    assert_eq!(wrong.status, Some(1));
    assert!(
        wrong
            .stderr
            .contains("generate:grid:25X: the number of points, \"25X\", is no number")
    );
    let digest = |more: &[&str]| {
        let arguments = ["polylla", "generate:jittered:400:3", "--digest"];
        let call = place.call(&[&arguments[..], more].concat());
        let line = call.stdout.lines().find(|line| line.starts_with("digest"));
        line.unwrap_or_else(|| panic!("{}", call.stderr)).to_owned()
    };
    let by_device = digest(&["--device", "cpu"]);
    assert_eq!(digest(&["--device", "serial"]), by_device);
    assert_ne!(
        digest(&["--device", "cpu", "--strict", "--precision", "f32"]),
        ""
    );
}

#[test]
fn levels_are_fields_and_files_and_every_machine_writes_the_same() {
    let place = Place::new();
    let polylla = |device: &str, more: &[&str]| {
        let input = [
            "polylla",
            "generate:random:500:3",
            "--strict",
            "--device",
            device,
        ];
        place.call(&[&input[..], more].concat()).succeeds()
    };
    let arguments = ["--levels", "3", "-o", "out-{level}.vtu", "--json", "-"];
    let files = ["out-0.vtu", "out-1.vtu", "out-2.vtu", "out-3.vtu"];
    let [cpu, serial] = ["cpu", "serial"].map(|device| {
        let report = polylla(device, &arguments).json();
        assert_eq!(report["levels"], 3);
        (
            report,
            files.map(|name| fs::read(place.path(name)).unwrap()),
        )
    });
    assert_eq!(cpu.1, serial.1);
    assert_eq!(place.files(), files);
    let meshes = files.map(|name| formats::read(&place.path(name)).unwrap());
    let sizes = meshes.each_ref().map(|mesh| mesh.faces.len());
    assert!(sizes.is_sorted_by(|a, b| 2 * b <= *a), "{sizes:?}");
    assert_eq!(cpu.0["pieces"], sizes[3]);
    let area = |mesh: &Mesh| {
        let polygon = |i: usize| {
            let corners = mesh.faces.get(i);
            let next = corners.iter().cycle().skip(1);
            let twice = corners.iter().zip(next).map(|(&a, &b)| {
                let [a, b] = [a, b].map(|v| mesh.points[v as usize]);
                a.x * b.y - a.y * b.x
            });
            twice.sum::<f64>() / 2.0
        };
        (0..mesh.faces.len()).map(polygon).collect::<Vec<_>>()
    };
    // The area of each piece is that of the polygons whose fields name it.
    for (level, mesh) in meshes.iter().enumerate().skip(1) {
        let field = meshes[0]
            .fields
            .cells
            .get(&format!("level_{level}"))
            .unwrap();
        let mut sums = vec![0.0; sizes[level]];
        for (i, area) in area(&meshes[0]).into_iter().enumerate() {
            sums[field.values.i64(i) as usize] += area;
        }
        for (sum, piece) in sums.into_iter().zip(area(mesh)) {
            assert!((sum - piece).abs() < 1e-12, "level {level}");
        }
    }

    let call = polylla("cpu", &["--until", "0", "--json", "-"]);
    assert!(
        call.stderr.contains("can join another one"),
        "{}",
        call.stderr
    );
    assert_eq!(call.json()["pieces"], 1);
    // In a chain too, whose own options may stand at its end.
    let chain = [
        "chain",
        "generate:random:500:3",
        ":",
        "polylla",
        "--strict",
        "--levels",
        "3",
        "-o",
        "link-{level}.vtu",
        "--device",
        "cpu",
        "--json=-",
    ];
    let report = place.call(&chain).succeeds().json();
    assert_eq!(report["steps"][0]["levels"], 3);
    for (i, file) in files.iter().enumerate() {
        let linked = place.path(&format!("link-{i}.vtu"));
        assert_eq!(
            fs::read(linked).unwrap(),
            fs::read(place.path(file)).unwrap()
        );
    }
    assert!(!place.files().iter().any(|name| name.contains("{level}")));
}

/// Surfaces and polyhedra have levels as polygons of the plane; the maps lead from each to the next.
#[test]
fn levels_of_surfaces_and_polyhedra_are_files_with_maps() {
    let place = Place::new();
    for (input, field) in [
        ("generate:scan:600:3", "polygons"),
        ("generate:tets:300:3", "polyhedra"),
    ] {
        let run = |device: &str| {
            let folder = format!("maps_{device}");
            let arguments = [
                "polylla", input, "--strict", "--device", device, "--levels", "2",
            ];
            let output = ["--maps", &folder, "-o", "out-{level}.vtu", "--json", "-"];
            let report = place
                .call(&[&arguments[..], &output].concat())
                .succeeds()
                .json();
            assert_eq!(report["levels"], 2);
            let maps = [
                "1_parents.txt",
                "1_prolongation.mtx",
                "2_parents.txt",
                "2_prolongation.mtx",
            ];
            let maps = maps.map(|name| format!("{folder}/level_{name}"));
            let files = ["out-0.vtu", "out-1.vtu", "out-2.vtu"].map(str::to_owned);
            let read = |name: &String| fs::read(place.path(name)).unwrap();
            let files: Vec<_> = files.iter().map(read).collect();
            (report, files, maps.iter().map(read).collect::<Vec<_>>())
        };
        let (cpu, serial) = (run("cpu"), run("serial"));
        assert_eq!(cpu.1, serial.1, "{input}");
        assert_eq!(cpu.2, serial.2, "{input}");
        let list = |text: &[u8]| -> Vec<usize> {
            let text = String::from_utf8(text.to_vec()).unwrap();
            text.lines()
                .skip(1)
                .map(|line| line.parse().unwrap())
                .collect()
        };
        let [first, second] = [0, 2].map(|file| list(&cpu.2[file]));
        assert_eq!(cpu.0[field], first.len());
        assert_eq!(first.iter().max().map(|last| last + 1), Some(second.len()));
        let pieces = second.iter().max().map(|last| last + 1).unwrap();
        assert_eq!(cpu.0["pieces"], pieces);
        let matrix = String::from_utf8(cpu.2[3].clone()).unwrap();
        assert_eq!(
            matrix.lines().nth(1).unwrap(),
            format!("{0} {pieces} {0}", second.len())
        );
    }
    let arguments = ["polylla", "generate:random:50", "--maps", "maps"];
    place
        .call(&arguments)
        .fails(1, &["add --levels or --until"]);
}
