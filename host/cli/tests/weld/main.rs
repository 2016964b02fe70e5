//! `trioxide weld` as one types it.

mod crowded;
mod refusals;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use glam::{DVec2, DVec3};
use serde_json::Value;
use trioxide::mesh::{Faces, Mesh, Polygons, Segment, VertexAttributes};
use trioxide::{Device, formats, generate};

fn trioxide(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_trioxide"))
        .args(arguments)
        .output()
        .expect("the binary starts")
}

/// Standard output and standard error of a run that succeeds.
fn done(arguments: &[&str]) -> (String, String) {
    let output = trioxide(arguments);
    let error = String::from_utf8(output.stderr).expect("text");
    assert!(output.status.success(), "{arguments:?}: {error}");
    (String::from_utf8(output.stdout).expect("text"), error)
}

/// Exit status and standard error of a run that does not.
fn refused(arguments: &[&str]) -> (Option<i32>, String) {
    let output = trioxide(arguments);
    assert!(!output.status.success(), "{arguments:?} was done");
    let error = String::from_utf8(output.stderr).expect("text");
    (output.status.code(), error)
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn path(folder: &Path, name: &str) -> String {
    folder.join(name).to_str().expect("UTF-8").to_owned()
}

/// Two triangles whose common edge is torn: vertices 4 and 5 are 0.1 beside 1 and 2.
///
/// ```text
/// 2 5---3
/// |\ \  |
/// | \ \ |
/// 0--1 4
/// ```
fn torn() -> Mesh {
    let at = |x: f64, y: f64| DVec3::new(x, y, 0.0);
    Mesh {
        points: vec![
            at(0.0, 0.0),
            at(1.0, 0.0),
            at(0.0, 1.0),
            at(1.0, 1.0),
            at(1.1, 0.0),
            at(0.1, 1.0),
        ],
        faces: Faces::Triangles(vec![[0, 1, 2], [1, 4, 2], [4, 3, 5]]),
        regions: Some(vec![3, 4, 5]),
        segments: [([0, 1], 1), ([1, 4], 2), ([4, 3], 3), ([3, 1], 3)]
            .map(|(ends, marker)| Segment { ends, marker })
            .to_vec(),
        attributes: VertexAttributes {
            normals: Some(vec![
                DVec3::Z,
                DVec3::Z * 2.0,
                DVec3::X,
                DVec3::ZERO,
                DVec3::Z,
                DVec3::NEG_X,
            ]),
            colors: Some(vec![
                [1, 2, 3, 4],
                [10, 0, 255, 255],
                [0, 0, 0, 255],
                [9, 9, 9, 9],
                [11, 1, 255, 0],
                [200, 0, 0, 255],
            ]),
            uvs: Some([0.0, 0.25, 0.5, 0.75, 0.5, 0.5].map(DVec2::splat).to_vec()),
        },
        ..Mesh::default()
    }
}

fn write(folder: &Path, name: &str, mesh: &Mesh) -> String {
    let path = path(folder, name);
    formats::write(Path::new(&path), mesh).expect("written");
    path
}

fn read(path: &str) -> Mesh {
    formats::read(Path::new(path)).expect("a mesh")
}

/// The mesh and the report of a weld on a device.
fn weld(folder: &Path, input: &str, output: &str, arguments: &[&str]) -> (Mesh, Value) {
    let output = path(folder, output);
    let first = ["weld", input, "-o", &output, "--json", "-"];
    let (text, _) = done(&[&first[..], arguments].concat());
    (read(&output), serde_json::from_str(&text).expect("JSON"))
}

const DEVICES: [&[&str]; 3] = [
    &["--device", "serial"],
    &["--device", "cpu", "--threads", "1"],
    &["--device", "cpu", "--threads", "2"],
];

#[test]
fn all_that_a_mesh_carries_goes_through() {
    let folder = folder("weld_carried");
    let input = write(&folder, "in.ply", &torn());
    for device in DEVICES {
        let arguments = [&["--epsilon", "0.11"], device].concat();
        let (mesh, report) = weld(&folder, &input, "out.ply", &arguments);
        assert_eq!(report["welded_vertices"], 4);
        assert_eq!(report["welded_faces"], 2);
        assert_eq!(report["epsilon"], 0.11);
        assert_eq!(mesh.faces, Faces::Triangles(vec![[0, 1, 2], [1, 3, 2]]));
        assert_eq!(mesh.regions, Some(vec![3, 5]));
        // The second came together, the fourth is the third again.
        let segments: Vec<_> = mesh.segments.iter().map(|s| (s.ends, s.marker)).collect();
        assert_eq!(segments, [([0, 1], 1), ([1, 3], 3)]);
        let points = [(0.0, 0.0), (1.05, 0.0), (0.05, 1.0), (1.0, 1.0)];
        assert_eq!(mesh.points, points.map(|(x, y)| DVec3::new(x, y, 0.0)));
        let VertexAttributes {
            normals,
            colors,
            uvs,
        } = mesh.attributes;
        // Opposite normals cancel out.
        assert_eq!(
            normals,
            Some(vec![DVec3::Z, DVec3::Z, DVec3::ZERO, DVec3::ZERO])
        );
        let expected = [
            [1, 2, 3, 4],
            [11, 1, 255, 128],
            [100, 0, 0, 255],
            [9, 9, 9, 9],
        ];
        assert_eq!(colors, Some(expected.to_vec()));
        assert_eq!(
            uvs,
            Some([0.0, 0.375, 0.5, 0.75].map(DVec2::splat).to_vec())
        );

        let arguments = [
            &["--epsilon=0.11", "--position", "first", "--keep-degenerate"],
            device,
        ]
        .concat();
        let (mesh, _) = weld(&folder, &input, "out.ply", &arguments);
        assert_eq!(mesh.faces.len(), 3);
        assert_eq!(mesh.segments.len(), 4);
        assert_eq!(mesh.regions, Some(vec![3, 4, 5]));
        assert_eq!(mesh.points, torn().points[..4]);
        let before = torn().attributes;
        assert_eq!(
            mesh.attributes.normals,
            before.normals.map(|n| n[..4].to_vec())
        );
        assert_eq!(
            mesh.attributes.colors,
            before.colors.map(|c| c[..4].to_vec())
        );
        assert_eq!(mesh.attributes.uvs, before.uvs.map(|uvs| uvs[..4].to_vec()));
    }
}

#[test]
fn formats_say_what_they_do_not_hold() {
    let folder = folder("weld_formats");
    let input = write(&folder, "in.ply", &torn());
    let (obj, off) = (path(&folder, "out.obj"), path(&folder, "out.off"));
    let common = ["weld", &input, "--epsilon", "0.11", "--device", "cpu"];
    let (_, notes) = done(&[&common[..], &["-o", &obj]].concat());
    assert!(notes.contains("OBJ holds no regions"), "{notes}");
    assert!(!notes.contains("normals"), "{notes}");
    let mesh = read(&obj);
    assert_eq!(mesh.points.len(), 4);
    let markers: Vec<i32> = mesh.segments.iter().map(|segment| segment.marker).collect();
    assert_eq!(markers, [1, 3]);
    assert!(mesh.attributes.normals.is_some() && mesh.attributes.uvs.is_some());
    assert_eq!(
        mesh.attributes.colors.map(|colors| colors[2]),
        Some([100, 0, 0, 255])
    );
    let (_, notes) = done(&[&common[..], &["-o", &off]].concat());
    for lost in ["regions", "segments"] {
        assert!(notes.contains(&format!("OFF holds no {lost}")), "{notes}");
    }
    let (_, notes) = done(&[&common[..], &["-o", &off, "--quiet"]].concat());
    assert_eq!(notes, "");
}

#[test]
fn guards_keep_vertices_apart() {
    let folder = folder("weld_guards");
    let input = write(&folder, "in.ply", &torn());
    for (guard, vertices) in [
        // Vertices 1 and 4 have one direction, 2 and 5 opposite ones.
        (["--normal-tolerance", "0"], 5),
        (["--normal-tolerance", "179"], 5),
        (["--normal-tolerance", "180"], 4),
        // At a distance of 0.25 √2, and of 0.
        (["--uv-tolerance", "0.353"], 5),
        (["--uv-tolerance", "0.354"], 4),
        (["--color-tolerance", "199"], 6),
        (["--color-tolerance", "200"], 5),
        (["--color-tolerance", "255"], 4),
    ] {
        for device in DEVICES {
            let arguments = [&["--epsilon", "0.11"], &guard[..], device].concat();
            let (mesh, _) = weld(&folder, &input, "out.ply", &arguments);
            assert_eq!(mesh.points.len(), vertices, "{guard:?}");
        }
    }
}

#[test]
fn locked_vertices_stay() {
    let folder = folder("weld_locks");
    let input = write(&folder, "in.ply", &torn());
    let file = path(&folder, "locked.txt");
    fs::write(&file, "# vertices\n4\n\n0 # and this\n").expect("written");
    let lock = format!("file:{file}");
    for device in DEVICES {
        let arguments = [&["--epsilon", "0.11", "--lock", &lock], device].concat();
        let (mesh, report) = weld(&folder, &input, "out.ply", &arguments);
        assert_eq!(report["locked_vertices"], 2);
        assert_eq!(mesh.points.len(), 5);
        assert_eq!(mesh.points[4], torn().points[4]);
        // Only the edges 1 2 and 4 2 are inside.
        let arguments = [&["--epsilon", "10", "--lock", "boundary"], device].concat();
        let (mesh, report) = weld(&folder, &input, "out.ply", &arguments);
        assert_eq!(report["locked_vertices"], 6);
        assert_eq!(mesh.points, torn().points);
        let both = ["--epsilon", "10", "--lock", "boundary", "--lock", &lock];
        let (_, report) = weld(&folder, &input, "out.ply", &[&both[..], device].concat());
        assert_eq!(report["locked_vertices"], 6);
    }
}

#[test]
fn the_inside_of_a_locked_boundary_is_welded() {
    let folder = folder("weld_boundary");
    let on = Device::cpu(None).expect("threads");
    let mesh = Mesh::from(generate::random(&on, 500, 1).expect("enough"));
    let input = write(&folder, "in.ply", &mesh);
    let is_on_side = |p: &&DVec3| [p.x, p.y].iter().any(|&x| x == 0.0 || x == 1.0);
    let mut results = Vec::new();
    for device in DEVICES {
        let arguments = [&["--epsilon", "0.08", "--lock", "boundary"], device].concat();
        let (welded, report) = weld(&folder, &input, "out.ply", &arguments);
        let sides = mesh.points.iter().filter(is_on_side).count();
        assert!(report["locked_vertices"].as_u64().expect("a count") as usize >= sides);
        assert_eq!(welded.points.iter().filter(is_on_side).count(), sides);
        assert!(welded.points.len() < mesh.points.len() / 2);
        results.push(welded);
    }
    assert!(results.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn maps_go_to_files_or_to_standard_output() {
    let folder = folder("weld_maps");
    let input = write(&folder, "in.ply", &torn());
    let (map, removed) = (path(&folder, "map.txt"), path(&folder, "removed.txt"));
    let (expected_map, expected_removed) = ("0\n1\n2\n3\n1\n2\n", "4\n5\n");
    for device in DEVICES {
        let common = [&["weld", &input, "--epsilon", "0.11"], device].concat();
        let (text, _) = done(&[&common[..], &["--map", &map, "--removed", &removed]].concat());
        assert!(
            text.contains("welded vertices                  4"),
            "{text}"
        );
        assert_eq!(fs::read_to_string(&map).expect("written"), expected_map);
        assert_eq!(
            fs::read_to_string(&removed).expect("written"),
            expected_removed
        );
        // Then nothing else goes there.
        assert_eq!(
            done(&[&common[..], &["--map", "-"]].concat()).0,
            expected_map
        );
        assert_eq!(
            done(&[&common[..], &["--removed", "-"]].concat()).0,
            expected_removed
        );
    }
    let rest: Vec<_> = fs::read_dir(&folder).expect("a folder").collect();
    assert_eq!(rest.len(), 3, "{rest:?}");
}

#[test]
fn a_ratio_finds_its_epsilon() {
    let folder = folder("weld_ratio");
    let input = path(&folder, "in.ply");
    done(&[
        "generate", "scan", "-n", "20k", "--seed", "3", "-o", &input, "--quiet",
    ]);
    let mut found = Vec::new();
    for device in DEVICES {
        let (mesh, report) = weld(
            &folder,
            &input,
            "out.ply",
            &[&["--ratio", "0.5"], device].concat(),
        );
        let before = report["vertices"].as_f64().expect("a count");
        let ratio = report["ratio"].as_f64().expect("a number");
        assert!((ratio - 0.5).abs() <= 1e-4, "{report}");
        assert!((1.0 - mesh.points.len() as f64 / before - ratio).abs() < 1e-9);
        assert!(
            report["clusterings"]
                .as_u64()
                .is_some_and(|n| n > 2 && n < 80)
        );
        let epsilon = report["epsilon"].as_f64().expect("a number");
        // The same by hand.
        let text = epsilon.to_string();
        let (again, report) = weld(
            &folder,
            &input,
            "out.ply",
            &[&["--epsilon", &text], device].concat(),
        );
        assert_eq!(again, mesh);
        assert!(report.get("ratio").is_none());
        found.push(epsilon);
    }
    assert_eq!(found, [found[0]; 3]);
    // Equal points: all go at epsilon 0, or none.
    let points = vec![DVec3::ONE; 10];
    let cloud = write(
        &folder,
        "cloud.ply",
        &Mesh {
            points,
            ..Mesh::default()
        },
    );
    let (_, note) = done(&["weld", &cloud, "--ratio", "0.5", "--device", "cpu"]);
    assert!(note.contains("removes 0.9"), "{note}");
}

#[test]
fn clouds_soups_and_quadrilaterals() {
    let folder = folder("weld_kinds");
    let quads = {
        let mut polygons = Polygons::default();
        polygons.push(&[0, 1, 2, 3]);
        polygons.push(&[4, 5, 6, 7]);
        let at = |x: f64, y: f64| DVec3::new(x, y, 0.0);
        Mesh {
            points: vec![
                at(0., 0.),
                at(1., 0.),
                at(1., 1.),
                at(0., 1.),
                at(1., 0.),
                at(2., 0.),
                at(2., 1.),
                at(1., 1.),
            ],
            faces: Faces::Polygons(polygons),
            ..Mesh::default()
        }
    };
    let input = write(&folder, "quads.obj", &quads);
    for device in DEVICES {
        let (mesh, _) = weld(
            &folder,
            &input,
            "out.obj",
            &[&["--epsilon", "0"], device].concat(),
        );
        assert_eq!(mesh.points.len(), 6);
        assert_eq!(
            (mesh.faces.get(0), mesh.faces.get(1)),
            (&[0, 1, 2, 3][..], &[1, 4, 5, 2][..])
        );
    }
    // An STL has three vertices a triangle, and each of a closed surface six times.
    let (scan, soup) = (path(&folder, "scan.ply"), path(&folder, "soup.stl"));
    done(&["generate", "scan", "-n", "2k", "-o", &scan, "--quiet"]);
    done(&["convert", &scan, &soup, "--quiet"]);
    let before = read(&scan);
    assert_eq!(read(&soup).points.len(), 3 * before.faces.len());
    let (mesh, _) = weld(
        &folder,
        &soup,
        "out.ply",
        &["--epsilon", "0", "--device", "cpu"],
    );
    assert_eq!(mesh.points.len(), before.points.len());
    assert_eq!(mesh.faces.len(), before.faces.len());
    let points = before.points;
    let cloud = write(
        &folder,
        "cloud.xyz",
        &Mesh {
            points,
            ..Mesh::default()
        },
    );
    let (mesh, _) = weld(
        &folder,
        &cloud,
        "out.xyz",
        &["--epsilon", "0.1", "--device", "cpu"],
    );
    assert!(mesh.faces.is_empty() && !mesh.points.is_empty());
}

#[test]
fn normals_that_are_no_numbers_count_as_zero() {
    let folder = folder("weld_normals");
    let file = path(&folder, "in.xyz");
    fs::write(
        &file,
        "x y z nx ny nz\n0 0 0 nan 0 0\n0 0 0 0 3 0\n1 1 1 inf 1 0\n",
    )
    .expect("written");
    for device in DEVICES {
        let output = path(&folder, "out.ply");
        let arguments = [
            "weld",
            &file,
            "--epsilon",
            "0",
            "--normal-tolerance",
            "0",
            "-o",
            &output,
        ];
        let (_, note) = done(&[&arguments, device].concat());
        assert!(note.contains("2 normals are not finite"), "{note}");
        let normals = read(&output).attributes.normals.expect("normals");
        assert_eq!(normals.len(), 2);
        assert_eq!(normals[0], DVec3::Y);
    }
}
