//! The command line on volume meshes.

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;
use trioxide::fields::Field;
use trioxide::formats::{read_polyhedra, read_volume, write_volume};
use trioxide::generate;
use trioxide::mesh::Polygons;
use trioxide::volume::{Cells, MixedCells, TetMesh, VolumeMesh};
use trioxide_verify::validate;

/// A folder to run in.
struct Place(TempDir);

impl Place {
    fn new() -> Place {
        Place(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, arguments: &str) -> Output {
        Command::new(env!("CARGO_BIN_EXE_trioxide"))
            .args(arguments.split_whitespace())
            .current_dir(self.0.path())
            .output()
            .unwrap()
    }

    fn succeeds(&self, arguments: &str) -> String {
        let output = self.run(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments}: {errors}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn fails(&self, arguments: &str) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments}");
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(errors.lines().count(), 1, "{errors}");
        errors
    }

    fn json(&self, arguments: &str) -> Value {
        serde_json::from_str(&self.succeeds(&format!("{arguments} --json -"))).unwrap()
    }

    fn tets(&self, name: &str) -> TetMesh {
        read_volume(&self.path(name))
            .unwrap()
            .into_tet_mesh()
            .unwrap()
    }
}

#[test]
fn generated_meshes_pass_through_every_format() {
    let place = Place::new();
    let said = place.succeeds("generate tets -n 1000 --seed 3 -o a.vtu");
    assert_eq!(said, "a.vtu: 1000 vertices, 4374 cells, 972 tagged faces\n");
    assert_eq!(place.tets("a.vtu"), generate::tet_grid(1000, 3).unwrap());
    place.succeeds("generate tets -n 300 --random -o r.mesh --quiet");
    assert_eq!(place.tets("r.mesh"), generate::random_tets(300, 0).unwrap());

    // Conversions that keep the order of the faces come first.
    let chain = [
        ("a.vtu", "b.vtk", ""),
        ("b.vtk", "c.vtk", "--volume-encoding text"),
        ("c.vtk", "d.mesh", ""),
        ("d.mesh", "e.meshb", ""),
        ("e.meshb", "f.node", ""),
        ("f", "g.msh", "--msh-version 2.2"),
        ("g.msh", "h.msh", "--msh-version 2.2 --volume-encoding text"),
        ("h.msh", "i.vtu", "--volume-encoding text"),
        ("i.vtu", "j.vtu", ""),
    ];
    for (from, to, options) in chain {
        place.succeeds(&format!("convert {from} {to} {options}"));
        assert_eq!(place.tets(to), place.tets("a.vtu"), "{to}");
    }
    let bytes = |name: &str| std::fs::read(place.path(name)).unwrap();
    assert_eq!(bytes("a.vtu"), bytes("j.vtu"));
    place.succeeds("convert b.vtk l.vtk --encoding text");
    assert_eq!(bytes("c.vtk"), bytes("l.vtk"));
    let refused = place.fails("convert a.vtu l.vtk --encoding big-endian");
    assert!(refused.contains("not written in this encoding"));
    for options in ["", "--volume-encoding text"] {
        place.succeeds(&format!("convert a.vtu k.msh {options}"));
        let mut faces = [place.tets("a.vtu").faces, place.tets("k.msh").faces];
        faces
            .iter_mut()
            .for_each(|faces| faces.sort_by_key(|face| (face.tag, face.vertices)));
        assert_eq!(faces[0], faces[1]);
        assert_eq!(
            place.tets("k.msh").tetrahedra,
            place.tets("a.vtu").tetrahedra
        );
    }
    assert!(
        place
            .fails("convert a.vtu a.off")
            .contains("write its boundary by --boundary")
    );
    assert!(
        place
            .fails("convert a.vtu a.mesh --volume-encoding binary")
            .contains("not written in this encoding")
    );
    assert!(
        place
            .fails("generate tets -n 9 -o a.ply")
            .contains("none of those of volume meshes")
    );
    assert!(
        place
            .fails("generate grid -n 9 --random -o a.ply")
            .contains("--random goes with tets")
    );
}

