//! `trioxide smooth` as one types it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use trioxide::formats;
use trioxide::generate;
use trioxide::volume::VolumeMesh;

fn trioxide(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_trioxide"))
        .args(arguments)
        .output()
        .expect("the binary starts")
}

fn done(arguments: &[&str]) -> String {
    let output = trioxide(arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
    String::from_utf8(output.stdout).expect("text")
}

fn refused(arguments: &[&str]) -> String {
    let output = trioxide(arguments);
    assert!(!output.status.success(), "{arguments:?} was done");
    String::from_utf8(output.stderr).expect("text")
}

/// A folder of the test's own with a mesh of tetrahedra.
fn folder(name: &str) -> (PathBuf, VolumeMesh) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).expect("a folder");
    let mesh: VolumeMesh = generate::random_tets(300, 1).expect("enough points").into();
    formats::write_volume(&folder.join("in.vtu"), &mesh).expect("written");
    (folder, mesh)
}

fn path(folder: &Path, name: &str) -> String {
    folder.join(name).to_str().expect("UTF-8").to_owned()
}

/// The mesh after `trioxide smooth` with these arguments.
fn smooth(folder: &Path, arguments: &[&str]) -> (VolumeMesh, Value) {
    let (input, output) = (path(folder, "in.vtu"), path(folder, "out.vtu"));
    let first = ["smooth", &input, "-o", &output, "--json", "-"];
    let text = done(&[&first[..], arguments].concat());
    let mesh = formats::read_volume(Path::new(&output)).expect("written");
    (mesh, serde_json::from_str(&text).expect("JSON"))
}

#[test]
fn devices_layouts_and_blocks_write_the_same_nodes() {
    let (folder, before) = folder("smooth_devices");
    let ten = ["--max-iterations", "10", "--device"];
    let (expected, _) = smooth(&folder, &[&ten[..], &["serial"]].concat());
    assert_ne!(expected.points, before.points);
    assert_eq!(expected.cells, before.cells);
    for layout in ["soa", "aos", "aligned"] {
        for blocks in ["one", "many"] {
            let way = ["cpu", "--layout", layout, "--blocks", blocks];
            let (mesh, report) = smooth(&folder, &[&ten[..], &way].concat());
            assert_eq!(mesh.points, expected.points, "{layout} {blocks}");
            assert_eq!(report["iterations"], 10);
        }
    }
}

#[test]
fn a_guarded_run_reports_quality_that_does_not_fall() {
    let (folder, mesh) = folder("smooth_guard");
    let (_, report) = smooth(&folder, &["--guard", "--device", "cpu"]);
    let number = |name: &str| report[name].as_f64().unwrap_or(f64::NAN);
    assert!(number("worst_quality_after") >= number("worst_quality_before"));
    assert_eq!(
        (number("inverted_before"), number("inverted_after")),
        (0.0, 0.0)
    );
    for when in ["quality_before", "quality_after"] {
        for kind in ["scaled_jacobian", "minimum_dihedral_angle", "radius_ratio"] {
            let counts = report[when][kind]["counts"]
                .as_array()
                .expect("a histogram");
            let sum: u64 = counts.iter().filter_map(Value::as_u64).sum();
            assert_eq!(sum, mesh.cells.len() as u64, "{when} {kind}");
        }
    }
}

#[test]
fn info_tells_the_same_quality_as_a_run() {
    let (folder, mesh) = folder("smooth_info");
    let (_, report) = smooth(&folder, &["--device", "serial"]);
    let info = |name: &str| -> Value {
        let text = done(&["info", &path(&folder, name), "--json", "-"]);
        serde_json::from_str(&text).expect("JSON")
    };
    assert_eq!(info("in.vtu")["quality"], report["quality_before"]);
    assert_eq!(info("out.vtu")["quality"], report["quality_after"]);
    assert_eq!(
        report["inverted_after"],
        report["quality_after"]["inverted"]
    );
    let text = done(&["info", &path(&folder, "in.vtu")]);
    for name in ["scaled Jacobian", "smallest dihedral angle", "radius ratio"] {
        let mut lines = text.lines().skip_while(|line| !line.starts_with(name));
        assert!(lines.next().is_some_and(|line| line.ends_with("at worst")));
        let bins = lines.take_while(|line| line.starts_with("  "));
        let count = |line: &str| line.split_whitespace().rev().nth(2)?.parse::<usize>().ok();
        assert_eq!(bins.filter_map(count).sum::<usize>(), mesh.cells.len());
    }
}

