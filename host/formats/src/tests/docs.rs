//! docs/FORMATS.md shows the tables of formats, and has a row of words for each format.

use super::*;
use crate::polyhedra::KeptTags;
use crate::volume::VolumeFormat;
use trioxide_mesh::fields::{Field, Fields, MeshFields};

const PAGE: &str = "../../docs/FORMATS.md";
/// The line before a table of the page that is made here, up to its name.
const MADE: &str = "<!-- Made by `TRIOXIDE_BLESS=1 cargo test -p trioxide-formats docs`: ";

fn yes(is: bool) -> &'static str {
    if is { "yes" } else { "no" }
}

fn encodings_of(encodings: &[Encoding]) -> String {
    let names = encodings.iter().map(|encoding| match encoding {
        Encoding::Binary => "binary",
        Encoding::BigEndian => "big-endian",
        Encoding::Text => "text",
        Encoding::Compressed => "compressed",
    });
    names.collect::<Vec<_>>().join(", ")
}

/// A row of a table of Markdown.
fn row(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

fn heading(columns: &[&str]) -> String {
    let names: Vec<String> = columns.iter().map(|&name| name.to_owned()).collect();
    row(&names) + &row(&vec!["---".to_owned(); columns.len()])
}

fn extensions(all: &[&str]) -> String {
    let dotted: Vec<String> = all.iter().map(|one| format!("`.{one}`")).collect();
    dotted.join(", ")
}

/// The parts of a mesh at which a format keeps a field of any name: points, faces, segments.
fn kept_fields(format: &Format) -> String {
    let of = |name, len| Fields::from_iter([Field::scalars(name, vec![0.5; len])]);
    let segment = Segment {
        ends: [0, 1],
        marker: 0,
    };
    let mesh = Mesh {
        points: vec![DVec3::ZERO, DVec3::X, DVec3::Y],
        faces: Faces::Triangles(vec![[0, 1, 2]]),
        segments: vec![segment],
        fields: MeshFields {
            points: of("points", 3),
            cells: of("faces", 1),
            sides: of("segments", 1),
        },
        ..Mesh::default()
    };
    let lost = (format.lost_fields)(&mesh);
    let all = ["points", "faces", "segments"];
    let kept = all
        .into_iter()
        .filter(|name| !lost.iter().any(|lost| lost == name));
    let kept: Vec<&str> = kept.collect();
    match kept.is_empty() {
        true => "no".to_owned(),
        false => kept.join(", "),
    }
}

fn surfaces() -> String {
    let mut table = heading(&[
        "format",
        "extensions",
        "read",
        "written",
        "faces",
        "regions",
        "segments",
        "normals",
        "colours",
        "texture coordinates",
        "fields",
        "`--encoding`",
    ]);
    for format in Format::all() {
        let faces = match format.most_corners {
            0 => "no".to_owned(),
            3 => "triangles".to_owned(),
            usize::MAX => "yes".to_owned(),
            most => format!("up to {most} corners"),
        };
        let alpha = format.keeps_colors && !format.keeps_alpha;
        let colors = yes(format.keeps_colors).to_owned() + if alpha { ", opaque" } else { "" };
        table += &row(&[
            format.name.to_owned(),
            extensions(format.extensions),
            yes(format.is_read()).to_owned(),
            yes(format.is_written()).to_owned(),
            faces,
            yes(format.keeps_regions).to_owned(),
            yes(format.keeps_segments).to_owned(),
            yes(format.keeps_normals).to_owned(),
            colors,
            yes(format.keeps_uvs).to_owned(),
            kept_fields(format),
            encodings_of(format.encodings),
        ]);
    }
    table
}

fn volumes() -> String {
    let mut table = heading(&["format", "extensions", "encodings"]);
    for format in VolumeFormat::all() {
        let cells = [
            format.name.to_owned(),
            extensions(format.extensions),
            encodings_of(format.encodings),
        ];
        table += &row(&cells);
    }
    table
}

fn polyhedra() -> String {
    let mut table = heading(&[
        "format",
        "extensions",
        "regions",
        "tags of faces",
        "fields",
        "encodings",
    ]);
    for format in PolyhedraFormat::all() {
        let tags = match format.keeps_tags {
            KeptTags::All => "yes",
            KeptTags::Boundary => "of the boundary",
            KeptTags::None => "no",
        };
        table += &row(&[
            format.name.to_owned(),
            extensions(format.extensions),
            yes(format.keeps_regions).to_owned(),
            tags.to_owned(),
            yes(format.keeps_fields).to_owned(),
            match format.encodings {
                [] => "text".to_owned(),
                encodings => encodings_of(encodings),
            },
        ]);
    }
    table
}

/// The page, with `table` in place of the one called `name`.
fn with(page: &str, name: &str, table: &str) -> String {
    let (before, after) = page
        .split_once(&format!("{MADE}{name} -->\n\n"))
        .unwrap_or_else(|| panic!("{PAGE} has no place for {name}"));
    let (_, after) = after.split_once("\n\n").expect("text after the table");
    format!("{before}{MADE}{name} -->\n\n{table}\n{after}")
}

#[test]
fn the_page_on_formats_shows_the_tables() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
    let page = std::fs::read_to_string(&path).unwrap();
    let made = with(&page, "surfaces", &surfaces());
    let made = with(&made, "volumes", &volumes());
    let made = with(&made, "polyhedra", &polyhedra());
    if std::env::var_os("TRIOXIDE_BLESS").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    assert!(
        page == made,
        "{PAGE} does not show the tables of formats: TRIOXIDE_BLESS=1 cargo test -p trioxide-formats docs writes them"
    );
}

/// The page's other tables list in words the data that each format reads, keeps and drops.
#[test]
fn the_page_on_formats_has_words_for_each() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
    let page = std::fs::read_to_string(path).unwrap();
    let section = |heading: &str| {
        let (_, after) = page.split_once(heading).expect(heading);
        let (section, _) = after.split_once("\n## ").expect("a section after it");
        let (_, words) = section.split_once("| format | reads |").expect("words");
        let cells = words.lines().filter_map(|line| line.split('|').nth(1));
        cells.map(str::to_owned).collect::<Vec<_>>()
    };
    let check = |cells: &[String], name: &str, extensions: &[&str]| {
        let is_for = |cell: &String| {
            let mut dotted = extensions.iter().map(|one| format!("`.{one}`"));
            cell.contains(name) || dotted.any(|one| cell.contains(&one))
        };
        assert!(cells.iter().any(is_for), "{PAGE} has no words for {name}");
    };
    let cells = section("## Surfaces, planar meshes and clouds");
    for format in Format::all() {
        check(&cells, format.name, format.extensions);
    }
    let cells = section("## Volume meshes");
    for format in VolumeFormat::all() {
        check(&cells, format.name, format.extensions);
    }
    let cells = section("## Polyhedra");
    for format in PolyhedraFormat::all() {
        check(&cells, format.name, format.extensions);
    }
}
