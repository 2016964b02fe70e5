//! `mpirun … trioxide polylla`: polygons, cuts, fields and attributes.

use std::f64::consts::TAU;
use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::{RANKS, counts, done, meshes};

#[test]
fn polylla_writes_the_file_of_the_single_run() {
    let folder = meshes();
    let at = folder.path();
    for (mesh, sizes) in [
        ("grid.ply", &RANKS[..]),
        ("random.ply", &[3]),
        ("disk.off", &[2]),
        ("holes.ply", &[4]),
        ("text.ply", &[3]),
        ("regions.ply", &[4]),
    ] {
        let run = |ranks, output: &str| {
            let arguments = ["polylla", mesh, "-o", output, "--device", "cpu", "--quiet"];
            assert_eq!(done(at, ranks, &arguments), "");
            fs::read(at.join(output)).unwrap()
        };
        let single = run(1, "one.ply");
        for &ranks in sizes {
            assert!(run(ranks, "many.ply") == single, "{mesh} on {ranks} ranks");
        }
    }
    // A format that rank 0 writes for all, and both precisions.
    for (output, precision) in [("p.off", "f64"), ("p.ply", "f32")] {
        let run = |ranks| {
            let arguments = [
                "polylla",
                "random.ply",
                "-o",
                output,
                "--device",
                "cpu",
                "--quiet",
            ];
            done(
                at,
                ranks,
                &[&arguments[..], &["--precision", precision]].concat(),
            );
            fs::read(at.join(output)).unwrap()
        };
        assert!(run(1) == run(3), "{output}");
    }
}

#[test]
fn counts_are_those_of_the_single_run() {
    let folder = meshes();
    let run = |ranks| {
        let arguments = [
            "polylla",
            "random.ply",
            "--json",
            "a.json",
            "--device",
            "cpu",
            "--quiet",
        ];
        done(folder.path(), ranks, &arguments);
        let keys = [
            "polygons",
            "regions",
            "frontier_edges",
            "barrier_tips",
            "weakly_simple",
        ];
        counts(&folder.path().join("a.json"), &keys)
    };
    assert_eq!(run(1), run(4));
}

/// The file that some ranks write.
fn written(at: &Path, ranks: usize, arguments: &[&str], output: &str) -> Vec<u8> {
    written_as(at, ranks, arguments, [output; 2])
}

/// As [`written`], where the file has another name than the option.
fn written_as(at: &Path, ranks: usize, arguments: &[&str], [output, file]: [&str; 2]) -> Vec<u8> {
    let more = ["-o", output, "--device", "cpu", "--quiet"];
    assert_eq!(
        done(at, ranks, &[&["polylla"], arguments, &more].concat()),
        ""
    );
    let bytes = fs::read(at.join(file)).unwrap();
    // Otherwise a file that the next run does not write would be this run's.
    fs::remove_file(at.join(file)).unwrap();
    bytes
}

/// Writes `spiral.off`, one long region that comes back to its vertices in every turn.
fn write_spiral(at: &Path) {
    let mut text = String::from("OFF\n60 94 0\n");
    for k in 0..60 {
        let turns = f64::from(k) / 12.0;
        let (sin, cos) = (turns * TAU).sin_cos();
        let radius = 3_f64.powf(turns);
        text += &format!("{} {} 0\n", radius * cos, radius * sin);
    }
    for k in 0..47 {
        text += &format!("3 {k} {} {}\n", k + 12, k + 1);
        text += &format!("3 {} {} {}\n", k + 1, k + 12, k + 13);
    }
    fs::write(at.join("spiral.off"), text).unwrap();
}

#[test]
fn strict_polygons_are_those_of_the_single_run() {
    let folder = meshes();
    let at = folder.path();
    write_spiral(at);
    done(
        at,
        1,
        &["convert", "spiral.off", "-o", "spiral.ply", "--quiet"],
    );
    for (mesh, sizes) in [
        ("spiral.ply", &RANKS[..]),
        ("random.ply", &[3]),
        ("holes.ply", &[4]),
    ] {
        let arguments = [mesh, "--strict"];
        let single = written(at, 1, &arguments, "s.ply");
        for &ranks in sizes {
            let many = written(at, ranks, &arguments, "s.ply");
            assert!(many == single, "{mesh} on {ranks} ranks");
        }
    }
    let digest = |ranks| {
        let arguments = [
            "polylla",
            "spiral.off",
            "--strict",
            "--digest",
            "--json",
            "d.json",
            "--device",
            "cpu",
            "--quiet",
        ];
        done(at, ranks, &arguments);
        let text = fs::read_to_string(at.join("d.json")).unwrap();
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        ["digest", "polygons", "weakly_simple"].map(|key| json[key].to_string())
    };
    assert_eq!(digest(1), digest(3));
    assert_ne!(digest(1)[1], "1");
}