#[test]
fn info_counts_and_measures() {
    let place = Place::new();
    place.succeeds("generate tets -n 1000 -o a.meshb");
    let json = place.json("info a.meshb");
    assert_eq!(json["vertices"], 1000);
    assert_eq!(json["cells"], 4374);
    assert_eq!(json["cell_kinds"]["tetrahedron"], 4374);
    assert_eq!(
        (&json["boundary_faces"], &json["boundary_vertices"]),
        (&972.into(), &488.into())
    );
    assert_eq!(
        (&json["inverted"], &json["face_tags"]["6"]),
        (&0.into(), &162.into())
    );
    assert!((json["volume"].as_f64().unwrap() - 1.0).abs() < 1e-12);
    let angle = json["smallest_dihedral_angle"].as_f64().unwrap();
    assert!((10.0..45.0).contains(&angle), "{angle}");
    let text = place.succeeds("info a.meshb");
    assert!(text.contains("boundary vertices         488\n"), "{text}");

    // A hexahedron, and a tetrahedron that is inverted.
    let mut cells = MixedCells::default();
    cells.push(&[0, 1, 2, 3, 4, 5, 6, 7]);
    cells.push(&[4, 6, 5, 8]);
    let corner = |i: usize| {
        glam::DVec3::new(
            (i % 4 % 3).min(1) as f64,
            (i % 4 / 2) as f64,
            (i / 4) as f64,
        )
    };
    let mesh = VolumeMesh {
        points: (0..9).map(corner).collect(),
        cells: Cells::Mixed(cells),
        regions: Some(vec![1, 2]),
        faces: Polygons::default(),
        face_tags: Vec::new(),
        fields: Default::default(),
        about: Default::default(),
    };
    write_volume(&place.path("m.vtu"), &mesh).unwrap();
    let json = place.json("info m.vtu");
    assert_eq!(
        (&json["inverted"], &json["regions"]["2"]),
        (&1.into(), &1.into())
    );
    assert_eq!(
        json["problems"][0],
        "1 cell inverted: first cell 1 (`repair --orient`, or `smooth --untangle`)"
    );
    assert!(place.fails("refine m.vtu").contains(
        "cell 0 is a hexahedron, but this operation takes tetrahedra only: trioxide convert m.vtu -o FILE --tetrahedra"
    ));
    // The remedies of these errors: the surface of the hexahedron for a format of triangles, and tetrahedra.
    let refused = place.fails("convert m.vtu m.stl --boundary");
    assert!(
        refused.ends_with("face 0 has 4 vertices: add --triangles\n"),
        "{refused}"
    );
    let said = place.succeeds("convert m.vtu m.ply --boundary --triangles");
    assert_eq!(said, "m.ply: 9 vertices, 16 faces\n");
    let refused = place.fails("convert m.vtu m.node");
    assert!(
        refused.ends_with("cell 0 is a hexahedron: add --tetrahedra\n"),
        "{refused}"
    );
    place.succeeds("convert m.vtu m.node --tetrahedra");
    let tets = place.tets("m.node");
    assert_eq!(tets.tetrahedra.len(), 7);
    assert_eq!(tets.regions, Some(vec![1, 1, 1, 1, 1, 1, 2]));
}

#[test]
fn refinement_is_the_same_on_every_device_and_keeps_tags() {
    let place = Place::new();
    let mut mesh = VolumeMesh::from(generate::tet_grid(125, 1).unwrap());
    mesh.regions = Some((0..mesh.cells.len() as i32).map(|i| i % 5 - 2).collect());
    write_volume(&place.path("a.vtu"), &mesh).unwrap();
    std::fs::write(place.path("ids"), "0 5 # and\n17\n").unwrap();
    for mark in [
        "--mark all",
        "--mark fraction:0.1 --seed 4 --rounds 3",
        "--mark box:0,0,0,0.4,0.4,1",
        "--mark ball:0.5,0.5,0.5,0.3 --rounds 2",
        "--mark volume:0.002",
        "--mark file:ids --rounds 2 --max-triangles 500",
        "--precision f32",
    ] {
        let counts = ["serial", "cpu"].map(|device| {
            let json = place.json(&format!(
                "refine a.vtu {mark} --device {device} -o {device}.vtu"
            ));
            assert_eq!(json["input_cells"], 384);
            assert!(json["cells"].as_u64() > Some(384), "{mark}");
            json["cells"].clone()
        });
        assert_eq!(counts[0], counts[1], "{mark}");
        let [serial, cpu] = ["serial.vtu", "cpu.vtu"].map(|name| place.tets(name));
        assert_eq!(serial, cpu, "{mark}");
        validate::tets(&cpu).unwrap();
        assert!(
            cpu.regions
                .unwrap()
                .iter()
                .all(|region| (-2..=2).contains(region))
        );
        assert!(cpu.faces.iter().all(|face| (1..=6).contains(&face.tag)));
    }
    // A mesh that is inverted as a whole is turned around, and it is said.
    let mut inverted = generate::tet_grid(27, 1).unwrap();
    inverted.tetrahedra.iter_mut().for_each(|t| t.swap(0, 1));
    write_volume(&place.path("i.mesh"), &inverted.into()).unwrap();
    let output = place.run("refine i.mesh -o o.msh --device cpu");
    assert!(output.status.success());
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        errors,
        "trioxide: 48 inverted tetrahedra were turned around\n"
    );
    validate::tets(&place.tets("o.msh")).unwrap();

    for (options, words) in [
        (
            "--until-area 1",
            "--until-area goes with meshes of triangles",
        ),
        (
            "--mark area:0.1",
            "--mark area:0.1 goes with planar meshes; tetrahedra are marked by all",
        ),
        ("--mark disk:0,0,1", "tetrahedra are marked by all"),
        ("--mark ball:0,0,0,-1", "a radius of 0 or more"),
        ("-o x.off", "none of those of volume meshes"),
    ] {
        let errors = place.fails(&format!("refine a.vtu {options} --device cpu"));
        assert!(errors.contains(words), "{errors}");
    }
    place.succeeds("generate grid -n 9 -o g.off");
    let errors = place.fails("refine g.off --mark volume:1 --device cpu");
    assert!(
        errors.contains("--mark volume:1 goes with volume meshes"),
        "{errors}"
    );
}

