//! Line information: each instruction gets its line in the kernel's own package.
//!
//! Views, glam and `core` are inlined, so the lines of most instructions are theirs. LLVM's metadata has the chain of
//! calls from the kernel ("LLVM Language Reference Manual", DILocation). PTX has one line for an instruction: the
//! innermost one of the chain in the package's sources.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Makes LLVM write only `.file` and `.loc`, not all of DWARF.
pub(crate) fn as_directives(llvm_ir: &str) -> String {
    llvm_ir.replace(
        "emissionKind: LineTablesOnly",
        "emissionKind: DebugDirectivesOnly",
    )
}

/// Replaces the locations of a module outside the folder `sources` by those of their callers in it.
pub(crate) fn in_sources(llvm_ir: &str, sources: &Path) -> String {
    let metadata = Metadata::parse(llvm_ir);
    let moved = |line: &str| {
        let (number, kind, _) = node(line).filter(|(_, kind, _)| *kind == "DILocation")?;
        let own = metadata.author_of(number, sources)?;
        let (before, _) = line.split_once(kind)?;
        Some(format!(
            "{before}{kind}({})\n",
            metadata.locations.get(&own)?
        ))
    };
    let line = |line: &str| moved(line).unwrap_or_else(|| format!("{line}\n"));
    llvm_ir.lines().map(line).collect()
}

/// Nodes of the metadata by their numbers.
#[derive(Default)]
struct Metadata<'a> {
    /// The text in the parentheses.
    locations: HashMap<u32, &'a str>,
    /// Functions and blocks.
    scopes: HashMap<u32, &'a str>,
    files: HashMap<u32, PathBuf>,
}

impl<'a> Metadata<'a> {
    fn parse(llvm_ir: &'a str) -> Self {
        let mut metadata = Self::default();
        for (number, kind, fields) in llvm_ir.lines().filter_map(node) {
            match kind {
                "DILocation" => drop(metadata.locations.insert(number, fields)),
                "DISubprogram" | "DILexicalBlock" | "DILexicalBlockFile" => {
                    metadata.scopes.insert(number, fields);
                }
                "DIFile" => {
                    let text = |name| text_of(fields, name).unwrap_or_default();
                    let path = Path::new(text("directory: \"")).join(text("filename: \""));
                    metadata.files.insert(number, path);
                }
                _ => {}
            }
        }
        metadata
    }

    /// The innermost location of a chain of calls that lies in `sources`.
    fn author_of(&self, mut location: u32, sources: &Path) -> Option<u32> {
        loop {
            let fields = self.locations.get(&location)?;
            let scope = number_of(fields, "scope: !")?;
            let file = number_of(self.scopes.get(&scope)?, "file: !")?;
            if self.files.get(&file)?.starts_with(sources) {
                return Some(location);
            }
            location = number_of(fields, "inlinedAt: !")?;
        }
    }
}

/// Number, kind and fields of a node, `!29 = distinct !DILocation(line: 13, …)`.
fn node(line: &str) -> Option<(u32, &str, &str)> {
    let (number, definition) = line.strip_prefix('!')?.split_once(" = ")?;
    let definition = definition.strip_prefix("distinct ").unwrap_or(definition);
    let (kind, fields) = definition.strip_prefix('!')?.split_once('(')?;
    Some((number.parse().ok()?, kind, fields.strip_suffix(')')?))
}

/// The number after a field's name.
fn number_of(fields: &str, name: &str) -> Option<u32> {
    let (_, after) = fields.split_once(name)?;
    let end = after
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(after.len());
    after[..end].parse().ok()
}

/// The text after a field's name, up to its quotation mark.
fn text_of<'a>(fields: &'a str, name: &str) -> Option<&'a str> {
    let (_, after) = fields.split_once(name)?;
    Some(after.split_once('"')?.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instruction_gets_the_line_of_the_package() {
        let ir = "!1 = !DIFile(filename: \"src/lib.rs\", directory: \"/w/far\")\n\
                  !2 = !DIFile(filename: \"/w/kernel/src/view.rs\", directory: \"/w/kernel\")\n\
                  !3 = distinct !DISubprogram(name: \"f\", scope: !9, file: !1, line: 5)\n\
                  !4 = distinct !DISubprogram(name: \"at\", scope: !9, file: !2, line: 70)\n\
                  !5 = distinct !DILexicalBlock(scope: !4, file: !2, line: 71)\n\
                  !6 = !DILocation(line: 7, column: 9, scope: !3)\n\
                  !7 = distinct !DILocation(line: 72, column: 3, scope: !4, inlinedAt: !6)\n\
                  !8 = !DILocation(line: 73, column: 1, scope: !5, inlinedAt: !7)\n\
                  !10 = !DILocation(line: 74, column: 1, scope: !5)\n";
        let found = in_sources(ir, Path::new("/w/far/src"));
        let expected = ir
            .replace(
                "!7 = distinct !DILocation(line: 72, column: 3, scope: !4, inlinedAt: !6)",
                "!7 = distinct !DILocation(line: 7, column: 9, scope: !3)",
            )
            .replace(
                "!8 = !DILocation(line: 73, column: 1, scope: !5, inlinedAt: !7)",
                "!8 = !DILocation(line: 7, column: 9, scope: !3)",
            );
        assert_eq!(found, expected);
        assert_eq!(in_sources(ir, Path::new("/elsewhere")), ir);
    }
}
