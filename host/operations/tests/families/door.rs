//! Meshes as people have them: clockwise, in parts that do not meet, broken. They are turned, noted or mended.

use std::sync::Arc;

use glam::DVec3;
use trioxide::about::About;
use trioxide::device::Device;
use trioxide::mesh::{Faces, Mesh, Segment};
use trioxide::outline::OutlineMesh;
use trioxide::volume::{TetMesh, VolumeMesh};
use trioxide_operations::error::FIELDS;
use trioxide_operations::{
    Note, On, Result, decimate, polyhedra, polylla, refine, refine_tets, reorder, repair,
    repair_volume, smooth, smooth_volume, triangulate, vem, weld,
};

use super::{plane, scan, tets};

/// Also without any field: some operations carry nothing then.
#[test]
fn every_operation_hands_on_the_data_of_a_mesh_as_a_whole() -> Result<()> {
    let on = Device::cpu(Some(2))?;
    let about = Arc::new(About {
        textures: vec!["brick.png".to_owned()],
        ..About::default()
    });
    let with = |mut mesh: Mesh| {
        mesh.about = Arc::clone(&about);
        mesh
    };
    let (flat, surface) = (|| with(plane()), || with(scan()));
    let points = || OutlineMesh {
        mesh: Mesh {
            faces: Faces::default(),
            ..flat()
        },
        holes: Vec::new(),
        regions: Vec::new(),
    };
    let refined = triangulate::Options {
        area: Some(0.001),
        ..Default::default()
    };
    let marked = refine::Options {
        mark: None,
        ..Default::default()
    };
    let done = [
        polylla(&on, flat(), &polylla::Options::default())?.0,
        polylla(&on, surface(), &polylla::Options::default())?.0,
        refine(&on, flat(), &marked)?.0,
        refine(&on, surface(), &marked)?.0,
        weld(&on, surface(), &weld::Options::new(0.01))?.0,
        decimate(&on, surface(), &decimate::Options::new(100))?.0,
        smooth(&on, surface(), &smooth::Options::default())?.0,
        reorder(&on, surface())?.0,
        repair(
            &on,
            surface(),
            &repair::Options {
                edges: true,
                ..Default::default()
            },
        )?
        .0,
        triangulate(&on, points(), &triangulate::Options::default())?.0,
        triangulate(&on, points(), &refined)?.0,
    ];
    for (i, mesh) in done.iter().enumerate() {
        assert_eq!(mesh.about, about, "operation {i}");
    }
    Ok(())
}

/// Families of the plane compute without z.
#[test]
fn a_plane_keeps_its_height() -> Result<()> {
    let on = Device::cpu(Some(2))?;
    let lifted = |mut mesh: Mesh| {
        mesh.points.iter_mut().for_each(|p| p.z = 5.5);
        mesh
    };
    let levels = polylla::Options {
        levels: Some(2),
        ..Default::default()
    };
    let solved = trioxide_operations::vem(lifted(plane()), &Default::default())?.0;
    let nested = polylla(&on, lifted(plane()), &levels)?.0;
    let fine = refine(&on, lifted(plane()), &refine::Options::default())?.0;
    assert_eq!(solved.points, lifted(plane()).points);
    assert_eq!(nested.points, lifted(plane()).points);
    assert!(fine.points.len() > 500 && fine.points.iter().all(|p| p.z == 5.5));
    Ok(())
}

/// A mesh of the plane whose triangles, or some of them, run clockwise gives the result of the right mesh, and a note.
#[test]
fn clockwise_meshes_of_the_plane_are_turned() -> Result<()> {
    let machines = [On::Device(Device::cpu(Some(2))?), On::Serial];
    let right = plane();
    let Faces::Triangles(triangles) = &right.faces else {
        panic!("triangles")
    };
    for step in [1, 7] {
        let mut turned = triangles.clone();
        turned.iter_mut().step_by(step).for_each(|t| t.swap(1, 2));
        let count = triangles.len().div_ceil(step);
        let mesh = Mesh {
            faces: Faces::Triangles(turned),
            ..right.clone()
        };
        let expected = format!("{count} clockwise triangles were turned around");
        for on in &machines {
            let (expected_polygons, report) = polylla(on, right.clone(), &Default::default())?;
            assert!(report.notes.is_empty());
            let (polygons, report) = polylla(on, mesh.clone(), &Default::default())?;
            assert_eq!(report.notes[0].to_string(), expected);
            assert_eq!(polygons, expected_polygons);
            let options = refine::Options::default();
            let (expected_fine, _) = refine(on, right.clone(), &options)?;
            let (fine, report) = refine(on, mesh.clone(), &options)?;
            assert_eq!(report.notes[0].to_string(), expected);
            assert_eq!(fine, expected_fine);
        }
    }
    Ok(())
}