/// Marks by values, levels by volume, earlier levels and maps, by the serial reference and by a device, alone and in a
/// chain.
#[test]
fn tetrahedra_are_refined_with_all_options_of_triangles() {
    let place = Place::new();
    place.succeeds("generate tets -n 125 --seed 1 -o a.vtu --quiet");
    let values: String = (0..384).map(|t| format!("{}\n", t * 7 % 101)).collect();
    std::fs::write(place.path("values.txt"), values).unwrap();
    let read = |name: &str| std::fs::read(place.path(name)).unwrap();
    let mut sizes = Vec::new();
    for options in [
        "--mark values:values.txt --threshold 90",
        "--mark values:values.txt --dorfler 0.3 --rounds 2",
        "--until-volume 0.001",
        "--rounds 3 --mark fraction:0.3 --coarsen-to 1",
    ] {
        for device in ["serial", "cpu"] {
            place.succeeds(&format!(
                "refine a.vtu {options} --device {device} -o {device}.vtu --maps {device}"
            ));
        }
        for file in [
            "parent_tetrahedra.txt",
            "new_vertices.txt",
            "prolongation.mtx",
        ] {
            let [serial, cpu] = ["serial", "cpu"].map(|folder| read(&format!("{folder}/{file}")));
            assert_eq!(serial, cpu, "{options}: {file}");
        }
        assert_eq!(read("serial.vtu"), read("cpu.vtu"), "{options}");
        place.succeeds(&format!(
            "chain a.vtu --device cpu : refine {options} --maps chain -o chain.vtu"
        ));
        assert_eq!(read("chain.vtu"), read("cpu.vtu"), "{options}");
        for file in [
            "parent_tetrahedra.txt",
            "new_vertices.txt",
            "prolongation.mtx",
        ] {
            assert_eq!(read(&format!("chain/{file}")), read(&format!("cpu/{file}")));
        }
        let fine = place.tets("cpu.vtu");
        validate::tets(&fine).unwrap();
        sizes.push(fine.tetrahedra.len());
    }
    assert!(sizes.iter().all(|&size| size > 384), "{sizes:?}");
    // The last one is the first round.
    place.succeeds("refine a.vtu --mark fraction:0.3 --device cpu -o once.vtu");
    assert_eq!(read("once.vtu"), read("cpu.vtu"));
    let lines = |name: &str| String::from_utf8(read(name)).unwrap().lines().count();
    assert_eq!(lines("cpu/parent_tetrahedra.txt"), sizes[3] + 1);
    assert_eq!(
        lines("cpu/new_vertices.txt"),
        place.tets("cpu.vtu").points.len() - 125 + 1
    );
    // No tetrahedron is larger than asked for, and the input is the level 0.
    place.succeeds("refine a.vtu --until-volume 0.001 --device cpu -o small.vtu");
    let small = place.tets("small.vtu");
    let volume = |t: &[u32; 4]| {
        let [a, b, c, d] = t.map(|v| small.points[v as usize]);
        (b - a).cross(c - a).dot(d - a) / 6.0
    };
    assert!(
        small
            .tetrahedra
            .iter()
            .map(volume)
            .all(|volume| volume < 0.001 * (1.0 + 1e-12))
    );
    place.succeeds("refine a.vtu --rounds 2 --coarsen-to 0 --device cpu -o input.vtu");
    assert_eq!(place.tets("input.vtu"), place.tets("a.vtu"));
}