#[test]
fn a_cut_shows_what_is_inside() {
    let (folder, _) = folder("smooth_cut");
    let (input, picture) = (path(&folder, "in.vtu"), path(&folder, "cut.png"));
    done(&[
        "render", &input, "-o", &picture, "--cut", "1,0,0", "--width", "200",
    ]);
    let cut = fs::read(&picture).expect("a picture");
    done(&["render", &input, "-o", &picture, "--width", "200"]);
    assert_ne!(cut, fs::read(&picture).expect("a picture"));
    let error = refused(&["render", &input, "-o", &picture, "--cut", "1,0,0,-1"]);
    assert!(error.contains("leaves none of"), "{error}");
    let error = refused(&["render", &input, "-o", &picture, "--color", "area"]);
    assert!(error.contains("auto (their quality)"), "{error}");
    let surface = path(&folder, "surface.off");
    formats::write(Path::new(&surface), &sphere()).expect("written");
    let error = refused(&["render", &surface, "-o", &picture, "--cut", "1,0,0"]);
    assert!(error.contains("has no cells"), "{error}");
}

#[test]
fn a_tolerance_ends_the_sweeps() {
    let (folder, _) = folder("smooth_tolerance");
    let arguments = [
        "--tolerance",
        "1e-4",
        "--max-iterations",
        "5000",
        "--device",
        "cpu",
    ];
    let (_, report) = smooth(&folder, &arguments);
    assert_eq!(report["converged"], true);
    assert!(
        report["max_displacement"]
            .as_f64()
            .is_some_and(|d| d > 0.0 && d < 1e-4)
    );
    assert!(
        report["iterations"]
            .as_u64()
            .is_some_and(|n| n > 1 && n < 5000)
    );
}

#[test]
fn nodes_of_a_file_stay() {
    let (folder, before) = folder("smooth_fixed");
    let file = path(&folder, "fixed.txt");
    let (free, _) = smooth(&folder, &["--device", "cpu"]);
    let moved: Vec<usize> = (0..before.points.len())
        .filter(|&v| free.points[v] != before.points[v])
        .collect();
    let fixed = &moved[..moved.len() / 2];
    let lines: Vec<String> = fixed.iter().map(usize::to_string).collect();
    for (device, between) in [("serial", "\n"), ("cpu", " ")] {
        let text = format!("# nodes\n\n{} # fixed\n", lines.join(between));
        fs::write(&file, text).expect("written");
        let (after, report) = smooth(&folder, &["--fixed", &file, "--device", device]);
        assert_eq!(report["moving_vertices"], moved.len() - fixed.len());
        for &v in fixed {
            assert_eq!(after.points[v], before.points[v]);
        }
        for &v in &moved[fixed.len()..] {
            assert_ne!(after.points[v], before.points[v]);
        }
    }
}

