//! The command line refuses what the library and Python refuse, in its own words: the table of the operations' tests.

use std::fs;
use std::process::Command;

#[test]
fn the_command_line_refuses_what_the_table_has() {
    let place = tempfile::tempdir().expect("a folder");
    fs::write(
        place.path().join("grid.xyz"),
        "0 0 0\n1 0 0\n2 0 0\n0 1 0\n1 1 0\n2 1 0\n0 2 0\n1 2 0\n2 2 0\n",
    )
    .expect("points");
    let rows = include_str!("../../operations/tests/refusals.txt").lines();
    let mut tries = 0;
    for row in rows.filter(|row| !row.starts_with('#')) {
        let (words, message) = row.split_once(" : ").expect("a message");
        let (family, options) = words.split_once(' ').expect("options");
        let input: &[&str] = match family {
            "triangulate" => &["grid.xyz", "-o", "out.off"],
            "vem" => &["generate:grid:9"],
            _ => &["generate:grid:9", "--device", "cpu"],
        };
        let run = Command::new(env!("CARGO_BIN_EXE_trioxide"))
            .current_dir(place.path())
            .arg(family)
            .args(input)
            .args(options.split(' '))
            .output()
            .expect("the command");
        let said = String::from_utf8_lossy(&run.stderr);
        assert!(!run.status.success(), "{row}");
        for part in message.split('|') {
            let part = part.replace('{', "--").replace('}', "");
            assert!(said.contains(&part), "{row}\n{part}\n{said}");
        }
        tries += 1;
    }
    assert!(tries >= 20 && !place.path().join("out.off").exists());
}
