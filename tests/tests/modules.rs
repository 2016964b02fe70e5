//! No two modules of a crate use each other, directly or through others. A module and the modules in its folder may:
//! they are one unit in several files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The names from the crate's root to a module.
type Name = Vec<String>;

/// A file's module.
struct Module {
    /// Paths in it, from `crate`, `super`, `self` or a name of its own.
    uses: Vec<Name>,
    /// The paths that it re-exports.
    exports: Vec<Name>,
}

/// The modules of a crate by their names.
struct Crate(BTreeMap<Name, Module>);

impl Crate {
    fn read(sources: &Path) -> Self {
        let mut modules = BTreeMap::new();
        read_folder(sources, &Vec::new(), &mut modules);
        Self(modules)
    }

    /// The module whose item a path names, as seen from `from`.
    fn resolve(&self, from: &Name, path: &[String], seen: &mut BTreeSet<Name>) -> Option<Name> {
        let mut at = from.clone();
        let mut rest = path;
        let is_rooted = match path.first()?.as_str() {
            "crate" => {
                at.clear();
                rest = &rest[1..];
                true
            }
            "self" => {
                rest = &rest[1..];
                true
            }
            "super" => {
                while rest.first().is_some_and(|word| word == "super") {
                    at.pop()?;
                    rest = &rest[1..];
                }
                true
            }
            _ => false,
        };
        let start = at.len();
        while let Some(word) = rest.first() {
            let inner = [&at[..], std::slice::from_ref(word)].concat();
            if !self.0.contains_key(&inner) {
                break;
            }
            at = inner;
            rest = &rest[1..];
        }
        if !is_rooted && at.len() == start {
            return None;
        }
        if let Some(word) = rest.first()
            && seen.insert([&at[..], std::slice::from_ref(word)].concat())
        {
            let exports = &self.0.get(&at)?.exports;
            let handed_on = exports.iter().filter(|path| path.last() == Some(word));
            let found = handed_on
                .filter_map(|path| self.resolve(&at, path, seen))
                .find(|module| *module != at);
            return found.or(Some(at));
        }
        Some(at)
    }

    /// The modules that each module uses, without itself, its ancestors and its descendants.
    fn arrows(&self) -> BTreeMap<&Name, BTreeSet<Name>> {
        let of_module = |(name, module): (&Name, &Module)| -> BTreeSet<Name> {
            let uses = module.uses.iter();
            let used = uses.filter_map(|path| self.resolve(name, path, &mut BTreeSet::new()));
            used.filter(|other| !other.starts_with(name) && !name.starts_with(other))
                .collect()
        };
        let modules = self.0.iter();
        modules
            .map(|(name, module)| (name, of_module((name, module))))
            .collect()
    }

    /// The modules from which arrows lead back to themselves.
    fn circles(&self) -> Vec<String> {
        let arrows = self.arrows();
        let mut found = Vec::new();
        for start in self.0.keys() {
            let mut reached = BTreeSet::new();
            let mut open: Vec<&Name> = arrows[start].iter().collect();
            while let Some(name) = open.pop() {
                if reached.insert(name) {
                    open.extend(&arrows[name]);
                }
            }
            if reached.contains(start) {
                found.push(start.join("::"));
            }
        }
        found
    }
}

fn read_folder(folder: &Path, name: &Name, modules: &mut BTreeMap<Name, Module>) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        let stem = stem.expect("a name in UTF-8").to_owned();
        let inner = [&name[..], std::slice::from_ref(&stem)].concat();
        if path.is_dir() {
            read_folder(&path, &inner, modules);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let is_folder_itself = ["lib", "main", "mod"].contains(&stem.as_str());
            let name = if is_folder_itself { name } else { &inner };
            let source = fs::read_to_string(&path).expect("a source");
            modules.insert(name.clone(), module(&source));
        }
    }
}

