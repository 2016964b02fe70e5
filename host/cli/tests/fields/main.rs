//! Named fields from file to file through every command, and the note of a command that writes nothing.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use glam::{DVec2, DVec3};
use tempfile::TempDir;
use trioxide::fields::{Field, Fields, Values};
use trioxide::mesh::{Faces, Mesh, Segment};
use trioxide::volume::VolumeMesh;
use trioxide::{Device, formats, generate};

mod refine;

struct Place(TempDir);

impl Place {
    fn new() -> Place {
        Place(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trioxide"));
        let output = command.current_dir(self.0.path()).args(arguments).output();
        output.unwrap()
    }

    /// Runs a command that succeeds. Returns its standard error.
    fn said(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{arguments:?}: {said}");
        said
    }

    fn write(&self, name: &str, mesh: &Mesh) {
        formats::write(&self.path(name), mesh).unwrap();
    }

    fn read(&self, name: &str) -> Mesh {
        formats::read(&self.path(name)).unwrap()
    }
}

fn scalars<T>(name: &str, values: impl Iterator<Item = T>) -> Field
where
    Values: From<Vec<T>>,
{
    Field::scalars(name, values.collect::<Vec<T>>())
}

fn of<'a>(fields: &'a Fields, name: &str) -> &'a Values {
    &fields
        .get(name)
        .unwrap_or_else(|| panic!("no {name}"))
        .values
}

/// Twice the area, and the centroid, of a face.
fn measure(mesh: &Mesh, i: usize) -> (f64, DVec2) {
    let corners: Vec<DVec2> = mesh
        .faces
        .get(i)
        .iter()
        .map(|&v| mesh.points[v as usize].truncate())
        .collect();
    let next = corners.iter().cycle().skip(1);
    let area = corners.iter().zip(next).map(|(a, b)| a.perp_dot(*b)).sum();
    (area, corners.iter().sum::<DVec2>() / corners.len() as f64)
}

/// A grid on the unit square with linear fields at the vertices, and at the triangles their side of the diagonal.
fn grid() -> Mesh {
    let mut mesh = Mesh::from(generate::grid(25).unwrap());
    let faces = 0..mesh.faces.len();
    let is_above = |i: usize| {
        let (_, centroid) = measure(&mesh, i);
        centroid.y > centroid.x
    };
    let above: Vec<bool> = faces.map(is_above).collect();
    let points = mesh.points.clone();
    let flux = points.iter().flat_map(|p| [p.x, -4.0 * p.y]);
    mesh.fields.points = [
        scalars("heat", points.iter().map(|p| 2.0 * p.x + 3.0 * p.y)),
        scalars(
            "class",
            points.iter().map(|p| if p.x < 0.4 { 2u8 } else { 6 }),
        ),
        Field {
            components: 2,
            ..scalars("flux", flux)
        },
    ]
    .into_iter()
    .collect();
    mesh.fields.cells = [
        scalars("above", above.iter().map(|&a| u16::from(a))),
        scalars("p", above.iter().map(|&a| if a { 0.25f32 } else { -1.5 })),
    ]
    .into_iter()
    .collect();
    mesh.attributes.uvs = Some(points.iter().map(|p| p.truncate()).collect());
    mesh
}

#[test]
fn convert_carries_fields_and_names_the_lost_ones_once() {
    let place = Place::new();
    let mut mesh = grid();
    mesh.segments = vec![Segment {
        ends: [0, 1],
        marker: 3,
    }];
    mesh.fields.sides.push(Field::scalars("load", vec![0.5]));
    place.write("a.vtu", &mesh);
    assert_eq!(place.said(&["convert", "a.vtu", "b.vtu"]), "");
    assert_eq!(place.read("b.vtu"), mesh);
    let said = place.said(&["convert", "a.vtu", "b.ply"]);
    assert_eq!(
        said,
        "trioxide: PLY does not hold the field load: not in the output\n"
    );
    mesh.fields.sides = Fields::default();
    assert_eq!(place.read("b.ply"), mesh);
    let said = place.said(&["convert", "b.ply", "b.off"]);
    let lost = "OFF does not hold the fields heat, class, flux, above, p: not in the output";
    assert_eq!(said.matches("field").count(), 1, "{said}");
    assert!(said.contains(lost), "{said}");
    assert_eq!(place.said(&["convert", "b.ply", "b.off", "--quiet"]), "");
}

