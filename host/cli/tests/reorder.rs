//! `trioxide reorder` as one types it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;
use trioxide::formats;
use trioxide::mesh::{Faces, Mesh, Polygons, gather};
use trioxide::random::SplitMix64;

struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn call(&self, line: &str) -> Output {
        Command::new(env!("CARGO_BIN_EXE_trioxide"))
            .args(line.split_whitespace())
            .current_dir(&self.0)
            .output()
            .expect("the binary starts")
    }

    #[track_caller]
    fn run(&self, line: &str) -> String {
        let output = self.call(line);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{line}: {error}");
        String::from_utf8(output.stdout).expect("text")
    }

    #[track_caller]
    fn refusal(&self, line: &str) -> String {
        let output = self.call(line);
        assert!(!output.status.success(), "{line} was done");
        String::from_utf8(output.stderr).expect("text")
    }

    fn ids(&self, name: &str) -> Vec<u32> {
        let text = fs::read_to_string(self.path(name)).expect("a map");
        let mut lines = text.lines();
        assert!(
            lines
                .next()
                .is_some_and(|head| head.starts_with("# old id of each "))
        );
        lines.map(|line| line.parse().expect("an id")).collect()
    }

    #[track_caller]
    fn assert_same(&self, a: &str, b: &str) {
        let read = |name: &str| fs::read(self.path(name)).expect("a file");
        assert!(read(a) == read(b), "{a} and {b} differ");
    }
}

fn shuffled(n: usize, random: &mut SplitMix64) -> Vec<u32> {
    let mut order: Vec<u32> = (0..n as u32).collect();
    for i in (1..n).rev() {
        order.swap(i, (random.next_u64() % (i as u64 + 1)) as usize);
    }
    order
}

/// Writes a mesh whose vertices and faces are in another order.
fn shuffle(from: &Path, to: &Path) {
    let mut mesh = formats::read(from).expect("a mesh");
    let mut random = SplitMix64::new(1);
    let vertices = shuffled(mesh.points.len(), &mut random);
    let faces = shuffled(mesh.faces.len(), &mut random);
    let mut new = vec![0; vertices.len()];
    for (i, &v) in (0..).zip(&vertices) {
        new[v as usize] = i;
    }
    let mut polygons = Polygons::default();
    for &face in &faces {
        let mut face: Vec<u32> = mesh
            .faces
            .get(face as usize)
            .iter()
            .map(|&v| new[v as usize])
            .collect();
        let first = random.next_u64() as usize % face.len();
        face.rotate_left(first);
        polygons.push(&face);
    }
    mesh.faces = match mesh.faces {
        Faces::Triangles(_) => Faces::Triangles(polygons.vertices.as_chunks().0.to_vec()),
        Faces::Polygons(_) => Faces::Polygons(polygons),
    };
    mesh.points = gather(&mesh.points, &vertices);
    let mesh = Mesh {
        points: mesh.points,
        faces: mesh.faces,
        ..Mesh::default()
    };
    formats::write(to, &mesh).expect("written");
}

#[test]
fn shuffled_meshes_become_the_same_files() {
    let place = Place::new();
    place.run("generate random -n 3k -o random.ply --quiet");
    place.run("generate scan -n 2k -o scan.ply --quiet");
    place.run("polylla random.ply -o polygons.off --device cpu --quiet");
    for name in ["random.ply", "scan.ply", "polygons.off"] {
        let other = format!("shuffled_{name}");
        shuffle(&place.path(name), &place.path(&other));
        place.run(&format!("reorder {name} -o a_{name} --device cpu --quiet"));
        for threads in [1, 2, 7] {
            let on = format!("--device cpu --threads {threads} --quiet");
            place.run(&format!("reorder {other} -o b_{name} {on}"));
            place.assert_same(&format!("a_{name}"), &format!("b_{name}"));
        }
    }
}

#[test]
fn maps_lead_back() {
    let place = Place::new();
    place.run("generate scan -n 2k -o scan.ply --quiet");
    let line = "reorder scan.ply -o out.ply --maps maps --device cpu --json -";
    let report: Value = serde_json::from_str(&place.run(line)).expect("JSON");
    let [old, new] =
        ["scan.ply", "out.ply"].map(|name| formats::read(&place.path(name)).expect("a mesh"));
    let (vertices, cells) = (
        place.ids("maps/old_vertices.txt"),
        place.ids("maps/old_cells.txt"),
    );
    assert_eq!(new.points, gather(&old.points, &vertices));
    assert_eq!(report["vertices"], vertices.len());
    assert_eq!(report["faces"], cells.len());
    assert_eq!(report["command"], "reorder");
    for (i, &cell) in cells.iter().enumerate() {
        let mut face: Vec<u32> = new
            .faces
            .get(i)
            .iter()
            .map(|&v| vertices[v as usize])
            .collect();
        let before = old.faces.get(cell as usize);
        let first = face
            .iter()
            .position(|&v| v == before[0])
            .expect("the vertex");
        face.rotate_left(first);
        assert_eq!(face, before);
    }
}

