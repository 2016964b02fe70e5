//! `mpirun … trioxide refine`: the files and counts of the single run.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::{RANKS, counts, done, meshes, one_rank_is_the_single_run, refused, write_rich};

/// The outputs of a run: the counts, the mesh, and the maps if they are asked for.
fn run(at: &Path, ranks: usize, arguments: &[&str], output: &str) -> Vec<Vec<u8>> {
    let more = [
        "-o", output, "--json", "r.json", "--device", "cpu", "--quiet",
    ];
    let said = done(at, ranks, &[&["refine"], arguments, &more].concat());
    assert_eq!(said, "");
    let keys = [
        "vertices",
        "faces",
        "edges",
        "input_vertices",
        "input_faces",
        "rounds",
        "end",
    ];
    let counts = counts(&at.join("r.json"), &keys);
    let take = |name: &str| {
        let bytes = fs::read(at.join(name)).unwrap();
        // Otherwise a file that the next run does not write would be this run's.
        fs::remove_file(at.join(name)).unwrap();
        bytes
    };
    let mut written = vec![counts.into_bytes(), take(output)];
    if output.ends_with(".node") {
        written.push(take(&output.replace(".node", ".ele")));
    }
    if arguments.contains(&"--maps") {
        let maps = [
            "parent_triangles.txt",
            "new_vertices.txt",
            "prolongation.mtx",
        ];
        written.extend(maps.map(|name| take(&format!("maps/{name}"))));
    }
    written
}

fn same(at: &Path, sizes: &[usize], arguments: &[&str], output: &str) {
    let single = run(at, 1, arguments, output);
    for &ranks in sizes {
        let many = run(at, ranks, arguments, output);
        for (i, (many, single)) in many.iter().zip(&single).enumerate() {
            assert!(
                many == single,
                "file {i} of {arguments:?} on {ranks} ranks differs"
            );
        }
        assert_eq!(many.len(), single.len());
    }
}

/// The meshes of all tests, and: surfaces in space; a mesh with all attributes and fields; marks in files.
fn refined_meshes() -> TempDir {
    let folder = meshes();
    let at = folder.path();
    let scan = ["generate", "scan", "-n", "500", "-o", "scan.ply", "--quiet"];
    done(at, 1, &scan);
    write_rich(at);
    let ids: String = (0..400).step_by(37).map(|t| format!("{t}\n")).collect();
    fs::write(at.join("ids.txt"), ids).unwrap();
    let values: String = (0..800).map(|t| format!("{}\n", t * 7 % 101)).collect();
    fs::write(at.join("values.txt"), values).unwrap();
    folder
}

#[test]
fn refine_writes_the_files_of_the_single_run() {
    let folder = refined_meshes();
    let at = folder.path();
    // Each rank reads and writes its slices.
    same(at, &RANKS, &["grid.ply", "--rounds", "2"], "r.ply");
    let disk = ["--mark", "disk:0.3,0.4,0.2", "--rounds", "4"];
    same(at, &[3], &[&["random.ply"], &disk[..]].concat(), "r.ply");
    same(at, &[4], &["holes.ply", "--until-area", "0.002"], "r.ply");
    let angle = ["regions.ply", "--mark", "angle:46", "--rounds", "3"];
    same(at, &[2], &angle, "r.ply");
    let ids = ["regions.ply", "--mark", "file:ids.txt", "--rounds", "3"];
    same(at, &[4], &ids, "r.ply");
    let values = ["regions.ply", "--mark", "values:values.txt"];
    same(
        at,
        &[3],
        &[&values[..], &["--dorfler", "0.3"]].concat(),
        "r.ply",
    );
    let back = ["random.ply", "--rounds", "3", "--coarsen-to", "2"];
    same(at, &[2], &back, "r.ply");
    let few = ["--mark", "fraction:0.05", "--seed", "9", "--rounds", "5"];
    let single = ["--precision", "f32", "--max-triangles", "4000"];
    let few = [&["random.ply"], &few[..], &single].concat();
    same(at, &[2], &few, "r.ply");
    // A surface in space.
    same(at, &[4], &["scan.ply", "--rounds", "2"], "r.ply");
    let ball = ["scan.ply", "--mark", "ball:0,0,1,0.6", "--rounds", "3"];
    same(at, &[3], &ball, "r.ply");
}

