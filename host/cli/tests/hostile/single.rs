//! Meshes with one fault each: all devices give the same error.

use super::*;

/// The fan of the 36 points with whole coordinates on a circle: all spokes are equally long, and each triangle's first
/// one is another.
#[test]
fn a_tied_ring_is_refused_by_every_device() {
    let folder = folder("tied_ring");
    let mut around: Vec<(i32, i32)> = (-65..=65)
        .flat_map(|x| (-65..=65).map(move |y| (x, y)))
        .filter(|(x, y)| x * x + y * y == 65 * 65)
        .collect();
    around.sort_by(|a, b| {
        let angle = |&(x, y): &(i32, i32)| f64::from(y).atan2(f64::from(x));
        angle(a).total_cmp(&angle(b))
    });
    assert_eq!(around.len(), 36);
    let mut points = vec![DVec3::ZERO];
    points.extend(
        around
            .iter()
            .map(|&(x, y)| DVec3::new(x.into(), y.into(), 0.0)),
    );
    let cells = (0..36).map(|i| [0, 1 + i, 1 + (i + 1) % 36]).collect();
    let (input, output) = (folder.join("in.off"), folder.join("out.off"));
    write_off(&input, &Hostile { points, cells });
    let file = input.to_str().expect("UTF-8");
    let [serially, parallel] = [SERIAL, CPUS].map(|on| [on, &["--method", "indexed"]].concat());
    let ways: &[&[&str]] = &[SERIAL, CPU, CPUS, &serially, &parallel];
    let given = agree(
        "a ring",
        &["polylla", file, "--ties", "first"],
        &output,
        ways,
    );
    assert_eq!(given.status, Some(1));
    assert!(given.said.contains("use --ties edge"), "{}", given.said);
    assert_eq!(given.written, None);
    let given = agree("a ring", &["polylla", file], &output, ways);
    assert_eq!(given.status, Some(0));
}

/// Four triangles surround vertex 4, and a fifth one starts there.
#[test]
fn triangles_that_overlap_round_a_vertex_are_taken_by_every_device_and_named_by_info() {
    let folder = folder("overlap_round_a_vertex");
    let (input, output) = (folder.join("in.off"), folder.join("out.off"));
    let file = input.to_str().expect("UTF-8");
    let places = [(0, 0), (2, 0), (2, 2), (0, 2), (1, 1), (18, 0), (18, 2)];
    let points = places.map(|(x, y)| DVec3::new(x.into(), y.into(), 0.0));
    let cells = vec![[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4], [4, 5, 6]];
    let points = points.to_vec();
    write_off(&input, &Hostile { points, cells });
    for precision in ["f64", "f32"] {
        for command in [
            &["polylla", file][..],
            &["polylla", file, "--method", "indexed"],
            &["refine", file, "--rounds", "3"],
            &["refine", file, "--rounds", "3", "--coarsen-to", "1"],
        ] {
            let command = [command, &["--precision", precision]].concat();
            let given = agree("a fifth", &command, &output, &[SERIAL, CPU, CPUS]);
            assert_eq!(given.status, Some(0), "{command:?}: {}", given.said);
        }
    }
    let info = Command::new(env!("CARGO_BIN_EXE_trioxide"))
        .args(["info", file])
        .output()
        .expect("the binary starts");
    let text = String::from_utf8_lossy(&info.stdout);
    assert!(
        text.contains("vertex 4 is surrounded by triangles and belongs to others besides"),
        "{text}"
    );
}

