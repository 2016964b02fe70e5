//! Full disks, limits of file sizes, folders that cannot be written, two runs on one output.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::process::Stdio;

use super::{Place, ends, large, sentence};

#[test]
fn a_limit_of_file_sizes_is_an_error_and_leaves_nothing() {
    let place = Place::new();
    for name in [
        "a.off", "a.obj", "a.ply", "a.stl", "a.node", "a.vtu", "a.edges", "a.ale", "a.xyz",
        "a.las", "a.laz", "a.svg",
    ] {
        let before = place.files();
        // In blocks of 512 bytes. The system's signal of the limit would end the process.
        fs::write(place.path("large.off"), large(2_000)).unwrap();
        let arguments = match name {
            "a.svg" => format!("render large.off -o {name}"),
            _ => format!("convert large.off {name}"),
        };
        let message = sentence(&place.limited("ulimit -f 1", &arguments));
        assert!(message.contains("File too large"), "{name}: {message}");
        fs::remove_file(place.path("large.off")).unwrap();
        assert_eq!(place.files(), before, "{name}");
    }
}

#[test]
fn a_full_disk_is_an_error() {
    let place = Place::new();
    for name in ["a.off", "a.ply", "a.vtu", "a.las", "a.laz"] {
        std::os::unix::fs::symlink("/dev/full", place.path(name)).unwrap();
        let message = sentence(
            &place
                .command(&["convert", "square.off", name])
                .output()
                .unwrap(),
        );
        assert!(message.contains("No space left on device"), "{message}");
    }
    let mut command = place.command(&["info", "square.off"]);
    let full = File::options().write(true).open("/dev/full").unwrap();
    let message = sentence(
        &command
            .stdout(full)
            .stderr(Stdio::piped())
            .output()
            .unwrap(),
    );
    assert!(message.contains("standard output"), "{message}");
}

#[test]
fn a_folder_that_cannot_be_written_is_an_error() {
    let place = Place::new();
    // Not even root writes there.
    for output in ["/proc/a.off", "none/a.off", "/sys/a.ply"] {
        let message = sentence(
            &place
                .command(&["convert", "square.off", output])
                .output()
                .unwrap(),
        );
        assert!(message.contains(output), "{message}");
    }
    assert_eq!(place.files(), ["square.off"]);
}

#[test]
fn names_need_not_be_utf_8() {
    let place = Place::new();
    let name = |bytes: &'static [u8]| OsStr::from_bytes(bytes);
    fs::copy(place.path("square.off"), place.path(name(b"caf\xe9.off"))).unwrap();
    let mut command = place.command(&["polylla"]);
    command.args([
        name(b"caf\xe9.off"),
        OsStr::new("-o"),
        name(b"\xff\xfe.ply"),
        OsStr::new("--json"),
        name(b"\x80.json"),
    ]);
    assert!(command.output().unwrap().status.success());
    assert!(
        place.path(name(b"\xff\xfe.ply")).is_file() && place.path(name(b"\x80.json")).is_file()
    );
    let mut command = place.command(&["info"]);
    sentence(&command.arg(name(b"none\xe9.off")).output().unwrap());
    let mut command = place.command(&["info"]);
    sentence(&command.arg(name(b"a.\xe9")).output().unwrap());
}

#[test]
fn of_two_runs_on_one_output_one_is_whole() {
    let place = Place::new();
    let write = |input: &str| place.spawn(&["convert", input, "a.ply", "--quiet"]);
    let inputs = [("one.off", 30_000), ("two.off", 20_000)];
    let results = inputs.map(|(input, n)| {
        fs::write(place.path(input), large(n)).unwrap();
        assert!(write(input).wait().unwrap().success());
        fs::read(place.path("a.ply")).unwrap()
    });
    assert!(results[0] != results[1]);
    for _ in 0..5 {
        for child in ["one.off", "two.off", "one.off", "two.off"].map(write) {
            assert_eq!(ends(child), Some(0));
        }
        assert!(results.contains(&fs::read(place.path("a.ply")).unwrap()));
        let files = ["a.ply", "one.off", "square.off", "two.off"];
        assert_eq!(place.files(), files);
    }
}