#[test]
fn what_cannot_be_is_refused_with_its_cause() {
    let (folder, _) = folder("smooth_refused");
    let (input, file) = (path(&folder, "in.vtu"), path(&folder, "bad.txt"));
    let refuse = |arguments: &[&str], cause: &str| {
        let error = refused(&[&["smooth", &input, "--device", "cpu"], arguments].concat());
        assert!(error.contains(cause), "{arguments:?}: {error}");
    };
    for bad in ["12\n300\n", "12\n-1\n", "12\nx\n"] {
        fs::write(&file, bad).expect("written");
        refuse(&["--fixed", &file], "bad.txt");
        refuse(&["--fixed", &file], "the mesh has 300 nodes, from 0 on");
    }
    refuse(&["--fixed", &path(&folder, "none.txt")], "none.txt");
    refuse(&["--tolerance=-1"], "a tolerance of -1");
    refuse(&["--guard", "--form", "a"], "b-coloured");
    refuse(&["--form", "b-exact", "--blocks", "one"], "many blocks");
    refuse(&["-o", "out.xyz"], "xyz");
    refuse(
        &["--method", "hc", "--form", "b"],
        "it needs form a over many",
    );
    refuse(&["--method", "hc", "--guard"], "it needs form a over many");
    refuse(&["--method", "hc", "--blocks", "one"], "it needs form a");
    refuse(&["--method", "hc", "--hc", "0.5,1.5"], "from 0 to 1");
    refuse(&["--method", "hc", "--hc", "0.5"], "is not ALPHA,BETA");
    refuse(&["--hc", "0.5,0.5"], "add --method hc");
    let error = refused(&["smooth", &input, "--form", "b", "--device", "serial"]);
    assert!(error.contains("b-exact"), "{error}");
}

#[test]
fn weights_and_methods_move_nodes_elsewhere_and_the_same_on_each_device() {
    let (folder, _) = folder("smooth_weights");
    let mut results: Vec<Vec<_>> = Vec::new();
    for way in [
        ["--weights", "uniform"],
        ["--weights", "inverse-length"],
        ["--weights", "cotangent"],
        ["--method", "taubin"],
        ["--method", "hc"],
        ["--method=hc", "--hc=0.5,0.5"],
    ] {
        let five = ["--max-iterations", "5", "--device"];
        let run = |device| smooth(&folder, &[&way[..], &five, &[device]].concat()).0;
        let (serial, cpu) = (run("serial"), run("cpu"));
        assert_eq!(serial.points, cpu.points, "{way:?}");
        assert!(!results.contains(&cpu.points), "{way:?}");
        results.push(cpu.points);
    }
}

#[test]
fn nodes_slide_on_the_sides_and_edges_of_a_cube() {
    let (folder, _) = folder("smooth_slide");
    // Regular on the sides: pull one node of a side and one of an edge off their places.
    let mut before: VolumeMesh = generate::tet_grid(216, 1).expect("enough nodes").into();
    let place = |x: f64, y: f64, z: f64| {
        let near = |p: &glam::DVec3| p.distance(glam::DVec3::new(x, y, z)) < 1e-9;
        before.points.iter().position(near).expect("a node")
    };
    let (side, edge) = (place(0.4, 0.4, 0.0), place(0.4, 0.0, 0.0));
    before.points[side].x += 0.07;
    before.points[edge].x += 0.07;
    formats::write_volume(&folder.join("in.vtu"), &before).expect("written");
    for form in ["a", "b-exact"] {
        let arguments = [
            "--boundary",
            "slide",
            "--form",
            form,
            "--max-iterations",
            "200",
        ];
        let (after, _) = smooth(&folder, &[&arguments[..], &["--device", "cpu"]].concat());
        for (v, (p, q)) in before.points.iter().zip(&after.points).enumerate() {
            let fixed: Vec<usize> = (0..3).filter(|&k| p[k] == 0.0 || p[k] == 1.0).collect();
            for &k in &fixed {
                assert!(
                    (p[k] - q[k]).abs() < 1e-12,
                    "node {v} left its side: {p}, {q}"
                );
            }
            assert!(fixed.len() < 3 || p == q, "corner {v} moved");
        }
        assert!(after.points[edge].distance(glam::DVec3::new(0.4, 0.0, 0.0)) < 1e-6);
        assert!(after.points[side].distance(before.points[side]) > 1e-3);
        let (serial, _) = smooth(&folder, &[&arguments[..], &["--device", "serial"]].concat());
        assert_eq!(serial.points, after.points);
    }
}

