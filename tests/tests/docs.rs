//! Pages and heads of crates are true: the paths, modules and tests that they name exist, and the code that they show
//! runs. Comments keep their width.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The words between backticks.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .flat_map(|line| line.split('`').skip(1).step_by(2))
}

/// The folders of the crates, from the workspace's manifest.
fn crates() -> Vec<String> {
    let manifest = read("Cargo.toml");
    let (_, members) = manifest.split_once("members = [").expect("members");
    let (members, _) = members.split_once(']').expect("the end of members");
    let quoted = members.split('"').skip(1).step_by(2);
    quoted.map(str::to_owned).collect()
}

/// Names of the modules in a folder of sources.
fn modules(folder: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let Ok(entries) = fs::read_dir(folder) else {
        return names;
    };
    for entry in entries {
        let path = entry.expect("an entry").path();
        let stem = path
            .file_stem()
            .and_then(|stem| stem.to_str())
            .unwrap_or("");
        let is_rust = path.extension().is_some_and(|extension| extension == "rs");
        let is_module = is_rust || path.join("mod.rs").is_file();
        if is_module && !["lib", "main", "mod", "tests"].contains(&stem) {
            names.insert(stem.to_owned());
        }
    }
    names
}

/// Whether a word is a path of this repository: `gpu/src/`, `docs/KERNELS.md`.
fn is_path(word: &str) -> bool {
    let first = word.split('/').next().unwrap_or("");
    let tops = [
        "docs",
        "examples",
        "fixtures",
        "gpu",
        "host",
        "tests",
        "toolchain",
        "xtask",
    ];
    word.contains('/') && tops.contains(&first) && !word.contains(['*', ' ', '…', '('])
}

fn check_paths(file: &str, text: &str) {
    let mut missing = Vec::new();
    let mut count = 0;
    for word in code(text).filter(|word| is_path(word)) {
        count += 1;
        let paths = match word.contains("<family>") {
            true => xtask::ptx::families()
                .expect("the sources can be read")
                .iter()
                .map(|family| word.replace("<family>", family))
                .collect(),
            false => vec![word.to_owned()],
        };
        // A placeholder of a stage is no path.
        let paths = paths.into_iter().filter(|path| !path.contains('<'));
        // One path of a family is enough: some have no kernels of a stage, or no command.
        let found = paths.map(|path| root().join(path).exists());
        if !found.fold(word.contains("<stage>"), |any, exists| any || exists) {
            missing.push(word);
        }
    }
    assert!(
        count > 0,
        "{file} names {count} paths: the test reads it wrongly"
    );
    assert!(
        missing.is_empty(),
        "{file} names paths that do not exist: {missing:?}"
    );
}

#[test]
fn the_map_names_paths_that_exist() {
    check_paths("docs/ARCHITECTURE.md", &read("docs/ARCHITECTURE.md"));
}

/// Files and tests that the page on trust names exist.
#[test]
fn the_page_on_trust_names_files_and_tests_that_exist() {
    let page = read("docs/TRUST.md");
    check_paths("docs/TRUST.md", &page);
    let mut sources = String::new();
    for folder in ["host", "tests/tests"] {
        append_sources(&root().join(folder), &mut sources);
    }
    let is_test = |word: &&str| {
        word.contains('_')
            && word
                .chars()
                .all(|c| c.is_ascii_lowercase() || c == '_' || c.is_ascii_digit())
    };
    let tests: Vec<&str> = code(&page).filter(is_test).collect();
    assert!(tests.len() > 20, "{tests:?}");
    for test in tests {
        assert!(
            sources.contains(&format!("fn {test}(")),
            "docs/TRUST.md names {test}, which is no test"
        );
    }
}

/// The pages for users of other languages show code of the example, which its tests run.
#[test]
fn the_pages_on_other_languages_show_code_that_runs() {
    let mut sources = String::new();
    for folder in ["src", "kernels/src", "tests"] {
        let folder = root().join("examples/own-kernels").join(folder);
        append_sources(&folder, &mut sources);
    }
    for file in ["docs/FROM_CUDA.md", "docs/FROM_RUST_GPU.md"] {
        let page = read(file);
        check_paths(file, &page);
        // Blocks in other languages are `cpp`, or `rs` for other dialects of Rust.
        let blocks: Vec<&str> = page.split("```rust\n").skip(1).collect();
        assert!(blocks.len() >= 4, "{file} has {} blocks", blocks.len());
        for block in blocks {
            let (block, _) = block.split_once("```").expect("the end of a block");
            assert!(
                sources.contains(block),
                "examples/own-kernels does not contain this block of {file}:\n{block}"
            );
        }
    }
}