/// Guarded sweeps and untangling compare signs: of cells whose numbering runs the wrong way they would keep the worst.
#[test]
fn inverted_cells_are_turned_before_a_guard_compares_them() -> Result<()> {
    let on = Device::cpu(Some(2))?;
    let right = tets();
    let mut inverted = right.clone();
    let trioxide::volume::Cells::Tetrahedra(cells) = &mut inverted.cells else {
        panic!("tetrahedra")
    };
    cells.iter_mut().for_each(|cell| cell.swap(2, 3));
    let expected = format!("{} inverted cells were turned around", cells.len());
    let options = smooth::Options {
        guard: true,
        max_iterations: 5,
        ..Default::default()
    };
    let (smoothed, _) = smooth_volume(&on, right, &options)?;
    let (turned, report) = smooth_volume(&on, inverted, &options)?;
    assert_eq!(report.notes[0].to_string(), expected);
    assert_eq!(turned, smoothed);
    Ok(())
}

/// Two triangles beside a larger one: its edge has a vertex of theirs inside, and they have points of their own.
#[test]
fn parts_that_do_not_meet_are_noted() -> Result<()> {
    let corners = [
        [0.0, 0.0],
        [2.0, 0.0],
        [0.0, 2.0],
        [2.0, 0.0],
        [2.0, 2.0],
        [1.0, 1.0],
        [0.0, 2.0],
    ];
    let of_height = |height: f64| Mesh {
        points: corners.map(|[x, y]| DVec3::new(x, y, height * x)).to_vec(),
        faces: Faces::Triangles(vec![[0, 1, 2], [3, 4, 5], [4, 6, 5]]),
        ..Mesh::default()
    };
    let expected = [
        "2 vertices lie at places of others: weld them first (`weld --epsilon 0`)",
        "1 vertex lies inside edges of other elements, first vertex 5 in edge 1 - 2: join them first (`repair --conform`)",
    ];
    let check = |notes: Vec<Note>| {
        let notes: Vec<_> = notes.iter().map(Note::to_string).collect();
        assert_eq!(notes[..2], expected, "{notes:?}");
    };
    let device = Device::cpu(None)?;
    let mark = refine::Options {
        mark: Some("all".parse().expect("a mark")),
        ..Default::default()
    };
    for height in [0.0, 1.0] {
        let mesh = of_height(height);
        check(refine(&device, mesh.clone(), &mark)?.1.notes);
        check(
            smooth(&device, mesh.clone(), &smooth::Options::default())?
                .1
                .notes,
        );
        check(
            decimate(&device, mesh.clone(), &decimate::Options::new(1))?
                .1
                .notes,
        );
        check(
            polylla(&device, mesh, &polylla::Options::default())?
                .1
                .notes,
        );
    }
    check(vem(of_height(0.0), &vem::Options::default())?.1.notes);
    // The triangles as floors of tetrahedra, the first on the other side.
    let points = corners.map(|[x, y]| DVec3::new(x, 0.0, y)).into_iter();
    let apices = [DVec3::new(0.0, -1.0, 0.0), DVec3::new(2.0, -1.0, 2.0)];
    let tets = VolumeMesh::from(TetMesh {
        points: points.chain(apices).collect(),
        tetrahedra: vec![[0, 1, 2, 7], [3, 4, 5, 8], [4, 6, 5, 8]],
        ..TetMesh::default()
    });
    check(refine_tets(&device, tets.clone(), &mark)?.1.notes);
    check(
        smooth_volume(&device, tets.clone(), &smooth::Options::default())?
            .1
            .notes,
    );
    check(
        polyhedra(&device, tets, &polyhedra::Options::default())?
            .1
            .notes,
    );
    Ok(())
}