/// Reads `use` items, and paths from `crate` or `super` in other code, up to a file's unit tests.
fn module(source: &str) -> Module {
    let source = source
        .split("#[cfg(test)]\nmod tests {")
        .next()
        .unwrap_or_default();
    let lines = source
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    let mut text: String = lines.flat_map(|line| [line, "\n"]).collect();
    let (mut uses, mut exports) = (Vec::new(), Vec::new());
    for statement in text.clone().split(';') {
        // The text before an item in its statement is the end of another item's body.
        let mut lines = statement.lines().rev().map(str::trim_start);
        let Some(line) = lines.find(|line| is_use(line)) else {
            continue;
        };
        let begin = line.as_ptr() as usize - statement.as_ptr() as usize;
        let item = &statement[begin..];
        let (visibility, tree) = item.split_once("use ").expect("it is a use");
        let first = uses.len();
        flatten(&[], tree, &mut uses);
        if !visibility.is_empty() {
            exports.extend_from_slice(&uses[first..]);
        }
        text = text.replace(item, "");
    }
    for root in ["crate::", "super::"] {
        for (at, _) in text.match_indices(root) {
            let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
            let path = text[at..].split(|c| !is_path(c)).next().unwrap_or_default();
            let is_whole = !text[..at].ends_with(|c: char| is_path(c) || c == '$');
            if is_whole {
                uses.push(path.split("::").map(str::to_owned).collect());
            }
        }
    }
    Module { uses, exports }
}

/// Whether a line begins a `use` item with any visibility.
fn is_use(line: &str) -> bool {
    let item = match line.strip_prefix("pub") {
        Some(rest) => rest.split_once(' ').map_or("", |(_, item)| item),
        None => line,
    };
    item.starts_with("use ")
}

/// The paths of a tree such as `a::{b, c::{d, e as f}}`.
fn flatten(before: &[String], tree: &str, paths: &mut Vec<Name>) {
    let (head, branches) = tree.split_once('{').unwrap_or((tree, ""));
    let head = head.split(" as ").next().unwrap_or_default();
    let words = head.split("::").map(|word| word.trim().to_owned());
    let mut path = before.to_vec();
    path.extend(words.filter(|word| !word.is_empty()));
    if branches.is_empty() {
        paths.push(path);
        return;
    }
    let branches = &branches[..branches.rfind('}').expect("a whole tree")];
    let (mut depth, mut start) = (0, 0);
    for (at, c) in branches.char_indices().chain([(branches.len(), ',')]) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                if !branches[start..at].trim().is_empty() {
                    flatten(&path, &branches[start..at], paths);
                }
                start = at + 1;
            }
            _ => {}
        }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The folders of sources of the workspace's crates.
fn sources() -> Vec<PathBuf> {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("the manifest");
    let (_, members) = manifest.split_once("members = [").expect("members");
    let (members, _) = members.split_once(']').expect("the end of members");
    let folders = members.split('"').skip(1).step_by(2);
    folders
        .map(|folder| root().join(folder).join("src"))
        .collect()
}

#[test]
fn no_two_modules_use_each_other() {
    let mut found = Vec::new();
    for folder in sources() {
        let circles = Crate::read(&folder).circles();
        if !circles.is_empty() {
            found.push(format!("{}: {}", folder.display(), circles.join(", ")));
        }
    }
    assert!(
        found.is_empty(),
        "modules that use each other:\n{}",
        found.join("\n")
    );
}

#[test]
fn circles_are_found_through_what_is_handed_on() {
    let source = |uses| module(uses);
    let modules = [
        (
            "",
            "mod a;\nmod b;\nmod c;\npub use b::{Item, other as Other};\n",
        ),
        ("a", "use super::{c, Item};\n"),
        ("b", "fn f() { crate::c::g() }\n"),
        ("c", "use super::\n    d::X;\n// use super::a::Nothing;\n"),
    ];
    let named = |(name, text): (&str, &'static str)| {
        let name: Name = name.split_terminator("::").map(str::to_owned).collect();
        (name, source(text))
    };
    let mut all = Crate(modules.into_iter().map(named).collect());
    assert_eq!(all.circles(), Vec::<String>::new());
    all.0
        .insert(vec!["c".to_owned()], source("use crate::a::{Y, Z};\n"));
    // a uses c and, by `Item`, b; both lead to c, and c to a.
    assert_eq!(all.circles(), ["a", "b", "c"]);
}