#[test]
fn nodes_slide_along_the_straight_border_of_a_surface() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("smooth_border");
    fs::create_dir_all(&folder).expect("a folder");
    let (input, output) = (path(&folder, "in.off"), path(&folder, "out.off"));
    // A square with one node of a side off its place, and one pulled out of its side.
    let mut before: trioxide::mesh::Mesh = generate::grid(36).expect("enough points").into();
    let place = |x: f64, y: f64| {
        let near = |p: &glam::DVec3| p.distance(glam::DVec3::new(x, y, 0.0)) < 1e-9;
        before.points.iter().position(near).expect("a node")
    };
    let (side, inner, out) = (place(0.4, 0.0), place(0.4, 0.4), place(0.6, 1.0));
    before.points[side].x += 0.07;
    before.points[inner].x += 0.07;
    before.points[out].y += 0.1;
    formats::write(Path::new(&input), &before).expect("written");
    for device in ["serial", "cpu"] {
        for (boundary, slides) in [("fixed", false), ("slide", true)] {
            let way = ["--boundary", boundary, "--max-iterations", "300"];
            let common = ["smooth", &input, "-o", &output, "--device", device];
            done(&[&common[..], &way].concat());
            let after = formats::read(Path::new(&output)).expect("written");
            for (v, (p, q)) in before.points.iter().zip(&after.points).enumerate() {
                let fixed: Vec<usize> = (0..2).filter(|&k| p[k] == 0.0 || p[k] == 1.0).collect();
                for &k in &fixed {
                    assert!(
                        (p[k] - q[k]).abs() < 1e-12,
                        "node {v} left its side: {p}, {q}"
                    );
                }
                let stays = fixed.len() == 2 || v == out || !slides && fixed.len() == 1;
                assert!(!stays || p == q, "node {v} moved");
            }
            let way_to_the_middle = (after.points[side].x - 0.4).abs();
            assert_eq!(way_to_the_middle < 1e-6, slides, "{device} {boundary}");
            assert_ne!(after.points[inner], before.points[inner]);
        }
    }
}

#[test]
fn hc_takes_noise_away_and_keeps_the_volume() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("smooth_hc");
    fs::create_dir_all(&folder).expect("a folder");
    let (input, output) = (path(&folder, "in.off"), path(&folder, "out.off"));
    let mut noisy = sphere();
    for (v, p) in noisy.points.iter_mut().enumerate() {
        let noise = f64::from(gpu::smooth::shuffled(v as u32)) / f64::from(u32::MAX) - 0.5;
        *p *= 1.0 + 0.04 * noise;
    }
    formats::write(Path::new(&input), &noisy).expect("written");
    // How far the distance from the middle is off that of the neighbours, and the volume.
    let faces = (0..noisy.faces.len()).map(|f| noisy.faces.get(f));
    let rows = trioxide_reference::smooth::surface_neighbours(noisy.points.len(), faces);
    let measure = |mesh: &trioxide::mesh::Mesh| {
        let height = |v: u32| mesh.points[v as usize].length();
        let squares = rows.iter().enumerate().map(|(v, row)| {
            let mean = row.iter().map(|&u| height(u)).sum::<f64>() / row.len() as f64;
            (height(v as u32) - mean).powi(2)
        });
        let roughness = squares.sum::<f64>().sqrt();
        (roughness, volume(mesh) / volume(&noisy))
    };
    let run = |method: &[&str]| {
        let common = ["smooth", &input, "-o", &output, "--device", "cpu"];
        done(&[&common[..], &["--max-iterations", "30"], method].concat());
        measure(&formats::read(Path::new(&output)).expect("written"))
    };
    let (rough, _) = measure(&noisy);
    let (_, plain_volume) = run(&["--method", "laplacian"]);
    assert!(plain_volume < 0.9, "{plain_volume}");
    for hc in [&["--method", "hc"][..], &["--method=hc", "--hc=0,0.5"]] {
        let (roughness, volume) = run(hc);
        assert!(roughness < 0.3 * rough, "{hc:?}: {roughness} of {rough}");
        assert!((volume - 1.0).abs() < 0.05, "{hc:?}: {volume}");
    }
}

