//! The recipes at the end of docs/ARCHITECTURE.md, compared with their examples in the tree.

use std::path::{Path, PathBuf};
use std::process::Command;

const PAGE: &str = "docs/ARCHITECTURE.md";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Files of the repository by a command of git; `None` where this is no repository, as in a copy of the sources.
fn files_by(arguments: &[&str]) -> Option<Vec<String>> {
    let mut git = Command::new("git");
    let output = git.arg("-C").arg(root()).args(arguments).output().ok()?;
    // Of `grep` 1 is the status where nothing is found.
    let is_done = output.status.success() || output.status.code() == Some(1);
    let text = String::from_utf8(output.stdout).expect("names are text");
    is_done.then(|| text.lines().map(str::to_owned).collect())
}

/// Files of text that contain this extended expression, in letters of either case. Notebooks are left out: the digits
/// of their pictures spell short words.
fn files_with(expression: &str) -> Option<Vec<String>> {
    let options = ["grep", "-l", "-I", "-i", "-E", "-e", expression];
    files_by(&[&options[..], &["--", ":!*.ipynb"]].concat())
}

/// A list of a recipe: the paths between backticks in the first cells of its tables; folders end in `/`.
fn recipe(heading: &str) -> Vec<String> {
    let page = std::fs::read_to_string(root().join(PAGE)).expect(PAGE);
    let (_, section) = page
        .split_once(&format!("\n### {heading}\n"))
        .expect(heading);
    let section = section.split("\n### ").next().unwrap_or_default();
    let section = section.split("\n## ").next().unwrap_or_default();
    let cells = section.lines().filter_map(|line| line.strip_prefix("| "));
    let cells = cells.filter_map(|row| row.split(" | ").next());
    let paths = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    paths.map(str::to_owned).collect()
}

/// Whether one of the listed paths is this file, or a folder above it.
fn covers(listed: &[String], file: &str) -> bool {
    listed
        .iter()
        .any(|path| file == path || path.ends_with('/') && file.starts_with(path.as_str()))
}

/// Each listed file names the example, or its path does.
fn check_listed(heading: &str, listed: &[String], naming: &[String], word: &str) {
    assert!(listed.len() > 3, "{PAGE}: {heading}: {listed:?}");
    for path in listed {
        assert!(root().join(path).exists(), "{PAGE}: {heading}: {path}");
        let is_named = path.contains(word) || naming.iter().any(|file| file.starts_with(path));
        assert!(is_named, "{PAGE}: {heading}: {path} does not name {word}");
    }
}

fn check_all_are_listed(heading: &str, listed: &[String], files: &[String]) {
    let missing: Vec<&String> = files.iter().filter(|file| !covers(listed, file)).collect();
    assert!(missing.is_empty(), "{PAGE}: {heading} lacks {missing:#?}");
}

#[test]
fn a_format_is_in_the_files_of_its_recipe() {
    let (heading, word) = ("A format: PCD", "pcd");
    let Some(mut naming) = files_with(word) else {
        return eprintln!("this is no repository of git");
    };
    // The recipe itself, a link to it, and the log of findings and of the fuzzed targets.
    let others = [
        PAGE,
        "CONTRIBUTING.md",
        "docs/TRUST.md",
        "tests/tests/recipes.rs",
        // They take a file of this format as an example of scans.
        "docs/guide/scan.md",
        "host/cli/tests/files/main.rs",
    ];
    naming.retain(|file| !others.contains(&&**file));
    let mut listed = recipe(heading);
    // The reader and the writer are one file where they are short.
    listed.retain(|file| !file.ends_with("pcd/write.rs"));
    assert!(listed.len() <= 5, "a format touches {listed:?}");
    let listed = recipe(heading);
    check_listed(heading, &listed, &naming, word);
    check_all_are_listed(heading, &listed, &naming);
}

#[test]
fn an_option_is_in_the_files_of_its_recipe() {
    let heading = "An option: `--max-triangles` of refine";
    let Some(naming) = files_with("max[_-]triangles") else {
        return eprintln!("this is no repository of git");
    };
    let listed = recipe(heading);
    assert!(listed.len() <= 7, "an option touches {listed:?}");
    check_listed(heading, &listed, &naming, "max_triangles");
}

/// Files of other subjects whose names have a word of the family.
const OTHERS: [&str; 2] = [
    "host/operations/src/info/delaunay.rs",
    "host/render/src/triangulate.rs",
];

#[test]
fn a_family_has_the_files_of_its_recipe() {
    let (heading, words) = ("A family: delaunay", "delaunay|triangulate");
    let (Some(naming), Some(mut files)) = (files_with(words), files_by(&["ls-files"])) else {
        return eprintln!("this is no repository of git");
    };
    let listed = recipe(heading);
    let beside_tests = listed.iter().filter(|path| !path.contains("/tests/"));
    let count = beside_tests.count();
    assert!(count <= 27, "a family has {count} places");
    check_listed(heading, &listed, &naming, "delaunay");
    // Its own files have its name in their paths.
    files.retain(|file| words.split('|').any(|word| file.contains(word)));
    files.retain(|file| !OTHERS.contains(&&**file));
    assert!(files.len() > 20, "{files:?}");
    check_all_are_listed(heading, &listed, &files);
}