/// Writes `fields.ply`: regions, segments, attributes and fields of vertices, and fields of triangles.
fn write_fields(at: &Path) {
    let mut text = String::from("ply\nformat ascii 1.0\n");
    text += "comment segments 2 vertices 441 faces 800\ncomment segment 22 43 3\ncomment segment 43 44 8\n";
    text += "element vertex 441\n";
    for name in ["x", "y", "z", "nx", "ny", "nz", "s", "t", "height"] {
        text += &format!("property double {name}\n");
    }
    text += "property uchar red\nproperty uchar green\nproperty uchar blue\n";
    text += "element face 800\nproperty list uchar int vertex_indices\n";
    text += "property int region\nproperty double load\nproperty short kind\nend_header\n";
    for i in 0..441 {
        // Not all edges are equally long, and not all triangles are equally large.
        let (x, y) = (f64::from(i % 21), f64::from(i / 21));
        let (x, y) = (x + 0.01 * y * y, 1.1 * y + 0.003 * x * x);
        text += &format!("{x} {y} 0 0.5 0.25 1 0.125 0.5 {i} {} 9 7\n", i % 256);
    }
    for i in 0..400 {
        let (a, region) = (i % 20 + 21 * (i / 20), i % 20 / 7);
        let load = f64::from(i * i % 97) / 3.0;
        text += &format!("3 {} {} {} {region} {load} {i}\n", a, a + 1, a + 21);
        let load = f64::from(i % 13) / 7.0;
        text += &format!("3 {} {} {} {region} {load} -5\n", a + 1, a + 22, a + 21);
    }
    fs::write(at.join("fields.ply"), text).unwrap();
}

/// A surface that rank 0 makes, and that each rank reads, with angles and levels.
#[test]
fn polygons_of_surfaces_are_those_of_the_single_run() {
    let folder = TempDir::new().unwrap();
    let at = folder.path();
    let scan = ["generate", "scan", "-n", "900", "-o", "scan.ply", "--quiet"];
    done(at, 1, &scan);
    let angles = ["--feature-angle", "60", "--flatness", "20", "--strict"];
    for (ranks, mesh, more, output) in [
        (3, "scan.ply", &angles[..], "s.ply"),
        (2, "generate:scan:900:1", &["--until", "20"], "s.vtu"),
    ] {
        let arguments = [&[mesh], more].concat();
        let single = written(at, 1, &arguments, output);
        assert!(written(at, ranks, &arguments, output) == single, "{mesh}");
    }
}

#[test]
fn fields_and_attributes_are_those_of_the_single_run() {
    let folder = meshes();
    let at = folder.path();
    write_fields(at);
    let convert = ["convert", "fields.ply", "-o", "fields.vtu", "--quiet"];
    done(at, 1, &convert);
    for (ranks, arguments, output) in [
        (7, &["fields.ply"][..], "f.ply"),
        (3, &["fields.ply", "--strict"], "f.vtu"),
        (2, &["fields.vtu", "--unconstrained"], "f.vtu"),
        (3, &["fields.vtu", "--precision", "f32"], "f.ply"),
        (2, &["fields.ply"], "f.off"),
    ] {
        let single = written(at, 1, arguments, output);
        let many = written(at, ranks, arguments, output);
        assert!(many == single, "{arguments:?}, {output}, {ranks} ranks");
    }
    // Levels have fields too, and the maps between them; ranks write the same files.
    let levels = |ranks| {
        let arguments = ["fields.ply", "--levels", "3", "--maps", "maps"];
        let finest = written_as(at, ranks, &arguments, ["level-{level}.vtu", "level-0.vtu"]);
        let more = (1..=3).flat_map(|level| {
            let maps = ["parents.txt", "prolongation.mtx"];
            let maps = maps.map(|map| format!("maps/level_{level}_{map}"));
            [&[format!("level-{level}.vtu")][..], &maps].concat()
        });
        let taken = more.map(|file| {
            let bytes = fs::read(at.join(&file)).unwrap();
            fs::remove_file(at.join(file)).unwrap();
            bytes
        });
        let more: Vec<_> = taken.collect();
        (finest, more)
    };
    assert!(levels(1) == levels(2), "levels on 2 ranks");
    let single = String::from_utf8_lossy(&written(at, 1, &["fields.ply"], "f.ply")).into_owned();
    assert!(single.contains("property double load"), "{single}");
}
