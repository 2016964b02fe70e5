//! `mpirun … trioxide polylla` of tetrahedra: the files and counts of the single run.

use std::fs;
use std::path::Path;

use trioxide::{formats, generate};

use super::refine_tets::meshes;
use super::{RANKS, counts, done, refused, same_file_and_counts};

const COUNTS: [&str; 13] = [
    "vertices",
    "tetrahedra",
    "polyhedra",
    "single_tetrahedra",
    "most_tetrahedra",
    "faces",
    "regions",
    "barrier_faces",
    "regions_with_barriers",
    "barrier_tips",
    "barrier_faces_left",
    "pinched",
    "split_rounds",
];

fn same(at: &Path, sizes: &[usize], arguments: &[&str], output: &str) {
    let arguments = [&["polylla"], arguments].concat();
    same_file_and_counts(at, sizes, &arguments, output, &COUNTS);
}

#[test]
fn polyhedra_are_written_as_by_the_single_run() {
    let folder = meshes();
    let at = folder.path();
    same(at, &RANKS, &["grid.vtu"], "p.vtu");
    same(at, &[3], &["random_fields.vtu", "--strict"], "p.vtu");
    let free = [
        "random_fields.vtu",
        "--unconstrained",
        "--by",
        "circumradius",
    ];
    same(at, &[4], &free, "p.vtu");
    let single = ["grid_fields.vtu", "--precision", "f32", "--merge-faces"];
    same(at, &[2], &single, "p.vtu");
    same(at, &[3], &["random.vtu"], "p.visf");
    same(at, &[3], &["generate:tets:600:1"], "p.obj");
    // Without a file each rank makes its part of a grid.
    let counted = |ranks| {
        let arguments = ["polylla", "generate:tets:900:2", "--strict"];
        let more = ["--json", "c.json", "--device", "cpu", "--quiet"];
        done(at, ranks, &[&arguments[..], &more].concat());
        counts(&at.join("c.json"), &COUNTS)
    };
    assert_eq!(counted(4), counted(1));
}

#[test]
fn levels_of_polyhedra_are_those_of_the_single_run() {
    let folder = meshes();
    let at = folder.path();
    let levels = |ranks, more: &[&str]| {
        let arguments = ["polylla", "random_fields.vtu", "--levels", "2", "--strict"];
        let files = [
            "--maps",
            "maps",
            "-o",
            "solid-{level}.vtu",
            "--json",
            "c.json",
        ];
        let quiet = ["--device", "cpu", "--quiet"];
        assert_eq!(
            done(at, ranks, &[&arguments, more, &files, &quiet].concat()),
            ""
        );
        let maps = (1..=2).flat_map(|level| {
            let maps = ["parents.txt", "prolongation.mtx"];
            maps.map(|map| format!("maps/level_{level}_{map}"))
        });
        let files = (0..=2)
            .map(|level| format!("solid-{level}.vtu"))
            .chain(maps);
        let taken = files.map(|file| {
            let bytes = fs::read(at.join(&file)).unwrap();
            // Otherwise a file that the next run does not write would be this run's.
            fs::remove_file(at.join(file)).unwrap();
            bytes
        });
        let taken: Vec<_> = taken.collect();
        let keys = [&COUNTS[..], &["levels", "pieces"]].concat();
        (taken, counts(&at.join("c.json"), &keys))
    };
    for (ranks, more) in [(3, &[][..]), (2, &["--merge-faces", "--unconstrained"])] {
        assert!(levels(ranks, more) == levels(1, more), "{more:?}");
    }
    // Fields of levels of a grid that is made, and no file.
    let until = ["generate:tets:400:1", "--until", "9"];
    same(at, &[2], &until, "p.vtu");
    let counted = |ranks| {
        let more = ["--json", "c.json", "--device", "cpu", "--quiet"];
        done(at, ranks, &[&["polylla"], &until[..], &more].concat());
        counts(&at.join("c.json"), &["levels", "pieces"])
    };
    assert_eq!(counted(2), counted(1));
    let output = ["-o", "p-{level}.pvtu", "--device", "cpu"];
    let said = refused(at, 2, &[&["polylla"], &until[..], &output].concat());
    assert!(
        said.contains("levels are written to no .pvtu each"),
        "{said}"
    );
}

#[test]
fn faults_of_polyhedra_end_all_ranks_with_the_message_of_one() {
    let folder = meshes();
    let at = folder.path();
    let mut twice = generate::tet_grid(64, 1).unwrap();
    twice.tetrahedra[9] = twice.tetrahedra[100];
    formats::write_volume(&at.join("twice.vtu"), &twice.into()).unwrap();
    let short = fs::read(at.join("grid.vtu")).unwrap();
    fs::write(at.join("short.vtu"), &short[..short.len() / 2]).unwrap();
    for (mesh, more, output) in [
        ("twice.vtu", &[][..], "p.vtu"),
        ("short.vtu", &[], "p.vtu"),
        ("nothing.vtu", &[], "p.vtu"),
        ("grid.vtu", &["--digest"], "p.vtu"),
        ("grid.vtu", &["--ties", "first"], "p.vtu"),
        ("grid.vtu", &[], "p.nothing"),
    ] {
        let arguments = ["polylla", mesh, "-o", output, "--quiet", "--device", "cpu"];
        let arguments = [&arguments[..], more].concat();
        assert_eq!(refused(at, 2, &arguments), refused(at, 1, &arguments));
        assert!(!at.join(output).exists());
    }
}