/// Links, headings, pictures and commands of xtask. `cargo xtask guide --check` runs the other commands.
#[test]
fn the_guide_and_the_readme_name_what_exists() {
    let pages = xtask::guide::pages().expect("the pages can be read");
    let links: usize = pages.iter().map(|page| page.links.len()).sum();
    assert!(links > 80, "{links} links: the test reads them wrongly");
    let faults = xtask::guide::faults(&pages).expect("the pages of docs can be read");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Most lines of the README.
const README_LINES: usize = 150;

#[test]
fn the_readme_is_short_and_has_the_two_commands() {
    let page = read("README.md");
    let lines = page.lines().count();
    assert!(lines <= README_LINES, "README.md has {lines} lines");
    for command in ["cargo xtask demo", "cargo xtask test"] {
        assert!(
            page.contains(&format!("```sh\n{command}\n```")),
            "{command}"
        );
    }
}

/// Rust on the pages of the guide is from the heads of crates, which are run as examples, or from the example.
#[test]
fn the_guide_shows_code_that_runs() {
    let mut sources = String::new();
    for folder in ["src", "kernels/src"] {
        append_sources(
            &root().join("examples/own-kernels").join(folder),
            &mut sources,
        );
    }
    for file in ["host/src/lib.rs", "host/operations/src/lib.rs"] {
        let source = read(file);
        let head = source.lines().filter_map(|line| line.strip_prefix("//!"));
        let shown = head.map(|line| line.strip_prefix(' ').unwrap_or(line));
        // Lines that documentation hides.
        let shown = shown.filter(|line| !line.starts_with("# ") && *line != "#");
        sources.extend(shown.flat_map(|line| [line, "\n"]));
    }
    let (mut count, pages) = (0, xtask::guide::pages().expect("the pages can be read"));
    for page in &pages {
        for block in page.blocks.iter().filter(|block| block.language == "rust") {
            count += 1;
            let text = block.lines.join("\n");
            assert!(
                sources.contains(&text),
                "{}: no source has\n{text}",
                page.at(block.line)
            );
        }
    }
    assert!(count >= 4, "{count} blocks: the test reads them wrongly");
}

fn append_sources(folder: &Path, text: &mut String) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            append_sources(&path, text);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            text.push_str(&fs::read_to_string(&path).expect("a source"));
        }
    }
}

/// The programs of examples print the lines that their heads show.
#[test]
fn examples_print_what_their_heads_show() {
    let manifest = read("examples/Cargo.toml");
    let names: Vec<&str> = manifest
        .lines()
        .filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'))
        .filter(|name| !name.starts_with("trioxide"))
        .collect();
    assert!(names.len() >= 6, "{names:?}");
    // This program is target/debug/deps/docs-….
    let program = std::env::current_exe().expect("the name of this program");
    let built = program.ancestors().nth(2).expect("deps").join("examples");
    for name in names {
        let program = built.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
        if !program.exists() {
            println!("skipped: {name} is not built: cargo build -p trioxide-examples --examples");
            continue;
        }
        let source = read(&format!("examples/{name}.rs"));
        let (_, shown) = source.split_once("//! ```text\n").expect("a block of text");
        let (shown, _) = shown.split_once("//! ```\n").expect("the end of the block");
        let shown: String = shown
            .lines()
            .map(|line| format!("{}\n", &line[4..]))
            .collect();
        let output = Command::new(program).output().expect("it starts");
        assert!(output.status.success(), "{name}: {output:?}");
        let printed = String::from_utf8(output.stdout).expect("text");
        assert!(
            printed == shown,
            "examples/{name}.rs shows\n{shown}\nand prints\n{printed}"
        );
    }
}

/// Each function that the crate of the operations gives by its own name has an example.
#[test]
fn operations_have_examples() {
    let names = read("host/operations/src/lib.rs");
    let names = names.lines().filter_map(|line| {
        let (module, names) = line.strip_prefix("pub use ")?.split_once("::")?;
        let names = names.trim_end_matches(';').trim_matches(['{', '}']);
        let functions = names
            .split(", ")
            .filter(|name| name.starts_with(char::is_lowercase));
        Some(functions.map(move |name| (module, name)))
    });
    let mut sources = String::new();
    append_sources(&root().join("host/operations/src"), &mut sources);
    let mut count = 0;
    for (module, name) in names.flatten() {
        let (before, _) = sources
            .split_once(&format!("\npub fn {name}("))
            .unwrap_or_else(|| panic!("{module} has no {name}"));
        let comment = before
            .lines()
            .rev()
            .take_while(|line| line.starts_with("///"));
        let is_shown = comment.filter(|line| *line == "/// ```").count() == 2;
        assert!(is_shown, "{module}::{name} has no example");
        count += 1;
    }
    assert!(
        count >= 15,
        "{count} functions: the test reads them wrongly"
    );
}

#[test]
fn the_head_of_the_library_names_paths_that_exist() {
    let source = read("host/src/lib.rs");
    let head = source.lines().filter(|line| line.starts_with("//!"));
    let head: Vec<&str> = head.collect();
    check_paths("host/src/lib.rs", &head.join("\n"));
}

