//! `trioxide refine` as one types it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

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

fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures")
        .join(name);
    path.to_str().expect("a name in UTF-8").to_owned()
}

/// A folder of the test's own.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn path(folder: &Path, name: &str) -> String {
    folder
        .join(name)
        .to_str()
        .expect("a name in UTF-8")
        .to_owned()
}

#[test]
fn the_papers_files_come_out_as_printed() {
    let folder = folder("refine_paper");
    let expected = fs::read_to_string(fixture("three_triangles_refined.edges")).expect("there");
    let words =
        |text: &str| -> Vec<String> { text.split_whitespace().map(str::to_owned).collect() };
    for device in ["serial", "cpu"] {
        let output = path(&folder, "out.edges");
        let input = fixture("three_triangles.edges");
        done(&[
            "refine", &input, "-o", &output, "--device", device, "--quiet",
        ]);
        let text = fs::read_to_string(&output).expect("written");
        assert_eq!(words(&text), words(&expected), "{device}");
    }
}

#[test]
fn devices_write_the_same_file() {
    let folder = folder("refine_devices");
    let input = path(&folder, "in.vtu");
    done(&["generate", "random", "-n", "2k", "-o", &input, "--quiet"]);
    let mut files = Vec::new();
    for device in ["serial", "cpu"] {
        let output = path(&folder, &format!("{device}.vtu"));
        let disk = ["--mark", "disk:0.3,0.3,0.1", "--rounds", "4"];
        let rest = [
            "refine", &input, "-o", &output, "--device", device, "--quiet",
        ];
        done(&[&rest[..], &disk[..]].concat());
        files.push(fs::read(&output).expect("written"));
    }
    assert_eq!(files[0], files[1]);
}

#[test]
fn going_back_gives_an_earlier_level() {
    let folder = folder("refine_back");
    let input = fixture("two_regions.node");
    let (two, back) = (path(&folder, "two.vtu"), path(&folder, "back.vtu"));
    done(&[
        "refine", &input, "-o", &two, "--rounds", "2", "--device", "cpu", "--quiet",
    ]);
    let far = [
        "refine",
        &input,
        "-o",
        &back,
        "--rounds",
        "4",
        "--coarsen-to",
        "2",
    ];
    done(&[&far[..], &["--device", "cpu", "--quiet"]].concat());
    assert_eq!(
        fs::read(&two).expect("written"),
        fs::read(&back).expect("written")
    );
}

#[test]
fn maps_say_where_parts_come_from() {
    let folder = folder("refine_maps");
    let maps = path(&folder, "maps");
    done(&[
        "refine",
        &fixture("three_triangles.edges"),
        "--maps",
        &maps,
        "--device",
        "cpu",
    ]);
    let read = |name: &str| fs::read_to_string(folder.join("maps").join(name)).expect("written");
    let numbers = |text: String| -> Vec<String> {
        text.lines()
            .filter(|line| !line.starts_with('#'))
            .map(str::to_owned)
            .collect()
    };
    assert_eq!(
        numbers(read("parent_triangles.txt")),
        ["0", "1", "2", "0", "1", "1", "2"]
    );
    assert_eq!(numbers(read("new_vertices.txt")), ["1 2 2 1", "1 4 3 2"]);
    assert!(read("prolongation.mtx").contains("\n7 5 9\n"));
}

#[test]
fn marks_of_files() {
    let folder = folder("refine_marks");
    let mesh = fixture("two_regions.node");
    let ids = path(&folder, "ids.txt");
    fs::write(&ids, "0 # the first\n").expect("written");
    let json = |mark: &[&str]| {
        let common = ["refine", &mesh, "--device", "cpu", "--json", "-"];
        let text = done(&[&common[..], mark].concat());
        let object: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        object["faces"].as_u64().expect("a count")
    };
    let by_file = json(&["--mark", &format!("file:{ids}")]);
    assert_eq!(by_file, json(&["--mark", "ids:0"]));
    assert!(by_file > json(&["--mark", "fraction:0"]));

    fs::write(&ids, "0\n99\n").expect("written");
    let error = refused(&["refine", &mesh, "--mark", &format!("file:{ids}")]);
    assert!(
        error.contains("ids.txt:2: `99` is not the id of a triangle"),
        "{error}"
    );
    let error = refused(&["refine", &mesh, "--mark", "values:nothing.txt"]);
    assert!(error.contains("--threshold or --dorfler"), "{error}");
    let error = refused(&["refine", &mesh, "--mark", "box:0,0,1"]);
    assert!(error.contains("expected 4 numbers"), "{error}");
    let error = refused(&["refine", &mesh, "--device", "cpu", "--mark", "ids:1000000"]);
    assert!(error.contains("there is no triangle 1000000"), "{error}");
}

#[test]
fn marks_without_meaning_are_refused() {
    let mesh = fixture("two_regions.node");
    let common = ["refine", &mesh, "--device", "cpu"];
    for (options, text) in [
        (["--mark", "disk:0,0,-1"], "a disk of radius -1"),
        (
            ["--mark", "box:1,0,0,1"],
            "its lower left corner comes first",
        ),
        (["--until-area", "0"], "expected an area above 0"),
        (["--until-area", "nan"], "expected an area above 0"),
    ] {
        let error = refused(&[&common[..], &options].concat());
        assert!(error.contains(text), "{error}");
    }
}
