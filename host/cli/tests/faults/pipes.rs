//! Pipes as input and output, and closed pipes.

use std::fs::{self, File};
use std::io::Read;
use std::process::Stdio;
use std::thread;

use super::{Place, SQUARE, ends, sentence};

#[test]
fn a_closed_pipe_loses_nothing_but_what_it_was_for() {
    let place = Place::new();
    for arguments in [
        &["info", "square.off"][..],
        &["polylla", "square.off", "-o", "a.off", "--json", "-"],
        &["devices"],
        &["selftest", "--list"],
    ] {
        let mut child = place
            .command(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {message}");
        assert!(!message.contains("panicked"), "{arguments:?}: {message}");
    }
    assert!(fs::read(place.path("a.off")).unwrap().starts_with(b"OFF"));
}

#[test]
fn pipes_are_inputs_and_outputs() {
    let place = Place::new();
    let pipe = place.pipe("in.off");
    let mut child = place.spawn(&["convert", "in.off", "a.off"]);
    fs::write(&pipe, SQUARE).unwrap();
    assert!(child.wait().unwrap().success());
    let expected = fs::read(place.path("a.off")).unwrap();

    let pipe = place.pipe("out.off");
    let child = thread::spawn(move || {
        let mut bytes = Vec::new();
        File::open(pipe).unwrap().read_to_end(&mut bytes).unwrap();
        bytes
    });
    assert!(
        place
            .spawn(&["convert", "square.off", "out.off"])
            .wait()
            .unwrap()
            .success()
    );
    assert_eq!(child.join().unwrap(), expected);
    assert!(
        place
            .path("out.off")
            .metadata()
            .is_ok_and(|metadata| !metadata.is_file())
    );
}

/// A pair of pipes that one program writes one after the other: the question whether it holds tetrahedra read the
/// second first.
#[test]
fn a_pair_of_pipes_is_read_in_order() {
    for (ele, faces) in [
        ("2 3 0\n0 0 1 2\n1 0 2 3\n", "faces"),
        ("1 4 0\n0 0 1 2 3\n", "cells"),
    ] {
        let place = Place::new();
        let (node, elements) = (place.pipe("a.node"), place.pipe("a.ele"));
        let child = place.spawn(&["info", "a.node", "--json", "a.json"]);
        let writer = thread::spawn(move || {
            let z = if faces == "cells" { "1" } else { "0" };
            fs::write(
                node,
                format!("4 3 0 0\n0 0 0 0\n1 1 0 0\n2 1 1 0\n3 0 1 {z}\n"),
            )
            .unwrap();
            fs::write(elements, ele).unwrap();
        });
        assert_eq!(ends(child), Some(0), "{faces}");
        writer.join().unwrap();
        let json = fs::read_to_string(place.path("a.json")).unwrap();
        assert!(json.contains(faces), "{json}");
    }
}

/// The cells of a `.vtu` say what it holds, and a pipe can be read once.
#[test]
fn tetrahedra_come_through_a_pipe_as_vtu() {
    let place = Place::new();
    assert!(
        place
            .spawn(&[
                "generate", "tets", "-n", "64", "--seed", "1", "-o", "tets.vtu"
            ])
            .wait()
            .unwrap()
            .success()
    );
    let bytes = fs::read(place.path("tets.vtu")).unwrap();
    let pipe = place.pipe("pipe.vtu");
    let child = place.spawn(&["convert", "pipe.vtu", "a.vtu"]);
    fs::write(pipe, &bytes).unwrap();
    assert_eq!(ends(child), Some(0));
    assert!(fs::read(place.path("a.vtu")).unwrap() == bytes);
}

#[test]
fn dev_stdout_is_an_output_of_json_and_no_mesh() {
    let place = Place::new();
    let output = place
        .command(&["info", "square.off", "--json", "/dev/stdout"])
        .output()
        .unwrap();
    assert!(output.stdout.starts_with(b"{"));
    let message = sentence(
        &place
            .command(&["convert", "square.off", "/dev/stdout"])
            .output()
            .unwrap(),
    );
    assert!(
        message.contains("/dev/stdout: the name has no extension"),
        "{message}"
    );
}