#[test]
fn taubin_keeps_the_volume_of_a_surface_that_the_laplacian_shrinks() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("smooth_taubin");
    fs::create_dir_all(&folder).expect("a folder");
    // A tetrahedron's sides divided four times and put onto the unit sphere.
    let (input, output) = (path(&folder, "in.off"), path(&folder, "out.off"));
    formats::write(Path::new(&input), &sphere()).expect("written");
    let mut ratios = Vec::new();
    for method in ["laplacian", "taubin"] {
        let way = [
            "--method",
            method,
            "--max-iterations",
            "40",
            "--device",
            "cpu",
        ];
        done(&[&["smooth", &input, "-o", &output], &way[..]].concat());
        let after = formats::read(Path::new(&output)).expect("written");
        ratios.push(volume(&after) / volume(&sphere()));
    }
    assert!(ratios[0] < 0.9, "{ratios:?}");
    assert!((ratios[1] - 1.0).abs() < 0.05, "{ratios:?}");
    let error = refused(&["smooth", &input, "--guard", "--device", "cpu"]);
    assert!(error.contains("the guard is for cells"), "{error}");
}

#[test]
fn taubin_takes_factors_and_refuses_ones_that_do_not_keep_the_size() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("smooth_factors");
    fs::create_dir_all(&folder).expect("a folder");
    let (input, output) = (path(&folder, "in.off"), path(&folder, "out.off"));
    formats::write(Path::new(&input), &sphere()).expect("written");
    let run = |factors: &[&str]| {
        let way = [
            "--method",
            "taubin",
            "--max-iterations",
            "20",
            "--device",
            "cpu",
        ];
        done(&[&["smooth", &input, "-o", &output], &way[..], factors].concat());
        fs::read(&output).expect("written")
    };
    let default = run(&[]);
    assert!(default == run(&["--lambda", "0.5", "--mu", "-0.53"]));
    assert!(default == run(&["--lambda", "0.5"]));
    assert!(default != run(&["--lambda", "0.33", "--mu", "-0.34"]));
    assert!(default != run(&["--lambda=0.33"]));
    for (factors, words) in [
        (["--lambda=0", "--mu=-0.5"], "0 < lambda < -mu"),
        (["--lambda=0.5", "--mu=-0.5"], "lambda 0.5 and mu -0.5"),
        (["--lambda=0.5", "--mu=-1.1"], "-mu at most 1"),
        (["--lambda=nan", "--mu=-0.5"], "lambda NaN"),
        (["--lambda=0.5", "--method=hc"], "leave them out"),
    ] {
        let method = if factors[1].starts_with("--method") {
            &[][..]
        } else {
            &["--method=taubin"]
        };
        let error = refused(&[&["smooth", &input, "--device=cpu"], &factors[..], method].concat());
        assert!(error.contains(words), "{factors:?}: {error}");
    }
}

fn sphere() -> trioxide::mesh::Mesh {
    let corners = [[1., 1., 1.], [-1., 1., -1.], [1., -1., -1.], [-1., -1., 1.]];
    let mut points: Vec<glam::DVec3> = corners.map(|p| glam::DVec3::from(p).normalize()).into();
    let mut triangles = vec![[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]];
    for _ in 0..4 {
        let mut middles = std::collections::HashMap::new();
        let mut finer = Vec::new();
        for [a, b, c] in triangles {
            let mut middle = |a: u32, b: u32| {
                *middles.entry((a.min(b), a.max(b))).or_insert_with(|| {
                    points.push((points[a as usize] + points[b as usize]).normalize());
                    points.len() as u32 - 1
                })
            };
            let (x, y, z) = (middle(a, b), middle(b, c), middle(c, a));
            finer.extend([[a, x, z], [b, y, x], [c, z, y], [x, y, z]]);
        }
        triangles = finer;
    }
    trioxide::mesh::Mesh {
        points,
        faces: trioxide::mesh::Faces::Triangles(triangles),
        ..trioxide::mesh::Mesh::default()
    }
}

fn volume(mesh: &trioxide::mesh::Mesh) -> f64 {
    let faces = (0..mesh.faces.len()).map(|f| mesh.faces.get(f));
    let six: f64 = faces
        .map(|face| {
            let at = |k: usize| mesh.points[face[k] as usize];
            at(0).cross(at(1)).dot(at(2))
        })
        .sum();
    six.abs() / 6.0
}