/// A mesh of the plane, a scan, and one with a Möbius strip, welded finely and coarsely: the other operations take what
/// `all` makes of them, and it changes nothing then.
#[test]
fn every_operation_takes_a_repaired_mesh() {
    let on = Device::cpu(None).expect("a device");
    let all = repair::Options {
        all: true,
        ..repair::Options::default()
    };
    let mut with_strip = scan();
    let first = with_strip.points.len() as u32;
    let ring = (0..5).map(|i| DVec3::new(f64::from(i), (i * i).into(), f64::from(9 + i % 2)));
    with_strip.points.extend(ring);
    let strip = [[0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 0], [4, 0, 1]];
    let strip = strip.map(|f: [u32; 3]| f.map(|v| first + v));
    with_strip.points.push(DVec3::splat(99.0));
    let Faces::Triangles(triangles) = &mut with_strip.faces else {
        panic!("triangles");
    };
    triangles.extend(strip);
    let (colors, regions) = (&mut with_strip.attributes.colors, &mut with_strip.regions);
    (*colors, *regions) = (None, None);
    with_strip.fields = Default::default();
    for (name, mesh) in [("plane", plane()), ("scan", scan()), ("strip", with_strip)] {
        for part in [0.0, 1e-6, 0.01, 0.05] {
            let [low, high] = mesh
                .points
                .iter()
                .fold([mesh.points[0]; 2], |[low, high], &p| {
                    [low.min(p), high.max(p)]
                });
            let epsilon = part * low.distance(high);
            let welded = weld(&on, mesh.clone(), &weld::Options::new(epsilon));
            let (welded, _) = welded.expect("a welded mesh");
            let (whole, report) = repair(&on, welded, &all).expect("a repaired mesh");
            let named = format!("{name}, {part}: {:?}", report.totals.done);
            let (again, _) = repair(&on, whole.clone(), &all).expect("a repaired mesh");
            assert_eq!(again, whole, "{named}");
            assert_eq!(report.totals.done.one_sided, 0, "{named}");
            let text = |result: Result<()>| result.map_err(|error| error.say(FIELDS));
            let done = [
                smooth(&on, whole.clone(), &smooth::Options::default()).map(drop),
                refine(&on, whole.clone(), &refine::Options::default()).map(drop),
                polylla(&on, whole.clone(), &polylla::Options::default()).map(drop),
            ];
            for (k, result) in done.into_iter().enumerate() {
                assert_eq!(text(result), Ok(()), "{k} of {named}");
            }
        }
    }
}

/// Small meshes of the plane and of space whose faces fold, hang, touch and are flat, with segments: a second run of
/// each step and of all changes nothing, and segments stay edges, or are counted.
#[test]
fn a_second_repair_changes_nothing() -> Result<()> {
    let on = Device::cpu(Some(1))?;
    let mut random = trioxide::random::SplitMix64::new(11);
    let mut below = |n: u64| random.next_u64() % n;
    let none = repair::Options::default;
    for case in 0..60 {
        let (points, depth) = (4 + below(12), [1, 3][case % 2]);
        let mut number = |n: u64| below(n) as f64;
        let points: Vec<DVec3> = (0..points)
            .map(|_| DVec3::new(number(5), number(5), number(depth)))
            .collect();
        let n = points.len() as u64;
        let faces = 2 + below(14);
        let faces: Vec<[u32; 3]> = (0..faces)
            .map(|_| [0; 3].map(|_| below(n) as u32))
            .collect();
        let segment = |(k, face): (usize, &[u32; 3])| Segment {
            ends: [face[k % 3], face[(k + 1) % 3]],
            marker: k as i32,
        };
        let mesh = Mesh {
            segments: faces.iter().enumerate().step_by(2).map(segment).collect(),
            points,
            faces: Faces::Triangles(faces),
            ..Mesh::default()
        };
        let runs = [
            repair::Options {
                all: true,
                ..none()
            },
            repair::Options {
                all: true,
                degenerate: Some(0.1),
                ..none()
            },
            repair::Options {
                conform: true,
                ..none()
            },
            repair::Options {
                repeated: true,
                min_faces: Some(2),
                ..none()
            },
            repair::Options {
                degenerate: Some(0.2),
                folded: true,
                ..none()
            },
            repair::Options {
                edges: true,
                vertices: true,
                fill_holes: Some(9),
                ..none()
            },
            repair::Options {
                unused: true,
                ..none()
            },
        ];
        for options in runs {
            let named = format!("{case}: {options:?} of {mesh:?}");
            let (once, report) = match repair(&on, mesh.clone(), &options) {
                Ok(repaired) => repaired,
                Err(error) => panic!("{named}: {}", error.say(FIELDS)),
            };
            let edges: Vec<[u32; 2]> = (0..once.faces.len())
                .flat_map(|i| {
                    let face = once.faces.get(i).to_vec();
                    (0..face.len()).map(move |k| [face[k], face[(k + 1) % face.len()]])
                })
                .collect();
            for segment in &once.segments {
                let [a, b] = segment.ends;
                assert!(
                    edges.contains(&[a, b]) || edges.contains(&[b, a]),
                    "{named}"
                );
            }
            let is_counted =
                once.segments.len() as u64 + report.totals.dropped_segments.unwrap_or(0);
            assert!(is_counted >= mesh.segments.len() as u64, "{named}");
            if once.faces.is_empty() {
                continue;
            }
            let (twice, _) = repair(&on, once.clone(), &options)?;
            assert_eq!(twice, once, "{named}");
        }
    }
    Ok(())
}