#[test]
fn weld_takes_means_or_the_first_and_drops_data_of_dropped_faces() {
    let place = Place::new();
    let mut mesh = Mesh {
        points: [0.0, 1.0, 0.5, 0.01, 1.01, 0.02]
            .iter()
            .zip([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
            .map(|(&x, y)| DVec3::new(x, y, 0.0))
            .collect(),
        // The second has no area then, the third is the first again, the fourth another one.
        faces: Faces::Triangles(vec![[0, 1, 2], [0, 3, 1], [3, 4, 2], [5, 2, 1]]),
        ..Mesh::default()
    };
    mesh.fields.points = [
        Field::scalars("heat", vec![1.0, 10.0, 100.0, 4.0, 20.0, 7.0]),
        Field::scalars("class", vec![2u8, 3, 4, 5, 6, 7]),
    ]
    .into_iter()
    .collect();
    mesh.fields.cells = [Field::scalars("part", vec![1i16, 2, 3, 4])]
        .into_iter()
        .collect();
    place.write("a.ply", &mesh);
    let mut quads = mesh.clone();
    let mut polygons = trioxide::mesh::Polygons::default();
    for face in [[0, 1, 2], [0, 3, 1], [3, 4, 2], [5, 2, 1]] {
        polygons.push(&face);
    }
    polygons.push(&[0, 1, 4, 2]);
    quads.faces = Faces::Polygons(polygons);
    quads.fields.cells = [Field::scalars("part", vec![1i16, 2, 3, 4, 5])]
        .into_iter()
        .collect();
    place.write("b.ply", &quads);
    for device in ["cpu", "serial"] {
        for (position, t) in [("mean", [4.0, 15.0, 100.0]), ("first", [1.0, 10.0, 100.0])] {
            for name in ["a.ply", "b.ply"] {
                let call = [
                    "weld",
                    name,
                    "-o",
                    "w.ply",
                    "--epsilon",
                    "0.05",
                    "--position",
                    position,
                ];
                assert_eq!(place.said(&[&call[..], &["--device", device]].concat()), "");
                let welded = place.read("w.ply");
                assert_eq!(*of(&welded.fields.points, "heat"), t.to_vec().into());
                assert_eq!(*of(&welded.fields.points, "class"), vec![2u8, 3, 4].into());
                // The faces 0 1 2 and 0 2 1; the quadrilateral becomes the first again.
                assert_eq!(*of(&welded.fields.cells, "part"), vec![1i16, 4].into());
            }
            let call = [
                "weld",
                "a.ply",
                "-o",
                "w.ply",
                "--epsilon",
                "0.05",
                "--keep-degenerate",
            ];
            place.said(&[&call[..], &["--device", device]].concat());
            let part = place.read("w.ply").fields.cells;
            assert_eq!(*of(&part, "part"), vec![1i16, 2, 3, 4].into());
        }
    }
}

#[test]
fn classes_and_times_of_a_scan_stay_in_a_welded_scan() {
    let place = Place::new();
    let mut cloud = Mesh {
        points: (0..6)
            .map(|i| DVec3::new(f64::from(i / 2), 0.001 * f64::from(i % 2), 0.0))
            .collect(),
        ..Mesh::default()
    };
    cloud.fields.points = [
        Field::scalars("classification", vec![2u8, 2, 6, 6, 9, 2]),
        Field::scalars("gps_time", vec![1.0, 2.0, 3.0, 4.0, 5.0, 8.0]),
    ]
    .into_iter()
    .collect();
    place.write("a.laz", &cloud);
    let call = [
        "weld",
        "a.laz",
        "-o",
        "w.las",
        "--epsilon",
        "0.01",
        "--device",
        "cpu",
    ];
    let said = place.said(&call);
    assert!(!said.contains("field"), "{said}");
    let welded = place.read("w.las").fields.points;
    assert_eq!(*of(&welded, "classification"), vec![2u8, 6, 9].into());
    assert_eq!(*of(&welded, "gps_time"), vec![1.5, 3.5, 6.5].into());
}

#[test]
fn smooth_keeps_fields_as_they_are() {
    let place = Place::new();
    let mesh = grid();
    place.write("a.vtu", &mesh);
    assert_eq!(
        place.said(&["smooth", "a.vtu", "-o", "b.vtu", "--device", "cpu"]),
        ""
    );
    assert_eq!(place.read("b.vtu").fields, mesh.fields);
    let mut tets = VolumeMesh::from(generate::tet_grid(100, 1).unwrap());
    tets.fields
        .points
        .push(scalars("heat", tets.points.iter().map(|p| p.x)));
    tets.fields
        .cells
        .push(scalars("q", (0..tets.cells.len()).map(|i| i as f32)));
    formats::write_volume(&place.path("a.vtk"), &tets).unwrap();
    assert_eq!(
        place.said(&["smooth", "a.vtk", "-o", "b.vtk", "--device", "cpu"]),
        ""
    );
    let smoothed = formats::read_volume(&place.path("b.vtk")).unwrap();
    assert_eq!(smoothed.fields, tets.fields);
    let said = place.said(&["smooth", "a.vtk", "-o", "b.mesh", "--device", "cpu"]);
    assert_eq!(
        said,
        "trioxide: Medit does not hold the fields heat, q: not in the output\n"
    );
}

#[test]
fn polylla_has_area_means_and_the_labels_of_the_region_rule() {
    let place = Place::new();
    let on = Device::cpu(None).unwrap();
    let mut mesh = Mesh::from(generate::random(&on, 500, 3).unwrap());
    let faces = 0..mesh.faces.len();
    mesh.regions = Some(
        faces
            .clone()
            .map(|i| i32::from(measure(&mesh, i).1.x > 0.5))
            .collect(),
    );
    let regions = mesh.regions.clone().unwrap();
    mesh.fields
        .points
        .push(scalars("heat", mesh.points.iter().map(|p| p.x * p.y)));
    let heat: Vec<f64> = faces.clone().map(|i| measure(&mesh, i).1.y).collect();
    mesh.fields.cells = [
        scalars("one", faces.clone().map(|_| 1.0)),
        scalars("heat", heat.iter().copied()),
        scalars("side", regions.iter().copied()),
    ]
    .into_iter()
    .collect();
    place.write("a.vtu", &mesh);
    let integral: f64 = faces.map(|i| measure(&mesh, i).0 * heat[i]).sum();
    for options in [
        &["--device", "cpu"][..],
        &["--device", "serial"],
        &["--device", "cpu", "--method", "indexed"],
    ] {
        let call = ["polylla", "a.vtu", "-o", "b.vtu"];
        assert_eq!(place.said(&[&call[..], options].concat()), "");
        let polygons = place.read("b.vtu");
        assert!(polygons.faces.len() < mesh.faces.len() / 2);
        assert_eq!(polygons.fields.points, mesh.fields.points);
        let cells = &polygons.fields.cells;
        let faces = 0..polygons.faces.len();
        let sum: f64 = faces
            .clone()
            .map(|i| measure(&polygons, i).0 * of(cells, "heat").f64(i))
            .sum();
        assert!((sum - integral).abs() < 1e-12, "{sum} {integral}");
        for i in faces {
            assert!((of(cells, "one").f64(i) - 1.0).abs() < 1e-15);
            assert_eq!(
                of(cells, "side").i64(i),
                i64::from(polygons.regions.as_ref().unwrap()[i])
            );
        }
    }
}

#[test]
fn vem_writes_its_solution_as_a_field() {
    let place = Place::new();
    place.write("a.vtu", &grid());
    place.said(&["vem", "a.vtu", "--problem", "patch", "-o", "u.vtu"]);
    let solved = place.read("u.vtu");
    for (i, p) in solved.points.iter().enumerate() {
        let exact = 1.0 + 2.0 * p.x - 3.0 * p.y;
        assert!((of(&solved.fields.points, "solution").f64(i) - exact).abs() < 1e-9);
        assert!((of(&solved.fields.points, "exact").f64(i) - exact).abs() < 1e-15);
    }
    // The fields of the input are still there.
    assert!(solved.fields.points.get("heat").is_some() && solved.fields.cells.get("p").is_some());
    let output = place.run(&["vem", "a.vtu", "-o", "u.off"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        said.contains("OFF does not hold a field: write .vtu, .vtp, .vtk or .ply, or a picture"),
        "{said}"
    );
}

#[test]
fn a_command_without_an_output_says_that_nothing_is_written() {
    let place = Place::new();
    place.write("a.ply", &grid());
    for (command, result) in [
        (&["polylla", "a.ply"][..], "polygons"),
        (&["refine", "a.ply"], "refined mesh"),
        (&["smooth", "a.ply"], "smoothed mesh"),
        (&["weld", "a.ply", "--epsilon", "0"], "welded mesh"),
    ] {
        let on = ["--device", "cpu"];
        let said = place.said(&[command, &on].concat());
        assert_eq!(
            said,
            format!("trioxide: nothing is written: -o FILE writes the {result}\n")
        );
        assert_eq!(place.said(&[command, &on, &["--quiet"]].concat()), "");
        assert_eq!(
            place.said(&[command, &on, &["--json", "a.json"]].concat()),
            ""
        );
        assert_eq!(place.said(&[command, &on, &["-o", "b.ply"]].concat()), "");
    }
    let said = place.said(&["vem", "a.ply"]);
    assert_eq!(
        said,
        "trioxide: nothing is written: -o FILE writes the solution\n"
    );
    assert_eq!(place.said(&["info", "a.ply"]), "");
}

/// The input is not there either: a reader would say so first.
#[test]
fn a_missing_folder_of_an_output_is_found_before_the_work() {
    let place = Place::new();
    for call in [
        &["polylla", "absent.off", "-o", "no/a.off"][..],
        &["refine", "absent.off", "-o", "no/a.off"],
        &["smooth", "absent.off", "-o", "no/a.off"],
        &["weld", "absent.off", "--epsilon", "0", "-o", "no/a.off"],
        &["weld", "absent.off", "--epsilon", "0", "--map", "no/a.off"],
        &[
            "weld",
            "absent.off",
            "--epsilon",
            "0",
            "--removed",
            "no/a.off",
        ],
        &["info", "absent.off", "--json", "no/a.off"],
        &["convert", "absent.off", "no/a.off"],
        &["render", "absent.off", "-o", "no/a.png"],
        &["vem", "absent.off", "-o", "no/a.png"],
        &["generate", "grid", "-n", "100", "-o", "no/a.off"],
    ] {
        let output = place.run(call);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{call:?}: {said}");
        assert!(
            said.contains("there is no folder no: make it"),
            "{call:?}: {said}"
        );
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    fs::create_dir(place.path("no")).unwrap();
    place.said(&["generate", "grid", "-n", "100", "-o", "no/a.off"]);
}
