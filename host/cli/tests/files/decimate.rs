//! `trioxide decimate` as one types it.

use super::*;

#[test]
fn a_mesh_is_decimated_alone_and_in_a_chain() {
    let place = Place::new();
    let run = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let output = place.output(&words);
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let (text, error) = (text(output.stdout), text(output.stderr));
        assert!(output.status.success(), "{line}: {error}");
        (text, error)
    };
    let on = "--device cpu --threads 2";
    run(&format!(
        "decimate generate:scan:900 --to 300 -o a.off --map map.txt {on}"
    ));
    run(&format!(
        "chain generate:scan:900 {on} : decimate --to 300 : -o b.off"
    ));
    let read = |name: &str| fs::read_to_string(place.path(name)).unwrap();
    assert_eq!(read("a.off"), read("b.off"));
    let counts = read("a.off").lines().nth(1).unwrap().to_owned();
    assert_eq!(counts, "152 300 0");
    let map = read("map.txt");
    let new: Vec<u32> = map.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!((new.len(), new.iter().max()), (900, Some(&151)));
    // The square has two triangles, and its corners cannot all stay.
    let (json, _) = run(&format!("decimate square.off --keep 0.5 --json - {on}"));
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(report["decimated_faces"], 1);
    let (_, error) = run(&format!(
        "decimate square.off --to 1 --lock boundary -o c.off {on}"
    ));
    assert!(
        error.contains("2 triangles are left, not 1: a check"),
        "{error}"
    );
    assert_eq!(read("c.off").lines().nth(1), Some("4 2 0"));
    // Several fractions in one run: the files of runs of their own.
    run(&format!(
        "decimate generate:scan:900 --keep 0.5,0.1 -o each-{{keep}}.off --map each-{{keep}}.txt {on}"
    ));
    for keep in ["0.5", "0.1"] {
        run(&format!(
            "decimate generate:scan:900 --keep {keep} -o alone.off --map alone.txt {on}"
        ));
        assert_eq!(read(&format!("each-{keep}.off")), read("alone.off"));
        assert_eq!(read(&format!("each-{keep}.txt")), read("alone.txt"));
    }
}
