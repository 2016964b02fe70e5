//! A module: kernels and variables of a PTX text.

use std::collections::HashMap;
use std::sync::Arc;

use ptx_rules::{Item, Kind, Module as Text};

use crate::compile::{Function, Surroundings, compile};
use crate::program::Program;
use crate::types::Type;

pub struct Module {
    pub kernels: HashMap<String, Arc<Program>>,
    /// Address and bytes of each variable.
    pub variables: HashMap<String, (u64, usize)>,
}

impl Module {
    /// Prepares the kernels of a PTX text; `allocate` returns memory for variables.
    ///
    /// # Errors
    /// A sentence about a part that the emulator does not support.
    pub fn load(text: &str, allocate: impl Fn(usize) -> Option<u64>) -> Result<Self, String> {
        let text = Text::parse(text);
        let mut variables = HashMap::new();
        let mut symbols = HashMap::new();
        let mut files = HashMap::new();
        let (mut functions, mut entries) = (Vec::new(), Vec::new());
        for item in &text.items {
            match item.kind {
                Kind::Directive => files.extend(file(item)),
                Kind::Prototype => {}
                Kind::Undefined => return Err(format!("{} is not in the module", item.name)),
                Kind::Variable if is_dynamic_shared(item) => {
                    symbols.insert(item.name.to_owned(), 0);
                }
                Kind::Variable => {
                    let (bytes, content) = variable(item).ok_or_else(|| {
                        format!("the variable {} is of an unknown kind", item.name)
                    })?;
                    let address = allocate(bytes).ok_or("no memory for a variable")?;
                    // SAFETY: just allocated, with as many bytes.
                    unsafe { (address as *mut u8).copy_from(content.as_ptr(), bytes) };
                    symbols.insert(item.name.to_owned(), address);
                    variables.insert(item.name.to_owned(), (address, bytes));
                }
                Kind::Entry => entries.push((item.name, joined(item))),
                Kind::Function => functions.push((item.name, joined(item))),
            }
        }
        let functions: Vec<Function<'_>> = functions.iter().filter_map(cut).collect();
        let surroundings = Surroundings {
            functions: &functions,
            symbols: &symbols,
            files: &files,
        };
        let mut kernels = HashMap::new();
        for entry in entries.iter().filter_map(cut) {
            let program = compile(entry, &surroundings)?;
            kernels.insert(entry.name.to_owned(), Arc::new(program));
        }
        Ok(Self { kernels, variables })
    }
}

/// Number and path of `.file 1 "src/lib.rs"`.
fn file(item: &Item<'_>) -> Option<(u32, String)> {
    let (_, line) = item.lines[0];
    let (number, path) = line.strip_prefix(".file")?.split_once('"')?;
    Some((
        number.trim().parse().ok()?,
        path.trim_end_matches('"').to_owned(),
    ))
}

fn joined(item: &Item<'_>) -> String {
    let lines: Vec<&str> = item.lines.iter().map(|(_, line)| *line).collect();
    lines.join("\n")
}

/// A function's text before its body, and its body.
fn cut<'a>((name, text): &'a (&'a str, String)) -> Option<Function<'a>> {
    let (head, body) = text.split_once('{')?;
    let (body, _) = body.rsplit_once('}')?;
    Some(Function { name, head, body })
}

fn is_dynamic_shared(item: &Item<'_>) -> bool {
    let (_, line) = item.lines[0];
    line.contains(".extern") && line.contains(".shared")
}

/// Bytes and content of a variable in global memory.
fn variable(item: &Item<'_>) -> Option<(usize, Vec<u8>)> {
    let text = joined(item);
    if !text.contains(".global") {
        return None;
    }
    let bytes = item.bytes() as usize;
    let mut content = Vec::with_capacity(bytes);
    if let Some((declaration, values)) = text.split_once('=') {
        let words = declaration.split(|c: char| c.is_whitespace() || c == '.');
        let kind = words.filter_map(Type::parse).next_back()?;
        let values = values.trim().trim_end_matches(';').trim();
        let values = values.trim_start_matches('{').trim_end_matches('}');
        for value in values.split(',') {
            let value: i128 = value.trim().parse().ok()?;
            content.extend_from_slice(&value.to_le_bytes()[..kind.bits as usize / 8]);
        }
    }
    content.resize(bytes, 0);
    Some((bytes, content))
}
