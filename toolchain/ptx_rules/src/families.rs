//! One PTX text for each family of kernels, split from the text of all, and joined again.
//!
//! The split texts depend only on their own kernels, so that a change in one family leaves the other files unchanged:
//! comments are removed, LLVM's counters in the names of labels and tables are replaced, and kernels are sorted by
//! name. Every file is a complete module: it declares everything that its kernels use.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;

use crate::module::{Item, Kind, Module, is_of_name};

/// Splits a module into one text for each family; `family_of` returns the family of a kernel.
///
/// # Errors
/// The kernels without a family.
pub fn split(
    ptx: &str,
    family_of: impl Fn(&str) -> Option<String>,
) -> Result<BTreeMap<String, String>, String> {
    let module = Module::parse(ptx);
    let mut kernels: BTreeMap<String, Vec<&Item>> = BTreeMap::new();
    let mut strays = Vec::new();
    for item in of_kind(&module, Kind::Entry) {
        match family_of(item.name) {
            Some(family) => kernels.entry(family).or_default().push(item),
            None => strays.push(item.name),
        }
    }
    if !strays.is_empty() {
        return Err(format!("no family declares {}", strays.join(", ")));
    }
    let text = |(family, mut kernels): (String, Vec<&Item>)| {
        kernels.sort_by_key(|kernel| kernel.name);
        let text = family_text(&module, &family, &kernels);
        (family, text)
    };
    Ok(kernels.into_iter().map(text).collect())
}

impl<'a> Module<'a> {
    /// The module's kernels.
    pub fn entries(&self) -> impl Iterator<Item = &Item<'a>> {
        of_kind(self, Kind::Entry)
    }

    /// A module with one of the kernels and the functions and variables that it uses; `None` without such a kernel.
    pub fn cut(&self, kernel: &str) -> Option<String> {
        let item = self.entries().find(|item| item.name == kernel)?;
        Some(family_text(self, kernel, &[item]))
    }
}

fn of_kind<'m, 'a>(module: &'m Module<'a>, kind: Kind) -> impl Iterator<Item = &'m Item<'a>> {
    module.items.iter().filter(move |item| item.kind == kind)
}

/// The module of one family.
fn family_text(module: &Module, family: &str, kernels: &[&Item]) -> String {
    let used = used_names(module, kernels);
    let used = |kind| {
        let mut items: Vec<&Item> = of_kind(module, kind)
            .filter(|item| used.contains(item.name))
            .collect();
        items.sort_by_key(|item| item.name);
        items
    };
    let functions = used(Kind::Function);
    let bodies: Vec<&Item> = functions.iter().chain(kernels).copied().collect();
    let names = table_names(module, family, &bodies);
    let mut variables = used(Kind::Variable);
    variables.sort_by_key(|item| names.get(item.name).map_or(item.name, String::as_str));

    let directives: Vec<&Item> = of_kind(module, Kind::Directive).collect();
    let declared = [
        directives,
        used(Kind::Undefined),
        used(Kind::Prototype),
        variables,
    ];
    let mut text = String::new();
    if let Some(header) = module.header {
        text = format!("{header}\n");
    }
    for item in declared.iter().flatten().chain(&bodies) {
        for (_, line) in &item.lines {
            text += &renamed(line, &names);
            text.push('\n');
        }
    }
    text
}

/// Names of the functions and variables that the kernels use, directly or through others.
fn used_names<'a>(module: &Module<'a>, kernels: &[&Item<'a>]) -> BTreeSet<&'a str> {
    let mut items: BTreeMap<&str, Vec<&Item<'a>>> = BTreeMap::new();
    for item in &module.items {
        if !matches!(item.kind, Kind::Entry | Kind::Directive) {
            items.entry(item.name).or_default().push(item);
        }
    }
    let mut used = BTreeSet::new();
    let mut open: Vec<&str> = kernels.iter().flat_map(|kernel| kernel.words()).collect();
    while let Some(word) = open.pop() {
        if let Some(items) = items.get(word)
            && used.insert(word)
        {
            open.extend(items.iter().flat_map(|item| item.words()));
        }
    }
    used
}

/// New names of the constant tables, by family and first use: their own names contain a counter of the whole module.
fn table_names(module: &Module, family: &str, bodies: &[&Item]) -> BTreeMap<String, String> {
    let is_table = |item: &&Item| {
        let (_, line) = item.lines[0];
        line.contains('=') && !line.contains(".visible") && !line.contains(".extern")
    };
    let tables: BTreeSet<&str> = of_kind(module, Kind::Variable)
        .filter(is_table)
        .map(|item| item.name)
        .collect();
    let mut names = BTreeMap::new();
    for word in bodies.iter().flat_map(|item| item.words()) {
        if tables.contains(word) && !names.contains_key(word) {
            names.insert(word.to_owned(), format!("{family}_table_{}", names.len()));
        }
    }
    names
}

/// The line with new names of tables, and with labels that are counted in their own function: `$L__BB53_22` is `$L_22`.
fn renamed(line: &str, names: &BTreeMap<String, String>) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while !rest.is_empty() {
        let at = rest.find(is_of_name).unwrap_or(rest.len());
        let (between, after) = rest.split_at(at);
        let end = after.find(|c| !is_of_name(c)).unwrap_or(after.len());
        let (word, after) = after.split_at(end);
        text += between;
        let block = word.strip_prefix("$L__BB").and_then(|l| l.split_once('_'));
        match (block, names.get(word)) {
            (Some((_, block)), _) => text += &format!("$L_{block}"),
            (_, Some(name)) => text += name,
            _ => text += word,
        }
        rest = after;
    }
    text
}