#[test]
fn overlapping_tetrahedra_are_refused_by_every_device_and_named_by_info() {
    let folder = folder("overlapping_tetrahedra");
    let (input, output) = (folder.join("in.mesh"), folder.join("out.mesh"));
    let file = input.to_str().expect("UTF-8");
    let corner = |x, y, z| DVec3::new(x, y, z);
    let points = vec![
        corner(0.0, 0.0, 0.0),
        corner(1.0, 0.0, 0.0),
        corner(0.0, 1.0, 0.0),
        corner(0.0, 0.0, 1.0),
        corner(0.1, 0.1, 2.0),
        corner(0.2, 0.2, 3.0),
    ];
    let twice = vec![[0, 1, 2, 3]; 2];
    let one_side = vec![[0, 1, 2, 3], [0, 1, 2, 4]];
    let three = vec![[0, 1, 2, 3], [0, 1, 2, 4], [0, 1, 2, 5]];
    for (cells, said, problem) in [
        (twice, "overlap", "on the same side of a face"),
        (one_side, "overlap", "on the same side of a face"),
        (
            three,
            "at most two can share a face",
            "of more than two cells",
        ),
    ] {
        let points = points.clone();
        write_tets(&input, &Hostile { points, cells });
        for precision in ["f64", "f32"] {
            let command = ["refine", file, "--precision", precision];
            let given = agree(said, &command, &output, &[SERIAL, CPU, CPUS]);
            assert_eq!(given.status, Some(1), "{said}");
            assert!(given.said.contains(said), "{}", given.said);
        }
        let info = Command::new(env!("CARGO_BIN_EXE_trioxide"))
            .args(["info", file])
            .output()
            .expect("the binary starts");
        let text = String::from_utf8_lossy(&info.stdout);
        assert!(text.contains(problem), "{text}");
    }
}

#[test]
fn squares_outside_of_the_precision_are_scaled_or_refused_with_the_remedy() {
    let folder = folder("squares");
    let (input, output) = (folder.join("in.off"), folder.join("out.off"));
    let file = input.to_str().expect("UTF-8");
    let drawn = drawn(200, 1);
    let write = |factor: f64| {
        let scaled = drawn.points.iter().map(|p| (*p * factor).extend(0.0));
        let (points, cells) = (scaled.collect(), drawn.triangles.clone());
        write_off(&input, &Hostile { points, cells });
    };
    write(1.0);
    let faces = |given: &Given| {
        let text = String::from_utf8(given.written.clone().expect("written")).expect("text");
        text.lines().nth(1).expect("counts").to_owned()
    };
    let polylla = ["polylla", file, "--precision"];
    let ways: &[&[&str]] = &[SERIAL, CPUS];
    let expected = agree("1", &[&polylla[..], &["f64"]].concat(), &output, ways);
    for (factor, precision, remedy) in [
        (2f64.powi(100), "f32", "--precision f64"),
        (2f64.powi(-70), "f32", "--precision f64"),
        (2f64.powi(520), "f64", "scale the mesh down"),
        (2f64.powi(-520), "f64", "scale the mesh up"),
    ] {
        write(factor);
        let command = ["refine", file, "--precision", precision];
        let given = agree(remedy, &command, &output, ways);
        assert_eq!(given.status, Some(1), "{command:?} {factor:e}");
        assert!(given.said.contains(remedy), "{}", given.said);
        assert_eq!(given.said.trim().lines().count(), 1, "{}", given.said);
        // It scales by a power of two.
        for precision in ["f64", precision] {
            let given = agree(
                "scale",
                &[&polylla[..], &[precision]].concat(),
                &output,
                ways,
            );
            assert_eq!(faces(&given), faces(&expected), "{factor:e}");
        }
    }
    // Within the range a power of two changes no polygon.
    for factor in [2f64.powi(50), 2f64.powi(-40)] {
        write(factor);
        let given = agree("f32", &[&polylla[..], &["f32"]].concat(), &output, ways);
        assert_eq!(faces(&given), faces(&expected), "{factor:e}");
    }
}

#[test]
fn smoothing_scales_coordinates_whose_squares_are_infinite_on_every_device() {
    let folder = folder("squares_of_smoothing");
    let (input, output) = (folder.join("in.mesh"), folder.join("out.mesh"));
    let file = input.to_str().expect("UTF-8");
    let drawn = generate::random_tets(40, 1).expect("enough points");
    for exponent in [300, 500, 1000] {
        let scaled = drawn.points.iter().map(|p| *p * 2f64.powi(exponent));
        let (points, cells) = (scaled.collect(), drawn.tetrahedra.clone());
        write_tets(&input, &Hostile { points, cells });
        for weights in ["uniform", "inverse-length", "cotangent"] {
            let command = ["smooth", file, "--weights", weights, "--max-iterations=3"];
            let given = agree("2^n", &command, &output, &[SERIAL, CPU, CPUS]);
            assert_eq!(given.status, Some(0), "{exponent}: {}", given.said);
            let written = given.written.map(String::from_utf8);
            assert!(written.is_none_or(|text| !text.expect("text").contains("NaN")));
        }
    }
}

