//! Meshes that ranks generate: as inputs in place of files, and to files; digests of polygons.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::{done, meshes, refused};

fn polylla(at: &Path, ranks: usize, input: &str, more: &[&str]) -> serde_json::Value {
    let arguments = [
        "polylla", input, "--json", "p.json", "--device", "cpu", "--quiet",
    ];
    done(at, ranks, &[&arguments[..], more].concat());
    let text = fs::read_to_string(at.join("p.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn a_generated_input_gives_what_its_file_gives() {
    let folder = TempDir::new().unwrap();
    let at = folder.path();
    for (input, file, kind) in [
        ("generate:grid:900", "grid.ply", &["grid", "-n", "900"][..]),
        (
            "generate:jittered:1k:3",
            "jittered.ply",
            &["jittered", "-n", "1000", "--seed", "3"],
        ),
        (
            "generate:random:700:5",
            "random.ply",
            &["random", "-n", "700", "--seed", "5"],
        ),
    ] {
        done(
            at,
            1,
            &[&["generate"], kind, &["-o", file, "--quiet"]].concat(),
        );
        let commands = [
            ("polylla", &[][..]),
            ("weld", &["--epsilon", "0.03"]),
            ("polylla", &["--precision", "f32"]),
            ("smooth", &["--max-iterations", "5"]),
            ("refine", &["--mark", "disk:0.5,0.5,0.2", "--rounds", "2"]),
        ];
        // Rank 0 makes random points, and the others get them as from a file.
        let all = if file == "random.ply" { 2 } else { 5 };
        for (command, more) in &commands[..all] {
            let run = |ranks: usize, input: &str| {
                let output = ["-o", "out.ply", "--device", "cpu", "--quiet"];
                done(at, ranks, &[&[*command, input], *more, &output].concat());
                fs::read(at.join("out.ply")).unwrap()
            };
            let single = run(1, file);
            for ranks in [1, 3] {
                assert!(
                    run(ranks, input) == single,
                    "{command} {input} on {ranks} ranks"
                );
            }
        }
        // The whole mesh at rank 0, and a piece of each rank.
        let written = |ranks, input, output| {
            let json = polylla(at, ranks, input, &["-o", output, "--digest"]);
            (json["digest"].clone(), fs::read(at.join(output)).unwrap())
        };
        let single = written(1, file, "all.off");
        assert!(written(3, input, "all.off") == single, "{input}");
        assert_eq!(written(3, input, "all.pvtu").0, single.0, "{input}");
    }
    // Tetrahedra are made by rank 0.
    done(
        at,
        1,
        &["generate", "tets", "-n", "300", "-o", "tets.vtu", "--quiet"],
    );
    let smooth = |ranks: usize, input: &str| {
        done(
            at,
            ranks,
            &["smooth", input, "-o", "s.vtu", "--device", "cpu", "--quiet"],
        );
        fs::read(at.join("s.vtu")).unwrap()
    };
    let single = smooth(1, "tets.vtu");
    assert!(smooth(1, "generate:tets:300") == single && smooth(2, "generate:tets:300") == single);
}

#[test]
fn a_digest_does_not_depend_on_the_number_of_ranks() {
    let folder = meshes();
    let at = folder.path();
    let mut digests = Vec::new();
    for (ranks, mesh) in [
        (2, "grid.ply"),
        (7, "random.ply"),
        (2, "disk.off"),
        (3, "holes.ply"),
        (4, "regions.ply"),
        (7, "generate:grid:900"),
        (2, "generate:jittered:900:1"),
        (3, "generate:disk:300:2"),
    ] {
        let digest = |ranks| {
            let json = polylla(at, ranks, mesh, &["--digest"]);
            json["digest"].as_str().unwrap().to_owned()
        };
        let single = digest(1);
        assert_eq!(single.len(), 16);
        assert_eq!(digest(ranks), single, "{mesh} on {ranks} ranks");
        for more in [&["--device", "serial"][..], &["--method", "indexed"]] {
            // The option stands once.
            let arguments = ["polylla", mesh, "--digest", "--json", "p.json", "--quiet"];
            done(at, 1, &[&arguments[..], more].concat());
            let text = fs::read_to_string(at.join("p.json")).unwrap();
            assert!(text.contains(&single), "{mesh} {more:?}");
        }
        digests.push(single);
    }
    assert_eq!(
        digests[0], digests[5],
        "the grid of the file, and the one that ranks make"
    );
    digests.remove(5);
    digests.sort();
    digests.dedup();
    assert_eq!(digests.len(), 7);
    assert!(polylla(at, 2, "grid.ply", &[]).get("digest").is_none());
}

#[test]
fn a_generated_grid_becomes_its_squares() {
    let folder = TempDir::new().unwrap();
    // Ranks without rows too.
    for (ranks, side) in [(1, 2_u64), (1, 101), (3, 2), (2, 5), (7, 101)] {
        let input = format!("generate:grid:{}", side * side);
        let json = polylla(folder.path(), ranks, &input, &[]);
        assert_eq!(
            json["polygons"],
            (side - 1) * (side - 1),
            "{side} on {ranks} ranks"
        );
        assert_eq!(json["vertices"], side * side);
        if ranks > 1 {
            let bytes = |of: &str| json[format!("most_{of}_bytes_of_a_rank")].as_u64().unwrap();
            assert!(bytes("device") > 0 && bytes("resident") > bytes("device"));
        }
        assert_eq!(json["triangles"], 2 * (side - 1) * (side - 1));
    }
}

#[test]
fn ranks_write_the_grid_that_one_process_writes() {
    let folder = TempDir::new().unwrap();
    let at = folder.path();
    for (ranks, kind) in [
        (7, &["grid", "-n", "1000"][..]),
        (2, &["jittered", "-n", "5000", "--seed", "9"]),
        (3, &["grid", "-n", "4"]),
    ] {
        let run = |ranks: usize| {
            done(
                at,
                ranks,
                &[&["generate"], kind, &["-o", "g.ply", "--quiet"]].concat(),
            );
            fs::read(at.join("g.ply")).unwrap()
        };
        assert!(run(ranks) == run(1), "{kind:?} on {ranks} ranks");
    }
    for (arguments, cause) in [
        (
            &["generate", "random", "-n", "100", "-o", "r.ply"][..],
            "several processes make grid and jittered only",
        ),
        (
            &["generate", "grid", "-n", "100", "-o", "r.vtu"],
            "several processes write a generated mesh to .ply only",
        ),
        (
            &["generate", "grid", "-n", "5G", "-o", "r.ply"],
            "more than the 32-bit ids of files name",
        ),
        (
            &["generate", "grid", "-n", "2", "-o", "r.ply"],
            "ask for at least 3",
        ),
        (&["polylla", "generate:grid:1T"], "is no number such as"),
        (&["polylla", "generate:gird:9"], "there is no kind of mesh"),
        (&["polylla", "generate:grid:2"], "ask for at least 3"),
        (
            &["polylla", "generate:random:2", "--quiet"],
            "ask for at least 4",
        ),
    ] {
        let said = refused(at, 2, arguments);
        assert!(said.contains(cause), "{said}");
    }
    assert!(!at.join("r.ply").exists());
}
