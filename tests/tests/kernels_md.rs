//! Executes docs/KERNELS.md word for word: its blocks are inserted where the text says, the format is checked, and its
//! commands are run. Then `examples/own-kernels`, a workspace of its own that depends on trioxide by path, is
//! formatted, built and tested.
//!
//! The tree is copied to `target/tmp/kernels_md/trioxide`, without results and pictures, and keeps its modification
//! times. The build begins with hard links to the files that this build has compiled. Inside the workspace only crates
//! that the page's changes reach are compiled; outside, cargo identifies trioxide's crates by their absolute paths, and
//! compiles them again. They are not optimised: the compiler takes most of the time of this test.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The start of a command, after the variable that every run of this test sets.
const EXECUTED: &str = "cargo ";

#[test]
fn the_page_works_word_for_word_and_so_does_the_example() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let work = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kernels_md");
    let target = work.join("target");
    let page = fs::read_to_string(root.join("docs/KERNELS.md")).expect("it is checked in");

    copy_tree(&root, &work.join("trioxide"));
    let outside_settings = work.join("outside.toml");
    write(&outside_settings, &outside_profile(&root));
    let inside_settings = work.join("inside.toml");
    let users = "tree --workspace --invert trioxide-gpu --prefix none --format {p}";
    let users = cargo(&work.join("trioxide"), users, &outside_settings, &target);
    write(&inside_settings, &inside_profile(&users));
    // The versions of this build, not the newest ones: they are compiled already, and the example has the same.
    let lock = work.join("far/Cargo.lock");
    if !lock.exists() {
        write(
            &lock,
            &fs::read_to_string(root.join("Cargo.lock")).expect("it is checked in"),
        );
    }
    if !target.exists() {
        let built = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("debug");
        seed(&built, &target.join("debug"));
        // Kernels are built in the folder of this workspace's kernels: `core` is compiled once.
        #[cfg(unix)]
        {
            let device = built.with_file_name("device");
            fs::create_dir_all(&device).expect("target/ is writable");
            std::os::unix::fs::symlink(&device, target.join("device"))
                .expect("target/ is writable");
        }
    }

    let (mut inside, mut files, mut commands) = (true, 0, 0);
    let mut printed: Option<String> = None;
    let mut place = "";
    let mut blocks = page.lines();
    while let Some(line) = blocks.next() {
        let Some(language) = line.strip_prefix("```") else {
            match line {
                "# Inside" => inside = true,
                "# Outside" => inside = false,
                _ => {}
            }
            if !line.is_empty() {
                place = line;
            }
            continue;
        };
        let block: Vec<&str> = blocks.by_ref().take_while(|&line| line != "```").collect();
        let folder = if inside { "trioxide" } else { "" };
        match language {
            "rust" | "toml" => {
                apply(&work.join(folder), place, &block);
                files += 1;
            }
            "sh" => {
                let (folder, settings) = match inside {
                    true => (work.join("trioxide"), &inside_settings),
                    false => (work.join("far"), &outside_settings),
                };
                printed = Some(run(&folder, &block, settings, &target));
                commands += 1;
            }
            "text" => {
                // A block directly after a command is its output.
                if let Some(printed) = printed.take_if(|_| place.is_empty()) {
                    check_output(&block, &printed);
                }
            }
            other => panic!("KERNELS.md has a block of {other:?}: use rust, toml, sh or text"),
        }
        place = "";
    }
    assert!(
        files >= 12 && commands == 2,
        "{files} files, {commands} commands"
    );

    let example = work.join("trioxide/examples/own-kernels");
    for arguments in ["fmt --all --check", "test --workspace --quiet"] {
        cargo(&example, arguments, &outside_settings, &target);
    }
}

/// Cargo's settings inside, by which the users of `gpu` are compiled without optimisation: the page changes `gpu`, so
/// all of them are compiled again. `users` has a line `name version` for each, as cargo's tree prints them.
fn inside_profile(users: &str) -> String {
    let names = users.lines().filter_map(|line| line.split(' ').next());
    let names: BTreeSet<&str> = names.filter(|name| !name.is_empty()).collect();
    let line = |name: &str| format!("profile.dev.package.{name}.opt-level = 0\n");
    names.into_iter().map(line).collect()
}

/// Cargo's settings outside: dependencies as in this build, trioxide's own crates unoptimised.
fn outside_profile(root: &Path) -> String {
    let manifest = fs::read_to_string(root.join("Cargo.toml")).expect("it is checked in");
    let section = |name: &str| {
        let (_, rest) = manifest.split_once(&format!("[{name}]\n"))?;
        rest.split("\n\n").next()
    };
    let profile = section("profile.dev").expect("the workspace has such a section");
    let packages = section("profile.dev.package").expect("the workspace has such a section");
    let mut text = format!("[profile.dev]\n{profile}\n\n[profile.dev.package]\n");
    for line in packages
        .lines()
        .filter(|line| !line.starts_with("trioxide") && !line.starts_with("xtask"))
    {
        text += line;
        text.push('\n');
    }
    let members = section("workspace").expect("it is a workspace");
    for member in members
        .lines()
        .filter_map(|line| line.trim().strip_prefix('"'))
    {
        let folder = root.join(member.trim_end_matches("\","));
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).expect("a member has one");
        let name = manifest
            .lines()
            .find_map(|line| line.strip_prefix("name = "));
        text += name.expect("a package has a name");
        text += " = { opt-level = 0 }\n";
    }
    text
}