#[test]
fn rank_0_reads_and_writes_what_the_others_cannot() {
    let folder = refined_meshes();
    let at = folder.path();
    same(at, &[3], &["text.ply", "--rounds", "2"], "r.ply");
    same(at, &[4], &["disk.off", "--rounds", "2"], "r.off");
    same(at, &[3], &["regions.ply", "--mark", "area:0.4"], "r.node");
    // Attributes and fields of vertices.
    let rich = ["rich.ply", "--mark", "disk:3,3,4", "--rounds", "3"];
    same(at, &[3], &rich, "r.ply");
    same(at, &[2], &rich, "r.vtu");
    let maps = ["random.ply", "--rounds", "2", "--maps", "maps"];
    same(at, &[2], &maps, "r.ply");
}

#[test]
fn refine_on_one_rank_is_the_single_run() {
    let folder = refined_meshes();
    one_rank_is_the_single_run(folder.path(), &["refine", "random.ply", "--rounds", "2"]);
}

#[test]
fn faults_of_refine_end_all_ranks_with_one_message() {
    let folder = refined_meshes();
    let at = folder.path();
    let grid = fs::read(at.join("grid.ply")).unwrap();
    fs::write(at.join("short.ply"), &grid[..grid.len() - 5]).unwrap();
    let mut twice = grid.clone();
    let n = twice.len();
    twice.copy_within(n - 13 * 40..n - 13 * 39, n - 13);
    fs::write(at.join("twice.ply"), twice).unwrap();
    let edges = ["convert", "grid.ply", "grid.edges", "--quiet"];
    let has_edges = super::command(at, 1, &edges).status.success();
    if !has_edges {
        let edges = ["refine", "grid.ply", "-o", "grid.edges", "--quiet"];
        done(at, 1, &edges);
    }
    let fine = ["--until-area", "1e-30", "--precision", "f32"];
    for (mesh, more, cause) in [
        ("short.ply", &[][..], "short.ply:"),
        ("nothing.ply", &[], "check its name and folder"),
        ("twice.ply", &[], "triangle 1681 is triangle 1642 again"),
        (
            "grid.ply",
            &["--mark", "disk:0,0,-1"],
            "a disk of radius -1",
        ),
        (
            "grid.ply",
            &["--mark", "file:nothing.txt"],
            "check its name and folder",
        ),
        (
            "grid.ply",
            &["--mark", "values:values.txt"],
            "--mark by values goes with --threshold or --dorfler",
        ),
        (
            "grid.ply",
            &["--rounds", "2", "--coarsen-to", "3"],
            "level 3 was not reached: there were 2 rounds",
        ),
        (
            "grid.ply",
            &["--device", "serial"],
            "--device serial is for one process",
        ),
        (
            "grid.edges",
            &[],
            "an .edges file to read is for one process",
        ),
        ("three.off", &fine, "fewer --rounds or a larger area"),
    ] {
        fs::write(
            at.join("three.off"),
            "OFF\n3 1 0\n1 1 0\n1.000001 1 0\n1 1.000001 0\n3 0 1 2\n",
        )
        .unwrap();
        let device: &[&str] = match more.contains(&"--device") {
            true => &[],
            false => &["--device", "cpu"],
        };
        let arguments = ["refine", mesh, "-o", "out.ply", "--quiet"];
        let said = refused(at, 2, &[&arguments[..], more, device].concat());
        assert!(said.contains(cause), "{said}");
        if mesh == "three.off" {
            let alone = refused(at, 1, &[&arguments[..], more, device].concat());
            assert_eq!(said, alone);
        }
    }
    let to = [
        "refine",
        "grid.ply",
        "-o",
        "out.edges",
        "--device",
        "cpu",
        "--quiet",
    ];
    let said = refused(at, 2, &to);
    assert!(
        said.contains("an .edges file to write is for one"),
        "{said}"
    );
    assert!(!at.join("out.ply").exists() && !at.join("out.edges").exists());
}
