//! `trioxide repair`: counts, maps, a chain, and the counts of `info` before and after.

use std::fs;

use crate::Place;

/// A tetrahedron, one of whose faces is turned, and a face that is there twice.
const BROKEN: &str = "OFF\n4 5 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n\
    3 0 2 1\n3 0 1 3\n3 1 2 3\n3 0 2 3\n3 3 1 2\n";

#[test]
fn repair_reports_what_it_did_and_info_what_it_would_do() {
    let place = Place::new().file("broken.off", BROKEN);
    let found = place.call(&["info", "broken.off"]).stdout;
    let line = "repair --repeated         1 repeated faces\n";
    assert!(found.contains(line), "{found}");
    let steps = ["--repeated", "--orient", "--device", "cpu"];
    let to = ["--json", "-", "--maps", "maps", "-o", "whole.off"];
    let call = place.call(&[&["repair", "broken.off"], &steps[..], &to].concat());
    let object = call.json();
    for (key, count) in [
        ("faces", 5),
        ("repeated_faces", 1),
        ("turned_faces", 1),
        ("repaired_faces", 4),
        ("repaired_vertices", 4),
    ] {
        assert_eq!(object[key], count, "{key}");
    }
    // A step that was not taken has no counts.
    assert!(object.get("filled_holes").is_none());
    let map = fs::read_to_string(place.path("maps/old_cells.txt")).unwrap();
    assert_eq!(map, "# old id of each face or cell\n0\n1\n2\n3\n");
    let found = place.call(&["info", "whole.off"]).stdout;
    assert!(!found.contains("repair"), "{found}");
    let chain = ["chain", "broken.off", "--quiet", ":", "repair"];
    let chain = [&chain[..], &steps[..2], &["-o", "chained.off"]].concat();
    assert_eq!(place.call(&chain).status, Some(0));
    let read = |name| fs::read(place.path(name)).unwrap();
    assert_eq!(read("chained.off"), read("whole.off"));
}