/// Inserts a block at the place in the line above it: "`path`:" or "In `path`, below `line`:".
fn apply(folder: &Path, place: &str, block: &[&str]) {
    let names: Vec<&str> = place.split('`').skip(1).step_by(2).collect();
    let text = block.join("\n") + "\n";
    match names[..] {
        [path] if place == format!("`{path}`:") => write(&folder.join(path), &text),
        [path, anchor, ..] if place.starts_with(&format!("In `{path}`, below `{anchor}`")) => {
            let path = folder.join(path);
            let old = fs::read_to_string(&path)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let mut found = 0;
            let mut new = String::new();
            for line in old.lines() {
                new += line;
                new.push('\n');
                if line.trim() == anchor {
                    found += 1;
                    new += &text;
                }
            }
            assert_eq!(
                found,
                1,
                "{} has the line {anchor:?} so many times",
                path.display()
            );
            write(&path, &new);
        }
        _ => panic!("KERNELS.md does not say where this block goes: {place:?}\n{text}"),
    }
}

/// Checks the format of the folder's workspace, then runs a command of the page. Returns its output.
fn run(folder: &Path, block: &[&str], settings: &Path, target: &Path) -> String {
    let mut all = String::new();
    for command in block {
        let arguments = command
            .trim_start_matches("TRIOXIDE_PTX=prebuilt ")
            .strip_prefix(EXECUTED)
            .unwrap_or_else(|| panic!("{command:?} does not begin with {EXECUTED:?}"));
        cargo(folder, "fmt --all --check", settings, target);
        all += &cargo(folder, arguments, settings, target);
    }
    all
}

fn cargo(folder: &Path, arguments: &str, settings: &Path, target: &Path) -> String {
    let output = Command::new(env!("CARGO"))
        .arg("--config")
        .arg(settings)
        .args(arguments.split_whitespace())
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", target)
        .env("TRIOXIDE_PTX", "prebuilt")
        .output()
        .expect("cargo starts");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "cargo {arguments} in {}:\n{printed}{}",
        folder.display(),
        String::from_utf8_lossy(&output.stderr)
    );
    printed.into_owned()
}

/// Compares without numbers (times, tests of the suite), spaces, empty lines, and the order of lines: tests end in any.
fn check_output(expected: &[&str], printed: &str) {
    let plain = |line: &str| -> String {
        line.chars()
            .filter(|c| !c.is_ascii_digit() && !c.is_whitespace())
            .collect()
    };
    let mut expected: Vec<String> = expected.iter().map(|line| plain(line)).collect();
    let lines = printed.lines().map(plain);
    let mut printed: Vec<String> = lines.filter(|line| !line.is_empty()).collect();
    expected.sort_unstable();
    printed.sort_unstable();
    assert_eq!(printed, expected);
}

/// Writes a file only if it changes, so that cargo sees unchanged files as such.
fn write(path: &Path, text: &str) {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return;
    }
    fs::create_dir_all(path.parent().expect("a file's path")).expect("target/ is writable");
    fs::write(path, text).expect("target/ is writable");
}

/// Copies the files that git lists, each with its modification time. Removes other files, of this page or of older
/// sources.
fn copy_tree(root: &Path, to: &Path) {
    let output = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .args(["--", ":!docs"])
        .current_dir(root)
        .output()
        .expect("git starts");
    assert!(output.status.success(), "git lists the files of a checkout");
    let listed = String::from_utf8(output.stdout).expect("names are UTF-8");
    let names: BTreeSet<&Path> = listed.lines().map(Path::new).collect();
    remove_others(to, to, &names);
    for name in listed.lines() {
        let (from, to) = (root.join(name), to.join(name));
        // The file is deleted but the deletion is not committed.
        let Ok(content) = fs::read(&from) else {
            continue;
        };
        fs::create_dir_all(to.parent().expect("a file's path")).expect("target/ is writable");
        if fs::read(&to).is_ok_and(|old| old == content) {
            continue;
        }
        fs::write(&to, content).expect("target/ is writable");
        keep_time(&from, &to);
    }
}

fn remove_others(folder: &Path, root: &Path, names: &BTreeSet<&Path>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            remove_others(&path, root, names);
        } else if path
            .strip_prefix(root)
            .is_ok_and(|name| !names.contains(name))
        {
            fs::remove_file(&path).expect("target/ is writable");
        }
    }
}

fn keep_time(from: &Path, to: &Path) {
    let time = fs::metadata(from).and_then(|data| data.modified());
    let file = File::options().write(true).open(to);
    file.and_then(|file| file.set_modified(time?))
        .expect("times can be set");
}

/// Begins a build with the files of another: links to the compiler's output, which it replaces and never changes, and
/// copies of the other files.
fn seed(built: &Path, to: &Path) {
    let mut folders: Vec<PathBuf> = ["deps", ".fingerprint", "build"].map(Into::into).into();
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(built.join(&folder)) else {
            continue;
        };
        fs::create_dir_all(to.join(&folder)).expect("target/ is writable");
        for entry in entries.flatten() {
            let name = folder.join(entry.file_name());
            let (from, to) = (built.join(&name), to.join(&name));
            if entry.path().is_dir() {
                folders.push(name);
            } else if name
                .extension()
                .is_some_and(|e| ["rlib", "rmeta", "so"].contains(&&*e.to_string_lossy()))
            {
                fs::hard_link(&from, &to).expect("target/ is one file system");
            } else if folder != Path::new("deps") || name.extension().is_some_and(|e| e == "d") {
                fs::copy(&from, &to).expect("target/ is writable");
                keep_time(&from, &to);
            }
        }
    }
}
