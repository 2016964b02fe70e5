//! Fields through `refine`: of triangles, of surfaces in space, of tetrahedra.

use glam::DVec3;
use trioxide::fields::Values;
use trioxide::mesh::{Mesh, Segment};
use trioxide::volume::{TetMesh, VolumeMesh};
use trioxide::{formats, generate};

use super::{Place, grid, measure, of, scalars};

#[test]
fn refine_prolongates_fields_of_vertices_and_hands_down_those_of_triangles() {
    let place = Place::new();
    place.write("a.vtu", &grid());
    for device in ["cpu", "serial"] {
        for mark in [
            &["--rounds", "2"][..],
            &["--rounds", "5", "--mark", "disk:0.3,0.3,0.2"],
        ] {
            let call = ["refine", "a.vtu", "-o", "b.vtu", "--device", device];
            assert_eq!(place.said(&[&call[..], mark].concat()), "");
            let fine = place.read("b.vtu");
            assert!(fine.points.len() > 30);
            let fields = &fine.fields;
            fields
                .check(fine.points.len(), fine.faces.len(), 0)
                .unwrap();
            for (i, p) in fine.points.iter().enumerate() {
                // Linear fields stay linear, up to the rounding of coordinates that are not fractions of powers of two.
                let close = |x: f64, y: f64| (x - y).abs() < 1e-14;
                assert!(close(
                    of(&fields.points, "heat").f64(i),
                    2.0 * p.x + 3.0 * p.y
                ));
                assert!(close(of(&fields.points, "flux").f64(2 * i), p.x));
                assert!(close(of(&fields.points, "flux").f64(2 * i + 1), -4.0 * p.y));
                let uv = fine.attributes.uvs.as_ref().unwrap()[i];
                assert!(close(uv.x, p.x) && close(uv.y, p.y));
            }
            // Labels are those of a vertex nearby, and nothing in between.
            let Values::U8(classes) = of(&fields.points, "class") else {
                panic!("bytes stay bytes")
            };
            for (class, p) in classes.iter().zip(&fine.points) {
                assert!(*class == 2 || *class == 6);
                assert!((p.x - 0.4).abs() < 0.25 || (*class == 2) == (p.x < 0.4));
            }
            for i in 0..fine.faces.len() {
                let (_, centroid) = measure(&fine, i);
                let is_above = centroid.y > centroid.x;
                assert_eq!(of(&fields.cells, "above").i64(i), i64::from(is_above));
                let expected = if is_above { 0.25 } else { -1.5 };
                assert_eq!(of(&fields.cells, "p").f64(i), expected);
            }
        }
    }
}

#[test]
fn refine_of_tetrahedra_carries_fields_of_vertices_cells_and_faces() {
    let place = Place::new();
    let mesh: TetMesh = generate::tet_grid(60, 1).unwrap();
    let mut mesh = VolumeMesh::from(mesh);
    let linear = |p: &DVec3| p.x - 2.0 * p.y + 0.5 * p.z;
    mesh.fields
        .points
        .push(scalars("heat", mesh.points.iter().map(linear)));
    mesh.fields
        .cells
        .push(scalars("id", 0..mesh.cells.len() as u32));
    mesh.fields
        .sides
        .push(scalars("q", (0..mesh.faces.len()).map(|i| i as f64 + 0.5)));
    for name in ["a.vtu", "a.vtk"] {
        formats::write_volume(&place.path(name), &mesh).unwrap();
        for device in ["cpu", "serial"] {
            let call = [
                "refine", name, "-o", "b.vtu", "--rounds", "2", "--device", device,
            ];
            assert_eq!(place.said(&call), "");
            let fine = formats::read_volume(&place.path("b.vtu")).unwrap();
            let fields = &fine.fields;
            let counts = [fine.points.len(), fine.cells.len(), fine.faces.len()];
            fields.check(counts[0], counts[1], counts[2]).unwrap();
            assert!(counts[1] > mesh.cells.len());
            for (i, p) in fine.points.iter().enumerate() {
                assert!((of(&fields.points, "heat").f64(i) - linear(p)).abs() < 1e-13);
            }
            // The centre of a part lies in the cell that it is a part of.
            for (i, cell) in fine.cells.iter().enumerate() {
                let centre = cell.iter().map(|&v| fine.points[v as usize]).sum::<DVec3>() / 4.0;
                let parent = mesh.cells.get(of(&fields.cells, "id").i64(i) as usize);
                let [a, b, c, d] = [0, 1, 2, 3].map(|k| mesh.points[parent[k] as usize]);
                let weights = glam::DMat3::from_cols(b - a, c - a, d - a).inverse() * (centre - a);
                assert!(weights.min_element() > -1e-9 && weights.element_sum() < 1.0 + 1e-9);
            }
            if counts[2] > 0 {
                let Values::F64(_) = of(&fields.sides, "q") else {
                    panic!("floats stay floats")
                };
            }
        }
    }
}