#[test]
fn a_level_that_was_not_reached_is_refused_by_every_device() {
    let folder = folder("levels");
    let (input, output) = (folder.join("in.off"), folder.join("out.off"));
    let file = input.to_str().expect("UTF-8");
    let drawn = drawn(30, 1);
    let points = drawn.points.iter().map(|p| p.extend(0.0)).collect();
    let cells = drawn.triangles;
    write_off(&input, &Hostile { points, cells });
    let command = ["refine", file, "--rounds", "2", "--coarsen-to"];
    let ways: &[&[&str]] = &[SERIAL, CPU, CPUS];
    let given = agree("level 3", &[&command[..], &["3"]].concat(), &output, ways);
    assert_eq!(given.status, Some(1));
    assert!(
        given.said.contains("level 3 was not reached"),
        "{}",
        given.said
    );
    let given = agree("level 1", &[&command[..], &["1"]].concat(), &output, ways);
    assert_eq!(given.status, Some(0), "{}", given.said);
}

/// Its last round was undone, after it had failed.
#[test]
fn a_level_before_a_degenerate_one_is_given_by_every_device() {
    let folder = folder("degenerate_levels");
    let (input, output) = (folder.join("in.off"), folder.join("out.off"));
    let file = input.to_str().expect("UTF-8");
    // The middle of the longest edge has the x of the first vertex.
    let next = DVec3::X * (1.0 + f64::EPSILON);
    let points = vec![DVec3::X, next, DVec3::new(1.0, 1.0, 0.0)];
    let cells = vec![[0, 1, 2]];
    write_off(&input, &Hostile { points, cells });
    let command = ["refine", file, "--rounds", "3", "--coarsen-to"];
    let ways: &[&[&str]] = &[SERIAL, CPU, CPUS];
    for (level, status) in [("0", 0), ("1", 1)] {
        let given = agree(level, &[&command[..], &[level]].concat(), &output, ways);
        assert_eq!(given.status, Some(status), "{level}: {}", given.said);
    }
}

#[test]
fn far_more_threads_than_cores_are_refused() {
    let folder = folder("threads");
    let input = folder.join("in.off");
    let file = input.to_str().expect("UTF-8");
    let points = vec![DVec3::ZERO, DVec3::X, DVec3::Y];
    let cells = vec![[0, 1, 2]];
    write_off(&input, &Hostile { points, cells });
    let start = std::time::Instant::now();
    let by_option = ["polylla", file, "--device", "cpu", "--threads", "60000"];
    let by_variable: &[(&str, &str)] = &[("RAYON_NUM_THREADS", "60000")];
    for (given, remedy) in [
        (run_with(&[], &by_option, None), "ask for fewer"),
        (
            run_with(by_variable, &by_option[..4], None),
            "set RAYON_NUM_THREADS lower",
        ),
        (
            run_with(by_variable, &["info", file], None),
            "set RAYON_NUM_THREADS lower",
        ),
    ] {
        assert_eq!(given.status, Some(1), "{}", given.said);
        assert!(given.said.contains("60000 CPU threads"), "{}", given.said);
        assert!(given.said.contains(remedy), "{}", given.said);
    }
    assert!(start.elapsed().as_secs() < 10);
    let few = run_with(&[("RAYON_NUM_THREADS", "3")], &["info", file], None);
    assert_eq!(few.status, Some(0), "{}", few.said);
}

/// A tetrahedron whose midpoints are its vertices, as no number lies between (found by fuzzing).
#[test]
fn children_without_volume_are_refused_by_every_device() {
    let folder = folder("flat_children");
    let (input, output) = (folder.join("in.mesh"), folder.join("out.mesh"));
    let file = input.to_str().expect("UTF-8");
    let step = f64::EPSILON;
    let point = |x, y, z| DVec3::ONE + DVec3::new(x, y, z) * step;
    let points = vec![
        point(0.0, 0.0, 0.0),
        point(1.0, 0.0, 0.0),
        point(0.0, 1.0, 0.0),
        point(0.0, 0.0, 1.0),
    ];
    let cells = vec![[0, 1, 2, 3]];
    write_tets(&input, &Hostile { points, cells });
    let command = ["refine", file, "--rounds", "2"];
    let given = agree("a step", &command, &output, &[SERIAL, CPU, CPUS]);
    assert_eq!(given.status, Some(1), "{}", given.said);
    assert!(given.said.contains("is flat"), "{}", given.said);
}
