//! Files of outlines and points: the triangulations of them, and the refusals that name `triangulate`.

use super::*;

#[test]
fn points_are_refused_with_the_command_line_that_triangulates_them() {
    let place = Place::new();
    for (input, word) in [
        ("cloud.xyz", "cloud.xyz"),
        ("my cloud's.xyz", r"'my cloud'\''s.xyz'"),
    ] {
        fs::write(place.path(input), "0 0 0\n1 0 0\n0 1 0\n1 1 0\n0.4 0.3 0\n").unwrap();
        for command in ["polylla", "refine", "smooth", "vem"] {
            let remedy = match command {
                "vem" => format!("trioxide triangulate {word} -o FILE"),
                _ => format!("trioxide chain {word} : triangulate : {command} -o FILE"),
            };
            let expected = format!(
                "trioxide: {input}: the mesh has 5 points and no triangles: triangulate them first: {remedy}\n"
            );
            assert_eq!(place.refusal(&[command, input]), expected);
            let output = format!("{command}.vtu");
            let remedy = remedy.replace("FILE", &output);
            let script = format!(
                "trioxide() {{ {} \"$@\"; }}; {remedy}",
                env!("CARGO_BIN_EXE_trioxide")
            );
            let mut shell = Command::new("sh");
            let status = shell
                .current_dir(place.0.path())
                .args(["-c", &script])
                .status();
            assert!(status.unwrap().success(), "{script}");
            fs::remove_file(place.path(&output)).unwrap();
        }
    }
    let outline = "3 2 0 0\n1 0 0\n2 1 0\n3 0 1\n3 0\n1 1 2\n2 2 3\n3 3 1\n0\n";
    fs::write(place.path("outline.poly"), outline).unwrap();
    let error = place.refusal(&["polylla", "outline.poly"]);
    assert!(
        error.ends_with("first: trioxide triangulate outline.poly -o FILE\n"),
        "{error}"
    );
    let line = [
        "chain",
        "cloud.xyz",
        "--device",
        "cpu",
        ":",
        "reorder",
        ":",
        "polylla",
    ];
    let error = place.refusal(&line);
    let expected = "trioxide: cloud.xyz after reorder: the mesh has 5 points and no triangles: triangulate them first, by a \
                    step `triangulate` before this one\n";
    assert_eq!(error, expected);
}

#[test]
fn an_outline_is_triangulated_with_its_hole_region_and_bounds() {
    let place = Place::new();
    let outline = "8 2 0 0\n0 0 0\n1 4 0\n2 4 4\n3 0 4\n4 1 1\n5 2 1\n6 2 2\n7 1 2\n8 1\n0 0 1 5\n1 1 2 5\n2 2 3 5\n3 3 0 5\n\
        4 4 5 6\n5 5 6 6\n6 6 7 6\n7 7 4 6\n1\n0 1.5 1.5\n1\n0 3 3 9 0.1\n";
    fs::write(place.path("a.poly"), outline).unwrap();
    let output = place.output(&[
        "triangulate",
        "a.poly",
        "--device",
        "cpu",
        "-o",
        "plain.vtu",
    ]);
    let stdout = String::from_utf8(output.stdout).unwrap();
    let has = |name: &str, count: &str| {
        let mut words = stdout.lines().map(|line| line.rsplit_once("  "));
        words.any(|pair| pair.is_some_and(|(n, c)| n.trim() == name && c.trim() == count))
    };
    assert!(
        has("segments", "8") && has("vertices", "8") && has("faces", "8"),
        "{stdout}"
    );
    let note = String::from_utf8(output.stderr).unwrap();
    assert!(
        note.contains("a.poly: largest areas of regions are left out"),
        "{note}"
    );
    let arguments = [
        "triangulate",
        "a.poly",
        "-o",
        "fine.vtu",
        "--angle",
        "25",
        "--area",
        "0.1",
        "--json",
        "-",
    ];
    let report = place.output(&arguments).stdout;
    let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
    let json = place.output(&["info", "fine.vtu", "--json", "-"]).stdout;
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert!(json["faces"].as_u64().unwrap() > 150, "{json}");
    for (key, count) in [("faces", &json["faces"]), ("input_segments", &8.into())] {
        assert_eq!(&report[key], count, "{report}");
    }
    let has_part = |name| {
        let parts = report["whole_run"]["parts"].as_array().unwrap();
        parts.iter().any(|part| part["name"] == name)
    };
    assert!(has_part("refine") && has_part("write"), "{report}");
    assert!(
        (json["area"].as_f64().unwrap() - 15.0).abs() < 1e-9,
        "{json}"
    );
    assert_eq!(json["regions"]["9"], json["faces"], "{json}");
    assert!(json["segments"].as_u64().unwrap() > 8, "{json}");
    // Polygons of it stay on their side of every segment.
    assert!(
        place
            .output(&["polylla", "fine.vtu", "-o", "p.vtu", "--device", "cpu"])
            .status
            .success()
    );
    let error = place.refusal(&["triangulate", "a.poly", "-o", "b.vtu", "--angle", "50"]);
    assert!(
        error.contains("50 degrees is no smallest angle that refinement reaches"),
        "{error}"
    );
    fs::write(place.path("hill.xyz"), "0 0 0\n1 0 0\n0 1 2\n").unwrap();
    let error = place.refusal(&["triangulate", "hill.xyz", "-o", "b.vtu", "--angle", "9"]);
    assert!(
        error.contains(
            "hill.xyz: vertex 2 has z = 2, but vertex 0 has z = 0: an outline that is refined lies in a plane"
        ),
        "{error}"
    );
}