/// Joins the PTX of families to one module, as LLVM wrote them: each is complete, with everything that its kernels use.
/// Items of one name may differ between two families: then the later one gets another name. Comments and sections are
/// removed.
pub fn merge(parts: &[(String, String)]) -> String {
    let (mut declared, mut bodies) = (String::new(), String::new());
    let mut seen: BTreeMap<(Kind, &str), &Item> = BTreeMap::new();
    let modules: Vec<(&str, Module)> = parts
        .iter()
        .map(|(family, text)| (family.as_str(), Module::parse(text)))
        .collect();
    let mut files = 0;
    for (family, module) in &modules {
        let names = other_names(module, family, &seen);
        let is_file = |item: &&Item| item.name == ".file";
        for item in &module.items {
            let (_, first) = item.lines[0];
            let is_there = seen.contains_key(&(item.kind, item.name)) && !is_file(&item);
            let is_section = first.trim_start().starts_with(".section");
            if is_section || is_there && !names.contains_key(item.name) {
                continue;
            }
            seen.entry((item.kind, item.name)).or_insert(item);
            let is_body = matches!(item.kind, Kind::Entry | Kind::Function);
            let to = if is_body { &mut bodies } else { &mut declared };
            for (_, line) in &item.lines {
                *to += &match with_number(line, files) {
                    Some(line) => line,
                    None => with_names(line, &names),
                };
                to.push('\n');
            }
        }
        files += module.items.iter().filter(is_file).count();
    }
    declared + &bodies
}

/// New names for the functions and variables of a module that differ from those in `seen`, and for all functions that
/// use these.
fn other_names(
    module: &Module,
    family: &str,
    seen: &BTreeMap<(Kind, &str), &Item>,
) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    let lines = |item: &Item| {
        item.lines
            .iter()
            .map(|(_, line)| (*line).to_owned())
            .collect::<Vec<_>>()
    };
    let private = |item: &&Item| {
        let is_named = matches!(item.kind, Kind::Function | Kind::Variable);
        is_named && !item.lines[0].1.contains(".visible")
    };
    loop {
        let is_other = |item: &&Item| {
            let other = seen.get(&(item.kind, item.name));
            let uses_other = |word: &str| word != item.name && names.contains_key(word);
            let differs = other.is_some_and(|other| lines(other) != lines(item));
            !names.contains_key(item.name)
                && (differs || other.is_some() && item.words().any(uses_other))
        };
        let new = module.items.iter().filter(private).filter(is_other);
        let new: Vec<&str> = new.map(|item| item.name).collect();
        if new.is_empty() {
            return names;
        }
        let renamed = |name: &&str| ((*name).to_owned(), format!("{name}_{family}"));
        names.extend(new.iter().map(renamed));
    }
}

/// A `.file` or a `.loc`, with its file numbered after `files` other ones.
fn with_number(line: &str, files: usize) -> Option<String> {
    let directive = [".file", ".loc"]
        .into_iter()
        .find(|word| line.trim_start().starts_with(word))?;
    let (before, after) = line.split_once(directive)?;
    let after = after.trim_start();
    let end = after.find(|c: char| !c.is_ascii_digit())?;
    let number: usize = after[..end].parse().ok()?;
    Some(format!(
        "{before}{directive}\t{}{}",
        number + files,
        &after[end..]
    ))
}

