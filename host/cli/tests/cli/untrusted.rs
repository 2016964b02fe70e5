//! Files from others: references to other files, and names with control characters for the terminal.

use super::*;

const LEAK: &str = "<Xdmf><Domain><Grid><Topology TopologyType=\"Triangle\" NumberOfElements=\"1\">\
    <DataItem Dimensions=\"1 3\" DataType=\"Int\">0 1 2</DataItem></Topology><Geometry>\
    <DataItem Dimensions=\"3 3\" Precision=\"8\" Format=\"Binary\">../secret</DataItem></Geometry></Grid></Domain></Xdmf>";

#[test]
fn a_file_above_the_folder_is_read_by_every_command_with_the_option_alone() {
    let place = Place::new().file("secret", &"0123456789".repeat(9)[..72]);
    fs::create_dir(place.path("in")).unwrap();
    fs::write(place.path("in/a.xdmf"), LEAK).unwrap();
    let anywhere = ["--follow-references", "anywhere"];
    let cause = "the file `../secret` is not below the folder of the file that names it: move it there, or follow \
                 references anywhere";
    for command in [
        &["info", "in/a.xdmf"][..],
        &["convert", "in/a.xdmf", "b.off"],
        &["weld", "in/a.xdmf", "--epsilon", "0", "--device", "cpu"],
        &["render", "in/a.xdmf", "-o", "b.png"],
    ] {
        place.call(command).fails(1, &[cause]);
        let allowed = [command, &anywhere[..]].concat();
        let call = place.call(&allowed);
        assert_eq!(call.status, Some(0), "{command:?}: {}", call.stderr);
    }
    let chain = ["chain", "in/a.xdmf", ":", "weld", "--epsilon", "0"];
    place
        .call(&[&chain[..], &anywhere[..]].concat())
        .fails(1, &["give it before the first colon, not to weld"]);
}

/// `ESC ] 0 ; x BEL` renames the window, and worse is possible.
#[test]
fn names_in_files_and_of_files_are_no_commands_to_the_terminal() {
    let evil = "\u{1b}]0;x\u{7}\u{9b}31m";
    let ply = format!(
        "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\nproperty float {evil}\n\
         element face 1\nproperty list uchar int vertex_indices\nelement {evil} 1\nproperty float q\nend_header\n\
         0 0 0 1\n1 0 0 1\n0 1 0 1\n3 0 1 2\n7\n"
    );
    let obj = format!("o {evil}\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    let inp = format!("*NODE\n1,0,0\n2,1,0\n3,0,1\n*ELEMENT, TYPE={evil}\n1,1,2,3\n");
    let gltf = format!("{{\"asset\":{{\"version\":{:?}}}}}", "\u{9b}31m\u{202e}");
    let name = format!("{evil}.off");
    let place = Place::new()
        .file("a.ply", &ply)
        .file("a.obj", &obj)
        .file("a.inp", &inp)
        .file(
            "a.gltf",
            &gltf
                .replace("\\u{9b}", "\\u009b")
                .replace("\\u{202e}", "\\u202e"),
        )
        .file(&name, SQUARE)
        .file(&format!("{evil}.txt"), "");
    let text = format!("{evil}.txt");
    for command in [
        &["info", "a.ply"][..],
        &["info", "a.ply", "--json", "-"],
        &["convert", "a.obj", "a.vtu"],
        &["info", "a.inp"],
        &["info", "a.gltf"],
        &["info", &text],
        &["info", "a.ply", &name],
        &["convert", &name, "b.off"],
        &["convert", "b.off", &name],
    ] {
        let call = place.call(command);
        let said = call.stdout + &call.stderr;
        let is_shown = |c: char| c == '\n' || !(c.is_control() || c == '\u{202e}');
        assert!(said.chars().all(is_shown), "{command:?}: {said:?}");
        let is_escaped = said.to_lowercase().contains("\\u009b31m")
            || command[1] == "b.off"
            || command[1] == name;
        assert!(is_escaped, "{command:?}: {said}");
    }
    let json: Value =
        serde_json::from_str(&place.call(&["info", "a.ply", "--json", "-"]).stdout).unwrap();
    assert_eq!(json["fields"][0]["name"], *evil);
}
