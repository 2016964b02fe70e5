//! `mpirun … trioxide refine` of tetrahedra: the files and counts of the single run.

use std::fs;
use std::path::Path;

use tempfile::TempDir;
use trioxide::fields::{Field, Values};
use trioxide::volume::VolumeMesh;
use trioxide::{formats, generate};

use super::{RANKS, done, refused, same_file_and_counts};

/// The counts in the JSON of a run, equal for any number of ranks.
const COUNTS: [&str; 6] = [
    "vertices",
    "cells",
    "tagged_faces",
    "input_vertices",
    "input_cells",
    "rounds",
];

fn same(at: &Path, sizes: &[usize], arguments: &[&str], output: &str) {
    let arguments = [&["refine"], arguments].concat();
    same_file_and_counts(at, sizes, &arguments, output, &COUNTS);
}

/// Tetrahedra of a grid and of random points, with regions, tags and fields of all kinds; a list of marks.
pub fn meshes() -> TempDir {
    let folder = TempDir::new().unwrap();
    let at = folder.path();
    let grid = generate::tet_grid(200, 1).unwrap();
    for (name, mut mesh) in [
        ("grid", grid),
        ("random", generate::random_tets(150, 3).unwrap()),
    ] {
        let n = mesh.tetrahedra.len() as i32;
        mesh.regions = Some((0..n).map(|t| t % 5).collect());
        let mut mesh = VolumeMesh::from(mesh);
        formats::write_volume(&at.join(format!("{name}.vtu")), &mesh).unwrap();
        let heights = mesh.points.iter().map(|p| p.z).collect();
        let field = |name: &str, values: Values| Field::scalars(name, values);
        mesh.fields
            .points
            .push(field("height", Values::F64(heights)));
        let ids = (0..mesh.cells.len() as u32).collect();
        mesh.fields.cells.push(field("id", Values::U32(ids)));
        let sides = (0..mesh.faces.len()).map(|f| f as f32).collect();
        mesh.fields.sides.push(field("side", Values::F32(sides)));
        formats::write_volume(&at.join(format!("{name}_fields.vtu")), &mesh).unwrap();
    }
    let ids: String = (0..400).step_by(37).map(|t| format!("{t}\n")).collect();
    fs::write(at.join("ids.txt"), ids).unwrap();
    let cells = formats::read_volume(&at.join("grid.vtu"))
        .unwrap()
        .cells
        .len();
    let values: String = (0..cells).map(|t| format!("{}\n", t * 7 % 101)).collect();
    fs::write(at.join("values.txt"), values).unwrap();
    folder
}

#[test]
fn refine_of_tetrahedra_writes_the_file_of_the_single_run() {
    let folder = meshes();
    let at = folder.path();
    same(at, &RANKS, &["grid.vtu", "--rounds", "2"], "r.vtu");
    let ball = ["random.vtu", "--mark", "ball:0,0,0,0.4", "--rounds", "4"];
    same(at, &[4], &ball, "r.vtu");
    let few = ["--mark", "fraction:0.02", "--seed", "9", "--rounds", "4"];
    let single = ["--precision", "f32", "--max-triangles", "3000"];
    same(
        at,
        &[2],
        &[&["grid.vtu"], &few[..], &single].concat(),
        "r.msh",
    );
    let ids = ["grid_fields.vtu", "--mark", "file:ids.txt", "--rounds", "3"];
    same(at, &[3], &ids, "r.vtu");
    let volume = [
        "random_fields.vtu",
        "--mark",
        "volume:0.002",
        "--rounds",
        "3",
    ];
    same(at, &[3], &volume, "r.vtu");
    same(at, &[4], &["generate:tets:300:2"], "r.vtk");
    let box_ = ["--mark", "box:0,0,0,0.4,1,1", "--rounds", "3"];
    same(
        at,
        &[3],
        &[&["generate:tets:600:1"], &box_[..]].concat(),
        "r.vtu",
    );
    same(at, &[2], &["grid_fields.vtu", "--rounds", "0"], "r.vtu");
    let values = ["grid.vtu", "--mark", "values:values.txt"];
    let dorfler = ["--dorfler", "0.3", "--rounds", "3"];
    for (ranks, maps) in [(1, "one"), (3, "many")] {
        let maps = ["--maps", maps, "--device", "cpu", "--quiet"];
        let arguments = [&["refine"], &values[..], &dorfler, &maps].concat();
        assert_eq!(done(at, ranks, &arguments), "");
    }
    for file in [
        "parent_tetrahedra.txt",
        "new_vertices.txt",
        "prolongation.mtx",
    ] {
        let [one, many] = ["one", "many"].map(|maps| fs::read(at.join(maps).join(file)).unwrap());
        assert!(one.len() > 100 && one == many, "{file}");
    }
    let threshold = ["--threshold", "90", "--rounds", "3", "--coarsen-to", "2"];
    same(at, &[2], &[&values[..], &threshold].concat(), "r.vtu");
    same(at, &[2], &["grid.vtu", "--until-volume", "0.0004"], "r.vtu");
}

#[test]
fn faults_of_refine_of_tetrahedra_end_all_ranks_with_the_message_of_one() {
    let folder = meshes();
    let at = folder.path();
    let mut twice = generate::tet_grid(64, 1).unwrap();
    twice.tetrahedra[9] = twice.tetrahedra[100];
    formats::write_volume(&at.join("twice.vtu"), &twice.into()).unwrap();
    let mut flat = generate::tet_grid(64, 1).unwrap();
    for p in &mut flat.points {
        *p = *p * 1e-6 + 1.0;
    }
    formats::write_volume(&at.join("flat.vtu"), &flat.into()).unwrap();
    let short = fs::read(at.join("grid.vtu")).unwrap();
    fs::write(at.join("short.vtu"), &short[..short.len() / 2]).unwrap();
    for (mesh, more, cause) in [
        ("twice.vtu", &[][..], "twice.vtu: "),
        ("flat.vtu", &["--precision", "f32"], "flat.vtu: "),
        ("short.vtu", &[], "short.vtu"),
        ("nothing.vtu", &[], "check its name and folder"),
        ("grid.vtu", &["--mark", "ball:0,0,0,-1"], "ball"),
        ("grid.vtu", &["--mark", "area:1"], "goes with planar meshes"),
        (
            "grid.vtu",
            &["--mark", "file:no.txt"],
            "check its name and folder",
        ),
        (
            "grid.vtu",
            &["--until-area", "1"],
            "--until-area goes with meshes of triangles",
        ),
        (
            "grid.vtu",
            &["--coarsen-to", "2"],
            "level 2 was not reached: there were 1 rounds",
        ),
    ] {
        let arguments = [
            "refine", mesh, "-o", "out.vtu", "--quiet", "--device", "cpu",
        ];
        let arguments = [&arguments[..], more].concat();
        let said = refused(at, 2, &arguments);
        assert!(said.contains(cause), "{said}");
        assert_eq!(said, refused(at, 1, &arguments));
    }
    assert!(!at.join("out.vtu").exists());
}