#[test]
fn chains_reorder_between_their_steps() {
    let place = Place::new();
    place.run("generate random -n 2k -o random.ply --quiet");
    let chain = "chain random.ply --device cpu --quiet : triangulate : reorder --maps maps -o a.vtu : polylla -o b.vtu";
    place.run(chain);
    place.run("triangulate random.ply -o t.vtu --device cpu --quiet");
    place.run("reorder t.vtu -o c.vtu --device cpu --quiet");
    place.run("polylla c.vtu -o d.vtu --device cpu --quiet");
    place.assert_same("a.vtu", "c.vtu");
    place.assert_same("b.vtu", "d.vtu");
    // Triangulations are in this order already.
    let cells = place.ids("maps/old_cells.txt");
    assert!(cells.iter().zip(0..).all(|(&old, new)| old == new));
    // Meshes of cells, and outputs of two steps in one place.
    place.run("generate tets -n 200 -o tets.vtu --quiet");
    place.run("chain tets.vtu --device cpu --quiet : reorder -o e.vtu : smooth -o f.vtu");
    place.run("reorder tets.vtu -o g.vtu --device cpu --quiet");
    place.assert_same("e.vtu", "g.vtu");
    let first = "chain random.ply --device cpu --quiet : triangulate : reorder --maps m";
    place.run(&format!("{first} : refine --maps m -o h.ply"));
    let same = "chain random.ply : reorder --maps m : reorder --maps m";
    assert!(place.refusal(same).contains("are one file"));
}

#[test]
fn clouds_and_generated_meshes_are_reordered() {
    let place = Place::new();
    place.run("generate cloud -n 1k -o cloud.las --quiet");
    place.run("reorder cloud.las -o out.las --device cpu --maps maps --quiet");
    let [old, new] =
        ["cloud.las", "out.las"].map(|n| formats::read(&place.path(n)).expect("points"));
    let vertices = place.ids("maps/old_vertices.txt");
    assert_eq!(new.points, gather(&old.points, &vertices));
    assert_eq!(new.fields.points, old.fields.points.gather(&vertices));
    assert!(new.about.unit.is_some());
    assert_eq!(new.about, old.about);
    assert!(place.ids("maps/old_cells.txt").is_empty());
    let text = place.run("reorder generate:grid:100 --device cpu --timings");
    for row in [
        "moved vertices",
        "order vertices",
        "order cells",
        "whole run",
    ] {
        assert!(text.contains(row), "{text}");
    }
}

#[test]
fn triangulate_reorders_its_result() {
    let place = Place::new();
    place.run("generate random -n 2k -o random.ply --quiet");
    let outline = "4 2 0 0\n0 0 0\n1 4 0\n2 4 4\n3 0 4\n4 0\n0 0 1\n1 1 2\n2 2 3\n3 3 0\n0\n";
    fs::write(place.path("square.poly"), outline).expect("an outline");
    for (input, options) in [("random.ply", ""), ("square.poly", "--area 0.01")] {
        let on = "--device cpu --quiet";
        place.run(&format!("triangulate {input} {options} -o a.vtu {on}"));
        place.run(&format!("reorder a.vtu -o b.vtu --maps b {on}"));
        place.run(&format!(
            "triangulate {input} {options} --reorder --maps c -o c.vtu {on}"
        ));
        let chain = "--reorder --maps d -o d.vtu";
        place.run(&format!(
            "chain {input} {on} : triangulate {options} {chain}"
        ));
        for name in ["c", "d"] {
            place.assert_same("b.vtu", &format!("{name}.vtu"));
            for map in ["old_vertices.txt", "old_cells.txt"] {
                place.assert_same(&format!("b/{map}"), &format!("{name}/{map}"));
            }
        }
    }
}

/// Each family is measured on a mesh of a file, so that its times in another order can be compared.
#[test]
fn families_are_measured_on_a_file_in_both_orders() {
    let place = Place::new();
    for (kind, input, families) in [
        (
            "random",
            "plane.ply",
            &["polylla", "levels", "delaunay", "refine", "reorder"][..],
        ),
        ("scan", "scan.ply", &["refine", "weld"]),
        ("cloud", "cloud.ply", &["reorder"]),
        (
            "tets",
            "tets.vtu",
            &["polyhedra", "levels-polyhedra", "refine-tets", "smooth"],
        ),
    ] {
        place.run(&format!("generate {kind} -n 300 -o {input} --quiet"));
        let ordered = format!("ordered_{input}");
        place.run(&format!(
            "reorder {input} -o {ordered} --device cpu --quiet"
        ));
        for family in families {
            let [before, after] = [input, &ordered].map(|input| {
                let line = "--runs 1 --device cpu --json -";
                let text = place.run(&format!("bench {family} --input {input} {line}"));
                let record: Value = serde_json::from_str(&text).expect("JSON");
                assert_eq!(record["schema"], "trioxide-bench/1");
                assert_eq!(record["parameters"]["mesh"], input);
                assert_eq!(record["parameters"]["n"], record["counts"]["vertices"]);
                record
            });
            for count in ["vertices", "triangles", "cells"] {
                assert_eq!(before["counts"][count], after["counts"][count], "{family}");
            }
            let stages = |record: &Value| record["stages"].as_array().map(Vec::len);
            assert!(
                stages(&before) > Some(0) && stages(&before) == stages(&after),
                "{family}"
            );
        }
    }
}