#[test]
fn the_map_names_every_crate_and_every_module() {
    let map = read("docs/ARCHITECTURE.md");
    let named: BTreeSet<&str> = code(&map)
        .flat_map(|word| word.split(['/', ',', ' ', '.', '{', '}']))
        .collect();
    // Modules of formats are in their table.
    let formats = read("host/formats/src/lib.rs");
    let (_, table) = formats.split_once("static FORMATS").expect("the table");
    let mut missing = Vec::new();
    for folder in crates() {
        if !code(&map).any(|word| word.trim_end_matches('/') == folder) {
            missing.push(folder.clone());
        }
        let sources = root().join(&folder).join("src");
        for module in modules(&sources) {
            let is_format = folder == "host/formats" && table.contains(&format!("{module}::"));
            if !is_format && !named.contains(&*module) {
                missing.push(format!("{folder}/src/{module}"));
            }
        }
    }
    assert!(
        missing.is_empty(),
        "docs/ARCHITECTURE.md does not name: {missing:#?}"
    );
}

#[test]
fn every_module_has_the_name_of_its_file() {
    let attribute = ["#[", "path"].concat();
    let mut folders: Vec<PathBuf> = crates().iter().map(|folder| root().join(folder)).collect();
    folders.extend(["examples", "tests/fuzz"].map(|folder| root().join(folder)));
    let mut found = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() && path.file_name().is_some_and(|name| name != "target") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs")
                && fs::read_to_string(&path)
                    .expect("it is text")
                    .contains(&attribute)
            {
                found.insert(path);
            }
        }
    }
    assert!(
        found.is_empty(),
        "modules by another file's name: {found:#?}"
    );
}

/// Most characters of a line of a comment; rows of tables may have more, and links that fill a line.
const WIDTH: usize = 120;

#[test]
fn lines_of_comments_end_at_their_width() {
    let mut wide = Vec::new();
    let mut folders: Vec<PathBuf> = crates().iter().map(|folder| root().join(folder)).collect();
    folders.push(root().join("examples"));
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().unwrap_or_default();
            // Its expected messages have line numbers.
            if path.is_dir() && name != "target" && name != "compile_fail" {
                folders.push(path);
            } else if path
                .extension()
                .is_some_and(|extension| extension == "rs" || extension == "js")
            {
                let text = fs::read_to_string(&path).expect("it is text");
                let is_wide = |line: &&str| {
                    let comment = line
                        .trim_start()
                        .trim_start_matches(['/', '!', '*'])
                        .trim_start();
                    ["//", "/*", "* "]
                        .iter()
                        .any(|mark| line.trim_start().starts_with(mark))
                        && line.chars().count() > WIDTH
                        && !comment.starts_with('|')
                        && comment.contains(' ')
                };
                let lines = text.lines().enumerate().filter(|(_, line)| is_wide(line));
                wide.extend(lines.map(|(i, _)| format!("{}:{}", path.display(), i + 1)));
            }
        }
    }
    wide.sort();
    wide.dedup();
    assert!(wide.is_empty(), "wider than {WIDTH} characters: {wide:#?}");
}

/// Folders of crates below the front ends: their messages name options as any front end has them, without dashes.
const BELOW_FRONT_ENDS: [&str; 12] = [
    "host/src",
    "host/device",
    "host/formats",
    "host/generate",
    "host/mesh",
    "host/operations",
    "host/ranks",
    "host/reference",
    "host/render",
    "host/vem",
    "host/verify",
    "host/work",
];

/// Whether a line of code has a string with a flag of the command line, alone: a step of `chain` is the same in every
/// front end, such as "`repair --orient` turns it".
fn names_a_flag(line: &str) -> bool {
    let is_comment = line.trim_start().starts_with("//");
    let mut texts = line.split('"').skip(1).step_by(2);
    let has_flag = |part: &str| {
        part.split("--")
            .skip(1)
            .any(|after| after.starts_with(|c: char| c.is_ascii_lowercase()))
    };
    let is_step = |(i, part): &(usize, &str)| i % 2 == 1 && part.starts_with(char::is_lowercase);
    let is_flag = |text: &str| {
        let mut parts = text.split('`').enumerate();
        parts.any(|part| !is_step(&part) && has_flag(part.1))
    };
    !is_comment && texts.any(is_flag)
}

#[test]
fn messages_of_the_library_name_no_flag() {
    assert!(names_a_flag("    \"use --device cpu\"") && names_a_flag("    \"use `--device cpu`\""));
    assert!(!names_a_flag("    \"a -- b\"") && !names_a_flag("    \"`repair --edges` parts it\""));
    let mut found = Vec::new();
    let mut folders = BELOW_FRONT_ENDS.map(|folder| root().join(folder)).to_vec();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path
                .file_name()
                .and_then(|name| name.to_str())
                .unwrap_or("");
            // The self-test is a command.
            if path.is_dir() && !["tests", "examples", "selftest"].contains(&name) {
                folders.push(path);
            } else if name.ends_with(".rs") && name != "tests.rs" {
                let text = fs::read_to_string(&path).expect("it is text");
                let code = text.lines().take_while(|line| *line != "#[cfg(test)]");
                let lines = code.enumerate().filter(|(_, line)| names_a_flag(line));
                found
                    .extend(lines.map(|(i, line)| format!("{}:{}: {line}", path.display(), i + 1)));
            }
        }
    }
    assert!(found.is_empty(), "flags in texts: {found:#?}");
}