/// `--conform` inserts the vertices that the notes on parts name, and `--all` too.
#[test]
fn repair_inserts_hanging_vertices() -> Result<()> {
    let on = Device::cpu(Some(2))?;
    let only = repair::Options {
        conform: true,
        ..Default::default()
    };
    let all = repair::Options {
        all: true,
        ..Default::default()
    };
    let corners = [[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 2.0], [1.0, 1.0]];
    let mut mesh = Mesh {
        points: corners.map(|[x, y]| DVec3::new(x, y, x)).to_vec(),
        faces: Faces::Triangles(vec![[0, 1, 2], [1, 3, 4], [3, 2, 4]]),
        ..Mesh::default()
    };
    for options in [&only, &all] {
        let (conforming, report) = repair(&on, mesh.clone(), options)?;
        assert_eq!(report.totals.hanging, Some([1, 0]));
        assert_eq!(
            (report.totals.faces, &report.faces[..]),
            (3, &[0, 0, 1, 2][..])
        );
        let (again, report) = repair(&on, conforming.clone(), options)?;
        assert_eq!((report.totals.hanging, again), (Some([0, 0]), conforming));
    }
    // As floors of tetrahedra, the first on the other side, and inverted.
    let apices = [DVec3::new(0.0, -9.0, 0.0), DVec3::new(2.0, 9.0, 2.0)];
    let points = corners.map(|[x, y]| DVec3::new(x, 0.0, y)).into_iter();
    let tets = VolumeMesh::from(TetMesh {
        points: points.chain(apices).collect(),
        tetrahedra: vec![[0, 1, 2, 5], [1, 3, 4, 6], [3, 2, 4, 6]],
        ..TetMesh::default()
    });
    for options in [&only, &all] {
        let (conforming, report) = repair_volume(&on, tets.clone(), options)?;
        assert_eq!(report.totals.hanging, Some([1, 0]));
        assert_eq!(
            (conforming.cells.len(), &report.faces[..]),
            (4, &[0, 0, 1, 2][..])
        );
    }
    let mut polygons = trioxide::mesh::Polygons::default();
    [[0u32, 1, 2], [1, 3, 4]]
        .iter()
        .for_each(|face| polygons.push(face));
    polygons.push(&[3, 2, 4, 4]);
    mesh.faces = Faces::Polygons(polygons);
    let (conforming, _) = repair(&on, mesh, &only)?;
    assert_eq!(conforming.faces.get(0), [0, 1, 4, 2]);
    Ok(())
}

/// The middle of a quadrilateral with a reflex corner goes outside of it, and untangling brings it back.
#[test]
fn triangles_that_smoothing_turns_over_are_noted() -> Result<()> {
    let points = [[0.0, 0.0], [4.0, 3.0], [8.0, 0.0], [4.0, 6.0], [4.0, 3.5]];
    let mesh = Mesh {
        points: points.map(|[x, y]| DVec3::new(x, y, 0.0)).to_vec(),
        faces: Faces::Triangles(vec![[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]]),
        ..Mesh::default()
    };
    let on = Device::cpu(Some(2))?;
    let (smoothed, report) = smooth(&on, mesh, &smooth::Options::default())?;
    assert_eq!(report.notes, [Note::Overturned(2)]);
    let untangle = smooth::Options {
        untangle: true,
        ..Default::default()
    };
    let (untangled, _) = smooth(&on, smoothed, &untangle)?;
    assert_eq!(untangled.clockwise_faces(), 0);
    Ok(())
}