/// Fields of points stay, those of tetrahedra are means over the volume, integers those of the first tetrahedron; the
/// parts of the run are accounted for.
#[test]
fn fields_of_tetrahedra_travel_to_polyhedra() {
    let place = Place::new();
    place.succeeds("generate tets -n 200 --random --seed 3 -o r.vtu --quiet");
    let mut mesh = read_volume(&place.path("r.vtu")).unwrap();
    let cells = mesh.cells.len();
    let ids = |n: usize| (0..n as u32).collect::<Vec<_>>();
    let heights: Vec<f64> = mesh.points.iter().map(|p| p.z).collect();
    mesh.fields.points.push(Field::scalars("height", heights));
    mesh.fields.cells.push(Field::scalars("id", ids(cells)));
    mesh.fields
        .cells
        .push(Field::scalars("one", vec![1.0; cells]));
    mesh.fields
        .sides
        .push(Field::scalars("side", ids(mesh.faces.len())));
    write_volume(&place.path("f.vtu"), &mesh).unwrap();
    let run = place.json("polylla f.vtu -o p.vtu --device cpu");
    let parts = run["whole_run"]["parts"].as_array().unwrap();
    for name in ["read", "number polyhedra", "write"] {
        assert!(
            parts.iter().any(|part| part["name"] == name),
            "{name}: {run}"
        );
    }
    let made = read_polyhedra(&place.path("p.vtu")).unwrap();
    assert_eq!(made.fields.points, mesh.fields.points);
    assert_eq!(made.fields.sides, mesh.fields.sides);
    let one = &made.fields.cells.get("one").unwrap().values;
    let id = &made.fields.cells.get("id").unwrap().values;
    let mut seen: Vec<i64> = (0..made.len()).map(|p| id.i64(p)).collect();
    assert!((0..made.len()).all(|p| (one.f64(p) - 1.0).abs() < 1e-12));
    seen.dedup();
    assert_eq!(seen.len(), made.len());
    let listed = place.succeeds("info p.vtu");
    assert!(
        listed.contains("height") && listed.contains("one"),
        "{listed}"
    );
    let free = place.json("polylla f.vtu --unconstrained -o u.vtu --device cpu");
    assert!(free["polyhedra"].as_u64() <= run["polyhedra"].as_u64());
    let free = read_polyhedra(&place.path("u.vtu")).unwrap();
    assert!(free.tagged.is_empty() && free.fields.sides.is_empty());
}