/// The line with new names.
fn with_names(line: &str, names: &BTreeMap<String, String>) -> String {
    if names.is_empty() {
        return line.to_owned();
    }
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find(is_of_name) {
        let (between, after) = rest.split_at(at);
        let end = after.find(|c| !is_of_name(c)).unwrap_or(after.len());
        let (word, after) = after.split_at(end);
        text += between;
        text += names.get(word).map_or(word, String::as_str);
        rest = after;
    }
    text + rest
}

/// Joins the modules of families to one. `parts` holds a name, for messages, and a text each.
///
/// # Errors
/// The name of a part that another compiler has built, or whose functions differ from another part's of the same name.
pub fn join<N: AsRef<str>, T: AsRef<str>>(parts: &[(N, T)]) -> Result<String, String> {
    let mut text = String::new();
    let mut seen: BTreeMap<(bool, &str), (String, &str)> = BTreeMap::new();
    let Some((first, _)) = parts.first() else {
        return Err("there is no PTX to put together".to_owned());
    };
    let modules: Vec<(&str, Module)> = parts
        .iter()
        .map(|(name, text)| (name.as_ref(), Module::parse(text.as_ref())))
        .collect();
    let header = modules[0].1.header;
    if let Some(header) = header {
        text = format!("{header}\n");
    }
    for (name, module) in &modules {
        if module.header != header {
            let first = first.as_ref();
            return Err(format!(
                "{name} and {first} are by different compilers: write both anew"
            ));
        }
    }
    // Declarations come before their uses, whichever part declares them.
    for of_bodies in [false, true] {
        for (name, module) in &modules {
            for item in &module.items {
                let is_body = matches!(item.kind, Kind::Entry | Kind::Function);
                if is_body != of_bodies {
                    continue;
                }
                let mut lines = String::new();
                for (_, line) in &item.lines {
                    lines += line;
                    lines.push('\n');
                }
                match seen.get(&(is_body, item.name)) {
                    None => {
                        text += &lines;
                        seen.insert((is_body, item.name), (lines, name));
                    }
                    Some((same, _)) if *same == lines && item.kind != Kind::Entry => {}
                    Some((_, other)) => {
                        let item = item.name;
                        return Err(format!(
                            "{item} is in {other} and in {name}, and they differ: write both anew"
                        ));
                    }
                }
            }
        }
    }
    Ok(text)
}

/// The families' texts in a directory, `weld` for `weld.ptx`, in the order of their names.
///
/// # Errors
/// The directory or a file cannot be read.
pub fn read_families(directory: &Path) -> io::Result<BTreeMap<String, String>> {
    let mut families = BTreeMap::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "ptx") {
            let family = path.file_stem().unwrap_or_default().to_string_lossy();
            families.insert(family.into_owned(), fs::read_to_string(&path)?);
        }
    }
    Ok(families)
}

/// The families' texts in a directory, joined.
///
/// # Errors
/// The directory or a file cannot be read, or the texts are not of one build.
pub fn join_directory(directory: &Path) -> Result<String, String> {
    let families = read_families(directory);
    let families = families.map_err(|error| format!("{}: {error}", directory.display()))?;
    let families: Vec<_> = families.into_iter().collect();
    join(&families).map_err(|error| format!("{}: {error}", directory.display()))
}

/// The kernels that a package's sources declare, each with its family: `refine` for `gpu/src/refine/…`, and
/// `collective` for a file in `gpu/collective/src` itself.
///
/// A declaration is an attribute `#[kernel…]`; its kernel is the next function.
///
/// # Errors
/// A directory or file cannot be read, or two kernels have one name.
pub fn declared_kernels(src: &Path) -> io::Result<BTreeMap<String, String>> {
    let mut kernels = BTreeMap::new();
    let package = src.canonicalize()?;
    let package = package.parent().and_then(Path::file_name);
    for entry in fs::read_dir(src)? {
        let path = entry?.path();
        let family = match path.is_dir() {
            true => path.file_name(),
            false => package,
        };
        let family = family.unwrap_or_default().to_string_lossy();
        collect_kernels(&path, &family, &mut kernels)?;
    }
    Ok(kernels)
}