#[test]
fn refine_hands_fields_of_segments_down_to_their_parts() {
    let place = Place::new();
    let mut mesh = grid();
    // The lower side of the square, with equal markers and a number of its own for each.
    let lower = (0..4).map(|i| Segment {
        ends: [i, i + 1],
        marker: 7,
    });
    mesh.segments = lower.collect();
    mesh.fields
        .sides
        .push(scalars("load", (0..4).map(|i| f64::from(i) + 0.5)));
    mesh.fields
        .sides
        .push(scalars("kind", (0..4u8).map(|i| 10 + i)));
    place.write("a.vtu", &mesh);
    for device in ["cpu", "serial"] {
        let call = [
            "refine", "a.vtu", "-o", "b.vtu", "--rounds", "4", "--device", device,
        ];
        assert_eq!(place.said(&call), "");
        let fine = place.read("b.vtu");
        assert!(fine.segments.len() > 8, "{}", fine.segments.len());
        for (i, segment) in fine.segments.iter().enumerate() {
            assert_eq!(segment.marker, 7);
            let [a, b] = segment.ends.map(|v| fine.points[v as usize]);
            assert_eq!((a.y, b.y), (0.0, 0.0));
            // Four squares along the side.
            let parent = (4.0 * (a.x + b.x) / 2.0).floor();
            assert_eq!(of(&fine.fields.sides, "load").f64(i), parent + 0.5);
            assert_eq!(of(&fine.fields.sides, "kind").i64(i), 10 + parent as i64);
        }
    }
}

#[test]
fn refine_of_a_surface_in_space_carries_all() {
    let place = Place::new();
    let mut mesh: Mesh = generate::scan(500, 1).unwrap();
    let linear = |p: &DVec3| p.x - 2.0 * p.y + 0.5 * p.z;
    mesh.attributes = Default::default();
    mesh.fields
        .points
        .push(scalars("heat", mesh.points.iter().map(linear)));
    mesh.fields
        .cells
        .push(scalars("id", 0..mesh.faces.len() as u32));
    mesh.regions = Some((0..mesh.faces.len()).map(|i| (i % 3) as i32).collect());
    place.write("a.vtu", &mesh);
    let area = |mesh: &Mesh, i: usize| {
        let [a, b, c] = [0, 1, 2].map(|k| mesh.points[mesh.faces.get(i)[k] as usize]);
        (b - a).cross(c - a).length() / 2.0
    };
    let mut first = None;
    for device in ["cpu", "serial"] {
        let call = [
            "refine", "a.vtu", "-o", "b.vtu", "--rounds", "2", "--device", device,
        ];
        assert_eq!(place.said(&call), "");
        let fine = place.read("b.vtu");
        assert!(fine.faces.len() > 2 * mesh.faces.len() && !fine.is_planar());
        for (i, p) in fine.points.iter().enumerate() {
            assert!((of(&fine.fields.points, "heat").f64(i) - linear(p)).abs() < 1e-12);
        }
        let mut areas = vec![0.0; mesh.faces.len()];
        for i in 0..fine.faces.len() {
            let parent = of(&fine.fields.cells, "id").i64(i) as usize;
            areas[parent] += area(&fine, i);
            assert_eq!(fine.regions.as_ref().unwrap()[i], (parent % 3) as i32);
        }
        for (i, parts) in areas.iter().enumerate() {
            assert!((parts / area(&mesh, i) - 1.0).abs() < 1e-9, "triangle {i}");
        }
        assert_eq!(&fine, first.get_or_insert(fine.clone()), "{device}");
    }
    formats::write(&place.path("plane.off"), &grid()).unwrap();
    for mark in [
        "box:-9,-9,-9,9,9,9",
        "ball:0,0,0,99",
        "disk:0,0,99",
        "area:0",
        "angle:60",
    ] {
        for name in ["a.vtu", "plane.off"] {
            let call = ["refine", name, "--mark", mark, "--quiet", "--json", "-"];
            let output = place.run(&call);
            let text = String::from_utf8(output.stdout).unwrap();
            assert!(output.status.success(), "{mark} {name}: {text}");
            assert!(
                !text.contains("nothing left to refine"),
                "{mark} {name}: {text}"
            );
        }
    }
}