/// Every place of a vertex around a lattice, and every place of its inner neighbours: exact signs decide.
#[test]
fn a_guard_turns_no_face_of_the_plane_over() -> Result<()> {
    let on = Device::cpu(Some(2))?;
    let guard = smooth::Options {
        guard: true,
        max_iterations: 3,
        ..Default::default()
    };
    // Quadrilaterals of a grid of 4 by 4 points; the inner four are anywhere on a lattice around their places.
    let place = |v: u32| [f64::from(v % 4), f64::from(v / 4)];
    let inner = [5u32, 6, 9, 10];
    let cells: Vec<u32> = (0..11).filter(|v| v % 4 < 3).collect();
    let squares: Vec<[u32; 4]> = cells.iter().map(|&v| [v, v + 1, v + 5, v + 4]).collect();
    let (mut moved, mut positive) = (0, 0);
    for code in 0..3u32.pow(8) {
        // Others differ little.
        if code % 31 != 0 {
            continue;
        }
        let digit = |k: u32| f64::from(code / 3u32.pow(k) % 3) * 0.75 - 0.75;
        let mut points: Vec<[f64; 2]> = (0..16).map(place).collect();
        for (k, &v) in (0..).zip(&inner) {
            points[v as usize][0] += digit(2 * k);
            points[v as usize][1] += digit(2 * k + 1);
        }
        let mut polygons = trioxide::mesh::Polygons::default();
        squares.iter().for_each(|square| polygons.push(square));
        let of_triangles = squares
            .iter()
            .flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]);
        for faces in [
            Faces::Polygons(polygons),
            Faces::Triangles(of_triangles.collect()),
        ] {
            let mesh = Mesh {
                points: points.iter().map(|&[x, y]| DVec3::new(x, y, 2.0)).collect(),
                faces,
                ..Mesh::default()
            };
            let (smoothed, report) = smooth(&on, mesh.clone(), &guard)?;
            let valid = is_simple;
            // Where some are inverted they may be turned first, which others then are.
            if (0..mesh.faces.len()).all(|f| valid(&mesh, f)) {
                assert!(
                    (0..mesh.faces.len()).all(|f| valid(&smoothed, f)),
                    "{points:?}"
                );
                positive += 1;
            }
            assert!(
                report
                    .notes
                    .iter()
                    .all(|note| !matches!(note, Note::Overturned(_) | Note::OverturnedPolygons(_)))
            );
            moved += usize::from(smoothed.points != mesh.points);
        }
    }
    assert!(moved > 200 && positive > 50, "{moved} {positive}");
    let tent = Mesh {
        points: [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]
            .map(DVec3::from)
            .to_vec(),
        faces: Faces::Triangles(vec![[0, 1, 2]]),
        ..Mesh::default()
    };
    let refused = smooth(&on, tent, &guard).unwrap_err().to_string();
    assert_eq!(
        refused,
        "the guard is for cells, and for faces in a plane of one z: smooth a surface in space without `guard`"
    );
    Ok(())
}

/// Whether a face is simple and counter-clockwise, by its area and by all pairs of its edges; exact by `robust`.
fn is_simple(mesh: &Mesh, f: usize) -> bool {
    let corners = mesh.faces.get(f);
    let n = corners.len();
    let at = |k: usize| {
        let p = mesh.points[corners[k % n] as usize];
        robust::Coord { x: p.x, y: p.y }
    };
    let side = |i, j, k| robust::orient2d(at(i), at(j), at(k));
    let area: f64 = (1..n - 1).map(|k| side(0, k, k + 1)).sum();
    let is_crossed = (0..n).any(|i| {
        (i + 2..n).filter(|j| (j + 1) % n != i).any(|j| {
            side(i, i + 1, j) * side(i, i + 1, j + 1) <= 0.0
                && side(j, j + 1, i) * side(j, j + 1, i + 1) <= 0.0
        })
    });
    area > 0.0 && !is_crossed
}