fn collect_kernels(
    path: &Path,
    family: &str,
    kernels: &mut BTreeMap<String, String>,
) -> io::Result<()> {
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            collect_kernels(&entry?.path(), family, kernels)?;
        }
    } else if path.extension().is_some_and(|extension| extension == "rs") {
        let text = fs::read_to_string(path)?;
        // A file with a feature is not in a plain build.
        if text.contains("#![cfg(feature") {
            return Ok(());
        }
        for name in kernels_of_source(&text) {
            if kernels.insert(name.to_owned(), family.to_owned()).is_some() {
                let message = format!("{}: {name} is declared twice", path.display());
                return Err(io::Error::new(io::ErrorKind::InvalidData, message));
            }
        }
    }
    Ok(())
}

fn kernels_of_source(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let is_kernel = line
            .trim_start()
            .strip_prefix("#[kernel")
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['(', ']']));
        if is_kernel {
            names.extend(lines.by_ref().find_map(function_name));
        }
    }
    names
}

fn function_name(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let after = match line.strip_prefix("fn ") {
        Some(after) => after,
        None if line.starts_with("//") => return None,
        None => line.split_once(" fn ")?.1,
    };
    after.split(['(', '<']).next()
}

/// The declared kernel of a PTX entry, and its family. An instance's entry is named after its kernel,
/// `label_edges_f32`.
pub fn family_of<'k>(
    entry: &str,
    kernels: &'k BTreeMap<String, String>,
) -> Option<(&'k str, &'k str)> {
    let is_instance = |name: &str| {
        entry
            .strip_prefix(name)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    };
    kernels
        .iter()
        .filter(|(name, _)| is_instance(name))
        .max_by_key(|(name, _)| name.len())
        .map(|(name, family)| (name.as_str(), family.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entries;

    const TEXT: &str = "// rustc 1\n//\n.version 6.3\n.target sm_75\n.address_size 64\n\
        .func  (.param .b64 r) sign\n(\n\t.param .b64 p\n)\n;\n\
        .global .align 4 .b8 switch_$_table_$_b252[8] = {4, 0};\n\
        .global .align 4 .b8 unused251[8] = {4, 0};\n\
        .extern .shared .align 16 .b8 dynamic[];\n\
        .visible .entry b(\n\t.param .u32 b_param_0\n)\n{\n$L__BB1_2:   // loop\n\tmov.b64 %rd1, switch_$_table_$_b252;\n\
        \tst.shared.b32 [dynamic], %r1;\n\tbra.uni $L__BB1_2;\n}\n\
        .visible .entry a_f32(\n)\n{\n\tcall.uni (r), sign, (p);\n\tst.shared.b32 [dynamic], %r1;\n}\n\
        .func  (.param .b64 r) sign(\n\t.param .b64 p\n)\n{\n$L__BB2_1:\n\tret;\n}\n\
        .visible .entry c(\n)\n{\n\tcall.uni (r), sign, (p);\n\tret;\n}\n";

    fn families() -> BTreeMap<String, String> {
        let family = |kernel: &str| Some(if kernel == "c" { "late" } else { "early" }.to_owned());
        split(TEXT, family).unwrap()
    }

    #[test]
    fn parts_keep_their_own_functions() {
        let part = |kernel: &str, shift: u32| {
            format!(
                "//\n.version 6.3\n.func sign\n(\n)\n;\n.global .align 4 .b8 table[4] = {{7}};\n\
                 .visible .global .align 8 .b8 fault[8];\n\
                 .visible .entry {kernel}(\n)\n{{\n\t.loc\t1 5 0 // a\n\tcall.uni outer;\n}}\n\
                 .func sign(\n)\n{{\n\tshl.b32 %r1, %r1, {shift};\n}}\n\
                 .func outer(\n)\n{{\n\tcall.uni sign;\n\tld.b32 %r1, [table];\n}}\n\
                 \t.section\t.debug_macinfo\t{{\t}}\n\t.file\t1 \"/w/{kernel}.rs\"\n"
            )
        };
        let parts = [("a", 1), ("b", 1), ("c", 2)].map(|(k, shift)| (k.to_owned(), part(k, shift)));
        let merged = merge(&parts);
        let expected = ".version 6.3\n.func sign\n(\n)\n;\n.global .align 4 .b8 table[4] = {7};\n\
            .visible .global .align 8 .b8 fault[8];\n.file\t1 \"/w/a.rs\"\n.file\t2 \"/w/b.rs\"\n\
            .func sign_c\n(\n)\n;\n.file\t3 \"/w/c.rs\"\n\
            .visible .entry a(\n)\n{\n\t.loc\t1 5 0\n\tcall.uni outer;\n}\n\
            .func sign(\n)\n{\n\tshl.b32 %r1, %r1, 1;\n}\n\
            .func outer(\n)\n{\n\tcall.uni sign;\n\tld.b32 %r1, [table];\n}\n\
            .visible .entry b(\n)\n{\n\t.loc\t2 5 0\n\tcall.uni outer;\n}\n\
            .visible .entry c(\n)\n{\n\t.loc\t3 5 0\n\tcall.uni outer_c;\n}\n\
            .func sign_c(\n)\n{\n\tshl.b32 %r1, %r1, 2;\n}\n\
            .func outer_c(\n)\n{\n\tcall.uni sign_c;\n\tld.b32 %r1, [table];\n}\n";
        assert_eq!(merged, expected);
    }

    #[test]
    fn families_are_whole_and_have_nothing_of_others() {
        let families = families();
        assert_eq!(
            families["late"],
            "// rustc 1\n.version 6.3\n.target sm_75\n.address_size 64\n\
             .func  (.param .b64 r) sign\n(\n\t.param .b64 p\n)\n;\n\
             .func  (.param .b64 r) sign(\n\t.param .b64 p\n)\n{\n$L_1:\n\tret;\n}\n\
             .visible .entry c(\n)\n{\n\tcall.uni (r), sign, (p);\n\tret;\n}\n"
        );
        let early = &families["early"];
        assert_eq!(entries(early), ["a_f32", "b"]);
        assert!(early.contains(".b8 early_table_0[8] = {4, 0};"), "{early}");
        assert!(
            early.contains("\n$L_2:\n\tmov.b64 %rd1, early_table_0;"),
            "{early}"
        );
        assert!(
            early.contains("[dynamic], %r1;\n\tbra.uni $L_2;"),
            "{early}"
        );
        assert!(!early.contains("unused"), "{early}");
    }

    #[test]
    fn a_kernel_is_cut_out_with_what_it_uses() {
        let module = Module::parse(TEXT);
        let b = module.cut("b").unwrap();
        assert_eq!(entries(&b), ["b"]);
        assert!(
            b.contains("b_table_0[8] = {4, 0};") && b.contains("dynamic[];"),
            "{b}"
        );
        assert!(!b.contains("unused") && !b.contains("sign"), "{b}");
        assert!(
            module
                .cut("c")
                .unwrap()
                .contains(".func  (.param .b64 r) sign(\n\t.param .b64 p\n)\n{")
        );
        assert_eq!(module.cut("sign"), None);
    }

    #[test]
    fn joined_families_are_the_module_again() {
        let families: Vec<_> = families().into_iter().collect();
        let joined = join(&families).unwrap();
        assert_eq!(entries(&joined), ["a_f32", "b", "c"]);
        assert_eq!(joined.matches(".func ").count(), 2);
        assert_eq!(joined.matches("dynamic[]").count(), 1);
        assert_eq!(joined.matches(".version").count(), 1);
        let family = |kernel: &str| Some(if kernel == "c" { "late" } else { "early" }.to_owned());
        let again: Vec<_> = split(&joined, family).unwrap().into_iter().collect();
        assert_eq!(join(&again).unwrap(), joined);
    }

    #[test]
    fn families_of_two_builds_are_not_joined() {
        let mut families: Vec<_> = families().into_iter().collect();
        families[1].1 = families[1].1.replace("\n\tret;\n", "\n\texit;\n");
        let error = join(&families).unwrap_err();
        assert!(error.contains("sign is in early and in late"), "{error}");
        families[1].1 = families[1].1.replace("rustc 1", "rustc 2");
        assert!(join(&families).unwrap_err().contains("different compilers"));
    }

    #[test]
    fn kernels_without_a_family_are_named() {
        let error = split(TEXT, |kernel| (kernel != "b").then(String::new)).unwrap_err();
        assert_eq!(error, "no family declares b");
    }

    #[test]
    fn declarations_are_found() {
        let source = "/// A kernel.\n#[kernel(block = 256)]\n#[inline(always)]\npub fn scan<P>(\n) {}\n\
            #[kernels]\nfn other() {}\n    #[kernel]\n    // A fn in a comment.\n    fn fill(i: u32) {}\n";
        assert_eq!(kernels_of_source(source), ["scan", "fill"]);
        let kernels = [("label", "p"), ("label_max", "q")]
            .map(|(kernel, family)| (kernel.to_owned(), family.to_owned()))
            .into();
        assert_eq!(
            family_of("label_max_f32", &kernels),
            Some(("label_max", "q"))
        );
        assert_eq!(family_of("label", &kernels), Some(("label", "p")));
        assert_eq!(family_of("labels", &kernels), None);
    }
}