#[test]
fn a_tangled_mesh_becomes_valid_or_is_refused() {
    let (folder, before) = folder("smooth_untangle");
    let (input, output, bad) = (
        path(&folder, "in.vtu"),
        path(&folder, "out.vtu"),
        path(&folder, "bad.txt"),
    );
    // Sweeps to the mean turn some of these cells around.
    let (tangled, report) = smooth(&folder, &["--max-iterations", "60", "--device", "cpu"]);
    let count = report["inverted_after"].as_u64().expect("a number");
    assert!(count > 3, "{report}");
    formats::write_volume(&folder.join("in.vtu"), &tangled).expect("written");
    let cpu = ["--device", "cpu"];
    let (_, report) = smooth(
        &folder,
        &[&cpu[..], &["--untangle", "--bad", &bad]].concat(),
    );
    assert_eq!(report["inverted_before"], count);
    assert_eq!(report["inverted_after"], 0);
    assert!(report["quality_after"]["inverted"] == 0 && report["rings"] == 2);
    assert_eq!(fs::read_to_string(&bad).expect("ids"), "");
    let (_, better) = smooth(&folder, &["--untangle", "--improve", "--device", "cpu"]);
    let worst = |report: &Value| report["worst_mean_ratio_after"].as_f64().expect("a number");
    assert!(worst(&better) > worst(&report) && worst(&report) > 0.0);
    let counts = better["mean_ratio_after"]["counts"]
        .as_array()
        .expect("bins");
    let sum: u64 = counts.iter().filter_map(Value::as_u64).sum();
    assert_eq!(sum, before.cells.len() as u64);

    // No sweep is made: the mesh is left as it was.
    fs::remove_file(&output).expect("written before");
    let none = [
        "smooth",
        &input,
        "-o",
        &output,
        "--untangle",
        "--max-iterations",
        "0",
    ];
    let error = refused(&[&none[..], &cpu, &["--bad", &bad]].concat());
    let said = "others are still inverted after 0 sweeps: give more --max-iterations";
    assert!(
        error.contains(said) && error.contains("in.vtu: cell "),
        "{error}"
    );
    assert!(!Path::new(&output).exists());
    let ids = fs::read_to_string(&bad).expect("ids");
    assert_eq!(ids.lines().count() as u64, count);
    done(&[&none[..], &cpu, &["--keep-going"]].concat());
    let kept = formats::read_volume(Path::new(&output)).expect("written");
    assert!(kept.points == tangled.points && kept.cells == tangled.cells);
    let chain = [
        "chain",
        &input,
        "--device",
        "cpu",
        ":",
        "smooth",
        "--untangle",
    ];
    done(&[&chain[..], &[":", "-o", &output]].concat());
    let chained = formats::read_volume(Path::new(&output)).expect("written");
    assert_ne!(chained.points, tangled.points);

    // A cell that no move changes is named before the first sweep.
    let first = ids.lines().next().expect("an id").to_owned();
    let cell = tangled.cells.get(first.parse().expect("an id"));
    let stays: Vec<String> = cell.iter().map(u32::to_string).collect();
    let fixed = path(&folder, "fixed.txt");
    fs::write(&fixed, stays.join("\n")).expect("written");
    let all = ["smooth", &input, "--untangle", "--fixed", &fixed];
    let error = refused(&[&all[..], &cpu].concat());
    let said = format!("cell {first} is inverted and no node moves that could change it");
    assert!(error.contains(&said), "{error}");

    let error = refused(&[&["smooth", &input, "--improve"][..], &cpu].concat());
    assert!(
        error.contains("only valid meshes are improved, so add --untangle"),
        "{error}"
    );
    let error = refused(&["smooth", &input, "--untangle", "--device", "serial"]);
    assert!(
        error.contains("no paper has a sequential algorithm for --untangle"),
        "{error}"
    );
    formats::write_volume(&folder.join("in.vtu"), &before).expect("written");
    let (_, report) = smooth(&folder, &[&cpu[..], &["--improve"]].concat());
    assert!(
        worst(&report)
            > report["worst_mean_ratio_before"]
                .as_f64()
                .expect("a number")
    );
}