#[test]
fn a_background_gives_edge_lengths_alone_and_in_a_chain() {
    let place = Place::new();
    fs::write(place.path("points.xyz"), "0 0 0\n1 0 0\n1 1 0\n0 1 0\n").unwrap();
    let background = "ply\nformat ascii 1.0\nelement vertex 4\nproperty double x\nproperty double y\nproperty float h\n\
        element face 2\nproperty list uchar int vertex_indices\nend_header\n\
        0 0 0.05\n1 0 0.2\n1 1 0.2\n0 1 0.2\n3 0 1 2\n3 0 2 3\n";
    fs::write(place.path("background.ply"), background).unwrap();
    let options = "triangulate --size h --background background.ply --angle 20";
    for (command, output) in [
        (options.replacen(' ', " points.xyz ", 1), "a.ply"),
        (format!("chain points.xyz : {options}"), "b.ply"),
    ] {
        let words: Vec<&str> = command.split(' ').chain(["-o", output]).collect();
        assert!(place.output(&words).status.success());
    }
    let bytes = |name: &str| fs::read(place.path(name)).unwrap();
    assert_eq!(bytes("a.ply"), bytes("b.ply"));
    let json = place.output(&["info", "a.ply", "--json", "-"]).stdout;
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert!(json["faces"].as_u64().unwrap() > 100, "{json}");
}

/// A segment that ended outside was written, and refused by whatever read it; points had to have triangles beside.
#[test]
fn what_triangulate_writes_is_read_by_other_commands() {
    let place = Place::new();
    let outline = "6 2 0 0\n0 0 0\n1 1 0\n2 1 1\n3 0 1\n4 2 2\n5 0.5 0.5\n6 1\n0 0 1 1\n1 1 2 2\n2 2 3 3\n3 3 0 4\n4 2 4 5\n\
        5 0 5 6\n0\n0\n";
    fs::write(place.path("a.poly"), outline).unwrap();
    let output = place.output(&["triangulate", "a.poly", "-o", "a.vtu", "--angle", "20"]);
    let note = String::from_utf8(output.stderr).unwrap();
    assert!(
        note.contains("a.poly: 1 segment lies outside of the triangles, and is left out there"),
        "{note}"
    );
    for arguments in [
        &["polylla", "a.vtu", "-o", "p.vtu", "--device", "cpu"][..],
        &["refine", "a.vtu", "-o", "r.vtu", "--device", "cpu"],
    ] {
        let output = place.output(arguments);
        assert!(output.status.success(), "{output:?}");
    }
    let points = "4 2 0 0\n0 0 0\n1 1 0\n2 1 1\n3 0 1\n";
    fs::write(place.path("points.node"), points).unwrap();
    let output = place.output(&["triangulate", "points.node", "-o", "points.ply"]);
    assert!(output.status.success(), "{output:?}");
    let error = place.refusal(&[
        "triangulate",
        "a.poly",
        "-o",
        "b.vtu",
        "--area",
        "1e-6",
        "--max-vertices",
        "9",
    ]);
    assert!(error.contains("more than the 9 vertices"), "{error}");
    assert!(!place.path("b.vtu").exists());
}

#[test]
fn terrain_keeps_its_heights_and_its_data() {
    let place = Place::new();
    // A hill with a colour at each point; the last two lie at the places of the first two.
    let rows: String = (0..102)
        .map(|i| (i % 100, i))
        .map(|(k, i)| format!("{} {} {} {i} 7 9\n", k % 10, k / 10, (k % 10) * (k / 10)))
        .collect();
    let header = "ply\nformat ascii 1.0\nelement vertex 102\nproperty double x\nproperty double y\nproperty double z\n\
        property uchar red\nproperty uchar green\nproperty uchar blue\nend_header\n";
    fs::write(place.path("hill.ply"), format!("{header}{rows}")).unwrap();
    let triangulate = ["triangulate", "hill.ply", "--device", "cpu", "-o", "a.ply"];
    let error = place.refusal(&triangulate);
    let remedy = "vertex 100 lies at the same place as vertex 0: weld the points first, or use --duplicates first";
    assert!(error.contains(remedy), "{error}");
    let first = ["--duplicates", "first", "--map", "map.txt", "--json", "-"];
    let report = place.output(&[&triangulate[..], &first].concat()).stdout;
    let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
    assert_eq!(
        (&report["faces"], &report["duplicates"]),
        (&162.into(), &2.into()),
        "{report}"
    );
    let map = fs::read_to_string(place.path("map.txt")).unwrap();
    let map: Vec<usize> = map.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(map, (0..102).map(|i| i % 100).collect::<Vec<_>>());
    let text = ["convert", "a.ply", "b.ply", "--encoding", "text", "--quiet"];
    assert!(place.output(&text).status.success());
    let written = fs::read_to_string(place.path("b.ply")).unwrap();
    assert!(written.contains("\n9 9 81 99 7 9"), "{written}");
    // A chain does the same in one process, and goes on.
    let chain = "chain hill.ply --device cpu --quiet : triangulate --duplicates first -o c.ply : refine -o d.ply";
    let output = place.output(&chain.split(' ').collect::<Vec<_>>());
    assert!(output.status.success(), "{output:?}");
    let [alone, chained] = ["a.ply", "c.ply"].map(|name| fs::read(place.path(name)).unwrap());
    assert!(alone == chained && place.path("d.ply").exists());
}
