//! Defaults stand once: a command line without options gives the same as a program's `Default`. `refusals.txt` lists
//! the refusals of options, for every front end.

use std::collections::BTreeSet;

use clap::{Args, Command};
use trioxide::device::Device;
use trioxide::generate;
use trioxide::mesh::Mesh;
use trioxide::outline::OutlineMesh;
use trioxide_operations as operations;
use trioxide_operations::error::FIELDS;
use trioxide_operations::{polyhedra, polylla, refine, repair, smooth, triangulate, vem, weld};

fn tried<T: Args>(words: &[&str]) -> Result<T, String> {
    let command = T::augment_args(Command::new("options").no_binary_name(true));
    let matches = command.try_get_matches_from(words);
    let options = matches.and_then(|matches| T::from_arg_matches(&matches));
    options.map_err(|error| error.to_string())
}

fn parsed<T: Args>(words: &[&str]) -> T {
    tried(words).expect("options")
}

#[test]
fn a_command_line_without_options_has_the_defaults() {
    assert_eq!(parsed::<polylla::Options>(&[]), Default::default());
    assert_eq!(parsed::<polyhedra::Options>(&[]), Default::default());
    assert_eq!(parsed::<refine::Options>(&[]), Default::default());
    assert_eq!(parsed::<repair::Options>(&[]), Default::default());
    assert_eq!(parsed::<smooth::Options>(&[]), Default::default());
    assert_eq!(parsed::<triangulate::Options>(&[]), Default::default());
    assert_eq!(parsed::<vem::Options>(&[]), Default::default());
    assert_eq!(
        parsed::<weld::Options>(&["--epsilon", "0.5"]),
        weld::Options::new(0.5)
    );
}

/// The form in which Python hands over options: `--name=value`, negative numbers too.
#[test]
fn values_stand_after_an_equals_sign() {
    let options: smooth::Options = parsed(&["--method=taubin", "--mu=-0.6", "--max-iterations=7"]);
    assert_eq!((options.mu, options.max_iterations), (Some(-0.6), 7));
    let options: refine::Options = parsed(&["--threshold=-1e-7", "--max-triangles=2M"]);
    assert_eq!(options.threshold, Some(-1e-7));
    assert_eq!(options.max_triangles, Some(2_000_000));
}

/// Options of triangles and of tetrahedra, as the command has them.
#[derive(clap::Args)]
struct Polylla {
    #[command(flatten)]
    triangles: polylla::Options,
    #[command(flatten)]
    tetrahedra: polyhedra::Options,
}

/// The library's answer to these options on a grid of nine points.
fn refusal(family: &str, words: &[&str]) -> Result<(), String> {
    let on = Device::cpu(Some(1)).expect("a device");
    let mesh = Mesh::from(generate::grid(9).expect("a grid"));
    let done = match family {
        "polylla" => {
            let options: Polylla = tried(words)?;
            let checked = options.tetrahedra.check_plane();
            checked.and_then(|()| operations::polylla(&on, mesh, &options.triangles).map(drop))
        }
        "decimate" => operations::decimate(&on, mesh, &tried(words)?).map(drop),
        "refine" => operations::refine(&on, mesh, &tried(words)?).map(drop),
        "repair" => operations::repair(&on, mesh, &tried(words)?).map(drop),
        "smooth" => operations::smooth(&on, mesh, &tried(words)?).map(drop),
        "triangulate" => {
            let (outline, _) = OutlineMesh::of_mesh(mesh);
            operations::triangulate(&on, outline, &tried(words)?).map(drop)
        }
        "vem" => operations::vem(mesh, &tried(words)?).map(drop),
        "weld" => operations::weld(&on, mesh, &tried(words)?).map(drop),
        _ => panic!("{family} is no family"),
    };
    done.map_err(|error| error.say(FIELDS))
}

/// A part of a message, with the options in the library's words; or in those of a command line, which clap has.
fn worded(part: &str, is_of_clap: bool) -> String {
    let mut text = String::new();
    for (i, piece) in part.split(['{', '}']).enumerate() {
        let (option, value) = piece.split_once(' ').unwrap_or((piece, ""));
        text += &match (i % 2, value) {
            (0, _) => piece.to_owned(),
            _ if is_of_clap => format!("--{option}"),
            (_, "") => (FIELDS.option)(&option.replace('-', "_")),
            (_, value) => (FIELDS.value)(option, value),
        };
    }
    text
}

#[test]
fn the_library_refuses_what_the_table_has() {
    let mut families = BTreeSet::new();
    let rows = include_str!("refusals.txt").lines();
    for row in rows.filter(|row| !row.starts_with('#')) {
        let (words, message) = row.split_once(" : ").expect("a message");
        let words: Vec<&str> = words.split(' ').collect();
        families.insert(words[0]);
        let said = refusal(words[0], &words[1..]).expect_err(row);
        let is_of_clap = said.starts_with("error: ");
        for part in message.split('|') {
            let part = worded(part, is_of_clap);
            assert!(said.contains(&part), "{row}\n{part}\n{said}");
        }
    }
    assert_eq!(families.len(), 8);
}
