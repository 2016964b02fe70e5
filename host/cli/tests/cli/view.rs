//! `trioxide view`: the page as a file and at an address. The benchmarks' test `report` opens one in a browser.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use super::{Place, square};

/// Most bytes of a page for each triangle.
const MOST: usize = 30;

#[test]
fn a_page_has_few_bytes_a_triangle() {
    let place = Place::new();
    let size = |meshes: &[&str]| {
        let options = ["-o", "page.html", "--quiet"];
        let call = place.call(&[&["view"], meshes, &options].concat());
        assert_eq!(call.succeeds().stdout, "");
        fs::metadata(place.path("page.html")).unwrap().len() as usize
    };
    // Without the scripts, and with quality as the one field.
    let scripts = size(&["generate:grid:4"]);
    let points = 100_000;
    let planar = size(&["generate:jittered:100k"]) - scripts;
    let per_triangle = planar as f64 / (2 * points) as f64;
    println!("{per_triangle:.1} bytes a triangle");
    assert!(per_triangle < MOST as f64, "{per_triangle}");
    // A second picture of the same mesh has none of its own.
    assert!(
        size(&["generate:grid:10k", "generate:grid:10k"]) < size(&["generate:grid:10k"]) + 3000
    );
}

#[test]
fn larger_meshes_are_simplified_and_say_so() {
    let place = Place::new();
    let arguments = [
        "view",
        "generate:scan:2k",
        "-o",
        "a.html",
        "--max-cells",
        "1k",
    ];
    let said = place.call(&arguments).succeeds().stdout;
    assert!(
        said.contains("Simplified: ") && said.contains("the limit is 1,000"),
        "{said}"
    );
    let page = fs::read_to_string(place.path("a.html")).unwrap();
    assert!(page.contains("Simplified: "));
}

#[test]
fn a_page_is_served_to_this_machine_alone() {
    let place = square();
    let mut process = Command::new(env!("CARGO_BIN_EXE_trioxide"))
        .args(["view", "square.off"])
        .current_dir(&place.0)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(process.stdout.take().unwrap()).lines();
    let address = (lines.map_while(Result::ok))
        .find_map(|line| Some(line.strip_prefix("http://")?.split_once('/')?.0.to_owned()));
    let address = address.expect("the address is printed");
    assert!(address.starts_with("127.0.0.1:"), "{address}");
    let ask = |request: &str| {
        let mut stream = TcpStream::connect(&address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let page = ask(&format!("GET / HTTP/1.1\r\nHost: {address}\r\n\r\n"));
    let other = ask(&format!("GET /a HTTP/1.1\r\nHost: {address}\r\n\r\n"));
    // As through a tunnel from another port, or from the port that is left out.
    let forwarded = ["LocalHost:9", "127.0.0.1"]
        .map(|host| ask(&format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n")));
    let stranger = ask("GET / HTTP/1.1\r\nHost: localhost.example.org:80\r\n\r\n");
    process.kill().unwrap();
    process.wait().unwrap();
    assert!(
        page.starts_with("HTTP/1.1 200 OK\r\n") && page.ends_with("</html>\n"),
        "{page}"
    );
    assert!(forwarded.iter().all(|answer| *answer == page));
    assert!(other.starts_with("HTTP/1.1 404 "), "{other}");
    assert!(stranger.starts_with("HTTP/1.1 403 "), "{stranger}");
}