#[test]
fn tetrahedra_become_polyhedra() {
    let place = Place::new();
    place.succeeds("generate tets -n 400 --random --seed 5 -o r.vtu --quiet");
    let made = place.json("polylla r.vtu -o p.vtu --device cpu");
    let serial = place.json("polylla r.vtu --device serial");
    for count in [
        "polyhedra",
        "faces",
        "barrier_tips",
        "pinched",
        "single_tetrahedra",
    ] {
        assert!(made[count].is_u64(), "{made}");
        assert_eq!(made[count], serial[count], "{count}");
    }
    let polyhedra = read_polyhedra(&place.path("p.vtu")).unwrap();
    assert_eq!(made["polyhedra"], polyhedra.len());
    let sides = 2 * place.tets("r.vtu").tetrahedra.len() + 2 * polyhedra.len();
    assert_eq!(polyhedra.sides.len(), sides);

    let measured = place.json("info p.vtu");
    for count in ["polyhedra", "faces", "pinched"] {
        assert_eq!(measured[count], made[count], "{count}");
    }
    assert!((measured["volume"].as_f64().unwrap() - 1.0).abs() < 1e-12);
    assert_eq!(measured["boundary_faces"], measured["tagged_faces"]);
    assert!(place.succeeds("info p.vtu").contains("star-shaped"));

    let solved = place.json("vem p.vtu --problem patch");
    assert!(
        solved["max_vertex_error"].as_f64().unwrap() < 1e-10,
        "{solved}"
    );
    let error = solved["max_vertex_error"].as_f64().unwrap();
    place.succeeds("vem p.vtu --problem patch -o u.vtu");
    let solution = read_polyhedra(&place.path("u.vtu")).unwrap();
    let field = |name: &str| solution.fields.points.get(name).unwrap();
    let differ = |i| (field("solution").values.f64(i) - field("exact").values.f64(i)).abs();
    let largest = (0..solution.points.len()).map(differ).fold(0.0, f64::max);
    assert_eq!(solution.len(), polyhedra.len());
    // A number of JSON is the nearest one or its neighbour.
    assert!(
        (largest - error).abs() <= 1e-15 * error,
        "{largest} {error}"
    );
    let refused = place.fails("vem p.vtu --preconditioner nested");
    let said = "--preconditioner nested goes with planar meshes, but this one has polyhedra: use --preconditioner algebraic";
    assert!(refused.contains(said), "{refused}");
    let refused = place.fails("vem p.vtu -o u.ply");
    assert!(refused.contains("write .vtu, or a picture"), "{refused}");
    for line in [
        "vem p.vtu -o u.svg",
        "render u.vtu -o u.svg --color solution --cut 1,0,0 --width 300",
    ] {
        place.succeeds(line);
        let picture = std::fs::read_to_string(place.path("u.svg")).unwrap();
        assert!(picture.contains(">solution</text>"), "{line}");
    }
    let merged = place.json("polylla r.vtu --merge-faces -o m.vtu --device cpu");
    assert_eq!(merged["polyhedra"], made["polyhedra"]);
    let merged = place.json("info m.vtu");
    assert!(
        merged["faces"].as_u64() < measured["faces"].as_u64(),
        "{merged}"
    );
    for share in ["pinched", "convex", "star_shaped"] {
        assert_eq!(merged[share], measured[share], "{share}");
    }
    let solved = place.json("vem m.vtu --problem patch");
    assert!(
        solved["max_vertex_error"].as_f64().unwrap() < 1e-10,
        "{solved}"
    );
    place.succeeds("render p.vtu -o p.png --cut 1,0,0 --width 300");
    assert!(place.path("p.png").is_file());

    place.succeeds("polylla r.vtu -o p.visf --device cpu");
    assert!(place.path("p.visf").is_file());
    let strict = place.json("polylla r.vtu --strict --by circumradius -o c.foam --device cpu");
    assert_eq!(strict["pinched"], 0);
    assert!(place.path("constant/polyMesh/owner").is_file());
    let said = place.run("polylla r.vtu -o faces.off --device cpu");
    let said = String::from_utf8(said.stderr).unwrap();
    assert!(said.contains("each once"), "{said}");

    let refused = place.fails("polylla r.vtu --ties first");
    assert!(refused.contains("--ties goes with triangles"), "{refused}");
    place.succeeds("generate grid -n 30 -o g.off --quiet");
    let refused = place.fails("polylla g.off --by area");
    assert!(refused.contains("--by goes with tetrahedra"), "{refused}");

    let cavities = place.json("polylla r.vtu --rule cavity -o v.vtu --device cpu");
    let serial = place.json("polylla r.vtu --rule cavity --device serial");
    let measured = place.json("info v.vtu");
    assert!(cavities["polyhedra"] != made["polyhedra"] && cavities.get("pinched").is_none());
    for count in ["polyhedra", "faces", "barrier_faces_left"] {
        assert_eq!(cavities[count], serial[count], "{count}");
    }
    assert_eq!(measured["polyhedra"], cavities["polyhedra"]);
    assert_eq!(measured["barrier_faces"], cavities["barrier_faces_left"]);
    place.succeeds("vem v.vtu --problem patch");
    // Every format that holds the field.
    for output in ["s.vtk", "s.msh"] {
        place.succeeds(&format!("vem r.vtu -o {output}"));
        let solved = place.json(&format!("info {output}"));
        let fields = solved["fields"].to_string();
        assert!(fields.contains("solution"), "{output}: {fields}");
    }
    for option in ["--strict", "--by area", "--levels 2", "--until 9"] {
        let refused = place.fails(&format!("polylla r.vtu --rule cavity {option}"));
        let name = option.split(' ').next().unwrap();
        let said = format!("{name} goes with --rule largest-faces: add it, or leave {name} out");
        assert!(refused.contains(&said), "{refused}");
    }
    let refused = place.fails("polylla r.vtu -o p.mesh2");
    assert!(refused.contains("p.mesh2"), "{refused}");
}
